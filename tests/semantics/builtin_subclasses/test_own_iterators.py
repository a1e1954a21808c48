"""Classes that derive from containers and put more behind the builtin's own iterator."""

from __future__ import annotations

import collections
import itertools

import dyntrace
import pytest


class Named(collections.namedtuple("Named", "a b")):
    def __iter__(self):
        return itertools.chain(super().__iter__(), (self.a,))


class MyList(list):
    def __iter__(self):
        return itertools.chain(super().__iter__(), (9,))

    def __reversed__(self):
        return itertools.chain((8,), super().__reversed__())


class MyTuple(tuple):
    def __iter__(self):
        return itertools.chain(super().__iter__(), (9,))


class MyDict(dict):
    def __iter__(self):
        return itertools.chain(super().__iter__(), (9,))

    def __reversed__(self):
        return itertools.chain((8,), super().__reversed__())


class MySet(set):
    def __iter__(self):
        return itertools.chain(super().__iter__(), (9,))


MADE = {
    "named": lambda: Named(1, 2),
    "list": lambda: MyList([1, 2]),
    "tuple": lambda: MyTuple((1, 2)),
    "dict": lambda: MyDict({1: 2, 3: 4}),
    "set": lambda: MySet({1, 2}),
}


def use(x):
    first, *rest = x
    return first, rest, [y for y in x], list(x), tuple(x), sorted(x), 9 in x, len(x), max(x)


@pytest.mark.parametrize("name", MADE)
def test_inside(name):
    compiled = dyntrace.compile(use)
    with dyntrace.config.patch(everything=True, strict=True):
        for _ in range(3):
            assert compiled(MADE[name]()) == use(MADE[name]())


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("method", ["__iter__", "__reversed__"])
def test_the_iterator_leaves(name, method):
    function = type(MADE[name]()).__dict__.get(method)
    if function is None:
        return
    compiled = dyntrace.compile(function)
    with dyntrace.config.patch(everything=True, strict=True):
        for _ in range(3):
            assert list(compiled(MADE[name]())) == list(function(MADE[name]()))
