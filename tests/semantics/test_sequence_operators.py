"""+ and * of sequences beside objects with operators of their own: a sequence's word comes last."""

from collections import deque

import numpy as np
import pytest
from differential import check_calls

A = np.arange(3.0)


class Reflects:
    def __radd__(self, other):
        return ("radd", type(other).__name__)

    def __rmul__(self, other):
        return ("rmul", type(other).__name__)


class Iterates(Reflects):
    def __iter__(self):
        return iter([7, 8])


class Declines(Iterates):
    def __radd__(self, other):
        return NotImplemented

    __rmul__ = __radd__


class Indexes:
    def __index__(self):
        return 2


class ReflectingIndex(Indexes, Reflects):
    pass


class Items(list):
    def __iter__(self):
        return iter(["own"])


class ReflectingItems(Items, Reflects):
    pass


class Text(str):
    def __radd__(self, other):
        return f"{other!r} before {str(self)!r}"


class List(list):
    pass


class Adds(list):
    def __add__(self, other):
        return ("add", len(self))

    def __iadd__(self, other):
        return ("iadd", len(self))

    def __imul__(self, other):
        return NotImplemented


class Tuple(tuple):
    pass


LEFT = {
    "list": lambda: [1],
    "tuple": lambda: (1,),
    "str": lambda: "a",
    "bytes": lambda: b"a",
    "bytearray": lambda: bytearray(b"a"),
    "deque": lambda: deque([1]),
    "list's subclass": lambda: List([1]),
    "list's with its own": lambda: Adds([1]),
    "tuple's subclass": lambda: Tuple((1,)),
    "str's subclass": lambda: Text("a"),
}
RIGHT = [Reflects, Iterates, Declines, Indexes, ReflectingIndex, Items, ReflectingItems, List, Adds, Text]


def tell(value):
    return type(value).__name__, list(value) if isinstance(value, (list, tuple, deque)) else value


@pytest.mark.parametrize("right", RIGHT)
@pytest.mark.parametrize("left", LEFT)
def test_who_is_asked_first(left, right):
    make, other = LEFT[left], right()

    def every(x):
        found = []
        for operate in (plus, plus_in_place, times, times_in_place):
            try:
                found.append(tell(operate(make(), other)))
            except TypeError as error:
                found.append(str(error))
        return found, x + 1.0

    check_calls(every, (A,), whole=False)


def plus(a, b):
    return a + b


def plus_in_place(a, b):
    a += b
    return a


def times(a, b):
    return a * b


def times_in_place(a, b):
    a *= b
    return a
