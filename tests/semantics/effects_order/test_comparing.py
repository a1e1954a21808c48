"""Which items a comparison of sequences asks: lists of two lengths none, tuples as many as they share."""

import collections
import operator

import numpy as np
import pytest
from differential import check

A = np.linspace(0.5, 2.0, 3)


class Number:
    """Notes each comparison."""

    def __init__(self, value, log):
        self.value = value
        self.log = log

    def __eq__(self, other):
        self.log.append(("eq", self.value, other))
        return self.value == other

    def __lt__(self, other):
        self.log.append(("lt", self.value, other))
        return self.value < other

    __hash__ = None


Pair = collections.namedtuple("Pair", "one two")
OPERATORS = (operator.eq, operator.ne, operator.lt)


def tuples(compare, n, log, x):
    return compare((Number(1, log), Number(n, log)), (1, 2, 3)), x + 1


def empty_tuple(compare, n, log, x):
    return compare((Number(1, log), Number(n, log)), ()), compare((), (1,)), x + 1


def lists(compare, n, log, x):
    return compare([Number(1, log), Number(n, log)], [1, 2, 3]), x + 1


def named(compare, n, log, x):
    return compare(Pair(Number(1, log), Number(n, log)), (1, 2, 3)), x + 1


def deques(compare, n, log, x):
    items = collections.deque([Number(1, log), Number(n, log)])
    return compare(items, collections.deque([1, 2, 3])), x + 1


@pytest.mark.parametrize("fn", [tuples, empty_tuple, lists, named, deques], ids=lambda fn: fn.__name__)
@pytest.mark.parametrize("compare", OPERATORS, ids=lambda compare: compare.__name__)
@pytest.mark.parametrize("n", [2, 5])
def test_items_asked(fn, compare, n):
    check(fn, compare, n, [], A)


@pytest.mark.parametrize("size", [0, 1, 2])
def test_tuples_of_arrays(size):
    """An item that is an array has a truth value only if it has one element."""

    def run(x, pair):
        try:
            return pair == (x, x, x)
        except ValueError as error:
            return str(error)

    check(run, A[:size], (3, 4), breaks="array-branch")
