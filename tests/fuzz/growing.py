"""Random programs over lists and deques that grow and shrink at both ends, of another length in each call.

`Growing(seed)` has the text of a module and the recipes of its calls, like `programs.Program`.  Histories,
queues, windows and sums that are kept beside them are read and changed at their ends under several names,
with loops until they are short enough, exceptions, handlers and breaks in between.
`python tests/fuzz/growing.py --seed N --count M` runs many; what is not here: comparing (`worlds.py`).
"""

from __future__ import annotations

import random
import sys

HEADER = '''\
from collections import deque

import numpy as np

LOG = []
HISTORY = []
QUEUE = deque()
LAST = deque([0.5], 3)


class Box:
    def __init__(self, items=()):
        self.items = items

    def __repr__(self):
        return "Box"


class Row(list):
    def append(self, value):
        LOG.append("append")
        list.append(self, value)


class Line(deque):
    def popleft(self):
        LOG.append("popleft")
        return deque.popleft(self)


class Memory:
    def __init__(self, size):
        self.items = deque(maxlen=size)
        self.total = 0

    def push(self, value):
        if len(self.items) == self.items.maxlen:
            self.total -= self.items[0]
        self.items.append(value)
        self.total += value

    def mean(self):
        return self.total / len(self.items)


BOX = Box([1])
MEMORY = Memory(3)


def state():
    return [LOG, HISTORY, QUEUE, LAST, BOX, MEMORY]


def boxes(n):
    return [Box(i) for i in range(n)]


def queue_of(n, most=None):
    return deque([Box(i) for i in range(n)], most)


def add(items, value):
    items.append(value)
    return len(items)


def take(items):
    return items.pop(0) if isinstance(items, list) else items.popleft()


def last(items, otherwise):
    try:
        return items[-1]
    except IndexError:
        return otherwise


def trim(items, most):
    while len(items) > most:
        take(items)


def add_some(items, n):
    for i in range(n):
        items.append(i)
        if i == 2:
            raise ValueError(len(items))
'''


def _parts(text):
    return text.replace("\n", "|").split("|")


ANY = _parts(
    """{p}.append({v})|{p}.append({v})|{p}.pop()|{p}.extend([{v}, {w}])|{p}.extend({q})|{p} += [{v}]
{p}[0] = {v}|{p}[-1] = {v}|{p}[-2] = {v}|{p}[1] = {v}|{p}[{i}] = {v}|del {p}[0]|del {p}[-1]
del {p}[{i}]|{p}[0], {p}[-1] = {p}[-1], {p}[0]|{p}.insert(0, {v})|{p}.insert(1, {v})
{p}.insert({i}, {v})|{p}.reverse()|{p}.clear()|{p}.remove({v})|add({p}, {v})|add({p}, {v})
take({p})|trim({p}, {n})|add_some({p}, {n})|{p}[len({p}) - 1] = {v}|del {p}[len({p}) - 2]
{p}.append(last({p}, {v}))|BOX.items = {p}|MEMORY.push({n})|{p}.append({p}.pop())
{p}[-1].items = {v}|{p}[-1] += {n}|{p}[0] += 1|{p}.append(MEMORY.mean())|{p}.append([{v}])
{p}[-1].append({v})|{p}.append({q})"""
)
OF_LISTS = _parts(
    """{p}.pop(0)|{p}.pop(0)|{p}.pop(1)|{p}.pop(-2)|{p}.pop({i})|{p}.insert(0, {p}.pop())|del {p}[:2]
del {p}[-2:]|{p}[:0] = [{v}]|{p}[-1:] = [{v}, {w}]|{p}[len({p}):] = [{v}]|del {p}[:-{n}]|{p} *= 2
{p}.append({p}.pop(0))|{p}.sort(key=str)|{p}[:] = {p}[-3:]"""
)
OF_DEQUES = _parts(
    """{p}.appendleft({v})|{p}.appendleft({v})|{p}.popleft()|{p}.popleft()|{p}.extendleft([{v}, {w}])
{p}.rotate(1)|{p}.rotate(-{n})|{p}.append({p}.popleft())|{p}.appendleft({p}.pop())"""
)
VALUES = _parts(
    """{p}[0]|{p}[-1]|{p}[-2]|{p}[1]|{p}[{i}]|len({p})|len({p}) - len({q})|{p}[len({p}) - 1]
{p}[len({p}) // 2]|{v} in {p}|{p} == {q}|{p} is {q}|{p}[0] is {p}[-1]|list({p})|tuple({p})|[*{p}]
bool({p})|not {p}|last({p}, {v})|{p}.copy()|{p}[0] is {q}[-1]|[u for u in {p}]|sum(1 for u in {p})
MEMORY.mean()|list(reversed({p}))|{p}.count({v})|{p}.index({v})|{p}.pop()|add({p}, {v})|take({p})
[len({p}), len({q})]|len({p}) % 3 == 0|type({p}[-1])|np.sum(x[:len({p})])|x[len({p}) % 3]
np.zeros(len({p}))|dict(enumerate({p}))|(len({p}), {p}[-1])"""
)
SLICES = _parts(
    """{p}[:2]|{p}[-2:]|{p}[-3:-1]|{p}[1:3]|{p}[::2]|{p}[:-1]|{p}[-{n}:]|{p}[1:]|{p} + [{v}]
sum({p}[-3:])"""
)
ARRAYS = _parts(
    """np.mean({p})|np.sum({p}) + {v}|np.array({p})|np.asarray({p}) * x[0]|np.array({p}, dtype=float)
np.max({p}) - {p}[-1]|np.std({p}[-3:])|np.diff({p})|np.append({p}, {v})|np.dot({p}, {p})|np.array({p})[-1]
np.interp(1.5, np.arange(len({p})), {p})|np.array([{p}, {p}])|np.add({p}, x[0])|np.cumsum({p})[-{n}:]
np.argmax({p})|np.ones(len({p})) * {p}|np.array({p}) < {v}|np.concatenate(({p}, [{v}]))
np.where(np.array({p}) > 1)|np.array({p} + [{v}])|np.linalg.norm({p})|np.abs({p})"""
)
TESTS = _parts(
    """len({p}) > {n}|len({p}) % 2|{p}|not {p}|len({p}) == {n}|len({p}) >= len({q})
{p} and {p}[-1] == {v}|len({p}) > {n} and {p}[-2] is {p}[-1]|{p} is {q}
isinstance(last({p}, None), int)|{n} < len({p}) < 6|len({p}) + len({q}) > {n}|{v} in {p}"""
)
ERRORS = ("IndexError", "(IndexError, ValueError)", "Exception", "Exception", "TypeError")


class Growing:
    def __init__(self, seed):
        self.random = random.Random(f"growing {seed}")
        self.numbers = self.random.random() < 0.4
        self.lists, self.deques = ["a", "b", "HISTORY", "BOX.items"], ["d", "QUEUE", "LAST", "MEMORY.items"]
        self.lists = self.random.sample(self.lists, self.random.randint(1, 4))
        self.deques = self.random.sample(self.deques, self.random.randint(0, 3))
        self.names, self.lines = [], []
        for _ in range(self.random.randint(3, 9)):
            self.statement(1)
        self.emit(1, f"return {', '.join([*self.names, self.place(), self.place()])}")
        self.source = HEADER + "\n\ndef main(a, b, d, k, x):\n" + "\n".join(self.lines) + "\n"
        self.calls = self.make_calls()

    def emit(self, depth, text):
        self.lines.append("    " * depth + text)

    def pick(self, *choices):
        return self.random.choice(choices)

    def place(self):
        return self.random.choice(self.lists + self.deques)

    def value(self):
        if self.numbers and self.random.random() < 0.9:
            return self.pick("1", "2.5", "k", "k", "x[0]", "-0.0", "np.float64(0.1)", "2**60", "len(LOG)")
        return self.pick("1", "2.5", "k", "x", "x[0]", "'t'", "Box(3)", "None", "[0]", *self.names[-2:])

    def fill(self, text, place=None):
        if place is None:
            place = self.place()
        return text.format(p=place, q=self.place(), v=self.value(), w=self.value(), n=self.pick(1, 2, 3),
                           i=self.pick("2", "-3", "k", "k", "-k", "7"))  # fmt: skip

    # ---- Statements -----------------------------------------------------------------------------------

    def statement(self, depth):
        roll = self.random.random()
        if roll < 0.45 or depth > 3:
            self.change(depth)
        elif roll < 0.65:
            self.read(depth)
        else:
            self.pick(self.branch, self.branch, self.loop, self.handler, self.alias, self.break_here)(depth)

    def change(self, depth):
        place = self.place()
        own = OF_LISTS if place in self.lists else OF_DEQUES
        self.emit(depth, self.fill(self.random.choice(ANY if self.random.random() < 0.6 else own), place))

    def read(self, depth):
        place = self.place()
        texts = VALUES + SLICES if place in self.lists else VALUES
        if self.numbers and self.random.random() < 0.7:
            texts = ARRAYS
        text = self.fill(self.random.choice(texts), place)
        if depth > 1 or self.random.random() < 0.3:
            self.emit(depth, f"LOG.append({text})")
        else:
            name = f"r{len(self.names)}"
            self.emit(depth, f"{name} = {text}")
            self.names.append(name)

    def some(self, depth):
        for _ in range(self.random.randint(1, 3)):
            self.statement(depth)

    def branch(self, depth):
        self.emit(depth, f"if {self.fill(self.random.choice(TESTS))}:")
        self.some(depth + 1)
        if self.random.random() < 0.3:
            self.emit(depth, "else:")
            self.some(depth + 1)

    def loop(self, depth):
        place = self.place()
        kind = self.random.random()
        if kind < 0.35:
            self.emit(depth, f"while len({place}) > {self.pick(0, 1, 2, 3)}:")
            shorter = self.pick("take(%s)", "%s.pop()", "del %s[0]", "del %s[-1]") % place
            self.emit(depth + 1, shorter)
        elif kind < 0.7:
            self.emit(depth, f"for _ in range({self.pick('2', '3', 'k')}):")
            self.some(depth + 1)
        else:
            self.emit(depth, f"for u in {self.pick('list(%s)', '%s', 'reversed(%s)') % place}:")
            self.emit(depth + 1, "LOG.append('step')")
            self.some(depth + 1)
            self.emit(depth + 1, f"if len({place}) > 9 or len(LOG) > 300:")
            self.emit(depth + 2, "break")

    def handler(self, depth):
        self.emit(depth, "try:")
        self.some(depth + 1)
        if self.random.random() < 0.5:
            self.emit(depth + 1, self.pick("raise ValueError(k)", "if k == 2: raise IndexError", "[].pop()"))
        if self.random.random() < 0.75:
            self.emit(depth, f"except {self.pick(*ERRORS)} as error:")
            self.emit(depth + 1, "LOG.append((type(error).__name__, str(error)))")
            self.statement(depth + 1)
        else:
            self.emit(depth, "finally:")
            self.some(depth + 1)

    def alias(self, depth):
        if depth > 1:
            return self.change(depth)
        place = self.place()
        name = f"c{depth}{len(self.lines)}"
        self.emit(depth, f"{name} = {place}")
        (self.lists if place in self.lists else self.deques).append(name)

    def break_here(self, depth):
        self.emit(depth, "print(len(LOG))")

    # ---- Calls ----------------------------------------------------------------------------------------

    def some_list(self):
        if self.numbers:
            n, kind = self.random.randint(0, 24), self.random.random()
            kinds = (1, 2, 3) if kind < 0.3 else (1.5, -2.25, 0.1) if kind < 0.8 else (1, 0.5, True)
            return ("list", [self.pick(*kinds) for _ in range(n)])
        n = self.random.randint(0, 6)
        return self.pick(
            ("list", [self.pick(1, 2, 2.5, "t", None) for _ in range(n)]),
            ("list", list(range(n))),
            ("list", list(range(n))),
            ("box", "boxes", n),
        )

    def some_deque(self):
        n, most = self.random.randint(0, 5), self.pick(None, None, 3, 5, 0)
        kind = self.pick("deque", "deque", "deque", "queue_of")
        return ("box", kind, n if kind == "queue_of" else list(range(n)), most)

    def make_calls(self):
        calls = []
        odd = self.random.random()
        for number in range(9):
            a, b, d = self.some_list(), self.some_list(), self.some_deque()
            if odd < 0.15 and number % 3 == 2:
                a, d = ("box", "Row", [1, 2, 3]), ("box", "Line", [1, 2])
            if odd > 0.6 and number in (3, 6):
                b = ("alias", 0)
            if odd > 0.9 and number == 7:
                d = ("alias", 0)
            calls.append([a, b, d, ("value", self.pick(0, 1, 2, 2, 3)), ("array", "f8", (4,), "c", 1, False)])
        return calls


if __name__ == "__main__":
    import sweep

    sys.exit(sweep.main(Growing, HEADER, __doc__))
