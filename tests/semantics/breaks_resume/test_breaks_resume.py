"""Functions with one break or more: the same as in plain Python, and captured around the breaks.

`opaque` (marked with dyntrace.disable) is the break; each function says how many graphs it gives.
"""

from __future__ import annotations

import asyncio
import contextlib
import weakref

import dyntrace
import numpy as np
import pytest
from differential import FORCED, Compiled, Outcome, compare, in_a_thread

X = np.linspace(0.5, 2.0, 4)
LOG: list = []

# A static class with a weak reference to it, as an abstract class makes one when it is asked about
# it: 3.10 has the class of a handled exception on the stack, where a segment takes it over.
WATCHED = weakref.ref(ValueError)


@dyntrace.disable
def opaque(*values):
    LOG.append(len(values))
    return values[0] if values else None


@dyntrace.disable
def fail(text="no"):
    raise ValueError(text)


def helper(x):
    y = x * 3
    opaque()
    return y + 1


CASES = {}


def case(graphs, *args):
    """`graphs`: compiled pieces with array operations; `args`: further arguments beside the array."""

    def add(function):
        CASES[function.__name__] = (function, graphs, args)
        return function

    return add


# ---- Straight lines --------------------------------------------------------------------------------


@case(2)
def between(x):
    a = x * 2 + 1
    opaque()
    return a * a - x


@case(3)
def twice(x):
    a = x * 2
    opaque()
    b = a + 1
    opaque()
    return b * a


@case(1)
def at_the_end(x):
    a = x * 2 + 1
    opaque(a)
    return a


@case(1)
def at_the_beginning(x):
    opaque()
    return x * 2 + 1


@case(2)
def in_an_expression(x):
    return (x * 2 + 1) * opaque(3) + x * x


@case(2)
def in_an_argument(x):
    return np.add(x * 2, opaque(x) + 1)


@case(2)
def in_a_keyword_argument(x):
    def inner(a, *, b):
        return a + b

    return inner(x * 2, b=opaque(x) * 3)


@case(2)
def in_a_method_call(x):
    return (x * 2).reshape(opaque((2, 2))).sum(axis=0) + 1


@case(2)
def in_a_list(x):
    return [x * 2, opaque(1), x + 1, "text"]


@case(2)
def in_a_dict(x):
    return {"a": x * 2, "b": opaque(1), "c": x + 1}


@case(2)
def in_a_subscript(x):
    values = [x * 2, x * 3]
    return values[opaque(1)] + 1


@case(2)
def in_an_f_string(x):
    y = x * 2
    text = f"{y.shape} {opaque('a')} {y.ndim}"
    return y + 1, text


@case(2)
def value_unpacked(x):
    a, b = x * 2, x * 3
    c, (d, e) = opaque((1, (2, 3)))
    return a * c + b * d + e


@case(2)
def several_live(x):
    a, b, c = x + 1, x + 2, x + 3
    items = [a, b]
    names = {"a": a, "c": c}
    opaque()
    return items[0] is a, names["c"] is c, a + b + c, items, names


@case(1)
def unbound_stays_unbound(x):
    y = x * 2
    if len(y) > 100:
        never = y
    opaque()
    try:
        return never
    except UnboundLocalError:
        return y + 1


@case(2)
def deleted(x):
    y = x * 2
    z = y + 1
    del y
    opaque()
    return z * z


@case(2)
def new_objects_keep_identity(x):
    items = [x * 2]
    same = items
    opaque()
    same.append(x + 1)
    return items, items is same


# ---- Loops -----------------------------------------------------------------------------------------


@case(3)
def in_a_for_body(x):
    total = x * 0
    for i in range(4):
        total = total + x * i
        opaque(i)
        total = total * 2
    return total + 1


@case(2)
def in_a_for_over_a_list(x, items):
    total = x + 1
    for item in items:
        opaque()
        total = total * item + x
    return total


@case(3)
def in_a_while(x):
    total, n = x * 1, 0
    while n < 5:
        total = total + x
        opaque(n)
        n += 1
        total = total - 1
    return total * 2


@case(3)
def loop_with_break(x):
    total = x * 1
    for i in range(10):
        total = total + i
        if opaque(i) == 3:
            break
        total = total * 2
    else:
        total = total * 100
    return total + 1


@case(3)
def loop_with_else(x):
    total = x * 1
    for i in range(3):
        total = total + i
        opaque()
        if i == 1:
            continue
        total = total * 2
    else:
        total = total + 100
    return total


@case(2)
def return_from_a_loop(x):
    for i in range(10):
        y = x * i
        if opaque(i) == 2:
            return y + 1
    return None


@case(2)
def nested_loops(x):
    total = x * 0
    for i in range(3):
        for j in range(2):
            opaque()
            total = total + x * (i + j)
    return total


@case(2)
def in_the_condition(x):
    total, n = x * 1, 0
    while opaque(n) < 3:
        total = total + x * n
        n += 1
    return total


# ---- Branches --------------------------------------------------------------------------------------


@case(2)
def branch_on_an_array(x):
    y = x * 2 + 1
    if (y > 0).all():
        return y * 3
    return y * 5


@case(3)
def branches_in_a_row(x):
    y = x * 2
    if y.sum() > 3:
        y = y + 1
    if y.sum() > 3:
        y = y * 2
    return y


# ---- try, with -------------------------------------------------------------------------------------


@case(2)
def in_a_try(x):
    try:
        y = x * 2
        opaque()
        y = y + 1
    except ValueError:
        return None
    return y * y


@case(2)
def raised_in_a_try(x):
    y = x * 2
    try:
        y = y + 1
        fail("a")
    except ValueError as error:
        return y * 3, str(error)


@case(2)
def in_an_except(x):
    y = x * 2
    try:
        fail()
    except ValueError:
        y = y + 1
        opaque()
        y = y * 3
    return y - 1


@case(2)
def in_a_finally(x):
    y = x * 2
    try:
        y = y + 1
    finally:
        opaque()
        y = y * 3
    return y - 1


@case(2)
def finally_after_a_raise(x, log):
    y = x * 2
    try:
        try:
            fail()
        finally:
            log.append(y + 1)
            opaque()
            log.append(y + 2)
    except ValueError:
        pass
    return y * 5


class Manager:
    def __init__(self, log):
        self.log = log

    def __enter__(self):
        self.log.append("enter")
        return self

    def __exit__(self, kind, value, traceback):
        self.log.append("exit" if kind is None else kind.__name__)
        return kind is ValueError


@case(2)
def in_a_with(x, log):
    y = x * 2
    with Manager(log):
        y = y + 1
        opaque()
        y = y * 3
    return y - 1


@case(2)
def raised_in_a_with(x, log):
    y = x * 2
    with Manager(log):
        y = y + 1
        fail()
    return y - 1


@case(2)
def nested_withs(x, log):
    y = x * 2
    with Manager(log) as a, Manager(log) as b:
        y = y + 1
        opaque()
        y = y * 3
        log.append(a is b)
    return y - 1


@case(2)
def suppressed(x):
    y = x * 2
    with contextlib.suppress(ValueError):
        fail()
    return y + 1


@case(2)
def raises_afterwards(x):
    y = x * 2
    opaque()
    return y + np.ones(7)


@case(2)
def not_caught(x):
    y = x * 2
    opaque()
    z = y + 1
    return fail(str(z.shape))


# ---- Cells, functions, generators ------------------------------------------------------------------


@case(2)
def captured(x):
    y = x * 2

    def inner():
        return y + 1

    opaque()
    y = y * 3
    return inner()


@case(2)
def nonlocal_written(x):
    n = 0

    def bump():
        nonlocal n
        n += 1
        return n

    y = x * bump()
    opaque()
    return y * bump(), n


@case(3)
def callee_breaks(x):
    a = x + 1
    b = helper(a)
    return a * b


@case(2)
def comprehension(x):
    y = x * 2
    parts = [opaque(i) for i in range(3)]
    return y + parts[2]


@case(2)
def iterates_a_generator(x):
    def numbers():
        for i in range(3):
            opaque()
            yield i

    total = x * 1
    for n in numbers():
        total = total + x * n
    return total


@case(2)
def matching(x, subject):
    y = x * 2
    match opaque(subject):
        case [a, b]:
            return y * a + b
        case {"k": v}:
            return y - v
        case _:
            return None


@case(2)
def stored_attributes(x, log):
    y = x * 2
    log.append(y)
    opaque()
    log[0] = log[0] + 1
    log.append(y * 3)
    return log


EXTRA = {
    "in_a_for_over_a_list": lambda: ([1.0, 2.0, 3.0],),
    "finally_after_a_raise": lambda: ([],),
    "in_a_with": lambda: ([],),
    "raised_in_a_with": lambda: ([],),
    "nested_withs": lambda: ([],),
    "matching": lambda: ([2, 3],),
    "stored_attributes": lambda: ([],),
}


def outcome(target, name):
    LOG.clear()
    made = EXTRA.get(name, lambda: ())()
    return Outcome(target, (X.copy(), *made), {}, lambda: list(LOG))


@pytest.mark.parametrize("name", CASES)
@in_a_thread
def test_same_and_captured(name):
    function, graphs, _ = CASES[name]
    plain = outcome(function, name)
    with dyntrace.config.patch(strict=True, trace_budget_ns=0):
        compiled = Compiled(function)
        for _ in range(6):
            compare(plain, outcome(compiled, name))
    records = compiled.region.records
    assert not [r["fault"] for r in records if r["fault"] is not None]
    if FORCED:
        return
    found = [r for r in records if r["graph"] is not None]
    text = "\n".join(f"{r['function']} {r['segment']} {r['break']}" for r in records)
    assert len(found) >= graphs, text


# ---- Generators and coroutines as frames of their own ----------------------------------------------


def sums(x, n):
    y = x * 2 + 1
    for i in range(n):
        z = y * i - x
        yield z.sum()
        y = y + z * 0.5
    return y


def echo(x):
    y = x * 2
    while True:
        sent = yield y.sum()
        if sent is None:
            return y
        y = y + x * sent


def delegates(x):
    y = x * 2
    z = yield from sums(x, 3)
    yield (y + z).sum()


def guarded(x):
    y = x * 3
    try:
        yield y + 1
        y = y * 2
    except ValueError:
        y = y * 5
    finally:
        LOG.append("left")
    yield y - 1


def drive(function, how):
    """Everything that comes out of a generator which is sent to, thrown into or closed."""
    LOG.clear()
    generator = function(X.copy(), 4) if function.__name__ == "sums" else function(X.copy())
    found = []
    try:
        found.append(next(generator))
        if how == "send":
            found += [generator.send(2.0), generator.send(3.0)]
        elif how == "throw":
            found.append(generator.throw(ValueError("in")))
        elif how == "close":
            generator.close()
        found += list(generator)
        found.append(next(generator))
    except (StopIteration, ValueError) as error:
        found.append((type(error).__name__, getattr(error, "value", None)))
    return [
        np.asarray(v).tobytes() if isinstance(v, (np.ndarray, np.generic)) else str(v)
        for v in found
    ], list(LOG)


@pytest.mark.parametrize("how", ["next", "send", "throw", "close"])
@pytest.mark.parametrize("function", [sums, echo, delegates, guarded])
def test_generators(function, how):
    with dyntrace.config.patch(strict=True, trace_budget_ns=0):
        compiled = Compiled(function)
        compiled.fn.__name__ = function.__name__
        for _ in range(6):
            assert drive(compiled.fn, how) == drive(function, how)
    if FORCED:
        return
    graphs = [r for r in compiled.region.records if r["graph"] is not None]
    assert len(graphs) >= 1 and not [r for r in compiled.region.records if r["fault"]]


async def awaits(x):
    y = x * 2 + 1
    await asyncio.sleep(0)
    z = y * y - x
    await asyncio.sleep(0)
    return z + y


def test_coroutines():
    with dyntrace.config.patch(strict=True, trace_budget_ns=0):
        compiled = Compiled(awaits)
        for _ in range(6):
            assert asyncio.run(compiled(X)).tobytes() == asyncio.run(awaits(X)).tobytes()
    if not FORCED:
        assert len([r for r in compiled.region.records if r["graph"] is not None]) >= 2
