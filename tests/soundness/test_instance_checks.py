"""What abstract classes say changes when classes are registered, made or changed."""

import numpy as np
import pytest
from differential import Compiled
from test_changed_state import steps_of, world
from twins import lead

A = np.linspace(0.5, 2.0, 4)

SOURCE = """
import abc, collections.abc, numbers
class Meta(type):
    def __instancecheck__(cls, o):
        return answer
class Shape(abc.ABC):
    pass
class Below(Shape):
    pass
class Asks(metaclass=Meta):
    pass
class Own(abc.ABCMeta):
    pass
class OfOwn(metaclass=Own):
    pass
class C:
    pass
class D(C):
    pass
answer = False
o = D()
def fn(x):
    {body}
"""

CASES = {
    "registered": (
        "return x, isinstance(o, Shape), issubclass(D, Shape)",
        ["", "", "Shape.register(C)", "", "o = C()", "o = 3"],
    ),
    "registered below": ("return x, isinstance(o, Shape)", ["", "", "Below.register(D)"]),
    "registered elsewhere": (
        "return x, isinstance(o, Shape), isinstance(o, numbers.Number)",
        ["", "numbers.Number.register(C)", "Shape.register(D)"],
    ),
    "a method is added": (
        "return x, isinstance(o, collections.abc.Iterable)",
        ["", "C.__iter__ = lambda s: iter(())", "Shape.register(int)", "del C.__iter__"],
    ),
    "a class below is made": (
        "return x, isinstance(o, Shape)",
        ["", "class Extra(Shape): pass", "Extra.register(C)"],
    ),
    "the metaclass's answer": (
        "return x, isinstance(o, Asks)",
        ["", "answer = True", "Meta.__instancecheck__ = lambda c, o: 5", "del Meta.__instancecheck__"],
    ),
    "the metaclass gets a check": (
        "return x, isinstance(o, OfOwn)",
        [
            "",
            "Own.__instancecheck__ = lambda c, o: True",
            "del Own.__instancecheck__",
            "Own.__subclasscheck__ = lambda c, o: True",
        ],
    ),
    "the object's class": (
        "return x, isinstance(o, Shape)",
        ["", "o.__class__ = C", "o = Below()", "o = D()"],
    ),
    "the abstract class": ("return x, isinstance(o, Shape)", ["", "Shape = C", "Shape = Below"]),
}


@pytest.mark.parametrize("name", CASES)
def test_abstract_classes_that_change(name):
    body, changes = CASES[name]

    def make():
        module = world(SOURCE.format(body=body))
        return module.fn, lambda: None, steps_of(module, *changes)

    lead(make)


def test_a_no_is_guarded():
    """Without the guard, the second entry would answer as the first."""
    import dyntrace

    module = world(SOURCE.format(body="return x, isinstance(o, Shape)"))
    compiled = dyntrace.compile(module.fn, fullgraph=True)
    assert compiled(A)[1] is False
    module.Shape.register(module.C)
    assert compiled(A)[1] is True


@pytest.mark.parametrize("depth", [3, 50, 100_000])
@pytest.mark.parametrize("check", [isinstance, lambda x, classes: issubclass(type(x), classes)])
def test_tuples_in_tuples(check, depth):
    """How many of them CPython bears depends on its version; in a trace they must not be its end."""
    classes = (str,)
    for _ in range(depth):
        classes = (classes,)

    def ask(x):
        total = A + 1
        try:
            return check(x, classes), total
        except RecursionError:
            return "too deep", total

    plain, compiled = ask(1), Compiled(ask)
    for _ in range(3):
        told = compiled(1)
        assert told[0] == plain[0] and (told[1] == plain[1]).all()
