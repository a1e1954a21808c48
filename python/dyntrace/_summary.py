"""The summary of whole-script mode: what was compiled, what it gained, and what stood in the way."""

from __future__ import annotations

import sys
from typing import Any

from dyntrace._report import format_break
from dyntrace._support import core as _core


def _saved_ns(row: dict[str, Any]) -> int:
    """Nanoseconds saved by the calls of one function; 0 where plain and compiled were not compared."""
    if row["state"] != "compiled" or not row["plain_ns"] or not row["compiled_ns"]:
        return 0
    return int((row["plain_ns"] - row["compiled_ns"]) * row["calls"])


def format_summary(rows: list[dict[str, Any]], records: list[dict[str, Any]]) -> str:
    """The text of a summary.

    Parameters
    ----------
    rows : list of dict
        What the extension says of each prepared function; times are the least of those measured, in ns.
    records : list of dict
        The compile attempts.
    """
    called = [row for row in rows if row["calls"]]
    compiled = [row for row in called if row["state"] == "compiled"]
    saved = sum(_saved_ns(row) for row in compiled)
    lines = [
        f"dyntrace: {len(compiled)} of {len(called)} functions compiled, "
        f"{sum(row['calls'] for row in compiled)} calls, {saved / 1e9:.3f} s saved where it was measured"
    ]
    for row in sorted(called, key=_saved_ns, reverse=True):
        times = (
            f"{row['plain_ns'] / 1e3:.2f} -> {row['compiled_ns'] / 1e3:.2f} us"
            if row["plain_ns"] and row["compiled_ns"]
            else "not compared"
        )
        lines.append(
            f"  {row['function']} ({row['file']}:{row['line']}): {row['state']}, "
            f"{row['calls']} calls, {times}"
        )
    breaks: dict[str, int] = {}
    for record in records:
        if record["break"] is not None:
            text = format_break(record["break"])
            breaks[text] = breaks.get(text, 0) + 1
    for text, count in sorted(breaks.items(), key=lambda item: -item[1]):
        lines.append(f"{count} x {text}")
    return "\n".join(lines) + "\n"


def write_summary(region: Any, path: str) -> None:
    """Writes the summary to `path`; ``-`` is standard error.  A path that can't be written is named."""
    assert _core is not None
    text = format_summary(_core.list_prepared(), region.records or [])
    if path == "-":
        if sys.stderr is not None and not sys.stderr.closed:
            sys.stderr.write(text)
        return
    try:
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(text)
    except OSError as error:
        if sys.stderr is not None and not sys.stderr.closed:
            sys.stderr.write(
                f"dyntrace: the summary can't be written to {path!r}: {error.strerror}\n"
            )
