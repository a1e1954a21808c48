"""Runs a script as ``__main__`` with the functions of its own source compiled.

Every function and method that the script defines outside of other functions gets
:func:`dyntrace.compile` as its innermost decorator, so that ``property``,
``staticmethod`` and the script's own decorators see what they expect.  Positions are
those of the ``def`` line: tracebacks and ``inspect`` read as without it.
"""

from __future__ import annotations

import argparse
import ast
import os
import sys
from types import ModuleType
from typing import Any

_HOOK = "__dyntrace_compile__"


class _CompileDefinitions(ast.NodeTransformer):
    """Adds the decorator; does not descend into functions."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        hook = ast.copy_location(ast.Name(_HOOK, ast.Load()), node)
        hook.end_lineno, hook.end_col_offset = node.lineno, node.col_offset
        node.decorator_list.append(hook)
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AsyncFunctionDef:
        return node  # coroutines run plainly

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        return node


def compile_source(source: bytes, path: str) -> Any:
    """The script's code object with the decorator in place."""
    tree = compile(source, path, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    return compile(_CompileDefinitions().visit(tree), path, "exec", dont_inherit=True)


def _main_module(path: str, backend: str) -> ModuleType:
    import builtins

    import dyntrace

    module = ModuleType("__main__")
    module.__dict__.update(
        __file__=path,
        __builtins__=builtins,
        __cached__=None,
        __spec__=None,
    )
    setattr(builtins, _HOOK, dyntrace.compile(backend=backend))
    return module


def run_script(
    path: str, args: list[str], *, backend: str, parser: argparse.ArgumentParser
) -> None:
    """Runs `path` with `args`; a script that can't be read ends in one line and exit status 2."""
    from dyntrace.api import list_backends

    known = list_backends()
    if known and backend not in known:
        parser.error(f"--backend: unknown backend {backend!r}, known ones are: {', '.join(known)}")
    try:
        with open(path, "rb") as stream:
            source = stream.read()
    except OSError as error:
        parser.error(f"can't read {path!r}: {error.strerror}")
    sys.argv = [path, *args]
    sys.path[0] = os.path.dirname(os.path.abspath(path))
    module = _main_module(path, backend)
    sys.modules["__main__"] = module
    exec(compile_source(source, path), module.__dict__)
