"""Items picked by masks, index numbers and slices, read and written without a call of NumPy."""

from __future__ import annotations

import warnings

import dyntrace
import numpy as np
import pytest
from differential import check

DTYPES = "?bhilqBHILQefdFD"
SIZES = [0, 1, 3, 7, 8, 9, 15, 16, 17, 24, 31, 64, 65, 200, 1000]
SHARES = [0, 0.03, 0.3, 0.9, 1]


def seen(value):
    owns = value.base is None
    return type(value), value.dtype, value.shape, value.strides, value.flags.num, owns, value.tobytes()


def copied(value):
    """The same array, or view of an array in C order, in other memory."""
    if type(value) is not np.ndarray:
        return value
    if value.base is None:
        return value.copy(order="K")
    base = value.base.copy()
    offset = value.ctypes.data - value.base.ctypes.data
    return np.ndarray(value.shape, value.dtype, base, offset, value.strides)


def outcome(function, arguments):
    """What a call gives and reports, and what it leaves in its arguments."""
    arguments = [copied(a) for a in arguments]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = function(*arguments)
            result = seen(result) if isinstance(result, np.ndarray) else result
        except (IndexError, ValueError, TypeError, FloatingPointError, OverflowError) as error:
            line = error.__traceback__.tb_next.tb_lineno if error.__traceback__.tb_next else 0
            result = type(error), str(error), line
    left = [seen(a) if isinstance(a, np.ndarray) else a for a in arguments]
    return result, left, [(str(w.message), w.category, w.lineno) for w in caught]


def same(function, cases, kernels=0):
    """Plainly and compiled, each case several times; `kernels` of the stages are kernels."""
    compiled = dyntrace.compile(function)
    with dyntrace.config.patch(recompile_limit=300):
        for case in cases:
            expected = outcome(function, case)
            for _ in range(2):
                assert outcome(compiled, case) == expected, case
    if kernels:
        stages = "\n".join(str(s) for e in [dyntrace.explain(function)(*cases[-1])] for s in e.stages)
        assert stages.count("kernel  operator.") == kernels and "called" not in stages


def read(a, m):
    return a[m]


def write(a, m, v):
    a[m] = v


def write_zero(a, m):
    a[m] = 0


def pairs(dtype, shape_of=lambda n: (n,)):
    rng = np.random.default_rng(ord(np.dtype(dtype).char))
    for size in SIZES:
        for share in SHARES:
            shape = shape_of(size)
            yield (rng.random(shape) * 90).astype(dtype), rng.random(shape) < share


# ---- Masks ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_masks(dtype):
    cases = list(pairs(dtype))
    same(read, cases, dtype != "e")
    same(write_zero, cases, dtype not in "?e")
    same(write, [(a, m, a[m][::-1].copy()) for a, m in cases], dtype != "e")


def test_masks_of_more_dimensions():
    for shape_of in (lambda n: (n, 3), lambda n: (2, n, 1), lambda n: (1, n)):
        cases = list(pairs("d", shape_of))
        same(read, cases, 1)
        same(write_zero, cases, 1)
        same(write, [(a, m, a[m] + 1) for a, m in cases], 1)
        same(read, [(np.asfortranarray(a), m) for a, m in cases])
        same(write_zero, [(a, np.asfortranarray(m)) for a, m in cases])


def test_masks_of_other_shapes_and_layouts():
    a, m = np.arange(12.0).reshape(3, 4), np.arange(12).reshape(3, 4) % 3 == 0
    v = np.arange(40.0)
    views = [(v[::3], np.arange(14) % 2 == 0), (v[::-1][:14], np.arange(28)[::2] % 4 == 0)]
    others = [(a, m[0]), (a, m[:, 0]), (a, m[:2]), (a, m[:, :3]), (a.T, m.T), (a.T, m.reshape(4, 3)), (v, m)]
    for case in [*views, *others]:
        same(read, [case] * 2)
        same(write_zero, [case] * 2)
    same(write, [(a, m, np.arange(n, dtype=float)) for n in (0, 1, 2, 3, 4, 5, 12)])
    same(write, [(a, m, np.arange(4.0).reshape(s)) for s in ((1, 4), (2, 2), (4, 1), (1, 1, 4))])


def test_truths_that_are_not_one():
    odd = np.array([0, 1, 2, 255, 1, 0, 128, 0, 1, 0], np.uint8)
    a, m = np.arange(10.0), odd.view(bool)
    same(write_zero, [(a, m)] * 2)


def test_mask_and_array_are_one():
    def own(a):
        b = a[a]
        a[a] = False
        return b

    def shared(a, m):
        m[1:] = a[:-1]
        a[m] = True
        return a[m]

    bools = np.arange(20) % 3 == 0
    same(own, [(bools,)] * 2)
    same(lambda a: shared(a, a), [(bools,)] * 2)
    whole = np.arange(21) % 3 == 0
    for fn in (read, write_zero):
        compiled = dyntrace.compile(fn)
        for _ in range(3):
            for low, high in ((0, 1), (1, 0)):
                one, other = whole.copy(), whole.copy()
                plain = fn(one[low : 20 + low], one[high : 20 + high])
                result = compiled(other[low : 20 + low], other[high : 20 + high])
                assert one.tobytes() == other.tobytes()
                assert plain is result is None or plain.tobytes() == result.tobytes()


def test_values_that_lie_in_the_array():
    def ahead(a, m):
        a[m] = a[1:6]
        return a

    def behind(a, m):
        a[m] = a[::-1][m]
        a[1:] = a[:-1]
        a[::2] = a[1::2]
        a[:-1] = a[1:]
        return a

    a, m = np.arange(10.0), np.arange(10) % 2 == 0
    same(ahead, [(a, m)] * 3)
    same(behind, [(a, m)] * 3)


def test_numbers_of_every_kind():
    def put(a, m, number):
        a[m] = number
        a[~m] = a[0]
        a[1:-1] = number
        a[::-2] = a.max()

    m = np.arange(11) % 3 == 1
    numbers = [1, True, 2.5, -0.0, np.nan, np.inf, 1e300, 1e-50, 2**40, -1, 1j]
    numbers += [np.float32(0.1), np.float64(1e300), np.int8(-1), np.uint64(2**63), np.array(2.5)]
    for dtype in "?bBlfdF":
        for number in numbers:
            for mode in ("warn", "raise"):
                with np.errstate(all=mode):
                    same(put, [(np.arange(11).astype(dtype), m, number)] * 2)


def test_arrays_that_are_not_to_be_written():
    a, m = np.arange(10.0), np.arange(10) > 4
    a.flags.writeable = False
    for fn in (lambda a, m: write(a, m, 1.0), lambda a, m: a.__setitem__(slice(1, 3), 2.0)):
        compiled = dyntrace.compile(fn)
        for _ in range(3):
            for f in (fn, compiled):
                with pytest.raises(ValueError, match="read-only"):
                    f(a, m)
    assert a.tolist() == list(range(10))


def test_what_is_written_is_taken_back():
    """A run that fails after a write leaves no trace of it, and is made again plainly."""

    def fails(a, m, b):
        a[m] = 7.0
        a[1:3] = b[:2]
        with np.errstate(divide="raise"):
            return 1.0 / b

    a, m = np.arange(10.0), np.arange(10) % 2 == 0
    same(fails, [(a, m, np.arange(1.0, 4.0)), (a, m, np.arange(3.0)), (a, m[:4], np.arange(1.0, 4.0))])


def test_large_ones():
    rng = np.random.default_rng(1)
    for size in (9_000, 524_288, 524_289):
        a, m = rng.random(size), rng.random(size) < 0.4
        same(read, [(a, m)])
        same(write_zero, [(a, m)])
        same(write, [(a, m, a[m])])


# ---- Index numbers -------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_index_numbers(dtype):
    rng = np.random.default_rng(3)
    sizes = [(n, k) for n in (1, 5, 300) for k in (1, 4, 90)]
    cases = [((rng.random(n) * 9).astype(dtype), rng.integers(-n, n, k)) for n, k in sizes]
    same(read, cases, dtype != "e")
    a = cases[0][0]
    same(read, [(a, np.array(i)) for i in ([0], [1], [-1], [-2], [0, 5], [2**62], [-(2**63)], [])] * 2)
    same(read, [(a, np.zeros(3, d)) for d in "bhilBHIL?"])
    same(read, [(np.arange(20.0)[::3], np.arange(14)[::2] % 7), (np.zeros(0), np.arange(2))])
    same(read, [(a, np.zeros((2, 2), int))])


# ---- Ints and slices -----------------------------------------------------------------------------

PARTS = [
    "1:", ":-1", "::2", "::-1", "-3::-2", "2:2", "5:1", "1", "-1", "...", ":", "None", "1:, 2", "1, 1:",
    ":, ::2", "::-2, ::-1", "..., 1", "1, ...", ":, None", "None, 1:, :-1", "..., None, 0", "7", ":, 9",
    "1:9, -9:2",
]  # fmt: skip


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("dtype", "dfi?D")
def test_parts(part, dtype):
    scope = {"np": np}
    exec(f"def one(a, v):\n    a[{part}] = 1\n", scope)
    exec(f"def number(a, v):\n    a[{part}] = v[0, 0]\n", scope)
    exec(f"def alike(a, v):\n    a[{part}] = v[{part}]\n", scope)
    exec(f"def reversed_(a, v):\n    a[{part}] = v[::-1, ::-1][{part}]\n", scope)
    exec(f"def made(a, v):\n    a[{part}] = v[{part}] * 3\n    return a\n", scope)
    exec(f"def broadcast(a, v):\n    a[{part}] = v[:1, :1]\n", scope)
    exec(f"def wrong(a, v):\n    a[{part}] = v[:2, :3]\n", scope)
    cases = []
    for rows, columns in ((5, 6), (2, 2), (1, 7), (3, 1), (0, 2)):
        v = (np.arange(rows * columns).reshape(rows, columns) % 5).astype(dtype)
        cases += [(v, v + v), (np.asfortranarray(v), v[:]), (v, np.asfortranarray(v)), (v[:], v)]
    for name in ("one", "number", "alike", "reversed_", "made", "broadcast", "wrong"):
        same(scope[name], cases)


def test_parts_are_kernels():
    def fn(a, v):
        a[1:, ::2] = v
        a[0] = 2.5

    same(fn, [(np.arange(12.0).reshape(3, 4), np.ones((2, 2)))] * 2, 2)


def test_parts_of_many_dimensions():
    def new(a):
        a[None, None, None, ..., None, 0] = 3.0
        a[..., None, None, None, None, None, None, None, None] = 2.5 + a[0, 0, 0, 0, 0]

    same(new, [(np.zeros((2,) * n),) for n in (5, 6, 7, 8, 9)])


def test_arrays_like_others():
    def like(a):
        b = np.empty_like(a)
        b[...] = 1
        c = np.empty_like(a, dtype="f4")
        c[:] = a
        return b + c, np.full_like(a, 2.5), np.full_like(a, 3, dtype=int), np.full_like(a, a.max())

    def each(a):
        return [seen(r) for r in like(a)]

    for a in (np.arange(6.0), np.ones((2, 3)), np.asfortranarray(np.ones((2, 3))), np.ones((3, 1, 2))):
        check(like, a)
        assert [seen(r) for r in dyntrace.compile(like)(a)] == each(a)
