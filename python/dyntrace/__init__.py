"""dyntrace: unmodified Python array code, made fast.

>>> import dyntrace
>>> import numpy as np
>>> @dyntrace.compile
... def smooth(x, y):
...     return (x * 2.0 + y) / 3.0 - y * y
>>> smooth(np.ones(4), np.ones(4))
array([0., 0., 0., 0.])
"""

from dyntrace._errors import BackendError, RecompileError, Unsupported
from dyntrace._version import __version__
from dyntrace.api import (
    assume_constant_result,
    compile,
    disable,
    error_on_graph_break,
    graph_break,
    is_compiling,
    list_backends,
    list_rules,
    register_backend,
    reset,
)
from dyntrace.config import config
from dyntrace.substitutes import list_substitutes, substitute_in_graph

__all__ = [
    "BackendError",
    "CompiledFunction",
    "ExplainOutput",
    "Graph",
    "Node",
    "RecompileError",
    "Unsupported",
    "__version__",
    "adapters",
    "assume_constant_result",
    "compile",
    "config",
    "disable",
    "error_on_graph_break",
    "explain",
    "graph_break",
    "is_compiling",
    "list_backends",
    "list_rules",
    "list_substitutes",
    "register_backend",
    "reset",
    "substitute_in_graph",
]

# Loaded at first use: name -> (module, attribute or None for the module itself).
_LAZY = {
    "explain": ("dyntrace.explanation", "explain"),
    "ExplainOutput": ("dyntrace.explanation", "ExplainOutput"),
    "adapters": ("dyntrace.adapters", None),
}


def __getattr__(name: str) -> object:
    if name in _LAZY:
        import importlib

        module_name, attribute = _LAZY[name]
        module = importlib.import_module(module_name)
        value = module if attribute is None else getattr(module, attribute)
        globals()[name] = value
        return value
    if name in ("Graph", "Node", "CompiledFunction", "SymInt", "SymFloat"):
        from dyntrace._support import core

        if core is not None:
            return getattr(core, name)
    raise AttributeError(f"module 'dyntrace' has no attribute {name!r}")
