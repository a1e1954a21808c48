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


def _rise(heap: Any, top: int, at: int) -> None:
    """Swaps the item at `at` with its parents until one is not larger."""
    size = len(heap)
    if at >= size:
        raise IndexError(_EMPTY)
    while at > top:
        parent = (at - 1) >> 1
        smaller = True if heap[at] < heap[parent] else False
        if size != len(heap):
            raise RuntimeError(_RESIZED)
        if not smaller:
            break
        heap[at], heap[parent] = heap[parent], heap[at]
        at = parent


def _sink(heap: Any, at: int) -> None:
    """Swaps the item at `at` with the smaller child down to a leaf, then lets it rise."""
    size, top = len(heap), at
    if at >= size:
        raise IndexError(_EMPTY)
    while at < size >> 1:
        child = 2 * at + 1
        if child + 1 < size:
            child += 0 if heap[child] < heap[child + 1] else 1
            if size != len(heap):
                raise RuntimeError(_RESIZED)
        heap[at], heap[child] = heap[child], heap[at]
        at = child
    _rise(heap, top, at)


def _rise_max(heap: Any, top: int, at: int) -> None:
    size = len(heap)
    if at >= size:
        raise IndexError(_EMPTY)
    while at > top:
        parent = (at - 1) >> 1
        smaller = True if heap[parent] < heap[at] else False
        if size != len(heap):
            raise RuntimeError(_RESIZED)
        if not smaller:
            break
        heap[at], heap[parent] = heap[parent], heap[at]
        at = parent


def _sink_max(heap: Any, at: int) -> None:
    size, top = len(heap), at
    if at >= size:
        raise IndexError(_EMPTY)
    while at < size >> 1:
        child = 2 * at + 1
        if child + 1 < size:
            child += 0 if heap[child + 1] < heap[child] else 1
            if size != len(heap):
                raise RuntimeError(_RESIZED)
        heap[at], heap[child] = heap[child], heap[at]
        at = child
    _rise_max(heap, top, at)


@polyfill(_heapq.heappush)
def heappush(heap: Any, item: Any, /) -> None:
    _check(heap, "heappush", "argument 1")
    heap.append(item)
    _rise(heap, 0, len(heap) - 1)


def _pop(heap: Any, sink: Any) -> Any:
    if not heap:
        raise IndexError(_EMPTY)
    last = heap.pop()
    if not heap:
        return last
    smallest = heap[0]
    heap[0] = last
    sink(heap, 0)
    return smallest


@polyfill(_heapq.heappop)
def heappop(heap: Any, /) -> Any:
    _check(heap, "heappop", "argument")
    return _pop(heap, _sink)


@polyfill(_heapq._heappop_max)
def _heappop_max(heap: Any, /) -> Any:
    _check(heap, "_heappop_max", "argument")
    return _pop(heap, _sink_max)


def _replace(heap: Any, item: Any, sink: Any) -> Any:
    if not heap:
        raise IndexError(_EMPTY)
    smallest = heap[0]
    heap[0] = item
    sink(heap, 0)
    return smallest


@polyfill(_heapq.heapreplace)
def heapreplace(heap: Any, item: Any, /) -> Any:
    _check(heap, "heapreplace", "argument 1")
    return _replace(heap, item, _sink)


@polyfill(_heapq._heapreplace_max)
def _heapreplace_max(heap: Any, item: Any, /) -> Any:
    _check(heap, "_heapreplace_max", "argument 1")
    return _replace(heap, item, _sink_max)


@polyfill(_heapq.heappushpop)
def heappushpop(heap: Any, item: Any, /) -> Any:
    _check(heap, "heappushpop", "argument 1")
    if not heap:
        return item
    if heap[0] < item:
        return _replace(heap, item, _sink)
    return item


def _order(heap: Any, sink: Any, function: str) -> None:
    _check(heap, function, "argument")
    size = len(heap)
    if size > _LARGE:
        unfollowable(f"{function}() of more than {_LARGE} items")
    for at in range((size >> 1) - 1, -1, -1):
        sink(heap, at)


@polyfill(_heapq.heapify)
def heapify(heap: Any, /) -> None:
    _order(heap, _sink, "heapify")


@polyfill(_heapq._heapify_max)
def _heapify_max(heap: Any, /) -> None:
    _order(heap, _sink_max, "_heapify_max")
