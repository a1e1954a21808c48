"""Containers ask whether two objects are one before they compare them: objects that are not equal to
themselves, NaNs, and what a later call passes twice."""

import collections
import operator
import weakref

import numpy as np
import pytest
from twins import succession

X = np.arange(3.0)


class Unequal:
    def __eq__(self, other):
        return False

    __hash__ = object.__hash__


class Counting:
    asked = 0

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        Counting.asked += 1
        return self.value == other.value

    __hash__ = None


def in_list(pair):
    return X * (pair[0] in [pair[1]])


def in_tuple(pair):
    return X * operator.contains((pair[0],), pair[1])


def counted(pair):
    return X * [pair[0], 1, pair[0]].count(pair[1])


def found(pair):
    return X * ([pair[0]].index(pair[1]) if pair[1] in [pair[0]] else 7)


def equal_lists(pair):
    return X * ([pair[0]] == [pair[1]])


def unequal_tuples(pair):
    return X * ((pair[0], 1) != (pair[1], 1))


def nested(pair):
    return X * ([[1, pair[0]]] == [[1, pair[1]]])


def equal_dicts(pair):
    return X * ({"k": pair[0]} == {"k": pair[1]})


def in_deque(pair):
    return X * collections.deque([pair[0]]).count(pair[1])


def removed(pair):
    items = [pair[0], 5]
    try:
        items.remove(pair[1])
    except ValueError:
        pass
    return X * len(items)


def in_values(pair):
    return X * (pair[0] in {"k": pair[1]}.values())


FUNCTIONS = [
    in_list,
    in_tuple,
    counted,
    found,
    equal_lists,
    unequal_tuples,
    nested,
    equal_dicts,
    in_deque,
    removed,
    in_values,
]


def make_nan():
    return float("nan")


MAKERS = {
    "unequal": Unequal,
    "nan": make_nan,
    "complex nan": lambda: complex(0, make_nan()),
    "nan in a tuple": lambda: (make_nan(), 1),
    "unequal in a list": lambda: [Unequal()],
    "counting": lambda: Counting(3),
    "slice": lambda: slice(1, 2),
    "range": lambda: range(1, 3),
    "method": lambda: Counting(3).__eq__,
}


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("kind", MAKERS)
def test_one_object_twice(function, kind):
    a, b, c = (MAKERS[kind]() for _ in range(3))
    pairs = [(a, b), (a, a), (b, b), (b, a), (c, a), (c, c)]
    succession(function, pairs)
    succession(function, pairs[::-1])


@pytest.mark.parametrize("function", FUNCTIONS)
def test_numbers_that_become_nans(function):
    nan = make_nan()
    pairs = [(1.5, 2.5), (2.5, 2.5), (nan, 1.5), (nan, nan), (nan, make_nan()), (1.5, nan), (np.nan, nan)]
    succession(function, pairs)
    succession(function, pairs[::-1])


def among_known(number):
    return X * (number in (None, np.nan)), number in [np.nan, 1.0]


def test_a_nan_of_a_module():
    succession(among_known, [1.5, np.nan, make_nan(), 1.0, np.nan])
    succession(among_known, [np.nan, 1.5, make_nan()])


def test_comparisons_are_made_as_often():
    a, b = Counting(3), Counting(3)

    def fn(pair):
        before = Counting.asked
        same = [pair[0], pair[1]] == [pair[1], pair[1]], pair[0] in [pair[1], pair[0]]
        return X * 2, same, Counting.asked - before

    succession(fn, [(a, b), (a, a), (b, a), (b, b)])


def equal_references(pair):
    return weakref.ref(pair[0]) == weakref.ref(pair[1]), weakref.ref(pair[0]) != weakref.ref(pair[1])


@pytest.mark.parametrize("make", [Unequal, collections.UserDict, lambda: np.ones(1)])
def test_weak_references_compare_what_they_refer_to(make):
    a, b = make(), make()
    pairs = [(a, b), (a, a), (b, b), (b, a)]
    succession(equal_references, pairs)
    succession(equal_references, pairs[::-1])
    references = [(weakref.ref(p), weakref.ref(q)) for p, q in pairs]
    succession(lambda pair: (pair[0] == pair[1], X * 2), references)


def test_dead_references_compare_by_identity():
    a, b = Unequal(), Unequal()
    pairs = [(weakref.ref(p), weakref.ref(q)) for p, q in [(a, b), (a, a)]]
    del a, b
    succession(lambda pair: (pair[0] == pair[1], pair[0] != pair[1], X * 2), pairs)
