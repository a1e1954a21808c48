"""``inspect.unwrap()``, which keeps addresses to notice a ring of wrappers, and ``getattr_static()``,
which keeps what it has found in a cache of its own."""

from __future__ import annotations

import inspect as original
from typing import Any

from dyntrace.polyfills import own_attributes, polyfill, unfollowable


@polyfill(original.unwrap)
def unwrap(func: Any, *, stop: Any = None) -> Any:
    seen = [func]
    while hasattr(func, "__wrapped__"):
        if isinstance(func, type):
            unfollowable("a class that says what it wraps")
        if stop is not None and stop(func):
            break
        func = func.__wrapped__
        for other in seen:
            if other is func:
                unfollowable("a ring of wrappers")
        seen.append(func)
    return func


_MISSING: Any = object()


def _in_class(cls: Any, attr: Any) -> Any:
    for entry in cls.__mro__:
        names = entry.__dict__
        if attr in names:
            return names[attr]
    return _MISSING


def _plain(cls: Any) -> bool:
    """Whether nothing hides where its instances, or it itself, keep attributes."""
    for entry in cls.__mro__:
        if entry is not object and entry is not type and "__dict__" in entry.__dict__:
            if type(entry.__dict__["__dict__"]).__name__ != "getset_descriptor":
                return False
    return True


@polyfill(original.getattr_static)
def getattr_static(obj: Any, attr: Any, default: Any = original._sentinel) -> Any:
    cls = type(obj)
    own = _MISSING
    if not _plain(cls):
        unfollowable("getattr_static() of an object that hides its attributes")
    if isinstance(obj, type):
        found = _in_class(obj, attr)
        if found is _MISSING:
            found = _in_class(cls, attr)
    else:
        found = _in_class(cls, attr)
        if hasattr(cls, "__dictoffset__") and cls.__dictoffset__ != 0:
            own = own_attributes(obj).get(attr, _MISSING)
        if own is not _MISSING and found is not _MISSING:
            kind = type(found)
            if _in_class(kind, "__get__") is not _MISSING and (
                _in_class(kind, "__set__") is not _MISSING
                or _in_class(kind, "__delete__") is not _MISSING
            ):
                return found
        if own is not _MISSING:
            return own
    if found is not _MISSING:
        return found
    if default is not original._sentinel:
        return default
    raise AttributeError(attr)
