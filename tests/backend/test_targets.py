"""Stages that make their results in the arrays that these are written to, however those lie in memory."""

from __future__ import annotations

import dyntrace
import numpy as np
import pytest

RNG = np.random.default_rng(5)

# From an array one larger in each dimension, the part that is written.
PARTS = {
    "all": lambda a: a[:-1, :-1].copy(),
    "fortran": lambda a: np.asfortranarray(a[:-1, :-1]),
    "inner": lambda a: a[1:, 1:],
    "left": lambda a: a[:-1, :-1],
    "backwards": lambda a: a[-2::-1, -2::-1],
    "transposed": lambda a: a.T[:-1, 1:],
    "apart": lambda a: np.repeat(a, 2, axis=1)[1:, :-2:2],
    "rows_backwards": lambda a: a[:0:-1, 1:],
}
SIZES = [(5, 5), (40, 40), (300, 300)]  # one block; rows gathered in blocks; rows of their own


def assign(target, x, y):
    target[...] = x * y + 1.0


def add(target, x, y):
    target += x * 0.5 - y


def twice(target, x, y):
    target -= x * 0.25
    target *= y + x


def in_turns(target, x, y):
    for _ in range(4):
        target[1:] += 0.5 * (x[1:] - x[:-1])
        target[:-1, 1:] -= y[1:, :-1] * target[:-1, 1:]


def two(target, x, y):
    s = x * y
    target[...] = s * 2
    y[...] = s * 3


def outcome(f, base, part, x, y, errors):
    base, x, y = base.copy(), x.copy(), y.copy(order="K")
    target = PARTS[part](base)
    error = None
    with np.errstate(all=errors):
        try:
            f(target, x, y)
        except FloatingPointError as raised:
            error = str(raised)
    return error, base.tobytes(), target.tobytes(), x.tobytes(), y.tobytes()


def compare(f, size, part, dtype, spoil=None):
    shape = (size[0] + 1, size[1] + 1)
    base, x, y = ((RNG.random(s) * 4 - 2).astype(dtype) for s in (shape, size, size))
    errors = "ignore"
    if spoil is not None:
        x[spoil], y[spoil] = 1.7e308, -1.6e308
        PARTS[part](base)[spoil] = 1e308
        errors = "raise"
    compiled = dyntrace.compile(f)
    for turn in range(3):
        if turn == 0 and spoil is not None:
            compiled(*(np.ones(size, dtype) for _ in range(3)))
        expected = outcome(f, base, part, x, y, errors)
        assert outcome(compiled, base, part, x, y, errors) == expected
    assert spoil is None or expected[0] is not None


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("f", [assign, add, twice, in_turns, two])
def test_targets(f, part, size):
    for dtype in ("f8", "f4", "c16") if size[0] < 300 else ("f8",):
        compare(f, size, part, dtype)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("f", [assign, add, twice, in_turns, two])
@pytest.mark.parametrize("where", [(0, 0), (-1, -1), (150, 7)], ids=str)
def test_what_was_written_is_taken_back(f, part, where):
    """A late block raises: plain execution begins with what the arrays held before the call."""
    compare(f, (300, 300), part, "f8", spoil=where)


def test_a_target_of_another_shape():
    """The values are broadcast to it."""

    def f(target, x, y):
        target[...] = x * y

    x = RNG.random((3, 4))
    compiled = dyntrace.compile(f)
    for shape in [(3, 4), (2, 3, 4), (2, 3, 4)]:
        plain, other = np.zeros(shape), np.zeros(shape)
        f(plain, x, x)
        compiled(other, x, x)
        assert plain.tobytes() == other.tobytes()


def test_sizes_that_differ_by_the_same_number_are_one():
    """Two arrays whose inner parts are as large are as large themselves: one stage, and guarded."""

    def f(a, b):
        a[1:] += 0.5 * (b[1:] - b[:-1])

    compiled = dyntrace.compile(f)
    for n in (5, 6, 9):
        a, b = RNG.random(n), RNG.random(n)
        plain = a.copy()
        f(plain, b)
        compiled(a, b)
        assert plain.tobytes() == a.tobytes()
    assert str(dyntrace.explain(compiled)(a, b)).count("fused ") == 1
    with pytest.raises(ValueError, match="broadcast"):
        compiled(RNG.random(5), RNG.random(7))
