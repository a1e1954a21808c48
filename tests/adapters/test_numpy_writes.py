"""Writing into arrays: every form, over dtypes, layouts, views and arrays that share memory."""

import sys

import numpy as np
import pytest
import test_numpy_table as table
from differential import Compiled, Outcome, check, compare


def arrays_in(value):
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, (tuple, list)):
        return [array for part in value for array in arrays_in(part)]
    return []


def sharing(outcome):
    """Which of the arrays share memory, argument by argument and result by result."""
    arrays = arrays_in([list(outcome.args), outcome.result])
    return [[np.shares_memory(a, b) for b in arrays] for a in arrays]


def same(fn, make, calls=3, **kwargs):
    """`check`, and the same memory is shared."""
    compiled = check(fn, make=lambda: (make(), {}), calls=calls, **kwargs)
    plain = Outcome(fn, make(), {})
    if plain.error is None:
        assert sharing(plain) == sharing(Outcome(compiled, make(), {}))
    return compiled


def ramp(n=8, dtype="d"):
    return np.arange(1, n + 1).astype(dtype)


def grid(dtype="d"):
    return np.arange(12).reshape(3, 4).astype(dtype)


# ---- Forms ----------------------------------------------------------------------------------------

KEYS = [
    "0",
    "-1",
    "1:3",
    "::2",
    "::-1",
    "-2:",
    "...",
    "()",
    ":",
    "None",
    "None, 0",
    "[0, 2]",
    "np.array([1, 0, 1])",
    "x > 5",
    "x[:, 0] > 3 if x.ndim == 2 else x > 2",
    "np.argmax(x) % 3",
]
KEYS_2D = [
    "1, 2",
    "0, :",
    ":, 1",
    "..., -1",
    "1:, ::2",
    "[0, 1], [1, 2]",
    ":, [0, 2]",
    "1:, None, 0",
]
VALUES = ["7", "2.5", "x.sum()", "x[0] * 2", "np.float32(1.5)"]


def assignment(key, value):
    scope = {"np": np}
    exec(f"def f(x):\n    x[{key}] = {value}\n    return x\n", scope)
    return scope["f"]


def fits(fn, array):
    try:
        with np.errstate(all="ignore"):
            fn(array.copy())
    except (ValueError, TypeError, IndexError):
        return False
    return True


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("key", KEYS + KEYS_2D)
def test_assignment(key, value):
    fn = assignment(key, value)
    for dtype in "dfl":
        for array in (
            ramp(4, dtype),
            grid(dtype),
            np.asfortranarray(grid(dtype)),
            grid(dtype)[:, ::-1],
        ):
            if fits(fn, array):
                same(fn, lambda array=array: (array.copy("K"),), calls=2)


OPERATORS = ["+=", "-=", "*=", "/=", "//=", "%=", "**=", "&=", "|=", "^=", "<<=", ">>="]


@pytest.mark.parametrize("op", OPERATORS)
@pytest.mark.parametrize("target", ["x", "x[1:]", "x[:, 1]", "x[::2, ::-1]", "x.T", "x[0, 1]"])
def test_operator(op, target):
    scope = {}
    other = "y" if target == "x" else "3"
    exec(
        f"def f(x, y):\n    {target} {op} {other}\n    return x\n".replace(
            "x.T " + op, "t = x.T; t " + op
        ),
        scope,
    )
    for dtype in "dfilD":
        if op in ("&=", "|=", "^=", "<<=", ">>=") and dtype in "dfD":
            continue
        if op in ("//=", "%=") and dtype == "D":
            continue
        if op == "/=" and dtype in "il" and target != "x[0, 1]":
            check(scope["f"], grid(dtype), grid(dtype) + 1, breaks="raises")
            continue
        same(
            scope["f"],
            lambda dtype=dtype: (grid(dtype), (grid("l") % 3 + 1).astype(dtype)),
            calls=2,
        )


def test_matmul_in_place():
    def f(a, b):
        a @= b
        return a

    same(f, lambda: (np.eye(3) * 2, np.arange(9.0).reshape(3, 3)))


@pytest.mark.parametrize("name", table.UFUNCS)
def test_out(name):
    ufunc = getattr(np, name)
    if ufunc.nout != 1:
        return
    for dtype in "dl":
        x = (ramp(6, dtype),) * ufunc.nin
        try:
            with np.errstate(all="ignore"):
                result = ufunc(*x)
        except TypeError:
            continue

        def f(out, *x):
            got = ufunc(*x, out=out)
            return got is out, got

        def positional(out, *x):
            return ufunc(*x, out)

        def strided(out, *x):
            return ufunc(*x, out=out[::2])

        def masked(out, *x):
            return ufunc(*x, out=out, where=x[0] > 2)

        def itself(x, *more):
            return ufunc(x, *more, out=x)

        same(f, lambda: (np.zeros_like(result), *x), calls=2)
        if name in ("maximum", "minimum"):  # NumPy warns that this is deprecated
            check(positional, np.zeros_like(result), *x, breaks="array-op")
        else:
            same(positional, lambda: (np.zeros_like(result), *x), calls=2)
        same(strided, lambda: (np.zeros(12, result.dtype), *x), calls=2)
        same(masked, lambda: (np.zeros_like(result), *x), calls=2)
        if result.dtype == x[0].dtype:
            same(itself, lambda: (x[0].copy(), *x[1:]), calls=2)


@pytest.mark.parametrize(
    "call",
    [
        "np.sum(x, axis=0, out=row)",
        "np.sum(x, axis=1, out=column)",
        "x.sum(0, out=row)",
        "np.mean(x, axis=0, out=row)",
        "x.std(axis=1, out=column)",
        "np.max(x, axis=1, out=column)",
        "np.any(x > 3, axis=0, out=row > 1)",
        "np.clip(x, 2, 5, out=x)",
        "x.clip(2, 5, out=x)",
        "np.matmul(x, x.T, out=square)",
        "np.dot(x, x.T, out=square)",
        "x.dot(row, out=column)",
        "np.cumsum(x, axis=1, out=x)",
        "np.round(x / 3, 1, out=x)",
        "np.argmax(x, axis=1, out=np.zeros(3, np.intp))",
        "np.concatenate([x, x], out=np.zeros((6, 4)))",
        "np.stack([row, row], out=np.zeros((2, 4)))",
        "np.sum(x, out=None)",
    ],
)
def test_out_of_functions(call):
    scope = {"np": np}
    exec(f"def f(x, row, column, square):\n    got = {call}\n    return got, x.sum()\n", scope)
    same(scope["f"], lambda: (grid(), np.zeros(4), np.zeros(3), np.zeros((3, 3))))


def test_out_of_functions_that_does_not_fit():
    def strided(x, out):
        return np.sum(x, axis=0, out=out[::2])

    check(strided, grid(), np.zeros(8), breaks="array-op")

    def narrow(x, out):
        return np.sum(x, axis=0, out=out)

    check(narrow, grid(), np.zeros(4, "f"), breaks="array-op")
    check(narrow, grid(), np.zeros(5), breaks="array-shapes")


def test_out_of_another_dtype():
    def f(x, y):
        return np.add(x, x, out=y)

    same(f, lambda: (ramp(4, "f"), np.zeros(4, "d")))
    same(f, lambda: (ramp(4, "d"), np.zeros(4, "f")))
    same(f, lambda: (ramp(4, "l"), np.zeros(4, "d")))
    check(f, ramp(4, "d"), np.zeros(4, "l"), breaks="raises")

    def unsafe(x, y):
        return np.add(x, x, out=y, casting="unsafe")

    same(unsafe, lambda: (ramp(4, "d") / 3, np.zeros(4, "l")))


def test_out_is_broadcast_to():
    def f(x, y):
        np.multiply(x, 2, out=y)
        return y

    same(f, lambda: (ramp(4), np.zeros((3, 4))))
    same(f, lambda: (ramp(4)[:1], np.zeros((3, 4))))


def test_functions_that_write():
    calls = [
        "np.copyto(x, y)",
        "np.copyto(x, 3)",
        "np.copyto(x, y, where=y > 3)",
        "np.copyto(x, np.arange(8), casting='same_kind')",
        "np.put(x, [0, 2], [5, 6])",
        "np.put(x, np.array([0, -1]), y)",
        "np.place(x, x > 4, y)",
        "np.putmask(x, y > 4, y * 2)",
        "np.add.at(x, [0, 0, 1], 1)",
        "np.multiply.at(x, np.array([2, 2]), 3.0)",
        "np.maximum.at(x, np.array([2, 2]), y[:2])",
        "x.fill(3)",
        "x.fill(2.5)",
        "x.sort()",
        "x[::-1].sort()",
        "x.sort(kind='stable')",
        "x.partition(3)",
        "x.put([1, 1], [4, 5])",
        "x.T.fill(1)",
        "x.reshape(2, 4)[1].fill(0)",
        "x.ravel().sort()",
        "np.negative(x, out=x)",
        "np.clip(x, 2, 4)",
    ]
    for call in calls:
        scope = {"np": np}
        exec(f"def f(x, y):\n    before = x * 1\n    {call}\n    return before, x\n", scope)
        for dtype in "dfl":
            same(
                scope["f"],
                lambda dtype=dtype: (ramp(8, dtype)[::-1].copy(), ramp(8, dtype)),
                calls=2,
            )


def test_sequences_as_values():
    def f(x, s):
        x[:3] = [1, 2.5, s]
        x[3:5] = (s, 4)
        x[[5, 6]] = [s, 7]
        return x

    same(f, lambda: (ramp(), 3))


# ---- Reading by index arrays ------------------------------------------------------------------------

SELECTIONS = [
    "x[x > 1]",
    "x[x > 1] * 2 + 1",
    "x[x > 1] - x[x > 1]",
    "x[m] - x[m].mean() if (m := x > 1) is not None else 0",
    "x[x > 1].sum(), x[x > 1].mean(), x[x > 1].std(), x[x > 1].max()",
    "x[x > 1].reshape(-1)",
    "x[x > 1][::-1]",
    "x[x > 1][:, None] * 2",
    "np.sort(x[~(x > 3)])",
    "np.cumsum(x[x > 1]).T",
    "np.concatenate([x[x > 1], x[x < 1]])",
    "np.where(x > 1, x, 0)[x > 1]",
    "x[x > 1e9]",
    "x[[0, 2]]",
    "x[[0, -1, 0]] + x[[1, 1, 1]]",
    "x[x.argsort()] if x.ndim == 1 else x[x[:, 0].argsort()]",
    "x[[[0, 1], [1, 2]]]",
    "x[None, [1, 2]]",
    "x[[1, 2], None]",
    "x[np.array([[0], [1]])]",
    "x[np.array([True, False, True])] if len(x) == 3 else x",
    "np.copy(x[np.arange(2)])",
]
SELECTIONS_2D = [
    "x[x[:, 0] > 3]",
    "x[x[:, 0] > 3].sum(axis=1)",
    "x[:, x[0] > 2]",
    "x[x[:, 0] > 3, 1]",
    "x[[0, 2], [1, 3]]",
    "x[:, [0, 2]]",
    "x[1, [0, 2]]",
    "x[[2, 0], 1:]",
    "x[..., [1, 3]]",
    "x[[[0], [2]], [1, 3]]",
    "x[np.arange(3), np.arange(3)]",
    "x[:, [0, 1], None]",
    "x[None, :, [0, 1]]",
    "x[[0, 2]].T @ x[[1, 0]]",
]
SELECTIONS_3D = [
    "x[0, :, [1, 3]]",
    "x[:, 0, [1, 3]]",
    "x[[0, 1], :, [1, 3]]",
    "x[[0, 1], [1, 2]]",
    "x[:, [0, 1], [1, 2]]",
    "x[1:, [[0, 1], [1, 2]], :2]",
    "x[x > 20]",
    "x[x[..., 0] > 20]",
]


@pytest.mark.parametrize("expression", SELECTIONS + SELECTIONS_2D + SELECTIONS_3D)
def test_selection(expression):
    scope = {"np": np}
    exec(f"def f(x):\n    return {expression}, x + 1\n", scope)
    arrays = [ramp(4) / 2, grid() / 2, np.asfortranarray(grid()), np.arange(60.0).reshape(3, 4, 5)]
    if expression in SELECTIONS_2D:
        arrays = arrays[1:3]
    elif expression in SELECTIONS_3D:
        arrays = arrays[3:]
    for array in arrays:
        if fits(scope["f"], array):
            check(scope["f"], array, calls=2)


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_size_of_a_selection_changes(count):
    def f(x, y, limit):
        m = x < limit
        z = x[m]
        w = (z * 2 + 1) / (z + 1)
        difference = x[x < limit] - z
        y[m] = w
        y[x >= limit] -= 1
        return w, z.sum(), w.mean(), z[:, None] * 3, difference

    compiled = Compiled(f)
    for limit in (3.5, count + 0.5, 3.5):
        make = lambda limit=limit: (ramp(6), np.zeros(6), limit)  # noqa: E731
        compare(Outcome(f, make(), {}), Outcome(compiled, make(), {}))
    assert len(compiled.records) == 1


def test_masks_are_not_confused():
    """Two masks that are written alike select differently once the array was written."""

    def f(x):
        m = x > 2
        x += 1
        a = x[m]
        b = x[x > 2]
        return a, b

    check(f, ramp(5))

    def g(x):
        m = x > 2
        a = x[m]
        m[0] = True
        return a, x[m]

    check(g, ramp(5))


@pytest.mark.parametrize(
    "expression",
    [
        "x[x > 1].squeeze()",
        "[v for v in x[x > 1]]",
        "x[x > 1][:, None][0]",
    ],
)
def test_question_about_a_selection(expression):
    scope = {"np": np}
    exec(f"def f(x):\n    return {expression}, x + 1\n", scope)
    check(
        scope["f"], ramp(4), breaks="data-dependent-size"
    )


def test_index_out_of_bounds():
    def f(x, i):
        return x[i] + 1

    compiled = Compiled(f)
    for i in ([0, 1], [0, 7], [-4, 3], [-5, 0]):
        args = ramp(4), np.array(i)
        compare(Outcome(f, args, {}), Outcome(compiled, args, {}))


# ---- Memory that is the trace's own --------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(table.FUNCTIONS))
def test_results_of_functions_are_written(name):
    """A result that is the operand, or a view of it, must be written as such."""
    scope = {"np": np}
    exec(f"def f(x, s, n):\n    y = {table.FUNCTIONS[name]}\n    return y\n", scope)
    probe = scope["f"](table.X.copy(), table.S, table.N)
    if not isinstance(probe, np.ndarray) or not probe.flags.writeable:
        return
    text = "    y[...] = 1\n    z = x + y.sum()\n    y += 2\n    return x, y, z\n"
    exec(f"def f(x, s, n):\n    y = {table.FUNCTIONS[name]}\n{text}", scope)
    for array in (table.X, table.I, np.asfortranarray(table.X), table.X[:, ::2].repeat(2, 1)):
        compiled = Compiled(scope["f"])
        for _ in range(3):
            args = (array.copy("K"), table.S, table.N)
            plain = Outcome(scope["f"], (array.copy("K"), table.S, table.N), {})
            outcome = Outcome(compiled, args, {})
            compare(plain, outcome)
            assert sharing(plain) == sharing(outcome)


@pytest.mark.parametrize("name", sorted(table.METHODS))
def test_results_of_methods_are_written(name):
    scope = {"np": np}
    text = "    y[...] = 1\n    z = x + y.sum()\n    y *= 2\n    return x, y, z\n"
    exec(f"def probe(x, s, n):\n    return {table.METHODS[name]}\n", scope)
    exec(f"def f(x, s, n):\n    y = {table.METHODS[name]}\n{text}", scope)
    probe = scope["probe"](table.X.copy(), table.S, table.N)
    if not isinstance(probe, np.ndarray) or not probe.flags.writeable:
        return
    for array in (table.X, table.I, np.asfortranarray(table.X)):
        compiled = Compiled(scope["f"])
        for _ in range(3):
            plain = Outcome(scope["f"], (array.copy("K"), table.S, table.N), {})
            outcome = Outcome(compiled, (array.copy("K"), table.S, table.N), {})
            compare(plain, outcome)
            assert sharing(plain) == sharing(outcome)


# ---- Shared memory -------------------------------------------------------------------------------


def shift(a, b):
    a[:] = b + 1
    a[0] = b[-1] * 2
    return a.sum(), b


def accumulate(a, b):
    a += b
    b -= a
    a *= b
    return a, b


def swap(a, b):
    a[:], b[:] = b.copy(), a.copy()


def swap_views(a, b):
    a[:], b[:] = b, a


def in_turns(a, b):
    total = a.sum()
    a[1:] = b[:-1]
    total = total + b.sum()
    b[::2] = a[::2] * total
    return total


def through_out(a, b):
    np.add(a, b, out=b)
    np.exp(b / 100, out=a)
    return np.subtract(a, b, out=a)


@pytest.mark.parametrize("fn", [shift, accumulate, swap, swap_views, in_turns, through_out])
@pytest.mark.parametrize(
    "pair",
    {
        "apart": lambda x: (x[:6], x[6:12]),
        "same": lambda x: (x, x),
        "views": lambda x: (x[:8], x[:8]),
        "overlap": lambda x: (x[1:], x[:-1]),
        "overlap back": lambda x: (x[:-1], x[1:]),
        "reversed": lambda x: (x, x[::-1]),
        "interleaved": lambda x: (x[::2], x[1::2]),
    }.items(),
    ids=lambda item: item[0],
)
def test_arguments_that_share_memory(fn, pair):
    """Traced with arrays that share nothing, called with arrays that do, and the other way round."""
    apart = lambda: (ramp(12), ramp(12)[::-1].copy())  # noqa: E731
    shared = lambda: pair[1](ramp(12))  # noqa: E731
    for first, second in ((apart, shared), (shared, apart)):
        compiled = Compiled(fn)
        for make in (first, first, second, second, first):
            plain, outcome = Outcome(fn, make(), {}), Outcome(compiled, make(), {})
            compare(plain, outcome)
            assert sharing(plain) == sharing(outcome)


# ---- Errors leave what NumPy leaves ----------------------------------------------------------------


def divides_after(x, y):
    x[0] = 5.0
    x[1:3] += 1
    return x / y


def raises_after(x, i):
    x[0] = 5.0
    x[1] = x[i]
    return x


def masked_count(x, y):
    x[:2] = 0.0
    x[x > 3] = y
    return x


def casts(x, y):
    x[1] = 4
    x[...] = y


def broadcasting(x, y):
    x[0] = 1
    x[2:] = y


@pytest.mark.parametrize("mode", ["ignore", "warn", "raise"])
@pytest.mark.parametrize(
    ("fn", "good", "bad"),
    [
        (divides_after, lambda: (ramp(), ramp()), lambda: (ramp(), ramp() - 3)),
        (divides_after, lambda: (ramp(), ramp()), lambda: (ramp() * 1e307, ramp() * 1e-10)),
        (raises_after, lambda: (ramp(), np.int64(3)), lambda: (ramp(), np.int64(30))),
        (masked_count, lambda: (ramp(), ramp(5)), lambda: (ramp(), ramp(3))),
        (casts, lambda: (ramp(4, "l"), ramp(4)), lambda: (ramp(4, "l"), ramp(4) * np.nan)),
        (casts, lambda: (ramp(4, "f"), ramp(4)), lambda: (ramp(4, "f"), ramp(4) * 1e300)),
        (broadcasting, lambda: (ramp(), ramp(6)), lambda: (ramp(), ramp(5))),
    ],
)
def test_error_half_way(fn, good, bad, mode):
    with np.errstate(all=mode):
        for makes in ((good, bad, good, bad), (bad, good, bad)):
            compiled = Compiled(fn)
            for make in makes:
                plain, outcome = Outcome(fn, make(), {}), Outcome(compiled, make(), {})
                compare(plain, outcome)


def read_only(x):
    x = x.copy()
    x.flags.writeable = False
    return x


@pytest.mark.parametrize(
    "fn",
    [
        assignment("0", "1.0"),
        assignment("x > 2", "1.0"),
        lambda x: np.add(x, 1, out=x),
        lambda x: x.fill(1),
        lambda x: x.sort(),
        lambda x: np.copyto(x, 1.0),
    ],
)
def test_read_only(fn):
    for makes in ((ramp, lambda: read_only(ramp())), (lambda: read_only(ramp()), ramp)):
        compiled = Compiled(fn)
        for make in makes * 2:
            compare(Outcome(fn, (make(),), {}), Outcome(compiled, (make(),), {}))


def test_broadcast_result_is_read_only():
    def f(x):
        y = np.broadcast_to(x, (3, 4))
        y[0] = 1

    check(f, ramp(4), breaks="raises")


def test_write_on_broadcast_arrays_warns():
    def f(x):
        x[0] = 5.0
        return x

    compiled = Compiled(f)
    for _ in range(3):
        compare(Outcome(f, (ramp(4),), {}), Outcome(compiled, (ramp(4),), {}))
        make = lambda: (np.broadcast_arrays(ramp(4), np.ones((2, 4)))[1],)  # noqa: E731
        compare(Outcome(f, make(), {}), Outcome(compiled, make(), {}))


def test_items_at_one_address():
    def f(x):
        x += 1
        x[1:] = x[:-1] * 2
        return x

    compiled = Compiled(f)
    make = lambda: np.lib.stride_tricks.as_strided(ramp(12), (3, 4), (16, 8))  # noqa: E731
    for _ in range(3):
        compare(Outcome(f, (make(),), {}), Outcome(compiled, (make(),), {}))


@pytest.mark.parametrize("backend", ["native", "eager"])
def test_interrupted_run_is_taken_back(backend):
    """What was saved is put back for every form of write, so that the second run starts afresh."""

    def f(x, y, z):
        x[1:3] = 7
        x[y] += 1
        x[x > 5] = 2
        x.sort()
        np.add.at(x, y, 1)
        x[0] = x.sum()
        x *= 2
        return x / z

    for divisor in (1.0, 0.0):
        make = lambda d=divisor: (ramp(), np.array([3, 3, 0]), np.full(8, d))  # noqa: E731
        with np.errstate(all="raise"):
            same(f, make, backend=backend)


def test_nothing_is_kept():
    def f(x):
        x[1:] = x[:-1]
        x += 1
        return x / 2

    compiled = Compiled(f)
    for _ in range(3):
        x = ramp()
        before = sys.getrefcount(x)
        compiled(x)
        assert sys.getrefcount(x) == before


@pytest.mark.parametrize("n", [4, 5000, 200_000])
@pytest.mark.parametrize("order", ["C", "F"])
def test_results_made_in_place(n, order):
    """Several blocks, with an error in the last one, in each of several arrays."""

    def f(w, v, g, out):
        v *= 0.9
        v += g
        w -= 0.1 * v
        np.multiply(w, v, out=out)
        out += 1.0
        return w / (out + g), out is not v

    def make(last):
        def arguments():
            g = np.linspace(1, 2, n).reshape((2, -1), order=order)
            w, v = g * 2, g * 3
            g[-1, -1] = last
            v[-1, -1] = last
            return w, v, g, np.zeros_like(g)

        return arguments

    good, bad = make(1.0), make(1.5e308)
    for mode in ("warn", "raise"):
        with np.errstate(all=mode):
            compiled = Compiled(f)
            for arguments in (good, good, bad, good):
                plain, outcome = Outcome(f, arguments(), {}), Outcome(compiled, arguments(), {})
                compare(plain, outcome)
                assert sharing(plain) == sharing(outcome)
            if n == 4:
                assert not compiled.breaks, compiled.describe()


def test_own_arrays_are_filled_in_place():
    def f(x, n):
        t = np.empty_like(x)
        u = np.zeros(n)
        np.multiply(x, 2, out=t)
        np.add(t, 1, out=u)
        v = u
        v -= t
        t[...] = v * 3
        return t, u, v is u

    same(f, lambda: (ramp(2000), 2000))


def test_overwritten_before_it_is_read():
    def f(x, y):
        x[...] = 1.0
        x[...] = y * 2
        x[:2] = 0.0
        x[:2] = y[2:4]
        y[:] = x[::-1]
        y[:] = 7.0
        x[1:] = y[:-1]
        y[:] = x
        return x

    compiled = same(f, lambda: (ramp(), ramp() + 1))
    text = compiled.records[-1]["stages"]
    assert text.count("setitem") < 8, text
    for make in (lambda x: (x[:8], x[1:9]), lambda x: (x[1:9], x[:8]), lambda x: (x[:8], x[7::-1])):
        made = lambda make=make: make(ramp(12))  # noqa: E731
        compare(Outcome(f, made(), {}), Outcome(compiled, made(), {}))


def test_written_behind_what_reads_the_array_that_it_writes():
    """What sorts, or adds in place, has seen the item that is written again afterwards."""

    def sorted_in_turns(a):
        for i in range(4):
            a.sort()
            a[0] = i
        return a

    def added_in_turns(a):
        for i in range(4):
            a[0] = i
            a[1:] += a[:-1]
            np.add(a, 1.0, out=a)
        return a

    def swapped_in_turns(a):
        for i in range(4):
            a[0] = i
            np.copyto(a[1:3], a[0:2])
            a.partition(2)
        return a

    for f in (sorted_in_turns, added_in_turns, swapped_in_turns):
        for make in (lambda: np.array([-1.0, 2.0, 2.0, 1.0]), lambda: -ramp(5)[::-1], lambda: -ramp(2000)):
            same(f, lambda make=make: (make(),))
