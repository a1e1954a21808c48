"""Numbers written where a mask is true: the same items, bits, errors and shared memory as plainly."""

import random
import sys
from pathlib import Path

import dyntrace
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "backend"))
from differential import check  # noqa: E402
from test_kernels_picked import outcome  # noqa: E402

DTYPES = "?bhilqBHILQefdFD"
NUMBERS = [
    0, 1, -1, 7, 127, 128, 255, 256, 300, -129, 2**31, 2**53 + 1, 2**63, True, False,
    0.0, -0.0, 0.5, 2.75, float("nan"), float("inf"), 1e300, 1e-300, 1e39, 1e-40, 1 + 2j,
]  # fmt: skip


def items(rng, shape, dtype):
    return (rng.integers(-4, 5, shape) * rng.random(shape) * 3).astype(dtype)


def targets(fn, *args):
    (graph,) = dyntrace.explain(fn)(*args).graphs
    return [node.target for node in graph.nodes]


def test_a_fill_is_elementwise():
    def clipped(x):
        y = x * 2
        y[y < 0] = 0
        y[y > 1] = 1
        return y + 1

    x = np.linspace(-1, 1, 9)
    check(clipped, x)
    assert "operator.setitem" not in targets(clipped, x)


def test_what_follows_reads_the_value():
    def faded(m, z):
        m[m > 0.25] = 0.25
        m *= 0.995
        m[z == 1] = 1

    check(faded, np.linspace(0, 1, 9), np.arange(9) % 2)
    # What is in the array when it is given is left alone beside the mask; then all of it is written.
    assert targets(faded, np.linspace(0, 1, 9), np.arange(9) % 2).count("numpy.where") == 1


@pytest.mark.parametrize("number", NUMBERS, ids=repr)
def test_numbers(number):
    rng = np.random.default_rng(5)
    for dtype in DTYPES:

        def own(x, c):
            y = x.copy()
            y[c > 0] = number
            return y

        def given(x, c):
            x[c > 0] = number

        def twice(x, c):
            x[c > 0] = number
            x[c < 0] = 1
            return x

        for function in own, given, twice:
            compiled = dyntrace.compile(function)
            for size in 0, 1, 5, 40:
                case = items(rng, size, dtype), items(rng, size, "d")
                expected = outcome(function, case)
                for _ in range(2):
                    assert outcome(compiled, case) == expected, (dtype, size)


def test_signs_and_payloads_stay():
    x = np.array([0x7FF0000000000001, 0xFFF8000000000123, 1 << 63, 5], dtype=np.uint64).view("d")

    def marked(x, c):
        x[c > 0] = 2.0

    check(marked, x, np.array([0, 0, 0, 1.0]))


def rows(x, c):
    x[c < 0] = 3


def column(x, c):
    x[c < 0, 1] = 3


def part_of_rows(x, c):
    x[c < 0, 1:] = 3


def of_a_column(x):
    x[x[:, 0] < 0, 0] = -1.0
    return x[:, 0] * 2


def of_a_view(x):
    x[1:-1, ::2][x[1:-1, ::2] < 0] = 0


def backwards(x):
    x[::-1][x[::-1] < 0] = 0
    return x + 1


@pytest.mark.parametrize("fn", [rows, column, part_of_rows, of_a_column, of_a_view, backwards])
def test_parts(fn):
    rng = np.random.default_rng(6)
    columns = np.asfortranarray(items(rng, (5, 3), "f"))
    for x in items(rng, (6, 4), "d"), columns, items(rng, (6, 8), "q")[:, ::2]:
        args = (x, items(rng, len(x), "d"))[: fn.__code__.co_argcount]
        check(fn, *args)


def test_masks_of_other_shapes():
    def fill(x, c):
        x[c < 0] = 0
        return x

    def too_many(x, c):
        x[c < 0, 0] = 0

    for function in fill, too_many:
        compiled = dyntrace.compile(function)
        for shape in (4,), (4, 4), (3,), (4, 1), (1, 4), (4, 5), (5, 4), (2, 4), (4, 4, 1):
            case = np.ones((4, 4)), np.full(shape, -1.0)
            for _ in range(2):
                assert outcome(compiled, case) == outcome(function, case)


def test_a_mask_that_is_the_array_and_one_that_shares_its_memory():
    def itself(x):
        x[x] = False
        x[~x] = True

    def shared(x):
        x[1:][x[:-1]] = False
        return x

    def bytes_of(x, m):
        x[m] = 0

    for bits in range(16):
        x = np.array([bits >> i & 1 for i in range(4)], dtype=bool)
        check(itself, x)
        check(shared, x)
        check(bytes_of, make=lambda x=x: ((y := np.repeat(x, 2).view("u1"), y[::-1].view(bool)), {}))


def test_what_can_not_be_written():
    def fill(x, c):
        c = c < 0
        x[c] = 0

    def put(x):
        np.broadcast_to(x, (3, 4))[np.ones((3, 4)) > 0] = 0

    x = np.ones(4)
    x.flags.writeable = False
    check(fill, make=lambda: ((x, -np.ones(4)), {}), breaks="raises")
    check(put, np.ones(4), breaks="raises")


def test_the_array_is_the_same_object_and_views_see_it():
    def fill(x):
        y = x + 1
        half = y[::2]
        y[y > 1] = 0
        return y, half, half.sum()

    check(fill, np.linspace(-1, 1, 9))


def test_numbers_of_arrays():
    def to_mean(x):
        x[x < 0] = x.mean()
        x[x > 2] = x[0]
        return x

    def to_given(x, top):
        x[x > top] = top
        return x

    for dtype in "dfqe":
        check(to_mean, np.linspace(-1, 3, 9).astype(dtype))
    for top in 0.5, 1, np.float32(0.3), np.float64(0.3), np.int8(1), np.array(0.25):
        for dtype in "df":
            check(to_given, np.linspace(-1, 3, 9).astype(dtype), top)


STATEMENTS = [
    "x[x {c} {n}] = {n}",
    "x[w {c} {n}] = {n}",
    "y[y {c} {n}] = {n}",
    "y[(x > {n}) & (w {c} 1)] = {n}",
    "x[~(x {c} {n})] = x[0]",
    "y = y * 2 - w",
    "x *= 0.5",
    "x += w",
    "v = x[1:]; v[v {c} {n}] = {n}",
    "v = y[::-1]",
    "m = x {c} w; x[m] = {n}; w[m] = -{n}",
    "b = x > {n}; b[w {c} 0] = True; x[b] = {n}",
    "x[x {c} {n}] *= -1",
    "w[w {c} {n}] = x[w {c} {n}]",
    "x, w = w, x",
]


def test_random_programs():
    rng, random_ = np.random.default_rng(8), random.Random(8)
    for _ in range(60):
        lines = ["def fn(x, w):", "    y = x + 1", "    v = y"]
        for _ in range(random_.randint(2, 6)):
            statement = random_.choice(STATEMENTS)
            comparison, number = random_.choice("< > <= == !=".split()), random_.choice([0, 1, 0.5])
            lines.append("    " + statement.format(c=comparison, n=number))
        lines.append("    return x, y, v, w.sum()")
        names = {}
        exec("\n".join(lines), names)
        compiled = dyntrace.compile(names["fn"])
        for size in 1, 6, 6, 40, 7000:
            x, w = items(rng, size, "d"), items(rng, size, "d")
            for args in ((x, w), (x, x), (x.astype("f"), w)):
                plain = [a.copy() for a in args] if args[0] is not args[1] else [args[0].copy()] * 2
                own = [a.copy() for a in args] if args[0] is not args[1] else [args[0].copy()] * 2
                with np.errstate(all="ignore"):
                    wanted, got = names["fn"](*plain), compiled(*own)
                for a, b in zip((*wanted, *plain), (*got, *own), strict=True):
                    assert a.dtype == b.dtype and a.tobytes() == b.tobytes(), "\n".join(lines)
