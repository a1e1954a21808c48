"""Frames and iterators of dicts and sets: what an entry knows of them is their type.

They can't be weakly referenced, and they keep others alive: an entry that knew one would.
"""

import gc
import sys
import types
import weakref

import dyntrace
import pytest
from differential import Compiled


class Thing:
    pass


def frame_of(thing):
    return sys._getframe()


MAKERS = {
    "frame": frame_of,
    "keys": lambda thing: iter({thing: 1}),
    "values": lambda thing: iter({1: thing}.values()),
    "items": lambda thing: iter({1: thing}.items()),
    "set": lambda thing: iter({thing}),
}


def is_none(x, y, log):
    return x is None, None is not x


def is_other(x, y, log):
    return x is y, x is x, x is not y


def truth(x, y, log):
    return (1 if x else 2), not x, x and 3


def kind(x, y, log):
    return type(x), isinstance(x, types.FrameType), isinstance(x, int)


def handed_around(x, y, log):
    log.append(x)
    pair = (x, y)
    return pair[0] is log[-1], len(log)


def compared(x, y, log):
    return x == y, x != y, x == x, x in [y, x], x in (y,)


def hashed(x, y, log):
    return hash(x) == hash(y), {x: 1}[x], id(x) == id(y), x in {y}


def in_an_attribute(x, y, log):
    thing = Thing()
    thing.held = x
    return thing.held is x, thing.held is None


def walked_up(x, y, log):
    count = 0
    while x is not None and isinstance(x, types.FrameType):
        x = x.f_back
        count += 1
    return count > 1


FUNCTIONS = [is_none, is_other, truth, kind, handed_around, compared, hashed, in_an_attribute, walked_up]


@pytest.fixture(autouse=True)
def everything():
    with dyntrace.config.patch(everything=True, strict=True):
        yield


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("make", MAKERS)
def test_as_plainly_and_gone_as_plainly(make, function):
    compiled = Compiled(function)

    def call(run, same):
        thing = Thing()
        known, log = weakref.ref(thing), []
        first = MAKERS[make](thing)
        answer = run(first, first if same else MAKERS[make](thing), log)
        return answer, known

    for same in (False, True, False, False):
        expected, _ = call(function, same)
        answer, known = call(compiled, same)
        assert answer == expected
        if known() is not None:
            gc.collect()  # a frame that was asked for is part of a cycle
        assert known() is None


def test_one_entry_serves_all():
    compiled = dyntrace.compile(is_none)
    compiled(sys._getframe(), None, None)
    with dyntrace.config.patch(error_on_recompile=True):
        for _ in range(20):
            assert compiled(sys._getframe(), None, None) == (False, True)
            assert compiled(frame_of(None), None, None) == (False, True)
        with pytest.raises(dyntrace.RecompileError):
            compiled(iter({}), None, None)
