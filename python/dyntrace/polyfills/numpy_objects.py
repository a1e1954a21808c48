"""Attributes and methods of arrays, and objects that stand for those of NumPy that they give.

Such an object answers what is known of the array and never leaves the trace; what it does not know is
a break.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from dyntrace.polyfills import apart, polyfill, unfollowable
from dyntrace.polyfills.numpy_shapes import plain_array, present


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
        if type(key) is int or isinstance(key, np.integer):
            return row[key]
        if type(key) is slice:
            return row[key].copy()
        if type(key) is list or (isinstance(key, np.ndarray) and key.ndim == 1):
            return row[key]
        unfollowable("such an index of array.flat")

    def __setitem__(self, key: Any, value: Any) -> None:
        if type(key) not in (int, slice) and not isinstance(key, np.integer):
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
    """row[key] = value, of a number, or of as many as there are places: fewer are repeated, others are
    cast as assignment does not, and of memory that they share items are seen after they were written."""
    if type(value) is np.ndarray and (key is ... or type(key) is slice):
        part = row[key]
        if value.dtype != row.dtype or value.size != part.size or not apart(row, value):
            unfollowable("other numbers than there are places")
        part[...] = value.reshape(part.shape)
        return
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


if np.lib.NumpyVersion(np.__version__) < "2.5.0.dev0":  # where it warns

    @polyfill(np.ndarray.shape)
    def ndarray_set_shape(self: Any, value: Any) -> None:
        if type(value) is not tuple or value != self.shape:
            unfollowable("the assignment of another shape to an array")


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


@polyfill(*present(np.ndarray, "device"))
def ndarray_device(self: Any) -> Any:
    return "cpu"


@polyfill(np.ndenumerate.__init__)
def ndenumerate_init(self: Any, arr: Any) -> None:
    flat = _Flat(plain_array(arr))
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


class _Dtype:
    """Stands for the dtype of an array of dates, texts or records; it never leaves the trace."""

    def __init__(self, known: Any) -> None:
        self.known = known

    def __getattr__(self, name: str) -> Any:
        if name not in self.known:
            unfollowable("an attribute of such a dtype")
        return self.known[name]

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __hash__ = _give_up
    __bool__ = __iter__ = __contains__ = __len__ = __getitem__ = __call__ = _give_up


@polyfill(np.ndarray.dtype)
def ndarray_dtype(
    self: Any, names: Any, kind: Any, char: Any, itemsize: Any, num: Any, name: Any, text: Any
) -> Any:
    return _Dtype(
        {
            "names": names, "kind": kind, "char": char, "itemsize": itemsize, "num": num, "name": name,
            "str": text,
        }
    )  # fmt: skip


class _Record:
    """Stands for an item of an array of records, a view of it; it never leaves the trace."""

    def __init__(self, view: Any) -> None:
        self.view = view

    def __getitem__(self, key: Any) -> Any:
        if type(key) is int:
            key = self.view.dtype.names[key]
        elif type(key) is not str:
            unfollowable("several fields of a record")
        found = self.view[key]
        return found[()] if found.ndim == 0 else found

    def __setitem__(self, key: Any, value: Any) -> None:
        if type(key) is not str:
            unfollowable("such a field of a record")
        self.view[key] = value

    def __iter__(self) -> Any:
        for name in self.view.dtype.names:
            yield self[name]

    def __len__(self) -> int:
        return len(self.view.dtype.names)

    def __getattr__(self, name: str) -> Any:
        if name == "dtype":
            return self.view.dtype
        unfollowable("an attribute of a record")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __hash__ = __bool__ = _give_up
    __contains__ = __call__ = __array__ = __str__ = __repr__ = __format__ = _give_up


@polyfill(np.void)
def record(length_or_data: Any, /, dtype: Any = None) -> Any:
    """What an array of records has at one place: an array of no dimensions is that place.  Called with
    anything else, np.void is left alone."""
    if not isinstance(length_or_data, np.ndarray) or dtype is not None:
        unfollowable("a record made of no place")
    return _Record(length_or_data)


class _Items:
    """Stands for what np.nditer() gives; it never leaves the trace."""

    def __init__(self, array: Any) -> None:
        self.row = array.reshape(-1)
        self.place = 0

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        if self.place == self.row.size:
            raise StopIteration
        self.place += 1
        return np.broadcast_to(self.row[self.place - 1 : self.place].reshape(()), ())

    def __len__(self) -> int:
        if self.place == self.row.size:
            unfollowable("the length of an iterator that is exhausted")
        return 1  # array

    def __getattr__(self, name: str) -> Any:
        unfollowable("an attribute of what np.nditer() gives")

    __getitem__ = __setitem__ = __delitem__ = __bool__ = __enter__ = __exit__ = _give_up
    __eq__ = __ne__ = __hash__ = __contains__ = __call__ = _give_up


@polyfill(np.nditer)
def nditer(
    op: Any,
    flags: Any = None,
    op_flags: Any = None,
    op_dtypes: Any = None,
    order: Any = "K",
    casting: Any = "safe",
    op_axes: Any = None,
    itershape: Any = None,
    buffersize: Any = 0,
) -> Any:
    options = (flags, op_flags, op_dtypes, op_axes, itershape)
    if any(one is not None for one in options) or (order, casting, buffersize) != ("K", "safe", 0):
        unfollowable("np.nditer() with an option")
    if plain_array(op).size == 0 or not op.flags.c_contiguous:
        unfollowable("the items of memory in another order, or of none")
    return _Items(op)
