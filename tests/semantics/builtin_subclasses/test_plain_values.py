"""What an inherited operation gives back: the object itself, or a plain one of the builtin base."""

from __future__ import annotations

import numpy as np
import pytest
from differential import check

A = np.linspace(0.5, 2.0, 4)


class Degrees(float):
    pass


class Count(int):
    pass


class Words(str):
    pass


class Pair(tuple):
    __slots__ = ()


class Items(list):
    pass


class Names(frozenset):
    pass


def number(x, v):
    d = Degrees(v)
    return x * 2, d, float(d), +d, d.__pos__(), abs(d), d.__float__()


def whole_number(x, n):
    c = Count(n)
    return x * 2, c, int(c), +c, abs(c), c.__int__()


def text(x):
    w = Words("ab")
    return x * 2, w, str(w), w[:], w.strip(), w + "", w * 1, w.ljust(1)


def sequence(x):
    p = Pair([x, 1])
    return p, p[:], p * 1, p + (), tuple(p)


def existing_sequence(x, p):
    return x * 2, p, p[:], p * 1, p + (), tuple(p)


def existing_text(x, w):
    return x * 2, w, w[:], w.strip(), w + "", str(w)


def in_place(x):
    items = Items([x])
    again = items
    items += [x + 1]
    items *= 2
    return items, again is items, items[:], items * 1


def in_place_by_name(x):
    items = Items([x])
    return items.__iadd__([1]) is items, items.__imul__(2) is items, items


@pytest.mark.parametrize(
    "fn, args",
    [
        (number, (5.0,)),
        (whole_number, (5,)),
        (text, ()),
        (sequence, ()),
        (existing_sequence, (Pair([1, 2]),)),
        (existing_text, (Words("ab"),)),
        (in_place, ()),
        (in_place_by_name, ()),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_same(fn, args):
    check(fn, make=lambda: ((A, *args), {}))
