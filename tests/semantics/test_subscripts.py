"""Subscripts and slices of arrays and of Python containers."""

import numpy as np
import pytest
from differential import check

A = np.arange(24.0).reshape(4, 6)
V = np.linspace(0.5, 2.0, 6)


def array_index(x):
    return x[0], x[-1], x[1, 2], x[..., 0]


def array_slices(x):
    return x[1:], x[:-1], x[::2], x[1:3, 2:5], x[:, ::-1], x[::-1, ::-2]


def array_newaxis(x):
    return x[:, None], x[None], x[..., None, :]


def used_slices(x):
    return x[1:] - x[:-1], x[:, 1:] * x[:, :-1], x[1:3] + x[2:4]


def slice_object(x):
    s = slice(1, 3)
    t = slice(None, None, 2)
    return x[s], x[t], x[s, t]


def slice_of_arguments(x, start, stop):
    return x[start:stop] * 2.0


def tuple_items(t):
    return t[0] + t[-1], t[1:], t[::-1], t[:0]


def list_items(items):
    return items[0] * items[-1], items[1:], items[::2]


def nested(data):
    return data["a"][0] + data["b"]["c"][1]


def dict_items(d):
    return d["x"] + d["y"], d.get("z"), d.get("z", 5), "x" in d


def string_index(x, s):
    return x + 1.0, s[0], s[-1], s[1:3], s[::-1]


def range_index(x, r):
    return x + 1.0, r[0], r[-1], r[1:3], len(r)


def stored(x):
    items = [1, 2, 3, 4]
    items[0] = x
    items[-1] = x + 1.0
    items[1:3] = [x, x, x]
    return items


def deleted(x):
    items = [1, 2, 3, 4, x]
    del items[0]
    del items[1:3]
    d = {"a": 1, "b": x}
    del d["a"]
    return items, d


def dict_stored(x):
    d = {}
    d["a"] = x
    d["b"] = x + 1.0
    d["a"] = 3
    d[1, 2] = 4
    d[None] = 5
    return d


def extended_slice_store(x):
    items = [1, 2, 3, 4, 5, 6]
    items[::2] = [x, x, x]
    return items


@pytest.mark.parametrize(
    "case",
    [
        (array_index, A),
        (array_slices, A),
        (array_newaxis, A),
        (used_slices, A),
        (slice_object, A),
        (slice_of_arguments, V, 1, 4),
        (slice_of_arguments, V, None, -1),
        (tuple_items, (V, V + 1, V * 2)),
        (list_items, [V, V + 1, V * 2]),
        (nested, {"a": [V], "b": {"c": (1, V)}}),
        (dict_items, {"x": V, "y": V + 1}),
        (string_index, V, "hello"),
        (range_index, V, range(2, 20, 3)),
        (stored, V),
        (deleted, V),
        (dict_stored, V),
        (extended_slice_store, V),
    ],
    ids=lambda case: case[0].__name__,
)
def test_same(case):
    check(*case)


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: ([x])[1],
        lambda x: (x,)[2],
        lambda x: {"a": x}["b"],
        lambda x: "abc"[5],
        lambda x: x[9],
        lambda x: x[0, 0, 0],
    ],
)
def test_what_raises(fn):
    compiled = check(fn, A, breaks="raises")
    assert compiled.breaks
