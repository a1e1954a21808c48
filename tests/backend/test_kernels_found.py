"""Places, items that there are, and sizes that have to hold, found without a call of NumPy's Python."""

from __future__ import annotations

import warnings

import dyntrace
import numpy as np
import pytest
from differential import check_calls
from dyntrace import _core

TYPES = "?bhilqBHILQefdFD"
SIZES = [1, 2, 7, 8, 9, 31, 64, 129, 200, 1500]


def seen(value):
    """What can be seen of an array, its base included; of a tuple of them."""
    if type(value) is tuple:
        return tuple(seen(part) for part in value)
    if not isinstance(value, np.ndarray):
        return type(value), value
    base = None if value.base is None else (value.base.shape, value.base.flags.num, value.base.tobytes())
    shared = None if value.base is None else value.ctypes.data - value.base.ctypes.data
    return value.dtype, value.shape, value.strides, value.flags.num, value.tobytes(), base, shared


def outcome(function, arguments):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = seen(function(*arguments))
        except (ValueError, TypeError, IndexError, FloatingPointError) as error:
            result = type(error), str(error)
    return result, [(str(w.message), w.category, w.lineno) for w in caught]


def same(function, cases, kernels=None):
    """Each case plainly and compiled; the last one by that many kernels and nothing that is called."""
    compiled = dyntrace.compile(function)
    with dyntrace.config.patch(recompile_limit=300, weigh_after=0):
        for case in cases:
            expected = outcome(function, case)
            for _ in range(2):
                assert outcome(compiled, case) == expected, case
        if kernels is not None:
            explanation = dyntrace.explain(function)(*cases[-1])
            stages = "\n".join(explanation.stages)
            assert stages.count("kernel  ") == kernels and "called" not in stages, stages


def arrays(char, shape_of=lambda n: n):
    rng = np.random.default_rng(ord(char))
    for size in SIZES:
        for share in (0, 0.1, 0.6, 1):
            shape = shape_of(size)
            numbers = rng.integers(1, 100, shape) * (rng.random(shape) < share)
            yield (numbers.astype(char) if char != "?" else numbers != 0,)


# ---- Places --------------------------------------------------------------------------------------


@pytest.mark.parametrize("char", TYPES)
def test_places(char):
    cases = list(arrays(char))
    kernels = None if char in "eFD" else 1
    same(lambda a: np.flatnonzero(a), cases, kernels)
    same(lambda a: a.nonzero(), cases, kernels)
    same(lambda a: np.where(a), cases, kernels)
    same(lambda a: np.argwhere(a), cases, kernels)


@pytest.mark.parametrize("char", "?ld")
def test_places_of_more_dimensions(char):
    for shape_of in (lambda n: (n, 3), lambda n: (2, n, 1), lambda n: (1, n), lambda n: (2, 3, n % 7 + 1, 2)):
        cases = list(arrays(char, shape_of))
        same(lambda a: np.flatnonzero(a), cases, 1)
        same(lambda a: np.nonzero(a), cases, 1)
        same(lambda a: np.argwhere(a), cases, 1)


def test_places_in_other_arrays():
    a = np.arange(24.0).reshape(4, 6) % 5
    odd = np.array([0, 1, 2, 255, 0, 128, 0, 1], np.uint8).view(bool)
    others = [a.T, a[::2], a[:, 1:4], a[::-1], a[:0], np.zeros((3, 0)), a.astype(">f8"), odd, np.array(3.0)]
    for function in (np.flatnonzero, np.nonzero, np.argwhere):
        same(lambda a, function=function: function(a), [(a,), *((other,) for other in others)])
    values = np.array([0.0, -0.0, np.nan, np.inf, 5e-324, -np.nan])
    same(lambda a: np.flatnonzero(a), [(values,), (values.astype("f4"),)])


def test_places_are_used():
    def crossings(x):
        at = np.flatnonzero(np.signbit(x[1:]) != np.signbit(x[:-1]))
        return at - x[at] / (x[at + 1] - x[at])

    def written(x):
        at = np.flatnonzero(x > 0)
        at += 1
        return at, at.base

    waves = [(np.sin(np.arange(n) + 0.5),) for n in (40, 3, 100, 200)]
    same(crossings, waves)
    same(written, waves)


# ---- Rows by a mask ------------------------------------------------------------------------------


@pytest.mark.parametrize("char", "?blfdD")
def test_rows(char):
    for shape_of in (lambda n: (n, 3), lambda n: (n, 1), lambda n: (n, 2, 2)):
        cases = [(a, np.arange(len(a)) % 3 == k) for k in (0, 1) for (a,) in arrays(char, shape_of)]
        same(lambda a, m: a[m], cases, 1)
    a = np.arange(12.0).reshape(3, 4)
    masks = [np.zeros(3, bool), np.ones(3, bool), np.ones(4, bool), np.ones(6, bool)[::2]]
    same(lambda a, m: a[m], [(a, m) for m in masks])
    same(lambda a, m: a[m], [(other, masks[1]) for other in (a, np.asfortranarray(a), a[:, ::2], a[:, :0])])


# ---- Which items there are -----------------------------------------------------------------------

UNIQUE = [
    lambda a: np.unique(a),
    lambda a: np.unique(a, return_inverse=True),
    lambda a: np.unique(a, return_counts=True),
    lambda a: np.unique(a, return_counts=True, return_inverse=True),
]


@pytest.mark.parametrize("char", "bhilqBHILQd")
def test_unique(char):
    rng = np.random.default_rng(5)
    limits = np.iinfo(char) if char != "d" else None
    cases = []
    for size in SIZES:
        for most in (1, 3, 50, 120):
            cases.append((rng.integers(0, most + 1, size).astype(char),))
        if limits is not None:
            cases.append((rng.integers(limits.min, limits.max, size, dtype=char, endpoint=True),))
            cases.append((np.array([limits.min, limits.max] * size, char),))
        else:
            cases.append((rng.standard_normal(size),))
            cases.append((rng.integers(-9, 9, size) * 1e-310,))
            cases.append((rng.permutation([np.inf, -np.inf, 1e308, -1e308] * size),))
    for function in UNIQUE:
        same(function, cases, None if char == "Q" else 1)


def test_unique_of_what_is_equal_but_not_the_same():
    odd = [[0.0, -0.0, 1], [-0.0, 0.0], [-0.0], [np.nan, 1, np.nan], [np.nan, -np.nan]]
    for function in UNIQUE:
        same(function, [(np.array([1.0, 2]),), *((np.array(items),) for items in odd)])
        same(function, [(np.arange(6).reshape(2, 3) % 4,), (np.arange(12) % 5,), (np.arange(0),)])
        for part in (np.s_[::2], np.s_[::-1], np.s_[1:1]):
            same(lambda a, part=part, function=function: function(a[part]), [(np.arange(12) * 5 % 7,)])
            same(function, [((np.arange(12) * 5 % 7)[part],), (np.asfortranarray(np.eye(5, 3))[2],)])


def test_unique_in_a_program():
    def grouped(values, labels):
        keys, inverse, counts = np.unique(labels, return_inverse=True, return_counts=True)
        return keys, np.bincount(inverse, weights=values) / counts, inverse.base is None

    rng = np.random.default_rng(3)
    cases = [(rng.standard_normal(n), rng.integers(0, k, n)) for n, k in ((9, 3), (200, 50), (1, 1))]
    check_calls(grouped, *cases, whole=False)


# ---- searchsorted --------------------------------------------------------------------------------


def test_searchsorted():
    x = np.array([0.0, 1, 1, 2, 5])
    wanted = [np.array([1.0, -1, 9, np.nan]), np.array([[1, 2], [5, 0]]), np.array([1.0])[:0], np.array(2.0)]
    for side in (
        lambda a, v: np.searchsorted(a, v),
        lambda a, v: np.searchsorted(a, v, side="right"),
        lambda a, v: np.searchsorted(a, v, "left"),
    ):
        same(side, [(x, v) for v in wanted])
        others = [np.arange(9), x.astype("f4"), x[::-1][::-1], np.repeat(x, 2)[::2]]
        same(side, [(a, wanted[0]) for a in others])
        same(side, [(x, wanted[0][:3])], 1)


# ---- Sizes that have to hold ---------------------------------------------------------------------

MASKS = [np.linspace(-1, 1, 9), -np.ones(4), np.eye(9)[2], np.ones(6), np.zeros(0), np.arange(-3.0, 40)]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x[x > 0].mean(),
        lambda x: x[x > 0].mean(dtype="f4"),
        lambda x: np.mean(x[x > 0], keepdims=True),
        lambda x: x[x > 0].std(),
        lambda x: x[x > 0].var(ddof=1),
        lambda x: x[x > 0].var(ddof=3, keepdims=True),
        lambda x: (x[x > 0].mean() - x[x < 0].mean(), len(x[x > 0]) / len(x[x < 0])),
        lambda x: x[:, None][x > 0].mean(axis=0),
        lambda x: (x[:, None] * np.ones(3))[x > 0].mean(axis=1),
        lambda x: (x[:, None] * np.ones(3))[x > 0].std(),
        lambda x: (x[:, None] * np.ones(3))[x > 0].var(axis=0, ddof=1),
        lambda x: (x[x > 0] - x[x > 0].mean()) / x[x > 0].std(),
        lambda x: x[x > 0] + x[::-1][x > 0],
        lambda x: x[x > 0] * x[x < 0],
        lambda x: len(x[x > 0]) / len(x),
        lambda x: (len(x[x > 0]) / 7, 3 / len(x[x > 0]), len(x[x > 0]) // 2, len(x[x > 0]) % 3),
    ],
)
@pytest.mark.parametrize("char", "dfl")
def test_statistics_of_selections(function, char):
    check_calls(function, *((x.astype(char),) for x in MASKS), whole=False)


def test_sizes_in_one_stage():
    def share(x):
        return len(x[x > 0]) / len(x) + 1

    with dyntrace.config.patch(weigh_after=0):
        stages = "\n".join(str(stage) for stage in dyntrace.explain(share)(MASKS[0]).stages)
    assert "called" not in stages


def test_quotients_of_large_ints():
    def quotient(x, k):
        return (int(x[0]) + k) / (int(x[1]) + k)

    numbers = [0, 1, 3, -7, 2**53 - 1, 2**53, 2**53 + 1, 2**62 + 1, -(2**63)]
    cases = [(np.array([a, b]), 0) for a in numbers for b in numbers]
    check_calls(quotient, *cases, whole=False)


# ---- The call that looks at what came out --------------------------------------------------------


def form(array, owns=True, sizes=None):
    return type(array), array.dtype, array.shape if sizes is None else sizes, owns


def test_forms_of_results():
    shaped, a = _core.shaped, np.arange(4.0)
    twice = lambda *args, **kwargs: np.append(*args, **kwargs)  # noqa: E731
    made = np.append(a, a)
    assert shaped(np.append, None, (form(made),), a, a).tolist() == made.tolist()
    assert shaped(twice, None, (form(made, sizes=(None,)),), a, values=a).tolist() == made.tolist()
    assert shaped(np.divmod, tuple, (form(a), form(a)), a, 3.0)[1].tolist() == [0, 1, 2, 0]
    assert shaped(np.max, None, ((np.float64, None, None, None),), a) == 3
    refused = [
        (np.append, None, (form(made, sizes=(7,)),), a, a),
        (np.append, None, (form(made, sizes=(8, 1)),), a, a),
        (np.append, None, (form(made, owns=False),), a, a),
        (np.append, None, (form(made.astype("f4")),), a, a),
        (np.append, None, ((np.float64, None, None, None),), a, a),
        (np.append, None, (form(made[:4]),), a, a[:0]),
        (np.append, None, (form(made[:4]),), a, [[a[:0]]]),
        (np.append, tuple, (form(made),), a, a),
        (np.divmod, None, (form(a),), a, 3.0),
        (np.divmod, tuple, (form(a),), a, 3.0),
        (np.ravel, None, (form(a, owns=False),), a.reshape(2, 2)),
        (np.asarray, None, (form(a),), a),
    ]
    for arguments in refused:
        with pytest.raises(ValueError, match="not as it is expected"):
            shaped(*arguments)
    with pytest.raises(TypeError):
        shaped(np.append, None)
    with pytest.raises(ZeroDivisionError):
        shaped(lambda x: 1 / 0, None, (form(a),), a)
