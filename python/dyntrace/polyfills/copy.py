"""Copies of containers and of instances that keep the default way of being copied.

What is shared inside stays shared: objects are looked up in the memo by identity, which the trace
guards. ``__copy__`` and ``__deepcopy__`` are followed; what they are given is a dict that is of use for
further calls of ``deepcopy`` only. Classes that are copied by what pickling does are left to plain
execution.
"""

from __future__ import annotations

import copy as original
import copyreg
import types
import weakref
from typing import Any

from dyntrace.polyfills import own_attributes, polyfill, unfollowable

_NIL = (original.deepcopy.__defaults__ or ())[1]

#: Copied as they are.
_ATOMIC = (
    type(None),
    int,
    float,
    bool,
    complex,
    bytes,
    str,
    type,
    range,
    property,
    type(Ellipsis),
    type(NotImplemented),
    types.CodeType,
    types.BuiltinFunctionType,
    types.FunctionType,
    weakref.ref,
)
_SHALLOW_ATOMIC = (*_ATOMIC, tuple, frozenset, slice)

#: Special methods that change how an instance is copied.
_SPECIAL = (
    "__setstate__",
    "__getnewargs__",
    "__getnewargs_ex__",
)
_STATE = getattr(object, "__getstate__", None)


def _is_atomic(cls: Any, atomic: Any) -> bool:
    for one in atomic:
        if cls is one:
            return True
    return issubclass(cls, type)


def _check_default(x: Any, cls: Any) -> None:
    """Breaks unless instances of the class are copied by their attributes alone."""
    for name in _SPECIAL:
        if hasattr(cls, name):
            unfollowable("a copy of an instance whose class defines " + name)
    if (
        cls in copyreg.dispatch_table
        or cls.__reduce_ex__ is not object.__reduce_ex__
        or cls.__reduce__ is not object.__reduce__
        or getattr(cls, "__getstate__", None) is not _STATE
        or cls.__new__ is not object.__new__
        or cls.__setattr__ is not object.__setattr__
        or hasattr(cls, "__getattr__")
    ):
        unfollowable("a copy of an instance whose class says how it is copied")


def _is_array(cls: Any) -> bool:
    return bool(cls.__module__ == "numpy" and cls.__name__ == "ndarray")


def _shallow_instance(x: Any, cls: Any) -> Any:
    if _is_array(cls):
        return x.__copy__()
    copier = getattr(cls, "__copy__", None)
    if copier is not None:
        return copier(x)
    _check_default(x, cls)
    made = object.__new__(cls)
    for name, value in own_attributes(x).items():
        setattr(made, name, value)
    return made


@polyfill(original.copy)
def copy(x: Any) -> Any:
    cls = type(x)
    if _is_atomic(cls, _SHALLOW_ATOMIC):
        return x
    if cls is list or cls is dict or cls is set or cls is bytearray:
        return x.copy()
    return _shallow_instance(x, cls)


class _Key:
    """Under this key the memo that a __deepcopy__ gets keeps what was copied."""


_PAIRS = _Key()


def _find(x: Any, memo: Any) -> Any:
    for pair in memo[_PAIRS]:
        if pair[0] is x:
            return pair
    return None


def _deep_tuple(x: Any, memo: Any) -> Any:
    items = [_deep(item, memo) for item in x]
    known = _find(x, memo)
    if known is not None:
        return known[1]
    for before, after in zip(x, items, strict=False):
        if before is not after:
            return tuple(items)
    return x


def _deep(x: Any, memo: Any) -> Any:
    cls = type(x)
    if _is_atomic(cls, _ATOMIC):
        return x
    known = _find(x, memo)
    if known is not None:
        return known[1]
    if cls is list:
        made: Any = []
        memo[_PAIRS].append((x, made))
        for item in x:
            made.append(_deep(item, memo))
        return made
    if cls is dict:
        made = {}
        memo[_PAIRS].append((x, made))
        for key, value in x.items():
            made[_deep(key, memo)] = _deep(value, memo)
        return made
    if cls is tuple:
        made = _deep_tuple(x, memo)
        if made is not x:
            memo[_PAIRS].append((x, made))
        return made
    if cls is set or cls is frozenset:
        made = cls([_deep(item, memo) for item in x])
        memo[_PAIRS].append((x, made))
        return made
    if _is_array(cls):
        made = x.__deepcopy__(memo)
        memo[_PAIRS].append((x, made))
        return made
    copier = getattr(x, "__deepcopy__", None)
    if copier is not None:
        made = copier(memo)
        if made is not x:
            memo[_PAIRS].append((x, made))
        return made
    _check_default(x, cls)
    made = object.__new__(cls)
    memo[_PAIRS].append((x, made))
    state = {name: _deep(value, memo) for name, value in own_attributes(x).items()}
    for name, value in state.items():
        setattr(made, name, value)
    return made


@polyfill(original.deepcopy)
def deepcopy(x: Any, memo: Any = None, _nil: Any = _NIL) -> Any:
    if memo is None:
        memo = {_PAIRS: []}
    elif type(memo) is not dict or len(memo) != 1 or _PAIRS not in memo:
        unfollowable("copy.deepcopy() with a memo of the program's own")
    return _deep(x, memo)
