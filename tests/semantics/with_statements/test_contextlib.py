"""contextlib's managers and stacks: captured whole, also where the body raises"""

import contextlib
import sys

import numpy as np
import pytest
from differential import check, in_a_thread

A = np.linspace(0.5, 2.0, 4)
WHOLE = []


def whole(fn):
    WHOLE.append(fn)
    return fn


class Resource:
    def __init__(self, log, name="r"):
        self.log, self.name = log, name
        self.closed = False

    def close(self):
        self.closed = True
        self.log.append(("close", self.name))


class Manager:
    def __init__(self, log, name, swallow=False):
        self.log, self.name, self.swallow = log, name, swallow

    def __enter__(self):
        self.log.append(("enter", self.name))
        return self.name

    def __exit__(self, kind, value, traceback):
        self.log.append(("exit", self.name, kind and kind.__name__))
        return self.swallow


@contextlib.contextmanager
def tagged(log, name):
    log.append("<" + name)
    try:
        yield name
    finally:
        log.append(name + ">")


@whole
def a_stack_of_callbacks(x):
    log = []
    with contextlib.ExitStack() as stack:
        stack.callback(log.append, 1)
        stack.callback(log.extend, [2, 3])
        log.append(0)
    return x + 1.0, log


@whole
def a_stack_of_managers(x):
    log = []
    with contextlib.ExitStack() as stack:
        names = [stack.enter_context(tagged(log, n)) for n in "abc"]
        y = x * len(names)
    return y, log, names


@whole
def a_stack_that_is_closed_by_hand(x):
    log = []
    stack = contextlib.ExitStack()
    stack.enter_context(Manager(log, "m"))
    y = x * 2.0
    stack.close()
    return y, log


@whole
def a_stack_that_hands_over(x):
    log = []
    with contextlib.ExitStack() as stack:
        stack.callback(log.append, "later")
        keep = stack.pop_all()
    before = list(log)
    keep.close()
    return x + 1.0, before, log


@whole
def a_stack_and_an_exception(x):
    log = []
    try:
        with contextlib.ExitStack() as stack:
            stack.enter_context(Manager(log, "outer"))
            stack.enter_context(Manager(log, "inner"))
            raise ValueError("v")
    except ValueError as error:
        log.append(str(error))
    return x + 1.0, log


@whole
def a_stack_that_swallows(x):
    log = []
    with contextlib.ExitStack() as stack:
        stack.enter_context(Manager(log, "outer"))
        stack.enter_context(Manager(log, "inner", swallow=True))
        log.append(x.sum() is None)
        raise KeyError("k")
    return x * 2.0, log


@whole
def a_stack_whose_exit_raises(x):
    log = []

    def fail(*exc):
        raise RuntimeError("late")

    try:
        with contextlib.ExitStack() as stack:
            stack.push(fail)
            raise ValueError("early")
    except RuntimeError as error:
        log.append((str(error), str(error.__context__)))
    return x + 1.0, log


@whole
def a_pushed_method(x):
    log = []
    with contextlib.ExitStack() as stack:
        stack.push(Manager(log, "m", swallow=True).__exit__)
        stack.push(Manager(log, "n"))
        raise ValueError
    return x + 1.0, log


@whole
def a_callback_as_decorator(x):
    log = []
    with contextlib.ExitStack() as stack:

        @stack.callback
        def done():
            log.append("done")

        y = x * 3.0
    return y, log, done.__name__


@whole
def stacks_in_a_loop(x):
    log = []
    for i in range(3):
        with contextlib.ExitStack() as stack:
            if i != 1:
                stack.enter_context(tagged(log, str(i)))
            x = x + i
    return x, log


@whole
def a_stack_in_a_callee(x):
    log = []

    def guarded(v, names):
        with contextlib.ExitStack() as stack:
            for name in names:
                stack.enter_context(tagged(log, name))
            return v * 2.0

    return guarded(x, "ab") + guarded(x, "c"), log


@whole
def a_stack_in_a_handler(x):
    log = []
    try:
        raise KeyError("outer")
    except KeyError:
        with contextlib.ExitStack() as stack:
            stack.enter_context(Manager(log, "m"))
            x = x + 1.0
    return x, log


@whole
def closing_an_object(x):
    log = []
    with contextlib.closing(Resource(log)) as r:
        log.append(r.closed)
        y = x * 2.0
    return y, log, r.closed


@whole
def closing_after_an_exception(x):
    log = []
    try:
        with contextlib.closing(Resource(log)):
            raise ValueError("v")
    except ValueError:
        log.append("caught")
    return x * 2.0, log


@whole
def suppressing_one(x):
    with contextlib.suppress(KeyError):
        x = x + {}["a"]
    return x * 2.0


@whole
def suppressing_several(x):
    seen = []
    for i in range(3):
        with contextlib.suppress(KeyError, ZeroDivisionError):
            seen.append(i)
            if i == 0:
                {}["a"]
            seen.append(1 // (i - 1))
    return x + 1.0, seen


@whole
def suppressing_a_subclass(x):
    with contextlib.suppress(LookupError):
        [][1]
    with contextlib.suppress(Exception):
        raise ValueError
    return x + 1.0


@whole
def suppressing_something_else(x):
    try:
        with contextlib.suppress(KeyError):
            raise ValueError("other")
    except ValueError as error:
        return x + 1.0, str(error)
    return x


@whole
def a_null_context(x):
    with contextlib.nullcontext(3) as k, contextlib.nullcontext() as none:
        return x * k, none


@whole
def a_context_or_none(x, wanted=False):
    log = []
    with tagged(log, "t") if wanted else contextlib.nullcontext():
        return x + 1.0, log


@whole
def a_decorator(x):
    log = []

    @tagged(log, "d")
    def step(v):
        return v * 2.0

    return step(step(x)), log


@whole
def no_exception_is_handled(x):
    return x + 1.0, sys.exc_info()


@whole
def handled_and_then_not(x):
    seen = []
    try:
        raise ValueError("v")
    except ValueError:
        seen.append(sys.exc_info()[0])
    seen.append(sys.exc_info()[0])
    return x + 1.0, seen


@whole
def a_raise_of_nothing(x):
    try:
        raise
    except RuntimeError as error:
        return x + 1.0, str(error)


@pytest.mark.parametrize("fn", WHOLE)
@in_a_thread
def test_captured_whole(fn):
    check(fn, A)


@in_a_thread
def test_what_the_caller_handles_is_guarded():
    from differential import Compiled

    def fn(x):
        return x + 1.0, sys.exc_info()[0]

    compiled = Compiled(fn)
    for _ in range(2):
        assert compiled(A)[1] is None
        try:
            raise ValueError("v")
        except ValueError:
            assert compiled(A)[1] is ValueError
            try:
                raise KeyError("k")
            except KeyError:
                assert compiled(A)[1] is KeyError
            assert compiled(A)[1] is ValueError
    assert compiled(A)[1] is None


@in_a_thread
def test_a_stack_where_the_caller_handles():
    from differential import Compiled

    def fn(x):
        contexts = []
        try:
            with contextlib.ExitStack() as stack:
                stack.callback(contexts.append, 1)
                raise KeyError("inner")
        except KeyError as error:
            contexts.append(type(error.__context__))
        return x + 1.0, contexts

    compiled = Compiled(fn)
    for _ in range(3):
        assert compiled(A)[1] == fn(A)[1] == [1, type(None)]
        try:
            raise ValueError("outer")
        except ValueError:
            assert compiled(A)[1] == fn(A)[1] == [1, ValueError]


@in_a_thread
def test_a_raise_of_what_the_caller_handles():
    from differential import Compiled

    def fn(x):
        if x[0] is None:
            return x
        raise

    compiled = Compiled(fn)
    for _ in range(3):
        with pytest.raises(RuntimeError, match="No active exception"):
            compiled(A)
        try:
            raise ValueError("v")
        except ValueError:
            with pytest.raises(ValueError, match="v"):
                compiled(A)
