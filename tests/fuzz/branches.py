"""Random functions with branches on values of arrays, called with many arguments that go different ways.

Between the branches arrays are written, numbers drawn, lists and attributes changed; behind them stands
what warns or raises for the data of another way. Each call is made plainly and compiled, in equal worlds:
result, exception with its line, warnings, arguments, random state and the lists have to be the same.
`python tests/fuzz/branches.py --seed N --count M` runs many.
"""

from __future__ import annotations

import random
import sys
import warnings

import numpy as np
import turns

CONDITIONS = (
    "x[{i}] > {c}",
    "x.sum() < {c}",
    "{c} < x[{i}] < 1.2",
    "x.max() > {c} and y.min() < 0.3",
    "x[{i}] < {c} or y[0] > 0",
    "not y.mean() > {c}",
    "np.abs(x).max() > {c} + 1",
    "float(y[{i}]) >= {c}",
    "np.count_nonzero(x > y) > {i}",
    "math.isfinite(t) and t > {c}",
    "t",
    "helper(x, {c})",
)
STATEMENTS = (
    "x += y",
    "x[{i}] = t",
    "y[{i}:] = x[{i}:] * 2",
    "x *= {c}",
    "t = t + x[{i}]",
    "t = x @ y",
    "y = x - {c}",
    "y = np.sqrt(x)",
    "t = math.sqrt(x[{i}])",
    "t = math.log(t)",
    "y = np.log(y) + x",
    "t = 1.0 / t",
    "y = y / x.min()",
    "log.append({i})",
    "log.append(x)",
    "box.v += {i}",
    "box.v = y",
    "t = rng.random()",
    "y = y + rng.normal(size=4)",
    "x = x.copy()",
    "x = np.maximum(x, y)",
    "return t",
    "return x, y",
    "raise ValueError(log)",
    "pass",
)
HEADER = """\
import math
import numpy as np


class Box:
    pass


def helper(x, c):
    if x[0] > c:
        return x[1] > 0
    return False


def fn(x, y, rng, log, box):
    t = x[0] * 1.5
"""


class Branches:
    def __init__(self, seed):
        self.random = random.Random(f"branches {seed}")
        self.lines = []
        for _ in range(self.random.randint(1, 4)):
            self.branch(1, 2)
        self.lines.append("    return x + y, t")
        self.source = HEADER + "\n".join(self.lines) + "\n"

    def fill(self, text):
        # Most conditions go one way in most calls.
        c = self.random.choice(("0.0", "0.0", "-1.0", "1.0", "-2.0", "0.5"))
        return text.format(i=self.random.randrange(3), c=c)

    def one(self, depth):
        self.lines.append("    " * depth + self.fill(self.random.choice(STATEMENTS)))

    def branch(self, depth, left):
        for _ in range(self.random.randrange(3)):
            self.one(depth)
        kind = self.random.random()
        head = "    " * depth
        if kind < 0.1:
            self.lines.append(head + "try:")
            self.branch(depth + 1, 0)
            self.lines.append(head + "except (ValueError, ZeroDivisionError) as error:")
            self.lines.append(head + "    log.append(str(error)[:20])")
            return
        if kind < 0.2:
            self.lines.append(head + "for i in range(2):")
            depth, head = depth + 1, head + "    "
        self.lines.append(head + f"if {self.fill(self.random.choice(CONDITIONS))}:")
        self.body(depth + 1, left)
        if self.random.random() < 0.6:
            self.lines.append(head + "else:")
            self.body(depth + 1, left)

    def body(self, depth, left):
        if left > 0 and self.random.random() < 0.3:
            self.branch(depth, left - 1)
        self.one(depth)


class World:
    """The arguments of calls, and what is told of each call."""

    def __init__(self, space, target):
        self.target = target
        self.rng = np.random.default_rng(1)
        self.log = []
        self.box = space["Box"]()

    def call(self, x, y):
        x, y = x.copy(), y.copy()
        self.log.clear()
        self.box.v = 0
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            try:
                got = ("result", self.target(x, y, self.rng, self.log, self.box))
            except Exception as error:
                got = turns.raised(error, "branches ")
        texts = [(str(one.message), one.filename, one.lineno) for one in told]
        state = self.rng.bit_generator.state
        same = [one is x for one in self.log]
        return show((got, x, y, self.log, self.box.v, same, state, texts))


def show(value):
    if isinstance(value, np.ndarray):
        return (value.dtype.str, value.shape, value.tobytes())
    if isinstance(value, (list, tuple)):
        return [show(one) for one in value]
    if isinstance(value, dict):
        return {key: show(one) for key, one in value.items()}
    return (type(value).__name__, repr(value))


def run(seed, calls=40):
    """None, or the text of the first difference."""
    draws = np.random.default_rng(seed)

    def arguments():
        for _ in range(calls):
            shift = draws.choice([0.0, 0.0, 0.0, 1.0, -1.0])
            yield draws.normal(size=4) + shift, draws.normal(size=4)

    return turns.compare(f"branches {seed}", Branches(seed).source, World, arguments())


if __name__ == "__main__":
    sys.exit(turns.main(run, __doc__))
