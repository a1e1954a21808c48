"""What dtypes and the limits of types of numbers say, and copies of arrays"""

import copy

import dyntrace
import numpy as np
import pytest
from differential import FORCED, check

A = np.linspace(0.5, 2.0, 4)
F = np.linspace(0.5, 2.0, 4, dtype=np.float32)
M = np.arange(12.0).reshape(3, 4)
WHOLE = []


def whole(fn):
    WHOLE.append(fn)
    return fn


class State:
    def __init__(self, values):
        self.values = values
        self.history = [values]


@whole
def by_kind(x):
    if x.dtype.kind == "f":
        return x * 2
    return x.astype(float)


@whole
def members(x):
    d = x.dtype
    return (
        x + 1,
        d.kind,
        d.char,
        d.name,
        d.str,
        d.itemsize,
        d.num,
        d.isnative,
        d.byteorder,
        d.hasobject,
    )


@whole
def of_the_type(x):
    return x * x.dtype.type(3), x.dtype.type


@whole
def texts(x):
    return x + 1, str(x.dtype), repr(x.dtype), f"{x.dtype}", "%s" % x.dtype, f"{x.dtype!r:>20}"


@whole
def epsilon(x):
    return x + np.finfo(x.dtype).eps


@whole
def limits(x):
    info = np.finfo(np.float32)
    return np.clip(x, info.min, info.max), info.bits, np.finfo(float).max


@whole
def int_limits(x):
    info = np.iinfo(np.int16)
    return x * info.max, info.min, info.bits, np.iinfo(np.uint8).max, np.iinfo(np.uint8).min


@whole
def no_float(x):
    try:
        np.finfo(int)
    except ValueError as error:
        return x * 2, str(error)


@whole
def issub(x):
    return x * 2, np.issubdtype(x.dtype, np.floating), np.issubdtype(x.dtype, np.integer)


@whole
def promoted(x):
    return x.astype(np.promote_types(x.dtype, np.complex64)), np.can_cast(x.dtype, np.float64)


@whole
def shallow_copy(x):
    y = copy.copy(x)
    y[0] = 9.0
    return x, y


@whole
def deep_copy(x):
    y = copy.deepcopy(x)
    y += 1
    return x, y


@whole
def deep_copy_of_containers(x):
    state = {"x": x, "l": [x, x * 2]}
    other = copy.deepcopy(state)
    other["x"][:] = 0
    return state, other, other["l"][0] is other["x"]


@whole
def deep_copy_of_an_object(x):
    state = State(x * 2)
    other = copy.deepcopy(state)
    other.values[0] = 5.0
    return state.values, other.values, other.history[0] is other.values


@pytest.mark.parametrize("x", [A, F], ids=["float64", "float32"])
@pytest.mark.parametrize("fn", WHOLE, ids=lambda fn: fn.__name__)
def test_captured_whole(fn, x):
    check(fn, x)


@pytest.mark.parametrize("fn", [shallow_copy, deep_copy])
def test_copies_of_more_dimensions(fn):
    check(fn, M)
    check(fn, M[:, 0])
    check(fn, M.T, breaks="array-op")


@pytest.mark.skipif(bool(FORCED), reason="it is about what is captured")
def test_another_dtype_is_another_entry():
    compiled = dyntrace.compile(by_kind, fullgraph=True)
    assert compiled(A).dtype == float
    assert compiled(np.arange(3)).dtype == float
    assert np.array_equal(compiled(np.arange(3)), np.arange(3.0))
