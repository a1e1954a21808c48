"""``dir()`` and what it asks objects and classes, ``print()`` to an object, ``anext()``."""

from __future__ import annotations

import builtins as original
from types import AsyncGeneratorType, FunctionType, MethodType, ModuleType
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


@polyfill(original.anext)
def anext_(async_iterator: Any, default: Any = _MISSING, /) -> Any:
    cls: Any = type(async_iterator)
    if cls is AsyncGeneratorType:
        awaitable = async_iterator.__anext__()
    elif hasattr(cls, "__anext__"):
        awaitable = cls.__anext__(async_iterator)
    else:
        raise TypeError(f"'{cls.__name__}' object is not an async iterator")
    return awaitable if default is _MISSING else _or_default(awaitable, default)


class _or_default:
    """What ``anext(iterator, default)`` gives; only awaited."""

    def __init__(self, awaitable: Any, default: Any) -> None:
        self.__awaitable = awaitable
        self.__default = default

    async def __wait(self) -> Any:
        try:
            return await self.__awaitable
        except StopAsyncIteration:
            return self.__default

    def __await__(self) -> Any:
        return self.__wait().__await__()


@polyfill(original.print)
def print_(
    *args: Any, sep: Any = " ", end: Any = "\n", file: Any = None, flush: Any = False
) -> None:
    if file is None:
        unfollowable("print() is called")
    if sep is None:
        sep = " "
    if end is None:
        end = "\n"
    if type(sep) is not str or type(end) is not str:
        unfollowable("print() with a separator that is no text")
    first = True
    for arg in args:
        if not first:
            file.write(sep)
        first = False
        file.write(str(arg) if type(arg) is not str else arg)
    file.write(end)
    if flush:
        file.flush()


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


@polyfill(FunctionType.__get__)
def function_get(self: Any, instance: Any, owner: Any = None, /) -> Any:
    if instance is None:
        if owner is None:
            unfollowable("function.__get__(None, None)")
        return self
    return MethodType(self, instance)
