"""Functions of NumPy that give texts, numbers, settings, views of their arguments, or arrays of which
the data say everything but the type."""

import sys
from pathlib import Path

import dyntrace
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
from differential import check, check_calls  # noqa: E402

V = np.arange(1.0, 7.0)
M = np.eye(3) * 3 + np.arange(9.0).reshape(3, 3)
S = M @ M.T
T = np.array([0.0, 0, 1, 2, 0])
I = np.array([3, 1, 2])
R = np.random.default_rng(0).random((8, 3))

CASES = {
    "require": (lambda a: np.require(a, float) * 2, V),
    "require of C order": (lambda a: np.require(a * 2, requirements=["C"]) + 1, M),
    "require of another order": (lambda a: np.require(a, requirements="C") * 2, M.T),
    "require of a dtype": (lambda a: np.require(a, "f", ["C_CONTIGUOUS"]) * 2, M.T),
    "real_if_close": (lambda a: np.real_if_close(a * 2) + 1, V),
    "real_if_close, itself": (lambda a: np.real_if_close(a) is a, V),
    "asarray_chkfinite": (lambda a: np.asarray_chkfinite(a * 2) + 1, V),
    "asarray_chkfinite of ints": (lambda a: np.asarray_chkfinite(a * 2) + 1, I),
    "asarray_chkfinite, itself": (lambda a: np.asarray_chkfinite(a) is a, V),
    "fromiter": (lambda a: a + np.fromiter((i * 2.0 for i in range(6)), dtype=float), V),
    "fromiter of ints": (lambda a: a[:4] + np.fromiter(range(4), np.int64), V),
    "fromiter, cut": (lambda a: a[:2] + np.fromiter([1.5, 2.5], int), V),
    "trim_zeros": (lambda a: np.trim_zeros(a) * 2, T),
    "trim_zeros in front": (lambda a: np.trim_zeros(a * 1, "f") + 1, T),
    "trim_zeros, all": (lambda a: np.trim_zeros(a * 0), T),
    "trim_zeros, a view": (lambda a: np.trim_zeros(a), T),
    "poly": (lambda a: np.poly(a) * 2, V),
    "poly of a matrix": (lambda a: np.poly(a * 2), S),
    "polydiv": (lambda a, b: np.polydiv(a * 1, b), V, np.array([1.0, 2.0])),
    "polydiv by one": (lambda a, b: np.polydiv(a, b)[0] * 2, V, np.array([2.0])),
    "histogramdd": (lambda a: np.histogramdd(a * 2, bins=3), R),
    "histogramdd of bins": (lambda a: np.histogramdd(a, bins=(2, 3, 4))[0] * 2, R),
    "may_share_memory": (
        lambda a: (np.may_share_memory(a, a[1:]), np.may_share_memory(a, a + 1)), V,
    ),
    "shares_memory": (lambda a: (np.shares_memory(a[::2], a[1::2]), np.shares_memory(a, a)), V),
    "array_repr": (lambda a: np.array_repr(a * 2), V),
    "array_str": (lambda a: [np.array_str(a * 2, precision=2)], V),
    "array2string": (lambda a: np.array2string(a / 3, precision=3, separator=","), V),
    "array2string of bools": (lambda a: np.array2string(a > 2), V),
    "format_float_positional": (lambda a: np.format_float_positional(a[0] / 3, precision=3), V),
    "format_float_scientific": (lambda a: np.format_float_scientific(a.sum() / 3), V),
    "einsum_path": (lambda a, b: (a @ b, np.einsum_path("ij,jk->ik", a, b)), M, M),
    "einsum_path of three": (lambda a: np.einsum_path("ij,jk,kl", a, a, a, optimize="optimal"), M),
    "datetime_data": (lambda a: (a + 1, np.datetime_data("M8[25s]")), V),
    "get_include": (lambda a: (a + 1, np.get_include()), V),
    "getbufsize": (lambda a: a + np.getbufsize(), V),
    "geterr": (lambda a: (a + 1, np.geterr(), np.geterr()["divide"]), V),
    "geterr inside": (lambda a: _settings_inside(a), V),
    "geterrcall": (lambda a: (a + 1, np.geterrcall()), V),
    "get_printoptions": (lambda a: (a + 1, np.get_printoptions()), V),
    "busday_count": (lambda a: a + np.busday_count("2011-01", "2011-02"), V),
    "is_busday": (lambda a: (a + 1, np.is_busday("2011-01-03")), V),
    "busday_offset": (lambda a: (a + 1, np.busday_offset("2011-01-03", 2)), V),
    "roots": (lambda a: (np.roots(a * 2), a + 1), V),
    "roots, fewer": (lambda a: np.roots(a * 2), T),
    "eig": (lambda a: np.linalg.eig(a * 2), M),
    "eig, real": (lambda a: np.linalg.eig(a * 2), S),
    "eig, complex": (lambda a: np.linalg.eig(a * 2j)[0] * 2, S),
    "eigvals": (lambda a: [np.linalg.eigvals(a * 2)], M),
    "eigvals, complex": (lambda a: np.linalg.eigvals(a * 2j) + 1, M),
    "an item of roots": (lambda a: np.roots(a * 2)[0], V),
    "real roots": (lambda a: _real_roots(a), np.array([1.0, -5.0, 6.0, 0.0])),
    "roots of ints": (lambda a: np.roots(a) + a[0], I),
    "arithmetic on eigenvalues": (lambda a: np.linalg.eigvals(a) * 2, M),
    "eigenvalues in order": (lambda a: _principal(a), S),
    "complex eigenvalues in order": (lambda a: _principal(a), np.array([[0.0, 1], [-1, 0]])),
    "eigenvalues of float32": (lambda a: _principal(a), S.astype("f4")),
    "eigenvalues of ints": (lambda a: _principal(a), (S * 3).astype(int)),
    "eigenvalues of several": (lambda a: [x + 1 for x in np.linalg.eig(a * 1)], np.stack([S, M])),
    "written eigenvalues": (lambda a: _written_eigenvalues(a), S),
    "from_dlpack": (lambda a: np.from_dlpack(a * 2) + 1, V),
    "from_dlpack, a view": (lambda a: np.shares_memory(np.from_dlpack(a), a), V),
    "broadcast_arrays": (lambda a, b: [x * 2 for x in np.broadcast_arrays(a, b)], M, V[:3]),
    "broadcast_arrays of three": (
        lambda a, b: sum(np.broadcast_arrays(a, b, a[:, None])), V, V[:, None].copy(),
    ),
    "broadcast_arrays of a number": (lambda a: np.broadcast_arrays(a, 1.0)[1] * 2, V),
    "broadcast_arrays of a scalar": (lambda a: np.broadcast_arrays(a[:1], np.all(a > 0))[1], V),
    "broadcast_arrays of lists": (lambda a: np.broadcast_arrays(a[:3], [[1], [2]], [0.5]), V),
    "broadcast_arrays of numbers": (lambda a: np.broadcast_arrays(a[0], 2, 1j), V),
    "broadcast_arrays of one": (lambda a: np.broadcast_arrays(a)[0] is a, V),
    "broadcast_arrays, some the same": (
        lambda a, b: [x is a for x in np.broadcast_arrays(a, b, a)], M, V[:3],
    ),
    "broadcast_arrays, the same": (lambda a, b: np.broadcast_arrays(a, b)[1] is b, V, V + 1),
    "isfortran": (lambda a: (np.isfortran(a), np.isfortran(a.T), np.isfortran(a * 2)), M),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_is_in_the_graph(name):
    fn, *args = CASES[name]
    check(fn, *args)
    found = dyntrace.explain(fn)(*args)
    assert found.break_count == 0, found.breaks


BREAKS = {
    "fromiter of nothing": ("unknown-callable", lambda a: (a * 2, np.fromiter([], float)), V),
    "real_if_close of complex numbers": ("unknown-callable", lambda a: np.real_if_close(a * 1j), V),
    "a branch in a loop": ("array-branch", lambda a: [1 if v > 0 else 2 for v in (a[0], a[1])], V),
    "a text's length": ("array-to-scalar", lambda a: len(np.array_repr(a)), V),
    "fromiter of texts": ("unknown-callable", lambda a: (a * 2, np.fromiter("123", float)), V),
    "so many items": ("unknown-callable", lambda a: (a * 2, np.fromiter(range(9), float, 3)), V),
    "require to own": ("unknown-callable", lambda a: np.require(a, requirements="O") * 2, V[1:]),
    "isfortran of a part": ("array-op", lambda a: np.isfortran(a[::2, ::2]), R),
    "written roots": ("data-dependent-size", lambda a: _written_roots(a), V),
    "data that are read-only": ("raises", lambda a, b: _write_broadcast(a, b), M.copy(), V[:3]),
}


def _settings_inside(a):
    with np.errstate(divide="ignore"):
        return a / 2, np.geterr()


def _principal(a):
    values, vectors = np.linalg.eig(a)
    order = np.abs(values).argsort()[::-1]
    return values[order], vectors[:, order].T @ vectors, values.real.max(), np.iscomplexobj(values)


def _written_eigenvalues(a):
    found = np.linalg.eig(a)
    values = found.eigenvalues if hasattr(found, "eigenvalues") else found[0]
    values[values > 3] = 0
    found[1][0] = values
    return found, values


def _real_roots(a):
    found = np.roots(a)
    return found[0] * 2, len(found), np.sort(found), found[np.isreal(found)].real


def _written_roots(a):
    found = np.roots(a)
    found[0] = 7
    return found


def _write_broadcast(a, b):
    wide = np.broadcast_arrays(a, b)[1]
    try:
        wide[:] = 1
    except Exception as error:
        return type(error)
    return a


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", BREAKS)
def test_is_a_break(name):
    expected, fn, *args = BREAKS[name]
    check(fn, *args, breaks=expected)


def test_data_that_are_not_finite_raise():
    def total(a):
        return np.asarray_chkfinite(a * 2).sum()

    compiled = dyntrace.compile(total)
    assert compiled(V) == total(V)
    with pytest.raises(ValueError, match="infs or NaNs"):
        compiled(np.array([1.0, np.nan]))
    assert compiled(V + 1) == total(V + 1)


def test_settings_are_guarded():
    def settings(a):
        return a * 2, np.geterr(), np.getbufsize(), np.geterrcall()

    compiled = dyntrace.compile(settings)
    assert compiled(V)[1:] == settings(V)[1:]
    with np.errstate(divide="raise"):
        assert compiled(V)[1:] == settings(V)[1:]
        assert compiled(V)[1]["divide"] == "raise"
    before = np.setbufsize(4096)
    try:
        assert compiled(V)[2] == 4096
    finally:
        np.setbufsize(before)
    called = np.seterrcall(print)
    try:
        assert compiled(V)[3] is print
    finally:
        np.seterrcall(called)
    assert compiled(V)[1:] == settings(V)[1:]


def test_a_new_dict_of_settings_each_time():
    compiled = dyntrace.compile(lambda a: (a * 2, np.geterr()))
    first = compiled(V)[1]
    first["divide"] = "?"
    assert compiled(V)[1] == np.geterr()


def test_printing_by_a_function_of_the_program_runs_plainly():
    calls = []

    def text(x):
        calls.append(x)
        return "x"

    def shown(a):
        return np.array_repr(a * 2), np.array2string(a), np.array_str(a)

    compiled = dyntrace.compile(shown)
    assert compiled(V) == shown(V)
    with np.printoptions(formatter={"float": text}):
        plain, count = shown(V), len(calls)
        del calls[:]
        assert compiled(V) == plain
        assert len(calls) == count
    with np.printoptions(precision=1):
        assert compiled(V / 3) == shown(V / 3)


TURNING = np.array([[0.0, 1.0], [-1.0, 0.0]])


def test_eigenvalues_of_either_kind():
    def values(a):
        return np.linalg.eigvals(a + 0.0) * 2

    compiled = check_calls(values, (S,), (M,), (TURNING,), (S[:2, :2],), (TURNING * 2,), (M,))
    always_complex = np.linalg.eigvals(S).dtype.kind == "c"  # since NumPy 2.5
    assert compiled.published == (1 if always_complex else 2)
    with pytest.raises(np.linalg.LinAlgError):
        compiled(np.ones((2, 3)))


def test_eigenvalues_in_a_loop_stay_late():
    def values(*matrices):
        return [np.linalg.eigvals(a) for a in matrices]

    check_calls(values, (S, TURNING), (TURNING, S), (S, S), whole=False)


def test_eigenvalues_without_guesses():
    def values(a):
        found = np.linalg.eigvals(a)
        return found * 2

    check_calls(values, (S,), (TURNING,), (S,), whole=False, guess_limit=0)
