"""The table of what must be reached, one function per row."""

from __future__ import annotations

import statistics
import time
import types
from typing import Any

import dyntrace
import numpy as np

from . import programs
from .harness import child, fresh, in_turns, operands, row


def add(a, b):
    return a + b


def gain(size: int, budget: float) -> float:
    arguments = operands(2, size)
    compiled = dyntrace.compile(fresh(programs.chain))
    if compiled(*arguments).tobytes() != programs.chain(*arguments).tobytes():
        raise AssertionError("the compiled chain has other bits than NumPy")
    slow, fast = in_turns((programs.chain, arguments), (compiled, arguments), budget=budget)
    return slow / fast


@row("small", "10 elementwise operations on 4 doubles, gain over NumPy", bound=8, unit="x",
     lower=True)  # fmt: skip
def small() -> float:
    return gain(4, 2.0)


@row("large", "the same on 1e6 doubles", bound=3, unit="x", lower=True)
def large() -> float:
    return gain(1_000_000, 6.0)


def writing_gain(size: int, budget: float) -> float:
    """The slower of a training step and a step of the heat equation."""
    (gradient,) = operands(1, size)
    cases = (
        (programs.train, lambda: (programs.Layer(size), gradient)),
        (programs.diffuse, lambda: (gradient.copy(), 0.1)),
    )
    gains = []
    for function, make in cases:
        compiled = dyntrace.compile(fresh(function))
        plain, other = make(), make()
        for _ in range(3):
            function(*plain)
            compiled(*other)
        left = plain[0].weight if function is programs.train else plain[0]
        right = other[0].weight if function is programs.train else other[0]
        if left.tobytes() != right.tobytes():
            raise AssertionError(f"compiled {function.__name__} has other bits than NumPy")
        slow, fast = in_turns((function, plain), (compiled, other), budget=budget / 2)
        gains.append(slow / fast)
    return min(gains)


@row("write", "steps that write into 4 doubles, gain over NumPy", bound=1.5, unit="x",
     lower=True)  # fmt: skip
def write() -> float:
    return writing_gain(4, 2.0)


@row("rewrite", "the same on 1e6 doubles", bound=0.9, unit="x", lower=True)
def rewrite() -> float:
    return writing_gain(1_000_000, 6.0)


PEAK = """
import json, sys
import numpy as np
from bench import programs

def status(field):
    for line in open("/proc/self/status"):
        if line.startswith(field):
            return int(line.split()[1]) * 1024

def temporaries(function, arguments):
    "Highest resident memory during a call, above what the call returns."
    # Results are kept: a recycled block would make the result look as if it needed no memory.
    kept = [function(*arguments) for _ in range(4)]
    before = status("VmRSS")
    open("/proc/self/clear_refs", "w").write("5")
    result = function(*arguments)
    return status("VmHWM") - before - result.nbytes

random = np.random.default_rng(7)
arguments = (random.random(1_000_000), random.random(1_000_000))
plain = temporaries(programs.chain, arguments)
import dyntrace
compiled = temporaries(dyntrace.compile(programs.chain), arguments)
print(json.dumps([plain, compiled]))
"""


@row("memory", "its memory for temporaries, as a share of NumPy's", bound=0.25, unit="")
def memory() -> tuple[float, str]:
    # A low threshold makes every large array a mapping of its own, given back when it is freed.
    plain, compiled = child(PEAK, MALLOC_MMAP_THRESHOLD_="65536", MALLOC_TRIM_THRESHOLD_="65536")
    return compiled / plain, f"{compiled / 2**20:.1f} of {plain / 2**20:.1f} MiB"


@row("entry", "a*b+c on 4 doubles, 5 globals and 3 attributes read, above the bare kernel call",
     bound=0.3, unit="N")  # fmt: skip
def entry() -> tuple[float, str]:
    a, b, c = operands(3, 4)
    compiled = dyntrace.compile(fresh(programs.fused))
    # The same graph, made by hand and called without any check: it allocates its output and computes.
    white_box = dyntrace._core._testing
    graph = white_box.native_compile(
        "native",
        [a, b, c],
        [
            ("numpy.multiply", np.multiply, (("v", 0), ("v", 1))),
            ("numpy.add", np.add, (("v", 3), ("v", 2))),
        ],
        [("v", 4)],
    )
    kernel = white_box.bare_call
    for result in (kernel(graph, a, b, c), compiled(a, b, c)):
        if result.tobytes() != programs.fused(a, b, c).tobytes():
            raise AssertionError("not NumPy's bits")
    n, bare, whole = in_turns((add, (a, b)), (kernel, (graph, a, b, c)), (compiled, (a, b, c)))
    remark = f"N {n * 1e9:.0f} ns, kernel {bare * 1e9:.0f} ns, compiled {whole * 1e9:.0f} ns"
    return (whole - bare) / n, remark


@row("compile", "first compile of a 10-operation function, imports done", bound=3, unit="ms")
def compile_time() -> tuple[float, str]:
    first = [child(FIRST) for _ in range(5)]
    own = statistics.median(a for a, _ in first)
    later = statistics.median(b for _, b in first)
    return own * 1e3, f"a second function {later * 1e3:.2f} ms"


FIRST = """
import json, time, types
import numpy as np
import dyntrace
from bench import programs

def first(function):
    x = np.ones(4)
    compiled = dyntrace.compile(function)
    start = time.perf_counter()
    compiled(x, x)
    return time.perf_counter() - start

again = types.FunctionType(programs.chain.__code__.replace(), programs.chain.__globals__)
print(json.dumps([first(programs.chain), first(again)]))
"""

IMPORT = """
import json, time
a = time.perf_counter()
import numpy
b = time.perf_counter()
import dyntrace
c = time.perf_counter()
print(json.dumps([b - a, c - b]))
"""


@dyntrace.disable
def construct(x):
    return x


def unbroken(x, y):
    a = x * 2 + y
    b = a * 3 - x
    return b * a


def broken(x, y):
    a = x * 2 + y
    construct(1)
    b = a * 3 - x
    return b * a


@row("break", "one break in a warm call, above the function without it and the construct alone",
     bound=0.6, unit="N")  # fmt: skip
def one_break() -> tuple[float, str]:
    arguments = operands(2, 4)
    whole, pieces = dyntrace.compile(fresh(unbroken)), dyntrace.compile(fresh(broken))
    for _ in range(8):  # its pieces are found, and the last driver is built
        if pieces(*arguments).tobytes() != whole(*arguments).tobytes():
            raise AssertionError("not NumPy's bits")
    n, a, b, alone = in_turns(
        (add, arguments), (whole, arguments), (pieces, arguments), (construct, (1,))
    )
    remark = f"N {n * 1e9:.0f} ns, whole {a * 1e9:.0f} ns, broken {b * 1e9:.0f} ns"
    return (b - a - alone) / n, remark


ITERATIONS = 10_000


def iterates(count):
    total = 0
    for index in range(count):
        total += index
    return total


@row("back-edge", "counting an iteration of a loop that is not hot yet, above the same loop plainly",
     bound=2, unit="ns")  # fmt: skip
def back_edge() -> tuple[float, str]:
    prepared = fresh(iterates)
    # No time is long enough for it to be hot, and a call at a time is what the loop has.
    with dyntrace.config.patch(hot_ns=10**15):
        dyntrace._core.prepare_function(dyntrace._core.Region("native", quiet=True), prepared)
        plain, counts = in_turns((iterates, (ITERATIONS,)), (prepared, (ITERATIONS,)))
    if dyntrace._core.list_prepared()[-1]["state"] != "counting":
        raise AssertionError("the loop does not count")
    each = plain / ITERATIONS * 1e9
    return (counts - plain) / ITERATIONS * 1e9, f"an iteration is {each:.1f} ns"


def chained(x, y):
    for_ten = x * 2 + y
    for_ten = for_ten * 3 - x
    for_ten = for_ten + 1
    for_ten = for_ten * y
    for_ten = for_ten - 2
    for_ten = for_ten * 3 - x
    for_ten = for_ten + 1
    for_ten = for_ten * y
    for_ten = for_ten - 2
    for_ten = for_ten * y + x
    return for_ten * 2


def chained_broken(x, y):
    for_ten = x * 2 + y
    construct(1)
    for_ten = for_ten * 3 - x
    construct(1)
    for_ten = for_ten + 1
    construct(1)
    for_ten = for_ten * y
    construct(1)
    for_ten = for_ten - 2
    construct(1)
    for_ten = for_ten * 3 - x
    construct(1)
    for_ten = for_ten + 1
    construct(1)
    for_ten = for_ten * y
    construct(1)
    for_ten = for_ten - 2
    construct(1)
    for_ten = for_ten * y + x
    construct(1)
    return for_ten * 2


def first_calls(function: types.FunctionType, arguments: tuple[Any, ...]) -> tuple[float, float]:
    """Seconds of the first call, which compiles each piece, and of the first four: the last of them
    builds the last driver."""
    compiled = dyntrace.compile(fresh(function))
    start = time.perf_counter()
    compiled(*arguments)
    first = time.perf_counter() - start
    for _ in range(3):
        compiled(*arguments)
    return first, time.perf_counter() - start


@row("compile-breaks", "first call of a function with 10 breaks, above that of the function without",
     bound=5, unit="x")  # fmt: skip
def compile_with_breaks() -> tuple[float, str]:
    arguments = operands(2, 4)
    whole, pieces = [], []
    for _ in range(100):
        whole.append(first_calls(chained, arguments))
        pieces.append(first_calls(chained_broken, arguments))
    a, b = min(first for first, _ in whole), min(first for first, _ in pieces)
    later = min(both for _, both in pieces)
    remark = f"whole {a * 1e3:.2f} ms, with breaks {b * 1e3:.2f} ms, {later * 1e3:.2f} ms for 4 calls"
    return b / a, remark


@row("import", "import dyntrace above import numpy, as a share of the latter", bound=0.2, unit="")
def import_time() -> tuple[float, str]:
    times = [child(IMPORT) for _ in range(11)]
    numpy = min(a for a, _ in times)
    own = min(b for _, b in times)
    return own / numpy, f"{own * 1e3:.1f} of {numpy * 1e3:.1f} ms"


CALLS = """
import json
import numpy as np
import dyntrace
from bench import programs
from bench.harness import resident

f = dyntrace.compile(programs.chain)
x, y = np.ones(4), np.ones(4)

def calls(count):
    for _ in range(count):
        f(x, y)

calls(100_000)
before = resident()
calls(10_000_000)
print(json.dumps(resident() - before))
"""

COMPILES = """
import json
import numpy as np
import dyntrace
from bench import programs
from bench.harness import resident

x, y = np.ones(4), np.ones(4)

def cycles(count):
    for _ in range(count):
        dyntrace.compile(programs.chain)(x, y)
        dyntrace.reset()

cycles(1_000)
before = resident()
cycles(10_000)
print(json.dumps(resident() - before))
"""


@row("calls", "growth of memory over 10 million compiled calls", bound=1, unit="MB")
def flat_calls() -> float:
    return child(CALLS) / 1e6


@row("cycles", "growth of memory over 10,000 cycles of compile, call and reset", bound=1,
     unit="MB")  # fmt: skip
def flat_cycles() -> float:
    return child(COMPILES) / 1e6


RESET = """
import ctypes, gc, json
import numpy as np
import dyntrace
from bench import dispatch, programs
from bench.harness import fresh

def hot(x, rounds):
    total = 0.0
    for index in range(rounds):
        x = x * 2 + index
        print(end="")
        total += float(x.sum())
    return total

def use(functions):
    x, y = np.ones(4), np.ones(4)
    text = "text"
    for kind, function in functions:
        if kind == "hot":
            for rounds in range(4):
                function(x, 3)
        elif kind == "modes":
            for mode in list(dispatch.SCALES)[:6]:
                function(x, mode)
                function(x, mode)
        else:
            for _ in range(4):
                function(x, y)

class Info(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks")]
    _fields_.append(("rest", ctypes.c_size_t * 2))

mallinfo2 = ctypes.CDLL(None).mallinfo2
mallinfo2.restype = Info

def bytes_in_use():
    "Allocated: what the C library keeps for later is not the program's."
    gc.collect()
    info = mallinfo2()
    return info.uordblks + info.hblkhd

KINDS = {"chain": programs.chain, "globals": dispatch.reads_globals, "hot": hot, "modes": dispatch.scaled}

def made(count):
    return [(kind, fresh(KINDS[kind])) for kind in KINDS for _ in range(count)]

def cycle(functions):
    compiled = [(kind, dyntrace.compile(function)) for kind, function in functions]
    use(compiled)
    return compiled

first, functions = made(5), made(250)
use(functions)
cycle(first)
dyntrace.reset()
before = bytes_in_use()
compiled = cycle(functions)
full = bytes_in_use()
del compiled
dyntrace.reset()
print(json.dumps([before, full, bytes_in_use()]))
"""


@row("reset", "allocated bytes after 1,000 functions were compiled and reset() was called, above before",
     bound=0.01, unit="")  # fmt: skip
def memory_after_reset() -> tuple[float, str]:
    # Every object of Python's is then an allocation of the C library, which counts exactly.
    before, full, after = child(RESET, PYTHONMALLOC="malloc")
    remark = f"{before / 1e6:.1f} MB, compiled {full / 1e6:.1f} MB, reset {after / 1e6:.1f} MB"
    return (after - before) / before, remark
