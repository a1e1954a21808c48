"""Texts from compile records: logs, and the message of a graph break.

The extension calls these with the facts of one attempt; every text that names a
graph break, in a log, in explain() or in an exception, is made here.
"""

from __future__ import annotations

import re
import sys
import types
import warnings
from typing import Any

_seen_faults: set[tuple[str, str]] = set()
_last_break: list[str | None] = [None]


def _write(text: str) -> None:
    stream = sys.stderr
    if stream is None or getattr(stream, "closed", False):
        return
    for line in text.splitlines():
        stream.write(f"[dyntrace] {line}\n")


def _enabled() -> frozenset[str]:
    from dyntrace._settings import config

    return config.logs


def format_position(where: dict[str, Any] | None) -> str:
    """``file:line in function`` with the column on versions that know it."""
    if not where:
        return "<unknown>"
    column = f":{where['col'] + 1}" if where["col"] >= 0 else ""
    return f"{where['file']}:{where['line']}{column} in {where['function']}"


def format_break(info: dict[str, Any]) -> str:
    """The text of a graph break."""
    lines = [
        f"graph break [{info['id']}] at {format_position(info['where'])}",
        f"  reason: {info['reason']}",
        f"  this is {info['what']}",
        f"  advice: {info['advice']}",
    ]
    lines += [f"  called from {format_position(caller)}" for caller in info["chain"]]
    return "\n".join(lines)


class _Named:
    """Stands for an object of the program in a disassembly, which would ask it for its text."""

    def __init__(self, value: object) -> None:
        name = f" {value.__qualname__}" if type(value) is types.FunctionType else ""
        self.text = f"<{type(value).__name__}{name}>"

    def __repr__(self) -> str:
        return self.text


def _shown(value: object) -> object:
    """What a disassembly shows of a constant: a short text that no code of the program makes."""
    if type(value) in (bool, float, complex, type(None), type(...), types.CodeType):
        return value
    if type(value) is int and value.bit_length() < 128:
        return value
    if type(value) in (str, bytes) and len(value) <= 80:  # type: ignore[arg-type]
        return value
    if type(value) is tuple and len(value) <= 20:
        return tuple(_shown(item) for item in value)
    return _Named(value)


def format_code(code: Any) -> str:
    """Disassembly of a rewritten code object."""
    import dis

    return dis.Bytecode(code.replace(co_consts=tuple(map(_shown, code.co_consts)))).dis()


def log_attempt(record: dict[str, Any]) -> None:
    """Writes what DYNTRACE_LOGS asks for of one compile attempt."""
    logs = _enabled()
    title = f"{record['function']} ({record['file']}:{record['line']})"
    if record["break"] is not None:
        text = format_break(record["break"])
        # A break ends the attempt at the whole frame, and then a segment of it.
        again = record["segment"] is not None and text == _last_break[0]
        if "graph_breaks" in logs and record["break"]["id"] != "no-arrays" and not again:
            _write(text)
        _last_break[0] = text
    if not record["published"]:
        return
    if record["segment"] is not None:
        start, end = record["segment"]
        title = f"{title}, from line {start} to {'its return' if end is None else f'line {end}'}"
    if record["graph"] is not None and "graph" in logs:
        _write(f"graph of {title}\n{record['graph']}")
    if record["published"] and "guards" in logs:
        _write(f"guards of {title}\n{record['guards']}")
    if record["code"] is not None and "bytecode" in logs:
        _write(f"rewritten code of {title}\n{format_code(record['code'])}")


def log_recompile(info: dict[str, Any]) -> None:
    """Why the newest entry does not serve a call."""
    _write(
        f"recompiling {info['function']} ({info['file']}:{info['line']}), "
        f"{info['entries']} so far: {info['reason']}"
    )


def format_forsaken(info: dict[str, Any]) -> str:
    """One line on a function, or a part of one, that gains nothing by being compiled."""
    what = "what follows in" if info["part"] else "function"
    return (
        f"{what} {info['function']} ({info['file']}:{info['line']}) runs plainly: "
        f"{info['compiled_ns'] / 1e3:.2f} us compiled, {info['plain_ns'] / 1e3:.2f} us plainly"
    )


def log_forsaken(info: dict[str, Any]) -> None:
    """Compiled code that is no faster than plain execution."""
    _write(format_forsaken(info))


def log_fault(info: dict[str, Any]) -> None:
    """An internal error: one line with an id, the first time it is seen."""
    import zlib

    error = info["error"]
    text = f"{type(error).__name__}: {error}"
    key = (f"{info['file']}:{info['line']}", text)
    if key in _seen_faults:
        return
    _seen_faults.add(key)
    number = zlib.crc32(repr(key).encode()) & 0xFFFFFF
    _write(
        f"internal fault DT-{number:06x} while tracing {info['function']} "
        f"({info['file']}:{info['line']}), it runs plainly: {text}"
    )


_FAILED = re.compile(
    r"(?P<what>.+?) (?:==|is) (?P<value>.+), was (?P<now>.+?)(?P<where> \(.*:\d+\))?"
)


def format_reasons(reasons: list[str]) -> list[str]:
    """The guards that fail, one line for each thing that varies, with the values it was seen with."""
    varied: dict[tuple[str, str], list[str]] = {}
    lines = []
    for reason in reasons:
        found = _FAILED.fullmatch(reason)
        if found is None:
            lines.append(reason)
            continue
        values = varied.setdefault((found["what"], found["where"] or ""), [found["now"]])
        if found["value"] not in values[1:]:
            values.append(found["value"])
    for (what, where), (now, *values) in varied.items():
        lines.append(f"{what} is {now}, and was {', '.join(reversed(values))}{where}")
    return list(dict.fromkeys(lines))


def format_recompile(info: dict[str, Any]) -> str:
    """Why none of a function's compiled versions serves a call."""
    head = f"{info['function']} ({info['file']}:{info['line']}) would be compiled again"
    return "\n  ".join([head, *format_reasons(info["reasons"])])


def warn_recompile_limit(info: dict[str, Any]) -> None:
    """The one loud message at the recompile limit."""
    lines = [
        f"dyntrace: {info['function']} ({info['file']}:{info['line']}) was compiled "
        f"{info['entries']} times, the recompile limit; other calls run plainly.",
        *format_reasons(info["reasons"]),
        "What varies is best an array, or a number that only meets arrays; what can't be belongs into "
        "a function of its own. config.recompile_limit raises the limit.",
    ]
    warnings.warn("\n  ".join(lines), RuntimeWarning, stacklevel=2)
