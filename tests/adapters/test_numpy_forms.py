"""Forms of functions beyond their rules: options, orders, lists for arrays, methods that are functions."""

import warnings

import dyntrace
import numpy as np
import pytest
from differential import check

RNG = np.random.default_rng(11)
V, W = RNG.random(6), RNG.random(6)
R = RNG.random((3, 4))
T = RNG.random((2, 3, 4))
F = np.asfortranarray(R)
M = RNG.random((3, 3)) + 3 * np.eye(3)
I = np.array([3, 0, 2, 1, 3, 0])  # noqa: E741
B = V > 0.5
Z = V + 1j * W

CASES = {
    "argmax keepdims": (lambda a: (a.argmax(1, keepdims=True) + 1, np.argmin(a, keepdims=True)), R),
    "cumsum dtype": (lambda a: (a.cumsum(1, dtype="f4"), np.cumprod(a, dtype=complex) * 2), R),
    "take mode": (lambda a, i: (a.take(i, mode="wrap") + 1, np.take(a, i * 9, mode="clip")), V, I),
    "take a number": (lambda a: (a.take(2) + 1, np.take(a, 1, axis=1) * 2), R),
    "trace": (lambda a: (a.trace(1) * 2, np.trace(a, offset=-1), a.trace(dtype="f4")), R),
    "trace axes": (lambda a: a.trace(axis1=0, axis2=2) + 1, T),
    "median keepdims": (lambda a: np.median(a, axis=1, keepdims=True) + 1, R),
    "diff ends": (lambda a: (np.diff(a, prepend=0) * 2, np.diff(a, append=a[:1]) + 1), V),
    "concatenate flat": (lambda a: np.concatenate([a, a * 2], axis=None) + 1, R),
    "concatenate lists": (lambda a: np.concatenate([[1], a, [2, 3]]) * 2, V),
    "stack lists": (lambda a: np.stack([a, [1, 2, 3, 4, 5, 6]]) * 2, V),
    "vstack lists": (lambda a: np.vstack([a, [1.5, 2, 3, 4]]) + 1, R),
    "hstack lists": (lambda a: np.hstack(([1], a, [2])) + 1, V),
    "column_stack lists": (lambda a: np.column_stack([a, [1, 2, 3, 4, 5, 6]]) + 1, V),
    "zeros order": (lambda a: (np.zeros((2, 3), order="F"), np.ones((2, 3), order="F") + a[:3]), V),
    "full order": (lambda a: np.full((2, 3), 2.5, order="F") + a[:3], V),
    "full of an array": (lambda a: np.full((2, 4), a[0]) * 2, R),
    "like shape": (lambda a: (np.zeros_like(a, shape=(2,)), np.full_like(a, 2, shape=(2, 3)) * 3), R),
    "like lists": (lambda a: np.zeros_like([1, 2]) + a[:2] + np.ones_like([1.5, 2]), V),
    "linspace retstep": (lambda a: np.linspace(0, 1, 5, retstep=True), V),
    "linspace of arrays": (lambda a, b: np.linspace(a, b, 5) * 2, V, W),
    "linspace dtype": (lambda a: np.linspace(0, 9, 4, dtype=int) + a[:4], V),
    "roll along two": (lambda a: np.roll(a, (1, 2), axis=(0, 1)) + 1, R),
    "repeat by list": (lambda a: np.repeat(a, [1, 2, 1, 0, 3, 1]) * 2, V),
    "repeat by array": (lambda a, i: (a.repeat(i) + 1, np.repeat(a, i) * 2), V, I),
    "repeat rows by array": (lambda a, i: np.repeat(a, i[:3], axis=0) + 1, R, I),
    "bincount weights": (lambda i, a: np.bincount(i, weights=a) * 2, I, V),
    "bincount all": (lambda i, a: np.bincount(i, a, 9) + 1, I, V),
    "bincount minlength": (lambda i: np.bincount(i, minlength=8) + 1, I),
    "sets of lists": (lambda a: (np.intersect1d(a, [0, 3, 9]) + 1, np.unique([2, 1, 1]) * 2), I),
    "norm ord": (lambda a: (np.linalg.norm(a, 1) + 1, np.linalg.norm(a, np.inf) * 2), V),
    "norm of a matrix": (
        lambda a: (np.linalg.norm(a, -1), np.linalg.norm(a, ord=2), np.linalg.norm(a, "nuc") + 1),
        R,
    ),
    "norm axes": (lambda a: (np.linalg.norm(a, axis=(0, 1)), np.linalg.norm(a, 1, axis=1) * 2), R),
    "norm keepdims": (lambda a: (np.linalg.norm(a, keepdims=True), np.linalg.norm(a, 3, 1, True)), R),
    "norm of a list": (lambda a: np.linalg.norm([3, 4]) + a, V),
    "tensordot pairs": (lambda a, b: np.tensordot(a, b, ([1, 2], [0, 1])) + 1, T, T[0]),
    "tensordot one pair": (lambda a: np.tensordot(a, a, axes=([0], [0])) * 2, R),
    "size along": (lambda a: np.size(a, 1) * a + np.size(a, -2), R),
    "array of arrays": (lambda a, b: (np.array([a, b]) * 2, np.array([[a], [b]]) + 1), V, W),
    "array of rows": (lambda a: np.array([row * 2 for row in a]).sum(axis=0), R),
    "array of matrices": (lambda a: np.array((a, a.T)) @ a, M),
    "array of dtypes": (lambda a, b: np.array([a, b]), V, I),
    "array of arrays as": (lambda a, b: np.asarray([a, b], dtype="f4") + 1, V, W),
    "array of one array": (lambda a: np.array([a]) + 1, V),
    "reductions of lists of arrays": (
        lambda a, b: (np.sum([a, b], axis=0), np.max([a, b]), np.mean((a, b), axis=0) * 2),
        V,
        W,
    ),
    "ufuncs of lists of arrays": (lambda a, b: np.logical_or.reduce([a > 0.5, b > 0.5]), V, W),
    "array of nothing": (lambda a: (np.array([]), np.array([[], []]), np.array([], int), a + 1), V),
    "reshape F": (
        lambda a: (a.reshape(4, 3, order="F") + 1, a.reshape((2, -1), order="F") * 2,
                   np.reshape(a, (4, 3), order="F")),
        F,
    ),
    "reshape F of a row": (lambda v: (v.reshape((2, -1), order="F") + 1, v.reshape(3, 2, order="F")), V),
    "reshape F of F": (lambda a: (a.reshape(4, 3, order="F"), a.reshape(-1, order="F") + 1), F),
    "reshape by place": (lambda a: np.reshape(a, (4, 3), "F") + 1, F),
    "reshape C by name": (lambda a: a.reshape((4, 3), order="C") + 1, R),
    "flat F": (lambda a: (a.ravel("F") + 1, a.flatten("F"), np.ravel(a, order="F") * 2), R),
    "flat F of F": (lambda a: (a.ravel("F"), a.flatten("F"), a.ravel(order="F") * 2), F),
    "flat F of three": (lambda a: (a.ravel("F") + 1, a[:, ::2].ravel("F")), T),
    "copy F": (lambda a: (a.copy("F"), a.copy(order="F") + 1, a.T.copy("F")), R),
    "transpose by name": (
        lambda a: (np.transpose(a, axes=(2, 0, 1)) + 1, np.transpose(a, axes=None) * 2),
        T,
    ),
    "views of lists": (lambda a: np.transpose([[1, 2], [3, 4]]) + a[:2] + np.ravel([[1], [2]]), V),
    "expand_dims of two": (lambda a: np.expand_dims(a, (0, 2)) + 1, R),
    "moveaxis of two": (lambda a: np.moveaxis(a, [0, 1], [-1, 0]) * 2, T),
    "moveaxis of one": (lambda a: np.moveaxis(a, (2,), (0,)) * 2, T),
    "mT": (lambda a: (a.mT + 1, a.mT @ a), T),
    "strides": (lambda a: (a.strides, a[0].strides, (a * 2).T.strides, a + a.strides[0]), R),
    "strides of F": (lambda a: (a.strides, a + a.strides[1]), F),
    "view": (lambda a: (a.view("i8") + 1, a.view(np.uint64) >> 3, a.view()[0] * 2), V),
    "view of rows": (lambda a: (a.view("i4") + 1, a.view(dtype="u1")[0, :9], a.view("i8")), R),
    "view of F": (lambda a: (a.view("i8") + 1, a.T.view("c8").real * 2), F),
    "view of complex": (lambda z: (z.view(float) * 2, z[::2].view("c16").real + 1), Z),
    "tobytes": (lambda a: (a * 2).tobytes(), R),
    "tobytes order": (lambda a: ((a + 1).tobytes("F"), a.T.tobytes(order="A")), R),
    "searchsorted": (lambda a, b: (a.searchsorted(b, side="right") + 1, a.searchsorted(0.5)), np.sort(V), W),
    "argpartition": (lambda a: a[a.argpartition(2)[:2]].sum() + 1, V),
    "nonzero": (lambda a: ((a > 0.5).nonzero()[0] + 1, a[a.nonzero()] * 2), R),
    "compress": (lambda a, b: (a.compress(b) * 2, a.compress([True, False, True]) + 1), V, B),
    "choose": (lambda i, a: (i % 2).choose([a, a * 2]) + 1, I, V),
    "s_": (lambda a: (a[np.s_[1:, ::2]] + 1, a[np.index_exp[..., 0]] * 2, a[np.s_[1]] + 3), R),
    "ogrid": (lambda a: (np.ogrid[0:3, 1:9:2], sum(np.ogrid[0:3, 0:4]) + a), R),
    "ogrid by counts": (lambda a: (np.ogrid[0:1:3j, -1:1:4j], np.ogrid[0:2:2j, 0:3], a + 1), R),
    "mgrid of one": (lambda a: (np.mgrid[0:6] + a, np.mgrid[2:9:3], np.ogrid[:3], np.mgrid[0:1:0.5]), V),
    "lists for arrays": (
        lambda a: (np.atleast_1d([1, 2]) + a[:2], np.atleast_2d((1.5, 2)) * 2, np.flip([1, 2]) + 1,
                   np.count_nonzero([1, 0, 2]), np.array_equal(a[:2] > 9, [False, False])),
        V,
    ),
    "cross of vectors": (lambda a: (np.cross(a[0], a[1]), np.cross(a, a[::-1])), M),
}  # fmt: skip


OUT = {
    "reduce": "np.add.reduce(a, axis=0, out=v[:4])",
    "reduce rows": "np.maximum.reduce(a, 1, out=v[:3])",
    "accumulate": "np.add.accumulate(a, axis=1, out=b)",
    "accumulate into itself": "np.multiply.accumulate(v, out=v)",
    "reduceat": "np.add.reduceat(v, [0, 2, 4], out=w[:3])",
    "ufunc outer": "np.multiply.outer(v, w, out=np.empty((6, 6)))",
    "outer": "np.outer(v, w, out=np.empty((6, 6)))",
    "einsum": "np.einsum('ij,ij->i', a, b, out=v[:3])",
    "einsum into an operand": "np.einsum('ij,ij->ij', a, b, out=a)",
    "take": "np.take(a, [2, 0, 1], axis=0, out=b)",
    "take method": "v.take([5, 4], out=w[1:3])",
    "nan_to_num": "np.nan_to_num(a, copy=False, nan=3.0)",
    "nan_to_num of a part": "np.nan_to_num(a[0], copy=False)",
    "nan_to_num of a copy": "np.nan_to_num(a, copy=True)",
    "nansum": "np.nansum(a, axis=0, out=v[:4])",
    "nanmax": "np.nanmax(a, axis=1, out=w[2:5])",
    "nancumsum": "np.nancumsum(a, axis=1, out=b)",
    "trace": "np.trace(a, out=np.empty(()))",
    "choose": "np.array([0, 1, 0]).choose([v[:3], w[:3]], out=b[0, :3])",
    "cumsum dtype": "a.cumsum(axis=1, dtype='f8', out=b)",
}


@pytest.mark.parametrize("name", OUT)
def test_into_an_argument(name):
    scope = {"np": np}
    exec(f"def f(a, b, v, w):\n    x = {OUT[name]}\n    return x, a + 1, v * 2, w + b[0, 0]", scope)
    holes = R.copy()
    holes[1, 2] = np.nan
    check(scope["f"], holes, R.copy(), V.copy(), W.copy())
    check(scope["f"], R.copy(), R + 1, V.copy(), W.copy())


@pytest.mark.parametrize(
    "call",
    [
        "np.add.reduce(a, axis=0, out=v[:3])", "np.add.reduce(a, 0, out=i)", "np.take(a, [0], out=i[:1])",
        "np.add.accumulate(v, out=v[1:])", "np.outer(v, v, out=a)", "np.cumsum(v, dtype='f4', out=v)",
        "np.einsum('ij->i', a, out=i[:3])", "np.nan_to_num(r, copy=False)", "np.take(v, [9], out=v[:1])",
        "np.add.reduce(a, 0, out=a.T[:, 0][:4])", "np.nansum(a, 0, out=a[0])",
    ],
)  # fmt: skip
def test_into_what_does_not_fit(call):
    scope = {"np": np}
    exec(
        "def f(a, v, i, r):\n    b = v * 2\n    try:\n"
        f"        x = {call}\n    except Exception as e:\n        return type(e), str(e), b, a, v, i\n"
        "    return x, b, a, v, i",
        scope,
    )
    frozen = R.copy()
    frozen[0, 0] = np.nan
    frozen.flags.writeable = False
    make = lambda: (R.copy(), V.copy(), np.arange(6), frozen)  # noqa: E731
    compiled = dyntrace.compile(scope["f"])
    for _ in range(3):
        assert repr(compiled(*make())) == repr(scope["f"](*make()))


@pytest.mark.parametrize("name", CASES)
def test_captured(name):
    fn, *args = CASES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fn(*args)
    check(fn, *args)
    found = dyntrace.explain(fn)(*args)
    assert found.breaks == [] and len(found.graphs) >= 1


@pytest.mark.parametrize("name", CASES)
def test_the_arrays_that_come_out(name):
    """Who owns the memory of a result, and which array it is of."""
    fn, *args = CASES[name]
    compiled = dyntrace.compile(fn)
    for _ in range(3):
        expected, got = fn(*args), compiled(*args)
        if not isinstance(expected, tuple):
            expected, got = (expected,), (got,)
        for one, other in zip(expected, got, strict=True):
            if isinstance(one, np.ndarray):
                assert one.flags.owndata == other.flags.owndata
                assert (one.base is None) == (other.base is None)
                assert [one.base is a for a in args] == [other.base is a for a in args]


@pytest.mark.parametrize("name", [n for n in CASES if all(a.ndim == 1 for a in CASES[n][1:])])
def test_other_sizes_and_dtypes(name):
    """Calls that find no entry, or one for any size, and calls that raise."""
    fn, *args = CASES[name]
    compiled = dyntrace.compile(fn)

    def run(call, arguments):
        try:
            result = call(*arguments)
        except Exception as error:
            return type(error), str(error)
        results = result if isinstance(result, tuple) else (result,)
        return [(np.shape(r), np.asarray(r).dtype, np.asarray(r).tobytes()) for r in results]

    for change in (
        lambda a: np.concatenate([a, a]),
        lambda a: a[:5],
        lambda a: a.astype("f4") if a.dtype == float else a,
        lambda a: np.repeat(a, 2)[::2],
        lambda a: a[::-1],
        lambda a: a[:0],
        lambda a: a,
    ):
        changed = [change(a) for a in args]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert run(compiled, changed) == run(fn, changed)


def test_writes_through_views():
    def bits(a):
        b = a * 2
        b.view("i8")[1:] ^= 1
        b.view("u1")[-1] = 0
        return b, b.view("i4").sum()

    def of_argument(a):
        a.view("u4")[::2] += 1
        a += 1
        return a.view("i8")[0]

    def of_parts(z):
        z.view(float)[1::2] = 3
        return z * 2

    check(bits, V)
    check(of_argument, V)
    check(of_parts, Z)


def over_places(a, b):
    for place in np.ndindex(a.shape):
        b[place] = a[place] * 2 + place[0]
    return b, list(np.ndindex(2, 1, 2)), [p for p in np.ndindex()], next(np.ndindex((3,)))


def test_ndindex():
    if hasattr(np.ndindex(1), "_iter"):
        check(over_places, R, np.zeros((3, 4)))
    else:
        check(over_places, R, np.zeros((3, 4)), breaks="array-op")  # an iterator over an array
    compiled = dyntrace.compile(over_places)
    for shape in ((3, 4), (2, 2), (0, 3), (30, 40)):
        a = np.arange(float(np.prod(shape))).reshape(shape)
        expected, got = over_places(a, np.zeros(shape)), compiled(a, np.zeros(shape))
        assert expected[0].tobytes() == got[0].tobytes() and expected[1:] == got[1:]


def test_ndindex_of_no_shape():
    def fn(a, shape):
        try:
            return [a[p] for p in np.ndindex(shape)]
        except (TypeError, ValueError) as error:
            return type(error), str(error)

    for shape in ((-1, 2), -1, 2.5, (2, True)):
        compiled = dyntrace.compile(fn)
        for _ in range(2):
            assert compiled(R, shape) == fn(R, shape)


def test_views_that_are_not_taken():
    check(lambda a: a.view(np.bool_), np.arange(4, dtype="u1"), breaks="array-op")
    check(lambda a: a.view("c16"), V, breaks="array-op")
    check(lambda a: a.view(">f8"), V, breaks="array-op")
    check(lambda a: a.view(np.ndarray), V)
    check(lambda a: a.reshape(4, 3, order="F").base.shape, R, breaks="array-op")
    check(lambda a: a.view("f4"), F, breaks="array-op")


def test_arrays_of_other_sizes_in_a_list():
    def fn(a, b):
        try:
            return np.array([a, b]).shape
        except ValueError as error:
            return str(error)

    check(fn, V, W[:4], breaks="array-shapes")
    check(fn, V, R, breaks="array-op")
    check(lambda a: np.concatenate([a, 3]), V, breaks="array-op")


def test_counts_that_no_array_takes():
    fn = lambda a, i: np.repeat(a, i) + 1  # noqa: E731
    compiled = dyntrace.compile(fn)
    assert compiled(V, I).tobytes() == fn(V, I).tobytes()
    for counts in (I - 1, I[:4], np.array([2]), I.astype("u8")):
        try:
            expected = fn(V, counts)
        except (TypeError, ValueError) as error:
            with pytest.raises(type(error)) as raised:
                compiled(V, counts)
            assert str(raised.value) == str(error)
        else:
            assert compiled(V, counts).tobytes() == expected.tobytes()
