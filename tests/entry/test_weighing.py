"""Compiled code that is no faster than plain execution runs plainly, and is told of."""

from __future__ import annotations

import sys

import dyntrace
import numpy as np
import pytest
from dyntrace._core import _testing


@pytest.fixture(autouse=True)
def weighed():
    with dyntrace.config.patch(weigh_after=4):
        yield


def one_item(x, v):
    x[3] = v


def chain(x, y):
    for _ in range(6):
        x = x * 0.5 + y
        x = x - y * 0.25
    return x


def items(x):
    total = 0
    for i in range(len(x)):
        if x[i] > 0.5:
            total += 1
    return total


def test_what_gains_is_kept():
    x, y = np.ones(8), np.ones(8)
    compiled = dyntrace.compile(chain)
    for _ in range(60):
        compiled(x, y)
    assert compiled.__dyntrace_region__.forsaken() == []
    hits = compiled.cache_entries()[0]["hits"]
    compiled(x, y)
    assert compiled.cache_entries()[0]["hits"] == hits + 1


def test_what_is_slower_is_forsaken_and_listed():
    # Five hundred items read one by one into Python: there is nothing to fuse.
    def reads(x):
        return [x[i] for i in range(400)]

    x = np.arange(400.0)
    compiled = dyntrace.compile(reads)
    for _ in range(60):
        assert compiled(x) == reads(x)
    region = compiled.__dyntrace_region__
    rows = region.forsaken()
    if not rows:
        pytest.skip("faster here")
    # 3.10 has no qualified name in code objects.
    assert [row["function"].split(".")[-1] for row in rows] == ["reads"]
    assert rows[0]["compiled_ns"] >= rows[0]["plain_ns"] > 0
    asked = [(row["hits"], row["misses"]) for row in compiled.cache_entries()]
    compiled(x)
    assert [(row["hits"], row["misses"]) for row in compiled.cache_entries()] == asked
    assert "runs plainly" in str(dyntrace.explain(compiled)(x))
    compiled.reset()
    assert region.forsaken() == []


def test_calls_of_very_different_length_are_not_judged_by_chance():
    # Samples go compiled, plain, plain, compiled, and so on.  The lengths are such that the median
    # of the first eight compiled ones is a long call, that of the plain ones a short one.
    compiled_lengths, plain_lengths = [1, 1, 1, 9, 9, 9, 9, 9], [1, 1, 1, 1, 1, 9, 9, 9]
    sides = [compiled_lengths if step % 4 in (0, 3) else plain_lengths for step in range(16)]
    arrays = {n: (np.ones(2000 * n), np.ones(2000 * n)) for n in (1, 9)}
    for shift in range(4):
        compiled = dyntrace.compile(chain)
        lengths = [iter(compiled_lengths), iter(plain_lengths)]
        for _ in range(5 + shift):
            compiled(*arrays[1])
        for side in sides:
            compiled(*arrays[next(lengths[side is plain_lengths])])
        for k in range(600):
            compiled(*arrays[9 if k * 7 % 13 < 6 else 1])
        assert compiled.__dyntrace_region__.forsaken() == []


@dyntrace.compile
def inner(x, y):
    return chain(x, y) - chain(y, x)


def outer(x, y):
    return chain(inner(x, y), y)


def test_samples_wait_for_those_that_are_taken_inside_of_them():
    x, y = np.ones(8), np.ones(8)
    inner.reset()
    compiled = dyntrace.compile(outer)
    for _ in range(300):
        compiled(x, y)
    assert inner.__dyntrace_region__.forsaken() == compiled.__dyntrace_region__.forsaken() == []
    plainly = 300 - compiled.cache_entries()[0]["hits"]
    inside = sum(row["hits"] for row in inner.cache_entries())
    # Plainly outer calls inner: compiled, plain, plain, compiled, until inner is known.
    assert inside >= 12 and plainly >= 20


def test_a_part_of_a_loop_is_judged_alone():
    x = np.random.default_rng(0).random(3000)
    compiled = dyntrace.compile(items)
    assert compiled(x) == items(x)
    for row in compiled.__dyntrace_region__.forsaken():
        assert row["part"] and row["compiled_ns"] >= row["plain_ns"]


def test_results_and_writes_are_the_same_while_weighing():
    compiled = dyntrace.compile(one_item)
    x, y = np.zeros(5), np.zeros(5)
    for k in range(100):
        one_item(x, k)
        compiled(y, k)
        assert (x == y).all()


def test_exceptions_while_weighing():
    compiled = dyntrace.compile(one_item)
    x = np.zeros(5)
    for k in range(60):
        if k % 3 == 2:
            with pytest.raises(IndexError, match="index 3 is out of bounds"):
                compiled(x[:2], k)
        else:
            compiled(x, k)
            assert x[3] == k


def test_recursion_is_timed_from_outside():
    def down(x, n):
        return x + 1 if n == 0 else down(x * 0.5, n - 1)

    compiled = down = dyntrace.compile(down)
    for _ in range(60):
        assert compiled(np.ones(3), 2)[0] == 1.25


def test_nothing_is_weighed_under_fullgraph_or_another_backend():
    for options in ({"fullgraph": True}, {"backend": "eager"}):
        compiled = dyntrace.compile(one_item, **options)
        for k in range(60):
            compiled(np.zeros(5), k)
        assert compiled.__dyntrace_region__.forsaken() == []
        assert sum(row["hits"] for row in compiled.cache_entries()) == 60


def test_reset_while_a_call_is_timed():
    def resets(x):
        y = x * 2
        compiled.reset()
        return y + 1

    compiled = dyntrace.compile(resets)
    for _ in range(40):
        assert compiled(np.ones(3))[0] == 3


def test_zero_turns_it_off():
    with dyntrace.config.patch(weigh_after=0):
        compiled = dyntrace.compile(one_item)
        x = np.zeros(5)
        for k in range(60):
            compiled(x, k)
    assert compiled.cache_entries()[0]["hits"] == 60


def test_a_long_loop_stays_a_loop():
    def steps(x, n):
        for _ in range(n):
            x = x * 0.5 + 1
            x = np.sqrt(x) - 0.25
        return x

    compiled = dyntrace.compile(steps)
    with dyntrace.config.patch(unroll_nodes=100):
        for n in (10, 2000):
            assert (compiled(np.ones(4), n) == steps(np.ones(4), n)).all()
    whole = dyntrace.compile(steps, fullgraph=True)
    assert (whole(np.ones(4), 300) == steps(np.ones(4), 300)).all()


def test_a_broken_function_is_weighed_when_its_driver_is_settled():
    """The first driver has probes wherever a break can lead to: what it costs says nothing."""
    codes = []

    @dyntrace.disable
    def construct():
        codes.append(sys._getframe(1).f_code)

    def broken(x):
        y = x * 2.0 + 1.0
        construct()
        return y * 3.0 - x

    x = np.ones(4)
    with dyntrace.config.patch(weigh_after=1):
        compiled = dyntrace.compile(broken)
        for _ in range(80):
            compiled(x)
    plain = [code is broken.__code__ for code in codes]
    assert not any(plain[:8])
    assert len(set(codes[:8])) > 1  # another driver has taken the place of the first
    assert any(plain[8:])


def test_long_calls_are_weighed_from_the_first_one_on():
    """Where a call takes milliseconds, a warm-up of many would cost more than the verdict gains."""

    def ordered(x):
        return np.sort(x) + 1.0

    plainly = {}
    for size in (4, 400_000):
        x = np.random.default_rng(0).random(size)
        with dyntrace.config.patch(weigh_after=1000):
            compiled = dyntrace.compile(ordered)
            for _ in range(20):
                assert (compiled(x) == ordered(x)).all()
        plainly[size] = 20 - sum(row["hits"] for row in compiled.cache_entries())
        compiled.reset()
    assert plainly[4] <= 1 < plainly[400_000]


COMPILED_99 = tuple(5900 + 37 * k % 201 for k in range(40))  # a hundredth less than the plain ones
PLAIN_100 = tuple(5960 + 53 * k % 201 for k in range(40))


def verdict(compiled, plain, *, part=False, early=False, most=2000, calls=()):
    return _testing.scale_verdict(part, early, compiled, plain, most, calls)


def test_a_part_may_gain_a_hundredth_of_what_its_samples_take():
    assert verdict(COMPILED_99, PLAIN_100)[0] == "forsaken"
    assert verdict(COMPILED_99, PLAIN_100, part=True)[0] == "kept"
    assert verdict(PLAIN_100, COMPILED_99, part=True)[0] == "forsaken"
    assert verdict(PLAIN_100, PLAIN_100, part=True)[0] == "forsaken"
    assert verdict((5000,), (6000,), part=True)[0] == "kept"


def test_a_part_with_long_samples_is_judged_soon():
    # Half of what is sampled runs plainly: of a loop's iterations of milliseconds, that is too much.
    assert verdict(COMPILED_99, PLAIN_100, part=True, most=16)[0] != "kept"
    compiled, plain = ([1000 * ns for ns in times] for times in (COMPILED_99, PLAIN_100))
    assert verdict(tuple(compiled), tuple(plain), part=True, most=16)[0] in ("kept", "forsaken")


@pytest.mark.parametrize("part", [False, True])
def test_what_is_faster_in_most_calls_and_slower_in_all_is_not_kept(part):
    few_are_long = (1000, 1000, 1000, 9000), (1100, 1100, 1100, 6000)
    assert verdict(*few_are_long, part=part)[0] == "forsaken"
    assert verdict(*few_are_long[::-1], part=part)[0] == "forsaken"  # faster in all, not in most
    assert verdict((1000, 1000, 1000, 6000), (1100, 1100, 1100, 9000), part=part)[0] == "kept"


@pytest.mark.parametrize("part", [False, True])
def test_what_is_kept_tells_what_it_saves(part):
    def gained(compiled, plain, calls):
        before = dyntrace._core.counters()["gained_ns"]
        verdict((compiled,), (plain,), part=part, calls=("settled",) * calls)
        return dyntrace._core.counters()["gained_ns"] - before

    assert gained(200_000, 300_000, 100) in range(100 * 100_000 - 600_000, 100 * 100_000 + 1)
    assert gained(300_000, 200_000, 100) == 0
    assert gained(200_000, 300_000, 0) == 0


def test_attempts_live_on_a_share_of_the_time_and_of_what_was_saved():
    ms = 10**6
    misses = _testing.account_misses
    assert misses(3 * ms, 0, 0) <= 0 < misses(5 * ms, 0, 0)  # a few, before anything is known
    assert misses(25 * ms, 0, 1000 * ms) <= 0 < misses(35 * ms, 0, 1000 * ms)
    assert misses(35 * ms, 40 * ms, 1000 * ms) <= 0 < misses(45 * ms, 40 * ms, 1000 * ms)
    assert misses(65 * ms, 500 * ms, 1000 * ms) <= 0 < misses(70 * ms, 500 * ms, 1000 * ms)
    assert misses(35 * ms, 0, 1000 * ms) == misses(35 * ms, 0, 900 * ms) - 100 * ms


def test_a_verdict_while_an_attempt_waits_is_no_last_one():
    slower = {"compiled": (6000,), "plain": (5000,), "most": 16}
    assert verdict(**slower, calls=("settled",) * 3) == ("forsaken", [("plain", "forsaken")] * 3)
    state, ways = verdict(**slower, early=True, calls=("waiting", "trying", "waiting", "settled"))
    assert state == "forsaken"
    assert ways == [
        ("plain", "forsaken"),
        ("compiled", "forsaken"),
        ("plain", "forsaken"),
        ("compiled", "warming"),
    ]
    _, ways = verdict(**slower, early=True, calls=("trying",) * 70)
    assert ways == [("compiled", "forsaken")] * 63 + [("plain", "forsaken")] * 7
