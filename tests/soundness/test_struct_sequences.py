"""time.struct_time and its like: a value where its fields are values, and else an object with parts."""

import copy
import time

import dyntrace
import pytest
from differential import Compiled

FIELDS = time.struct_time.n_fields


def made(parts):
    t = time.struct_time(parts)
    return t[0] is parts[0], t.tm_year is t[0], t[0], list(t)


def copied(parts):
    t = time.struct_time(parts)
    twin = copy.copy(t)
    return twin[0] is t[0], twin.tm_year is t.tm_year, twin.tm_zone is t.tm_zone, twin == t


def changed(parts):
    t = time.struct_time(parts)
    if type(parts[0]) is list:
        parts[0].append(7)
    return t[0], t.tm_year, repr(t)


def given(t):
    return t[0] is t.tm_year, t[:2], t.tm_zone is t.tm_zone, t.tm_gmtoff, copy.copy(t)[1] is t[1]


@pytest.fixture(autouse=True)
def everything():
    with dyntrace.config.patch(everything=True, strict=True):
        yield


def lists(count):
    return [[i] for i in range(count)]


def numbers(count):
    return list(range(count))


def last_is_a_list(count):
    return [*range(count - 1), []]


@pytest.mark.parametrize("count", [9, FIELDS])
@pytest.mark.parametrize("parts", [lists, numbers, last_is_a_list])
@pytest.mark.parametrize("function", [made, copied, changed])
def test_made_in_the_call(function, parts, count):
    compiled = Compiled(function)
    for _ in range(3):
        assert compiled(parts(count)) == function(parts(count))


@pytest.mark.parametrize("parts", [lists, numbers, last_is_a_list])
def test_given(parts):
    compiled = Compiled(given)
    for _ in range(3):
        t = time.struct_time(parts(FIELDS))
        assert compiled(t) == given(t)


def test_a_field_that_changes_between_calls():
    t = time.struct_time(lists(FIELDS))
    first = Compiled(lambda t: (t[0] == [0], t.tm_year))
    assert first(t) == (True, [0])
    t[0].append(1)
    assert first(t) == (False, [0, 1])
