"""Whole-script mode: the functions of a program are prepared as their modules define them.

A function is prepared in place (the object stays the same), runs plainly until it is hot, and is plain
again when it gains nothing.  Functions of the main module are prepared as their ``def`` statements finish,
those of imported modules when the module has finished executing.
"""

import os
import sys

from dyntrace._support import core as _core

TYPE_CHECKING = False  # what starts with every interpreter imports as little as it can
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import CodeType, FunctionType, ModuleType
    from typing import Any
else:
    FunctionType = type(lambda: None)
    CodeType = type(FunctionType.__code__.__get__(lambda: None))
    ModuleType = type(sys)

_CO_OPTIMIZED = 1  # code of a function, not of a class or module


def _defines(code: "CodeType") -> bool:
    """Does the code make functions or classes as a module does: a class body, or type parameters?"""
    return not code.co_flags & _CO_OPTIMIZED or code.co_name.startswith("<generic parameters of ")


def _matches(name: str, patterns: "Sequence[str]") -> bool:
    from fnmatch import fnmatchcase

    return any(fnmatchcase(name, pattern) for pattern in patterns)


# What a class consists of, without its metaclass being asked; of a class of C that is not ready it is None.
_body_of: "Any" = type.__dict__["__dict__"].__get__
_bases_of: "Any" = type.__dict__["__mro__"].__get__


def _exec_module_of(loader: object) -> "tuple[type, object]":
    """The class that has `exec_module` of this loader, and what it has."""
    for kind in _bases_of(type(loader)):
        function = (_body_of(kind) or {}).get("exec_module")
        if function is not None:
            return kind, function
    return type(loader), None


class Options:
    """What whole-script mode does, and what it does without a word: an attribute per row of `OPTIONS`."""

    backend: str = "native"
    modules: "Sequence[str]" = ()
    skip: "Sequence[str]" = ()
    hot_count: int = 3
    hot_time: int = 5
    num_threads: int = 0
    logs: str = ""
    report: str = ""
    verify: float = 0.0
    verify_dir: str = "dyntrace-verify"
    strict: bool = False
    everything: bool = False


def mentions_options(path: str) -> bytes:
    """The contents of the file if it may have a table of ours; else nothing."""
    try:
        with open(path, "rb") as stream:
            data = stream.read()
    except OSError:
        return b""
    return data if b"dyntrace" in data else b""


def options_around() -> Options:
    """Those of the file and the environment; where neither says a word, nothing of theirs is loaded.

    Raises
    ------
    OptionError
        See ``_options.from_surroundings``.
    """
    said = os.environ.get("DYNTRACE", "1") != "1" or any(
        name.startswith("DYNTRACE_") for name in os.environ
    )
    if not said and not mentions_options("pyproject.toml"):
        return Options()
    from dyntrace import _options

    return _options.from_surroundings()


class Script:
    """One program that runs in whole-script mode."""

    def __init__(self, options: "Options") -> None:
        assert _core is not None
        self.options = options
        self.exec_module: Any = None  # of the interpreter's own loaders, as it is watched
        self.region = _core.Region(
            options.backend,
            fullgraph=False,
            dynamic=None,
            name="script",
            options=None,
            record=bool(options.report),
            quiet=True,
        )

    # ---- Which functions

    def is_wanted(self, module: str, path: "str | None") -> bool:
        """Are functions of this module prepared at all?"""
        options = self.options  # asked for each module of the program: mostly there are no patterns
        if options.skip and _matches(module, options.skip):
            return False
        if options.everything:
            return True
        if options.modules and _matches(module, [p.partition(":")[0] for p in options.modules]):
            return True
        return path is not None and _is_own_code(path)

    def _is_function_wanted(self, module: str, path: "str | None", qualname: str) -> bool:
        name = f"{module}:{qualname}"
        if self.options.skip and _matches(name, [p for p in self.options.skip if ":" in p]):
            return False
        chosen = [p for p in self.options.modules if _matches(module, [p.partition(":")[0]])]
        if not chosen or self.options.everything or (path is not None and _is_own_code(path)):
            return True
        return any(":" not in p or _matches(name, [p]) for p in chosen)

    def _prepare(self, function: "FunctionType") -> None:
        assert _core is not None
        _core.prepare_function(self.region, function)

    # ---- The main module

    def code_for_main(self, code: "CodeType") -> "CodeType | None":
        """What runs in the place of the main module's code; None: that code itself.

        Functions of the module and of its classes are prepared as they are defined: before their
        decorators see them.
        """
        assert _core is not None
        if not self.is_wanted("__main__", code.co_filename):
            return None
        code = self._following(code)
        return _core.module_driver(self.region, code) or code

    def _following(self, code: "CodeType") -> "CodeType":
        assert _core is not None
        inner = tuple(
            self._following(constant)
            if isinstance(constant, CodeType) and _defines(constant)
            else constant
            for constant in code.co_consts
        )
        if any(new is not old for new, old in zip(inner, code.co_consts, strict=True)):
            code = code.replace(co_consts=inner)
        wanted = (
            self._is_main_function_wanted if self.options.skip or self.options.modules else None
        )
        followed: CodeType = _core.follow_definitions(self.region, code, wanted)
        return followed

    def _is_main_function_wanted(self, function: "FunctionType") -> bool:
        return self._is_function_wanted("__main__", None, function.__qualname__)

    def _reaches_arrays(self, namespace: "dict[str, Any]") -> bool:
        assert _core is not None
        return self.options.everything or _core.reaches_arrays(namespace)

    # ---- Imported modules

    def watch_loader(self, spec: "ModuleSpec") -> None:
        """A module is about to be executed, maybe by a loader of the program's own: pytest's, say."""
        assert _core is not None
        kind, function = _exec_module_of(spec.loader)
        if issubclass(type(function), FunctionType):  # maybe a prepared one
            watched = _core.after_executing(function, self.prepare_executed)
            type.__setattr__(kind, "exec_module", watched)

    def prepare_loaded(self, spec: "ModuleSpec") -> None:
        """Prepares a module of a loader whose `exec_module` can't be watched."""
        if type(_exec_module_of(spec.loader)[1]) is not type(self.exec_module):
            self.prepare_executed(sys.modules.get(spec.name))

    def prepare_executed(self, module: object) -> None:
        """Prepares what a loader that is not the interpreter's has made."""
        if type(module) is ModuleType:  # others may do anything when they are looked at
            self.prepare_module(module)

    def prepare_module(self, module: "ModuleType") -> None:
        """Prepares what a module that has finished executing defines."""
        assert _core is not None
        namespace = getattr(module, "__dict__", None)
        if type(namespace) is not dict:
            return
        name, path = namespace.get("__name__"), namespace.get("__file__")
        if name == "numpy":
            _expect_arrays()
        if type(name) is not str or not (path is None or type(path) is str):
            return
        if not self.is_wanted(name, path):
            return
        if self._reaches_arrays(namespace):
            self._prepare_namespace(namespace, namespace, name, path, set())

    def _prepare_namespace(
        self,
        members: "dict[str, Any]",
        home: "dict[str, Any]",
        module: str,
        path: "str | None",
        seen: "set[int]",
    ) -> None:
        for value in list(members.values()):
            for function in _functions_in(value):
                if function.__globals__ is home and self._is_function_wanted(
                    module, path, function.__qualname__
                ):
                    self._prepare(function)
            if issubclass(type(value), type) and id(value) not in seen:  # asks no metaclass
                body = _body_of(value)
                if body is not None and body.get("__module__") == module:
                    seen.add(id(value))
                    self._prepare_namespace(dict(body), home, module, path, seen)


def _functions_in(value: object) -> "list[FunctionType]":
    """The plain functions that a module-level or class-level value stands for; runs no user code."""
    kind = type(value)
    if kind is staticmethod or kind is classmethod:
        return _functions_in(value.__func__)  # type: ignore[attr-defined]
    if kind is property:
        parts = (value.fget, value.fset, value.fdel)  # type: ignore[attr-defined]
        return [part for part in parts if type(part) is FunctionType]
    found: list[FunctionType] = []
    while type(value) is FunctionType and value not in found:
        found.append(value)
        value = value.__dict__.get("__wrapped__")
    return found


#: Folder -> whether modules in it are the program's own.
_own_folders: "dict[str, bool]" = {}
#: Those in which they are not.
_others_folders: "set[str]" = set()


def _is_own_code(path: str) -> bool:
    """The program's own, and not installed for all programs."""
    folder = path.rpartition(os.sep)[0]
    own = _own_folders.get(folder)
    if own is None:
        folders = os.path.abspath(path).split(os.sep)
        own = "site-packages" not in folders and "dist-packages" not in folders
        if os.path.isabs(folder):
            _own_folders[folder] = own
            if not own:
                _others_folders.add(folder)
    return own


#: The program of this process, once whole-script mode is on.
current: "Script | None" = None


def start(options: "Options") -> Script:
    """Switches whole-script mode on for this process.

    Raises
    ------
    OptionError
        An option whose value does not exist.
    """
    assert _core is not None
    if options.backend not in _core.list_backends():
        from dyntrace._options import OptionError

        known = ", ".join(_core.list_backends())
        raise OptionError(f"backend: unknown backend {options.backend!r}, known ones are: {known}")
    _core.set_config("hot_count", options.hot_count)
    _core.set_config("hot_ns", options.hot_time * 1_000_000)
    _core.set_config("num_threads", options.num_threads)
    _core.set_config("strict", options.strict)
    _core.set_config("everything", options.everything)
    if options.skip or options.modules:
        import fnmatch  # noqa: F401 - whole, before each module that is imported is asked about
    _core.leave_alone(tuple(p for p in options.skip if ":" not in p))
    global current
    script = current = Script(options)
    if "numpy" in sys.modules or options.everything:
        _expect_arrays()
    if options.logs:
        _log(options.logs)
    _watch_imports(script)
    if options.everything:
        import dyntrace._report
        import dyntrace.polyfills  # what a trace may need must not be traced on its way in

        dyntrace._load()

        _core.capture_everywhere(script.region)
    _core.set_verify(options.verify)
    if options.verify or options.verify_dir != "dyntrace-verify":
        from dyntrace import _verify

        _verify.directory = options.verify_dir
    if options.report:
        import atexit

        from dyntrace._summary import write_summary

        atexit.register(write_summary, script.region, options.report)
    return script


def _expect_arrays() -> None:
    assert _core is not None
    _core.load_numpy()
    _core.keep_freed_memory()


def _log(names: str) -> None:
    assert _core is not None
    try:
        _core.set_logs(names)  # what reads the environment later must find nothing to complain of
    except ValueError as error:
        from dyntrace._options import OptionError

        raise OptionError(str(error)) from None
    from dyntrace._settings import config

    config.logs = names


def _watch_imports(script: Script) -> None:
    import _frozen_importlib as bootstrap
    from _frozen_importlib_external import SourceFileLoader

    assert _core is not None
    for kind in SourceFileLoader.__mro__:  # the class that loaders of source and bytecode share
        if "exec_module" in vars(kind):
            patterns = script.options.skip or script.options.modules or script.options.everything
            args = () if patterns else (_others_folders,)
            script.exec_module = _core.after_executing(
                vars(kind)["exec_module"], script.prepare_module, *args
            )
            kind.exec_module = script.exec_module  # type: ignore[attr-defined]
            break
    watched = {"_init_module_attrs": script.watch_loader, "_load_unlocked": script.prepare_loaded}
    for name, callback in watched.items():
        setattr(bootstrap, name, _core.after_loading(getattr(bootstrap, name), callback))


def watch_main(script: Script) -> None:
    """Prepares the functions of the main module, which the interpreter is about to run.

    Where code is typed, this goes on with each statement.
    """
    assert _core is not None
    _core.watch_main(script.code_for_main)


def watch_no_more() -> None:
    assert _core is not None
    _core.watch_main(None)
