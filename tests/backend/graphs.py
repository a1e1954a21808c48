"""Elementwise graphs made by hand, and arrays of every layout, for the tests of the native backend."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from dyntrace import _core

testing = _core._testing
REPLAY = testing.replay()
umath = np._core.umath

_DEF = Path(__file__).parents[2] / "src/backend/native/ufuncs.def"
ROWS = re.findall(r"^UFUNC\((\w+), (\w+), (\w+), ([^)]*)\)", _DEF.read_text(), re.MULTILINE)
UFUNCS = [name for name, *_ in ROWS if hasattr(umath, name)]
DTYPES = "?bhilqBHILQfdFD"


def call(name, *operands):
    """A node; operands are ("v", i), ("s", i) or constants."""
    return ("numpy." + name, getattr(umath, name), operands)


def v(index):
    return ("v", index)


def compile_graph(inputs, nodes, outputs, backend="native"):
    with np.errstate(all="ignore"):
        return testing.native_compile(backend, inputs, nodes, [v(i) for i in outputs])


def plain(inputs, nodes):
    """All values, inputs first, as NumPy computes them one by one."""
    values = list(inputs)
    for _, callee, operands in nodes:
        values.append(callee(*(values[o[1]] if isinstance(o, tuple) else o for o in operands)))
    return values


def bits(value):
    return value.dtype, value.shape, np.asarray(value).tobytes()


def strides(array):
    return [s for s, d in zip(array.strides, array.shape) if d > 1]


def assert_same(got, expected, where=""):
    assert type(got) is type(expected), where
    assert bits(got) == bits(expected), where
    if isinstance(expected, np.ndarray):
        assert strides(got) == strides(expected), where
        assert got.flags.c_contiguous == expected.flags.c_contiguous, where
        assert got.flags.f_contiguous == expected.flags.f_contiguous, where
        assert got.flags.owndata and got.flags.writeable and got.base is None, where


def values(rng, dtype, shape, special=False):
    """Random values; `special` mixes in NaN, infinities and zeros."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return rng.random(shape) < 0.5
    if dtype.kind in "iu":
        return rng.integers(0 if dtype.kind == "u" else -100, 100, shape).astype(dtype)
    if dtype.kind == "c":
        part = dtype.char.lower()
        both = values(rng, part, (*shape, 2), special)
        return both.view(dtype)[..., 0]
    out = rng.standard_normal(shape) * 10.0 ** rng.integers(-3, 4, shape)
    if special:
        m = rng.random(shape)
        out = np.where(m < 0.02, np.nan, np.where(m < 0.04, np.inf, np.where(m < 0.06, -0.0, out)))
    return out.astype(dtype)


LAYOUTS = ["C", "F", "transposed", "steps", "reversed", "permuted", "repeated"]


def array(rng, dtype, shape, layout, special=False):
    def make(s):
        return values(rng, dtype, s, special)

    if layout == "F":
        return np.asfortranarray(make(shape))
    if layout == "transposed":
        return make(shape[::-1]).T
    if layout == "steps":
        return make(tuple(2 * s for s in shape))[tuple(slice(None, None, 2) for _ in shape)]
    if layout == "reversed":
        return make(shape)[tuple(slice(None, None, -1) for _ in shape)]
    if layout == "permuted":
        order = rng.permutation(len(shape))
        return make(tuple(shape[i] for i in order)).transpose(np.argsort(order))
    if layout == "repeated":
        return np.broadcast_to(make(tuple(1 if rng.random() < 0.5 else s for s in shape)), shape)
    return make(shape)
