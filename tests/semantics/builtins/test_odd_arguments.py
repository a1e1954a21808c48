"""Classes and objects with __index__ where a value is expected: results, and the texts of what is refused"""

import enum
import itertools
import math
import operator
import re
from collections import OrderedDict

import numpy as np
import pytest
from differential import check

A = np.linspace(0.5, 2.0, 4)


class Two:
    def __index__(self):
        return 2


TWO = Two()


class Texts:
    """Whose special methods are of its instances, not of the class."""

    def __repr__(self):
        return "an instance"

    def __str__(self):
        return "a text"

    def __format__(self, spec):
        return "formatted" + spec

    def __contains__(self, item):
        return True


class Meta(type):
    def __repr__(cls):
        return "the class " + cls.__name__

    def __format__(cls, spec):
        return spec + cls.__name__


class Made(metaclass=Meta):
    def __repr__(self):
        return "made"


class Color(enum.Enum):
    RED = 1

    def __repr__(self):
        return "red"


class Logged:
    def __init__(self, log, n):
        self.log, self.n = log, n

    def __index__(self):
        self.log.append(self.n)
        return self.n


class OnlyItems:
    def __getitem__(self, key):
        return key


class BadIter:
    def __iter__(self):
        raise TypeError("mine")


def indexed_slice(n):
    log = []
    parts = slice(Logged(log, 1), Logged(log, 5), Logged(log, 2))
    return parts.indices(7), [1, 2, 3, 4][parts], log


def deleted(key):
    o = OnlyItems()
    del o[key]


WAYS = [
    lambda n: ("ab" * n, n * "ab", b"a" * n, n * b"a", [0] * n, n * (1, 2)),
    lambda n: ("%s" % ("ab" * n), sum([1] * n), "x".join("ab" * n)),
    lambda n: (slice(n).indices(5), slice(None, None, n).indices(5), [1, 2, 3][:n]),
    indexed_slice,
    lambda n: (range(n), list(range(1, 7, n)), 1 << n, [5, 6, 7][n], (5, 6, 7)[n], "abc"[n]),
    lambda n: (operator.imul("ab", n), operator.imul([1], n)),
    lambda n: operator.imul(n, "ab"),
    lambda n: operator.imul(n, b"ab"),
    lambda n: "ab" * 1.5,
    lambda n: "ab" * Texts(),
    lambda n: Texts() * "ab",
    lambda n: math.ldexp(1.0, 3),
    lambda n: (format(int), format(Texts), f"{Texts}", f"{int!r:>20}", "{}".format(ValueError)),
    lambda n: (str(Texts), repr(Texts), "%s %r" % (Texts, Texts), f"{Texts!s}", [Texts, int]),
    lambda n: (repr(Made), str(Made), f"{Made!r}", f"{Made:>}", format(Made, "x"), f"{Made()!r}"),
    lambda n: (repr(Color), f"{Color!r}", f"{Color.RED!r}", str(Color)),
    lambda n: format(int, ">5"),
    lambda n: format(Texts, "x"),
    lambda n: 1 in Texts,
    lambda n: 1 in 5,
    lambda n: operator.contains(n, 1),
    lambda n: operator.contains(2.5, 1),
    lambda n: 1 in BadIter(),
    lambda n: 1 in Texts(),
    lambda n: (
        operator.length_hint(3, n),
        operator.length_hint(3, True),
        operator.length_hint([1], n),
    ),
    lambda n: deleted("key"),
    lambda n: deleted(3),
    lambda n: deleted(n),
]


def by_slices(n):
    found = []
    for ask in (
        lambda: {1: 2}[1:2],
        lambda: {slice(n): 1},
        lambda: hash(slice(1)),
        lambda: {1}.add(slice(1)),
    ):
        try:
            found.append(ask() is None)
        except (TypeError, KeyError) as error:
            found.append(repr(error))
    return found


#: Left to plain execution, whose text it is.
BROKEN = [
    (lambda n: operator.length_hint(3, 1.5), "raises"),
    (lambda n: bytes(Texts), "raises"),
    (lambda n: bytes(object()), "unknown-callable"),
    (lambda n: range(n, "a"), "call-mismatch"),
    (lambda n: math.ldexp(1.0, n), "unknown-callable"),
    (lambda n: list(itertools.combinations(2.0, 3.0)), "call-mismatch"),
    (lambda n: OrderedDict("ab"), "raises"),
    (lambda n: OrderedDict([3, 1]), "raises"),
    (lambda n: re.search("ab", "c", "d"), "unknown-callable"),
]


def tried(way):
    def fn(x, n):
        try:
            result = way(n)
        except Exception as error:
            result = (type(error), str(error))
        return x + 1.0, result

    return fn


@pytest.mark.parametrize("at", range(len(WAYS)))
def test_whole(at):
    check(tried(WAYS[at]), make=lambda: ((A, TWO), {}))


@pytest.mark.parametrize("at", range(len(BROKEN)))
def test_broken(at):
    way, breaks = BROKEN[at]
    check(tried(way), make=lambda: ((A, TWO), {}), breaks=breaks)


def test_slices_as_keys():
    hashable = slice.__hash__ is not None
    check(
        tried(by_slices), make=lambda: ((A, TWO), {}), breaks="missing-slot" if hashable else None
    )
