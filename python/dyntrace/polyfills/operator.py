"""The functions of ``operator`` that are more than one operation."""

from __future__ import annotations

import _operator
import sys
from operator import index
from typing import Any

from dyntrace.polyfills import fold, members, polyfill, text_of, unfollowable

_MISSING = text_of(_operator.indexOf, (), 0)
_NOT_ITERABLE = tuple(text_of(_operator.indexOf, 0, 0).split("'int'"))


def _iterate(a: Any) -> Any:
    failed = False
    try:
        iterator = iter(a)
    except TypeError:
        failed = True
    if failed:  # outside of the handler: C code raises without a context
        raise TypeError(f"{_NOT_ITERABLE[0]}'{type(a).__name__}'{_NOT_ITERABLE[1]}")
    return iterator


@polyfill(_operator.abs)
def abs_(a: Any, /) -> Any:
    return abs(a)


@polyfill(_operator.countOf)
def countOf(a: Any, b: Any, /) -> int:
    count = 0
    for item in _iterate(a):
        if item is b or item == b:
            count += 1
    return count


@polyfill(_operator.indexOf)
def indexOf(a: Any, b: Any, /) -> int:
    at = 0
    for item in _iterate(a):
        if item is b or item == b:
            return at
        at += 1
    raise ValueError(_MISSING)


def _size(number: Any) -> Any:
    number = int.__add__(number, 0)  # of a bool: an int
    if not -sys.maxsize <= number <= sys.maxsize:
        unfollowable("a length hint of more than the memory")
    return number


@polyfill(_operator.length_hint)
def length_hint(obj: Any, default: Any = 0, /) -> Any:
    default = _size(index(default))
    cls: Any = type(obj)
    if hasattr(cls, "__len__"):
        try:
            return len(obj)
        except TypeError:
            pass
    if not hasattr(cls, "__length_hint__"):
        return default
    try:
        hint = cls.__length_hint__(obj)
    except TypeError:
        return default
    if hint is NotImplemented:
        return default
    if not isinstance(hint, int):
        raise TypeError(f"__length_hint__ must be an integer, not {type(hint).__name__}")
    if hint < 0:
        raise ValueError("__length_hint__() should return >= 0")
    return _size(hint)


@polyfill(_operator.itemgetter)
def itemgetter(item: Any, /, *items: Any) -> Any:
    return fold(_operator.itemgetter, item, *items)


def _parts(getter: Any) -> Any:
    """What an itemgetter or attrgetter was made of."""
    return getter.__reduce__()[1]


@polyfill(_operator.itemgetter.__call__)
def call_itemgetter(self: Any, obj: Any, /) -> Any:
    items = members(_parts, self)
    if len(items) == 1:
        return obj[items[0]]
    return tuple([obj[item] for item in items])


@polyfill(_operator.attrgetter)
def attrgetter(attr: Any, /, *attrs: Any) -> Any:
    return fold(_operator.attrgetter, attr, *attrs)


def _paths(getter: Any) -> Any:
    return tuple([tuple(name.split(".")) for name in getter.__reduce__()[1]])


@polyfill(_operator.attrgetter.__call__)
def call_attrgetter(self: Any, obj: Any, /) -> Any:
    paths = members(_paths, self)
    if len(paths) == 1:
        return _walk(obj, paths[0])
    return tuple([_walk(obj, path) for path in paths])


def _walk(obj: Any, path: Any) -> Any:
    for name in path:
        obj = getattr(obj, name)
    return obj


@polyfill(_operator.methodcaller)
def methodcaller(name: Any, /, *args: Any, **kwargs: Any) -> Any:
    return fold(_operator.methodcaller, name, *args, **kwargs)


def _call(caller: Any) -> Any:
    """Name, arguments and keywords of a methodcaller."""
    made, args = caller.__reduce__()
    if type(made) is not type:  # a partial, which holds the keywords
        return made.args[0], args, made.keywords
    return args[0], args[1:], {}


@polyfill(_operator.methodcaller.__call__)
def call_methodcaller(self: Any, obj: Any, /) -> Any:
    name, args, kwargs = members(_call, self)
    return getattr(obj, name)(*args, **kwargs)
