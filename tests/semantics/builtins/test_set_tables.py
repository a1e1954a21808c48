"""The order of sets whose elements collide: it follows from everything that was done to them.

5 and 13 share a place in a table of eight; who came first has it.
"""

from __future__ import annotations

import dyntrace
import numpy as np
import pytest
from differential import assert_same, check

A = np.linspace(0.5, 2.0, 4)


def display(x):
    return x * 2, {5, 2, 13}, list({13, 2, 5}), repr({2, 13, 5})


def display_of_few(x):
    return x * 2, {5, 2}, {13, 5}


def grown(x):
    s = {5, 2, 13}
    s.add(21)
    s.discard(5)
    return x * 2, s, list(s)


def existing_updated(x, s):
    s.update({5, 2, 13})
    return x * 2


def existing_joined(x, s):
    s |= frozenset([5, 2, 13])
    return x * 2, list(s)


def existing_emptied(x, s):
    s.clear()
    s.add(13)
    s.add(5)
    s.add(2)
    return x * 2


def existing_exchanged(x, s):
    s.discard(5)
    s.add(21)
    s.add(5)
    return x * 2


def existing_reduced(x, s):
    s.difference_update({5, 7})
    s.symmetric_difference_update({2, 13, 5, 21})
    return x * 2


def existing_by_each_other(x, s, t):
    s.update(t)
    t.update(s)
    t.discard(2)
    return x * 2


def existing_popped(x, s):
    first = s.pop()
    s.add(first + 8)
    s.add(first)
    return x * 2, first


def order(outcome):
    return [list(value) if isinstance(value, (set, frozenset)) else value for value in outcome]


@pytest.mark.parametrize("fn", [display, display_of_few, grown], ids=lambda fn: fn.__name__)
def test_made(fn):
    check(fn, A)
    compiled = dyntrace.compile(fn)
    for _ in range(3):
        assert_same(order(fn(A)), order(compiled(A)))


EXISTING = [
    existing_updated,
    existing_joined,
    existing_emptied,
    existing_exchanged,
    existing_reduced,
    existing_popped,
]
STARTS = [(), (5,), (13, 5), (5, 13), (2, 5, 13), (13, 2, 5), (1, 5, 9, 13, 17, 21, 29)]


@pytest.mark.parametrize("fn", EXISTING, ids=lambda fn: fn.__name__)
def test_existing(fn):
    compiled = dyntrace.compile(fn)
    for start in STARTS * 2:
        if fn is existing_popped and not start:
            continue
        one, two = set(start), set(start)
        assert_same(order(fn(A, one)), order(compiled(A, two)))
        assert list(one) == list(two)
        one.update([3, 11, 19]), two.update([3, 11, 19])
        assert list(one) == list(two)


def test_by_each_other():
    compiled = dyntrace.compile(existing_by_each_other)
    for start in STARTS * 2:
        one, two = (set(start), {5, 2, 13}), (set(start), {5, 2, 13})
        existing_by_each_other(A, *one)
        compiled(A, *two)
        assert [list(s) for s in one] == [list(s) for s in two]
