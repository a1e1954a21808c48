"""When memory is out: building, writing, reading and planning give MemoryError at every allocation,
nothing crashes, and the next attempt works."""

from __future__ import annotations

import dyntrace
import pytest
from dyntrace._core import _testing
from handmade_graphs import GRAPHS


def at_every_allocation(attempt):
    """Fails the first, the second ... allocation, until one attempt needs no more; how many failed."""
    for n in range(1, 20000):
        _testing.fail_arena_at(n)
        try:
            attempt()
        except MemoryError:
            continue
        finally:
            _testing.fail_arena_at(0)
        return n - 1
    raise AssertionError("it never ends")


@pytest.mark.parametrize("name", GRAPHS)
def test_building(name):
    assert at_every_allocation(GRAPHS[name]) > 20
    GRAPHS[name]().lint()


@pytest.mark.parametrize("name", GRAPHS)
def test_reading(name):
    graph = GRAPHS[name]()
    data = graph.to_bytes()
    assert at_every_allocation(lambda: dyntrace.Graph.from_bytes(data)) > 20
    assert str(dyntrace.Graph.from_bytes(data)) == str(graph)


def effects(box, n):
    inner = [n, (n + 1, box)]
    box.append(inner)
    return inner, inner


def closure(n):
    def inner():
        return n

    n = n * 2
    return inner, n, "text"


@pytest.mark.parametrize("function, slots", [(effects, ([], 3)), (closure, (3,))], ids=["effects", "closure"])
def test_planning(function, slots):
    def attempt():
        return _testing.codegen_plan(function, slots, None, None)

    assert at_every_allocation(attempt) > 20
    assert attempt()["ncalls"] == 0
