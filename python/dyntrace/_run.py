"""Runs a script or a module as ``__main__`` in whole-script mode, as the interpreter itself would."""

from __future__ import annotations

import builtins
import importlib.util
import os
import pkgutil
import sys
from importlib.machinery import SourceFileLoader, SourcelessFileLoader
from types import CodeType, ModuleType
from typing import Any

from dyntrace._script import Options


class NoProgram(Exception):
    """The script or module can't be run; the text says why."""


def run_script(path: str, args: list[str], options: Options) -> None:
    """Runs the file `path`.

    A folder, or an archive, is run by its ``__main__``; a ``.pyc`` file as what it was compiled from.

    Raises
    ------
    NoProgram
        The file can't be read, or the folder has no ``__main__``.
    OptionError
        An option whose value does not exist.
    """
    from dyntrace._script import start

    file = os.path.join(os.getcwd(), path)  # "..", "." and links stay
    importer = pkgutil.get_importer(file)
    if importer is not None:  # a folder, or an archive
        spec = importer.find_spec("__main__")
        if spec is None:
            raise NoProgram(f"can't find '__main__' module in {path!r}")
        script = start(options)
        _set_first_path(file, always=True)
        sys.argv = [path, *args]
        _run_spec(script, spec)
        return
    compiled = path.endswith(".pyc")
    loader = (SourcelessFileLoader if compiled else SourceFileLoader)("__main__", file)
    try:
        source = loader.get_data(path)
    except OSError as error:
        raise NoProgram(f"can't read {path!r}: {error.strerror}") from None
    script = start(options)
    sys.argv = [path, *args]
    _set_first_path(os.path.dirname(os.path.realpath(path)))
    _run_main(
        script,
        lambda: loader.get_code("__main__")
        if compiled
        else compile(source, file, "exec", dont_inherit=True),
        {"__file__": file, "__cached__": None, "__loader__": loader},
    )


def run_module(name: str, args: list[str], options: Options) -> None:
    """Runs the module `name`, a package by its ``__main__``.

    Raises
    ------
    NoProgram
        There is no such module, or it has no Python code.
    OptionError
        An option whose value does not exist.
    """
    from dyntrace._script import start

    script = start(options)
    _set_first_path(os.getcwd())
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{name}.__main__")
    except (ImportError, ValueError) as error:
        raise NoProgram(f"can't find {name!r}: {error}") from None
    if spec is None or _module_code(spec) is None:
        raise NoProgram(f"no module named {name!r}")
    sys.argv = [spec.origin or name, *args]
    _run_spec(script, spec)


def _set_first_path(folder: str, always: bool = False) -> None:
    """Where the program's own modules are found.  ``-P`` and ``-I`` leave it out."""
    if not getattr(sys.flags, "safe_path", sys.flags.isolated):
        sys.path[0] = folder
    elif always:
        sys.path.insert(0, folder)


def _run_spec(script: Any, spec: Any) -> None:
    _run_main(
        script,
        lambda: _module_code(spec),
        {
            "__file__": spec.origin,
            "__cached__": spec.cached,
            "__loader__": spec.loader,
            "__package__": spec.parent,
            "__spec__": spec,
        },
    )


def _module_code(spec: Any) -> CodeType | None:
    get_code = getattr(spec.loader, "get_code", None)
    code = get_code(spec.name) if get_code is not None else None
    return code if isinstance(code, CodeType) else None


def _run_main(script: Any, make_code: Any, attributes: dict[str, object]) -> None:
    module = ModuleType("__main__")
    module.__dict__.update(__annotations__={}, __builtins__=builtins, __spec__=None)
    module.__dict__.update(attributes)
    sys.modules["__main__"] = module
    try:
        code = make_code()
        exec(script.code_for_main(code) or code, module.__dict__)
    except SystemExit:
        raise
    except BaseException as error:
        _report(error, error.__traceback__)


def _report(error: BaseException, traceback: Any) -> None:
    """Ends the program as the interpreter does, without our own frames in the traceback."""
    while traceback is not None and traceback.tb_frame.f_code.co_filename == __file__:
        traceback = traceback.tb_next
    error.__traceback__ = traceback
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, traceback
    sys.excepthook(type(error), error, traceback)
    if isinstance(error, KeyboardInterrupt):
        import signal

        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    sys.exit(1)
