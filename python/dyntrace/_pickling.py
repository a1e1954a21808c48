"""Pickling of what dyntrace makes: by reference where pickle can, else by parts."""

from __future__ import annotations

from typing import Any

from dyntrace._support import core as _core
from dyntrace.api import compile


def reduce_callable(target: Any, region: Any) -> tuple[Any, ...]:
    """A compiled callable object is pickled as its object and the options, and compiled anew."""
    return (_restore, (target, region.backend, region.fullgraph, region.options))


def _restore(target: Any, backend: Any, fullgraph: bool, options: Any) -> Any:
    if _core is None:
        return target
    return compile(target, backend=backend, fullgraph=fullgraph, options=options)
