"""NumPy's functions about shapes and kinds, by indexing and views that the adapter captures.

A function that is asked for something that its original refuses, or about what is no plain array, gives
up: then the original runs. What the other modules about NumPy need of the kind is here, too.
"""

from __future__ import annotations

from inspect import signature
from numbers import Number
from typing import Any

import numpy as np

from dyntrace.polyfills import members, polyfill, unfollowable


def plain_array(a: Any) -> Any:
    if type(a) is not np.ndarray:
        unfollowable("a function of shapes about what is no array, or one of a class of its own")
    return a


def made_array(a: Any) -> Any:
    """Of sequences and numbers, for the functions that make an array of what they are given."""
    if type(a) in (list, tuple, int, float, complex, bool) or isinstance(a, np.generic):
        return np.asarray(a)
    return plain_array(a)


def known_axis(axis: Any, ndim: int) -> Any:
    if type(axis) is not int or not -ndim <= axis < ndim:
        unfollowable("an axis that the array does not have")
    return axis % ndim


def _along(ndim: int, axis: int, index: Any) -> Any:
    """The index that is `index` on one axis and everything on the others."""
    return (slice(None),) * axis + (index,) + (slice(None),) * (ndim - axis - 1)


def present(module: Any, name: str) -> list[Any]:
    """The function of that name, where this NumPy has one."""
    return [getattr(module, name)] if hasattr(module, name) else []


def _limits_of(value: Any) -> Any:
    """The dtype that np.finfo() and np.iinfo() ask about."""
    if isinstance(value, (np.ndarray, np.generic, int, float, complex)):
        unfollowable("limits of the type of a number or an array")
    return np.dtype(value)


@polyfill(np.finfo)
def finfo(dtype: Any) -> Any:
    return members(np.finfo, _limits_of(dtype))  # NumPy makes one for each dtype


_INTEGERS: dict[Any, Any] = {}


def _known_iinfo(dtype: Any) -> Any:
    """One for each dtype, which lives on: nobody tells them apart."""
    return _INTEGERS.setdefault(dtype, np.iinfo(dtype))


@polyfill(np.iinfo)
def iinfo(int_type: Any) -> Any:
    return members(_known_iinfo, _limits_of(int_type))


@polyfill(np.iinfo.max.fget)
def iinfo_max(self: Any) -> Any:
    return (1 << self.bits - (self.kind != "u")) - 1


@polyfill(np.iinfo.min.fget)
def iinfo_min(self: Any) -> Any:
    return 0 if self.kind == "u" else -(1 << self.bits - 1)


@polyfill(np.ndarray)
def ndarray(
    shape: Any,
    dtype: Any = None,
    buffer: Any = None,
    offset: Any = 0,
    strides: Any = None,
    order: Any = None,
) -> Any:
    if buffer is not None or strides is not None or order not in (None, "C", "F"):
        unfollowable("an array over memory that exists, or with strides of its own")
    return np.empty(shape, dtype, "C" if order is None else order)


@polyfill(np.lib.array_utils.normalize_axis_index)
def normalize_axis_index(axis: Any, ndim: Any, msg_prefix: Any = None) -> Any:
    if type(ndim) is not int:
        unfollowable("so many dimensions")
    return known_axis(axis, ndim)


REVERSED = slice(None, None, -1)
PLANE = signature(np.rot90).parameters["axes"].default


@polyfill(np.flip)
def flip(m: Any, axis: Any = None) -> Any:
    m = made_array(m)
    ndim = m.ndim
    if axis is None:
        return m[(REVERSED,) * ndim]
    axes = axis if type(axis) is tuple else (axis,)
    index = [slice(None)] * ndim
    for one in axes:
        one = known_axis(one, ndim)
        if index[one] is REVERSED:
            unfollowable("one axis twice")
        index[one] = REVERSED
    return m[tuple(index)]


@polyfill(np.fliplr)
def fliplr(m: Any) -> Any:
    m = made_array(m)
    if m.ndim < 2:
        unfollowable("fliplr of fewer than two dimensions")
    return m[:, ::-1]


@polyfill(np.flipud)
def flipud(m: Any) -> Any:
    m = made_array(m)
    if m.ndim < 1:
        unfollowable("flipud of no dimensions")
    return m[::-1, ...]


@polyfill(np.rot90)
def rot90(m: Any, k: Any = 1, axes: Any = PLANE) -> Any:
    m = made_array(m)
    ndim = m.ndim
    if type(axes) is not tuple or len(axes) != 2 or type(k) is not int:
        unfollowable("rot90 of such axes")
    one, other = known_axis(axes[0], ndim), known_axis(axes[1], ndim)
    if one == other:
        unfollowable("rot90 of one axis")
    k %= 4
    if k == 0:
        return m[:]
    if k == 2:
        return flip(flip(m, one), other)
    if k == 1:
        return np.swapaxes(flip(m, other), one, other)
    return flip(np.swapaxes(m, one, other), other)


@polyfill(np.rollaxis)
def rollaxis(a: Any, axis: Any, start: Any = 0) -> Any:
    ndim = plain_array(a).ndim
    axis = known_axis(axis, ndim)
    if type(start) is not int or not -ndim <= start <= ndim:
        unfollowable("rollaxis to such a place")
    if start < 0:
        start += ndim
    if axis < start:
        start -= 1
    if axis == start:
        return a[...]
    order = list(range(ndim))
    order.remove(axis)
    order.insert(start, axis)
    return a.transpose(order)


@polyfill(*present(np, "matrix_transpose"))
@polyfill(*present(np.linalg, "matrix_transpose"))
def matrix_transpose(x: Any, /) -> Any:
    if plain_array(x).ndim < 2:
        unfollowable("a transposed matrix of fewer than two dimensions")
    return np.swapaxes(x, -1, -2)


@polyfill(*present(np.linalg, "matmul"))
def linalg_matmul(x1: Any, x2: Any, /) -> Any:
    return np.matmul(x1, x2)


@polyfill(*present(np.linalg, "trace"))
def linalg_trace(x: Any, /, *, offset: Any = 0, dtype: Any = None) -> Any:
    if dtype is not None or offset != 0 or plain_array(x).ndim != 2:
        unfollowable("the traces of several matrices, or beside the diagonal")
    return np.trace(x)


def _one_or_all(found: list[Any]) -> Any:
    return found[0] if len(found) == 1 else tuple(found)


@polyfill(np.atleast_1d)
def atleast_1d(*arys: Any) -> Any:
    found = []
    for a in arys:
        a = made_array(a)
        found.append(a.reshape(1) if a.ndim == 0 else a)
    return _one_or_all(found)


@polyfill(np.atleast_2d)
def atleast_2d(*arys: Any) -> Any:
    found = []
    for a in arys:
        a = made_array(a)
        found.append(a.reshape(1, 1) if a.ndim == 0 else a[None, :] if a.ndim == 1 else a)
    return _one_or_all(found)


@polyfill(np.atleast_3d)
def atleast_3d(*arys: Any) -> Any:
    found = []
    for a in arys:
        a = made_array(a)
        if a.ndim == 0:
            a = a.reshape(1, 1, 1)
        elif a.ndim == 1:
            a = a[None, :, None]
        elif a.ndim == 2:
            a = a[:, :, None]
        found.append(a)
    return _one_or_all(found)


def _pieces(ary: Any, borders: list[int], axis: int) -> list[Any]:
    swapped = np.swapaxes(ary, axis, 0)
    return [
        np.swapaxes(swapped[borders[i] : borders[i + 1]], axis, 0) for i in range(len(borders) - 1)
    ]


def _split(ary: Any, sections: Any, axis: Any, equal: bool) -> Any:
    axis = known_axis(axis, plain_array(ary).ndim)
    total = ary.shape[axis]
    if type(sections) in (list, tuple):
        borders = [0, *sections, total]
        for border in borders:
            if type(border) is not int and not isinstance(border, np.signedinteger):
                unfollowable("borders that are no ints")
        return _pieces(ary, borders, axis)
    if type(sections) is not int or sections <= 0:
        unfollowable("so many sections")
    each, more = divmod(total, sections)
    if equal and more:
        unfollowable("sections of unequal sizes")
    borders = [0]
    for i in range(sections):
        borders.append(borders[-1] + each + (1 if i < more else 0))
    return _pieces(ary, borders, axis)


@polyfill(np.array_split)
def array_split(ary: Any, indices_or_sections: Any, axis: Any = 0) -> Any:
    return _split(ary, indices_or_sections, axis, False)


@polyfill(np.split)
def split(ary: Any, indices_or_sections: Any, axis: Any = 0) -> Any:
    return _split(ary, indices_or_sections, axis, True)


@polyfill(np.vsplit)
def vsplit(ary: Any, indices_or_sections: Any) -> Any:
    if plain_array(ary).ndim < 2:
        unfollowable("vsplit of fewer than two dimensions")
    return _split(ary, indices_or_sections, 0, True)


@polyfill(np.hsplit)
def hsplit(ary: Any, indices_or_sections: Any) -> Any:
    if plain_array(ary).ndim == 0:
        unfollowable("hsplit of no dimensions")
    return _split(ary, indices_or_sections, 1 if ary.ndim > 1 else 0, True)


@polyfill(np.dsplit)
def dsplit(ary: Any, indices_or_sections: Any) -> Any:
    if plain_array(ary).ndim < 3:
        unfollowable("dsplit of fewer than three dimensions")
    return _split(ary, indices_or_sections, 2, True)


@polyfill(*present(np, "unstack"))
def unstack(x: Any, /, *, axis: Any = 0) -> Any:
    axis = known_axis(axis, plain_array(x).ndim)
    moved = np.moveaxis(x, axis, 0)
    return tuple([moved[i] for i in range(x.shape[axis])])


@polyfill(np.ix_)
def ix_(*args: Any) -> Any:
    found = []
    for place, new in enumerate(args):
        if not isinstance(new, np.ndarray):
            if type(new) not in (list, tuple) or len(new) == 0:
                unfollowable("ix_ of such a sequence")
            new = np.array(new)
        if new.ndim != 1 or not np.issubdtype(new.dtype, np.integer):
            unfollowable("ix_ of what are no indices")
        found.append(new.reshape((1,) * place + (new.shape[0],) + (1,) * (len(args) - place - 1)))
    return tuple(found)


@polyfill(np.allclose)
def allclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: Any = False) -> Any:
    return bool(np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan).all())


@polyfill(np.array_equal)
def array_equal(a1: Any, a2: Any, equal_nan: Any = False) -> Any:
    if equal_nan:
        unfollowable("array_equal that takes NaN for equal")
    a1, a2 = made_array(a1), made_array(a2)
    if a1.shape != a2.shape:
        return False
    return bool((a1 == a2).all())


#: Does count_nonzero() of a whole array give a Python int, as NumPy did before 2.4?
_COUNTS_IN_PYTHON = type(np.count_nonzero(np.zeros(1))) is int


@polyfill(np.count_nonzero)
def count_nonzero(a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    a = made_array(a)
    truth = a if np.issubdtype(a.dtype, np.bool_) else a.astype(bool)
    if axis is None and not keepdims and _COUNTS_IN_PYTHON:
        return int(truth.sum(dtype=np.intp))
    return truth.sum(axis=axis, dtype=np.intp, keepdims=keepdims)


# ---- Kinds of objects ------------------------------------------------------------------------


@polyfill(np.isscalar)
def isscalar(element: Any) -> Any:
    if isinstance(element, np.ndarray) or type(element) in (list, tuple, dict, set):
        return False
    if element is None:
        return False
    if isinstance(element, (np.generic, int, float, complex)) or type(element) in (str, bytes, memoryview):
        return True
    return isinstance(element, Number)


@polyfill(np.iterable)
def iterable(y: Any) -> Any:
    if isinstance(y, np.ndarray):
        return y.ndim > 0
    if type(y) in (list, tuple, dict, set, str, range):
        return True
    if type(y) in (int, float, complex, bool) or y is None:
        return False
    unfollowable("iterable() of something else")


@polyfill(*present(np, "astype"))
def astype(x: Any, dtype: Any, /, *, copy: Any = True, device: Any = None) -> Any:
    if device is not None or not copy:
        unfollowable("astype() that may give its argument")
    return plain_array(x).astype(dtype)


@polyfill(np.require)
def require(a: Any, dtype: Any = None, requirements: Any = None, *, like: Any = None) -> Any:
    if like is not None:
        unfollowable("require() like another array")
    if requirements is None or len(requirements) == 0:
        return np.asanyarray(a, dtype=dtype)
    for requirement in requirements:
        if requirement not in ("C", "C_CONTIGUOUS", "CONTIGUOUS"):
            unfollowable("require() of anything but C order")
    if plain_array(a).ndim == 0:
        unfollowable("require() of an array of no dimensions")
    return np.asanyarray(np.ascontiguousarray(a), dtype=dtype)  # a cast keeps the order


@polyfill(np.real_if_close)
def real_if_close(a: Any, tol: Any = 100) -> Any:
    if np.iscomplexobj(plain_array(a)):
        unfollowable("what may be its argument, or a view, as the data says")
    return a


@polyfill(np.fromiter)
def fromiter(iter: Any, dtype: Any, count: Any = -1, *, like: Any = None) -> Any:
    if like is not None or count != -1:
        unfollowable("fromiter() of a number of items")
    items = list(iter)
    if not items:
        unfollowable("fromiter() of nothing, whose strides are its own")
    for item in items:
        if type(item) not in (int, float, bool):
            unfollowable("fromiter() over what are no numbers")
    return np.array(items, dtype=dtype)
