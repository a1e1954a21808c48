"""Counters and iterators that existed before: what they give is an input, and they are moved on"""

import itertools

import numpy as np
import pytest
from differential import Compiled

A = np.linspace(0.5, 2.0, 4)


class Part:
    _numbers = itertools.count(1)
    made = 0

    def __init__(self, x):
        self.number = next(Part._numbers)
        self.x = x


class Sampler:
    def __init__(self):
        self.ticks = itertools.count()

    def step(self, x):
        return x * 0.5 + next(self.ticks)


COUNTER = itertools.count(5)


# ---- Counters


def next_of_a_global(x):
    return x + next(COUNTER)


def two_steps(x):
    first, second = next(COUNTER), next(COUNTER)
    return x * first + second, second - first


def a_step_that_nobody_reads(x):
    next(COUNTER)
    return x * 2.0


def numbered_objects(x):
    parts = [Part(x), Part(x * 2.0)]
    return [p.x for p in parts], [p.number - parts[0].number for p in parts]


def the_number_itself(x):
    return x + 1.0, next(COUNTER)


def in_a_loop(x):
    for _ in range(3):
        x = x + next(COUNTER)
    return x


def by_its_method(x):
    return x + COUNTER.__next__()


def in_a_callee(x):
    def tick():
        return next(COUNTER)

    return x * tick() + tick()


def with_a_default(x):
    return x + next(COUNTER, None)


def in_zip(x):
    return [x + n * v for n, v in zip(COUNTER, (1.0, 2.0, 3.0))]


def in_zip_behind_the_other(x):
    return [x + n * v for v, n in zip((1.0, 2.0), COUNTER)]


def in_islice(x):
    return x + sum(itertools.islice(COUNTER, 4))


def in_a_try(x):
    try:
        n = next(COUNTER)
        raise ValueError(n)
    except ValueError as error:
        return x + error.args[0]


def in_a_generator(x):
    def numbered(values):
        for v in values:
            yield next(COUNTER), v

    return [x * v + n for n, v in numbered((1.0, 2.0))]


def stored(x):
    state = {"n": next(COUNTER)}
    state["n"] += 1
    return x + state["n"], state


def handed_on(x):
    next(COUNTER)
    return x + 1.0, COUNTER


def the_same_by_two_names(x):
    again = iter(COUNTER)
    return x + next(again) - next(COUNTER), again is COUNTER


WITH_COUNTER = [
    next_of_a_global, two_steps, a_step_that_nobody_reads, numbered_objects, the_number_itself,
    in_a_loop, by_its_method, in_a_callee, with_a_default, in_zip, in_zip_behind_the_other, in_islice,
    in_a_try, in_a_generator, stored, handed_on, the_same_by_two_names,
]  # fmt: skip


def at(counter):
    """Where it stands."""
    return counter.__reduce__()[1]


def set_counters(number):
    global COUNTER
    COUNTER = itertools.count(number)
    Part._numbers = itertools.count(number)


@pytest.mark.parametrize("fn", WITH_COUNTER)
def test_counters(fn):
    compiled = Compiled(fn)
    for start in (5, 5, 6, 100, 2**31, -3, 0, 1):
        seen = []
        for run in (fn, compiled):
            set_counters(start)
            result = run(A)
            seen.append((result, at(COUNTER), at(Part._numbers)))
        (plain, *left), (found, *right) = seen
        assert left == right, start
        plain, found = (plain, found) if isinstance(plain, (tuple, list)) else ([plain], [found])
        for a, b in zip(plain, found):
            assert type(a) is type(b)
            if isinstance(a, list):
                assert all(np.array_equal(p, q) for p, q in zip(a, b))
            elif not isinstance(a, itertools.count):
                assert np.array_equal(a, b)
    assert not compiled.breaks and not compiled.faults


def test_one_counter_over_many_calls():
    ids = itertools.count()

    def fn(x):
        return x + next(ids)

    compiled = Compiled(fn)
    for n in range(10):
        assert np.array_equal(compiled(A), A + n)
    assert compiled.published == 1 and not compiled.breaks
    assert next(ids) == 10


def test_a_counter_of_an_object():
    compiled = Compiled(Sampler.step)
    plain, other = Sampler(), Sampler()
    for _ in range(5):
        assert np.array_equal(plain.step(A), compiled(other, A))
    assert at(plain.ticks) == at(other.ticks)
    assert compiled.published == 1 and not compiled.breaks


def test_two_counters_or_one():
    def fn(x, first, second):
        return x * next(first) + next(second)

    compiled = Compiled(fn)
    for _ in range(3):
        for same in (False, True, False):
            counters = []
            for run in (fn, compiled):
                a = itertools.count(3)
                b = a if same else itertools.count(7)
                counters.append((run(A, a, b).tolist(), at(a), at(b)))
            assert counters[0] == counters[1], same


@pytest.mark.parametrize(
    "counter",
    [itertools.count(0.5), itertools.count(2, 3), itertools.count(10**30), itertools.count(1 + 2j)],
    ids=repr,
)
def test_counters_that_count_otherwise(counter):
    number, *step = counter.__reduce__()[1]

    def fn(x, numbers):
        return x + next(numbers)

    compiled = Compiled(fn)
    plain, other = itertools.count(number, *step), itertools.count(number, *step)
    for _ in range(3):
        assert np.array_equal(fn(A, plain), compiled(A, other))
    assert at(plain) == at(other)


def test_a_number_that_decides_breaks():
    names = itertools.count()

    def fn(x):
        return x * 2.0, f"layer_{next(names)}"

    compiled = Compiled(fn)
    assert [compiled(A)[1] for _ in range(5)] == [f"layer_{n}" for n in range(5)]
    assert "missing-slot" in compiled.breaks and compiled.published == 0


def test_the_end_of_plain_counting():
    def fn(x, numbers):
        return x + 1.0, next(numbers), next(numbers)

    compiled = Compiled(fn)
    for start in (1, 2**63 - 4, 2**63 - 2, 2**63 - 1, 2**64):
        plain, other = itertools.count(start), itertools.count(start)
        assert fn(A, plain)[1:] == compiled(A, other)[1:]
        assert at(plain) == at(other)


# ---- Iterators over sequences that were not started


def first_and_rest(it, x):
    first = next(it)
    for v in it:
        x = x + v * first
    return x


def all_of_it(it, x):
    return x * sum(it)


def as_a_list(it, x):
    values = list(it)
    return x + values[0], values


def some_of_it(it, x):
    return x + next(it) * next(it)


def until(it, x):
    for v in it:
        if v > 2.0:
            break
        x = x + v
    return x


def pairs_of_one(it, x):
    return [x * a + b for a, b in zip(it, it)]


def numbered(it, x):
    return [x * v + i for i, v in enumerate(it)]


def in_two_loops(it, x):
    for v in it:
        x = x + v
        break
    for v in it:
        x = x * v
    return x


def membership(it, x):
    return x + 1.0, 2.0 in it


def unpacked(it, x):
    first, *rest = it
    return x * first, rest


def past_the_end(it, x):
    for v in it:
        x = x + v
    return x, next(it, None)


def left_alone(it, x):
    return x + 1.0, it is iter(it)


def in_a_helper(it, x):
    def head(values):
        return next(values)

    return x * head(it) + head(it)


OVER_SEQUENCES = [
    first_and_rest, all_of_it, as_a_list, some_of_it, until, pairs_of_one, numbered, in_two_loops,
    membership, unpacked, past_the_end, left_alone, in_a_helper,
]  # fmt: skip
VALUES = [1.0, 2.0, 3.0, 4.0]


def compare_over(fn, compiled, values, start=0):
    seen = []
    for run in (fn, compiled):
        it = iter(values)
        for _ in range(start):
            next(it, None)
        result = run(it, A)
        seen.append(
            (
                result if isinstance(result, (tuple, list)) else [result],
                list(it),
                it.__reduce__()[1:],
            )
        )
    (plain, *left), (found, *right) = seen
    assert left == right
    for a, b in zip(plain, found):
        assert np.array_equal(a, b)


@pytest.mark.parametrize("kind", [list, tuple])
@pytest.mark.parametrize("fn", OVER_SEQUENCES)
def test_not_started(fn, kind):
    compiled = Compiled(fn)
    for values in (VALUES, VALUES, [1.5, 0.5, 7.0, 1.0]):
        compare_over(fn, compiled, kind(values))
    assert not compiled.breaks and not compiled.faults


@pytest.mark.parametrize("kind", [list, tuple])
@pytest.mark.parametrize("fn", OVER_SEQUENCES)
def test_started_or_not(fn, kind):
    compiled = Compiled(fn)
    for start in (0, 1, 0, 2, 0):
        compare_over(fn, compiled, kind(VALUES), start)
    assert not compiled.faults


def test_a_list_that_grows_while_it_is_walked():
    def fn(it, values, x):
        for v in it:
            x = x + v
            if len(values) < 5:
                values.append(v * 2.0)
        return x

    compiled = Compiled(fn)
    for _ in range(3):
        seen = []
        for run in (fn, compiled):
            values = [1.0, 2.0]
            it = iter(values)
            seen.append((run(it, values, A).tolist(), values, list(it)))
        assert seen[0] == seen[1]


def test_an_iterator_of_arrays_that_is_kept():
    class Batches:
        def __init__(self, parts):
            self.it = iter(parts)

        def first(self, x):
            return x + next(self.it)

    parts = [A * 2.0, A * 3.0, A * 4.0]
    compiled = Compiled(Batches.first)
    for _ in range(2):
        plain, other = Batches(parts), Batches(parts)
        for _ in range(3):
            assert np.array_equal(plain.first(A), compiled(other, A))
        assert next(plain.it, None) is next(other.it, None) is None


def test_two_iterators_or_one():
    def fn(first, second, x):
        return x * next(first) + next(second)

    compiled = Compiled(fn)
    for same in (False, True, False, True):
        seen = []
        for run in (fn, compiled):
            a = iter(VALUES)
            b = a if same else iter(VALUES)
            seen.append((run(a, b, A).tolist(), list(a), list(b)))
        assert seen[0] == seen[1]
