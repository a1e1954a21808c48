"""heapq: heaps of numbers next to arrays."""

import heapq

import numpy as np
import pytest
from differential import check

A = np.linspace(0.5, 2.0, 4)


def push_and_pop(x):
    heap = []
    for value in (5, 3, 8, 1):
        heapq.heappush(heap, value)
    return x * heapq.heappop(heap), heap


def heapify(x):
    heap = [9, 4, 7, 1, 8, 2]
    heapq.heapify(heap)
    return x + heap[0], heap


def pushpop(x):
    heap = [1, 5, 6]
    return x * heapq.heappushpop(heap, 3), x * heapq.heappushpop(heap, 0), heap


def replace(x):
    heap = [2, 5, 6]
    return x - heapq.heapreplace(heap, 9), heap


def sort_by_heap(x):
    heap = []
    for value in [3, 1, 2]:
        heapq.heappush(heap, value)
    return x, [heapq.heappop(heap) for _ in range(len(heap))]


def pairs(x):
    heap = [(2, "b"), (1, "z"), (1, "a")]
    heapq.heapify(heap)
    return x * heap[0][0], heapq.heappop(heap)


def largest(x):
    return x * sum(heapq.nlargest(2, [3, 9, 4, 1])), heapq.nlargest(1, [2, 5])


def smallest(x):
    return x * sum(heapq.nsmallest(2, [3, 9, 4, 1])), heapq.nsmallest(1, [2, 5])


def dijkstra(x):
    graph = {"a": {"b": 2, "c": 5}, "b": {"c": 1, "d": 7}, "c": {"d": 2}, "d": {}}
    best, todo = {}, [(0, "a")]
    while todo:
        distance, node = heapq.heappop(todo)
        if node in best:
            continue
        best[node] = distance
        for other, step in graph[node].items():
            heapq.heappush(todo, (distance + step, other))
    return x * best["d"], best


def heap_argument(x, heap):
    heapq.heappush(heap, 4)
    return x + heapq.heappop(heap)


def empty(x):
    y = x + 1.0
    return y, heapq.heappop([])


def no_list(x):
    y = x + 1.0
    return y, heapq.heappush((), 1)


@pytest.mark.parametrize(
    "fn",
    [push_and_pop, heapify, pushpop, replace, sort_by_heap, pairs, dijkstra],
)
def test_heapq(fn):
    check(fn, A)


def test_existing_heap():
    check(heap_argument, A, [3, 5, 6])


@pytest.mark.parametrize("fn", [empty, no_list])
def test_errors(fn):
    check(fn, A, breaks="raises")
