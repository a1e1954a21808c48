"""Look-ups that classes override, metaclasses, modules, and attributes by name."""

import types

import numpy as np
import pytest
from differential import check

A = np.linspace(0.5, 2.0, 4)


class Fallback:
    def __init__(self, x):
        self.x = x

    def __getattr__(self, name):
        if name.startswith("times_"):
            return self.x * int(name[6:])
        raise AttributeError(name)


class Proxy:
    def __init__(self, target):
        self.target = target

    def __getattr__(self, name):
        return getattr(self.target, name)


class Everything:
    shared = 4.0

    def __init__(self, x):
        self.x = x

    def __getattribute__(self, name):
        if name == "answer":
            return 42
        return object.__getattribute__(self, name)


class EverythingSuper:
    def __init__(self, x):
        self.x = x

    def __getattribute__(self, name):
        value = super().__getattribute__(name)
        return value * 2.0 if name == "x" else value


class Logged:
    def __init__(self, x):
        self.x = x
        self.y = 0

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)
        object.__setattr__(self, "last", name)

    def __delattr__(self, name):
        super().__delattr__(name)
        super().__setattr__("gone", name)


class Doubling:
    def __setattr__(self, name, value):
        super().__setattr__(name, value * 2)


class Private:
    __shared = 3.0

    def __init__(self, x):
        self.__x = x

    def get(self):
        return self.__x * self.__shared

    def set(self, x):
        self.__x = x


class PrivateChild(Private):
    __shared = 7.0

    def own(self):
        return self.__shared


class Meta(type):
    factor = 3.0

    def describe(cls):
        return cls.weight * 2

    @property
    def doubled(cls):
        return cls.weight * 2.0

    def __getattr__(cls, name):
        if name.startswith("auto_"):
            return len(name)
        raise AttributeError(name)

    def __len__(cls):
        return 7

    def __contains__(cls, item):
        return item == cls.weight

    def __getitem__(cls, key):
        return cls.weight + key

    def __iter__(cls):
        return iter((1, 2, 3))


class WithMeta(metaclass=Meta):
    weight = 4.0

    def __init__(self, x):
        self.x = x


class CallMeta(type):
    def __call__(cls, *args, **kwargs):
        made = super().__call__(*args, **kwargs)
        made.tagged = True
        return made


class Called(metaclass=CallMeta):
    def __init__(self, x, y=2.0):
        self.x = x * y


class Base:
    a = 1.0
    b = 2.0

    def method(self):
        return self.a


class Left(Base):
    a = 10.0

    def method(self):
        return super().method() + 1


class Right(Base):
    b = 20.0

    def method(self):
        return super().method() + 100


class Both(Left, Right):
    def method(self):
        return super().method() + 1000


module = types.ModuleType("some_module")
exec(
    """
value = 5.0
def __getattr__(name):
    if name == 'lazy':
        return 6.0
    raise AttributeError(f"module 'some_module' has no attribute {name!r}")
def triple(x):
    return x * 3.0
""",
    module.__dict__,
)


def getattr_hook(f):
    return f.x + f.times_3


def getattr_hook_with_default(f):
    return f.x, getattr(f, "x", 1), hasattr(f, "times_2")


def proxy_chain(p):
    return p.x * 2.0, p.times_4


def proxy_method(p, x):
    return p.scaled(x)


def getattribute_hook(e):
    return e.x * e.answer + e.shared


def getattribute_super(e):
    return e.x + 1.0


def getattribute_escapes(e):
    return e.x


def getattribute_new(x):
    e = Everything(x)
    return e.x * e.answer


def setattr_hook(o, x):
    o.x = x * 2
    return o.x + 1, o.last


def setattr_hook_new(x):
    o = Logged(x)
    return o.x * 2, o.last


def setattr_hook_escapes(x):
    return Logged(x + 1.0)


def setattr_super(x):
    o = Doubling()
    o.x = x
    return o


def delattr_hook(o, x):
    del o.y
    return x * 2, o.gone, hasattr(o, "y")


def private_names(p):
    return p.get() + 1.0


def private_names_of_child(p):
    return p.get() * p.own()


def private_set(p, x):
    p.set(x * 2)
    return p.get()


def private_mangled(p):
    return p._Private__x + 1.0


def meta_attribute(x):
    return x * WithMeta.factor, WithMeta.describe()


def meta_property(x):
    return x * WithMeta.doubled


def meta_getattr(x):
    return x * WithMeta.auto_size


def meta_len(x):
    return x * len(WithMeta), bool(WithMeta)


def meta_contains(x):
    return x + 1, 4.0 in WithMeta, 5.0 in WithMeta


def meta_getitem(x):
    return x + WithMeta[3]


def meta_iter(x):
    total = x
    for i in WithMeta:
        total = total + i
    return total


def meta_not_seen_by_instance(w):
    return w.x * w.weight, hasattr(w, "factor")


def meta_instance(x):
    return WithMeta(x).x * 2


def meta_call(x):
    made = Called(x, y=3.0)
    return made.x, made.tagged


def meta_call_escapes(x):
    return Called(x)


def diamond(o, x):
    return x * o.method(), o.a, o.b


def diamond_super(o, x):
    return x * super(Both, o).method(), super(Left, o).a


def class_of_instance(o, x):
    return x * o.__class__.a, type(o).b, o.__class__ is Both


def module_getattr(x):
    return x * module.value + module.lazy


def module_function(x):
    return module.triple(x)


def module_hasattr(x):
    return x + 1, hasattr(module, "value"), hasattr(module, "nothing")


def module_getattr_default(x):
    return x * getattr(module, "value", 1.0)


def by_name(o, x):
    names = ["a", "b"]
    total = x
    for name in names:
        total = total + getattr(o, name)
    return total


def set_by_name(o, x):
    for name in ("p", "q"):
        setattr(o, name, x * 2)
    delattr(o, "p")
    return o.q + x


def getattr_chain(o, x):
    return x * getattr(getattr(o, "missing", o), "a", 0)


def shadow_class_attribute(o, x):
    o.a = 100.0
    first = o.a
    del o.a
    return x * first + o.a


def delete_then_missing(o, x):
    o.temp = x
    del o.temp
    return x * 2, hasattr(o, "temp")


def attributes_in_loop(o, x):
    o.count = 0
    while o.count < 4:
        o.count += 1
        x = x + o.count
    return x


def chained_objects(x):
    root = Base()
    root.child = Base()
    root.child.child = Base()
    root.child.child.value = x
    return root.child.child.value * 2


def chained_objects_escape(x):
    root = Base()
    root.child = Base()
    root.child.parent = root
    root.child.value = x + 1
    return root


def swap_attributes(o, x):
    o.u, o.v = x, 1
    o.u, o.v = o.v, o.u
    return o.v * 2, o.u


class Scaler:
    def scaled(self, x):
        return x * 2.0


CASES = [
    (getattr_hook, lambda: (Fallback(A),)),
    (getattr_hook_with_default, lambda: (Fallback(A),)),
    (proxy_chain, lambda: (Proxy(Fallback(A)),)),
    (proxy_chain, lambda: (Proxy(Proxy(Fallback(A))),)),
    (proxy_method, lambda: (Proxy(Scaler()), A)),
    (getattribute_hook, lambda: (Everything(A),)),
    (getattribute_escapes, lambda: (Everything(A),)),
    (getattribute_super, lambda: (EverythingSuper(A),)),
    (getattribute_new, lambda: (A,)),
    (setattr_hook, lambda: (Logged(A), A)),
    (setattr_hook_new, lambda: (A,)),
    (setattr_hook_escapes, lambda: (A,)),
    (setattr_super, lambda: (A,)),
    (delattr_hook, lambda: (Logged(A), A)),
    (private_names, lambda: (Private(A),)),
    (private_names_of_child, lambda: (PrivateChild(A),)),
    (private_set, lambda: (Private(A), A)),
    (private_mangled, lambda: (Private(A),)),
    (meta_attribute, lambda: (A,)),
    (meta_property, lambda: (A,)),
    (meta_getattr, lambda: (A,)),
    (meta_len, lambda: (A,)),
    (meta_contains, lambda: (A,)),
    (meta_getitem, lambda: (A,)),
    (meta_iter, lambda: (A,)),
    (meta_not_seen_by_instance, lambda: (WithMeta(A),)),
    (meta_instance, lambda: (A,)),
    (meta_call, lambda: (A,)),
    (meta_call_escapes, lambda: (A,)),
    (diamond, lambda: (Both(), A)),
    (diamond, lambda: (Left(), A)),
    (diamond_super, lambda: (Both(), A)),
    (class_of_instance, lambda: (Both(), A)),
    (module_getattr, lambda: (A,)),
    (module_function, lambda: (A,)),
    (module_getattr_default, lambda: (A,)),
    (by_name, lambda: (Both(), A)),
    (set_by_name, lambda: (Both(), A)),
    (getattr_chain, lambda: (Both(), A)),
    (shadow_class_attribute, lambda: (Both(), A)),
    (delete_then_missing, lambda: (Both(), A)),
    (attributes_in_loop, lambda: (Both(), A)),
    (chained_objects, lambda: (A,)),
    (chained_objects_escape, lambda: (A,)),
    (swap_attributes, lambda: (Both(), A)),
]


@pytest.mark.parametrize("fn, make", CASES, ids=lambda case: getattr(case, "__name__", "args"))
def test_same(fn, make):
    check(fn, make=lambda: (make(), {}))


def missing_attribute(o, x):
    return x + o.nothing


def missing_after_work(o, x):
    y = x * 2
    return y + o.nothing


def delete_missing(o, x):
    y = x * 2
    del o.nothing
    return y


def missing_of_class(o, x):
    return x + Base.nothing


def missing_of_super(o, x):
    return x + super(Both, o).nothing


def missing_of_module(o, x):
    return x + types.nothing


FAILING = [
    missing_attribute,
    missing_after_work,
    delete_missing,
    missing_of_class,
    missing_of_super,
    missing_of_module,
]


@pytest.mark.parametrize("fn", FAILING)
def test_failing(fn):
    check(fn, make=lambda: ((Both(), A), {}), breaks="raises")
