"""Who refuses a ufunc or an array function, whatever the others beside it say (NEP 13, NEP 18)."""

import numpy as np
import pytest
from differential import check_calls

A = np.array([0.5, 1.0, 1.5])


class Refuses:
    __array_ufunc__ = None
    __array_function__ = None

    def __radd__(self, other):
        return ("radd", type(other).__name__)


class RefusesAsSubclass(Refuses):
    pass


class Greedy:
    """Takes every call, and says how it was asked."""

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return (type(self).__name__, ufunc.__name__, method, [type(x).__name__ for x in inputs], len(kwargs))

    def __array_function__(self, func, types, args, kwargs):
        return (type(self).__name__, func.__name__, len(types), len(args), sorted(kwargs))


class GreedySubclass(Greedy):
    pass


class RefusesAgain(Greedy):
    """Its base would take the call."""

    __array_ufunc__ = None


class TakesAgain(Refuses):
    """Its base would refuse."""

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return "takes again"


class Callable:
    def __call__(self, *args, **kwargs):
        return ("callable", len(args), len(kwargs))


class ByObject:
    """Has the word through something that is no function."""

    __array_ufunc__ = Callable()


class ByStatic:
    @staticmethod
    def __array_ufunc__(ufunc, method, *inputs, **kwargs):
        return ("static", method)


class Numbers(list):
    __array_ufunc__ = None
    __array_function__ = None


class GreedyNumbers(list):
    __array_ufunc__ = Greedy.__array_ufunc__
    __array_function__ = Greedy.__array_function__


class Number(float):
    __array_ufunc__ = None


class Scalar(np.float64):
    __array_ufunc__ = None


class GreedyScalar(np.float64):
    __array_ufunc__ = Greedy.__array_ufunc__


class Refusing(np.ndarray):
    __array_ufunc__ = None


class GreedyArray(np.ndarray):
    __array_ufunc__ = Greedy.__array_ufunc__


class Plain(np.ndarray):
    pass


class Meta(type):
    __array_ufunc__ = None


class ClassThatRefuses(metaclass=Meta):
    pass


OPERANDS = {
    "array": A,
    "number": 2.0,
    "list": [1.0, 2.0, 3.0],
    "refuses": Refuses(),
    "refuses as subclass": RefusesAsSubclass(),
    "greedy": Greedy(),
    "greedy subclass": GreedySubclass(),
    "refuses again": RefusesAgain(),
    "takes again": TakesAgain(),
    "by object": ByObject(),
    "by static": ByStatic(),
    "list that refuses": Numbers([1.0, 2.0, 3.0]),
    "greedy list": GreedyNumbers([1.0, 2.0, 3.0]),
    "float that refuses": Number(2.0),
    "scalar that refuses": Scalar(2.0),
    "greedy scalar": GreedyScalar(2.0),
    "array that refuses": A.view(Refusing),
    "greedy array": A.view(GreedyArray),
    "array of a class": A.view(Plain),
    "class that refuses": ClassThatRefuses,
}


def said(call, *args):
    try:
        result = call(*args)
    except TypeError as error:
        return str(error).partition("0x")[0]
    return result if isinstance(result, (np.ndarray, np.generic, tuple, str)) else type(result).__name__


def of_one(x):
    return [said(np.negative, x), said(np.sqrt, x), said(np.isnan, x)]


def of_two(x, y):
    return said(np.add, x, y), said(np.less, x, y)


def into(x, y):
    return (
        said(lambda: np.add(x, 1.0, out=y)),
        said(lambda: np.add(x, 1.0, y)),
        said(lambda: np.negative(x, out=(y,))),
    )


def where(x, y):
    return said(lambda: np.add(x, 1.0, where=y)), said(lambda: np.add(x, y, dtype=float))


def methods(x, y):
    return (
        said(lambda: np.add.outer(x, y)),
        said(lambda: np.add.reduce(x)),
        said(lambda: np.add.accumulate(x, out=y)),
        said(lambda: np.add.at(x, 0, y)),
    )


def operators(x, y):
    return (
        said(lambda: x - y),
        said(lambda: x < y),
        said(lambda: -x),
        said(lambda: divmod(x, y)),
        said(lambda: x // y),
    )


def in_place(x, y):
    def subtract(x):
        x -= y
        return x

    return said(subtract, x)


def functions(x, y):
    return (
        said(lambda: np.sum(x)),
        said(lambda: np.concatenate([x, y])),
        said(lambda: np.where(x, y, 0)),
        said(lambda: np.clip(x, 0, y)),
        said(lambda: np.dot(x, y)),
        said(lambda: np.mean(x, out=y)),
    )


def both(x, y):
    """A call that is followed before one that raises."""
    first = said(np.negative, x)
    return first, said(np.add, x, y), said(np.add, y, x)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("fn", [of_two, into, where, methods, operators, in_place, functions, both])
@pytest.mark.parametrize("first", OPERANDS)
def test_two(first, fn):
    for second in OPERANDS.values():
        check_calls(fn, (OPERANDS[first], second), whole=False)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", OPERANDS)
def test_one(name):
    check_calls(of_one, (OPERANDS[name],), whole=False)
