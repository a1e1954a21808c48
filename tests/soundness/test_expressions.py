"""Numbers that loops compute: the expression behind them is bounded, whatever the loop."""

import dyntrace
import numpy as np
import pytest
from differential import Compiled, Outcome, compare

A = np.linspace(0.5, 2.0, 4)


def fibonacci(x, n):
    a, b = n, 1
    for _ in range(80):
        a, b = b, (a + b) % 1000003
    return x + a


def doubling(x, n):
    for _ in range(50):
        n = n * 2 - n // 2
    return x + n % 1000


def counting(x, n):
    while n < 20000:
        n = n + 1
    return x + n


def negating(x, n):
    for _ in range(4000):
        n = -n
    return x + abs(n)


def floats(x, n):
    f = n * 0.5
    for _ in range(2000):
        f = f * 1.5 - f // 3.0
        if f > 1e6:
            f = f % 7.0
    return x + f


def comparing(x, n):
    count = 0
    for i in range(500):
        count = count + (n > i)
    return x + count


def smallest(x, n):
    for i in range(600):
        n = max(min(n, 10 - i), -i)
    return x + n


def sizes(x, n):
    total = 0
    for i in range(500):
        total = total + x.shape[0] * i
    return x + total % 97


@pytest.mark.parametrize("fn", [fibonacci, doubling, counting, negating, floats, comparing, smallest, sizes])
def test_loops(fn):
    with dyntrace.config.patch(unroll_limit=100000):
        compiled = Compiled(fn)
        for n in (1, 1, 2, -5, 7, 2**62, 1):
            compare(Outcome(fn, (A, n), {}), Outcome(compiled, (A, n), {}))
    assert not compiled.faults and compiled.published, compiled.describe()
