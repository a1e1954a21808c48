"""Which jumps back are loops."""

import pytest
from dyntrace._core import _testing


def nothing(a):
    return a


def handled(a, b):
    try:
        a = b(a)
    except ValueError:
        a = 1
    except TypeError:
        a = 2
    try:
        a = b(a)
    except ValueError:
        a = 3
    return a


def counted(a):
    for i in range(3):
        a += i
    return a


def guarded(a, b):
    for i in range(3):
        try:
            a += b(i)
        except ValueError:
            continue
        except TypeError:
            a = 1
    return a


def around(a, b):
    try:
        for i in range(3):
            a += b(i)
    except ValueError:
        a = 1
    while a > 3:
        a -= 1
    return a


def retried(a, b):
    while True:
        try:
            return b(a)
        except ValueError:
            a += 1


def retried_before_more(a, b):
    for i in range(3):
        try:
            return b(a)
        except ValueError:
            pass
    return a


def nested(a):
    while a:
        for i in a:
            while i:
                i -= 1
        a = a[1:]
    return a


def entered(a, b):
    with a:
        b(a)
    return a


LOOPS = [
    (nothing, 0), (handled, 0), (counted, 1), (guarded, 1), (around, 2), (retried, 1),
    (retried_before_more, 1), (nested, 3),
]  # fmt: skip


def lines_come_to_again(function):
    """Lines, counted from `def` as line 0, of instructions that control may return to."""
    code = function.__code__
    rows = zip(_testing.decode(code)["instrs"], _testing.loops(code))
    return {i[6] - code.co_firstlineno for i, row in rows if i[11] >= 0 and i[6] >= 0 and row[3]}


@pytest.mark.parametrize(("function", "count"), LOOPS)
def test_heads_of_loops(function, count):
    instrs = _testing.decode(function.__code__)["instrs"]
    rows = _testing.loops(function.__code__)
    heads = {instr[3] for instr, row in zip(instrs, rows) if row[2] and instr[11] >= 0}
    # A loop with a condition is tested at its end as well: more than one jump leads to its head.
    assert len(heads) == count
    for index, (head, last, _, again) in enumerate(rows):
        if head >= 0 and instrs[index][11] >= 0:
            assert again and head <= index <= last and instrs[last][3] == head and rows[last][2]


@pytest.mark.parametrize(
    ("function", "lines"),
    [
        (handled, set()),
        (counted, {1, 2}),
        (guarded, {1, 2, 3, 4, 5, 6, 7}),
        (around, {2, 3, 6, 7}),
        (retried, {3, 4, 5}),
        (nested, {2, 3, 4, 5}),
        (entered, set()),
    ],
)
def test_lines_that_control_comes_to_again(function, lines):
    found = lines_come_to_again(function)
    assert lines <= found and (lines or not found)


def test_what_a_handler_jumps_back_to_is_in_no_loop():
    rows = _testing.loops(handled.__code__)
    assert not [row for row in rows if row[0] >= 0 or row[2] or row[3]]
