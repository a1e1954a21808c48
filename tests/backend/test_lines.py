"""Graphs of several stages over a few elements run without arrays between them."""

from __future__ import annotations

import threading

import dyntrace
import numpy as np
import pytest
from test_few_elements import PAYLOADS, SPECIAL, by_columns, by_rows, compare, of_all

TURNS = 5  # calls of one shape, of which the first ones find out about it
SHAPES = [(2, 2), (1, 4), (4, 1), (3, 4), (1, 1), (2, 8), (4, 4), (5, 5), (3, 1), (3, 5), (2, 0)]
LONGER = [(2, 32), (21, 3), (2, 2), (6, 8), (1, 50), (5, 13), (3, 1)]  # some are too long


def normal(x):
    return (x - x.mean()) / x.std()


def distance(x, y):
    d = (x - y) / 2
    return np.sqrt(d[0] * d[0] + d[-1] * d[-1]), d[:, ::-1] * d, d[::-1] + 1


def smooth(x):
    top = x.max(axis=1, keepdims=True)
    return np.log(np.exp(x - top).sum(axis=1)) + top[:, 0], top


def of_each(x, y):
    """Results of stages are used by others, are outputs, or both; inputs are outputs, too."""
    z = x * y
    total = z.sum(axis=0)
    share = z / total
    return share, total, x, share.max(), z, z, (share - share.min(axis=0)).sum(), total.mean()


def chosen(x, y):
    """A NaN that comes out of a stage and is not chosen in the next one."""
    z = (x - y) / (x + y)
    middle = z.mean()
    return np.where(z > middle, z, 1.0), np.isnan(z).any(), np.maximum(z, 0.0).sum(axis=0)


FUNCTIONS = [by_rows, by_columns, of_all, distance, of_each, chosen]
ONE = [normal, smooth]


def cases_of(function, shapes, make):
    """The same shapes several times in turn, and then again after others."""
    count = 1 if function in ONE else 2
    return [tuple(make(s) for _ in range(count)) for s in shapes * 2 for _ in range(TURNS)]


def test_who_has_a_line():
    x = np.arange(1.0, 5.0).reshape(2, 2)
    cut = np.lib.NumpyVersion(np.__version__) < "2.3.0"  # sums of floats are calls then
    for function in [distance] if cut else [*FUNCTIONS, *ONE]:
        (stages,) = dyntrace.explain(function)(*(x,) * (1 if function in ONE else 2)).stages
        assert "in a line" in stages and "called" not in stages
    (stages,) = dyntrace.explain(lambda x: np.sort(x * 2) / x.mean())(x).stages
    assert "in a line" not in stages


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i4"])
@pytest.mark.parametrize("function", FUNCTIONS + ONE, ids=lambda f: f.__name__)
def test_usual_values(function, dtype):
    rng = np.random.default_rng(1)
    make = lambda s: (rng.standard_normal(s) * 3 + 1).astype(dtype)  # noqa: E731
    compare(function, cases_of(function, SHAPES + LONGER, make), "ignore")


@pytest.mark.parametrize("mode", ["warn", "raise", "ignore"])
@pytest.mark.parametrize("function", FUNCTIONS + ONE, ids=lambda f: f.__name__)
def test_special_values(function, mode):
    rng = np.random.default_rng(2)
    values = np.concatenate([SPECIAL, PAYLOADS])

    def make(shape):
        usual = rng.standard_normal(shape) + 1
        return np.where(rng.random(shape) < rng.choice([0, 0.1, 0.5]), rng.choice(values, shape), usual)

    # NaNs along rows of 16 elements: known to differ (docs/internals/native-executor.md).
    shapes = SHAPES[:8] + [shape for shape in LONGER if shape[1] < 16]
    compare(function, cases_of(function, shapes, make), mode)


@pytest.mark.parametrize("function", FUNCTIONS + ONE, ids=lambda f: f.__name__)
def test_layouts(function):
    rng = np.random.default_rng(3)
    cases = []
    for shape in SHAPES[:8] + LONGER:
        turned = rng.random(shape[::-1]).T
        large = rng.random((2 * shape[0], 3 * shape[1]))
        for array in (turned, large[::2, ::3], large[-1::-2, ::-3], large[: shape[0], : shape[1]]):
            other = np.asfortranarray(array + 1)
            cases += [(array,) if function in ONE else (array, other)] * TURNS
            cases += [] if function in ONE else [(other, array[:1])] * TURNS
    compare(function, cases)


def test_what_changes_between_calls():
    """Other types, dimensions, numbers of them, objects and errors, between calls that are alike."""
    x = np.arange(1.0, 7.0).reshape(2, 3)
    others = [(x, x[:, :2]), (x.astype("f4"), x), (x.astype(">f8"), x), (x.view(np.ma.MaskedArray), x)]
    others += [(x[0], x[0]), (x[None], x), (np.zeros((200, 3)), x[:1]), (x, x.tolist()), (x, 2.0)]
    others += [(np.lib.stride_tricks.as_strided(x, (2, 2), (4, 8)), x[:, :2])]
    compare(of_each, [case for other in others for case in [(x, x + 1)] * TURNS + [other] * 3])


def test_numbers_that_vary():
    def f(x, a, b):
        y = (x * a).mean() - b
        return x / y + x.size, x.sum() * b

    rng = np.random.default_rng(4)
    compare(f, [(rng.random(n), rng.random(), n) for n in (4, 3, 16) for _ in range(TURNS)])


def test_flags_that_were_there_before():
    """What other code left in the processor is not this call's, and does not stay in the way."""
    x = np.arange(1.0, 5.0)
    compiled = dyntrace.compile(normal)
    for _ in range(200):
        with np.errstate(all="ignore"):
            _ = x / 0.0, np.sqrt(-x), np.exp(x * 1e3)
        with np.errstate(all="raise"):
            assert compiled(x).tobytes() == normal(x).tobytes()


def test_results_are_apart():
    """What a call gave is not touched by the next one, nor by what is done with it."""
    compiled = dyntrace.compile(of_each)
    x = list(np.arange(1.0, 401.0).reshape(100, 2, 2))
    kept = [compiled(one, one) for one in x]
    expected = [of_each(one, one) for one in x]
    for got, plain in zip(kept, expected, strict=True):
        assert got[2] is plain[2] and got[4] is got[5] and got[4] is not got[0]
        for a, b in zip(got, plain, strict=True):
            assert type(a) is type(b) and a.tobytes() == b.tobytes()
        got[0][:] = 7
        got[1][:] = 7
        got[4].resize(9, refcheck=False)


def test_an_argument_twice_or_shared():
    x = np.arange(1.0, 13.0)
    rows = x.reshape(3, 4)
    pairs = [(rows, rows), (rows, rows[::-1]), (rows, rows[:1]), (rows.T, rows.T)]
    compare(distance, [pair for pair in pairs for _ in range(TURNS)])
    compare(of_each, [pair for pair in pairs for _ in range(TURNS)])


def test_threads():
    compiled = dyntrace.compile(of_each)
    wrong = []

    def work(k):
        rng = np.random.default_rng(k)
        for shape in [(2, 2), (3, 4), (4, 4)] * 10:
            for _ in range(10):
                x, y = rng.random((2, *shape))
                pairs = zip(compiled(x, y), of_each(x, y), strict=True)
                if any(a.tobytes() != b.tobytes() for a, b in pairs):
                    wrong.append((k, shape))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
