#!/usr/bin/env python3
"""Check the source rules that a compiler cannot: `python3 tools/check_layers.py [--style] [files]`.

What is checked, over src/**/*.[ch] and src/**/*.def:

* a layer includes only itself and lower ones; layers are numbered in LAYERS, and the folders of
  one number know each other (graph, guards, side effects and code generation are one level);
* Python.h is included by src/compat/python.h alone, and src/core has no Python at all;
* NumPy's headers are included under src/adapters/numpy and src/backend/native alone, and nothing
  else includes a header of those two folders except behind `#if DYNTRACE_HAVE_NUMPY`;
* CPython's internal headers are included under src/compat alone;
* a test of the CPython version stands only in a folder where versions meet (VERSION_FOLDERS);
* PyErr_Clear() has a comment on its line or on the line before, saying what is cleared and why;
* every file begins with a comment, none says TODO.

With --style (the lint session) also: no line of a .c or .h file longer than 100 columns (rows of a
table may be), no tabs, no blanks at the end of a line.

Prints `file:line: message` per finding and exits 1 if there is any. Standard library only.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SRC = ROOT / "src"

LAYERS = {
    "core": 0,
    "compat": 1,
    "bytecode": 2,
    "variables": 3,
    "graph": 4,
    "guards": 4,
    "sideeffects": 4,
    "codegen": 4,
    "symbolic": 5,
    "scalar_loops": 5,
    "adapters": 5,
    "backend": 5,
    "eval_frame": 6,
    "module": 7,
}
VERSION_FOLDERS = {"compat", "bytecode", "codegen", "module", "eval_frame"}
NUMPY_FOLDERS = ("adapters/numpy/", "backend/native/")

INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]')
VERSION_TEST = re.compile(r"\bPY_(VERSION_HEX|MINOR_VERSION|MAJOR_VERSION)\b|\bsys\.version_info\b")
COMMENT_OR_STRING = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL)


def blank(match: re.Match[str]) -> str:
    """Replace a comment or a string by as many lines, so that line numbers stay."""
    text = match.group()
    return text if text.startswith('"') else "\n" * text.count("\n") or " "


def numpy_guarded(lines: list[str]) -> set[int]:
    """Indexes of the lines inside `#if DYNTRACE_HAVE_NUMPY` (the #else branch excluded)."""
    inside: set[int] = set()
    stack: list[bool] = []
    for index, line in enumerate(lines):
        word = re.match(r"\s*#\s*(if|ifdef|ifndef|else|elif|endif)\b(.*)", line)
        if word:
            if word[1] in ("if", "ifdef", "ifndef"):
                stack.append("DYNTRACE_HAVE_NUMPY" in word[2] and "!" not in word[2])
            elif word[1] == "endif" and stack:
                stack.pop()
            elif stack:
                stack[-1] = False
        elif any(stack):
            inside.add(index)
    return inside


def check_includes(name: str, lines: list[str]) -> Iterator[tuple[int, str]]:
    folder = name.split("/")[0]
    level = LAYERS[folder]
    guarded = numpy_guarded(lines)
    for index, line in enumerate(lines):
        found = INCLUDE.match(line)
        if not found:
            continue
        header = found[1]
        target = header.split("/")[0]
        if header == "Python.h" and name != "compat/python.h":
            yield index, 'include "compat/python.h" instead of Python.h'
        if folder == "core" and header.startswith("compat/"):
            yield index, "src/core knows no Python"
        if header.startswith("numpy/") and not name.startswith(NUMPY_FOLDERS):
            yield index, "NumPy's headers belong to src/adapters/numpy and src/backend/native"
        if (header.startswith(NUMPY_FOLDERS) and not name.startswith(NUMPY_FOLDERS)
                and index not in guarded):  # fmt: skip
            yield index, f"{header} may be missing: include it under #if DYNTRACE_HAVE_NUMPY"
        internal = header.startswith(("internal/", "pycore_")) or "/pycore_" in header
        if internal and folder != "compat":
            yield index, "CPython's internal headers belong to src/compat"
        if "/" in header and target in LAYERS:
            if LAYERS[target] > level:
                yield index, (f"{folder} (layer {level}) includes {header}"
                              f" (layer {LAYERS[target]})")  # fmt: skip
            # A generated header (opcode tables) lies in the build tree.
            if not (SRC / header).exists() and not header.endswith("_tables.h"):
                yield index, f"no such file: src/{header}"


def check_style(name: str, raw: list[str]) -> Iterator[tuple[int, str]]:
    for index, line in enumerate(raw):
        if len(line) > 100 and not name.endswith(".def"):
            yield index, f"{len(line)} columns, 100 are allowed"
        if "\t" in line:
            yield index, "tab"
        if line != line.rstrip():
            yield index, "blanks at the end of the line"


def check_text(name: str, raw: list[str], code: list[str]) -> Iterator[tuple[int, str]]:
    folder = name.split("/")[0]
    if raw and not raw[0].startswith(("/*", "//", "#") if name.endswith(".def") else ("/*", "//")):
        yield 0, "the file does not begin with a comment that says what it is for"
    for index, line in enumerate(raw):
        if re.search(r"\b(TODO|FIXME|XXX)\b", line):
            yield index, "open work belongs into an issue"
    for index, line in enumerate(code):
        if VERSION_TEST.search(line) and folder not in VERSION_FOLDERS:
            yield index, f"a version test in {folder}; versions meet in {sorted(VERSION_FOLDERS)}"
        if re.search(r"\bPyErr_Clear\s*\(", line):
            before = raw[index - 1] if index else ""
            if not re.search(r"/\*|\*/|//", raw[index]) and not re.search(r"\*/|//", before):
                yield index, "PyErr_Clear without a comment that says what it clears and why"


def check(path: Path, style: bool) -> Iterator[str]:
    name = path.relative_to(SRC).as_posix()
    text = path.read_text(encoding="utf-8")
    raw = text.splitlines()
    code = COMMENT_OR_STRING.sub(blank, text).splitlines()
    if name.split("/")[0] not in LAYERS:
        yield f"src/{name}:1: {name.split('/')[0]} has no layer in tools/check_layers.py"
        return
    if text and not text.endswith("\n"):
        yield f"src/{name}:{len(raw)}: no newline at the end of the file"
    findings = [*check_includes(name, code), *check_text(name, raw, code)]
    if style:
        findings += check_style(name, raw)
    for index, message in sorted(findings):
        yield f"src/{name}:{index + 1}: {message}"


def main(arguments: list[str]) -> int:
    style = "--style" in arguments
    paths = [Path(a).resolve() for a in arguments if a != "--style"] or sorted(
        p for p in SRC.rglob("*") if p.suffix in (".c", ".h", ".def")
    )
    paths = [path for path in paths if path.is_relative_to(SRC)]
    findings = [finding for path in paths for finding in check(path, style)]
    for finding in findings:
        print(finding)
    if findings:
        print(f"check_layers: {len(findings)} finding{'s' if len(findings) > 1 else ''}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
