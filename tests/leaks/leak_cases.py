"""Functions whose life under dyntrace is repeated by test_leaks.py.

CASES: name -> (function, arguments, what it needs: None, "toy" or "numpy", the error that it raises).
The arguments are the same objects at every call, so no function may let them grow. Some functions
are captured, others break: both ways have to give everything back.
"""

from __future__ import annotations

import importlib.util
import sys
from collections import deque
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import toyarray as ta

np = None
if importlib.util.find_spec("numpy") is not None:
    np = importlib.import_module("numpy")

CASES = {}
counter = 0
table = {"a": 1}


def case(*args, uses=None, error=None):
    """Registers a function with `args`, which must be the same objects at every call."""

    def register(function):
        name = getattr(function, "__name__", type(function).__name__)
        CASES[name] = (function, args, uses, error)
        return function

    return register


class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def norm(self):
        return self.x * self.x + self.y * self.y

    @property
    def double(self):
        return Point(self.x * 2, self.y * 2)

    @staticmethod
    def origin():
        return Point(0, 0)


class Memory:
    def __init__(self, size):
        self.items, self.total = deque(maxlen=size), 0

    def push(self, value):
        if len(self.items) == self.items.maxlen:
            self.total -= self.items[0]
        self.items.append(value)
        self.total += value


class Child(Point):
    __slots__ = ("extra",)

    def norm(self):
        return super().norm() + 1


def helper(a, b=2, *rest, c=3, **more):
    return a + b + c + len(rest) + len(more)


# ---- plain Python -----------------------------------------------------------------------------------


@case(1, 2.5)
def numbers(a, b):
    return a * 3 + b / 2 - a % 7, a > b, -a, a == 1


@case(70, 1 << 70)
def big_numbers(a, b):
    return a * b, a**3, b >> 3


@case("abc", b"xy")
def texts(s, b):
    return s + "d", f"{s}-{len(s)}", b[0], s.upper(), s == "abc"


@case([1, 2, 3], (4, 5))
def sequences(items, pair):
    a, *rest = items
    return [x + 1 for x in items], pair + (a,), rest, items[1:], sum(items), len(pair)


@case({"k": [1], "other": 2})
def dicts(d):
    new = {"x": d["k"], **d}
    new["y"] = {1, 2, 3}
    return new, list(d.items()), d.get("missing"), "k" in d


@case([3, 1])
def list_effects(items):
    items.append(len(items))
    items.sort()
    items.pop()
    return items


@case({"n": 1})
def dict_effects(d):
    d["new"] = [d["n"]]
    del d["new"]
    d["n"] = d["n"]


@case(Point(1, 2))
def attributes(p):
    p.last = p.x + p.y
    p.x = p.x
    return p.norm(), p.double.y, Point.origin().x


@case(Child(3, 4))
def inherited(p):
    p.extra = [p.x]
    return p.norm(), isinstance(p, Point), type(p) is Child


@case(1)
def global_effects(n):
    global counter
    counter = n + counter % 3
    table["a"] = n
    return counter, table


@case(5)
def closures(n):
    total = 0

    def add(k=n):
        nonlocal total
        total += k
        return total

    add()
    return add, add(3)


@case([1, 2])
def arguments(args):
    return helper(*args, 5, c=6, d=7), helper(1), partial(helper, 1)(b=3), (lambda x: x + 1)(2)


@case(4)
def loops(n):
    out = []
    for i in range(n):
        if i % 2:
            continue
        out.append((i, zip([i], "a")))
    while n > 0:
        n -= 1
    else:
        out.append("end")
    return [i for i, _ in out[:-1]], {k: v for v, k in enumerate("ab")}


@case([1, 0])
def handled(items):
    try:
        return items[0] / items[1]
    except ZeroDivisionError as error:
        return type(error)
    finally:
        items[0] = 1


@case([], error=IndexError)
def raises(items):
    return items[3]


@case({"a": 1}, error=KeyError)
def raises_inside(d):
    def inner(key):
        return d[key]

    return inner("a"), inner("b")


@case(3)
def generators(n):
    return sum(i * i for i in range(n)), list(map(str, range(n)))


@case(7)
def imports(n):
    import math

    return math.sqrt(n), math.floor(n / 2), max(n, 3), min(n, 2.0), isinstance(n, int), abs(-n)


@case(open(__file__, "rb"))
def breaks(file):
    return file.tell(), print(end="")


@case("name", 3, None, True, ...)
def constants(s, n, none, true, dots):
    if none is None and true and s == "name" and dots is ...:
        return n, none, true, 0, 1, "interned", (None, False), int
    return None


# ---- the toy library ---------------------------------------------------------------------------------


vector, matrix = ta.array([1.0, 2.0, 3.0]), ta.zeros(2, 3)


@case(vector, ta.array([4.0, 5.0, 6.0]), uses="toy")
def toy_arithmetic(a, b):
    return (a + b) * 2.0, a < b, a.shape[0]


@case(matrix, 1, uses="toy")
def toy_views(m, i):
    return m[i] + 1.0, m.T, m[0].total()


@case(ta.array([1.0, 2.0]), uses="toy")
def toy_effects(a):
    a.fill_(1.0)
    a += 2.0
    return a


@case(3, uses="toy")
def toy_random(n):
    return ta.uniform(n) + ta.zeros(n), ta.halves(ta.zeros(4))


@case(vector, ta.zeros(2), uses="toy", error=ValueError)
def toy_error(a, b):
    return a + b


# ---- Lists and deques that grow and shrink at both ends ----------------------------------------------


@case([1, 2.5, "a"], 3)
def growing_list(items, n):
    items.append(items[-1])
    first = items.pop(0)
    items.insert(0, items[0])
    del items[-2]
    items[-1], items[0] = items[0], first
    while len(items) > n:
        items.pop()
    return first, len(items), items[-2:]


@case([(1,)], error=IndexError)
def growing_list_raises(items):
    items.append(table)
    items[0] = items[-1]
    items.pop()
    return items[40]


@case(deque([1, 2.5]), deque([1, 2, 3], 3), 2)
def growing_deques(waiting, window, n):
    waiting.append(waiting.popleft())
    waiting.appendleft("a")
    last = waiting.pop()
    waiting.append(last)
    window.append(window[0])
    window[-1] = n
    while len(waiting) > n:
        waiting.popleft()
    waiting.append(waiting.pop())
    return last, len(window), window[-1], waiting[0]


@case(Memory(3), 2)
def growing_window(memory, n):
    memory.push(n)
    return memory.total, len(memory.items)


@case(deque([1, 2]), error=RuntimeError)
def deque_changed_under_iteration(waiting):
    for item in waiting:
        waiting.rotate(1)


# ---- NumPy -------------------------------------------------------------------------------------------


if np is not None:
    x, y, m = np.arange(4.0), np.ones(4), np.ones((3, 4))

    @case(x, y, uses="numpy")
    def np_arithmetic(x, y):
        return (x * 2.0 + y) / 3.0 - y * y, np.exp(x), x**2

    @case(x, 3, uses="numpy")
    def np_scalars(x, n):
        return x.sum() + n, x.mean(), x.max(), x.argmax(), x.dtype, x.shape

    @case(x, uses="numpy")
    def np_to_python(x):
        return float(x.max()), int(x.argmax())

    @case(m, x, uses="numpy")
    def np_shapes(m, x):
        return m.T @ m, m.reshape(-1), m[0, ::2], m[:, None].shape, np.concatenate([x, x]), m @ x

    @case(np.arange(3), uses="numpy")
    def np_effects(a):
        a += 1
        a[0] = 5
        b = a * 2
        b += a
        return b

    @case(x, y, uses="numpy")
    def np_fresh(x, y):
        z = np.zeros(4)
        z += x
        return np.where(z > 1, x, y), z.astype(np.float32), np.stack([x, y], axis=1)

    @case(x, y, uses="numpy")
    def np_out(x, y):
        z = np.zeros(4)
        np.add(x, y, out=z)
        return z

    @case(x, np.ones(3), uses="numpy", error=ValueError)
    def np_error(x, y):
        return x + y

    @case(3, uses="numpy")
    def np_random(n):
        return np.random.rand(n) + np.random.default_rng(0).normal(size=n)

    @case([np.ones(2), np.zeros(2)], {"w": np.ones(2)}, uses="numpy")
    def np_containers(items, d):
        d["v"] = sum(items) * d["w"]
        items[0] = items[0] + 1.0
        return {"out": [a.sum() for a in items]}, d.pop("v")

    @case(np.float64(2.0), np.int32(3), uses="numpy")
    def np_scalar_inputs(a, n):
        return a * n, np.sqrt(a), n + 1

    signs = np.array([1.0, -1.0, 2.0, 0.5, -3.0])

    @case(signs, uses="numpy")
    def np_computed_sizes(x):
        part = x[x > 0]
        n = len(part)
        z = np.zeros(n)
        z[1:] += part[:-1]
        return np.append(part, z), x[:n], np.arange(n), z.reshape(n, -1), np.unique(part), n + 1

    @case(signs, 3, uses="numpy")
    def np_sizes_of_ints(x, k):
        n = int(np.sum(x > 0))
        if k < n:
            x = x[n - k :]
        return np.ones((n, 2)), x[: n - 2] * 2.0, np.flatnonzero(x > 0)

    @case(signs, np.ones(3), uses="numpy", error=ValueError)
    def np_computed_sizes_differ(x, y):
        return x[x > 0] + x[x < 0]

    @case(signs, np.array([0, -1, 2]), uses="numpy")
    def np_picked(x, at):
        a = x.copy()
        a[a < 0] = 0.0
        a[a > 1] = x[x > 1]
        a[1:3] = 5.0
        a[::2] = x[at]
        return a, a[at], a[a > 4]

    @case(signs, np.array([0, 9]), uses="numpy", error=IndexError)
    def np_picked_raises(x, at):
        return x[at]

    @case(signs, uses="numpy")
    def np_tuples(x):
        return x + 1.0, None, x * 2.0, "a", x
