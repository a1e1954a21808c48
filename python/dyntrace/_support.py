"""Loads the extension, or says once why this interpreter runs everything plainly."""

import builtins
import sys

TYPE_CHECKING = False  # what starts with every interpreter imports as little as it can
if TYPE_CHECKING:
    from types import ModuleType

core: "ModuleType | None"
_reason: "str | None" = None

#: The builtins that polyfills see: those of the moment at which dyntrace was imported.
PRISTINE_BUILTINS = dict(vars(builtins))


def _free_threaded() -> bool:
    return not getattr(sys, "_is_gil_enabled", lambda: True)() or "free-threading" in sys.version


def _load() -> "tuple[ModuleType | None, str | None]":
    version = "%d.%d" % sys.version_info[:2]
    if sys.implementation.name != "cpython":
        return None, f"dyntrace needs CPython, this is {sys.implementation.name}"
    if not (3, 10) <= sys.version_info[:2] <= (3, 13):
        return None, f"dyntrace supports CPython 3.10 to 3.13, this is {version}"
    if _free_threaded():
        return None, "dyntrace does not support free-threaded builds of CPython"
    import dyntrace._core

    if "numpy" in sys.modules or not dyntrace._whole_script:  # else the program may never need NumPy
        dyntrace._core.load_numpy()
    return dyntrace._core, None


core, _reason = _load()


def warn_unsupported() -> None:
    """Warns, once a process, that functions are left as they are."""
    global _reason
    if _reason is not None:
        import warnings

        warnings.warn(f"{_reason}: functions run plainly", RuntimeWarning, stacklevel=3)
        _reason = None
