"""dyntrace: unmodified Python array code, made fast.

>>> import dyntrace
>>> import numpy as np
>>> @dyntrace.compile
... def smooth(x, y):
...     return (x * 2.0 + y) / 3.0 - y * y
>>> smooth(np.ones(4), np.ones(4))
array([0., 0., 0., 0.])
"""

import os
import sys

TYPE_CHECKING = False  # typing itself is not imported where a program only starts
if TYPE_CHECKING:
    from dyntrace._errors import BackendError, RecompileError, Unsupported
    from dyntrace._settings import config
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

# A whole script that may never need it loads what tracing needs at the first attempt to compile something:
# one that is run with DYNTRACE=1, or by `python -m dyntrace`, where argv[0] is "-m" while this is imported.
_whole_script = os.environ.get("DYNTRACE", "0") not in ("", "0") or getattr(sys, "argv", [])[:1] == ["-m"]

# Loaded one by one at first use: name -> (module, attribute or None for the module itself).
_LAZY = {
    "explain": ("dyntrace.explanation", "explain"),
    "ExplainOutput": ("dyntrace.explanation", "ExplainOutput"),
    "adapters": ("dyntrace.adapters", None),
    "__version__": ("dyntrace._version", "__version__"),
}


def _load_tracing() -> None:
    """What tracing needs; a program that names nothing of ours needs no more."""
    from dyntrace._support import core

    if core is not None:
        core.load_tracing()
    import dyntrace._settings
    import dyntrace.substitutes  # noqa: F401 - each tells the extension what it says


def _load() -> None:
    """Binds the public names."""
    if "compile" in globals():
        return
    _load_tracing()
    from dyntrace import _errors, _settings, api, substitutes

    for module in (_errors, _settings, api, substitutes):
        for name in __all__:
            if name in vars(module):
                globals()[name] = vars(module)[name]


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
    if name in __all__ and "compile" not in globals():
        _load()
        return globals()[name]
    raise AttributeError(f"module 'dyntrace' has no attribute {name!r}")


def load_ipython_extension(shell: object) -> None:
    """``%load_ext dyntrace``: cells that follow run as a whole script does with ``DYNTRACE=1``."""
    from dyntrace import _interactive

    _interactive.load(shell)


def unload_ipython_extension(shell: object) -> None:
    """``%unload_ext dyntrace``: functions of cells that follow stay plain."""
    from dyntrace import _interactive

    _interactive.unload()


if not _whole_script:
    _load()
