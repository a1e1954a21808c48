"""A variable that is read behind a break, and was bound when that piece was compiled."""

import dyntrace
import pytest
from differential import Outcome, compare


def read_for_nothing(value):
    try:
        found = value.real
    except AttributeError:
        pass
    print("a break")
    other = found
    return 1


def deleted(value):
    if value:
        found = value
    print("a break")
    del found
    return 1


def in_a_cell(value):
    if value:
        found = value
    print("a break")
    other = found
    return lambda: found


def handed_on(value):
    if value:
        found = [value]
    print("a break")
    return [found]


def in_a_comprehension(value):
    if value:
        found = value
    print("a break")
    return [found for _ in range(2)]


@pytest.mark.parametrize("fn", [read_for_nothing, deleted, in_a_cell, handed_on, in_a_comprehension])
def test_unbound_in_a_later_call(fn):
    compiled = dyntrace.compile(fn)
    with dyntrace.config.patch(everything=True):
        for value in (1, 2, "", 3, "", 0, None, 1.5):
            plain, found = Outcome(fn, (value,), {}), Outcome(compiled, (value,), {})
            if fn is in_a_cell and plain.error is None:
                assert found.result() == plain.result() == value
            else:
                compare(plain, found)
