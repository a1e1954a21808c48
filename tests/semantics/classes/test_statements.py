"""Class statements in traced functions: the body is followed, and no class is made when nobody sees it.

PYTEST_DONT_REWRITE: the functions assert themselves.
"""

import dataclasses
import enum
import functools
import sys
import types
from typing import Generic, List, Protocol, TypeVar

import numpy as np
import pytest
from differential import FORCED, check

A = np.linspace(0.5, 2.0, 4)

CAPTURED = []
BROKEN = []


def captured(fn):
    CAPTURED.append(fn)
    return fn


def broken(fn):
    BROKEN.append(fn)
    return fn


T = TypeVar("T")


class Base:
    n = 1


class Outer:
    scale = 2.0

    def __init__(self, n=1):
        self.n = n

    def twice(self):
        return 2 * self.n

    def describe(self):
        return f"{type(self).__name__}({self.n})"


def tag(cls):
    return cls


def instance_of(cls):
    return cls()


FACTOR = 3.0


# ---- attributes of the class


@captured
def constant(x):
    class Local:
        factor = 2.0

    return x * Local.factor


@captured
def empty(x):
    class Local:
        pass

    return x + 1.0


@captured
def several_constants(x):
    class Config:
        """Documented."""

        scale = 2.0
        shift = -1.0
        names = ("a", "b")

    return x * Config.scale + Config.shift, Config.names, len(Config.names)


@captured
def an_array_attribute(x):
    class Holder:
        data = x + 1.0

    return Holder.data * 2.0


@captured
def a_list_attribute(x):
    class Holder:
        items = []

    Holder.items.append(x + 1.0)
    Holder.items.append(x)
    return Holder.items[0] - Holder.items[1], len(Holder.items)


@captured
def computed_in_the_body(x):
    class Table:
        squares = {n: n * n for n in range(4)}
        total = sum([1, 2, 3])
        last = total + 1

    return x + Table.squares[3] + Table.total + Table.last


@captured
def body_with_control_flow(x):
    class Chosen:
        total = 0
        for i in range(4):
            if i % 2:
                total += i
        del i

    return x + Chosen.total, hasattr(Chosen, "i")


@captured
def body_reads_globals(x):
    class Local:
        factor = FACTOR * 2

    return x * Local.factor


@captured
def body_reads_the_closure(x):
    n = 3

    class Local:
        a = n
        b = x * n

    return Local.b + Local.a


@captured
def body_hides_the_closure(x):
    n = 3

    class Local:
        FACTOR = FACTOR + 1.0

        def get(self):
            return n

    return x + Local.FACTOR, Local().get(), FACTOR


@captured
def body_hides_a_builtin(x):
    class Local:
        len = 5
        n = len + 1

    return x + Local.n + len([1])


@captured
def body_that_fails_is_caught(x):
    try:

        class Local:
            a = 1
            b = missing_name  # noqa: F821

    except NameError as e:
        return x + 1.0, str(e)


@captured
def body_with_try(x):
    class Local:
        try:
            n = int("x")
        except ValueError:
            n = 4

    return x * Local.n


@captured
def annotations(x):
    class Local:
        a: int = 1
        b: float

    return x + Local.a


@captured
def missing_attribute(x):
    class Local:
        pass

    try:
        Local.nothing
    except AttributeError as e:
        return x + 1.0, str(e)


@captured
def names(x):
    class Local:
        pass

    return x + 1.0, Local.__name__, Local.__module__ == __name__


# ---- instances


@captured
def with_init(x):
    class Point:
        def __init__(self, a, b):
            self.a = a
            self.b = b

        def dot(self):
            return self.a * self.b

    return Point(x, x + 1.0).dot()


@captured
def method_with_arrays(x):
    class Layer:
        def __init__(self, w, b=0.5):
            self.w, self.b = w, b

        def __call__(self, y):
            return np.tanh(y * self.w + self.b)

    layers = [Layer(x), Layer(2.0), Layer(x + 1.0, b=-1.0)]
    y = x
    for layer in layers:
        y = layer(y)
    return y


@captured
def methods_close_over_locals(x):
    scale = 2.0

    class Scaled:
        def apply(self, y):
            return y * scale + x

    return Scaled().apply(x)


@captured
def methods_change_a_local(x):
    calls = 0

    class Counter:
        def hit(self, y):
            nonlocal calls
            calls += 1
            return y + calls

    c = Counter()
    return c.hit(x) + c.hit(x), calls


@captured
def operators(x):
    class Vec:
        def __init__(self, v):
            self.v = v

        def __add__(self, other):
            return Vec(self.v + other.v)

        def __mul__(self, k):
            return Vec(self.v * k)

        __rmul__ = __mul__

        def __neg__(self):
            return Vec(-self.v)

    return (2.0 * (Vec(x) + Vec(x) * 3.0) + -Vec(x)).v


@captured
def comparison_and_truth(x):
    class Level:
        def __init__(self, n):
            self.n = n

        def __eq__(self, other):
            return self.n == other.n

        def __lt__(self, other):
            return self.n < other.n

        def __bool__(self):
            return self.n > 0

    levels = sorted([Level(3), Level(1), Level(2)])
    return x + levels[0].n, Level(1) == Level(1), bool(Level(0)), Level(2) != Level(3)


@captured
def a_container(x):
    class Bag:
        def __init__(self, *items):
            self.items = list(items)

        def __len__(self):
            return len(self.items)

        def __getitem__(self, i):
            return self.items[i]

        def __iter__(self):
            return iter(self.items)

        def __contains__(self, item):
            return any(item is one for one in self.items)

    bag = Bag(x, x + 1.0)
    total = sum(bag)
    return total, len(bag), bag[-1], x in bag


@captured
def a_property(x):
    class Circle:
        def __init__(self, r):
            self._r = r

        @property
        def area(self):
            return 3.0 * self._r * self._r

    return Circle(x).area


@captured
def a_property_with_a_setter(x):
    class Temperature:
        def __init__(self, c):
            self._c = c

        @property
        def f(self):
            return self._c * 1.8 + 32.0

        @f.setter
        def f(self, value):
            self._c = (value - 32.0) / 1.8

        @f.deleter
        def f(self):
            self._c = None

    t = Temperature(x)
    before = t.f
    t.f = x
    after = t._c
    del t.f
    return before, after, t._c


@captured
def a_property_without_a_setter(x):
    class Fixed:
        @property
        def value(self):
            return 1

    try:
        Fixed().value = 2
    except AttributeError as e:
        return x + 1.0, str(e)


@captured
def a_static_method(x):
    class Tools:
        @staticmethod
        def double(y):
            return y * 2.0

    return Tools.double(x) + Tools().double(x)


@captured
def a_class_method(x):
    class Made:
        def __init__(self, v):
            self.v = v

        @classmethod
        def of(cls, v):
            return cls(v + 1.0)

    return Made.of(x).v, type(Made.of(x)) is Made


@captured
def slots(x):
    class Slotted:
        __slots__ = ("a", "b")

        def __init__(self, a):
            self.a = a

    s = Slotted(x + 1.0)
    try:
        s.c = 1
    except AttributeError:
        refused = True
    return s.a, refused, hasattr(s, "b")


@captured
def dynamic_attributes(x):
    class Lazy:
        def __getattr__(self, name):
            if name.startswith("get_"):
                return len(name)
            raise AttributeError(name)

    return x + Lazy().get_it, hasattr(Lazy(), "other")


@captured
def own_new(x):
    class Single:
        def __new__(cls, v):
            self = super().__new__(cls)
            self.v = v
            return self

    return Single(x * 2.0).v


@captured
def a_context_manager(x):
    class Manager:
        def __init__(self):
            self.log = []

        def __enter__(self):
            self.log.append("in")
            return self

        def __exit__(self, *exc):
            self.log.append(exc[0] is None)
            return True

    m = Manager()
    with m:
        y = x + 1.0
    with m:
        raise ValueError("gone")
    return y, m.log


@captured
def an_iterator(x):
    class Countdown:
        def __init__(self, n):
            self.n = n

        def __iter__(self):
            return self

        def __next__(self):
            if self.n == 0:
                raise StopIteration
            self.n -= 1
            return self.n

    return x + sum(Countdown(4))


@captured
def a_generator_method(x):
    class Steps:
        def walk(self, n):
            for i in range(n):
                yield x * i

    return sum(Steps().walk(3))


@captured
def a_descriptor(x):
    class Doubled:
        def __get__(self, obj, owner=None):
            return 2.0 * obj.raw

    class Holder:
        def __init__(self, raw):
            self.raw = raw

    return Doubled().__get__(Holder(x))


@captured
def isinstance_of_it(x):
    class Local:
        pass

    obj = Local()
    return x + 1.0, isinstance(obj, Local), isinstance(3, Local), type(obj) is Local


@captured
def class_attributes_through_instances(x):
    class Local:
        n = 3

        def own(self):
            self.n = self.n + 1
            return self.n

    obj = Local()
    return x + obj.own(), Local.n, obj.n


# ---- inheritance


@captured
def derived_from_object(x):
    class Local(object):
        n = 1

    return x + Local.n


@captured
def derived_from_a_global_class(x):
    class Local(Outer):
        def twice(self):
            return super().twice() + 1

    obj = Local(4)
    return x * obj.scale + obj.twice(), isinstance(obj, Outer), issubclass(Local, Outer)


@captured
def derived_init(x):
    class Local(Outer):
        def __init__(self, n, m):
            super().__init__(n)
            self.m = m

    obj = Local(1, x)
    return obj.m + obj.n


@captured
def two_local_classes(x):
    class Base:
        def run(self, y):
            return self.step(y) + 1.0

        def step(self, y):
            return y

    class Derived(Base):
        def step(self, y):
            return super().step(y) * 2.0

    return Base().run(x), Derived().run(x)


@captured
def a_diamond(x):
    class Root:
        def go(self):
            return ["root"]

    class Left(Root):
        def go(self):
            return ["left"] + super().go()

    class Right(Root):
        def go(self):
            return ["right"] + super().go()

    class Both(Left, Right):
        def go(self):
            return ["both"] + super().go()

    return x + 1.0, Both().go()


@captured
def explicit_super(x):
    class Local(Outer):
        def twice(self):
            return super(Local, self).twice() + Outer.twice(self)

    return x + Local(2).twice()


@captured
def its_own_class(x):
    class Local:
        def same(self):
            return __class__

    return x + 1.0, Local().same() is Local


@captured
def subclass_of_list(x):
    class Stack(list):
        def top(self):
            return self[-1]

    s = Stack([x, x + 1.0])
    s.append(x * 2.0)
    return s.top(), len(s)


@captured
def subclass_of_dict(x):
    class Table(dict):
        def __missing__(self, key):
            return len(key)

    t = Table(a=1)
    return x + t["a"] + t["abc"]


@captured
def subclass_of_float(x):
    class Metres(float):
        def feet(self):
            return self * 3.0

    return x * Metres(2.0).feet()


@captured
def an_exception_class(x):
    class Refused(ValueError):
        def __init__(self, code):
            super().__init__(f"refused {code}")
            self.code = code

    try:
        raise Refused(3)
    except ValueError as e:
        return x + e.code, str(e), isinstance(e, Refused)


@captured
def an_exception_class_that_is_not_caught_by_others(x):
    class Stop(Exception):
        pass

    try:
        try:
            raise Stop
        except KeyError:
            x = x * 100.0
    except Stop:
        x = x + 1.0
    return x


@captured
def bad_bases(x):
    try:

        class Local(Outer, object, Outer):
            pass

    except TypeError as e:
        return x + 1.0, str(e)


@captured
def conflicting_layouts(x):
    try:

        class Local(int, str):
            pass

    except TypeError as e:
        return x + 1.0, str(e)


@captured
def base_that_is_final(x):
    try:

        class Local(bool):
            pass

    except TypeError as e:
        return x + 1.0, str(e)


# ---- odd places


@captured
def decorated(x):
    @tag
    class Local:
        n = 2

    return x * Local.n


@captured
def decorated_by_a_local_function(x):
    def instance(cls):
        return cls()

    @instance
    class point:
        def get(self):
            return x + 1.0

    return point.get()


@captured
def decorated_methods(x):
    def doubled(fn):
        @functools.wraps(fn)
        def wrapper(*args):
            return fn(*args) * 2.0

        return wrapper

    class Local:
        @doubled
        def get(self, y):
            return y + 1.0

    return Local().get(x)


@captured
def in_a_loop(x):
    total = x
    for i in range(3):

        class Local:
            n = i

            def add(self, y):
                return y + self.n

        total = Local().add(total)
    return total


@captured
def in_a_callee(x):
    def make(n):
        class Local:
            def get(self):
                return n

        return Local

    a, b = make(1), make(2)
    return x + a().get() + b().get(), a is b, make(1) is a


@captured
def in_a_branch(x):
    if len(x) > 2:

        class Op:
            def __call__(self, y):
                return y + 1.0
    else:

        class Op:
            def __call__(self, y):
                return y - 1.0

    return Op()(x)


@captured
def nested_classes(x):
    class Tree:
        class Node:
            def __init__(self, v):
                self.v = v

        def make(self, v):
            return self.Node(v)

    return Tree().make(x + 1.0).v, Tree.Node is Tree().Node


@captured
def nested_in_methods(x):
    class Factory:
        def build(self, n):
            class Product:
                size = n

            return Product()

    return x + Factory().build(3).size


@captured
def passed_around(x):
    class Local:
        def __init__(self):
            self.v = 3.0

    return x * instance_of(Local).v


@captured
def in_a_dict_of_classes(x):
    class Add:
        def run(self, y):
            return y + 1.0

    class Mul:
        def run(self, y):
            return y * 2.0

    table = {"add": Add, "mul": Mul}
    return table["mul"]().run(table["add"]().run(x))


@captured
def made_by_the_name_of_metaclass_type(x):
    class Local(metaclass=type):
        n = 2

    return x * Local.n


@captured
def as_a_namespace_for_constants(x):
    class K:
        eps = 1e-6
        steps = 3

    y = x
    for _ in range(K.steps):
        y = y - K.eps
    return y


@captured
def a_visitor(x):
    class Visitor:
        def visit(self, node):
            return getattr(self, "visit_" + type(node).__name__)(node)

        def visit_int(self, node):
            return node

        def visit_list(self, node):
            return sum(self.visit(n) for n in node)

    return x + Visitor().visit([1, [2, 3], 4])


@captured
def a_state_machine(x):
    class Machine:
        def __init__(self):
            self.state = "idle"
            self.trace = []

        def feed(self, event):
            self.trace.append(self.state)
            self.state = {"go": "run", "stop": "idle"}.get(event, self.state)
            return self

    m = Machine().feed("go").feed("x").feed("stop")
    return x + len(m.trace), m.trace, m.state


@captured
def written(x):
    class Local:
        n = 1

    Local.n = 2
    return x * Local.n


@captured
def a_type_of_no_module(x):
    made = type("Local", (), {"n": 2})
    return x * made.n, made.__module__, list(vars(made))[:2]


@captured
def a_class_made_by_types(x):
    made = types.new_class("Local", (Base,), {}, lambda names: names.update(n=3))
    return x * made.n, made.__module__, made.__name__, type.__prepare__("a", (), b=1)


@captured
def a_class_that_is_renamed(x):
    class Local:
        pass

    Local.__name__ = "Renamed"
    Local.__qualname__ = "Outer.Renamed"
    try:
        del Local.__qualname__
    except TypeError:
        return x + 1.0, Local.__name__, Local.__qualname__, "__qualname__" in vars(Local)


@captured
def a_dataclass_with_slots(x):
    @dataclasses.dataclass(slots=True, frozen=True)
    class Point:
        a: float
        b: float = 2.0

    p = Point(1.5)
    try:
        object.__setattr__(p, "c", 3)
    except AttributeError:
        return x * p.a + p.b, Point.__qualname__, Point.__slots__, hasattr(p, "__dict__")


# On 3.10 typing_extensions, where it is imported, asks who calls.
whole = captured if sys.version_info >= (3, 11) else broken


@whole
def a_generic_class(x):
    class Box(Generic[T]):
        def __init__(self, value: T):
            self.value = value

        def get(self) -> T:
            return self.value

    class Named(Box, Base):
        name = "box"

    box = Named(3.0)
    return x * box.get(), box.name, Box.__parameters__ == (T,), len(Box.__bases__)


@whole
def a_class_of_an_alias(x):
    class Numbers(list[int]):
        pass

    class Names(List[str]):
        pass

    found = Numbers([1, 2]), Names("ab")
    return (
        x * len(found[0]),
        found[1][0],
        Numbers.__orig_bases__,
        [c.__name__ for c in Names.__mro__],
    )


@captured
def a_protocol(x):
    class Shape(Protocol):
        def area(self) -> float: ...

    class Square(Shape):
        def area(self):
            return 4.0

    try:
        Shape()
    except TypeError:
        return x * Square().area(), Shape._is_protocol, Square._is_protocol


@captured
def annotations_that_nobody_made(x):
    class Local:
        pass

    before = "__annotations__" in vars(Local)
    Local.__annotations__["n"] = int
    return x * 2.0, before, Local.__annotations__, "__annotations__" in vars(Local)


class Quiet:
    __slots__ = ()

    def __init_subclass__(cls):
        cls.heard = True


@captured
def a_base_with_a_hook_and_no_dict(x):
    try:

        class Local(Quiet):
            __slots__ = ("n",)

        class Other(Quiet):
            pass

    except TypeError:
        return x, "wrong"
    return x * Local.heard + Other.heard, Local.__slots__, "__dict__" in vars(Other)


@pytest.mark.parametrize("fn", CAPTURED, ids=lambda fn: fn.__name__)
def test_captured(fn):
    check(fn, A)


# ---- what can't be followed


class HookedOne:
    def __init_subclass__(cls):
        pass


class HookedTwo(HookedOne):
    pass


@broken
def bases_with_hooks_that_do_not_fit(x):
    try:

        class Local(HookedOne, HookedTwo):
            pass

    except TypeError as error:
        return x * 2.0, str(error)


@broken
def an_enum(x):
    class Color(enum.Enum):
        RED = 1

    return x * Color.RED.value


class OwnOrder(type):
    def mro(cls):
        return super().mro()


@broken
def a_metaclass_with_an_mro(x):
    class Local(metaclass=OwnOrder):
        n = 2

    return x * Local.n


class ChainsNames(type):
    def __setattr__(cls, name, value):
        super().__setattr__(name, value)


@broken
def a_metaclass_with_a_setattr(x):
    class Local(metaclass=ChainsNames):
        n = 2

    return x * Local.n


@broken
def a_value_whose_set_name_raises(x):
    class Named:
        def __set_name__(self, owner, name):
            raise ValueError(name)

    try:

        class Local:
            field = Named()
    except (RuntimeError, ValueError):  # it is wrapped until 3.11
        return x + 1.0


@pytest.mark.parametrize("fn", BROKEN, ids=lambda fn: fn.__name__)
def test_broken(fn):
    kind = {a_value_whose_set_name_raises: "raises", bases_with_hooks_that_do_not_fit: "raises"}
    compiled = check(fn, A, breaks=kind.get(fn, "unknown-callable"))
    assert not compiled.faults


# ---- classes that leave the function


def calls(fn, *args):
    """Results of the plain function, and of three calls of the compiled one, captured whole."""
    import dyntrace
    from differential import Compiled

    plain = fn(*args)
    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        compiled = Compiled(fn)
        results = [compiled(*args) for _ in range(3)]
    assert not compiled.breaks, compiled.describe()
    assert compiled.published == len(compiled.records) == 1
    return [plain, *results]


def test_a_class_that_is_returned():
    def fn(x):
        class Local(Outer):
            """Documented."""

            n = 3

            def get(self):
                return self.n

            @staticmethod
            def one():
                return 1

            @classmethod
            def make(cls):
                return cls()

            @property
            def prop(self):
                return self.n + 1

        return x + 1.0, Local

    made = [result[1] for result in calls(fn, A)]
    assert len(set(made)) == 4
    for cls in made:
        assert cls.__name__ == "Local" and cls.__qualname__.endswith("<locals>.Local")
        assert cls.__module__ == __name__ and cls.__doc__ == "Documented."
        assert cls.__bases__ == (Outer,)
        assert (cls().get(), cls.one(), type(cls.make()) is cls, cls().prop) == (1, 1, True, 2)
        assert list(vars(cls)) == list(vars(made[0]))
        assert cls.get.__qualname__ == made[0].get.__qualname__


def test_an_instance_that_is_returned():
    def fn(x):
        class Local:
            def __init__(self, v):
                self.v = v

            def more(self):
                return self.v + x

        return Local(x + 1.0), Local

    for obj, cls in calls(fn, A):
        assert type(obj) is cls and cls.__name__ == "Local"
        assert (obj.v == A + 1.0).all() and (obj.more() == A + 1.0 + A).all()


def test_super_of_a_class_that_is_returned():
    def fn(x):
        class Local(Outer):
            def twice(self):
                return super().twice() + 1

            def cls(self):
                return __class__

        return x + 1.0, Local(5)

    for _, obj in calls(fn, A):
        assert obj.twice() == 11 and obj.cls() is type(obj) and obj.describe() == "Local(5)"


def test_methods_that_name_the_class():
    def fn(x):
        class Vec:
            def __init__(self, v):
                self.v = v

            def __add__(self, other):
                return Vec(self.v + other.v)

        class Other(Vec):
            def base(self):
                return Vec

        return Vec(x), Other

    for vec, other in calls(fn, A):
        both = vec + vec
        assert type(both) is type(vec) and (both.v == 2.0 * A).all()
        assert other(1).base() is type(vec)


def test_stored_in_an_argument():
    def fn(x, box):
        class Local:
            kept = x * 2.0

        box.append(Local)
        return x + 1.0

    import dyntrace

    box = []
    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        compiled = dyntrace.compile(fn)
        for n in range(3):
            compiled(A, box)
            assert len(box) == n + 1 and (box[n].kept == A * 2.0).all()
    assert len(set(box)) == 3


def test_the_base_changes():
    import dyntrace

    class Base:
        n = 1

    def fn(x):
        class Local(Base):
            def get(self):
                return self.n

        return x + Local().get()

    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        compiled = dyntrace.compile(fn)
        assert (compiled(A) == A + 1).all()
        Base.n = 5
        assert (compiled(A) == A + 5).all()
        Base.__init_subclass__ = classmethod(lambda cls: setattr(cls, "n", 7))
        assert (compiled(A) == A + 7).all()


@pytest.mark.skipif(bool(FORCED), reason="the class is made where the trace breaks")
def test_nothing_is_left_behind():
    import gc

    import dyntrace

    def fn(x):
        class Local(Outer):
            def get(self):
                return self.n

        return x + Local(3).get()

    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        compiled = dyntrace.compile(fn)
        compiled(A)
        gc.collect()
        before = len(Outer.__subclasses__())
        compiled(A)
        compiled(A)
        assert len(Outer.__subclasses__()) == before
        assert "Local" not in [cls.__name__ for cls in Outer.__subclasses__()]
