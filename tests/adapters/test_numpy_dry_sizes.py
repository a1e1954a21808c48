"""Functions without a rule, of selections: what dry runs guess of sizes is looked at in the graph."""

import numpy as np
import pytest
from differential import check_calls, check_sizes

RAMP = np.linspace(-1.5, 1.5, 9)
VECTORS = [
    (RAMP,),
    (-np.abs(RAMP) - 1,),
    (np.eye(9)[3],),
    (np.eye(9)[3] + np.eye(9)[5],),
    (np.abs(RAMP) + 0.5,),
    (RAMP[:0],),
    (np.where(RAMP > 1, np.nan, RAMP),),
    (np.linspace(-3, 2, 40),),
    (RAMP[::-1],),
    (RAMP.astype("f4"),),
]

OF_VECTORS = {
    "append": lambda x: np.append(x[x > 0], 1.0),
    "append twice": lambda x: np.append(np.append(x[x > 0], 1.0), x[x > 0]),
    "append and sum": lambda x: np.append(x[x > 0], 1.0)[1:] + x[x > 0],
    "insert": lambda x: np.insert(x[x > 0], 0, 5.0),
    "delete": lambda x: np.delete(x[x > 0], 0),
    "resize": lambda x: np.resize(x[x > 0], 7),
    "pad": lambda x: np.pad(x[x > 0], (1, 2)),
    "pad of the edge": lambda x: np.pad(x[x > 0], 2, mode="edge"),
    "percentiles": lambda x: np.percentile(x[x > 0], [25, 75]),
    "a percentile": lambda x: np.percentile(x[x > 0], 30.0),
    "quantile": lambda x: np.quantile(x[x > 0], 0.5, method="nearest"),
    "median": lambda x: np.median(x[x > 0]),
    "nanmedian": lambda x: np.nanmedian(np.where(x > 0, x, np.nan)[x > -1]),
    "nanmean": lambda x: (np.nanmean(x[x > 0]), np.nanmax(x[x > 0]), np.nansum(x[x > 0])),
    "histogram": lambda x: np.histogram(x[x > 0], bins=4, range=(0, 2)),
    "interp": lambda x: np.interp(x, np.sort(x[x > 0]), x[x > 0]),
    "interp of gaps": lambda x: np.interp(np.flatnonzero(x > 0), np.flatnonzero(x <= 0), x[x <= 0]),
    "interp of places": lambda x: np.interp(x[x <= 0], np.arange(9.0), np.arange(9.0)) * x[x <= 0],
    "searchsorted": lambda x: np.searchsorted(np.sort(x), x[x > 0]) * x[x > 0],
    "searched in": lambda x: np.searchsorted(np.sort(x[x > 0]), x),
    "searched by method": lambda x: np.sort(x[x > 0]).searchsorted([0.5, 1.0]),
    "digitize": lambda x: np.digitize(x[x > 0], [0.0, 1.0]),
    "convolve": lambda x: np.convolve(x[x > 0], [1.0, 2.0, 3.0]),
    "convolve same": lambda x: np.convolve(x[x > 0], [1.0, 2.0, 3.0], mode="same"),
    "convolve valid": lambda x: np.convolve(x[x > 0], [1.0, 2.0, 3.0], mode="valid"),
    "correlate of two": lambda x: np.correlate(x[x > 0], x[x < 0], mode="full"),
    "gradient": lambda x: np.gradient(x[x > 0]),
    "trapezoid": lambda x: np.trapezoid(x[x > 0]) if hasattr(np, "trapezoid") else np.trapz(x[x > 0]),
    "ediff1d": lambda x: np.ediff1d(x[x > 0], to_end=1.0),
    "unwrap": lambda x: np.unwrap(x[x > 0] * 4),
    "average": lambda x: np.average(x[x > 0], weights=x[x > 0]),
    "vander": lambda x: np.vander(x[x > 0], 3) * x[x > 0][:, None],
    "kron": lambda x: np.kron(x[x > 0], [1.0, 2.0]),
    "inner": lambda x: (np.inner(x[x > 0], x[x > 0]), np.vdot(x[x > 0], x[x > 0])),
    "einsum": lambda x: np.einsum("i,j->ij", x[x > 0], x[x > 0]).sum(),
    "partition": lambda x: np.partition(x[x > 0], 1),
    "argpartition": lambda x: np.argpartition(x[x > 0], 0),
    "isin": lambda x: np.isin(np.arange(len(x)), np.flatnonzero(x > 0)),
    "reduceat": lambda x: np.add.reduceat(x, np.flatnonzero(x > 0)),
    "reduceat of a selection": lambda x: np.add.reduceat(x[x > 0], [0, 1]),
    "accumulate": lambda x: np.maximum.accumulate(x[x > 0]) - x[x > 0],
    "outer": lambda x: np.multiply.outer(x[x > 0], x[x < 0]),
    "polyfit": lambda x: np.polyfit(x[x > 0], x[x > 0] ** 2, 1),
    "polyval": lambda x: np.polyval([1.0, 2.0], x[x > 0]) + x[x > 0],
    "cov": lambda x: np.cov(x[x > 0], x[x > 0] * 2),
    "corrcoef": lambda x: np.corrcoef(x[x > 0], x[x > 0][::-1]),
    "unique and searched": lambda x: np.searchsorted(np.unique(x), x),
    "choices": lambda x: np.select([x[x > 0] > 1], [x[x > 0]], 7.0) * x[x > 0],
    "diagonal": lambda x: np.diagflat(x[x > 0]),
    "packed": lambda x: np.packbits(x[x > 0] > 1),
    "nan_to_num": lambda x: np.nan_to_num(x[x > 0]) + x[x > 0],
    "fft": lambda x: (np.fft.rfft(x[x > 0]), np.fft.fft(x[x > 0])),
    "norm": lambda x: (np.linalg.norm(x[x > 0]), np.linalg.vector_norm(x[x > 0])),
    "variances": lambda x: (x[x > 0].var(ddof=1), x[x > 0].std(ddof=2)),
    "variance of columns": lambda x: x[x > 0][:, None].var(axis=0, ddof=1),
    "trimmed": lambda x: np.trim_zeros(x[x > -1]),
    "of two lengths": lambda x: np.append(x[x > 0], x[x < 0]) * 2,
    "of a part": lambda x: np.append(x[: np.sum(x > 0)], 1.0)[:-1] * x[: np.sum(x > 0)],
    "deleted": lambda x: np.delete(x, np.flatnonzero(x > 0)) * 2,
    "deleted by a mask": lambda x: np.delete(x, x > 0) + x[x <= 0],
    "deleted at a place": lambda x: np.delete(x, np.argmax(x)) if x.size else x,
    "deleted twice": lambda x: np.delete(x, np.array([0, 0, 1])[: np.sum(x > 0)]),
    "inserted": lambda x: np.insert(x, np.flatnonzero(x > 0), 0.0),
    "selections inserted": lambda x: np.insert(x, np.flatnonzero(x > 0), x[x > 0])[1:],
    "histogram by the data": lambda x: np.histogram(x, bins="auto", density=True),
    "histogram of a selection by the data": lambda x: np.histogram(x[x > 0], bins="fd"),
    "mode": lambda x: _mode(*np.histogram(x, bins="sturges")),
    "edges": lambda x: np.histogram_bin_edges(x, "sqrt")[1:] * 2,
    "the path of a sum": lambda x: np.einsum_path("i,i->", x[x > 0], x[x > 0]),
    "the path of a product": lambda x: np.einsum_path(
        "ij,jk,kl->il", np.ones((len(x[x > 0]), 6)), np.ones((6, 4)), np.ones((4, 9))
    ),
    "written": lambda x: _written(x),
}  # fmt: skip


def _mode(counts, edges):
    return ((edges[:-1] + edges[1:]) / 2)[counts.argmax()], (counts * np.diff(edges)).sum()


def _written(x):
    x = x.copy()
    gaps = x < 0
    x[gaps] = np.interp(np.flatnonzero(gaps), np.flatnonzero(~gaps), x[~gaps])
    return x


@pytest.mark.parametrize("name", OF_VECTORS)
def test_vectors(name):
    check_sizes(OF_VECTORS[name], VECTORS, again=2)


WHOLE = [
    "append", "append and sum", "percentiles", "a percentile", "nanmean", "histogram", "interp",
    "interp of gaps", "interp of places", "searchsorted", "searched in", "digitize", "convolve",
    "average", "vander", "isin", "reduceat", "variances", "unique and searched", "written", "cov",
    "polyval", "trapezoid", "pad", "deleted", "deleted by a mask", "inserted", "mode", "edges",
]  # fmt: skip


@pytest.mark.parametrize("name", WHOLE)
def test_whole(name):
    check_calls(OF_VECTORS[name], (RAMP,), (np.linspace(-3, 3, 40),), (RAMP + 0.25,))


GRID = np.arange(28.0).reshape(7, 4) % 11
MATRICES = [
    (GRID,),
    (GRID * 0,),
    (GRID[:3],),
    (GRID[:1] + 5,),
    (np.asfortranarray(GRID),),
    (np.arange(120.0).reshape(30, 4) % 13,),
    (GRID[:, ::2],),
]

#: Of a matrix with few rows the shapes of some results follow the rows, of others the columns.
OF_MATRICES = {
    "svd": lambda x: np.linalg.svd(x[x[:, 0] > 1], full_matrices=False),
    "qr": lambda x: np.linalg.qr(x[x[:, 0] > 1]),
    "lstsq": lambda x: np.linalg.lstsq(x[x[:, 0] > 1], x[x[:, 0] > 1][:, 0], rcond=None),
    "pinv": lambda x: np.linalg.pinv(x[x[:, 0] > 1]),
    "rank": lambda x: np.linalg.matrix_rank(x[x[:, 0] > 1]),
    "covariance": lambda x: np.cov(x[x[:, 0] > 1].T),
    "median": lambda x: (np.median(x[x[:, 0] > 1], axis=0), np.percentile(x[x[:, 0] > 1], 30, axis=1)),
    "pad": lambda x: np.pad(x[x[:, 0] > 1], 1).sum(),
    "block": lambda x: np.block([[x[x[:, 0] > 1]], [x]]),
    "meshgrid": lambda x: np.meshgrid(x[x[:, 0] > 1][:, 0], x[0]),
    "einsum": lambda x: np.einsum("ij,kj->ik", x[x[:, 0] > 1], x) @ x,
    "along": lambda x: np.take_along_axis(x[x[:, 0] > 1], np.argsort(x[x[:, 0] > 1], axis=1), axis=1),
    "take the greatest": lambda x: np.argpartition(x[x[:, 0] > 1], 1, axis=1)[:, :1],
    "eigenvalues": lambda x: np.linalg.eigvalsh(x[x[:, 0] > 1].T @ x[x[:, 0] > 1] + np.eye(x.shape[1])),
    "resize": lambda x: np.resize(x[x[:, 0] > 1], (3, 3)),
    "delete": lambda x: np.delete(x[x[:, 0] > 1], 0, axis=1),
    "variance": lambda x: (x[x[:, 0] > 1].var(axis=0, ddof=1), x[x[:, 0] > 1].std(axis=1, ddof=1)),
}  # fmt: skip


@pytest.mark.parametrize("name", OF_MATRICES)
def test_matrices(name):
    check_sizes(OF_MATRICES[name], MATRICES, again=None)


def test_what_comes_out_is_looked_at():
    """Of so few rows the result has another shape than the dry runs had."""

    def fn(x):
        q, r = np.linalg.qr(x[x[:, 0] > 1])
        return q * 2, r + np.eye(4)[: r.shape[0]]

    check_calls(fn, (GRID,), (GRID[:4],), (GRID[:2] + 2,), (GRID,), (GRID[:1] + 2,), whole=False)
