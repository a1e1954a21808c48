"""Classes that are written while compiled code relies on them: counters cost no recompile at each
call, and every change that matters is seen."""

from __future__ import annotations

import types
import warnings

import dyntrace
import numpy as np
import pytest

X = np.arange(4.0)

BASE = """
class Base:
    limit = 10
    shown = "base"

    def scale(self):
        return 2.0

class C(Base):
    count = 0
    other = 0
    factor = 3.0
    _hidden = 1.0

    def __init__(self):
        self.v = 1.5

    def m(self, x):
        C.count += 1
        return x * self.v * self.factor + x * self.scale()

    def typed(self, x):
        type(self).count += 1
        return x * self.v + self._hidden

    def plain(self, x):
        return x * self.v * self.factor + x

    @classmethod
    def made(cls, x):
        cls.count += 1
        return x * cls.factor + 1

    @staticmethod
    def still(x):
        C.count = C.count + 2
        return x * 2 + 1

    @property
    def half(self):
        C.count += 1
        return self.v / 2

    def __call__(self, x):
        self.__class__.count += 1
        return x * self.half

o = C()

def by_name(x):
    C.count += 1
    return x * 2 + x

def method(x):
    return o.m(x)

def typed(x):
    return o.typed(x)

def of_class(x):
    return C.made(x)

def static(x):
    return C.still(x)

def with_property(x):
    return x * o.half + 1

def called(x):
    return o(x)

def two(x):
    C.count += 1
    C.other = C.count * 2
    return o.plain(x) + x

def in_loop(x):
    for _ in range(3):
        C.count += 1
        x = o.plain(x)
    return x

def of_base(x):
    Base.limit -= 1
    return o.plain(x)

def outside(x):
    return o.plain(x) + 1
"""

WRITERS = [
    "by_name", "method", "typed", "of_class", "static", "with_property", "called", "two", "in_loop",
    "of_base",
]  # fmt: skip


@pytest.fixture(autouse=True)
def strictly():
    with dyntrace.config.patch(strict=True, weigh_after=0):
        yield


def worlds(name):
    """The same program twice: its scope and one of its functions, compiled and plain."""
    scopes = []
    for _ in range(2):
        module = types.ModuleType("written")
        exec(BASE, module.__dict__)
        scopes.append(module.__dict__)
    compiled, plain = scopes
    return compiled, dyntrace.compile(compiled[name]), plain, plain[name]


def outcome(function, x):
    try:
        result = function(x)
    except Exception as error:
        return type(error), str(error)
    return result.dtype, result.tobytes()


def state(scope):
    names = ("count", "other", "factor", "limit", "shown")
    return [getattr(scope["C"], name, None) for name in names], scope["o"].__dict__


@pytest.mark.parametrize("name", WRITERS)
def test_counters(name):
    scope, compiled, plain_scope, plain = worlds(name)
    for _ in range(30):
        assert outcome(compiled, X) == outcome(plain, X)
        assert state(scope) == state(plain_scope)
    entries = compiled.cache_entries()
    assert len(entries) <= 3
    assert sum(entry["hits"] for entry in entries) >= 25


@pytest.mark.parametrize("write", ["C.count += 1", "C.other = 'text'", "C.count = X", "Base.limit -= 1"])
def test_written_by_others(write):
    """Three recompiles at most: then names that nobody relied on are free."""
    scope, compiled, plain_scope, plain = worlds("outside")
    for each in (scope, plain_scope):
        each["X"] = X
    for _ in range(30):
        exec(write, scope)
        exec(write, plain_scope)
        assert outcome(compiled, X) == outcome(plain, X)
    entries = compiled.cache_entries()
    assert len(entries) <= 3
    assert sum(entry["hits"] for entry in entries) >= 25


CHANGES = [
    "C.factor = 4.0", "del C.factor", "C.factor = property(lambda self: 7.0)", "C._hidden = 2.0",
    "Base.scale = lambda self: 5.0", "C.scale = lambda self: 6.0", "del Base.scale",
    "C.plain = lambda self, x: x - 1", "C.v = property(lambda self: 9.0)", "C.v = 3.0",
    "C.m = Base.scale", "C.__getattribute__ = lambda self, name: object.__getattribute__(self, name)",
    "C.__getattr__ = lambda self, name: 4.0", "C.count = 'text'", "C.count = 2**80", "del C.count",
    "C.count = 1.5", "C.__bases__ = (type('B', (), {'scale': lambda self: 1.0, 'limit': 5}),)",
    "C.made = classmethod(lambda cls, x: x + 7)", "C.still = staticmethod(lambda x: x + 8)",
    "C.half = 4.0", "C.half = property(lambda self: 8.0)", "C.__call__ = lambda self, x: x + 9",
    "o.factor = 5.0", "o.count = 50", "o.plain = lambda x: x", "o.__class__ = type('D', (C,), {})",
    "C.factor = property(lambda self: 1.0, lambda self, value: None)",
    "Base.factor = 8.0; del C.factor", "C.new = 1", "del C.other", "C.other = C.count",
]  # fmt: skip


@pytest.mark.parametrize("name", [*WRITERS, "outside"])
@pytest.mark.parametrize("change", CHANGES)
def test_changes(name, change):
    scope, compiled, plain_scope, plain = worlds(name)
    for step in range(8):
        if step == 4:
            for each in (scope, plain_scope):
                exec(change, each)
        for each in (scope, plain_scope):
            each["Base"].limit -= 1
        assert outcome(compiled, X) == outcome(plain, X)
        ours, theirs = state(scope), state(plain_scope)
        for left, right in zip(ours[0], theirs[0], strict=True):
            assert type(left) is type(right)
            assert left == right or isinstance(left, property)


def test_alternating():
    """A name that is relied on goes back and forth."""
    scope, compiled, plain_scope, plain = worlds("method")
    for step in range(24):
        for each in (scope, plain_scope):
            each["C"].factor = 3.0 + step % 2
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert outcome(compiled, X) == outcome(plain, X)
        assert state(scope) == state(plain_scope)


def test_another_at_the_same_address():
    """What counts is held: nothing else can take its place in memory."""
    scope, compiled, plain_scope, plain = worlds("method")
    for _ in range(3):
        assert outcome(compiled, X) == outcome(plain, X)
    for step in range(20):
        for each in (scope, plain_scope):
            each["step"] = step
            del each["Base"].scale
            exec("Base.scale = eval(f'lambda self: {step}.0')", each)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert outcome(compiled, X) == outcome(plain, X)
