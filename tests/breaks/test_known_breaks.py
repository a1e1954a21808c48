"""Calls that are never followed, whatever their arguments: a segment ends in front of them at once."""

from __future__ import annotations

import functools
import sys
import types

import dyntrace
import numpy as np
import pytest
from differential import FORCED, Compiled, Outcome, compare

A = np.linspace(0.5, 2.0, 4)
LOG: list = []


@dyntrace.disable
def opaque(*values, **named):
    LOG.append((len(values), sorted(named)))
    return values[0] if values else 3


HOLDER = types.SimpleNamespace(call=opaque, items=[opaque])


class Thing:
    scale = 2.0

    @dyntrace.disable
    def method(self, x, *, more=0):
        LOG.append(more)
        return x + more

    @staticmethod
    @dyntrace.disable
    def static(x):
        LOG.append("static")
        return x


THING = Thing()


def statement(x):
    y = x * 2
    opaque(1)
    z = y * 3 - x
    opaque()
    return z + y


def with_values_below(x):
    return (x * 2 + 1) - opaque(x * 3) * (x + opaque(x - 1)) / 2


def with_keywords(x):
    y = x + 1
    z = opaque(y, first=x * 2, second=2)
    return z * y


def nested(x):
    y = x * 2
    return opaque(opaque(y) + x) - opaque(y * opaque(x))


def attributes(x):
    y = x * THING.scale
    y = THING.method(y, more=1) + HOLDER.call(x * 2)
    return Thing.static(y * 2) + HOLDER.items[0](x) * y


def through_a_variable(x):
    call = opaque if x.ndim else len
    y = x * 2
    return call(y) + call(x + 1)


def in_a_loop(x):
    total = x * 0
    for i in range(4):
        y = x * i
        opaque(i)
        total = total + y * 2
    return total


def in_handlers(x):
    try:
        y = x * 2
        opaque(y)
        z = y[opaque(1)] + {}["missing"]
    except KeyError:
        z = x + opaque(x * 3)
    finally:
        y = x * opaque(5) + 1
    return y, z


def unpacked(x):
    values = (x * 2, x * 3)
    return opaque(*values) + opaque(**{"a": x}) * x


def result_unused_and_used(x):
    y = x * 2
    opaque(y)
    w = opaque(y + 1)
    y = w = w * 2 + y
    return opaque(w) + y


def at_once(x):
    opaque(x)
    return opaque(x) + x * 2


def in_a_comprehension(x):
    y = x * 2
    return [opaque(v) + y for v in (x, y * 3)]


def partial(x):
    y = x * 2
    return functools.partial(opaque, y)() + y * 3


def generator(x):
    y = x * 2
    yield opaque(y) + 1
    z = y * 3
    yield z - opaque(x)


def through_a_generator(x):
    return [v * 2 for v in generator(x)]


FUNCTIONS = [
    statement, with_values_below, with_keywords, nested, attributes, through_a_variable, in_a_loop,
    in_handlers, unpacked, result_unused_and_used, at_once, in_a_comprehension, partial,
    through_a_generator,
]  # fmt: skip


def run(function, calls=6):
    LOG.clear()
    plain = Outcome(function, (A,), {})
    expected = list(LOG)
    with dyntrace.config.patch(strict=True, trace_budget_ns=0):
        compiled = Compiled(function)
        for _ in range(calls):
            LOG.clear()
            compare(plain, Outcome(compiled, (A,), {}))
            assert expected == LOG
    return compiled.region.records


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_as_plainly(function):
    records = run(function)
    seen = sys.version_info >= (3, 11) or function is not through_a_generator  # by the hook
    assert FORCED or not seen or any(r["graph"] is not None for r in records)
    assert not [r["fault"] for r in records if r["fault"]]


@pytest.mark.skipif(bool(FORCED), reason="it is about what is captured")
def test_each_break_is_told_where_it_is():
    records = [r for r in run(statement) if r["segment"] is not None]
    first = statement.__code__.co_firstlineno
    told = [(r["break"]["id"], r["break"]["where"]["line"] - first) for r in records if r["break"]]
    assert told == [("skipped-function", 2), ("skipped-function", 4)]
    assert [r["graph"] is not None for r in records] == [True] * 3
    assert "opaque() is marked with dyntrace.disable" in records[0]["break"]["reason"]


@pytest.mark.skipif(bool(FORCED), reason="it is about what is captured")
def test_the_callable_is_not_relied_on():
    """What is called is no business of the segment before: another one is no other segment."""
    others = [opaque, dyntrace.disable(lambda v: v * 2), dyntrace.disable(lambda v: v - 1), abs]

    def calls(x, call):
        y = x * 2
        return call(y) + y

    with dyntrace.config.patch(strict=True, trace_budget_ns=0):
        compiled = Compiled(calls)
        for call in others * 3:
            compare(Outcome(calls, (A, call), {}), Outcome(compiled, (A, call), {}))
    points = [r["segment"] for r in compiled.region.records if r["segment"] and r["published"]]
    assert len(points) <= 4, points


@pytest.mark.skipif(bool(FORCED), reason="it is about errors at breaks")
def test_it_is_an_error_where_breaks_are():
    def refuses(x):
        y = x * 2
        dyntrace.graph_break()
        z = y * 3
        with dyntrace.error_on_graph_break(True):
            z = z + 1
            opaque(z)
        return z

    with pytest.raises(dyntrace.Unsupported, match="marked with dyntrace.disable"):
        dyntrace.compile(refuses)(A)

    def lenient(x):
        y = x * 2
        opaque(y)
        return y * 3

    compiled = dyntrace.compile(lenient)
    with dyntrace.error_on_graph_break(True):
        with pytest.raises(dyntrace.Unsupported, match="marked with dyntrace.disable"):
            compiled(A)
    assert (compiled(A) == A * 6).all()
    with dyntrace.error_on_graph_break(True):
        with pytest.raises(dyntrace.Unsupported, match="marked with dyntrace.disable"):
            compiled(A + 1j)


# ---- What the frame does itself: loads for the call, and taking its result off the stack


class Noisy:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        LOG.append("del " + self.name)


def overwritten(x):
    a = Noisy("first")
    y = x * 2
    a = opaque(Noisy("second"))
    z = y * 3
    opaque(Noisy("dropped"))
    w = z + 1
    a = opaque(1)
    return w * 2, a


def unbound(x):
    y = x * 2
    if x.ndim:
        del y
    try:
        opaque(y)
    except UnboundLocalError as error:
        return x * 3, str(error)
    return y


def missing(x):
    y = x * 2
    try:
        opaque(vanishing_name)  # noqa: F821
    except NameError as error:
        y = y + 1
        return y, str(error)
    return y * 2


def cells(x):
    y = x * 2

    def inner():
        return y

    opaque(y)
    y = opaque(inner() * 2)
    return inner() + y, opaque


@pytest.mark.parametrize("function", [overwritten, unbound, missing, cells])
def test_loads_and_stores_of_the_frame(function):
    records = run(function)
    assert not [r["fault"] for r in records if r["fault"]]


def test_a_name_that_comes_and_goes():
    def calls(x):
        y = x * 2
        opaque(comes_and_goes)  # noqa: F821
        return y + 1

    with dyntrace.config.patch(strict=True, trace_budget_ns=0):
        compiled = Compiled(calls)
        for _ in range(4):
            compare(Outcome(calls, (A,), {}), Outcome(compiled, (A,), {}))
            globals()["comes_and_goes"] = 3
            compare(Outcome(calls, (A,), {}), Outcome(compiled, (A,), {}))
            del globals()["comes_and_goes"]


@pytest.mark.skipif(bool(FORCED), reason="it is about what is captured")
def test_what_the_frame_loads_is_not_guarded():
    records = [r for r in run(statement) if r["segment"] is not None]
    assert records and not any("opaque" in str(r["guards"]) for r in records)
    assert not any("stack" in str(r["guards"]) for r in records)
