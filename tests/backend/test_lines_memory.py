"""What a line of a few elements makes: arrays like NumPy's, in tuples; nothing where there is no memory."""

from __future__ import annotations

import gc
import itertools
import sys
import tracemalloc
import weakref

import dyntrace
import numpy as np
import pytest
from test_small_arrays import seen, sizes_of_data

CALLS = 4  # of which the first ones find out how everything lies


def several(x, y):
    z = x * y
    total = z.sum(axis=0)
    return z / total, z, (x + y > z) & (x < y), total, x.max(axis=1, keepdims=True), z


def elements(x, y):
    z = (x + y) * (x - y) + x * 2
    return z, -z * y, z


def with_constants(x, y):
    z = (x + y) * (x - y) + x * 2
    return "a", z, (1, 2), -z * y, z, None


def with_arguments(x, y):
    z = (x + y) * (x - y) + x * 2
    return x, z, y, z * x


FUNCTIONS = [several, elements, with_constants, with_arguments]
CUT = np.lib.NumpyVersion(np.__version__) < "2.3.0"  # sums of floats are calls then
LINES = FUNCTIONS[1:] if CUT else FUNCTIONS
SHAPES = [(1, 1), (1, 4), (4, 1), (2, 3), (4, 4)]


def test_they_have_a_line():
    x = np.arange(1.0, 5.0).reshape(2, 2)
    for function in LINES:
        (stages,) = dyntrace.explain(function)(x, x).stages
        assert "in a line" in stages


def seen_of(results):
    return [
        (seen(r), r.tolist(), [r is other for other in results]) if isinstance(r, np.ndarray) else r
        for r in results
    ]


@pytest.mark.parametrize("dtype", "bhilqBHILQefdgFDG")
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_results_are_as_numpy_makes_them(function, dtype):
    compiled = dyntrace.compile(function)
    with dyntrace.config.patch(recompile_limit=50):
        for shape in SHAPES:
            for order in "CF":
                x = np.arange(1, 1 + np.prod(shape)).reshape(shape).astype(dtype, order)
                y = x[::-1].astype(dtype, order)
                for _ in range(CALLS):
                    got = seen_of(compiled(x, y))
                    expected = seen_of(function(x, y))
                    assert got == expected, (shape, order)


def test_they_can_change_and_go():
    x = np.arange(1.0, 7.0).reshape(2, 3)
    compiled = dyntrace.compile(elements)
    for _ in range(CALLS):
        first, second, again = compiled(x, x)
        assert first is again
        del again
        second.resize((40, 50))
        assert not second.ravel()[6:].any() and second.base is None
        first[:] = 5
        view, gone = first[1:], weakref.ref(first)
        assert view.base is first and memoryview(first).nbytes == 48
        del first
        assert gone() is not None
        del view
        assert gone() is None


def test_tracemalloc_sees_each():
    x = np.arange(1.0, 7.0).reshape(2, 3)
    compiled = dyntrace.compile(elements)
    for _ in range(CALLS):
        compiled(x, x)
    tracemalloc.start()
    try:
        results = compiled(x, x)
        assert sizes_of_data() == [x.nbytes, x.nbytes]
        del results
        assert sizes_of_data() == []
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("function", LINES, ids=lambda f: f.__name__)
def test_without_memory(function):
    """Whichever allocation fails, alone or with all behind it: MemoryError or the results."""
    testcapi = pytest.importorskip("_testcapi")
    x = np.arange(1.0, 7.0).reshape(2, 3)
    compiled = dyntrace.compile(function)
    for _ in range(CALLS):
        expected = compiled(x, x)
    answers = []
    kept = [tuple([None] * len(expected)) for _ in range(2100)]  # else such tuples need no memory
    gc.disable()
    try:
        for nth, once in itertools.product(range(1, 60), [True, False]):
            before = sys.getrefcount(x), sys.getrefcount(np.dtype("f8"))
            result = None
            testcapi.set_nomemory(nth, nth + 1 if once else 0)
            try:
                result = compiled(x, x)
            except MemoryError:
                pass
            finally:
                testcapi.remove_mem_hooks()
            answers.append(result is not None)
            if result is not None:
                assert seen_of(result) == seen_of(expected)
            del result
            kept.append(tuple([None] * len(expected)))
            assert (sys.getrefcount(x), sys.getrefcount(np.dtype("f8"))) == before
    finally:
        gc.enable()
    assert answers[0] and not answers[1] and all(answers[-2:])
