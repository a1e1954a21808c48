"""Instructions of guard programs have 16 bytes: operands that do not fit, and what it all takes."""

from __future__ import annotations

import dyntrace
import numpy as np
import pytest
from recipe import Recipe

X, Y = np.arange(4.0), np.ones(4)


def of(x):
    return x


@pytest.mark.parametrize("length", [2**24, 2**32 - 1, 2**32, 2**33, 2**40])
def test_long_lengths(length):
    r = Recipe(of)
    program = r.fact("LENGTH", r.local("x"), (list, length)).build()
    for items in ([], [0] * (length % 2**24), [0] * (length % 2**32 % 2**25)):
        assert program.holds(items) == (len(items) == length)
    assert program.explain([0]).startswith(f"len(L['x']) == {length} (a list), was 1")


Far = type("Far", (), {"__slots__": tuple(f"s{index}" for index in range(600))})


@pytest.mark.parametrize("name", ["s0", "s200", "s252", "s253", "s254", "s255", "s256", "s599"])
def test_far_slots(name):
    r = Recipe(of)
    x = r.local("x")
    r.fact("TYPE_VERSION", x, Far)
    program = r.fact("CONSTANT", r.attr(x, name), 3.5).build()
    empty = Recipe(of)
    empty.fact("TYPE_VERSION", empty.local("x"), Far)
    absent = empty.fact("ATTR_ABSENT", empty.local("x"), name).build()
    far = Far()
    assert not program.holds(far)
    assert absent.holds(far)
    for other in ("s1", "s251", "s598"):
        setattr(far, other, 3.5)
    assert not program.holds(far)
    assert absent.holds(far)
    setattr(far, name, 3.5)
    assert program.holds(far)
    assert not absent.holds(far)
    setattr(far, name, 4.5)
    assert not program.holds(far)


@pytest.mark.parametrize("index", [1, 2**32 - 1, 2**32 + 1, 2**33 + 1])
def test_far_items(index):
    r = Recipe(of)
    item = r.source("INDEX", r.local("x"), None, index)
    r.fact("TYPE", item, float)
    value = r.symbol(item, "float", 2.0)
    r.facts.append(("SYM", -1, ("GT", value, 1.0)))
    program = r.build()
    assert program.holds([0.0, 2.0]) == (index == 1)
    assert not program.holds([0.0, 0.5])


@pytest.mark.parametrize("ndim", [1, 2, 15, 16, 17, 18, 30])
def test_many_dimensions(ndim):
    compiled = dyntrace.compile(lambda a, b: a + b)
    shape = (1,) * (ndim - 1)
    for size in (3, 4, 5):
        a = np.arange(float(size)).reshape((*shape, size))
        assert compiled(a, a).tobytes() == (a + a).tobytes()
    with pytest.raises(ValueError, match="broadcast"):
        compiled(a, np.ones((*shape, 4)))
    assert len(compiled.cache_entries()) == 1


class Settings:
    def __init__(self):
        for index in range(10):
            setattr(self, f"a{index}", index / 8)


settings = Settings()
g0, g1, g2, g3, g4, g5 = (index / 8 for index in range(6))
TABLE = {f"key{index}": index / 8 for index in range(30)}
ITEMS = [index / 4 for index in range(30)]


def two(a, b):
    return a * b + a


def one(a, b):
    return a * 2


def named(a, b):
    s = settings
    total = g0 + g1 + g2 + g3 + g4 + g5 + s.a0 + s.a1 + s.a2 + s.a3 + s.a4 + s.a5 + s.a6
    return a * b + a if total < 100.0 else a


def containers(a, b):
    total = 0.0
    for value in TABLE.values():
        total += value
    for value in ITEMS:
        total += value
    return a * b + a if total < 1000.0 else a


@pytest.mark.parametrize("function", [one, two, named, containers])
def test_sizes(function):
    compiled = dyntrace.compile(function)
    assert compiled(X, Y).tobytes() == function(X, Y).tobytes()
    (entry,) = compiled.cache_entries()
    assert entry["check_bytes"] <= 64 + 24 * entry["guard_count"]
    assert entry["text_bytes"] <= 256 + 200 * entry["guard_count"]
