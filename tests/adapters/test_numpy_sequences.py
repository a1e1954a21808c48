"""Functions of NumPy that are given lists and tuples of numbers, as they are given arrays."""

import sys
from pathlib import Path

import dyntrace
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
from differential import FORCED, check_calls  # noqa: E402

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
