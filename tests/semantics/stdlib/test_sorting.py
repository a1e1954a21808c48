"""Sorting by comparisons of the program's own, in the order in which list.sort makes them."""

import functools

import dyntrace
import numpy as np
import pytest
from differential import check

A = np.linspace(0.5, 2.0, 4)
CAPTURED = []


def captured(fn):
    CAPTURED.append(fn)
    return fn


class Item:
    def __init__(self, value, log=None):
        self.value = value
        self.log = log

    def __lt__(self, other):
        if self.log is not None:
            self.log.append((self.value, other.value))
        return self.value < other.value


class Fails:
    def __init__(self, value):
        self.value = value

    def __lt__(self, other):
        if other.value == 5:
            raise ArithmeticError("five")
        return self.value < other.value


def compare(a, b):
    return (a > b) - (a < b)


@captured
def by_comparison(x):
    return x, sorted([3, 1, 2], key=functools.cmp_to_key(compare))


@captured
def by_comparison_in_place(x):
    items = ["b", "a", "c"]
    items.sort(key=functools.cmp_to_key(lambda a, b: compare(b, a)))
    return x, items


@captured
def smallest_by_comparison(x):
    key = functools.cmp_to_key(compare)
    return x * max([1, 3, 2], key=key), min([4, 2], key=key), key(1) < key(2), key(1) == key(1)


@captured
def comparisons_in_order(x):
    log = []
    items = sorted([Item(value, log) for value in [5, 2, 8, 1, 9, 3]])
    return x, [item.value for item in items], log


@captured
def many_comparisons(x):
    log = []
    items = sorted([Item(value * 37 % 101, log) for value in range(90)])
    return x, [item.value for item in items], log


@captured
def reversed_and_stable(x):
    items = [(2, "a"), (1, "b"), (2, "c"), (1, "d")]
    return x, sorted(items, key=lambda item: item[0], reverse=True), sorted(items, reverse=True)


@captured
def with_nan(x):
    return x, sorted([3.0, float("nan"), 1.0, 2.0]), sorted([2.0, float("nan")], reverse=True)


@captured
def mixed_numbers(x):
    return x, sorted([3, 1.5, True, -2]), sorted([(1, "b"), (1, "a"), (0, "z")])


@captured
def lists_of_lists(x):
    return x, sorted([[2], [1, 5], [1]]), sorted([{3}, {3, 4}, set()], key=len)


@pytest.mark.parametrize("fn", CAPTURED)
def test_sorting(fn):
    check(fn, A)


def caught(x):
    items = [Fails(value) for value in [9, 7, 5, 1]]
    try:
        items.sort()
    except ArithmeticError:
        return x, [item.value for item in items]
    return x


def test_an_exception_leaves_the_list_half_sorted():
    check(caught, A)


def mixed_types(x):
    y = x + 1.0
    return y, sorted([1, 2, "a", 3])


def fails(x):
    y = x + 1.0
    return y, sorted([Fails(5), Fails(1)])


@pytest.mark.parametrize("fn", [mixed_types, fails])
def test_errors(fn):
    check(fn, A, breaks="raises")


def key_leaves(x):
    return x, functools.cmp_to_key(compare)


def test_a_key_that_leaves_is_made_plainly():
    from differential import Compiled

    compiled = Compiled(key_leaves)
    assert type(compiled(A)[1]) is type(key_leaves(A)[1])
    assert compiled.breaks


@pytest.mark.parametrize("change", ["items.append(3); items.pop()", "items.append(3); del items[:]",
                                    "items.extend([1]); items.clear()", "items[:] = []"])  # fmt: skip
def test_changed_and_changed_back_meanwhile(change):
    """list.sort() sees a change of the list that it sorts though the list is empty again."""
    told = []
    for compiled in (False, True):
        items = []
        body = f"def less(left, right):\n    {change}\n    return left - right + int(A[0])"
        namespace = {"items": items, "A": A}
        exec(body, namespace)
        less = namespace["less"]
        if compiled:
            less = dyntrace.compile(less)
        for before in ([], [2, 1], [3, 2, 1]):  # entries of calls outside of a sort, too
            less(2, 1)
            items[:] = before
            try:
                items.sort(key=functools.cmp_to_key(less))
                told.append((compiled, list(items)))
            except ValueError as error:
                told.append((compiled, str(error), list(items)))
    half = len(told) // 2
    assert [one[1:] for one in told[:half]] == [one[1:] for one in told[half:]]
