"""Memory that is out: NumPy's MemoryError, from the program's line and within its handlers."""

import traceback

import dyntrace
import numpy as np
import pytest

TOO_MANY = 10**15


def falls_back(x, n, log):
    try:
        y = np.zeros(n) + x[0]
    except MemoryError:
        y = x * 2
    return y.sum() + x


def cleans_up(x, n, log):
    try:
        return np.ones((n, 2)).sum() + x
    finally:
        log.append(n)


def fails_behind_a_write(x, n, log):
    x += 1
    y = np.full(n, 0.5)
    x[0] = 7
    return y[:3] + x


def outcome(fn, *args):
    try:
        return "result", fn(*args).tolist()
    except MemoryError as error:
        frames = traceback.extract_tb(error.__traceback__)[1:]
        return type(error), str(error), [(one.name, one.lineno) for one in frames]


@pytest.mark.parametrize("backend", ["native", "eager"])
@pytest.mark.parametrize("fn", [falls_back, cleans_up, fails_behind_a_write])
def test_as_plainly(fn, backend):
    compiled = dyntrace.compile(fn, backend=backend)
    for n in (3, 4, TOO_MANY, 5, TOO_MANY, 3):
        plain, ours, logs = np.ones(3), np.ones(3), ([], [])
        assert outcome(compiled, ours, n, logs[1]) == outcome(fn, plain, n, logs[0])
        assert ours.tolist() == plain.tolist() and logs[0] == logs[1]
