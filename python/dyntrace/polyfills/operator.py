"""The functions of ``operator`` that are more than one operation."""

from __future__ import annotations

import _operator
from typing import Any

from dyntrace.polyfills import polyfill, text_of

_MISSING = text_of(_operator.indexOf, (), 0)


@polyfill(_operator.abs)
def abs_(a: Any, /) -> Any:
    return abs(a)


@polyfill(_operator.countOf)
def countOf(a: Any, b: Any, /) -> int:
    count = 0
    for item in a:
        if item is b or item == b:
            count += 1
    return count


@polyfill(_operator.indexOf)
def indexOf(a: Any, b: Any, /) -> int:
    at = 0
    for item in a:
        if item is b or item == b:
            return at
        at += 1
    raise ValueError(_MISSING)
