"""The summary of whole-script mode: what was compiled, what it gained, and what stood in the way."""

from __future__ import annotations

from typing import Any

from dyntrace._report import format_break
from dyntrace._stderr import write_to_stderr
from dyntrace._support import core as _core


def format_summary(
    rows: list[dict[str, Any]],
    records: list[dict[str, Any]],
    spent: int | None = None,
    verified: str = "",
) -> str:
    """The text of a summary.

    Parameters
    ----------
    rows : list of dict
        What the extension says of each prepared function; times are the least of those measured, in ns.
    records : list of dict
        The compile attempts.
    spent : int or None
        Their time in ns.
    verified : str
        What verify mode says, lines.
    """
    called = [row for row in rows if row["calls"]]
    compiled = [row for row in called if row["state"].endswith("compiled")]
    lines = [
        f"dyntrace: {len(compiled)} of {len(called)} functions compiled, "
        f"{sum(row['calls'] for row in compiled)} calls"
    ]
    if spent is not None:
        lines.append(f"  {spent / 1e6:.0f} ms were spent on compiling")
    for row in sorted(
        called, key=lambda row: (not row["state"].endswith("compiled"), -row["calls"])
    ):
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
    return "\n".join(lines) + "\n" + verified


def write_summary(region: Any, path: str) -> None:
    """Writes the summary to `path`; ``-`` is standard error.  A path that can't be written is named."""
    assert _core is not None
    verified = ""
    if _core.get_verify() > 0:
        from dyntrace._verify import format_verified

        verified = format_verified(_core.list_verified())
    spent = _core.counters()["compile_ns"]
    text = format_summary(_core.list_prepared(), region.records or [], spent, verified)
    if path == "-":
        write_to_stderr(text)
        return
    try:
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(text)
    except OSError as error:
        write_to_stderr(f"dyntrace: the summary can't be written to {path!r}: {error.strerror}\n")
