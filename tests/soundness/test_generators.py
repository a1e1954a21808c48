"""Generators and iterators whose surroundings change between calls."""

import sys
import types

import dyntrace
import numpy as np
import pytest
from differential import Compiled

A = np.linspace(0.5, 2.0, 4)
FACTOR = 2.0


def same(fn, compiled, *args):
    with dyntrace.config.patch(everything=True, strict=True):
        for _ in range(2):
            plain, traced = fn(*args), compiled(*args)
            np.testing.assert_array_equal(plain, traced)


def test_a_global_that_a_generator_reads_late():
    global FACTOR

    def g(x):
        yield x * FACTOR

    def fn(x):
        return next(g(x))

    compiled = Compiled(fn)
    for FACTOR in (2.0, 3.0, 2.0):
        same(fn, compiled, A)
    FACTOR = 2.0


def test_a_cell_that_a_generator_expression_reads():
    scale = 2.0

    def fn(x):
        return sum(x * scale for _ in range(2))

    compiled = Compiled(fn)
    for scale in (2.0, 5.0):
        same(fn, compiled, A)


def test_the_code_of_a_generator_function_is_replaced():
    def g(x):
        yield x

    def other(x):
        yield x * 10.0

    def fn(x):
        return next(g(x))

    compiled = Compiled(fn)
    same(fn, compiled, A)
    g.__code__ = other.__code__
    same(fn, compiled, A)


def test_the_length_of_what_is_iterated_over():
    def fn(x, items):
        return sum(x * i for i in items)

    compiled = Compiled(fn)
    for items in ([1, 2], [1, 2, 3], (4,), [1, 2]):
        same(fn, compiled, A, items)


def test_a_method_of_an_iterator_class_is_replaced():
    class Two:
        def __init__(self):
            self.i = 0

        def __iter__(self):
            return self

        def __next__(self):
            self.i += 1
            if self.i > 2:
                raise StopIteration
            return self.i

    def fn(x):
        return sum(x * i for i in Two())

    compiled = Compiled(fn)
    same(fn, compiled, A)

    def once(self):
        self.i += 1
        if self.i > 1:
            raise StopIteration
        return 7

    Two.__next__ = once
    same(fn, compiled, A)


def test_an_existing_iterator_moves_on():
    def fn(x, it):
        return x * next(it)

    compiled = Compiled(fn)
    with dyntrace.config.patch(everything=True, strict=True):
        it = iter([1.0, 2.0, 3.0])
        for factor in (1.0, 2.0, 3.0):
            np.testing.assert_array_equal(compiled(A, it), A * factor)


def test_an_existing_generator_moves_on():
    def fn(x, g):
        for i in g:
            x = x * i
        return x

    compiled = Compiled(fn)
    with dyntrace.config.patch(everything=True, strict=True):
        for _ in range(3):
            g = (i for i in (1.0, 2.0))
            np.testing.assert_array_equal(compiled(A, g), A * 2.0)
            assert list(g) == []


def test_hooks_of_asynchronous_generators_are_called():
    async def g(x):
        yield x

    async def main(x):
        async for y in g(x):
            x = y
        return x

    def fn(x):
        try:
            main(x).send(None)
        except StopIteration as stop:
            return stop.value + 1.0

    compiled = Compiled(fn)
    same(fn, compiled, A)
    assert not compiled.breaks, compiled.describe()
    seen = []
    sys.set_asyncgen_hooks(firstiter=seen.append)
    try:
        with dyntrace.config.patch(everything=True, strict=True):
            np.testing.assert_array_equal(compiled(A), A + 1.0)
    finally:
        sys.set_asyncgen_hooks(firstiter=None)
    assert [type(agen) for agen in seen] == [types.AsyncGeneratorType]
    same(fn, compiled, A)


def test_a_generator_that_leaves_the_function_runs_when_it_is_asked():
    log = []

    def g():
        log.append("ran")
        yield 1

    def fn(x):
        return g(), x + 1.0

    compiled = Compiled(fn)
    with dyntrace.config.patch(everything=True, strict=True):
        for _ in range(3):
            del log[:]
            made, _ = compiled(A)
            assert log == []
            assert list(made) == [1]
            assert log == ["ran"]


def test_a_coroutine_that_nobody_awaits_still_warns():
    async def c():
        return 1

    def fn(x):
        c()
        return x + 1.0

    compiled = Compiled(fn)
    with dyntrace.config.patch(everything=True, strict=True):
        for _ in range(3):
            with pytest.warns(RuntimeWarning, match="never awaited"):
                compiled(A)


def test_many_rounds_of_a_generator_meet_the_unroll_limit():
    def forever():
        while True:
            yield 1

    def fn(x):
        total = 0
        for i in forever():
            total += i
            if total == 100:
                break
        return x * total

    with dyntrace.config.patch(unroll_limit=50):
        compiled = Compiled(fn)
        same(fn, compiled, A)
        assert "unroll-limit" in compiled.breaks


def test_deep_generators_do_not_overflow():
    def down(n):
        if n:
            yield from down(n - 1)
        yield n

    def fn(x):
        return x * sum(down(300))

    same(fn, Compiled(fn), A)
