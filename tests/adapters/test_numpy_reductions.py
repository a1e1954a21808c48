"""Reductions of NumPy arrays: every function and method, over axes, dtypes, layouts and keepdims."""

import itertools

import numpy as np
import pytest
from differential import Compiled, Outcome, check, compare

NAMES = ["sum", "prod", "min", "max", "any", "all", "mean", "var", "std"]
AXES = [None, 0, 1, 2, -1, (0, 1), (0, 2), (1, -1), (0, 1, 2), ()]


def cube(dtype="d", order="C"):
    rng = np.random.default_rng(7)
    array = (
        (rng.random((3, 4, 5)) * 9 - 3).astype(dtype)
        if dtype not in "BHIL"
        else rng.integers(0, 9, (3, 4, 5))
    )
    return np.asarray(array.astype(dtype), order=order)


@pytest.mark.parametrize("axis", AXES, ids=repr)
@pytest.mark.parametrize("name", NAMES)
def test_axes(name, axis):
    function = getattr(np, name)

    def f(x):
        return function(x, axis=axis), function(x, axis), function(x, axis=axis, keepdims=True)

    check(f, cube())
    check(f, cube(order="F"))


@pytest.mark.parametrize("name", NAMES)
def test_methods(name):
    calls = ["x.{0}()", "x.{0}(0)", "x.{0}(axis=1)", "x.{0}(axis=(0, 2), keepdims=True)"]
    source = "def f(x):\n    return " + ", ".join(calls).format(name)
    namespace = {}
    exec(source, namespace)
    for dtype in "?bBilefdFD":
        if name in ("var", "std") and dtype in "?eFD":
            check(namespace["f"], cube(dtype), breaks="array-op")
        elif name in ("min", "max") and dtype in "FD":
            check(namespace["f"], cube(dtype))
        else:
            with np.errstate(all="ignore"):
                check(namespace["f"], cube(dtype))


@pytest.mark.parametrize("name", NAMES)
def test_layouts(name):
    function = getattr(np, name)

    def f(x):
        return function(x), function(x, 0), function(x, axis=(0, 1)), function(x * 2, -1)

    def make(view):
        return lambda: ((view(cube()),), {})

    for view in (
        lambda a: a.transpose(1, 0, 2),
        lambda a: a[:, ::2],
        lambda a: a[::-1, :, ::-1],
        lambda a: np.broadcast_to(a[:, :1], (3, 4, 5)),
        lambda a: a.astype(">f8"),
        lambda a: a[1:2],
    ):
        if name in ("var", "std") and not view(cube()).dtype.isnative:
            continue
        check(f, make=make(view))


def test_sizes_are_symbols():
    def f(x):
        return x.sum(axis=0), np.mean(x), x.std(axis=1), (x - x.mean(axis=-1, keepdims=True)).max()

    compiled = Compiled(f)
    rng = np.random.default_rng(1)
    for shape in ((3, 4), (7, 9), (100, 2), (2, 5000)):
        args = (rng.random(shape),)
        compare(Outcome(f, args, {}), Outcome(compiled, args, {}))
    assert compiled.published == 1


def test_pairwise_sums():
    def f(x):
        return np.sum(x), np.mean(x), x.var(), (x * x).sum()

    rng = np.random.default_rng(2)
    for n in (1, 2, 7, 8, 127, 128, 129, 1000, 4097, 100_003):
        for dtype in "dfe":
            if dtype == "e":
                continue
            check(f, rng.random(n).astype(dtype), calls=2)


def test_dtype_argument():
    def f(x):
        return (
            x.sum(dtype="f4"),
            np.sum(x, dtype=np.float64, axis=0),
            np.prod(x, dtype=float),
            x.mean(dtype="f8"),
        )

    for dtype in "bilfd":
        check(f, cube(dtype))


def test_ddof():
    def f(x):
        return x.var(ddof=1), np.std(x, axis=0, ddof=1), x.std(ddof=2, keepdims=True)

    check(f, cube())
    check(f, cube("f"))
    check(f, cube("i"))


def test_ptp_and_aliases():
    def f(x):
        return np.ptp(x), np.ptp(x, axis=1), np.amax(x), np.amin(x, 0)

    check(f, cube())
    check(f, cube("i"))


def test_ufunc_reduce():
    def f(x):
        return (
            np.add.reduce(x),
            np.maximum.reduce(x, axis=None),
            np.multiply.reduce(x, axis=(0, 1), keepdims=True),
        )

    check(f, cube())

    def logical(x):
        return np.logical_or.reduce(x, axis=1), np.bitwise_xor.reduce(x)

    check(logical, cube("i"))


def test_empty():
    def f(x):
        return x.sum(), x.prod(axis=0), x.any()

    check(f, np.zeros((0, 3)))

    def g(x):
        return x.max()

    check(g, np.zeros((0, 3)), breaks="raises")

    def h(x):
        return x.mean()

    check(h, np.zeros((0, 3)), breaks="raises")

    def v(x):
        return x.var(ddof=1)

    check(v, np.ones(1), breaks="raises")


def test_scalars():
    def f(s):
        return s.sum(), np.max(s), s.mean(), np.all(s)

    check(f, np.float64(2.5))
    check(f, np.float32(2.5))
    check(f, np.int32(2))
    check(f, np.array(2.5))


def test_axis_of_a_scalar():
    def f(s):
        return s.sum(axis=0), np.max(s, axis=-1)

    check(f, np.float64(2.5))

    def g(s):
        return s.mean(axis=0)

    check(g, np.float64(2.5), breaks="raises")


def test_errors_are_numpys():
    def f(x):
        return x.sum(axis=3)

    check(f, cube(), breaks="raises")

    def g(x):
        return x.sum(axis=(0, 0))

    check(g, cube(), breaks="raises")


def test_warnings():
    def f(x):
        return x.sum(), x.mean(axis=0), x.prod()

    check(f, np.array([1e308, 1e308, 1e10]))
    check(f, np.array([np.inf, -np.inf, 1.0]))


def test_forms_of_reductions():
    def out(x):
        return np.sum(x, axis=0, out=x[0])

    def where(x):
        return np.sum(x, where=x > 0)

    def initial(x):
        return np.sum(x, initial=3)

    def listed(x):
        return np.sum([1, 2, 3]) + x

    def cumulative(x):
        return np.add.accumulate(x)

    check(out, cube())
    for fn in (where, initial, listed, cumulative):
        check(fn, cube())


def test_mean_of_integers_depends_on_the_buffer():
    def f(x):
        return x.mean()

    rng = np.random.default_rng(5)
    x = rng.integers(-(2**60), 2**60, 50_000)
    compiled = Compiled(f)
    for size in (8192, 1024, 8192):
        with np.errstate():
            old = np.setbufsize(size)
            try:
                compare(Outcome(f, (x,), {}), Outcome(compiled, (x,), {}))
            finally:
                np.setbufsize(old)


def test_axes_of_every_rank():
    def f(x):
        return x.sum(-1), x.max(0), x.mean()

    for ndim in range(1, 6):
        check(f, np.arange(2.0**ndim).reshape((2,) * ndim), calls=2)


def test_reduced_layout_carries_on():
    def f(x):
        y = x.sum(axis=1)
        return y * 2, (y.T + 1), y.sum(axis=0)

    for order in itertools.permutations(range(3)):

        def make(order=order):
            return (cube().transpose(order),), {}

        check(f, make=make, calls=2)
