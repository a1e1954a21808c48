"""Rows and columns of a few elements are reduced without NumPy's loop, with its bits and warnings."""

from __future__ import annotations

import warnings

import dyntrace
import numpy as np
import pytest

LENGTHS = [1, 2, 3, 4, 5, 7, 8, 9, 11, 15, 16, 17, 23, 24, 25, 31, 33]
DTYPES = ["f8", "f4", "f2", "i8", "i4", "i2", "u8", "?"]


def functions():
    def sums(x):
        return x.sum(axis=-1), (x + x).sum(axis=-1), x.sum(axis=-1, keepdims=True) * 2

    def extremes(x):
        return x.max(axis=-1), x.min(axis=-1), (x - x.max(axis=-1, keepdims=True)).min(axis=-1)

    def others(x):
        return x.prod(axis=-1), x.any(axis=-1), x.all(axis=-1), x.mean(axis=-1)

    def columns(x):
        y = x * x
        return x.sum(axis=0), (x + x).max(axis=0), x.min(axis=0), abs(y).sum(axis=0), y.min(axis=0)

    return [sums, extremes, others, columns]


def compare(compiled, function, x):
    told, outcomes = [], []
    for one in (function, compiled):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                results = one(x)
                outcomes.append([(type(r), r.dtype, r.shape, r.strides, r.tobytes()) for r in results])
            except TypeError as error:
                outcomes.append(str(error))
        told.append([(str(w.message), w.lineno) for w in caught])
    assert outcomes[0] == outcomes[1], x
    assert told[0] == told[1], x


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function", functions(), ids=lambda f: f.__name__)
def test_bits(function, dtype):
    compiled = dyntrace.compile(function)
    rng = np.random.default_rng(3)
    for length in LENGTHS:
        for rows in (1, 2, 50, 3000):
            x = (rng.standard_normal((rows, length)) * 10.0 ** rng.integers(-3, 4, (rows, length)))
            with np.errstate(all="ignore"):
                compare(compiled, function, x.astype(dtype))


SPECIAL = [np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1e308, -1e308, 1e-308, 5e-324]


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("function", functions(), ids=lambda f: f.__name__)
def test_special_values(function, dtype):
    """NaN of several bits, zeros of both signs, overflows, and what they warn about."""
    compiled = dyntrace.compile(function)
    rng = np.random.default_rng(4)
    payload = np.array([0x7FF8000000000123, 0xFFF8000000000456], np.uint64).view(float)
    values = np.concatenate([SPECIAL, payload, np.ones(8)])
    for length in LENGTHS[:12]:
        for share in (0.05, 0.3, 1.0):
            x = rng.standard_normal((40, length))
            m = rng.random(x.shape) < share
            with np.errstate(all="ignore"):
                x = np.where(m, rng.choice(values, x.shape), x).astype(dtype)
            for part in (x, x[:1], np.zeros_like(x), -np.zeros_like(x)):
                compare(compiled, function, part)


def test_integers_that_overflow():
    def f(x):
        return x.sum(axis=1), x.max(axis=1), x.min(axis=1)

    compiled = dyntrace.compile(f)
    for dtype in (np.int32, np.int64):
        info = np.iinfo(dtype)
        x = np.random.default_rng(5).choice([info.min, info.max, 0, -1, 1], (60, 6)).astype(dtype)
        compare(compiled, f, x)


def test_points():
    def f(a, b):
        d = a - b
        return np.sqrt((d * d).sum(axis=1)), (a * b).sum(axis=-1)

    compiled = dyntrace.compile(f)
    rng = np.random.default_rng(6)
    for rows in (1, 3, 100, 5000):
        a, b = rng.random((2, rows, 3))
        for got, wanted in zip(compiled(a, b), f(a, b), strict=True):
            assert got.tobytes() == wanted.tobytes()
