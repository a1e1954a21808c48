"""Small arrays: what is made, joined, multiplied, solved, cut and written without a call of NumPy's."""

import copy
import math

import dyntrace
import numpy as np
import pytest
from differential import BACKEND, FORCED, Compiled, Outcome, check, check_calls, compare

RANDOM = np.random.default_rng(5)
INF, NAN = np.inf, np.nan


# ---- Arrays that are made ------------------------------------------------------------------------

MADE = """
np.zeros(3), np.zeros((2, 3)), np.zeros(n), np.zeros((n, 2)), np.zeros(3, int), np.zeros(2, bool)
np.ones(3), np.ones((n, n)), np.ones(3, "i4"), np.ones(2, bool), np.ones(2, complex), np.ones(2, "f2")
np.full(3, 2.5), np.full((2, 2), x[0]), np.full(n, float(x[0])), np.full(2, 7), np.full(3, True)
np.full(3, NAN), np.full(n, n), np.full(3, x[0] * 2, "f4"), np.full((2, n), -0.0)
np.eye(3), np.eye(n), np.eye(2, 3), np.eye(3, 2), np.identity(3), np.identity(n), np.eye(3, k=1)
np.eye(3, dtype=int), np.eye(2, dtype=bool), np.eye(3, dtype="f4"), np.eye(len(x))
np.zeros_like(x), np.ones_like(x), np.zeros_like(m), np.ones_like(m, int), np.zeros_like(m.T)
np.zeros_like(x, shape=3), np.ones_like(i), np.zeros_like(x > 1), np.empty_like(x).shape
np.array([1.0, 2.0]), np.array([1, 2, 3]), np.array([1, 2.5]), np.array([True, False]), np.array([])
np.array([[1, 0], [0, 1.0]]), np.array([[x[0], 0], [0.0, n]]), np.array((x[0], x[1])), np.array([[n]])
np.array([x[0], x[1] * 2, 3]), np.array([[x[0], -x[1]], [x[1], x[0]]]), np.array([x.sum(), x.max()])
np.array([float(x[0]), 1]), np.array([math.sin(x[0]), n]), np.array([i[0], 2]), np.array([i[0], 2.5])
np.array([x[0], i[0]]), np.array([i[0], True]), np.array([x[0] > 1, True]), np.array([x[0], True])
np.array([x[0], 1], "f4"), np.array([1, 2], float), np.array([n, 1], float)
np.array([x[0], x[1]]) @ m[:2, :2], np.array([0.1, 0.2]) * x[0], np.asarray([x[0], 2.0])
np.array([[[1, 2], [3, n]]]), np.array([[1.0, x[0]], [n, 2]]).T, np.array([-0.0, 0.0]), np.array([NAN])
np.array([x, x * 2]), np.array([x[0], x]) if n < 0 else 0, np.array([1, 2], "u1"), np.array([n, 300])
x.copy(), m.copy(), m.T.copy(), x[::2].copy(), (x > 1).copy(), i.copy(), np.copy(m), np.copy(m.T)
np.concatenate((x, x)), np.concatenate([x, x * 2, x]), np.concatenate((m, m)), np.concatenate((m, m), 1)
np.concatenate((m, m), -1), np.concatenate((m.T, m.T)), np.concatenate((x, i)), np.concatenate((i, i))
np.concatenate((x[:1], x)), np.concatenate((x[:0], x)), np.concatenate((m, m[:1])), np.concatenate((x,))
np.concatenate((m, x[None, :3])), np.concatenate((m[:, :1], m), 1), np.concatenate((m, m), None)
np.hstack((x, x)), np.hstack((m, m)), np.vstack((x, x)), np.vstack((m, m)), np.vstack((m, m[0]))
np.stack((x, x)), np.stack((x, x), 1), np.stack((m, m)), np.stack((m, m), 1), np.stack((m, m), 2)
np.stack((x, x), -1), np.stack((i, i)), np.stack((x > 1, x > 2)), np.hstack((x, 1.0)), np.column_stack((x, x))
np.append(x, x), np.r_[x, x], np.concatenate((x[::2], x[::-1]))
""".strip().splitlines()


def function(expression, names="x, m, i, n"):
    scope = {"np": np, "math": math, "NAN": NAN}
    exec(f"def f({names}):\n    return {expression}", scope)
    return scope["f"]


X = np.array([2.5, 0.5, 3.25, 1.0])
M = np.arange(9.0).reshape(3, 3) + np.eye(3)
I = np.array([3, -1, 4])


@pytest.mark.parametrize("expression", MADE)
def test_made(expression):
    calls = [
        (X, M, I, 3),
        (X * NAN, -M, I * 0, 4),
        (X[::-1], M.T, I[::-1], 2),
        (X, M[:, ::-1], I, 0),
    ]
    calls.append((X.astype("f4"), M.astype("f4"), I.astype("i4"), 3))
    check_calls(function(expression), *calls, whole=False)


@pytest.mark.skipif(bool(FORCED), reason="it is about what is captured")
def test_no_call_is_left():
    text = "np.array([[x[0], 0], [0, n]]) @ x[:2] + np.zeros(2) + np.dot(x, x) + np.linalg.norm(x)"
    printed = str(dyntrace.explain(function(text))(X, M, I, 3))
    assert "kernel" in printed and "called" not in printed, printed


# ---- Products ------------------------------------------------------------------------------------

PRODUCTS = """
a @ b, b @ a
a.T @ b, a @ b.T, a.T @ b.T
a @ v, v @ a, a.T @ v, v @ a.T
v @ v, v @ v[::-1], a[0] @ v, a[:, 0] @ v, a[:, 0] @ a[:, 1]
np.dot(a, b), np.dot(a, v), np.dot(v, a), np.dot(v, v), np.dot(a.T, v), np.dot(a[0], a[:, 1])
np.inner(v, v), np.vdot(v, v), np.vdot(a, b), np.inner(a, b), v.dot(v), a.dot(v), np.inner(a, v)
np.linalg.norm(v), np.linalg.norm(v - a[0]), np.linalg.norm(a), np.linalg.norm(a.T), np.linalg.norm(a[:, 0])
v / np.linalg.norm(v), np.linalg.norm(v) * 2, np.linalg.norm(v[::-1]), np.linalg.norm(a, axis=0)
np.linalg.inv(a), np.linalg.inv(a.T), np.linalg.inv(a[::-1]), np.linalg.inv(a) @ a
np.linalg.solve(a, v), np.linalg.solve(a, b), np.linalg.solve(a.T, b.T), np.linalg.solve(a, a[:, 0])
np.linalg.det(a), np.linalg.det(a.T), np.linalg.det(a[:2, :2]), np.linalg.det(a) * 2
np.cross(v[:3], a[0, :3]), np.cross(a[0, :3], a[1, :3]), np.cross(v[:3], a[:3, 0]), np.cross(v[:2], v[:2])
np.argmax(v), np.argmin(v), np.argmax(a), np.argmin(a.T), v.argmax(), v.argmin() + 1, v[np.argmax(v)]
np.argmax(a[0]), np.argmax(a, axis=0), np.argmax(a[:, 0]), np.argmin(v > 0)
a @ b @ v, (a @ v) @ v, a @ a.T + b, v @ a @ v, (v @ a) @ (b @ v), a @ b - v, (a @ b).T
a[:2, :2] @ b[:2, :2], a[:, :1] @ b[:1], a[:1] @ b, a[:1] @ v, a[:, :1] @ v[:1], v[:1] @ v[:1]
np.matmul(a, b), np.matmul(a, v), a @ b[None], np.dot(v[:1], v[:1]), np.linalg.norm(v[:1])
(a @ b).flags.c_contiguous, (a @ v).strides, np.linalg.inv(a).flags.f_contiguous
""".strip().splitlines()


def square(n, dtype="f8"):
    return (RANDOM.standard_normal((n, n)) + 2 * np.eye(n)).astype(dtype)


@pytest.mark.parametrize("n", [2, 3, 4, 7, 33])
@pytest.mark.parametrize("expression", PRODUCTS)
def test_products(expression, n):
    fn = function(expression, "a, b, v")
    v = RANDOM.standard_normal(n)
    calls = [
        (square(n), square(n), v),
        (square(n).T, square(n), v),
        (square(n)[::-1], square(n).T, v[::-1]),
    ]
    calls.append((np.zeros((n, n)), square(n), v * 0))
    calls.append((square(n) * INF, square(n), v))
    calls.append((square(n) * 1e200, square(n) * 1e200, v * 1e200))
    calls.append((np.repeat(square(n), 2, 1)[:, ::2], square(n), np.repeat(v, 3)[::3]))
    check_calls(fn, *calls, whole=False)
    f4 = [tuple(part.astype("f4") for part in args) for args in calls[:5]]
    check_calls(fn, *f4, whole=False)


@pytest.mark.parametrize("n", [2, 3, 4, 33])
@pytest.mark.parametrize("expression", [text for text in PRODUCTS if "@" in text])
def test_complex_products(expression, n):
    fn = function(expression, "a, b, v")
    a, b, v = square(n) + 1j * square(n), square(n) - 1j, RANDOM.standard_normal(n) * (1 + 2j)
    calls = [(a, b, v), (a.T, b[::-1], v[::-1]), (a * INF, b, v), (a * 1e200, b * 1e200, v)]
    check_calls(fn, *calls, whole=False)
    check_calls(fn, tuple(part.astype("c8") for part in (a, b, v)), (a.conj(), b, v), whole=False)


@pytest.mark.parametrize("dtype", ["f8", "f4", "c16"])
def test_axes_of_one_item(dtype):
    """Columns, rows and single numbers as matrices."""

    def f(a, b):
        return a @ b

    sizes = 1, 2, 4, 9, 40
    for columns in (False, True):
        calls = []
        for m in sizes:
            for n in sizes:
                a = RANDOM.standard_normal((m, n)).astype(dtype)
                for p in sizes[: 2 if m > 4 else None]:
                    b = RANDOM.standard_normal((n, p)).astype(dtype)
                    calls.append((a, b))
                    calls.append((np.asfortranarray(a), np.asfortranarray(b)))
                    calls.append((np.repeat(a, 2, 1)[:, ::2], np.repeat(b, 2, 0)[::2]))
        for a, b in calls:
            if columns:
                check(f, a, b, calls=2)
            elif b.shape[1] == 1:
                check(f, a, b[:, 0], calls=2)
                check(f, b[:, 0], a.T, calls=2)


@pytest.mark.parametrize("dtype", ["i8", "c16", "f2", ">f8", "i4", "?"])
@pytest.mark.parametrize("expression", PRODUCTS[:7:2])
def test_products_of_other_types(expression, dtype):
    fn = function(expression, "a, b, v")
    args = square(3) * 3, square(3) * 3, np.array([1.0, -2, 3])
    check_calls(fn, tuple(part.astype(dtype) for part in args), args, whole=False)


def test_singular_matrix():
    def f(a, b):
        try:
            return np.linalg.inv(a), np.linalg.solve(a, b)
        except np.linalg.LinAlgError as error:
            return str(error)

    check_calls(
        f, (square(3), X[:3]), (np.ones((3, 3)), X[:3]), (np.zeros((3, 3)), X[:3]), whole=False
    )


def test_shapes_that_do_not_fit():
    def f(a, v):
        return a @ v

    check_calls(f, (square(3), X[:3]), (square(3), X), (square(4), X), whole=False)


# ---- Views ---------------------------------------------------------------------------------------

VIEWS = """
x[1:], x[:-1], x[1:-1], x[::2], x[::-1], x[3:0:-1], x[n:], x[:n], x[-n:], x[:-n], x[n:n]
x[1:] - x[:-1], x[2:] - 2 * x[1:-1] + x[:-2], x[::-1] * 2, x[None], x[:, None] * x[None, :]
m[0], m[-1], m[n - 1], m[:, 0], m[:, -1], m[1:, 1:], m[:, ::-1], m[0, 1:], m[1:, 0], m[::2, n - 2]
m[:, None, 0], m[None, 1], m[..., 0], m[0][1:], m[1:][0], m.T[0], m.T[1:], m[:0], m[5:], x[10:], m[1:1, 0]
m[..., None], m[None, ..., 0], x[..., 1:], m[..., ::-1, 1], x[...], m[1, ...], x[..., None, :]
m[...].base is m, m[..., 0, 0].shape, m[:, ..., 1:], m[..., 1, :] * x[..., :3], m[..., n:]
m[None, ..., None].strides, m[..., -1, None]
m.T, m.T.T, m.transpose(), np.transpose(m), m.swapaxes(0, 1), m.T[::-1], m[::-1].T, m.T + m
x[1:].base is x, m[0].base is m, m.T.base is m, x[1:][1:].base is x, m[1:].flags.writeable
x[-10:10], x[10:-10:-1], x[n::-1], x[-1:0:-2], m[-2:, -2:], m[n - 1, n - 2], m[n - 1][n - 2]
""".strip().splitlines()


@pytest.mark.parametrize("expression", VIEWS)
def test_views(expression):
    fixed = X.copy()
    fixed.flags.writeable = False
    calls = [(X, M, I, 2), (X[::-1], M.T, I, 3), (fixed, M[:, ::-1], I, 2), (X, M, I, 1)]
    check_calls(function(expression), *calls, whole=False)


def test_writes_through_views():
    def f(x, m):
        x[1:3] = 0
        row = m[0]
        row[1] = x[0]
        m.T[2, 0] = 7
        m[:, 1][2] += 1
        return row, m[0, 1], x[1:] * 2

    check_calls(f, (X, M), (X[::-1], M.T))


# ---- Positions that are numbers of NumPy ---------------------------------------------------------

POSITIONS = """
m[j], m[j, 1:], m[1:, j], m[j - 1:, j - 1], m[:j], m[j:, ::j], m[j, j], m[j][j], m[int(j)], m[j, None]
x[j:], x[:j], x[j], x[-j:], x[i[1]:], m[i[1]], m[i[1], :i[2]], m[:, i[1] + 1]
x[np.argmax(x)], m[np.argmax(x) - 1]
np.zeros(i[0]), np.ones((j, 2)), np.roll(x, j), np.roll(x, i[1]), np.full(j, x[j]), np.eye(j)
""".strip().splitlines()


@pytest.mark.parametrize("integer", [np.int64, np.int32, np.uint8, int])
@pytest.mark.parametrize("expression", POSITIONS)
def test_positions(expression, integer):
    calls = [(X, M, I, integer(2)), (X[::-1], M.T, I, integer(1)), (X, M, -I, integer(0))]
    calls.append((X, M, I, integer(3)))
    calls.append((X, M, I * 2**40, integer(100)))
    check_calls(function(expression, "x, m, i, j"), *calls, whole=False)


def update(q, s, t, a, b):
    q[s[0], s[1], a] += 0.5 * (-1.0 + q[t[0], t[1], b] - q[s[0], s[1], a])
    q[s[1], s[0], q[s[0], s[1]].argmax()] = q[t[0], t[1], b]
    return q[s[0], s[1], a]


@pytest.mark.parametrize("integer", [np.int64, np.int32, np.uint8, int])
def test_updates_of_a_table(integer):
    q = RANDOM.standard_normal((4, 4, 4))
    calls = [(q, [1, 2], [2, 1], integer(a), integer(b)) for a in range(4) for b in range(4)]
    calls += [
        (q, [1, 2], [1, 2], integer(4), integer(0)),
        (q, [1, 2], [1, 4], integer(1), integer(0)),
    ]
    calls += [
        (q * NAN, [1, 2], [1, 2], integer(1), integer(2)),
        (q[::-1].T, [0, 2], [1, 2], integer(1), integer(2)),
    ]
    check_calls(update, *calls, whole=False)


@pytest.mark.skipif(bool(FORCED), reason="it is about what is captured")
def test_an_update_of_a_table_calls_nothing():
    def f(q, a, b):
        q[1, a] += 0.5 * (q[2, b] - q[1, a])
        return q[b, 1:] * 2

    text = str(dyntrace.explain(f)(np.arange(12.0).reshape(3, 4), np.int64(1), np.int64(2)))
    assert "cells" in text and "called" not in text, text


# ---- Writes of items -----------------------------------------------------------------------------


def put(x, i, v):
    x[i] = v
    return x


def put_2(m, i, j, v):
    m[i, j] = v
    m[i][j] += 1
    return m[i, j]


def many(x, i):
    x[0], x[1] = x[1], x[0]
    x[i] += x[i - 1]
    x[i] *= 2
    x[-1] = x[0] * x[1]
    x[i - 1] = i
    return x.sum()


def own(x, n):
    y = np.zeros(4)
    y[0] = x[0]
    y[n] = x[1] * 2
    y[np.argmax(x)] += 1
    y[-1] = n
    return y


def fails_late(x, y):
    x[0] = 5.0
    x[1] = x[0] * 2
    return y[0] / y[1]


def counts(c, k):
    c[k] += 1
    c[k - 1] -= c[k]
    return c[k]


def bools(b, x):
    b[0] = x[0] > 1
    b[1] = True
    return b


def in_loop(x, n):
    for k in range(1, 4):
        x[k] = x[k - 1] * 0.5 + n
    return x


WRITES = [
    (put, (X, 1, 2.5), (X, -1, NAN), (X, 3, 1), (X[::-1], 0, 1.5)),
    (
        put,
        (X, 1, np.float64(2.5)),
        (X, 4, np.float64(1)),
        (X, -5, np.float64(1)),
        (X, 0, np.float64(INF)),
    ),
    (put, (X, 1, 3), (X, 0, 2**60), (I, 0, 3), (I, 0, 2**70)),
    (put, (I, 1, 3), (I, 1, 3.7), (I, 1, True), (I, 1, NAN)),
    (
        put,
        (X.astype("f4"), 1, 0.1),
        (X.astype("f4"), 1, 1e300),
        (X.astype("f4"), 1, np.float64(1e300)),
    ),
    (
        put,
        (X, 1, np.float32(0.1)),
        (X, 1, np.int64(7)),
        (X, 1, np.array(2.5)),
        (X, 1, np.array([2.5])),
    ),
    (put_2, (M, 1, 2, 0.5), (M.T, 0, -1, 1.0), (M, 3, 0, 1.0), (M[::-1, ::-1], 2, 2, NAN)),
    (many, (X, 2), (X * 1e200, 2), (X * NAN, 1), (X[::-1], 2)),
    (own, (X, 1), (X * 0, 2), (X, 5)),
    (fails_late, (X, np.ones(2)), (X, np.zeros(2)), (X, np.array([1.0, 0]))),
    (counts, (I, 1), (np.array([2**63 - 1, -(2**63)]), 1), (I.astype("i4"), 1)),
    (bools, (np.zeros(2, bool), X), (np.ones(2, bool), X * NAN)),
    (in_loop, (X, 1), (np.full(4, 1e308), 1), (X, 2)),
]


@pytest.mark.parametrize("fn, first, calls", [(f, a, c) for f, a, *c in WRITES])
def test_writes(fn, first, calls):
    check_calls(fn, first, *calls, whole=False)


def test_write_to_read_only():
    fixed = X.copy()
    fixed.flags.writeable = False

    def make(args):
        made = copy.deepcopy(args)
        if args[0] is fixed:
            made[0].flags.writeable = False
        return made

    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        compiled = Compiled(put, BACKEND, None)
        for args in ((X, 1, 2.5), (X, 1, 2.5), (fixed, 1, 2.5), (X, 2, 1.5)):
            compare(Outcome(put, make(args), {}), Outcome(compiled, make(args), {}))


def test_shared_memory():
    def f(x, y):
        x[0] = y[1] * 2
        y[0] = x[1] + 1
        x[1] = y[0] / y[-1]
        return x[0], y[0]

    def make(shift):
        base = X.copy()
        return base[shift:], base[: 4 - shift]

    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        compiled = Compiled(f, BACKEND, None)
        for shift in (0, 1, 2):
            for _ in range(2):
                compare(Outcome(f, make(shift), {}), Outcome(compiled, make(shift), {}))
        apart = X.copy(), X.copy()
        compare(Outcome(f, copy.deepcopy(apart), {}), Outcome(compiled, copy.deepcopy(apart), {}))


# ---- Programs ------------------------------------------------------------------------------------


def kalman(x, P, z, F, Q, H, R):
    x = F @ x
    P = F @ P @ F.T + Q
    S = H @ P @ H.T + R
    K = P @ H.T @ np.linalg.inv(S)
    x = x + K @ (z - H @ x)
    P = (np.eye(len(x)) - K @ H) @ P
    return x, P


def filter_of_columns(x, P, z, u):
    F = np.array([[1.0, 0, 0.5], [0, 1.0, 0], [0, 0, 1]])
    B = np.array([[0.1 * math.cos(x[2, 0])], [0.1 * math.sin(x[2, 0])], [0.0]])
    H = np.array([[1, 0, 0], [0, 1, 0]])
    x = F @ x + B @ u
    P = F @ P @ F.T + np.eye(3) * 0.1
    S = H @ P @ H.T + np.eye(2)
    K = P @ H.T @ np.linalg.inv(S)
    return x + K @ (z - H @ x), (np.eye(len(x)) - K @ H) @ P


def rotate(angle, v):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s], [s, c]]) @ v


def motion(x, dt, u):
    f = np.array([[1.0, 0, 0, 0], [0, 1.0, 0, 0], [0, 0, 1.0, 0], [0, 0, 0, 0]])
    b = np.array([[dt * math.cos(x[2]), 0], [dt * math.sin(x[2]), 0], [0.0, dt], [1.0, 0.0]])
    return f @ x + b @ u


def derivative(t, s):
    return np.array([s[2], s[3], -s[0] + t, -s[1] * 0.5])


def runge_kutta(t, s, h):
    k1 = derivative(t, s)
    k2 = derivative(t + h / 2, s + h / 2 * k1)
    k3 = derivative(t + h / 2, s + h / 2 * k2)
    k4 = derivative(t + h, s + h * k3)
    return s + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def test_programs():
    n = RANDOM.standard_normal
    check(kalman, n(4), np.eye(4), n(2), n((4, 4)), np.eye(4), n((2, 4)), np.eye(2))
    check(filter_of_columns, n((3, 1)), np.eye(3), n((2, 1)), n((1, 1)))
    check(rotate, 0.3, n(2))
    check(motion, n(4), 0.1, n(2))
    check(runge_kutta, 0.1, n(4), 0.01)
