"""A loop over an array that the loop writes: each item is read when its turn comes."""

import itertools

import dyntrace
import numpy as np
import pytest
from differential import FORCED, check


def running_sum(x):
    for i, value in enumerate(x):
        if i + 1 < len(x):
            x[i + 1] += value
    return x


def by_next(x):
    items = iter(x)
    first = next(items)
    x[1] = 100.0
    second = next(items)
    x[2] = -1.0
    return first, second, list(items), type(items).__name__


def in_pairs(x):
    for value, other in zip(x, x[1:]):
        x[2] = value + other
    return x


def mapped(x):
    out = []
    for value in map(lambda item: item + 1, x):
        x[-1] += value
        out.append(value)
    return out, x


def comprehended(x):
    def put(value):
        x[-1] += value
        return value

    return [put(value) for value in x], x


def generated(x):
    def items():
        yield from x

    out = []
    for value in items():
        x[:] = x + value
        out.append(value)
    return out


def sliced(x):
    for value in itertools.islice(x, 1, 3):
        x[2] = value
    return x


def rows(x):
    table = x.reshape(2, -1)
    for row in table:
        table[1] += row
    return table


def through_a_view(x):
    back = x[::-1]
    for value in back:
        x[0] += value
    return x


def collected_before(x):
    items = tuple(x)
    x[0] = 4.0
    first, *rest = x
    x[1] = 5.0
    return items, first, rest, sum(x), list(x)


def left_early(x):
    for value in x:
        x[2] = 8.0
        if value is None:
            break
    else:
        x[0] = value
    return x


FUNCTIONS = (
    running_sum,
    by_next,
    in_pairs,
    mapped,
    comprehended,
    generated,
    sliced,
    rows,
    through_a_view,
    collected_before,
    left_early,
)


@pytest.mark.parametrize("fn", FUNCTIONS, ids=lambda fn: fn.__name__)
def test_written_while_iterated(fn):
    check(fn, np.arange(1.0, 5.0))


def describe(iterator):
    """Its type, where it stands, and what it gives after one more write."""
    return type(iterator).__name__, iterator.__reduce__()[2:], list(iterator)


def untouched(x):
    return iter(x), x + 1


def begun(x):
    items = iter(x)
    next(items)
    return items, x + 1


def exhausted(x):
    items = iter(x)
    for _ in items:
        x[2] = 7.0
    return items, x + 1


@pytest.mark.skipif(bool(FORCED), reason="it is about what is captured")
@pytest.mark.parametrize("fn", [untouched, begun, exhausted], ids=lambda fn: fn.__name__)
def test_iterators_that_leave(fn):
    compiled = dyntrace.compile(fn, fullgraph=True)
    for _ in range(3):
        seen = []
        for call in (fn, compiled):
            array = np.arange(1.0, 5.0)
            items, result = call(array)
            array[3] = 40.0
            seen.append((describe(items), result.tolist()))
        assert seen[0] == seen[1]


def with_a_break(x):
    total = 0.0
    for value in x:
        print(end="")
        x[2] = value
        total += value
    return total, x


def break_in_the_middle(x):
    out = []
    for i, value in enumerate(x):
        out.append(value * 2)
        if i == 1:
            print(end="")
            x[3] = 50.0
    return out


@pytest.mark.parametrize("fn", [with_a_break, break_in_the_middle], ids=lambda fn: fn.__name__)
def test_with_breaks(fn):
    check(fn, np.arange(1.0, 5.0), breaks="unknown-callable")
