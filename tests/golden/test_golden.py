"""Graphs, guards and rewritten code as text, compared with the files in this folder.

`DYNTRACE_GOLDEN=update pytest tests/golden` writes the files anew; look at the difference before you
commit it. No file holds a floating-point result. The code is shown in canonical instructions, which
are those of every CPython.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

np = pytest.importorskip("numpy")

import dyntrace  # noqa: E402
from differential import Compiled  # noqa: E402
from dyntrace._core import _testing  # noqa: E402
from golden import functions  # noqa: E402

HERE = Path(__file__).parent


def relative(text, first):
    """Line numbers counted from the function's own first line, so that files do not depend on order."""

    def line(match):
        number = int(match[1]) - first + 1
        return f"line {number}" if number > 0 else "in another function"

    text = re.sub(r"[^\s(]*functions\.py:(\d+)", line, text)
    return re.sub(r"^line (\d+)$", line, text, flags=re.MULTILINE)


def describe(function, make):
    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        compiled = Compiled(function)
        compiled(*make())
    (record,) = compiled.records
    assert record["break"] is None, record["break"]
    plan = _testing.codegen_plan(function, make(), None, None)
    first = function.__code__.co_firstlineno
    parts = [
        str(record["graph"]),
        "guards:\n" + relative(record["guards"], first),
        f"code ({'no frame needed' if record['frameless'] else 'in a frame'}):\n"
        + relative(plan["text"], first),
    ]
    return "\n".join(part.rstrip("\n") + "\n" for part in parts)


@pytest.mark.parametrize("name", functions.CASES)
def test_golden(name):
    function, make = functions.CASES[name]
    text = describe(function, make)
    path = HERE / f"{name}.txt"
    if os.environ.get("DYNTRACE_GOLDEN") == "update":
        path.write_text(text)
    assert text == path.read_text()


def test_every_file_has_a_case():
    assert {path.stem for path in HERE.glob("*.txt")} == set(functions.CASES)
