"""order= of copies, rows and casts: what stands for the order that memory has is that order."""

import numpy as np
import pytest
from differential import check_calls

M = np.arange(24.0).reshape(4, 6)
ARRAYS = [
    M,
    np.asfortranarray(M),
    M.T,
    M[:, 1:4],
    M[::2],
    M[::-1],
    M[:1],
    M[:, :1],
    M[:0],
    M.reshape(2, 3, 4),
    M.reshape(2, 3, 4).transpose(1, 0, 2),
    np.asfortranarray(M.reshape(2, 3, 4)),
    M[0],
    M[:, 0],
    M[0, ::-1],
    np.ones((1, 1)),
    np.array(2.5),
]


def described(array):
    """What can be seen of where it lies."""
    base = None if array.base is None else array.base.shape
    return array * 1, array.strides, array.flags.num, base


FUNCTIONS = {
    "ravel": lambda a, order: a.ravel(order=order),
    "np.ravel": lambda a, order: np.ravel(a, order),
    "flatten": lambda a, order: a.flatten(order),
    "copy": lambda a, order: a.copy(order),
    "np.copy": lambda a, order: np.copy(a, order=order),
    "reshape": lambda a, order: a.reshape(-1, order=order) if order != "K" else a,
    "reshape to two axes": lambda a, order: a.reshape((-1, 1), order=order) if order != "K" else a,
    "astype": lambda a, order: a.astype("f4", order=order),
    "astype, the same": lambda a, order: a.astype(a.dtype, order=order, copy=False),
}


@pytest.mark.parametrize("order", ["C", "F", "A", "K"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_orders(name, order):
    function = FUNCTIONS[name]
    for array in ARRAYS:
        check_calls(lambda a: described(function(a, order)), (array,), (array + 1,), whole=False)
        check_calls(lambda a: function(a, order), (array,), (array + 1,), whole=False)
        check_calls(lambda a: function(a, order) + 1, (array,), (array + 1,), whole=False)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_known_orders_are_whole(name):
    function = FUNCTIONS[name]
    for array in (M, np.asfortranarray(M), M[0]):
        for order in ("A", "K"):
            if name[:7] != "reshape":
                check_calls(lambda a, order=order: function(a, order), (array,))


def test_rows_in_the_other_order():
    def row(a):
        flat = a.reshape(-1, order="F")
        flat[0] = -1
        return flat, flat.base.shape if flat.base is not None else None, a

    def back(a):
        return (a.ravel(order="F") * 2).reshape(a.shape, order="F"), a.copy(order="F").T.flags.c_contiguous

    for array in ARRAYS:
        if array.size:
            check_calls(row, (array,), (array * 2,), whole=False)
        check_calls(back, (array,), (array * 2,), whole=False)
    check_calls(lambda a: a.reshape(-1, order="F") + 1, (M,), (M[:3],), (M[:, :3].copy(),))


def test_views_stay_views():
    def written(a):
        row = a.ravel(order="K")
        row[0] = -1
        return row, row.flags.owndata

    for array in ARRAYS:
        if array.size:
            check_calls(written, (array,), whole=False)


@pytest.mark.parametrize("index", [0, -1, 5])
def test_items_of_flat(index):
    for array in (M, M[::2], -M, np.asfortranarray(M)):
        check_calls(lambda a: (a.flat[np.argmax(a)], a.flat[index]), (array,), (array + 1,))
    check_calls(lambda a, k: a.flat[k[0]], (M, np.array([3])), (M, np.array([-2])), (M, np.array([99])))


def test_edges_of_histograms_are_the_array():
    edges = np.linspace(-1, 1, 5)

    def counted(x, bins):
        counts, given = np.histogram(x, bins=bins)
        return counts / (counts.sum() * np.diff(given)), given is bins, given

    def by_place(x, bins):
        return np.histogram(x, bins)[1] is bins, np.histogram(x, bins, density=True)[0]

    x = np.sin(np.arange(40.0))
    for function in (counted, by_place):
        check_calls(function, (x, edges), (x * 2, edges), (x[:3], np.array([0.0, 0.5])))
        check_calls(function, (x, edges), (x, edges[::-1]), (x[:0], edges), whole=False)
        check_calls(function, (x, np.arange(-2, 3)), (x, np.arange(-4, 3)))
        check_calls(function, (x, edges[::2]), (x, edges[1::2]))
    check_calls(lambda x: np.histogram(x, np.linspace(-1, 1, 5))[1] * 2, (x,), (x + 1,))
    check_calls(lambda x: np.histogram(x[x > 0], edges), (x,), (x + 1,), whole=False)


# ---- In an order, of another dtype -------------------------------------------------------------------

NUMBERS = np.arange(6).reshape(2, 3)
OF_ALL_KINDS = [
    NUMBERS, NUMBERS.astype("f8"), NUMBERS.astype("f8").T, NUMBERS.astype("f4")[:, ::2],
    NUMBERS.astype(">f8"),
    NUMBERS.astype("q"), NUMBERS.astype("c16"), NUMBERS.astype("?"), NUMBERS[0], NUMBERS[:0],
    NUMBERS.astype("f8")[::2], NUMBERS.astype("O"), np.asfortranarray(NUMBERS * 1.0), np.array(2.0),
]  # fmt: skip


@pytest.mark.parametrize("in_order", [np.ascontiguousarray, np.asfortranarray])
@pytest.mark.parametrize("x", OF_ALL_KINDS)
@pytest.mark.filterwarnings("ignore:Casting complex")
def test_in_order_of_a_dtype(in_order, x):
    def fn(x):
        found = [in_order(x, dtype=dtype) for dtype in (np.float64, "f4", np.int64, np.longlong, None)]
        return [*found, in_order(x.T, float)], [a is x for a in found]

    check_calls(fn, (x,), (x,), whole=False)


def test_in_order_of_a_dtype_is_captured():
    def fn(x):
        return np.ascontiguousarray(x.ravel(), dtype=np.float64) * 2

    check_calls(fn, (NUMBERS,), (NUMBERS[:, ::2],), (NUMBERS.astype("f8"),), (NUMBERS.astype("f4").T,))


def test_is_the_dtype_of_objects():
    """As scipy.linalg asks of what it is given."""

    def fn(x):
        return x.dtype is np.dtype("O"), x.dtype == np.dtype("object"), x + 1

    check_calls(fn, (NUMBERS,), (NUMBERS * 1.0,))
    check_calls(fn, (NUMBERS.astype("O"),), whole=False)
