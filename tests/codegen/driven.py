"""Turns functions, code and whole modules into driver code with probes at every legal point.

Run as a script it drives every pure-Python module that is imported from then on, and runs a test
module of CPython: `python driven.py here none test.test_json`. What it prints last is what
unittest says; with "off" as the first argument nothing is driven, for comparison.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
import types

from dyntrace._core import _testing

POINT, LANDING, PAD = 1, 2, 4
NOWHERE, RETURN = -2, -1


class Null:
    """Stands for a NULL in slots and stacks."""

    def __repr__(self):
        return "NULL"


NULL = Null()


def places(code):
    """(entry, [(context, flags, depth, points after, landing before)], bases of the contexts)"""
    return _testing.places(code)


def legal_points(code):
    return [i for i, place in enumerate(places(code)[1]) if place[1] & POINT]


def quick_edges(code, quick):
    """(point, quick edge) of every point. quick: "none", "self", "next" (the nearest landing behind
    it in the same context) or "return"."""
    listed = places(code)[1]
    found = []
    for at in legal_points(code):
        edge = NOWHERE
        if quick == "self":
            edge = at
        elif quick == "next":
            context = listed[at][0]
            behind = [
                q
                for q in range(at + 1, len(listed))
                if listed[q][1] & LANDING and listed[q][0] == context
            ]
            edge = behind[0] if behind else at
        elif quick == "return" and listed[at][0] == 0:
            edge = RETURN
        found.append((at, edge))
    return found


def drive_code(code, answer, quick="none", nested=True, points=None):
    """The driver of a code object, and of those among its constants."""
    if nested:
        consts = tuple(
            drive_code(item, answer, quick) if isinstance(item, types.CodeType) else item
            for item in code.co_consts
        )
        code = code.replace(co_consts=consts)
    edges = quick_edges(code, quick)
    if points is not None:
        edges = [edge for edge in edges if edge[0] in points]
    return _testing.driver(code, edges, answer, NULL)


def drive(function, answer, quick="none", **options):
    """The same function over driver code."""
    code = drive_code(function.__code__, answer, quick, **options)
    made = types.FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    made.__kwdefaults__ = function.__kwdefaults__
    made.__qualname__ = function.__qualname__
    return made


def module_source(name):
    spec = importlib.util.find_spec(name)
    return importlib.util.decode_source(spec.loader.get_data(spec.origin)), spec.origin


def drive_module(name, answer, quick="none"):
    """A new module object: its source, run as driver code from the first line on."""
    source, path = module_source(name)
    module = types.ModuleType(name)
    module.__file__ = path
    module.__package__ = name if path.endswith("__init__.py") else name.rpartition(".")[0]
    if path.endswith("__init__.py"):
        module.__path__ = [path.rpartition("/")[0]]
    before = sys.modules.get(name)
    sys.modules[name] = module  # dataclasses, enum and others look a class's module up
    try:
        code = drive_code(compile(source, path, "exec", dont_inherit=True), answer, quick)
        exec(code, module.__dict__)  # noqa: S102
    finally:
        if before is not None:
            sys.modules[name] = before
        else:
            del sys.modules[name]
    return module


class DrivingLoader(importlib.machinery.SourceFileLoader):
    answer = "plain"
    quick = "none"

    def get_code(self, fullname):
        source = importlib.util.decode_source(self.get_data(self.path))
        code = compile(source, self.path, "exec", dont_inherit=True)
        return drive_code(code, self.answer, self.quick)


def main():
    answer, quick, *names = sys.argv[1:]
    DrivingLoader.answer = int(answer) if answer.isdigit() else answer
    DrivingLoader.quick = quick
    import tokenize  # noqa: F401  the loader needs it
    import unittest

    hook = importlib.machinery.FileFinder.path_hook(
        (importlib.machinery.ExtensionFileLoader, importlib.machinery.EXTENSION_SUFFIXES),
        (DrivingLoader, importlib.machinery.SOURCE_SUFFIXES),
    )
    if answer != "off":
        sys.path_hooks.insert(0, hook)
    sys.path_importer_cache.clear()
    tested = {name.rpartition("test_")[2] for name in names}
    for name in list(sys.modules):
        if name.partition(".")[0] in tested:
            del sys.modules[name]
    unittest.main(module=None, argv=["driven", *names])


if __name__ == "__main__":
    main()
