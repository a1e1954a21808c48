"""The fifteen chains of array code, as users write them, and operands of a given size for each."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np


def black_scholes(spot, strike, time, rate, volatility):
    """Prices of European calls and puts; Abramowitz and Stegun 26.2.17 for the normal distribution."""
    root = volatility * np.sqrt(time)
    d1 = (np.log(spot / strike) + (rate + 0.5 * volatility * volatility) * time) / root
    d2 = d1 - root
    discounted = strike * np.exp(-rate * time)

    def normal(x):
        a = np.abs(x)
        k = 1.0 / (1.0 + 0.2316419 * a)
        poly = k * (
            0.319381530
            + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)))
        )
        tail = 0.3989422804014327 * np.exp(-0.5 * a * a) * poly
        return np.where(x >= 0.0, 1.0 - tail, tail)

    call = spot * normal(d1) - discounted * normal(d2)
    put = discounted * normal(-d2) - spot * normal(-d1)
    return call, put


def softmax(x):
    shifted = np.exp(x - x.max(axis=1, keepdims=True))
    return shifted / shifted.sum(axis=1, keepdims=True)


def distance(a, b, scale):
    """Of points in three dimensions, each coordinate in units of its scale."""
    d = (a - b) / scale
    return np.sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2])


def grey(r, g, b):
    """From gamma-coded channels to a gamma-coded grey."""
    light = 0.2126 * r**2.2 + 0.7152 * g**2.2 + 0.0722 * b**2.2
    return np.clip(light ** (1 / 2.2) * 255.0, 0.0, 255.0)


def polynomial(x):
    p = 0.25 * x - 1.5
    for c in (2.0, -0.75, 0.5, 3.0, -1.25, 0.125):
        p = p * x + c
    return p


def where_clip(x, low, high):
    y = np.clip(x, low, high)
    y = np.where(y > 0.5, y * 2.0 - 0.5, y * y)
    return np.where(x < low, -y, np.minimum(y, 1.0))


def zscore(x):
    return (x - x.mean()) / x.std()


def logsumexp(x):
    top = x.max(axis=1, keepdims=True)
    return np.log(np.exp(x - top).sum(axis=1)) + top[:, 0]


def mandelbrot(zr, zi, cr, ci, count):
    rr, ii = zr * zr, zi * zi
    inside = rr + ii <= 4.0
    zi = np.where(inside, 2.0 * zr * zi + ci, zi)
    zr = np.where(inside, rr - ii + cr, zr)
    return zr, zi, count + inside


def sigmoid(x, w, b):
    return 1.0 / (1.0 + np.exp(-(x * w + b)))


def outer(column, row):
    """A Gaussian kernel matrix: a column against a row."""
    d = column - row
    return np.exp(-0.5 * d * d) * 0.25 + column * row


def int_mask(x, y):
    odd = x & 1
    z = (x >> 2) ^ (y * 3 + odd)
    return np.where(z % 7 > 3, z - y, z | 1)


def bool_mask(x, y):
    good = (x > 0.25) & (x < 1.25) & ~(y > 1.4)
    kept = np.where(good, x * y, 0.0)
    return kept - (kept > 0.5) * 0.125, good | (y < 0.6)


def rows(x, w):
    """Sums and largest values along rows."""
    y = x * w - 1.0
    return (y * y).sum(axis=1), np.abs(y).max(axis=1)


def columns(x, w):
    """The same along columns, and a mean."""
    y = x * w - 1.0
    return (y * y).sum(axis=0), np.abs(y).max(axis=0), y.mean(axis=0)


@dataclasses.dataclass(frozen=True)
class Chain:
    function: Callable[..., Any]
    # (elements, floating type) -> arguments; integer chains take the integer of that size
    operands: Callable[[int, type], tuple[np.ndarray, ...]]


def values(count: int, shape: tuple[int, ...], kind: type) -> tuple[np.ndarray, ...]:
    random = np.random.default_rng(11)
    return tuple((random.random(shape) + 0.5).astype(kind) for _ in range(count))


def table(size: int) -> tuple[int, int]:
    """Rows and columns of about `size` elements."""
    columns = 2 if size < 100 else 100 if size < 1_000_000 else 1_000
    return size // columns, columns


def flat(count: int) -> Callable[[int, type], tuple[np.ndarray, ...]]:
    return lambda size, kind: values(count, (size,), kind)


def tables(count: int) -> Callable[[int, type], tuple[np.ndarray, ...]]:
    return lambda size, kind: values(count, table(size), kind)


def prices(size: int, kind: type) -> tuple[np.ndarray, ...]:
    spot, strike, time, rate, volatility = values(5, (size,), kind)
    return spot * 20, strike * 20, time, rate * kind(0.05), volatility * kind(0.3)


def points(size: int, kind: type) -> tuple[np.ndarray, ...]:
    a, b = values(2, (3, max(1, size // 3)), kind)
    return a, b, values(1, (3, 1), kind)[0]


def limits(size: int, kind: type) -> tuple[np.ndarray, ...]:
    x, low, high = values(3, (size,), kind)
    return x, low - kind(0.25), high + kind(0.25)


def plane(size: int, kind: type) -> tuple[np.ndarray, ...]:
    zr, zi, cr, ci = (v * kind(2) - kind(2) for v in values(4, (size,), kind))
    return zr, zi, cr, ci, np.zeros(size, np.int32 if kind is np.float32 else np.int64)


def axes(size: int, kind: type) -> tuple[np.ndarray, ...]:
    rows, columns = table(size)
    return values(1, (rows, 1), kind)[0], values(1, (columns,), kind)[0]


def integers(size: int, kind: type) -> tuple[np.ndarray, ...]:
    random = np.random.default_rng(11)
    whole = np.int32 if kind is np.float32 else np.int64
    return tuple(random.integers(0, 1000, size, dtype=whole) for _ in range(2))


def weighted(size: int, kind: type) -> tuple[np.ndarray, ...]:
    (x,) = values(1, table(size), kind)
    return x, values(1, (x.shape[1],), kind)[0]


CHAINS = (
    Chain(black_scholes, prices),
    Chain(softmax, tables(1)),
    Chain(distance, points),
    Chain(grey, flat(3)),
    Chain(polynomial, flat(1)),
    Chain(where_clip, limits),
    Chain(zscore, flat(1)),
    Chain(logsumexp, tables(1)),
    Chain(mandelbrot, plane),
    Chain(sigmoid, flat(3)),
    Chain(outer, axes),
    Chain(int_mask, integers),
    Chain(bool_mask, flat(2)),
    Chain(rows, weighted),
    Chain(columns, weighted),
)
