"""np.lib.stride_tricks.sliding_window_view(), and keys with ranges and lists of computed integers."""

import numpy as np
import pytest
from differential import check, check_calls

windows = np.lib.stride_tricks.sliding_window_view
V = np.cos(np.arange(24) * 1.3)
M = V.reshape(4, 6)

FORMS = {
    "one axis": lambda x: windows(x, 5),
    "a tuple": lambda x: windows(x, (5,)),
    "along the axis": lambda x: windows(x, 5, axis=0),
    "along the last axis": lambda x: windows(x, 5, -1),
    "every second one": lambda x: windows(x, 5)[::2],
    "all of it": lambda x: windows(x, 24),
    "one item": lambda x: windows(x, 1),
    "backwards": lambda x: windows(x[::-1], 4),
    "with gaps": lambda x: windows(x[::3], 4) * 2,
    "arithmetic": lambda x: windows(x, 4) * np.arange(4.0) + 1,
    "with another order": lambda x: windows(x, 4) + np.asfortranarray(np.ones((21, 4))),
    "reduced": lambda x: (windows(x, 5).mean(-1), windows(x, 5).std(axis=1), windows(x, 5).max(0)),
    "sorted": lambda x: (np.median(windows(x, 5), axis=1), np.sort(windows(x, 5), axis=-1)),
    "of a result": lambda x: windows(x * 2, 5).sum(),
    "a product": lambda x: windows(x, 5) @ np.arange(5.0),
    "Fourier": lambda x: np.abs(np.fft.rfft(windows(x, 8)[::4] * np.hanning(8), axis=-1)),
    "flags": lambda x: (windows(x, 5).shape, windows(x, 5).copy().strides),
}
OF_TWO = {
    "both axes": lambda x: windows(x, (2, 3)),
    "arithmetic": lambda x: (windows(x, (2, 3)) * 2, windows(x.T, (2, 3)) + 1),
    "one axis": lambda x: windows(x, 3, axis=1) * 1,
    "the other axis": lambda x: windows(x, 3, axis=0) * 1,
    "swapped": lambda x: windows(x, (3, 2), axis=(1, 0)) - 1,
    "one axis twice": lambda x: windows(x, (2, 3), axis=(1, 1)) - 1,
    "reduced": lambda x: (windows(x, (2, 2)).max(axis=(2, 3)), windows(x, (2, 2)).mean((-1, -2))),
    "in Fortran's order": lambda x: windows(np.asfortranarray(x), (2, 3)) * 1,
    "einsum": lambda x: np.einsum("ijkl,kl->ij", windows(x, (3, 3)), np.ones((3, 3))),
}


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "?", "c16"])
@pytest.mark.parametrize("form", ["one axis", "arithmetic", "with gaps", "reduced"])
def test_dtypes(form, dtype):
    x = V * 3
    check_calls(FORMS[form], (x.astype(dtype),), (x[:12].astype(dtype),), whole=False)


@pytest.mark.parametrize("form", FORMS)
def test_windows(form):
    check(FORMS[form], V)


@pytest.mark.parametrize("form", OF_TWO)
def test_windows_of_two_axes(form):
    check(OF_TWO[form], M)


def test_other_sizes():
    def fn(x):
        return windows(x, 5).sum(-1) * 2

    check_calls(fn, (V,), (V[:9],), (V[:5],), (V[:6],), (V[:4],), (V[::2],), whole=False)


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: windows(x, 30),
        lambda x: windows(x, -1),
        lambda x: windows(x, (2, 2)),
        lambda x: windows(x, 0).shape,
        lambda x: windows(x, 2, axis=1),
        lambda x: windows(x, 2.0),
        lambda x: windows(x, 3, writeable=True) * 1,
        lambda x: windows(x.tolist(), 3) * 1,
    ],
)
def test_what_is_refused_and_rare(fn):
    check_calls(fn, (V,), (V,), whole=False)


def test_they_are_read_only_views():
    def writes(x):
        w = windows(x, 3)
        w[0] = 1
        return w

    def sees(x):
        w = windows(x, 3)
        x[1] = 9
        return w, w + 1

    def seen(x):
        y = x * 2
        w = windows(y, 3)
        y[2:4] += 1
        return w * 1, np.shares_memory(w, y)

    check_calls(writes, (V,), (V,), whole=False)
    check(sees, V)
    check(seen, V)


# ---- Keys ------------------------------------------------------------------------------------

KEYS = {
    "a range": lambda x: x[range(3)],
    "a range with a step": lambda x: x[range(3, 0, -2)],
    "a range beside an array": lambda x: x[x.argmax(1), range(x.shape[0] - 0)],
    "a range of a size": lambda x: x[np.argmax(np.abs(x), axis=0) % 4, range(x.shape[1])],
    "a range and a slice": lambda x: x[range(2), 1:3],
    "an empty range": lambda x: x[range(0)].shape,
    "computed rows": lambda x: x[[1, x.sum(1).argmax()]],
    "computed columns": lambda x: x[:, [int(x[0, 0] > 5), 2]] * 2,
    "a computed pair": lambda x: x[[x[0].argmax(), 0], [1, x[1].argmin()]],
}


def swap_rows(x):
    k = np.argmax(np.abs(x[:, 0]))
    x[[0, k]] = x[[k, 0]]
    return x * 2


def set_by_range(x):
    x[range(2)] = 0
    x[range(3), range(3)] += 5
    return x + 1


def set_computed(x):
    k = x[0].argmin()
    x[[1, k], 2] = -1
    return x.sum(0)


@pytest.mark.parametrize("key", KEYS)
def test_keys(key):
    check_calls(KEYS[key], (M,), (M[:, ::-1],), (M.T.copy(),), whole=False)


@pytest.mark.parametrize(
    "key", ["a range", "a range of a size", "computed rows", "computed columns", "a computed pair"]
)
def test_keys_are_whole(key):
    check(KEYS[key], M)


@pytest.mark.parametrize("fn", [swap_rows, set_by_range, set_computed])
def test_writing(fn):
    check(fn, M)


def test_indices_that_are_refused():
    check_calls(lambda x: x[range(3, 9)], (M,), (M,), whole=False)
    check_calls(lambda x, k: x[[0, k]], (M, np.int64(2)), (M, np.int64(7)), (M, np.uint64(1)), whole=False)
    check_calls(lambda x: x[[0, x[:, 0].astype("u8").argmax()]] + 1, (M,), (M,))
    check_calls(lambda x, u: x[[0, u[0]]], (M, np.array([1], "u8")), whole=False)
    check_calls(lambda x, u: x[[1, u[0]]], (M, np.array([True])), whole=False)


def test_parts_of_r():
    def fn(x):
        return np.r_[True, x[1:] != x[:-1]], np.r_[False, 1, x > 2], np.r_[x > 0, True], np.r_[True, False]

    check(fn, V)


# ---- as_strided ----------------------------------------------------------------------------------

strided = np.lib.stride_tricks.as_strided


def rows(x, w, **options):
    return strided(x, (x.size - w + 1, w), (x.strides[0], x.strides[0]), **options)


STRIDED = {
    "windows": lambda x: rows(x, 4),
    "reduced": lambda x: (rows(x, 4).mean(axis=1), rows(x, 3).max(0), rows(x, 5).std(axis=-1)),
    "arithmetic": lambda x: rows(x, 4) * np.arange(4.0) + 1,
    "a product": lambda x: rows(x, 5) @ np.arange(5.0),
    "read-only": lambda x: rows(x, 4, writeable=False)[1:] - 1,
    "of a result": lambda x: rows(x * 2, 4).sum(),
    "blocks": lambda x: strided(x, shape=(x.size // 4, 4), strides=(4 * x.itemsize, x.itemsize)) * 2,
    "every second one": lambda x: strided(x, ((x.size + 1) // 2,), (2 * x.strides[0],)) + 1,
    "one item many times": lambda x: strided(x, (3, x.size), (0, x.strides[0])) * [[1], [2], [3]],
    "turned": lambda x: rows(x, 4).T.copy(),
    "parts": lambda x: (rows(x, 4)[0], rows(x, 4)[:, 1], rows(x, 4)[::2, -1] * 1),
    "of two axes": lambda x: strided(
        x.reshape(4, 6), (3, 5, 2, 2), x.reshape(4, 6).strides * 2
    ).max(axis=(2, 3)),
    "a diagonal": lambda x: strided(x.reshape(4, 6), (4,), (x.itemsize * 7,)) * 1,
    "ravel of it": lambda x: (rows(x, 4).ravel(), rows(x, 4).reshape(-1) + 1, rows(x, 2).flatten()),
}  # fmt: skip


@pytest.mark.parametrize("name", STRIDED)
def test_strided(name):
    check(STRIDED[name], V)
    if name not in ("of two axes", "a diagonal"):
        check_calls(STRIDED[name], (V,), (V[:8].copy(),), (np.tile(V, 30),), (V[::2],), whole=False)
    check_calls(STRIDED[name], (V.astype("f4"),), (V.astype("f4") + 1,))


def test_strided_views_that_are_written():
    def written(x):
        row = rows(x, 3)
        row[1] = 5.0
        return row * 1, x

    def below(x):
        y = x * 2
        row = rows(y, 3)
        y[2] = -1.0
        return row + 1

    def added(x):
        row = rows(x.copy(), 2)
        row += 1
        return row

    def frozen(x):
        row = rows(x, 3, writeable=False)
        row[0] = 1.0
        return row

    for function in (written, below, added, frozen):
        check_calls(function, (V,), (V[:9].copy(),), whole=False)


def test_strided_views_of_other_forms():
    def beyond(x):
        part = x[2:6]
        return strided(part, (3, 2), (x.strides[0] * 2, x.strides[0])) * 1

    def odd(x):
        return strided(x, (3,), (x.itemsize // 2,)).shape

    def negative(x):
        return strided(x[4:], (4,), (-x.strides[0],)) * 1

    def none(x):
        return strided(x, (0, 3), (8, 8)).sum(), strided(x).sum(), strided(x, strides=(0,)).sum()

    def wrong(x):
        return strided(x, (2, 2), (8,))

    for function in (beyond, odd, negative, none, wrong):
        check_calls(function, (V,), (V + 1,), whole=False)
