"""Arithmetic, in-place arithmetic, comparison, identity, membership, truth; arrays and Python numbers."""

import operator

import numpy as np
import pytest
from differential import check

A = np.linspace(0.5, 2.0, 4)
B = np.array([1.0, -2.0, 3.5, 0.25])
I = np.array([7, -3, 2, 5])
J = np.array([2, 3, 1, 4])

BINARY = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "truediv": lambda a, b: a / b,
    "floordiv": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "pow": lambda a, b: a**b,
    "lshift": lambda a, b: a << b,
    "rshift": lambda a, b: a >> b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
}
FLOAT_OPS = ["add", "sub", "mul", "truediv", "floordiv", "mod"]


@pytest.mark.parametrize("name", FLOAT_OPS)
def test_array_with_array(name):
    check(BINARY[name], A, B)


@pytest.mark.parametrize("name", FLOAT_OPS)
def test_array_with_number(name):
    check(BINARY[name], A, 3.0)
    check(BINARY[name], 3.0, A)


@pytest.mark.parametrize("name", [n for n in BINARY if n not in ("pow", "truediv")])
def test_int_arrays(name):
    check(BINARY[name], I, J)


@pytest.mark.parametrize("name", sorted(BINARY))
@pytest.mark.parametrize("pair", [(7, 3), (-7, 3), (7, -3), (0, 5), (True, 2)])
def test_python_ints(name, pair):
    a, b = pair
    if name in ("lshift", "rshift", "pow") and b < 0:
        pytest.skip("raises or gives a float")
    op = BINARY[name]

    def fn(x, a, b):
        return op(a, b), x + 1.0

    check(fn, A, a, b)


@pytest.mark.parametrize("name", FLOAT_OPS)
@pytest.mark.parametrize("pair", [(7.5, 3.0), (-7.5, 3), (7, -2.5), (1e300, 1e-10)])
def test_python_floats(name, pair):
    op = BINARY[name]

    def fn(x, a, b):
        return op(a, b), x + 1.0

    check(fn, A, *pair)


def test_int_arithmetic_beyond_64_bits():
    def fn(x, n):
        return x + 1.0, n * n

    check(fn, A, 2**40)


def test_division_by_zero():
    def fn(x, n):
        return x + 1 / n

    check(fn, A, 0, breaks="raises")


def test_symbolic_number_keeps_its_entry():
    def fn(x, a):
        return x * a + 2

    compiled = check(fn, A, 3.0)
    for number in (4.0, 0.5, -7.25):
        np.testing.assert_array_equal(compiled(A, number), fn(A, number))
    assert len(compiled.records) == 1


@pytest.mark.parametrize(
    "op", [operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge]
)
def test_comparison(op):
    functions = {
        operator.lt: lambda a, b: a < b,
        operator.le: lambda a, b: a <= b,
        operator.eq: lambda a, b: a == b,
        operator.ne: lambda a, b: a != b,
        operator.gt: lambda a, b: a > b,
        operator.ge: lambda a, b: a >= b,
    }
    function = functions[op]
    check(function, A, B)
    check(function, A, 1.0)
    check(function, 1.0, A)

    def numbers(x, a, b):
        return function(a, b), function(b, a), function(a, a), x + 1.0

    check(numbers, A, 1, 2)
    check(numbers, A, 1.5, 2)
    check(numbers, A, "a", "b")
    check(numbers, A, (1, 2), (1, 3))


def unary(x, n):
    return -x, +x, abs(x), -n, +n, ~3, not n


def inplace(x, y):
    z = x + 0.0
    z = z + y
    n = 3
    n += 4
    n -= 1
    n *= 5
    n //= 2
    n %= 7
    n **= 2
    n <<= 1
    n >>= 1
    n |= 8
    n &= 13
    n ^= 5
    f = 1.5
    f /= 2
    return z, n, f


def identity(x, y, n):
    return x is y, x is x, x is not y, n is None, n is not None, x + 1.0


def membership(x, n):
    return n in (1, 2, 3), n not in [4, 5], "a" in {"a": 1}, "b" in "abc", 3 in range(5), x + 1.0


def chained_comparison(x, n):
    return 0 < n < 10, 0 < n < 2 < 5, x + 1.0


def and_or(x, a, b):
    return a and b, a or b, not a, (a and b) or x, x + 1.0


def invert_bools(x, y):
    return ~(x > 1.0), (x > 1.0) & (y > 0.0), (x > 1.0) | (y > 0.0), (x > 1.0) ^ (y > 0.0)


def matrix(x, y):
    return x @ y


@pytest.mark.parametrize(
    "case",
    [
        (unary, A, 3),
        (unary, A, 2.5),
        (inplace, A, B),
        (identity, A, B, None),
        (identity, A, B, 1),
        (membership, A, 3),
        (membership, A, 4),
        (chained_comparison, A, 5),
        (and_or, A, 0, 5),
        (and_or, A, 2, 0),
        (and_or, A, "", "x"),
        (and_or, A, [], {}),
        (invert_bools, A, B),
        (matrix, A.reshape(2, 2), B.reshape(2, 2)),
        (matrix, A, B),
    ],
    ids=lambda case: case[0].__name__,
)
def test_same(case):
    check(*case)


def test_identity_of_the_same_array():
    check(identity, make=lambda: ((A, A, None), {}))


def test_string_operations():
    def fn(x, s):
        return x + 1.0, s + "b", s * 3, s == "a", s < "b"

    check(fn, A, "a")
