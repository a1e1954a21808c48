"""NumPy's functions about shapes, by indexing and views that the adapter captures.

A function that is asked for something that its original refuses, or about what is no plain array, gives
up: then the original runs.
"""

from __future__ import annotations

import importlib
from inspect import signature
from itertools import product
from types import CodeType
from typing import Any

import numpy as np

from dyntrace.polyfills import (
    BITS,
    CALL,
    NOTHING,
    effect,
    fp_region,
    fp_setting,
    members,
    polyfill,
    printing,
    unfollowable,
)


def _array(a: Any) -> Any:
    if not isinstance(a, np.ndarray):
        unfollowable("a function of shapes about what is no array")
    return a


def _as_array(a: Any) -> Any:
    """Of sequences and numbers, for the functions that make an array of what they are given."""
    if type(a) in (list, tuple, int, float, complex, bool) or isinstance(a, np.generic):
        return np.asarray(a)
    return _array(a)


def _axis(axis: Any, ndim: int) -> Any:
    if type(axis) is not int or not -ndim <= axis < ndim:
        unfollowable("an axis that the array does not have")
    return axis % ndim


def _along(ndim: int, axis: int, index: Any) -> Any:
    """The index that is `index` on one axis and everything on the others."""
    return (slice(None),) * axis + (index,) + (slice(None),) * (ndim - axis - 1)


def _present(module: Any, name: str) -> list[Any]:
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


REVERSED = slice(None, None, -1)
PLANE = signature(np.rot90).parameters["axes"].default


@polyfill(np.flip)
def flip(m: Any, axis: Any = None) -> Any:
    m = _as_array(m)
    ndim = m.ndim
    if axis is None:
        return m[(REVERSED,) * ndim]
    axes = axis if type(axis) is tuple else (axis,)
    index = [slice(None)] * ndim
    for one in axes:
        one = _axis(one, ndim)
        if index[one] is REVERSED:
            unfollowable("one axis twice")
        index[one] = REVERSED
    return m[tuple(index)]


@polyfill(np.fliplr)
def fliplr(m: Any) -> Any:
    m = _as_array(m)
    if m.ndim < 2:
        unfollowable("fliplr of fewer than two dimensions")
    return m[:, ::-1]


@polyfill(np.flipud)
def flipud(m: Any) -> Any:
    m = _as_array(m)
    if m.ndim < 1:
        unfollowable("flipud of no dimensions")
    return m[::-1, ...]


@polyfill(np.rot90)
def rot90(m: Any, k: Any = 1, axes: Any = PLANE) -> Any:
    m = _as_array(m)
    ndim = m.ndim
    if type(axes) is not tuple or len(axes) != 2 or type(k) is not int:
        unfollowable("rot90 of such axes")
    one, other = _axis(axes[0], ndim), _axis(axes[1], ndim)
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
    ndim = _array(a).ndim
    axis = _axis(axis, ndim)
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


@polyfill(*_present(np, "matrix_transpose"))
@polyfill(*_present(np.linalg, "matrix_transpose"))
def matrix_transpose(x: Any, /) -> Any:
    if _array(x).ndim < 2:
        unfollowable("a transposed matrix of fewer than two dimensions")
    return np.swapaxes(x, -1, -2)


@polyfill(*_present(np.linalg, "matmul"))
def linalg_matmul(x1: Any, x2: Any, /) -> Any:
    return np.matmul(x1, x2)


@polyfill(*_present(np.linalg, "trace"))
def linalg_trace(x: Any, /, *, offset: Any = 0, dtype: Any = None) -> Any:
    if dtype is not None or offset != 0 or _array(x).ndim != 2:
        unfollowable("the traces of several matrices, or beside the diagonal")
    return np.trace(x)


def _one_or_all(found: list[Any]) -> Any:
    return found[0] if len(found) == 1 else tuple(found)


@polyfill(np.atleast_1d)
def atleast_1d(*arys: Any) -> Any:
    found = []
    for a in arys:
        a = _as_array(a)
        found.append(a.reshape(1) if a.ndim == 0 else a)
    return _one_or_all(found)


@polyfill(np.atleast_2d)
def atleast_2d(*arys: Any) -> Any:
    found = []
    for a in arys:
        a = _as_array(a)
        found.append(a.reshape(1, 1) if a.ndim == 0 else a[None, :] if a.ndim == 1 else a)
    return _one_or_all(found)


@polyfill(np.atleast_3d)
def atleast_3d(*arys: Any) -> Any:
    found = []
    for a in arys:
        a = _as_array(a)
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
    axis = _axis(axis, _array(ary).ndim)
    total = ary.shape[axis]
    if type(sections) in (list, tuple):
        borders = [0, *sections, total]
        for border in borders:
            if type(border) is not int:
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
    if _array(ary).ndim < 2:
        unfollowable("vsplit of fewer than two dimensions")
    return _split(ary, indices_or_sections, 0, True)


@polyfill(np.hsplit)
def hsplit(ary: Any, indices_or_sections: Any) -> Any:
    if _array(ary).ndim == 0:
        unfollowable("hsplit of no dimensions")
    return _split(ary, indices_or_sections, 1 if ary.ndim > 1 else 0, True)


@polyfill(np.dsplit)
def dsplit(ary: Any, indices_or_sections: Any) -> Any:
    if _array(ary).ndim < 3:
        unfollowable("dsplit of fewer than three dimensions")
    return _split(ary, indices_or_sections, 2, True)


@polyfill(*_present(np, "unstack"))
def unstack(x: Any, /, *, axis: Any = 0) -> Any:
    axis = _axis(axis, _array(x).ndim)
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
    a1, a2 = _as_array(a1), _as_array(a2)
    if a1.shape != a2.shape:
        return False
    return bool((a1 == a2).all())


#: Does count_nonzero() of a whole array give a Python int, as NumPy did before 2.4?
_COUNTS_IN_PYTHON = type(np.count_nonzero(np.zeros(1))) is int


@polyfill(np.count_nonzero)
def count_nonzero(a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    a = _as_array(a)
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
    if isinstance(element, (np.generic, int, float, complex, str, bytes)):
        return True
    unfollowable("isscalar of something else")


@polyfill(np.iterable)
def iterable(y: Any) -> Any:
    if isinstance(y, np.ndarray):
        return y.ndim > 0
    if type(y) in (list, tuple, dict, set, str, range):
        return True
    if type(y) in (int, float, complex, bool) or y is None:
        return False
    unfollowable("iterable() of something else")


@polyfill(*_present(np, "astype"))
def astype(x: Any, dtype: Any, /, *, copy: Any = True, device: Any = None) -> Any:
    if device is not None or not copy:
        unfollowable("astype() that may give its argument")
    return _array(x).astype(dtype)


@polyfill(np.require)
def require(a: Any, dtype: Any = None, requirements: Any = None, *, like: Any = None) -> Any:
    if like is not None:
        unfollowable("require() like another array")
    if requirements is None or len(requirements) == 0:
        return np.asanyarray(a, dtype=dtype)
    for requirement in requirements:
        if requirement not in ("C", "C_CONTIGUOUS", "CONTIGUOUS"):
            unfollowable("require() of anything but C order")
    if _array(a).ndim == 0:
        unfollowable("require() of an array of no dimensions")
    return np.ascontiguousarray(np.asanyarray(a, dtype=dtype))


@polyfill(np.real_if_close)
def real_if_close(a: Any, tol: Any = 100) -> Any:
    if np.iscomplexobj(_array(a)):
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


# ---- Attributes and methods of arrays --------------------------------------------------------


def _in_order(a: Any) -> Any:
    """A view of the array's memory as one row, in C order."""
    if a.ndim > 1:
        step = a.itemsize
        for axis in range(a.ndim - 1, -1, -1):
            if a.strides[axis] != step:
                unfollowable("the items one by one of an array in another order")
            step *= a.shape[axis]
    return a.reshape(-1)


def _give_up(self: Any, *args: Any) -> Any:
    unfollowable("a use of array.flat")


class _Flat:
    """Stands for what array.flat gives; it never leaves the trace."""

    def __init__(self, array: Any) -> None:
        self.array = array
        self.used: Any = False

    def __iter__(self) -> Any:
        if self.used:
            unfollowable("an array.flat that was gone over before")
        self.used = True
        return iter(_in_order(self.array))

    def __len__(self) -> Any:
        return self.array.size

    def __getitem__(self, key: Any) -> Any:
        row = self.array.reshape(-1)
        if type(key) is int:
            return row[key]
        if type(key) is slice:
            return row[key].copy()
        if type(key) is list or (isinstance(key, np.ndarray) and key.ndim == 1):
            return row[key]
        unfollowable("such an index of array.flat")

    def __setitem__(self, key: Any, value: Any) -> None:
        if type(key) not in (int, slice):
            unfollowable("such an index of array.flat")
        _store_all(_in_order(self.array), key, value)

    def copy(self) -> Any:
        return self.array.flatten()

    def __getattr__(self, name: str) -> Any:
        unfollowable("an attribute of array.flat")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _give_up
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = (
        _give_up
    )
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __matmul__ = _give_up
    __rmatmul__ = __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = _give_up
    __neg__ = __pos__ = __abs__ = __invert__ = __float__ = __int__ = __complex__ = __index__ = (
        _give_up
    )
    __next__ = __hash__ = __bool__ = __contains__ = __array__ = __call__ = _give_up


def _store_all(row: Any, key: Any, value: Any) -> None:
    """row[key] = value, of a number: arrays are repeated and cast as assignment does not."""
    if isinstance(value, np.generic):
        if value.dtype != row.dtype:
            unfollowable("a number of another dtype")
    elif type(value) not in (int, float) or not np.issubdtype(row.dtype, np.number):
        unfollowable("what is no number")
    elif type(value) is float and not np.issubdtype(row.dtype, np.inexact):
        unfollowable("a float in the place of an int")
    row[key] = value


@polyfill(np.ndarray.flat)
def ndarray_flat(self: Any, *value: Any) -> Any:
    if not value:
        return _Flat(self)
    _store_all(self, ..., value[0])


def _for_a_part(self: Any, value: Any) -> Any:
    """NumPy's versions make arrays of other dtypes of the value; these are the same in the end."""
    if not np.iscomplexobj(self):
        unfollowable("a part of real numbers is set")
    if type(value) is int and not -(2**53) <= value <= 2**53:
        unfollowable("a part is set to a huge int")
    return np.asarray(value)


@polyfill(np.ndarray.real)
def ndarray_set_real(self: Any, value: Any) -> None:
    self.real[...] = _for_a_part(self, value)


@polyfill(np.ndarray.imag)
def ndarray_set_imag(self: Any, value: Any) -> None:
    self.imag[...] = _for_a_part(self, value)


@polyfill(np.ndarray.__contains__)
def ndarray_contains(self: Any, key: Any) -> Any:
    return bool((self == key).any())


@polyfill(np.ndarray.__divmod__)
def ndarray_divmod(self: Any, value: Any) -> Any:
    return _divmod(self, value)


@polyfill(np.ndarray.__rdivmod__)
def ndarray_rdivmod(self: Any, value: Any) -> Any:
    return _divmod(value, self)


def _divmod(a: Any, b: Any) -> Any:
    for one in (a, b):
        if not isinstance(one, np.ndarray) and type(one) not in (int, float, bool):
            unfollowable("divmod() of an array and something else")
    return np.divmod(a, b)


_FLAG_NAMES = {
    "C": "c_contiguous",
    "CONTIGUOUS": "c_contiguous",
    "C_CONTIGUOUS": "c_contiguous",
    "F": "f_contiguous",
    "FORTRAN": "f_contiguous",
    "F_CONTIGUOUS": "f_contiguous",
    "A": "aligned",
    "ALIGNED": "aligned",
    "W": "writeable",
    "WRITEABLE": "writeable",
    "O": "owndata",
    "OWNDATA": "owndata",
    "FNC": "fnc",
    "FORC": "forc",
}


class _Flags:
    """Stands for what array.flags gives; it never leaves the trace.

    Each flag is True, False, or None where nothing is known of it.
    """

    def __init__(self, c: Any, f: Any, aligned: Any, own: Any) -> None:
        self.known = {
            "c_contiguous": c,
            "contiguous": c,
            "f_contiguous": f,
            "aligned": aligned,
            "owndata": own,
            "writeable": own,
            "forc": None if c is None or f is None else c or f,
            "fnc": None if c is None or f is None else f and not c,
            "fortran": f,
        }

    def __getattr__(self, name: str) -> Any:
        value = self.known.get(name)
        if value is None:
            unfollowable("a flag of memory that is not known")
        return value

    def __getitem__(self, key: Any) -> Any:
        if type(key) is not str or key not in _FLAG_NAMES:
            unfollowable("a flag of such a name")
        return getattr(self, _FLAG_NAMES[key])

    def __setattr__(self, name: str, value: Any) -> None:
        if name != "known":
            unfollowable("a flag is set")
        object.__setattr__(self, name, value)

    def __setitem__(self, key: Any, value: Any) -> None:
        unfollowable("a flag is set")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __hash__ = _give_up
    __bool__ = __iter__ = __contains__ = __len__ = _give_up


@polyfill(np.ndarray.flags)
def ndarray_flags(self: Any, c: Any, f: Any, aligned: Any, own: Any) -> Any:
    return _Flags(c, f, aligned, own)


@polyfill(*_present(np.ndarray, "device"))
def ndarray_device(self: Any) -> Any:
    return "cpu"


@polyfill(np.ndenumerate.__init__)
def ndenumerate_init(self: Any, arr: Any) -> None:
    flat = _Flat(_array(arr))
    flat.used = zip(product(*[range(size) for size in arr.shape]), _in_order(arr), strict=True)
    self.iter = flat


@polyfill(np.ndenumerate.__iter__)
def ndenumerate_iter(self: Any) -> Any:
    return self


@polyfill(np.ndenumerate.__next__)
def ndenumerate_next(self: Any) -> Any:
    try:
        steps = self.iter.used
    except AttributeError:
        unfollowable("an np.ndenumerate that existed before")
    return next(steps)


# ---- Calls of the user's functions -----------------------------------------------------------


@polyfill(np.piecewise)
def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    if _array(x).ndim == 0 or type(condlist) is not list or type(funclist) is not list:
        unfollowable("piecewise over such conditions")
    for condition in condlist:
        if not isinstance(condition, np.ndarray) or not np.issubdtype(condition.dtype, np.bool_):
            unfollowable("piecewise over such conditions")
        if condition.shape != x.shape:
            unfollowable("piecewise over conditions of another shape")
    conditions = list(condlist)
    if len(funclist) == len(conditions) + 1:
        rest = conditions[0]
        for condition in conditions[1:]:
            rest = rest | condition
        conditions.append(~rest)
    elif len(funclist) != len(conditions):
        unfollowable("piecewise with so many functions")
    y = np.zeros_like(x)
    for condition, function in zip(conditions, funclist, strict=True):
        if callable(function):
            unfollowable("piecewise with functions, which it does not call for nothing")
        y[condition] = function
    return y


#: So many calls of a function are followed, one after the other.
MOST_CALLS = 256


@polyfill(np.apply_along_axis)
def apply_along_axis(func1d: Any, axis: Any, arr: Any, *args: Any, **kwargs: Any) -> Any:
    arr = _as_array(arr)
    ndim = arr.ndim
    axis = _axis(axis, ndim)
    rows = arr.transpose([i for i in range(ndim) if i != axis] + [axis])
    leading = rows.shape[:-1]
    count = 1
    for size in leading:
        count *= size
    if not 0 < count <= MOST_CALLS:
        unfollowable("so many calls of a function")
    made: Any = None
    inner = 0
    for place in product(*[range(size) for size in leading]):
        result = np.asanyarray(func1d(rows[place + (Ellipsis,)], *args, **kwargs))
        if made is None:
            inner = result.ndim
            if inner + len(leading) == 0:
                unfollowable("one number of one row")
            made = np.zeros(leading + result.shape, result.dtype)
        made[place + (Ellipsis,)] = result
    outer = len(leading)
    dims = list(range(outer + inner))
    return made.transpose(dims[:axis] + dims[outer:] + dims[axis:outer])


@polyfill(np.apply_over_axes)
def apply_over_axes(func: Any, a: Any, axes: Any) -> Any:
    value = _array(a)
    ndim = a.ndim
    for axis in axes if type(axes) in (list, tuple) else (axes,):
        axis = _axis(axis, ndim)
        result = func(value, axis)
        if result.ndim != value.ndim:
            result = np.expand_dims(result, axis)
            if result.ndim != value.ndim:
                unfollowable("a function that does not give as many dimensions")
        value = result
    return value


@polyfill(np.fromfunction)
def fromfunction(
    function: Any, shape: Any, *, dtype: Any = float, like: Any = None, **kwargs: Any
) -> Any:
    if like is not None or type(shape) not in (list, tuple):
        unfollowable("fromfunction in this form")
    return function(*np.indices(tuple(shape), dtype=dtype), **kwargs)


@polyfill(np.mask_indices)
def mask_indices(n: Any, mask_func: Any, k: Any = 0) -> Any:
    return np.nonzero(mask_func(np.ones((n, n), int), k) != 0)


# ---- np.r_, np.c_ and np.mgrid ---------------------------------------------------------------


def _from_slice(item: Any, ndmin: int, trans1d: int) -> Any:
    start = 0 if item.start is None else item.start
    step = 1 if item.step is None else item.step
    if type(start) is not int or type(item.stop) is not int or type(step) is not int:
        unfollowable("a range of other numbers than ints")
    made = np.arange(start, item.stop, step)
    if ndmin > 1:
        made = made.reshape((1,) * (ndmin - 1) + made.shape)
        if trans1d != -1:
            made = np.swapaxes(made, -1, trans1d)
    return made


def _from_array(item: Any, ndmin: int, trans1d: int) -> Any:
    made = item if isinstance(item, np.ndarray) else np.array(item)
    more = ndmin - made.ndim
    if made.ndim == 0 or not isinstance(made, np.ndarray):
        unfollowable("an array of no dimensions")
    if more <= 0:
        return made
    made = made.reshape((1,) * more + made.shape)
    if trans1d == -1:
        return made
    first = trans1d if trans1d >= 0 else trans1d + more + 1
    axes = list(range(ndmin))
    return made.transpose(axes[:first] + axes[more:] + axes[first:more])


@polyfill(type(np.r_).__getitem__)
def put_together(self: Any, key: Any) -> Any:
    ndmin, trans1d, axis = self.ndmin, self.trans1d, self.axis
    if self.matrix:
        unfollowable("a matrix")
    parts: list[Any] = []
    kinds: list[Any] = []
    for item in key if type(key) is tuple else (key,):
        if type(item) in (int, float):
            parts.append(item)
            kinds.append(0 if type(item) is int else 0.0)
            continue
        if isinstance(item, np.generic):
            parts.append(item)
            kinds.append(item.dtype)
            continue
        if isinstance(item, slice):
            part = _from_slice(item, ndmin, trans1d)
        elif type(item) is list or isinstance(item, np.ndarray):
            part = _from_array(item, ndmin, trans1d)
        else:
            unfollowable("such a part")
        parts.append(part)
        kinds.append(part.dtype)
    dtype = np.result_type(*kinds)
    arrays = []
    for part in parts:
        if not isinstance(part, np.ndarray):
            arrays.append(np.full((1,) * ndmin, part, dtype))
        else:
            arrays.append(part if part.dtype == dtype else part.astype(dtype))
    return np.concatenate(tuple(arrays), axis=axis)


@polyfill(type(np.s_).__getitem__)
def index_expression(self: Any, item: Any) -> Any:
    return (item,) if self.maketuple and type(item) is not tuple else item


if hasattr(np.ndindex(1), "_iter"):

    @polyfill(np.ndindex.__init__)
    def ndindex_init(self: Any, *shape: Any) -> None:
        if len(shape) == 1 and type(shape[0]) is tuple:
            shape = shape[0]
        for size in shape:
            if type(size) is not int or size < 0:
                unfollowable("indices of such a shape")
        self._iter = product(*[range(size) for size in shape])

    @polyfill(np.ndindex.__iter__)
    def ndindex_iter(self: Any) -> Any:
        return self

    @polyfill(np.ndindex.__next__)
    def ndindex_next(self: Any) -> Any:
        return next(self._iter)


def _open_axis(made: Any, axis: int, ndim: int) -> Any:
    """The numbers along one axis, with axes of one item for the others."""
    return made[(None,) * axis + (slice(None),) + (None,) * (ndim - axis - 1)]


@polyfill(type(np.mgrid).__getitem__)
def grid(self: Any, key: Any) -> Any:
    if type(key) is slice and type(key.step) is not complex:
        return np.arange(0 if key.start is None else key.start, key.stop, key.step)
    if type(key) is not tuple:
        unfollowable("a grid of one dimension by a number of items")
    sizes, starts, steps = [], [], []
    kind: type = int
    for item in key:
        start = 0 if item.start is None else item.start
        step = 1 if item.step is None else item.step
        if type(start) not in (int, float) or type(item.stop) not in (int, float):
            unfollowable("a grid of such numbers")
        if type(step) is complex:
            size = int(abs(step))
            kind = float
            step = (item.stop - start) / float(size - 1) if size != 1 else 1
        elif type(step) is int and type(start) is int and type(item.stop) is int and step > 0:
            size = -((start - item.stop) // step)
        else:
            unfollowable("a grid of such steps")
        if type(start) is float or type(item.stop) is float:
            kind = float
        sizes.append(size)
        starts.append(start)
        steps.append(step)
    if self.sparse:
        rows: list[Any] = [np.arange(size, dtype=kind) for size in sizes]
        parts = [row * steps[k] + starts[k] for k, row in enumerate(rows)]
        return tuple([_open_axis(part, k, len(parts)) for k, part in enumerate(parts)])
    made = np.indices(tuple(sizes), kind)
    for k in range(len(sizes)):
        made[k] = made[k] * steps[k] + starts[k]
    return made


# ---- Settings --------------------------------------------------------------------------------


@polyfill(np.seterr)
def seterr(
    all: Any = None, divide: Any = None, over: Any = None, under: Any = None, invalid: Any = None
) -> Any:
    before = np.geterr()
    fp_setting(*_bits(all, divide, over, under, invalid))
    effect(NOTHING, np.seterr, all, divide, over, under, invalid)
    return before


@polyfill(np.seterrcall)
def seterrcall(func: Any) -> Any:
    before = np.geterrcall()
    if func is not None and not callable(func):
        unfollowable("an object that logs floating-point errors")
    effect(CALL, np.seterrcall, func)
    return before


@polyfill(np.setbufsize)
def setbufsize(size: Any) -> Any:
    before = np.getbufsize()
    if type(size) is not int or not 16 <= size <= 1 << 20 or size % 16 != 0:
        unfollowable("a buffer of such a size")
    effect(BITS, np.setbufsize, size)
    return before


def _one_of(value: Any, *choices: Any) -> None:
    """Gives up unless the option was left out, or is of one of these types, or one of these texts."""
    if value is not None and type(value) not in choices and value not in choices:
        unfollowable("such an option of printing")


def _printing(
    precision: Any = None,
    threshold: Any = None,
    edgeitems: Any = None,
    linewidth: Any = None,
    suppress: Any = None,
    nanstr: Any = None,
    infstr: Any = None,
    formatter: Any = None,
    sign: Any = None,
    floatmode: Any = None,
    *,
    legacy: Any = None,
    override_repr: Any = None,
) -> Any:
    """The options of set_printoptions() by place."""
    _one_of(precision, int)
    _one_of(threshold, int)
    _one_of(edgeitems, int)
    _one_of(linewidth, int)
    _one_of(suppress, bool)
    _one_of(nanstr, str)
    _one_of(infstr, str)
    _one_of(sign, "-", "+", " ")
    _one_of(floatmode, "fixed", "unique", "maxprec", "maxprec_equal")
    if formatter is not None or legacy is not None or override_repr is not None:
        unfollowable("printing by functions, or as it was once")
    return (
        precision, threshold, edgeitems, linewidth, suppress, nanstr, infstr, None, sign, floatmode,
    )  # fmt: skip


@polyfill(np.set_printoptions)
def set_printoptions(
    precision: Any = None,
    threshold: Any = None,
    edgeitems: Any = None,
    linewidth: Any = None,
    suppress: Any = None,
    nanstr: Any = None,
    infstr: Any = None,
    formatter: Any = None,
    sign: Any = None,
    floatmode: Any = None,
    *,
    legacy: Any = None,
    override_repr: Any = None,
) -> None:
    options = _printing(
        precision, threshold, edgeitems, linewidth, suppress, nanstr, infstr, formatter, sign, floatmode,
        legacy=legacy, override_repr=override_repr,
    )  # fmt: skip
    printing(options, False)
    effect(NOTHING, np.set_printoptions, *options)


class _Printing:
    """Stands for the manager that np.printoptions() gives; it never leaves the trace."""

    def __init__(self, options: Any) -> None:
        self.options = options
        self.before: Any = None

    def __enter__(self) -> Any:
        if self.before is not None:
            unfollowable("options of printing for a second time")
        self.before = printing(self.options, True)
        return np.get_printoptions()

    def __exit__(self, kind: Any, *rest: Any) -> None:
        if kind is not None or self.before is None:
            unfollowable("an exception that leaves np.printoptions()")
        printing(self.before)

    def __getattr__(self, name: str) -> Any:
        unfollowable("an attribute of what np.printoptions() gives")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        unfollowable("a call of what np.printoptions() gives")


@polyfill(np.printoptions)
def printoptions(*args: Any, **kwargs: Any) -> Any:
    return _Printing(_printing(*args, **kwargs))


# ---- errstate --------------------------------------------------------------------------------


class _Region:
    """Stands for the token of an errstate that was entered; it never leaves the trace."""

    def __init__(self, before: Any) -> None:
        self.before = before


_UNSPECIFIED = getattr(importlib.import_module("numpy._core._ufunc_config"), "_Unspecified", None)


def _bits(all: Any, *modes: Any) -> Any:
    """What is ignored, warned of and raised, by the modes of divide, over, under and invalid."""
    ignored = warned = raised = 0
    for bit, mode in zip((1, 2, 4, 8), modes, strict=True):
        if mode is None:
            mode = all
        if mode is None:
            continue
        if type(mode) is not str or mode not in ("ignore", "warn", "raise"):
            unfollowable("floating-point errors of such a mode")
        if mode == "ignore":
            ignored |= bit
        elif mode == "warn":
            warned |= bit
        else:
            raised |= bit
    return ignored, warned, raised


def _enter_region(state: Any) -> Any:
    """The region of an errstate begins; gives what ends it."""
    if state._call is not _UNSPECIFIED:
        unfollowable("errstate with a function to call")
    return fp_region(*_bits(state._all, state._divide, state._over, state._under, state._invalid))


def _inside(function: Any, name: str) -> Any:
    """The code of a function that `function` makes."""
    for constant in function.__code__.co_consts:
        if isinstance(constant, CodeType) and constant.co_name == name:
            return constant
    raise AssertionError(name)


if "_token" in getattr(np.errstate, "__slots__", ()):

    @polyfill(np.errstate.__init__)
    def errstate_init(
        self: Any,
        *,
        call: Any = _UNSPECIFIED,
        all: Any = None,
        divide: Any = None,
        over: Any = None,
        under: Any = None,
        invalid: Any = None,
    ) -> None:
        self._token = None
        self._call = call
        self._all = all
        self._divide = divide
        self._over = over
        self._under = under
        self._invalid = invalid

    @polyfill(np.errstate.__enter__)
    def errstate_enter(self: Any) -> None:
        if self._token is not None:
            raise TypeError("Cannot enter `np.errstate` twice.")
        self._token = _Region(_enter_region(self))

    @polyfill(np.errstate.__exit__)
    def errstate_exit(self: Any, *exc_info: Any) -> None:
        try:
            before = self._token.before
        except AttributeError:
            unfollowable("an errstate that was entered before")
        fp_region(before)

    @polyfill(_inside(np.errstate.__call__, "inner"))
    def errstate_inner(function: Any, *args: Any, **kwargs: Any) -> Any:
        names = function.__code__.co_freevars
        before = _enter_region(function.__closure__[names.index("self")].cell_contents)
        try:
            return function.__closure__[names.index("func")].cell_contents(*args, **kwargs)
        finally:
            fp_region(before)


@polyfill(np.iinfo.max.fget)
def iinfo_max(self: Any) -> Any:
    return (1 << self.bits - (self.kind != "u")) - 1


@polyfill(np.iinfo.min.fget)
def iinfo_min(self: Any) -> Any:
    return 0 if self.kind == "u" else -(1 << self.bits - 1)
