"""Functions of NumPy that are given lists and tuples of numbers, as they are given arrays."""

import dyntrace
import numpy as np
import pytest
from differential import FORCED, check_calls

# v: a list, p: a pair of lists, x: an array, k: a number.
CALLS = """
np.max(v), np.min(v), np.sum(v), np.prod(v), np.mean(v), np.std(v), np.var(v), np.any(v), np.all(v)
np.max(p), np.max(p, axis=0), np.sum(p, 1), np.mean(p, axis=1, keepdims=True), np.amax(tuple(v))
np.max([a - k for a in v]), np.sum([a * a for a in v]), np.max((x[0], x[1])), np.mean([x[0], k])
np.exp(v), np.sqrt([abs(a) for a in v]), np.abs(v), np.square(p), np.add(v, 1), np.add(1.5, v)
np.maximum(v, x), np.multiply(v, v), np.add(p, x), np.less(v, x), np.isnan(v), np.hypot(v, 2)
np.negative((1, k))
np.argmax(v), np.argmin(v), np.cumsum(v), np.cumprod(v), np.sort(v), np.argsort(v), np.diff(v)
np.take(x, [2, 0]), np.take(v, [2, 0]), np.dot(v, v), np.dot(p, v), np.dot(v, x)
np.vdot(v, x), np.inner(v, x)
p @ x, x @ v, np.matmul(p, v), np.where(x > 0, v, x), np.where(v, x, 0.0)
np.where([True, False, True], x, k)
np.max(v) + np.log(np.sum(np.exp([a - np.max(v) for a in v])))
np.max([]), np.sum([]), np.exp([]), np.argmax([])
np.max([v, 1]), np.sum(["a", "b"])
np.max([None]), np.exp([[1, 2], [3]])
np.max(range(3)), np.sum(range(3)), np.exp(range(3))
np.int64(2) * v, v * np.int64(2), np.float64(2) * v, x * v, v + x, np.int64(3) + v
""".strip().splitlines()


def function(expression):
    scope = {"np": np}
    exec(f"def f(v, p, x, k):\n    return ({expression})", scope)
    return scope["f"]


LISTS = [
    [0.5, -2.0, 3.25],
    [1, 2, 3],
    [True, False, True],
    [np.float64(0.5), np.float64(7.0), np.float64(-0.0)],
    [np.float32(0.5), 2, 1.5],
    [np.int64(3), 1, 2],
    [np.nan, 1.0, np.inf],
    [1 + 2j, 0.5, 1],
    [2**40, 2**62, 2**62],
    [2**63, 1, 2],
    (3, 2.5, 1),
]


@pytest.mark.parametrize("lists", [LISTS[:6], LISTS[6:]], ids=["usual", "others"])
@pytest.mark.parametrize("expression", CALLS)
def test_calls(expression, lists):
    x = np.array([1.5, -0.5, 2.0])
    calls = [(v, [list(v), [1, 2, 3]], x, 2) for v in lists]
    with np.errstate(all="ignore"):
        check_calls(function(expression), *calls, whole=False)


def own_list():
    class Own(list):
        def max(self, axis=None, out=None, **other):
            return "own"

    return Own([1, 2])


def test_a_list_with_methods_of_its_own():
    def f(v):
        return np.max(v), np.sum(v)

    check_calls(f, (own_list(),), (own_list(),), whole=False)


def test_the_list_is_read_when_it_is_reached():
    def f(v, x):
        v.append(x[0])
        a = np.max(v)
        v[0] = a + 1
        return a, np.max(v), v

    check_calls(f, ([1.0, 2.0], np.array([7.0, 1.0])), ([9.0, 2.0], np.array([7.0, 1.0])))


@pytest.mark.skipif(bool(FORCED), reason="it is about what is captured")
def test_it_is_in_the_graph():
    def f(v):
        return np.max(v) + np.log(np.sum(np.exp([a - np.max(v) for a in v])))

    v = [np.float64(0.5), np.float64(1.5)]
    told = dyntrace.explain(f)(v)
    assert not told.breaks and told.result == f(v)


# x, y: arrays of one shape, m: a matrix, s: a NumPy scalar, k: a number.
ARRAYS = """
np.array([x, y]), np.array((x, y, x)), np.array([[x, y], [y, x]]), np.array([x]), np.array([m, m * 2])
np.array([x, [1, 2, 3]]), np.array([(k, 2.5, s), x]), np.array([x[::-1], y], dtype="c8")
np.array([x, y + 1j]), np.array([m[0], m[1]]).T, np.asarray([x, y]), np.array([x, y]) @ x
np.array([x[:0], y[:0]]), np.array([np.array(k), s, 1.5]), np.array([x.sum(), np.array(2)])
np.mean([x, y], axis=0), np.max([x, y]), np.sum([x, y], 1), np.atleast_2d([x, y]), np.exp([x, y])
np.atleast_1d([k, 1]), np.atleast_2d([k, 1]), np.atleast_3d([[k]]), np.ravel([x, y]), np.shape([x, y])
np.vstack([x, [1, 2, 3]]), np.hstack([[1, 2], x]), np.concatenate([x, [k], [1, s]]), np.stack([[1, 2, 3], x])
np.column_stack([x, [1, 2, 3]]), np.concatenate(([[1, 2, 3]], m))
np.flip([x, y]), np.fliplr([x, y]), np.flipud((x, y)), np.rot90([x, y]), np.array_equal([k, 2], [k, 2])
np.array_equal(x, [1, 2, 3]), np.count_nonzero([x, y]), np.atleast_1d(s), np.atleast_2d(k)
np.apply_along_axis(np.sum, 0, [[1, 2, 3], [k, 4, 5]])
np.reshape([x, y], -1), np.transpose([x, y]), np.squeeze([x]), np.zeros_like([x, y]), np.copy([x, y])
np.ascontiguousarray([x, y]), np.real([x, y]), np.size([x, y]), np.ndim([k])
np.full_like([k, k], 3), np.swapaxes([x, y], 0, 1), np.count_nonzero([k])
np.array([x * i for i in range(4)]), np.array([a + 1 for a in m]), np.array(list(m)), np.array([*x, k])
np.array(x, copy=None) is x, np.array(x, copy=None, dtype="f4"), np.array([k, 1], copy=None)
np.array(x, dtype=x.dtype, copy=None) is x, np.array([[x], [y]]).shape
np.array([x, x[:2]]), np.array([x, k]), np.array([m, x]), np.array([[x], y]), np.array([[], x])
""".strip().splitlines()


@pytest.mark.parametrize("dtype", ["f8", "i4", "c8"])
@pytest.mark.parametrize("expression", ARRAYS)
def test_arrays_in_sequences(expression, dtype):
    scope = {"np": np}
    exec(f"def f(x, y, m, s, k):\n    return ({expression})", scope)
    x = np.array([1.5, -0.5, 2.0]).astype(dtype)
    m = np.arange(6).reshape(2, 3).astype(dtype)
    raises = expression == ARRAYS[-1]
    calls = [(x, x[::-1] * 2, m, x.dtype.type(3), 2), (x, x + 1, m.copy("F"), np.float32(1.5), 7)]
    longer = np.arange(5).astype(dtype)
    if "[1, 2, 3]" not in expression and "(k, 2.5, s)" not in expression:
        calls.append((longer, longer, np.outer(longer, longer), np.int64(4), 0.5))
    check_calls(scope["f"], *calls, whole=not raises and "copy=None" not in expression)


def test_arrays_in_a_list_are_copied():
    def f(x, y):
        both = [x, y]
        a = np.array(both)
        x[0] = 9.0
        b = np.array(both)
        a[1, 1] = -1.0
        both.append(a[0])
        return a, b, np.array(both), both

    check_calls(f, (np.array([1.0, 2.0]), np.array([3.0, 4.0])), (np.ones(3), np.zeros(3)))


def test_arrays_of_other_sizes_than_before():
    def f(x, y):
        return np.array([x, y])

    calls = [(np.ones(3), np.zeros(3)), (np.ones(4), np.zeros(4)), (np.ones(4), np.zeros(3))]
    check_calls(f, *calls, whole=False)


# v: a list, x: an array, s: a NumPy scalar.
OPERATORS = """
v + x, x + v, v - x, x - tuple(v), v * x, x * v, x / v, v / x, x ** [1, 2, 3], [1, 2, 3] ** x
x == v, v != x, x < v, v >= x, x == [v], (x == [1, 2, 3]).all(), (x > 2) & [True, False, True]
v - s, s - v, v + s, s + tuple(v), v / s, s / v, s == v, v < s, s ** v, v - s.max()
[v, v] + x, x * [[2], [3]], x + [x, x], [x, x] * x, x - [s, 1, 2]
v * s
s * v
x + []
x + [1, 2]
x == [1, 2]
""".strip().splitlines()


@pytest.mark.parametrize("dtype", ["f8", "i4"])
@pytest.mark.parametrize("expression", OPERATORS)
def test_operators(expression, dtype):
    scope = {"np": np}
    exec(f"def f(v, x, s):\n    return ({expression})", scope)
    x = np.array([1.5, 2.5, 4.0]).astype(dtype)
    calls = [([0.5, 2, 3.25], x, x[1] + 1), ([1, 2, 3], x * 2, np.float64(2.5)), ((1, 2, 3), x, s3())]
    check_calls(scope["f"], *calls, whole=False)
    if not FORCED and expression not in OPERATORS[-5:]:
        assert not dyntrace.explain(scope["f"])(*calls[0]).breaks


def s3():
    return np.int32(3)


def test_operators_in_place():
    def f(v, x):
        y = x
        y += v
        v -= x
        y *= [2, 2]
        return x, v, y is x

    check_calls(f, ([0.5, 2], np.ones(2)), ([1, 2], np.ones(2)), ((1, 2), np.zeros(2)))


def test_a_list_and_an_array_in_place():
    def f(v, x):
        w = v
        w += x
        return v, w, w is v

    check_calls(f, ([0.5, 2], np.ones(2)), ([1, 2], np.ones(2)), whole=False)


def test_roll_by_a_number_of_an_array():
    def f(x, shifts, k):
        moved = [np.roll(x, shift, axis=0) for shift in shifts]
        return moved, np.roll(x, shifts[1]), np.roll(x, np.array(k), axis=-1), np.roll(x, shifts.sum())

    x = np.arange(12.0).reshape(3, 4)
    check_calls(f, (x, np.array([1, -2, 30]), 3), (x.T, np.array([0, 5, -1]), -2))
    check_calls(f, (np.asfortranarray(x), np.array([1, 2], "i2"), 0))
    check_calls(f, (x[:0], np.array([1, 2], "u1"), 0), whole=False)


@pytest.mark.parametrize("dtype", ["i8", "q", ">c16", "f4", ">f4"])
def test_an_equal_dtype(dtype):
    def f(x, dtype):
        same = np.asarray(x, dtype=dtype)
        other = np.array(x, dtype=dtype, copy=None)
        cast = x.astype(dtype, copy=False)
        return same is x, other is x, np.shares_memory(same, x), cast is x, same.dtype.char

    for own in ("i8", dtype):
        check_calls(f, (np.arange(3).astype(own), np.dtype(dtype)), whole=False)


def clipped_number(x, v):
    return np.clip(v, 0, 3), np.clip(v, -1.0, 2), np.clip(v, x[:2], 3), x


def clipped_on_one_side(x, v):
    return np.clip(v, None, 2), np.clip(v, 1, None), np.clip(v, None, 1.5), x


def clipped_list(x, v):
    return (
        np.clip([v, 1, 7.5], 0, 3) + x[:3],
        np.clip((1, 2, 3), 2, None),
        np.clip([[v], [2]], 0, 1),
    )


@pytest.mark.parametrize("v", [1.5, -2.5, -0.0, float("nan"), 3, -1, True, 2**40, 1 + 2j])
@pytest.mark.parametrize("fn", [clipped_number, clipped_on_one_side, clipped_list])
def test_clip_of_numbers_and_lists(fn, v):
    check_calls(fn, (np.arange(5.0) - 2, v), whole=not isinstance(v, complex))
