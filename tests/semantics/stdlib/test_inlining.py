"""Calls that are followed: decorators, recursion, callables as values."""

import functools

import dyntrace
import numpy as np
import pytest
from differential import check

A = np.linspace(0.5, 2.0, 4)
CAPTURED = []


def captured(fn):
    CAPTURED.append(fn)
    return fn


def plus_one(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        return fn(*args, **kwargs) + 1.0

    return wrapper


def scaled_by(factor):
    def decorate(fn):
        @functools.wraps(fn)
        def wrapper(x):
            return fn(x) * factor

        return wrapper

    return decorate


@plus_one
@scaled_by(3.0)
def decorated(x):
    return x * 2.0


def is_even(n):
    return True if n == 0 else is_odd(n - 1)


def is_odd(n):
    return False if n == 0 else is_even(n - 1)


def ackermann(m, n):
    if m == 0:
        return n + 1
    return ackermann(m - 1, 1) if n == 0 else ackermann(m - 1, ackermann(m, n - 1))


def halve(x):
    return x / 2.0


def square(x):
    return x * x


TABLE = {"halve": halve, "square": square, "negate": lambda x: -x}
PIPELINE = [halve, square, np.sqrt, functools.partial(np.add, 1.0)]


class Layer:
    def __init__(self, weight, activation):
        self.weight = weight
        self.activation = activation

    def __call__(self, x):
        return self.activation(x * self.weight)


LAYERS = [Layer(0.5, np.tanh), Layer(2.0, lambda x: np.maximum(x, 0.0))]


@captured
def decorators(x):
    return decorated(x), decorated.__wrapped__(x)


@captured
def mutual_recursion(x):
    return x * 2.0 if is_even(10) else x


@captured
def double_recursion(x):
    return x + ackermann(1, 3)


@captured
def dispatch_table(x):
    for name in ("square", "halve", "negate"):
        x = TABLE[name](x)
    return x


@captured
def pipeline(x):
    for step in PIPELINE:
        x = step(x)
    return x


@captured
def composed(x):
    def compose(*functions):
        return functools.reduce(lambda f, g: lambda v: g(f(v)), functions)

    return compose(square, halve, lambda v: v + 1.0)(x)


@captured
def curried(x):
    def curry(a):
        def with_a(b):
            def with_b(c):
                return a * b + c

            return with_b

        return with_a

    return curry(x)(2.0)(x)


@captured
def callable_objects(x):
    for layer in LAYERS:
        x = layer(x)
    return x


@captured
def callback(x):
    def twice(fn, value):
        return fn(fn(value))

    return twice(lambda v: v * 1.5, x), list(map(lambda k: k * 2, [1, 2]))


@captured
def fixed_point(x):
    def repeat(fn, n, value):
        return value if n == 0 else repeat(fn, n - 1, fn(value))

    return repeat(halve, 5, x)


@captured
def methods_as_values(x):
    steps = [x.sum, x.max, "abc".upper, [1, 2].count]
    return steps[0](), steps[1](), steps[2](), steps[3](2)


@captured
def keyword_forwarding(x):
    def inner(a, *, scale=1.0, shift=0.0):
        return a * scale + shift

    def outer(*args, **kwargs):
        return inner(*args, **{"shift": 1.0, **kwargs})

    return outer(x), outer(x, scale=2.0), outer(x, shift=3.0)


@captured
def functions_from_a_factory(x):
    def make(n):
        return lambda v: v + n

    adders = [make(float(n)) for n in range(3)]
    return functools.reduce(lambda v, add: add(v), adders, x)


@captured
def recursion_over_a_tree(x):
    tree = (1, (2, 3), ((4,), 5))

    def total(node):
        return sum(total(child) for child in node) if isinstance(node, tuple) else node

    return x * total(tree)


@pytest.mark.parametrize("fn", CAPTURED)
def test_inlining(fn):
    check(fn, A)


def down(x, n):
    return x + 1.0 if n == 0 else down(x, n - 1)


def deep(x):
    return down(x, 150)


def test_depth_is_configurable():
    with dyntrace.config.patch(inline_depth=200):
        check(deep, A)
    with dyntrace.config.patch(inline_depth=100):
        check(deep, A, breaks="inline-depth")
