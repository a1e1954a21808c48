"""The native backend gives NumPy's bits, types and memory layout, whatever the operands are."""

from __future__ import annotations

import itertools
import operator
import warnings

import numpy as np
import pytest
from graphs import (
    DTYPES,
    LAYOUTS,
    REPLAY,
    UFUNCS,
    array,
    assert_same,
    call,
    compile_graph,
    plain,
    umath,
    v,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

SHAPES = st.one_of(
    st.tuples(st.sampled_from([0, 1, 2, 3, 7, 8, 13, 100, 1000, 5000])),
    st.tuples(st.sampled_from([1, 2, 3, 8, 300]), st.sampled_from([1, 2, 5, 16, 300])),
    st.tuples(*[st.sampled_from([1, 2, 3, 17])] * 3),
)
NUMBERS = [2.0, 0.5, 1.5, -1.0, 3, 1, 2, True, 1j]


@st.composite
def programs(draw):
    """Inputs and nodes of an elementwise graph."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = draw(SHAPES)
    dtypes = draw(st.lists(st.sampled_from(DTYPES), min_size=1, max_size=2))
    special = draw(st.booleans())
    inputs = []
    for i in range(draw(st.integers(1, 3))):
        own = shape
        if i and draw(st.booleans()):
            own = tuple(1 if draw(st.booleans()) else s for s in shape)[draw(st.integers(0, len(shape))) :]
        x = array(rng, draw(st.sampled_from(dtypes)), own, draw(st.sampled_from(LAYOUTS)), special)
        inputs.append(x[()] if x.shape == () else x)
    if draw(st.booleans()):
        inputs.append(draw(st.sampled_from([2.0, 0.5, 1.5, 3, 0])))
    known = list(inputs)
    nodes = []
    for _ in range(draw(st.integers(1, 7))):
        ufunc = getattr(umath, draw(st.sampled_from(UFUNCS)))
        operands = []
        for _ in range(ufunc.nin):
            if draw(st.integers(0, 5)) == 0:
                operands.append(draw(st.sampled_from(NUMBERS)))
            else:
                i = draw(st.integers(0, len(known) - 1))
                operands.append(("s" if type(known[i]) in (int, float) else "v", i))
        node = ("numpy." + ufunc.__name__, ufunc, tuple(operands))
        try:
            with np.errstate(all="ignore"):
                result = plain(known, [node])[-1]
        except (TypeError, ValueError, OverflowError):
            continue
        if isinstance(result, (np.ndarray, np.generic)) and result.dtype.char in DTYPES:
            nodes.append(node)
            known.append(result)
    return inputs, nodes


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs(), st.data())
def test_any_program(program, data):
    inputs, nodes = program
    if not nodes:
        return
    with np.errstate(all="ignore"):
        expected = plain(inputs, nodes)
        last = len(expected) - 1
        outputs = sorted({last, data.draw(st.integers(len(inputs), last))})
        compiled = compile_graph(inputs, nodes, outputs)
        got = compiled(*inputs)
        assert got is not REPLAY
        for i, value in zip(outputs, got):
            assert_same(value, expected[i], compiled.describe())


@pytest.mark.parametrize("name", UFUNCS)
def test_every_ufunc(name):
    """Each row of ufuncs.def, with every type and layout, alone and before another operation."""
    rng = np.random.default_rng(1)
    ufunc = getattr(umath, name)
    for dtype, layout, shape in itertools.product("?bhilBHILfdFD", LAYOUTS, [(3,), (1000,), (40, 50)]):
        with np.errstate(all="ignore"):
            inputs = [array(rng, dtype, shape, layout if i == 0 else "C") for i in range(ufunc.nin)]
            nodes = [call(name, *(v(i) for i in range(ufunc.nin))), call("not_equal", v(ufunc.nin), 0)]
            try:
                expected = plain(inputs, nodes)
            except (TypeError, ValueError):
                continue
            outputs = [ufunc.nin, ufunc.nin + 1]
            got = compile_graph(inputs, nodes, outputs)(*inputs)
            assert got is not REPLAY
            for i, value in zip(outputs, got):
                assert_same(value, expected[i])


@pytest.mark.parametrize("bounds", [((1,), (1,)), ((3, 1), (1,)), ((40,), (1,)), ((1, 1), (3, 40))])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_zeros_between_zeros_keep_their_sign(bounds, dtype):
    """NumPy's clip compares in another way where both bounds are repeated."""
    zeros = np.array([0.0, -0.0, -0.0], dtype)
    x = np.resize(zeros, (3, 40))
    low, high = (np.resize(zeros[1:], shape) for shape in bounds)
    got = compile_graph([x, low, high], [call("clip", v(0), v(1), v(2))], [3])(x, low, high)
    assert_same(got[0], umath.clip(x, low, high))


def test_one_program_for_all_sizes():
    """Sizes are no part of the compiled program."""
    rng = np.random.default_rng(2)
    nodes = [
        call("multiply", v(0), v(1)),
        call("add", v(2), 1.0),
        call("sqrt", v(3)),
        call("subtract", v(4), v(0)),
    ]
    compiled = compile_graph([rng.random(4), rng.random(4)], nodes, [5])
    for n in [0, 1, 2, 3, 5, 63, 64, 65, 1000, 2047, 2048, 2049, 30000, 400000]:
        a, b = rng.random(n), rng.random(n)
        assert_same(compiled(a, b)[0], plain([a, b], nodes)[-1])


def test_operands_that_do_not_broadcast_are_replayed():
    nodes = [call("add", v(0), v(1))]
    compiled = compile_graph([np.ones(4), np.ones(4)], nodes, [2])
    assert compiled(np.ones(4), np.ones(5)) is REPLAY


def test_an_unexpected_operand_is_left_to_numpy():
    nodes = [call("add", v(0), v(1)), call("multiply", v(2), 2.0)]
    compiled = compile_graph([np.ones(4), np.ones(4)], nodes, [3])
    swapped, half = np.arange(4.0).astype(">f8"), np.arange(4, dtype="f2")
    for other in [np.arange(4), swapped, half, np.arange(12.0).reshape(3, 4)]:
        assert_same(compiled(other, np.ones(4))[0], (other + np.ones(4)) * 2.0)


def test_numbers_that_do_not_fit_are_replayed():
    a = np.arange(4, dtype="i1")
    compiled = compile_graph([a, 3], [call("add", v(0), ("s", 1))], [2])
    assert_same(compiled(a, 5)[0], a + 5)
    assert compiled(a, 1000) is REPLAY
    assert compiled(a, 2**70) is REPLAY


def test_outputs_may_be_inputs_and_may_repeat():
    a = np.ones(3)
    compiled = compile_graph([a], [call("negative", v(0))], [0, 1, 1])
    x, y, z = compiled(a)
    assert x is a and y is z


def test_values_between_stages():
    """Called nodes (a reduction, a view) between fused ones."""
    a = np.arange(12.0).reshape(3, 4)
    nodes = [
        call("multiply", v(0), 2.0),
        ("numpy.add.reduce", np.add.reduce, (v(1),)),
        call("add", v(1), v(2)),
        ("ndarray.transpose", np.ndarray.transpose, (v(3),)),
        call("exp", v(4)),
    ]
    compiled = compile_graph([a], nodes, [5, 2])
    expected = plain([a], nodes)
    got = compiled(a)
    assert_same(got[0], expected[5])
    assert_same(got[1], expected[2])
    assert "fused" in compiled.describe() and "called  numpy.add.reduce" in compiled.describe()


def test_views_do_not_cut_a_stage():
    a = np.arange(30.0).reshape(3, 10)
    rows = [("operator.getitem", operator.getitem, (v(0), i)) for i in range(3)]
    nodes = []
    for i, row in enumerate(rows):
        nodes += [row, call("multiply", v(len(nodes) + 1), 0.5 + i)]
        if i:
            nodes.append(call("add", v(len(nodes)), v(2 if i == 1 else 5)))
    expected = plain([a], nodes)
    compiled = compile_graph([a], nodes, [len(nodes)])
    assert_same(compiled(a)[0], expected[-1])


def test_independent_results_do_not_pile_up():
    """Fifty temporaries that are reduced one by one are not all computed first."""
    import tracemalloc

    a = np.ones(100_000)
    nodes, sums = [], []
    for i in range(50):
        nodes += [call("multiply", v(0), float(i)), ("numpy.add.reduce", np.add.reduce, (v(len(nodes) + 1),))]
        sums.append(len(nodes))
    compiled = compile_graph([a], nodes, sums)
    compiled(a)
    tracemalloc.start()
    try:
        assert [float(x) for x in compiled(a)] == [1e5 * i for i in range(50)]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 6 * a.nbytes


def test_temporaries_are_small():
    """Fused intermediates exist one block at a time."""
    import tracemalloc

    n = 1_000_000
    a, b = np.ones(n), np.ones(n)
    nodes = [
        call("multiply", v(0), v(1)),
        call("add", v(2), 1.0),
        call("sqrt", v(3)),
        call("multiply", v(4), v(2)),
    ]
    compiled = compile_graph([a, b], nodes, [5])
    compiled(a, b)
    tracemalloc.start()
    try:
        result = compiled(a, b)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < result[0].nbytes + 100_000


@pytest.mark.parametrize("target", "?bhilBHILfdFD")
@pytest.mark.parametrize("source", "?bhilBHILfdFD")
def test_casts(source, target):
    """astype() between any two types; those with more than one right value are left to NumPy."""
    rng = np.random.default_rng(3)
    for layout, shape in itertools.product(LAYOUTS, [(5,), (1000,), (3, 4), (20, 30)]):
        x = array(rng, source, shape, layout, special=source not in "bhilBHIL" and target in "fdFD?")
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            cast = ("ndarray.astype", np.ndarray.astype, (v(0), np.dtype(target)))
            nodes = [cast, call("equal", v(1), v(1))]
            expected = plain([x], nodes)
            got = compile_graph([x], nodes, [1, 2])(x)
        for value, other in zip(got, expected[1:]):
            assert_same(value, other)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("types", ["dd", "ff", "fd", "li", "bB", "??", "FD", "?d"])
def test_where(types, layout):
    rng = np.random.default_rng(4)
    for shape in [(5,), (1000,), (20, 30)]:
        condition = array(rng, "?", shape, layout)
        x, y = array(rng, types[0], shape, layout), array(rng, types[1], shape[-1:], "C")
        nodes = [("numpy.where", np.where, operands) for operands in [
            (v(0), v(1), v(2)), (v(0), v(2), v(1)), (v(0), v(1), 2.0), (v(0), 1, v(1)), (v(0), 1, 2),
            (True, v(1), v(2)), (v(1), v(0), v(2)),
        ]]  # fmt: skip
        nodes.append(call("logical_not", v(3)))
        expected = plain([condition, x, y], nodes)
        got = compile_graph([condition, x, y], nodes, range(3, len(expected)))(condition, x, y)
        for value, other in zip(got, expected[3:]):
            assert_same(value, other)


def test_strided_operands_of_a_stage_without_outputs():
    """What nobody uses is computed because it may warn; its walk needs an order all the same."""
    reversed_ = np.arange(51, dtype="H").reshape(3, 1, 17)[::-1, ::-1, ::-1]
    inputs = [reversed_, np.arange(17, dtype="H")]
    nodes = [call("negative", v(0)), call("minimum", v(0), -1.0), call("add", v(1), v(1))]
    compiled = compile_graph(inputs, nodes, [4])
    for _ in range(20):
        got = compiled(*inputs)
        got = got[0] if isinstance(got, tuple) else got
        assert_same(got, inputs[1] + inputs[1], compiled.describe())
