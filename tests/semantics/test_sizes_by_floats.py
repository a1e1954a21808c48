"""Sizes and counts computed through floats: one version serves them all."""

import math

import dyntrace
import numpy as np
import pytest
from differential import Compiled, Outcome, compare


def half(x):
    return np.zeros(int((len(x) - 3) / 2)) + 1.0, int(len(x) / 2)


def share(x):
    n = int(0.8 * len(x))
    return x[:n] * 2.0, x[n:].sum(), n


def rounded(x):
    return np.full(round(len(x) * 0.3), 2.5), round(len(x) / 4), round(len(x))


def by_ceil(x):
    n = math.ceil(len(x) / 4)
    return np.arange(n) * x[:n]


def scaled(x):
    return x * int(len(x) / 3) + round(len(x) / 3)


def by_bits(x):
    n = len(x)
    return x * (n & 7) + (n >> 1) + (n << 2) + (n | 5) + (n ^ 9) + ~n, x[: n >> 1].sum(), n & 1


def by_root(x):
    side = int(len(x) ** 0.5)
    return x[: side * side].reshape(side, side).sum(axis=0), int(math.sqrt(len(x)))


@pytest.mark.parametrize("fn", [half, share, rounded, by_ceil, scaled, by_bits, by_root])
def test_one_version_serves_all_sizes(fn):
    with dyntrace.config.patch(strict=True, weigh_after=0, recompile_limit=64):
        compiled = Compiled(fn)
        for n in range(9, 60):
            x = np.arange(float(n))
            compare(Outcome(fn, (x,), {}), Outcome(compiled, (x,), {}))
        assert compiled.published == 1, compiled.describe()
        assert not compiled.breaks


def steps(x, total, dt):
    n = int(total / dt)
    out = np.zeros(n)
    out[-1] = x[0]
    return out, round(total / dt)


def test_numbers_of_steps():
    """A number that varies becomes an input; what int() refuses raises as plainly."""
    with dyntrace.config.patch(strict=True, weigh_after=0):
        compiled = Compiled(steps)
        x = np.ones(3)
        for total in (1.0, 2.0, 2.5, 7.75, 100.0, 0.3, 1e3):
            compare(Outcome(steps, (x, total, 0.1), {}), Outcome(compiled, (x, total, 0.1), {}))
        assert compiled.published <= 2, compiled.describe()
        for total, dt in ((math.inf, 0.1), (math.nan, 0.1), (1.0, 0.0), (-1.0, 0.1), (0.05, 0.1)):
            compare(Outcome(steps, (x, total, dt), {}), Outcome(compiled, (x, total, dt), {}))


def shifted(x, n, k):
    return x * (1 << n), n << k, n >> k


def test_shifts_that_raise_or_are_large():
    with dyntrace.config.patch(strict=True, weigh_after=0, recompile_limit=64):
        compiled = Compiled(shifted)
        x = np.ones(3)
        for n, k in (
            (3, 2),
            (5, 3),
            (9, 0),
            (40, 20),
            (62, 3),
            (2**40, 70),
            (5, -1),
            (-2, 3),
            (7, 7),
        ):
            given = (x, min(n, 70), k)
            compare(Outcome(shifted, given, {}), Outcome(compiled, given, {}))
