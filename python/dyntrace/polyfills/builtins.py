"""``dir()`` and what it asks objects and classes, ``print()`` to an object, ``anext()``, and what the
classes in C say of how their instances are copied and pickled."""

from __future__ import annotations

import builtins as original
import copyreg
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


# ---- How instances are copied and pickled

#: The classes in C that keep nothing but what ``__getnewargs__``, or iterating over it, gives.
_SAYS_ALL = (object, int, float, complex, str, bytes, tuple, list, dict)
_IS_WRITTEN_IN_PYTHON = 1 << 9  # Py_TPFLAGS_HEAPTYPE; classes in C that have it are asked for below


_OBJECT_REDUCE: Any = object.__reduce__


class _Empty:
    pass


_NO_STATE = _Empty().__reduce_ex__(2)[2]  # of an instance without attributes: {} up to 3.10


def _layout(cls: Any) -> Any:
    for base in cls.__mro__:
        if not base.__flags__ & _IS_WRITTEN_IN_PYTHON:
            return base
    raise AssertionError("object is in every MRO")


def _slot_names(cls: Any) -> Any:
    """The slots of instances, as copyreg finds them."""
    names = []
    for base in cls.__mro__ if hasattr(cls, "__slots__") else ():
        slots = base.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name == "__dict__" or name == "__weakref__":
                continue
            if name.startswith("__") and not name.endswith("__"):
                owner = base.__name__.lstrip("_")
                name = f"_{owner}{name}" if owner else name
            names.append(name)
    return names


def _default_state(self: Any, /) -> Any:
    state = getattr(self, "__dict__", None)
    if state is not None and not state:
        state = _NO_STATE
    slots = {}
    for name in _slot_names(type(self)):
        if hasattr(self, name):
            slots[name] = getattr(self, name)
    return (state, slots) if slots else state


if hasattr(object, "__getstate__"):  # since 3.11
    polyfill(object.__getstate__)(_default_state)


def _reduce_newobj(self: Any, cls: Any) -> Any:
    layout = _layout(cls)
    for known in _SAYS_ALL:
        if layout is known:
            break
    else:
        unfollowable(f"how a {layout.__name__} is pickled")
    keywords: Any = {}
    if hasattr(cls, "__getnewargs_ex__"):
        args, keywords = self.__getnewargs_ex__()
    else:
        args = self.__getnewargs__() if hasattr(cls, "__getnewargs__") else ()
    state = self.__getstate__() if hasattr(self, "__getstate__") else _default_state(self)
    items = iter(self) if isinstance(self, list) else None
    pairs = iter(self.items()) if isinstance(self, dict) else None
    if keywords:
        return copyreg.__newobj_ex__, (cls, args, keywords), state, items, pairs
    return copyreg.__newobj__, (cls, *args), state, items, pairs


@polyfill(object.__reduce_ex__)
def object_reduce_ex(self: Any, protocol: Any, /) -> Any:
    cls = type(self)
    if cls.__reduce__ is not _OBJECT_REDUCE:
        return self.__reduce__()
    if type(protocol) is not int or protocol < 2:
        unfollowable("__reduce_ex__() of an old protocol")
    return _reduce_newobj(self, cls)


@polyfill(FunctionType.__get__)
def function_get(self: Any, instance: Any, owner: Any = None, /) -> Any:
    if instance is None:
        if owner is None:
            unfollowable("function.__get__(None, None)")
        return self
    return MethodType(self, instance)
