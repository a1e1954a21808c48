"""Verify mode, the part in Python: outcomes as bytes, what a difference is, and where it is told.

Called by src/eval_frame/verify.c.  `watch` and `write_reproducer` run in copies of the process, where
nothing that they do is seen; the rest runs in the process and touches no object of the program.
"""

from __future__ import annotations

import io
import marshal
import os
import sys
from typing import Any

from dyntrace import _outcome
from dyntrace._differences import describe_difference
from dyntrace._stderr import write_to_stderr

#: Where reproducers are written.
directory = "dyntrace-verify"

#: Every difference that was found: the function's row, the text, and the reproducer's path or None.
found: list[tuple[dict[str, Any], str, str | None]] = []

_DIED, _LATE = 2, 3  # DtForkedEnd


class _Watch(_outcome.Watch):
    def tell(self, result: Any, error: BaseException | None) -> bytes:
        found = self.records(result, error)
        found += (("output", None, *_written(1)), ("error output", None, *_written(2)))
        return marshal.dumps(found, 2)  # 2: what is shared is written twice


def _written(descriptor: int) -> tuple[str, ...]:
    """The lines that a copy has written to its output: a file in memory (src/eval_frame/sealed.h)."""
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        if type(stream) is io.TextIOWrapper:
            stream.flush()
    parts, size = [], 0
    while part := os.pread(descriptor, 1 << 20, size):
        parts.append(part)
        size += len(part)
    return tuple(b"".join(parts).decode("utf-8", "backslashreplace").splitlines(keepends=True))


def watch(function: Any, arguments: list[Any], codes: Any, soiled: bool) -> _Watch:
    """What a call of `function` may see and change, before it runs.

    `codes`: all that the call runs, or None if nobody knows.
    """
    if soiled:
        _soil()
    return _Watch(function, arguments, codes)


def _soil() -> None:
    """Fills the memory that NumPy keeps for small arrays, so that one that is not written shows it."""
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        for size in range(1, 1024):
            held = [numpy.full(size, 0x5A, numpy.uint8) for _ in range(8)]
            del held
    # New objects lie elsewhere: an address that the program shows is another one.
    _held.extend(bytes(size) for size in range(1 << 10) for _ in range(8))
    _held.extend(tuple(_held[:size]) for size in range(1, 21) for _ in range(1 << 11))
    _held.extend(kind() for kind in (object, list, dict, set) for _ in range(1 << 9))
    _held.extend(float(number) for number in range(1 << 9))


_held: list[Any] = []


def difference(plain: bytes, compiled: bytes | None, end: int, signal: int) -> str:
    """One line that says how what was compiled differs."""
    if end == _DIED:
        return f"the compiled call ended the process{f' by signal {signal}' if signal else ''}"
    if end == _LATE:
        return "the compiled call did not end"
    assert compiled is not None
    if end != 0:
        return f"the compiled call's outcome can't be described: {compiled.decode()}"
    return describe_difference(marshal.loads(plain), marshal.loads(compiled))


def write_reproducer(function: Any, arguments: list[Any], region: Any, said: str) -> bytes:
    """Writes the file; gives its path, after ``+``, or why there is none, after ``-``."""
    from dyntrace import _reproducer

    try:
        return b"+" + os.fsencode(_reproducer.write(directory, function, arguments, region, said))
    except OSError as error:
        text = f"-can't be written to {error.filename!r}: {error.strerror}"
    except ValueError as error:
        text = f"-can't be written to {directory!r}: {error}"
    return text.encode("utf-8", "backslashreplace")


def report(row: dict[str, Any], text: str, told: bytes | None) -> None:
    """Tells of a difference on standard error, in one line."""
    where = f"{row['function']} ({row['file']}:{row['line']})"
    path = os.fsdecode(told[1:]) if told is not None and told[:1] == b"+" else None
    if path is not None:
        reproducer = path
    elif told is not None:
        reproducer = told.decode("utf-8", "replace").removeprefix("-")
    else:
        reproducer = "can't be made"
    found.append((row, text, path))
    line = f"dyntrace: verify: {where} differs and runs plainly from now on: {text}; reproducer: {reproducer}"
    write_to_stderr(" ".join(line.split("\n")) + "\n")


def format_verified(rows: list[dict[str, Any]]) -> str:
    """What verify mode has done, for the summary: one line, and one per function of interest."""
    same = sum(row["verified"] for row in rows)
    bad = [row for row in rows if row["quarantined"]]
    lines = [f"verified: {same} calls are the same plainly, {len(bad)} functions differ"]
    for row in bad:
        where = f"{row['function']} ({row['file']}:{row['line']})"
        lines.append(f"  {where}: quarantined{''.join(_told_of(row))}")
    reasons: dict[str, list[tuple[int, str]]] = {}
    for row in rows:
        for reason, count in row["skipped"].items():
            reasons.setdefault(reason, []).append((count, row["function"]))
    for reason, counts in sorted(reasons.items()):
        counts.sort(key=lambda pair: -pair[0])
        names = ", ".join(name for _, name in counts[:5]) + (", ..." if len(counts) > 5 else "")
        lines.append(f"  {sum(count for count, _ in counts)} not verified, {reason}: {names}")
    return "\n".join(lines) + "\n"


def _told_of(row: dict[str, Any]) -> list[str]:
    key = (row["function"], row["file"], row["line"])
    return [
        f", {text}" + (f"; reproducer: {path}" if path else "")
        for other, text, path in found
        if (other["function"], other["file"], other["line"]) == key
    ][-1:]


def format_quarantined(rows: list[dict[str, Any]], code: Any) -> list[str]:
    """The lines of `explain` about the function with this code."""
    key = (code.co_filename, code.co_firstlineno)
    return [
        f"{row['function']} ({row['file']}:{row['line']}) is quarantined by verify mode"
        + "".join(_told_of(row))
        for row in rows
        if row["quarantined"] and (row["file"], row["line"]) == key
    ]
