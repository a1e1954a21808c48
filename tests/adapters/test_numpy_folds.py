"""Python's sum(), min(), max(), any() and all() of whole arrays."""

import warnings

import dyntrace
import numpy as np
import pytest
from differential import check_calls

FOLDS = [sum, min, max, any, all]
DTYPES = ["?", "i1", "u1", "i4", "i8", "u8", "f2", "f4", "f8", "g", "c16", ">f8", ">i8", "M8[s]", "O"]


def of(fold):
    def fn(x):
        return fold(x), fold(x[::-1]), fold(x[1:])

    return fn


@pytest.mark.parametrize("fold", FOLDS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_items_of_all_types(fold, dtype):
    numbers = np.array([3, 0, 1, 1, 0, 2, 7, 1])
    arrays = [numbers.astype(dtype)[:size] for size in (8, 3, 2, 8, 1, 5)]
    check_calls(of(fold), *[(a,) for a in arrays], whole=False)


@pytest.mark.parametrize("fold", FOLDS)
@pytest.mark.parametrize("dtype", ["?", "i8", "f4", "f8"])
def test_is_one_node(fold, dtype):
    def fn(x):
        return fold(x)

    compiled = dyntrace.compile(fn, fullgraph=True)
    for size in (2, 3, 5_000, 7):
        x = (np.arange(size) % 7 * 0.1).astype(dtype)
        found, wanted = compiled(x), fn(x)
        assert found == wanted and type(found) is type(wanted)


SPECIAL = [
    [np.nan, 1, 2], [1, np.nan, 2], [1, 2, np.nan], [np.nan, np.nan], [0.0, -0.0], [-0.0, 0.0],
    [-0.0, -0.0], [np.inf, 1], [-np.inf, 1], [np.inf, -np.inf, 1], [5e-324, 0], [0.1] * 10, [1e16, 1, -1e16],
    [1e308, 1e308], [3e38, 3e38], [-1e308, -1e308, 1e308],
]  # fmt: skip


@pytest.mark.parametrize("fold", FOLDS)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
def test_special_numbers(fold, dtype):
    def fn(x):
        return fold(x)

    with np.errstate(over="ignore"):
        arrays = [np.array(numbers, dtype) for numbers in SPECIAL]
    check_calls(fn, *[(a,) for a in arrays + arrays])
    with np.errstate(all="ignore"):
        check_calls(fn, *[(a,) for a in arrays + arrays])
    with np.errstate(all="raise"):
        check_calls(fn, *[(a,) for a in arrays + arrays], whole=False)


@pytest.mark.parametrize("numbers", [[2**63 - 1, 1], [-(2**63), -1], [2**62, 2**62, -1], [2**63 - 1, 0]])
def test_ints_that_overflow(numbers):
    def fn(x):
        return sum(x)

    x = np.array(numbers)
    check_calls(fn, (np.arange(3),), (x,), (x[::-1],), (x,), whole=False)


def test_warnings_name_the_line():
    def fn(x):
        return sum(x) + 1

    compiled = dyntrace.compile(fn)
    said = []
    for call in (fn, compiled, compiled):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call(np.array([1e308, 1e308, 1.0]))
        said.append([(str(w.message), w.lineno, w.filename) for w in caught])
    assert said[0] and said[0] == said[1] == said[2]


@pytest.mark.parametrize("fold", FOLDS)
def test_layouts(fold):
    def fn(x):
        return fold(x)

    class Sub(np.ndarray):
        pass

    base = np.arange(24.0)
    misaligned = np.frombuffer(b"x" + base.tobytes(), np.uint8)[1:].view(np.float64)
    read_only = base.copy()
    read_only.flags.writeable = False
    arrays = [base[::2], base[::-3], np.broadcast_to(2.5, 5), misaligned, read_only, base.view(Sub)]
    arrays += [base[:0], base[:1]]
    check_calls(fn, *[(a,) for a in arrays + arrays], whole=False)


@pytest.mark.parametrize("fold", FOLDS)
def test_other_dimensions(fold):
    def fn(x):
        return fold(x)

    shapes = [(2, 1), (1, 2), (), (2, 3), (0, 2)]
    check_calls(fn, *[(np.ones(shape),) for shape in shapes], whole=False)


def test_other_arguments():
    def fn(x, y):
        found = [sum(x, 1.5), sum(x, start=2), sum(x, y), max(x, key=lambda v: -v), min(x, default=3)]
        return [*found, max(x, default=None, key=abs), max(*x), min(x[0], x[1])]

    x = np.array([2.0, -3.0, 1.0])
    check_calls(fn, (x, 1), (x, 2.5), (x[1:], np.float64(3)), (x, np.ones(2)), whole=False)


def test_sizes_that_depend_on_data():
    def fn(x):
        chosen = x[x > 1]
        return sum(chosen), any(chosen), all(chosen), chosen * 2

    def extreme(x):
        chosen = x[x > 1]
        return max(chosen), min(chosen)

    arrays = [np.array(a, float) for a in ([0, 2, 3], [5, 1, 4], [2, 2, 2], [0, 0, 0], [0, 7, 0])]
    check_calls(fn, *[(a,) for a in arrays], whole=False)
    check_calls(extreme, *[(a,) for a in arrays], whole=False)


def test_after_a_write_and_before():
    def fn(x, v):
        before = sum(x), max(x)
        x[1] = v
        y = x[::2]
        y += 1
        return before, sum(x), max(x), any(x > 5), all(y)

    x = np.array([0.0, 2.0, 4.0, 1.0])
    check_calls(fn, (x.copy(), 9.0), (x.copy(), -1.0), (x.copy(), np.nan))


def test_branches_on_them():
    def fn(x):
        if any(x > 3):
            return "any", x + 1
        while max(x) < 3:
            x = x + sum(x) + 0.5
        return "none" if not all(x) else "all", x

    arrays = [np.array(a, float) for a in ([1, 2, 3], [1, 2, 4], [0.1, 0.2, 1], [3, 0, 3], [3, 3, 3])]
    check_calls(fn, *[(a,) for a in arrays * 3], whole=False)


def test_errors_and_effects_around():
    def fn(x, log):
        log.append("before")
        try:
            return max(x)
        except ValueError as error:
            log.append(str(error))
        finally:
            log.append(sum(x))

    check_calls(fn, (np.arange(3.0), []), (np.ones(0), []), (np.ones((2, 2)), []), whole=False)


def test_means_by_hand():
    """As programs write them: the items of a list that grows are arrays' sums."""

    def fn(xs):
        means = []
        for x in xs:
            means.append(sum(x) / len(x))
        return means, max(means), sum(np.abs(np.array(means) - max(means)))

    xs = [np.arange(n, dtype=float) for n in (3, 1, 4, 2)]
    check_calls(fn, (xs,), (xs[:2],), (xs[::-1],), whole=False)
