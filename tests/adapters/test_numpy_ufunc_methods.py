"""accumulate, outer and reduceat of ufuncs, and reductions with initial= and where=."""

import numpy as np
import pytest
from differential import Compiled, Outcome, check, compare
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

V = np.array([3.0, -1.0, 4.0, 1.5, -5.0, 9.0])
M = np.arange(1.0, 13.0).reshape(3, 4) / 7
I = np.array([3, 1, 4, 1, 5, 9])
CASES = {
    "cumulative maximum": (lambda x: np.maximum.accumulate(x) - x, V),
    "cumulative minimum of rows": (lambda m: np.minimum.accumulate(m, axis=1), M),
    "drawdown": (
        lambda x: ((np.maximum.accumulate(x) - x) / np.maximum.accumulate(x)).max(),
        V + 6,
    ),
    "sums of ints": (lambda i: np.add.accumulate(i) * 2, I),
    "sums of another type": (lambda i: np.add.accumulate(i, dtype=np.float32), I),
    "products": (lambda m: np.multiply.accumulate(m, 0), M),
    "sums of complex numbers": (lambda x: np.add.accumulate(x * 1j), V),
    "a table of differences": (lambda x: np.subtract.outer(x, x), V),
    "distances": (lambda x, y: np.abs(np.subtract.outer(x, y)).min(axis=1), V, M[0]),
    "a multiplication table": (lambda i: np.multiply.outer(i, i) % 7, I),
    "outer of a matrix": (lambda m, x: np.add.outer(m, x), M, V),
    "outer with a number": (lambda x: np.power.outer(x, 2.0), V),
    "outer of matrices": (lambda m: np.subtract.outer(m, m.T), M),
    "outer of a column": (lambda m: np.minimum(m, np.add.outer(m[:, 1], m[2, :])), M),
    "complex outer": (lambda x: np.multiply.outer(x * 1j, x), V),
    "less outer": (lambda x, y: np.less.outer(x, y).sum(0), V, M[1]),
    "hypot outer": (lambda x: np.hypot.outer(x[:3], x[3:]), V),
    "sums of groups": (lambda x: np.add.reduceat(x, [0, 2, 4]) * 2, V),
    "maxima of groups of rows": (lambda m: np.maximum.reduceat(m, [0, 3], axis=1), M),
    "groups from an array": (lambda x, i: np.add.reduceat(x, i), V, np.array([0, 3])),
    "sum with initial": (lambda x: np.sum(x, initial=10.0), V),
    "sum method with initial": (lambda m: m.sum(axis=0, initial=2.5), M),
    "max with initial": (lambda x: np.max(x, initial=0.0) + x.min(initial=-100.0), V),
    "product with initial": (lambda m: np.prod(m, axis=1, initial=2.0, keepdims=True), M),
    "sum where": (lambda x: np.sum(x, where=x > 0), V),
    "sum where, method": (lambda m: m.sum(axis=1, where=m > 1.0), M),
    "max where": (lambda m: m.max(axis=0, where=m > 1.0, initial=-1.0), M),
    "any where": (lambda m: np.any(m > 1, axis=1, where=m < 1.5), M),
    "all where": (lambda m: (m > 0).all(where=m > 1), M),
    "reduce where": (lambda m: np.add.reduce(m, axis=1, where=m > 1), M),
    "reduce with initial": (lambda m: np.maximum.reduce(m, initial=1.0), M),
    "logical or": (lambda m: np.logical_or.reduce(m > 1.5, axis=1), M),
    "defaults": (lambda x: np.sum(x, where=True) + np.add.reduce(x, where=True), V),
    "ufunc from a loop": (lambda x: [f.accumulate(x) for f in (np.add, np.maximum)], V),
}


@pytest.mark.parametrize("name", CASES)
def test_in_the_graph(name):
    fn, *args = CASES[name]
    check(fn, *args)


@pytest.mark.parametrize("name", CASES)
def test_op_by_op(name):
    fn, *args = CASES[name]
    check(fn, *args, backend="eager")


BREAKS = {
    "into an array": (lambda x: np.add.accumulate(x, out=x), V),
    "into an array by place": (lambda x: np.add.accumulate(x, 0, None, x), V),
    "no items": (lambda x: np.add.accumulate(x[:0]), V),
    "a wrong axis": (lambda x: np.add.accumulate(x, axis=3), V),
    "a ufunc of one operand": (lambda x: np.sin.accumulate(x), V),
    "maximum of nothing": (lambda x: np.max(x, where=x > 100), V),
    "groups beyond the end": (lambda x: np.add.reduceat(x, [0, 9]), V),
}


@pytest.mark.parametrize("name", BREAKS)
def test_runs_plainly(name):
    """Captured or not, as plain execution, exceptions included."""
    fn, *args = BREAKS[name]
    compiled = Compiled(fn)
    for _ in range(3):
        compare(
            Outcome(fn, [a.copy() for a in args], {}),
            Outcome(compiled, [a.copy() for a in args], {}),
        )


def test_warnings_come_from_the_users_line():
    check(lambda x: np.divide.outer(x, x - x[0]) + 1, V)
    check(lambda x: np.multiply.accumulate(x * 1e200), V)


UFUNCS = ["add", "multiply", "maximum", "fmin", "subtract", "logical_and", "hypot", "bitwise_or"]


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from(UFUNCS),
    st.sampled_from(["accumulate", "outer", "reduceat", "where", "initial"]),
    st.sampled_from(["d", "f", "F", "i8", "u1", "?", "e"]),
    st.sampled_from(["C", "F", "reversed", "strided"]),
    st.sampled_from([(5,), (3, 4), (1, 4), (2, 3, 2)]),
    st.integers(0, 2**31),
)
def test_any_dtype_and_layout(name, method, dtype, layout, shape, seed):
    rng = np.random.default_rng(seed)
    array = (rng.random(shape) * 8).astype(dtype)
    if layout == "F":
        array = np.asfortranarray(array)
    elif layout == "reversed":
        array = array[::-1]
    elif layout == "strided":
        array = np.repeat(array, 2, axis=0)[::2]
    ufunc = getattr(np, name)
    axis = int(rng.integers(len(shape)))
    mask = rng.random(shape) > 0.4
    fns = {
        "accumulate": lambda x, m: ufunc.accumulate(x, axis),
        "outer": lambda x, m: ufunc.outer(x, x[..., 0]),
        "reduceat": lambda x, m: ufunc.reduceat(x, [0, 0], axis),
        "where": lambda x, m: ufunc.reduce(x, axis, where=m, initial=1),
        "initial": lambda x, m: ufunc.reduce(x, axis, keepdims=True, initial=1),
    }
    fn = fns[method]
    compiled = Compiled(fn)
    for _ in range(2):
        compare(Outcome(fn, [array, mask], {}), Outcome(compiled, [array, mask], {}))
