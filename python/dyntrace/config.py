"""Settings, with their defaults: ``dyntrace.config``."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from dyntrace._support import core as _core

#: Settings that the extension reads.
_CORE_SETTINGS = (
    "attempt_limit",
    "everything",
    "inline_depth",
    "recompile_limit",
    "strict",
    "trace_budget_ns",
    "trace_limit",
    "unroll_limit",
)


class Config:
    """Settings of this process.

    Attributes
    ----------
    recompile_limit : int
        Compiled versions of one code object in one region (default 8).
    attempt_limit : int
        Failed attempts after which a code object runs plainly until ``reset()`` (default 4).
    inline_depth : int
        Depth to which calls are followed (default 64).
    unroll_limit : int
        Iterations of one loop that are followed (default 4096).
    trace_limit : int
        Instructions in one trace (default 1,000,000).
    trace_budget_ns : int
        Nanoseconds that one attempt may hold the interpreter (default 10,000,000); 0: no limit.
    strict : bool
        Raise internal faults instead of logging them (default False).
    everything : bool
        Also rewrite frames in which no array operation was found (default False).
    logs : frozenset of str
        Artifacts written to stderr; set from ``DYNTRACE_LOGS`` or a comma-separated string.
    """

    __slots__ = ("_logs",)

    def __init__(self) -> None:
        object.__setattr__(self, "_logs", frozenset())

    def __getattr__(self, name: str) -> Any:
        if name in _CORE_SETTINGS and _core is not None:
            return _core.get_config(name)
        raise AttributeError(f"dyntrace.config has no setting {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "logs":
            object.__setattr__(self, name, value)
        elif name in _CORE_SETTINGS:
            if _core is not None:
                _core.set_config(name, value)
        else:
            raise AttributeError(f"dyntrace.config has no setting {name!r}")

    def __dir__(self) -> list[str]:
        return ["logs", "patch", *_CORE_SETTINGS]

    @property
    def logs(self) -> frozenset[str]:
        logs: frozenset[str] = self._logs
        return logs

    @logs.setter
    def logs(self, value: str | Iterable[str]) -> None:
        self._set_logs(value)

    def _set_logs(self, value: str | Iterable[str]) -> None:
        names = value if isinstance(value, str) else ",".join(value)
        if _core is not None:
            _core.set_logs(names)
        object.__setattr__(self, "_logs", frozenset(n for n in names.split(",") if n))

    @contextmanager
    def patch(self, **settings: Any) -> Iterator[None]:
        """Sets settings within a ``with`` block or a decorated function."""
        before = {name: getattr(self, name) for name in settings}
        try:
            for name, value in settings.items():
                setattr(self, name, value)
            yield
        finally:
            for name, value in before.items():
                setattr(self, name, value)


config = Config()


def _read_environment() -> None:
    names = os.environ.get("DYNTRACE_LOGS", "")
    if names:
        config.logs = names


_read_environment()
