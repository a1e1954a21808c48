"""Attributes and methods of user objects, modules and classes."""

import math

import numpy as np
import pytest
from differential import Compiled, check

A = np.linspace(0.5, 2.0, 4)


class Point:
    scale = 2.0

    def __init__(self, x, y):
        self.x = x
        self.y = y

    def norm(self):
        return self.x * self.x + self.y * self.y

    def scaled(self, by=None):
        return self.norm() * (self.scale if by is None else by)

    @property
    def total(self):
        return self.x + self.y

    @classmethod
    def factor(cls, n):
        return cls.scale * n

    @staticmethod
    def twice(v):
        return v * 2.0

    def __add__(self, other):
        return self.x + other.x

    def __call__(self, v):
        return self.x * v

    def __len__(self):
        return 3

    def __getitem__(self, i):
        return self.x * i


class Child(Point):
    scale = 5.0

    def norm(self):
        return super().norm() + 1.0


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a, b):
        self.a = a
        self.b = b


def attributes(p):
    return p.x + p.y, p.scale


def methods(p):
    return p.norm(), p.scaled(), p.scaled(3.0), p.scaled(by=p.x)


def properties(p):
    return p.total * 2.0


def class_methods(p):
    return p.x * p.factor(2), p.twice(p.x), Point.twice(p.y), Point.factor(3)


def unbound(p):
    return Point.norm(p)


def bound_method_object(p):
    f = p.norm
    return f() + f()


def operators(p, q):
    return p + q, p(q.x), len(p), p[3]


def slots(s):
    return s.a * s.b


def module_attributes(x):
    return x * math.pi + math.sqrt(2.0) * np.pi, np.float64(3)


def class_attribute(x):
    return x * Point.scale * Child.scale


def getattr_forms(p):
    return getattr(p, "x") + 1.0, getattr(p, "missing", 5), hasattr(p, "y"), hasattr(p, "z")


def isinstance_forms(p):
    return (
        isinstance(p, Point),
        isinstance(p, Child),
        type(p) is Point,
        issubclass(Child, Point),
        p.x + 1.0,
    )


def new_object(x):
    p = Point(x, x + 1.0)
    return p.norm()


def new_object_escapes(x):
    p = Point(x, x + 1.0)
    p.x = p.x * 2.0
    return p


def new_objects_linked(x):
    p = Point(x, None)
    q = Point(x + 1.0, p)
    p.y = q
    return p


def object_in_container(x):
    return {"p": Point(x, 1)}, [Point(1, x)]


CASES = [
    (attributes, Point(A, A + 1)),
    (methods, Point(A, A + 1)),
    (methods, Child(A, A + 1)),
    (properties, Point(A, A + 1)),
    (class_methods, Point(A, A + 1)),
    (class_methods, Child(A, A + 1)),
    (unbound, Child(A, A + 1)),
    (bound_method_object, Point(A, A + 1)),
    (operators, Point(A, 1), Point(A * 2, 1)),
    (slots, Slotted(A, 3.0)),
    (module_attributes, A),
    (class_attribute, A),
    (getattr_forms, Point(A, 1)),
    (isinstance_forms, Point(A, 1)),
    (isinstance_forms, Child(A, 1)),
    (new_object, A),
    (new_object_escapes, A),
    (new_objects_linked, A),
    (object_in_container, A),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_same(case):
    check(*case)


def test_bound_method_as_entry():
    p = Point(A, A + 1)
    check(p.norm)
    check(Child(A, 2.0).scaled)


def test_changed_attribute_is_noticed():
    p = Point(A, 2.0)
    compiled = Compiled(methods)
    for y in (2.0, 3.0, A * 7, 1):
        p.y = y
        for a, b in zip(compiled(p), methods(p)):
            np.testing.assert_array_equal(a, b)


def test_changed_class_is_noticed(monkeypatch):
    p = Point(A, A)
    compiled = Compiled(methods)
    compiled(p)
    monkeypatch.setattr(Point, "scale", 10.0)
    for a, b in zip(compiled(p), methods(p)):
        np.testing.assert_array_equal(a, b)
    monkeypatch.setattr(Point, "norm", lambda self: self.x)
    for a, b in zip(compiled(p), methods(p)):
        np.testing.assert_array_equal(a, b)


def test_instance_attribute_that_shadows_a_method():
    p = Point(A, A)
    compiled = Compiled(methods)
    compiled(p)
    p.norm = lambda: A * 100
    for a, b in zip(compiled(p), methods(p)):
        np.testing.assert_array_equal(a, b)
