"""Instances of classes derived from ndarray, and the plain arrays that graphs know in their place."""

from typing import Any

import numpy as np


class Bare(np.ndarray):
    """A class that hears of no instance, with room for what the instances of others keep."""


def plain(array: Any) -> Any:
    """The same memory as an array of no class of the program; none of its methods is asked."""
    return np.ndarray.view(array, np.ndarray)
