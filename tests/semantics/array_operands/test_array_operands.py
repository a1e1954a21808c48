"""Operators and ufuncs of arrays with objects of the program's classes (NEP 13)."""

import dyntrace
import numpy as np
import pytest
from differential import check

A = np.array([0.5, 1.0, 1.5, 2.0])


class Refusing:
    """Arrays leave every operator to it."""

    __array_ufunc__ = None

    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        return Refusing(self.value + other)

    def __radd__(self, other):
        return ("radd", other + self.value)

    def __rsub__(self, other):
        return other - self.value

    def __rmul__(self, other):
        return Refusing(other * self.value)

    def __rmatmul__(self, other):
        return (other * self.value).sum()

    def __rpow__(self, other):
        return other**2

    def __rtruediv__(self, other):
        return NotImplemented

    def __gt__(self, other):
        return ("gt", other < self.value)

    def __le__(self, other):
        return other + self.value

    def __eq__(self, other):
        return "equal"


class Greater:
    """Has a priority, as classes had before NEP 13."""

    __array_priority__ = 10

    def __init__(self, value):
        self.value = value

    def __radd__(self, other):
        return other * self.value

    def __rfloordiv__(self, other):
        return [other, self.value]

    def __ge__(self, other):
        return other * 2


class Smaller:
    __array_priority__ = -5.0

    def __radd__(self, other):
        return "never"


class Unit:
    """A number with a unit, as packages for units write it."""

    def __init__(self, value, unit):
        self.value, self.unit = value, unit

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        if method != "__call__" or kwargs:
            return NotImplemented
        values = [x.value if isinstance(x, Unit) else x for x in inputs]
        return Unit(ufunc(*values), self.unit)

    def __add__(self, other):
        return NotImplemented

    def __radd__(self, other):
        return "never: the ufunc comes first"


class Stubborn:
    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return NotImplemented


def unit(result):
    return type(result).__name__, result.unit, result.value


CASES = {
    "add": lambda a: a + Refusing(2.0),
    "sub": lambda a: (a * 2) - Refusing(2.0),
    "mul": lambda a: (a * Refusing(3.0)).value + 1,
    "matmul": lambda a: a @ Refusing(3.0),
    "pow": lambda a: a ** Refusing(3.0),
    "lt": lambda a: a < Refusing(1.0),
    "ge": lambda a: a >= Refusing(1.0),
    "eq": lambda a: (a == Refusing(1.0), Refusing(1.0) == a),
    "its own add": lambda a: (Refusing(2.0) + a).value * 2,
    "its own gt": lambda a: Refusing(2.0) > a,
    "in place by priority": lambda a: _in_place(a * 2, Greater(3.0)),
    "add by priority": lambda a: a + Greater(3.0),
    "floordiv by priority": lambda a: a // Greater(3.0),
    "le by priority": lambda a: a <= Greater(3.0),
    "ne by priority": lambda a: (a != Greater(3.0), a == Greater(3.0)),
    "ufunc by operator": lambda a: unit(a + Unit(2.0, "m")),
    "ufunc by comparison": lambda a: unit(a < Unit(1.2, "m")),
    "ufunc after its own": lambda a: unit(Unit(2.0, "m") + a),
    "ufunc by call": lambda a: unit(np.multiply(a, Unit(2.0, "s"))),
    "ufunc of one": lambda a: unit(np.sqrt(Unit(a * 2, "s"))),
    "ufunc of two alike": lambda a: unit(np.add(Unit(a, "s"), Unit(2.0, "s"))),
    "ufunc by matmul": lambda a: unit(a @ Unit(a, "m")),
    "in a loop": lambda a: [(a * i + Refusing(i))[1] for i in range(3)],
}


def _in_place(a, other):
    a += other
    return a


@pytest.mark.parametrize("name", CASES)
def test_is_followed(name):
    check(CASES[name], A)


def test_as_argument():
    def both(a, x, y):
        return a + x, a - x, a + y, unit(a * Unit(3.0, "kg"))

    check(both, A, Refusing(2.0), Greater(4.0))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("expected", "fn"),
    [
        ("raises", lambda a: _failure(lambda: np.add(a, Stubborn()))),
        ("raises", lambda a: _failure(lambda: a + Stubborn())),
        ("array-op", lambda a: _failure(lambda: np.add(a, Refusing(1.0)))),
        ("array-op", lambda a: _failure(lambda: _in_place(a * 1, Refusing(1.0)))),
        ("array-op", lambda a: _failure(lambda: np.add(a, Unit(1.0, "m"), out=a))),
        ("array-op", lambda a: _failure(lambda: a + Smaller())),
        ("array-op", lambda a: _failure(lambda: np.add(Unit(a, "s"), Stubborn()))),
    ],
)
def test_is_a_break(expected, fn):
    check(fn, A, breaks=expected)


def _failure(call):
    try:
        return str(call())
    except TypeError as error:
        return str(error)[:40]


def test_nobody_knows():
    def divide(a):
        return _failure(lambda: a / Refusing(1.0))

    def order(a):
        return _failure(lambda: a > Refusing(1.0))

    compiled = dyntrace.compile(divide)
    assert compiled(A) == divide(A) == compiled(A)
    compiled = dyntrace.compile(order)
    assert compiled(A) == order(A) == compiled(A)


def test_a_class_that_changes_its_mind():
    class Changing:
        __array_priority__ = 5.0

        def __radd__(self, other):
            return "reflected"

        def __array__(self, dtype=None, copy=None):
            return np.ones(4)

    def add(a, x):
        return a + x

    compiled = dyntrace.compile(add)
    x = Changing()
    assert compiled(A, x) == "reflected" == compiled(A, x)
    x.__array_priority__ = -1.0
    assert compiled(A, x).tolist() == add(A, x).tolist()
    del x.__array_priority__
    assert compiled(A, x) == "reflected"
    Changing.__array_ufunc__ = lambda self, ufunc, method, *inputs: ufunc.__name__
    assert compiled(A, x) == "add" == add(A, x)
    Changing.__array_ufunc__ = None
    assert compiled(A, x) == "reflected"
