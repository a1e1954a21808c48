"""Calls that do not fit a function in whose place a polyfill is followed: its own TypeError."""

import bisect
import collections
import copy
import functools
import heapq
import operator
import random
import re

import pytest
from differential import check

CALLS = {
    "reduce of one": lambda: functools.reduce(max),
    "reduce of four": lambda: functools.reduce(max, [], 1, 2),
    "reduce by name": lambda: functools.reduce(function=max, sequence=[]),
    "cmp_to_key of nothing": lambda: functools.cmp_to_key(),
    "heappush of one": lambda: heapq.heappush([]),
    "heappush of three": lambda: heapq.heappush([], 1, 2),
    "heappop of nothing": lambda: heapq.heappop(),
    "heappop by name": lambda: heapq.heappop(heap=[]),
    "heapify of two": lambda: heapq.heapify([], []),
    "bisect of one": lambda: bisect.bisect([]),
    "bisect by another name": lambda: bisect.bisect_left([], 1, low=0),
    "bisect twice": lambda: bisect.bisect_right([], 1, x=0),
    "insort of nothing": lambda: bisect.insort(),
    "copy of nothing": lambda: copy.copy(),
    "copy of two": lambda: copy.copy(1, 2),
    "match of nothing": lambda: re.match(),
    "sub of two": lambda: re.sub("a", "b"),
    "compiled match of nothing": lambda: re.compile("a").match(),
    "itemgetter of nothing": lambda: operator.itemgetter(),
    "attrgetter by name": lambda: operator.attrgetter(attr="a"),
    "countOf of one": lambda: operator.countOf([1]),
    "deque append of two": lambda: collections.deque().append(1, 2),
    "deque append of nothing": lambda: collections.deque().append(),
    "deque append by name": lambda: collections.deque().append(x=1),
    "deque pop of one": lambda: collections.deque().pop(1),
    "deque rotate of two": lambda: collections.deque().rotate(1, 2),
    "deque of three": lambda: collections.deque([], 1, 2),
    "deque by another name": lambda: collections.deque(items=[]),
    "deque insert of one": lambda: collections.deque().insert(1),
    "seed of three": lambda: random.Random(1).seed(1, 2, 3),
    "random of one": lambda: random.Random(1).random(1),
    "getrandbits of nothing": lambda: random.Random(1).getrandbits(),
    "update_wrapper of one": lambda: functools.update_wrapper(max),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_the_text_is_the_originals(call):
    def caught(x):
        try:
            call()
        except TypeError as error:
            return str(error), x
        return "fits", x

    check(caught, 3)


@pytest.mark.parametrize("call", [CALLS["heappush of one"], CALLS["deque pop of one"]])
def test_it_leaves_the_function(call):
    def raises(x):
        return call(), x

    check(raises, 3, breaks="raises")
