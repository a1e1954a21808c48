"""Ufuncs and operators of NumPy arrays: every one, over dtypes, promotion, broadcasting and layouts."""

import operator
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
from differential import Compiled, Outcome, check, check_calls, compare  # noqa: E402

UFUNCS = sorted({f.__name__ for f in vars(np).values() if isinstance(f, np.ufunc)})
UNARY = [name for name in UFUNCS if getattr(np, name).nin == 1]
BINARY = [
    name for name in UFUNCS if getattr(np, name).nin == 2 and getattr(np, name).signature is None
]
# Wrapped so that the name of the traced global is the ufunc itself.
OPERATORS = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.floordiv,
    operator.mod,
    operator.pow,
    operator.and_,
    operator.or_,
    operator.xor,
    operator.lshift,
    operator.rshift,
    operator.lt,
    operator.le,
    operator.eq,
    operator.ne,
    operator.gt,
    operator.ge,
]


def values(dtype, n=5, seed=0):
    """Small numbers of every sign that the dtype has, zeros among them."""
    rng = np.random.default_rng(seed)
    numbers = rng.integers(-4, 5, n)
    if dtype in "BHILQ":
        numbers = abs(numbers)
    array = numbers.astype(dtype)
    if dtype in "efdgFDG":
        array = (array / np.array(3, array.real.dtype)).astype(dtype)
    if dtype in "FDG":
        array = (array + array[::-1] * np.array(1j, dtype)).astype(dtype)
    return array


def captured(fn, *args):
    """Runs both ways; the frame may break only where plain NumPy raises."""
    plain = Outcome(fn, args, {})
    if isinstance(plain.error, TypeError):
        return check(fn, *args, breaks="raises", calls=2)
    return check(fn, *args, calls=2)


def quiet(fn, *args):
    with np.errstate(all="ignore"):
        return captured(fn, *args)


@pytest.mark.parametrize("name", UNARY)
def test_unary_ufunc(name):
    ufunc = getattr(np, name)
    for dtype in "?bBilQefdFD":

        def f(x):
            return ufunc(x)

        quiet(f, values(dtype))


@pytest.mark.parametrize("name", BINARY)
def test_binary_ufunc(name):
    ufunc = getattr(np, name)

    def f(x, y):
        return ufunc(x, y)

    for dtype in "?bBilefdFD":
        right = values(dtype, seed=1)
        if name in ("left_shift", "right_shift", "power"):
            right = abs(right).astype(dtype)
        quiet(f, values(dtype), right)


@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.__name__)
def test_operator_promotion(op):
    source = "def f(x, y):\n    return op(x, y)\n"
    namespace = {"op": op}
    exec(source, namespace)
    f = namespace["f"]
    for left, right in ["dd", "df", "ff", "bB", "il", "Qd", "?d", "?b", "FD", "dF", "ed", "hH"]:
        if op in (operator.mod, operator.floordiv) and {left, right} & set("FD"):
            continue
        y = values(right, seed=1)
        if op in (operator.pow, operator.lshift, operator.rshift):
            y = abs(y).astype(right)
        quiet(f, values(left), y)


NUMBERS = [2, -1, 0, 3.5, True, 1 + 2j]


@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.__name__)
@pytest.mark.parametrize("number", NUMBERS, ids=repr)
def test_python_number(op, number):
    def f(x, s):
        return op(x, s)

    def g(x, s):
        return op(s, x)

    def h(x):
        return op(x, number)

    for dtype in "biBefdF?":
        x = values(dtype)
        for fn, args in ((f, (x, number)), (g, (x, number)), (h, (x,))):
            plain = Outcome(fn, args, {})
            with np.errstate(all="ignore"):
                if plain.error is not None or (number == -1 and dtype == "B"):
                    compare(Outcome(fn, args, {}), Outcome(Compiled(fn), args, {}))
                else:
                    check(fn, *args, calls=2)


@pytest.mark.parametrize(
    "exponent", [2, 2.0, 0.5, -1, -1.0, 0, 0.0, 1, 1.0, 3, 2.5, True, 10**30, 1e300]
)
def test_power(exponent):
    def f(x):
        return x**exponent

    def g(x):
        x = x + x
        x **= exponent
        return x

    for dtype in "?bBilefdFD":
        for fn in (f, g):
            args = (values(dtype),)
            with np.errstate(all="ignore"):
                plain = Outcome(fn, args, {})
                widens = fn is g and isinstance(exponent, float) and dtype in "?bBil"
                if plain.error is not None or exponent == 10**30 or widens:
                    compare(plain, Outcome(Compiled(fn), args, {}))
                else:
                    check(fn, *args, calls=2)


def test_power_is_specialised():
    def f(x, p):
        return x**p

    compiled = Compiled(f)
    x = np.arange(1.0, 6.0)
    for p in (2, 3, 2, 0.5, 2.0):
        compare(Outcome(f, (x, p), {}), Outcome(compiled, (x, p), {}))
    targets = [[n.target for n in r["graph"].nodes if n.op == "call"] for r in compiled.records]
    assert targets[:2] == [["numpy.square"], ["numpy.power"]]
    assert targets[2] == ["numpy.sqrt"]


@pytest.mark.parametrize(
    "op", [operator.neg, operator.pos, operator.invert, abs], ids=lambda op: op.__name__
)
def test_unary_operator(op):
    def f(x):
        return op(x)

    for dtype in "?bBilefdFD":
        quiet(f, values(dtype))


SCALARS = [
    np.float64(2.5),
    np.float32(2.5),
    np.int64(3),
    np.int8(3),
    np.uint8(3),
    np.bool_(True),
    np.complex64(2 - 1j),
    np.float16(1.5),
]


@pytest.mark.parametrize("scalar", SCALARS, ids=lambda s: s.dtype.name)
def test_numpy_scalars(scalar):
    def f(s, n):
        return s + n, n * s, s - s, s / 3, -(s * 2)

    def g(s, x):
        return s * x, x + s

    def h(s):
        return s == 2, s > 1, s != s, s <= 2.5

    for n in (2, 1.5):
        if scalar.dtype == bool:
            continue
        check(f, scalar, n, calls=2)
    for dtype in "bdf":
        check(g, scalar, values(dtype), calls=2)
    if scalar.dtype.kind != "c":
        check(h, scalar)


def test_scalar_math_is_not_array_math():
    def f(s, t):
        return s**t, s * s

    rng = np.random.default_rng(3)
    for _ in range(20):
        check(f, np.float64(rng.random()), np.float64(rng.random() * 3), calls=2)


def test_several_results():
    def f(x, y):
        a, b = np.modf(x)
        c, d = np.frexp(x)
        e, g = np.divmod(x, y)
        return a, b, c, d, e, g

    check(f, values("d"), np.full(5, 0.75))
    check(f, values("f"), np.full(5, 0.75, "f"))


SHAPES = [
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((2, 3), (2, 1)),
    ((2, 1), (1, 3)),
    ((4, 2, 3), (2, 3)),
    ((), (3,)),
    ((3,), ()),
    ((0, 3), (3,)),
    ((1,), (3,)),
    ((2, 1, 3), (4, 1)),
    ((), ()),
    ((1, 1), (1,)),
]


@pytest.mark.parametrize("left, right", SHAPES)
def test_broadcasting(left, right):
    def f(x, y):
        return x + y, y * x, np.maximum(x, y) - 1

    check(f, np.ones(left) * 1.5, np.ones(right) * 2.5)


def test_broadcasting_is_guarded():
    def f(x, y):
        return x * y

    compiled = Compiled(f)
    shapes = [
        ((3, 4), (4,)),
        ((5, 2), (2,)),
        ((3, 1), (4,)),
        ((3, 4), (1,)),
        ((7, 7), (7,)),
        ((1, 4), (4,)),
    ]
    for left, right in shapes:
        args = (np.ones(left), np.ones(right))
        compare(Outcome(f, args, {}), Outcome(compiled, args, {}))
    assert compiled.published == 4  # one per pattern of ones
    args = (np.ones((3, 4)), np.ones(3))
    compare(Outcome(f, args, {}), Outcome(compiled, args, {}))


def layouts():
    base = np.arange(24.0).reshape(2, 3, 4)
    yield "C", base
    yield "F", np.asfortranarray(base)
    yield "transposed", np.arange(24.0).reshape(3, 2, 4).transpose(1, 0, 2)
    yield "stepped", np.arange(48.0).reshape(2, 3, 8)[:, :, ::2]
    yield "backwards", base[:, ::-1, ::-1]
    yield "broadcast", np.broadcast_to(np.arange(4.0), (2, 3, 4))
    yield (
        "unaligned",
        np.frombuffer(b"\0" + base.tobytes(), dtype="u1")[1:].view("f8").reshape(2, 3, 4),
    )
    yield "swapped", base.astype(">f8")


@pytest.mark.parametrize("left", [name for name, _ in layouts()])
@pytest.mark.parametrize("right", [name for name, _ in layouts()])
def test_layouts(left, right):
    arrays = dict(layouts())

    def f(x, y):
        return x * y, np.exp(x / 30) + y, x + 1, y[0] * x

    def make():
        fresh = dict(layouts())
        return (fresh[left], fresh[right]), {}

    assert arrays[left].shape == arrays[right].shape
    check(f, make=make)


def test_large_temporaries():
    def less_axes(rgb, k):  # NumPy reuses no temporary that is broadcast
        grey = 0.25 * rgb[0] + 0.5 * rgb[1]
        return grey + (rgb - grey) * k, (rgb[:, 2:-2] * (grey[2:-2] + 1.0)), (grey * 2) * rgb[:1]

    def one_item(x, y):
        return (x + 1.0) * y[:1] + 1.0, y[:, :1] - (x * 2.0), ((x * 2.0) * 3.0 + 1) * 4

    def same_shape(x, y):
        return (x + 1.0) * y

    planes = np.linspace(0, 1, 3 * 300 * 300, dtype="f").reshape(3, 300, 300)
    image = np.linspace(0, 1, 400 * 300).reshape(400, 300)
    for view in (lambda a: a, np.asfortranarray):
        check(less_axes, make=lambda view=view: ((view(planes), 1.15), {}))
        check(one_item, make=lambda view=view: ((view(image), image.copy()), {}))
        check(same_shape, make=lambda view=view: ((view(image[:20]), image[:20].copy()), {}))
    check(same_shape, image, image)
    # Of the same shape and another memory order: whether NumPy reuses it is not known here.
    check(same_shape, make=lambda: ((np.asfortranarray(image), image), {}), breaks="array-op")


def test_new_size_is_no_recompile():
    def f(x, y):
        return np.sin(x) * 2 + y

    compiled = Compiled(f)
    for n in (2, 3, 100, 1000, 5000):
        args = (np.linspace(0, 1, n), np.ones(n))
        compare(Outcome(f, args, {}), Outcome(compiled, args, {}))
    assert compiled.published == 1


def test_new_number_is_no_recompile():
    def f(x, k, s):
        return x * k + s

    compiled = Compiled(f)
    x = np.arange(5.0)
    for k, s in ((2, 0.5), (7, 1.5), (-3, 2.5), (10**6, 1e300)):
        compare(Outcome(f, (x, k, s), {}), Outcome(compiled, (x, k, s), {}))
    assert compiled.published == 1


def test_weak_int_range_is_guarded():
    def f(x, k):
        return x + k

    compiled = Compiled(f)
    x = np.arange(5, dtype="u1")
    for k in (3, 200, 255, 256, -1, 10**20, 7):
        compare(Outcome(f, (x, k), {}), Outcome(compiled, (x, k), {}))
    assert "symbolic-range" in compiled.breaks


def test_shapes_that_do_not_fit():
    def f(x, y):
        z = x * 2
        return z + y

    compiled = check(f, np.ones(3), np.ones(4), breaks="array-shapes")
    args = (np.ones(3), np.ones(3))
    compare(Outcome(f, args, {}), Outcome(compiled, args, {}))


def test_warnings():
    def f(x, y):
        a = x / y
        b = np.sqrt(x - 2)
        return a, b, np.exp(x * 1000)

    check(f, np.array([0.0, 1.0, 2.0]), np.array([0.0, 0.0, 1.0]))


@pytest.mark.parametrize("state", ["ignore", "warn", "raise"])
def test_errstate(state):
    def f(x, y):
        return (x + 1) / y * 2

    with np.errstate(all=state):
        check(f, np.array([0.0, 1.0, -1.0]), np.array([0.0, 1.0, 0.0]))
        check(f, np.array([0, 1, -1]), np.array([1, 1, 0]))


def test_dtype_and_casting():
    def f(x):
        return (
            np.add(x, 1, dtype="f8"),
            np.multiply(x, x, dtype=np.float32, casting="unsafe"),
            np.sin(x, dtype=float),
        )

    check(f, values("f"))
    check(f, values("i"))

    def g(x):
        return np.add(x, 1.5, out=None, where=True)

    check(g, values("d"))


def test_what_breaks():
    def out(x, y):
        return np.add(x, x, out=y)

    def where(x, y):
        return np.add(x, x, where=y > 0, out=y)

    def other(x, y):
        return np.add.outer(x, y)

    check(out, values("d"), values("d"))
    check(where, values("d"), values("d"))
    check(other, values("d"), values("d"))

    def branch(x):
        if x > 1:
            return x
        return -x

    check(branch, np.array([3.0]), breaks="array-branch")
    check(branch, np.float64(3), breaks="array-branch")

    def scalar(x):
        return x.item()

    check(scalar, np.array([3.0]))


def test_in_place():
    def fresh(x, y):
        z = x * 2
        w = z
        z += y
        z *= 3
        z -= 1.5
        z /= y
        return z, w is z

    check(fresh, np.arange(1.0, 5.0), np.arange(2.0, 6.0))
    check(fresh, np.arange(1.0, 5.0, dtype="f"), np.arange(2.0, 6.0))

    def existing(x):
        x += 1
        return x

    check(existing, np.arange(3.0))

    def view(x):
        z = x * 2
        w = z[1:]
        z += 1
        return z, w

    check(view, np.arange(3.0))

    def larger(x, y):
        z = x * 2
        z += y
        return z

    check(larger, np.arange(3.0), np.ones((2, 3)), breaks="array-shapes")

    def kind(x):
        z = x * 2
        z /= 3
        return z

    check(kind, np.arange(3), breaks="raises")

    def scalar(s):
        s += 1
        s *= 2.5
        return s

    check(scalar, np.float64(2))

    def item(x):
        z = x * 2
        z[0] = 1
        return z

    check(item, np.arange(3.0))


def test_kinds_that_are_not_captured():
    def f(x):
        return x + x

    check(f, np.array([1, 2], dtype=object), breaks="array-kind")
    check(f, np.array([1, 2], dtype="m8"), breaks="array-kind")
    masked = np.ma.masked_array([1.0, 2.0], [True, False])
    check_calls(f, (masked,), (masked,), whole=False)


def test_own_dtype_object():
    def f(x):
        return x * 2

    compiled = Compiled(f)
    for x in (
        np.arange(4.0),
        np.frombuffer(np.arange(4.0).tobytes(), np.dtype("f8").newbyteorder("<")),
    ):
        compare(Outcome(f, (x,), {}), Outcome(compiled, (x,), {}))


def test_constants_of_the_module():
    def f(x):
        return x * np.pi + np.e, x + np.inf, x * np.nan

    check(f, values("d"))


def test_ufunc_of_python_numbers():
    def f(x, s):
        return np.sqrt(2.0) * x, np.sin(s) + x, np.maximum(s, 1)

    check(f, values("d"), 0.25)


def test_resolution_is_by_the_installed_numpy():
    def f(x, y):
        return np.float_power(x, 2), np.left_shift(y, 1), np.true_divide(y, 2), np.hypot(x, y)

    check(f, values("f"), values("i"))
