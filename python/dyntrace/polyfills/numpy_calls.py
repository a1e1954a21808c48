"""NumPy's functions that call the user's, and the subscripts of np.r_, np.c_ and np.mgrid."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from dyntrace.polyfills import Unexpected, is_known, own_attributes, polyfill, unfollowable
from dyntrace.polyfills.numpy_shapes import known_axis, made_array, plain_array


@polyfill(np.piecewise)
def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    if isinstance(condlist, np.ndarray) and condlist.ndim == 1:
        condlist = [condlist]
    if type(condlist) not in (list, tuple) or type(funclist) not in (list, tuple):
        unfollowable("piecewise over such conditions")
    if plain_array(x).ndim == 0 or not condlist:
        unfollowable("piecewise over no conditions, or of a number")
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
            if not condition.any():
                raise Unexpected  # it is not called for nothing
            y[condition] = function(x[condition], *args, **kw)
        else:
            y[condition] = function
    return y


@polyfill(np.poly1d.__init__)
def poly1d_init(self: Any, c_or_r: Any, r: Any = False, variable: Any = None) -> None:
    if isinstance(c_or_r, np.poly1d):
        for name in own_attributes(c_or_r):
            if name not in ("coeffs", "_variable"):
                unfollowable("a polynomial with attributes of the program")
        self._variable = c_or_r._variable if variable is None else variable
        self._coeffs = c_or_r._coeffs
        return
    if r:
        unfollowable("a polynomial by its roots")
    if type(c_or_r) in (list, tuple) and is_known(c_or_r):
        self._coeffs = _known_coefficients(c_or_r)
    else:
        self._coeffs = _coefficients(made_array(c_or_r))
    self._variable = "x" if variable is None else variable


def _known_coefficients(given: Any) -> Any:
    first = 0
    for coefficient in given:
        if type(coefficient) not in (int, float):
            unfollowable("a polynomial of such coefficients")
        if coefficient != 0:
            break
        first += 1
    coefficients = np.atleast_1d(given)
    if first == len(given):
        return np.array([0], dtype=coefficients.dtype)
    return coefficients[first:]


def _coefficients(given: Any) -> Any:
    given = np.atleast_1d(given)
    if given.ndim > 1 or given.size == 0:
        unfollowable("a polynomial of no coefficients, or of several dimensions")
    if given[0] == 0:
        raise Unexpected  # as many as the data say
    return given[:]


@polyfill(np.polynomial.polyutils.trimseq)
def trimseq(seq: Any) -> Any:
    if isinstance(seq, np.ndarray):
        if len(seq) > 0 and seq[-1] == 0:
            raise Unexpected  # as many as the data say
        return seq
    last = len(seq) - 1
    while last > 0 and not seq[last] != 0:
        last -= 1
    return seq if last == len(seq) - 1 else seq[: last + 1]


#: So many calls of a function are followed, one after the other.
MOST_CALLS = 256


@polyfill(np.polynomial.polyutils._fit)
def fit(
    vander_f: Any, x: Any, y: Any, deg: Any, rcond: Any = None, full: Any = False, w: Any = None
) -> Any:
    """For a degree that is known, which the original makes an array of."""
    if type(deg) is not int or deg < 0 or full is not False:
        unfollowable("a fit of such a degree, or with more results")
    x = np.asarray(x) + 0.0
    y = np.asarray(y) + 0.0
    if x.ndim != 1 or x.size == 0 or y.ndim not in (1, 2) or len(x) != len(y):
        unfollowable("a fit to such points")
    if np.iscomplexobj(x) or np.iscomplexobj(y):
        unfollowable("a fit of complex numbers")
    lhs = vander_f(x, deg).T
    rhs = y.T
    if w is not None:
        w = np.asarray(w) + 0.0
        if w.ndim != 1 or len(x) != len(w) or np.iscomplexobj(w):
            unfollowable("such weights")
        lhs = lhs * w
        rhs = rhs * w
    if rcond is None:
        rcond = len(x) * np.finfo(x.dtype).eps
    scl = np.sqrt(np.square(lhs).sum(1))
    scl[scl == 0] = 1
    c, _, rank, _ = np.linalg.lstsq(lhs.T / scl, rhs.T, rcond)
    if rank != deg + 1:
        raise Unexpected  # the original warns
    return (c.T / scl).T


@polyfill(np.apply_along_axis)
def apply_along_axis(func1d: Any, axis: Any, arr: Any, *args: Any, **kwargs: Any) -> Any:
    arr = made_array(arr)
    ndim = arr.ndim
    axis = known_axis(axis, ndim)
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
    value = plain_array(a)
    ndim = a.ndim
    for axis in axes if type(axes) in (list, tuple) else (axes,):
        axis = known_axis(axis, ndim)
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


#: What stands for a number of Python in np.result_type(), whose value it does not look at.
_KINDS_OF_NUMBERS = {int: 0, float: 0.0, bool: False}


@polyfill(type(np.r_).__getitem__)
def put_together(self: Any, key: Any) -> Any:
    ndmin, trans1d, axis = self.ndmin, self.trans1d, self.axis
    if self.matrix:
        unfollowable("a matrix")
    parts: list[Any] = []
    kinds: list[Any] = []
    for item in key if type(key) is tuple else (key,):
        if type(item) in _KINDS_OF_NUMBERS:
            parts.append(item)
            kinds.append(_KINDS_OF_NUMBERS[type(item)])
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
