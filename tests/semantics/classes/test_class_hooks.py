"""New classes of which others hear: __init_subclass__, __set_name__, metaclasses, abstract classes.

PYTEST_DONT_REWRITE: the functions assert themselves.
"""

import abc
import functools

import numpy as np
import pytest
from differential import FORCED, Compiled, check

A = np.linspace(0.5, 2.0, 4)

FUNCTIONS = []
LOG = []


def case(fn):
    FUNCTIONS.append(fn)
    return fn


class Plugin:
    kind = "none"

    def __init_subclass__(cls, /, kind=None, **kwargs):
        super().__init_subclass__(**kwargs)
        LOG.append(cls.__name__)
        cls.kind = kind or cls.__name__.lower()

    def run(self, x):
        return x * self.factor


class Counts:
    made = 0

    def __init_subclass__(cls):
        Counts.made += 1
        cls.index = Counts.made


class Field:
    def __init__(self, default=0.0):
        self.default = default

    def __set_name__(self, owner, name):
        self.name = name
        self.slot = "_" + name

    def __get__(self, obj, owner=None):
        if obj is None:
            return self
        return getattr(obj, self.slot, self.default)

    def __set__(self, obj, value):
        setattr(obj, self.slot, value)


class Noted:
    def __set_name__(self, owner, name):
        self.where = owner.__name__ + "." + name


class Meta(type):
    def __new__(mcls, name, bases, namespace, **kwargs):
        cls = super().__new__(mcls, name, bases, namespace)
        cls.tag = name.lower()
        return cls

    def describe(cls):
        return cls.tag + "!"


class Initialised(type):
    def __init__(cls, name, bases, namespace, scale=1.0):
        super().__init__(name, bases, namespace)
        cls.scale = scale
        cls.fields = [k for k in namespace if not k.startswith("__")]


class Prepared(type):
    @classmethod
    def __prepare__(mcls, name, bases, **kwargs):
        return {"given": name}


class Singleton(type):
    def __call__(cls, *args):
        if not hasattr(cls, "only"):
            cls.only = super().__call__(*args)
        return cls.only


class Changed(type):
    def __new__(mcls, name, bases, namespace):
        upper = {k.upper() if not k.startswith("__") else k: v for k, v in namespace.items()}
        return super().__new__(mcls, name, bases, upper)


class OfMeta(metaclass=Meta):
    pass


class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self): ...

    def twice(self):
        return 2 * self.area()


@case
def a_hook(x):
    class Scale(Plugin):
        factor = 3.0

    return Scale().run(x), Scale.kind, Plugin.kind


@case
def a_hook_with_keywords(x):
    class Scale(Plugin, kind="scale"):
        factor = 3.0

    return Scale().run(x), Scale.kind


@case
def a_hook_twice(x):
    class One(Plugin):
        factor = 1.0

    class Two(One, kind="two"):
        factor = 2.0

    return Two().run(x), One.kind, Two.kind


@case
def a_hook_that_counts(x):
    class One(Counts):
        pass

    class Two(Counts):
        pass

    return x, One.index, Two.index, Counts.made


@case
def an_own_hook(x):
    class Local:
        known = []

        def __init_subclass__(cls, **kwargs):
            super().__init_subclass__(**kwargs)
            Local.known.append(cls.__name__)

    class Below(Local):
        pass

    class Deeper(Below):
        pass

    return x, Local.known, len(Below.known)


@case
def a_hook_that_raises(x):
    class Local:
        def __init_subclass__(cls):
            if not hasattr(cls, "factor"):
                raise TypeError(f"{cls.__name__} has no factor")

    class Good(Local):
        factor = 2.0

    try:

        class Bad(Local):
            pass
    except TypeError as error:
        return x * Good.factor, str(error)


@case
def a_field(x):
    class Local:
        a = Field(1.0)
        b = Field()

    o = Local()
    o.b = 3.0
    return x * o.a + o.b, Local.a.name, Local.b.slot, vars(o)


@case
def names_of_values(x):
    class Local:
        one = Noted()
        two = Noted()

    return x, Local.one.where, Local.two.where


@case
def the_same_value_twice(x):
    note = Noted()

    class Local:
        one = note
        two = note

    return x, note.where, Local.one is Local.two


@case
def a_cached_property(x):
    class Local:
        asked = 0

        def __init__(self, n):
            self.n = n

        @functools.cached_property
        def squared(self):
            Local.asked += 1
            return self.n**2

    o = Local(3.0)
    return x * o.squared * o.squared, Local.asked, o.__dict__["squared"]


@case
def a_metaclass(x):
    class Local(metaclass=Meta):
        n = 2.0

        def get(self):
            return self.n

    return x * Local().get(), Local.tag, Local.describe(), type(Local) is Meta


@case
def a_metaclass_of_a_base(x):
    class Local(OfMeta):
        n = 2.0

    return x * Local.n, Local.tag, OfMeta.tag, isinstance(Local, Meta)


@case
def a_metaclass_with_init(x):
    class Local(metaclass=Initialised):
        a = 1
        b = 2

    return x * Local.scale, Local.fields


@case
def a_metaclass_that_prepares(x):
    class Local(metaclass=Prepared):
        again = given  # noqa: F821

    return x, Local.given, Local.again


@case
def a_metaclass_that_changes_names(x):
    class Local(metaclass=Changed):
        size = 3

        def get(self):
            return self.SIZE

    return x * Local().GET(), hasattr(Local, "size")


@case
def a_singleton(x):
    class Local(metaclass=Singleton):
        def __init__(self):
            self.v = 2.0

    return x * Local().v, Local() is Local()


@case
def a_metaclass_made_here(x):
    class Local(type):
        def __len__(cls):
            return 3

        def __getitem__(cls, key):
            return key * 2

    class Of(metaclass=Local):
        pass

    return x * len(Of), Of[4]


@case
def an_abstract_base(x):
    class Square(Shape):
        def __init__(self, side):
            self.side = side

        def area(self):
            return self.side**2

    return x * Square(3.0).twice(), isinstance(Square(1), Shape), issubclass(Square, Shape)


@case
def an_abstract_class_made_here(x):
    class Base(abc.ABC):
        @abc.abstractmethod
        def get(self): ...

        @property
        @abc.abstractmethod
        def size(self): ...

    class Below(Base):
        def get(self):
            return 2.0

        @property
        def size(self):
            return 3

    o = Below()
    return x * o.get(), o.size, isinstance(o, Base)


@case
def an_abstract_class_is_not_made(x):
    class Base(abc.ABC):
        @abc.abstractmethod
        def get(self): ...

    try:
        Base()
    except TypeError as error:
        return x, str(error)


@case
def a_super_call_in_a_class_with_a_metaclass(x):
    class Local(OfMeta):
        def get(self):
            return __class__.tag, super().__repr__ is not None

    return x, Local().get()


@case
def made_by_type(x):
    Local = type("Local", (Plugin,), {"factor": 2.0, "__module__": __name__})
    return Local().run(x), Local.kind, Local.__name__


@case
def a_factory(x):
    def make(name, factor):
        class Made(Plugin, kind=name):
            pass

        Made.factor = factor
        return Made

    return make("a", 2.0)().run(x) + make("b", 3.0)().run(x)


@case
def a_hook_in_a_loop(x):
    for k in range(3):

        class Local(Plugin, kind=str(k)):
            factor = float(k)

        x = x + Local().run(x)
    return x, Local.kind


def reset():
    LOG.clear()
    Counts.made = 0


@pytest.mark.parametrize("fn", FUNCTIONS, ids=lambda fn: fn.__name__)
def test_captured(fn):
    check(fn, A, state=lambda: (LOG, Counts.made), reset=reset, entries=None)


# ---- classes that leave the function


def made(fn):
    """What the plain function returns after the array, and three calls of the captured one."""
    import dyntrace

    reset()
    compiled = dyntrace.compile(fn, fullgraph=True)
    return [fn(A)[1], *(compiled(A)[1] for _ in range(3))]


@pytest.mark.skipif(bool(FORCED), reason="it is about what is captured")
def test_a_class_with_a_hook_leaves():
    def fn(x):
        class Scale(Plugin, kind="s"):
            first = 1
            factor = 2.0
            field = Field(4.0)
            last = 9

        return x, Scale

    plain, *others = made(fn)
    assert LOG == ["Scale"] * 4
    assert len({plain, *others}) == 4
    for cls in others:
        assert cls.__bases__ == (Plugin,) and cls.__mro__ == (cls, Plugin, object)
        assert list(vars(cls)) == list(vars(plain))
        assert (cls.kind, cls.field.name, cls().field) == ("s", "field", 4.0)
        assert cls in Plugin.__subclasses__()


@pytest.mark.skipif(bool(FORCED), reason="it is about what is captured")
def test_a_class_with_a_metaclass_leaves():
    def fn(x):
        class Local(OfMeta):
            n = 2.0

            def get(self):
                return __class__, self.n

        return x, Local

    plain, *others = made(fn)
    for cls in others:
        assert type(cls) is Meta and cls.tag == "local" and cls.describe() == "local!"
        assert list(vars(cls)) == list(vars(plain))
        assert cls().get() == (cls, 2.0)


@pytest.mark.skipif(bool(FORCED), reason="it is about what is captured")
def test_a_class_with_an_abstract_base_leaves():
    def fn(x):
        class Square(Shape):
            def area(self):
                return 4.0

        return x, Square()

    for o in made(fn):
        assert o.twice() == 8.0 and isinstance(o, Shape) and not type(o).__abstractmethods__


def test_an_abstract_class_that_leaves_breaks():
    def fn(x):
        class Base(abc.ABC):
            @abc.abstractmethod
            def get(self): ...

        return x + 1.0, Base

    compiled = Compiled(fn)
    for _ in range(3):
        assert compiled(A)[1].__abstractmethods__ == {"get"}
    assert set(compiled.breaks) == {"reconstruct"}


@pytest.mark.skipif(bool(FORCED), reason="it is about what is captured")
def test_a_registry_that_existed():
    registry = {}

    class Registers(type):
        def __init__(cls, name, bases, namespace):
            super().__init__(name, bases, namespace)
            registry[name] = cls

    def fn(x):
        class Local(metaclass=Registers):
            n = 3.0

        return x * registry["Local"].n, Local

    for cls in made(fn):
        assert type(cls) is Registers
    assert registry["Local"] is cls
