"""Iterators and generators that existed before: what asks them breaks cleanly and goes on behind.

Where an existing iterator stands changes from call to call, so no entry relies on it: the step runs
plainly, what lies before and behind it is captured, and a loop over it stays a loop whose body is.
"""

import itertools

import dyntrace
import numpy as np
import pytest
from differential import Compiled, Outcome, compare

PARTS = [np.linspace(i, i + 1.0, 4) for i in range(5)]


def generator():
    for part in PARTS:
        yield part


def delegating():
    yield PARTS[0]
    yield from generator()


class Own:
    def __init__(self):
        self.at = 0

    def __iter__(self):
        return self

    def __next__(self):
        self.at += 1
        if self.at > len(PARTS):
            raise StopIteration
        return PARTS[self.at - 1]


class Indexed:
    def __getitem__(self, at):
        return PARTS[at]


KINDS = {
    "list": lambda: iter(PARTS),
    "tuple": lambda: iter(tuple(PARTS)),
    "reversed": lambda: reversed(PARTS),
    "dict keys": lambda: iter({1: 2, 3: 4, 5: 6, 7: 8}),
    "dict values": lambda: iter(dict(enumerate(PARTS)).values()),
    "set": lambda: iter({1, 2, 3, 4}),
    "range": lambda: iter(range(5)),
    "bytes": lambda: iter(b"abcde"),
    "map": lambda: map(np.sqrt, PARTS),
    "filter": lambda: filter(lambda part: part[0] != 1.0, PARTS),
    "indexed": lambda: iter(Indexed()),
    "callable": lambda: iter(iter(range(1, 5)).__next__, 9),
    "generator": generator,
    "delegating generator": delegating,
    "generator expression": lambda: (part * 2.0 for part in PARTS),
    "islice": lambda: itertools.islice(PARTS, 1, 5),
    "chain": lambda: itertools.chain(PARTS[:2], PARTS[2:]),
    "cycle": lambda: itertools.islice(itertools.cycle(PARTS), 7),
    "accumulate": lambda: itertools.accumulate(PARTS),
    "repeat": lambda: itertools.repeat(PARTS[0], 4),
    "count": lambda: itertools.islice(itertools.count(2), 5),
    "starmap": lambda: itertools.starmap(np.add, zip(PARTS, PARTS)),
    "takewhile": lambda: itertools.takewhile(lambda part: part[0] < 4.0, PARTS),
    "own": Own,
}
ENDLESS = ()


def one_step(it, x):
    y = x * 2.0
    return y + next(it)


def step_with_a_default(it, x):
    first = next(it)
    for _ in range(9):
        second = next(it, None)
        if second is None:
            return x + first, x * 2.0
    return x


def loop(it, x):
    for part in it:
        x = x + part * 2.0
    return x * 3.0


def loop_with_a_break(it, x):
    y = x + 1.0
    for part in it:
        y = y * 2.0 + part
        if y.shape[0] == 4:
            break
    return y + x


def loop_with_continue_and_else(it, x):
    for i, part in enumerate(it):
        if i % 2:
            continue
        x = x + part
    else:
        x = x * 2.0
    return x


def two_loops(it, x):
    for part in it:
        x = x + part
        break
    y = x * 2.0
    for part in it:
        y = y + part
    return y


def loop_in_a_callee(it, x):
    def walk(parts, v):
        for part in parts:
            v = v + part
        return v

    return walk(it, x * 2.0) + 1.0


def with_zip(it, x):
    for i, part in zip(range(3), it):
        x = x + part * i
    return x


def collected(it, x):
    y = x + 1.0
    parts = list(it)
    return y + parts[0], len(parts)


def summed(it, x):
    return sum(it, x * 2.0) + 1.0


def unpacked(it, x):
    first, second, *rest = it
    return x + first + second, len(rest)


def comprehension(it, x):
    y = x * 2.0
    return [y + part for part in it]


def fails_inside(it, x):
    total = x + 1.0
    for part in it:
        total = total + part
        raise ValueError(total.shape)
    return total


def handed_on(it, x):
    return x + 1.0, it


FUNCTIONS = [
    one_step, step_with_a_default, loop, loop_with_a_break, loop_with_continue_and_else, two_loops,
    loop_in_a_callee, with_zip, collected, summed, unpacked, comprehension, fails_inside, handed_on,
]  # fmt: skip


def rest(it):
    return list(itertools.islice(it, 20))


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("fn", FUNCTIONS, ids=lambda fn: fn.__name__)
def test_existing_iterators(fn, kind):
    x = np.linspace(0.5, 2.0, 4)
    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        compiled = Compiled(fn)
        for start in (0, 0, 1, 0, 2):
            plain, other = KINDS[kind](), KINDS[kind]()
            for it in (plain, other):
                for _ in range(start):
                    next(it)
            if kind in ENDLESS and fn not in (one_step, loop_with_a_break, handed_on):
                plain, other = itertools.islice(plain, 4), itertools.islice(other, 4)
            a, b = Outcome(fn, (plain, x), {}), Outcome(compiled, (other, x), {})
            if fn is handed_on:
                assert a.result[1] is plain and b.result[1] is other
                a.result, b.result = a.result[0], b.result[0]
            a.args = b.args = ()  # iterators can't be compared; what is left of them can
            compare(a, b)
            if kind not in ENDLESS:
                for left, right in zip(rest(plain), rest(other)):
                    assert np.array_equal(left, right)
                assert next(plain, None) is next(other, None) is None
    assert not compiled.faults


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_one_iterator_in_many_calls(kind):
    """Like batches: each call takes one more."""
    x = np.linspace(0.5, 2.0, 4)
    plain, other = KINDS[kind](), KINDS[kind]()
    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        compiled = Compiled(one_step)
        for _ in range(4):
            assert np.array_equal(one_step(plain, x), compiled(other, x))
    segments = [r for r in compiled.region.records if r["segment"] is not None and r["published"]]
    assert len(segments) <= 3


@pytest.mark.parametrize("kind", ["list", "generator", "map"])
def test_send_and_state(kind):
    def run(it, x):
        y = x + 1.0
        return iter(it) is it, y, next(it) is PARTS[0]

    x = np.ones(4)
    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        compiled = Compiled(run)
        for _ in range(3):
            expected = run(KINDS[kind](), x)
            found = compiled(KINDS[kind](), x)
            assert expected[0] == found[0] and expected[2] == found[2]


def test_a_generator_that_is_sent_to():
    def averager():
        total, count = 0.0, 0
        while True:
            part = yield total
            if part is None:
                return
            total, count = total + part, count + 1

    def run(steps, x):
        y = steps.send(x * 2.0)
        z = steps.send(x + y)
        return y + z

    x = np.ones(4)
    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        compiled = Compiled(run)
        for _ in range(3):
            plain, other = averager(), averager()
            next(plain), next(other)
            for _ in range(2):
                assert np.array_equal(run(plain, x), compiled(other, x))
            plain.close()
            other.close()


def test_a_generator_that_raises_and_closes():
    closed = []

    def parts():
        try:
            yield PARTS[0]
            raise KeyError("generator")
        finally:
            closed.append(1)

    def run(it, x):
        try:
            for part in it:
                x = x + part
        except KeyError as error:
            return x * 2.0, str(error)

    x = np.ones(4)
    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        compiled = Compiled(run)
        for i in range(3):
            closed.clear()
            expected = run(parts(), x)
            found = compiled(parts(), x)
            assert np.array_equal(expected[0], found[0]) and expected[1] == found[1]
            assert closed == [1, 1]
