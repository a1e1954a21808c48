"""NumPy scalars, arrays of no dimensions and Python numbers out of arrays: arithmetic without objects.

Each function is compiled with ordinary values, and called with others that overflow, divide by zero,
are NaN, or lie at the ends of their type: values, types, warnings and exceptions are plain execution's.
"""

import copy
import math

import dyntrace
import numpy as np
import pytest
from differential import FORCED, check, check_calls

INF, NAN = np.inf, np.nan
LAST, FIRST = 2**63 - 1, -(2**63)


def stages(fn, *args):
    return str(dyntrace.explain(fn)(*copy.deepcopy(args)))


# Of a, b: items of x (and y), c: an int of Python, k: an index.
EXPRESSIONS = """
a + b, a - b, a * b
a / b
a // b, a % b
a ** 2, a ** 3
a ** b
abs(a) ** 0.5
-a, +a, abs(a)
a < b, a <= b, a == b, a != b, a > b, a >= b
(a < b) & (b < a), (a < b) | (b == b), (a < b) ^ (a == a)
a + 1, 1 + a, a - 2, 2 - a, a * 3, 3 * a
a / 2, 2 / a
a + 0.5, 0.5 - a, a * 1.5, a / 0.1, 0.1 / a
a < 1, 1 < a, a == 2.5, 2.5 != a
a + True, True * a, a < False
a + c, c - b, a * c, a / c
a + len(x), len(y) * b
np.sqrt(a * a), np.abs(b), np.negative(a)
np.exp(a), np.sin(a), np.cos(b), np.tan(a)
np.exp(-a ** 2 / 2) / np.sqrt(2 * np.pi)
np.log(a), np.log10(b), np.log1p(a), np.arctan(b), np.tanh(a), np.cbrt(a)
np.arctan2(a, b), np.hypot(a, b), np.maximum(a, b), np.minimum(a, 1), np.fmax(a, b)
np.floor(a), np.ceil(b), np.rint(a), np.sign(b), np.isnan(a), np.isfinite(b), np.isinf(a)
np.add(a, b), np.multiply(a, 2), np.subtract(a, 1.5), np.divide(a, b), np.square(a)
np.less(a, b), np.logical_and(a, b), np.logical_not(a), np.floor_divide(a, 2), np.remainder(a, 3)
np.clip(a, -1, 1), np.clip(a * 2, b, 5)
float(a), float(a) + 1, float(a) * float(b), 2.0 - float(b), -float(a), abs(float(b))
float(a) < float(b), float(a) == 1.5, float(a) + c, c * float(b), float(a) ** 2.0
math.sin(a), math.cos(float(b)), math.atan2(a, b), math.fabs(a), math.tanh(b), math.degrees(a)
math.sqrt(a), math.exp(b), math.isnan(a), math.isinf(b), math.isfinite(a), math.radians(b)
math.pow(a, 2), math.fmod(b, 3), math.copysign(a, b), math.atan(a)
int(a), int(b) + 1, int(a) * 2, int(a) - int(b), -int(a), int(a) < int(b)
float(a) / float(b)
int(a) // int(b), int(a) % int(b)
x[0] * y[1] - x[1] * y[0], x[-1] + y[-2]
x[k] + y[k - 1], x[-k], x[k + 1] * 2
x * a, y + b / 2, x - a * 0.5, x / abs(b)
x.sum() * a, x.max() - b, (x * y).sum() / a, x.mean() + b, x.min() < b
np.dot(x, y) + a, (x @ y) / 2
type(a), type(a + 1), type(a * 0.5), type(np.sin(a)), type(float(a)), type(a < b)
[a, a + b], (a, [a, b]), {"s": a * b}
(a + b).dtype, (a * b).ndim, (a + b).shape
""".strip().splitlines()

F8 = [[2.5, -0.5, 3.25], [1.5, 2.0, -4.0]]
VALUES = {
    "f8": (
        "f8",
        F8,
        [[NAN, INF, 1], [0, -INF, 2]],
        [[0, -0.0, 1], [-0.0, 0, 3]],
        [[1e308, 9e307, 2], [1e-308, 5e-324, 3]],
        [[-2, -7, 1], [1e300, 3, 2]],
    ),
    "f4": ("f4", F8, [[NAN, INF, 1], [0, -INF, 2]], [[3e38, 2e38, 2], [1e-45, 1e-38, 3]]),
    "i8": (
        "i8",
        [[3, -2, 5], [4, 7, -1]],
        [[LAST, FIRST, 1], [-1, 2, 3]],
        [[0, 1, 0], [0, 0, 0]],
        [[FIRST, FIRST, 2], [-1, -1, -1]],
        [[2**53 + 1, 3, 2], [2**31, 2**40, 5]],
    ),
    "i4": ("i4", [[3, -2, 5], [4, 7, -1]], [[2**31 - 1, -(2**31), 1], [-1, 0, 3]]),
    "mixed": (("f4", "i8"), F8, [[1e30, NAN, 2], [LAST, FIRST, 0]]),
    "wide": (("i8", "f8"), [[3, -2, 5], [0.5, 2.5, 1]], [[LAST, 0, 3], [0, NAN, INF]]),
}


def function(expression):
    scope = {"np": np, "math": math}
    exec(f"def f(x, y, c, k):\n    a = x[0]\n    b = y[1]\n    return {expression}", scope)
    return scope["f"]


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_expression(expression, kind):
    dtypes, *values = VALUES[kind]
    dtypes = (dtypes, dtypes) if isinstance(dtypes, str) else dtypes
    calls = [
        (np.array(x).astype(dtypes[0]), np.array(y).astype(dtypes[1]), 3, 1) for x, y in values
    ]
    calls.append((*calls[0][:2], -2, 1))
    calls.append((calls[0][0][::-1], np.repeat(calls[0][1], 2)[::2], 3, 1))
    # Powers and shifts of some types, and math of what is out of its domain, break or raise.
    check_calls(function(expression), *calls, whole=False)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_whole(expression):
    calls = (np.abs(np.array(F8[0])), np.abs(np.array(F8[1])) / 8, 3, 1)
    check(function(expression), *calls)


@pytest.mark.parametrize("expression", EXPRESSIONS)
@pytest.mark.parametrize("mode", ["raise", "ignore", "warn"])
def test_errstate(expression, mode):
    calls = [(np.array(x, "f8"), np.array(y, "f8"), 3, 1) for x, y in VALUES["f8"][1:4]]
    with np.errstate(all=mode):
        check_calls(function(expression), *calls, whole=False)


# Of Python floats each is right: which one `*` of floats keeps changes when the interpreter specialises it.
OF_TWO_NANS = """
a + b, a - b, a * b, a / b, a ** b
b + a, b - a, b * a, b / a
a * 2 + b, -(a + b), -a * b, a * -b + a
x.sum() + b, x[0] * y.mean(), x.max() + y.min()
a + c * b, np.float32(a) + np.float32(b), np.float64(a) * np.float64(b)
sum([a, b]), np.add(a, b), np.multiply(a, b)
""".strip().splitlines()


@pytest.mark.parametrize("dtypes", [("f8", "f8"), ("f4", "f4"), ("f4", "f8")])
@pytest.mark.parametrize("expression", OF_TWO_NANS)
def test_which_of_two_nans(expression, dtypes):
    one, other = np.array([0x7FF8_0000_4000_0000, 0x7FF8_0000_8000_0000], "u8").view("f8")
    pairs = [(1.5, 2.0), (NAN, -NAN), (-NAN, NAN), (one, other), (NAN, 2.0), (1.5, -NAN)]
    calls = [(np.full(3, p, dtypes[0]), np.full(3, q, dtypes[1]), 3, 1) for p, q in pairs]
    check_calls(function(expression), *calls)


@pytest.mark.skipif(bool(FORCED), reason="it is about what is captured")
def test_no_call_is_left():
    text = stages(
        function("a * b - 2 / a + np.sqrt(b) + float(a) * math.sin(b)"),
        np.array(F8[0]),
        np.array(F8[1]),
        3,
        1,
    )
    assert "cells" in text and "called" not in text, text


# ---- Functions -----------------------------------------------------------------------------------


def kepler(mean, e):
    anomaly = mean
    for _ in range(4):
        change = (anomaly - e * np.sin(anomaly) - mean) / (1 - e * np.cos(anomaly))
        anomaly = anomaly - change
    return anomaly, change


def ray(o, d, c, r):
    oc = o - c
    a = np.dot(d, d)
    b = 2.0 * np.dot(oc, d)
    disc = b * b - 4 * a * (np.dot(oc, oc) - r * r)
    return o + (-b - np.sqrt(disc)) / (2 * a) * d, disc < 0


def learn(q, s, a, r, s2, alpha, gamma):
    q[s, a] += alpha * (r + gamma * q[s2].max() - q[s, a])
    return q[s, a]


def items_written(x, i, v):
    x[i] += v
    x[i + 1] -= x[i]
    x[0] = x[i] * 0.5
    return x[i], x[0]


def identity(x):
    a = x[0] + x[1]
    b = a
    f = float(a)
    return a is b, a, b, [a], f, [f, f]


def rows(m, i, j):
    return m[i, j], m[i][j], m[-1, j] - m[i, -1], m[np.int64(1), j], m[np.argmax(m[0]), 0]


def by_index(x, n):
    return x[n[0]], x[n[1]] * 2, x[int(n[0]) + 1]


def zero_d(z, x):
    return z + 1, z * x[0], z * z, -z, np.sin(z), z < x[0], x * z, z[()] + x[1]


def in_callee(x):
    def norm(v):
        return np.sqrt(v[0] * v[0] + v[1] * v[1])

    return x / norm(x), norm(x * 2)


def caught(x):
    try:
        return x[0] / x[1], math.sqrt(x[2]), int(x[0])
    except (ValueError, OverflowError) as error:
        return type(error), str(error)


def unused(x):
    x[0] / x[1]
    return x[2]


def with_errstate(x):
    with np.errstate(divide="ignore"):
        a = x[0] / x[1]
    return a, x[2] / x[1] if x is not None else None


X = np.array([1.5, 2.0, 4.0, 0.25])
FUNCTIONS = [
    (
        kepler,
        (np.float64(1.2), 0.3),
        (np.float64(INF), 0.3),
        (np.float64(0), 1.0),
        (np.float64(2), 0.5),
    ),
    (kepler, (np.float32(1.2), 0.3), (np.float32(NAN), 0.3), (np.float32(0), 1.0)),
    (
        ray,
        (np.array([0, 0, -5.0]), np.array([0, 0.1, 1]), np.zeros(3), 1.5),
        (np.array([0, 9, -5.0]), np.array([0, 0.1, 1]), np.zeros(3), 1.5),
        (np.array([0, 0, -5.0]), np.zeros(3), np.zeros(3), 1.5),
    ),
    (
        learn,
        (np.arange(12.0).reshape(4, 3), 1, 2, 0.5, 3, 0.1, 0.9),
        (np.full((4, 3), 1e308), 1, 2, 0.5, 3, 10.0, 0.9),
        (np.full((4, 3), NAN), 0, 0, 1.0, 0, 0.1, 0.9),
    ),
    (
        items_written,
        (X, 1, 0.5),
        (X, 2, NAN),
        (np.full(4, 1e308), 1, 1e308),
        (X, 0, 1.0),
        (X, 2, 1.0),
    ),
    (identity, (X,), (X * INF,)),
    (rows, (np.arange(6.0).reshape(2, 3), 1, 2), (np.arange(6.0).reshape(3, 2).T, 0, 1)),
    (by_index, (X, np.array([1, 2])), (X, np.array([2, -1])), (X, np.array([0, -4]))),
    (zero_d, (np.array(2.5), X), (np.array(INF), X), (np.array(0.0), X[::-1])),
    (zero_d, (np.array(3), np.array([4, 5])), (np.array(LAST), np.array([2, LAST]))),
    (in_callee, (X,), (X * 0,), (X * 1e200,)),
    (caught, (X,), (X * 0,), (-X,), (X * np.array([INF, 1, 1, 1]),), (X * NAN,)),
    (unused, (X,), (X * 0,)),
    (with_errstate, (X,), (X * np.array([1, 0, 1, 1]),)),
]


@pytest.mark.parametrize("fn, first, calls", [(f, a, c) for f, a, *c in FUNCTIONS])
def test_function(fn, first, calls):
    check_calls(fn, first, *calls)


@pytest.mark.parametrize("index", [3, -5, 7])
def test_index_of_an_array_that_does_not_fit(index):
    check_calls(by_index, (X, np.array([1, 2])), (X, np.array([0, index])), (X, np.array([index, 0])))


class Marked(np.ndarray):
    pass


def read(x, i):
    return x[i] + x[0] * 2, type(x[i])


@pytest.mark.parametrize(
    "other",
    [
        X.view(Marked),
        X.astype(">f8"),
        X.astype("f4"),
        X.astype("f2"),
        np.ma.array(X),
        X.astype("c16"),
        X.astype(object),
    ],
    ids=["subclass", "swapped", "f4", "f2", "masked", "complex", "object"],
)
def test_other_arrays(other):
    check_calls(read, (X, 1), (other, 1), (X, 2), whole=False)
    check_calls(read, (other, 1), (X, 1), (other, 2), whole=False)


def test_unaligned():
    packed = np.zeros(4, "u1,f8")["f1"]
    packed[:] = X
    check_calls(read, (X, 1), (packed, 2), whole=False)


def test_read_only_and_strides():
    fixed = X.copy()
    fixed.flags.writeable = False
    check_calls(read, (X, 1), (fixed, 2), (X[::-1], 2), (np.broadcast_to(X[:1], 4), 3), whole=False)


def test_long_chain():
    """More cells than lie on the C stack."""

    def chain(x):
        a = x[0]
        for i in range(200):
            a = a * 0.5 + x[1] / (i + 1.0)
        return a

    check_calls(chain, (X,), (X * INF,))


def test_types_of_scalars_by_identity():
    def f(x):
        a = x[0] * 2
        return type(a) is np.float64, isinstance(a, float), a.dtype is np.dtype("f8"), a

    check_calls(f, (X,))
