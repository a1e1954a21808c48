"""Rows of the table, and the ways to measure that they share.

A row is a function with the decorator `@row(name, bound, unit, lower=...)`; it returns the measured
value, or a pair of it and a remark. Times are best of many, taken in turns, so that two things
that are compared see the same machine. Rows that need a fresh process run themselves in a child.
"""

from __future__ import annotations

import dataclasses
import gc
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent


@dataclasses.dataclass
class Row:
    """One line of the table; `lower` says whether the bound is an upper or a lower one."""

    name: str
    text: str
    bound: float
    unit: str
    lower: bool
    measure: Callable[[], Any]

    def met(self, value: float) -> bool:
        return value >= self.bound if self.lower else value <= self.bound


ROWS: list[Row] = []


def row(name: str, text: str, *, bound: float, unit: str, lower: bool = False) -> Any:
    """Register a row: at least `bound` if `lower`, else at most."""

    def register(function: Callable[[], Any]) -> Callable[[], Any]:
        ROWS.append(Row(name, text, bound, unit, lower, function))
        return function

    return register


def fresh(function: types.FunctionType) -> types.FunctionType:
    """The same function with a code object of its own, so that nothing is known about it."""
    code = function.__code__.replace()
    return types.FunctionType(code, function.__globals__, function.__name__)


def operands(count: int, size: int) -> tuple[np.ndarray, ...]:
    random = np.random.default_rng(7)
    return tuple(random.random(size) + 0.5 for _ in range(count))


def per_call(function: Callable[..., Any], arguments: tuple[Any, ...], calls: int) -> float:
    """Seconds per call, the loop included."""
    loop = range(calls)
    start = time.perf_counter()
    for _ in loop:
        function(*arguments)
    return (time.perf_counter() - start) / calls


MOMENT = 5e-4  # seconds: so short that most are not interrupted, however busy the machine is


def in_turns(
    *pairs: tuple[Callable[..., Any], tuple[Any, ...]], budget: float = 2.0, rounds: int = 40
) -> list[float]:
    """The best seconds per call of each (function, arguments), measured in turns; under
    `python -m bench --count` instructions instead, a nanosecond for each."""
    if "DYNTRACE_BENCH_COUNTS" in os.environ:
        return [counted(function, arguments) * 1e-9 for function, arguments in pairs]
    calls = []
    for function, arguments in pairs:
        for _ in range(5):  # compiles, and warms what is specialised by use
            function(*arguments)
        once = min(per_call(function, arguments, 3) for _ in range(3))
        calls.append(max(1, int(MOMENT / max(once, 1e-8))))
    best = [float("inf")] * len(pairs)
    rounds = max(rounds, int(budget / len(pairs) / MOMENT))
    end = time.perf_counter() + 2 * budget
    gc.disable()
    try:
        for turn in range(rounds):
            for index, (function, arguments) in enumerate(pairs):
                best[index] = min(best[index], per_call(function, arguments, calls[index]))
            if turn > 10 and time.perf_counter() > end:
                break
    finally:
        gc.enable()
    return best


COUNTED = (40, 160)  # calls: what both rounds have in common drops out


def counted(function: Callable[..., Any], arguments: tuple[Any, ...]) -> float:
    """Instructions per call, the loop included. Valgrind writes down how many there were since the
    last time whenever os.getppid() is entered."""
    for _ in range(60):
        function(*arguments)
    found = []
    gc.disable()
    for calls in COUNTED:
        os.getppid()
        for _ in range(calls):
            function(*arguments)
        os.getppid()
        dumps = Path(os.environ["DYNTRACE_BENCH_COUNTS"]).glob("dump.*")
        last = max(dumps, key=lambda path: int(path.suffix[1:]), default=None)
        told = re.search(r"^summary: (\d+)", last.read_text(), re.MULTILINE) if last else None
        if told is None:
            raise RuntimeError("callgrind does not find os_getppid in this interpreter")
        found.append(int(told[1]))
    gc.enable()
    return (found[1] - found[0]) / (COUNTED[1] - COUNTED[0])


def count_again(names: list[str]) -> int:
    """The same rows again, in a process whose instructions are counted."""
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run(
            ["valgrind", "-q", "--tool=callgrind", "--dump-before=os_getppid",
             f"--callgrind-out-file={folder}/dump", sys.executable, "-m", "bench", *names],
            cwd=ROOT, env={**os.environ, "DYNTRACE_BENCH_COUNTS": folder, "PYTHONHASHSEED": "0"},
            check=False,
        ).returncode  # fmt: skip


def child(code: str, **env: str) -> Any:
    """Run Python code in a fresh process of this interpreter; returns what it prints, as JSON."""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env={**os.environ, **env}, text=True,
        capture_output=True, timeout=600, check=False,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"a measuring process failed:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def resident() -> int:
    """Bytes of resident memory, after a garbage collection."""
    gc.collect()
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("this system does not report resident memory")
