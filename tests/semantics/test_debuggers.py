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


def begins(events):
    """A debugger that is started below: it traces the frames above, too, like pdb.  What others
    run in between, as a callback of the garbage collector, is not noted."""

    def note(frame, event, arg):
        if frame.f_code.co_filename == __file__:
            events.append((event, frame.f_code.co_name, frame.f_lineno))
        return note

    frame = sys._getframe(1)
    while frame.f_code.co_filename == __file__:
        frame.f_trace = note
        frame = frame.f_back
    sys.settrace(note)


def stops(events, x):
    begins(events)
    return x + 1


def calls_what_stops(events, x):
    y = stops(events, x)
    return follows(y)


def follows(y):
    return y * 2


def events_of(fn):
    events, before = [], sys.gettrace()
    try:
        calls_in_turn(fn, events)
    finally:
        sys.settrace(before)
    return [event for event in events if event[1] != "calls_in_turn"]


def calls_in_turn(fn, events):
    fn(events, np.arange(4.0))
    follows(1)


@pytest.mark.parametrize("everything", [False, True])
def test_a_debugger_that_is_started_sees_the_program_alone(everything):
    plain = events_of(calls_what_stops)
    assert {event[:2] for event in plain} >= {("return", "stops"), ("call", "follows")}
    with dyntrace.config.patch(everything=everything, strict=True, trace_budget_ns=0):
        compiled = dyntrace.compile(calls_what_stops)
        for _ in range(3):
            assert events_of(compiled) == plain
