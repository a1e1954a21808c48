"""Instances of subclasses of set and deque that existed before the call: read, changed, overridden."""

import collections
import copy

import dyntrace
import numpy as np
import pytest
from differential import FORCED, check

X = np.linspace(0.5, 2.0, 4)


class Tags(set):
    pass


class Counted(set):
    """It counts what is added, and gives its length as one more."""

    def __init__(self, items=()):
        super().__init__(items)
        self.added = 0

    def add(self, item):
        self.added += 1
        super().add(item)

    def __len__(self):
        return super().__len__() + 1


class Slots(set):
    __slots__ = ("n",)


class Ring(collections.deque):
    pass


class Logged(collections.deque):
    """It remembers what is appended, and hides its length and its limit."""

    def __init__(self, items=(), maxlen=None):
        super().__init__(items, maxlen)
        self.log = []

    def append(self, item):
        self.log.append(item)
        super().append(item)

    @property
    def maxlen(self):
        return "hidden"

    def __len__(self):
        return super().__len__() + 10

    def __getitem__(self, index):
        return ("item", super().__getitem__(index))


# ---- sets


def read(x, tags):
    return x * len(tags), 1 in tags, 9 in tags, bool(tags), tags == {1, 2, 3}, tags != {1}


def added(x, tags):
    tags.add(7)
    tags.add(1)
    return x * len(tags), 7 in tags


def taken(x, tags):
    tags.discard(2)
    tags.discard(99)
    tags.remove(3)
    try:
        tags.remove(3)
    except KeyError as error:
        return x * 2, error.args, sorted(tags)


def operators(x, tags):
    return x * 2, tags | {8}, tags & {1, 2}, tags - {1}, tags ^ {1, 9}, type(tags | {8}).__name__


def in_place(x, tags):
    before = tags
    tags |= {5}
    tags -= {1}
    tags.update([6, 7], (8,))
    return x * 2, tags is before, sorted(tags)


def cleared(x, tags):
    tags.clear()
    tags.add(4)
    return x * 2, list(tags)


def ordered(x, tags):
    return x * 2, list(tags), [t * 2 for t in tags], sum(tags)


def copied(x, tags):
    made = tags.copy()
    made.add(11)
    return x * 2, type(made).__name__, len(tags), set(tags), frozenset(tags)


def asked(x, tags):
    return (
        x * 2,
        tags.issubset({1, 2, 3, 4}),
        tags >= {1},
        tags.isdisjoint([9]),
        isinstance(tags, set),
    )


def attributes(x, tags):
    tags.n = 5
    tags.add(tags.n)
    return x * tags.n, 5 in tags


SETS = [read, added, taken, operators, in_place, cleared, ordered, copied, asked, attributes]


@pytest.mark.parametrize("cls", [Tags, Counted, Slots])
@pytest.mark.parametrize("fn", SETS, ids=lambda fn: fn.__name__)
def test_set(fn, cls):
    check(fn, make=lambda: ((X, cls([1, 2, 3])), {}))


@pytest.mark.parametrize("cls", [Tags, Counted])
def test_other_elements_and_types_are_told_apart(cls):
    def fn(x, tags):
        return x * len(tags), 1 in tags, type(tags).__name__

    compiled = dyntrace.compile(fn)
    for tags in [
        cls([1, 2]),
        cls([1, 3]),
        cls(),
        {1, 2},
        Slots([1, 2]),
        cls([1, 2]),
        {1, 3},
        cls([1]),
    ]:
        for _ in range(3):
            plain, found = fn(X, tags), compiled(X, tags)
            assert plain[1:] == found[1:] and np.array_equal(plain[0], found[0])


# ---- deques


def ring_read(x, ring):
    return x * len(ring), list(ring), 2 in ring, bool(ring), ring.count(1), ring.index(2)


def ring_items(x, ring):
    ring[1] = 20
    try:
        last = ring[-1]
    except IndexError as error:  # the length that the class gives is not that of the ring
        last = str(error)
    return x * 2, ring[0], last, ring.maxlen


def ring_appended(x, ring):
    ring.append(4)
    ring.appendleft(0)
    last = ring.pop()
    return x * last, ring.popleft(), list(ring)


def ring_extended(x, ring):
    ring.extend([7, 8])
    ring.rotate(1)
    ring += [9]
    return x * 2, list(ring), type(ring).__name__


def ring_looped(x, ring):
    for value in ring:
        x = x * value
    ring.clear()
    return x, len(ring)


def ring_attribute(x, ring):
    ring.n = 3
    ring.reverse()
    return x * ring.n, list(ring)


DEQUES = [ring_read, ring_items, ring_appended, ring_extended, ring_looped, ring_attribute]


@pytest.mark.parametrize("limit", [None, 3])
@pytest.mark.parametrize("cls", [Ring, Logged])
@pytest.mark.parametrize("fn", DEQUES, ids=lambda fn: fn.__name__)
def test_deque(fn, cls, limit):
    check(fn, make=lambda: ((X, cls([1, 2, 3], limit)), {}))


def test_other_lengths_and_limits_are_told_apart():
    def fn(x, ring):
        ring.append(5)
        return x * len(ring), list(ring), ring.maxlen, type(ring).__name__

    compiled = dyntrace.compile(fn)
    for ring in [Ring([1]), Ring([1], 1), Ring([2]), collections.deque([1]), Logged([1]), Ring()]:
        for _ in range(3):
            mine, other = copy.deepcopy(ring), copy.deepcopy(ring)
            plain, found = fn(X, mine), compiled(X, other)
            assert plain[1:] == found[1:] and np.array_equal(plain[0], found[0])
            assert list(mine) == list(other)


@pytest.mark.skipif(bool(FORCED), reason="it is about what is captured")
def test_captured_whole():
    compiled = dyntrace.compile(added, fullgraph=True)
    tags = Tags([1, 2, 3])
    for _ in range(3):
        assert compiled(X, tags)[1] is True
    assert tags == {1, 2, 3, 7}
