"""Number slots called by name, through super() and the class: what they accept, and NotImplemented."""

from __future__ import annotations

import operator

import dyntrace
import pytest


class MyInt(int):
    def __truediv__(self, other):
        return type(self)(super().__truediv__(other) * 10)

    def __rsub__(self, other):
        return super().__rsub__(other)


class MyFloat(float):
    def __add__(self, other):
        return super().__add__(other)

    def __rtruediv__(self, other):
        return type(self)(super().__rtruediv__(other))

    def __lt__(self, other):
        return super().__lt__(other)


class MyComplex(complex):
    def __rmul__(self, other):
        return super().__rmul__(other)


class Old(int):
    def __divmod__(self, other):
        return super().__divmod__(other)


HUGE = 10**30
OWNERS = [MyInt(3), MyFloat(4.5), MyComplex(1 + 2j), Old(7), 5, 2.5, 1j, True]
OTHERS = [1, 2.5, True, 1j, "s", None, HUGE, MyInt(3), MyFloat(4), MyComplex(2)]
NAMES = """add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod rmod pow rpow divmod
rdivmod and rand or ror xor rxor lshift rshift eq ne lt le gt ge""".split()
OPERATORS = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod,
             divmod, operator.lt, operator.ge, operator.eq]  # fmt: skip


def outcome(function, *args):
    try:
        result = function(*args)
    except Exception as error:
        return type(error), str(error)
    return type(result), repr(result)


def check(function, *args):
    plain = outcome(function, *args)
    compiled = dyntrace.compile(function)
    with dyntrace.config.patch(everything=True, strict=True):
        for _ in range(2):
            assert outcome(compiled, *args) == plain


@pytest.mark.parametrize("name", NAMES)
def test_by_name(name):
    method = f"__{name}__"

    def call(a, b):
        return getattr(a, method)(b)

    for a in OWNERS:
        for b in OTHERS:
            if not (HUGE in (a, b) and name in ("pow", "rpow", "lshift", "rlshift")):
                check(call, a, b)


@pytest.mark.parametrize("op", OPERATORS)
def test_by_operator(op):
    def call(a, b):
        return op(a, b)

    for a in OWNERS[:4]:
        for b in OTHERS:
            check(call, a, b)
            check(call, b, a)


class Base:
    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        return self.value + other

    __radd__ = __add__


class NoInPlace(Base):
    __iadd__ = None


class NoLeft(Base):
    __add__ = None


class NoRight(Base):
    __radd__ = None


def add_in_place(a, b):
    a += b
    return a


@pytest.mark.parametrize("left", [1, Base(1), NoInPlace(2), NoLeft(3), NoRight(4)])
@pytest.mark.parametrize("right", [1, Base(1), NoInPlace(2), NoLeft(3), NoRight(4)])
@pytest.mark.parametrize("function", [operator.add, add_in_place])
def test_operators_that_are_none(function, left, right):
    def call(a, b):
        return function(a, b)

    check(call, left, right)
