"""Sizes that depend on data: lengths of selections as numbers, bounds and sizes that the graph computes."""

import numpy as np
import pytest
from differential import Compiled, Outcome, check_calls, check_sizes, compare

RAMP = np.linspace(-1.5, 1.5, 9)
#: Of which none, one, some and all items are positive; empty; with NaN; of another size.
VECTORS = [
    (RAMP,),
    (-np.abs(RAMP) - 1,),
    (np.eye(9)[3],),
    (np.abs(RAMP) + 0.5,),
    (RAMP[:0],),
    (np.where(RAMP > 1, np.nan, RAMP),),
    (np.linspace(-3, 2, 14),),
    (RAMP[::-1],),
    (RAMP.astype("f4"),),
    (RAMP[::2] * 1000,),
    (RAMP[:1],),
    (RAMP[-1:],),
]

OF_VECTORS = {
    "length": lambda x: len(x[x > 0]),
    "lengths": lambda x: (x[x > 0].size, x[x > 0].shape, np.size(x[x > 0]), np.shape(x[x > 0])),
    "bytes": lambda x: (x[x > 0].nbytes, x[x > 0][:, None].size, np.flatnonzero(x).nbytes),
    "length in arithmetic": lambda x: (len(x[x > 0]) / 9, x * len(x[x > 0]), -len(x[x > 0]) ** 2),
    "length in a text": lambda x: (str(len(x[x > 0])), f"{len(x[x > 0]):>5}"),
    "length twice": lambda x: (
        len(x[x > 0]) == len(x[x > 0]) + 0,
        len(x[x > 0]) <= x[x > 0].shape[0],
    ),
    "length as an index": lambda x: x[min(len(x[x > 0]), 3) - 1] if x.size > 4 else x,
    "a mean by hand": lambda x: x[x > 0].sum() / max(1, len(x[x > 0])),
    "zeros": lambda x: (np.zeros(len(x[x > 0])), np.ones((len(x[x > 0]), 2)), np.zeros(x[x > 0].shape)),
    "zeros and sums": lambda x: np.zeros(len(x[x > 0])) + x[x > 0],
    "full": lambda x: (np.full(len(x[x > 0]), 2.5) * 2, np.empty((2, len(x[x > 0])))[:0]),
    "one more": lambda x: np.zeros(len(x[x > 0]) + 1),
    "steps": lambda x: (np.linspace(0.0, 1.0, len(x[x > 0])) * 2, np.linspace(0, x[0], len(x[x > 0]), False)),
    "steps for items": lambda x: np.linspace(1.0, 2.0, np.sum(x > 0)) * x[x > 0],
    "stretched": lambda x: np.broadcast_to(x[x > 0], (3, len(x[x > 0]))).sum(axis=0) + x[x > 0],
    "a number stretched": lambda x: np.broadcast_to(1.5, len(x[x > 0])) if x.size else x,
    "stretched to another size": lambda x: np.broadcast_to(x[x > 0], (2, len(x[x < 0]))),
    "a column of ones": lambda x: np.column_stack([x[x > 0], np.ones(np.sum(x > 0))]) @ [2.0, 1.0],
    "ones and a column": lambda x: np.stack((np.ones(np.sum(x > 0)), x[x > 0]), axis=1) @ [2.0, 1.0],
    "rows that may differ": lambda x: (np.vstack([x[x > 0], x[x < 0]]), np.stack([x[x > 0], x[::-1][x > 0]])),
    "columns that may differ": lambda x: np.column_stack([x[x > 0], x[x <= 0]]),
    "joined along the other axis": lambda x: np.concatenate([x[x > 0][None], x[x < 0][None]], axis=0),
    "as many as are known": lambda x: np.vstack([x[x > 0], np.arange(5.0)]) * 2,
    "a straight line": lambda x: np.linalg.lstsq(
        np.column_stack([x[x > 0], np.ones(np.sum(x > 0))]), x[x > 0] ** 2, rcond=None
    )[0],
    "floor and rest": lambda x: (divmod(len(x[x > 0]), 3), divmod(len(x[x > 0]), x.size)),
    "floor and rest by a size": lambda x: divmod(20, len(x[x > 0])),
    "one less": lambda x: np.zeros(len(x[x > 0]) - 1),
    "range": lambda x: (np.arange(len(x[x > 0])), np.arange(1, len(x[x > 0])), np.arange(0, len(x), 2)),
    "range and sums": lambda x: np.arange(len(x[x > 0])) * x[x > 0],
    "range backwards": lambda x: np.arange(len(x[x > 0]), 0, -1),
    "range of a number": lambda x: np.arange(int(np.sum(x > 0)) - 2),
    "range of k": lambda x: (np.arange(np.sum(x > 0)), np.arange(1, np.sum(x > 0))),
    "range from k": lambda x: np.arange(np.sum(x > 0), 9),
    "range of k that is used": lambda x: np.arange(np.sum(x > 0)) * x[x > 0],
    "parts": lambda x: (x[x > 0][1:], x[x > 0][:-1], x[x > 0][1:-1], x[x > 0][:2], x[x > 0][-2:]),
    "every other": lambda x: (x[x > 0][::2], x[x > 0][1::2], x[x > 0][::-2], x[x > 0][::-1]),
    "differences": lambda x: x[x > 0][1:] - x[x > 0][:-1],
    "differences of parts": lambda x: x[x > 0][2:] + x[x > 0][:-2] - x[x > 0][1:-1],
    "diff": lambda x: np.diff(np.flatnonzero(x > 0)),
    "first and last": lambda x: (x[x > 0][0], x[x > 0][-1]),
    "an item of pairs": lambda x: x[x > 0][:, None][0, 0],
    "a row": lambda x: x[x > 0][:, None][0],
    "a row nobody uses": lambda x: (x[x > 0][:, None][0], x)[1],
    "an item nobody uses": lambda x: (x[x > 0][0], x)[1],
    "first k": lambda x: x[: np.argmax(x)] if x.size else x,
    "first k of two": lambda x: x[: int(np.sum(x > 0))] * x[: int(np.sum(x > 0))],
    "from k": lambda x: (x[np.sum(x > 0) :], x[np.sum(x > 0) : 4], x[np.sum(x > 0) - 3 :]),
    "around k": lambda x: x[np.sum(x > 0) - 1 : np.sum(x > 0) + 2].mean(),
    "k backwards": lambda x: (x[np.sum(x > 0) :: -1], x[: np.sum(x > 0) : -1]),
    "k as a step": lambda x: x[:: int(np.sum(x > 0)) + 1],
    "k of rows": lambda x: x[:, None][: np.sum(x > 0)] * 2,
    "k of columns": lambda x: (np.stack([x, x * 2])[:, : np.sum(x > 0)] + 1, x),
    "k of columns in Fortran's order": lambda x: np.stack([x, x * 2]).T[: np.sum(x > 0)].T * 2,
    "zeros of k": lambda x: (np.zeros(np.sum(x > 0)), np.zeros((2, np.sum(x > 0))).T + 1),
    "zeros of k and part": lambda x: np.zeros(np.sum(x > 0)) + x[: np.sum(x > 0)],
    "two selections": lambda x: x[x > 0] + x[x < 0],
    "two selections and a choice": lambda x: np.where(x[x > 0] > 1, x[x <= 0], 0.0),
    "selection and size": lambda x: x[x > 0] * x,
    "selection and list": lambda x: x[x > 0] * np.array([1.0, 2.0, 3.0, 4.0]),
    "two of rows": lambda x: x[x > 0][:, None] * x[x < 0][None],
    "starts and ends": lambda x: (
        np.flatnonzero(np.diff(np.r_[0, x > 0, 0]) == -1)
        - np.flatnonzero(np.diff(np.r_[0, x > 0, 0]) == 1)
    ),
    "raise": lambda x: _first(np.flatnonzero(x > 0)),
    "a type of a size": lambda x: np.zeros(np.sum(x > 0, dtype="i1")) * x[: np.sum(x > 0, dtype="u8")],
    "copies": lambda x: (x[: np.sum(x > 0)].copy(), x[x > 0][:2].copy().flags.owndata),
    "accumulated": lambda x: np.cumsum(x[x > 0])[-1],
    "the greatest": lambda x: x[x > 0][x[x > 0].argmax()],
    "sorted": lambda x: np.sort(x[x > 0])[::-1][:3],
    "pairs": lambda x: x[x > 0].reshape(-1, 2) + 1,
    "halves": lambda x: x[x > 0].reshape(2, -1).sum(0),
    "a row and a column": lambda x: x[x > 0].reshape(1, -1) * x[x > 0].reshape(-1, 1),
    "a selection in more axes": lambda x: x[x > 0].reshape(len(x[x > 0]), 1, 1).shape,
    "rows of k": lambda x: np.arange(20.0).reshape(np.sum(x > 0), -1) * 2,
    "rows of k of a size": lambda x: np.arange(12).reshape(np.sum(x > 0) - 1, np.sum(x > 0)),
    "rows of what may be -1": lambda x: np.zeros(np.arange(12).reshape(np.sum(x > 0) - 5, 3).shape),
    "rows of k in Fortran's order": lambda x: np.arange(20.0).reshape(np.sum(x > 0), -1, order="F"),
    "split": lambda x: np.split(x, [np.argmax(x), np.argmax(x) + 2]) if x.size else x,
    "concatenated": lambda x: np.concatenate([[0], np.flatnonzero(x > 0), [len(x)]])[1:],
    "length of a concatenation": lambda x: len(np.concatenate([x[x > 0], x])),
}  # fmt: skip


def _first(index):
    if len(index) == 0:
        raise ValueError("none")
    return index[0]


@pytest.mark.parametrize("name", OF_VECTORS)
def test_sizes(name):
    check_sizes(OF_VECTORS[name], VECTORS, again=2)


WHOLE = [
    "length", "lengths", "length in arithmetic", "zeros", "zeros and sums", "one more", "range",
    "range and sums", "range of k", "range of k that is used", "range from k",
    "parts", "every other", "differences", "diff", "first and last", "first k of two",
    "from k", "around k", "zeros of k", "zeros of k and part", "two selections", "starts and ends", "raise",
    "k of columns", "accumulated", "sorted", "a row and a column", "a selection in more axes", "split",
]  # fmt: skip


@pytest.mark.parametrize("name", WHOLE)
def test_whole(name):
    check_calls(OF_VECTORS[name], (RAMP,), (np.linspace(-3, 3, 20),), (RAMP + 0.25,))


def _written(x, change):
    x = x.copy()
    change(x, np.sum(x > 0))
    return x, x.sum()


def _put(target, key, value):
    target[key] = value


WRITES = {
    "a number": lambda x, k: _put(x, slice(None, k), 0.0),
    "an item": lambda x, k: _put(x, k, 7.0),
    "a part of another": lambda x, k: _put(x, slice(k, None), x[: len(x) - k] * 2),
    "as long as itself": lambda x, k: _put(x, slice(None, k), x[:k][::-1] + 1),
    "of another length": lambda x, k: _put(x, slice(None, k), x[1:k]),
    "a selection": lambda x, k: _put(x, slice(None, k), x[x > 0]),
    "into a selection": lambda x, k: _put(x, x > 0, x[:k]),
    "through a view": lambda x, k: np.add(x[:k], 1, out=x[:k]),
    "overlapping": lambda x, k: _put(x, slice(1, k), x[: k - 1]),
    "the first of a selection": lambda x, k: _put(x[np.flatnonzero(x > 0)], 0, 1.0),
    "a list": lambda x, k: _put(x, slice(None, k), [1.0, 2.0, 3.0, 4.0]),
}


@pytest.mark.parametrize("name", WRITES)
def test_writes(name):
    change = WRITES[name]
    check_calls(lambda x: _written(x, change), *VECTORS, *VECTORS[:2], whole=False)


@pytest.mark.parametrize("name", WRITES)
def test_writes_to_arguments(name):
    change = WRITES[name]

    def fn(x, k):
        change(x, np.sum(x > 0) + k)
        return x * 2

    compiled = Compiled(fn)
    for k in (0, 1, -1, 2, 0):
        for vector in (RAMP, np.abs(RAMP) + 0.5, -RAMP**2, RAMP):
            plain = Outcome(fn, (vector.copy(), k), {})
            compare(plain, Outcome(compiled, (vector.copy(), k), {}))


def test_part_and_its_base_share_memory():
    def fn(x):
        part = x[: np.argmax(x)]
        part += 1
        x[0] = 9
        return part, part * 2, x

    for _ in range(2):
        compiled = Compiled(fn)
        for x in (RAMP, RAMP[::-1].copy(), RAMP):
            compare(Outcome(fn, (x.copy(),), {}), Outcome(compiled, (x.copy(),), {}))


MATRICES = [
    (np.arange(20.0).reshape(5, 4) % 7,),
    (np.zeros((5, 4)),),
    (np.ones((3, 3)),),
    (np.asfortranarray(np.arange(20.0).reshape(5, 4) % 5),),
    (np.eye(4)[:1],),
    (np.arange(24.0).reshape(6, 4)[::2],),
]

OF_MATRICES = {
    "rows": lambda x: (x[x[:, 0] > 1].shape, x[x[:, 0] > 1].size, len(x[x[:, 0] > 1]) * x),
    "rows and columns": lambda x: x[x[:, 0] > 1][:, : np.argmax(x[0])] * 2,
    "rank": lambda x: (x[:, : np.sum(x[0] > 1)] * x[0, : np.sum(x[0] > 1)], x[: np.sum(x[0] > 1)].T),
    "classes": lambda x: np.zeros((len(x), x.max().astype(int) + 1)),
    "classes by an item": lambda x: np.eye(5)[: int(x.max())].sum(),
    "centred": lambda x: x[x[:, 0] > 1] - x[x[:, 0] > 1].mean(0),
    "ravelled": lambda x: (x[:, : np.sum(x[0] > 1)].ravel(), x[: np.sum(x[0] > 1)].reshape(-1)),
    "transposed": lambda x: (x[x[:, 0] > 1].T * 2, x[: np.sum(x[0] > 1)].T + 1),
    "copied": lambda x: x[:, : np.sum(x[0] > 1)].copy(),
    "flags": lambda x: x[: np.sum(x[0] > 1)].flags.c_contiguous,
    "other flags": lambda x: x[:, : np.sum(x[0] > 1)].flags.f_contiguous,
    "strides": lambda x: x[: np.sum(x[0] > 1)].strides,
    "product": lambda x: x[:, : np.sum(x[0] > 1)] @ x[:, : np.sum(x[0] > 1)].T,
}  # fmt: skip


@pytest.mark.parametrize("name", OF_MATRICES)
def test_sizes_of_matrices(name):
    check_sizes(OF_MATRICES[name], MATRICES, again=None)
