"""Generators of random numbers that the trace itself makes, with a seed that is known.

Such a generator gives the same numbers at every call, so they are computed while tracing. Its state, the
only item of ``contents(generator)``, is kept as bytes: one constant rather than 625.
"""

from __future__ import annotations

import _random
import struct
from typing import Any

from dyntrace.polyfills import contents, fold, polyfill, unfollowable

_LAYOUT = "=625I"


def _pack(generator: Any) -> bytes:
    return struct.pack(_LAYOUT, *generator.getstate())


def _seeded(seed: Any) -> bytes:
    return _pack(_random.Random(seed))


def _draw(state: bytes, name: str, *args: Any) -> Any:
    """What the method gives in this state, and the state after it."""
    generator = _random.Random()
    generator.setstate(struct.unpack(_LAYOUT, state))
    value = getattr(generator, name)(*args)
    return value, _pack(generator)


def _unpacked(state: bytes) -> Any:
    return struct.unpack(_LAYOUT, state)


def _checked(state: Any) -> bytes:
    generator = _random.Random()
    generator.setstate(state)
    return _pack(generator)


def _state(self: Any) -> Any:
    state = contents(self)
    if not state:
        unfollowable("a generator of random numbers that was not seeded")
    return state[0]


@polyfill(_random.Random.seed)
def seed(self: Any, n: Any = None, /) -> None:
    if n is None:
        unfollowable("a generator of random numbers is seeded by the system")
    if type(n) is str or type(n) is bytes:  # by a hash that is another one in each process
        contents(self).clear()
        return
    if type(n) is not int and type(n) is not float:
        unfollowable("a generator of random numbers with a seed that is no number")
    contents(self)[:] = [fold(_seeded, n)]


@polyfill(_random.Random.random)
def random(self: Any, /) -> Any:
    value, state = fold(_draw, _state(self), "random")
    contents(self)[0] = state
    return value


@polyfill(_random.Random.getrandbits)
def getrandbits(self: Any, k: Any, /) -> Any:
    if type(k) is not int:
        unfollowable("getrandbits() of something that is no int")
    value, state = fold(_draw, _state(self), "getrandbits", k)
    contents(self)[0] = state
    return value


@polyfill(_random.Random.getstate)
def getstate(self: Any, /) -> Any:
    return fold(_unpacked, _state(self))


@polyfill(_random.Random.setstate)
def setstate(self: Any, state: Any, /) -> None:
    contents(self)[:] = [fold(_checked, state)]
