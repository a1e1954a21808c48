"""Iterators of deques notice changes, also where the deque is as before: in the trace, and in plain code."""

from collections import deque

import dyntrace
import pytest
from differential import BACKEND, Compiled, check_calls

CHANGES = [
    "d.append(5)", "d.appendleft(5)", "d.pop()", "d.popleft()", "d.clear()", "d.extend([7, 8])",
    "d.extend([])", "d.extendleft([7])", "d.extend(d)", "d.rotate(0)", "d.rotate(1)",
    "d.rotate(len(d))", "d.reverse()", "d.insert(0, 3)", "d.insert(1, 3)", "d.remove(d[0])",
    "del d[0]", "d[0] = 9", "d += [3]", "d *= 2", "d *= 1", "d *= 0", "d.__init__([1, 2], 3)",
    "d.__init__()", "d.append(3); d.pop()", "d.appendleft(d.popleft())", "d.append(d.popleft())",
    "d.append(d.pop())", "d[0], d[-1] = d[-1], d[0]", "d.index(d[0])", "d.rotate(1); d.rotate(-1)",
]  # fmt: skip
OF_ANY_LENGTH = [deque(), deque([1]), deque([1, 2])]
DEQUES = [*OF_ANY_LENGTH, deque([1, 2, 3], 3), deque([1, 2], 3), deque([7], 1), deque([], 0)]
INSIDE = """
def fn(d):
    {made}
    out = []
    it = {iterator}(d)
    for _ in range({steps}):
        out.append(next(it))
    try:
        {change}
    except (IndexError, StopIteration) as error:
        out.append(type(error))
    try:
        while True:
            out.append(next(it))
    except RuntimeError as error:
        out.append(str(error))
    except StopIteration:
        pass
    return out, list(d), d.maxlen
"""
OUTSIDE = """
def fn(d):
    {change}
    return len(d)
"""


def function(text, **names):
    scope = {"deque": deque}
    exec(text.format(**names), scope)
    return scope["fn"]


@pytest.mark.parametrize("made", ["pass", "d = deque(d, d.maxlen)"], ids=["existing", "made"])
@pytest.mark.parametrize("steps", [0, 1])
@pytest.mark.parametrize("iterator", ["iter", "reversed"])
@pytest.mark.parametrize("change", CHANGES)
def test_in_the_trace(change, iterator, steps, made):
    fn = function(INSIDE, change=change, iterator=iterator, steps=steps, made=made)
    check_calls(fn, *((d,) for d in DEQUES if len(d) >= steps), whole=False)


def seen(fn, d, iterator, steps):
    """What an iterator shows that was made before the call."""
    it, shown = iterator(d), []
    for _ in range(steps):
        shown.append(next(it, "end"))
    try:
        shown.append(fn(d))
    except IndexError as error:
        shown.append(str(error))
    try:
        shown.extend(it)
    except RuntimeError as error:
        shown.append(str(error))
    return shown, d


@pytest.mark.parametrize("steps", [0, 1, 2])
@pytest.mark.parametrize("change", CHANGES)
def test_held_by_plain_code(change, steps):
    fn = function(OUTSIDE, change=change)
    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        compiled = Compiled(fn, BACKEND, None)
        for d in [*DEQUES, *DEQUES]:
            for iterator in (iter, reversed):
                expected = seen(fn, deque(d, d.maxlen), iterator, steps)
                assert seen(compiled, deque(d, d.maxlen), iterator, steps) == expected
