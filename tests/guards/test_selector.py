"""Many entries of one function: the one that serves a call is found at once, whatever tells them apart."""

from __future__ import annotations

import gc
import random

import dyntrace
import numpy as np
import pytest


@pytest.fixture(autouse=True)
def many_entries():
    with dyntrace.config.patch(weigh_after=0, recompile_limit=100):
        yield


def misses(fn):
    return sum(row["misses"] for row in fn.cache_entries())


def served(function, calls, rounds=3, entries=None):
    """Calls in turn and in random order give plain results; from the second round on no entry is
    asked in vain. Returns the compiled function."""
    fn = dyntrace.compile(function)
    order = random.Random(5)
    for index in range(rounds):
        before = misses(fn)
        for call in calls if index == 0 else order.sample(calls, len(calls)):
            plain, got = function(*call), fn(*call)
            assert type(plain) is type(got) and np.array_equal(plain, got)
        if index > 1:
            assert misses(fn) == before
    assert len(fn.cache_entries()) == (len(calls) if entries is None else entries)
    return fn


X = np.arange(4.0)


def by_text(x, mode):
    return x * len(mode) + (1 if mode == "a" else 2)


def by_number(x, k):
    return x + sum(range(k))


class First:
    pass


class Second(First):
    pass


class Third(Second):
    pass


def by_class(x, thing):
    return x * (2 if isinstance(thing, Second) else 3) + (1 if isinstance(thing, Third) else 0)


def by_length(x, items):
    return x + len([*items])


def by_keys(x, table):
    total = 0.0
    for key, value in table.items():
        total += value * len(key)
    return x + total


class Layer:
    def __init__(self, mode):
        self.mode = mode
        self.inner = None


def by_attribute(x, layer):
    return x * (2 if layer.mode == "train" else 3)


def by_inner_attribute(x, layer):
    mode = layer.inner.mode
    return x * (2 if mode == "train" else 3 if mode == "test" else 4)


def by_item(x, config):
    return x * (2 if config["mode"] == "train" else 3)


def by_default(x, mode="a"):
    return x * (2 if mode == "a" else 3)


def layer_with(mode):
    outer = Layer(None)
    outer.inner = Layer(mode)
    return outer


CASES = {
    "text": (by_text, [(X, "a" * n) for n in range(1, 30)]),
    "number": (by_number, [(X, n) for n in range(1, 20)]),
    "class": (by_class, [(X, First()), (X, Second()), (X, Third())]),
    "length": (by_length, [(X, [1.0] * n) for n in range(1, 12)]),
    "type of container": (by_length, [(X, (1.0, 2.0)), (X, [1.0, 2.0]), (X, {1: 2, 2: 3})]),
    "keys": (by_keys, [(X, {f"k{i}": 1.0 for i in range(n)}) for n in range(1, 9)]),
    "attribute": (by_attribute, [(X, Layer("train")), (X, Layer("test")), (X, Layer("both"))]),
    "inner attribute": (by_inner_attribute, [(X, layer_with(m)) for m in ("train", "test", "b")]),
    "item": (by_item, [(X, {"mode": "train"}), (X, {"mode": "test"})]),
    "default": (by_default, [(X,), (X, "b"), (X, "c")]),
    "dtype": (np_double := lambda x: x + x,
              [(np.ones(3, t),) for t in ("f8", "f4", "i8", "i4", "i2", "u1", "c16", "?")]),
    "rank": (lambda x: x * 2.0, [(np.ones((2,) * n),) for n in range(6)]),
    "layout": (lambda x: x + 1.0,
               [(np.ones((3, 4)),), (np.ones((4, 3)).T,), (np.ones((6, 8))[::2, ::2],)]),
    "none or array": (lambda x, y: x if y is None else x * y, [(X, None), (X, X)]),
    "two at once": (lambda x, a, b: x * (2 if a == "p" else 3) + (4 if b == "q" else 5),
                    [(X, a, b) for a in "pqr" for b in "pqr"]),
    "64 of them": (by_text, [(X, "b" * n) for n in range(64)]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_entry_is_found_without_asking_others(name):
    function, calls = CASES[name]
    with dyntrace.config.patch(everything=True):
        served(function, calls)


def test_conditions_that_no_value_tells_are_asked_one_by_one():
    def by_condition(x, n):
        return x + 1 if n > 10 else x - 1 if n > 5 else x - 2

    fn = dyntrace.compile(by_condition)
    for n in list(range(20)) * 3:
        assert np.array_equal(fn(X, n), by_condition(X, n))
    assert len(fn.cache_entries()) == 3


scale = 2.0


def test_globals_that_changed():
    def by_global(x, mode):
        return x * scale * (1 if mode == "a" else 2)

    global scale
    fn = dyntrace.compile(by_global)
    try:
        for value in (1.0, 2.0, 3.0) * 3:
            scale = value
            for mode in "abc":
                assert np.array_equal(fn(X, mode), by_global(X, mode))
    finally:
        scale = 2.0


def test_an_argument_that_was_read_is_deleted_or_replaced():
    fn = served(by_attribute, CASES["attribute"][1])
    layer = Layer("train")
    assert np.array_equal(fn(X, layer), X * 2)
    del layer.mode
    with pytest.raises(AttributeError, match="mode"):
        fn(X, layer)
    layer.mode = "other"
    assert np.array_equal(fn(X, layer), X * 3)
    layer.__dict__ = {"mode": "train"}
    assert np.array_equal(fn(X, layer), X * 2)
    layer.__dict__["mode"] = 5
    assert np.array_equal(fn(X, layer), X * 3)


def test_entries_that_die_give_their_place_to_others():
    def by_identity(x, thing):
        return x + (1 if thing is First else 2)

    fn = dyntrace.compile(by_identity)
    with dyntrace.config.patch(recompile_limit=4):
        for _ in range(30):
            kind = type("Kind", (), {})
            for _ in range(2):
                assert np.array_equal(fn(X, kind), X + 2)
            assert np.array_equal(fn(X, First), X + 1)
            del kind
            gc.collect()
    assert len(fn.cache_entries()) <= 4


def test_hostile_values_are_never_asked():
    class Hostile:
        def __eq__(self, other):
            raise AssertionError("asked")

        def __hash__(self):
            raise AssertionError("asked")

        def __len__(self):
            raise AssertionError("asked")

        @property
        def __class__(self):
            raise AssertionError("asked")

    class Text(str):
        def __hash__(self):
            raise AssertionError("asked")

        def __eq__(self, other):
            return str.__eq__(self, other)

    def shout(x, mode):
        return x if type(mode) is Hostile else x * (2 if mode == "a" else 3)

    fn = dyntrace.compile(shout)
    for mode in ["a", "b", Hostile(), Text("a"), Text("b"), b"a", None, 3.5] * 3:
        assert np.array_equal(fn(X, mode), shout(X, mode))


def test_reset_while_an_entry_runs():
    def resets(x, mode):
        fn.reset()
        return x * (2 if mode == "a" else 3)

    fn = dyntrace.compile(resets)
    for mode in "abcabcabc":
        assert np.array_equal(fn(X, mode), resets(X, mode))


def test_a_part_of_a_broken_function_has_entries_too():
    @dyntrace.disable
    def opaque(x):
        return x

    def pieces(x, mode):
        y = opaque(x * 2)
        return y * (2 if mode == "a" else 3 if mode == "b" else 4) + y

    fn = dyntrace.compile(pieces)
    for _ in range(4):
        for mode in ("a", "b", "c"):
            assert np.array_equal(fn(X, mode), pieces(X, mode))
