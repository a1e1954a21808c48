"""Branches on numbers of arrays of which one way leads to a `raise`: the other one is followed, and checked.

See src/symbolic/expect.c. PYTEST_DONT_REWRITE: the functions assert themselves.
"""

import warnings

import dyntrace
import numpy as np
import pytest
from differential import FORCED, check, check_calls

GOOD, BAD = np.array([1.0, 2.0, 3.0]), np.array([1.0, np.nan, -3.0])


class Refused(Exception):
    def __init__(self, text, value):
        super().__init__(text)
        self.value = value


def validates(x):
    y = x * 2
    if not np.isfinite(x).all():
        raise ValueError(f"not finite: {x.shape} {float(x[0])}")
    return y + 1


def either(x):
    y = x * 2
    if (x < 0).any() or x.sum() == 0:
        raise Refused("of x", x.sum())
    return y


def asserts(x):
    assert x[0] > 0, "first"
    assert np.all(x == x)
    return x * 3


def of_numbers(x):
    total = float(x.sum())
    if total != total:
        raise Refused("of NaN", total) from None
    return x / total


def several_ways(x):
    if x[0] > 100:
        message = "large"
        raise KeyError(message)
    elif x[1] != x[1]:
        raise KeyError("second")
    else:
        x = x + 1
    return x


def callee(x):
    if x[2] < 0:
        raise IndexError(x[2])
    return x - 1


def calls(x):
    return callee(x * 2) * callee(x + 1)


def of_no_dimensions(x):
    total = np.asarray(x.sum())
    if total > 1e9:
        raise OverflowError
    return x + total


FUNCTIONS = [validates, either, asserts, of_numbers, several_ways, calls, of_no_dimensions]


@pytest.mark.parametrize("fn", FUNCTIONS, ids=lambda fn: fn.__name__)
def test_a_branch_to_raise_is_whole(fn):
    check(fn, GOOD)


@pytest.mark.parametrize("fn", FUNCTIONS, ids=lambda fn: fn.__name__)
def test_the_exception_is_the_plain_one(fn):
    check_calls(fn, (GOOD,), (BAD,), (GOOD,), (-GOOD,), (GOOD * 1000,), (np.array([0.0, 0.0, 0.0]),))


@pytest.mark.parametrize("fn", FUNCTIONS, ids=lambda fn: fn.__name__)
def test_the_first_call_raises(fn):
    check_calls(fn, (BAD,), (BAD,), (GOOD,))


def test_writes_before_the_raise_are_made_once():
    def fn(x, seen):
        x[0] += 1
        seen.append(len(seen))
        if x[1:].sum() > 8:
            raise Refused("far", x[1])
        x[1] *= 2
        return x * 1

    check_calls(fn, (GOOD, []), (GOOD * 2, [1]), (GOOD, [1, 2]), (GOOD * 3, []))


def test_warnings_of_what_stands_before():
    def fn(x):
        y = np.log(x)
        if y[1] != y[1]:
            raise Refused("of a logarithm", y[1])
        return y

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        check_calls(fn, (GOOD,), (BAD,), (-GOOD,), (GOOD,))


def test_a_draw_before_the_raise_is_made_once():
    rng = np.random.default_rng(3)

    def fn(x, limit):
        drawn = rng.normal(size=3)
        if (drawn > limit).any():
            raise Refused("drawn", drawn[0])
        return x + drawn

    compiled = dyntrace.compile(fn)
    outcomes = []
    for target in (fn, compiled):
        rng.bit_generator.state = np.random.default_rng(3).bit_generator.state
        found = []
        for limit in (9.0, 9.0, 9.0, 0.0, 9.0, 0.5, 9.0):
            try:
                found.append(target(GOOD, limit).tobytes())
            except Refused as error:
                found.append((error.value.tobytes(), error.__traceback__.tb_next.tb_lineno))
        outcomes.append(found)
    assert outcomes[0] == outcomes[1]


def test_an_exception_that_is_handled_is_a_branch_like_others():
    def fn(x):
        try:
            if x.sum() > 5:
                raise ValueError
        except ValueError:
            return x - 1
        return x + 1

    check(fn, GOOD, breaks="array-branch", entries=None)
    check_calls(fn, (GOOD,), (BAD,), (-GOOD,), whole=False)


def test_an_exception_that_a_caller_handles():
    def fn(x):
        try:
            return callee(x) + 1
        except IndexError as error:
            return x * error.args[0]

    check(fn, GOOD, breaks="array-branch", entries=None)
    check_calls(fn, (GOOD,), (-GOOD,), whole=False)


def test_both_ways_raise():
    def fn(x):
        if x[0] > 0:
            raise ValueError("positive")
        raise ValueError("not")

    check_calls(fn, (GOOD,), (-GOOD,), whole=False)


def test_a_raise_behind_another_branch():
    def fn(x, flag):
        if x[0] > 0:
            if flag:
                raise ValueError("flag")
            x = x + 1
        return x * 2

    check_calls(fn, (GOOD, False), (GOOD, True), (-GOOD, True), whole=False)


def test_truths_that_are_none_stay_errors():
    def fn(x):
        if x > 0:
            raise ValueError
        return x

    check_calls(fn, (GOOD,), (GOOD,), whole=False)
    check_calls(fn, (np.array(-1.0),), (np.array(2.0),))


@pytest.mark.skipif(bool(FORCED), reason="counts replays")
def test_a_way_that_is_taken_often_runs_plainly():
    def fn(x):
        if x[0] < 0:
            raise ValueError
        return x * 2

    compiled = dyntrace.compile(fn)
    compiled(GOOD)
    for _ in range(40):
        with pytest.raises(ValueError):
            compiled(-GOOD)
    assert [row["plain"] for row in compiled.cache_entries()] == [True]
    assert compiled(GOOD).tolist() == [2.0, 4.0, 6.0]
