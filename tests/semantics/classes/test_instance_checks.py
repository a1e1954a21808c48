"""isinstance() and issubclass() with abstract classes, protocols, unions, and metaclasses that answer."""

import abc
import collections
import numbers
import typing
from collections.abc import (
    Callable,
    Collection,
    Container,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    MutableMapping,
    MutableSequence,
    Reversible,
    Sequence,
    Set,
    Sized,
)

import numpy as np
import pytest
from differential import Compiled, check

A = np.linspace(0.5, 2.0, 4)

FUNCTIONS = []


def case(*args):
    def mark(fn):
        FUNCTIONS.append((fn, args))
        return fn

    return mark


class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self): ...


class Square(Shape):
    def __init__(self, side):
        self.side = side

    def area(self):
        return self.side**2


class Registered:
    pass


class Unrelated:
    pass


class BelowRegistered(Registered):
    pass


Shape.register(Registered)


class Vector(Sequence):
    def __init__(self, items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __getitem__(self, at):
        return self.items[at]


class Table(MutableMapping):
    def __init__(self):
        self.rows = {}

    def __getitem__(self, key):
        return self.rows[key]

    def __setitem__(self, key, value):
        self.rows[key] = value

    def __delitem__(self, key):
        del self.rows[key]

    def __iter__(self):
        return iter(self.rows)

    def __len__(self):
        return len(self.rows)


class Walks:
    def __iter__(self):
        return iter([1.0, 2.0])


class Unhashable:
    __hash__ = None


class Even(type):
    def __instancecheck__(cls, other):
        return isinstance(other, int) and other % 2 == 0

    def __subclasscheck__(cls, other):
        return other is int


class EvenNumber(metaclass=Even):
    pass


class Counting(type):
    def __instancecheck__(cls, other):
        return other is not None and super().__instancecheck__(other)

    def __subclasscheck__(cls, other):
        return super().__subclasscheck__(other) or other is int


class Counted(metaclass=Counting):
    pass


class BelowCounted(Counted):
    pass


class Wrong(type):
    def __instancecheck__(cls, other):
        raise ValueError("no answer")


class Refuses(metaclass=Wrong):
    pass


class Checker:
    def __init__(self, wanted):
        self.wanted = wanted

    def __instancecheck__(self, other):
        return type(other) is self.wanted


CHECKER = Checker(int)
MAYBE = int | None
ANY_OF = int | str | Sequence


@case([1, 2])
@case((1, 2))
@case("ab")
@case(range(3))
@case({1})
@case({1: 2})
@case(collections.deque([1]))
@case(3)
@case(None)
@case(len)
@case(Unrelated())
@case(Walks())
@case(Vector([1]))
def what_it_is(x, o):
    kinds = (Sequence, MutableSequence, Mapping, Set, Sized, Iterable, Iterator, Callable)
    return x + sum(isinstance(o, kind) for kind in kinds), [isinstance(o, k) for k in kinds]


@case([1.0, 2.0])
@case(3.0)
@case({"a": 1.0, "b": 2.0})
@case("text")
def flatten(x, o):
    def total(part):
        if isinstance(part, str):
            return len(part)
        if isinstance(part, Mapping):
            return sum(total(v) for v in part.values())
        if isinstance(part, Iterable):
            return sum(total(v) for v in part)
        return part

    return x * total(o)


@case(3)
@case(2.5)
@case(1j)
@case(True)
@case("no")
@case(None)
def numbers_of_the_tower(x, o):
    tower = (numbers.Number, numbers.Complex, numbers.Real, numbers.Rational, numbers.Integral)
    return x, [isinstance(o, cls) for cls in tower]


@case(Square(2.0))
@case(Registered())
@case(BelowRegistered())
@case(Unrelated())
def own_abstract_class(x, o):
    if isinstance(o, Shape):
        return x * (o.area() if hasattr(o, "area") else 1.0)
    return x - 1.0


@case()
def subclasses(x):
    pairs = [(Square, Shape), (Registered, Shape), (Unrelated, Shape), (list, Sequence)]
    pairs += [(dict, Sequence), (int, numbers.Number), (Vector, Sequence), (Vector, Sized)]
    return x, [issubclass(a, b) for a, b in pairs]


@case(3)
@case([3])
@case("3")
def several_classes(x, o):
    return x, isinstance(o, (int, Sequence)), isinstance(o, (Mapping, (str, Shape)))


@case(Unhashable())
@case(Unrelated())
@case([])
def hashable(x, o):
    return x, isinstance(o, Hashable), isinstance(o, Container), isinstance(o, Collection)


@case([1, 2])
@case({1: 2})
@case(Walks())
def reversible(x, o):
    return x, isinstance(o, Reversible), isinstance(o, Iterable)


@case()
def an_array(x):
    return x + isinstance(x, Sequence) + isinstance(x, Iterable) * 2 + isinstance(x, Sized)


@case()
def made_in_the_function(x):
    t = Table()
    t["a"] = 1.0
    t.update(b=2.0)
    t.setdefault("c", 4.0)
    return x * sum(t.values()), isinstance(t, Mapping), "a" in t, t.pop("a"), len(t)


@case()
def a_class_of_the_function(x):
    class Local:
        def __iter__(self):
            return iter(())

        def __len__(self):
            return 0

    o = Local()
    return x, isinstance(o, Iterable), isinstance(o, Sized), isinstance(o, Sequence)


@case(4)
@case(3)
@case("4")
def metaclass_that_answers(x, o):
    return x, isinstance(o, EvenNumber), issubclass(int, EvenNumber), issubclass(str, EvenNumber)


@case()
def metaclass_and_super(x):
    a = isinstance(BelowCounted(), Counted)
    b = isinstance(3, Counted)
    c = issubclass(BelowCounted, Counted), issubclass(int, Counted), issubclass(str, Counted)
    return x, a, b, c, isinstance(Counted(), Counted)


@case(3)
def metaclass_that_raises(x, o):
    try:
        return x, isinstance(o, Refuses)
    except ValueError as error:
        return x, str(error)


@case(3)
@case("3")
def instance_that_answers(x, o):
    return x, isinstance(o, CHECKER), isinstance(o, (str, CHECKER))


@case(3)
@case("3")
@case(None)
def unions(x, o):
    return x, isinstance(o, MAYBE), isinstance(o, ANY_OF), isinstance(o, (dict, MAYBE))


@case([1])
@case({1: 2})
@case(3)
def typing_aliases(x, o):
    return x, isinstance(o, typing.Sequence), isinstance(o, typing.List), isinstance(o, typing.Dict)


@case([1])
@case((1,))
@case({"a": 1})
@case(np.ones(2))
def deep_dispatch(x, o):
    def to_list(v):
        if isinstance(v, np.ndarray):
            return v + 1
        if isinstance(v, Mapping):
            return {k: to_list(w) for k, w in v.items()}
        if isinstance(v, Sequence) and not isinstance(v, (str, bytes)):
            return [to_list(w) for w in v]
        return v

    return x * 2, to_list(o)


@case(lambda: 1.0)
@case(2.0)
@case(int)
def value_or_function(x, o):
    return x * (o() if isinstance(o, Callable) else o)


@case(iter([1.0, 2.0]))
@case([1.0, 2.0])
def first(x, o):
    return x, isinstance(o, Iterator)


@case(3)
def match_on_classes(x, o):
    match o:
        case Sequence():
            return x
        case numbers.Integral():
            return x + 1
        case _:
            return x + 2


@case([1, 2, 3])
@case({"a": 1})
@case(Vector([1, 2]))
def match_on_patterns(x, o):
    match o:
        case [first, *rest]:
            return x + first, len(rest)
        case {"a": a}:
            return x + a
    return x


@pytest.mark.parametrize("fn, args", FUNCTIONS, ids=lambda v: getattr(v, "__name__", None))
def test_captured(fn, args):
    check(fn, A, *args, make=lambda: ((A.copy(), *args), {}))


class OwnHook(abc.ABC):
    @classmethod
    def __subclasshook__(cls, other):
        return hasattr(other, "quack")


def test_a_hook_of_the_program_is_asked_by_plain_python():
    def fn(x, o):
        return x + isinstance(o, OwnHook)

    class Known:
        pass

    class Fresh:
        def quack(self):
            pass

    check(fn, A, Known())  # the class remembers what it has said in the plain run
    compiled = Compiled(fn)
    assert (compiled(A, Fresh()) == A + 1).all()
    assert compiled.breaks == ["unknown-callable"]


def test_what_is_no_class():
    def fn(x):
        return x, isinstance(x, 3)

    check(fn, A, breaks="array-to-scalar")
