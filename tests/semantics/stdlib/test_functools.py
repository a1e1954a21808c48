"""functools: partials, reduce."""

import functools
import operator

import numpy as np
import pytest
from differential import check

A = np.linspace(0.5, 2.0, 4)


def add(a, b, c=0):
    return a + b * c


GIVEN = functools.partial(add, 1, c=2)


def partial(x):
    return functools.partial(add, 1, c=2)(x)


def partial_of_partial(x):
    return functools.partial(functools.partial(add, 1), c=2)(x)


def partial_of_existing(x):
    return functools.partial(GIVEN, x)(), functools.partial(GIVEN, c=x)(3.0)


def partial_overrides_keywords(x):
    p = functools.partial(add, b=2, c=3)
    return p(x), p(x, c=4), p(x, b=1, c=0)


def partial_members(x):
    p = functools.partial(add, 1, c=2)
    return x, p.func is add, p.args, p.keywords, p.args is p.args, p.keywords is p.keywords


def partial_leaves(x):
    return x + 1.0, functools.partial(add, 1)


def partial_with_keywords_leaves(x):
    return x + 1.0, functools.partial(add, 1, c=3, b=x)


def partial_of_partial_leaves(x):
    inner = functools.partial(add, 1)
    return x, functools.partial(inner, c=inner)


def existing_partial(x):
    return GIVEN(x), GIVEN, GIVEN.keywords["c"]


def partial_of_builtin(x):
    return x * functools.partial(max, 3)(1), list(map(functools.partial(pow, 2), [1, 2]))


def partial_as_key(x):
    return x, sorted([3, 1, 2], key=functools.partial(operator.mul, -1))


def partial_keywords_are_its_own(x):
    options = {"c": 2}
    p = functools.partial(add, 1, **options)
    options["c"] = 5
    return p(x)


def partial_keywords_change(x):
    p = functools.partial(add, 1, c=2)
    p.keywords["c"] = 7
    return p(x)


def reduce_arrays(x):
    return functools.reduce(lambda a, b: a * b, [x, x, 2.0])


def reduce_with_initial(x):
    return x * functools.reduce(operator.add, [1, 2], 10)


def reduce_nothing(x):
    return x * functools.reduce(operator.add, [], 10)


def reduce_range(x):
    return functools.reduce(lambda a, n: a + n, range(5), x)


def reduce_one(x):
    return functools.reduce(None, [x])


def reduce_strings(x):
    return x, functools.reduce(lambda a, b: b + a, "abc")


@pytest.mark.parametrize(
    "fn",
    [
        partial,
        partial_of_partial,
        partial_of_existing,
        partial_overrides_keywords,
        partial_members,
        partial_leaves,
        partial_with_keywords_leaves,
        partial_of_partial_leaves,
        existing_partial,
        partial_of_builtin,
        partial_as_key,
        partial_keywords_are_its_own,
        partial_keywords_change,
        reduce_arrays,
        reduce_with_initial,
        reduce_nothing,
        reduce_range,
        reduce_one,
        reduce_strings,
    ],
)
def test_functools(fn):
    check(fn, A)


def reduce_empty(x):
    y = x + 1.0
    return y, functools.reduce(operator.add, [])


def reduce_number(x):
    y = x + 1.0
    return y, functools.reduce(operator.add, 3)


def partial_of_nothing(x):
    y = x + 1.0
    return y, functools.partial(3)


@pytest.mark.parametrize("fn", [reduce_empty, reduce_number, partial_of_nothing])
def test_errors(fn):
    check(fn, A, breaks="raises")
