"""`function.__get__` called by name, as descriptors that wrap functions do, and protocols of typing."""

import types
import typing

import pytest
from differential import check


def plain(x):
    return x


class Wrapped:
    def __init__(self, function):
        self.function = function

    def __get__(self, instance, owner=None):
        return self.function.__get__(instance, owner)


class Owner:
    factor = 3

    @Wrapped
    def scaled(self, x):
        return self.factor * x


@typing.runtime_checkable
class Closable(typing.Protocol):
    def close(self): ...


@typing.runtime_checkable
class Named(typing.Protocol):
    name: str


class File:
    def close(self):
        return "closed"


class Hidden:
    close = None


class Person:
    def __init__(self, name):
        self.name = name


class Slotted:
    __slots__ = ("name",)


def bound_by_name(x):
    return plain.__get__(x)(), types.FunctionType.__get__(plain, x)(), plain.__get__(None, int)(x)


def through_a_descriptor(x):
    return Owner().scaled(x), Owner.scaled(Owner(), x)


def by_protocol(x):
    return [isinstance(o, Closable) for o in (File(), Hidden(), x, Person("a"))]


def by_an_attribute(x):
    empty, full = Slotted(), Slotted()
    full.name = "b"
    return [isinstance(o, Named) for o in (Person("a"), File(), x, full)], isinstance(empty, File)


def members_of_classes(x):
    return int.__class__, Owner.__class__, Owner.__flags__ & 0, Slotted.__dictoffset__, x


WHOLE = [bound_by_name, through_a_descriptor, by_protocol, by_an_attribute, members_of_classes]


@pytest.mark.parametrize("fn", WHOLE)
def test_captured_whole(fn):
    check(fn, 3)


def test_a_protocol_of_an_argument():
    def work(o):
        return o.close() if isinstance(o, Closable) else None

    check(work, File())
    check(work, Hidden())
    check(work, 3)


def test_an_attribute_that_comes_later():
    def work(o):
        return isinstance(o, Named)

    one, other = File(), File()
    compiled = check(work, one, make=lambda: ((one,), {}))
    other.name = "x"
    assert compiled(other) is True
    assert compiled(one) is False
    one.name = "y"
    assert compiled(one) is True
    del one.name
    assert compiled(one) is False
