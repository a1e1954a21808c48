"""What a debugger sees of a frame that raises, or that stops at a breakpoint: all its variables."""

from __future__ import annotations

import sys

import dyntrace
import numpy as np
import pytest
from differential import assert_same


def raises_after_work(x):
    twice = x * 2
    total = twice.sum()
    spread = twice - total
    raise ValueError(spread.shape)


def divides_after_work(x):
    twice = x * 2
    total = twice.sum()
    count = len(x) - 4
    return 1 // count + total * 0


def raises_below(x):
    twice = x * 2
    total = twice.sum()
    raises_after_work(twice)
    return total


def breakpoint_after_work(x):
    twice = x * 2
    total = twice.sum()
    more = total + 1
    breakpoint()
    return more


def seen(frame):
    return frame.f_code.co_name, frame.f_lineno, dict(sorted(frame.f_locals.items()))


def frames_of_error(fn, *args):
    with pytest.raises((ValueError, ZeroDivisionError)) as caught:
        fn(*args)
    at, frames = caught.value.__traceback__.tb_next, []
    while at is not None:
        frames.append(seen(at.tb_frame))
        at = at.tb_next
    return frames


@pytest.mark.parametrize("fn", [raises_after_work, divides_after_work])
@pytest.mark.parametrize("everything", [False, True])
def test_a_frame_that_raises_keeps_its_locals(fn, everything):
    plain = frames_of_error(fn, np.arange(4.0))
    with dyntrace.config.patch(everything=everything, strict=True, trace_budget_ns=0):
        compiled = dyntrace.compile(fn)
        for _ in range(3):
            assert_same(plain, frames_of_error(compiled, np.arange(4.0)))


def test_the_frame_below_keeps_its_locals():
    plain = frames_of_error(raises_below, np.arange(4.0))
    with dyntrace.config.patch(strict=True, trace_budget_ns=0):
        compiled = dyntrace.compile(raises_below)
        for _ in range(3):
            assert_same(plain[1:], frames_of_error(compiled, np.arange(4.0))[1:])


def test_breakpoint_sees_all_locals(monkeypatch):
    found = []
    monkeypatch.setattr(sys, "breakpointhook", lambda: found.append(seen(sys._getframe(1))))
    breakpoint_after_work(np.arange(4.0))
    with dyntrace.config.patch(strict=True, trace_budget_ns=0):
        compiled = dyntrace.compile(breakpoint_after_work)
        for _ in range(3):
            compiled(np.arange(4.0))
    for other in found[1:]:
        assert_same(found[0], other)
