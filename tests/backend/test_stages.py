"""Which nodes share a stage, and what a stage keeps from one call to the next."""

from __future__ import annotations

import re
import sys
import threading
import warnings

import dyntrace
import numpy as np
import pytest
from graphs import REPLAY, UFUNCS, assert_same, call, compile_graph, plain, umath, v

X = np.random.default_rng(5).random((40, 60)) + 0.5
Y = np.random.default_rng(6).random((40, 60)) + 0.5


def stages(compiled, *arguments):
    """Of a call: what each stage does, by its nodes."""
    text = str(dyntrace.explain(compiled)(*arguments))
    found = re.findall(r"^ +(fused|cells|kernel|called) +(?:.*: )?(.*)$", text, re.MULTILINE)
    return [(kind, nodes.replace("numpy.", "").split()) for kind, nodes in found]


def compare(function, *arguments):
    compiled = dyntrace.compile(function)
    for _ in range(3):
        own, other = [a.copy(order="K") for a in arguments], [a.copy(order="K") for a in arguments]
        results, expected = compiled(*own), function(*other)
        for got, wanted in zip(results, expected, strict=True):
            assert (type(got), got.dtype, got.strides) == (
                type(wanted),
                wanted.dtype,
                wanted.strides,
            )
            assert got.tobytes() == wanted.tobytes()
        assert [a.tobytes() for a in own] == [a.tobytes() for a in other]
    return stages(compiled, *arguments)


# ---- Which stage ---------------------------------------------------------------------------------


def test_comparisons_that_meet_share_a_stage():
    def f(x, y):
        good = (x > 0.6) & (x < 1.2) & (y > 0.7) & (y < 1.3) & (x != 1.0) & (y != 1.0)
        return np.where(good, x * y, 0.0), good

    assert len(compare(f, X, Y)) == 1


def test_a_long_chain_is_one_stage():
    def f(x, y):
        for i in range(30):
            x = (x * 0.75 + y * (i + 0.5)) / (i + 1.0)
        return (x,)

    assert [len(nodes) for _, nodes in compare(f, X, Y)] == [120]


def test_a_longer_one_is_not():
    def f(x, y):
        for i in range(200):
            x = x * 0.75 + y * (i + 0.5)
        return (x,)

    assert len(compare(f, X, Y)) > 1


def test_results_of_their_own_are_few():
    def f(x, y):
        return x + 1, x + 2, x + 3, x + 4, x + 5, x + 6, x - 1

    assert [len(nodes) for _, nodes in compare(f, X, Y)] == [4, 3]


def test_a_node_goes_to_the_stage_that_uses_it():
    def f(x, y):
        return ((x - x.max()) / (x * y).max(),)

    found = compare(f, X, Y)
    assert (
        found[-1] == ("fused", ["subtract", "divide"])
        and sum("subtract" in n for _, n in found) == 1
    )


def test_a_chain_of_them_does():
    def f(x, y):
        d = x - x.max()
        return (-(d * d) / (x * y).min(),)

    found = compare(f, X, Y)
    assert found[-1] == ("fused", ["subtract", "multiply", "negative", "divide"])


def test_what_needs_two_computed_arrays_stays():
    def f(x, y):
        a, b = np.exp(x), np.exp(y)
        return (a * b) / (a.max() + b.max() + a.min()), a.sum()

    assert compare(f, X, Y)[0][1].count("multiply") == 1


def test_nothing_goes_past_a_write():
    def f(x, y):
        d = x * 2
        x += y
        top = x.max()
        x[0] = 7
        return d / top, x * 2 / x.max()

    compare(f, X, Y)


def test_warnings_stand_where_they_did():
    def f(x, y):
        d = x * 1e300
        top = y.max()
        return (d / top,)

    compiled = dyntrace.compile(f)
    compiled(X, Y)
    big = X * 1e10
    told = []
    for function in (f, compiled):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            function(big, Y)
        told.append([(str(w.message), w.lineno) for w in caught])
    assert told[0] == told[1] and len(told[0]) == 1


# ---- Views that are no objects -------------------------------------------------------------------


def test_views_of_a_stages_inputs():
    def f(x, y):
        d = x - y
        return np.sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]), x[1:-1, 1:] + y[:-2, :-1]

    found = compare(f, X, Y)
    assert {kind for kind, _ in found} == {"fused"}
    assert sum(nodes.count("operator.getitem") for _, nodes in found) == 8


VIEWS = [
    lambda x: x[1], lambda x: x[-1] * x[-2], lambda x: x[..., 3], lambda x: x[:, None, 5:7],
    lambda x: x[::-1] - x, lambda x: x[::2, 1::3], lambda x: x[30:2:-4, -5:], lambda x: x[-100:, :1000],
    lambda x: x[2:2] + 1, lambda x: x[0][1:] * x[1, :-1], lambda x: x.T[3] + x[:, 3], lambda x: x[None] * 2,
    lambda x: x[:, 0] * x[:, 0] + x[:, 0], lambda x: x[1:, 1:].T + x[:-1, :-1].T,
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(VIEWS)))
@pytest.mark.parametrize("order", ["C", "F", "steps", "backwards"])
def test_views(number, order):
    view = VIEWS[number]

    def f(x, y):
        part = view(x)
        return np.exp(-part) * 2 + part, view(y) * 3 - view(y), (view(x * y) + 1).sum()

    def laid(a):
        wide = np.repeat(np.repeat(a, 2, 0), 3, 1)
        return {
            "C": a,
            "F": np.asfortranarray(a),
            "steps": wide[::2, ::3],
            "backwards": wide[::-2, ::-3],
        }[order]

    compiled, x, y = dyntrace.compile(f), laid(X), laid(Y)
    for _ in range(3):
        for got, wanted in zip(compiled(x, y), f(x, y), strict=True):
            assert (type(got), got.dtype, got.shape) == (type(wanted), wanted.dtype, wanted.shape)
            assert got.tobytes() == wanted.tobytes() and got.strides == wanted.strides


def test_views_that_are_seen():
    def f(x, y):
        row, other = x[0], x[1:]
        kept = row * 2 + y[0]
        row[3] = 9.0
        again = row * 2 + other[0]
        return kept, again, row, np.array([x[1] is x[1], row.base is x])

    compare(f, X, Y)


def test_views_of_what_is_written():
    def shifted(x, y):
        x[1:] = x[:-1] * y[1:]
        return (x[0] + y[0],)

    def through(x, y):
        v = x[1:]
        v[...] = x[:-1] + v
        x[0] = x[1] * 2 - x[2]
        return v * 1, x[2] * y[2]

    def stencil(x, y):
        for _ in range(3):
            x[1:-1, 1:-1] = (
                0.25 * (x[2:, 1:-1] + x[:-2, 1:-1] + x[1:-1, 2:] + x[1:-1, :-2]) - y[1:-1, 1:-1]
            )
        return (x * y,)

    for f in (shifted, through, stencil):
        compare(f, X, Y)


def test_views_that_are_not_there():
    def f(x, y):
        return x[3] * 2 + y[5]

    compiled = dyntrace.compile(f)
    compiled(X, Y)
    for _ in range(3):
        for x, y in [(X[:3], Y), (X, Y[:4]), (X[:, :1], Y), (X[:, :7], Y)]:
            raised = []
            for function in (f, compiled):
                try:
                    raised.append(function(x, y).tobytes())
                except (IndexError, ValueError) as error:
                    line = error.__traceback__.tb_next.tb_lineno
                    raised.append((type(error), str(error), line))
            assert raised[0] == raised[1]


def test_views_by_numbers_that_vary():
    def f(x, y, i, n):
        return x[i] * y[i] + x[i + 1], x[:n] - y[-n:]

    compiled = dyntrace.compile(f)
    for i, n in [(0, 5), (1, 6), (7, 39), (-3, 2), (38, 1), (2, 40)]:
        for got, wanted in zip(compiled(X, Y, i, n), f(X, Y, i, n), strict=True):
            assert got.tobytes() == wanted.tobytes()
    for function in (f, compiled):
        with pytest.raises(IndexError, match="index 40 is out of bounds for axis 0 with size 40"):
            function(X, Y, 39, 1)


# ---- Layouts that are kept -----------------------------------------------------------------------


def layouts(shape):
    """Arrays that broadcast to the shape, in many layouts."""
    rng = np.random.default_rng(8)
    rows, columns = shape
    return [
        rng.random(shape), rng.random(shape[::-1]).T, rng.random((2 * rows, 3 * columns))[::2, ::3],
        rng.random((rows, 1)), rng.random((1, columns)), rng.random(columns), rng.random((1, 1)),
        rng.random(shape)[::-1, ::-1], np.asfortranarray(rng.random(shape)),
    ]  # fmt: skip


def test_calls_with_other_layouts():
    nodes = [
        call("subtract", v(0), v(1)), call("multiply", v(2), v(2)), call("add", v(3), v(0)),
        call("sqrt", v(4)), call("maximum", v(5), v(1)),
    ]  # fmt: skip
    compiled = compile_graph([X, Y], nodes, [4, 6])
    pairs = [
        (a, b) for shape in [(4, 6), (6, 4), (1, 5), (70, 3), (3, 700)]
        for a in layouts(shape) for b in layouts(shape) if a.ndim + b.ndim > 2
    ]  # fmt: skip
    order = np.random.default_rng(9).permutation(np.repeat(np.arange(len(pairs)), 2))
    with np.errstate(all="ignore"):
        for i in order:
            for _ in range(2):
                results, values = compiled(*pairs[i]), plain(pairs[i], nodes)
                assert_same(results[0], values[4])
                assert_same(results[1], values[6])


def test_targets_of_other_layouts():
    def f(out, x, y):
        out[...] = x * y - 1.0
        return x + y

    base = np.zeros((80, 120))
    for out in [
        base[::2, ::2],
        base[:40, :60],
        base.T[:40, :60],
        base[40:, 60:],
        np.zeros((40, 60)),
    ]:
        compiled = dyntrace.compile(f)
        for x in [X, X[::-1], np.asfortranarray(X), X[:, :1], X[0]]:
            for _ in range(2):
                expected, got = out.copy(), out
                assert f(expected, x, Y).tobytes() == compiled(got, x, Y).tobytes()
                assert got.tobytes() == expected.tobytes()


def test_threads_with_layouts_of_their_own():
    """A stage's layout is in use without the GIL while another thread runs the stage."""

    def f(x, y):
        return x * y - (x + y)

    compiled = dyntrace.compile(f)
    wrong = []

    def work(rows, columns):
        rng = np.random.default_rng(rows)
        for _ in range(40):
            x, y = rng.random((rows, 1)), rng.random((columns, rows)).T
            if compiled(x, y).tobytes() != f(x, y).tobytes():
                wrong.append((rows, columns))

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        sizes = [(300, 500), (500, 300), (7, 9), (801, 207), (64, 4096)]
        threads = [threading.Thread(target=work, args=size) for size in sizes]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert wrong == []


# ---- Flags that are read where there are any -----------------------------------------------------


@pytest.mark.parametrize("name", UFUNCS)
def test_a_flag_of_the_first_block(name):
    """The next block's first loop may clear it."""
    follower = getattr(umath, name)
    with np.errstate(all="ignore"):
        x = np.ones(20_000)
        x[5] = 0.0
        nodes = [call(name, *[v(0)] * follower.nin), call("divide", v(1), v(0))]
        try:
            compiled = compile_graph([x], nodes, [2])
        except (TypeError, ValueError):
            return
        assert compiled(x) is not REPLAY
    with np.errstate(all="raise"):
        assert compiled(x) is REPLAY


# ---- Reductions of the same ----------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(40, 60), (3, 5000), (1, 7), (4, 3), (2, 20_000)])
def test_reductions_that_are_asked_for_twice(shape):
    def rows(x):
        return x.sum(axis=1), x.sum(axis=1, keepdims=True), x.max(axis=1) + 1, x.max(axis=1), x.sum(axis=1)

    def columns(x):
        return x.max(axis=0), x.max(axis=0), x.sum(axis=0, keepdims=True), x.sum(axis=0) * 2, x.sum(axis=0)

    def whole(x):
        return x.sum(), x.sum(keepdims=True), x.max(), x.sum() + 1, (x - x.mean()) / x.std(), x.sum()

    rng = np.random.default_rng(10)
    for f in (rows, columns, whole):
        compiled = dyntrace.compile(f)
        for x in [rng.standard_normal(shape), rng.standard_normal(shape), rng.integers(0, 9, shape)]:
            results, expected = compiled(x), f(x)
            for got, wanted in zip(results, expected, strict=True):
                assert (type(got), got.dtype, got.shape) == (type(wanted), wanted.dtype, wanted.shape)
                assert got.tobytes() == wanted.tobytes()
            assert len({id(r) for r in results}) == len(results)
            arrays = [r for r in results if isinstance(r, np.ndarray)]
            assert not any(np.shares_memory(a, b) for i, a in enumerate(arrays) for b in arrays[:i])


def test_one_of_them_is_computed():
    def f(x):
        return (x * 2).sum(axis=1), (x * 2).sum(axis=1), (x * 2).sum(axis=1, keepdims=True)

    text = str(dyntrace.explain(dyntrace.compile(f))((X * 100).astype(np.int64)))
    assert "2 steps" in text and "called" not in text
