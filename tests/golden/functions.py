"""Functions whose graphs, guards and rewritten code are kept as text beside this file."""

from __future__ import annotations

import numpy as np

A = np.arange(12, dtype=np.float64).reshape(3, 4) + 1
ROW = np.arange(4, dtype=np.float64)
GAIN = 0.5
LIMITS = {"low": 0.0, "high": 8.0}


class Curve:
    def __init__(self, gamma, offset):
        self.gamma = gamma
        self.offset = offset

    def apply(self, x):
        return x * self.gamma + self.offset


def chain(x, y):
    return (x * 2.0 + y) / 3.0


def broadcast(x, row, k):
    return np.maximum(x + row[:4], k) * x.shape[0]


def statistics(x):
    mean = x.mean()
    return mean, x.sum(axis=0), x.max()


def shapes(x):
    flat = x.reshape(-1)
    return flat[::2], x.T, x[1:, np.newaxis]


def globals_and_attributes(x, curve):
    y = np.minimum(curve.apply(x), LIMITS["high"])
    return y * GAIN


def containers(x):
    parts = []
    for i in range(2):
        parts.append(x + i)
    return {"parts": parts, "first": parts[0]}, (x, parts)


def effects(x, seen):
    seen.append(x.shape[0])
    seen[0] = x * 2
    return seen


def closure(x):
    def scaled(k):
        return x * k

    return scaled(2.0), scaled


def unused(x):
    x / 0.5
    return x + 1


def numbers(x, n, f):
    total = n * 2 + 1
    return x * f + total, total


CASES = {
    "chain": (chain, lambda: (A, A)),
    "broadcast": (broadcast, lambda: (A, ROW, 2.5)),
    "statistics": (statistics, lambda: (A,)),
    "shapes": (shapes, lambda: (A,)),
    "globals_and_attributes": (globals_and_attributes, lambda: (A, Curve(2.0, 1.0))),
    "containers": (containers, lambda: (ROW,)),
    "effects": (effects, lambda: (ROW, [None])),
    "closure": (closure, lambda: (ROW,)),
    "unused": (unused, lambda: (ROW,)),
    "numbers": (numbers, lambda: (ROW, 3, 0.25)),
}
