"""cache_entries(): what is said of each compiled version."""

from __future__ import annotations

import dyntrace
import numpy as np
import pytest


@pytest.fixture(autouse=True)
def never_weighed():
    with dyntrace.config.patch(weigh_after=0):
        yield


def scaled(x, mode):
    return x * (2.0 if mode == "double" else 3.0) + x


def test_one_row_per_version():
    x = np.ones(4)
    fn = dyntrace.compile(scaled)
    assert fn.cache_entries() == []
    fn(x, "double")
    fn(x, "triple")
    assert sorted(row["guards"].split("'")[3] for row in fn.cache_entries()) == ["double", "triple"]


def test_hits_and_misses_are_counted():
    x = np.ones(4)
    fn = dyntrace.compile(scaled)
    for _ in range(5):
        fn(x, "double")
    (row,) = fn.cache_entries()
    assert (row["hits"], row["misses"]) == (5, 0)
    fn(x, "triple")
    triple, double = fn.cache_entries()
    assert (triple["hits"], triple["misses"]) == (1, 0)
    assert (double["hits"], double["misses"]) == (5, 1)


def test_age_compile_time_and_sizes():
    x = np.ones(4)
    fn = dyntrace.compile(scaled)
    fn(x, "double")
    (row,) = fn.cache_entries()
    (later,) = fn.cache_entries()
    assert 0 < row["age_ns"] < later["age_ns"]
    assert row["compile_ns"] > 0
    assert row["guard_count"] == len(row["guards"].splitlines()) == 2
    assert 0 < row["check_bytes"] < row["text_bytes"]


def test_more_guards_touch_more_memory():
    x = np.ones(4)
    few, many = dyntrace.compile(scaled), dyntrace.compile(lambda x, items: x * len(items) + items[7])
    few(x, "double")
    many(x, [float(i) for i in range(8)])
    assert many.cache_entries()[0]["check_bytes"] > few.cache_entries()[0]["check_bytes"] > 64


def test_a_method_has_entries_of_its_function():
    class Scale:
        k = 2.0

        @dyntrace.compile
        def apply(self, x):
            return x * self.k

    scale = Scale()
    assert scale.apply(np.ones(3)).tolist() == [2.0] * 3
    assert len(scale.apply.cache_entries()) == len(Scale.apply.cache_entries()) == 1
