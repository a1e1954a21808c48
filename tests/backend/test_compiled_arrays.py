"""Array functions compiled against plain NumPy: bits, warnings and errors, and where they come from."""

from __future__ import annotations

import io
import traceback
import warnings
from contextlib import redirect_stdout

import dyntrace
import numpy as np
import pytest
from graphs import LAYOUTS, array, assert_same
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st


def algebra(x, y):
    t = x * 2 + y
    return (t - x) * t, t > y


def broadcasting(x, y):
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred * centred + y, centred[..., :1] * y


def views(x, y):
    t = (x + y).T
    return t * 2, np.transpose(t) - x, t[::-1] + 1, t[1:, ...] * 0.5


def reductions(x, y):
    t = x * y
    return t.sum(), t.sum(axis=0), t.max(), t.mean(), t.prod(axis=-1), np.any(t > 1), np.all(t < 1e9)


def scalars(x, y):
    mean = x.mean()
    return (x - mean) / (1.5 + mean), mean * 2, x.sum() ** 2 + y


def powers(x, y):
    return x**2, x**0.5, x**3, np.power(x, y)


def functions(x, y):
    return np.exp(-x * x) * np.sin(y), np.sqrt(np.abs(x)) + np.tanh(y), np.hypot(x, y)


def choices(x, y):
    return np.where(x > y, x, y * 2), np.clip(x, -1, 1), np.maximum(x, 0) + np.minimum(y, 1)


def casts(x, y):
    return x.astype(np.float64) * 2, (x > 0).astype(np.int32) + 1, x.astype("f4") + 1


def logic(x, y):
    positive = x > 0
    return positive & (y < 1), ~positive, positive.sum(), positive * x


def creation(x, y):
    return np.zeros(3) + 1, np.ones_like(x) * y, np.arange(4) * 2.5, np.full((2, 2), 3.0) - 1


def products(x, y):
    return np.dot(x.ravel(), x.ravel()), (x.T @ x) * 2


FUNCTIONS = [
    algebra, broadcasting, views, reductions, scalars, powers, functions, choices, casts, logic,
    creation, products,
]  # fmt: skip


def outcome(f, args, mode, errors):
    """What a call gives, reports and raises: everything that a caller can see."""
    printed = io.StringIO()
    with warnings.catch_warnings(record=True) as caught, redirect_stdout(printed), np.errstate(all=mode):
        warnings.simplefilter("error" if errors else "always")
        try:
            result = f(*args)
        except Exception as error:
            frames = [(e.filename, e.lineno, e.name) for e in traceback.extract_tb(error.__traceback__)[1:]]
            result = (type(error), str(error), frames)
    seen = [(w.category, str(w.message), w.filename, w.lineno) for w in caught]
    return result, seen, printed.getvalue()


# Which of two NaNs `-x * x` keeps, and so its sign, depends on strides in the loops of NumPy 2.2.
NANS_HAVE_A_SIGN = np.lib.NumpyVersion(np.__version__) >= "2.3.0"


def without_signs(value):
    """The same array in which every NaN is the positive one."""
    value = value.copy("K")
    value[np.isnan(value)] = np.nan
    return value


def check(f, args, mode="ignore", errors=False):
    expected, reported, printed = outcome(f, args, mode, errors)
    compiled = dyntrace.compile(f)
    for _ in range(3):
        got, seen, text = outcome(compiled, args, mode, errors)
        assert type(got) is type(expected) and len(got) == len(expected)
        for one, other in zip(got, expected):
            if isinstance(other, (np.ndarray, np.generic)) and not (
                isinstance(other, np.ndarray) and other.base is not None
            ):
                if f is functions and not NANS_HAVE_A_SIGN and one.ndim and one.dtype.kind == "f":
                    one, other = without_signs(one), without_signs(other)
                assert_same(one, other, f.__name__)
            elif isinstance(other, np.ndarray):
                assert one.dtype == other.dtype and one.strides == other.strides
                assert one.tobytes() == other.tobytes()
            else:
                assert one == other
        assert seen == reported and text == printed


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_bits(data):
    f = data.draw(st.sampled_from(FUNCTIONS))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    shape = data.draw(st.sampled_from([(), (1,), (3,), (1000,), (2, 3), (1, 4), (40, 30), (2, 3, 4)]))
    other = data.draw(st.sampled_from([shape, shape[-1:], ()]))
    args = []
    for s in [shape, other]:
        dtype = data.draw(st.sampled_from("dddfliBD?"))
        special = data.draw(st.booleans())
        args.append(array(rng, dtype, s, data.draw(st.sampled_from(LAYOUTS)) if s else "C", special))
    if data.draw(st.booleans()):
        args[1] = data.draw(st.sampled_from([2.5, 3, -1, 0, 1e300, 2**40]))
    check(f, args)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_reports(data):
    """Warnings with file and line, floating-point errors with their traceback, under every errstate."""
    f = data.draw(st.sampled_from(FUNCTIONS))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    values = np.array([0.0, 1.0, -1.0, 1e300, -1e-300, np.inf, np.nan, 2.0])
    shape = data.draw(st.sampled_from([(3,), (2, 3), (0,), (300,)]))
    args = [rng.choice(values, shape), rng.choice(values, shape)]
    check(f, args, data.draw(st.sampled_from(["warn", "raise", "print", "ignore"])), data.draw(st.booleans()))


def vector_products(x, y):
    return x.dot(x), np.dot(x, y), np.inner(y, y), np.linalg.norm(x)


def matrix_products(x, y):
    m = np.outer(x, y)
    return m.dot(x), m @ m, np.dot(y, m)


@pytest.mark.parametrize("mode", ["warn", "raise", "print", "ignore"])
@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("f", [vector_products, matrix_products])
def test_products_report(f, dtype, mode):
    """Which products report anything depends on NumPy's version."""
    large = np.array([1, 2, 3], dtype) * np.sqrt(np.finfo(dtype).max)
    infinite = np.array([np.inf, 0.0, 1.0], dtype)
    for x, y in [(large, large), (large / 4, infinite), (infinite, infinite - 1)]:
        check(f, [x, y], mode)


def test_shapes_that_do_not_fit_raise_from_the_users_line():
    check(algebra, (np.ones(3), np.ones(3)))
    check(algebra, (np.ones(3), np.ones(4)))
    check(algebra, (np.ones((2, 3)), np.ones((3, 2))))


@pytest.mark.parametrize("bufsize", [16, 8192, 100000])
def test_buffer_size(bufsize):
    old = np.setbufsize(bufsize)
    try:
        check(reductions, (np.arange(1000), np.arange(1000) * 3))
        check(algebra, (np.arange(1000), np.arange(1000) * 3.5))
    finally:
        np.setbufsize(old)
