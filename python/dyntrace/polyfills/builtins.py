"""``dir()``, and what it asks objects and classes."""

from __future__ import annotations

import builtins as original
from types import ModuleType
from typing import Any

from dyntrace.polyfills import polyfill, unfollowable

_MISSING = object()


@polyfill(original.dir)
def dir_(obj: Any = _MISSING, /) -> Any:
    if obj is _MISSING:
        return sorted(locals())  # of the frame that asks: nobody sees this one
    if isinstance(obj, ModuleType):
        unfollowable("dir() of a module")
    cls: Any = type(obj)
    return sorted(cls.__dir__(obj))


def _merge(names: Any, cls: Any) -> None:
    for name in cls.__dict__:
        names[name] = None
    for base in cls.__bases__:
        _merge(names, base)


@polyfill(object.__dir__)
def object_dir(self: Any, /) -> Any:
    names: Any = {}
    own = getattr(self, "__dict__", None)
    if isinstance(own, dict):
        for name in own:
            names[name] = None
    _merge(names, self.__class__)
    return list(names)


@polyfill(type.__dir__)
def type_dir(self: Any, /) -> Any:
    names: Any = {}
    _merge(names, self)
    return list(names)
