"""The page that shows, feature by feature and version by version, what is captured.

    python tools/feature_page.py record FILE.json     run tests/semantics with this interpreter
    python tools/feature_page.py write FILE.json ...  docs/guide/features.md from such files

A feature is a test module under `tests/semantics/`, described by the first line of its docstring. Each
function that `differential.check` compares there counts once per interpreter: captured whole, left by an
exception, or broken, with the ids of its breaks. The page thus has what the tests have seen, nothing else.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import json
import platform
import sys
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SEMANTICS = ROOT / "tests" / "semantics"
PAGE = ROOT / "docs" / "guide" / "features.md"

HEAD = """\
# Features, version by version

Made by `nox -s features` from a run of `tests/semantics/` on each CPython. A cell says how many of the
functions that use the feature are captured whole: one compiled region from the first instruction to the
return. Functions that are left by an exception are not counted: plain Python raises it. Each of the
functions, whole or not, does what plain Python does: that is what the tests compare. The last column has
the ids of the [graph breaks](graph-breaks.md) of those that are not whole, many of them asked for by a
test of exactly that break: of the functions that keep to [what is captured](what-is-captured.md) the share
is higher than that of all, in the last row.

"""


class Recorder:
    """A pytest plugin that notes what becomes of every compared function."""

    def __init__(self) -> None:
        self.module = ""
        self.seen: dict[str, dict[str, list[str]]] = {}

    def pytest_runtest_call(self, item: Any) -> None:
        differential: Any = importlib.import_module("differential")

        self.module = item.path.relative_to(SEMANTICS).with_suffix("").as_posix()
        differential.observer = self.observe

    def observe(self, fn: Any, compiled: Any) -> None:
        code = getattr(fn, "__code__", None) or getattr(type(fn).__call__, "__code__", None)
        where = f"{Path(code.co_filename).name}:{code.co_firstlineno}" if code else repr(type(fn))
        known = self.seen.setdefault(self.module, {}).setdefault(where, [])
        known[:] = sorted({*known, *compiled.breaks})


def record(target: Path) -> int:
    pytest = importlib.import_module("pytest")
    sys.path.insert(0, str(ROOT / "tests"))
    recorder = Recorder()
    status = pytest.main(["-q", "-p", "no:cacheprovider", str(SEMANTICS)], plugins=[recorder])
    major, minor, _ = platform.python_version_tuple()
    target.write_text(json.dumps({"version": f"{major}.{minor}", "seen": recorder.seen}, indent=1))
    return int(status)


def describe(module: str) -> str:
    text = ast.get_docstring(ast.parse((SEMANTICS / f"{module}.py").read_text())) or module
    return text.splitlines()[0].rstrip(".").replace("|", "\\|")


def cell(functions: list[list[str]]) -> str:
    """`whole of all`, from the break ids of each function."""
    counted = [breaks for breaks in functions if breaks != ["raises"]]
    return f"{sum(not breaks for breaks in counted)} of {len(counted)}" if counted else "-"


def row(module: str, runs: list[dict[str, Any]]) -> str:
    cells: list[str] = []
    ids: Counter[str] = Counter()
    for run in runs:
        functions = list(run["seen"].get(module, {}).values())
        cells.append(cell(functions))
        ids.update(b for breaks in functions if breaks != ["raises"] for b in breaks)
    reasons = ", ".join(f"`{name}`" for name, _ in ids.most_common(4))
    return f"| {describe(module)} | " + " | ".join(cells) + f" | {reasons} |"


def total(run: dict[str, Any]) -> str:
    functions = [breaks for module in run["seen"].values() for breaks in module.values()]
    counted = [breaks for breaks in functions if breaks != ["raises"]]
    return f"{cell(functions)} ({sum(not breaks for breaks in counted) / len(counted):.1%})"


def page(runs: list[dict[str, Any]]) -> str:
    runs = sorted(runs, key=lambda run: tuple(map(int, run["version"].split("."))))
    modules = sorted({module for run in runs for module in run["seen"]})
    lines = [
        "| feature | " + " | ".join(run["version"] for run in runs) + " | breaks |",
        "| --- " * (len(runs) + 2) + "|",
        *(row(module, runs) for module in modules),
        "| **all** | " + " | ".join(total(run) for run in runs) + " | |",
    ]
    return HEAD + "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("record").add_argument("file", type=Path)
    commands.add_parser("write").add_argument("files", type=Path, nargs="+")
    options = parser.parse_args()
    if options.command == "record":
        return record(options.file)
    PAGE.write_text(page([json.loads(file.read_text()) for file in options.files]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
