"""Items of lists and tuples at numbers that are other ones in each call: one entry serves them all.

Each function runs over all positions of lists of several lengths, negative ones and ones beyond the end
among them, plainly and compiled.
"""

import dyntrace
import numpy as np
import pytest
from differential import check_calls


def an_item(xs, t, w):
    return np.tanh(w * xs[t])


def of_a_tuple(xs, t, w):
    return tuple(xs)[t] * w + (w, w + 1.0, w)[t % 3]


def a_neighbour(xs, t, w):
    return (xs[t] - xs[t - 1]) * w


def around(xs, t, w):
    return (xs[(t + 1) % 3] - xs[t % 2 * 2]) * w


def from_the_end(xs, t, w):
    return xs[-t] * w, xs[len(xs) - 1 - t]


def by_numbers(xs, t, w):
    return xs[min(t, 2)], xs[max(t, 1) // 2], xs[t & 1] * w, xs[abs(t) % 3], xs[(t << 1) - t]


def by_another_item(xs, t, w):
    places = [2, 0, 1, 2, 1]
    return xs[places[t]] * w


def a_row(xs, t, w):
    rows = xs
    return rows[t][0] * w


def not_looked_at(xs, t, w):
    return xs[t], w + 1.0


def nested(xs, t, w):
    return [xs, xs][t % 2][t] * w


def then_appended(xs, t, w):
    y = xs[t] * w
    xs.append(y)
    return y


def after_append(xs, t, w):
    xs.append(w)
    return xs[t] * w


def after_store(xs, t, w):
    xs[0] = w
    return xs[t] * w


def stored(xs, t, w):
    xs[t] = xs[t] + w
    return xs[t] * 2.0


def stored_beside(xs, t, w):
    xs[t] = xs[t - 1] + w
    return xs[t - 1] * 2.0, xs[t]


def length_as_well(xs, t, w):
    if t < len(xs):
        return xs[t] * w
    return w


def all_as_well(xs, t, w):
    total = w * 0.0
    for x in xs:
        total = total + x
    return total + xs[t]


def taken_out(xs, t, w):
    last = xs.pop()
    return last * w + xs[t]


def written_into(xs, t, w):
    xs[t] += w
    xs[0] *= 2.0
    return xs[t] + xs[0]


def is_first(xs, t, w):
    return xs[t] is xs[0], w * 2.0


def caught(xs, t, w):
    try:
        return xs[t] * w
    except IndexError as error:
        return str(error), w + 1.0


FUNCTIONS = [
    an_item, of_a_tuple, a_neighbour, around, from_the_end, by_numbers, by_another_item, a_row,
    not_looked_at, nested, then_appended, after_append, after_store, stored, stored_beside,
    length_as_well, all_as_well, taken_out, written_into, is_first, caught,
]  # fmt: skip


def calls(make):
    w = np.arange(3.0) + 0.5
    for size in (4, 5, 3):
        for t in (1, 2, 0, 3, -1, -3, 4, -4, 7, -9):
            yield ([make(i) for i in range(size)], t, w.copy())


@pytest.mark.parametrize("fn", FUNCTIONS)
@pytest.mark.parametrize(
    "make",
    [
        lambda i: np.arange(3.0) * (i + 1),
        lambda i: i * 0.5 - 1.0,
        lambda i: i * 3 - 1,
        lambda i: i * 0.5 if i % 2 else np.full(3, float(i)),
    ],
    ids=["arrays", "floats", "ints", "both"],
)
def test_every_position(fn, make):
    if fn is a_row:
        make = lambda i, make=make: [make(i), i]  # noqa: E731
    check_calls(fn, *calls(make), whole=False, recompile_limit=99)


def test_items_that_are_one_object():
    same = np.arange(3.0)
    several = [[same] * 4, [same, same.copy(), same, same.copy()]]
    for fn in (an_item, a_neighbour, written_into, is_first, stored_beside):
        places = [(xs, t, np.ones(3)) for xs in several for t in (0, 1, 2, 3, 1, 0)]
        check_calls(fn, *places, whole=False, recompile_limit=99)


def in_a_loop(xs, w):
    total = w * 0.0
    for t in range(len(xs) - 1, 0, -1):
        total = total * 0.5 + xs[t] * w - xs[t - 1]
    return total


def test_a_loop_that_is_not_unrolled():
    rng = np.random.default_rng(0)
    lengths = (3, 9, 4, 7, 30, 12)
    check_calls(in_a_loop, *((list(rng.standard_normal((n, 3))), np.ones(3)) for n in lengths))


class Walker:
    def __init__(self, place):
        self.place = place


def move(walkers, i, step):
    walker = walkers[i]
    walker.place = walker.place + step
    return walkers[i - 1].place - walker.place


def test_attributes_of_what_is_picked():
    def make(n):
        return [Walker(np.arange(2.0) + i) for i in range(n)]

    places = [(n, i) for n in (3, 4, 1) for i in (1, 0, 2, -1) if i < n]
    check_calls(move, *((make(n), i, np.ones(2)) for n, i in places), whole=False, recompile_limit=99)


@pytest.mark.parametrize("fn", [an_item, a_neighbour, around, a_row, not_looked_at, then_appended])
def test_one_entry_serves_all_positions(fn):
    compiled = dyntrace.compile(fn)
    row = (lambda i: [np.full(3, float(i))]) if fn is a_row else (lambda i: np.full(3, float(i)))
    for size in (5, 6, 7):
        for t in range(size):
            compiled([row(i) for i in range(size)], t, np.ones(3))
    assert len(compiled.cache_entries()) == 1


def test_a_number_may_be_of_any_size():
    compiled = dyntrace.compile(an_item)
    compiled([np.ones(3)] * 4, 2, np.ones(3))
    for t in (2**62, 2**63 - 1, 2**70, -(2**70), True, np.int64(1)):
        try:
            expected = an_item([np.ones(3)] * 4, t, np.ones(3)).tolist()
        except IndexError as error:
            expected = str(error)
        try:
            found = compiled([np.ones(3)] * 4, t, np.ones(3)).tolist()
        except IndexError as error:
            found = str(error)
        assert found == expected


def test_a_list_that_is_being_sorted():
    xs = [3.0, 1.0, 2.0]
    compiled = dyntrace.compile(an_item)
    compiled(xs, 1, np.ones(3))

    def key(x):
        with pytest.raises(IndexError):
            compiled(xs, 1, np.ones(3))
        return x

    xs.sort(key=key)
    assert xs == [1.0, 2.0, 3.0]
