"""What a trace has read of a function is changed between calls."""

import types

import dyntrace
import pytest
from differential import Compiled


def fresh():
    def helper(x, y=2, *, z=3):
        "the doc"
        return x, y, z

    helper.tag = 1
    return helper


READ = {
    "__name__": ("other", lambda f: f.__name__),
    "__qualname__": ("a.b", lambda f: f.__qualname__),
    "__doc__": ("new", lambda f: f.__doc__),
    "__module__": ("elsewhere", lambda f: f.__module__),
    "__defaults__": ((7,), lambda f: f.__defaults__),
    "__kwdefaults__": ({"z": 9}, lambda f: f.__kwdefaults__["z"]),
    "__annotations__": ({"x": int}, lambda f: list(f.__annotations__)),
    "__code__": ((lambda x, y=0, *, z=0: None).__code__, lambda f: f.__code__.co_name),
    "tag": (5, lambda f: f.tag),
    "missing": (5, lambda f: getattr(f, "missing", None)),
    "call": ((8,), lambda f: f(1)),
}


@pytest.mark.parametrize("name", READ)
def test_a_part_that_is_assigned_is_read_anew(name):
    value, read = READ[name]
    helper = fresh()

    def look(x):
        return read(helper), x

    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        compiled = Compiled(look)
        assert compiled(1) == look(1) == compiled(1)
        assert not compiled.breaks, compiled.describe()
        setattr(helper, "__defaults__" if name == "call" else name, value)
        assert compiled(1) == look(1)
        if name == "missing":
            del helper.missing
            assert compiled(1) == look(1)


def test_keyword_defaults_change_in_place():
    helper = fresh()

    def call(x):
        return helper(x)

    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        compiled = Compiled(call)
        assert compiled(1) == (1, 2, 3)
        helper.__kwdefaults__["z"] = 4
        assert compiled(1) == (1, 2, 4)
        helper.__kwdefaults__ = {"z": 5}
        assert compiled(1) == (1, 2, 5)


def test_keyword_defaults_changed_by_the_trace():
    helper = fresh()

    def call(x):
        helper.__kwdefaults__["z"] += 1
        return helper(x)

    plain = types.FunctionType(call.__code__, call.__globals__, "call", None, call.__closure__)
    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        compiled = Compiled(call)
        for expected in (4, 5, 6, 7):
            assert compiled(1) == (1, 2, expected)
        assert plain(1) == (1, 2, 8)
        assert compiled(1) == (1, 2, 9)


def test_names_of_a_class():
    class Point:
        "the doc"

    def look(x):
        return Point.__name__, Point.__qualname__, Point.__doc__, Point.__module__

    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        compiled = Compiled(look)
        assert compiled(1) == look(1)
        assert not compiled.breaks, compiled.describe()
        for name, value in (
            ("__name__", "P"),
            ("__qualname__", "a.P"),
            ("__doc__", "d"),
            ("__module__", "m"),
        ):
            setattr(Point, name, value)
            assert compiled(1) == look(1)


def test_writes_to_an_existing_function_are_seen():
    helper = fresh()

    def write(x):
        helper.tag = helper.tag + 1
        helper.__doc__ = "doc"
        helper.__name__ = "renamed"
        helper.__defaults__ = (x,)
        return helper(0)

    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        compiled = Compiled(write)
        assert compiled("a") == (0, "a", 3)
        assert not compiled.breaks, compiled.describe()
        assert (helper.tag, helper.__doc__, helper.__name__) == (2, "doc", "renamed")
        assert helper.__defaults__ == ("a",)
        assert compiled("b") == (0, "b", 3)
        assert helper.tag == 3
