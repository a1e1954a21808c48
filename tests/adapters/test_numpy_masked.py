"""Masked arrays: numpy.ma is Python, which is followed; its arrays come out as plainly, masks included."""

import itertools
import random
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
from differential import Compiled, Outcome, compare  # noqa: E402

X = np.array([0.5, -1.5, 2.5, np.nan, 4.5, -0.25])
Y = np.array([1.0, 0.0, -2.0, 3.0, np.inf, 1.0])
I = np.array([3, -1, 4, 1, -5, 9])
M = np.arange(12.0).reshape(3, 4) - 5


def shown(value):
    """All that a program can see of it, masks, what they share and how it is filled."""
    if value is np.ma.masked:
        return "masked"
    if isinstance(value, np.ma.MaskedArray):
        own = {name: value.__dict__[name] for name in sorted(value.__dict__) if name != "_mask"}
        mask = value._mask if value._mask is np.ma.nomask else np.asarray(value._mask)
        return [
            type(value).__name__, np.asarray(value._data), mask,
            value._mask is np.ma.nomask, repr(value.fill_value), repr(own), value.shape, repr(value),
        ]  # fmt: skip
    if isinstance(value, (list, tuple)):
        return [shown(part) for part in value]
    return value


def run_both(fn, *calls, whole):
    compiled = Compiled(fn)
    for args in itertools.chain(calls[:1], calls, calls):
        plain, other = (
            [np.ma.copy(a) if isinstance(a, np.ma.MaskedArray) else a.copy() for a in args]
            for _ in "ab"
        )
        before = Outcome(fn, plain, {})
        after = Outcome(compiled, other, {})
        before.result, after.result = shown(before.result), shown(after.result)
        before.args, after.args = shown(plain), shown(other)
        compare(before, after)
    assert not compiled.faults
    assert not whole or not compiled.breaks, compiled.describe()
    return compiled


def masked_where(x, y):
    a = np.ma.masked_where(x < 0, x)
    return a, a + y, a.filled(-1), a.count(), a.compressed()


def masked_functions(x, y):
    return (
        np.ma.masked_less(x, 0), np.ma.masked_greater(x, 1), np.ma.masked_equal(x, 2.5),
        np.ma.masked_inside(x, 0, 1), np.ma.masked_outside(x, -1, 1), np.ma.masked_not_equal(x, 2.5),
    )  # fmt: skip


def made(x, y):
    a = np.ma.array(x, mask=y > 0)
    b = np.ma.masked_array(y, mask=x < 0, fill_value=9.0)
    return a, b, a * 2 - b, np.ma.sqrt(b), np.ma.log(b), -a


def reduced(x, y):
    a = np.ma.masked_less(y, 0)
    return a.sum(), a.mean(), a.max(), a.min(), a.count(), float(a.sum())


def of_a_matrix(x, y):
    a = np.ma.masked_less(x, 0)
    return a.mean(axis=0), a.sum(axis=1), a.filled(0) @ y.T, a.T, a[1:], a.count(axis=0)


def used_plainly(x, y):
    a = np.ma.masked_invalid(x)
    return a.filled(0).sum() * 2, np.ma.getmaskarray(a), a.mask | (y > 0), a.data + 1


PROGRAMS = {
    "masked_where": (masked_where, False), "masked functions": (masked_functions, False),
    "made": (made, False),
    "made of a mask": (lambda x, y: np.ma.array(x, mask=y > 0), True),
    "arithmetic": (lambda x, y: (np.ma.array(x, mask=x < 0) * 2 + y).filled(0), False),
    "added": (lambda x, y: np.ma.array(x, mask=y > 0) + 1, True),
    "reduced": (reduced, False), "used plainly": (used_plainly, False),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    fn, whole = PROGRAMS[name]
    # NumPy 2.5 makes its masks in other ways.
    run_both(fn, (X, Y), (Y, X), (X[:4], Y[:4]), (I, Y), whole=whole and np.__version__ < "2.5")


@pytest.mark.filterwarnings("ignore")
def test_matrices():
    run_both(
        of_a_matrix, (M, M + 1), (M.T.copy(), M.T + 1), (M * 0, M), (M * 0 - 1, M), whole=False
    )


MAKE = [
    "np.ma.masked_less({}, 1)", "np.ma.array({}, mask=v > 0)", "np.ma.masked_invalid({})",
    "np.ma.masked_where(x > y, {})", "np.ma.masked_array({})", "np.ma.masked_equal({}, 1.0)",
]  # fmt: skip
USE = [
    "{} + 1", "{} * w", "v - {}", "{} / v", "{} ** 2", "np.ma.sqrt({})", "{}[1:]", "{}[0]",
    "{}.sum()", "{}.mean()", "{}.filled(0)", "{}.copy()", "np.ma.where({} > 0, v, w)",
    "{}.compressed()", "{} > w", "np.exp({})", "{}.max()", "abs({})", "{}.astype('f4')",
    "{}.reshape(-1, 1)", "{}.T", "np.ma.getmaskarray({})", "{}.mask", "{}.count()", "{}.std()",
    "np.ma.filled({}, -1)", "np.maximum({}, 0)", "{}.data", "~({} > 0)",
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(40))
def test_random_programs(seed):
    rng = random.Random(seed)
    lines = ["v, w = x, y"]
    for _ in range(rng.randint(1, 4)):
        lines.append(f"v = {rng.choice(MAKE).format(rng.choice('vwxy'))}")
        lines.append(f"w = {rng.choice(USE).format(rng.choice('vw'))}")
        if rng.random() < 0.3:
            lines.append(
                rng.choice(
                    [
                        "v[1] = np.ma.masked",
                        "v[0] = 7.0",
                        "v += 1",
                        "v.mask = x > 1",
                        "v[v > 1] = 0",
                    ]
                )
            )
    source = "def f(x, y):\n" + "".join(f"    {line}\n" for line in lines) + "    return v, w\n"
    scope = {"np": np}
    exec(source, scope)
    run_both(scope["f"], (X, Y), (Y[::-1].copy(), X), (X[:5], Y[:5]), (I, I * 0.5), whole=False)
