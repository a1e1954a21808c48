"""An object that is passed twice, or whose attributes another object has too, changed through its `__dict__`."""

import dyntrace
import numpy as np
import pytest


class Plain:
    def __init__(self, w=2):
        self.v, self.w = 1, w


class Other(Plain):
    pass


class Borg:
    shared = {}  # noqa: RUF012

    def __init__(self):
        self.__dict__ = Borg.shared


class Below(Borg):
    pass


def stores_in_dict(a, b, x):
    a.__dict__["w"] = 5
    return b.w, x + 1.0


def stores_by_vars(a, b, x):
    vars(a).update(w=5)
    return b.w, x + b.w


def reads_before(a, b, x):
    first = b.w
    a.__dict__["w"] = 5
    return first, b.w, x + 1.0


def deletes(a, b, x):
    del a.__dict__["w"]
    return hasattr(b, "w"), x + 1.0


def stores_attribute(a, b, x):
    a.w = b.v + 4
    return b.w, x * b.w


def reads_dict(a, b, x):
    a.w = 5
    return b.__dict__["w"], x + 1.0


FUNCTIONS = [stores_in_dict, stores_by_vars, reads_before, deletes, stores_attribute, reads_dict]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_same_object_in_a_later_call(function):
    compiled = dyntrace.compile(function)
    for twice in (False, False, True, False, True):
        seen = []
        for target in (function, compiled):
            a = Plain()
            b = a if twice else Plain(3)
            seen.append(repr((target(a, b, np.ones(2)), vars(a), vars(b))))
        assert seen[0] == seen[1], twice


def shared():
    a, b = Plain(), Plain()
    b.__dict__ = a.__dict__
    return a, b


@pytest.mark.parametrize("function", FUNCTIONS)
def test_two_objects_with_one_dict_in_a_later_call(function):
    compiled = dyntrace.compile(function)
    for make in (lambda: (Plain(), Plain(3)), shared, lambda: (Plain(), Plain(3)), shared):
        seen = []
        for target in (function, compiled):
            a, b = make()
            seen.append(repr((target(a, b, np.ones(2)), vars(a), vars(b))))
        assert seen[0] == seen[1], make


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("classes", [(Borg, Borg), (Borg, Below)])
def test_two_objects_with_one_dict(function, classes):
    compiled = dyntrace.compile(function)
    for _ in range(3):
        seen = []
        for target in (function, compiled):
            Borg.shared.clear()
            Borg.shared.update(v=1, w=2)
            a, b = (cls() for cls in classes)
            seen.append(repr((target(a, b, np.ones(2)), Borg.shared)))
        assert seen[0] == seen[1]
