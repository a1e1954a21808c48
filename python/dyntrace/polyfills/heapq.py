"""Heaps: the comparisons that ``_heapq`` makes, in its order."""

from __future__ import annotations

import _heapq
from typing import Any

from dyntrace.polyfills import polyfill, text_of, unfollowable

_RESIZED = "list changed size during iteration"
_EMPTY = text_of(_heapq.heappop, [])

#: From this length on, heapify() goes through the list in an order of its own.
_LARGE = 2500


def _check(heap: Any, function: str, which: str) -> None:
    if type(heap) is list:
        return
    if not isinstance(heap, list):
        given = "None" if heap is None else type(heap).__name__
        raise TypeError(f"{function}() {which} must be list, not {given}")
    unfollowable(f"{function}() of a class derived from list")


def _rise(heap: Any, top: int, at: int, largest: bool) -> None:
    """Swaps the item at `at` with its parents until it does not belong above one."""
    size = len(heap)
    if at >= size:
        raise IndexError(_EMPTY)
    while at > top:
        parent = (at - 1) >> 1
        low, high = (parent, at) if largest else (at, parent)
        above = True if heap[low] < heap[high] else False
        if size != len(heap):
            raise RuntimeError(_RESIZED)
        if not above:
            break
        heap[at], heap[parent] = heap[parent], heap[at]
        at = parent


def _sink(heap: Any, at: int, largest: bool) -> None:
    """Swaps the item at `at` with the child that belongs above down to a leaf, then lets it rise."""
    size, top = len(heap), at
    if at >= size:
        raise IndexError(_EMPTY)
    while at < size >> 1:
        child = 2 * at + 1
        if child + 1 < size:
            low, high = (child + 1, child) if largest else (child, child + 1)
            child += 0 if heap[low] < heap[high] else 1
            if size != len(heap):
                raise RuntimeError(_RESIZED)
        heap[at], heap[child] = heap[child], heap[at]
        at = child
    _rise(heap, top, at, largest)


@polyfill(_heapq.heappush)
def heappush(heap: Any, item: Any, /) -> None:
    _check(heap, "heappush", "argument 1")
    heap.append(item)
    _rise(heap, 0, len(heap) - 1, False)


def _pop(heap: Any, largest: bool) -> Any:
    if not heap:
        raise IndexError(_EMPTY)
    last = heap.pop()
    if not heap:
        return last
    first = heap[0]
    heap[0] = last
    _sink(heap, 0, largest)
    return first


@polyfill(_heapq.heappop)
def heappop(heap: Any, /) -> Any:
    _check(heap, "heappop", "argument")
    return _pop(heap, False)


@polyfill(_heapq._heappop_max)
def _heappop_max(heap: Any, /) -> Any:
    _check(heap, "_heappop_max", "argument")
    return _pop(heap, True)


def _replace(heap: Any, item: Any, largest: bool) -> Any:
    if not heap:
        raise IndexError(_EMPTY)
    first = heap[0]
    heap[0] = item
    _sink(heap, 0, largest)
    return first


@polyfill(_heapq.heapreplace)
def heapreplace(heap: Any, item: Any, /) -> Any:
    _check(heap, "heapreplace", "argument 1")
    return _replace(heap, item, False)


@polyfill(_heapq._heapreplace_max)
def _heapreplace_max(heap: Any, item: Any, /) -> Any:
    _check(heap, "_heapreplace_max", "argument 1")
    return _replace(heap, item, True)


@polyfill(_heapq.heappushpop)
def heappushpop(heap: Any, item: Any, /) -> Any:
    _check(heap, "heappushpop", "argument 1")
    if not heap:
        return item
    if heap[0] < item:
        return _replace(heap, item, False)
    return item


def _order(heap: Any, largest: bool, function: str) -> None:
    _check(heap, function, "argument")
    size = len(heap)
    if size > _LARGE:
        unfollowable(f"{function}() of more than {_LARGE} items")
    for at in range((size >> 1) - 1, -1, -1):
        _sink(heap, at, largest)


@polyfill(_heapq.heapify)
def heapify(heap: Any, /) -> None:
    _order(heap, False, "heapify")


@polyfill(_heapq._heapify_max)
def _heapify_max(heap: Any, /) -> None:
    _order(heap, True, "_heapify_max")
