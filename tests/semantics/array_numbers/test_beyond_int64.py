"""Ints that outgrow 64 bits behind an effect: the call is made plainly before anything is written."""

import dyntrace
import numpy as np
import pytest


def steps(n, m):
    d = 1
    try:
        for i in range(1, -n, -2):
            yield i
            m[i] = 0.5
            n -= d
            d = 2**62
    finally:
        m = m


def falls(n, m):
    m[0] = 0.5
    return n - 2**62, m


def collect(fn, *args):
    got = []
    try:
        for one in fn(*args):
            got.append(one)
    except Exception as error:
        got.append((type(error), str(error)))
    return got


def test_a_generator_goes_on_with_a_number_of_more_bits():
    with dyntrace.config.patch(unroll_nodes=8):
        compiled = dyntrace.compile(steps)
        for _ in range(3):
            plain, ours = np.zeros(5), np.zeros(5)
            assert collect(compiled, 30, ours) == collect(steps, 30, plain)
            assert np.array_equal(ours, plain)


@pytest.mark.parametrize("number", [0, -(2**62), -(2**63), 2**63 - 1])
def test_a_result_that_outgrows_64_bits_behind_a_write(number):
    compiled = dyntrace.compile(falls)
    for n in (1, 2, number, number - 1, 5):
        plain, ours = falls(n, np.zeros(3)), compiled(n, np.zeros(3))
        assert ours[0] == plain[0] and np.array_equal(ours[1], plain[1])
