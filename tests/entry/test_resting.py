"""Functions that gain nothing for now rest: they are plain for a while, and looked at again."""

from __future__ import annotations

import functools
import gc
import itertools
import random
import time
import types
import weakref

import pytest

np = pytest.importorskip("numpy")

import dyntrace  # noqa: E402
from dyntrace import _core  # noqa: E402

_testing = _core._testing


@pytest.fixture
def region():
    """That of a program that did not ask to be compiled, with an account."""
    before = _core.get_config("hot_ns"), _core.get_config("hot_count")
    _core.set_config("hot_ns", 5_000_000)
    _core.set_config("hot_count", 3)
    yield _core.Region("native", record=True, quiet=True)
    _core.set_config("hot_ns", before[0])
    _core.set_config("hot_count", before[1])
    dyntrace.reset()  # nobody rests on into the next test


serial = itertools.count()


def define(region, source, **names):
    space = {"np": np, "__name__": "program", **names}
    exec(source, space)
    for value in list(space.values()):
        if isinstance(value, types.FunctionType):
            value.__qualname__ += str(next(serial))  # the list tells functions apart by it
            _core.prepare_function(region, value)
    return space


def state(function):
    name = function if isinstance(function, str) else function.__qualname__
    return next((r["state"] for r in _core.list_prepared() if r["function"] == name), None)


def call_until(condition, call, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition():
        for _ in range(64):
            call()
        assert time.monotonic() < end


def rests(function):
    return lambda: state(function) == "resting"


PLAIN = "def f(a, b=2):\n    return a + b\n"
BUSY = PLAIN + "def g(x):\n    return (x * 2 + 1).sum() - (x - 3).max()\n"


def pass_time(region):
    """Clocks are read where a function is counted that was not called before."""
    define(region, BUSY)["g"](np.ones(50))


def test_short_calls_without_arrays_rest(region):
    f = define(region, PLAIN)["f"]
    assert type(f) is not types.FunctionType
    call_until(rests(f), lambda: f(3))
    assert type(f) is types.FunctionType
    assert f(3) == 5 and f("a", "b") == "ab"


def test_who_rests_is_looked_at_again(region):
    f = define(region, PLAIN)["f"]
    call_until(rests(f), lambda: f(3))
    call_until(lambda: state(f) == "counting", lambda: pass_time(region))
    assert type(f) is not types.FunctionType
    f.__defaults__ = (40,)
    assert f(3) == 43
    call_until(rests(f), lambda: f(3))
    assert f(3) == 43


def test_what_is_set_while_it_rests_is_seen(region):
    f = define(region, PLAIN)["f"]

    def site():
        return f(3)

    call_until(rests(f), site)
    assert [site() for _ in range(40)] == [5] * 40
    f.__defaults__ = (0, 20)
    assert site() == 23
    f.__defaults__ = (30,)
    call_until(lambda: state(f) == "counting", lambda: pass_time(region))
    assert site() == 33
    f.__code__ = (lambda a, b: a * b).__code__
    assert site() == 90


def test_a_function_that_rests_may_die(region):
    space = define(region, PLAIN)
    died, name = weakref.ref(space["f"]), space["f"].__qualname__
    call_until(lambda: state(name) == "resting", lambda: space["f"](3))
    del space["f"]
    assert died() is None and state(name) is None


def test_reset_ends_all_rests(region):
    f = define(region, PLAIN)["f"]
    call_until(rests(f), lambda: f(3))
    dyntrace.reset()
    assert state(f) == "counting" and type(f) is not types.FunctionType
    assert f(3) == 5


def test_a_recursion_rests_from_within(region):
    source = "def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\n"
    fib = define(region, source)["fib"]
    call_until(rests(fib), lambda: fib(12))
    assert fib(15) == 610
    assert not region.records


LOOP = """
def run(n, x):
    total = 0
    for i in range(n):
        {body}
    return np.float64(total) + x.sum()
"""


def test_a_loop_that_comes_to_no_array_is_not_tried(region):
    run = define(region, LOOP.format(body="total += i % 7"))["run"]
    run(3_000_000, np.ones(3))
    assert not region.records


# ---- How far is seen

THING = """
class Thing:
    def __init__(self, value):
        self.value = value
    def get(self):
        return self.value
    def make(self):
        return np.zeros(3)
    def __add__(self, other):
        return {operator}
class Slotted:
    __slots__ = ("value",)
    def __init__(self, value):
        self.value = value
class Maker:
    def __init__(self):
        self.value = np.zeros(3)
def direct(n):
    return np.sqrt(n)
def helper(n):
    return direct(n) + 1
def around(n):
    return helper(n) * 2
def imports(n):
    import numpy
    return numpy.sqrt(n)
def pure(n):
    return n + 1
def pures(n):
    return pure(n) * 2
def gets(t):
    return t.get()
def makes(t):
    return t.make()
def adds(t):
    return t + t
def constructs(n):
    return Maker()
def inner(n):
    return [np.sqrt(i) for i in range(n)]
def nested(n):
    def f(i):
        return direct(i)
    return f
def takes(n):
    return n
def closed():
    a = np.ones(2)
    def f(n):
        return a
    return f
def global_array(n):
    return table[n]
table = np.arange(3)
"""

SPACE: dict = {"np": np, "__name__": "program"}
exec(THING.format(operator="self.value"), SPACE)
OTHER: dict = {"np": np, "__name__": "program"}
exec(THING.format(operator="np.add(1, 2)"), OTHER)
Thing = SPACE["Thing"]

SEEN = {
    "direct": (SPACE["direct"], 1),
    "helper": (SPACE["helper"], 1),
    "around": (SPACE["around"], 1),
    "imports": (SPACE["imports"], 1),
    "argument": (SPACE["takes"], np.ones(2)),
    "scalar": (SPACE["takes"], np.float64(2)),
    "in a list": (SPACE["takes"], [1, 2, np.ones(2)]),
    "in a dict": (SPACE["takes"], {"a": {"b": np.ones(2)}}),
    "attribute": (SPACE["takes"], Thing(np.ones(2))),
    "slot": (SPACE["takes"], SPACE["Slotted"](np.ones(2))),
    "objects": (SPACE["takes"], [Thing(1.0), Thing(Thing([np.ones(2)]))]),
    "many objects": (SPACE["takes"], [Thing(np.ones(1)) for _ in range(5000)]),
    "method": (SPACE["makes"], Thing(1)),
    "operator": (OTHER["adds"], OTHER["Thing"](1)),
    "class": (SPACE["constructs"], 1),
    "comprehension": (SPACE["inner"], 3),
    "nested": (SPACE["nested"], 3),
    "cell": (SPACE["closed"](), 1),
    "global": (SPACE["global_array"], 1),
    "bound": (SPACE["takes"], Thing(np.ones(1)).get),
    "partial": (SPACE["takes"], functools.partial(SPACE["direct"], 1)),
    "iterator": (SPACE["takes"], iter([np.ones(2)])),
}
UNSEEN = {
    "numbers": (SPACE["pure"], 1),
    "functions": (SPACE["pures"], 1),
    "method": (SPACE["gets"], Thing(1)),
    "operator": (SPACE["adds"], Thing(1)),
    "objects": (SPACE["gets"], [Thing(float(i)) for i in range(5000)]),
    "texts": (SPACE["takes"], {str(i): [str(i)] * 3 for i in range(1000)}),
    "module": (SPACE["takes"], random),
    "array module": (SPACE["takes"], np),
    "type": (SPACE["takes"], dict),
}


@pytest.mark.parametrize("name", SEEN)
def test_an_array_in_reach_is_seen(name):
    function, argument = SEEN[name]
    assert _testing.sees_arrays(function, (argument,), True)


@pytest.mark.parametrize("name", UNSEEN)
def test_where_there_is_none_none_is_seen(name):
    function, argument = UNSEEN[name]
    assert not _testing.sees_arrays(function, (argument,), True)


def test_prepared_functions_are_seen_through(region):
    space = define(region, "def f(n):\n    return g(n)\ndef g(n):\n    return np.sqrt(n)\n")
    assert _testing.sees_arrays(space["f"], (1,), True)
    space = define(region, "def f(n):\n    return g(n)\ndef g(n):\n    return n\n")
    assert not _testing.sees_arrays(space["f"], (1,), True)


def test_looking_keeps_nothing_alive():
    thing = Thing([Thing(1), {"a": Thing(2)}])
    died = weakref.ref(thing.value[0])
    _testing.sees_arrays(SPACE["takes"], (thing,), True)
    del thing
    gc.collect()
    assert died() is None


def test_looking_runs_nothing():
    class Odd:
        def __getattr__(self, name):
            raise AssertionError

        def __iter__(self):
            raise AssertionError

        def __eq__(self, other):
            raise AssertionError

        __hash__ = object.__hash__

        @property
        def x(self):
            raise AssertionError

    assert not _testing.sees_arrays(SPACE["pure"], ({Odd(): Odd()},), True)
