"""Context variables: what the current context holds is an input; set() and reset() break"""

import contextlib
import contextvars

import numpy as np
import pytest
from differential import FORCED, Compiled, check

X = np.linspace(0.5, 2.0, 6)
SCALE = contextvars.ContextVar("SCALE", default=1.5)
BARE = contextvars.ContextVar("BARE")
OPTIONS = contextvars.ContextVar("OPTIONS", default={"power": 2})
WEIGHTS = contextvars.ContextVar("WEIGHTS", default=np.linspace(0, 1, 6))
WHOLE = []


def whole(fn):
    WHOLE.append(fn)
    return fn


@whole
def own_default(x):
    return x * SCALE.get()


@whole
def default_of_the_call(x):
    return x * BARE.get(3.0), SCALE.get(4.0), SCALE.get(None)


@whole
def no_value(x):
    try:
        return x * BARE.get()
    except LookupError as error:
        return x * 7, error.args[0] is BARE


@whole
def an_object(x):
    options = OPTIONS.get()
    return x ** options["power"], options


@whole
def an_array(x):
    return x * WEIGHTS.get() + WEIGHTS.get(x)


@whole
def in_a_helper(x):
    return default_of_the_call(x)[0] + own_default(x)


@whole
def several_times(x):
    first, second = OPTIONS.get(), OPTIONS.get()
    return x * 2, first is second


@pytest.mark.parametrize("fn", WHOLE)
def test_whole(fn):
    check(fn, X)
    context = contextvars.copy_context()
    context.run(SCALE.set, 2.5)
    context.run(BARE.set, 0.5)
    context.run(OPTIONS.set, {"power": 3})
    context.run(WEIGHTS.set, np.ones(6))
    context.run(check, fn, X)


@pytest.mark.parametrize("fn", WHOLE)
def test_contexts_that_change(fn):
    compiled = Compiled(fn)

    def same():
        np.testing.assert_equal(compiled(X), fn(X))

    for _ in range(2):
        same()
        tokens = [
            (variable, variable.set(value))
            for variable, value in [
                (SCALE, 2.5),
                (BARE, 0.25),
                (OPTIONS, {"power": 3}),
                (WEIGHTS, np.arange(6.0)),
            ]
        ]
        same()
        SCALE.set(3)
        same()
        for variable, token in tokens:
            variable.reset(token)


def test_the_value_of_the_moment():
    """A value is no recompile where it is a number."""
    compiled = Compiled(own_default)
    for scale in (0.5, 2.5, 3.5, 4.5):
        token = SCALE.set(scale)
        np.testing.assert_array_equal(compiled(X), X * scale)
        SCALE.reset(token)
    assert FORCED or compiled.published <= 2


def test_a_value_that_marks_none():
    """Token.MISSING itself is a value like any other."""
    missing = contextvars.Token.MISSING

    def fn(x):
        return x * 2, BARE.get(3)

    compiled = Compiled(fn)
    assert compiled(X)[1] == 3
    token = BARE.set(missing)
    try:
        assert fn(X)[1] is missing
        assert compiled(X)[1] is missing
    finally:
        BARE.reset(token)


def test_set_and_reset_break():
    def fn(x):
        token = SCALE.set(4.0)
        try:
            y = x * SCALE.get()
        finally:
            SCALE.reset(token)
        return y - SCALE.get()

    @contextlib.contextmanager
    def scaled(value):
        token = SCALE.set(value)
        try:
            yield SCALE.get()
        finally:
            SCALE.reset(token)

    def managed(x):
        with scaled(3.0) as scale:
            y = x * SCALE.get() + scale
        return y * SCALE.get()

    check(fn, X, breaks="attribute", entries=None)
    check(managed, X, breaks="attribute", entries=None)


def test_wrong_calls():
    check(lambda x: x * SCALE.get(1, 2), X, breaks="call-mismatch")
