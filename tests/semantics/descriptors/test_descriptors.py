"""Descriptors: properties, class and static methods, slots, descriptors of Python classes."""

import functools

import numpy as np
import pytest
from differential import check

A = np.linspace(0.5, 2.0, 4)


class Celsius:
    def __init__(self, degrees):
        self._degrees = degrees

    @property
    def degrees(self):
        """Degrees."""
        return self._degrees

    @degrees.setter
    def degrees(self, value):
        self._degrees = value * 1.0

    @degrees.deleter
    def degrees(self):
        self._degrees = None

    @property
    def fahrenheit(self):
        return self.degrees * 1.8 + 32.0

    nothing = property()


class Positive:
    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, instance, owner):
        if instance is None:
            return self
        return getattr(instance, self.name)

    def __set__(self, instance, value):
        setattr(instance, self.name, abs(value))

    def __delete__(self, instance):
        delattr(instance, self.name)


class Constant:
    def __init__(self, value):
        self.value = value

    def __get__(self, instance, owner=None):
        return self.value if instance is None else self.value * instance.factor


class WriteOnly:
    def __set__(self, instance, value):
        instance.__dict__["seen"] = value


class Counted:
    def __set__(self, instance, value):
        instance.log = value


class Sample:
    weight = Positive()
    scale = Constant(3.0)
    counted = Counted()

    def __init__(self, weight, factor=2.0):
        self.weight = weight
        self.factor = factor
        self.log = 0


class Cached:
    def __init__(self, x):
        self.x = x
        self.calls = 0

    @functools.cached_property
    def total(self):
        self.calls += 1
        return self.x.sum() + 1.0


class Slotted:
    __slots__ = ("a", "b", "__private")

    def __init__(self, a):
        self.a = a

    def hide(self, value):
        self.__private = value
        return self.__private


class SlottedChild(Slotted):
    __slots__ = ("c",)


class SlottedWithDict(Slotted):
    pass


class Tool:
    unit = 2.0

    @classmethod
    def make(cls, x):
        tool = cls()
        tool.x = x * cls.unit
        return tool

    @classmethod
    def name_of(cls):
        return cls.unit

    @staticmethod
    def double(x):
        return x * 2.0

    @staticmethod
    def pair(x, *rest, key=1.0):
        return x + key, rest


class SubTool(Tool):
    unit = 5.0

    @classmethod
    def make(cls, x):
        tool = super().make(x)
        tool.extra = 1
        return tool


def property_get(c, x):
    return x + c.degrees


def property_of_property(c, x):
    return x * c.fahrenheit


def property_set(c, x):
    c.degrees = 40
    return x + c.degrees


def property_set_array(c, x):
    c.degrees = x + 1
    return c


def property_delete(c, x):
    del c.degrees
    return x * 2, c._degrees


def property_augmented(c, x):
    c.degrees += 1.0
    return x + c.fahrenheit


def property_of_class(c, x):
    return x * 2, Celsius.degrees is Celsius.degrees, Celsius.degrees.fget(c)


def property_in_loop(c, x):
    for step in range(3):
        c.degrees = step
        x = x + c.fahrenheit
    return x


def property_through_getattr(c, x):
    setattr(c, "degrees", 3.0)
    return x + getattr(c, "fahrenheit", 1.0), hasattr(c, "degrees"), hasattr(c, "none")


def data_descriptor(s, x):
    return x * s.weight


def data_descriptor_set(s, x):
    s.weight = -7.0
    return x * s.weight


def data_descriptor_set_then_delete(s, x):
    s.weight = -7.0
    del s.weight
    return x * 2.0, hasattr(s, "_weight")


def descriptor_of_class(s, x):
    return x * Sample.scale, Sample.weight is Sample.weight


def non_data_descriptor(s, x):
    return x * s.scale


def non_data_descriptor_shadowed(s, x):
    s.scale = 10.0
    return x * s.scale


def set_only_descriptor(s, x):
    s.counted = 5
    return x + s.log


def new_with_descriptor(x):
    s = Sample(-4.0)
    return x * s.weight + s.scale


def new_with_descriptor_escapes(x):
    return Sample(-4.0, factor=x)


def cached_property_once(c):
    return c.total * 2.0 + c.total, c.calls


def cached_property_new(x):
    c = Cached(x)
    first = c.total
    return first, c.total is first, c.calls


def cached_property_escapes(x):
    c = Cached(x)
    c.total
    return c


def cached_property_present(c):
    c.total = 5.0
    return c.x * c.total


def slot_read(s, x):
    return x * s.a


def slot_write(s, x):
    s.b = x + 1.0
    return s.a + s.b


def slot_missing(s, x):
    return x, hasattr(s, "b"), getattr(s, "b", 4)


def slot_delete(s, x):
    s.b = 1.0
    del s.b
    return x + 1, hasattr(s, "b")


def slot_private(s, x):
    return s.hide(x * 2)


def slot_new(x):
    s = SlottedChild(x)
    s.c = s.a * 2
    return s


def slot_new_with_dict(x):
    s = SlottedWithDict(x)
    s.other = 1
    return s


def class_method_make(x):
    return Tool.make(x).x


def class_method_inherited(x):
    return SubTool.make(x)


def class_method_on_instance(t, x):
    return x * t.name_of(), t.double(x)


def static_method_star(x):
    return Tool.pair(x, 1, 2, key=3.0)


def class_method_object(x):
    f = SubTool.name_of
    return x * f()


CASES = [
    (property_get, lambda: (Celsius(3.0), A)),
    (property_of_property, lambda: (Celsius(3.0), A)),
    (property_set, lambda: (Celsius(3.0), A)),
    (property_set_array, lambda: (Celsius(3.0), A)),
    (property_delete, lambda: (Celsius(3.0), A)),
    (property_augmented, lambda: (Celsius(3.0), A)),
    (property_of_class, lambda: (Celsius(3.0), A)),
    (property_in_loop, lambda: (Celsius(3.0), A)),
    (property_through_getattr, lambda: (Celsius(3.0), A)),
    (data_descriptor, lambda: (Sample(2.0), A)),
    (data_descriptor_set, lambda: (Sample(2.0), A)),
    (data_descriptor_set_then_delete, lambda: (Sample(2.0), A)),
    (descriptor_of_class, lambda: (Sample(2.0), A)),
    (non_data_descriptor, lambda: (Sample(2.0), A)),
    (non_data_descriptor_shadowed, lambda: (Sample(2.0), A)),
    (set_only_descriptor, lambda: (Sample(2.0), A)),
    (new_with_descriptor, lambda: (A,)),
    (new_with_descriptor_escapes, lambda: (A,)),
    (cached_property_once, lambda: (Cached(A),)),
    (cached_property_new, lambda: (A,)),
    (cached_property_escapes, lambda: (A,)),
    (cached_property_present, lambda: (Cached(A),)),
    (slot_read, lambda: (Slotted(2.0), A)),
    (slot_write, lambda: (Slotted(2.0), A)),
    (slot_missing, lambda: (Slotted(2.0), A)),
    (slot_delete, lambda: (Slotted(2.0), A)),
    (slot_private, lambda: (Slotted(2.0), A)),
    (slot_new, lambda: (A,)),
    (slot_new_with_dict, lambda: (A,)),
    (class_method_make, lambda: (A,)),
    (class_method_inherited, lambda: (A,)),
    (class_method_on_instance, lambda: (Tool(), A)),
    (class_method_on_instance, lambda: (SubTool(), A)),
    (static_method_star, lambda: (A,)),
    (class_method_object, lambda: (A,)),
]


@pytest.mark.parametrize("fn, make", CASES, ids=lambda case: getattr(case, "__name__", "args"))
def test_same(fn, make):
    check(fn, make=lambda: (make(), {}))


def read_missing(c, x):
    return x + c.nothing


def write_missing(c, x):
    c.fahrenheit = 3
    return x + 1


def delete_missing(c, x):
    del c.fahrenheit
    return x + 1


def read_empty_slot(s, x):
    return x + s.b


def delete_empty_slot(s, x):
    y = x + 1
    del s.b
    return y


def write_no_slot(s, x):
    s.zz = x
    return x + 1


def read_only_class_attribute(s, x):
    s.hide = x
    return x + 1


def delete_class_attribute(t, x):
    del t.unit
    return x + 1


FAILING = [
    (read_missing, lambda: (Celsius(3.0), A)),
    (write_missing, lambda: (Celsius(3.0), A)),
    (delete_missing, lambda: (Celsius(3.0), A)),
    (read_empty_slot, lambda: (Slotted(2.0), A)),
    (delete_empty_slot, lambda: (Slotted(2.0), A)),
    (write_no_slot, lambda: (Slotted(2.0), A)),
    (read_only_class_attribute, lambda: (Slotted(2.0), A)),
    (delete_class_attribute, lambda: (Tool(), A)),
]


@pytest.mark.parametrize("fn, make", FAILING, ids=lambda case: getattr(case, "__name__", "args"))
def test_failing(fn, make):
    check(fn, make=lambda: (make(), {}), breaks="raises")
