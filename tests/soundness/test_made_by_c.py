"""What only code of C, or of a tool, makes: tuples with holes, functions that are entered elsewhere, code that
can't be decoded; and what counts how many know an object."""

import ctypes
import opcode
import sys

import dyntrace
import numpy as np
import pytest
from differential import Compiled, Outcome, compare

A = np.arange(4.0)


def both(fn, *calls):
    with dyntrace.config.patch(everything=True, strict=True):
        compiled = Compiled(fn)
        for args in calls:
            compare(Outcome(fn, args, {}), Outcome(compiled, args, {}))
    assert not compiled.faults, compiled.describe()
    return compiled


def made_by(name, count):
    make = getattr(ctypes.pythonapi, name)
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_ssize_t]
    return make(count)


@pytest.mark.parametrize("name", ["PyTuple_New", "PyList_New"])
def test_items_that_are_missing(name):
    holes = made_by(name, 3)
    some = type(holes)("abc")

    def fn(x, items):
        y = x + 1
        return y * len(items), items[:0], bool(items), type(items).__name__

    compiled = Compiled(fn)
    for items in (holes, some, holes, some, type(holes)(), holes):
        ours, plain = compiled(A, items), fn(A, items)
        assert (ours[0] == plain[0]).all() and ours[1:] == plain[1:]


def test_a_function_that_is_entered_elsewhere():
    divert = getattr(pytest.importorskip("_testcapi"), "function_setvectorcall", None)
    if divert is None:
        pytest.skip("before CPython 3.12 there is no function for it")

    def called(number):
        return number + 1

    class Named:
        def __getattribute__(self, name):
            return name

    named = Named()

    def fn(x):
        return x * 2, called(1), named.a

    compiled = Compiled(fn)
    for _ in range(3):
        compare(Outcome(fn, (A,), {}), Outcome(compiled, (A,), {}))
    divert(called)
    divert(Named.__getattribute__)
    assert fn(A,)[1:] == ("overridden", "overridden")
    for _ in range(3):
        compare(Outcome(fn, (A,), {}), Outcome(compiled, (A,), {}))
    assert not compiled.faults, compiled.describe()
    both(fn, (A,), (A,))


def test_a_metaclass_that_makes_no_classes():
    meta = getattr(pytest.importorskip("_testcapi"), "HeapCTypeMetaclassNullNew", None)
    if meta is None:
        pytest.skip("CPython has none to test with before 3.12")

    def fn(x):
        return x + 1, meta("Made", (), {})

    def statement(x):
        class Made(metaclass=meta):
            pass

        return x + 1, Made

    both(fn, (A,), (A,))
    both(statement, (A,), (A,))


def test_code_that_can_not_be_decoded():
    """Nobody comes to its last instruction, so CPython runs it."""

    def called(x):
        return x + 1

    code = called.__code__
    never = bytes([opcode.opmap["LOAD_CONST"], 250])
    called.__code__ = code.replace(co_code=code.co_code + never)

    def fn(x):
        return called(x) * 2, called(3)

    both(fn, (A,), (A,), (3,))


def is_resized(n, others):
    x = np.zeros((2, 2))
    y = x if others else None
    try:
        x.resize((n, 3))
    except ValueError as error:
        return str(error)[:30]
    return x.shape, A + 1


def is_resized_alone(n):
    x = np.zeros((2, 2))
    y = x  # noqa: F841
    try:
        x.resize((n, 3))
    except ValueError as error:
        return str(error)[:30]
    return x.shape, A + 1


def counts(x, shared):
    y = x + 1
    z = y  # noqa: F841
    return sys.getrefcount(y), sys.getrefcount(shared) > 0


def test_others_that_know_an_array():
    both(is_resized, (4, True), (4, False), (5, True), (5, False))
    both(is_resized_alone, (4,), (5,))
    both(counts, (A, [1]), (A, [1]), (A, [1]))
