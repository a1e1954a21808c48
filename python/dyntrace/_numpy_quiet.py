"""NumPy's functions that warn from Python about the data, in copies that raise where they would warn.

In a graph nobody stands where a warning would point to: an operation of a graph that has something to
report raises, and the call is made again plainly, where NumPy warns from its own lines. These functions
are copies of NumPy's with another ``warnings``; the functions of the same module that they call are
copies too. NumPy itself is not touched.
"""

from __future__ import annotations

import importlib
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any, NoReturn


class WouldWarn(Exception):
    """NumPy would warn here."""


def _warn(*args: Any, **kwargs: Any) -> NoReturn:
    raise WouldWarn


#: Stands for the module ``warnings`` as far as NumPy's functions use it.
_WARNINGS = SimpleNamespace(warn=_warn)

_MODULES = {
    "numpy.lib._nanfunctions_impl": (
        "nanargmax", "nanargmin", "nanmax", "nanmean", "nanmedian", "nanmin", "nanpercentile",
        "nanquantile", "nanstd", "nanvar",
    ),
    "numpy.lib._function_base_impl": ("corrcoef", "cov"),
    "numpy.lib._polynomial_impl": ("polyfit",),
}  # fmt: skip


def _plain(value: Any) -> Any:
    """The Python function behind a function that dispatches."""
    return getattr(value, "__wrapped__", value)


def _copy(module: ModuleType, names: tuple[str, ...]) -> dict[str, FunctionType]:
    namespace = dict(vars(module), warnings=_WARNINGS)
    copies: dict[str, FunctionType] = {}
    for name, value in vars(module).items():
        function = _plain(value)
        if isinstance(function, FunctionType) and function.__globals__ is vars(module):
            copy = FunctionType(
                function.__code__, namespace, function.__name__, function.__defaults__,
                function.__closure__,
            )  # fmt: skip
            copy.__kwdefaults__ = function.__kwdefaults__
            copies[name] = copy
    namespace.update(copies)
    for name in names:
        copies[name].__module__ = __name__
        copies[name].__qualname__ = name
    return {name: copies[name] for name in names}


for _module, _names in _MODULES.items():
    globals().update(_copy(importlib.import_module(_module), _names))
