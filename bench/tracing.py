"""Rows about following bytecode: what a first call costs, instruction by instruction."""

from __future__ import annotations

import sys
import time
import types

import dyntrace

from . import programs
from .harness import fresh, in_turns, operands, row


def first_call(function: types.FunctionType, arguments: tuple[object, ...]) -> float:
    """CPU seconds of a compiled function's first call, best of several fresh ones."""
    best = float("inf")
    for _ in range(15):
        compiled = dyntrace.compile(fresh(function))
        start = time.thread_time()
        compiled(*arguments)
        best = min(best, time.thread_time() - start)
    return best


def trace_time(function: types.FunctionType, arguments: tuple[object, ...]) -> float:
    """Seconds of the tracing phase alone, best of several."""
    found = (dyntrace.explain(fresh(function))(*arguments) for _ in range(15))
    return min(record.phases["trace"] for record in found) * 1e-9


def whole(function: types.FunctionType, arguments: tuple[object, ...]) -> None:
    record = dyntrace.explain(fresh(function))(*arguments)
    if record.breaks:
        raise AssertionError(f"{function.__name__} is not traced: {record.breaks}")


def against_plain(function: types.FunctionType, few: int, many: int) -> tuple[float, str]:
    """Tracing against executing, per unit of work: two lengths, so that what every compilation
    costs once drops out of the difference."""
    (x,) = operands(1, 4)
    with dyntrace.config.patch(trace_budget_ns=0):
        whole(function, (x, many))
        traced = first_call(function, (x, many)) - first_call(function, (x, few))
    long, short = in_turns((function, (x, many)), (function, (x, few)), budget=1.0)
    return traced / (long - short), f"{traced / (many - few) * 1e6:.1f} us per iteration"


@row("tracing", "tracing plain Python, against CPython executing the same bytecodes", bound=60,
     unit="x")  # fmt: skip
def tracing() -> tuple[float, str]:
    return against_plain(programs.plain_python, 4, 24)


@row("helpers", "the same, 20,000 bytecodes of helpers on ints, lists, dicts and f-strings", bound=60,
     unit="x")  # fmt: skip
def helpers() -> tuple[float, str]:
    return against_plain(programs.bookkeeping, 10, 110)


@row("mutating", "the same, writing 1,000 items of a list and 100 attributes, replay included",
     bound=60, unit="x")  # fmt: skip
def mutating() -> tuple[float, str]:
    (x,) = operands(1, 4)
    few, many = 100, 1000
    items: list[object] = [None] * many
    box = programs.Box()
    with dyntrace.config.patch(trace_budget_ns=0, unroll_limit=2 * many):
        whole(programs.mutating, (x, items, box, many))
        traced = first_call(programs.mutating, (x, items, box, many)) - first_call(
            programs.mutating, (x, items, box, few)
        )
    long, short = in_turns(
        (programs.mutating, (x, items, box, many)),
        (programs.mutating, (x, items, box, few)),
        budget=1.0,
    )
    return traced / (long - short), f"{traced / (many - few) * 1e6:.2f} us per item"


@row("arrayop", "one array operation traced, metadata included", bound=8, unit="N")
def array_op() -> tuple[float, str]:
    x, y = operands(2, 4)
    few, many = 4, 24
    with dyntrace.config.patch(trace_budget_ns=0):
        whole(programs.array_ops, (x, y, many))
        long = trace_time(programs.array_ops, (x, y, many))
        short = trace_time(programs.array_ops, (x, y, few))
    (n,) = in_turns((lambda a, b: a + b, (x, y)), budget=0.5)
    each = (long - short) / (4 * (many - few))
    return each / n, f"{each * 1e9:.0f} ns, N {n * 1e9:.0f} ns"


@row("inlining", "a level of inlining at depth 500, against depth 1", bound=1.5, unit="x")
def inlining() -> tuple[float, str]:
    (x,) = operands(1, 4)
    levels = 500
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 3 * levels))
    try:
        with dyntrace.config.patch(trace_budget_ns=0, inline_depth=2 * levels):
            whole(programs.level_deep, (x, levels))
            # The halves: what a level costs when many are open, and when one is.
            deep = trace_time(programs.level_deep, (x, levels)) - trace_time(
                programs.level_deep, (x, levels // 2)
            )
            first = trace_time(programs.level_deep, (x, 40)) - trace_time(
                programs.level_deep, (x, 4)
            )
    finally:
        sys.setrecursionlimit(limit)
    at_depth, at_start = deep / (levels - levels // 2), first / 36
    return at_depth / at_start, f"{at_depth * 1e9:.0f} ns a level, {at_start * 1e9:.0f} ns at first"
