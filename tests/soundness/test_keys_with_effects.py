"""Keys whose __hash__ or __eq__ has effects, or reads what is written later: hashed as often and when
the program says, though a dict or set that the trace has made is built by the emitted code."""

import warnings
from collections import OrderedDict

import dyntrace
import pytest
from differential import Compiled


class Counted:
    """Counts how often it is hashed and compared; may refuse to be."""

    def __init__(self, value=7):
        self.value = value
        self.hashed = self.compared = 0
        self.fails = False

    def __hash__(self):
        self.hashed += 1
        if self.fails:
            raise ValueError("not now")
        return hash(self.value)

    def __eq__(self, other):
        self.compared += 1
        return self is other


class Plain:
    def __init__(self, value=7):
        self.value = value

    def __hash__(self):
        return hash(self.value)

    def __eq__(self, other):
        return isinstance(other, Plain) and self.value == other.value


class Holder:
    def __init__(self, value=7):
        self.inner = Plain(value)
        self.value = value

    def __hash__(self):
        return hash(self.inner.value)

    def __eq__(self, other):
        return self is other


class Box:
    pass


class InALog:
    log: list = []
    value = 1

    def __hash__(self):
        self.log.append("hash")
        return 3

    def __eq__(self, other):
        self.log.append("eq")
        return self is other


def stored_in_a_new_dict(x):
    d = {}
    d[x] = 42
    return d


def stored_in_an_old_dict(x, d):
    d[x] = 42
    d[x] += 1
    return d


def display(x):
    return {x: 1, 2: x}


def refused_later(x):
    d = {}
    d[x] = 42
    x.fails = True
    return d


def refused_and_caught(x):
    d = {x: 42}
    x.fails = True
    try:
        d.setdefault(x, [])
    except ValueError as error:
        return d, str(error)
    return d


def in_a_new_set(x):
    s = {x}
    s.add(x)
    return s


def in_and_out_of_an_old_set(x, s):
    s.add(x)
    s.remove(x)
    s.add(1)
    return s


def two_that_collide(x, y):
    return {x: 1, y: 2}


def in_a_tuple(x):
    return {(x, 1): 2}


def made_here():
    x = Counted()
    return {x: 1}


def changed_later(x):
    d = {x: 1}
    x.value = 8
    return d


def inner_changed_later(x):
    d = {x: 1}
    x.inner.value = 8
    return d


def changed_between(x, d):
    d[x] = 1
    x.value = 8
    d[x] = 2
    return d


def changed_before(x):
    x.value = 8
    return {x: 1}


def found(x, d):
    d = dict(d)
    return x in d, d


CASES = {
    "stored in a new dict": (stored_in_a_new_dict, lambda: (Counted(),)),
    "stored in an old dict": (stored_in_an_old_dict, lambda: (Counted(), {1: 2})),
    "display": (display, lambda: (Counted(),)),
    "refused later": (refused_later, lambda: (Counted(),)),
    "refused and caught": (refused_and_caught, lambda: (Counted(),)),
    "in a new set": (in_a_new_set, lambda: (Counted(),)),
    "in and out of an old set": (in_and_out_of_an_old_set, lambda: (Counted(), {1, 2})),
    "two that collide": (two_that_collide, lambda: (Counted(), Counted())),
    "in a tuple": (in_a_tuple, lambda: (Counted(),)),
    "made here": (made_here, lambda: ()),
    "logs": (stored_in_a_new_dict, lambda: (InALog(),)),
    "logs and collides": (two_that_collide, lambda: (InALog(), InALog())),
    "changed later": (changed_later, lambda: (Plain(),)),
    "inner changed later": (inner_changed_later, lambda: (Holder(),)),
    "changed between": (changed_between, lambda: (Plain(), {})),
    "changed before": (changed_before, lambda: (Plain(),)),
    "found": (found, lambda: (Counted(), {1: 2})),
}


def told(value):
    """What can be seen of a result and of the keys in it, without hashing anything."""
    if isinstance(value, dict):
        return [(told(key), told(one)) for key, one in value.items()]
    if isinstance(value, (list, tuple, set)):
        return [type(value).__name__, *(told(one) for one in value)]
    if isinstance(value, (Counted, Plain, InALog)):
        return type(value).__name__, dict(vars(value))
    return type(value).__name__ if isinstance(value, Holder) else value


def still_found(value):
    """Whether the dict that came out finds its own keys: their place in the table says it."""
    return [key in value for key in list(value)] if isinstance(value, dict) else None


def seen(fn, args):
    InALog.log.clear()
    try:
        result = fn(*args)
    except ValueError as error:
        return str(error), told(args)
    before = told(result), told(args), list(InALog.log)
    for one in args:
        if isinstance(one, Counted):
            one.fails = False
    return before, still_found(result)


@pytest.mark.parametrize("name", CASES)
def test_hashed_as_often(name):
    fn, make = CASES[name]
    plain = seen(fn, make())
    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        compiled = Compiled(fn)
        for _ in range(3):
            assert seen(compiled, make()) == plain


def test_no_effects_are_captured():
    def fn(x, box):
        d = {x: 1}
        box.other = d
        return d

    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        compiled = Compiled(fn)
        assert [len(compiled(Plain(5), Box())) for _ in range(2)] == [1, 1]
    assert not compiled.breaks


def odd_class(log):
    """A class with a name that is no text: looking up a text with its hash asks it."""

    class Key:
        def __hash__(self):
            return hash("name")

        def __eq__(self, other):
            log.append(other)
            return False

    class Base:
        name = "from Base"

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # 3.13 warns of such a name
        return type("Odd", (Base,), {Key(): 5})


@pytest.mark.parametrize(
    "read",
    [
        lambda cls: cls.name,
        lambda cls: cls().name,
        lambda cls: [getattr(cls, "name", None), hasattr(cls, "name")],
        lambda cls: type("Sub", (cls,), {}).name,
    ],
)
def test_names_that_are_no_texts(read):
    """Tracing asks them no more often than the program does."""
    told = []
    for compiled in (False, True):
        log = []
        cls = odd_class(log)
        function = dyntrace.compile(lambda: read(cls)) if compiled else lambda: read(cls)
        told.append([(function(), list(log)) for _ in range(4)])
    assert told[0] == told[1]


class Asked(Counted):
    asked = 0

    def __hash__(self):
        Asked.asked += 1
        return hash(self.value)


@pytest.mark.parametrize("cls", [OrderedDict, type("Sub", (OrderedDict,), {})])
@pytest.mark.parametrize(
    "use",
    [
        lambda table, key: len(table),
        lambda table, key: [one.value for one in table],
        lambda table, key: list(table.values()),
        lambda table, key: table.get("absent"),
        lambda table, key: (table.__setitem__(key, 5), len(table)),
    ],
)
def test_an_ordered_dict_hashes_its_keys(cls, use):
    """Its iterator hashes each key; tracing and guards have to find the keys without it."""
    told = []
    for compiled in (False, True):
        table = cls((Asked(value), value) for value in range(5))
        function = dyntrace.compile(use) if compiled else use
        Asked.asked = 0
        told.append([(function(table, Asked(9)), Asked.asked) for _ in range(4)])
    assert told[0] == told[1]
