"""Recompiling: what varies becomes an input, the limits, what is said there, and recompiles as errors."""

from __future__ import annotations

import builtins
import gc
import sys
import warnings

import dyntrace
import numpy as np
import pytest

X = np.arange(4.0)
rate = 0.1
steps = 3


@pytest.fixture(autouse=True)
def never_weighed():
    with dyntrace.config.patch(weigh_after=0):
        yield


class Optimizer:
    lr = 0.5

    def __init__(self):
        self.momentum = 0.9


optimizer = Optimizer()


def by_global(x):
    return x * rate


def by_attribute(x):
    return x * optimizer.momentum + optimizer.lr


def by_count(x):
    return x * steps + 1


def set_global(value):
    global rate
    rate = value


def set_momentum(value):
    optimizer.momentum = value


def set_steps(value):
    global steps
    steps = value


@pytest.mark.parametrize(
    ("function", "change", "values"),
    [
        (by_global, set_global, [0.1, 0.2, 0.3, 0.4, -1.0, 1e300]),
        (by_attribute, set_momentum, [0.9, 0.8, 0.7, 0.6, 0.5]),
        (by_count, set_steps, [3, 4, 5, 6, 7, -2]),
    ],
    ids=["a global", "an attribute", "an int"],
)
def test_a_number_that_varied_becomes_an_input(function, change, values):
    fn = dyntrace.compile(function)
    try:
        for value in values * 3:
            change(value)
            assert fn(X).tobytes() == function(X).tobytes()
        assert len(fn.cache_entries()) == 2
    finally:
        change(values[0])


def test_a_number_of_another_type_is_another_version():
    fn = dyntrace.compile(by_global)
    try:
        for value in [0.1, 0.2, 3, 4, True, 0.3, 5, 2.5, np.float32(2.0)] * 2:
            set_global(value)
            plain, got = by_global(X), fn(X)
            assert (plain.dtype, plain.tobytes()) == (got.dtype, got.tobytes())
    finally:
        set_global(0.1)


def test_reset_forgets_what_varied():
    fn = dyntrace.compile(by_global)
    try:
        for value in (0.1, 0.2):
            set_global(value)
            fn(X)
        fn.reset()
        fn(X)
        (row,) = fn.cache_entries()
        assert "G['rate'] == 0.2" in row["guards"]
    finally:
        set_global(0.1)


def by_mode(x, mode):
    return x * len(mode)


def test_the_limit_is_told_once_with_what_varied():
    fn = dyntrace.compile(by_mode)
    with dyntrace.config.patch(recompile_limit=3), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for _ in range(3):
            for mode in ("a", "bb", "ccc", "dddd", "eeeee"):
                assert fn(X, mode).tobytes() == by_mode(X, mode).tobytes()
    (warning,) = told
    text = str(warning.message)
    assert "was compiled 3 times, the recompile limit" in text
    assert "L['mode'] is 'dddd', and was 'a', 'bb', 'ccc'" in text
    assert "config.recompile_limit" in text
    assert len(fn.cache_entries()) == 3


def test_versions_that_died_count_towards_the_total():
    def by_class(x, kind):
        return x * (2 if kind is int else 3)

    fn = dyntrace.compile(by_class)
    with (
        dyntrace.config.patch(recompile_total_limit=5),
        warnings.catch_warnings(record=True) as told,
    ):
        warnings.simplefilter("always")
        for _ in range(12):
            kind = type("Kind", (), {})
            assert fn(X, kind).tobytes() == (X * 3).tobytes()
            del kind
            gc.collect()
    assert len(told) == 1
    assert "was compiled 5 times" in str(told[0].message)


def test_a_recompile_is_an_error_where_it_is_to_be_one():
    fn = dyntrace.compile(by_mode)
    with dyntrace.config.patch(error_on_recompile=True):
        assert fn(X, "a").tobytes() == X.tobytes()  # the first version is no recompile
        with pytest.raises(
            dyntrace.RecompileError, match=r"by_mode .*\n  L\['mode'\] is 'bb', and was 'a'"
        ):
            fn(X, "bb")
        assert fn(X, "a").tobytes() == X.tobytes()
    assert fn(X, "bb").tobytes() == (X * 2).tobytes()
    assert len(fn.cache_entries()) == 2
    with dyntrace.config.patch(error_on_recompile=True):
        assert fn(X, "bb").tobytes() == (X * 2).tobytes()


def test_the_log_says_why(capsys):
    fn = dyntrace.compile(by_mode)
    fn(X, "a")
    with dyntrace.config.patch(logs="recompiles"):
        fn(X, "bb")
    text = capsys.readouterr().err
    assert "recompiling" in text and "L['mode'] == 'a', was 'bb'" in text


# ---- Writes at each call ------------------------------------------------------------------------

STORM = """
class C:
    k = 2.0
    total = 0
    def __init__(self):
        self.v = 3.0
        self.count = 0
    def m(self, x):
        return x * self.v + self.k
o = C()
n = 0
table = {'a': 2.0, 'count': 0}
def fn(x):
"""
# What happens between two calls, or in them; the function; how many versions serve all calls.
STORMS = {
    "another global": ("unrelated = i", "return o.m(x) * table['a']", 1),
    "a builtin": ("import builtins; builtins.unrelated = i", "return o.m(x) * len(table)", 1),
    "another attribute": ("o.other = i", "return o.m(x)", 1),
    "another key": ("table['count'] = i", "return x * table['a']", 1),
    "another module's name": ("m = __import__('sys'); m.unrelated = i", "return x * o.v", 1),
    "a global that it counts in": ("", "global n\n    n += 1\n    return x * o.v + n", 2),
    "an attribute that it counts in": ("", "o.count += 1\n    return x * o.v + o.count", 2),
    "a key that it counts in": ("", "table['count'] += 1\n    return x * table['count']", 2),
    "a global that it reads": ("n = i", "return x * n + o.v", 2),
    "an attribute that it reads": ("o.v = i / 8", "return o.m(x)", 2),
    "an attribute of a class": ("C.total = i", "return o.m(x)", 2),
    "a class that it counts in": ("", "C.total += 1\n    return o.m(x) + C.total", 3),
}


@pytest.mark.parametrize("storm", STORMS)
def test_a_name_that_is_written_at_each_call(storm, monkeypatch):
    change, body, versions = STORMS[storm]
    for module in (builtins, sys):
        monkeypatch.setattr(module, "unrelated", None, raising=False)  # and gone afterwards
    worlds = []
    for _ in range(2):
        space = {"np": np, "i": 0}
        exec(f"{STORM}    {body}", space)
        worlds.append(space)
    plain, space = worlds
    fn = dyntrace.compile(space["fn"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i in range(300):
            for each in worlds:
                each["i"] = i
                exec(change, each)
            assert fn(X).tobytes() == plain["fn"](X).tobytes()
    rows = fn.cache_entries()
    assert len(rows) <= versions
    if versions < 8:
        assert sum(row["hits"] for row in rows) == 300
