"""Rows about what stands between a call and its kernel: guards, the cache, dispatch.

N is NumPy's own `a + b` on 4 doubles, measured in turns with the row's calls. The kernel that an
overhead is above is the same graph made by hand and run through a C function that allocates the
outputs and checks nothing.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import types
import warnings
from collections.abc import Callable
from typing import Any

import dyntrace
import numpy as np

from .harness import ROOT, fresh, in_turns, operands, row

WHITE_BOX = dyntrace._core._testing


def add(a, b):
    return a + b


def compiled_of(function: types.FunctionType, *calls: tuple[Any, ...], entries: int = 1) -> Any:
    """The function compiled for these calls, and never weighed against plain execution; the bits
    are NumPy's, and there are as many compiled versions as expected."""
    compiled = dyntrace.compile(fresh(function))
    with dyntrace.config.patch(weigh_after=0, recompile_limit=entries):
        for arguments in calls * 2:
            if compiled(*arguments).tobytes() != function(*arguments).tobytes():
                raise AssertionError(f"compiled {function.__name__} has other bits than NumPy")
    found = [entry["hits"] for entry in compiled.cache_entries()]
    if len(found) != entries or 0 in found:
        raise AssertionError(f"{function.__name__}: {entries} entries expected, hits are {found}")
    return compiled


def kernel_of(inputs: list[np.ndarray], steps: list[tuple[np.ufunc, int, int]]) -> Any:
    """A graph of these ufuncs by hand; values are numbered from the inputs on."""
    nodes = [(f"numpy.{ufunc.__name__}", ufunc, (("v", a), ("v", b))) for ufunc, a, b in steps]
    last = len(inputs) + len(steps) - 1
    return WHITE_BOX.native_compile("native", inputs, nodes, [("v", last)])


def above(kernel: Any, inputs: list[np.ndarray], function: Any, arguments: tuple[Any, ...]) -> Any:
    """What a compiled call costs above its kernel, in N."""
    a, b = inputs[:2]
    n, bare, whole = in_turns(
        (add, (a, b)), (WHITE_BOX.bare_call, (kernel, *inputs)), (function, arguments)
    )
    remark = f"N {n * 1e9:.0f} ns, kernel {bare * 1e9:.0f} ns, compiled {whole * 1e9:.0f} ns"
    return (whole - bare) / n, remark


def fused_kernel(a: np.ndarray, b: np.ndarray) -> Any:
    """a*b + a"""
    return kernel_of([a, b], [(np.multiply, 0, 1), (np.add, 2, 0)])


def fused(a, b):
    return a * b + a


@row("fused", "a*b+a on 4 doubles, one call from Python", bound=0.45, unit="N")
def fused_call() -> tuple[float, str]:
    arguments = operands(2, 4)
    n, plain, whole = in_turns(
        (add, arguments), (fused, arguments), (compiled_of(fused, arguments), arguments)
    )
    return whole / n, f"N {n * 1e9:.0f} ns, NumPy {plain / n:.2f} N"


@row("two", "two arrays checked, above the bare kernel call", bound=0.1, unit="N")
def two_arrays() -> tuple[float, str]:
    a, b = operands(2, 4)
    return above(fused_kernel(a, b), [a, b], compiled_of(fused, (a, b)), (a, b))


class Settings:
    """Ten attributes that a function reads and its kernel does not."""

    def __init__(self) -> None:
        for index in range(10):
            setattr(self, f"a{index}", index / 8)


settings = Settings()
g0, g1, g2, g3, g4, g5, g6, g7, g8, g9 = (index / 8 for index in range(10))
h0, h1, h2, h3, h4, h5, h6, h7, h8, h9 = (index / 4 for index in range(10))


def reads_globals(a, b):
    total = g0 + g1 + g2 + g3 + g4 + g5 + g6 + g7 + g8 + g9
    total += h0 + h1 + h2 + h3 + h4 + h5 + h6 + h7 + h8 + h9
    s = settings
    total += s.a0 + s.a1 + s.a2 + s.a3 + s.a4 + s.a5 + s.a6 + s.a7 + s.a8 + s.a9
    return a * b + a if total < 100.0 else a


@row("globals", "the same with 20 globals and 10 attributes", bound=0.15, unit="N")
def twenty_globals() -> tuple[float, str]:
    a, b = operands(2, 4)
    return above(fused_kernel(a, b), [a, b], compiled_of(reads_globals, (a, b)), (a, b))


def sum_of_ten(a, b, c, d, e, f, g, h, i, j):
    return a + b + c + d + e + f + g + h + i + j


@row("ten", "the same with 10 arrays", bound=0.3, unit="N")
def ten_arrays() -> tuple[float, str]:
    arrays = operands(10, 4)
    steps = [(np.add, 0 if index == 1 else 8 + index, index) for index in range(1, 10)]
    kernel = kernel_of(list(arrays), steps)
    return above(kernel, list(arrays), compiled_of(sum_of_ten, arrays), arrays)


TABLE = {f"key{index}": index / 8 for index in range(30)}
ITEMS = [index / 4 for index in range(30)]


def reads_containers(a, b, table, items):
    total = 0.0
    for value in table.values():
        total += value
    for value in items:
        total += value
    return a * b + a if total < 1000.0 else a


@row("items", "the same with a dict of 30 and a list of 30, all read", bound=1, unit="N")
def containers() -> tuple[float, str]:
    a, b = operands(2, 4)
    arguments = (a, b, TABLE, ITEMS)
    return above(fused_kernel(a, b), [a, b], compiled_of(reads_containers, arguments), arguments)


# How a call hands its arguments over, and the signature that takes them.
FORMS = {
    "keywords": ("f(a, b=b)", "a, b"),
    "defaults": ("f(a)", "a, b=B"),
    "keyword-only": ("f(a, b=b)", "a, *, b"),
    "stars": ("f(a, b)", "a, *more"),
    "double stars": ("f(a, b=b)", "a, **more"),
}
TAKEN = {"stars": "more[0]", "double stars": "more['b']"}


def calls_of(call: str, **names: Any) -> Callable[[], None]:
    """Ten of this call in a function, so that the loop around them does not count."""
    body = f"def run():\n    {'; '.join([call] * 10)}"
    exec(body, names)
    return names["run"]


@row("binding", "a call with keywords, defaults, * or **, above the kernel, against the same plainly",
     bound=1, unit="x")  # fmt: skip
def binding() -> tuple[float, str]:
    """Plainly: a call of a Python function with this signature that only returns its argument."""
    a, b = operands(2, 4)
    kernel = fused_kernel(a, b)
    bare = calls_of("bare(kernel, a, b)", bare=WHITE_BOX.bare_call, kernel=kernel, a=a, b=b)
    empty = calls_of("a", a=a)
    found, remarks = [], []
    for name, (call, signature) in FORMS.items():
        scope: dict[str, Any] = {"B": b}
        taken = TAKEN.get(name, "b")
        exec(f"def whole({signature}):\n    return a * {taken} + a\n"
             f"def plain({signature}):\n    return a", scope)  # fmt: skip
        compiled = dyntrace.compile(scope["whole"])
        run = calls_of(call, f=compiled, a=a, b=b)
        plainly = calls_of(call, f=scope["plain"], a=a, b=b)
        with dyntrace.config.patch(weigh_after=0):
            run()
            run()
        if [entry["hits"] for entry in compiled.cache_entries()] != [20]:
            raise AssertionError(f"{name}: calls were not served by one entry")
        least, whole, plain, nothing = (
            seconds / 10 * 1e9
            for seconds in in_turns((bare, ()), (run, ()), (plainly, ()), (empty, ()))
        )
        found.append((whole - least) / (plain - nothing))
        remarks.append(f"{name} {whole - least:.0f} / {plain - nothing:.0f} ns")
    return max(found), ", ".join(remarks)


def no_arrays(text, count):
    return text


@row("skipped", "a function that was skipped, above calling it plainly", bound=0.1, unit="N")
def skipped() -> tuple[float, str]:
    a, b = operands(2, 4)
    decorated = dyntrace.compile(fresh(no_arrays))
    for _ in range(20):
        decorated("text", 3)
    n, plain, whole = in_turns((add, (a, b)), (no_arrays, ("text", 3)), (decorated, ("text", 3)))
    return (whole - plain) / n, f"plain {plain * 1e9:.0f} ns, decorated {whole * 1e9:.0f} ns"


SCALES = {f"mode{index}": 1.0 + index for index in range(64)}


def scaled(x, mode):
    return x * SCALES[mode] + x


def by_kind(x, _):
    return x + x


def each(function: Any, calls: list[tuple[Any, Any]]) -> Callable[[], None]:
    def run() -> None:
        for x, y in calls:
            function(x, y)

    return run


KINDS = [np.dtype(name) for name in ("f8", "f4", "i8", "i4", "i2", "u4", "u2", "u1")]


def in_turn(entries: int) -> tuple[float, str]:
    """Calls that need that many entries in turn, against calls of the same function which all need
    one; the slower of entries told apart by a string and by the type and rank of an array."""
    (x,) = operands(1, 4)
    modes = [(x, f"mode{index}") for index in range(entries)]
    ranks = max(1, entries // 8)
    kinds = [
        (np.ones((2,) * rank, dtype), 0) for rank in range(1, ranks + 1) for dtype in KINDS
    ]
    found = []
    for function, calls in ((scaled, modes), (by_kind, kinds)):
        several = compiled_of(function, *calls, entries=entries)
        # The kernels of other types and ranks take another time: each call against its own.
        alone = [compiled_of(function, call) for call in calls]
        once = [(each(one, [call] * entries), ()) for one, call in zip(alone, calls, strict=True)]
        whole, *parts = in_turns((each(several, calls), ()), *once)
        found.append(whole / (sum(parts) / entries))
    return max(found), f"by a string {found[0]:.2f}, by dtype and rank {found[1]:.2f}"


@row("eight", "calls for 8 entries in turn, against those for one", bound=1.3, unit="x")
def eight() -> tuple[float, str]:
    return in_turn(8)


@row("sixty-four", "the same with 64 entries", bound=2, unit="x")
def sixty_four() -> tuple[float, str]:
    return in_turn(64)


class Node:
    """One of a tree: numbers, and below it other nodes."""

    def __init__(self, depth: int) -> None:
        for index in range(9):
            setattr(self, f"p{index}", (depth * 9 + index) / 8)
        if depth > 0:
            for index in range(10):
                setattr(self, f"n{index}", Node(depth - 1))


NAMES = "\n".join(f"    total += node.p{index}" for index in range(9))
CHILDREN = "\n".join(f"    total += visit(node.n{index}, depth - 1)" for index in range(10))
TREE = f"""
def visit(node, depth):
    total = 0.0
{NAMES}
    if depth == 0:
        return total
{CHILDREN}
    return total

def walk(a, b):
    return a * b + a if visit(tree, 2) < 1e6 else a
"""


@row("tree", "a tree of objects with 1,109 guarded attributes, checked above the bare kernel call",
     bound=4 if sys.version_info >= (3, 12) else 24, unit="N")  # fmt: skip
def tree() -> tuple[float, str]:
    a, b = operands(2, 4)
    scope: dict[str, Any] = {"tree": Node(2)}
    exec(TREE, scope)
    with dyntrace.config.patch(trace_budget_ns=0):
        function = compiled_of(scope["walk"], (a, b))
    return above(fused_kernel(a, b), [a, b], function, (a, b))


def fails_late(a, b, k):
    total = g0 + g1 + g2 + g3 + g4 + g5 + g6 + g7 + g8 + g9
    s = settings
    total += s.a0 + s.a1 + s.a2 + s.a3 + s.a4 + s.a5 + s.a6 + s.a7 + s.a8 + s.a9
    return a * b + a if total < 100.0 and k.mode == "mode1" else a * b - a


class Mode:
    def __init__(self, mode: str) -> None:
        self.mode = mode


@row("to-other", "a guard fails on the way to another entry, above a call whose guards hold",
     bound=1.2, unit="N")  # fmt: skip
def to_another() -> tuple[float, str]:
    a, b = operands(2, 4)
    one, two = (a, b, Mode("mode1")), (a, b, Mode("mode2"))
    first, second = (compiled_of(fails_late, each) for each in (one, two))
    both = compiled_of(fails_late, one, two, entries=2)

    def take_turns() -> None:
        both(*one)
        both(*two)

    def alone() -> None:
        first(*one)
        second(*two)

    n, turns, apart = in_turns((add, (a, b)), (take_turns, ()), (alone, ()))
    return (turns - apart) / 2 / n, f"N {n * 1e9:.0f} ns, {(turns - apart) / 2 * 1e9:.0f} ns"


@row("to-plain", "a guard fails on the way to plain execution, above plain execution", bound=1.2,
     unit="N")  # fmt: skip
def to_plain() -> tuple[float, str]:
    a, b = operands(2, 4)
    function = compiled_of(fails_late, (a, b, Mode("mode1")))
    other = (a, b, Mode("mode2"))
    with dyntrace.config.patch(recompile_limit=1):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for _ in range(20):
                function(*other)
        n, plain, whole = in_turns((add, (a, b)), (fails_late, other), (function, other))
    return (whole - plain) / n, f"plain {plain * 1e9:.0f} ns, decorated {whole * 1e9:.0f} ns"


storm_value = 0


def reads_stormy(a, b):
    return a * b + a if storm_value >= 0 else a


def storm(scope: dict[str, Any], count: int = 1000) -> None:
    for value in range(count):
        scope["storm_value"] = value


@row("storm", "a write to a dict of globals that compiled code relies on, above one to another dict",
     bound=10, unit="ns")  # fmt: skip
def write_storm() -> tuple[float, str]:
    a, b = operands(2, 4)
    scope = dict(globals())
    function = dyntrace.compile(types.FunctionType(reads_stormy.__code__.replace(), scope))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for value in range(40):
            scope["storm_value"] = value
            function(a, b)
    free, watched = in_turns((storm, (dict(globals()),)), (storm, (scope,)))
    return (watched - free) / 1000 * 1e9, f"{free * 1e6:.1f} ns a write to another dict"


PLAIN = """
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

class Account:
    def __init__(self, balance):
        self.balance = balance
    def deposit(self, amount):
        self.balance += amount
        return self.balance
    @property
    def rich(self):
        return self.balance > 100

def methods(n):
    account = Account(0)
    for i in range(n):
        account.deposit(i)
        account.rich
    return [Account(i).balance for i in range(n)]

def numbers(n):
    for i in range(n):
        yield i

def generators(n):
    return sum(x for x in numbers(n))

def run():
    fib(16)
    methods(1000)
    generators(2000)

import sys, time
import numpy as np
if "with" in sys.argv:
    import dyntrace
    f = dyntrace.compile(lambda a, b: a * b + a)
    g = dyntrace.compile(lambda a: a.nobody + 1)
    x = np.ones(4)
    for _ in range(30):
        f(x, x)
        try:
            g(x)
        except AttributeError:
            pass
run()
times = []
for _ in range(int(sys.argv[1])):
    start = time.perf_counter()
    run()
    times.append(time.perf_counter() - start)
print(min(times))
"""


def instructions(*arguments: str) -> int:
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", sys.executable, "-c",
         PLAIN, *arguments], cwd=ROOT, text=True, capture_output=True, timeout=600, check=True,
        # The threads that OpenBLAS starts wait in a loop, which counts otherwise.
        env={**os.environ, "PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
    found = re.search(r"Collected : (\d+)", done.stderr)
    if found is None:
        raise RuntimeError(f"callgrind says nothing: {done.stderr[-500:]}")
    return int(found[1])


def seconds(*arguments: str) -> float:
    done = subprocess.run([sys.executable, "-c", PLAIN, *arguments], cwd=ROOT, text=True,
                          capture_output=True, timeout=600, check=True)  # fmt: skip
    return float(done.stdout)


@row("plain", "plain Python while dyntrace is imported and functions are compiled elsewhere",
     bound=1.02, unit="x")  # fmt: skip
def plain_code() -> tuple[float, str]:
    """In instructions where valgrind is found; two lengths, so that imports drop out."""
    with_it, without, again = (
        min(seconds("60", *more) for _ in range(5)) for more in (("with",), (), ())
    )
    remark = f"time {with_it / without:.3f}, the same run twice {again / without:.3f}"
    if shutil.which("valgrind") is None:
        return with_it / without, remark + "; no valgrind, so it is time"
    counts = [instructions("4", *more) - instructions("1", *more) for more in (("with",), ())]
    return counts[0] / counts[1], remark


@row("touched", "bytes of a guard that a check touches, 64 apart; the most of four functions",
     bound=24, unit="B")  # fmt: skip
def touched() -> tuple[float, str]:
    a, b = operands(2, 4)
    arrays = operands(10, 4)
    worst, told, remarks = 0.0, 0.0, []
    for function, arguments in (
        (fused, (a, b)), (reads_globals, (a, b)), (sum_of_ten, arrays),
        (reads_containers, (a, b, TABLE, ITEMS)),
    ):  # fmt: skip
        (entry,) = compiled_of(function, arguments).cache_entries()
        each = (entry["check_bytes"] - 64) / entry["guard_count"]
        worst = max(worst, each)
        told = max(told, entry["text_bytes"] / entry["guard_count"])
        remarks.append(f"{function.__name__} {each:.0f}")
    return worst, f"{', '.join(remarks)}; for explanations at most {told:.0f} of 200"
