"""Settings, with their defaults: ``dyntrace.config``."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from dyntrace._support import core as _core

#: Settings that the extension reads.
_CORE_SETTINGS = (
    "attempt_limit",
    "everything",
    "error_on_recompile",
    "guess_limit",
    "hot_count",
    "hot_ns",
    "inline_depth",
    "num_threads",
    "recompile_limit",
    "recompile_total_limit",
    "strict",
    "trace_budget_ns",
    "trace_limit",
    "translate_loops",
    "unroll_limit",
    "unroll_nodes",
    "weigh_after",
)


#: Modules of the standard library that act on the outside world, on the interpreter or on other
#: threads: following their functions would end in a break somewhere inside.
SKIPPED_MODULES = frozenset(
    [
        "_pydatetime",
        "asyncio",
        "atexit",
        "bdb",
        "cProfile",
        "code",
        "codeop",
        "concurrent",
        "ctypes",
        "doctest",
        "email",
        "ftplib",
        "gzip",
        "http",
        "imaplib",
        "importlib",
        "io",
        "linecache",
        "logging",
        "mailbox",
        "multiprocessing",
        "pdb",
        "pickle",
        "pickletools",
        "platform",
        "poplib",
        "profile",
        "pstats",
        "queue",
        "runpy",
        "sched",
        "select",
        "selectors",
        "shelve",
        "shutil",
        "signal",
        "site",
        "smtplib",
        "socket",
        "socketserver",
        "sqlite3",
        "ssl",
        "subprocess",
        "sysconfig",
        "tarfile",
        "tempfile",
        "threading",
        "timeit",
        "trace",
        "traceback",
        "tracemalloc",
        "unittest",
        "urllib.error",
        "urllib.request",
        "urllib.response",
        "urllib.robotparser",
        "uuid",
        "wsgiref",
        "xmlrpc",
        "zipfile",
        "zipimport",
    ]
)


class Config:
    """Settings of this process.

    Attributes
    ----------
    recompile_limit : int
        Compiled versions of one code object in one region (default 8).
    recompile_total_limit : int
        The same, those counted that are gone because an object they relied on has died (default 256).
    error_on_recompile : bool
        A call that no compiled version of a function serves raises ``dyntrace.RecompileError``, which
        names the guards that fail, instead of compiling one more (default False).
    guess_limit : int
        Branches of a function on values of arrays that are followed the way they go in the call that is
        compiled; each later call is checked to go it, too (default 8, at most 8); 0: each is a graph break.
    translate_loops : bool
        Loops over numbers and items of arrays run as programs of their own where they can (default True).
    attempt_limit : int
        Failed attempts after which a code object runs plainly until ``reset()`` (default 4).
    hot_count : int
        Plain calls of a function of a whole script before it is compiled (default 3).
    hot_ns : int
        Time that these calls took, before it is compiled, and that a loop of it ran, before it is entered,
        in nanoseconds (default 0; 5,000,000 in whole scripts). Where it is not 0, all attempts at a program
        that did not ask to be compiled take 4 ms, a fortieth of its time, and a part of what was saved.
    inline_depth : int
        Depth to which calls are followed (default 64).
    unroll_limit : int
        Iterations of one loop that are followed (default 4096).
    unroll_nodes : int
        Operations of a graph from which on no loop is unrolled further: the loop stays a loop, and its
        body is compiled (default 1024; no limit under ``fullgraph=True`` or for other backends than
        "native").
    num_threads : int
        Threads that share the work on large arrays; 1: the calling one alone. 0 (default) stands for the
        processors that the process may use, ``OMP_NUM_THREADS`` at most, and for 1 in processes that
        ``fork`` or ``multiprocessing`` started. Set from ``DYNTRACE_NUM_THREADS``.
    trace_limit : int
        Instructions in one trace (default 1,000,000).
    trace_budget_ns : int
        Nanoseconds that one attempt may hold the interpreter (default 10,000,000); 0: no limit.
    weigh_after : int
        Calls after which compiled code is timed against plain execution, a few calls each way; what
        is no faster runs plainly from then on (default 8); 0: never.
    strict : bool
        Raise internal faults instead of logging them (default False).
    everything : bool
        Also rewrite frames in which no array operation was found (default False).
    skip_modules : frozenset of str
        Modules and packages whose functions are not followed: a call of one is a graph break. The
        default, ``SKIPPED_MODULES``, names those of the standard library that act on the outside world.
    verify : float
        Share of the calls, 0.0 to 1.0 (default 0.0; ``True`` is 1.0), that are run plainly and compiled in
        copies of the process before they are made, and compared. These calls run plainly. Set from
        ``DYNTRACE_VERIFY``.
    verify_dir : str
        Where reproducers of differences are written (default "dyntrace-verify").
    logs : frozenset of str
        Artifacts written to stderr; set from ``DYNTRACE_LOGS`` or a comma-separated string.
    """

    __slots__ = ("_logs", "_skip_modules")

    def __init__(self) -> None:
        object.__setattr__(self, "_logs", frozenset())
        self._set_skip_modules(SKIPPED_MODULES)

    def __getattr__(self, name: str) -> Any:
        if name in _CORE_SETTINGS and _core is not None:
            return _core.get_config(name)
        raise AttributeError(f"dyntrace.config has no setting {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("logs", "skip_modules", "verify", "verify_dir"):
            object.__setattr__(self, name, value)
        elif name in _CORE_SETTINGS:
            if _core is not None:
                _core.set_config(name, value)
        else:
            raise AttributeError(f"dyntrace.config has no setting {name!r}")

    def __dir__(self) -> list[str]:
        return ["logs", "patch", "skip_modules", "verify", "verify_dir", *_CORE_SETTINGS]

    @property
    def skip_modules(self) -> frozenset[str]:
        names: frozenset[str] = self._skip_modules
        return names

    @skip_modules.setter
    def skip_modules(self, value: Iterable[str]) -> None:
        self._set_skip_modules(value)

    def _set_skip_modules(self, value: Iterable[str]) -> None:
        if isinstance(value, str) or not all(isinstance(name, str) for name in value):
            raise TypeError("config.skip_modules: expected a collection of str")
        names = frozenset(value)
        if _core is not None:
            _core.set_skipped_modules(names)
        object.__setattr__(self, "_skip_modules", names)

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

    @property
    def verify(self) -> float:
        share: float = _core.get_verify() if _core is not None else 0.0
        return share

    @verify.setter
    def verify(self, value: float) -> None:
        if not isinstance(value, (int, float)):
            raise TypeError(f"config.verify: expected a share, got {type(value).__name__}")
        if _core is not None:
            _core.set_verify(value)

    @property
    def verify_dir(self) -> str:
        from dyntrace import _verify

        return _verify.directory

    @verify_dir.setter
    def verify_dir(self, value: str) -> None:
        from dyntrace import _verify

        if not isinstance(value, str):
            raise TypeError(f"config.verify_dir: expected a str, got {type(value).__name__}")
        _verify.directory = value

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
    # Of a whole script they are options, which the command line may overrule.
    if os.environ.get("DYNTRACE", "0") not in ("", "0"):
        return
    names = os.environ.get("DYNTRACE_LOGS", "")
    if names:
        config.logs = names
    threads = os.environ.get("DYNTRACE_NUM_THREADS", "")
    if threads:
        if not threads.isdecimal():
            raise ValueError(f"DYNTRACE_NUM_THREADS: expected a number, got {threads!r}")
        config.num_threads = int(threads)
    share = os.environ.get("DYNTRACE_VERIFY", "")
    if share:
        from dyntrace._options import parse_share

        try:
            config.verify = parse_share(share)
        except ValueError as error:
            raise ValueError(f"DYNTRACE_VERIFY: {error}") from None
    directory = os.environ.get("DYNTRACE_VERIFY_DIR", "")
    if directory:
        config.verify_dir = directory


_read_environment()
