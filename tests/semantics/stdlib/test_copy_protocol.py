"""copy by what pickling says: __reduce__, __getstate__, slots, subclasses of builtin types, collections"""

import collections
import copy
import datetime
import enum
import fractions
import re
import types
import typing

import numpy as np
import pytest
from differential import check

A = np.linspace(0.5, 2.0, 4)
NEW, EXISTING = [], []


def new(fn):
    NEW.append(fn)
    return fn


def existing(*makers):
    def note(fn):
        EXISTING.extend((fn, make) for make in makers)
        return fn

    return note


class Stated:
    def __init__(self, a):
        self.a, self.cache = a, [a]

    def __getstate__(self):
        return {"a": self.a, "from": "state"}

    def __setstate__(self, state):
        self.__dict__.update(state)
        self.cache = "made again"


class Falsy:
    """Whose state is no dict, and false."""

    def __init__(self):
        self.a = 1

    def __getstate__(self):
        return 0

    def __setstate__(self, state):
        self.a = ("set", state)


class Reducer:
    def __init__(self, a, b=None):
        self.a, self.b = a, b

    def __reduce__(self):
        return Reducer, (self.a,), {"b": self.b}


class ReducedInFull:
    """With items and pairs."""

    def __init__(self, *args):
        self.args, self.items, self.pairs = args, [], {}

    def append(self, item):
        self.items.append(item)

    def __setitem__(self, key, value):
        self.pairs[key] = value

    def __reduce_ex__(self, protocol):
        return ReducedInFull, (protocol, [1]), None, iter([2, [3]]), iter([("k", [4])])


class ByName:
    def __reduce__(self):
        return "BY_NAME"


BY_NAME = ByName()


class WithArgs:
    def __new__(cls, a, *, b=0):
        self = super().__new__(cls)
        self.made = (a, b)
        return self

    def __getnewargs_ex__(self):
        return ([1],), {"b": 2}


class Slots:
    __slots__ = ("a", "__b", "c")

    def __init__(self):
        self.a, self.__b = [1], 2

    def b(self):
        return self.__b


class SlotsAndDict(Slots):
    def __init__(self):
        super().__init__()
        self.more = [3]


class Empty:
    def __setstate__(self, state):
        self.called = True


class Guarded:
    """State is put back past __setattr__ and properties."""

    def __init__(self):
        self.__dict__["value"] = 1

    def __setattr__(self, name, value):
        raise AttributeError(name)

    @property
    def value(self):
        return self.__dict__["value"] + 1


class MyList(list):
    pass


class MyDict(dict):
    def __setitem__(self, key, value):
        super().__setitem__(key, ("set", value))


class MyInt(int):
    pass


class MyText(str):
    pass


class MyTuple(tuple):
    pass


class Point(typing.NamedTuple):
    x: float
    tags: object = None


class Color(enum.Enum):
    RED = 1


class Level(enum.IntFlag):
    LOW = 1
    HIGH = 2


class Method:
    def __init__(self):
        self.n = 1

    def bump(self):
        self.n += 1
        return self.n


def both(value):
    return copy.copy(value), copy.deepcopy(value)


@new
def states(x):
    a, b = both(Stated([1]))
    return x, vars(a), vars(b)


@new
def false_states(x):
    a, b = both(Falsy())
    return x, a.a, b.a


@new
def reduced_with_state(x):
    first = Reducer([1], [2])
    a, b = both(first)
    return x, a.a is first.a, a.b is first.b, b.a is first.a, b.a, b.b


@new
def reduced_in_full(x):
    a, b = both(ReducedInFull())
    return x, a.args, a.items, a.pairs, b.args, b.items, b.pairs


@new
def reduced_to_a_name(x):
    return x, copy.copy(BY_NAME) is BY_NAME, copy.deepcopy([BY_NAME])[0] is BY_NAME


@new
def new_arguments(x):
    a, b = both(WithArgs(0))
    return x, a.made, b.made


@new
def slots(x):
    first = Slots()
    a, b = both(first)
    return x, a.a is first.a, b.a is first.a, a.b(), hasattr(b, "c")


@new
def slots_and_a_dict(x):
    first = SlotsAndDict()
    a, b = both(first)
    return x, a.a is first.a, a.b(), b.more, b.more is first.more, vars(a)


@new
def no_attributes(x):
    a, b = both(Empty())
    return x, vars(a), vars(b)


@new
def past_setattr(x):
    a, b = both(Guarded())
    return x, a.value, vars(b)


@new
def lists(x):
    first = MyList([1, [2]])
    first.tag = [3]
    a, b = both(first)
    return x, a, b, type(b) is MyList, a.tag is first.tag, b.tag is first.tag, a[1] is first[1]


@new
def dicts(x):
    first = MyDict()
    first["k"] = [1]
    a, b = both(first)
    return x, a, b, b["k"], type(a) is MyDict


@new
def numbers_and_texts(x):
    n, t = MyInt(3), MyText("ab")
    n.unit = "m"
    a, b = both(n)
    c, d = both(t)
    return x, a * 2, a.unit, b + 1, type(b) is MyInt, c + d, type(c) is MyText


@new
def tuples(x):
    first = MyTuple(([1], 2))
    a, b = both(first)
    return x, a[0] is first[0], b[0] is first[0], type(b) is MyTuple, len(a)


@new
def rings(x):
    first = MyList()
    first.append(first)
    first.me = first
    other = copy.deepcopy(first)
    return x, other[0] is other, other.me is other, other is first


@new
def named_tuples(x):
    first = Point(1.0, [2])
    a, b = both(first)
    return x * b.x, a == first, a is first, b.tags is first.tags, a.tags is first.tags, b


@new
def collections_(x):
    o = collections.OrderedDict(b=1, a=[2])
    d = collections.defaultdict(list, k=[1])
    c = collections.Counter("aab")
    q = collections.deque([1, [2]], 3)
    copies = [both(value) for value in (o, d, c, q)]
    copies[1][1]["new"].append(1)
    return x, copies, copies[0][1]["a"] is o["a"], copies[1][0].default_factory is list, q.maxlen


@new
def namespaces(x):
    first = types.SimpleNamespace(a=[1], b=2)
    a, b = both(first)
    return x, a, b, a.a is first.a, b.a is first.a, a == b


@new
def members(x):
    a, b = both(Color.RED)
    c, d = both([Level.LOW, Level.HIGH | Level.LOW])
    return x, a is Color.RED, b is Color.RED, c[0] is d[0], d[1]


@new
def values(x):
    day, moment = datetime.date(2020, 1, 2), datetime.datetime(2020, 1, 2, 3)
    half = fractions.Fraction(1, 2)
    return x, both(day), both(moment), both(moment - moment), both(half), copy.copy(day) is day


@new
def patterns(x):
    pattern = re.compile("(a)")
    found = pattern.match("ab")
    return (
        x,
        copy.copy(pattern) is pattern,
        copy.deepcopy([pattern])[0] is pattern,
        (copy.deepcopy(found) is found),
    )


@new
def methods(x):
    first = Method()
    bump = copy.deepcopy(first.bump)
    return x * bump(), first.n, bump.__self__ is first


@new
def reduce_by_name(x):
    made = Reducer([1], 2).__reduce_ex__(4)
    plain = Method().__reduce_ex__(2)
    return x, made, plain[1:], plain[0].__name__


@new
def unions(x):
    o = collections.OrderedDict(a=1) | {"b": 2}
    r = {"a": 1, "z": 0} | collections.OrderedDict(a=3)
    d = collections.defaultdict(int, a=1) | {"b": 2}
    e = {"a": 1} | collections.defaultdict(list, a=3)
    return x, o, list(r.items()), type(r).__name__, d, d["zero"], e, e.default_factory is list


@new
def unions_that_fail(x):
    texts = []
    for other in ([], 3, None):
        for table in (collections.OrderedDict(), collections.defaultdict(int)):
            try:
                table | other
            except TypeError as error:
                texts.append(str(error))
    return x, texts


@pytest.mark.parametrize("fn", NEW)
def test_of_new_objects(fn):
    check(fn, A)


THREE, DAY = MyInt(3), datetime.date(2020, 1, 2)


def slots_of(n):
    made = Slots()
    made.c = n
    return made


def my_list():
    made = MyList([1, [2]])
    made.tag = [3]
    return made


@existing(
    lambda: Stated([1]), lambda: Reducer([1], 2), lambda: slots_of([1]), SlotsAndDict, Guarded
)
def of_instances(x, value):
    return x + 1.0, copy.copy(value), copy.deepcopy(value)


@existing(
    my_list,
    lambda: MyDict(a=[1]),
    lambda: THREE,
    lambda: Point(1.0, [2]),
    lambda: collections.OrderedDict(b=1, a=[2]),
    lambda: collections.Counter("aab"),
    lambda: collections.defaultdict(list, a=[1]),
    lambda: collections.deque([1, [2]], 3),
    lambda: DAY,
)
def of_values(x, value):
    a, b = both(value)
    return x + 1.0, a, b, type(a) is type(value), a is value


@existing(lambda: Stated(np.arange(3.0)))
def of_arrays_inside(x, value):
    made = copy.deepcopy(value)
    made.a += 1.0
    return x + 1.0, made.a, value.a


@existing(lambda: collections.OrderedDict(a=1), lambda: collections.defaultdict(int, a=1))
def of_unions(x, table):
    before = table
    table |= {"b": 2}
    return x + 1.0, table is before, table | {"c": 3}, {"z": 1} | table


@pytest.mark.parametrize(
    "fn, make", EXISTING, ids=[f"{f.__name__}{i}" for i, (f, _) in enumerate(EXISTING)]
)
def test_of_existing_objects(fn, make):
    check(fn, make=lambda: ((A, make()), {}))


def test_what_can_not_be_copied():
    def fn(x):
        try:
            copy.copy(n for n in [1])
        except TypeError as error:
            return x + 1.0, str(error)

    check(fn, A, breaks="missing-slot")
