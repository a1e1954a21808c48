"""Files that show a difference: a function and its inputs, run plainly and compiled.

A file holds the function's source for the reader, and as data the function itself: its code, what it
names of its globals, its closure, its arguments and the state of the random generators.  What can be
imported is named, the rest is pickled by value.
"""

from __future__ import annotations

import base64
import builtins
import importlib
import inspect
import io
import marshal
import os
import pickle
import random
import sys
import types
import warnings
from typing import Any

from dyntrace import _outcome
from dyntrace._differences import describe_difference

_TEMPLATE = '''\
"""dyntrace gives another result than plain Python:

{text}

Function {name} of {file}, line {line}, CPython {version}.
Run this file: it calls the function plainly and compiled, and prints how they differ.
"""
{source}
import sys

sys.path[:0] = {path!r}

from dyntrace import _reproducer

DATA = """
{data}
"""

if __name__ == "__main__":
    sys.exit(_reproducer.run(DATA, {version!r}))
'''


# ---- Writing


def write(directory: str, function: Any, arguments: list[Any], region: Any, text: str) -> str:
    """Writes a reproducer into `directory`, which is made; returns its path.

    Raises
    ------
    OSError
        The file can't be written.
    """
    code = function.__code__
    try:
        data = _packed(function, arguments, region)
    except Exception as error:  # whatever the objects' own ways of being pickled raise
        data = f"!{type(error).__name__}: {error}"
    content = _TEMPLATE.format(
        text=_harmless(text),
        name=_harmless(function.__qualname__),
        file=_harmless(code.co_filename),
        line=code.co_firstlineno,
        version=_version(),
        source=_source(function),
        path=[entry for entry in sys.path if entry and os.path.isdir(entry)],
        data=_harmless(data),
    )
    os.makedirs(directory, exist_ok=True)
    stem = "".join(c if c.isalnum() or c in "._" else "_" for c in function.__qualname__)
    number = 1
    while True:
        suffix = f"_{number}" if number > 1 else ""
        path = os.path.join(directory, f"{stem[:80]}_{code.co_firstlineno}{suffix}.py")
        try:
            with open(path, "x", encoding="utf-8", errors="backslashreplace") as stream:
                stream.write(content)
            return path
        except FileExistsError:
            number += 1


def _version() -> str:
    return "%d.%d" % sys.version_info[:2]


def _harmless(text: str) -> str:
    """Text inside of a string of the file."""
    return text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')


def _source(function: Any) -> str:
    try:
        lines = inspect.getsource(function).rstrip("\n").split("\n")
    except (OSError, TypeError):
        lines = ["(its source is not there)"]
    return "\n" + "\n".join(f"# {line}".rstrip() for line in lines) + "\n"


def _packed(function: Any, arguments: list[Any], region: Any) -> str:
    stream = io.BytesIO()
    numpy = sys.modules.get("numpy")
    random = sys.modules.get("random")
    _Pickler(stream, function).dump(
        {
            "function": function,
            "arguments": arguments,
            "backend": region.backend,
            "options": region.options,
            "random": random.getstate() if random is not None else None,
            "numpy_random": numpy.random.get_state() if numpy is not None else None,
            "errors": numpy.geterr() if numpy is not None else None,
        }
    )
    text = base64.b85encode(stream.getvalue()).decode()
    return "\n".join(text[i : i + 100] for i in range(0, len(text), 100))


def _is_importable(value: Any) -> bool:
    name = value.__module__
    if not isinstance(name, str) or name == "__main__" or name not in sys.modules:
        return False
    found: Any = sys.modules[name]
    for part in value.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is value


class _Pickler(pickle.Pickler):
    """Pickles `shown`, and what can't be imported, by value; views stay views."""

    def __init__(self, stream: Any, shown: Any) -> None:
        super().__init__(stream, protocol=4)
        self.shown = shown
        self.written: set[tuple[str, str]] = set()

    def reducer_override(self, value: Any) -> Any:
        kind = type(value)
        if issubclass(kind, types.FunctionType):
            if value is not self.shown and _is_importable(value):
                return NotImplemented
            return self._function(value)
        if kind is types.ModuleType:
            return (importlib.import_module, (value.__name__,))
        if kind is types.CellType:
            return (_cell, ())  # the functions that have it say what it holds
        if kind is staticmethod or kind is classmethod:
            return (kind, (value.__func__,))
        if kind is property:
            return (property, (value.fget, value.fset, value.fdel, value.__doc__))
        if issubclass(kind, type):
            by_name = _is_importable(value) or not _outcome._is_own_class(value)
            return NotImplemented if by_name else self._class(value)
        numpy = sys.modules.get("numpy")
        if numpy is not None and kind is numpy.ndarray:
            return self._array(numpy, value)
        return NotImplemented

    def _function(self, value: Any) -> Any:
        code, names = value.__code__, value.__globals__
        module = str(names.get("__name__", ""))
        wanted = {}
        for name in _outcome._global_names(code):
            if name in names and (module, name) not in self.written:
                self.written.add((module, name))
                wanted[name] = names[name]
        cells = value.__closure__
        return (
            _function,
            (marshal.dumps(code), module, value.__qualname__, cells),
            (
                wanted,
                value.__defaults__,
                value.__kwdefaults__,
                tuple(_contents(cell) for cell in cells or ()),
            ),
            None,
            None,
            _set_function,
        )

    def _class(self, value: type) -> Any:
        skipped = (types.GetSetDescriptorType, types.MemberDescriptorType)
        content = {k: v for k, v in vars(value).items() if not isinstance(v, skipped)}
        early = ("__module__", "__qualname__", "__slots__")
        start = {name: content.pop(name) for name in early if name in content}
        return (
            type(value),
            (value.__name__, value.__bases__, start),
            content,
            None,
            None,
            _set_class,
        )

    def _array(self, numpy: Any, value: Any) -> Any:
        owner = value
        while isinstance(owner, numpy.ndarray) and owner.base is not None:
            owner = owner.base
        if value.dtype.hasobject:
            return NotImplemented
        if not isinstance(owner, numpy.ndarray) or type(owner) is not numpy.ndarray:
            owner = value  # somebody else's memory: what this array shows of it
        if owner is not value:
            offset = _outcome._address(value) - _outcome._address(owner)
            facts = (value.dtype, value.shape, value.strides, offset, value.flags.writeable)
            return (_view, (owner, *facts))
        if value.flags.c_contiguous or value.flags.f_contiguous:
            return NotImplemented
        return (_laid_out, (value.copy("C"), value.strides))


# ---- Reading


#: Names of the modules whose functions are read by value; emptied before each reading.
_globals: dict[str, dict[str, Any]] = {}


def _function(code: bytes, module: str, qualname: str, closure: Any) -> Any:
    names = _globals.setdefault(module, {"__name__": module, "__builtins__": builtins})
    made = types.FunctionType(marshal.loads(code), names, None, None, closure)
    made.__qualname__ = qualname
    return made


def _cell() -> types.CellType:
    return types.CellType()


def _contents(cell: types.CellType) -> tuple[Any, ...]:
    try:
        return (cell.cell_contents,)
    except ValueError:
        return ()


def _set_function(function: Any, state: Any) -> None:
    wanted, function.__defaults__, function.__kwdefaults__, contents = state
    function.__globals__.update(wanted)
    for cell, content in zip(function.__closure__ or (), contents, strict=True):
        if content:
            cell.cell_contents = content[0]


def _set_class(made: type, content: dict[str, Any]) -> None:
    for name, value in content.items():
        setattr(made, name, value)


def _view(owner: Any, dtype: Any, shape: Any, strides: Any, offset: int, writeable: bool) -> Any:
    import numpy

    memory = owner.ravel("K").view(numpy.uint8)
    made = numpy.ndarray(shape, dtype, memory, offset, strides)
    made.flags.writeable = writeable
    return made


def _laid_out(values: Any, strides: Any) -> Any:
    """The same values in new memory, with these strides."""
    import numpy

    ends = [(n - 1) * stride for n, stride in zip(values.shape, strides, strict=True)]
    before = -sum(end for end in ends if end < 0)
    size = before + sum(end for end in ends if end > 0) + values.dtype.itemsize
    memory = numpy.zeros(size, numpy.uint8)
    made = numpy.ndarray(values.shape, values.dtype, memory, before, strides)
    made[...] = values
    return made


def _load(data: str) -> dict[str, Any]:
    _globals.clear()
    contents: dict[str, Any] = pickle.loads(base64.b85decode("".join(data.split())))
    return contents


def _call(function: Any, shown: Any, arguments: list[Any]) -> Any:
    """Calls with the parameters of `shown` filled so."""
    code = shown.__code__
    count = code.co_argcount + code.co_kwonlyargcount
    keywords = dict(
        zip(code.co_varnames[code.co_argcount : count], arguments[code.co_argcount :], strict=False)
    )
    rest = arguments[count:]
    more = rest.pop(0) if code.co_flags & inspect.CO_VARARGS else ()
    if code.co_flags & inspect.CO_VARKEYWORDS:
        keywords.update(rest.pop(0))
    return function(*arguments[: code.co_argcount], *more, **keywords)


def _run(data: str, compiled: bool) -> list[Any]:
    contents = _load(data)
    function, arguments = contents["function"], contents["arguments"]
    called = function
    if compiled:
        import dyntrace

        called = dyntrace.compile(
            function, backend=contents["backend"], options=contents["options"]
        )
    numpy = sys.modules.get("numpy")
    if contents["random"] is not None:
        random.setstate(contents["random"])
    if numpy is not None and contents["numpy_random"] is not None:
        numpy.random.set_state(contents["numpy_random"])
        numpy.seterr(**contents["errors"])
    with warnings.catch_warnings():
        watch = _outcome.Watch(function, arguments, ())
        result, raised = None, None
        try:
            result = _call(called, function, arguments)
        except Exception as error:
            raised = error
        finally:
            watch.close()
        return watch.records(result, raised)


def run(data: str, version: str) -> int:
    """Runs what a file holds; prints what it finds.  Returns 1 if there is a difference, else 0."""
    if data.strip().startswith("!"):
        print(f"the inputs can't be kept in a file: {data.strip()[1:]}")
        return 2
    if version != _version():
        print(f"this file holds code of CPython {version}, this is {_version()}")
        return 2
    import dyntrace

    with dyntrace.config.patch(everything=True, trace_budget_ns=0, verify=False):
        plain, compiled = _run(data, False), _run(data, True)
    if plain == compiled:
        print("the same plainly and compiled")
        return 0
    print(f"different: {describe_difference(plain, compiled)}")
    return 1
