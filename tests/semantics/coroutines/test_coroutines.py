"""Coroutines driven in traced code: await, async for, async with, asynchronous generators."""

import contextlib
import types

import numpy as np
import pytest
from differential import check

A = np.linspace(0.5, 2.0, 4)


def drive(coroutine, *answers):
    """A small event loop: sends the answers, gives what was yielded and what is returned."""
    yielded, answers = [], list(answers)
    value = None
    while True:
        try:
            yielded.append(coroutine.send(value))
        except StopIteration as stop:
            return yielded, stop.value
        value = answers.pop(0) if answers else None


@types.coroutine
def suspend(value):
    return (yield value)


class Awaitable:
    def __init__(self, value):
        self.value = value

    def __await__(self):
        got = yield self.value
        return got


class Ready:
    def __init__(self, value):
        self.value = value

    def __await__(self):
        return self.value
        yield


class Numbers:
    """An asynchronous iterator."""

    def __init__(self, n):
        self.i, self.n = 0, n

    def __aiter__(self):
        return self

    async def __anext__(self):
        if self.i >= self.n:
            raise StopAsyncIteration
        self.i += 1
        return self.i


class Session:
    def __init__(self, log, swallow=False):
        self.log, self.swallow = log, swallow

    async def __aenter__(self):
        self.log.append("enter")
        return self

    async def __aexit__(self, kind, error, tb):
        self.log.append(kind.__name__ if kind is not None else "exit")
        return self.swallow


async def double(x):
    return x * 2.0


async def agen(n):
    for i in range(n):
        yield i


def returns_at_once(x):
    return drive(double(x))


def awaits_another(x):
    async def main():
        return await double(x) + 1.0

    return drive(main())


def awaits_twice(x):
    async def main():
        a = await double(x)
        b = await double(a)
        return a + b

    return drive(main())


def awaits_deep(x):
    async def down(n):
        return x if n == 0 else await down(n - 1) + 1.0

    return drive(down(5))


def awaits_in_expression(x):
    async def main():
        return [await double(i) for i in (1, 2)], (await double(x)) * (await double(2.0))

    return drive(main())


def awaits_in_loop(x):
    async def main():
        total = x
        for i in range(3):
            total = total + await double(i)
        return total

    return drive(main())


def suspends(x):
    async def main():
        a = await suspend("first")
        b = await suspend("second")
        return x * a + b

    return drive(main(), 2.0, 3.0)


def suspends_deep(x):
    async def inner():
        return await suspend("inner")

    async def main():
        return x + await inner()

    return drive(main(), 5.0)


def user_awaitable(x):
    async def main():
        return await Awaitable("yielded"), await Ready(x)

    return drive(main(), 7)


def exception_from_awaited(x):
    async def fails():
        raise ValueError("inside")

    async def main():
        try:
            await fails()
        except ValueError as error:
            return error.args, x + 1

    return drive(main())


def finally_in_coroutine(x):
    log = []

    async def main():
        try:
            await suspend(1)
        finally:
            log.append("finally")
        return x

    return drive(main()), log


def exception_thrown_in(x):
    async def main():
        try:
            await suspend("waiting")
        except KeyError:
            return x + 1.0

    c = main()
    first = c.send(None)
    try:
        c.throw(KeyError("k"))
    except StopIteration as stop:
        return first, stop.value


def exception_thrown_deep(x):
    async def inner():
        try:
            await suspend("waiting")
        except KeyError:
            return "caught inside"

    async def main():
        return await inner()

    c = main()
    c.send(None)
    try:
        c.throw(KeyError)
    except StopIteration as stop:
        return stop.value, x + 1


def closed(x):
    log = []

    async def main():
        try:
            await suspend(1)
        finally:
            log.append("closed")

    c = main()
    c.send(None)
    c.close()
    return log, x + 1


def closed_before_start(x):
    c = double(x)
    c.close()
    return x + 1


def reused(x):
    c = double(x)
    result = drive(c)
    try:
        c.send(None)
    except RuntimeError as error:
        return result, error.args


def awaited_twice(x):
    async def main():
        c = double(x)
        await c
        try:
            await c
        except RuntimeError as error:
            return error.args

    return drive(main()), x + 1


def stop_iteration_inside(x):
    async def main():
        raise StopIteration("no")

    try:
        main().send(None)
    except RuntimeError as error:
        return error.args, x + 1


def await_wrapper(x):
    it = double(x).__await__()
    try:
        next(it)
    except StopIteration as stop:
        return stop.value


def async_iterator(x):
    async def main():
        total = x
        async for i in Numbers(3):
            total = total + i
        return total

    return drive(main())


def async_for_else_and_break(x):
    async def main():
        out = []
        async for i in Numbers(2):
            out.append(i)
        else:
            out.append("else")
        async for i in Numbers(5):
            if i == 2:
                break
        else:
            out.append("never")
        return out, i

    return drive(main()), x + 1


def async_for_in_loop(x):
    async def main():
        rows = []
        for i in range(3):
            rows.append([j async for j in Numbers(i)])
        return rows

    return drive(main()), x + 1


def async_comprehensions(x):
    async def main():
        return (
            [i * 2 async for i in Numbers(3)],
            {i: str(i) async for i in Numbers(2)},
            [i async for i in Numbers(6) if i % 2],
        )

    return drive(main()), x + 1


def async_generator(x):
    async def main():
        return [i async for i in agen(4)]

    return drive(main()), x + 1


def async_generator_of_arrays(x):
    async def parts():
        for i in range(3):
            yield x * i

    async def main():
        total = 0.0
        async for p in parts():
            total = total + p
        return total

    return drive(main())


def async_generator_that_awaits(x):
    async def parts():
        for i in range(2):
            got = await suspend(i)
            yield got

    async def main():
        return [p async for p in parts()]

    return drive(main(), "a", "b"), x + 1


def async_generator_anext(x):
    async def main():
        g = agen(3)
        a = await g.__anext__()
        b = await g.asend(None)
        rest = [i async for i in g]
        return a, b, rest

    return drive(main()), x + 1


def async_generator_asend(x):
    async def echo():
        got = yield "start"
        while got is not None:
            got = yield got * 2

    async def main():
        g = echo()
        first = await g.__anext__()
        second = await g.asend(5)
        rest = [i async for i in g]
        return first, second, rest

    return drive(main()), x + 1


def async_generator_ends(x):
    async def main():
        g = agen(1)
        await g.__anext__()
        try:
            await g.__anext__()
        except StopAsyncIteration:
            return "the end"

    return drive(main()), x + 1


def async_generator_raises(x):
    async def bad():
        yield 1
        raise ValueError("in agen")

    async def main():
        out = []
        try:
            async for i in bad():
                out.append(i)
        except ValueError as error:
            out.append(error.args)
        return out

    return drive(main()), x + 1


def async_generator_expression(x):
    async def main():
        g = (i * i async for i in Numbers(3))
        return [v async for v in g]

    return drive(main()), x + 1


def async_with(x):
    log = []

    async def main():
        async with Session(log) as s:
            log.append(s is not None)
            return x + 1.0

    return drive(main()), log


def async_with_exception(x):
    log = []

    async def main():
        try:
            async with Session(log):
                raise ValueError("in body")
        except ValueError as error:
            log.append(error.args)

    return drive(main()), log, x + 1


def async_with_swallows(x):
    log = []

    async def main():
        async with Session(log, swallow=True):
            raise KeyError("gone")
        return "after"

    return drive(main()), log, x + 1


def async_with_two(x):
    log = []

    async def main():
        async with Session(log), Session(log):
            log.append("body")
        return x

    return drive(main()), log


def await_of_int(x):
    async def main():
        await 5

    try:
        drive(main())
    except TypeError as error:
        return type(error).__name__, x + 1


def async_for_over_list(x):
    async def main():
        async for _ in [1]:
            pass

    try:
        drive(main())
    except TypeError as error:
        return error.args, x + 1


def scheduler(x):
    log = []

    async def task(name, n):
        for i in range(n):
            log.append((name, i))
            await suspend(None)
        return name

    pending, done = [task("a", 2), task("b", 1)], []
    while pending:
        c = pending.pop(0)
        try:
            c.send(None)
        except StopIteration as stop:
            done.append(stop.value)
        else:
            pending.append(c)
    return log, done, x + 1


def type_of_coroutine(x):
    c = double(x)
    kind = type(c) is types.CoroutineType
    return kind, drive(c)


def next_of_an_asynchronous_iterator(x):
    async def main():
        numbers = Numbers(2)
        first = await anext(numbers)
        second = await anext(numbers, "none")
        return first, second, await anext(numbers, "none"), await anext(numbers, x + 1)

    return drive(main())


def next_of_an_asynchronous_generator(x):
    async def steps():
        yield x + (await suspend("a"))
        yield await suspend("b")

    async def main():
        made = steps()
        first, second = await anext(made), await anext(made, None)
        try:
            await anext(made)
        except StopAsyncIteration as stop:
            return first, second, stop.args, await anext(made, 7)

    return drive(main(), 1, 2)


def next_of_what_is_no_iterator(x):
    async def main():
        return await anext([1, 2])

    try:
        drive(main())
    except TypeError as error:
        return str(error), x + 1


def next_that_raises(x):
    class Bad:
        def __aiter__(self):
            return self

        async def __anext__(self):
            raise KeyError("bad")

    async def main():
        try:
            return await anext(Bad(), 3)
        except KeyError as error:
            return error.args, x + 1

    return drive(main())


def manager_of_an_asynchronous_generator(x):
    log = []

    @contextlib.asynccontextmanager
    async def opened(name):
        log.append(await suspend(name))
        yield name * 2
        log.append("closed")

    async def main():
        async with opened("a") as a, opened("b") as b:
            log.append(a + b)
        return x + len(log)

    return drive(main(), 1, 2), log


CASES = [
    value
    for name, value in list(globals().items())
    if getattr(value, "__module__", None) == __name__
    and getattr(value, "__code__", None)
    and name not in ("drive", "suspend", "double", "agen")
]


@pytest.mark.parametrize("fn", CASES, ids=lambda fn: fn.__name__)
def test_captured(fn):
    check(fn, A)
