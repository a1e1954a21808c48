"""Runs a script or a module as ``__main__`` in whole-script mode, as the interpreter itself would."""

from __future__ import annotations

import builtins
import importlib.util
import os
import sys
from types import CodeType, ModuleType
from typing import Any

from dyntrace._options import Options


class NoProgram(Exception):
    """The script or module can't be run; the text says why."""


def run_script(path: str, args: list[str], options: Options) -> None:
    """Runs the file `path`.

    Raises
    ------
    NoProgram
        The file can't be read.
    OptionError
        An option whose value does not exist.
    """
    from dyntrace._script import start

    try:
        with open(path, "rb") as stream:
            source = stream.read()
    except OSError as error:
        raise NoProgram(f"can't read {path!r}: {error.strerror}") from None
    script = start(options)
    sys.argv = [path, *args]
    sys.path[0] = os.path.dirname(os.path.abspath(path))
    _run_main(
        script,
        lambda: compile(source, path, "exec", dont_inherit=True),
        {"__file__": path, "__cached__": None},
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
    sys.path[0] = os.getcwd()
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{name}.__main__")
    except (ImportError, ValueError) as error:
        raise NoProgram(f"can't find {name!r}: {error}") from None
    code = _module_code(spec) if spec is not None else None
    if spec is None or code is None:
        raise NoProgram(f"no module named {name!r}")
    sys.argv = [spec.origin or name, *args]
    _run_main(
        script,
        lambda: code,
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
    module.__dict__.update(__builtins__=builtins, __spec__=None)
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
