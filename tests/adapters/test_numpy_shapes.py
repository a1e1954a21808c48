"""Indexing, views, reshaping, joining, creation, selection and products of NumPy arrays."""

import numpy as np
import pytest
from differential import Compiled, Outcome, check, check_calls, compare


def grid(*shape, dtype="d"):
    shape = shape or (4, 5, 6)
    return np.arange(np.prod(shape)).reshape(shape).astype(dtype)


INDICES = [
    "0",
    "-1",
    "2, 3",
    "-1, -2, -3",
    "1:",
    ":2",
    "1:3",
    "-3:-1",
    "::2",
    "1::2",
    "::-1",
    "::-2",
    "3:0:-1",
    "-1:-4:-1",
    "10:",
    ":100",
    "5:2",
    "-100:2",
    "1:1",
    "...",
    "..., 0",
    "0, ...",
    "..., 1:, 0",
    "None",
    "None, 0",
    ":, None",
    "0, None, 1",
    "..., None",
    ":, 1",
    "1:, ::2, -1",
    ":, :, :",
    "0, 0, 0",
    "0, 0, 0, ...",
    "1:2",
    "1:2, 0:1, 3:",
    "()",
    ":, 1:-1",
    "1:-1, 1:-1",
    ":-1, 1:",
    "::3, ::-2, 1",
]


@pytest.mark.parametrize("index", INDICES)
def test_index(index):
    namespace = {}
    exec(f"def f(x):\n    return x[{index}], x[{index}] * 2\n", namespace)
    f = namespace["f"]
    check(f, grid())
    check(f, make=lambda: ((np.asfortranarray(grid()),), {}))
    check(f, make=lambda: ((grid(8, 5, 6)[::2],), {}))
    check(f, grid(dtype=">f4"))


def test_index_with_numbers_of_the_caller():
    def f(x, i, j):
        return x[i] + x[j], x[i:], x[:j], x[i:j] * 2

    compiled = Compiled(f)
    x = grid(9, 3)
    for i, j in ((0, 5), (2, 7), (1, 3), (-1, 4), (-3, -1), (5, 2), (20, 2)):
        compare(Outcome(f, (x, i, j), {}), Outcome(compiled, (x, i, j), {}))


def test_stencil_needs_no_recompile():
    def f(x):
        return (x[1:] - x[:-1]) / 2, x[2:] - 2 * x[1:-1] + x[:-2], x[::2]

    compiled = Compiled(f)
    for n in (6, 7, 20, 1001):
        x = np.linspace(0, 1, n) ** 2
        compare(Outcome(f, (x,), {}), Outcome(compiled, (x,), {}))
    assert compiled.published == 1
    for n in (2, 3, 4, 5):
        x = np.linspace(0, 1, n) ** 2
        compare(Outcome(f, (x,), {}), Outcome(compiled, (x,), {}))


def test_equal_sizes_are_computed_together():
    """Sizes that must be equal are written alike: what they belong to is one stage."""

    def step(a, b, c):
        d = a[1:] - a[:-1]
        e = d * b + 1.0
        return e[2:] * c, d.shape, b.shape[0], c.shape[0] + 1

    calls = [
        (grid(9), grid(8), grid(6)),
        (grid(14), grid(13), grid(11)),
        (grid(9), grid(9), grid(6)),
        (grid(9), grid(1), grid(6)),
        (grid(9), grid(8), grid(1)),
        (grid(2), grid(1), grid(1)),
    ]
    compiled = check_calls(step, *calls, whole=False)
    # The views are among its ops, but take no step.
    assert "fused   5 ops, 3 steps" in compiled.records[0]["stages"], compiled.describe()


def test_views_are_views():
    def f(x):
        return x[1:], x.T, x.reshape(-1), x[0], x.ravel(), x.swapaxes(0, 1), x[None]

    x = grid()
    compiled = Compiled(f)
    for _ in range(3):
        for part in compiled(x):
            assert np.shares_memory(part, x)


def test_index_errors_are_numpys():
    def f(x, i):
        return x[i]

    compiled = Compiled(f)
    for i in (0, 1, 9, -9, 2, (0, 1), (0, 1, 2, 3), 1.5):
        compare(Outcome(f, (grid(), i), {}), Outcome(compiled, (grid(), i), {}))


def test_integer_arrays():
    def f(x, i):
        return x[i], x[i] * 2

    i = np.array([3, 0, 0, 1])
    check(f, grid(), i)
    check(f, grid(4), i.reshape(2, 2))
    check(f, grid(4), np.int64(2))

    def mask(x):
        return x[x > 2]

    check(mask, grid())


def test_len_and_iteration():
    def f(x):
        a, b, c = x
        total = 0
        for row in x:
            total = total + row
        return len(x), a, b + c, total, [row[0] for row in x]

    check(f, grid(3, 4))

    def g(x):
        return [v * 2 for v in x]

    check(g, grid(1000), breaks="unroll-limit")


RESHAPES = [
    "(20, 6)",
    "(-1,)",
    "-1",
    "20, 6",
    "2, -1, 6",
    "(4, 5, 6)",
    "4, 5, 3, 2",
    "(120, 1)",
    "1, -1",
    "-1, 6",
    "(x.shape[0], -1)",
    "x.shape[0] * x.shape[1], x.shape[2]",
    "[6, 20]",
    "(x.size,)",
]


@pytest.mark.parametrize("shape", RESHAPES)
def test_reshape(shape):
    namespace = {"np": np}
    exec(f"def f(x):\n    return x.reshape({shape}), x.reshape({shape}) + 1\n", namespace)
    check(namespace["f"], grid())
    check(namespace["f"], make=lambda: ((np.asfortranarray(grid()),), {}))
    check(namespace["f"], make=lambda: ((grid(8, 5, 6)[::2],), {}))


def test_reshape_keeps_sizes_symbolic():
    def f(x):
        return (
            x.reshape(x.shape[0], -1) + 1,
            x.reshape(-1) * 2,
            np.reshape(x, (-1, x.shape[2])).sum(axis=0),
        )

    compiled = Compiled(f)
    for shape in ((4, 5, 6), (3, 4, 5), (10, 2, 3)):
        compare(Outcome(f, (grid(*shape),), {}), Outcome(compiled, (grid(*shape),), {}))
    assert compiled.published == 1


def test_reshape_errors():
    def f(x):
        return x.reshape(7, -1)

    check(f, grid(), breaks="array-shapes")

    def g(x):
        return x.reshape(7, 7)

    check(g, grid(), breaks="array-shapes")


def test_transpose_and_friends():
    def f(x):
        return (
            x.T,
            x.transpose(),
            x.transpose(1, 0, 2),
            x.transpose((2, 0, 1)),
            np.transpose(x, (0, 2, 1)),
            x.swapaxes(0, 2),
            np.swapaxes(x, 1, -1),
            np.moveaxis(x, 0, -1),
            np.moveaxis(x, 2, 0),
            x.T.T,
        )

    check(f, grid())
    check(f, make=lambda: ((grid().T,), {}))

    def g(x):
        return x.T * 2 + 1, x.transpose(1, 0, 2).sum(axis=0), np.exp(x.T / 100)

    check(g, grid())


def test_more_and_fewer_axes():
    def f(x):
        return (
            np.expand_dims(x, 0),
            np.expand_dims(x, -1),
            x[:, None],
            np.squeeze(x[:1]),
            x[:1].squeeze(0),
            x.squeeze(),
            np.squeeze(x[:1, :1]) + 1,
            x.ravel() * 2,
            np.ravel(x),
            x.flatten(),
            x.copy() * 3,
            np.broadcast_to(x, (2, 4, 5)),
            np.broadcast_to(x[0], (3, 5)) + 1,
        )

    check(f, grid(4, 5))
    check(f, make=lambda: ((grid(5, 4).T,), {}))


def test_attributes():
    def f(x):
        return (
            x.shape,
            x.ndim,
            x.size,
            x.itemsize,
            x.nbytes,
            len(x),
            x.dtype,
            np.shape(x),
            np.size(x),
            np.ndim(x),
        )

    def captured(x):
        return f(x), x + x.shape[0]

    check(captured, grid())
    check(captured, grid(3, dtype="f"))

    def rows(x):
        n, m = x.shape
        return x / (n * m - 1)

    compiled = Compiled(rows)
    for shape in ((3, 4), (5, 6)):
        compare(Outcome(rows, (grid(*shape),), {}), Outcome(compiled, (grid(*shape),), {}))
    assert compiled.published == 1


def test_real_and_imag():
    def f(x):
        return x.real, x.imag * 2, np.real(x) + 1, x.conj(), np.conjugate(x)

    check(f, grid() * (1 + 2j))
    check(f, np.complex128(1 + 2j))

    def g(x):
        return x.real * 2, x.conj() + 1, x.real is x

    check(g, grid())


def test_unknown_attribute_and_method():
    def f(x):
        return x.shapes

    check(f, grid(), breaks="raises")

    def g(x):
        return x.byteswap()

    check(g, grid(), breaks="array-op")

    def h(x):
        return x.base

    check(h, grid(), breaks="array-op")


JOINS = [
    "np.concatenate([x, y])",
    "np.concatenate((x, y), axis=1)",
    "np.concatenate([x, y, x], -1)",
    "np.stack([x, y])",
    "np.stack((x, y), axis=1)",
    "np.stack([x, y], -1)",
    "np.concatenate([x])",
]


@pytest.mark.parametrize("call", JOINS)
def test_joins(call):
    namespace = {"np": np}
    exec(f"def f(x, y):\n    return {call}, {call} * 2\n", namespace)
    f = namespace["f"]
    check(f, grid(3, 3), grid(3, 3))
    check(f, grid(3, 3), grid(3, 3, dtype="f"))
    check(f, grid(3, 3, dtype="i"), grid(3, 3, dtype="b"))
    check(f, make=lambda: ((grid(3, 3).T, grid(3, 3)), {}))


def test_joins_with_symbolic_sizes():
    def f(x, y):
        return np.concatenate([x, y]) + 1, np.stack([x[:2], y[:2]])

    compiled = Compiled(f)
    for n, m in ((3, 4), (5, 9), (8, 8)):
        args = (grid(n), grid(m))
        compare(Outcome(f, args, {}), Outcome(compiled, args, {}))
    assert compiled.published == 1

    def wrong(x, y):
        return np.concatenate([x, y], axis=1)

    check(wrong, grid(3, 3), grid(4, 3), breaks="array-shapes")


CREATIONS = [
    "np.zeros(3)",
    "np.zeros((2, n))",
    "np.ones(n, dtype='f4')",
    "np.ones(x.shape, x.dtype)",
    "np.zeros(())",
    "np.full((2, 3), 7)",
    "np.full(n, 1.5)",
    "np.full(3, k)",
    "np.full(3, k, dtype=np.float32)",
    "np.zeros_like(x)",
    "np.ones_like(x)",
    "np.full_like(x, 3)",
    "np.zeros_like(x, dtype=int)",
    "np.full_like(x, k)",
    "np.arange(5)",
    "np.arange(n)",
    "np.arange(1, n)",
    "np.arange(n, 0, -2)",
    "np.arange(0, 1, 0.1)",
    "np.arange(3.0)",
    "np.arange(0)",
    "np.arange(5, 2)",
    "np.arange(4, dtype='f4')",
    "np.linspace(0, 1, 5)",
    "np.linspace(0.5, k, 7)",
    "np.linspace(0, 1, 5, endpoint=False)",
    "np.eye(3)",
    "np.eye(2, 3)",
    "np.eye(n)",
    "np.eye(3, k=1, dtype=int)",
    "np.array([1, 2, 3])",
    "np.array([1.0, k, 3])",
    "np.array([[1, 2], [3, 4]])",
    "np.array([1, 2.5])",
    "np.array([1, 2], dtype='f4')",
    "np.array((n, 2))",
    "np.asarray([k, k])",
    "np.array(x)",
    "np.array(x, dtype='f4')",
    "np.copy(x)",
    "np.asarray(x, dtype='f4')",
    "np.array([x.sum(), x.max()])",
    "np.ascontiguousarray(x.T)",
    "np.array(3)",
    "np.array(k)",
]


@pytest.mark.parametrize("call", CREATIONS)
def test_creation(call):
    namespace = {"np": np}
    exec(f"def f(x, n, k):\n    y = {call}\n    return y, y * 2, x + 1\n", namespace)
    f = namespace["f"]
    check(f, grid(3, 4), 6, 2.5)
    check(f, make=lambda: ((np.asfortranarray(grid(3, 4)), 6, 2.5), {}))


def test_creation_makes_new_arrays():
    def f(x):
        return np.zeros(3) + x, np.zeros(3), np.empty_like(x).shape, np.empty((2, 3)).shape

    compiled = Compiled(f)
    x = np.ones(3)
    first = compiled(x)[1]
    first[:] = 5
    assert (compiled(x)[1] == 0).all()


def test_asarray_is_the_array():
    def f(x):
        return (
            np.asarray(x),
            np.asarray(x, x.dtype),
            np.asanyarray(x),
            np.ascontiguousarray(x),
            x + 1,
        )

    x = grid()
    for result in (Compiled(f)(x), f(x)):
        assert all(part is x for part in result[:4])


def test_where():
    def f(x, y, k):
        return (
            np.where(x > 3, x, y),
            np.where(x > y, 1.0, 0.0),
            np.where(x > 3, x, 0),
            np.where(x > 3, k, x),
            np.where(x, x, y),
            np.where(x[0] > 1, x, y),
            np.where(x > 3, 1, 2),
            np.where(x.sum() > 1, x, y),
        )

    for a, b in ["dd", "ff", "df", "il", "bB", "D?"]:
        if "D" in a:
            continue
        check(f, grid(3, 4, dtype=a), grid(3, 4, dtype=b), 2)
    check(f, make=lambda: ((np.asfortranarray(grid(3, 4)), grid(3, 4), 2.5), {}))

    def one(x):
        return np.where(x > 1)

    check(one, grid())


CLIPS = [
    "x.clip(1, 5)",
    "np.clip(x, 1, 5)",
    "np.clip(x, None, 5)",
    "np.clip(x, 2, None)",
    "x.clip(min=2)",
    "x.clip(max=3)",
    "np.clip(x, 0.5, 2.5)",
    "np.clip(x, k, 5)",
    "np.clip(x, y, 5)",
    "x.clip(y, y + 2)",
    "np.clip(x, -1000, 5)",
    "np.clip(x, 0, 100000)",
    "np.clip(x, a_min=1, a_max=3)",
    "np.clip(x, -1, 300)",
]


@pytest.mark.parametrize("call", CLIPS)
def test_clip(call):
    namespace = {"np": np}
    exec(f"def f(x, y, k):\n    return {call}\n", namespace)
    f = namespace["f"]
    for dtype in "bBilfd":
        args = (grid(3, 4, dtype=dtype), np.full((3, 4), 2, dtype), 2)
        plain = Outcome(f, args, {})
        if plain.error is not None:
            compare(plain, Outcome(Compiled(f), args, {}))
        else:
            check(f, *args, calls=2)


def test_clip_of_floats():
    def f(x):
        return np.clip(x, 0.0, 1.0), x.clip(0, 1)

    check(f, np.array([np.nan, -1.0, 0.5, 2.0, -0.0, np.inf]))
    check(f, np.float64(3.5))


@pytest.mark.parametrize("target", ["f4", "f8", "i4", "u1", "?", "c16", "f2"])
def test_astype(target):
    def f(x):
        return x.astype(target), x.astype(target) + 1, x.astype(np.dtype(target), copy=False)

    for dtype in "?bilfde":
        check(f, grid(3, 4, dtype=dtype))
    check(f, make=lambda: ((np.asfortranarray(grid(3, 4)),), {}))
    check(f, make=lambda: ((grid(3, 8)[:, ::-2],), {}))

    def same(x):
        return x.astype(x.dtype, copy=False) is x

    check(same, grid())


def test_astype_warns_like_numpy():
    def f(x):
        return x.astype("i4"), x.astype("f4")

    check(f, np.array([np.nan, 1e300, 2.0]))

    def imaginary(x):
        return x.astype("f8")

    check(imaginary, grid() * 1j, breaks="array-op")


@pytest.mark.parametrize("shape", [(1,), (1, 1), (1, 3)])
def test_float64_of_few_items(shape):
    """NumPy 2.2 and older make a number of one item, with a warning."""

    def f(x):
        y = x * 2
        return np.float64(y) + 3

    compiled = check_calls(
        f, (grid(*shape),), (grid(*shape, dtype="f"),), (grid(3, 4),), whole=False
    )
    assert compiled.breaks == ([] if shape == (1, 3) else ["array-op"] * 2)


def test_scalar_types_as_functions():
    def f(x, k, n):
        return (
            np.float32(k) * x,
            np.int64(n) + x,
            np.float64(x),
            np.float32(x.sum()),
            np.float32(2) * k,
            np.bool_(True),
        )

    check(f, grid(3, dtype="f"), 2.5, 3)
    check(f, grid(3), 2.5, 3)


PRODUCTS = [
    ((3, 4), (4, 5)),
    ((3, 4), (4,)),
    ((4,), (4, 5)),
    ((4,), (4,)),
    ((2, 3, 4), (4, 5)),
    ((2, 3, 4), (2, 4, 5)),
    ((1, 3, 4), (6, 4, 2)),
    ((2, 3, 4), (4,)),
    ((5, 2, 3, 4), (2, 4, 6)),
]


@pytest.mark.parametrize("left, right", PRODUCTS)
def test_matmul(left, right):
    def f(x, y):
        return x @ y, np.matmul(x, y) + 1

    check(f, grid(*left), grid(*right))
    check(f, grid(*left, dtype="f"), grid(*right))
    check(f, grid(*left, dtype="i"), grid(*right, dtype="i"))
    check(f, make=lambda: ((np.asfortranarray(grid(*left)), np.asfortranarray(grid(*right))), {}))


@pytest.mark.parametrize("left, right", PRODUCTS[:5] + [((2, 3, 4), (5, 4, 6))])
def test_dot(left, right):
    def f(x, y):
        return np.dot(x, y), x.dot(y) * 2

    check(f, grid(*left), grid(*right))
    check(f, make=lambda: ((np.asfortranarray(grid(*left)), np.asfortranarray(grid(*right))), {}))


def test_product_sizes():
    def f(x, y):
        return x @ y

    compiled = Compiled(f)
    for n, k, m in ((3, 4, 5), (7, 2, 3), (10, 10, 10)):
        args = (grid(n, k), grid(k, m))
        compare(Outcome(f, args, {}), Outcome(compiled, args, {}))
    assert compiled.published == 1
    check(f, grid(3, 4), grid(3, 4), breaks="array-shapes")
    check(f, grid(3, 4), 2.0, breaks="array-op")


def test_guard_texts():
    def f(x, y):
        return x + y

    compiled = Compiled(f)
    compiled(grid(3, 1), np.float32(2))
    text = str([r["guards"] for r in compiled.records if "guards" in r])
    if text != "[]":
        assert "an ndarray of float64, shape (>=2, 1), contiguous" in text
        assert "a numpy.float32" in text


@pytest.mark.parametrize("decimals", [0, 1, 2, 8, -1, -2])
def test_round(decimals):
    def f(x):
        return x.round(decimals), np.round(x, decimals) + 1

    for dtype in "dfe":
        if abs(decimals) < 5 or dtype == "d":
            check(f, (grid(3, 4) * 7.3).astype(dtype))
    check(f, np.float64(12.3456))
    check(f, np.array([np.nan, np.inf, -0.4, 0.5, 1.5]))
    check(f, make=lambda: ((np.asfortranarray(grid(3, 4) / 7),), {}))
    check(f, make=lambda: ((grid(3, 4, 5).transpose(1, 0, 2),), {}), breaks="array-op")
    check(f, grid(3, dtype="i"), breaks="array-op")
