"""Attributes of classes, written by traced code: counters, registries, settings, patched methods."""

import abc
import functools

import numpy as np
import pytest
from differential import FORCED, check

A = np.linspace(0.5, 2.0, 4)

FUNCTIONS = []


def case(fn):
    FUNCTIONS.append(fn)
    return fn


class Base:
    count = 0
    names = ("a",)
    scale = 2.0

    @classmethod
    def bump(cls):
        cls.count += 1
        return cls.count

    @classmethod
    def configure(cls, **settings):
        for name, value in settings.items():
            setattr(cls, name, value)

    def mine(self):
        return self.count

    def area(self):
        return self.scale * 2


class Below(Base):
    def up(self):
        return super().mine() + super().scale


class Hides(Base):
    count = 100


class Slotted:
    __slots__ = ("v",)
    made = 0


class Abstract(abc.ABC):
    made = 0

    @abc.abstractmethod
    def area(self): ...


class Square(Abstract):
    def area(self):
        return 4.0


class Last:
    value = None


CLASSES = [Base, Below, Hides, Slotted, Abstract, Square, Last]
FIRST = [dict(vars(cls)) for cls in CLASSES]


def reset():
    for cls, first in zip(CLASSES, FIRST):
        for name in [n for n in vars(cls) if n not in first]:
            delattr(cls, name)
        for name, value in first.items():
            if not name.startswith("__") and vars(cls)[name] is not value:
                setattr(cls, name, value)


def state():
    return [
        {n: v for n, v in vars(cls).items() if isinstance(v, (int, float, str, tuple, list))}
        for cls in CLASSES
    ]


@case
def counter(x):
    Base.count += 1
    return x + Base.count


@case
def counter_in_a_loop(x):
    for _ in range(3):
        Base.count += 2
        x = x + Base.count
    return x


@case
def counter_in_a_class_method(x):
    return x + Base.bump() + Base.bump(), Base.count


@case
def class_method_of_a_class_below(x):
    first = Below.bump()
    return x + first, Below.count, Base.count, Hides.count


@case
def read_through_the_class_below(x):
    Base.count = 7
    return x + Below.count, Hides.count


@case
def read_through_a_new_instance(x):
    Base.scale = 5.0
    return x * Below().scale, Base().area()


@case
def read_by_super(x):
    Base.scale = 5.0
    return x * Below().up()


@case
def hidden_by_the_instance(x):
    o = Base()
    o.count = 3
    Base.count = 9
    return x + o.count, o.mine()


@case
def own_counter_of_the_instance(x):
    o = Below()
    o.count += 1
    type(o).count += 10
    return x + o.count, Below.count, Base.count


@case
def by_type(x):
    o = Below()
    type(o).scale = 3.0
    return x * o.scale + Base.scale


@case
def by_dunder_class(x):
    o = Below()
    o.__class__.scale = 4.0
    return x * o.scale


@case
def by_setattr(x):
    setattr(Base, "fresh", x * 2)
    return getattr(Base, "fresh") + Below.fresh


@case
def an_array(x):
    Last.value = x + 1.0
    y = Last.value * 2
    return y


@case
def settings(x):
    Base.configure(scale=1.5, mode="fast", sizes=[1, 2])
    Base.sizes.append(3)
    return x * Base.scale, Below.mode, Base.sizes


@case
def a_new_list(x):
    Base.items = []
    Base.items.append(1)
    Base.items.extend([2, 3])
    return x + len(Below.items)


@case
def a_method(x):
    def area(self):
        return self.scale * 10

    Base.area = area
    return x + Base().area(), Below().area()


@case
def a_method_twice(x):
    Base.area = lambda self: 1.0
    one = Below().area()
    Base.area = lambda self: 2.0
    return x + one, Below().area(), Base.area(None)


@case
def a_method_wrapped(x):
    plain = Base.area

    @functools.wraps(plain)
    def area(self):
        return plain(self) + 1

    Base.area = area
    return x + Base().area(), Base.area.__name__


@case
def put_back(x):
    kept, Base.scale = Base.scale, 9.0
    try:
        y = x * Base.scale
    finally:
        Base.scale = kept
    return y, Base.scale


@case
def deleted(x):
    Base.extra = 1
    Below.extra = 2
    del Below.extra
    return x + Below.extra, hasattr(Base, "extra")


@case
def deleted_and_missing(x):
    Base.extra = 1
    del Base.extra
    return x, hasattr(Base, "extra"), getattr(Below, "extra", 5)


@case
def deleted_method(x):
    Below.area = lambda self: 1.0
    one = Below().area()
    del Below.area
    return x + one, Below().area()


@case
def missing(x):
    try:
        del Base.nothing
    except AttributeError as error:
        return x, str(error)


@case
def deleted_twice(x):
    Base.extra = 1
    del Base.extra
    try:
        del Base.extra
    except AttributeError as error:
        return x, str(error)


@case
def missing_again(x):
    Base.extra = 1
    del Base.extra
    try:
        return x + Base.extra
    except AttributeError as error:
        return x, str(error)


@case
def builtin_class(x):
    try:
        int.extra = 1
    except TypeError as error:
        return x, str(error)


@case
def builtin_class_deleted(x):
    try:
        del list.append
    except TypeError as error:
        return x, str(error)


@case
def slotted(x):
    Slotted.made += 1
    o = Slotted()
    o.v = 3.0
    return x * o.v, o.made


@case
def counted_by_init(x):
    class Counted:
        made = 0

        def __init__(self):
            Counted.made += 1
            self.index = Counted.made

    a, b = Counted(), Counted()
    return x + Counted.made, a.index, b.index


@case
def abstract(x):
    Abstract.made += 1
    Square.made += 10
    return x * Square().area(), Abstract.made, Square.made, isinstance(Square(), Abstract)


@case
def a_class_as_value(x):
    Last.value = Square
    return x * Last.value().area()


@case
def a_constant_number(x):
    Last.value = len(x.shape) + x.shape[0]
    return x + Last.value


@case
def nothing_but_the_same(x):
    Base.scale = Base.scale
    return x * Base.scale


@case
def swapped(x):
    Base.one, Base.two = 1, 2
    Base.one, Base.two = Base.two, Base.one
    return x + Base.one, Base.two


@case
def in_a_nested_call(x):
    def deep(n):
        if n == 0:
            Base.count = 4
            return Below.count
        Base.count += 1
        return deep(n - 1) + Base.count

    return x + deep(3)


@case
def a_generator_that_writes(x):
    def steps():
        for k in range(3):
            Base.count += k
            yield Base.count

    return x, list(steps()), Base.count


@case
def made_class_gets_a_special_method(x):
    class Local:
        pass

    Local.__len__ = lambda self: 3
    Local.__add__ = lambda self, other: other + 1
    return x + (Local() + 1), len(Local())


@case
def made_class_is_ordered(x):
    @functools.total_ordering
    class Local:
        def __init__(self, v):
            self.v = v

        def __eq__(self, other):
            return self.v == other.v

        def __lt__(self, other):
            return self.v < other.v

    return x, Local(1) <= Local(2), Local(1) > Local(2), max(Local(3), Local(5)).v


@case
def made_class_by_a_decorator(x):
    def named(cls):
        cls.label = cls.__name__.lower()
        cls.describe = lambda self: self.label + "!"
        return cls

    @named
    class Local:
        pass

    return x, Local.label, Local().describe()


@case
def made_class_changed_by_a_subclass(x):
    class One:
        v = 1

    class Two(One):
        pass

    One.v = 2
    before = Two.v
    Two.v = 3
    del One.v
    return x + before, Two.v, hasattr(One, "v")


@case
def made_class_with_a_property_added(x):
    class Local:
        def __init__(self):
            self._v = 3.0

    Local.v = property(lambda self: self._v, lambda self, v: setattr(self, "_v", v))
    o = Local()
    o.v = 4.0
    return x * o.v


@pytest.mark.parametrize("fn", FUNCTIONS, ids=lambda fn: fn.__name__)
def test_captured(fn):
    try:
        check(fn, A, state=state, reset=reset, entries=None)
    finally:
        reset()


def test_written_before_an_exception():
    def fn(x):
        Base.count += 1
        y = x + Base.count
        Base.nothing
        return y

    try:
        check(fn, A, state=state, reset=reset, breaks="raises", entries=None)
    finally:
        reset()


@pytest.mark.skipif(bool(FORCED), reason="it is about what is captured")
def test_a_made_class_that_leaves():
    """What was stored after the class statement is there, in its order, in a class of every call."""
    import dyntrace

    def fn(x):
        class Local:
            a = 1

            def __init__(self):
                self.v = 3.0

        Local.b = 2
        Local.get = lambda self: self.v + self.b
        Local.__len__ = lambda self: 7
        del Local.a
        Local.c = x * 2
        return x + 1, Local, [Local()]

    compiled = dyntrace.compile(fn, fullgraph=True)
    plain = fn(A)[1]
    made = [compiled(A) for _ in range(3)]
    assert len({cls for _, cls, _ in made}) == 3
    for _, cls, objects in made:
        assert list(vars(cls)) == list(vars(plain))
        assert type(objects[0]) is cls
        assert (objects[0].get(), len(objects[0]), cls.b) == (5.0, 7, 2)
        assert (cls.c == A * 2).all()


@pytest.mark.parametrize("name", ["__len__", "__call__", "__hash__"])
def test_special_names_of_existing_classes_break(name):
    def fn(x):
        setattr(Last, name, None)
        return x + 1.0

    kept = vars(Last).get(name)
    try:
        check(fn, A, breaks="object-mutation")
    finally:
        setattr(Last, name, kept) if kept is not None else delattr(Last, name)


def test_a_slot_that_is_hidden_breaks():
    def existing(x):
        o = Slotted()
        o.v = 3.0
        Slotted.v = 5.0
        return x * o.v

    def new(x):
        class Local:
            __slots__ = ("v",)

        o = Local()
        o.v = 3.0
        Local.v = 5.0
        return x * o.v

    slot = vars(Slotted)["v"]

    def put_back():
        Slotted.v = slot

    try:
        check(existing, A, breaks="object-mutation", reset=put_back)
        check(new, A, breaks="object-mutation")
    finally:
        put_back()


class Meta(type):
    def __setattr__(cls, name, value):
        super().__setattr__(name, value + 1)


class OfMeta(metaclass=Meta):
    pass


class Watched(type):
    @property
    def level(cls):
        return 1

    @level.setter
    def level(cls, value):
        pass


class OfWatched(metaclass=Watched):
    pass


def test_a_metaclass_that_takes_part_breaks():
    def own(x):
        OfMeta.n = 1
        return x + OfMeta.n

    def described(x):
        OfWatched.level = 3
        return x + OfWatched.level

    check(own, A, breaks="object-mutation")
    check(described, A, breaks="object-mutation")
