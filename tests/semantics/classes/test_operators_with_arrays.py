"""Operators of a user's object and an array: the left operand's own method has the first turn."""

import dyntrace
import numpy as np
import pytest
from differential import Compiled, Outcome, compare


class Field:
    """A quantity with operators, as simulation and autograd programs have them."""

    def __init__(self, data):
        self.data = data
        self.calls = []

    def __add__(self, other):
        self.calls.append("add")
        return self.data + other

    def __radd__(self, other):
        return ("radd", other)

    def __mul__(self, other):
        self.calls.append("mul")
        return NotImplemented

    def __matmul__(self, other):
        return Field(self.data @ other)

    def __iadd__(self, other):
        self.data = self.data + other
        return self

    def __pow__(self, other):
        raise ValueError("no powers")


class Aside(Field):
    __array_ufunc__ = None


class First(Field):
    __array_priority__ = 10


class Number(float):
    pass


class Items(list):
    pass


def added(v, x):
    return v + x * 2, v.calls


def product(v, x):
    return (v @ x).data + 1


def in_place(v, x):
    v += x
    v += 1.5
    return v.data, v.calls


def of_a_scalar(v, x):
    return v + np.float64(2), v + x.sum(), v + float(x.sum())


def on_the_right(v, x):
    return list(x + v), np.float64(2) + v, v.calls


def refused(v, x):
    try:
        return v * x, v.calls
    except TypeError as error:
        return str(error), v.calls


def raising(v, x):
    return v**x


WHOLE = [added, product, in_place, of_a_scalar]


@pytest.mark.parametrize("cls", [Field, Aside, First])
@pytest.mark.parametrize(
    "fn", [*WHOLE, on_the_right, refused, raising], ids=lambda fn: fn.__name__
)
def test_own_operators(fn, cls):
    with dyntrace.config.patch(everything=True, strict=True):
        compiled = Compiled(fn)
        for _ in range(3):
            compare(
                Outcome(fn, (cls(np.arange(3.0)), np.ones(3)), {}),
                Outcome(compiled, (cls(np.arange(3.0)), np.ones(3)), {}),
            )
    assert (not compiled.breaks) == (fn in WHOLE), compiled.describe()


def with_builtin_parts(number, items, x):
    return number + x, number * 2 + x.sum(), items == [1.0], x


def test_subclasses_of_builtins():
    with dyntrace.config.patch(everything=True, strict=True):
        compiled = Compiled(with_builtin_parts)
        for _ in range(3):
            arguments = Number(1.5), Items([1.0]), np.ones(3)
            compare(
                Outcome(with_builtin_parts, arguments, {}), Outcome(compiled, arguments, {})
            )
