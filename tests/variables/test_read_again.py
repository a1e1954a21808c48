"""What a trace has read is read again: after a change outside, the compiled function gives the new result.

Each case is a factory of (function, calls): the calls are made one after the other, plainly on one copy of
the world and compiled on another, and give the same results.
"""

import collections
import collections.abc
import functools
import numbers
import types
import typing

import dyntrace
import numpy as np
import pytest

A = np.linspace(0.5, 2.0, 4)
CASES = []


def case(factory):
    CASES.append(factory)
    return factory


def results(factory, wrap):
    function, steps = factory()
    compiled = wrap(function)
    found = []
    for step in steps:
        args = step() if callable(step) else step
        try:
            found.append(compiled(*args))
        except Exception as error:
            found.append((type(error), str(error)))
    return found


def freeze(value):
    if isinstance(value, np.ndarray):
        return ("array", value.dtype.str, value.shape, value.tobytes())
    if isinstance(value, (list, tuple)):
        return (type(value), [freeze(v) for v in value])
    if isinstance(value, dict):
        return [(k, freeze(v)) for k, v in value.items()]
    return (type(value), value)


def make():
    class Thing:
        shared = 2.0

        def __init__(self, w):
            self.w = w

        def scale(self, x):
            return x * self.w

        @property
        def double(self):
            return self.w * 2

        @staticmethod
        def fixed(x):
            return x + 1

    return Thing


@case
def instance_attribute():
    thing = make()(2.0)

    def change(value):
        thing.w = value
        return A, thing

    return (lambda x, t: t.scale(x)), [
        (A, thing),
        lambda: change(3.0),
        lambda: change(4),
        lambda: change(A),
    ]


@case
def method_replaced():
    cls = make()
    thing = cls(2.0)

    def change():
        cls.scale = lambda self, x: x - self.w
        return A, thing

    return (lambda x, t: t.scale(x)), [(A, thing), (A, thing), change]


@case
def method_shadowed_by_the_instance():
    thing = make()(2.0)

    def change():
        thing.scale = lambda x: x + 100
        return A, thing

    return (lambda x, t: t.scale(x)), [(A, thing), change]


@case
def class_attribute():
    cls = make()
    thing = cls(2.0)

    def change():
        cls.shared = 5.0
        return A, thing

    return (lambda x, t: x * t.shared), [(A, thing), change]


@case
def class_attribute_read_from_the_class():
    cls = make()

    def change(value):
        cls.shared = value
        return (A,)

    return (lambda x: x * cls.shared), [(A,), lambda: change(5.0), lambda: change(6)]


@case
def class_attribute_shadowed():
    thing = make()(2.0)

    def change():
        thing.shared = 7.0
        return A, thing

    return (lambda x, t: x * t.shared), [(A, thing), change]


@case
def property_replaced():
    cls = make()
    thing = cls(2.0)

    def change():
        cls.double = property(lambda self: 10.0)
        return A, thing

    return (lambda x, t: x * t.double), [(A, thing), change]


@case
def static_method_replaced():
    cls = make()
    thing = cls(2.0)

    def change():
        cls.fixed = staticmethod(lambda x: x * 3)
        return A, thing

    return (lambda x, t: t.fixed(x)), [(A, thing), change]


@case
def init_replaced():
    cls = make()

    def change():
        cls.__init__ = lambda self, w: setattr(self, "w", w * 10)
        return (A,)

    return (lambda x: cls(3.0).scale(x)), [(A,), (A,), change]


@case
def method_of_a_new_instance_replaced():
    cls = make()

    def change():
        cls.scale = lambda self, x: x - self.w
        return (A,)

    return (lambda x: cls(3.0).scale(x)), [(A,), (A,), change]


@case
def another_class():
    one, two = make(), make()
    two.scale = lambda self, x: x / self.w
    return (lambda x, t: t.scale(x)), [(A, one(2.0)), (A, two(2.0)), (A, one(3.0))]


@case
def attribute_appears():
    thing = make()(2.0)

    def change():
        thing.extra = 9.0
        return A, thing

    return (lambda x, t: x + getattr(t, "extra", 1.0)), [(A, thing), change]


@case
def hasattr_changes():
    thing = make()(2.0)

    def change():
        thing.extra = None
        return A, thing

    return (lambda x, t: x + 1 if hasattr(t, "extra") else x - 1), [(A, thing), change]


@case
def function_code_replaced():
    def callee(x):
        return x + 1

    def change():
        callee.__code__ = (lambda x: x * 50).__code__
        return (A,)

    return (lambda x: callee(x)), [(A,), (A,), change]


@case
def function_defaults_replaced():
    def callee(x, k=2.0):
        return x * k

    def change(value):
        callee.__defaults__ = value
        return (A,)

    return (lambda x: callee(x)), [
        (A,),
        lambda: change((3.0,)),
        lambda: change((A,)),
        lambda: change(None),
    ]


@case
def function_keyword_defaults_replaced():
    def callee(x, *, k=2.0):
        return x * k

    def change(value):
        callee.__kwdefaults__ = value
        return (A,)

    return (lambda x: callee(x)), [(A,), lambda: change({"k": 4.0}), lambda: change(None)]


@case
def closure_cell_changed():
    k = 2.0

    def callee(x):
        return x * k

    def change(value):
        nonlocal k
        k = value
        return (A,)

    return (lambda x: callee(x)), [(A,), lambda: change(3.0), lambda: change("text")]


@case
def function_argument():
    return (lambda x, f: f(x)), [
        (A, lambda x: x + 1),
        (A, lambda x: x * 2),
        (A, np.sqrt),
        (A, np.exp),
    ]


@case
def bound_method_argument():
    cls = make()
    one, two = cls(2.0), cls(3.0)
    return (lambda x, f: f(x)), [(A, one.scale), (A, two.scale), (A, cls.fixed)]


@case
def partial_argument():
    def callee(a, b, c=1):
        return a * b + c

    partial = functools.partial
    return (lambda x, f: f(x)), [
        (A, partial(callee, 2.0)),
        (A, partial(callee, 3.0)),
        (A, partial(callee, 3.0, c=A)),
        (A, partial(np.add, 1.0)),
    ]


@case
def list_contents():
    items = [1.0, 2.0]

    def change():
        items.append(5.0)
        return A, items

    def replace():
        items[:] = [4, A]
        return A, items

    return (lambda x, l: x * l[0] + l[-1]), [(A, items), change, replace, (A, [9.0, 8.0])]


@case
def dict_contents():
    items = {"a": 1.0, "b": 2.0}

    def change(**more):
        items.update(more)
        return A, items

    def drop():
        del items["a"]
        items["a"] = 3
        return A, items

    return (lambda x, d: sum(d.values()) * x + len(d)), [
        (A, items),
        lambda: change(a=4.0),
        lambda: change(c=1.0),
        drop,
    ]


@case
def nested_containers():
    return (lambda x, t: x * t[0][1]["k"]), [
        (A, ([0, {"k": 2.0}],)),
        (A, ([0, {"k": 3.0}],)),
        (A, ([0, {"k": A}],)),
        (A, ([0, {"j": A}],)),
    ]


@case
def tuple_lengths():
    return (lambda x, t: x * len(t) + sum(t)), [
        (A, (1, 2)),
        (A, (1, 2, 3)),
        (A, ()),
        (A, (1.5, True)),
    ]


@case
def number_types():
    return (lambda x, n: x * n), [
        (A, 2),
        (A, 2.0),
        (A, True),
        (A, 2j),
        (A, np.float32(2)),
        (A, np.int64(2)),
        (A, 2),
    ]


@case
def number_values():
    return (lambda x, n: x + n if n > 3 else x - n), [
        (A, 2),
        (A, 4),
        (A, 3),
        (A, -1),
        (A, 10**30),
        (A, 4.5),
    ]


@case
def specialised_numbers():
    return (lambda x, n: sum(x * i for i in [*range(n)])), [(A, 2), (A, 3), (A, 2), (A, 0)]


@case
def floats_with_the_same_value():
    return (lambda x, v: (x, str(v))), [(A, 0.0), (A, -0.0), (A, float("nan")), (A, float("inf"))]


@case
def flags():
    return (lambda x, f: x + 1 if f else x - 1), [
        (A, True),
        (A, False),
        (A, None),
        (A, ""),
        (A, "a"),
        (A, []),
    ]


@case
def strings():
    return (lambda x, m: x + 1 if m == "add" else x - 1), [
        (A, "add"),
        (A, "sub"),
        (A, "".join(["a", "dd"])),
        (A, 3),
    ]


@case
def module_attribute():
    module = types.ModuleType("settings")
    module.k = 2.0

    def change(value):
        module.k = value
        return (A,)

    return (lambda x: x * module.k), [(A,), lambda: change(3.0), lambda: change(A)]


@case
def module_function_replaced():
    module = types.ModuleType("settings")
    module.f = np.sqrt

    def change():
        module.f = lambda x: x + 1
        return (A,)

    return (lambda x: module.f(x)), [(A,), change]


@case
def aliases():
    same = [1.0]

    def fn(x, a, b):
        a.append(2.0)
        return x * len(b)

    return fn, [(A, [1.0], [1.0]), (A, same, same), (A, [1.0], [1.0])]


@case
def aliases_of_dicts():
    same = {"k": 1.0}

    def fn(x, a, b):
        a["k"] = 5.0
        return x * b["k"]

    return fn, [(A, {"k": 1.0}, {"k": 1.0}), (A, same, same)]


@case
def aliases_of_instances():
    cls = make()
    same = cls(1.0)

    def fn(x, a, b):
        a.w = 5.0
        return x * b.w

    return fn, [(A, cls(1.0), cls(1.0)), (A, same, same), (A, cls(2.0), cls(3.0))]


@case
def identity():
    one, two = [1.0], [1.0]
    return (lambda x, a, b: x + 1 if a is b else x - 1), [
        (A, one, two),
        (A, one, one),
        (A, two, one),
    ]


@case
def type_questions():
    cls = make()

    def fn(x, v):
        return x * 2 if isinstance(v, (int, float)) else x * 3 if type(v) is cls else x

    return fn, [(A, 1), (A, 2.0), (A, cls(1)), (A, "a"), (A, True), (A, make()(1))]


@case
def slots():
    class Slots:
        __slots__ = ("a", "b")

    def thing(**values):
        made = Slots()
        for name, value in values.items():
            setattr(made, name, value)
        return made

    return (lambda x, t: x * t.a), [
        (A, thing(a=2.0)),
        (A, thing(a=3.0)),
        (A, thing(a=A)),
        (A, thing(b=1)),
    ]


@case
def special_methods():
    class Vector:
        def __init__(self, v):
            self.v = v

        def __add__(self, other):
            return self.v + other

        def __call__(self, x):
            return x * self.v

        def __len__(self):
            return 3

        def __getitem__(self, i):
            return self.v * i

        def __contains__(self, item):
            return item == 2

    vector = Vector(2.0)

    def change():
        Vector.__call__ = lambda self, x: x / self.v
        Vector.__len__ = lambda self: 4
        return A, vector

    return (lambda x, v: (v + x, v(x), len(v), v[2], 2 in v, bool(v))), [
        (A, vector),
        (A, Vector(3.0)),
        change,
    ]


Pair = collections.namedtuple("Pair", "first second", defaults=[1.0])
Swapped = collections.namedtuple("Pair", "second first")


class Named(typing.NamedTuple):
    first: float
    second: object

    def total(self):
        return self.first + self.second


@case
def named_tuples():
    def fn(x, p):
        first, second = p
        return x * p.first + second, p[1], len(p), p == (2.0, 3), p

    return fn, [
        (A, Pair(2.0, 3)),
        (A, Pair(4.0, 3)),
        (A, Swapped(2.0, 3)),
        (A, Named(2.0, A)),
        (A, (2.0, 3)),
    ]


@case
def methods_of_named_tuples():
    def change():
        Named.total = lambda self: self.first - self.second
        return A, Named(2.0, 3)

    total = Named.total

    def restore():
        Named.total = total
        return A, Named(2.0, 3)

    return (lambda x, p: x * p.total()), [(A, Named(2.0, 3)), (A, Named(2.5, A)), change, restore]


@case
def new_named_tuples():
    return (lambda x: (Pair(x, x + 1), Named(second=x, first=1), Pair(x).second)), [(A,), (A,)]


@case
def abstract_classes():
    def fn(x, v):
        return (
            x + 1
            if isinstance(v, numbers.Real)
            else x * 2
            if isinstance(v, collections.abc.Sequence)
            else x
        )

    return fn, [(A, 1), (A, 2.5), (A, [1]), (A, {}), (A, True)]


@pytest.mark.parametrize("factory", CASES, ids=lambda f: f.__name__)
def test_read_again(factory):
    with dyntrace.config.patch(everything=True, trace_budget_ns=0):
        plain = results(factory, lambda fn: fn)
        compiled = results(factory, dyntrace.compile)
    assert [freeze(r) for r in compiled] == [freeze(r) for r in plain]
