"""Everything that compiling, calling and forgetting takes is given back.

Each function of leak_cases.py lives many times over. Watched are the reference counts of singletons,
small integers, interned names, types, modules, functions and the arguments (which show in no
memory figure), the interpreter's blocks, the C library's bytes and, on a debug interpreter, the sum
of all reference counts. What the plain function does to them (NumPy's zeros leaks a dtype, for one)
is measured the same way and taken off.

DYNTRACE_LEAK_ROUNDS sets the rounds per function: the default is for every day, 2000 for a long run.
"""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import types
import weakref
from array import array
from contextlib import contextmanager

import dyntrace
import leak_cases as cases
import pytest
import toyarray as ta
from differential import in_a_thread
from dyntrace import adapters
from dyntrace._core import _testing

ROUNDS = int(os.environ.get("DYNTRACE_LEAK_ROUNDS", "40"))
# With the C library's allocator for all, nothing counts blocks, and bytes are the interpreter's too.
COUNTED = "libasan" not in os.environ.get("LD_PRELOAD", "") and "PYTHONMALLOC" not in os.environ
FUNCTIONS = [(name, backend) for name, row in cases.CASES.items()
             for backend in (("native", "eager") if row[2] == "numpy" else ("eager",))]  # fmt: skip


class MallocInfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in ("arena ordblks smblks hblks hblkhd usmblks fsmblks"
                " uordblks fordblks keepcost").split()]  # fmt: skip


def no_bytes():
    return 0


def find_bytes_in_use():
    """A function that gives the bytes that malloc has given out; 0 where nobody can say."""
    library = ctypes.CDLL(None)
    if not COUNTED or not hasattr(library, "mallinfo2"):
        return no_bytes
    library.mallinfo2.restype = MallocInfo

    def bytes_in_use():
        info = library.mallinfo2()
        return info.uordblks + info.hblkhd

    return bytes_in_use


bytes_in_use = find_bytes_in_use()
total_references = getattr(sys, "gettotalrefcount", no_bytes)


def find_watched():
    names = ("name", "x", "y", "a", "n", "k", "interned", "last", "append", "norm", "shape", "w", "v")
    found = [None, True, False, ..., NotImplemented, (), "", b"", *range(-5, 30)]
    found += [sys.intern(name) for name in names]
    found += [object, type, int, float, bool, str, bytes, tuple, list, dict, set, frozenset, slice, range,
              types.FunctionType, types.CodeType, types.CellType, types.ModuleType, len, sum, print, max,
              isinstance, zip, ZeroDivisionError, IndexError, KeyError, sys.modules["math"], sys,
              dyntrace, dyntrace._core, cases, cases.__dict__, cases.partial, cases.table]  # fmt: skip
    found += [v for v in vars(cases).values() if isinstance(v, (type, types.FunctionType))]
    found += [v for v in vars(ta).values() if isinstance(v, (type, types.FunctionType))]
    for function, arguments, _, _ in cases.CASES.values():
        found += [function.__code__, *function.__code__.co_consts, *arguments]
    if cases.np is not None:
        np = cases.np
        found += [np, np.ndarray, np.float64, np.int64, np.zeros, np.where, np.stack, np.concatenate]
        found += [np.add, np.multiply, np.exp, np.sqrt, *map(np.dtype, "dflq?i")]
    return list({id(one): one for one in found}.values())


WATCHED = find_watched()


def measure():
    """Figures that must not grow; held in arrays, not to change the counts of small integers."""
    gc.collect()
    return array("q", [total_references(), sys.getallocatedblocks(), bytes_in_use(),
                       *map(sys.getrefcount, WATCHED)])  # fmt: skip


def growth(action, rounds):
    """By how much each figure grows while `action` runs `rounds` times."""
    before = measure()
    for _ in range(rounds):
        action()
    after = measure()
    return array("q", [b - a for a, b in zip(before, after)])


def grown(compiled, plain, rounds):
    """What grew in half of the rounds or more, and by that much more than in the plain function (NumPy
    itself leaks here and there). Reference counts must not shrink either; memory may, when something
    older is let go of."""
    memory = {"references": rounds, "blocks": rounds, "malloc": 64 * rounds}
    names = [*memory, *(repr(one)[:60] for one in WATCHED)]
    limits = [*memory.values(), *[rounds] * len(WATCHED)]
    found = {}
    for name, c, p, limit in zip(names, compiled, plain, limits):
        shrank = name not in memory and max(c, c - p) * 2 <= -limit
        if min(c, c - p) * 2 >= limit or shrank:
            found[name] = round((c - p) / rounds, 2)
    return found


def assert_flat(compiled, plain=lambda: None, rounds=ROUNDS):
    """Caches and free lists fill up in a short run as if something leaked, and a table of the
    interpreter's may double once in a long one; what is still there in runs four, sixteen and twice
    sixty-four times as long is a leak."""
    for _ in range(4):
        compiled()
        plain()
    for factor in (1, 4, 16, 64, 64):
        found = grown(growth(compiled, rounds * factor), growth(plain, rounds * factor), rounds * factor)
        if not found:
            return
    raise AssertionError(found)


@contextmanager
def library_of(uses):
    if uses == "toy":
        adapters.register(ta.ADAPTER)
    try:
        with dyntrace.config.patch(everything=uses is None, trace_budget_ns=0):
            yield
    finally:
        if uses == "toy":
            adapters.unregister(ta.ADAPTER)
        dyntrace.reset()


def call(function, arguments, error):
    try:
        function(*arguments)
    except Exception as raised:
        if error is None or not isinstance(raised, error):
            raise
    else:
        assert error is None


@pytest.mark.parametrize("name, backend", FUNCTIONS)
def test_compile_call_reset(name, backend):
    function, arguments, uses, error = cases.CASES[name]

    def life():
        compiled = dyntrace.compile(function, backend=backend)
        for _ in range(3):
            call(compiled, arguments, error)
        dyntrace.reset()

    def plain():
        for _ in range(3):
            call(function, arguments, error)

    with library_of(uses):
        assert_flat(life, plain)


@pytest.mark.parametrize("name, backend", FUNCTIONS)
def test_regions_die_without_reset(name, backend):
    function, arguments, uses, error = cases.CASES[name]

    def life():
        compiled = dyntrace.compile(function, backend=backend)
        for _ in range(2):
            call(compiled, arguments, error)

    def plain():
        for _ in range(2):
            call(function, arguments, error)

    with library_of(uses):
        assert_flat(life, plain)


@pytest.mark.parametrize("name, backend", FUNCTIONS)
def test_warm_calls(name, backend):
    function, arguments, uses, error = cases.CASES[name]
    with library_of(uses):
        compiled = dyntrace.compile(function, backend=backend)
        assert_flat(lambda: call(compiled, arguments, error), lambda: call(function, arguments, error),
                    ROUNDS * 5)  # fmt: skip


@pytest.mark.parametrize("name", cases.CASES)
def test_graphs_and_records(name):
    """Graphs that are kept, printed and serialised, and explanations."""
    function, arguments, uses, error = cases.CASES[name]

    def life():
        region = dyntrace._core.Region("eager", record=True)
        compiled = dyntrace.api._compile_target(function, region)
        call(compiled, arguments, error)
        for record in region.records:
            graph = record["graph"]
            if graph is not None:
                str(graph), graph.nodes, [node.args for node in graph.nodes]
                try:
                    data = graph.to_bytes()
                except Exception:
                    continue  # it holds objects that have no portable form
                dyntrace.Graph.from_bytes(data)

    with library_of(uses):
        assert_flat(life, lambda: call(function, arguments, error), max(10, ROUNDS // 2))


@pytest.mark.parametrize("name, backend", FUNCTIONS)
@in_a_thread
def test_allocations_fail(name, backend):
    """Every allocation of a first call fails once: it gives its result all the same or MemoryError,
    and gives back what it had. What one failure leaves, it leaves again in every sweep."""
    function, arguments, uses, error = cases.CASES[name]
    step = 1 if ROUNDS >= 1000 else 11

    calls = []

    def sweep():
        calls.clear()
        for number in range(1, 100_000, step):
            calls.append(number)
            compiled = dyntrace.compile(function, backend=backend)
            _testing.fail_arena_at(number)
            try:
                call(compiled, arguments, error)
            except MemoryError:
                pass
            finally:
                left = _testing.fail_arena_at(0)
            del compiled
            dyntrace.reset()
            if left:
                return

    with library_of(uses):
        assert_flat(sweep, lambda: [call(function, arguments, error) for _ in calls], 4)
def test_a_leak_is_seen():
    class Kept:
        pass

    kept = []
    with pytest.raises(AssertionError, match="len"):
        assert_flat(lambda: kept.append(len), rounds=4)
    if COUNTED:
        with pytest.raises(AssertionError, match="blocks"):
            assert_flat(lambda: kept.append(Kept()), rounds=4)


SOURCE = """
def function(box, n, step=1.5):
    total = box.value * step
    def inner(k):
        return [total, n, k]
    box.last = inner(n)
    return inner, {"n": n, "box": box}
"""


class Box:
    def __init__(self, value):
        self.value = value


def made_again():
    """A function whose code, globals, defaults and cells are new."""
    namespace = {}
    exec(SOURCE, namespace)
    return namespace["function"]


def test_code_made_again():
    """Code objects come and go with everything that hangs on them."""

    def life(wrap):
        compiled, box = wrap(made_again()), Box(2.0)
        compiled(box, 3)
        inner, _ = compiled(box, 4)
        inner(5)

    with library_of(None):
        assert_flat(lambda: life(dyntrace.compile), lambda: life(lambda function: function))


@pytest.mark.filterwarnings("ignore:dyntrace.*recompile limit")
def test_classes_made_again():
    """One compiled function, every time with an instance of a class that is new."""

    def life(function):
        cls = type("Fresh", (Box,), {"double": lambda self: self.value * 2})
        function(cls(1.0))

    def use(box):
        box.seen = [box.value, box.double()]
        return box.seen

    with library_of(None):
        compiled = dyntrace.compile(use)
        assert_flat(lambda: life(compiled), lambda: life(use))


def alive(references):
    gc.collect()
    return [name for name, reference in references.items() if reference() is not None]


def test_entries_keep_no_arguments():
    with library_of(None):
        compiled, box = dyntrace.compile(made_again()), Box(2.0)
        for n in range(4):
            result = compiled(box, n)
        references = {"box": weakref.ref(box), "inner": weakref.ref(result[0])}
        del box, result
        assert not alive(references)
        compiled(Box(2.0), 3)


def test_functions_die_with_their_wrapper():
    with library_of(None):
        function = made_again()
        compiled = dyntrace.compile(function)
        for n in range(4):
            compiled(Box(1.0), n)
        references = {"function": weakref.ref(function), "code": weakref.ref(function.__code__),
                      "compiled": weakref.ref(compiled)}  # fmt: skip
        del function, compiled
        assert not alive(references)


def test_arrays_die():
    np = pytest.importorskip("numpy")

    def function(x, y):
        z = x * y + 1.0
        return z, z[1:], x.T

    compiled = dyntrace.compile(function)
    for _ in range(4):
        x, y = np.arange(6.0), np.ones(6)
        plain, result = function(x, y), compiled(x, y)
        assert [*map(sys.getrefcount, plain)] == [*map(sys.getrefcount, result)]
        assert sys.getrefcount(x) == sys.getrefcount(y) + 2  # the two transposed views
        references = {"x": weakref.ref(x), "y": weakref.ref(y), "z": weakref.ref(result[0]),
                      "view": weakref.ref(result[1])}  # fmt: skip
        del x, y, plain, result
        assert not alive(references)
    dyntrace.reset()


def test_broken_off_tracing_gives_back():
    """Limits end an attempt anywhere: what it held must go with it."""
    function, arguments, _, _ = cases.CASES["loops"]

    def life():
        for limit in range(1, 60, 7):
            with dyntrace.config.patch(trace_limit=limit):
                dyntrace.compile(function, backend="eager")(*arguments)

    with library_of(None):
        assert_flat(life, rounds=10)
