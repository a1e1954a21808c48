"""Writes that may fail, but only as a whole, where nothing comes after them: nothing is saved for them."""

import traceback
import warnings

import dyntrace
import numpy as np
import pytest
from differential import check

A = np.arange(24.0).reshape(4, 6)
V = np.linspace(0.5, 2.5, 6)
I = np.array([1, 3, -4, 1])
FAR = np.array([1, 3, 4, 1])
MASK = A % 3 == 0
ROWS = np.array([True, False, True, False])


def item(a, i, v):
    a[i[0], i[1]] = v[2] * 2


def column(a, i, v):
    a[:, i[3]] = v[:4] * 2 - a[:, 0]


def rows(a, i, v):
    a[i] = v * 2


def rows_of_rows(a, i, v):
    a[i, 1:3] = a[i, 2:4] * 2


def by_rows(a, mask, v):
    b = a[mask, :]
    a *= 0.5
    a[mask, :] = b[:, ::-1]


def by_mask(a, mask, v):
    a[mask] = v * 2


def after_another(a, i, v):
    v *= 2
    a += v
    a[i] = v + 1


def number(a, i, v):
    v -= 1
    a[i] = 0.0


def several(a, i, v):
    a[i] = v + 1
    v[i] = 3.0
    a[:, i] = v[0]


def in_turns(a, i, v):
    for k in range(3):
        a[i[k], :] = a[i[k], ::-1] + v
        v[i[k]] = k * 0.5


def cases():
    for fn in (item, column, rows, rows_of_rows, after_another, number, several, in_turns):
        for index in (I, FAR, I[:1], I[:2], np.array([9, 0, 0, 0]), I.astype(np.uint8) % 4):
            yield fn, A, index, V
        yield fn, A, I, V[:5]
        yield fn, A[::-1], I, V[::-1]
        yield fn, A.astype("f4"), FAR, V
    for fn in (by_rows, by_mask):
        for mask in (ROWS, ~ROWS | True, ROWS & False, MASK[:, 0], MASK, ROWS[:3], MASK[:, :5]):
            yield fn, A, mask, V
            yield fn, A, mask, V[:1]
            yield fn, A, mask, V[:2]


def outcome(fn, args, order):
    args = [a.copy(order=order) for a in args]
    error = None
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        try:
            fn(*args)
        except (IndexError, ValueError) as raised:
            error = type(raised), str(raised), traceback.extract_tb(raised.__traceback__)[-1].lineno
    return error, [a.tobytes() for a in args], [(str(w.message), w.lineno) for w in found]


@pytest.mark.parametrize("case", range(len(list(cases()))))
def test_as_numpy(case):
    fn, *args = list(cases())[case]
    compiled = dyntrace.compile(fn)
    for other in (args, [A.copy(), I, V], args, args):  # what was compiled for one meets another
        if fn in (by_rows, by_mask) and other is not args:
            other = [A.copy(), ROWS, V]
        for order in "KF":
            assert outcome(fn, other, order) == outcome(compiled, other, order)


def test_an_array_that_is_not_to_be_written():
    def last(a, i):
        a[i] = 2.0

    compiled = dyntrace.compile(last)
    compiled(A.copy(), I)
    fixed = A.copy()
    fixed.flags.writeable = False
    for call in (last, compiled):
        with pytest.raises(ValueError, match="read-only"):
            call(fixed, I)
    assert (fixed == A).all()


def test_index_and_target_are_one():
    def last(a, b):
        a[b] = b[::-1]
        return a

    for n in (3, 40):
        index = np.roll(np.arange(n), 2)
        check(last, index.copy(), index.copy())
        compiled = dyntrace.compile(last)
        mine, plain = index.copy(), index.copy()
        for _ in range(3):
            assert compiled(mine, np.arange(n)).tobytes() == last(plain, np.arange(n)).tobytes()


def test_nothing_is_saved():
    report = dyntrace.explain(column)(A.copy(), I, V)
    assert "operator.setitem (fails as a whole)" in str(report.stages)
    report = dyntrace.explain(several)(A.copy(), I[:1], V.copy())
    assert str(report.stages).count("operator.setitem (fails as a whole)") == 1
    assert "operator.setitem (can be taken back)" in str(report.stages)
