"""Every row of breaks.def has a case that triggers it; the program does what it does plainly."""

import collections
import decimal
import functools
import math
import re
import sys
import threading
import time
from pathlib import Path

import dyntrace
import numpy as np
import pytest
from differential import FORCED, Compiled, Outcome, check, compare

A = np.linspace(0.5, 2.0, 4)
ROWS = Path(__file__).parents[2] / "src" / "variables" / "breaks.def"

CASES = {}


def case(break_id):
    """Marks a test function as the case of a row."""

    def mark(test):
        CASES[break_id] = test
        return test

    return mark


def ids_of_rows():
    return re.findall(r'^BREAK\(\w+, "([\w-]+)"', ROWS.read_text(), re.MULTILINE)


def test_every_row_has_a_case():
    assert sorted(ids_of_rows()) == sorted(CASES)


@pytest.mark.parametrize("break_id", ids_of_rows())
def test_break(break_id):
    CASES[break_id]()


def expect(break_id, fn, *args, **settings):
    """The frame breaks with this id at a line of `fn`'s file, with advice; results are plain ones."""
    with dyntrace.config.patch(**settings):
        compiled = check(fn, *args, breaks=break_id)
    info = next(r["break"] for r in compiled.records if r["break"] is not None)
    assert info["id"] == break_id
    assert info["reason"] and info["what"] and info["advice"]
    assert info["where"]["line"] is None or info["where"]["line"] > 0
    return info


@case("cache-miss")
def cache_miss():
    @functools.lru_cache(maxsize=1)
    def window(n):
        return 1.0 / n

    def fn(x):
        return x * window(2) + window(3)  # the second takes the place of the first

    expect("cache-miss", fn, A)


@case("unsupported-opcode")
def unsupported_opcode():
    def fn(x):
        import colorsys

        return x * len(colorsys.__name__)

    forget = lambda: sys.modules.pop("colorsys", None)
    compiled = check(fn, A, breaks="unsupported-opcode", reset=forget)
    assert "IMPORT_NAME" in compiled.records[0]["break"]["reason"]


@case("missing-slot")
def missing_slot():
    def fn(x):
        return x + 1, f"{fn}"

    expect("missing-slot", fn, A)


@case("unknown-callable")
def unknown_callable():
    def fn(x):
        return x * math.fsum([1.0, 2.0]), time.time() > 0

    expect("unknown-callable", fn, A)


@case("unknown-type")
def unknown_type():
    odd = collections.OrderedDict(a=1)
    dict.__delitem__(odd, "a")  # behind its back

    def fn(x):
        return x + 1.0, len(odd)

    expect("unknown-type", fn, A)


@case("call-mismatch")
def call_mismatch():
    def fn(x):
        return x, AttributeError("a", nothing=1)

    expect("call-mismatch", fn, A)


@case("raises")
def raises():
    def fn(x):
        if x.ndim == 1:
            raise ValueError("one dimension")
        return x

    info = expect("raises", fn, A)
    assert info["where"]["line"] == fn.__code__.co_firstlineno + 2


@case("exception-handler")
def exception_handler():
    lock = threading.Lock()

    def fn(x):
        with lock:
            x = x + 1.0
        return x

    expect("exception-handler", fn, A)


@case("array-branch")
def array_branch():
    def fn(x):
        if x.sum() > 0:
            return x
        return -x

    expect("array-branch", fn, A)


@case("array-to-scalar")
def array_to_scalar():
    def fn(x):
        return [1, 2, 3][int(x[0]) % 3]

    expect("array-to-scalar", fn, A)


@case("array-op")
def array_op():
    def fn(x):
        return np.frombuffer(x, np.uint8)

    expect("array-op", fn, A)


@case("array-mutation")
def array_mutation():
    def fn(x):
        y = np.tile(x, 2)
        y[0] = 5.0
        return y

    expect("array-mutation", fn, A)


@case("data-dependent-size")
def data_dependent_size():
    def fn(x):
        return x[x > 1].squeeze() * 2

    expect("data-dependent-size", fn, A)


@case("array-kind")
def array_kind():
    def fn(x):
        return x + x

    expect("array-kind", fn, np.array([1, "a", None], dtype=object))


@case("array-shapes")
def array_shapes():
    def fn(x, y):
        return x + y

    expect("array-shapes", fn, A, np.ones(3))


@case("object-mutation")
def object_mutation():
    class Plain:
        pass

    def fn(cls, x):
        cls.__len__ = None
        return x + 1.0

    expect("object-mutation", fn, Plain, A)


@case("attribute")
def attribute():
    def fn(o, x):
        return x * o.real

    expect("attribute", fn, decimal.Decimal(2), A)


@case("unroll-limit")
def unroll_limit():
    def fn(x):
        for i in range(100):
            x = x + i
        return x

    expect("unroll-limit", fn, A, unroll_limit=50)


@case("varying-loop")
def varying_loop():
    def fn(x, n):
        for i in range(n):
            x = x + i
        return x

    compiled = Compiled(fn)
    for n in range(1, 9):
        compare(Outcome(fn, (A, n), {}), Outcome(compiled, (A, n), {}))
    assert FORCED or "varying-loop" in compiled.breaks


@case("trace-limit")
def trace_limit():
    def fn(x):
        for i in range(100):
            x = x + i
        return x

    expect("trace-limit", fn, A, trace_limit=200)


@case("trace-budget")
def trace_budget():
    def fn(x):
        for _ in range(3000):
            pass
        return x + 1.0

    with dyntrace.config.patch(trace_budget_ns=1):
        compiled = Compiled(fn)
        np.testing.assert_array_equal(compiled(A), fn(A))
    assert "trace-budget" in compiled.breaks


@case("inline-depth")
def inline_depth():
    def down(x, n):
        return x if n == 0 else down(x, n - 1)

    info = expect("inline-depth", lambda x: down(x, 20) + 1.0, A, inline_depth=5)
    assert len(info.get("chain", [])) in (0, 5)


@case("generator")
def generator():
    closed = []

    def values(x):
        try:
            yield x
            yield x + 1.0
        finally:
            closed.append(1)

    def fn(x):
        return next(values(x))

    expect("generator", fn, A)


@case("symbolic-range")
def symbolic_range():
    def fn(x, n):
        return x + n

    # A Python int that does not fit the array's dtype: NumPy raises OverflowError or promotes.
    expect("symbolic-range", fn, np.arange(4, dtype=np.int8), 300)


@case("module-not-ready")
def module_not_ready():
    import colorsys

    def fn(x):
        import colorsys

        return x * colorsys.ONE_THIRD

    colorsys.__spec__._initializing = True  # as while another thread imports it
    try:
        expect("module-not-ready", fn, A)
    finally:
        del colorsys.__spec__._initializing
    check(fn, A)


@case("skipped-function")
def skipped_function():
    @dyntrace.disable
    def helper(x):
        return x + 1.0

    def fn(x):
        return helper(x) * 2.0

    expect("skipped-function", fn, A)


@case("no-arrays")
def no_arrays():
    def fn(a, b):
        return a + b

    compiled = Compiled(fn)
    assert compiled(1, 2) == 3
    assert compiled.breaks == ["no-arrays"]


@case("reconstruct")
def reconstruct():
    def fn(x):
        items = [x]
        items.append(items)
        return items

    compiled = Compiled(fn)
    result = compiled(A)
    assert result[1] is result
    assert "reconstruct" in compiled.breaks


@case("forced")
def forced():
    def fn(x):
        dyntrace.graph_break()
        return x + 1.0

    expect("forced", fn, A)


def test_fullgraph_raises_with_the_same_text():
    def fn(x):
        if x.sum() > 0:
            return x
        return -x

    with pytest.raises(dyntrace.Unsupported, match="array-branch|branch") as error:
        dyntrace.compile(fn, fullgraph=True)(A)
    assert str(fn.__code__.co_firstlineno + 1) in str(error.value)
