"""math and cmath: on constants, on numbers that stay symbolic, on objects."""

import cmath
import math
import sys

import dyntrace
import numpy as np
import pytest
from differential import Compiled, Outcome, check, compare

A = np.linspace(0.5, 2.0, 4)
CAPTURED = []


def captured(fn):
    CAPTURED.append(fn)
    return fn


class Real:
    def __init__(self, value):
        self.value = value

    def __float__(self):
        return self.value


class Whole:
    def __index__(self):
        return 12


class Rounds:
    def __floor__(self):
        return "floor"

    def __ceil__(self):
        return "ceil"

    def __trunc__(self):
        return "trunc"


class Complex:
    def __complex__(self):
        return 1 + 2j


@captured
def roots(x):
    return x * math.sqrt(2), math.isqrt(17), math.sqrt(True), math.hypot(3, 4), math.hypot(1, 2, 3)


@captured
def trigonometry(x):
    return x * math.sin(1.0) + math.cos(1.0) - math.tan(0.5), math.atan2(1, -1), math.asin(1)


@captured
def hyperbolic(x):
    return (
        x,
        math.sinh(1),
        math.cosh(1),
        math.tanh(1),
        math.asinh(1),
        math.acosh(2),
        math.atanh(0.5),
    )


@captured
def logarithms(x):
    return x * math.log(10), math.log(8, 2), math.log2(8), math.log10(1000), math.log1p(1e-9)


@captured
def exponentials(x):
    return x * math.exp(1), math.expm1(1e-9), math.pow(2, 0.5), math.e**2


@captured
def rounding(x):
    return x * math.floor(2.5), math.ceil(2.1), math.trunc(-2.7), math.floor(-0.5), math.fabs(-3)


@captured
def remainders(x):
    return x, math.fmod(-7, 3), math.remainder(7, 4), math.modf(-2.5), math.frexp(8.0)


@captured
def parts(x):
    return x, math.ldexp(0.75, 3), math.copysign(1.0, -0.0), math.ulp(1.0), math.nextafter(1.0, 2.0)


@captured
def integers(x):
    return x * math.gcd(12, 18, 27), math.lcm(4, 6), math.gcd(), math.factorial(10)


@captured
def combinatorics(x):
    return x * math.comb(5, 2), math.perm(5, 2), math.perm(4), math.comb(3, 5)


@captured
def large_integers(x):
    return x, math.factorial(30), math.isqrt(10**40), math.gcd(10**30, 10**20), math.log(10**400)


@captured
def special_functions(x):
    return x, math.erf(0.5), math.erfc(0.5), math.gamma(5), math.lgamma(10.5)


@captured
def kinds_of_floats(x):
    return x, math.isnan(math.nan), math.isinf(-math.inf), math.isfinite(1), math.isclose(1, 1.1)


@captured
def closeness(x):
    return x, math.isclose(1.0, 1.05, rel_tol=0.1), math.isclose(0.0, 1e-9, abs_tol=1e-6)


@captured
def angles(x):
    return x * math.degrees(math.pi), math.radians(180), math.tau, math.e


@captured
def sums(x):
    return x * math.fsum([0.1] * 10), math.fsum(v / 10 for v in range(10)), math.fsum(())


@captured
def products(x):
    return (
        x,
        math.prod([1, 2, 3]),
        math.prod([0.1, 3], start=2),
        math.prod([]),
        math.prod(range(1, 30)),
    )


@captured
def product_of_arrays(x):
    return math.prod([x, 2.0, x])


@captured
def distance(x):
    return x * math.dist([0, 0], (3, 4)), math.dist((), ())


@captured
def of_objects(x):
    return x * math.sqrt(Real(2.0)), math.cos(Whole()), math.gcd(Whole(), 8)


@captured
def rounding_of_objects(x):
    return x, math.floor(Rounds()), math.ceil(Rounds()), math.trunc(Rounds()), math.floor(Real(2.5))


@captured
def complex_functions(x):
    return x, cmath.sqrt(-1), cmath.exp(1j), cmath.log(1j), cmath.log(1j, 2), cmath.log10(100)


@captured
def complex_parts(x):
    return x, cmath.phase(1j), cmath.polar(1 + 1j), cmath.rect(1, 2), cmath.isclose(1j, 1j)


@captured
def complex_trigonometry(x):
    return x, cmath.sin(1j), cmath.cos(1), cmath.tan(1j), cmath.asin(2), cmath.acosh(0.5)


@captured
def complex_tests(x):
    return x, cmath.isnan(complex("nan")), cmath.isinf(cmath.infj), cmath.isfinite(1j), cmath.pi


@captured
def complex_of_objects(x):
    return x, cmath.exp(Complex()), cmath.sqrt(Real(4.0))


@captured
def passed_around(x):
    return x, [f(0.5) for f in (math.sin, math.cos, math.exp)], list(map(math.floor, [1.5, 2.5]))


@captured
def softplus(x):
    return x * sum(math.log1p(math.exp(-abs(v))) + max(v, 0) for v in (-1.0, 0.5))


@captured
def gaussian_weights(x):
    weights = [math.exp(-(k**2) / 2) for k in range(4)]
    total = math.fsum(weights)
    return (
        x * np.array([w / total for w in weights])
        if len(weights) == 0
        else x * (weights[1] / total)
    )


@pytest.mark.parametrize("fn", CAPTURED)
def test_math(fn):
    check(fn, A)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="new in 3.11")
def test_newer_functions():
    def fn(x):
        return x * math.cbrt(27), math.exp2(3)

    check(fn, A)


def scaled_by_root(x, s):
    return x * math.sqrt(s)


def attenuated(x, t):
    return x * math.exp(-t) + math.sin(t) * math.cos(t)


def in_bins(x, v):
    return x + math.floor(v) + math.ceil(v) + math.trunc(v), math.floor(v)


def in_decibels(x, v):
    return x * 20.0 * math.log10(v), math.log(v), math.log2(v)


def squashed(x, v):
    return x * math.tanh(v) + math.atan(v), math.fabs(v), math.tan(v)


def as_ints(x, v):
    return x + int(v) + round(v), int(v * 0.8), round(v / 2)


def powers(x, v):
    return (
        x * v**2,
        math.log(v, 2),
        math.log(v + 1, v + 2),
        v**0.5,
        v**-1,
        2.0**v,
        3**v,
        math.pow(v, 3),
        math.pow(2, v),
    )


def turned(x, v):
    angle = math.radians(v)
    return x * math.cos(angle), math.atan2(v, 2), math.atan2(-1.0, v), math.degrees(angle)


def remainders(x, v):
    return x + math.fmod(v, 3), math.fmod(7.5, v), math.copysign(2.0, v), math.copysign(v, -1)


def hyperbolic(x, v):
    return x + math.sinh(v) * math.cosh(v), math.asin(v / 1000), math.acos(v / 1000)


def asked(x, v):
    return x, math.isnan(v), math.isinf(v), math.isfinite(v)


def test_questions_about_a_number_stay_symbolic():
    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        compiled = Compiled(asked)
        for value in (1.5, 0.0, math.nan, -math.inf, math.inf, 1e308, -5e-324):
            compare(Outcome(asked, (A, value), {}), Outcome(compiled, (A, value), {}))
        assert compiled.published == 1, compiled.describe()
        assert not compiled.breaks


@pytest.mark.parametrize("fn", [powers, turned, remainders, hyperbolic])
def test_numbers_stay_symbolic_where_nothing_special_is_among_them(fn):
    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0, recompile_limit=64):
        compiled = Compiled(fn)
        for value in (1.5, 2.25, 0.5, 3.0, 7.25, 100.0, 1e-3):
            compare(Outcome(fn, (A, value), {}), Outcome(compiled, (A, value), {}))
        assert compiled.published == 1, compiled.describe()
        for value in (-1.5, -2.0, 0.0, -0.0, 1e300, -1e308, math.inf, -math.inf, math.nan, 1e-320):
            compare(Outcome(fn, (A, value), {}), Outcome(compiled, (A, value), {}))


@pytest.mark.parametrize(
    "fn", [scaled_by_root, attenuated, in_bins, in_decibels, squashed, as_ints]
)
def test_numbers_stay_symbolic(fn):
    values = [1.5, 2.25, 1e-300, 700.0, -1.0, 0.0, -0.0, math.inf, -math.inf, math.nan, 1e300]
    values += [0.5, 2.5, -3.5, 4503599627370497.5, 2.0**53, -(2.0**60)]
    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        compiled = Compiled(fn)
        for value in values:
            compare(Outcome(fn, (A, value), {}), Outcome(compiled, (A, value), {}))
        assert compiled.published == 1, compiled.describe()
        assert set(compiled.breaks) <= {"raises", "symbolic-range"}


def negative_root(x):
    y = x + 1.0
    return y, math.sqrt(-1)


def overflow(x):
    y = x + 1.0
    return y, math.exp(1000)


def no_number(x):
    y = x + 1.0
    return y, math.sin("a")


def no_trunc(x):
    y = x + 1.0
    return y, math.trunc(Real(1.5))


def negative_factorial(x):
    y = x + 1.0
    return y, math.factorial(-1)


def lengths_differ(x):
    y = x + 1.0
    return y, math.dist([1], [1, 2])


@pytest.mark.parametrize(
    "fn", [negative_root, overflow, no_number, no_trunc, negative_factorial, lengths_differ]
)
def test_errors(fn):
    check(fn, A, breaks="raises")


def large_factorial(x):
    return x, math.factorial(6000) > 0


def root_of_array(x):
    return x, math.sqrt(x[0])


def test_breaks():
    check(large_factorial, A, breaks="symbolic-range")


def test_number_of_an_array():
    check(root_of_array, A)
