"""Branches on guarded values, loops, iteration."""

import numpy as np
import pytest
from differential import Compiled, check

A = np.linspace(0.5, 2.0, 4)


def branch(x, flag):
    if flag:
        return x + 1.0
    return x - 1.0


def branch_on_number(x, n):
    if n > 3:
        y = x * n
    elif n == 3:
        y = x + n
    else:
        y = x - n
    return y


def branch_on_none(x, y=None):
    if y is None:
        y = x
    if y is not None:
        x = x + y
    return x


def branch_on_string(x, mode):
    if mode == "double":
        return x * 2.0
    elif mode in ("half", "halve"):
        return x / 2.0
    return x


def branch_on_shape(x):
    if x.ndim == 1 and x.shape[0] > 2:
        return x * 2.0
    return x


def branch_on_container(x, items):
    if items:
        return x + items[0]
    return x


def while_loop(x, n):
    i = 0
    while i < n:
        x = x * 2.0 + i
        i += 1
    return x


def while_else(x):
    i = 0
    while i < 3:
        i += 1
    else:
        x = x + i
    return x


def for_range(x, n):
    for i in range(n):
        x = x + i
    return x


def for_range_step(x):
    for i in range(10, 0, -3):
        x = x * i
    return x


def for_list(items):
    total = 0.0
    for item in items:
        total = total + item
    return total


def for_dict(d):
    total = 0.0
    names = []
    for name in d:
        names.append(name)
        total = total + d[name]
    for name, value in d.items():
        total = total - 2 * value
    for value in d.values():
        total = total * value
    return total, names


def for_enumerate_zip(xs, ys):
    total = 0.0
    for i, (x, y) in enumerate(zip(xs, ys), 1):
        total = total + i * x * y
    for x in reversed(xs):
        total = total - x
    return total


def for_break_continue(items):
    total = 0.0
    for i, item in enumerate(items):
        if i == 1:
            continue
        if i == 3:
            break
        total = total + item
    else:
        total = total * 100
    return total


def for_else(items):
    total = 0.0
    for item in items:
        total = total + item
    else:
        total = total * 2
    return total


def nested_loops(x):
    for i in range(3):
        for j in range(i):
            x = x + i * j
    return x


def many_inner_loops(x):
    n = 0
    for _ in range(100):
        for _ in range(60):
            n += 1
    return x + n


def loop_over_string(x):
    out = []
    for c in "abc":
        out.append(c + "!")
    return out, x + 1.0


def try_without_exception(x):
    try:
        y = x + 1.0
    except ValueError:
        y = x
    else:
        y = y * 2.0
    return y


def try_finally(x):
    try:
        y = x + 1.0
    finally:
        z = x * 2.0
    return y + z


def return_in_loop(items):
    for item in items:
        if item is None:
            return "none"
    return items[0] + 1.0


def boolean_chain(x, a, b, c):
    if (a and b) or (c and not a):
        return x + 1.0
    return x - 1.0


def assertion(x, n):
    assert n > 0, "positive"
    return x / n


CASES = [
    (branch, A, True),
    (branch, A, False),
    (branch, A, 0.0),
    (branch, A, "x"),
    (branch, A, None),
    (branch_on_number, A, 4),
    (branch_on_number, A, 3),
    (branch_on_number, A, 2.5),
    (branch_on_none, A),
    (branch_on_none, A, A),
    (branch_on_string, A, "double"),
    (branch_on_string, A, "halve"),
    (branch_on_string, A, "no"),
    (branch_on_shape, A),
    (branch_on_shape, A.reshape(2, 2)),
    (branch_on_container, A, [A]),
    (branch_on_container, A, []),
    (while_loop, A, 5),
    (while_else, A),
    (for_range, A, 4),
    (for_range, A, 0),
    (for_range_step, A),
    (for_list, [A, A + 1, 3.0]),
    (for_dict, {"x": A, "y": A * 2}),
    (for_enumerate_zip, [A, A * 2], (A + 1, 2.0)),
    (for_break_continue, [A, A + 1, A + 2, A + 3, A + 4]),
    (for_break_continue, [A, A + 1]),
    (for_else, [A, 1]),
    (nested_loops, A),
    (many_inner_loops, A),
    (loop_over_string, A),
    (try_without_exception, A),
    (try_finally, A),
    (return_in_loop, [A, None]),
    (return_in_loop, [A, A]),
    (boolean_chain, A, True, False, True),
    (boolean_chain, A, False, False, True),
    (assertion, A, 2),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_same(case):
    check(*case)


def test_each_branch_gets_its_entry():
    compiled = Compiled(branch_on_number)
    for n in (4, 5, 6, 2, 1, 3, 3, 9):
        np.testing.assert_array_equal(compiled(A, n), branch_on_number(A, n))
    assert len(compiled.records) == 3, compiled.describe()


def test_another_trip_count_is_another_entry():
    compiled = Compiled(for_range)
    for n in (3, 3, 4, 3, 4):
        np.testing.assert_array_equal(compiled(A, n), for_range(A, n))
    assert len(compiled.records) == 2, compiled.describe()


def test_a_failing_assertion():
    # pytest rewrites the assert statements of this file.
    namespace = {}
    exec(
        compile(
            "def fn(x, n):\n    assert n > 0, 'positive'\n    return x / n\n", "<plain>", "exec"
        ),
        namespace,
    )
    check(namespace["fn"], A, 0, breaks="raises")


def test_generator_expression_over_arrays_of_a_list():
    def fn(items):
        return sum([item * 2.0 for item in items])

    check(fn, [A, A + 1])
