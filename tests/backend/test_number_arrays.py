"""Arrays of no dimensions and of one item: numbers to the executor, arrays to everybody else."""

import dyntrace
import numpy as np
import pytest
from differential import check_calls


def normal(x, scale):
    """As scipy's distributions compute a density."""
    x, scale = map(np.asarray, (x, scale))
    kind = np.promote_types(x.dtype, np.float64)
    x = np.asarray(x / scale, dtype=kind)
    inside = (1 & (scale > 0)) & ((-np.inf <= x) & (x <= np.inf) & (scale > 0))
    out = np.zeros(np.shape(inside), kind)
    np.putmask(out, (1 - inside) + np.isnan(x), -1.0)
    if np.any(inside):
        args = np.atleast_1d(x, scale)
        if np.all(inside):
            *args, inside = np.broadcast_arrays(*args, inside)
            x, scale = [a.ravel() for a in args]
        np.place(out, inside, np.exp(-(x**2) / 2.0) / 2.5 / scale)
    return out[()]


def returned(x, y):
    a = np.asarray(x)
    return a, a + y, a is a, a[()], a.shape


def written(x, y):
    a = np.asarray(x, dtype=float)
    before = a * 2
    a[...] = y
    return before, a * 2, a


def written_view(x, y):
    a = np.array(x, dtype=float)
    before = a * 2
    a.reshape(1)[0] = y
    return before, a * 2


def in_place(x, y):
    a = np.array(x, dtype=float)
    b = a
    a += y
    return a, b, a is b, a / 3


def filled(x, y):
    a = np.asarray(x, dtype=float)
    s = a - y
    np.copyto(a, 7.0)
    np.putmask(a, y > 1, 8.0)
    return s, a - y


def shown(x, y):
    a = np.asarray(x, dtype=float)
    v = a.reshape(1, 1)
    return v, a, np.shares_memory(v, a), v.base is a, v + y


def told_apart(x, y):
    a, b = np.asarray(x), np.asarray(x)
    return a is b, [a, a, b], a + b + y


def cast(x, y):
    return np.asarray(x, np.float32) + y, np.array(x, dtype=np.float64) * np.asarray(y, dtype=float)


def truth(x, y):
    return np.any(x), np.all(y), np.any(x > y), np.asarray(x).any(), (np.asarray(y) > 1).all()


def truth_kept(x, y):
    return np.any(x, keepdims=True), np.all(np.asarray(y), axis=None)


def bits(x, y):
    a, b = np.asarray(x > 0), np.asarray(y > 1)
    return (1 & (a > 0)), (2 | (b > 0)) ^ 5, (1 - (b & 1)) + np.isnan(x)


def raised(x, y):
    return np.asarray(x) / np.asarray(y - y)


FUNCTIONS = [
    normal, returned, written, written_view, in_place, filled, shown, told_apart, cast, truth, truth_kept,
    bits, raised,
]  # fmt: skip
NUMBERS = [1.5, 3, True, np.float64(-0.25), np.int64(7), np.float32(0.1), np.nan, np.inf, -0.0, 1e300, 2**62]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("fn", FUNCTIONS)
def test_of_numbers(fn):
    for y in (2.0, 1, np.float64(0.5)):
        check_calls(fn, *[(x, y) for x in NUMBERS * 2], whole=False)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("fn", FUNCTIONS)
def test_of_arrays(fn):
    arrays = [np.array(2.5), np.array([0.5]), np.array([[1.5]]), np.array(3), np.array(True)]
    for x in arrays:
        check_calls(fn, *[(x.copy(), y) for y in (2.0, np.array(1.5), 0.5) * 2], whole=False)


def test_errors_are_told():
    check_calls(raised, (1.0, 2.0), (3.0, 4.0), (np.nan, 1.0), whole=False)
    run = dyntrace.compile(raised)
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        run(1.0, 2.0)


# ---- One item ---------------------------------------------------------------------------------------

UNARY = [
    "exp", "expm1", "log", "log1p", "log2", "log10", "exp2", "sin", "cos", "tan", "arcsin", "arccos",
    "arctan", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "sqrt", "cbrt", "square", "rint",
    "negative",
]  # fmt: skip
SHAPES = [(1,), (1, 1), (), (1, 1, 1)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("name", UNARY)
def test_ufuncs_of_one_item(name, dtype):
    ufunc = getattr(np, name)

    def fn(x):
        return ufunc(x), ufunc(x * 1.0) + 1, ufunc(ufunc(x))

    values = np.random.default_rng(5).normal(0, 2, 40).astype(dtype)
    for shape in SHAPES:
        check_calls(fn, *[(v.reshape(shape).copy(),) for v in values[:, None]])
    strided = np.repeat(values, 3)
    check_calls(fn, *[(strided[i : i + 2 : 2],) for i in range(0, 60, 3)])
    check_calls(fn, *[(strided[i : i + 1][::-1],) for i in range(0, 60, 3)])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("name", ["arctan2", "hypot", "logaddexp", "power", "float_power", "fmod"])
def test_ufuncs_of_two_items(name, dtype):
    ufunc = getattr(np, name)

    def fn(x, y):
        return ufunc(x, y), ufunc(x + 1, y) - y

    x, y = np.random.default_rng(6).uniform(0.1, 3, (2, 30)).astype(dtype)
    for left in SHAPES:
        for right in SHAPES:
            check_calls(fn, *[(a.reshape(left), b.reshape(right)) for a, b in zip(x[:, None], y[:, None])])
    check_calls(fn, *[(x[i : i + 1], float(y[i])) for i in range(30)])


# ---- Other dimensions -------------------------------------------------------------------------------


def reshaped(x):
    return x.reshape(-1), x.reshape(x.size, 1), np.reshape(x, (1, -1, 1)), x.reshape(2, -1) * 2


def raveled(x):
    flat = x.ravel()
    flat[0] = 5
    return flat, x, flat.base is x, np.ravel(x) + 1


@pytest.mark.parametrize("fn", [reshaped, raveled])
def test_other_dimensions(fn):
    x = np.arange(12.0)
    read_only = x.copy()
    read_only.flags.writeable = False
    arrays = [
        x, x.reshape(3, 4), x.reshape(3, 4).T, x[::2], x[::-1], x.reshape(2, 3, 2)[:, ::-1], x.astype(int),
        np.asfortranarray(x.reshape(3, 4)), x.astype(">f8"), x.reshape(1, 12), x[:2],
    ]  # fmt: skip
    check_calls(fn, *[(a.copy(order="K"),) for a in arrays * 2], whole=False)
    check_calls(fn, (x[::2],), (x[2:8],), (x[::-1],), (x.reshape(3, 4)[1:],), whole=False)
    check_calls(fn, (read_only,), (read_only[2:],), whole=False)


def test_the_same_dimensions_keep_their_strides():
    """An axis of one item is in C order whatever its stride is."""

    def fn(x, n):
        y = x[::-1][:n]
        row = y[None]
        turned = row.reshape(row.shape[::-1])
        return y.reshape(-1), y.ravel(), y.reshape(y.size), turned, row.reshape(row.shape)

    x = np.arange(6.0)
    check_calls(fn, *[(x[:m], n) for m in (6, 3, 1) for n in (1, 2, 1, 6)], whole=False)


def test_no_items():
    def fn(x):
        return x.reshape(-1), x.ravel(), x.reshape(0, 3)

    check_calls(fn, (np.ones((0, 2)),), (np.ones(0),), (np.ones((2, 0)),), whole=False)
