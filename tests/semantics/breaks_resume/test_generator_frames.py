"""Generators and coroutines as frames of their own: compiled, broken at each yield, resumed."""

import asyncio

import dyntrace
import numpy as np
import pytest
from differential import FORCED, Compiled, assert_same

A = np.linspace(0.5, 2.0, 4)


def one(x):
    yield x * 2


def named(x):
    y = x * 2
    yield y
    yield y + 1


def loop(x):
    for i in range(4):
        yield x * i


def batches(x, size=2):
    for start in range(0, len(x), size):
        yield x[start : start + size]


def endless(x):
    while True:
        x = x * 0.5
        yield x


def accumulated(x):
    total = x * 0.0
    for i in range(3):
        total = total + x * i
        yield total
    return total


def delegates(x):
    last = yield from accumulated(x + 1)
    yield last * 2


def guarded(x):
    try:
        yield x + 1
        yield x / 2
    finally:
        x = x * 3
    yield x


def numbers(x):
    yield 1
    yield len(x)
    yield x.sum()


def nested(x):
    def inner(n):
        for k in range(n):
            yield x + k

    for n in (1, 2):
        yield from inner(n)


def with_state(x):
    seen = []
    for v in x:
        seen.append(v * 2)
        yield seen[-1], len(seen)


def raises(x):
    yield x + 1
    raise ValueError("after one")


FRAMES = [one, named, loop, batches, accumulated, delegates, guarded, numbers, nested, with_state]


def first(generator, count):
    return [value for _, value in zip(range(count), generator)]


@pytest.mark.parametrize("everything", [False, True])
@pytest.mark.parametrize("fn", FRAMES, ids=lambda fn: fn.__name__)
def test_all_values(fn, everything):
    with dyntrace.config.patch(everything=everything, strict=True):
        compiled = Compiled(fn)
        for _ in range(4):
            assert_same(list(fn(A)), list(compiled(A)))
    assert not compiled.faults, compiled.describe()


@pytest.mark.parametrize("fn", [*FRAMES, endless, raises], ids=lambda fn: fn.__name__)
def test_some_values(fn):
    with dyntrace.config.patch(strict=True):
        compiled = Compiled(fn)
        for count in (1, 2, 1, 3):
            if fn is raises and count > 1:
                continue
            assert_same(first(fn(A), count), first(compiled(A), count))


@pytest.mark.skipif(bool(FORCED), reason="breaks are forced: nothing need be captured")
def test_array_work_is_compiled():
    compiled = Compiled(loop)
    for _ in range(3):
        list(compiled(A))
    assert compiled.region.records
    assert any(r["published"] and r["graph"] is not None for r in compiled.region.records)


def conversation(x):
    got = yield x + 1
    while got is not None:
        got = yield x * got
    return x.sum()


def test_send_and_return():
    def talk(fn):
        generator, said = fn(A), []
        said.append(next(generator))
        try:
            for value in (2, 3, A, None):
                said.append(generator.send(value))
        except StopIteration as stop:
            said.append(stop.value)
        return said

    compiled = Compiled(conversation)
    for _ in range(3):
        assert_same(talk(conversation), talk(compiled))


def thrown_into(x):
    try:
        yield x + 1
    except KeyError:
        yield x * 7
    yield x - 1


def test_throw_and_close():
    def use(fn):
        generator = fn(A)
        said = [next(generator), generator.throw(KeyError("k")), next(generator)]
        generator.close()
        other = fn(A)
        next(other)
        other.close()
        return said

    compiled = Compiled(thrown_into)
    for _ in range(3):
        assert_same(use(thrown_into), use(compiled))


def test_raises():
    compiled = Compiled(raises)
    for _ in range(3):
        generator = compiled(A)
        assert_same(next(generator), A + 1)
        with pytest.raises(ValueError, match="after one"):
            next(generator)


async def slow(x):
    y = x * 2
    await asyncio.sleep(0)
    return y + 1


async def gathers(x):
    parts = await asyncio.gather(slow(x), slow(x + 1))
    return parts[0] + parts[1]


async def ticks(x):
    for i in range(3):
        await asyncio.sleep(0)
        yield x * i


async def collects(x):
    return [value async for value in ticks(x)]


@pytest.mark.parametrize("fn", [slow, gathers, collects], ids=lambda fn: fn.__name__)
def test_coroutines(fn):
    compiled = Compiled(fn)
    for _ in range(3):
        assert_same(asyncio.run(fn(A)), asyncio.run(compiled(A)))
