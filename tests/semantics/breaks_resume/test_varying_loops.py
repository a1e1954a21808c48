"""Loops over range(n) where n is another number at each call: after some versions they are not unrolled."""

import re

import dyntrace
import numpy as np
import pytest
from differential import FORCED, check_calls

X = np.array([1.0, 2.0, 4.0])
NUMBERS = (3, 4, 5, 6, 7, 8, 2, 0, 1, 30, -4, 3, 6)


def adds(x, n):
    total = x * 0
    for i in range(n):
        total = total + x * i + 1
    return total * 2


def bounds(x, n):
    for i in range(n - 2, 2 * n):
        x = x + i
    return x


def lower(x, n):
    for i in range(n, 12):
        x = x * 0.5 + i
    return x, i if n < 12 else None


def stepped(x, n):
    for i in range(0, n, 2):
        x = x + i
    for i in range(n, 0, -1):
        x = x - i
    return x


def inner(x, n):
    table = np.ones((6, 6))
    for i in range(1, 6):
        for j in range(i):
            table[i, j] -= table[i, :j] @ table[j, :j] * 0.125
            table[i, j] /= n + 40
        table[i, i] = table[i, :i].sum()
    return table * x[0]


def leaves(x, n):
    for i in range(n):
        if i == 5:
            break
        if i % 2:
            continue
        x = x + i
    else:
        x = x * 2
    return x


def before_and_after(x, n):
    y = x * 2 + n
    found = []
    for i in range(n):
        found.append(i)
        y = y + found[-1]
    return y * x, found


def the_object(x, n):
    r = range(n)
    return x * len(r), r, list(r), 3 in r, r == range(3), r[-1] if r else None, r.stop


def iterated_twice(x, n):
    r = range(n)
    for i in r:
        x = x + i
    for i in r:
        x = x * 1.5 - i
    return x


def iterator(x, n):
    numbers = iter(range(n))
    first = next(numbers, None)
    for i in numbers:
        x = x + i
    return x, first


def builtins(x, n):
    for i, j in enumerate(range(n)):
        x = x + i * j
    for i, j in zip(range(n), "abcdefgh"):
        x = x + i + len(j)
    for i in reversed(range(n)):
        x = x - i
    return x, sum(range(n)), max(range(n), default=None), [k * 2 for k in range(n)], {*range(n)}


def called(x, n):
    def helper(x, m):
        for i in range(m):
            x = x + i
        return x

    return helper(x, n) * 2 + helper(x, 2)


def generates(x, n):
    def steps(m):
        for i in range(m):
            yield x * i

    return sum(steps(n), x)


def guarded(x, n):
    log = []
    try:
        for i in range(n):
            x = x + i
            if i == 6:
                raise ValueError(i)
    except ValueError as error:
        log.append(str(error))
    finally:
        log.append("left")
    with np.errstate(all="ignore"):
        for i in range(n):
            x = x / i
    return x, log


def raises(x, n):
    for i in range(n):
        x = x + [1.0, 2.0, 3.0, 4.0][i]
    return x


def of_sizes(x, n):
    y = np.ones(max(n, 0) + 2)
    for i in range(1, y.shape[0] - 1):
        y[i] = y[i - 1] * 0.5 + y[i + 1]
    return y


CASES = [
    adds, bounds, lower, stepped, inner, leaves, before_and_after, the_object, iterated_twice, iterator,
    builtins, called, generates, guarded, raises, of_sizes,
]  # fmt: skip


@pytest.mark.parametrize("fn", CASES, ids=lambda fn: fn.__name__)
def test_as_plainly(fn):
    check_calls(fn, *((X, n) for n in NUMBERS), whole=False, recompile_limit=64)


def test_few_versions():
    compiled = check_calls(adds, *((X, n) for n in NUMBERS), whole=False)
    assert FORCED or "varying-loop" in compiled.breaks
    assert FORCED or compiled.published < 8


def test_few_numbers_are_unrolled():
    compiled = check_calls(adds, (X, 2), (X, 5), (X, 2), (X, 5))
    assert FORCED or compiled.published == 2


@pytest.mark.skipif(bool(FORCED), reason="breaks are forced: there are several")
def test_one_graph_is_wanted():
    """Under fullgraph=True, each number makes a version."""

    fn = dyntrace.compile(adds, fullgraph=True)
    for n in (3, 4, 5, 6, 7):
        assert np.array_equal(fn(X, n), adds(X, n))


def two_numbers(x, n, count):
    for i in range(count):
        x = x * 2 - i
    for i in range(n):  # the one that varies
        x = x + i
    return np.concatenate([x * i for i in range(count)])


def test_only_the_number_that_varies_is_opened(capfd):
    with dyntrace.config.patch(logs="graph_breaks"):
        check_calls(two_numbers, *((X, n, 3) for n in NUMBERS), whole=False)
    lines = [line for line in capfd.readouterr().err.splitlines() if "[varying-loop]" in line]
    place = two_numbers.__code__.co_firstlineno + 3
    here = re.compile(f":{place}[: ]")  # with its column, where this Python knows it
    assert FORCED or (lines and all(map(here.search, lines))), lines


def test_each_number_is_counted_by_itself():
    calls = [(X, n, 2) for n in (3, 4, 5, 6, 7, 8)] + [(X, 4, count) for count in (3, 4, 5, 6, 2)]
    check_calls(two_numbers, *calls, (X, 3, 7), whole=False, recompile_limit=64)
