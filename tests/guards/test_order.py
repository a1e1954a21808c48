"""Checks at which calls keep failing move ahead of the others, with what they read."""

import itertools
import random

import dyntrace
import numpy as np
import pytest
from recipe import Recipe

X = np.arange(4.0)
OFTEN = 12  # failures after which the check has moved


class Thing:
    def __init__(self, **values):
        self.__dict__.update(values)


def make(source, **names):
    space = dict(names)
    exec(source, space)
    return space["f"]


def three_numbers():
    """x.a, x.b and y.c, each of which has to be 1."""
    f = make("def f(x, y): return x")
    r = Recipe(f)
    for base, name in (("x", "a"), ("x", "b"), ("y", "c")):
        source = r.attr(r.local(base), name)
        r.fact("TYPE", r.local(base), Thing)
        r.fact("TYPE", source, int)
        r.fact("CONSTANT", source, 1)
        r.want(source)
    return r.build()


def both(a=1, b=1, c=1):
    return Thing(a=a, b=b), Thing(c=c)


@pytest.mark.parametrize("often", ["a", "b", "c"])
def test_what_fails_often_is_told_first(often):
    program = three_numbers()
    assert program.check(*both()) == [1, 1, 1]
    wrong = both(a=2, b=2, c=2)
    assert "['x'].a" in program.explain(*wrong)
    for _ in range(OFTEN):
        assert not program.holds(*both(**{often: 2}))
    assert f"].{often} == 1" in program.explain(*wrong)
    for values in itertools.product((1, 2), repeat=3):
        held = program.check(*both(*values))
        assert held == ([1, 1, 1] if values == (1, 1, 1) else None)


def test_it_moves_again_when_something_else_fails():
    program = three_numbers()
    for name in ("c", "a", "c", "b", "a"):
        for _ in range(OFTEN):
            assert not program.holds(*both(**{name: 2}))
            assert program.check(*both()) == [1, 1, 1]


def test_other_types_where_the_order_has_changed():
    program = three_numbers()
    for _ in range(OFTEN):
        assert not program.holds(*both(c=2))
    for x, y in [(None, None), (1, "t"), (Thing(), Thing()), (X, X), (Thing(a=1, b=1), None),
                 (None, Thing(c=1)), (Thing(a=1, b=1), Thing(c=1.0)), (dict, type)]:  # fmt: skip
        assert not program.holds(x, y)
    assert program.check(*both()) == [1, 1, 1]


SPACE = {
    "G": 1.0,
    "T": {"one": 2.0, "two": (1, 2)},
    "L": [1.0, 2.0, 3.0],
}
FUNCTION = """
def f(x, y, o, k):
    t = x * G + y.shape[0]
    if y.shape[0] > 2:
        t = t - T["one"]
    t = t + o.a * o.inner.b + L[1]
    if k.mode == "up" and o.inner.name is None:
        t = t + k.by
    return t + len(o.items) + T["two"][1]
"""


def values(rng):
    """Arguments, most of them as usual."""
    odd = lambda usual, *others: usual if rng.random() < 0.75 else rng.choice(others)  # noqa: E731
    inner = Thing(b=odd(2.0, 3, 4.5), name=odd(None, "n", 1))
    o = Thing(a=odd(1.0, 2.0, 3), inner=odd(inner, Thing(b=1.0, name=None, more=1)),
              items=odd([1], [], (1, 2), {1: 2}))  # fmt: skip
    k = Thing(mode=odd("up", "down", 3), by=odd(1, 2.5, True))
    x = odd(X, X.astype(np.float32), np.ones((2, 4)), 3.0)
    y = odd(np.ones(3), np.ones(2), np.ones((4, 2)))
    return x, y, o, k


def change(rng, space):
    name = rng.choice(["G", "T", "L", None, None, None, None])
    if name == "G":
        space["G"] = rng.choice([1.0, 1.5, 2])
    elif name == "T":
        space["T"]["one"] = rng.choice([2.0, 3.0, 4])
    elif name == "L":
        space["L"][rng.randrange(3)] = rng.choice([2.0, 5.0])


@pytest.mark.filterwarnings("ignore:.*recompile limit")
@pytest.mark.parametrize("seed", range(12))
def test_results_stay_right(seed):
    rng = random.Random(seed)
    space = {**SPACE, "T": dict(SPACE["T"]), "L": list(SPACE["L"])}
    exec(FUNCTION, space)
    plain = space["f"]
    compiled = dyntrace.compile(plain)
    limit = seed % 4 + 1
    with dyntrace.config.patch(strict=True, weigh_after=0, recompile_limit=limit):
        for _ in range(150):
            change(rng, space)
            arguments = values(rng)
            expected, found = plain(*arguments), compiled(*arguments)
            assert type(found) is type(expected)
            assert np.asarray(found).tobytes() == np.asarray(expected).tobytes()
