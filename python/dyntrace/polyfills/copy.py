"""Copies, by the rules of ``copy``: of containers, and of instances by what pickling says of them.

What is shared inside stays shared: objects are looked up in the memo by identity, which the trace
guards. ``__copy__``, ``__deepcopy__``, ``__reduce__`` and ``__setstate__`` are followed; what a
``__deepcopy__`` is given is a dict that is of use for further calls of ``deepcopy`` only.
"""

from __future__ import annotations

import copy as original
import copyreg
import datetime
import re
import types
import weakref
from typing import Any

from dyntrace.polyfills import fold, polyfill, unfollowable

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
    re.Pattern,
    re.Match,
)
_SHALLOW_ATOMIC = (*_ATOMIC, tuple, frozenset, slice)

#: Values of C types that are known while tracing, and so are their copies.
_VALUES = (
    datetime.date,
    datetime.datetime,
    datetime.time,
    datetime.timedelta,
    datetime.timezone,
)


def _is_among(cls: Any, classes: Any) -> bool:
    for one in classes:
        if cls is one:
            return True
    return False


def _is_atomic(cls: Any, atomic: Any) -> bool:
    return _is_among(cls, atomic) or issubclass(cls, type)


def _is_array(cls: Any) -> bool:
    return bool(cls.__module__ == "numpy" and cls.__name__ == "ndarray")


def _is_named_tuple(x: Any, cls: Any) -> bool:
    """Whether it is made as a named tuple is, and has no attributes of its own."""
    return (
        isinstance(x, tuple)
        and hasattr(cls, "_fields")
        and not hasattr(x, "__dict__")
        and cls.__init__ is object.__init__
        and cls.__reduce_ex__ is object.__reduce_ex__
        and cls.__reduce__ is object.__reduce__
    )


def _reduced(x: Any, cls: Any) -> Any:
    """What pickling says of the object: a name, or how another one is made."""
    reductor = copyreg.dispatch_table.get(cls)
    if reductor is not None:
        return reductor(x)
    if _is_named_tuple(x, cls):
        return cls, x.__getnewargs__()
    return x.__reduce_ex__(4)


def _same(x: Any, memo: Any) -> Any:
    return x


def _rebuild(x: Any, memo: Any, part: Any, parts: Any) -> Any:
    """Another object of what _reduced() has given; ``part(value, memo)`` copies what is in it."""
    function, args, state, items, pairs = (*parts, None, None, None)[:5]
    made = function(*[part(arg, memo) for arg in args])
    if memo is not None:
        memo[_PAIRS].append((x, made))
    if state is not None:
        _restore(made, part(state, memo))
    if items is not None:
        for item in items:
            made.append(part(item, memo))
    if pairs is not None:
        for key, value in pairs:
            key = part(key, memo)
            made[key] = part(value, memo)
    return made


def _restore(made: Any, state: Any) -> None:
    if hasattr(made, "__setstate__"):
        made.__setstate__(state)
        return
    slots = None
    if isinstance(state, tuple) and len(state) == 2:
        state, slots = state
    if isinstance(made, types.SimpleNamespace):
        for name, value in state.items():
            setattr(made, name, value)
    elif state is not None:
        made.__dict__.update(state)
    if slots is not None:
        for name, value in slots.items():
            setattr(made, name, value)


@polyfill(original.copy)
def copy(x: Any) -> Any:
    cls = type(x)
    if _is_atomic(cls, _SHALLOW_ATOMIC):
        return x
    if cls is list or cls is dict or cls is set or cls is bytearray:
        return x.copy()
    if _is_array(cls):
        return x.__copy__()
    if _is_among(cls, _VALUES):
        return fold(original.copy, x)
    copier = getattr(cls, "__copy__", None)
    if copier is not None:
        return copier(x)
    parts = _reduced(x, cls)
    return x if isinstance(parts, str) else _rebuild(x, None, _same, parts)


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
    if cls is types.MethodType:
        made = types.MethodType(x.__func__, _deep(x.__self__, memo))
    elif _is_among(cls, _VALUES):
        made = fold(original.deepcopy, x)
    else:
        made = _deep_instance(x, cls, memo)
    if made is not x:
        memo[_PAIRS].append((x, made))
    return made


def _deep_instance(x: Any, cls: Any, memo: Any) -> Any:
    copier = getattr(x, "__deepcopy__", None)
    if copier is not None:
        return copier(memo)
    parts = _reduced(x, cls)
    return x if isinstance(parts, str) else _rebuild(x, memo, _deep, parts)


@polyfill(original.deepcopy)
def deepcopy(x: Any, memo: Any = None, _nil: Any = _NIL) -> Any:
    if memo is None:
        memo = {_PAIRS: []}
    elif type(memo) is not dict or len(memo) != 1 or _PAIRS not in memo:
        unfollowable("copy.deepcopy() with a memo of the program's own")
    return _deep(x, memo)
