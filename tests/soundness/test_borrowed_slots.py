"""A slot that a class has from another one, or under two names."""

import dyntrace
import pytest
from differential import Compiled


class Base:
    __slots__ = ("slot",)


class Borrower:
    borrowed = Base.slot


class SlottedBorrower:
    __slots__ = ("own",)
    borrowed = Base.slot


class TwoNames:
    __slots__ = ("first",)


TwoNames.second = TwoNames.first


class Heir(Base):
    __slots__ = ("__hidden",)
    again = Base.slot

    def __init__(self):
        self.__hidden = 3

    def hidden(self):
        return self.__hidden


def outcome(act):
    try:
        return act()
    except (TypeError, AttributeError) as error:
        return str(error)


def read(x):
    return outcome(lambda: x.borrowed)


def read_twice(x):
    try:
        x.borrowed
    except TypeError as error:
        first = str(error)
    return first, hasattr(x, "__dict__")


def write(x):
    try:
        x.borrowed = 42
    except TypeError as error:
        return str(error), getattr(x, "__dict__", None)


def delete(x):
    try:
        del x.borrowed
    except TypeError as error:
        return str(error)


@pytest.mark.parametrize("cls", [Borrower, SlottedBorrower])
@pytest.mark.parametrize("function", [read, read_twice, write, delete])
def test_of_another_class(function, cls):
    with dyntrace.config.patch(everything=True, strict=True):
        compiled = Compiled(function)
        for _ in range(3):
            assert compiled(cls()) == function(cls())


def test_under_two_names():
    def both(x):
        x.first = 1
        seen = [x.first, x.second]
        x.second = 2
        seen += [x.first, x.second]
        del x.first
        return seen, hasattr(x, "first"), hasattr(x, "second")

    with dyntrace.config.patch(everything=True, strict=True):
        compiled = Compiled(both)
        for _ in range(3):
            assert compiled(TwoNames()) == both(TwoNames()) == ([1, 1, 2, 2], False, False)


def test_of_a_base():
    def all_of_them(x):
        x.slot = 5
        return x.slot, x.again, x.hidden()

    with dyntrace.config.patch(everything=True, strict=True):
        compiled = Compiled(all_of_them)
        for _ in range(3):
            assert compiled(Heir()) == all_of_them(Heir()) == (5, 5, 3)
