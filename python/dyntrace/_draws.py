"""What graphs call for draws from a generator of `random` that give several numbers.

A node with several results takes them from a tuple; one with a single result is that result.
"""

from __future__ import annotations

from typing import Any


def _results(numbers: list[Any]) -> Any:
    return tuple(numbers) if len(numbers) > 1 else numbers[0]


def shuffle(generator: Any, items: list[Any]) -> Any:
    """The items in the order in which the generator puts them."""
    generator.shuffle(items)
    return _results(items)


def sample(generator: Any, population: Any, k: int) -> Any:
    """k items, each at most once."""
    return _results(generator.sample(population, k))


def choices(generator: Any, population: Any, weights: Any, cum_weights: Any, k: int) -> Any:
    """k items, each drawn from all."""
    return _results(generator.choices(population, weights=weights, cum_weights=cum_weights, k=k))
