"""dyntrace.error_on_graph_break: a decorator and a context manager, in traced code and around it."""

from __future__ import annotations

import threading

import dyntrace
import numpy as np
import pytest
from differential import FORCED, check

A = np.linspace(0.5, 2.0, 4)
LOG: list[str] = []

pytestmark = pytest.mark.skipif(bool(FORCED), reason="breaks are forced")


@dyntrace.disable
def opaque(text="opaque"):
    LOG.append(text)


@pytest.fixture(autouse=True)
def _empty_log():
    LOG.clear()


def compiled(fn, **options):
    return dyntrace.compile(fn, **options)


def breaks(x):
    a = x * 2
    opaque()
    return a + 1


def whole(x):
    return x * 2 + 1


# ---- Around a call ---------------------------------------------------------------------------------


def test_around_a_call():
    fn = compiled(breaks)
    for _ in range(7):  # not only as long as it is tried
        with dyntrace.error_on_graph_break(), pytest.raises(dyntrace.Unsupported) as error:
            fn(A)
        assert error.value.id == "skipped-function"
    assert LOG == []
    np.testing.assert_array_equal(fn(A), A * 2 + 1)
    assert LOG == ["opaque"]


def test_around_a_call_of_what_is_known_to_break():
    fn = compiled(breaks)
    for _ in range(8):
        fn(A)
    LOG.clear()
    with dyntrace.error_on_graph_break(), pytest.raises(dyntrace.Unsupported):
        fn(A)
    assert LOG == []
    np.testing.assert_array_equal(fn(A), A * 2 + 1)


def test_nothing_to_raise():
    fn = compiled(whole)
    with dyntrace.error_on_graph_break():
        for _ in range(3):
            np.testing.assert_array_equal(fn(A), A * 2 + 1)

    @dyntrace.compile
    def no_arrays(n):
        return n + 1

    with dyntrace.error_on_graph_break():
        assert [no_arrays(1) for _ in range(8)] == [2] * 8


def test_inner_one_counts():
    fn = compiled(breaks)
    with dyntrace.error_on_graph_break():
        with dyntrace.error_on_graph_break(False):
            fn(A)
        with pytest.raises(dyntrace.Unsupported):
            fn(A)
    with dyntrace.error_on_graph_break(False), dyntrace.error_on_graph_break():
        with pytest.raises(dyntrace.Unsupported):
            fn(A)
    fn(A)


def test_of_this_thread_only():
    fn, done = compiled(breaks), []
    with dyntrace.error_on_graph_break():
        thread = threading.Thread(target=lambda: done.append(fn(A)))
        thread.start()
        thread.join()
    np.testing.assert_array_equal(done[0], A * 2 + 1)


def test_deeper_than_anybody_goes():
    managers = [dyntrace.error_on_graph_break(i % 2 == 0) for i in range(1000)]
    fn = compiled(breaks)
    for manager in managers:
        manager.__enter__()
    fn(A)
    for i, manager in reversed(list(enumerate(managers))):
        manager.__exit__(None, None, None)
        if i in (999, 501):
            with pytest.raises(dyntrace.Unsupported):
                fn(A)
    fn(A)


def test_same_text_as_fullgraph():
    texts = []
    with pytest.raises(dyntrace.Unsupported) as error:
        compiled(breaks, fullgraph=True)(A)
    texts.append(str(error.value))
    with dyntrace.error_on_graph_break(), pytest.raises(dyntrace.Unsupported) as error:
        compiled(breaks)(A)
    texts.append(str(error.value))
    with pytest.raises(dyntrace.Unsupported) as error:
        compiled(dyntrace.error_on_graph_break()(breaks))(A)
    del breaks.__dyntrace_refuse__
    texts.append(str(error.value))
    assert texts[0] == texts[1] == texts[2]


def test_fullgraph_raises_at_every_call():
    fn = compiled(breaks, fullgraph=True)
    for _ in range(9):
        with pytest.raises(dyntrace.Unsupported):
            fn(A)
    assert LOG == []


# ---- Inside of traced code -------------------------------------------------------------------------


def in_a_with(x):
    LOG.append("begin")
    a = x * 2
    with dyntrace.error_on_graph_break():
        b = a + 1
        opaque()
    return b


def test_in_a_with():
    fn = compiled(in_a_with)
    for _ in range(6):
        with pytest.raises(dyntrace.Unsupported) as error:
            fn(A)
        assert error.value.lineno == in_a_with.__code__.co_firstlineno + 5
    assert LOG == []  # raised before anything ran


def with_nothing_in_it(x):
    a = x * 2
    with dyntrace.error_on_graph_break():
        b = a + 1
    return b * a


def with_a_loop(x, n):
    total = x * 0
    with dyntrace.error_on_graph_break():
        for i in range(n):
            total = total + x * i
    return total


def with_an_exception(x):
    a = x * 2
    try:
        with dyntrace.error_on_graph_break():
            a = a + 1
            raise KeyError("k")
    except KeyError as error:
        return a, str(error)


def in_a_callee(x):
    with dyntrace.error_on_graph_break():
        return whole(x) * 3


def entered_by_hand(x):
    manager = dyntrace.error_on_graph_break()
    manager.__enter__()
    y = x * 2
    manager.__exit__(None, None, None)
    return y


def one_manager_twice(x):
    manager = dyntrace.error_on_graph_break()
    with manager:
        y = x * 2
    with manager, manager:
        return y + 1


@pytest.mark.parametrize(
    "fn, args",
    [
        (with_nothing_in_it, (A,)),
        (with_a_loop, (A, 5)),
        (with_an_exception, (A,)),
        (in_a_callee, (A,)),
        (entered_by_hand, (A,)),
        (one_manager_twice, (A,)),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_captured_whole(fn, args):
    check(fn, *args)


def manager_as_argument(x, manager):
    with manager:
        return x * 2 + 1


def test_manager_as_argument():
    for on in (True, False):
        check(manager_as_argument, A, make=lambda on=on: ((A, dyntrace.error_on_graph_break(on)), {}))


def test_a_break_before_it():
    @dyntrace.compile
    def fn(x):
        a = x * 2
        opaque("one")
        b = a + 1
        with dyntrace.error_on_graph_break():
            return b * a

    for _ in range(6):
        np.testing.assert_array_equal(fn(A), (A * 2 + 1) * (A * 2))
    assert LOG == ["one"] * 6


def test_a_break_before_it_and_one_inside():
    @dyntrace.compile
    def fn(x):
        a = x * 2
        opaque("one")
        b = a + 1
        with dyntrace.error_on_graph_break():
            c = b * a
            opaque("two")
        return c

    for _ in range(6):
        with pytest.raises(dyntrace.Unsupported):
            fn(A)
    assert LOG == ["one"] * 6  # what comes before the piece that may not break


def test_a_loop_inside_of_it_after_a_break():
    @dyntrace.compile
    def fn(x, items):
        total = x * 0
        opaque()
        with dyntrace.error_on_graph_break():
            for item in items:
                total = total + x * item
        return total * 2

    for n in (3, 3, 3, 4, 3):
        np.testing.assert_array_equal(fn(A, range(n)), sum(A * i for i in range(n)) * 2)
    with dyntrace.error_on_graph_break(False):
        np.testing.assert_array_equal(fn(A, range(3)), (A + A * 2) * 2)


def test_allowed_inside():
    @dyntrace.compile
    @dyntrace.error_on_graph_break()
    def fn(x):
        a = x * 2
        with dyntrace.error_on_graph_break(False):
            b = a + 1
            opaque()
            c = b + a
        return c * 2

    for _ in range(6):
        np.testing.assert_array_equal(fn(A), (A * 2 + 1 + A * 2) * 2)
    assert LOG == ["opaque"] * 6


# ---- As a decorator --------------------------------------------------------------------------------


def test_decorated():
    @dyntrace.error_on_graph_break()
    def helper(x):
        a = x * 2
        opaque()
        return a

    def fn(x):
        LOG.append("begin")
        return helper(x + 1) * 2

    traced = compiled(fn)
    for _ in range(6):
        with pytest.raises(dyntrace.Unsupported) as error:
            traced(A)
        assert "called from" in str(error.value)
    assert LOG == []
    np.testing.assert_array_equal(fn(A), (A + 1) * 4)


def test_decorated_below_a_break():
    @dyntrace.error_on_graph_break()
    def helper(x):
        a = x * 2
        opaque("two")
        return a

    @dyntrace.compile
    def fn(x):
        opaque("one")
        return helper(x + 1) * 2

    for _ in range(3):
        with pytest.raises(dyntrace.Unsupported):
            fn(A)
    assert LOG == ["one"] * 3


def test_a_callee_that_may_break():
    @dyntrace.error_on_graph_break(False)
    def helper(x):
        a = x * 2
        opaque()
        return a * a

    @dyntrace.compile
    def fn(x):
        return helper(x + 1) * 2

    for _ in range(6):
        with dyntrace.error_on_graph_break(False):
            np.testing.assert_array_equal(fn(A), ((A + 1) * 2) ** 2 * 2)
    assert LOG == ["opaque"] * 6


def test_a_root_that_may_break():
    @dyntrace.compile
    @dyntrace.error_on_graph_break(False)
    def fn(x):
        a = x * 2
        opaque()
        b = a + 1
        opaque()
        return b * a

    with dyntrace.error_on_graph_break():
        for _ in range(6):
            np.testing.assert_array_equal(fn(A), (A * 2 + 1) * (A * 2))
    assert LOG == ["opaque"] * 12


def test_decorated_generator():
    @dyntrace.error_on_graph_break()
    def pieces(x):
        yield x * 2
        opaque()
        yield x * 3

    @dyntrace.compile
    def fn(x):
        return sum(pieces(x))

    with pytest.raises(dyntrace.Unsupported):
        fn(A)
    assert LOG == []


def test_returns_the_function():
    decorate = dyntrace.error_on_graph_break()
    assert decorate(whole) is whole
    del whole.__dyntrace_refuse__


def test_bad_arguments():
    with pytest.raises(TypeError, match="on: expected a bool, got str"):
        dyntrace.error_on_graph_break("yes")
    with pytest.raises(TypeError, match="fn: expected a Python function, got builtin"):
        dyntrace.error_on_graph_break()(len)
    dyntrace.error_on_graph_break().__exit__()  # nothing to leave
    assert dyntrace.compile(breaks)(A) is not None
