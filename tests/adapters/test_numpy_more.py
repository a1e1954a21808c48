"""Functions about shapes, dtypes and counts, those that warn about data, and those with named results."""

from __future__ import annotations

import warnings

import dyntrace
import numpy as np
import pytest
from differential import check

RNG = np.random.default_rng(3)
V, W = RNG.random(6), RNG.random(6)
M = RNG.random((4, 4)) + 4 * np.eye(4)
S = M @ M.T
R = RNG.random((6, 4))
T = RNG.random((4, 3, 2))
I = np.array([2, 0, 1, 5, 3, 3])  # noqa: E741
B = V > 0.5
HOLES = np.where(R > 0.8, np.nan, R)

CASES = {
    "flip": (lambda a: np.flip(a) * 2, R),
    "flip axis": (lambda a: (np.flip(a, 1) + np.flip(a, axis=0), np.flip(a, (0, 1)) * 2), R),
    "flip negative": (lambda a: np.flip(a, -1) * 2, T),
    "fliplr": (lambda a: np.fliplr(a) + 1, R),
    "flipud": (lambda a: np.flipud(a) + 1, V),
    "rot90": (
        lambda a: (np.rot90(a) + 1, np.rot90(a, 2) * 2, np.rot90(a, -1) - 1, np.rot90(a, 4)),
        R,
    ),
    "rot90 axes": (lambda a: np.rot90(a, 3, (1, 2)) + 1, T),
    "rollaxis": (
        lambda a: (np.rollaxis(a, 2) + 1, np.rollaxis(a, 0, 3) * 2, np.rollaxis(a, 1, 1) + 2),
        T,
    ),
    "atleast_1d": (lambda a, b: (np.atleast_1d(a) + 1, np.atleast_1d(a, b)[1] * 2), V, R),
    "atleast_2d": (lambda a, b: (np.atleast_2d(a) + 1, np.atleast_2d(b) * 2), V, R),
    "atleast_3d": (lambda a, b: (np.atleast_3d(a) + 1, np.atleast_3d(b) * 2), V, R),
    "split": (lambda a: [p * 2 for p in np.split(a, 3)], V),
    "split borders": (lambda a: [p + 1 for p in np.split(a, [1, 3], axis=1)], R),
    "array_split": (lambda a: [p * 2 for p in np.array_split(a, 4)], V),
    "hsplit": (lambda a: [p * 2 for p in np.hsplit(a, 2)], R),
    "vsplit": (lambda a: [p * 2 for p in np.vsplit(a, 3)], R),
    "dsplit": (lambda a: [p * 2 for p in np.dsplit(a, 2)], T),
    "ix_": (lambda a: a[np.ix_([0, 2, 5], [1, 3])] * 2, R),
    "ix_ arrays": (lambda a, i: a[np.ix_(i, np.array([1, 0]))] * 2, R, I),
    "count_nonzero": (lambda a: np.count_nonzero(a > 0.5, axis=0) + 1, R),
    "count_nonzero keepdims": (lambda a: np.count_nonzero(a, axis=1, keepdims=True) * 2, R),
    "iscomplexobj": (lambda a: a * 2 if np.iscomplexobj(a) else a + 1, V),
    "isrealobj": (lambda a: a * 2 if np.isrealobj(a) else a + 1, V),
    "isscalar": (lambda a: a * (2 if np.isscalar(3.0) and not np.isscalar(a) else 4), V),
    "iterable": (lambda a: a * (2 if np.iterable(a) and not np.iterable(4) else 4), V),
    "can_cast": (lambda a: a + (1 if np.can_cast(a.dtype, np.float32) else 2), V),
    "result_type": (lambda a, b: (a + b).astype(np.result_type(a, b)), V, I),
    "result_type number": (lambda a: a.astype(np.result_type(a, 3.0)) + 1, V),
    "promote_types": (lambda a, b: a.astype(np.promote_types(a.dtype, b.dtype)), I, V),
    "issubdtype": (lambda a: a * 2 if np.issubdtype(a.dtype, np.floating) else a + 1, V),
    "min_scalar_type": (lambda a: a.astype(np.min_scalar_type(a)) + 1, V),
    "broadcast_shapes": (lambda a: a + np.broadcast_shapes((3, 1), (4,))[0], V),
    "base_repr": (lambda a: (a * 2, np.base_repr(11, 3), np.binary_repr(5, 8)), V),
    "isdtype": (lambda a: a * 2 if np.isdtype(a.dtype, "real floating") else a, V),
    "common_type": (lambda a, b: a.astype(np.common_type(a, b)) + 1, V, I),
    "typename": (lambda a: (a * 2, np.typename("d"), np.mintypecode("fd")), V),
    "astype": (lambda a: np.astype(a, np.float32) * 2 if hasattr(np, "astype") else a, V),
    "linalg views": (lambda a: (np.linalg.matmul(a, a) + 1, np.linalg.trace(a) * 2), M),
    "piecewise": (lambda a: np.piecewise(a, [a < 0.3, a > 0.6], [1.0, 2.0, 3.0]) + 1, V),
    "fix": (lambda a: np.fix(a * 9 - 4) + 1, V),
    "unpackbits": (lambda a: np.unpackbits(a) + 1, np.arange(5, dtype=np.uint8)),
    "vecmat": (lambda a, b: np.vecmat(b, a) + 1 if hasattr(np, "vecmat") else a, M, M),
    "unique_values": (lambda a: np.unique_values(a) * 2 if hasattr(np, "unique_values") else a, I),
    "block": (lambda a: np.block([[a, a * 2], [a + 1, a]]) + 1, M),
    "asfortranarray": (lambda a: np.asfortranarray(a) * 2, R),
    "sort_complex": (lambda a: np.sort_complex(a) + 1, V),
    "polynomials": (lambda a, b: (np.polyadd(a, b), np.polysub(a, b), np.polymul(a, b) * 2), V, W),
    "polyder": (lambda a: (np.polyder(a) * 2, np.polyint(a, 2) + 1), V),
    "indices_from": (lambda a: a[np.triu_indices_from(a)] + a[np.tril_indices_from(a, 0)], M),
    "diag_indices_from": (lambda a: a[np.diag_indices_from(a)] * 2, M),
    "delete": (lambda a: (np.delete(a, 2) * 2, np.delete(a, [0, 3]) + 1), V),
    "insert": (lambda a: (np.insert(a, 2, 9.0) * 2, np.insert(a, [1, 4], [7.0, 8.0]) + 1), V),
    "histogram2d": (lambda a, b: np.histogram2d(a, b, 3)[0] + 1, V, W),
    "histogram_bin_edges": (lambda a: np.histogram_bin_edges(a, 4) * 2, V),
    "packbits": (lambda b: np.packbits(b) + 1, B),
    "matrix_rank": (lambda a: np.linalg.matrix_rank(a) + 1, M),
    "qr": (lambda a: [p * 2 for p in np.linalg.qr(a)], M),
    "qr names": (lambda a: np.linalg.qr(a).Q @ np.linalg.qr(a).R, M),
    "qr r": (lambda a: np.linalg.qr(a, mode="r") * 2, M),
    "svd": (lambda a: [p + 1 for p in np.linalg.svd(a, full_matrices=False)], R),
    "svd values": (lambda a: np.linalg.svd(a, compute_uv=False) * 2, R),
    "eigh": (lambda a: np.linalg.eigh(a).eigenvalues * 2, S),
    "eigh both": (lambda a: [p + 1 for p in np.linalg.eigh(a)], S),
    "slogdet": (lambda a: np.linalg.slogdet(a).logabsdet + 1, M),
    "nonzero": (lambda a: np.nonzero(a > 0.5)[0] * 2, V),
    "nonzero two": (lambda a: [p + 1 for p in np.nonzero(a > 0.5)], R),
    "where of one": (lambda a: np.where(a > 0.5)[0] * 2, V),
    "where of one, two axes": (lambda a: a[np.where(a > 0.5)] + 1, R),
    "flatnonzero": (lambda a: np.flatnonzero(a > 0.5) * 2, R),
    "argwhere": (lambda a: np.argwhere(a > 0.5) + 1, R),
    "unique": (lambda a: np.unique(a) * 2, I),
    "compress": (lambda b, a: np.compress(b, a) * 2, B, V),
    "extract": (lambda b, a: np.extract(b, a) * 2, B, V),
    "bincount": (lambda i: np.bincount(i) * 2, I),
    "sets": (
        lambda a, b: (np.union1d(a, b) + 1, np.setdiff1d(a, b) * 2, np.setxor1d(a, b) + 2),
        I,
        I + 2,
    ),
    "intersect1d": (lambda a, b: np.intersect1d(a, b) + 1, I, I + 2),
    "nanmax": (lambda a: (np.nanmax(a, axis=0) + 1, np.nanmin(a) * 2), HOLES),
    "nanmean": (lambda a: np.nanmean(a, axis=1) + 1, HOLES),
    "nanmedian": (lambda a: np.nanmedian(a, axis=0) + 1, HOLES),
    "nanstd": (lambda a: (np.nanstd(a) + 1, np.nanvar(a, axis=0) * 2), HOLES),
    "nanarg": (lambda a: np.nanargmax(a, axis=0) + np.nanargmin(a, axis=0), HOLES),
    "nanpercentile": (
        lambda a: np.nanpercentile(a, 40, axis=0) + np.nanquantile(a, 0.4, axis=0),
        HOLES,
    ),
    "cov": (lambda a: np.cov(a) * 2, R),
    "corrcoef": (lambda a: np.corrcoef(a) + 1, R),
    "polyfit": (lambda a, b: np.polyfit(a, b, 2) * 2, V, W),
}
for name, case in {
    "unstack": (lambda a: [p * 2 for p in np.unstack(a, axis=1)], T),
    "matrix_transpose": (lambda a: np.matrix_transpose(a) + 1, T),
    "vecdot": (lambda a, b: np.vecdot(a, b) + 1, R, R),
    "matvec": (lambda a, b: np.matvec(a, b) + 1, M, M),
}.items():
    if hasattr(np, name):
        CASES[name] = case


@pytest.mark.parametrize("name", CASES)
def test_captured(name):
    fn, *args = CASES[name]
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        fn(*args)
    check(fn, *args, breaks="raises" if seen else None)
    if seen:
        return  # deprecated in this NumPy: a graph break
    found = dyntrace.explain(fn)(*args)
    assert found.breaks == [] and len(found.graphs) >= 1


GROWING = ["flip", "split", "nonzero", "where of one", "unique", "sets", "bincount", "extract", "argwhere"]


@pytest.mark.parametrize("name", GROWING)
def test_other_sizes(name):
    fn, *args = CASES[name]
    compiled = dyntrace.compile(fn)
    for repeat in (1, 2, 3):
        longer = [np.concatenate([a] * repeat) for a in args]
        expected, got = fn(*longer), compiled(*longer)
        for one, other in zip(
            expected if isinstance(expected, (tuple, list)) else [expected],
            got if isinstance(got, (tuple, list)) else [got], strict=True,
        ):  # fmt: skip
            assert one.tobytes() == other.tobytes() and one.dtype == other.dtype


EMPTY = np.full((3, 2), np.nan)


@pytest.mark.parametrize(
    "fn, data",
    [
        (lambda a: np.nanmax(a, axis=0) * 2, EMPTY),
        (lambda a: np.nanmean(a, axis=1) + 1, EMPTY),
        (lambda a: np.nanmedian(a, axis=0) + 1, EMPTY),
        (lambda a: np.nanstd(a) + 1, EMPTY),
        (lambda a: np.nanpercentile(a, 40) + 1, EMPTY),
        (lambda a: np.polyfit(a[:, 0], a[:, 1], 2), np.ones((6, 2))),
        (lambda a: np.nanargmax(a, axis=0) + 1, EMPTY),
        (lambda a: np.linalg.qr(a).Q * 2, EMPTY[None]),
        (lambda a: np.bincount(a) + 1, np.array([1, -1])),
        (lambda a: np.split(a, 4)[0] + 1, V),
        (lambda a: np.flip(a, 2) + 1, R),
    ],
)
def test_reports(fn, data):
    """Warnings come from NumPy's own lines, once per call, and exceptions as they are."""
    quiet = np.abs(np.nan_to_num(data, nan=0.5)) + np.arange(data.size).reshape(data.shape) % 5

    def run(call, argument):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            try:
                result = call(argument)
            except Exception as error:
                result = (type(error), str(error))
        if isinstance(result, (np.ndarray, np.generic)):
            result = result.tobytes(), result.dtype
        return result, [(w.category, str(w.message), w.filename, w.lineno) for w in found]

    compiled = dyntrace.compile(fn)
    for argument in (quiet.astype(data.dtype), data, data, quiet.astype(data.dtype)):
        assert run(compiled, argument) == run(fn, argument)


def test_no_warning_of_a_dry_run():
    """Tracing a function that is deprecated, or warns about what it is given, shows no warning of its own."""

    def deprecated(a):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            yield_ = np.cov(a[:1, :1]) + 1
        return yield_, len(seen)

    a = R.copy()
    expected, count = deprecated(a)
    for _ in range(3):
        got, seen = dyntrace.compile(deprecated)(a)
        assert np.array(got).tobytes() == np.array(expected).tobytes() and seen == count


def test_bins_by_the_data():
    """A rule that looks at the data decides how many bins there are."""
    fn = lambda a: np.histogram(a, bins="auto")[0] + 1  # noqa: E731
    for data in (V, np.concatenate([V, W, [30.0]])):
        assert dyntrace.compile(fn)(data).tobytes() == fn(data).tobytes()
