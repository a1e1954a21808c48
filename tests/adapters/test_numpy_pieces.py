"""Diagonals, what unique() says besides the items, least squares, np.r_, np.c_, np.mgrid, and functions
of the user that NumPy calls by rows."""

import dyntrace
import numpy as np
import pytest
from differential import Compiled, Outcome, check, compare
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

V = np.array([3.0, 1.0, 4.0, 1.0, 5.0, 9.0])
M = np.arange(12.0).reshape(3, 4)
S = np.arange(9.0).reshape(3, 3) + 5 * np.eye(3)
I = np.array([3, 1, 4, 1, 5, 9, 2, 6, 5])
TALL = np.array([[1.0, 2.0], [1.0, 3.0], [1.0, 5.0], [1.0, 7.0]])


def scale(row, by=2.0):
    return row / row.sum() * by


def written_through(m):
    d = np.diagonal(m)
    before = d * 2
    m[1, 1] = 100.0
    return before, d + 0, m


def fit_line(x, y):
    a = np.c_[x, np.ones(len(x))]
    (slope, intercept), residuals, rank, s = np.linalg.lstsq(a, y, rcond=None)
    return slope, intercept, residuals.sum(), rank, s * 2


def filled(m):
    made = np.ndarray(m.shape, dtype=m.dtype)
    column = np.ndarray((m.shape[0], 1), float, order="C")
    column[:, 0] = m[:, 0]
    made[...] = m * 2
    return made, column + 1, isinstance(made, np.ndarray), type(made) is np.ndarray


CASES = {
    "ndarray()": (filled, M),
    "diagonal": (lambda m: np.diagonal(m) * 2, M),
    "diagonal above": (lambda m: np.diagonal(m, 1).sum(), M),
    "diagonal below": (lambda m: np.diagonal(m, offset=-2) + 1, M),
    "diagonal method": (lambda m: m.diagonal().mean() - m.T.diagonal(1), M),
    "diagonal as it is": (lambda m: (m.diagonal(), m * 2), M),
    "diagonal of a view": (lambda m: np.diagonal(m[::-1, ::2]) * 2, M),
    "diagonal and writes": (written_through, S),
    "trace and product": (lambda m: m.diagonal().prod() - np.trace(m), S),
    "linalg.diagonal": (lambda m: np.linalg.diagonal(m, offset=1) * 3, M),
    "zeroed diagonal": (lambda m: m - np.diag(np.diagonal(m)), S),
    "counts": (lambda i: np.unique(i, return_counts=True), I),
    "shares": (lambda i: (lambda v, c: (v, c / c.sum()))(*np.unique(i, return_counts=True)), I),
    "mode": (lambda i: (lambda v, c: v[np.argmax(c)])(*np.unique(i, return_counts=True)), I),
    "inverse": (lambda i: np.unique(i, return_inverse=True)[1] * 2, I),
    "first places": (lambda x: np.unique(x, return_index=True)[1] + 1, V),
    "everything": (lambda x: np.unique(x, return_index=True, return_inverse=True, return_counts=True), V),
    "no flags": (lambda x: np.unique(x, return_counts=False) * 2, V),
    "unique_counts": (lambda x: np.unique_counts(x).counts * 2, V),
    "unique_inverse": (lambda x: np.unique_inverse(x).inverse_indices + 1, V),
    "unique_all": (lambda x: tuple(np.unique_all(x)), V),
    "least squares": (fit_line, V, V * 2 + 1),
    "least squares, wide": (lambda m: np.linalg.lstsq(m, m[:, 0], rcond=None)[0] * 2, M + np.eye(3, 4)),
    "least squares, several": (lambda a: np.linalg.lstsq(a, a * 2, rcond=None)[0] * 2, TALL),
    "least squares, residuals": (lambda a, b: np.linalg.lstsq(a, b, rcond=None)[1] * 2, TALL, V[:4]),
    "rank deficient": (lambda a, b: np.linalg.lstsq(a * 0 + 1, b, rcond=None), TALL, V[:4]),
    "columns": (lambda x: np.c_[x, x * 2, np.ones(len(x))] * 2, V),
    "columns of matrices": (lambda m: np.c_[m, m[:, 0], np.zeros((3, 2))], M),
    "column of one": (lambda x: np.c_[x] * 1.0, V),
    "row": (lambda x: np.r_[0, x, 1.5, x[::-1]] + 1, V),
    "row of ints": (lambda i: np.r_[i, 7, [1, 2]], I),
    "row of ranges": (lambda i: np.r_[0:3, i, 5:1:-2], I),
    "rows of matrices": (lambda m: np.r_[m, m * 2], M),
    "row of several types": (lambda i, x: np.r_[i, x, 1], I, V),
    "row of small ints": (lambda i: np.r_[i.astype(np.int8), 1].dtype == np.int8, I),
    "row of bools": (lambda i: np.r_[i > 2, i < 2], I),
    "mgrid": (lambda n: np.mgrid[0:n, 0:4] * 1.0, 3),
    "mgrid with steps": (lambda a: a + np.mgrid[1:7:2, 0:9:3][0], np.ones((3, 3))),
    "mgrid of floats": (lambda a: a * np.mgrid[0:1:3j, -1.0:1.0:4j][1], np.ones((3, 4))),
    "mgrid unpacked": (lambda: (lambda x, y: np.hypot(x, y))(*np.mgrid[-2:3, -2:3]),),
    "by rows": (lambda m: np.apply_along_axis(scale, 1, m + 1), M),
    "by columns": (lambda m: np.apply_along_axis(scale, 0, m + 1), M),
    "by rows, with arguments": (lambda m: np.apply_along_axis(scale, -1, m + 1, 3.0), M),
    "by rows, by name": (lambda m: np.apply_along_axis(scale, 1, m + 1, by=3.0), M),
    "numbers of rows": (lambda m: np.apply_along_axis(lambda r: r.max() - r.min(), 1, m) * 2, M),
    "numbers of columns": (lambda m: np.apply_along_axis(np.sum, 0, m), M),
    "longer rows": (lambda m: np.apply_along_axis(lambda r: np.r_[r, r.sum()], 1, m), M),
    "matrices of columns": (lambda m: np.apply_along_axis(lambda c: np.outer(c, c), 0, m), M),
    "of three dimensions": (lambda a: np.apply_along_axis(np.cumsum, 1, a), M.reshape(2, 3, 2)),
    "of one dimension": (lambda x: np.apply_along_axis(scale, 0, x), V),
    "ints by rows": (lambda m: np.apply_along_axis(np.argmax, 1, m), M % 5),
    "over axes": (lambda a: np.apply_over_axes(np.sum, a, [0, 2]) * 2, M.reshape(2, 3, 2)),
    "over one axis": (lambda m: np.apply_over_axes(np.max, m, -1), M),
    "from a function": (lambda n: np.fromfunction(lambda i, j: i * 2 + j, (n, n)) * 2, 4),
    "from a function of ints": (lambda: np.fromfunction(lambda i: i**2, (5,), dtype=int),),
    "from a function with more": (lambda: np.fromfunction(lambda i, j, by: i == j * by, (3, 3), by=1),),
    "places by a mask": (lambda m: m[np.mask_indices(3, np.triu)], S),
    "places beside it": (lambda m: m[np.mask_indices(3, np.tril, -1)], S),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_captured(name):
    fn, *args = CASES[name]
    if not hasattr(np, "unique_all") and name.startswith(("unique_", "linalg.diagonal")):
        pytest.skip("not in this NumPy")
    check(fn, *args)


PLAIN = {
    "a diagonal is written": lambda m: np.diagonal(m).fill(0.0),
    "a diagonal by item": lambda m: m.diagonal().__setitem__(0, 1.0),
    "beside the matrix": lambda m: np.diagonal(m, 9) * 2,
    "of other axes": lambda m: np.diagonal(m, 0, 1, 0) * 2,
    "an axis too many": lambda m: np.apply_along_axis(scale, 2, m),
    "a function that fails": lambda m: np.apply_along_axis(lambda r: r[9], 1, m),
    "rows of several lengths": lambda m: np.apply_along_axis(lambda r: r[r > 4], 1, m),
    "no rows": lambda m: np.apply_along_axis(scale, 1, m[:0]),
    "columns of several lengths": lambda m: np.c_[m, m.T],
    "a directive": lambda m: np.r_["0,2", m[0], m[1]],
    "complex numbers": lambda m: np.r_[m[0], 1j],
    "an open grid": lambda m: np.ogrid[0:3, 0:4][0] + m,
    "a grid of one dimension": lambda m: np.mgrid[0:4] + m,
    "a grid of float steps": lambda m: np.mgrid[0:1:0.25, 0:1:0.5][0].sum() + m,
    "unique of rows": lambda m: np.unique(m, axis=0, return_counts=True),
    "inverse of a matrix": lambda m: np.unique(m, return_inverse=True),
    "least squares that do not fit": lambda m: np.linalg.lstsq(m, m.T, rcond=None),
}


@pytest.mark.parametrize("name", PLAIN)
def test_as_plainly(name):
    """Captured or not: results and exceptions are those of plain execution."""
    fn = PLAIN[name]
    compiled = Compiled(fn)
    for _ in range(3):
        compare(Outcome(fn, [M.copy()], {}), Outcome(compiled, [M.copy()], {}))


def test_a_row_set_to_something_else():
    """np.c_ keeps its options in attributes."""
    f = Compiled(lambda x: np.r_[x, x] * 2)
    assert f(V).shape == (12,)
    kept = np.r_.ndmin
    try:
        np.r_.ndmin = 2
        assert f(V).shape == (2, 6)
    finally:
        np.r_.ndmin = kept
    assert f(V).shape == (12,)


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from(["r", "c", "diagonal", "counts", "inverse", "rows", "columns"]),
    st.sampled_from(["d", "f", "i8", "u1", "?", "F"]),
    st.sampled_from(["d", "f", "i4", "?"]),
    st.sampled_from(["C", "F", "reversed", "strided"]),
    st.sampled_from([(4, 3), (3, 4), (1, 4), (4, 1), (2, 2)]),
    st.integers(0, 2**31),
)
def test_any_dtype_and_layout(what, dtype, other, layout, shape, seed):
    rng = np.random.default_rng(seed)
    array = (rng.random(shape) * 4).astype(dtype)
    second = (rng.random(shape) * 4).astype(other)
    offset = int(rng.integers(-1, 2))
    if layout == "F":
        array = np.asfortranarray(array)
    elif layout == "reversed":
        array = array[::-1, ::-1]
    elif layout == "strided":
        array = np.repeat(array, 2, axis=0)[::2]
    fn = {
        "r": lambda a, b: np.r_[a, b],
        "c": lambda a, b: np.c_[a, b[:, 0], b],
        "diagonal": lambda a, b: (np.diagonal(a, offset), np.diagonal(a + b, offset) + 1),
        "counts": lambda a, b: np.unique(a[0], return_counts=True),
        "inverse": lambda a, b: np.unique(a[:, 0], return_inverse=True, return_index=True),
        "rows": lambda a, b: np.apply_along_axis(lambda r: r + b[0, 0], 1, a),
        "columns": lambda a, b: np.apply_along_axis(np.sort, 0, a),
    }[what]
    compiled = Compiled(fn)
    for _ in range(2):
        compare(Outcome(fn, [array, second], {}), Outcome(compiled, [array, second], {}))


def test_computed_truth_values_are_numpys_two_objects():
    def fn(x, true):
        positive = x.max() > 0
        return positive is true, (x > 5).any() is np.False_, positive is (x.sum() > 0), x.min() is x.min()

    with dyntrace.config.patch(everything=True, strict=True):
        compiled = dyntrace.compile(fn)
        for _ in range(3):
            x = np.arange(1.0, 5)
            assert compiled(x, np.True_) == fn(x, np.True_) == (True, True, True, False)


def test_python_numbers_where_only_equivalent_dtypes_may_be_cast():
    def fn(x):
        seen = []
        for dtype in (None, np.float32):
            try:
                seen.append(np.add(x, 4.0, dtype=dtype, casting="equiv").tolist())
            except TypeError as error:
                seen.append(str(error))
        return seen

    for dtype in (np.float32, np.float64):
        x = np.arange(3, dtype=dtype)
        with dyntrace.config.patch(everything=True, strict=True):
            assert dyntrace.compile(fn)(x) == fn(x)


@pytest.mark.skipif(not hasattr(np.add, "__dict__"), reason="its docstring can't be set")
def test_docstrings_that_the_program_sets():
    def fn(x):
        return np.add.__doc__, x + 1.0

    compiled = dyntrace.compile(fn)
    before = compiled(np.ones(2))[0]
    assert before == fn(np.ones(2))[0]
    np.add.__doc__ = "new"
    try:
        assert compiled(np.ones(2))[0] == fn(np.ones(2))[0] == "new"
    finally:
        del np.add.__doc__
    assert compiled(np.ones(2))[0] == before


def test_an_array_over_memory_that_exists():
    check(lambda x: np.ndarray(x.shape, buffer=x.copy()) * 2, V, breaks="unknown-callable")
