"""Defaults that change while a function is prepared: warm call sites must not know the old ones."""

import types

import dyntrace
import numpy as np
import pytest
from dyntrace import _core

SOURCE = """
def f(a, b=2, c=3):
    return a, b, c
def one(): return f(1)
def two(): return f(1, 5)
"""


@pytest.fixture
def region():
    before = _core.get_config("hot_ns"), _core.get_config("hot_count")
    _core.set_config("hot_ns", 0)
    _core.set_config("hot_count", 1)
    yield _core.Region("native", None, None, False, -1)
    _core.set_config("hot_ns", before[0])
    _core.set_config("hot_count", before[1])
    dyntrace.reset()


@pytest.mark.parametrize("defaults", [(7,), (7, 8, 9), (), None, (20, 30)])
@pytest.mark.parametrize("kwdefaults", [None, {}])
def test_warm_call_sites_take_the_defaults_of_now(region, defaults, kwdefaults):
    space = {"np": np, "__name__": "program"}
    exec(SOURCE, space)
    f, one, two = space["f"], space["one"], space["two"]
    for _ in range(40):
        assert one() == (1, 2, 3) and two() == (1, 5, 3)
    _core.prepare_function(region, f)
    f.__defaults__, f.__kwdefaults__ = defaults, kwdefaults
    plain = types.FunctionType(f.__code__, space, "f", defaults)

    def outcome(call):
        try:
            return call()
        except TypeError as error:
            return str(error)

    for _ in range(40):
        assert outcome(one) == outcome(lambda: plain(1))
        assert outcome(two) == outcome(lambda: plain(1, 5))
