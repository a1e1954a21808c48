"""Enumerations: members, values, names, look-up, iteration, flags, integer and text members."""

from enum import Enum, Flag, IntEnum, IntFlag, auto

import numpy as np
import pytest
from differential import check

A = np.linspace(0.5, 2.0, 4)


class Color(Enum):
    RED = 1
    GREEN = 2
    BLUE = "b"

    @property
    def weight(self):
        return 3.0 if self is Color.RED else 1.0

    def mixed(self, other):
        return self.value, other.value

    @classmethod
    def default(cls):
        return cls.GREEN


class Level(IntEnum):
    LOW = 1
    HIGH = 3


class Mode(str, Enum):
    FAST = "fast"
    SLOW = "slow"


class Options(Flag):
    A = auto()
    B = auto()
    C = auto()
    AB = A | B


class Bits(IntFlag):
    ONE = 1
    TWO = 2


class Planet(Enum):
    EARTH = (5.0, 6.0)
    MARS = (3.0, 4.0)

    def __init__(self, mass, radius):
        self.mass = mass
        self.radius = radius

    @property
    def gravity(self):
        return self.mass / self.radius


def identity(c, x):
    if c is Color.RED:
        return x * 2.0
    return x


def equality(c, x):
    if c == Color.GREEN:
        return x * 2.0
    return x + 1.0, c != Color.RED


def value(c, x):
    return x * c.value


def name(c, x):
    return x + len(c.name), c.name


def member_value(x):
    return x * Color.GREEN.value, Color.RED.name


def member_property(c, x):
    return x * c.weight


def member_method(c, x):
    return x + 1, c.mixed(Color.BLUE)


def class_method(x):
    return x * Color.default().value


def by_value(x):
    return x * Color(2).value, Color("b") is Color.BLUE


def by_name(x):
    return x * Color["GREEN"].value


def returned(x):
    return x + 1, Color.RED, Color(2)


def is_instance(c, x):
    return x + 1, isinstance(c, Color), isinstance(c, Enum), type(c) is Color


def contains(c, x):
    return x + 1, c in Color


def length(x):
    return x * len(Color)


def iterate(x):
    total = x
    for member in Level:
        total = total + member.value
    return total


def int_compare(v, x):
    return x * 2, v < Level.HIGH, v == 1, v == Level.LOW, v + 1


def int_arithmetic(x):
    return x * (Level.HIGH + 1), Level.HIGH * Level.LOW, int(Level.HIGH)


def int_index(x):
    return x[Level.LOW], [1.0, 2.0, 3.0, 4.0][Level.HIGH]


def int_range(x):
    for i in range(Level.HIGH):
        x = x + i
    return x


def text_compare(m, x):
    if m == "fast":
        return x * 2
    return x


def text_value(m, x):
    return x + len(m.value), m is Mode.FAST


def flag_and(f, x):
    if f & Options.A:
        return x * 2
    return x


def flag_or(x):
    return x + 1, Options.A | Options.B, (Options.A | Options.B) is Options.AB


def flag_contains(f, x):
    return x + 1, Options.A in f, Options.C in f


def flag_invert(x):
    return x + 1, bool(Options.A & Options.B), Options.AB & ~Options.A


def int_flag(x):
    return x + 1, Bits.ONE | Bits.TWO, Bits.ONE & 3


def attributes(p, x):
    return x * p.gravity + p.mass


def attributes_of_class(x):
    return x * Planet.EARTH.gravity


def in_list(c, x):
    return x + 1, c in (Color.RED, Color.GREEN), [Color.RED, Color.BLUE].index(Color.BLUE)


def as_attribute(x):
    holder = Holder(Color.RED)
    return x * (2.0 if holder.color is Color.RED else 1.0), holder


class Holder:
    def __init__(self, color):
        self.color = color


CASES = [
    (identity, lambda: (Color.RED, A)),
    (identity, lambda: (Color.BLUE, A)),
    (equality, lambda: (Color.RED, A)),
    (equality, lambda: (Color.GREEN, A)),
    (value, lambda: (Color.GREEN, A)),
    (name, lambda: (Color.GREEN, A)),
    (member_value, lambda: (A,)),
    (member_property, lambda: (Color.RED, A)),
    (member_method, lambda: (Color.RED, A)),
    (class_method, lambda: (A,)),
    (by_value, lambda: (A,)),
    (by_name, lambda: (A,)),
    (returned, lambda: (A,)),
    (is_instance, lambda: (Color.RED, A)),
    (contains, lambda: (Color.RED, A)),
    (length, lambda: (A,)),
    (iterate, lambda: (A,)),
    (int_compare, lambda: (Level.LOW, A)),
    (int_arithmetic, lambda: (A,)),
    (int_index, lambda: (A,)),
    (int_range, lambda: (A,)),
    (text_compare, lambda: (Mode.FAST, A)),
    (text_value, lambda: (Mode.FAST, A)),
    (flag_and, lambda: (Options.A, A)),
    (flag_or, lambda: (A,)),
    (flag_contains, lambda: (Options.AB, A)),
    (flag_invert, lambda: (A,)),
    (int_flag, lambda: (A,)),
    (attributes, lambda: (Planet.MARS, A)),
    (attributes_of_class, lambda: (A,)),
    (in_list, lambda: (Color.RED, A)),
    (as_attribute, lambda: (A,)),
]


@pytest.mark.parametrize("fn, make", CASES, ids=lambda case: getattr(case, "__name__", "args"))
def test_same(fn, make):
    check(fn, make=lambda: (make(), {}))


def no_value(c, x):
    y = x + 1
    return y, Color(99)


def no_name(c, x):
    y = x + 1
    return y, Color["NONE"]


def no_member(c, x):
    y = x + 1
    return y, Color.NONE


FAILING = [no_name, no_member]


@pytest.mark.parametrize("fn", FAILING)
def test_failing(fn):
    compiled = check(fn, make=lambda: ((Color.RED, A), {}), breaks="raises")
    assert compiled.breaks
