"""Operators, comparison, containers, calls, conversions and creation of instances."""

import abc
import numbers
import typing

import numpy as np
import pytest
from differential import check

A = np.linspace(0.5, 2.0, 4)


class V:
    def __init__(self, v):
        self.v = v

    def __add__(self, other):
        return V(self.v + (other.v if isinstance(other, V) else other))

    def __radd__(self, other):
        return V(other + self.v)

    def __sub__(self, other):
        return V(self.v - other.v) if isinstance(other, V) else NotImplemented

    def __rsub__(self, other):
        return V(other - self.v)

    def __mul__(self, k):
        return V(self.v * k)

    __rmul__ = __mul__

    def __truediv__(self, k):
        return V(self.v / k)

    def __floordiv__(self, k):
        return V(self.v // k)

    def __mod__(self, k):
        return V(self.v % k)

    def __pow__(self, k):
        return V(self.v**k)

    def __matmul__(self, other):
        return (self.v * other.v).sum()

    def __lshift__(self, k):
        return V(self.v * 2**k)

    def __rshift__(self, k):
        return V(self.v / 2**k)

    def __and__(self, other):
        return "and"

    def __or__(self, other):
        return "or"

    def __xor__(self, other):
        return "xor"

    def __iadd__(self, other):
        self.v = self.v + other
        return self

    def __neg__(self):
        return V(-self.v)

    def __pos__(self):
        return self

    def __invert__(self):
        return V(1.0 - self.v)

    def __abs__(self):
        return V(abs(self.v))

    def __eq__(self, other):
        return isinstance(other, V) and self.v is other.v

    def __lt__(self, other):
        return self.v < other.v

    def __le__(self, other):
        return not other.v < self.v

    def __hash__(self):
        return 7


class Sub(V):
    def __radd__(self, other):
        return "sub first"

    def __rmul__(self, other):
        return "sub mul"


class Grid:
    def __init__(self, rows):
        self.rows = rows
        self.log = []

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, key):
        return self.rows[key]

    def __setitem__(self, key, value):
        self.log.append(key)
        self.rows[key] = value

    def __delitem__(self, key):
        del self.rows[key]

    def __contains__(self, item):
        return item == "magic"

    def __reversed__(self):
        return iter(self.rows[::-1])


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


class Sequence:
    def __getitem__(self, i):
        if i > 3:
            raise IndexError
        return i * 1.5


class Truth:
    def __init__(self, value):
        self.value = value

    def __bool__(self):
        return self.value


class Callable:
    def __init__(self, k):
        self.k = k

    def __call__(self, x, *more, scale=1.0, **named):
        return x * self.k * scale + len(more) + len(named)


class Number:
    def __index__(self):
        return 2

    def __int__(self):
        return 5

    def __float__(self):
        return 2.5

    def __round__(self, n=None):
        return 3.0

    def __divmod__(self, other):
        return 1, other


class Text:
    def __str__(self):
        return "text"

    def __repr__(self):
        return "Text()"

    def __format__(self, spec):
        return "<" + spec + ">"


class OnlyRepr:
    def __repr__(self):
        return "only"


class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self):
        raise NotImplementedError

    def double(self):
        return self.area() * 2


class Square(Shape):
    def __init__(self, side):
        self.side = side

    def area(self):
        return self.side * self.side


class Singleton:
    instance = None

    def __new__(cls, x):
        self = super().__new__(cls)
        self.made = x
        return self

    def __init__(self, x):
        self.x = x


class Other:
    def __new__(cls, x):
        return x * 2


class Registered:
    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)


class Mixin:
    def scaled(self):
        return self.value() * 10.0


class Mixed(Mixin, Square):
    def value(self):
        return self.area()


T = typing.TypeVar("T")


class Box(typing.Generic[T]):
    def __init__(self, item: T):
        self.item = item

    def get(self) -> T:
        return self.item


class Flexible:
    def __init__(self, *args, **kwargs):
        self.args = args
        self.kwargs = kwargs


def arithmetic(x):
    a, b = V(x), V(2.0)
    return (a + b - b).v, (a * 2.0 / 4.0).v, (a // 1.0 % 2.0).v, (b**2).v, a @ a


def reflected(x):
    return (1.0 + V(2.0)).v, (3.0 - V(1.0)).v, (2.0 * V(x)).v


def bits(x):
    return x * (V(1.0) << 2).v, (V(8.0) >> 1).v, V(1) & 2, V(1) | 2, V(1) ^ 2


def unary(x):
    return (-V(x)).v, (+V(x)).v, (~V(x)).v, abs(V(-2.0)).v


def in_place(x):
    a = V(x)
    b = a
    a += 1.0
    a -= V(0.5)
    a *= 2.0
    return a.v, b.v, a is b


def subclass_first(x):
    return x + 1, V(1) + Sub(2), V(1) * 3 == 3, Sub(1) + 2 == 3, V(2) * Sub(1)


def existing_operands(a, b, x):
    return (a + b).v, (a - b).v, (-a).v, a is b, a < b, a <= b


def default_equality(x):
    a, b = Callable(1), Callable(1)
    return x + 1, a == b, a == a, a != b, a is a, a in [b, a], [a, b].index(b)


def comparisons(x):
    a, b = V(1.0), V(2.0)
    return x + 1, a < b, a <= b, a > b, a >= b, a == b, a != b


def as_keys(x):
    a, b = V(1.0), V(2.0)
    table = {a: x, b: x * 2}
    return table[a] + table[b], a in table, len({a, b, a})


def containers(g, x):
    g[0] = 5.0
    del g[1]
    return x * g[0], len(g), "magic" in g, 1 in g, bool(g), g.log, g[-1], g[0:2]


def iterate_by_getitem(x):
    total = x
    for item in Sequence():
        total = total + item
    return total


def unpack_by_getitem(x):
    a, b, *c = Sequence()
    return x * b, c


def iterate(x):
    for i in Countdown(4):
        x = x + i
    return x


def iterate_in_builtins(x):
    return x + 1, list(Countdown(3)), sum(Countdown(4)), max(Countdown(5)), 2 in Countdown(4)


def next_by_hand(x):
    c = Countdown(3)
    return x * next(c) + next(c), next(c), next(c, "end")


def reversed_by_hand(g, x):
    return x + 1, list(reversed(g))


def truth(x):
    t, f = Truth(True), Truth(False)
    result = x * 2 if t and not f else x
    return result, bool(f), not t, (f or 3)


def called(x):
    c = Callable(2.0)
    return c(x), c(x, 1, 2), c(x, scale=3.0), c(x, other=1), c.__call__(x)


def called_through_star(x):
    args, kwargs = (x, 1), {"scale": 2.0}
    return Callable(3.0)(*args, **kwargs)


def conversions(x):
    n = Number()
    return x * float(n), int(n), [10, 20, 30][n], round(n), list(range(n))


def texts(x):
    t = Text()
    return x + 1, str(t), repr(t), f"{t} {t!r} {t:>5}", "%s" % t, "{}".format(t), [t]


def only_repr(x):
    o = OnlyRepr()
    return x + 1, str(o), f"{o}", f"{o!s:>6}"


def abstract(x):
    s = Square(x)
    return s.double(), isinstance(s, Shape), issubclass(Square, Shape)


def mixin(x):
    return Mixed(x).scaled()


def new_and_init(x):
    s = Singleton(x)
    return s.made + s.x


def new_escapes(x):
    return Singleton(x * 2)


def new_of_another_type(x):
    return Other(x) + 1


def object_new(x):
    s = object.__new__(Square)
    s.side = x
    return s.area()


def explicit_init(x):
    s = Square(x)
    Square.__init__(s, x * 2)
    return s.area()


def generic(x):
    return Box(x).get() * 2


def cast(x):
    return typing.cast(float, x) * 2


def flexible(x):
    f = Flexible(x, 1, k=2.0)
    return f.args[0] * f.kwargs["k"], len(f.args)


def flexible_escapes(x):
    return Flexible(x, k=x + 1)


def numbers_and_abc(x):
    return x + 1, isinstance(1.0, numbers.Number), isinstance(V(1), numbers.Number)


def isinstance_forms(o, x):
    return x + 1, isinstance(o, (int, Square)), issubclass(bool, (str, int))


def class_as_value(x):
    makers = {"a": Square, "b": Callable}
    return makers["a"](x).area() + makers["b"](2.0)(x)


def type_of_new(x):
    s = Square(x)
    return type(s)(x + 1).area(), type(s) is Square, s.__class__ is Square


def instance_in_closure(x):
    s = Square(x)

    def inner(k):
        return s.area() * k

    return inner(2.0)


def shared_identity(x):
    s = Square(x)
    return [s, s, {"s": s}]


def linked_list(x):
    head = None
    for i in range(3):
        node = Flexible(x * i)
        node.next = head
        head = node
    total = x
    while head is not None:
        total = total + head.args[0]
        head = head.next
    return total


def class_attribute_default(x):
    s = Singleton(x)
    return s.x, s.instance is None, Singleton.instance is None


def bound_methods(x):
    s = Square(x)
    f = s.area
    return f() + f(), f.__self__ is s, f.__func__ is Square.area


def methods_as_values(x):
    s = Square(2.0)
    return x * sum(map(Callable(2.0), [1.0, 2.0])), [m() for m in (s.area, s.double)]


CASES = [
    (fn, lambda: (A,))
    for fn in (
        arithmetic,
        reflected,
        bits,
        unary,
        in_place,
        subclass_first,
        default_equality,
        comparisons,
        as_keys,
        iterate_by_getitem,
        unpack_by_getitem,
        iterate,
        iterate_in_builtins,
        next_by_hand,
        truth,
        called,
        called_through_star,
        conversions,
        texts,
        only_repr,
        abstract,
        mixin,
        new_and_init,
        new_escapes,
        new_of_another_type,
        object_new,
        explicit_init,
        cast,
        flexible,
        flexible_escapes,
        numbers_and_abc,
        class_as_value,
        type_of_new,
        instance_in_closure,
        shared_identity,
        linked_list,
        class_attribute_default,
        bound_methods,
        methods_as_values,
    )
] + [
    (existing_operands, lambda: (V(1.0), V(2.0), A)),
    (containers, lambda: (Grid([1.0, 2.0, 3.0]), A)),
    (reversed_by_hand, lambda: (Grid([1.0, 2.0, 3.0]), A)),
    (isinstance_forms, lambda: (Square(1.0), A)),
]


@pytest.mark.parametrize("fn, make", CASES, ids=lambda case: getattr(case, "__name__", "args"))
def test_same(fn, make):
    check(fn, make=lambda: (make(), {}))


def generic_argument(x, box):
    box.item = box.item * 2
    return x * box.get(), isinstance(box, Box), type(box).__name__, box


@pytest.mark.parametrize("args", [(generic, A), (generic_argument, A, Box(A))], ids=["new", "old"])
def test_generic(args):
    check(*args)


def no_operator(x):
    y = x + 1
    return y, Callable(1) + 1


def no_comparison(x):
    y = x + 1
    return y, Callable(1) < 1


def not_callable(x):
    y = x + 1
    return y, V(1)()


def not_subscriptable(x):
    y = x + 1
    return y, V(1)[0]


def not_iterable(x):
    y = x + 1
    return y, list(V(1))


def not_an_iterator(x):
    y = x + 1
    return y, next(V(1))


def not_hashable(x):
    class_ = Unhashable()
    return {class_: x + 1}


class Unhashable:
    def __eq__(self, other):
        return True


def abstract_instance(x):
    y = x + 1
    return y, Shape()


def too_many_for_object(x):
    y = x + 1
    return y, Truth.__base__(1)


def takes_no_arguments(x):
    y = x + 1
    return y, OnlyRepr(1)


def init_returns(x):
    y = x + 1
    return y, BadInit()


class BadInit:
    def __init__(self):
        return 5


def bad_bool(x):
    y = x + 1
    return y if Truth(3) else x


FAILING = [
    no_operator,
    no_comparison,
    not_callable,
    not_subscriptable,
    not_iterable,
    not_an_iterator,
    not_hashable,
    abstract_instance,
    takes_no_arguments,
    init_returns,
    bad_bool,
]


@pytest.mark.parametrize("fn", FAILING)
def test_failing(fn):
    check(fn, A, breaks="raises")


@pytest.mark.parametrize("fn", FAILING)
def test_caught(fn):
    def catching(x):
        try:
            return fn(x)
        except TypeError as error:
            return x * 2, str(error)

    check(catching, A)
