"""Strides of axes of one item: nothing is read by them, but a program can see them."""

import itertools

import numpy as np
import pytest
from differential import check

SHAPES = [(4, 1), (1, 4), (3, 1, 7), (1, 3, 1), (2, 1, 1, 3)]
FUNCTIONS = {
    "x + 1": lambda x: x + 1,
    "astype": lambda x: x.astype("f4"),
    "astype, then in place": lambda x: _in_place(x.astype("f4")),
    "x + 1, then in place": lambda x: _in_place(x + 1),
    "sort": lambda x: np.sort(x, axis=-2),
    "sort, then a number of another type": lambda x: np.sort(x, axis=-2) == np.int64(-4),
    "integers of two names": lambda x: x.astype("u8") == np.int64(-4),
    "where": lambda x: np.where(x > 3, x, 1.0),
    "round": lambda x: (x - 0.5).round(1),
}


def _in_place(x):
    x %= 3
    return x


def layouts(shape):
    """Axes in any order in memory, forwards and backwards."""
    for order, back in itertools.product(itertools.permutations(range(len(shape))), (False, True)):
        memory = np.arange(float(np.prod(shape))).reshape([shape[i] for i in order])
        x = memory.transpose(np.argsort(order))
        yield x[::-1] if back else x


@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_have_numpys_strides(name):
    for shape in SHAPES:
        for i, _ in enumerate(layouts(shape)):
            check(FUNCTIONS[name], make=lambda: ((list(layouts(shape))[i],), {}))
