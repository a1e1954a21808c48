"""Bisection, with the comparisons of ``_bisect``."""

from __future__ import annotations

import _bisect
from operator import index
from typing import Any

from dyntrace.polyfills import polyfill, unfollowable


def _bounds(a: Any, lo: Any, hi: Any) -> Any:
    lo = index(lo)
    if hi is None:
        hi = -1
    elif hasattr(type(hi), "__index__"):
        hi = index(hi)
    else:
        raise TypeError(f"argument should be integer or None, not '{type(hi).__name__}'")
    if isinstance(a, dict):
        unfollowable("bisection of a dict")
    if lo < 0:
        raise ValueError("lo must be non-negative")
    return lo, len(a) if hi == -1 else hi


def _search(a: Any, x: Any, lo: Any, hi: Any, key: Any, right: bool) -> Any:
    """Where `x` goes, behind its equals or before them."""
    lo, hi = _bounds(a, lo, hi)
    while lo < hi:
        middle = (lo + hi) // 2
        item = a[middle]
        if key is not None:
            item = key(item)
        if (not x < item) if right else item < x:
            lo = middle + 1
        else:
            hi = middle
    return lo


@polyfill(_bisect.bisect_right)
def bisect_right(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> Any:
    return _search(a, x, lo, hi, key, True)


@polyfill(_bisect.bisect_left)
def bisect_left(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> Any:
    return _search(a, x, lo, hi, key, False)


@polyfill(_bisect.insort_right)
def insort_right(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> None:
    at = _search(a, x if key is None else key(x), lo, hi, key, True)
    a.insert(at, x)


@polyfill(_bisect.insort_left)
def insort_left(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> None:
    at = _search(a, x if key is None else key(x), lo, hi, key, False)
    a.insert(at, x)
