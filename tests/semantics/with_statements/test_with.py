"""with statements: managers written as classes, by contextlib, nested, leaving in every way."""

import contextlib
import threading

import numpy as np
import pytest
from differential import check

A = np.linspace(0.5, 2.0, 4)

CAPTURED = []


def captured(fn):
    CAPTURED.append(fn)
    return fn


class Log:
    """Says what happens to it."""

    def __init__(self, log, name="m", swallow=()):
        self.log, self.name, self.swallow = log, name, swallow

    def __enter__(self):
        self.log.append("enter " + self.name)
        return self

    def __exit__(self, kind, value, traceback):
        self.log.append("exit " + self.name)
        self.log.append(kind is None and value is None and traceback is None)
        return kind is not None and issubclass(kind, self.swallow)


class Scale:
    """A manager that keeps a state, as numerical settings do."""

    def __init__(self, factor):
        self.factor = factor
        self.saved = []

    def __enter__(self):
        self.saved.append(self.factor)
        self.factor = self.factor * 2.0
        return self.factor

    def __exit__(self, *exc):
        self.factor = self.saved.pop()


class RaisesOnEnter:
    def __enter__(self):
        raise KeyError("enter")

    def __exit__(self, *exc):
        return True


class RaisesOnExit:
    def __enter__(self):
        return 1.0

    def __exit__(self, *exc):
        raise KeyError("exit", exc[0] is None)


class NoExit:
    def __enter__(self):
        return 1.0


class Neither:
    pass


@captured
def body_only(x):
    log = []
    with Log(log):
        y = x + 1.0
    return y, log


@captured
def value_of_enter(x):
    with Scale(3.0) as factor:
        y = x * factor
    return y


@captured
def state_is_restored(x):
    scale = Scale(1.5)
    with scale:
        y = x * scale.factor
    return y, x * scale.factor


@captured
def suppressed(x):
    log = []
    with Log(log, swallow=ValueError):
        x = x + 1.0
        raise ValueError
    return x, log


@captured
def not_suppressed(x):
    log = []
    try:
        with Log(log, swallow=KeyError):
            raise ValueError("through")
    except ValueError as e:
        return x + 1.0, log, e.args


@captured
def two_items(x):
    log = []
    with Log(log, "a") as a, Log(log, "b") as b:
        y = x + len(a.name + b.name)
    return y, log


@captured
def three_nested(x):
    log = []
    with Log(log, "a"):
        with Log(log, "b"):
            with Log(log, "c", swallow=KeyError):
                raise KeyError
            x = x + 1.0
    return x, log


@captured
def outer_suppresses(x):
    log = []
    with Log(log, "a", swallow=LookupError):
        with Log(log, "b", swallow=ValueError):
            raise KeyError
    return x + 1.0, log


@captured
def return_inside(x):
    log = []

    def run():
        with Log(log):
            return x + 1.0

    return run(), log


@captured
def break_and_continue_inside(x):
    log = []
    for i in range(5):
        with Log(log, str(i)):
            if i == 1:
                continue
            if i == 3:
                break
            x = x + i
    return x, log


@captured
def in_a_loop_with_suppression(x):
    log = []
    for i in range(3):
        with Log(log, str(i), swallow=ZeroDivisionError):
            x = x + 4 // (i - 1)
    return x, log


@captured
def exception_on_enter(x):
    try:
        with RaisesOnEnter():
            x = x - 1.0
    except KeyError as e:
        return x + 1.0, e.args


@captured
def exception_on_exit(x):
    try:
        with RaisesOnExit() as one:
            x = x + one
    except KeyError as e:
        return x, e.args


@captured
def exception_on_exit_replaces(x):
    try:
        with RaisesOnExit():
            raise ValueError("body")
    except KeyError as e:
        return x + 1.0, e.args, e.__context__.args


@captured
def with_in_a_try(x):
    log = []
    try:
        with Log(log):
            raise ValueError("v")
    except ValueError:
        log.append("caught")
    finally:
        log.append("finally")
    return x * 2.0, log


@captured
def try_in_a_with(x):
    log = []
    with Log(log):
        try:
            raise ValueError
        except ValueError:
            log.append("caught")
    return x * 2.0, log


@captured
def manager_in_a_callee(x):
    log = []

    def work(y):
        with Log(log, "inner"):
            return y * 2.0

    with Log(log, "outer"):
        return work(x), log


@captured
def exit_that_returns_an_object(x):
    class_ = Truthy()
    with class_:
        raise ValueError
    return x + 1.0


class Truthy:
    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return [exc[0]]


@captured
def methods_are_looked_up_on_the_type(x):
    manager = Scale(2.0)
    manager.__exit__ = None
    with manager as factor:
        return x * factor


@captured
def suppress_of_contextlib(x):
    with contextlib.suppress(ValueError, KeyError):
        x = x + 1.0
        raise KeyError("k")
    return x * 2.0


@captured
def suppress_without_exception(x):
    with contextlib.suppress(ValueError):
        x = x + 1.0
    return x * 2.0


@captured
def suppress_does_not_fit(x):
    try:
        with contextlib.suppress(ValueError):
            raise KeyError("k")
    except KeyError as e:
        return x + 1.0, e.args


@captured
def nullcontext(x):
    with contextlib.nullcontext(3.0) as y:
        return x * y


@captured
def closing(x):
    log = []

    class_ = Closable(log)
    with contextlib.closing(class_) as c:
        x = x + c.value
    return x, log


class Closable:
    value = 2.0

    def __init__(self, log):
        self.log = log

    def close(self):
        self.log.append("closed")


@captured
def no_exit(x):
    try:
        with NoExit():
            x = x - 1.0
    except (TypeError, AttributeError) as e:
        return x + 1.0, e.args


@captured
def neither(x):
    try:
        with Neither():
            x = x - 1.0
    except (TypeError, AttributeError) as e:
        return x + 1.0, e.args


@captured
def no_manager_at_all(x):
    try:
        with 3:
            x = x - 1.0
    except (TypeError, AttributeError) as e:
        return x + 1.0, e.args


@pytest.mark.parametrize("fn", CAPTURED, ids=lambda fn: fn.__name__)
def test_captured(fn):
    check(fn, A)


def test_deep_nesting():
    depth = 18  # CPython allows 20 blocks in one function
    lines = [
        "def fn(x):",
        "    log = []",
        *("    " * (i + 1) + f"with Log(log, '{i}'):" for i in range(depth)),
        "    " * (depth + 1) + "x = x + 1.0",
        "    return x, log",
    ]
    namespace = {"Log": Log}
    exec("\n".join(lines), namespace)
    check(namespace["fn"], A)


def test_an_existing_manager_keeps_its_effects():
    log = []
    manager = Log(log)

    def fn(x):
        with manager:
            log.append("body")
            return x + 1.0

    check(fn, A, state=lambda: log, reset=log.clear)


def test_a_lock_breaks():
    lock = threading.Lock()

    def fn(x):
        with lock:
            return x + 1.0

    check(fn, A, breaks="exception-handler")
    assert not lock.locked()


def test_an_exception_leaves_through_exit():
    log = []

    def fn(x):
        with Log(log):
            x = x + 1.0
            raise ValueError("leaves")

    check(fn, A, breaks="raises", state=lambda: log, reset=log.clear)
