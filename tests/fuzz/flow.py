"""Random functions of nested blocks: what is left, by which way, and what is seen on the way.

Loops with `else`, `try` with handlers and `finally`, `with` around managers that swallow exceptions or not,
`match`, comprehensions whose variables hide others, generators that are left half-way, objects that tell
when they die, classes with properties, closures that read and write variables of the function. Here and
there a call breaks the graph, or raises for some arguments. Each call is made plainly and compiled, in
equal worlds: result, exception with its lines, and the log of what happened, in order, have to be the same.
`python tests/fuzz/flow.py --seed N --count M` runs many.
"""

from __future__ import annotations

import gc
import random
import sys

import dyntrace
import numpy as np
import turns

HEADER = """\
import numpy as np


class Odd(Exception):
    pass


class Box:
    def __init__(self, v):
        self.v = v

    @property
    def double(self):
        return self.v * 2

    def plus(self, a, *rest, scale=1, **named):
        return (self.v + a + sum(rest)) * scale + len(named)

    def __enter__(self):
        LOG.append(("enter", self.v))
        return self

    def __exit__(self, kind, error, traceback):
        LOG.append(("exit", self.v, kind and kind.__name__))
        return kind is Odd and self.v > 1


class Loud:
    def __init__(self, v):
        self.v = v

    def __del__(self):
        LOG.append(("gone", self.v))


def checked(v, bad):
    if v == bad:
        raise Odd(v)
    return v


def last(*values):
    return values[-1]


def walk(count, bad):
    try:
        for i in range(count):
            LOG.append(("walk", i))
            got = yield checked(i, bad)
            if got is not None:
                LOG.append(("got", got))
    finally:
        LOG.append("left")
    return count


def begun(count, bad):
    steps = walk(count, bad)
    next(steps)
    return steps


def around(count, bad):
    n = yield from walk(count, bad)
    yield n * 10


"""

NUMBERS = ("n", "m", "t", "k", "n + 1", "m - 1", "t * 2 - k", "len(items)", "abs(k) % 3", "-n", "n % 4")
CONDITIONS = ("n > 2", "t < k", "m == k", "items", "not items", "n % 2", "k is None or m > 1", "x.ndim == 1",
              "checked(n, bad) > 1", "t in items", "0 < n < 4", "isinstance(m, int)", "x.sum() > 3.0")
SIMPLE = (
    "n = {n}",
    "m += 1",
    "n, m = m, {n}",
    "x = x * 1.5 + {n}",
    "x = x + y",
    "y = x[::-1] - {n}",
    "x[0] = {n}",
    "items.append({n})",
    "items[:] = [{n}, *items[:2]]",
    "first, *rest = [{n}, m, *items]",
    "LOG.append(({n}, m))",
    "LOG.append(f'{n!r} {m:>3} {x[0]:.2f}')",
    "LOG.append('%s %d' % (items, {n}))",
    "opaque()",
    "opaque({n})",
    "checked({n}, bad)",
    "y = np.sqrt(np.abs(x)) + n",
    "x = np.maximum(x, y) * 2.0 - {n}",
    "y = y + np.cumsum(x * t)",
    "box = Box({n})",
    "n = box.double",
    "m = box.plus(n, *items[:1], scale=2)",
    "m = box.plus({n}, **{'a': 1, 'b': n})",
    "box.v = {n}",
    "n = read()",
    "m = bump({n})",
    "del items[:1]",
    "m = sum(i * 2 for i in items if i != bad)",
    "items = [checked(n, bad) for n in (1, 2, t)]",
    "items = [opaque() or checked(m, bad) for m in range(3)]",
    "items = sorted({n for n in (k, m, t) if opaque() or n > 0})",
    "LOG.append({n: [m for m in range(n)] for n in (1, 2)})",
    "items = [n + m for n in range(2) for m in (n, 5)]",
    "m = next(walk(2, bad), {n})",
    "items = list(around(2, bad))",
    "n = max(items, default={n})",
    "m = len([*zip(items, range(3))])",
    "n = (lambda a, b=m: a - b)({n})",
    "n = last(Loud(m), opaque() or {n})",
    "x = last(begun(2, bad), opaque() or x + {n})",
    "held = Loud({n})",
    "held = [opaque(Loud(m)), {n}, m].pop()",
    "y = last(Loud({n}), checked(m, bad), y * 2.0)",
)
ITERABLES = ("range(t)", "(1, k, 3)", "items[:3]", "enumerate('ab')", "around(2, bad)", "x[:2]")
HANDLERS = ("except Odd as error:", "except (Odd, ValueError) as error:", "except Exception as error:")
HANDLED = ("LOG.append(error.args)", "opaque(str(error))", "n = error.args[0]", "pass")
LEAVING = ("break", "continue", "return n, x", "raise Odd({n})", "raise ValueError({n})", "checked(m, bad)")


class Flow:
    def __init__(self, seed):
        self.random = random.Random(f"flow {seed}")
        self.lines = []
        self.emit(0, "def fn(x, t, k, bad, items):")
        self.emit(1, "n, m, y, box = t, 2, x * 0.5 + k, Box(k)")
        self.emit(1, self.pick(("read = lambda: n", "read = lambda: m + n", "read = lambda: k")))
        self.emit(1, "def bump(by):")
        self.emit(2, self.pick(("nonlocal m", "nonlocal n", "m = by")))
        self.emit(2, self.pick(("m = by + 1", "m = by")) if "m" in self.lines[-1] else "n = m = by")
        self.emit(2, "return m")
        self.block(1, 3, loop=False)
        self.emit(1, "return n, m, x * 2.0 - y, y, items, box.v, read()")
        self.source = HEADER + "\n".join(self.lines) + "\n"

    def pick(self, among):
        return self.random.choice(among)

    def emit(self, depth, text):
        while "{n}" in text and "f'" not in text:
            text = text.replace("{n}", self.pick(NUMBERS), 1)
        self.lines.append("    " * depth + text)

    def block(self, depth, size, loop):
        for _ in range(self.random.randint(1, size)):
            if depth < 4 and self.random.random() < 0.45:
                kinds = (self.branch, self.loop, self.attempt, self.manager, self.choice, self.steps)
                self.pick(kinds)(depth, loop)
            else:
                self.emit(depth, self.pick(SIMPLE))
        if depth > 1 and self.random.random() < 0.25:
            self.emit(depth, self.pick(LEAVING if loop else LEAVING[2:]))

    def branch(self, depth, loop):
        self.emit(depth, f"if {self.pick(CONDITIONS)}:")
        self.block(depth + 1, 2, loop)
        if self.random.random() < 0.5:
            self.emit(depth, self.pick(("else:", f"elif {self.pick(CONDITIONS)}:")))
            self.block(depth + 1, 2, loop)

    def loop(self, depth, loop):
        count = f"c{len(self.lines)}"
        if self.random.random() < 0.4:
            self.emit(depth, f"{count} = 0")
            self.emit(depth, f"while {count} < 3 and ({self.pick(CONDITIONS)}):")
            self.emit(depth + 1, f"{count} += 1")
        else:
            self.emit(depth, f"for {count} in {self.pick(ITERABLES)}:")
        self.block(depth + 1, 3, loop=True)
        if self.random.random() < 0.3:
            self.emit(depth, "else:")
            self.block(depth + 1, 1, loop)

    def attempt(self, depth, loop):
        self.emit(depth, "try:")
        self.block(depth + 1, 3, loop)
        handled = self.random.random() < 0.75
        if handled:
            self.emit(depth, self.pick(HANDLERS))
            self.emit(depth + 1, self.pick(HANDLED))
            self.block(depth + 1, 1, loop)
            if self.random.random() < 0.2:
                self.emit(depth + 1, self.pick(("raise", "raise ValueError('again') from error")))
            if self.random.random() < 0.3:
                self.emit(depth, "else:")
                self.block(depth + 1, 1, loop)
        if not handled or self.random.random() < 0.35:
            self.emit(depth, "finally:")
            self.emit(depth + 1, self.pick(("LOG.append('finally')", "m += 1", "opaque()", "x = x + 1.0")))

    def manager(self, depth, loop):
        self.emit(depth, self.pick(("with Box(n) as box:", "with Box(k), Box({n}):", "with box as held:")))
        self.block(depth + 1, 2, loop)

    def choice(self, depth, loop):
        subject = self.pick(("(n, m)", "items", "{'a': n, 'b': t}", "box"))
        self.emit(depth, f"match {subject}:")
        for case in self.random.sample((
            "case (1, p):", "case [p, q, *_]:", "case {'a': 2 | 3 as p}:", "case Box(v=p) if p:", "case []:",
            "case (p, q) if p == q:",
        ), 2):  # fmt: skip
            self.emit(depth + 1, case)
            self.block(depth + 2, 1, loop)
        self.emit(depth + 1, "case _:")
        self.emit(depth + 2, self.pick(SIMPLE))

    def steps(self, depth, loop):
        it = f"g{len(self.lines)}"
        made = self.pick(("walk(3, bad)", "around(2, bad)", "(i + n for i in range(3))"))
        self.emit(depth, f"{it} = {made}")
        self.emit(depth, f"n = next({it})")
        self.block(depth, 1, loop)
        ends = (f"{it}.close()", f"items.extend({it})", f"m = {it}.send(None)", f"del {it}")
        self.emit(depth, self.pick(ends))


class World:
    """The arguments of calls, and what is told of each call."""

    def __init__(self, space, target):
        self.space, self.target = space, target

    def call(self, t, k, bad):
        x, items = np.arange(3.0) + t, [1, k]
        gc.collect(1)  # what lives on in cycles ends between the calls, and says so in an older log
        said = self.space["LOG"] = []
        try:
            got = ("result", show(self.target(x, t, k, bad, items)))
        except Exception as error:
            context = error.__context__
            got = (turns.raised(error, "flow "), context and turns.raised(context, "flow "))
        return got, show(x), show(items), show(said)


def show(value):
    if isinstance(value, np.ndarray):
        return (value.dtype.str, value.shape, value.tobytes())
    if isinstance(value, (list, tuple)):
        return (type(value).__name__, [show(one) for one in value])
    return (type(value).__name__, repr(value))


def run(seed, calls=12):
    """None, or the text of the first difference."""
    pick = random.Random(seed)
    arguments = [(pick.randrange(4), pick.randrange(-1, 4), pick.randrange(-1, 4)) for _ in range(calls)]
    opaque = dyntrace.disable(lambda value=None: None)

    def make_world(space, target):
        space["opaque"] = opaque
        return World(space, target)

    gc.disable()
    try:
        return turns.compare(f"flow {seed}", Flow(seed).source, make_world, arguments)
    finally:
        gc.enable()


if __name__ == "__main__":
    sys.exit(turns.main(run, __doc__))
