"""The programs that are measured."""

from __future__ import annotations

import numpy as np


def chain(x, y):
    """Ten elementwise operations, all of one rounding each: NumPy's cost here is its overhead."""
    a = x * 0.5 + y
    b = a - x
    c = b * b + 1.0
    d = np.sqrt(c)
    e = np.maximum(d, y)
    return (e - a) / c * d


g1, g2, g3, g4, g5 = 1.0, 2.0, 3.0, 4.0, 5.0


class Settings:
    """Attributes that a compiled function reads and a kernel does not."""

    def __init__(self):
        self.scale = 2.0
        self.shift = 0.5
        self.gain = 1.0


settings = Settings()


def fused(a, b, c):
    """a*b+c, from a function that reads five globals and three attributes as well."""
    if g1 + g2 + g3 + g4 + g5 > 100.0 or settings.scale + settings.shift + settings.gain > 100.0:
        return a
    return a * b + c


class Layer:
    """Parameters that a training step changes in place."""

    def __init__(self, size):
        self.weight = np.linspace(-1, 1, size)
        self.velocity = np.zeros(size)
        self.rate = 0.01


def train(layer, gradient):
    """A step of gradient descent with momentum."""
    layer.velocity *= 0.9
    layer.velocity += gradient
    layer.weight -= layer.rate * layer.velocity


def diffuse(u, c):
    """A step of the heat equation, in place."""
    u[1:-1] += c * (u[2:] - 2.0 * u[1:-1] + u[:-2])


class Point:
    def __init__(self, x, y):
        self.x = x
        self.y = y


def step(i, table, point):
    """Ints, a call, a tuple, a list, a dict: what plain code around arrays does."""
    pair = (i * 3 + 1, i - 2)
    items = [pair[0], pair[1], i & 7]
    total = 0
    for item in items:
        if item % 2 == 0:
            total = total + item * point.x
        else:
            total = total - item * point.y
    table["last"] = total
    return total + len(items)


def plain_python(x, count):
    """`count` times step(), then one array operation."""
    table = {}
    point = Point(2, 3)
    total = 0
    for i in range(count):
        total = total + step(i, table, point)
    return x + total


def sort_key(record):
    return record["weight"], record["name"]


def classify(value, limits):
    for name, limit in limits.items():
        if value < limit:
            return name
    return "large"


def describe(record, index):
    label = f"{record['name']}-{index:03d}"
    if record["tags"]:
        label += "/" + "+".join(record["tags"])
    return label


def bookkeeping(x, count):
    """Helpers on ints, lists, dicts and f-strings, about 200 bytecodes for each of `count`."""
    limits = {"small": 3, "medium": 7, "big": 11}
    records = []
    totals = {}
    for index in range(count):
        weight = (index * 7 + 3) % 13
        record = {"name": f"r{index % 5}", "weight": weight, "tags": []}
        kind = classify(weight, limits)
        if kind != "small":
            record["tags"].append(kind)
        totals[kind] = totals.get(kind, 0) + weight
        record["label"] = describe(record, index)
        low, high = divmod(weight, 4)
        record["digits"] = [digit + 1 for digit in (low, high, index & 3)]
        if any(digit > 3 for digit in record["digits"]) and len(records) < 8:
            records.append(record)
    records.sort(key=sort_key)
    return x + len(records) + sum(totals.values())


def array_ops(x, y, count):
    """`count` times four array operations of three kinds."""
    for _ in range(count):
        x = x * y + x - y
        x = np.maximum(x, y)
    return x


def deep(x, n):
    return x if n == 0 else deep(x, n - 1)


def level_deep(x, n):
    return deep(x, n) + 1.0


class Box:
    """Something with attributes."""


NAMES = tuple(f"name{i}" for i in range(100))


def mutating(x, items, box, n):
    """Writes n items of a list and n // 10 attributes of an object, all of which existed before."""
    for i in range(n):
        items[i] = i * 2
    for i in range(n // 10):
        setattr(box, NAMES[i], i)
    return x + 1
