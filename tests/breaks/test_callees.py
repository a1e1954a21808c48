"""Breaks in functions that are called: each frame of the chain is compiled around its own break.

A break in a call that is followed ends the caller's piece before the call. The callee then runs as a
frame of its own, and is captured there, whatever calls it.
"""

from __future__ import annotations

import sys

import dyntrace
import numpy as np
import pytest
from differential import FORCED, Compiled, assert_same

A = np.linspace(0.5, 2.0, 4)
LOG: list = []

pytestmark = pytest.mark.skipif(bool(FORCED), reason="breaks are forced: graphs are counted")


@dyntrace.disable
def opaque(value=None):
    LOG.append(1)
    return value


def innermost(x):
    y = x * 3
    opaque()
    return y + 1


def middle(x):
    y = innermost(x + 1) * 2
    return y - x


def outer(x):
    y = x * 2
    z = middle(y)
    return z * y


def with_keywords(x, *, scale=2.0, offset):
    y = x * scale
    opaque()
    return y + offset


def calls_with_keywords(x):
    y = x - 1
    return with_keywords(y, offset=y) * 2


class Model:
    def __init__(self, w):
        self.w = w

    def layer(self, x):
        y = x * self.w
        opaque()
        return y + self.w

    def forward(self, x):
        return self.layer(self.layer(x)) * 2

    def __call__(self, x):
        return self.forward(x) + 1


def calls_methods(x):
    model = MODEL
    return model(x * 2) - 1


MODEL = Model(A + 1)


def calls_a_closure(x):
    w = x + 1

    def inner(v):
        y = v * w
        opaque()
        return y - w

    return inner(x) + inner(w)


def recursive(x, n):
    y = x * 2
    opaque()
    return y if n == 0 else recursive(y, n - 1) + x


def calls_recursively(x):
    return recursive(x, 3) * 2


def in_a_comprehension(x):
    return [innermost(x * i) for i in range(3)]


def in_a_sort_key(x):
    return sorted([x * 3, x, x * 2], key=lambda v: float(innermost(v)[0]))


def in_a_try(x):
    try:
        y = innermost(x)
        failing(y)
    except ValueError as error:
        y = innermost(x) + len(str(error))
    return y * 2


def failing(x):
    y = x * 2
    opaque()
    raise ValueError(str((y + 1).shape))


# The fewest graphs with array work: before, inside of and after the calls.
CASES = {
    outer: 5,
    calls_with_keywords: 4,
    calls_methods: 4,
    calls_a_closure: 4,
    calls_recursively: 3,
    in_a_comprehension: 2,  # up to 3.11 a frame of its own without an array among its arguments
    in_a_sort_key: 2,
    in_a_try: 4,
}


@pytest.mark.parametrize("fn", CASES, ids=lambda fn: fn.__name__)
def test_captured(fn):
    plain = fn(A)
    with dyntrace.config.patch(strict=True, trace_budget_ns=0):
        compiled = Compiled(fn)
        for _ in range(6):
            assert_same(plain, compiled(A))
    graphs = {(r["function"], str(r["graph"])) for r in compiled.region.records if r["graph"]}
    assert len(graphs) >= CASES[fn], "\n".join(map(str, graphs))


def pieces(x):
    y = x * 2
    opaque()
    yield y + 1
    z = y * y
    opaque()
    yield z - 1


def over_a_generator(x):
    total = x * 0
    for y in pieces(x):
        total = total + y * 2
        opaque()
    return total * 3


def test_generators():
    plain = over_a_generator(A)
    with dyntrace.config.patch(strict=True, trace_budget_ns=0):
        compiled = Compiled(over_a_generator)
        for _ in range(6):
            assert_same(plain, compiled(A))
    names = {r["function"] for r in compiled.region.records if r["graph"]}
    assert "over_a_generator" in names
    if sys.version_info >= (3, 11):  # the frame of a generator is made without a call before
        assert "pieces" in names
