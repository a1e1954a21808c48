"""Functions that are followed: closures, defaults, recursion, cells."""

import dyntrace
import numpy as np
import pytest
from differential import Compiled, check

A = np.linspace(0.5, 2.0, 4)
FACTOR = 3.0


def helper(x):
    return x * FACTOR


def outer(x):
    return helper(helper(x)) + helper(x + 1.0)


def factorial(n):
    return 1 if n <= 1 else n * factorial(n - 1)


def recursive(x, n):
    return x * factorial(n)


def power(x, n):
    return x if n == 1 else x * power(x, n - 1)


def local_function(x):
    def inner(y):
        return y + x

    return inner(x * 2.0)


def closure_written_by_outer(x):
    def inner():
        return value + x

    value = 1.0
    a = inner()
    value = 2.0
    return a, inner()


def nonlocal_counter(x):
    count = 0

    def bump():
        nonlocal count
        count += 1
        return count

    bump()
    bump()
    return x + count, count


def captured_argument(x, y):
    def inner():
        return x - y

    x = x * 2.0
    return inner()


def nested_three_deep(x):
    def a(p):
        def b(q):
            def c(r):
                return p + q * r + x

            return c(3.0)

        return b(p + 1.0)

    return a(x)


def cells_per_iteration(x):
    functions = [lambda: x + i for i in range(3)]
    return [f() for f in functions]


def default_binds_early(x):
    functions = [lambda k=i: x + k for i in range(3)]
    return [f() for f in functions]


def local_defaults(x):
    def inner(a, b=x, *, c=x * 2.0):
        return a + b + c

    return inner(1.0), inner(1.0, 2.0), inner(1.0, c=0.0)


def returns_function(x):
    n = 3.0

    def inner(y):
        return y * n

    return inner, inner(x)


def recursion_through_a_cell(x):
    def down(n):
        return x if n == 0 else down(n - 1) + 1.0

    return down(5)


def same_name_in_both(x):
    n = 1

    def inner(x):
        n = 2
        return x * n

    return inner(x) + n


def higher_order(x):
    def twice(f, value):
        return f(f(value))

    return twice(lambda v: v * 2.0, x)


def comprehension_captures(x):
    return [(lambda: x * i)() for i in range(3)]


def deleted_cell(x):
    value = x

    def inner():
        return value

    y = inner()
    del value
    value = y + 1.0
    return inner()


CASES = [
    (outer, A),
    (recursive, A, 5),
    (power, A, 4),
    (local_function, A),
    (closure_written_by_outer, A),
    (nonlocal_counter, A),
    (captured_argument, A, 1.0),
    (nested_three_deep, A),
    (cells_per_iteration, A),
    (default_binds_early, A),
    (local_defaults, A),
    (recursion_through_a_cell, A),
    (same_name_in_both, A),
    (higher_order, A),
    (comprehension_captures, A),
    (deleted_cell, A),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_same(case):
    check(*case)


def test_a_new_function_escapes_with_its_cells():
    compiled = check(returns_function, A)
    inner, _ = compiled(A)
    plain, _ = returns_function(A)
    np.testing.assert_array_equal(inner(A), plain(A))
    assert inner.__qualname__ == plain.__qualname__
    assert inner.__closure__[0].cell_contents == 3.0


def make_scaler(factor):
    def scale(x):
        return x * factor

    return scale


def test_free_variables_are_read_each_time():
    for factor in (2.0, 3.5):
        check(make_scaler(factor), A)


def make_counter():
    count = 0

    def bump(x):
        nonlocal count
        count += 1
        return x + count

    return bump


def test_free_variable_is_written_back():
    plain, compiled = make_counter(), Compiled(make_counter())
    for _ in range(5):
        np.testing.assert_array_equal(plain(A), compiled(A))
    assert not compiled.breaks and not compiled.faults, compiled.describe()
    cell = compiled.fn.__wrapped__.__closure__[0]
    assert cell.cell_contents == 5


def make_pair():
    value = 1.0

    def get():
        return value

    def both(x):
        nonlocal value
        before = get()
        value = before + 1.0
        return x * get(), before

    return both, get


def test_two_functions_share_a_cell():
    (plain, get_plain), (fn, get) = make_pair(), make_pair()
    compiled = Compiled(fn)
    for _ in range(4):
        a, b = plain(A), compiled(A)
        np.testing.assert_array_equal(a[0], b[0])
        assert a[1] == b[1]
    assert get_plain() == get() == 5.0
    assert not compiled.breaks and not compiled.faults, compiled.describe()


def test_a_helper_that_is_replaced_is_noticed(monkeypatch):
    compiled = Compiled(outer)
    np.testing.assert_array_equal(compiled(A), outer(A))
    monkeypatch.setitem(globals(), "helper", lambda x: x - 1.0)
    np.testing.assert_array_equal(compiled(A), outer(A))
    monkeypatch.undo()
    np.testing.assert_array_equal(compiled(A), outer(A))


def test_depth_limit():
    def deep(x, n):
        return x if n == 0 else deep(x, n - 1) + 1.0

    check(deep, A, 30)
    with dyntrace.config.patch(inline_depth=10):
        check(deep, A, 30, breaks="inline-depth")


def test_empty_free_variable():
    def make():
        if False:
            value = 1

        def fn(x):
            return x + value

        return fn

    check(make(), A, breaks="raises")
