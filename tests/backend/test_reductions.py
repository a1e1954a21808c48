"""Reductions in fused stages, alone, behind what they reduce and in front of what uses them."""

from __future__ import annotations

import os
import re
import warnings

import dyntrace
import numpy as np
import pytest
from dyntrace import _core
from graphs import assert_same
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st


@pytest.fixture(autouse=True)
def numpys_own_error_state():
    """Whatever another module's tests have left."""
    with np.errstate(divide="warn", over="warn", under="ignore", invalid="warn"):
        yield


SHAPES = [
    (1,), (2,), (5,), (7,), (8,), (129,), (1000,), (8193,), (20001,), (1, 1), (1, 5), (5, 1), (4, 5),
    (2000, 3), (3, 2000), (2, 9000), (9000, 2), (300, 1), (1, 300), (100, 100), (3, 4, 5), (5, 1, 7),
    (2, 30, 700), (40, 50, 6), (2, 3, 4, 5), (3, 20000),
]  # fmt: skip
DTYPES = ["d", "f", "i", "q", "b", "H", "?"]


def make(shape, dtype, seed=0, special=False):
    rng = np.random.default_rng(seed)
    if dtype == "?":
        return rng.random(shape) > 0.1
    if dtype in "dfe":
        x = rng.standard_normal(shape) * 10.0 ** rng.integers(-3, 4, shape)
        if special:
            m = rng.random(shape)
            x = np.where(m < 0.2, 0.0, np.where(m < 0.4, -0.0, np.where(m < 0.6, np.nan, -np.abs(x))))
        return x.astype(dtype)
    return rng.integers(-100 if dtype in "bhiq" else 0, 100, shape).astype(dtype)


def axes_of(ndim):
    yield None
    for axis in range(ndim):
        yield axis
    for count in range(2, ndim + 1):
        yield tuple(range(count))
        yield tuple(range(ndim - count, ndim))


def compare(f, *args):
    with np.errstate(all="ignore"):
        expected = f(*args)
        g = dyntrace.compile(f)
        for _ in range(2):
            for got, wanted in zip(g(*args), expected, strict=True):
                assert_same(got, wanted, (args[0].shape, args[0].dtype))
    assert dyntrace.explain(f)(*args).breaks == []


def sums(axis, keepdims):
    def f(x):
        t = x + x
        return t.sum(axis=axis, keepdims=keepdims), x.sum(axis=axis), np.prod(t, axis=axis)

    return f


def extremes(axis, keepdims):
    def f(x):
        t = x * x
        return t.max(axis=axis, keepdims=keepdims), x.min(axis=axis), np.fmax.reduce(t, axis=axis)

    return f


def truths(axis, keepdims):
    def f(x):
        t = x > 0
        return t.sum(axis=axis), t.any(axis=axis, keepdims=keepdims), t.all(axis=axis), t.max(axis=axis)

    return f


@pytest.mark.parametrize("make_function", [sums, extremes, truths])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_shapes(shape, make_function):
    for dtype in "dfi" if len(shape) > 1 else DTYPES:
        if make_function is sums and dtype == "?":
            continue
        x = make(shape, dtype)
        for axis in axes_of(len(shape)):
            for keepdims in (False, True):
                compare(make_function(axis, keepdims), x)


def test_names_of_one_integer():
    """A long and a long long of one width are equal dtypes with scalars of two types."""
    for dtype in "lqlQLQ":
        x = np.arange(6, dtype=dtype).reshape(2, 3)
        compare(lambda x: ((x + x).sum(), x.max(), (x + x), x.sum(axis=0)), x)
        result = dyntrace.compile(lambda x: x + x)(x)
        assert result.dtype.char == dtype


@pytest.mark.parametrize("dtype", DTYPES)
def test_types(dtype):
    x = make((60, 70), dtype)
    for axis in (None, 0, 1):
        compare(truths(axis, True), x)
        compare(extremes(axis, False), x)
        if dtype != "?":
            compare(sums(axis, True), x)


@pytest.mark.parametrize("shape", [(3, 7), (50, 3), (2, 9000), (20000,), (9000, 2)], ids=str)
def test_zeros_and_nans(shape):
    """Which zero is the largest, and which NaN comes out, tell in which order a loop looked."""
    for seed in range(5):
        for dtype in "df":
            x = make(shape, dtype, seed, special=True)
            negative = -np.abs(make(shape, dtype, seed)) * 0
            for axis in (None, *range(len(shape))):
                compare(extremes(axis, True), x)
                compare(extremes(axis, True), negative)
                compare(sums(axis, False), x)
                compare(sums(axis, False), negative)


@pytest.mark.parametrize("at", [(10, 9000), (9000, 10), (8999, 9001), (5, 6), (100, 140)])
def test_two_nans(at):
    """Of two NaNs in different parts of a sum the one that NumPy keeps is kept."""
    x = np.linspace(0, 1, 20001)
    bits = x.view(np.uint64)
    bits[at[0]], bits[at[1]] = 0x7FF8000000000001, 0xFFF8000000000002
    compare(lambda x: ((x * 1.0).sum(),), x)
    y = x.astype(np.float32)
    y.view(np.uint32)[list(at)] = 0x7FC00001, 0xFFC00002
    compare(lambda x: ((x * np.float32(1)).sum(),), y)


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return (e / e.sum(axis=-1, keepdims=True),)


def standardised(x):
    d = x - x.mean(axis=-1, keepdims=True)
    return d / np.sqrt((d * d).mean(axis=-1, keepdims=True) + 1e-5), d.max(axis=-1)


def logsumexp(x):
    top = x.max(axis=1, keepdims=True)
    return np.log(np.exp(x - top).sum(axis=1)) + top[:, 0], top


def scaled(x):
    low, high = x.min(axis=1, keepdims=True), x.max(axis=1, keepdims=True)
    width = np.maximum(high - low, 1e-6)
    return (x - low) / width, width * 2, np.where(x > (low + high) / 2, x, low)


def used_later(x):
    norm = np.sqrt((x * x).sum(axis=1, keepdims=True))
    y = x / norm
    return y, norm, y.sum(axis=0), (y * norm).sum()


def mixed(x):
    return (x * 2).sum(axis=0), (x * 2).sum(axis=1), (x * 2).sum(), (x + 1).max(axis=0)


def counts(x):
    inside = x > x.mean(axis=1, keepdims=True)
    return inside.sum(axis=1), inside.sum(axis=1, keepdims=True) * 2, (inside * x).sum(axis=1)


def doubled(x):
    return x.sum(axis=1) * 2, np.abs(x).max(axis=1, keepdims=True) + 1


def begins_with_rows(x):
    y = x / (np.abs(x.max(axis=1, keepdims=True)) + 1)
    return (np.maximum(y, x[0]).min(axis=1),)


CHAINS = [softmax, standardised, logsumexp, scaled, used_later, mixed, counts, doubled, begins_with_rows]


@pytest.mark.parametrize("f", CHAINS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", ["d", "f"])
def test_chains(f, dtype):
    shapes = [(1, 4), (4, 1), (2, 2), (10, 100), (700, 33), (3, 5000), (2, 17000), (2, 40000), (40000, 2)]
    for shape in shapes:
        compare(f, make(shape, dtype))
    x = make((30, 40), dtype)
    for view in (x.T, x[::-1], x[:, ::-1], x[::2, 1::3], np.asfortranarray(x), x[:, :1], x[:1]):
        compare(f, view)


def test_chains_over_another_size():
    """Sizes are symbols: rows that are too long for a block come later."""
    for f in CHAINS:
        g = dyntrace.compile(f)
        for shape in [(20, 30), (30, 20), (3, 50000), (50000, 3), (2, 700)]:
            x = make(shape, "d")
            for got, wanted in zip(g(x), f(x), strict=True):
                assert_same(got, wanted, (f.__name__, shape))


def weighted(x, w, c):
    y = x * w - c
    return (y * y).sum(axis=1), np.abs(y).max(axis=1), y.sum(axis=0), (y / y.max(axis=1, keepdims=True))


@pytest.mark.parametrize("shape", [(3, 4), (200, 100), (2, 9000), (9000, 2), (1, 50), (50, 1)], ids=str)
def test_broadcast(shape):
    x, w, c = make(shape, "d"), make(shape[1:], "d", 1), make((shape[0], 1), "d", 2)
    compare(weighted, x, w, c)
    compare(weighted, x, w, np.float64(2))
    compare(weighted, x[:1], w, c)
    compare(weighted, x.T.copy().T, w, c)


def test_one_stage():
    """What is reduced, the reduction and what uses it by rows run block by block."""
    x = make((20, 30), "d")
    nodes = [
        ("numpy.maximum.reduce", np.maximum.reduce, (("v", 0), 1, None, None, True)),
        ("numpy.subtract", np.subtract, (("v", 0), ("v", 1))),
        ("numpy.exp", np.exp, (("v", 2),)),
        ("numpy.add.reduce", np.add.reduce, (("v", 3), 1, None, None, True)),
        ("numpy.divide", np.divide, (("v", 3), ("v", 4))),
    ]
    compiled = _core._testing.native_compile("native", [x], nodes, [("v", 5)])
    described = compiled.describe()
    if re.match(r"2\.[0-2]\.", np.__version__):
        assert "called  numpy.add.reduce" in described  # its sums are cut by a buffer
    else:
        assert "native: 1 stages" in described and "called" not in described
    e = np.exp(x - x.max(axis=1, keepdims=True))
    assert_same(compiled(x)[0], e / e.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("mode", ["warn", "raise"])
def test_reports(mode):
    """Overflow in a sum and invalid differences are reported as plain execution does."""
    def f(x):
        y = x * 2.0
        return y.sum(axis=1), (y - y.max(axis=1, keepdims=True)).sum()

    for x in (np.full((3, 4), 8e307), np.array([[np.inf, 1.0], [2.0, 3.0]])):
        seen = []
        for g in (f, dyntrace.compile(f)):
            with np.errstate(all=mode), pytest.warns() as caught:
                warnings.warn("one at least", UserWarning, stacklevel=1)
                try:
                    result = [r.tobytes() for r in g(x)]
                except FloatingPointError as error:
                    result = str(error)
            reports = [(str(w.message), w.lineno) for w in caught if w.category is RuntimeWarning]
            seen.append((result, reports))
        assert seen[0] == seen[1]


OPERATIONS = ["x * w", "x - m", "np.abs(x)", "np.maximum(x, w)", "x + 1", "np.sqrt(np.abs(x))", "-x"]
ROWS = [
    "x.max(axis=1, keepdims=True)", "x.sum(axis=1, keepdims=True)", "m * 2", "np.abs(m) + 1",
    "x.mean(axis=1, keepdims=True)", "(x > 0).sum(axis=1, keepdims=True)", "np.exp(-np.abs(m))",
]  # fmt: skip
RESULTS = ["x.sum(axis=0)", "x.sum()", "x.min(axis=1)", "x", "m", "x.std()", "(x > m).any(axis=0)", "x.T"]


@st.composite
def programs(draw):
    lines = []
    for _ in range(draw(st.integers(1, 7))):
        name, pool = draw(st.sampled_from([("x", OPERATIONS), ("m", ROWS), ("x", ["x / (np.abs(m) + 1)"])]))
        lines.append(f"    {name} = {draw(st.sampled_from(pool))}")
    results = draw(st.lists(st.sampled_from(RESULTS), min_size=1, max_size=4))
    return "def f(x, w, m):\n" + "\n".join(lines) + f"\n    return ({', '.join(results)},)\n"


PROGRAMS = int(os.environ.get("DYNTRACE_ARRAY_PROGRAMS", "150"))


@settings(max_examples=PROGRAMS, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    programs(), st.sampled_from([(1, 3), (3, 1), (7, 5), (40, 30), (2, 6000), (6000, 2)]),
    st.sampled_from("df"), st.integers(0, 5), st.sampled_from(["C", "F", "steps", "reversed"]),
)  # fmt: skip
def test_programs(source, shape, dtype, seed, layout):
    namespace = {"np": np}
    exec(compile(source, "<program>", "exec"), namespace)
    x, w, m = make(shape, dtype, seed), make(shape[1:], dtype, 9), make((shape[0], 1), dtype, 8)
    x = {
        "C": x, "F": np.asfortranarray(x), "steps": np.repeat(x, 2, axis=0)[::2], "reversed": x[::-1],
    }[layout]  # fmt: skip
    f = namespace["f"]
    with np.errstate(all="ignore"):
        expected = f(x, w, m)
        g = dyntrace.compile(f)
        for _ in range(2):
            for got, wanted in zip(g(x, w, m), expected, strict=True):
                if isinstance(wanted, np.ndarray) and wanted.base is not None:
                    assert got.tobytes() == wanted.tobytes() and got.strides == wanted.strides, source
                else:
                    assert_same(got, wanted, source) if wanted is not x else None
