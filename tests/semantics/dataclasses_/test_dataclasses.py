"""Dataclasses: made, compared, replaced, frozen, with slots, with factories; named tuples."""

import dataclasses
from collections import namedtuple
from dataclasses import InitVar, dataclass, field, replace
from typing import ClassVar, NamedTuple

import dyntrace
import numpy as np
import pytest
from differential import check

A = np.linspace(0.5, 2.0, 4)


@dataclass
class Point:
    x: object
    y: float = 2.0

    def norm(self):
        return self.x * self.x + self.y * self.y

    @property
    def total(self):
        return self.x + self.y

    @classmethod
    def origin(cls):
        return cls(0.0, 0.0)


@dataclass(frozen=True)
class Frozen:
    x: object
    scale: float = 2.0

    def scaled(self):
        return replace(self, x=self.x * self.scale)


@dataclass
class Base:
    a: float = 1.0


@dataclass
class Derived(Base):
    b: float = 2.0
    kind: ClassVar[str] = "derived"

    def __post_init__(self):
        self.c = self.a + self.b


@dataclass
class Bag:
    items: list = field(default_factory=list)
    names: dict = field(default_factory=dict, repr=False)
    count: int = field(default=0, compare=False)
    hidden: float = field(init=False, default=7.0)

    def put(self, item):
        self.items.append(item)
        self.count += 1
        return self


@dataclass
class WithInit:
    x: object
    factor: InitVar[float] = 3.0

    def __post_init__(self, factor):
        self.y = self.x * factor


@dataclass(order=True)
class Version:
    major: int
    minor: int = 0


@dataclass(eq=False)
class Identity:
    x: float = 1.0


@dataclass
class Tree:
    value: object
    left: "Tree" = None
    right: "Tree" = None

    def total(self):
        result = self.value
        if self.left is not None:
            result = result + self.left.total()
        if self.right is not None:
            result = result + self.right.total()
        return result


Plain = namedtuple("Plain", "a b")
Defaults = namedtuple("Defaults", "a b c", defaults=(2.0, 3.0))


class Typed(NamedTuple):
    x: object
    y: float = 4.0

    def scaled(self):
        return self.x * self.y

    @property
    def first(self):
        return self.x


class Extended(Plain):
    __slots__ = ()

    def total(self):
        return self.a + self.b


def read(p):
    return p.x + p.y


def method(p):
    return p.norm() + p.total


def make(x):
    return Point(x).norm()


def make_by_name(x):
    return Point(y=3.0, x=x).total


def make_escapes(x):
    return Point(x * 2)


def make_by_class_method(x):
    return Point.origin().x + x


def write(p, x):
    p.x = x * 2
    p.y += 1.0
    return p.total


def equal(x):
    return x + 1, Point(1.0) == Point(1.0, 2.0), Point(1.0) != Point(2.0), Point(1.0) == 1.0


def frozen_read(f):
    return f.x * f.scale


def frozen_make(x):
    return Frozen(x).x + 1


def frozen_escapes(x):
    return Frozen(x + 1.0, scale=4.0)


def frozen_replace(f):
    return f.scaled()


def frozen_replace_new(x):
    return replace(Frozen(x), scale=5.0).scaled().x


def frozen_equal(x):
    return x + 1, Frozen(1.0) == Frozen(1.0), Frozen(1.0) == Point(1.0)


def inherited(x):
    d = Derived(b=5.0)
    return x * d.a + d.c, d.kind


def inherited_escapes(x):
    return Derived(x, 3.0)


def factories(x):
    b = Bag()
    b.put(x).put(1.0)
    c = Bag()
    return b.items[0] * b.count, len(c.items), b.hidden


def factories_escape(x):
    b = Bag([x])
    b.names["k"] = x + 1
    return b


def init_var(x):
    w = WithInit(x, factor=2.0)
    return w.y + w.x


def init_var_escapes(x):
    return WithInit(x)


def ordering(x):
    versions = [Version(2), Version(1, 5), Version(1)]
    smallest = min(versions)
    return (
        x * smallest.major,
        Version(1) < Version(1, 1),
        Version(2) >= Version(3),
        sorted(versions)[1].minor,
    )


def identity(x):
    a = Identity()
    return x + 1, a == Identity(), a == a, a != Identity()


def tree(x):
    t = Tree(x, Tree(x * 2), Tree(1.0, None, Tree(3.0)))
    return t.total()


def tree_escapes(x):
    leaf = Tree(x + 1)
    return Tree(x, leaf, leaf)


def in_loop(x):
    points = [Point(x * i, float(i)) for i in range(3)]
    total = x
    for p in points:
        total = total + p.total
    return total


def replaced(p, x):
    q = replace(p, y=9.0)
    return q.x + q.y, p.y


def is_one(p, x):
    return x + 1, dataclasses.is_dataclass(p), dataclasses.is_dataclass(Point), isinstance(p, Point)


def match_class(p, x):
    match p:
        case Point(x=a, y=2.0):
            return x + a
        case Point():
            return x * 2
    return x


def tuple_read(t):
    return t.a * 2.0 + t[1], len(t)


def tuple_unpack(t):
    a, b = t
    return a + b


def tuple_make(x):
    t = Plain(x, 2.0)
    return t.a * t.b


def tuple_make_by_name(x):
    return Plain(b=1.0, a=x)


def tuple_defaults(x):
    t = Defaults(x, c=5.0)
    return t.a * t.b + t.c


def tuple_typed(x):
    t = Typed(x)
    return t.scaled() + t.first, t.y


def tuple_typed_input(t):
    return t.scaled() + t.first


def tuple_replace(t):
    return t._replace(b=7.0)


def tuple_asdict(t):
    return t._asdict()["a"] * 2.0, list(t._asdict())


def tuple_make_from(x):
    return Plain._make([x, 1.0]).a + 1.0


def tuple_fields(t):
    return t.a + 1.0, t._fields, Plain._fields


def tuple_equal(t, x):
    return x + 1, t == (1.0, 2.0), t == Plain(1.0, 2.0), t < Plain(2.0, 0.0), 1.0 in t, t + (1,)


def tuple_extended(x):
    return Extended(x, 1.0).total()


def tuple_extended_input(t):
    return t.total() * t.a


CASES = [
    (read, lambda: (Point(A),)),
    (method, lambda: (Point(A),)),
    (make, lambda: (A,)),
    (make_by_name, lambda: (A,)),
    (make_escapes, lambda: (A,)),
    (make_by_class_method, lambda: (A,)),
    (write, lambda: (Point(A), A)),
    (equal, lambda: (A,)),
    (frozen_read, lambda: (Frozen(A),)),
    (frozen_make, lambda: (A,)),
    (frozen_escapes, lambda: (A,)),
    (frozen_replace, lambda: (Frozen(A),)),
    (frozen_replace_new, lambda: (A,)),
    (frozen_equal, lambda: (A,)),
    (inherited, lambda: (A,)),
    (inherited_escapes, lambda: (A,)),
    (factories, lambda: (A,)),
    (factories_escape, lambda: (A,)),
    (init_var, lambda: (A,)),
    (init_var_escapes, lambda: (A,)),
    (identity, lambda: (A,)),
    (tree, lambda: (A,)),
    (tree_escapes, lambda: (A,)),
    (in_loop, lambda: (A,)),
    (replaced, lambda: (Point(A), A)),
    (is_one, lambda: (Point(A), A)),
    (tuple_read, lambda: (Plain(A, 2.0),)),
    (tuple_unpack, lambda: (Plain(A, 2.0),)),
    (tuple_make, lambda: (A,)),
    (tuple_make_by_name, lambda: (A,)),
    (tuple_defaults, lambda: (A,)),
    (tuple_typed, lambda: (A,)),
    (tuple_typed_input, lambda: (Typed(A),)),
    (tuple_replace, lambda: (Plain(A, 2.0),)),
    (tuple_asdict, lambda: (Plain(A, 2.0),)),
    (tuple_make_from, lambda: (A,)),
    (tuple_fields, lambda: (Plain(A, 2.0),)),
    (tuple_equal, lambda: (Plain(1.0, 2.0), A)),
    (tuple_extended, lambda: (A,)),
    (tuple_extended_input, lambda: (Extended(A, 2.0),)),
]


@pytest.mark.parametrize("fn, make_args", CASES, ids=lambda case: getattr(case, "__name__", "args"))
def test_same(fn, make_args):
    check(fn, make=lambda: (make_args(), {}))


def frozen_write(f, x):
    y = x + 1
    f.x = y
    return y


def missing_argument(f, x):
    y = x + 1
    return y, Point()


def missing_field(t, x):
    y = x + 1
    return y, Plain(y)


FAILING = [frozen_write, missing_field]


@pytest.mark.parametrize("fn", FAILING)
def test_failing(fn):
    check(fn, make=lambda: ((Frozen(A), A), {}), breaks="raises")


# ---- what is written of them


@dataclass
class Branch:
    name: str
    value: float = 1.5
    below: list = field(default_factory=list)
    hidden: int = field(default=3, repr=False)


class Shouts:
    def __repr__(self):
        return "Shouts!"


def test_repr():
    def fn(x):
        return x + 1.0, repr(Branch("a")), str(Branch("b", 2.0)), f"{Branch('c')!r} and {Branch('d')}"

    check(fn, A)


def test_repr_of_nested_ones():
    def fn(x, tree):
        tree.below.append(Branch("new", 3.0, [Branch("deep")]))
        return x + 1.0, repr(tree)

    check(fn, A, Branch("root", 2.0, [Branch("left"), Branch("right")]))


def test_repr_asks_what_lies_in_it():
    def fn(x):
        return x, repr(Branch("a", Shouts())), f"{Frozen(2.0)}"

    check(fn, A)


def test_recursive_repr_is_broken():
    def fn(x, tree):
        return x + 1.0, repr(tree)

    tree = Branch("root")
    tree.below.append(tree)
    check(fn, A, tree, breaks="inline-depth")


def test_repr_while_another_one_runs():
    """The object that is being written is written as dots."""

    @dataclass
    class Outer:
        inner: object

    class Inner:
        def __repr__(self):
            return step(self.outer)

    def make():
        inner = Inner()
        inner.outer = Outer(inner)
        return inner.outer

    def plain(outer):
        return "<" + repr(outer) + ">"

    step = plain
    expected = repr(make())
    step = compiled = dyntrace.compile(plain)
    compiled(Outer(1))
    assert repr(make()) == repr(make()) == expected
