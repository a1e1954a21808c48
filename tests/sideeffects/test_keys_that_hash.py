"""New objects with a __hash__ of Python as keys of what is stored: they are filled before they are hashed."""

import zlib
from dataclasses import dataclass

import dyntrace
import pytest
from differential import Compiled


@dataclass(unsafe_hash=True)
class Point:
    x: int


class Holder:
    pass


STORE = {}


def into_a_global(n):
    STORE["points"] = {Point(n): n}
    return STORE["points"]


def set_into_a_global(n):
    STORE["points"] = {Point(n), Point(n + 1)}
    return len(STORE["points"])


def after_another_key(n):
    STORE["first"] = 0
    STORE[Point(n)] = n
    return STORE[Point(n)]


def into_an_attribute(n):
    holder = Holder()
    holder.table = {Point(n): n}
    holder.keys = [Point(n)]
    return holder.table, holder.keys[0] in holder.table


def in_a_tuple(n):
    STORE[(1, Point(n))] = {(2, Point(n)): "x"}
    return STORE[(1, Point(n))]


@pytest.mark.parametrize(
    "fn", [into_a_global, set_into_a_global, after_another_key, into_an_attribute, in_a_tuple]
)
def test_stored(fn):
    with dyntrace.config.patch(everything=True, strict=True):
        compiled = Compiled(fn)
        for n in (3, 3, 4):
            STORE.clear()
            plain, seen = fn(n), dict(STORE)
            STORE.clear()
            assert compiled(n) == plain and STORE == seen


def compressed(data):
    packer = zlib.compressobj()
    pack = packer.compress  # its C function is told its class
    print(end="")
    return zlib.decompress(pack(data) + packer.flush())


def test_bound_method_of_a_c_type():
    with dyntrace.config.patch(everything=True, strict=True):
        compiled = Compiled(compressed)
        for _ in range(3):
            assert compiled(b"abc") == b"abc"
