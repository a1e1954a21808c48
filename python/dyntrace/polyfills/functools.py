"""The C functions of ``functools``, and what its Python does with the dicts of functions."""

from __future__ import annotations

import _functools
import functools as original
from types import BuiltinFunctionType, CodeType, FunctionType
from typing import Any

from dyntrace.polyfills import own_attributes, polyfill, text_of, unfollowable

_EMPTY = text_of(_functools.reduce, max, ())
_NOT_ITERABLE = text_of(_functools.reduce, max, None)


_MISSING = object()


@polyfill(_functools.reduce)
def reduce(function: Any, sequence: Any, initial: Any = _MISSING, /) -> Any:
    failed = False
    try:
        iterator = iter(sequence)
    except TypeError:
        failed = True
    if failed:  # outside of the handler: C code raises without a context
        raise TypeError(_NOT_ITERABLE)
    value = initial
    if initial is _MISSING:
        for value in iterator:
            break
        else:
            raise TypeError(_EMPTY)
    for item in iterator:
        value = function(value, item)
    return value


class _Key:
    """What cmp_to_key() makes of each item; never leaves the trace."""

    def __init__(self, compare: Any, obj: Any) -> None:
        self.compare = compare
        self.obj = obj

    def _ask(self, other: Any) -> Any:
        if not isinstance(other, _Key):
            raise TypeError("other argument must be K instance")
        return self.compare(self.obj, other.obj)

    def __lt__(self, other: Any) -> Any:
        return self._ask(other) < 0

    def __gt__(self, other: Any) -> Any:
        return self._ask(other) > 0

    def __le__(self, other: Any) -> Any:
        return self._ask(other) <= 0

    def __ge__(self, other: Any) -> Any:
        return self._ask(other) >= 0

    def __eq__(self, other: Any) -> Any:
        return self._ask(other) == 0


@polyfill(_functools.cmp_to_key)
def cmp_to_key(mycmp: Any) -> Any:
    return _functools.partial(_Key, mycmp)


# ---- Functions around functions


class _Cached:
    """What lru_cache() makes of a function; never leaves the trace."""

    def __init__(self, function: Any, maxsize: Any, typed: Any, info: Any) -> None:
        self._function = function
        self._maxsize = maxsize
        self._typed = typed
        self._info = info
        self._found: dict[Any, Any] = {}
        self._hits = 0
        self._misses = 0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._maxsize == 0:
            self._misses += 1
            return self._function(*args, **kwargs)
        key = _key_of(args, kwargs, self._typed)
        found = self._found
        if key in found:
            value = found[key]
            if self._maxsize is not None:  # it is the latest now
                del found[key]
                found[key] = value
            self._hits += 1
            return value
        self._misses += 1
        value = self._function(*args, **kwargs)
        if self._maxsize is None:
            found[key] = value
        elif key not in found:  # the function itself may have been here
            if len(found) >= self._maxsize:
                for oldest in found:
                    break
                del found[oldest]
            found[key] = value
        return value

    def cache_info(self) -> Any:
        return self._info(self._hits, self._misses, self._maxsize, len(self._found))

    def cache_clear(self) -> None:
        self._hits = self._misses = 0
        self._found.clear()


def _key_of(args: Any, kwargs: Any, typed: Any) -> Any:
    """Arguments that are equal have equal keys; those that lru_cache() tells apart have not."""
    if (
        not typed
        and not kwargs
        and len(args) == 1
        and (type(args[0]) is int or type(args[0]) is str)
    ):
        return args[0]
    types = []
    for value in (*args, *kwargs.values()) if typed else ():
        cls = type(value)
        if cls.__module__ != "builtins":
            unfollowable("lru_cache(typed=True) called with objects of other types")
        types.append(cls.__name__)
    return (args, tuple(kwargs.items()), tuple(types))


@polyfill(_functools._lru_cache_wrapper)
def lru_cache_wrapper(user_function: Any, maxsize: Any, typed: Any, cache_info_type: Any) -> Any:
    if maxsize is not None and type(maxsize) is not int:
        unfollowable("lru_cache() with a maxsize that is no plain int")
    if not callable(user_function):
        raise TypeError("the first argument must be callable")
    if maxsize is not None and maxsize < 0:
        maxsize = 0
    return _Cached(user_function, maxsize, bool(typed), cache_info_type)


@polyfill(original.update_wrapper)
def update_wrapper(
    wrapper: Any,
    wrapped: Any,
    assigned: Any = original.WRAPPER_ASSIGNMENTS,
    updated: Any = original.WRAPPER_UPDATES,
) -> Any:
    if not isinstance(wrapper, _Cached) and not isinstance(wrapper, FunctionType):
        unfollowable("update_wrapper() of something that is no function")
    for name in assigned:
        try:
            value = getattr(wrapped, name)
        except AttributeError:
            continue
        setattr(wrapper, name, value)
    for name in updated:
        if name != "__dict__":
            getattr(wrapper, name).update(getattr(wrapped, name, {}))
        elif type(wrapped) is FunctionType or type(wrapped) is BuiltinFunctionType:
            for key, value in own_attributes(wrapped).items():
                setattr(wrapper, key, value)
        elif type(wrapped) is original.partial:
            for key, value in own_attributes(wrapped).items():
                setattr(wrapper, key, value)
        else:
            unfollowable("update_wrapper() with the attributes of something that is no function")
    wrapper.__wrapped__ = wrapped
    return wrapper


# ---- Single dispatch


def _free(function: Any, name: str) -> Any:
    """What the function's free variable of that name holds."""
    at = function.__code__.co_freevars.index(name)
    return function.__closure__[at].cell_contents


def _code_inside(function: Any, name: str) -> Any:
    """The code of a function that `function` makes."""
    for constant in function.__code__.co_consts:
        if isinstance(constant, CodeType) and constant.co_name == name:
            return constant
    raise AssertionError(name)


@polyfill(_code_inside(original.singledispatch, "dispatch"))
def dispatch(function: Any, cls: Any) -> Any:
    """What a single-dispatch function does for a class, without the cache that nobody sees."""
    registry = _free(function, "registry")
    for known in registry:
        if type(known) is not type:
            unfollowable("single dispatch among abstract classes")
    for base in cls.__mro__:
        if base in registry:
            return registry[base]
    raise AssertionError("object has no implementation")


# ---- Cached properties


class _Lock:
    """The lock of a cached property that the trace has made; it never leaves the trace."""


_HAS_LOCK = "lock" in vars(original.cached_property(len))
_HAS_MODULE = "__module__" in vars(original.cached_property(len))


@polyfill(original.cached_property.__init__)
def cached_property_init(self: Any, func: Any) -> None:
    self.func = func
    self.attrname = None
    self.__doc__ = func.__doc__
    if _HAS_MODULE:
        self.__module__ = func.__module__
    if _HAS_LOCK:
        self.lock = _Lock()
