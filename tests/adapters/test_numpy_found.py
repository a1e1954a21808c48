"""What random expressions have found (tests/fuzz/arrays.py), made small."""

import dyntrace
import numpy as np
import pytest
from differential import check, check_calls


def same(fn, *args):
    """Equal to plain execution, with or without a graph break."""
    return check_calls(fn, args, args, whole=False)


def test_a_cast_to_swapped_bytes_is_swapped():
    def fn(a):
        return a.astype(">c16") * 1, a.astype(">f8"), a[1:].astype(">c16")

    check(fn, np.arange(4, dtype="i4"))


FORTRAN = np.asfortranarray(np.arange(15.0).reshape(3, 1, 5))


@pytest.mark.parametrize(
    "array", [FORTRAN, FORTRAN[:, :, ::-1], FORTRAN.T.copy().T], ids=["dense", "back", "copied"]
)
@pytest.mark.parametrize("dtype", ["f8", "f4", "?", "i4"])
def test_strides_of_axes_of_one_item(array, dtype):
    def fn(a):
        b = a + 1
        return (
            b,
            3 | (a > 2),
            a * True,
            np.where(a > 1, a, 0),
            a.astype("f4"),
            b.astype("c8"),
            (a > 1) + b,
            b * 2,
        )

    same(fn, array.astype(dtype))


def test_strides_of_axes_of_one_item_of_operands_with_fewer_axes():
    def fn(a, b):
        return a + b, np.where(a > b, a, b), (a > 1) * b

    same(fn, np.asfortranarray(np.ones((1, 3, 5))), np.asfortranarray(np.ones((3, 5))))


def test_an_out_argument_keeps_its_strides():
    def fn(a):
        b = a.astype("f4", copy=False) * (a <= 0)
        np.add(a, -1, out=b)
        b += a
        return b

    same(fn, np.asfortranarray(np.ones((1, 4, 4), "i4")))


def test_a_number_of_an_array_is_put():
    def fn(a, c):
        np.put(a, [0, 2], bool(c.any()))
        np.put(a, [1], int(c[0]))
        return a

    check(fn, np.array([[1], [0], [3]], "u1"), np.array([1, 0]))


@pytest.mark.parametrize(
    "fn",
    [
        lambda c: c.sum(axis=0, dtype="f8"),
        lambda c: np.sum(c, dtype=float),
        lambda c: c.prod(dtype="i4"),
        lambda c: c.any(axis=0),
        lambda c: np.add.reduce(c, dtype="f4"),
        lambda c: np.add.reduce(c, dtype=np.float32, initial=0),
        lambda c: np.add.accumulate(c, dtype="f4"),
        lambda c: np.cumsum(c, dtype="f4"),
        lambda c: np.nansum(c, dtype="f8"),
        lambda c: np.add(c, c, out=np.zeros((2, 3)), casting="unsafe"),
        lambda c: np.add([1, 2, 3], c.real, out=c, where=c.real > 2),
        lambda c: np.float_power(c.real, 2, out=c, where=c.real > 2),
        lambda c: c.astype(bool),
        lambda c: np.full(3, 1j, dtype=bool),
        lambda c: np.sum(c.real, initial=np.complex128(2 - 1j)),
        lambda c: c.imag.prod(axis=0, initial=np.complex64(1j)),
        lambda c: np.hypot.reduce(c.real, axis=1, initial=np.array(1j), keepdims=True),
        lambda c: np.max([1.0, 2.0], initial=c.sum()),
        lambda c: np.minimum.reduce(c.real.astype(int), axis=(0, -1), initial=np.complex64(1j)),
        lambda c: np.put(np.zeros(4), [0], complex(c[0, 0])),
    ],
)
def test_imaginary_parts_that_are_dropped_are_told_where_numpy_tells_them(fn):
    same(fn, np.arange(6).reshape(2, 3) * 1j + 1)


@pytest.mark.parametrize(
    "fn",
    [
        lambda a, b: np.matmul(b, a, out=b[0]),
        lambda a, b: np.sum(b, axis=1, out=a),
        lambda a, b: np.cumsum(a[:1], out=a),
        lambda a, b: np.add(a[:1], 1, out=a),
        lambda a, b: np.max(b[:, :1], axis=0, out=a),
    ],
)
def test_an_out_argument_of_another_shape(fn):
    def call(a, b):
        try:
            return fn(a, b)
        except ValueError as error:
            return str(error), a

    same(call, np.arange(5.0), np.ones((1, 5)))
    same(call, np.arange(5) > 2, np.ones((1, 5)) > 0)


def test_a_result_that_is_a_view_stays_one():
    def fn(n):
        a, b = np.linspace(0, 1, 9), np.linspace(0, 1, 9)
        np.hypot(a, n, out=a)
        b += n
        return a, b, a.flags.owndata, b.flags.owndata, a.base is None

    same(fn, np.float32(1.5))


def test_a_scalar_with_an_out_argument_gives_a_scalar():
    def fn(a, out):
        of_scalars = np.max(a.sum(), axis=None, out=out), a[0].sum(out=out), np.sum(a[1], out=out)
        return of_scalars, np.max(a, out=out)

    same(fn, np.arange(4.0), np.array(0.0))


def test_an_index_where_there_are_no_items():
    def read(a):
        return a[[0, 1], -2:]

    def write(a):
        a[[0, 5]] = 1
        return a

    def cut(a):
        return a[[7], 5:2]

    def write_cut(a):
        a[[[0], [7]], 5:2] = 3
        a[..., [0, 9], :0] = 1
        return a

    def at(a):
        np.add.at(a, [0, 3], 1)
        return a

    for fn in (read, write, cut, write_cut, at):
        same(fn, np.zeros((1, 0)))
    same(cut, np.zeros((4, 6)))
    same(write_cut, np.zeros((4, 6)))


def times(v, w):
    v = v + 0
    v *= w
    return v


def times_viewed(v, w):
    v = v + 0
    seen = v.T
    np.multiply(w, v, out=v)
    return seen


def times_part(v, w):
    v[:1] *= w[:1]
    v[1:] *= w[1:]
    return v


def times_chosen(v, w):
    chosen = v[v.real > 0.8]
    chosen *= 1.25 + 0.5j
    return chosen


def times_number(v, w):
    number = np.array(v[0])
    number *= w[0]
    return number


def squared(v, w):
    v **= 2
    return np.square(w, out=w), v


def logarithm(v, w):
    half = np.abs(v).astype("f2")
    return np.log10(half, out=half), np.exp(v.real, out=v.imag)


@pytest.mark.parametrize("dtype", ["c8", "c16"])
@pytest.mark.parametrize(
    "fn", [times, times_viewed, times_part, times_chosen, times_number, squared, logarithm]
)
def test_one_item_in_place(fn, dtype):
    """NumPy's loops take an item that is read and written for overlapping memory, and other code."""
    draws = np.random.RandomState(0)
    parts = draws.randn(4, 30, 5)
    pairs = [(parts[0] + 1j * parts[1]).astype(dtype), (parts[2] + 1j * parts[3]).astype(dtype)]
    calls = [(pairs[0][i, :size], pairs[1][i, :size]) for size in (4, 2, 1) for i in range(30)]
    check_calls(fn, *calls, whole=False)


KEYS = """
s, s, -2: | s, 1: | ..., t, 1: | t, ..., :1 | None, s, 1: | True, 1: | False, :, None | s, ..., t
s, i, 1: | i, s | np.array(True), -2: | t, s | 1, s, ::-1 | :, m[:3] | [], ... | ..., s, ..., 1:
"""


@pytest.mark.parametrize("shape", [(3,), (2, 3), (3, 1, 4), (3, 0)])
@pytest.mark.parametrize("key", KEYS.replace("|", "\n").strip().splitlines())
def test_truth_values_take_no_axis(key, shape):
    scope = {"np": np}
    exec(
        f"def read(a, s, t, i, m):\n    return a[{key}]\n"
        f"def write(a, s, t, i, m):\n    a[{key}] = 7.5\n    return a\n"
        f"def add(a, s, t, i, m):\n    a[{key}] += 1\n    return a\n",
        scope,
    )
    array = np.arange(float(np.prod(shape))).reshape(shape)
    args = (array, np.bool_(0), np.bool_(1), np.array([0, 1]), np.array([True, False, True, True]))
    for name in ("read", "write", "add"):
        same(scope[name], *args)


def chosen_by_itself(a, i, v):
    a[a] = v[:1]
    return a


def chosen_by_a_view(a, i, v):
    a[1:][a[:2]] = 3
    return a, np.sqrt(v + a)


def chosen_twice(a, i, v):
    a[i,] += 1
    i[:] = i[::-1] + 1
    a[i,] += 1
    return np.sqrt(v + a)


def chosen_by_a_mask(a, i, v):
    mask = a > 1
    a[mask] += 9
    mask[0] = True
    a[mask] += 8
    return np.sqrt(v + a)


# NumPy 2.2 and older read indices that they have just written, whatever these are by then.
BY_ITSELF = [] if np.__version__ < "2.3" else [chosen_by_itself, chosen_by_a_view]


@pytest.mark.parametrize("mode", ["warn", "raise", "ignore"])
@pytest.mark.parametrize("value", [4.0, -100.0, 1e300])
@pytest.mark.parametrize("fn", [*BY_ITSELF, chosen_twice, chosen_by_a_mask])
def test_writes_are_taken_back_where_they_were_made(fn, value, mode):
    """The first call warns or raises after the write; by then the index array is another."""
    calls = [(np.array([1, 2, 0, 3]), np.array([1, 2]), np.full(4, v)) for v in (4.0, value, value)]
    with np.errstate(all=mode):
        check_calls(fn, *calls, whole=False)


def test_absolute_into_what_it_reads():
    def fn(a):
        back = a[::-1]
        return np.absolute(back[...], back)

    draws = np.random.RandomState(0).randn(2, 40, 3, 1)
    check_calls(fn, *[(z.astype("c8"),) for z in draws[0] + 1j * draws[1]])


def test_an_item_that_nobody_looks_at_may_be_missing():
    def item(a, b, i):
        a[i, :]
        return b + 1

    def number(a, b, i):
        row = a[int(i)]
        row = b + 1
        return row

    def part(a, b, i):
        a[0, a[0] > 1][i]
        return b + 1

    for fn in (item, number, part):
        calls = [(np.ones((n, 3)), np.zeros(2), np.int16(i)) for i in (0, 1, -2) for n in (2, 1)]
        check_calls(fn, *calls, whole=False)


def test_memory_is_shared_whatever_was_written():
    def written(a, b, c):
        view = c.ravel("C")
        a *= b
        view[[[0], [1]]] = np.shares_memory(view, a)
        return a, np.may_share_memory(a, view), np.shares_memory(c, a)

    def own(a, b, c):
        d = a + b
        view = d[1:]
        d *= b
        return np.shares_memory(d, view), np.shares_memory(a, d), np.may_share_memory(view, d)

    for fn in (written, own):
        for part in (..., slice(1, None), slice(None, None, -1)):
            a = np.ones((4, 4))
            same(fn, a, np.full((4, 4), 2.0), a[part])


@pytest.mark.parametrize("exponent", [np.bool_(1), np.int64(2), np.float64(0.5), np.array(2)])
@pytest.mark.parametrize("dtype", ["c8", "f8"])
def test_powers_in_place_of_one_item(dtype, exponent):
    def fn(a, b):
        a **= b
        return a

    same(fn, np.full((1, 1), 2.5, dtype), exponent)


def test_large_temporaries_keep_their_byte_order():
    def fn(a):
        return abs(a.flatten()), -(a.copy()), a.flatten() * 2, a.flatten() ** 2, a.copy() + a

    for n in (10, 60_000):
        same(fn, np.arange(float(n)).astype(">f8"))


NUMBERS = [np.int8(-128), np.int64(-(2**63)), np.int16(5), np.array(-5), np.array(6)]


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize(
    "fn",
    [
        lambda a, n: (a * 2, np.base_repr(n), np.base_repr(number=n, base=3)),
        lambda a, n: (a * 2, np.binary_repr(n), np.binary_repr(n, width=64)),
        lambda a, n: (a * 2, np.base_repr(17, abs(n) % 7 + 2)),
        lambda a, n: (a * 2, np.min_scalar_type(n), np.min_scalar_type(a=n)),
        lambda a, n: (a * 2, np.broadcast_shapes(abs(n) % 7 + 2, (1, 1))),
        lambda a, n: (a * 2, np.broadcast_shapes((3, abs(n) % 7 + 2), (1,))),
        lambda a, n: (a * 2, np.broadcast_shapes(np.array([n % 5 + 1, 3]), (1,))),
    ],
)
def test_functions_of_values_are_not_asked_about_others(fn, number):
    """They give texts, sizes and dtypes, but of the number that is in the array."""
    same(fn, np.arange(3.0), number)


BYTES = np.array([0, 1, 2, 255, 128, 0, 255, 3], "u1")


@pytest.mark.parametrize("repeat", [1, 60])
@pytest.mark.parametrize("step", [1, 2, -1])
def test_bytes_of_bools_that_are_neither_0_nor_1(step, repeat):
    """A view of other bytes, as masks of images are: each is true, and counts as one."""

    def fn(a, b):
        return (
            [a.sum(), a.reshape(4, -1).sum(axis=0), np.count_nonzero(a), a.mean(), np.cumsum(a)],
            [
                a.astype(dtype)
                for dtype in ("i1", "u1", "i2", "u4", int, "f4", float, "c8", "c16", bool)
            ],
            [a + 1, a * 2.5, a * (1 + 2j), a >> 1, a // 1, a % 2, a**2, a / (b + 1)],
            [a == 1, a == b, a < b, a & b, a ^ b, ~a, a | (b & ~a), np.where(a, 1.5, b)],
            [(a * 2.0 + (b | a)) * (a & ~b), ((a - 0.5) * 3).sum(), np.where(a > b, 1.0, a)],
            [a[3], float(a[3]) + 0.5, a[3] + 1, np.arange(len(a))[a], a.copy(), a.max(), a.any()],
        )

    a = np.tile(BYTES, repeat).view(bool)[::step]
    same(fn, a, np.roll(BYTES.repeat(repeat), 5).view(bool)[::step])


@pytest.mark.parametrize("ends", ["f", "b", "fb", "bf", "FB", "front", "", "x"])
def test_trim_zeros_complains_where_nobody_looks(ends):
    def unused(a):
        b = a * 2
        np.trim_zeros(b, trim=ends)
        return b

    def used(a):
        return np.trim_zeros(a * 2, ends) + 1

    array = np.array([0.0, 0.0, 1.0, 2.0, 0.0])
    same(unused, array)
    same(used, array)


def test_numbers_whose_dtype_has_fields():
    """A dtype of integers can name the halves of each."""
    dtype = np.dtype(("i4", [("low", "i2"), ("high", "i2")]))

    def fn(a):
        b = a + 1
        return a.dtype, b, b.dtype, a[1:], np.zeros(3, a.dtype), repr(a)

    same(fn, np.arange(4).astype(dtype))


@pytest.mark.parametrize("op", ["-{}", "{} + 1", "abs({})", "2 * {}"])
@pytest.mark.parametrize("dtype", [">f8", ">c16", "f8"])
def test_the_byte_order_of_a_large_temporary_that_comes_from_before_a_break(op, dtype):
    """NumPy writes the result into it."""
    scope = {"np": np}
    exec(f"def fn(a):\n    return {op.format('np.sort(a, axis=0)')}\n", scope)
    same(scope["fn"], np.arange(60_000.0).reshape(300, 200).astype(dtype))


def test_an_array_of_swapped_arrays_without_dimensions():
    def fn(a):
        return np.array([a, a]), np.stack([a, a]), np.array([[a], [a]])

    same(fn, np.array(2.5, ">f4"))
    same(fn, np.array(2, ">i2"))


@pytest.mark.parametrize("call", ["average", "std", "nanmean", "median", "trapezoid", "ptp"])
def test_functions_of_nothing_warn_once(call):
    """Also while the call is traced."""
    scope = {"np": np}
    exec(f"def fn(a):\n    return np.{call}([r for r in a[:0]]), a + 1\n", scope)
    same(scope["fn"], np.arange(3.0))


@pytest.mark.parametrize("number", [np.uint8(0), 0, 2, 0.0])
def test_spans_of_time_are_divided_in_place(number):
    """Whether NumPy 2.2 warns of zeros depends on the strides of what it writes."""

    def fn(a, n):
        a /= n
        return a

    spans = np.arange(1, 13).astype("m8[h]").reshape(3, 4)
    for view in (spans, spans[:, ::-1], spans.T, spans[::2, ::2]):
        check_calls(fn, (view.copy("K"), number), (view, number), whole=False)


def divide_operator(x, y):
    x /= y
    return x


def floor_divide_operator(x, y):
    x //= y
    return x


def divide_out(x, y):
    return np.divide(x, y, out=x)


def floor_divide_views(x, y):
    np.floor_divide(x[:1], y[:1], out=x[:1])
    return x


@pytest.mark.parametrize("dtype", ["u1", "i8", "f8"])
@pytest.mark.parametrize(
    "fn", [divide_operator, floor_divide_operator, divide_out, floor_divide_views]
)
def test_one_span_of_time_divided_in_place(fn, dtype):
    """NumPy tells of the zero if it is the only one: its loop has a way for a divisor without strides."""
    calls = [
        (np.ones(shape, "m8[D]"), np.zeros(shape, dtype)) for shape in [(1,), (1, 1), (2,), (3, 1)]
    ]
    for first in range(len(calls)):
        for error in ["warn", "raise"]:
            with np.errstate(all=error):
                check_calls(fn, *calls[first:], *calls, whole=False)


def neighbours(fn):
    def into(x):
        return fn(x[1:], x[:-1], out=x[1:])

    return into


def itself(fn):
    def into(x):
        return fn(x, x[::-1].copy(), out=x), fn(x[:1], x[-1:], out=x[:1])

    return into


@pytest.mark.parametrize("dtype", "efd")
@pytest.mark.parametrize("op", [np.fmax, np.fmin, np.maximum, np.minimum])
@pytest.mark.parametrize("make", [neighbours, itself])
def test_zeros_of_both_signs_put_where_they_came_from(make, op, dtype):
    """Which of the two NumPy gives depends on where it is written."""
    draws = np.random.RandomState(0)
    zeros = [np.where(draws.rand(size) < 0.5, 0.0, -0.0) for size in (2, 5, 17, 2, 40, 3) * 3]
    calls = [(array.astype(dtype),) for array in zeros]
    calls += [(array.astype(dtype).reshape(-1, 1),) for array in zeros]
    check_calls(make(op), *calls, whole=False)


def test_an_index_of_which_no_copy_fits_into_memory():
    """What a write overwrites is saved; the index itself is wrong, which plain execution sees first."""

    def fn(a, i):
        try:
            a[i] = 7.0
        except IndexError as error:
            return str(error)
        return a / 0

    def outside(*shape):
        return np.broadcast_to(np.array([5]), shape)

    compiled = dyntrace.compile(fn)
    with np.errstate(all="ignore"):
        for target in (compiled, compiled, fn):
            assert np.isinf(target(np.arange(1.0, 9.0), outside(2, 3))).all()
            error = target(np.arange(3.0), outside(2_000_000, 100_000))
            assert error == "index 5 is out of bounds for axis 0 with size 3"


def test_additions_at_places_of_nothing():
    """NumPy before 2.5 warns of indices that are out of bounds."""

    def fn(a, i):
        b = a[a > 2]
        np.add.at(b, i, 1.0)
        return b

    check_calls(fn, (np.arange(6.0), np.array([0, 0, 1])), (np.zeros(3), np.array([0, 0, 1])), whole=False)


@pytest.mark.parametrize("number", [300, np.int16(5), np.timedelta64(5, "h")], ids=repr)
@pytest.mark.parametrize("size", [4, 3])
def test_spans_and_bare_numbers_warn_once(number, size):
    """NumPy 2.5 warns where a number is taken for a span without a unit."""

    def fn(a, mask):
        out = np.zeros(a.shape, bool)
        try:
            np.greater(a, number, out=out, where=mask)
        except ValueError as error:
            return str(error)
        return out

    same(fn, np.arange(4).astype("m8[h]"), np.ones(size, bool))


@pytest.mark.parametrize("dtype", ["f2", "f4"])
def test_trial_runs_on_halves_raise_no_flags(dtype):
    def fn(a):
        with np.errstate(all="warn"):
            return np.argmax(a, axis=-1, keepdims=True), np.sum(a, initial=2)

    same(fn, np.ones(20_000, dtype))
    with np.errstate(all="warn"):
        same(lambda a: np.max(a, initial=0), np.ones(20_000, dtype))


class Bare:
    pass


@pytest.mark.parametrize("key", [np.array([0, 1]), np.array([0]), np.array(1), np.ones(2)], ids=str)
@pytest.mark.parametrize(
    "made",
    [lambda: (1, 2), lambda: [1, 2], lambda: range(3), lambda: "ab", lambda: 5, lambda: b"ab", Bare],
)
def test_arrays_as_indices_of_what_is_no_array(made, key):
    def read(key):
        try:
            return made()[key + 0]
        except TypeError as error:
            return str(error)

    def put(key):
        try:
            made()[key + 0] = key.sum()
        except TypeError as error:
            return str(error)

    def remove(key):
        value = made()
        try:
            del value[key + 0]
        except TypeError as error:
            return str(error)
        return value

    for fn in (read, put, remove):
        same(fn, key)


class Locked:
    """An argument whose copies are arrays that are read-only."""

    def __deepcopy__(self, memo):
        array = np.arange(4.0)
        array.flags.writeable = False
        return array


@pytest.mark.parametrize(
    "fn",
    [
        lambda a: a.__setitem__(None, a[None]),
        lambda a: a.__setitem__(slice(1, 3), a[1:3]),
        lambda a: np.copyto(a, a[...]),
        lambda a: a.__iadd__(0) is a[1:].__setitem__(0, a[1:][0]),
    ],
)
def test_what_is_put_back_is_written(fn):
    def call(a):
        fn(a)
        return a + 1

    def caught(a):
        try:
            a[1:3] = a[1:3]
        except ValueError as error:
            return str(error)
        return a + 1

    for each in (call, caught):
        check_calls(each, *[(a,) for a in (np.arange(4.0), Locked(), np.ones(4))], whole=False)


SPREAD = np.random.default_rng(3).standard_normal(400) * 3
WRITTEN = [slice(-8), slice(8, None), slice(None, None, -1), slice(None, None, 2)]
READ = [slice(8, None), slice(-8), slice(8, None), slice(1, None, 2)]
INTO = {
    "power": lambda a, b: np.power(a, b, out=a),
    "powers": lambda a, b: a.__ipow__(b),
    "product": lambda a, b: a.__imul__(b),
    "quotient": lambda a, b: np.divide(b, a, out=a),
    "root": lambda a, b: np.sqrt(b, out=a),
    "sine": lambda a, b: np.sin(b, a),
    "angle": lambda a, b: np.arctan2(abs(b), abs(b), out=a) if a.dtype.kind == "f" else a,
}


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "c16", "c8"])
@pytest.mark.parametrize("written, read", list(zip(WRITTEN, READ)), ids=str)
@pytest.mark.parametrize("into", INTO.values(), ids=list(INTO))
def test_loops_take_other_code_where_they_read_what_they_write(into, written, read, dtype):
    """As NumPy does: results may be rounded otherwise."""

    def views(a):
        into(a[written], a[read])
        return a

    def arguments(a, b):
        into(a, b)
        return a

    array = SPREAD.astype(dtype)
    if array.dtype.kind == "c":
        array = array + 1j * array[::-1]
    for shape in (-1,), (50, 8):
        a = array.reshape(shape)
        with np.errstate(all="ignore"):
            same(views, a)
            same(arguments, a[written], a[read])


@pytest.mark.parametrize("exponent", [-1, 0, 1, 2, 3, 0.5, 1.0, 2.0, True])
@pytest.mark.parametrize("step", [1, 2])
def test_powers_of_complex_zeros_have_the_signs_of_numpys(exponent, step):
    def out_of_place(c):
        return c**exponent

    def in_place(c):
        c **= exponent
        return c

    zeros = [complex(a, b) for a in (0.0, -0.0) for b in (0.0, -0.0)]
    for fn in (out_of_place, in_place):
        same(fn, np.array(zeros * 2 + [2 - 0j, -3.5 + 1j])[::step])


@pytest.mark.parametrize("dtype", [None, "f8", "f4", "i8"])
@pytest.mark.parametrize("shape", [(3,), (3, 1), (2, 1, 3), (1, 2)])
def test_require_of_repeated_rows(shape, dtype):
    """The strides of axes of one item are those of C's order, too."""
    array = np.arange(float(np.prod(shape))).reshape(shape)
    for repeated in (np.broadcast_to(array, (4, *shape)), np.broadcast_to(array, (1, *shape))):
        for view in (repeated, repeated[..., :1], repeated.T, repeated[::-1]):
            check(lambda a: np.require(a, dtype, "C"), make=lambda view=view: ((view,), {}))
