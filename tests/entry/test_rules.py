"""What the user says about calls: disable, assume_constant_result, modules that are skipped."""

import json
import textwrap

import dyntrace
import numpy as np
import pytest
from differential import Compiled, check
from dyntrace._settings import SKIPPED_MODULES

A = np.linspace(0.5, 2.0, 4)
CALLS = []


@dyntrace.disable
def left_alone(n):
    return n + 1


@dyntrace.assume_constant_result
def settings(name, scale=1):
    CALLS.append(name)
    return {"a": 3, "b": 4}[name] * scale


LIMITS = {"low": 0.5, "high": [1, 2]}


@dyntrace.assume_constant_result
def limits():
    return LIMITS


@dyntrace.assume_constant_result
def refuses():
    raise LookupError("nothing here")


def uses_disabled(x):
    return x * left_alone(2)


def uses_constant(x):
    return x * settings("a") + settings("b", scale=2)


def uses_guarded_argument(x, name):
    return x * settings(name)


def uses_object(x):
    return x * limits()["low"], limits()


@dyntrace.assume_constant_result
def size_of(value):
    return len(value)


def uses_unknown(x):
    return x * size_of(x + 1.0)


def uses_raising(x):
    y = x + 1.0
    return y, refuses()


def uses_textwrap(x):
    return x * len(textwrap.dedent("a"))


def uses_json(x):
    return x * len(json.detect_encoding(b"[1]"))


def test_disable_is_a_break():
    check(uses_disabled, A, breaks="skipped-function")


def test_a_constant_result_is_asked_for_once():
    CALLS.clear()
    compiled = Compiled(uses_constant)
    with dyntrace.config.patch(everything=True, strict=True):
        for _ in range(4):
            assert (compiled(A) == A * 3 + 8).all()
    assert CALLS == ["a", "b"] and not compiled.breaks


def test_arguments_of_a_constant_function_are_guarded():
    compiled = Compiled(uses_guarded_argument)
    with dyntrace.config.patch(everything=True, strict=True):
        for name, factor in [("a", 3), ("b", 4), ("a", 3)]:
            assert (compiled(A, name) == A * factor).all()
    assert compiled.published == 2


def test_a_constant_result_keeps_its_identity():
    compiled = Compiled(uses_object)
    with dyntrace.config.patch(everything=True, strict=True):
        for low in (0.5, 0.5, 0.25):
            LIMITS["low"] = low
            result, limits_of = compiled(A)
            assert (result == A * low).all() and limits_of is LIMITS
    LIMITS["low"] = 0.5


def test_unknown_argument_of_a_constant_function():
    check(uses_unknown, A, breaks="unknown-callable")


def test_a_constant_function_that_raises():
    check(uses_raising, A, breaks="raises")


def test_modules_can_be_skipped():
    check(uses_textwrap, A)
    with dyntrace.config.patch(skip_modules=SKIPPED_MODULES | {"textwrap"}):
        check(uses_textwrap, A, breaks="skipped-function")
    assert dyntrace.config.skip_modules == SKIPPED_MODULES


def test_packages_are_skipped_with_their_modules():
    with dyntrace.config.patch(skip_modules={"json"}):
        check(uses_json, A, breaks="skipped-function")


def test_a_skipped_module_can_be_compiled_itself():
    with dyntrace.config.patch(skip_modules={__name__.partition(".")[0]}):
        check(uses_constant, A)


@pytest.mark.parametrize("value", ["logging", [1]])
def test_skip_modules_takes_names(value):
    with pytest.raises(TypeError, match="skip_modules: expected a collection of str"):
        dyntrace.config.skip_modules = value


def test_everything_is_listed():
    rules = dyntrace.list_rules()
    assert left_alone in rules["disable"]
    assert settings in rules["assume_constant_result"]
    assert "logging" in rules["skip_modules"]
    assert len(rules["substitute_in_graph"]) >= 30


@pytest.mark.parametrize("mark", [dyntrace.disable, dyntrace.assume_constant_result])
def test_marks_are_for_functions(mark):
    with pytest.raises(TypeError, match="expected a Python function, got builtin"):
        mark(len)
