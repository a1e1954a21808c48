"""Each polyfill against its original."""

import _heapq

import pytest
from against import same
from hypothesis import given
from hypothesis import strategies as st

numbers = st.lists(st.one_of(st.integers(0, 9), st.floats(0, 9)), max_size=12)


@given(numbers, st.integers(0, 9))
@pytest.mark.parametrize("name", ["heappush", "heapreplace", "heappushpop", "_heapreplace_max"])
def test_with_an_item(name, items, item):
    same("heapq", getattr(_heapq, name), lambda Logged: ([Logged(i) for i in items], Logged(item)))


@given(numbers)
@pytest.mark.parametrize("name", ["heappop", "heapify", "_heappop_max", "_heapify_max"])
def test_without(name, items):
    same("heapq", getattr(_heapq, name), lambda Logged: ([Logged(i) for i in items],))


@pytest.mark.parametrize("name", ["heappush", "heapreplace", "heappushpop", "_heapreplace_max"])
@pytest.mark.parametrize("args", [((1, 2), 3), (None, 3), ([1, "a"], 0), ([], 0)])
def test_bad_arguments_with_an_item(name, args):
    same("heapq", getattr(_heapq, name), lambda Logged: args)


@pytest.mark.parametrize("name", ["heappop", "heapify", "_heappop_max", "_heapify_max"])
@pytest.mark.parametrize("arg", [(1, 2), None, [1, "a", 2], []])
def test_bad_arguments(name, arg):
    same("heapq", getattr(_heapq, name), lambda Logged: (arg,))


class Shrinks:
    def __init__(self, items):
        self.items = items

    def __lt__(self, other):
        self.items.pop()
        return True


@pytest.mark.parametrize("name", ["heapify", "heappop", "_heapify_max", "_heappop_max"])
def test_a_comparison_changes_the_list(name):
    def make(Logged):
        items = []
        items += [Shrinks(items) for _ in range(6)]
        return (items,)

    same("heapq", getattr(_heapq, name), make, compare_arguments=False)
