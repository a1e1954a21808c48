"""Small arrays made without a call of NumPy: sequences, orders, triangles, diagonals."""

import warnings
from pathlib import Path

import dyntrace
import numpy as np
import pytest
from differential import check

V = np.array([3.0, 1.0, -2.0, 5.5, 0.25, 4.0])
M = np.eye(3) * 3 + np.arange(9.0).reshape(3, 3)
W = np.arange(12.0).reshape(3, 4)
I = np.array([3, 1, 2, 5, 4, 0])
C = np.arange(24.0).reshape(2, 3, 4)


def rolled_in_place(a):
    for i in range(2):
        a[:, i] = np.roll(a[:, i], 1, axis=0)
        a[i, :] = np.roll(a[i, :], -1, axis=0)
    return a


CASES = {
    "arange": (lambda a: np.arange(6) + 1, V),
    "arange, itself": (lambda a: (a + 1, np.arange(6)), V),
    "arange of a size": (lambda a: a * np.arange(a.shape[0]), V),
    "arange downwards": (lambda a: (a + 1, np.arange(9, -3, -2)), V),
    "arange of one": (lambda a: (a + 1, np.arange(4, 5)), V),
    "arange of none": (lambda a: (a + 1, np.arange(0)), V),
    "arange of floats": (lambda a: (a + 1, np.arange(0.5, 4.0, 0.3)), V),
    "arange of float ends": (lambda a: (a + 1, np.arange(0, 4, 0.1), np.arange(5.0)), V),
    "arange as floats": (lambda a: (a + 1, np.arange(7, dtype=float)), V),
    "arange as bytes": (lambda a: (a + 1, np.arange(7, dtype=np.int8)), V),
    "arange of tiny steps": (lambda a: (a + 1, np.arange(0.0, 3e-310, 1e-310)), V),
    "linspace": (lambda a: (a + 1, np.linspace(0.0, 1.0, 7)), V),
    "linspace between ints": (lambda a: (a + 1, np.linspace(-3, 7, 11)), V),
    "linspace, open": (lambda a: (a + 1, np.linspace(0.1, 0.9, 5, endpoint=False)), V),
    "linspace of one": (lambda a: (a + 1, np.linspace(0.1, 0.9, 1)), V),
    "linspace of one, open": (lambda a: (a + 1, np.linspace(0.1, 0.9, 1, endpoint=False)), V),
    "linspace of equal ends": (lambda a: (a + 1, np.linspace(2.5, 2.5, 4)), V),
    "linspace between items": (lambda a: np.linspace(a[0], a[1], 9) * 2, V),
    "linspace between numbers": (lambda a: np.linspace(float(a[0]), float(a[3]), 9), V),
    "linspace to infinity": (lambda a: np.linspace(0.0, a[0] * np.inf, 3), V),
    "linspace of tiny steps": (lambda a: (a + 1, np.linspace(0.0, 1e-310, 5)), V),
    "cumsum": (lambda a: np.cumsum(a) * 2, V),
    "cumsum, itself": (lambda a: (a * 2).cumsum(), V),
    "cumsum of ints": (lambda a: np.cumsum(a, axis=0) + 1, I),
    "cumsum of rows": (lambda a: np.cumsum(a, axis=1) * 2, W),
    "cumsum of all": (lambda a: np.cumsum(a) * 2, W),
    "cumsum of a part": (lambda a: np.cumsum(a[::2]) * 2, V),
    "cumsum of bools": (lambda a: np.cumsum(a > 1) * 2, V),
    "cumprod": (lambda a: np.cumprod(a) + 1, V),
    "cumprod of ints": (lambda a: np.cumprod(a + 1) - 1, I),
    "cumsum of one": (lambda a: np.cumsum(a[:1]) + 1, V),
    "sort": (lambda a: np.sort(a) * 2, V),
    "sort of rows": (lambda a: np.sort(-a) + 1, W),
    "sort of columns": (lambda a: np.sort(-a, axis=0), W),
    "sort of a part": (lambda a: np.sort(a[::-1]), V),
    "sort by a kind": (lambda a: np.sort(a, kind="stable"), V),
    "sort of bools": (lambda a: np.sort(a > 1), V),
    "argsort": (lambda a: a[np.argsort(a)] * 2, V),
    "argsort of rows": (lambda a: np.argsort(-a) + 1, W),
    "argsort of columns": (lambda a: (-a).argsort(axis=0), W),
    "argsort of ints": (lambda a: np.argsort(a) * 2, I),
    "roll": (lambda a: np.roll(a, 2), V),
    "roll back": (lambda a: np.roll(a, -8) - a, V),
    "roll by nothing": (lambda a: np.roll(a, 0), V),
    "roll on an axis": (lambda a: np.roll(a * 2, 1, axis=0), V),
    "roll of rows": (lambda a: np.roll(a, 1, axis=1), W),
    "roll of rows back": (lambda a: np.roll(a * 2, -6, axis=1) + a, W),
    "roll of columns": (lambda a: np.roll(a, 1, axis=0) - np.roll(a, -1, axis=0), W),
    "roll of rows by nothing": (lambda a: np.roll(a, 4, axis=1), W),
    "roll of all": (lambda a: np.roll(a, 5), W),
    "roll of all, another order": (lambda a: np.roll(a.T, 5), W),
    "roll in another order": (lambda a: (np.roll(a.T, 1, axis=0), np.roll(a.T, 1, axis=1)), W),
    "roll of a part": (lambda a: (np.roll(a[:, 1::2], 1, axis=0), np.roll(a[:, ::-1], 1, 1)), W),
    "roll of three axes": (lambda a: [np.roll(a, 1, axis=i) for i in range(3)], C),
    "roll of three, another order": (
        lambda a: [np.roll(a.transpose(1, 2, 0), 2, axis=i) for i in range(3)], C),
    "roll of a part of three": (lambda a: [np.roll(a[:, :, 1], 1, axis=i) for i in range(2)], C),
    "roll of a repeated row": (lambda a: np.roll(np.broadcast_to(a, (3, 6)), 1, axis=1), V),
    "roll by items": (lambda a, i: np.roll(a, i[1], axis=0) + np.roll(a, i[0], axis=1), W, I),
    "roll of nothing": (lambda a: np.roll(a[:0], 1, axis=1), W),
    "roll on one item": (lambda a: np.roll(a[:1], 3, axis=0), W),
    "roll of what is written": (rolled_in_place, W),
    "repeat": (lambda a: np.repeat(a, 3) * 2, V),
    "repeat, itself": (lambda a: np.repeat(a, 1), V),
    "repeat of rows": (lambda a: np.repeat(a, 2, axis=0), W),
    "repeat of ints": (lambda a: a.repeat(2), I),
    "triu": (lambda a: np.triu(a), M),
    "triu above": (lambda a: np.triu(a, 1) * 2, W),
    "triu below": (lambda a: np.triu(a, -1), W),
    "triu of a large one": (lambda a: np.triu(np.outer(a, a), 1), np.linspace(0.1, 3.3, 130)),
    "tril": (lambda a: np.tril(a) + 1, W),
    "tril below": (lambda a: np.tril(a, -2), W),
    "tril far above": (lambda a: np.tril(a, 9), W),
    "triu far above": (lambda a: np.triu(a, 9), W),
    "triu of another order": (lambda a: np.triu(a.T), W),
    "diag of a vector": (lambda a: np.diag(a) * 2, V),
    "diag of a vector, itself": (lambda a: np.diag(a * 2), V),
    "diag above": (lambda a: np.diag(a, 1), I),
    "diag below": (lambda a: np.diag(a, k=-2), V),
    "diag of a matrix": (lambda a: np.diag(a), M),
    "diag of a matrix above": (lambda a: np.diag(a, 1) * 2, W),
    "diag of a diag": (lambda a: np.diag(np.diag(a)), M),
    "diagonal": (lambda a: a.diagonal(), W),
    "diagonal below": (lambda a: np.diagonal(a, -1) + 1, W),
    "diagonal of a transposed": (lambda a: np.diagonal(a.T, 1), W),
    "trace": (lambda a: np.trace(a) * 2, M),
    "trace, itself": (lambda a: a.trace(), W),
    "trace of ints": (lambda a: np.trace(a.reshape(2, 3)), I),
    "trace of bytes": (lambda a: np.trace(a.astype(np.int8).reshape(2, 3)), I),
    "trace of bools": (lambda a: np.trace(a > 3), M),
    "trace of a long one": (lambda a: np.trace(np.outer(a, a)), np.linspace(0.1, 3.3, 40)),
    "trace of products": (lambda a: np.trace(a @ a.T) / 3, M),
    "columns side by side": (lambda a: np.hstack((a[:, None], a[:, None] * 2)), V),
    "copied columns side by side": (lambda a: np.hstack((a, a * 2)), V[:, None].copy()),
    "rows on each other": (lambda a: np.vstack((a, a * 2)), V[None, :].copy()),
    "rows and matrices": (lambda a, b: np.vstack((a, b)), W, W[:1].copy()),
    "stacked columns": (lambda a: np.stack((a, a * 2), axis=2), V[:, None].copy()),
    "stacked in front": (lambda a: np.stack((a, a * 2)), V[:, None].copy()),
    "joined one-item axes": (lambda a: np.concatenate((a, a), axis=1), np.ones((2, 1, 3))),
    "column_stack": (lambda a: np.column_stack((a, a * 2)), V),
    "column_stack of three": (lambda a: np.column_stack((a, a * 2, a + 1)) @ np.eye(3), V),
    "column_stack of columns": (lambda a: np.column_stack((a, a * 2)), V[:, None].copy()),
    "column_stack of both": (lambda a, b: np.column_stack((a, b)), V, np.ones((6, 2))),
    "column_stack of ints": (lambda a: np.column_stack((a, a)), I),
}


def facts(value):
    """What differential.check does not compare."""
    parts = value if isinstance(value, (tuple, list)) else (value,)
    return [
        (p.strides, p.flags.owndata, p.base is None, getattr(p.base, "shape", None))
        for p in parts if isinstance(p, np.ndarray)
    ]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CASES)
def test_as_numpy(name):
    fn, *args = CASES[name]
    check(fn, *args)
    compiled = dyntrace.compile(fn)
    for _ in range(3):
        assert facts(compiled(*args)) == facts(fn(*args))


@pytest.mark.parametrize("dtype", ["f", "i4", "u1", "F", "i8", "?", "f2"])
@pytest.mark.parametrize(
    "name", ["cumsum", "cumprod", "sort", "argsort", "roll", "repeat", "triu", "diag above", "trace",
             "diagonal", "column_stack"],
)  # fmt: skip
def test_of_other_types(name, dtype):
    fn, *args = CASES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = [a.astype(dtype) for a in args]
        check(fn, *made)


def test_bits_of_special_numbers():
    special = np.array([-0.0, 0.0, np.nan, -np.nan, np.inf, 1e308, 1e308, 5e-324, -np.inf, 1.0])
    with np.errstate(all="ignore"):
        for make in (np.cumsum, np.cumprod, np.sort, np.argsort, np.diag, lambda a: np.roll(a, 3)):

            def whole(a, make=make):
                return make(a)

            compiled = dyntrace.compile(whole)
            for array in (special, special[::-1].copy(), special[5:8].copy()):
                assert compiled(array).tobytes() == whole(array).tobytes()


def test_sums_that_overflow_warn_from_the_line():
    def sums(a):
        return np.cumsum(a) + 1

    compiled = dyntrace.compile(sums)
    compiled(V)
    for call in (sums, compiled):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            call(np.array([1e308, 1e308]))
        assert [(str(w.message), Path(w.filename).name) for w in found] == [
            ("overflow encountered in accumulate", "fromnumeric.py")
        ] or [str(w.message) for w in found] == ["overflow encountered in accumulate"]


def test_a_diagonal_can_not_be_written():
    def write(a):
        np.diagonal(a)[0] = 7

    check(lambda a: np.diagonal(a).flags.writeable, M, breaks="unknown-callable")
    compiled = dyntrace.compile(write)
    with pytest.raises(ValueError, match="read-only"):
        compiled(M.copy())
