"""What graphs call on Python numbers where the type of a result depends on values.

A result of another type than the graph was made for raises, and the call is made again plainly.
"""

from __future__ import annotations

from math import prod
from typing import Any


class Unexpected(Exception):
    """The number is not what the graph was made for."""


def fit(value: int, low: int, high: int) -> int:
    """The int itself, if it lies between the bounds."""
    if low <= value <= high:
        return value
    raise Unexpected


def expect(value: object, truth: bool) -> bool:
    """The truth of the value, on which a branch depends whose other way is a `raise`."""
    if bool(value) is truth:
        return truth
    raise Unexpected


def extent(array: Any, axis: int) -> int:
    """The size of an array along an axis."""
    size: int = array.shape[axis]
    return size


def sized(array: Any, axis: int, size: int) -> Any:
    """The array itself, which has that size along the axis."""
    if array.shape[axis] == size:
        return array
    raise Unexpected


def longer(array: Any, axes: tuple[int, ...], than: int) -> Any:
    """The array itself, which has more items than that along the axes, taken together."""
    if prod([array.shape[axis] for axis in axes]) > than:
        return array
    raise Unexpected


def power(base: float, exponent: float) -> float:
    """base ** exponent, an int for ints and a float otherwise: no complex number, no huge one."""
    if type(base) is float or type(exponent) is float:
        result = base**exponent
        if type(result) is float:
            return result
    elif 0 <= exponent <= 64:
        product: int = base**exponent
        return product
    raise Unexpected
