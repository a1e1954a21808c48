"""Small results are arrays like NumPy's own: nothing tells that they were made in another way."""

from __future__ import annotations

import copy
import gc
import sys
import tracemalloc
import warnings
import weakref

import numpy as np
import pytest
from graphs import call, compile_graph, plain, v

NODES = [call("multiply", v(0), 2), call("equal", v(1), v(0))]
SHAPES = [(1,), (4,), (17,), (1, 1), (1, 4), (4, 1), (2, 3), (2, 1, 3), (3, 1, 2, 1)]
SHAPES += [(2,) * 7, (1,) * 8, (0,), (2, 0)]
DOMAIN = np.lib.tracemalloc_domain


def seen(array):
    """All that can be asked of an array, but for its place and its values."""
    flags = array.flags
    return (
        type(array), array.dtype, array.shape, array.strides, array.base, flags.num, array.nbytes,
        flags.owndata, flags.writeable, flags.aligned, flags.writebackifcopy,
        sys.getsizeof(array), sys.getrefcount(array), gc.is_tracked(array), weakref.getweakrefcount(array),
        array.ctypes.data % 16, array.dtype is np.dtype(array.dtype.char),
        np._core.multiarray.get_handler_name(array), np._core.multiarray.get_handler_version(array),
    )  # fmt: skip


@pytest.mark.parametrize("dtype", "?bhilqBHILQefdgFDG")
@pytest.mark.parametrize("order", "CF")
def test_they_are_as_numpy_makes_them(dtype, order):
    for shape in SHAPES:
        a = np.ones(shape, dtype, order)
        compiled = compile_graph([a], NODES, [1, 2])
        for _ in range(3):
            results = list(compiled(a))
            expected = plain([a], NODES)[1:]
            while results:
                result, other = results.pop(), expected.pop()
                assert seen(result) == seen(other), (shape, order)
                assert np.array_equal(result, other)


def test_their_memory_can_change():
    a = np.arange(6.0).reshape(2, 3)
    compiled = compile_graph([a], NODES[:1], [1])
    for shape in [(5,), (1,), (2, 2, 2, 2), (40, 50), (0,)]:
        (result,) = compiled(a)
        other = a * 2.0
        result.resize(shape)
        other.resize(shape)
        assert seen(result) == seen(other) and result.tobytes() == other.tobytes()
    (result,) = compiled(a)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # deprecated since NumPy 2.5
        result.shape = (3, 1, 2)
    assert result.strides == (16, 16, 8)
    view = result[1:]
    result.setflags(write=False)
    assert view.base is result and not result[0].flags.writeable
    gone = weakref.ref(result)
    again = copy.deepcopy(result)
    del result, view
    assert gone() is None and again.tolist() == (a * 2).reshape(3, 1, 2).tolist()


def sizes_of_data():
    snapshot = tracemalloc.take_snapshot().filter_traces([tracemalloc.DomainFilter(True, DOMAIN)])
    return [trace.size for trace in snapshot.traces]


def test_tracemalloc_sees_each():
    a = np.ones(11)
    compiled = compile_graph([a], NODES[:1], [1])
    compiled(a)
    tracemalloc.start()
    try:
        results = compiled(a), a * 2.0
        assert sizes_of_data() == [a.nbytes, a.nbytes]
        del results
        assert sizes_of_data() == []
    finally:
        tracemalloc.stop()


def test_a_handler_of_the_program_is_asked():
    """While a function is called with large operands, ours is set, as another one could be."""
    a = np.ones(5)
    small = compile_graph([a], NODES[:1], [1])
    names = []

    def called(x):
        for result in (*small(a), a * 2.0):
            names.append(np._core.multiarray.get_handler_name(result))
        return x + 1

    large = np.ones(100_000)
    compiled = compile_graph([large], [("called", called, (v(0),))], [1])
    names.clear()
    compiled(large)
    assert names == ["dyntrace", "dyntrace"]
    assert np._core.multiarray.get_handler_name(small(a)[0]) == "default_allocator"
