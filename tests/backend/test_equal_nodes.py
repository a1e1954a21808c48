"""Equal nodes of one fused stage are computed once, which nobody can tell from the results."""

from __future__ import annotations

import re
import warnings

import dyntrace
import numpy as np
import pytest
from graphs import call, compile_graph, plain, v

X = np.random.default_rng(2).random((40, 60)) + 0.5
Y = np.random.default_rng(3).random((40, 60)) + 0.5
WHOLE = (X * 100).astype(np.int64)


def steps(text):
    return [int(count) for count in re.findall(r"fused +\d+ ops, (\d+) steps", text)]


def compare(f, *arguments):
    compiled = dyntrace.compile(f)
    for _ in range(2):
        own = [a.copy() for a in arguments]
        other = [a.copy() for a in arguments]
        results, expected = compiled(*own), f(*other)
        for got, wanted in zip(results, expected, strict=True):
            assert (type(got), got.dtype, got.strides) == (type(wanted), wanted.dtype, wanted.strides)
            assert got.tobytes() == wanted.tobytes()
        arrays = [r for r in results if isinstance(r, np.ndarray)]
        assert len({id(r) for r in arrays}) == len(arrays)
        assert not any(np.shares_memory(a, b) for i, a in enumerate(arrays) for b in arrays[:i])
        assert [a.tobytes() for a in own] == [a.tobytes() for a in other]
    return steps(str(dyntrace.explain(compiled)(*[a.copy() for a in arguments])))


def test_what_is_written_twice_is_computed_once():
    def f(x, y):
        return (np.exp(x * y) + np.exp(x * y) * (x * y),)

    assert compare(f, X, Y) == [4]


def test_numbers_and_types_make_a_difference():
    def f(x, y):
        return (x * 2 + x * 2.0 + (x * -0.0) + (x * 0.0) + x**2 + x * 3,)

    # A weak 2 and a weak 2.0 have loops of their own, and the zeros differ by their sign.
    assert sum(compare(f, X, Y)) == 11


def test_order_of_operands_makes_a_difference():
    def f(x, y):
        return ((x - y) * (y - x) + (x - y),)

    assert compare(f, X, Y) == [4]


def test_what_takes_no_notice_of_the_sign():
    def f(x, y):
        return (np.abs(x - y) * np.exp(np.abs(-(x - y))) + np.fabs(-x) * np.fabs(x),)

    # x - y, its abs, exp, *, fabs, *, +; both changes of sign, which nobody reads, are computed.
    assert compare(f, X, Y) == [9]
    with np.errstate(all="ignore"):
        odd = np.array([np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324, -1.0] * 6)
        odd[8:10] = np.array([0x7FF8000000000123, 0xFFF8000000000456], np.uint64).view(float)
    for n in (2, 7, 48):
        compare(f, odd[:n].copy(), np.zeros(n))
        compare(f, odd[:n].astype("f4"), np.zeros(n, "f4"))


def test_where_the_sign_may_be_seen():
    def whole(x, y):
        return (np.abs(x) * np.abs(-x) + np.square(x) * np.square(-x),)

    def written(x, y):
        before = np.abs(-x)
        x += y
        return before, np.abs(x) * np.abs(-x)

    def opposite_of_another(x, y):
        return (np.abs(x) - np.abs(-y) + np.abs(-np.abs(-x)),)

    least = np.array([np.iinfo(int).min, -1, 0, 1, np.iinfo(int).max])
    compare(whole, least, least)
    compare(whole, X, Y)
    compare(whole, X + 1j, Y)
    for n in (2, 5, 2400):
        x, y = X.ravel()[:n] - 1, Y.ravel()[:n]
        compare(written, x, y)
        compare(opposite_of_another, x, y)


def test_two_results_are_two_arrays():
    def f(x, y):
        return x * y, x * y, x * y + 1, (x * y) * 2

    assert compare(f, X, Y) == [4]


def test_reductions():
    def f(x, y):
        e = x * 2 - (x * 2).max(axis=1, keepdims=True)
        n = (x * 2 - (x * 2).max(axis=1, keepdims=True)).min(axis=1, keepdims=True)
        return (e + n,)

    # Product, largest, spread, difference, smallest, spread, sum; of floats not with every NumPy.
    assert compare(f, WHOLE, WHOLE) == [7]


def test_other_axes_are_other_nodes():
    def f(x, y):
        return (x * 2).max(axis=0), (x * 2).max(axis=1), (x * 2).max()

    assert len(compare(f, WHOLE, WHOLE)) > 1


def test_a_write_between():
    def f(x, y):
        a = x * y
        x += 1
        b = x * y
        x[0] = 7
        return a - b, x * y - b

    compare(f, X, Y)


def test_a_result_that_is_written():
    def f(x, y):
        a = x * y
        a += 1
        return a, x * y - a, (x * y).T[0]

    compare(f, X, Y)


def test_regions_of_errstate_are_kept_apart():
    def f(x, y):
        with np.errstate(over="ignore"):
            a = x * y
        return (a + x * y,)

    compiled = dyntrace.compile(f)
    compiled(X, Y)
    big = np.full((40, 60), 1e300)
    told = []
    for function in (f, compiled):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert np.isinf(function(big, big)[0]).all()
        told.append([(str(w.message), w.lineno) for w in caught])
    assert told[0] == told[1] and len(told[0]) == 1


def test_each_of_them_warns():
    def f(x, y):
        a = x * y
        return (a - x * y,)

    compiled = dyntrace.compile(f)
    assert compiled(X, Y)[0].max() == 0
    big = np.full((40, 60), 1e300)
    told = []
    for function in (f, compiled):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            function(big, big)
        told.append([(str(w.message), w.lineno) for w in caught])
    assert told[0] == told[1] and len(told[0]) == 3


@pytest.mark.parametrize("layout", ["dense", "apart", "backwards", "mixed"])
def test_nodes_that_are_called(layout):
    """A stage that can't serve its operands calls all its nodes, the equal ones too."""
    nodes = [
        call("exp", v(0)), call("exp", v(0)), call("multiply", v(1), v(2)), call("add", v(3), v(2)),
    ]  # fmt: skip
    x = {"dense": X, "apart": X[:, ::2], "backwards": X[::-1, ::-1], "mixed": X.T}[layout]
    compiled = compile_graph([X], nodes, [4])
    assert steps(compiled.describe()) == [3]
    assert compiled(x)[0].tobytes() == plain([x], nodes)[4].tobytes()


def test_random_graphs():
    rng = np.random.default_rng(4)
    names = ["add", "subtract", "multiply", "maximum", "less", "sqrt", "negative", "exp"]
    merged = 0
    for _ in range(300):
        nodes, floats = [], [0, 1]
        for i in range(int(rng.integers(4, 16))):
            name = str(rng.choice(names))
            operands = [v(int(rng.choice(floats))) for _ in range(getattr(np, name).nin)]
            if rng.random() < 0.3:
                operands[-1] = float(rng.choice([0.5, 2.0])) if len(operands) == 2 else operands[-1]
            nodes.append(call(name, *operands))
            if name != "less":
                floats.append(i + 2)
        outputs = sorted({int(i) for i in rng.integers(2, len(nodes) + 2, 2)})
        with np.errstate(all="ignore"):
            compiled = compile_graph([X, Y], nodes, outputs)
            results, values = compiled(X, Y), plain([X, Y], nodes)
        for got, index in zip(results, outputs, strict=True):
            assert got.tobytes() == values[index].tobytes(), nodes
        merged += sum(steps(compiled.describe())) < len(nodes)
    assert merged > 30
