"""The functions of ``math`` that go through sequences."""

from __future__ import annotations

import math
from typing import Any

from dyntrace.polyfills import fold, polyfill, unfollowable


@polyfill(math.prod)
def prod(iterable: Any, /, *, start: Any = 1) -> Any:
    result = start
    for item in iterable:
        result = result * item
    return result


@polyfill(math.fsum)
def fsum(seq: Any, /) -> Any:
    return fold(math.fsum, list(seq))


@polyfill(math.dist)
def dist(p: Any, q: Any, /) -> Any:
    return fold(math.dist, tuple(p), tuple(q))


if hasattr(math, "sumprod"):

    @polyfill(math.sumprod)
    def sumprod(p: Any, q: Any, /) -> Any:
        if not isinstance(p, (list, tuple)) or not isinstance(q, (list, tuple)):
            return unfollowable("math.sumprod() of iterators")
        return fold(math.sumprod, p, q)
