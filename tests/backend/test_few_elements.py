"""Stages over a few elements run along a line of their own, with NumPy's bits and warnings."""

from __future__ import annotations

import warnings

import dyntrace
import numpy as np
import pytest

SIZES = [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 23, 31, 33, 50, 63, 64, 65, 3]
SPECIAL = [np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1e308, -1e308, 1e-308, 5e-324, 3.0, -1.0]
PAYLOADS = np.array([0x7FF8000000000123, 0xFFF8000000000456], np.uint64).view(float)


def outcome(function, arguments, mode="warn"):
    """Results with all that can be seen of them, and what was reported."""
    with warnings.catch_warnings(record=True) as caught, np.errstate(all=mode):
        warnings.simplefilter("always")
        try:
            results = function(*arguments)
        except (FloatingPointError, ValueError, TypeError, IndexError) as error:
            return type(error), str(error)
    results = results if isinstance(results, tuple) else (results,)
    return (
        [(type(r), r.dtype, r.shape, r.strides, r.flags.owndata, r.tobytes()) for r in results],
        [(str(w.message), w.lineno) for w in caught],
    )


def compare(function, cases, mode="warn"):
    compiled = dyntrace.compile(function)
    with dyntrace.config.patch(recompile_limit=200):
        for arguments in cases:
            assert outcome(compiled, arguments, mode) == outcome(function, arguments, mode), arguments


def arithmetic(x, y):
    z = x * 2.0 - y
    return (z + x) / (1.0 + y * y), abs(-z), np.square(z) - z, np.reciprocal(x + 3)


def chosen(x, y):
    small = (x < y) & (y <= 2.0) | ~(x > 0.5)
    z = np.where(small, x * y, 0.0)
    return np.where(x == y, -z, np.where(x != 1.0, y, z)), small ^ (x >= y)


def mixed(x, y):
    """Loops of NumPy's between others: flags and what is over must not get lost."""
    z = np.exp(x - y) * 0.5
    return np.sqrt(z) + np.maximum(x, y) / (np.tanh(z) - 1.0), np.isnan(z) | (z < 0.25)


def extremes(x, y):
    """Of two zeros, and of NaNs, the one that NumPy's loop takes."""
    z = np.maximum(x, y) - np.minimum(x, 0.5)
    return np.clip(x, -y, y), np.clip(z, -0.0, 1.0), np.maximum(-x, x * 0.0), np.minimum(x, 0.0 * y), z


def numbers(x, y):
    clipped = np.clip(np.maximum(x, y), np.minimum(x, 3), y)
    return (x & 3) * y + (x ^ y) - (x | 1), ~x, -x, (x % 7 > 3) & (y >= x), x < y, clipped


def roots(x, y):
    return np.sqrt(x), np.sqrt(np.square(x) + y * y) - np.sqrt(np.abs(y)), np.sqrt(-0.0 * abs(x))


FLOATS = [arithmetic, chosen, mixed, extremes, roots]


def floats(dtype, size, special):
    rng = np.random.default_rng(size)
    with np.errstate(all="ignore"):
        for _ in range(6):
            x, y = rng.standard_normal((2, size))
            if special:
                values = np.concatenate([SPECIAL, PAYLOADS])
                x = np.where(rng.random(size) < special, rng.choice(values, size), x)
                y = np.where(rng.random(size) < special, rng.choice(values, size), y)
            yield x.astype(dtype), y.astype(dtype)


@pytest.mark.parametrize("dtype", ["f8", "f4", "c16", "c8", "f2"])
@pytest.mark.parametrize("special", [0, 0.2, 1], ids=["usual", "some", "special"])
@pytest.mark.parametrize("function", FLOATS, ids=lambda f: f.__name__)
def test_floats(function, special, dtype):
    if function is not arithmetic and dtype.startswith("c"):
        pytest.skip("not for complex numbers")
    compare(function, [case for n in SIZES for case in floats(dtype, n, special)])


@pytest.mark.parametrize("mode", ["raise", "ignore"])
@pytest.mark.parametrize("function", FLOATS, ids=lambda f: f.__name__)
def test_modes(function, mode):
    compare(function, [case for n in SIZES for case in floats("f8", n, 0.3)], mode)


@pytest.mark.parametrize("dtype", ["i8", "u8", "i4", "u4", "i2", "u1"])
def test_integers(dtype):
    rng = np.random.default_rng(1)
    info = np.iinfo(dtype)
    compare(
        numbers,
        [
            tuple(rng.integers(info.min, info.max, n, dtype, endpoint=True) for _ in range(2))
            for n in SIZES
        ],
    )


def test_truths_of_other_bytes():
    def f(x, y):
        return x & y, x | y, x ^ y, ~x, np.logical_and(x, y), np.where(x, 1.0, 2.0), np.where(y, x, y)

    rng = np.random.default_rng(2)
    cases = [rng.integers(0, 4, (2, n), np.uint8).view(bool) for n in SIZES]
    compare(f, [tuple(case) for case in cases])


def test_a_sign_of_nan_that_shows():
    def f(x, y):
        z = x * y
        return np.signbit(z), np.copysign(1.0, -z)

    compare(f, [case for n in SIZES for case in floats("f8", n, 0.7)])


def test_numbers_that_vary():
    def f(x, a, b):
        return x * a + b, x.mean() - x * 2, (x - x[0]) / x.max()

    rng = np.random.default_rng(3)
    cases = [(rng.standard_normal(n), a, b) for n in SIZES for a, b in [(1.5, 2), (np.float64(3), -1.0)]]
    compare(f, cases)


@pytest.mark.parametrize("order", ["C", "F"])
def test_orders(order):
    def f(x, y):
        return x * y - 1.0, np.where(x > y, x, y)

    rng = np.random.default_rng(4)
    shapes = [(2, 2), (4, 3), (1, 5), (3, 1), (2, 2, 4), (16, 1), (2, 0), (4, 3, 5), (9, 7), (13, 5)]
    cases = [tuple(np.asarray(rng.random(s), order=order) for _ in range(2)) for s in shapes]
    compare(f, cases + [case[::-1] for case in cases])


def test_what_is_over_raises_nothing():
    """Elements that a longer call left behind the last one are no part of a shorter call."""

    def f(x, y):
        return np.exp(x * y) / y

    rough = np.array([1e200, 1e300, 0.0, np.inf, 1e308]), np.array([1e200, 0.0, 0.0, 0.0, 1e308])
    mild = np.array([0.5]), np.array([2.0])
    cases = [rough]
    for n in (1, 2, 3, 5, 6, 7):
        cases += [(np.resize(mild[0], n), np.resize(mild[1], n)), rough]
    compare(f, cases)
    compare(f, cases, "raise")


def test_results_are_apart():
    """What a call gave is not touched by the next one."""

    def f(x):
        return x + 1, x * 2

    compiled = dyntrace.compile(f)
    kept = [(x, compiled(x)) for x in np.arange(400.0).reshape(100, 4)]
    for x, (one, other) in kept:
        assert one.tolist() == (x + 1).tolist() and other.tolist() == (x * 2).tolist()
        one[:] = 7
    assert [other.tolist() for _, (_, other) in kept] == [(x * 2).tolist() for x, _ in kept]


# ---- Operands that are broadcast or strided, views, and reductions --------------------------------


def broadcast(x, y):
    d = x - y
    return np.exp(-0.5 * d * d) * 0.25 + x * y, np.where(d > 0, x, y)


def by_rows(x, y):
    z = x * y - 1.0
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True), (z * z).sum(axis=1), np.abs(z).max(axis=1), z.mean(axis=1)


def by_columns(x, y):
    z = x * y - 1.0
    return (z * z).sum(axis=0), np.abs(z).max(axis=0), z.mean(axis=0), z.min(axis=0, keepdims=True)


def of_all(x, y):
    return (x - x.mean()) / x.std(), (x * y).sum(), (x + y).max(), (x > y).any(), (y != 0).all(), x.prod()


def of_views(x, y):
    z = x[0] * y[-1] + x[::-1][0] - y[0, ::2].sum()
    return np.sqrt(x[0] * x[0] + y[0] * y[0]), z, x[:, :1] * y, x.T + y.T


def shaped(kinds, longer=((2, 30), (21, 3), (8, 8), (5, 13))):
    """Pairs of arrays of a few shapes each, some of one element or none, some too large."""
    rng = np.random.default_rng(5)
    shapes = [(2, 2), (1, 4), (4, 1), (3, 4), (1, 1), (2, 8), (4, 4), (5, 5), (2, 1), (8, 2), (2, 0)]
    shapes += longer
    cases = []
    for shape in shapes * 2:
        x = rng.standard_normal(shape)
        for other in (shape, (shape[0], 1), (1, shape[1]), (shape[1],), (1,)):
            cases.append((x.astype(kinds), (rng.standard_normal(other) + 1).astype(kinds)))
        big = rng.standard_normal((2 * shape[0], 3 * shape[1])).astype(kinds)
        cases.append((big[::2, ::3], big[-2::-2, ::-3]))
        cases.append((np.asfortranarray(x).astype(kinds), x.astype(kinds)))
    return cases


@pytest.mark.parametrize("kinds", ["f8", "f4", "i8", "i4", "?"])
@pytest.mark.parametrize(
    "function", [broadcast, by_rows, by_columns, of_all, of_views], ids=lambda f: f.__name__
)
def test_shapes(function, kinds):
    cases = shaped(kinds)
    if function is of_views:
        cases = [(x, y) for x, y in cases if x.shape == y.shape]
    if kinds == "?":
        cases = [(x, y.astype("i4")) for x, y in cases]
    compare(function, cases + cases[::-1], "ignore")  # shapes come and go


@pytest.mark.parametrize("mode", ["warn", "raise"])
@pytest.mark.parametrize("function", [broadcast, by_rows, by_columns, of_all], ids=lambda f: f.__name__)
def test_special_values_of_shapes(function, mode):
    rng = np.random.default_rng(6)
    values = np.concatenate([SPECIAL, PAYLOADS])
    cases = []
    # A NaN along a row of 16 elements: known to differ (docs/internals/native-executor.md).
    for x, y in shaped("f8", longer=[]):
        x, y = (np.where(rng.random(a.shape) < 0.3, rng.choice(values, a.shape), a) for a in (x, y))
        cases.append((x, y))
    compare(function, cases, mode)


def test_zeros_of_both_signs():
    def f(x):
        return x.max(axis=1), x.min(axis=1), x.sum(axis=1), x.max(axis=0), x.min(), x.sum()

    rng = np.random.default_rng(7)
    compare(f, [(rng.choice([0.0, -0.0], (4, 4)),) for _ in range(40)])


def test_an_error_while_shapes_are_known():
    """Another shape, another type and a shape that does not fit, between calls that are alike."""

    def f(x, y):
        return (x * y).sum(axis=1) + x[:, 0]

    x = np.arange(6.0).reshape(2, 3)
    cases = [(x, x), (x, x[:1]), (x.astype("f4"), x), (x, x.astype(">f8")), (x, x[:, :2]), (x, x)]
    compare(f, cases * 3)
