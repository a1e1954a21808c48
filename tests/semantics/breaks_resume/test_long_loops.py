"""Loops that are too long to unroll stay loops: the first call already runs its pieces compiled."""

from __future__ import annotations

import dyntrace
import numpy as np
from differential import FORCED
from dyntrace import _core
from dyntrace.api import _compile_target


def simulate(n):
    p, v = np.zeros(5), np.ones(5)
    for i in range(n):
        p = p + v * 0.01
        v = v * (0.99 + 0.001 * p) + i * 1e-9
    return p, v


def nested(n):
    total = np.zeros(3)
    for i in range(n):
        row = np.ones(3)
        for j in range(3):
            row = row * 1.0001 + j
        if i % 2:
            total += row
        else:
            total -= row / 2
    return total


def until(limit):
    x, n = np.ones(2), 0
    while x[0] < limit:
        x = x * 1.001
        n += 1
    return x, n


def compiled_with_records(function):
    region = _core.Region("native", record=True)
    return _compile_target(function, region), region


def test_the_first_call_is_captured():
    for function, argument in ((simulate, 20_000), (nested, 8_000), (until, 1e9)):
        compiled, region = compiled_with_records(function)
        with dyntrace.config.patch(trace_budget_ns=1_000_000):
            answer = compiled(argument)
        for mine, plain in zip(answer, function(argument)):
            np.testing.assert_array_equal(mine, plain)
        assert FORCED or [r for r in region.records if r["graph"] is not None]
        assert not [r["fault"] for r in region.records if r["fault"]]


def test_comparing_long_lists_is_no_endless_trace():
    def same(x, a, b):
        return x + 1, a == b

    a = [(i, str(i)) for i in range(4000)]
    b = [(i, str(i)) for i in range(4000)]
    compiled, region = compiled_with_records(same)
    with dyntrace.config.patch(trace_budget_ns=1_000_000):
        for _ in range(3):
            _, equal = compiled(np.ones(2), a, b)
            assert equal is True
    assert FORCED or "trace-budget" in {(r["break"] or {}).get("id") for r in region.records}
