"""Lists that are stored into at numbers that are other ones in each call: few entries serve all places.

Each function runs over all places of lists of several lengths, negative ones and ones beyond the end
among them, plainly and compiled; what the list holds in the end is compared, too.
"""

import dyntrace
import numpy as np
import pytest
from differential import check_calls


def store(xs, i, j, w):
    xs[i] = w
    return w * 2.0


def swap(xs, i, j, w):
    xs[i], xs[j] = xs[j], xs[i]
    return w * 2.0


def from_before(xs, i, j, w):
    xs[i] = xs[i - 1] * 0.5 + w
    return xs[i]


def twice(xs, i, j, w):
    xs[i] = w
    xs[j] = w + 1.0
    xs[i] = w + 2.0
    return xs[i], xs[j]


def reads_another(xs, i, j, w):
    xs[i] = w
    return xs[j] + w, xs[i] is w


def with_constants(xs, i, j, w):
    xs[i] = w
    first = xs[0]
    xs[1] = w * 2.0
    return first, xs[i], xs[1]


def in_place(xs, i, j, w):
    xs[i] += w
    xs[j] *= 2.0
    return xs[i] + xs[j]


def put_back(xs, i, j, w):
    old = xs[i]
    xs[i] = w
    xs[i] = old
    return old * 2.0


def then_appended(xs, i, j, w):
    xs[i] = w
    xs.append(w * 2.0)
    return xs[-1], xs[j], len(xs)


def appended_before(xs, i, j, w):
    xs.append(w * 2.0)
    xs[i] = w
    return xs[j], xs[-1], xs[-2], len(xs)


def added_by_number(xs, i, j, w):
    xs.append(w)
    xs.append(w + 1.0)
    xs[i] = w * 2.0
    return xs[j], xs[i], len(xs)


def then_popped(xs, i, j, w):
    xs[i] = w
    last = xs.pop()
    xs.insert(0, w)
    return last, xs[0], xs[j - 1]


def then_all(xs, i, j, w):
    xs[i] = w
    total = w * 0.0
    for x in xs:
        total = total + x
    xs[j] = total
    return total, len(xs), xs[1:3]


def then_reversed(xs, i, j, w):
    xs[i] = w
    xs.reverse()
    return xs[i], w + 1.0


def then_deleted(xs, i, j, w):
    xs[i] = w
    del xs[j]
    return xs[i - 1], w + 1.0


def caught(xs, i, j, w):
    try:
        xs[i] = w
    except IndexError as error:
        return str(error), w + 1.0
    return xs[j] * 2.0


def around(xs, i, j, w):
    xs[(i + 1) % 3] = w
    xs[(j + 2) % 3] = w + 1.0
    return xs[(i + j) % 3]


def as_rows(xs, i, j, w):
    rows = [xs, list(xs)]
    rows[i % 2][j] = w
    return rows[0][j], rows[1][j], w * 2.0


def two_lists(xs, i, j, w):
    others = xs[:]
    others[i] = w
    xs[j] = w + 1.0
    return others, others[j], xs[i]


FUNCTIONS = [
    store, swap, from_before, twice, reads_another, with_constants, in_place, put_back, then_appended,
    appended_before, added_by_number, then_popped, then_all, then_reversed, then_deleted, caught, around,
    as_rows, two_lists,
]  # fmt: skip

PLACES = [(1, 2), (2, 1), (0, 3), (2, 2), (3, 0), (-1, 1), (1, -2), (0, 0), (5, 1), (1, 7), (-9, 0), (4, 3)]


@pytest.mark.parametrize("fn", FUNCTIONS)
@pytest.mark.parametrize(
    "make", [lambda i: np.full(3, float(i)), lambda i: i * 0.5 - 1.0], ids=["arrays", "floats"]
)
def test_every_place(fn, make):
    calls = [([make(i) for i in range(n)], i, j, np.arange(3.0)) for n in (4, 5, 3) for i, j in PLACES]
    check_calls(fn, *calls, whole=False, recompile_limit=99)


@pytest.mark.parametrize("fn", [store, swap, from_before, in_place, reads_another, then_appended])
def test_few_entries_serve_all_places(fn):
    compiled = dyntrace.compile(fn)
    for n in (5, 6, 7):
        for i in range(1, n):
            for j in range(n):
                compiled([np.full(3, float(k)) for k in range(n)], i, j, np.ones(3))
    assert len(compiled.cache_entries()) <= 4


def test_an_item_that_was_just_appended():
    def forward(alphas, t, w):
        alphas.append(alphas[t - 1] * w)
        alphas[t] = alphas[t] / alphas[t].sum()
        return alphas[t].max()

    def run(fn):
        alphas = [np.ones(3)]
        return [fn(alphas, t, np.arange(3.0) + t).item() for t in range(1, 15)], repr(alphas)

    compiled = dyntrace.compile(forward)
    assert run(compiled) == run(forward)
    assert len(compiled.cache_entries()) == 1


def test_one_list_goes_through_all_calls():
    def run(fn):
        xs = [np.full(3, float(k)) for k in range(6)]
        found = [repr(fn(xs, k % 5, k * 3 % 6, np.arange(3.0) + k)) for k in range(30)]
        return found, repr(xs)

    for fn in (swap, from_before, twice, reads_another, in_place, around):
        assert run(dyntrace.compile(fn)) == run(fn)


def test_two_names_of_one_list():
    def both(a, b, i, w):
        a[i] = w
        return b[i], b[i - 1], w + 1.0

    xs, ys = [1.0, 2.0, 3.0], [4.0, 5.0, 6.0]
    pairs = [(xs, ys), (xs, xs), (ys, xs)]
    check_calls(both, *((a, b, i, np.ones(2)) for a, b in pairs for i in (1, 2, 0)), recompile_limit=99)


class Dies:
    log = []

    def __del__(self):
        Dies.log.append("dead")


def test_an_item_that_acts_when_it_goes():
    def replace(xs, i, w):
        xs[i] = w
        return len(Dies.log), w + 1.0

    def run(fn):
        Dies.log.clear()
        return [repr(fn([1.0, Dies() if k % 2 else 2.0], 1, np.ones(2))) for k in range(6)], Dies.log[:]

    assert run(dyntrace.compile(replace)) == run(replace)


def test_a_list_that_is_being_sorted():
    xs = [3.0, 1.0, 2.0]
    compiled = dyntrace.compile(store)
    compiled(xs, 1, 0, np.ones(3))
    xs[1] = 1.0

    def key(x):
        with pytest.raises(IndexError):
            compiled(xs, 1, 0, np.ones(3))
        return x

    xs.sort(key=key)
    assert xs == [1.0, 2.0, 3.0]


def step(xs, w):
    for i in range(1, len(xs)):
        xs[i] = xs[i - 1] * 0.5 + w * xs[i]
    return xs[-1]


def test_a_recurrence():
    rng = np.random.default_rng(0)
    lengths = (3, 9, 4, 7, 30, 12, 5)
    check_calls(step, *((list(rng.standard_normal((n, 3))), np.ones(3)) for n in lengths), whole=False)
