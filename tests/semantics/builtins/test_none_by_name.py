"""None and NotImplemented that come out of variables: globals, defaults, attributes, arguments"""

import functools
import heapq
import itertools
import operator
import sys
import weakref
from collections import ChainMap, Counter, OrderedDict, defaultdict, deque

import numpy as np
import pytest
from differential import check

A = np.linspace(0.5, 2.0, 4)
NOTHING = None
REFUSED = NotImplemented


class Holder:
    nothing = None

    def __init__(self):
        self.own = None


HOLDER = Holder()


#: Since 3.12 throw() with several arguments warns, which is a break.
WARNS = sys.version_info >= (3, 12)


def gen():
    got = yield 1
    yield got


async def agen():
    got = yield 1
    yield got


def drive(awaitable):
    try:
        awaitable.send(None)
    except StopIteration as stop:
        return stop.value


def thrown(n):
    g = gen()
    next(g)
    try:
        g.throw(ValueError("v"), *(() if WARNS else (n, n)))
    except ValueError as error:
        return str(error), error.__cause__


def raised_from(n):
    try:
        raise KeyError(1) from n
    except KeyError as error:
        return error.__cause__, error.__suppress_context__


def with_members(n):
    error = ValueError(1)
    error.__cause__ = n
    error.__context__ = n
    error.__traceback__ = n
    return error.__cause__, error.__context__, error.with_traceback(n).args


def started(n):
    g = gen()
    return g.send(n), g.send(n)


def started_async(n):
    a = agen()
    return drive(a.asend(n)), drive(a.asend(n))


class Initialised:
    def __init__(self, n):
        self.result = n

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return self.result


class ReturnsIt:
    def __init__(self, n):
        return n


def returns(n):
    def stops():
        return n
        yield

    try:
        next(stops())
    except StopIteration as stop:
        return stop.args, stop.value


def described(n):
    class Made:
        def __round__(self, digits="none"):
            return digits

    return round(Made(), n), round(Made(), ndigits=n), round(Made(), 2)


def exits(n):
    try:
        with Initialised(n):
            raise KeyError(2)
    except KeyError:
        return "left"


class Refuses:
    def __add__(self, other):
        return REFUSED

    def __radd__(self, other):
        return ("r", other)

    def __eq__(self, other):
        return REFUSED

    def __lt__(self, other):
        return REFUSED

    def __gt__(self, other):
        return "gt"

    def __iadd__(self, other):
        return REFUSED

    def __contains__(self, n):
        return NOTHING

    def __length_hint__(self):
        return REFUSED

    def __iter__(self):
        return iter([1, 2])


class Hashless:
    __hash__ = NOTHING


def refused(n):
    a, b = Refuses(), Refuses()
    try:
        a + 1
    except TypeError as error:
        text = str(error)
    c = a
    try:
        c += 1
    except TypeError as error:
        text += str(error)
    return 1 + a, a == b, a == a, a < b, text, 1 in a, list(a)


def unhashable(n):
    try:
        return {Hashless(): 1}
    except TypeError as error:
        return str(error)


def formatted(n):
    try:
        return f"{n}", f"{n!r:>6}", "%s" % n, "{}".format(n), str(n), "%s%s" % (n, n)
    finally:
        n = 1


def unpacked(n):
    try:
        a, b = n
    except TypeError as error:
        return str(error)


def called(n):
    try:
        n()
    except TypeError as error:
        return str(error)


WAYS = [
    lambda n: sorted([3, 1, 2], key=n),
    lambda n: sorted([3, 1, 2], key=n, reverse=True),
    lambda n: [3, 1].sort(key=n),
    lambda n: (max([1, 3], key=n), min(2, 1, key=n), max([], default=n), min([], default=4, key=n)),
    lambda n: list(filter(n, [0, 1, 2])),
    lambda n: list(itertools.filterfalse(n, [0, 1])),
    lambda n: [(k, list(g)) for k, g in itertools.groupby("aab", n)],
    lambda n: [(k, list(g)) for k, g in itertools.groupby("aab", key=n)],
    lambda n: list(itertools.accumulate([1, 2], n)),
    lambda n: list(itertools.accumulate([1, 2], func=n, initial=n)),
    lambda n: list(itertools.islice([1, 2, 3], n)),
    lambda n: list(itertools.islice([1, 2, 3], n, n)),
    lambda n: list(itertools.islice([1, 2, 3], 1, n, n)),
    lambda n: list(itertools.zip_longest([1], [1, 2], fillvalue=n)),
    lambda n: list(itertools.permutations([1, 2], n)),
    lambda n: (round(2.5, n), round(3, n), type(round(2.5, n))),
    lambda n: (pow(2, 3, n), pow(2, 3, mod=n)),
    lambda n: weakref.ref(HOLDER, n)() is HOLDER,
    lambda n: eval("1 + 1", n),
    lambda n: heapq.nlargest(2, [1, 3, 2], n) + heapq.nsmallest(2, [1, 3, 2], key=n),
    lambda n: heapq.nlargest(5, [(0.5, "a")], key=n),
    lambda n: list(heapq.merge([1, 3], [2], key=n)),
    lambda n: (
        "a b".split(n),
        "a b".rsplit(n, 1),
        " a ".strip(n),
        "a".lstrip(n),
        "abc".find("b", n, n),
    ),
    lambda n: (b" a b".split(n), b" a ".strip(n), b"ab".translate(n, b"a"), b"abc".find(b"b", n)),
    lambda n: ("ab".translate({97: n}), "abc".index("c", n), "aXa".count("a", n, n)),
    lambda n: ([1, 2, 3][n:n], "abc"[n:2:n], (1, 2)[::n], range(5)[n:3], slice(n, 3, n).indices(5)),
    lambda n: ({1: 2}.get(5, n), {1: 2}.pop(5, n), {}.setdefault(1, n), dict.fromkeys([1], n)),
    lambda n: (getattr(HOLDER, "nope", n), next(iter([]), n), isinstance(n, type(None))),
    lambda n: (n is None, n == None, n != None, not n, bool(n), [n] == [None], n in (1, None)),  # noqa: E711
    lambda n: (hash(n) == hash(None), {n: 1}[None], {None: 2}[n], {n} == {None}, repr(n)),
    lambda n: (deque([1], n).maxlen, deque([1], maxlen=n), Counter(n), defaultdict(n, a=1)),
    lambda n: (defaultdict(n).default_factory, OrderedDict(a=n), ChainMap({1: n})[1]),
    lambda n: functools.reduce(operator.or_, [[n]] and [False, True], False),
    lambda n: (operator.is_(n, None), operator.not_(n), operator.truth(n), operator.eq(n, None)),
    lambda n: (int.__add__(1, 2), object.__eq__(1, n), (1).__eq__(n), "a".__eq__(n)),
    lambda n: [1, n, 2].index(n) + [n, n].count(None) + (n, 1).index(None),
    lambda n: isinstance(n, (int, type(n))),
    lambda n: issubclass(type(n), object),
    lambda n: print(file=n, end="") if False else n,
    lambda n: zip([1], [n], strict=bool(n)).__next__(),
    lambda n: list(enumerate([n], 1)),
    lambda n: ReturnsIt(n).__class__.__name__,
    lambda n: Holder.__init__.__get__(n, Holder) is Holder.__init__,
    thrown,
    raised_from,
    with_members,
    started,
    started_async,
    returns,
    described,
    exits,
    refused,
    unhashable,
    formatted,
    unpacked,
    called,
]


@pytest.mark.parametrize("at", range(len(WAYS)))
def test_a_global(at):
    way = WAYS[at]

    def fn(x):
        return x + 1.0, way(NOTHING)

    check(fn, A)


@pytest.mark.parametrize("at", range(len(WAYS)))
def test_a_default(at):
    way = WAYS[at]

    def inner(n=None):
        return way(n)

    def fn(x):
        return x + 1.0, inner()

    check(fn, A)


@pytest.mark.parametrize("at", range(len(WAYS)))
def test_attributes(at):
    way = WAYS[at]

    def fn(x):
        return x + 1.0, way(HOLDER.own), way(Holder.nothing)

    check(fn, A)


@pytest.mark.parametrize("at", range(len(WAYS)))
def test_an_argument(at):
    way = WAYS[at]

    def fn(x, n=None):
        return x + 1.0, way(n)

    check(fn, A)
