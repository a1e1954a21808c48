"""``dyntrace.explain``: what happens when a function is compiled, as data and as text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from dyntrace._report import format_break, format_code, format_forsaken, format_position
from dyntrace._support import core as _core
from dyntrace.api import _compile_target


@dataclass(frozen=True)
class BreakReason:
    """One graph break: its stable id, the user's position, why, and what to do."""

    id: str
    reason: str
    what: str
    advice: str
    file: str | None
    line: int | None
    info: dict[str, Any] = field(repr=False)

    def __str__(self) -> str:
        return format_break(self.info)


@dataclass
class ExplainOutput:
    """What compiling a function for these arguments did.

    Attributes
    ----------
    graphs : list of Graph
    guards : list of str
        One line each, with the user's line where the guard came from.
    breaks : list of BreakReason
    ops : int
        Operations in all graphs.
    phases : dict of str to int
        Nanoseconds per phase: trace, plan, guards, backend, assemble.
    stages : list of str
        How the backend runs each graph.
    codes : list of code
        Rewritten code objects, for those frames that run in a frame or are shown.
    faults : list of str
        Internal errors; the function ran plainly.
    frameless : bool
        Every compiled version runs without a Python frame.
    instructions : int
        Instructions that were traced.
    inlined : int
        Calls that were followed.
    plain : list of str
        Of a compiled function that was called before: what runs plainly because that was measured to
        be as fast, or because verify mode has found a difference.
    result : object
        What the call returned.
    """

    graphs: list[Any]
    guards: list[str]
    breaks: list[BreakReason]
    ops: int
    phases: dict[str, int]
    stages: list[str]
    codes: list[Any]
    faults: list[str]
    frameless: bool
    instructions: int
    inlined: int
    plain: list[str]
    result: Any = field(repr=False)

    @property
    def graph_count(self) -> int:
        return len(self.graphs)

    @property
    def break_count(self) -> int:
        return len(self.breaks)

    def __str__(self) -> str:
        parts = [
            f"{self.graph_count} graph(s), {self.ops} operation(s), {self.break_count} break(s), "
            f"{len(self.guards)} guard(s), {self.instructions} instructions traced, "
            f"{self.inlined} call(s) inlined"
        ]
        parts += [str(graph) for graph in self.graphs]
        parts += [f"stages:\n{text}" for text in self.stages if text]
        if self.guards:
            parts.append("guards:\n" + "\n".join(f"  {line}" for line in self.guards))
        parts += [str(reason) for reason in self.breaks]
        parts += [f"internal fault: {text}" for text in self.faults]
        parts += self.plain
        parts.append(
            "time: " + ", ".join(f"{name} {ns / 1e3:.1f} us" for name, ns in self.phases.items())
        )
        return "\n".join(parts)

    def bytecode(self) -> str:
        """Disassembly of the rewritten code."""
        return "\n".join(format_code(code) for code in self.codes)


def _reason(info: dict[str, Any]) -> BreakReason:
    where = info["where"] or {}
    return BreakReason(
        info["id"],
        info["reason"],
        info["what"],
        info["advice"],
        where.get("file"),
        where.get("line"),
        info,
    )


def _breaks(records: list[dict[str, Any]]) -> list[BreakReason]:
    """Each place once: it ends the attempt at the whole frame and a segment of it."""
    found: dict[tuple[Any, ...], BreakReason] = {}
    for record in records:
        info = record["break"]
        if info is not None and info["id"] != "no-arrays":
            where = info["where"] or {}
            key = (info["id"], where.get("file"), where.get("line"), where.get("col"))
            found.setdefault(key, _reason(info))
    return list(found.values())


def _collect(records: list[dict[str, Any]], plain: list[str], result: Any) -> ExplainOutput:
    graphs = [r["graph"] for r in records if r["graph"] is not None]
    phases: dict[str, int] = {}
    for record in records:
        for name, ns in record["phases"].items():
            phases[name] = phases.get(name, 0) + ns
    return ExplainOutput(
        graphs=graphs,
        guards=[line for r in records for line in r["guards"].splitlines()],
        breaks=_breaks(records),
        ops=sum(1 for graph in graphs for node in graph.nodes if node.op == "call"),
        phases=phases,
        stages=[r["stages"] for r in records],
        codes=[r["code"] for r in records if r["code"] is not None],
        faults=[r["fault"] for r in records if r["fault"] is not None],
        frameless=bool(records) and all(r["frameless"] for r in records if r["published"]),
        instructions=sum(r["instructions"] for r in records),
        inlined=sum(r["inlined"] for r in records),
        plain=plain,
        result=result,
    )


def _quarantined(region: Any, fn: Any) -> list[str]:
    rows = region.verified() if region is not None else []
    code = getattr(fn, "__code__", None)
    if not rows or code is None:
        return []
    from dyntrace._verify import format_quarantined

    return format_quarantined(rows, code)


def explain(
    fn: Callable[..., Any], *, backend: Any = None, dynamic: bool | None = None
) -> Callable[..., ExplainOutput]:
    """``explain(fn)(*args)``: compiles `fn` afresh for these arguments, calls it, and tells.

    A compiled function is explained with its own backend and options.

    Returns
    -------
    callable
        Takes the arguments of `fn` and returns an :class:`ExplainOutput`.
    """
    if _core is None:
        raise RuntimeError("dyntrace runs plainly on this interpreter: there is nothing to explain")
    region = getattr(fn, "__dyntrace_region__", None)
    options = region.options if region is not None else None
    if backend is None:
        backend = region.backend if region is not None else "native"
    _core.validate_backend(backend)

    def explained(*args: Any, **kwargs: Any) -> ExplainOutput:
        recording = _core.Region(backend, dynamic=dynamic, options=options, record=True)
        target = _compile_target(fn, recording)
        result = target(*args, **kwargs)
        plain = [format_forsaken(row) for row in region.forsaken()] if region is not None else []
        plain += _quarantined(region, fn)
        return _collect(list(recording.records), plain, result)

    return explained


__all__ = ["BreakReason", "ExplainOutput", "explain", "format_position"]
