"""bisect, functools, operator, math, copy: each polyfill against its original."""

import _bisect
import _functools
import _operator
import copy
import math
import operator

import pytest
from against import polyfill_of, same
from hypothesis import given
from hypothesis import strategies as st

numbers = st.lists(st.integers(0, 9), max_size=10)
bounds = st.tuples(st.integers(-1, 11), st.one_of(st.none(), st.integers(-1, 10)))


@given(numbers, st.integers(0, 9), bounds)
@pytest.mark.parametrize("name", ["bisect_left", "bisect_right", "insort_left", "insort_right"])
def test_bisect(name, items, item, limits):
    lo, hi = limits
    if hi is not None and hi > len(items):
        hi = len(items)

    def make(Logged):
        return [Logged(i) for i in sorted(items)], Logged(item), lo, hi

    same("bisect", getattr(_bisect, name), make)


@given(numbers, st.integers(-9, 0))
@pytest.mark.parametrize("name", ["bisect_left", "bisect_right", "insort_left", "insort_right"])
def test_bisect_by_key(name, items, item):
    same(
        "bisect",
        getattr(_bisect, name),
        lambda Logged: (sorted(items, reverse=True), item),
        key=lambda value: -value,
    )


@pytest.mark.parametrize("args", [([], 1, "a"), (3, 1), ([1], 1, 0, "b"), (["a"], 1)])
@pytest.mark.parametrize("name", ["bisect_left", "bisect_right", "insort_left", "insort_right"])
def test_bisect_of_bad_arguments(name, args):
    same("bisect", getattr(_bisect, name), lambda Logged: args)


@given(numbers)
def test_reduce(items):
    same(
        "functools",
        _functools.reduce,
        lambda Logged: (operator.add, [Logged(i) for i in items]),
    )


@given(numbers)
def test_reduce_with_initial(items):
    same(
        "functools",
        _functools.reduce,
        lambda Logged: (operator.add, [Logged(i) for i in items], Logged(1)),
    )


@pytest.mark.parametrize(
    "args", [(max, 3), (max, ()), (None, [1]), (None, [1, 2]), (max, [1, "a"])]
)
def test_reduce_of_bad_arguments(args):
    same("functools", _functools.reduce, lambda Logged: args)


@given(numbers)
@pytest.mark.parametrize("reverse", [False, True])
def test_cmp_to_key(reverse, items):
    polyfill = polyfill_of("functools", _functools.cmp_to_key)
    calls = ([], [])
    results = []
    for make, log in zip((_functools.cmp_to_key, polyfill), calls):

        def compare(a, b, log=log):
            log.append((a, b))
            return a - b

        results.append(sorted(items, key=make(compare), reverse=reverse))
    assert results[0] == results[1] and calls[0] == calls[1]


@given(numbers, st.integers(0, 9))
@pytest.mark.parametrize("name", ["countOf", "indexOf"])
def test_searching(name, items, item):
    same(
        "operator",
        getattr(_operator, name),
        lambda Logged: ([Logged(i) for i in items], Logged(item)),
    )


@pytest.mark.parametrize("name", ["countOf", "indexOf"])
def test_searching_what_is_no_sequence(name):
    same("operator", getattr(_operator, name), lambda Logged: (3, 1))


@pytest.mark.parametrize("obj", [[1, 2], (), "abc", {1: 2}, {1}, range(4), b"ab"])
@pytest.mark.parametrize("default", [(), (3,), ("a",)])
def test_length_hint(obj, default):
    same("operator", _operator.length_hint, lambda Logged: (obj, *default))


@given(st.lists(st.one_of(st.integers(-(2**70), 2**70), st.floats(allow_nan=False)), max_size=6))
def test_prod(items):
    same("math", math.prod, lambda Logged: (items,))
    same("math", math.prod, lambda Logged: (items,), start=0.5)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=6))
def test_fsum_and_dist(items):
    same("math", math.fsum, lambda Logged: (iter(items),), compare_arguments=False)
    same("math", math.dist, lambda Logged: (items, items[::-1]))


leaves = st.one_of(st.integers(), st.text(max_size=3), st.none())
trees = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.text(max_size=2), inner, max_size=3),
        st.tuples(inner, inner),
    ),
    max_leaves=8,
)


@given(trees)
@pytest.mark.parametrize("original", [copy.copy, copy.deepcopy])
def test_copy(original, tree):
    polyfill = polyfill_of("copy", original)
    assert polyfill(tree) == original(tree)
    assert shape(polyfill([tree, tree])) == shape(original([tree, tree]))


def shape(value, seen=None):
    """The value with a number for each mutable object, in order of being met."""
    seen = {} if seen is None else seen
    if isinstance(value, (list, dict)):
        if id(value) in seen:
            return ("again", seen[id(value)])
        seen[id(value)] = len(seen)
        parts = value.items() if isinstance(value, dict) else value
        return (type(value), seen[id(value)], [shape(part, seen) for part in parts])
    if isinstance(value, tuple):
        return tuple(shape(part, seen) for part in value)
    return value
