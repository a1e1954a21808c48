"""Operators of arrays that are called by their names: what ndarray's own slot does, not its absence."""

import dyntrace
import numpy as np
import pytest
from differential import Compiled, Outcome, compare


def added(a, o):
    return a.__add__(o), np.ndarray.__add__(a, o), np.ndarray.__radd__(a, o)


def compared(a, o):
    return a.__eq__(o), a.__lt__(o), a.__ne__(o), np.ndarray.__ge__(a, o)


def of_numbers(a, o):
    return (1).__add__(a), (1.5).__mul__(o), (1.5).__eq__(a), (2).__pow__(o), (2j).__add__(a)


def of_floats_that_are_numpys(a, o):
    one = np.float64(2)
    return (1.5).__lt__(one), (1.5).__add__(one), one.__add__(a), one.__add__(1), (1).__add__(one)


def of_one(a, o):
    return a.__neg__(), a.__len__(), a.__getitem__(0), a.__abs__(), a.__contains__(1)


def powers(a, o):
    return a.__matmul__(a), a.__pow__(2), a.__rpow__(2), a.__divmod__(3), a.__truediv__(o)


def of_a_list(a, o):
    try:
        return [1].__add__(a)
    except TypeError as error:
        return str(error), [1].__eq__(a)


def in_place(a, o):
    a.__iadd__(a)
    np.ndarray.__isub__(a, 1)
    a.__setitem__(0, 7)
    return a.__imul__(o) is a


def result_not_used(a, o):
    y = a * 2
    np.ndarray.__iadd__(a, o)
    return y + 1, a


def not_for_arrays(a, o):
    return a.__add__("x")


OPERANDS = [np.array(1), np.arange(4), 3, 2.5, np.int64(3)]


@pytest.mark.parametrize("operand", OPERANDS, ids=repr)
@pytest.mark.parametrize(
    "fn",
    [
        added,
        compared,
        of_numbers,
        of_floats_that_are_numpys,
        of_one,
        powers,
        of_a_list,
        in_place,
        result_not_used,
        not_for_arrays,
    ],
    ids=lambda fn: fn.__name__,
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_slots_by_name(fn, operand):
    for everything in (False, True):
        with dyntrace.config.patch(everything=everything, strict=True):
            compiled = Compiled(fn)
            for _ in range(3):
                compare(
                    Outcome(fn, (np.arange(4), operand), {}),
                    Outcome(compiled, (np.arange(4), operand), {}),
                )
