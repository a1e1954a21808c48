"""Locals, constants, deletion, stack moves."""

import numpy as np
import pytest
from differential import check

A = np.linspace(0.5, 2.0, 4)


def one_local(x):
    y = x + 1.0
    return y


def reassigned(x):
    y = x
    y = y * 2.0
    y = y - x
    return y


def swapped(x, y):
    x, y = y, x
    return x - y


def rotated(x, y, z):
    x, y, z = y, z, x
    return x - y * z


def four_rotated(a, b, c, d):
    a, b, c, d = d, c, b, a
    return a - b * c + d


def chained(x):
    y = z = x * 2.0
    return y + z


def deleted(x):
    y = x + 1.0
    z = y
    del y
    return z


def rebound_after_delete(x):
    y = x + 1.0
    del y
    y = x - 1.0
    return y


def walrus(x):
    if (y := x * 2.0) is not None:
        return y + x
    return x


def many_constants(x):
    return x + 1 + 2.5 + True - 1e-300 + -0.0


def returns_constant(x):
    x + 1.0
    return 3


def returns_none(x):
    x + 1.0


def returns_argument(x):
    x + 1.0
    return x


def returns_both(x):
    y = x + 1.0
    return x, y, y, x


def docstring_only(x):
    """Nothing else."""


def conditional_expression(x, flag):
    return x + 1.0 if flag else x - 1.0


def unused_arguments(x, unused, *more, also=None):
    return x * 2.0


def annotated(x):
    y: float = 2.0
    z: "unknown" = x * y  # noqa: F821
    return z


def star_of_array(x):
    a, b, c, d = x
    return a + d, b * c


CASES = [
    (one_local, A),
    (reassigned, A),
    (swapped, A, A + 1),
    (rotated, A, A + 1, A * 3),
    (four_rotated, A, A + 1, A * 3, A - 9),
    (chained, A),
    (deleted, A),
    (rebound_after_delete, A),
    (walrus, A),
    (many_constants, A),
    (returns_constant, A),
    (returns_none, A),
    (returns_argument, A),
    (returns_both, A),
    (docstring_only, A),
    (conditional_expression, A, True),
    (conditional_expression, A, False),
    (unused_arguments, A, object, 1, 2),
    (annotated, A),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_same(case):
    check(*case)


@pytest.mark.parametrize(
    "constant", [None, True, 3, 2.5, 1j, "text", b"bytes", (1, (2.0, "x")), ..., frozenset({1})]
)
def test_constant_arguments_come_back(constant):
    def fn(x, c):
        return x + 1.0, c

    check(fn, A, constant)


@pytest.mark.parametrize("value", [0, 1, -1, 2**62, -(2**63), 2**63 - 1])
def test_int_arguments(value):
    def fn(x, n):
        return n, [n, n], x * 1.0

    check(fn, A, value)


@pytest.mark.parametrize("value", [2**63, 2**200])
def test_big_ints(value):
    def fn(x, n):
        return n, x * 1.0

    check(fn, A, value)


@pytest.mark.parametrize("value", [0.0, -0.0, float("inf"), float("nan"), 5e-324, 1e308])
def test_float_arguments(value):
    def fn(x, v):
        return v, x * v, -v

    with np.errstate(all="ignore"):
        check(fn, A, value)
