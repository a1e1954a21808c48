"""One call that loops long: probes at which nothing is done are jumped over, and asked again when needed."""

import gc
import sys

import dyntrace
import numpy as np
import pytest
from differential import Outcome, compare

A = np.linspace(0.5, 2.0, 4)


@dyntrace.disable
def known(i):
    return i


def branches(x, n):
    seen = []
    for i in range(n):
        j = known(i)
        if j % 3 == 0:
            seen.append(j)
        elif j % 5 == 0:
            seen.append(-j)
        elif j % 7 == 0 and j > 20:
            continue
        else:
            seen.append(None)
    return seen, x * 2.0 + 1.0


def array_branches(x, n):
    rng = np.random.RandomState(3)
    grid = np.zeros((9, 9), dtype=bool)
    at = 4
    for i in range(n):
        move = rng.randint(4)
        if grid[at, move] == 0:
            grid[at, move] = True
            at = (at + move) % 9
        elif move > 1 and at > 2:
            at -= 2
        else:
            at = i % 9
    return grid, at, x + at


def handlers(x, n):
    caught = 0
    for i in range(n):
        try:
            if known(i) % 4 == 3:
                raise ValueError(i)
            if i % 5 == 0:
                int("none")
        except ValueError as error:
            caught += len(str(error))
        finally:
            caught += 1
    return caught, x * caught


def generators(x, n):
    total = x * 0.0
    for i in range(n):
        if sum(k for k in range(i % 4) if k % 2) > known(0):
            total = total + x
        else:
            total = total - 1.0
    return total


def wakes_late(x, n):
    total = x
    for i in range(n):
        if i % 3 == 0:
            total = total + 1.0
        if i > 100:
            known(i)
            total = total * 0.5 + x
            if i % 2:
                total = total - x
    return total


def unwinds(x, n):
    for i in range(n):
        if known(i) == n - 1:
            raise KeyError(i)
    return x


@pytest.mark.parametrize(
    "fn", [branches, array_branches, handlers, generators, wakes_late, unwinds], ids=lambda f: f.__name__
)
@pytest.mark.parametrize("n", [5, 40, 300])
def test_long_calls(fn, n):
    compiled = dyntrace.compile(fn)
    for _ in range(4):
        compare(Outcome(fn, (A.copy(), n), {}, None), Outcome(compiled, (A.copy(), n), {}, None))


def test_tracing_begins_in_a_long_call():
    def fn(x, n, switch, events):
        total = 0
        for i in range(n):
            switch(i, events)
            if i % 3 == 0:
                total += i
            elif i % 5 == 0:
                total -= 1
        return total, x * 2.0

    def switch(i, events):
        frame = sys._getframe(1)

        def trace(frame, event, arg):
            events.append((event, frame.f_lineno - frame.f_code.co_firstlineno))
            return trace

        if i == 100:
            frame.f_trace = trace
            sys.settrace(trace)
        elif i == 110:
            sys.settrace(None)
            frame.f_trace = None

    expected = []
    for i in range(100, 111):
        if i > 100:
            expected += [("line", 3), ("call", 0), ("line", 1), ("line", 3), ("line", 7), ("line", 10)]
        if 100 < i < 110:
            expected += [("return", 10)]
        if i < 110:
            expected += [("line", 4), *([("line", 5)] if i % 3 == 0 else [("line", 6)])]
            expected += [("line", 7)] if i % 3 and i % 5 == 0 else []
            expected += [("line", 2)]
    expected += [("line", 11)]
    compiled = []
    gc.disable()  # what finalisers of other tests do is not looked at
    try:
        result = dyntrace.compile(fn)(A, 200, dyntrace.disable(switch), compiled)
    finally:
        sys.settrace(None)
        gc.enable()
    assert result[0] == fn(A, 200, lambda i, events: None, [])[0]
    assert set(compiled) == set(expected)
    assert [e for e in compiled if e in expected] == expected
