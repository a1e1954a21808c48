"""copy: containers and instances, shared parts included."""

import copy

import numpy as np
import pytest
from differential import check

A = np.linspace(0.5, 2.0, 4)
CAPTURED = []
TABLE = {"a": [1, 2], "b": (3, [4])}


def captured(fn):
    CAPTURED.append(fn)
    return fn


class Box:
    def __init__(self, value):
        self.value = value
        self.items = [value]


class Slots:
    __slots__ = ("a", "b")

    def __init__(self):
        self.a = [1]


@captured
def shallow_list(x):
    items = [1, [2]]
    other = copy.copy(items)
    other.append(3)
    return x, items, other, other[1] is items[1]


@captured
def shallow_dict(x):
    items = {"a": [1]}
    other = copy.copy(items)
    other["b"] = 2
    return x, items, other, other["a"] is items["a"]


@captured
def shallow_set(x):
    items = {1, 2}
    other = copy.copy(items)
    other.add(3)
    return x, items, other


@captured
def shallow_atoms(x):
    pair = (1, [2])
    return x, copy.copy(pair) is pair, copy.copy("a"), copy.copy(1.5), copy.copy(len) is len


@captured
def shallow_instance(x):
    box = Box(1)
    other = copy.copy(box)
    other.value = 2
    return x * other.value, box.value, other.items is box.items, type(other) is Box


@captured
def deep_list(x):
    items = [1, [2, [3]]]
    other = copy.deepcopy(items)
    other[1][1].append(4)
    return x, items, other


@captured
def deep_dict(x):
    items = {"a": {"b": [1]}, (1, 2): "c"}
    other = copy.deepcopy(items)
    other["a"]["b"].append(2)
    return x, items, other


@captured
def deep_tuple(x):
    plain, nested = (1, 2), (1, [2])
    other = copy.deepcopy(nested)
    return x, copy.deepcopy(plain) is plain, other, other is nested, other[1] is nested[1]


@captured
def deep_shared(x):
    part = [1]
    other = copy.deepcopy([part, part, {"p": part}])
    return x, other, other[0] is other[1], other[2]["p"] is other[0], other[0] is part


@captured
def deep_cycle(x):
    items = [1]
    items.append(items)
    other = copy.deepcopy(items)
    return x, len(other), other[1] is other, other is items


@captured
def deep_instance(x):
    box = Box(3)
    box.inner = Box(4)
    other = copy.deepcopy(box)
    other.inner.items.append(5)
    return x * other.inner.value, box.inner.items, other.inner.items, list(other.items)


@captured
def deep_instance_leaves(x):
    return x, copy.deepcopy(Box([1]))


@captured
def deep_slots(x):
    one = Slots()
    other = copy.deepcopy(one)
    return x, other.a, other.a is one.a, hasattr(other, "b")


@captured
def deep_existing(x):
    other = copy.deepcopy(TABLE)
    other["a"].append(9)
    return x, other, TABLE["a"], other["b"][1] is TABLE["b"][1]


@captured
def deep_functions(x):
    other = copy.deepcopy([len, deep_list, Box])
    return x, other[0] is len, other[1] is deep_list, other[2] is Box


@captured
def in_a_loop(x):
    template = {"weights": [1.0]}
    rows = [copy.deepcopy(template) for _ in range(3)]
    rows[1]["weights"].append(2.0)
    return x * rows[1]["weights"][1], rows


def of_argument(x, items):
    other = copy.deepcopy(items)
    other[0].append(1)
    return x, other


def test_aliases_in_arguments_are_guarded():
    compiled = check(of_argument, A, [[0], [0]])
    part = [0]
    plain, traced = of_argument(A, [part, part]), compiled(A, [part, part])
    assert traced[1] == plain[1] == [[0, 1], [0, 1]]
    assert compiled(A, [[0], [0]])[1] == [[0, 1], [0]]


class Custom:
    def __deepcopy__(self, memo):
        return "copied"


class Reduces:
    def __reduce__(self):
        return (str, ("reduced",))


@captured
def custom(x):
    return x, copy.deepcopy(Custom())


@captured
def reduces(x):
    return x, copy.copy(Reduces())


def with_memo(x):
    memo = {}
    return x, copy.deepcopy([1], memo), len(memo)


@pytest.mark.parametrize("fn", CAPTURED)
def test_copy(fn):
    check(fn, A)


def test_a_memo_of_the_programs_own_runs_plainly():
    check(with_memo, A, breaks="unknown-callable")
