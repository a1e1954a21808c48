"""dyntrace.substitute_in_graph: what calls of a C function mean in traced code."""

import heapq
import math
import operator
import subprocess
import sys
import textwrap

import dyntrace
import numpy as np
import pytest
from differential import Compiled, check

A = np.linspace(0.5, 2.0, 4)


def run(program):
    """The program's output in a process of its own: registering is for good."""
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=60
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.split()


def test_a_users_substitute_is_followed():
    out = run("""
        import dyntrace, numpy as np, zlib
        @dyntrace.substitute_in_graph(zlib.adler32, skip_signature_check=True)
        def adler32(data, value=1, /):
            low, high = value & 0xffff, value >> 16
            for byte in data:
                low = (low + byte) % 65521
                high = (high + low) % 65521
            return (high << 16) | low
        @dyntrace.compile(fullgraph=True)
        def f(x):
            return x * zlib.adler32(b"some words"), zlib.adler32
        x = np.ones(3)
        result, function = f(x)
        print((result == x * zlib.adler32(b"some words")).all(), function is zlib.adler32)
        print(dyntrace.list_substitutes()[zlib.adler32] is adler32)
    """)
    assert out == ["True"] * 3


def test_an_exception_is_the_originals():
    out = run("""
        import dyntrace, numpy as np, traceback, zlib
        @dyntrace.substitute_in_graph(zlib.crc32, skip_signature_check=True)
        def crc32(data, value=0, /):
            raise KeyError("not the original's")
        @dyntrace.compile
        def f(x):
            y = x + x
            return y, zlib.crc32(None)
        try:
            f(np.ones(3))
        except TypeError as error:
            print(len(traceback.extract_tb(error.__traceback__)))
    """)
    assert out == ["2"]


def test_a_substitute_for_a_python_function():
    out = run("""
        import dyntrace, numpy as np
        def slow(n):
            return sum(range(n))
        @dyntrace.substitute_in_graph(slow)
        def quick(n):
            return n * (n - 1) // 2
        @dyntrace.compile(fullgraph=True)
        def f(x):
            return x * slow(10000)
        print(f(np.ones(2))[0] == slow(10000))
    """)
    assert out == ["True"]


@pytest.mark.parametrize(
    ("original", "function", "text"),
    [
        (math.dist, lambda p, /: None, "1 parameters instead of 2"),
        (math.dist, lambda p, q: None, "is positional or keyword instead of positional-only"),
        (math.dist, lambda a, q, /: None, "parameter 'a'"),
        (math.dist, lambda p, q=0, /: None, "another default"),
        (math.dist, math.hypot, "expected a Python function, got builtin"),
    ],
)
def test_signatures_are_compared(original, function, text):
    with pytest.raises(TypeError, match=text):
        dyntrace.substitute_in_graph(original)(function)


def test_not_callable():
    with pytest.raises(TypeError, match="original: expected a callable, got int"):
        dyntrace.substitute_in_graph(3)


@pytest.mark.parametrize("original", [len, math.sqrt, operator.countOf])
def test_what_is_followed_already(original):
    with pytest.raises(ValueError, match="already"):
        dyntrace.substitute_in_graph(original, skip_signature_check=True)(lambda *args: None)


def test_every_polyfill_has_its_originals_signature():
    from dyntrace.substitutes import check_signature

    substitutes = dyntrace.list_substitutes()
    assert len(substitutes) >= 15
    for original, function in substitutes.items():
        assert callable(original)
        if function.__module__.startswith("dyntrace.polyfills."):
            check_signature(original, function)


def test_polyfills_are_loaded_when_they_are_needed():
    out = run("""
        import sys
        import dyntrace, numpy as np, heapq
        def loaded():
            return [name for name in sys.modules if name.startswith("dyntrace.polyfills")]
        print(len(loaded()))
        @dyntrace.compile(fullgraph=True)
        def f(x, heap):
            return x * heapq.heappop(heap)
        f(np.ones(2), [1, 2])
        print(*loaded())
    """)
    assert out == ["0", "dyntrace.polyfills", "dyntrace.polyfills.heapq"]


def test_changed_builtins_do_not_reach_polyfills():
    out = run("""
        import builtins, heapq
        import dyntrace, numpy as np
        real = len
        builtins.len = lambda x: 0
        try:
            @dyntrace.compile(fullgraph=True)
            def f(x, heap):
                return x * heapq.heappop(heap)
            print(f(np.ones(2), [1, 3, 2])[0])
        finally:
            builtins.len = real
    """)
    assert out == ["1.0"]


def large_heap(x):
    heap = list(range(3000))
    heapq.heapify(heap)
    return x + heap[0]


def test_a_break_inside_a_polyfill_is_at_the_call():
    compiled = check(large_heap, A, breaks="unknown-callable")
    where = compiled.records[0]["break"]["where"]
    assert where["function"] == "large_heap"
    assert where["line"] == large_heap.__code__.co_firstlineno + 2


def test_the_original_keeps_its_identity():
    def f(x):
        return x + 1.0, heapq.heappush, {heapq.heappop: 1}

    compiled = Compiled(f)
    assert compiled(A)[1] is heapq.heappush and heapq.heappop in compiled(A)[2]
