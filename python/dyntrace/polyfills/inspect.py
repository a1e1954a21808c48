"""``inspect.unwrap()``, which keeps addresses to notice a ring of wrappers."""

from __future__ import annotations

import inspect as original
from typing import Any

from dyntrace.polyfills import polyfill, unfollowable


@polyfill(original.unwrap)
def unwrap(func: Any, *, stop: Any = None) -> Any:
    seen = [func]
    while hasattr(func, "__wrapped__"):
        if isinstance(func, type):
            unfollowable("a class that says what it wraps")
        if stop is not None and stop(func):
            break
        func = func.__wrapped__
        for other in seen:
            if other is func:
                unfollowable("a ring of wrappers")
        seen.append(func)
    return func
