"""Results that lru_cache() keeps: dropped, exchanged and changed between the calls."""

import functools

import numpy as np
import pytest
from differential import Compiled

A = np.linspace(0.5, 2.0, 4)


def twins(limit):
    """Two worlds: a function that uses a cached one, each with what it can be asked for."""

    def make():
        calls = []
        state = {"bias": 0.0}

        @functools.lru_cache(maxsize=limit)
        def kept(n):
            calls.append(n)
            return [n * 1.0 + state["bias"], np.full(4, float(n)), {"n": n}]

        def fn(x, n):
            number, array, names = kept(n)
            return x * number + array, names["n"], kept(n) is kept(n)

        return fn, kept, calls, state

    return make(), make()


def same(left, right):
    assert (left[0] == right[0]).all()
    assert left[1:] == right[1:]


STEPS = {
    "nothing": lambda kept, state: None,
    "cleared": lambda kept, state: kept.cache_clear(),
    "evicted": lambda kept, state: [kept(n) for n in range(10, 16)],
    "changed": lambda kept, state: kept(2).__setitem__(0, 7.5),
    "another type": lambda kept, state: kept(2).__setitem__(0, 7),
    "array written": lambda kept, state: kept(2)[1].__setitem__(1, -1.0),
    "array exchanged": lambda kept, state: kept(2).__setitem__(1, np.arange(4)),
    "made anew": lambda kept, state: (state.__setitem__("bias", 3.0), kept.cache_clear()),
    "grown": lambda kept, state: kept(2)[2].__setitem__("m", 1),
    "other arguments": lambda kept, state: [kept(n) for n in (1, 3)],
}


@pytest.mark.parametrize("limit", [None, 4, 128])
@pytest.mark.parametrize("step", STEPS)
def test_between_the_calls(step, limit):
    plain, other = twins(limit)
    compiled = Compiled(other[0])
    for round_ in range(6):
        n = 2 if round_ < 4 else round_
        same(plain[0](A, n), compiled(A, n))
        assert plain[1].cache_info() == other[1].cache_info(), round_
        assert plain[2] == other[2]
        for _, kept, _, state in (plain, other):
            STEPS[step](kept, state)
    assert not compiled.faults


def test_another_function_under_the_name():
    @functools.lru_cache(maxsize=None)
    def first(n):
        return 2.0

    @functools.lru_cache(maxsize=None)
    def second(n):
        return 3.0

    first(1), second(1)
    held = {"kept": first}

    def fn(x, kept):
        return x * kept(1)

    compiled = Compiled(fn)
    for kept in (first, first, second, first, lambda n: 4.0, second):
        held["kept"] = kept
        assert (compiled(A, kept) == fn(A, kept)).all()


class Odd:
    """Equal to nothing known: comparing it runs code."""

    asked = 0

    def __hash__(self):
        return hash(5)

    def __eq__(self, other):
        Odd.asked += 1
        return False


def test_a_key_with_the_same_hash_that_compares_by_python():
    def run(compile_it):
        Odd.asked = 0

        @functools.lru_cache(maxsize=None)
        def kept(n):
            return 2.0

        def fn(x):
            return x * kept(5)

        kept(Odd())
        kept(5)
        target = Compiled(fn) if compile_it else fn
        results = [target(A) for _ in range(3)]
        return [r.tolist() for r in results], Odd.asked, kept.cache_info()

    assert run(False) == run(True)
