"""Existing lists of numbers that NumPy's functions take: read at once, of whatever length they are.

The differential part runs lists whose items change their sort from call to call, lists that were
changed before they are read, and results that are written into.
"""

import copy
import threading

import dyntrace
import numpy as np
import pytest
from differential import check_calls


def mean(xs, v):
    return np.mean(xs) + v


def mean_of_longer(xs, v):
    xs.append(v)
    return np.mean(xs), np.std(xs)


def window(xs, v):
    xs.append(v)
    xs.pop(0)
    return np.asarray(xs) * 2


def window_of_two(xs, v):
    xs.extend([v, v + 1])
    del xs[:2]
    return np.sum(xs), xs[-1]


def array_and_last(xs, v):
    a = np.array(xs)
    return a - xs[-1], a.dtype, v


def two_arrays(xs, v):
    a, b = np.array(xs), np.array(xs)
    a[0] = v
    return a, b, a is b


def as_float(xs, v):
    return np.array(xs, dtype=float) + v


def as_int(xs, v):
    return np.array(xs, dtype=int) + v


def as_float32(xs, v):
    return np.asarray(xs, np.float32), v


def loss(xs, v):
    return np.log(np.abs(xs) + 1.0) @ np.array(xs) + v


def before_and_after(xs, v):
    before = np.sum(xs)
    xs.append(v)
    return before, np.sum(xs)


def changed_inside(xs, v):
    xs[3] = v
    return np.array(xs)


def read_first(xs, v):
    total = 0.0
    for x in xs:
        total += x
    return np.mean(xs), total + v


def read_later(xs, v):
    a = np.mean(xs)
    for x in xs:
        a = a + x
    return a + v


def with_an_array(xs, v):
    return np.ones(len(xs)) * xs + v


def interpolated(xs, v):
    return np.interp(v, np.arange(20.0), xs[:20]), np.max(xs), np.argmin(xs)


def joined(xs, v):
    return np.concatenate((xs, [v, v])), np.append(xs, v), np.hstack((xs, xs))


def given_back(xs, v):
    a = np.asarray(xs)
    return a, v


def sorted_and_unique(xs, v):
    return np.sort(xs), np.unique(xs), np.percentile(xs, 50), np.cumsum(xs), np.diff(xs), v


def shuffled(xs, v):
    np.random.default_rng(3).shuffle(xs)
    return np.mean(xs) + v


def index_of(xs, v):
    return np.arange(100.0)[xs] + v


def operators(xs, v):
    a = np.ones(len(xs))
    a += xs
    return a * xs, xs < a, v


FUNCTIONS = [
    mean, mean_of_longer, window, window_of_two, array_and_last, two_arrays, as_float, as_int, as_float32,
    loss, before_and_after, changed_inside, read_first, read_later, with_an_array, interpolated, joined,
    given_back, sorted_and_unique, shuffled, operators,
]  # fmt: skip

FLOATS = [float(i) * 0.75 - 3 for i in range(30)]
INTS = list(range(3, 40))
LISTS = {
    "floats": [FLOATS, FLOATS[:21], FLOATS + FLOATS],
    "numpy": [[np.float64(x) for x in FLOATS], FLOATS, list(np.linspace(-1, 1, 25))],
    "ints": [INTS, INTS[:22], FLOATS, [np.int64(x) for x in INTS]],
    "mixed": [[0, *FLOATS], FLOATS, [*INTS, 0.5], [*FLOATS, 2**53], [*FLOATS, 2**53 + 1]],
    "large": [INTS, [*INTS, 2**63 - 1], [*INTS, 2**63], [-(2**63), *INTS]],
    "bools": [FLOATS, [*FLOATS, True], [True] * 20, [*INTS, False]],
    "others": [FLOATS, [*FLOATS, 1j], [*FLOATS, np.float32(0.1)], [*INTS, np.int8(3)]],
    "nested": [FLOATS, [[x] for x in FLOATS], [*FLOATS, [1.0]], [np.ones(2)] * 20],
    "zero-dimensional": [FLOATS, [*FLOATS, np.array(2.0)], [np.array(2)] * 20],
    "texts": [FLOATS, [*FLOATS, "a"], ["a"] * 20],
    "short": [FLOATS, [], [1.5], [1.5, 2], FLOATS[:4]],
    "special": [FLOATS, [*FLOATS, float("nan")], [float("inf")] * 20, [-0.0] * 20, [1e300] * 20],
}


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("fn", FUNCTIONS)
def test_as_plainly(fn, name):
    lists = LISTS[name]
    for v in (0.25, 3):
        check_calls(fn, *[(copy.copy(xs), v) for xs in (*lists, *lists)], whole=False)
        check_calls(fn, *[(copy.copy(xs), v) for xs in reversed(lists)], whole=False)


@pytest.mark.parametrize("fn", [mean, mean_of_longer, window, as_float, loss, operators])
def test_none_is_no_number(fn):
    lists = [FLOATS, [*FLOATS, None], [None] * 20, FLOATS[:21]]
    check_calls(fn, *[(copy.copy(xs), 1.0) for xs in lists], whole=False)


@pytest.mark.parametrize("name", ["ints", "floats", "short"])
def test_keys(name):
    check_calls(index_of, *[(copy.copy(xs), 1) for xs in LISTS[name]], whole=False)


@pytest.mark.parametrize("first", [20, 100])
@pytest.mark.parametrize(
    "fn", [mean, mean_of_longer, window, array_and_last, loss, before_and_after, operators]
)
def test_one_entry_serves_all_lengths(fn, first):
    plain, compiled = FLOATS * 4, FLOATS * 4
    del plain[first:], compiled[first:]
    run = dyntrace.compile(fn, fullgraph=True)
    for k in range(30):
        assert repr(run(compiled, k * 0.5)) == repr(fn(plain, k * 0.5))
        plain.append(k)
        compiled.append(k)
    assert len(run.cache_entries()) <= 2  # the first length may be taken for the only one
    assert repr(compiled) == repr(plain)


def test_items_are_not_looked_at_one_by_one():
    xs = [float(i) for i in range(60_000)]
    run = dyntrace.compile(mean, fullgraph=True)
    assert run(xs, 1.0) == mean(xs, 1.0)
    (entry,) = run.cache_entries()
    assert "L['xs'][" not in entry["guards"]
    assert "numpy.array(L['xs'])" in entry["guards"]


def test_a_class_of_its_own_is_no_float():
    class Float(float):
        pass

    check_calls(mean, (FLOATS, 1.0), ([*FLOATS, Float(3)], 1.0), ([Float(3)] * 20, 1.0), whole=False)


def test_a_list_that_another_thread_changes():
    """Results are those of some length, and nothing is read that is not there."""
    xs, done = [1.0] * 50, threading.Event()
    run = dyntrace.compile(lambda xs: (np.mean(xs), np.ones(1) + np.array(xs)))

    def change():
        while not done.is_set():
            xs.append(1.0)
            xs.pop()
            del xs[50:]

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(2000):
            mean, more = run(xs)
            assert mean == 1.0
            assert (more == 2.0).all()
    finally:
        done.set()
        thread.join()


def test_nothing_is_kept():
    xs = [float(i) for i in range(100)]
    run = dyntrace.compile(given_back, fullgraph=True)
    first, _ = run(xs, 1)
    second, _ = run(xs, 1)
    assert first is not second
    assert first.base is None
    assert first.flags.owndata
    first[:] = 0
    assert (second == np.arange(100.0)).all()
    assert (run(xs, 1)[0] == np.arange(100.0)).all()
