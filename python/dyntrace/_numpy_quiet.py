"""NumPy's functions that warn from Python, in copies that raise where they would warn.

In a graph nobody stands where a warning would point to: an operation of a graph that has something to
report raises, and the call is made again plainly, where NumPy warns from its own lines. These functions
are copies of NumPy's with another ``warnings``; the functions of the same module that they call are
copies too. NumPy itself is not touched.
"""

import importlib
from types import CodeType, FunctionType, SimpleNamespace
from typing import Any, NoReturn

import numpy as np

from dyntrace._numpy_checked import CHECKED


class WouldWarn(Exception):
    """NumPy would warn here."""


def _warn(*args: Any, **kwargs: Any) -> NoReturn:
    raise WouldWarn


#: Stands for the module ``warnings`` as far as NumPy's functions use it.
_WARNINGS = SimpleNamespace(warn=_warn)

#: By function: what to call in its place.
_replacements: dict[Any, Any] = {}
#: By module: the copies of its functions.
_copies: dict[str, dict[str, FunctionType]] = {}


def _plain(value: Any) -> Any:
    """The Python function behind a function that dispatches."""
    return value if isinstance(value, FunctionType) else getattr(value, "__wrapped__", value)


def _names(code: CodeType) -> set[str]:
    inner = (_names(part) for part in code.co_consts if isinstance(part, CodeType))
    return set(code.co_names).union(*inner)


def _may_warn(function: FunctionType, seen: set[FunctionType]) -> bool:
    seen.add(function)
    for name in _names(function.__code__):
        value = _plain(function.__globals__.get(name))
        if name == "warnings":
            return True
        own = isinstance(value, FunctionType) and value.__globals__ is function.__globals__
        if own and value not in seen and _may_warn(value, seen):
            return True
    return False


def _copied(module: str) -> dict[str, FunctionType]:
    """Copies of all functions of a module, which call each other."""
    if module not in _copies:
        original = vars(importlib.import_module(module))
        namespace = dict(original, warnings=_WARNINGS)
        copies = {}
        for name, value in original.items():
            function = _plain(value)
            if isinstance(function, FunctionType) and function.__globals__ is original:
                copy = FunctionType(
                    function.__code__, namespace, function.__name__, function.__defaults__,
                    function.__closure__,
                )  # fmt: skip
                copy.__kwdefaults__ = function.__kwdefaults__
                copy.__module__ = __name__
                copy.__qualname__ = f"{module.replace('.', '__')}____{name}"
                copies[name] = copy
        namespace.update(copies)
        _copies[module] = copies
    return _copies[module]


def replacement(callee: Any) -> Any:
    """What is called in the place of NumPy's `callee`: itself, if it never warns from Python.

    None if it may warn and can't be copied.
    """
    if callee in CHECKED:
        return CHECKED[callee]
    if callee not in _replacements:
        function = _plain(callee)
        result = callee
        if isinstance(function, FunctionType) and _may_warn(function, set()):
            result = _copied(function.__globals__["__name__"]).get(function.__name__)
        _replacements[callee] = result
    return _replacements[callee]


def histogramdd(*args: Any, **kwargs: Any) -> tuple[Any, ...]:
    """The counts and the edges in one tuple."""
    counts, edges = replacement(np.histogramdd)(*args, **kwargs)
    return (counts, *edges)


def __getattr__(name: str) -> Any:
    """A copy by its qualified name, for graphs that are read back."""
    module, found, function = name.rpartition("____")
    if not found or not module.startswith("numpy__"):
        raise AttributeError(name)
    for candidate in (module.replace("__", "."), module.replace("___", "._").replace("__", ".")):
        try:
            return _copied(candidate)[function]
        except (ImportError, KeyError):
            continue
    raise AttributeError(name)
