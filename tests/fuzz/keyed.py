"""Random functions over lists and dicts whose indices and keys are another number in each call.

Items are read, stored, swapped, appended and taken out at numbers that vary and at such that are computed
from them; dicts are asked for keys that they have or have not, and grow. Two names may be one container,
and two keys one key. Each call is made plainly and compiled, in equal worlds: result, exception with its
line, what the containers hold, in order, and which of it is one object have to be the same.
`python tests/fuzz/keyed.py --seed N --count M` runs many.
"""

from __future__ import annotations

import random
import sys

import numpy as np
import turns

NUMBERS = ("t", "k", "t - 1", "t + 1", "-t", "k - t", "(t + 1) % n", "t * 2", "n - 1 - t", "abs(k)",
           "min(t, k)", "2")
KEYS = ("t", "k", "(t, k)", "(k, t)", "t + 1", "s", "(s, t)", "(t, k + 1)", "'a'", "p", "1.0", "t % 3",
        "not t")
VALUES = ("x * 1.5", "x + w", "t", "w", "x", "None", "k + 1", "[x]", "s")
STATEMENTS = (
    "w = xs[{n}]",
    "w = w + xs[{n}]",
    "w = ys[{n}] * 2.0",
    "w = pair[{b}][{n}]",
    "xs[{n}] = {f}",
    "ys[{n}] += {f}",
    "xs[{n}], xs[{n}] = xs[{n}], xs[{n}]",
    "xs.append({f})",
    "w = xs[-1]",
    "xs.pop()",
    "w = len(xs)",
    "w = d[{k}]",
    "w = d.get({k}, {v})",
    "d[{k}] = {v}",
    "e[{k}] = {v}",
    "d[{k}] = d.get({k}, 0.0)",
    "w = d.setdefault({k}, {v})",
    "w = {k} in d",
    "del d[{k}]",
    "w = e.pop({k}, {v})",
    "w = e.pop({k})",
    "w = list(d)",
    "w = len(e)",
    "w = d[{k}] is e.get({k})",
    "if {k} not in d:\n        d[{k}] = {v}",
    "if {k} in e:\n        w = e[{k}]\n    else:\n        e[{k}] = w",
    "try:\n        w = d[{k}]\n    except KeyError as error:\n        w = error.args",
    "try:\n        w = xs[{n}]\n    except IndexError as error:\n        w = str(error)",
    "for i in range(t):\n        w = xs[i]",
    "x = x * xs[{n}]",
)
HEADER = """\
import numpy as np


def fn(x, xs, ys, pair, d, e, t, k, s, p):
    n = len(ys)
    w = x * 2.0
"""


class Keyed:
    def __init__(self, seed):
        self.random = random.Random(f"keyed {seed}")
        lines = ["    " + self.fill(self.random.choice(STATEMENTS)) for _ in range(self.random.randint(1, 7))]
        lines.append("    return w, x + t")
        self.source = HEADER + "\n".join(lines) + "\n"

    def fill(self, text):
        while "{" in text:
            head, _, rest = text.partition("{")
            kind, _, rest = rest.partition("}")
            text = head + self.one(kind) + rest
        return text

    def one(self, kind):
        if kind == "b":
            return self.random.choice("01")
        if kind == "f":
            return self.random.choice(("x * 1.5", "1.5", "x", "2.0"))
        return self.random.choice({"n": NUMBERS, "k": KEYS, "v": VALUES}[kind])


class World:
    """The arguments of calls, and what is told of each call."""

    def __init__(self, target, one_list, one_dict):
        self.target = target
        self.arrays = [np.arange(3.0) + i for i in range(6)]
        self.xs = list(self.arrays)
        self.ys = self.xs if one_list else [np.ones(3) * i for i in range(5)]
        self.pair = (self.xs, self.ys)
        self.d = {(1, 2): self.arrays[0], 1: 2.5, "a": self.arrays[1], (0, 0): None}
        self.e = self.d if one_dict else {2: self.arrays[2], "b": 1.0}
        self.tuples = [(1, 2), (0, 1), ("a", 1)]

    def call(self, t, k, s, p):
        try:
            arguments = (self.xs, self.ys, self.pair, self.d, self.e, t, k, s, self.tuples[p])
            got = ("result", self.target(self.arrays[0], *arguments))
        except Exception as error:
            got = turns.raised(error, "keyed ")
        del self.xs[40:], self.ys[40:]
        known = {id(one): number for number, one in enumerate(self.arrays)}
        return show((got, self.xs, self.ys, self.d, self.e), known)


def show(value, known):
    if isinstance(value, np.ndarray):
        number = known.setdefault(id(value), len(known))
        return (number, value.dtype.str, value.shape, value.tobytes())
    if isinstance(value, (list, tuple)):
        return (type(value).__name__, [show(one, known) for one in value])
    if isinstance(value, dict):
        return [(show(key, known), show(one, known)) for key, one in value.items()]
    return (type(value).__name__, repr(value))


def run(seed, calls=40):
    """None, or the text of the first difference."""
    pick = random.Random(seed)
    shared = pick.random() < 0.3, pick.random() < 0.3

    def arguments():
        for _ in range(calls):
            yield pick.randrange(5), pick.randrange(-2, 4), pick.choice("abc"), pick.randrange(3)

    def make_world(space, target):
        return World(target, *shared)

    return turns.compare(f"keyed {seed}", Keyed(seed).source, make_world, arguments())


if __name__ == "__main__":
    sys.exit(turns.main(run, __doc__))
