"""Breaks where something else is going on: exceptions on their way, finalisers, signals, generators that
are closed, tools that look; and breaks in great numbers."""

# ruff: noqa: E501
from __future__ import annotations

import contextlib
import gc
import signal
import sys
import threading
import tracemalloc
import weakref

import dyntrace
import numpy as np
import pytest
from differential import FORCED, Compiled, Outcome, compare, in_a_thread

A = np.linspace(0.5, 2.0, 4)
LOG: list = []


@dyntrace.disable
def opaque(*values):
    LOG.append(len(values))
    return values[0] if values else None


@dyntrace.disable
def fail(text="no"):
    raise ValueError(text)


@pytest.fixture(autouse=True)
def _empty_log():
    LOG.clear()


def same(fn, *args, calls=6, log=True):
    """`fn` plain and compiled, many times: the same result, exception and log."""
    LOG.clear()
    plain = Outcome(fn, args, {})
    expected = list(LOG)
    with dyntrace.config.patch(strict=True, trace_budget_ns=0):
        compiled = Compiled(fn)
        for _ in range(calls):
            LOG.clear()
            compare(plain, Outcome(compiled, args, {}))
            assert not log or expected == LOG
    return compiled


def captured(compiled):
    return sum(r["graph"] is not None for r in compiled.region.records)


# ---- While an exception is on its way --------------------------------------------------------------


class Manager:
    def __init__(self, suppress=False):
        self.suppress = suppress

    def __enter__(self):
        opaque("enter")
        return self

    def __exit__(self, kind, value, trace):
        y = A * 2
        opaque(kind, value is None)
        LOG.append(float((y + 1).sum()))
        return self.suppress


class Finaliser:
    def __init__(self, x):
        self.x = x

    def __del__(self):
        y = self.x * 2
        opaque()
        LOG.append(float((y + 1).sum()))


def in_exit(x):
    with Manager(True):
        y = x * 2
        fail()
    return x * 3


def in_exit_not_suppressed(x):
    with Manager():
        y = x * 2
        fail(str(y.shape))


def in_finally(x):
    try:
        y = x * 2
        fail()
    finally:
        z = x + 1
        opaque(z)
        LOG.append(float((z * z).sum()))


def in_except_with_context(x):
    try:
        fail("first")
    except ValueError as first:
        y = x * 2
        opaque(y)
        try:
            fail("second")
        except ValueError as second:
            z = y + 1
            opaque(z)
            return z * y, second.__context__ is first, str(sys.exc_info()[1])


def reraised_after_a_break(x):
    try:
        fail()
    except ValueError:
        y = x * 2
        opaque(y)
        y = y + 1
        raise


def raised_from(x):
    try:
        fail("first")
    except ValueError as error:
        y = x * 2
        opaque()
        raise KeyError(str((y + 1).shape)) from error


def return_in_finally(x):
    for i in range(3):
        try:
            fail()
        finally:
            y = x * i
            opaque()
            if i == 1:
                return y + 1
            continue


def except_in_a_loop(x):
    total = x * 0
    for i in range(4):
        try:
            total = total + x * i
            opaque()
            total = total * 2
            if i % 2:
                fail(str(i))
        except ValueError as error:
            total = total + len(str(error))
            opaque()
            total = total - 1
        else:
            total = total * 3
        finally:
            opaque()
            total = total + 5
    return total


@pytest.mark.parametrize(
    "fn",
    [
        in_exit,
        in_exit_not_suppressed,
        in_finally,
        in_except_with_context,
        reraised_after_a_break,
        raised_from,
        return_in_finally,
        except_in_a_loop,
    ],
    ids=lambda fn: fn.__name__,
)
@in_a_thread
def test_exceptions(fn):
    same(fn, A)


def dies_between(x):
    held = Finaliser(x)
    y = x * 2
    opaque()
    z = y + 1
    held = None
    opaque()
    return z * y


def dies_when_overwritten(x):
    for i in range(3):
        held = Finaliser(x * i)
        opaque()
        y = x * 2 + i
    del held
    return y


def dies_at_the_end(x):
    held = Finaliser(x)
    opaque()
    return x * 2 + 1


@pytest.mark.parametrize(
    "fn", [dies_between, dies_when_overwritten, dies_at_the_end], ids=lambda fn: fn.__name__
)
def test_finalisers(fn):
    same(fn, A)


def test_compiled_finaliser():
    class Dying:
        @dyntrace.compile
        def __del__(self):
            y = A * 2
            opaque()
            LOG.append(float((y + 1).sum()))

    for _ in range(6):
        Dying()
        cycle = Dying()
        cycle.itself = cycle
        del cycle
        gc.collect()
    assert LOG == [0, float((A * 2 + 1).sum())] * 12


def test_signal_handler():
    @dyntrace.compile
    def handler(number, frame):
        y = A * 2
        opaque(number)
        LOG.append(float((y + 1).sum()))

    @dyntrace.compile
    def interrupted(x):
        y = x * 2
        signal.raise_signal(signal.SIGUSR1)
        z = y + 1
        signal.raise_signal(signal.SIGUSR1)
        return z * y

    before = signal.signal(signal.SIGUSR1, handler)
    try:
        for _ in range(6):
            LOG.clear()
            np.testing.assert_array_equal(interrupted(A), (A * 2 + 1) * (A * 2))
            assert LOG == [1, float((A * 2 + 1).sum())] * 2
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_signal_that_raises():
    def handler(number, frame):
        raise KeyError(frame.f_code.co_name)

    @dyntrace.compile
    def interrupted(x):
        y = x * 2
        try:
            signal.raise_signal(signal.SIGUSR1)
            y = y + 1
        except KeyError as error:
            return y * 3, str(error)

    before = signal.signal(signal.SIGUSR1, handler)
    try:
        for _ in range(6):
            result, name = interrupted(A)
            np.testing.assert_array_equal(result, A * 2 * 3)
            assert name == "'interrupted'"
    finally:
        signal.signal(signal.SIGUSR1, before)


# ---- Generators ------------------------------------------------------------------------------------


def pieces(x):
    total = x * 0
    try:
        while True:
            try:
                got = yield total
                total = total + x * 2
                opaque()
                total = total + (got or 0)
            except KeyError as error:
                total = total * 3
                opaque()
                total = total - len(str(error))
    finally:
        y = total + 1
        opaque(y)
        LOG.append(float((y * 2).sum()))


def rounds(make):
    """Some conversations with a generator, as (what came, log) each."""
    out = []

    def conversation(*steps):
        LOG.clear()
        generator, seen = make(A), []
        for step, value in steps:
            try:
                seen.append(np.array(getattr(generator, step)(*value)).tolist())
            except (StopIteration, ValueError) as error:
                seen.append(repr(error))
        del generator
        gc.collect()
        out.append((seen, list(LOG)))

    start, more = ("__next__", ()), ("send", (2.0,))
    conversation(start, more, more, ("close", ()))
    conversation(start, more, ("throw", (KeyError("k"),)), more, ("close", ()), start)
    conversation(start, more, ("throw", (ValueError("v"),)), more)
    conversation(("throw", (KeyError("early"),)) if False else start, ("close", ()))
    conversation(start, more)  # collected where it stands
    conversation()
    return out


def test_closed_thrown_into_collected():
    expected = rounds(pieces)
    with dyntrace.config.patch(strict=True, trace_budget_ns=0):
        compiled = Compiled(pieces)
        for _ in range(4):
            assert rounds(compiled) == expected


def test_collected_in_a_cycle():
    compiled = dyntrace.compile(pieces)
    for make in (pieces, compiled, compiled, compiled):
        LOG.clear()
        generator = make(A)
        next(generator)
        generator.send(1.0)
        box = [generator]
        box.append(box)
        del generator, box
        gc.collect()
        assert LOG == [0, 1, float(((A * 2 + 1 + 1) * 2).sum())]


# ---- Tools that look -------------------------------------------------------------------------------


@dyntrace.disable
def look(events):
    def trace(frame, event, arg):
        if frame.f_code.co_filename == __file__:  # not a callback of the garbage collector
            events.append((frame.f_code.co_name, event, frame.f_lineno))
        return trace

    sys.settrace(trace)
    sys._getframe(1).f_trace = trace


@dyntrace.disable
def look_away():
    sys.settrace(None)


def traced_in_the_middle(x, events):
    y = x * 2
    look(events)
    z = y + 1
    opaque()
    z = z * y
    look_away()
    return z - 1


def test_trace_switched_on_in_a_break():
    first = traced_in_the_middle.__code__.co_firstlineno
    plain: list = []
    expected = traced_in_the_middle(A, plain)
    compiled = dyntrace.compile(traced_in_the_middle)
    for _ in range(6):
        events: list = []
        np.testing.assert_array_equal(compiled(A, events), expected)
        assert [e for e in events if e[0] == "traced_in_the_middle"] == [
            e for e in plain if e[0] == "traced_in_the_middle"
        ]
    assert ("traced_in_the_middle", "line", first + 3) in plain


def written_by_a_debugger(x, writes):
    y = x * 2
    debug(writes)
    z = y + 1
    debug(writes)
    return z * y


@dyntrace.disable
def debug(writes):
    """Sets local variables of the caller, as a debugger does."""
    frame = sys._getframe(1)

    def trace(frame, event, arg):
        if event == "line" and writes:
            name, value = writes.pop(0)
            frame.f_locals[name] = value
        return trace

    if writes:
        frame.f_trace = trace
        sys.settrace(trace)
    else:
        sys.settrace(None)


def test_locals_written_by_a_debugger():
    writes = [("y", A * 10), ("z", A * 100)]
    plain = written_by_a_debugger(A, list(writes))
    compiled = dyntrace.compile(written_by_a_debugger)
    for _ in range(6):
        np.testing.assert_array_equal(compiled(A, list(writes)), plain)
        np.testing.assert_array_equal(compiled(A, []), (A * 2 + 1) * (A * 2))
    sys.settrace(None)


def seen_from_outside(x):
    y = x * 2
    names = look_at_caller()
    z = y + 1
    more = look_at_caller()
    return names, more, z


@dyntrace.disable
def look_at_caller():
    frame = sys._getframe(1)
    return frame.f_code.co_name, frame.f_lineno, sorted(frame.f_locals)


def test_locals_as_they_are():
    expected = seen_from_outside(A)
    compiled = dyntrace.compile(seen_from_outside)
    for _ in range(6):
        got = compiled(A)
        assert got[:2] == expected[:2]


# ---- In numbers ------------------------------------------------------------------------------------


def make(lines, name="fn", arguments="x", **names):
    scope = {"np": np, "opaque": opaque, "fail": fail, "Manager": Manager, **names}
    exec(compile(f"def {name}({arguments}):\n" + "\n".join("    " + line for line in lines), "<made>", "exec"), scope)  # fmt: skip
    return scope[name]


def test_hundred_breaks():
    lines = []
    for i in range(100):
        lines += [f"x = x * {1 + i % 3} - {i}", "opaque()", "x = x / 2"]
    fn = make([*lines, "return x"])
    compiled = same(fn, A, calls=4)
    if not FORCED:
        assert captured(compiled) >= 100


def test_nested_withs_and_tries():
    lines, indent = [], ""
    for _ in range(9):  # with the outermost `try`, what the compiler allows
        lines += [f"{indent}with Manager():", f"{indent}    try:", f"{indent}        x = x * 2"]
        indent += "        "
    lines += [f"{indent}opaque()", f"{indent}x = x + 1", f"{indent}fail('deep')"]
    for i in reversed(range(9)):
        indent = "        " * i + "    "
        lines += [f"{indent}finally:", f"{indent}    x = x * 3", f"{indent}    opaque(x)", f"{indent}    x = x - 1"]  # fmt: skip
    fn = make(["try:", *("    " + line for line in lines), "except ValueError:", "    x = x + 7", "return x"])
    same(fn, A)


def test_nested_tries():
    lines = []
    for i in range(9):
        indent = "    " * i
        lines += [f"{indent}try:", f"{indent}    x = x + {i}", f"{indent}    opaque()"]
    lines += ["    " * 9 + "fail()"]
    for i in reversed(range(9)):
        indent = "    " * i
        kind = "ValueError" if i == 4 else "KeyError"
        lines += [f"{indent}except {kind} as error:", f"{indent}    x = x * 2", f"{indent}    opaque(error)"]
        lines += [f"{indent}    x = x - {i}", f"{indent}    raise KeyError(str(error))" if i > 2 else f"{indent}    x = x + 9"]  # fmt: skip
    same(make([*lines, "return x"]), A)


def test_ten_withs_that_suppress():
    lines = ["    " * i + f"with Manager({i == 3}):" for i in range(10)]
    lines += ["    " * 10 + line for line in ("x = x * 2", "opaque()", "x = x + 1", "fail()")]
    same(make([*lines, "return x * 5"]), A)


def deep(x, n):
    y = x + n
    opaque()
    if n == 0:
        return y * 2
    below = deep_again(y, n - 1)
    return below + 1


def test_thousand_deep():
    global deep_again
    deep_again = deep
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(20000)
    try:
        plain = deep(A, 1000)
        deep_again = dyntrace.compile(deep)
        for _ in range(3):
            np.testing.assert_array_equal(deep_again(A, 1000), plain)
    finally:
        sys.setrecursionlimit(limit)


def test_too_deep():
    global deep_again
    deep_again = deep
    with pytest.raises(RecursionError):
        deep(A, 10**6)
    deep_again = dyntrace.compile(deep)
    for _ in range(3):
        with pytest.raises(RecursionError):
            deep_again(A, 10**6)
    np.testing.assert_array_equal(deep_again(A, 3), deep(A, 3))


def deep_generator(x, n):
    y = x * 2
    opaque()
    yield y
    if n:
        yield from generator_again(y * 0.5, n - 1)
    opaque()
    yield y + 1


def test_deep_generators():
    global generator_again
    generator_again = deep_generator
    plain = [v.tolist() for v in deep_generator(A, 100)]
    generator_again = dyntrace.compile(deep_generator)
    for _ in range(3):
        assert [v.tolist() for v in generator_again(A, 100)] == plain


def test_many_calls_take_no_memory():
    @dyntrace.compile
    def fn(x, items):
        y = x * 2
        opaque()
        with contextlib.suppress(ValueError):
            for item in items:
                y = y + item
                opaque()
            fail()
        return y

    rounds_ = 4000

    def run(count):
        for _ in range(count):
            fn(A, [1.0, 2.0])
            LOG.clear()

    run(400)
    tracemalloc.start()
    try:
        run(10)
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        run(rounds_)
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert grown < rounds_ * 4, grown  # a list or two are longer now; an object each time is more


def test_nothing_lives_longer():
    class Watched(np.ndarray):
        pass

    @dyntrace.compile
    def fn(x, made):
        y = x * 2
        opaque()
        made.append(weakref.ref(opaque(Box(y))))
        opaque()
        return y + 1

    class Box:
        def __init__(self, value):
            self.value = value

    for _ in range(6):
        made: list = []
        fn(A, made)
        assert made[0]() is None


def test_threads():
    @dyntrace.compile
    def fn(x, n):
        total = x * 0
        for i in range(n):
            total = total + x * i
            opaque()
            total = total * 0.5
        return total

    expected = {n: fn.__wrapped__(A, n) for n in range(1, 9)}
    failures = []

    def work(seed):
        for i in range(60):
            n = 1 + (seed + i) % 8
            if fn(A, n).tobytes() != expected[n].tobytes():
                failures.append(n)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def dies_in_a_list(x):
    held = [Finaliser(x)]
    again = held[0]
    opaque()
    y = x * 2
    pair = [again, y]
    again = held = None
    opaque()
    z = y + 1
    pair = None
    opaque()
    return z


def test_dies_in_a_list():
    same(dies_in_a_list, A)


async def asynchronous_pieces(x):
    y = x * 2
    yield y
    opaque()
    z = y + 1
    yield z * y
    for i in range(3):
        z = z * i - x
        yield z


def collected(make):
    async def collect():
        return [value.tolist() async for value in make(A)]

    try:
        collect().send(None)
    except StopIteration as stop:
        return stop.value
    return "it waits"


def test_asynchronous_generators():
    expected = collected(asynchronous_pieces)
    with dyntrace.config.patch(strict=True, trace_budget_ns=0):
        compiled = Compiled(asynchronous_pieces)
        for _ in range(5):
            assert collected(compiled) == expected
