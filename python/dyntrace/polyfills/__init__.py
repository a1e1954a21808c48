"""Polyfills: the standard library's C functions, in Python, for traced code.

One module for each module of the standard library. In it, each function decorated with
``@polyfill(original)`` is traced in the place of a call of ``original``; it must do what the original
does: results, exceptions with their texts, and the order in which it calls back. Nothing else sees
it: the original keeps its identity, a traceback shows no frame of a polyfill, and a change of the
program's builtins does not reach it.

:func:`load` is the one loader. The tracer calls it between two attempts to trace, when no trace is
alive: what a polyfill's module does when it is executed can neither be observed in the middle of a
trace nor come back into one. The import system's hooks are not asked, and the module sees the builtins
that there were when dyntrace was imported.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.machinery import PathFinder
from types import FunctionType, ModuleType
from typing import Any, TypeVar

from dyntrace._support import PRISTINE_BUILTINS
from dyntrace._support import core as _core

F = TypeVar("F", bound=Callable[..., Any])

#: (original, polyfill) of the module being loaded.
_found: list[tuple[Any, FunctionType]] = []


def polyfill(*originals: Any) -> Callable[[F], F]:
    """Marks a function as the polyfill of one or more callables."""

    def mark(function: F) -> F:
        assert isinstance(function, FunctionType)
        _found.extend((original, function) for original in originals)
        return function

    return mark


def unfollowable(reason: str) -> Any:
    """In traced code, a graph break: the polyfill can't tell what its original would do."""
    raise NotImplementedError(reason)


class Unexpected(Exception):
    """``if question: raise Unexpected``, about numbers that the graph computes: it checks the answer.

    Where that is yes, the run is dropped and the call made again plainly (symbolic/expect.c). It is
    for what seldom happens, since a function of which many calls end so is not compiled any more.
    """


def fold(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Calls a pure function; in traced code while tracing, which takes arguments that are known.

    Lists, dicts and sets are copied for the call, so the function must neither keep nor change them.
    """
    return function(*args, **kwargs)


def is_known(value: Any, /) -> bool:
    """Whether :func:`fold` would take the value: in traced code, if everything in it is known."""
    return True


def members(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """As :func:`fold`; the result may hold any objects, which are then known by identity."""
    return function(*args, **kwargs)


def own_attributes(obj: Any, /) -> dict[str, Any]:
    """A new dict of the attributes that the object itself has, slots excluded, in order."""
    return dict(vars(obj))


def contents(obj: Any, /) -> list[Any]:
    """The list that stands for what a C type keeps; it must not leave the polyfill."""
    raise NotImplementedError("only in traced code")


def more(obj: Any, /) -> list[Any]:
    """Of a deque: ``[maxlen, changes, whether it existed before]``; it must not leave the polyfill either."""
    raise NotImplementedError("only in traced code")


def fp_region(*setting: int) -> Any:
    """A region begins: bits of the floating-point errors that are ignored, warned of, raised.

    Gives what to hand over, alone, to end the region.
    """
    raise NotImplementedError("only in traced code")


def apart(a: Any, b: Any, /) -> bool:
    """Are these arrays known to share no memory? In traced code, where one of them is new."""
    raise NotImplementedError("only in traced code")


def fp_setting(ignored: int, warned: int, raised: int, /) -> bool:
    """The same until it is set again; gives whether only a region, whose end takes it back, knows of it."""
    raise NotImplementedError("only in traced code")


def printing(*options: Any) -> Any:
    """Texts of arrays are made with these options, a tuple, from here on; `True` behind it: in a region.

    Gives what to hand over, alone, to end the region.
    """
    raise NotImplementedError("only in traced code")


#: What an :func:`effect` changes for what comes behind it (DtUnsettled).
NOTHING, BITS, CALL = 0, 1, 2


def effect(unsettled: int, function: Callable[..., Any], /, *args: Any) -> None:
    """The call is made behind the operations of the graph; it must neither raise nor run user code."""
    raise NotImplementedError("only in traced code")


def text_of(function: Callable[..., Any], *args: Any) -> str:
    """What the exception says that ``function(*args)`` raises on this CPython."""
    try:
        function(*args)
    except Exception as error:
        return str(error)
    raise AssertionError(f"{function!r} does not raise")


def load(name: str) -> ModuleType:
    """The module of polyfills `name`, executed and registered at the first call."""
    qualified = f"{__name__}.{name}"
    module = sys.modules.get(qualified)
    if module is not None:
        return module
    spec = PathFinder.find_spec(qualified, __path__)
    if spec is None or spec.loader is None:
        raise ImportError(f"dyntrace has no polyfills for {name!r}")
    module = ModuleType(qualified)
    module.__spec__, module.__file__ = spec, spec.origin
    module.__dict__["__builtins__"] = PRISTINE_BUILTINS
    before = len(_found)
    exec(spec.loader.get_code(qualified), module.__dict__)
    found = _found[before:]
    del _found[before:]
    if _core is not None:
        for original, function in found:
            _core.register_polyfill(original, function)
    sys.modules[qualified] = module
    return module


if _core is not None:
    _core.register_traced("apart", apart)
    _core.register_traced("contents", contents)
    _core.register_traced("effect", effect)
    _core.register_traced("fold", fold)
    _core.register_traced("fp_region", fp_region)
    _core.register_traced("fp_setting", fp_setting)
    _core.register_traced("more", more)
    _core.register_traced("is_known", is_known)
    _core.register_traced("members", members)
    _core.register_traced("own_attributes", own_attributes)
    _core.register_traced("printing", printing)
    _core.register_traced("unfollowable", unfollowable)
