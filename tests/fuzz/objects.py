"""Random programs of classes whose objects hold arrays: hierarchies, descriptors, and what else asks objects.

`Objects(seed)` has the text of a module and the recipes of its calls, like `web.Web`.  Its classes call
`super()` in several ways and keep arrays in attributes, slots, properties, cached properties and fields of
dataclasses; statements call their methods and operators, copy and pickle them, hold them weakly, log, warn,
write tracebacks, look at names and frames, walk generators and coroutines, with exceptions and breaks
between them.  Between calls methods are replaced.  `python tests/fuzz/objects.py --seed N --count M` runs
many; what is not here: comparing (`worlds.py`).
"""

from __future__ import annotations

import random
import sys

HEADER = '''\
import abc
import asyncio
import collections
import contextlib
import copy
import dataclasses
import functools
import inspect
import io
import logging
import pickle
import sys
import traceback
import types
import warnings
import weakref

import numpy as np

LOG = []
ALIVE = weakref.WeakValueDictionary()


class Lines(logging.Handler):
    def emit(self, record):
        LOG.append((record.levelname, record.getMessage(), record.funcName, record.lineno))


logger = logging.Logger("program")
logger.addHandler(Lines())


class Checked:
    """A descriptor that writes down who stores what."""

    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        return getattr(instance, self.name)

    def __set__(self, instance, value):
        LOG.append(("set", self.name))
        if isinstance(value, str):
            raise TypeError(f"{self.name} can't be {value!r}")
        setattr(instance, self.name, value)


class Base(abc.ABC):
    kinds = []
    made = 0
    scale = 2.0

    def __init_subclass__(cls, **rest):
        super().__init_subclass__(**rest)
        Base.kinds.append(cls.__name__)

    def __init__(self, x, n=1):
        self.x = x
        self.n = n
        Base.made += 1

    @abc.abstractmethod
    def step(self, by):
        self.x = self.x + by
        return self

    @property
    def size(self):
        return self.n + len(self.x)

    @size.setter
    def size(self, value):
        LOG.append("size")
        self.n = value

    @classmethod
    def of(cls, x, *rest):
        return cls(x * cls.scale, *rest)

    @staticmethod
    def twice(x):
        return x + x

    def mean(self):
        return self.x.mean()

    def __repr__(self):
        return f"{type(self).__name__}({self.n})"

    def __len__(self):
        return len(self.x)

    def __enter__(self):
        LOG.append(("enter", self.n))
        return self

    def __exit__(self, kind, error, tb):
        LOG.append(("exit", kind and kind.__name__))
        return kind is KeyError


class Sums:
    """A mixin with operators."""

    __array_ufunc__ = None

    def __add__(self, other):
        return type(self)(self.x + getattr(other, "x", other), self.n)

    def __radd__(self, other):
        LOG.append("radd")
        return type(self)(other + self.x, self.n)

    def __mul__(self, other):
        if isinstance(other, str):
            return NotImplemented
        return type(self)(self.x * other, self.n)

    def __iadd__(self, other):
        self.x += other
        return self

    def __eq__(self, other):
        return NotImplemented if not isinstance(other, Base) else self.n == other.n

    def __hash__(self):
        return hash(self.n)

    def __lt__(self, other):
        LOG.append("lt")
        return self.n < other.n

    def __getitem__(self, i):
        return self.x[i]

    def __call__(self, x):
        return self.step(x)


class Slim:
    __slots__ = ("x", "n", "__weakref__")

    def __init__(self, x, n=1):
        self.x, self.n = x, n

    def step(self, by):
        self.x = self.x * 0.5 + by
        return self

    @property
    def size(self):
        return self.n

    @size.setter
    def size(self, value):
        self.n = value


class Slimmer(Slim):
    __slots__ = ("extra",)

    def step(self, by):
        self.extra = by
        return super().step(by)


class Loud:
    def __init__(self, v):
        self.v = v

    def __del__(self):
        LOG.append(("gone", self.v))


class Proxy:
    """Hands on what it has not."""

    def __init__(self, inner):
        self.__dict__["inner"] = inner

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        LOG.append(("ask", name))
        return getattr(self.inner, name)

    def __setattr__(self, name, value):
        setattr(self.inner, name, value)


@dataclasses.dataclass
class Data:
    x: np.ndarray
    n: int = 1
    tags: list = dataclasses.field(default_factory=list)
    total: float = dataclasses.field(init=False, repr=False, compare=False)

    def __post_init__(self):
        self.total = float(self.x.sum())

    def step(self, by):
        return dataclasses.replace(self, x=self.x + by, n=self.n + 1)

    @property
    def size(self):
        return self.n

    @size.setter
    def size(self, value):
        self.n = value


@dataclasses.dataclass(frozen=True, order=True)
class Frozen:
    n: int
    name: str = "a"


class State(collections.namedtuple("State", "x n")):
    __slots__ = ()

    def step(self, by):
        return self._replace(x=self.x - by)

    @property
    def size(self):
        return self.n


@functools.singledispatch
def kind(o):
    return "other"


@kind.register
def _(o: Base):
    return "base"


@kind.register(np.ndarray)
def _(o):
    return f"array {o.ndim}"


@functools.lru_cache(maxsize=4)
def cached(n, name="a"):
    LOG.append(("cached", n, name))
    return Frozen(n, name)


def walk(o, count):
    LOG.append("begun")
    try:
        for i in range(count):
            got = yield o.x * i
            if got is not None:
                o.x = o.x + got
    finally:
        LOG.append("left")


@contextlib.contextmanager
def scaled(o, by):
    old, o.x = o.x, o.x * by
    try:
        yield o
    finally:
        o.x = old


async def later(o, by):
    await asyncio.sleep(0)
    o.step(by)
    return o.n


async def both(o, p):
    return await asyncio.gather(later(o, 1.0), later(p, 2.0))


def run(coroutine):
    """What it returns; without a loop of events."""
    try:
        while True:
            coroutine.send(None)
    except StopIteration as stop:
        return stop.value


async def straight(o, by):
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(note, o.n)
        return await inner(o, by)


async def note(n):
    LOG.append(("note", n))


async def inner(o, by):
    o.step(by)
    return o.x * 2.0


def deep(n, o):
    return o.x.sum() if n <= 0 else deep(n - 1, o) + n


def told():
    text = traceback.format_exc()
    return text.replace(__file__ if "__file__" in globals() else "program.py", "")


def clone(o):
    """As pickling does; the classes of this module can't be imported."""
    kind, arguments, *rest = o.__reduce_ex__(4)
    again = kind(*arguments)
    if rest and rest[0] is not None:
        state = rest[0]
        if hasattr(again, "__setstate__"):
            again.__setstate__(state)
        elif isinstance(state, tuple):
            for part in state:
                for name, value in (part or {}).items():
                    setattr(again, name, value)
        else:
            again.__dict__.update(state)
    return again


def deprecated(level):
    warnings.warn(f"level {level}", DeprecationWarning, stacklevel=level)


def fail(o):
    LOG.append("fail")
    raise KeyError(o.n)


def state():
    return [LOG, Base.kinds, Base.made, Base.scale, OBJ, SLIM, DATA, HELD, sorted(ALIVE), cached.cache_info(),
            Leaf.__mro__, Mid.__dict__.get("bonus")]


'''

FOOTER = """

OBJ = Leaf(np.arange(4.0), 3)
SLIM = Slimmer(np.ones(4), 2)
DATA = Data(np.arange(4.0) - 1.0, 5)
HELD = []
"""

# What a step may be, in a class below another one.
STEPS = (
    ["return super().step(by * 2.0)"],
    ["super({here}, self).step(by)", "return self"],
    ["{above}.step(self, by)", "self.n += 1", "return self"],
    ["LOG.append(('step', type(self).__name__))", "return super().step(by)"],
    ["with scaled(self, 2.0):", "    LOG.append(float(self.x.sum()))", "return super().step(by)"],
    ["try:", "    return super().step(by)", "finally:", "    self.n += 1"],
    ["if self.n > 6:", "    raise ValueError(self.n)", "return super().step(by)"],
    ["method = super().step", "return method(by)"],
    ["self.__dict__['n'] = self.n + 1", "return super().step(by)"],
    ["return [super(__class__, self).step(by) for _ in range(2)][-1]"],
    ["self.total = self.twice(self.x).sum()", "return super().step(by)"],
    ["opaque()", "return super().step(by)"],
)
INITS = (
    ["super().__init__(x, n)", "self.y = x * 2.0"],
    ["super().__init__(x, n=n)", "self.y = Checked.__name__"],
    ["Base.__init__(self, x, n)", "self.y = np.zeros_like(x)"],
    ["self.y = None", "super().__init__(x, n)", "self.y = self.x + self.n"],
)
EXTRAS = (
    ["@property", "def size(self):", "    return super().size * 10"],
    [
        "@property",
        "def size(self):",
        "    return self.n",
        "@size.setter",
        "def size(self, value):",
        "    Base.size.fset(self, value + 1)",
    ],
    [
        "@functools.cached_property",
        "def norm(self):",
        "    LOG.append('norm')",
        "    return np.sqrt((self.x ** 2).sum())",
    ],
    [
        "@functools.lru_cache",
        "def power(self, n):",
        "    LOG.append('power')",
        "    return self.scale ** n",
    ],
    [
        "@classmethod",
        "def of(cls, x, *rest):",
        "    made = super().of(x, *rest)",
        "    made.n += 1",
        "    return made",
    ],
    ["x = Checked()"],
    ["scale = 3.0"],
    ["bonus = np.ones(4)", "def mean(self):", "    return super().mean() + self.bonus[0]"],
    [
        "def __getattr__(self, name):",
        "    if name.startswith('z'):",
        "        return name",
        "    return super().__getattribute__(name)",
    ],
    [
        "def __setattr__(self, name, value):",
        "    if name == 'n':",
        "        LOG.append(('n', value))",
        "    super().__setattr__(name, value)",
    ],
    [
        "@functools.singledispatchmethod",
        "def take(self, o):",
        "    return self.n",
        "@take.register",
        "def _(self, o: int):",
        "    self.n = o",
        "    return self.x * o",
    ],
    ["def __bool__(self):", "    return self.n % 2 == 0"],
    ["def __getstate__(self):", "    return {'x': self.x.copy(), 'n': self.n}"],
    ["def __format__(self, spec):", "    return f'<{self.n:{spec}}>'"],
    [
        "class Inner:",
        "    def __init__(self, x):",
        "        self.x = x",
        "def inner(self):",
        "    return self.Inner(self.x)",
    ],
)
OBJECTS = ("o", "p", "OBJ", "SLIM", "DATA", "q")
NUMBERS = ("1", "2", "k", "o.n", "len(HELD)", "p.size", "0.5", "float(o.x[0])", "-k")
ARRAYS = (
    "x",
    "o.x",
    "p.x",
    "OBJ.x",
    "x * 2.0",
    "o.x + p.x",
    "np.sqrt(abs(q.x))",
    "OBJ.x[::-1]",
    "x - {n}",
    "o.y",
)
SIMPLE = (
    "{o}.step({n})",
    "{o}.step({a})",
    "q = {o}.step({n})",
    "q = OBJ.of({a}, {n})",
    "q = Leaf({a}, {n})",
    "q = Mid(x={a})",
    "q = Leaf(n={n}, x={a})",
    "q = Slimmer({a}, {n})",
    "q = Data({a}, {n})",
    "q = State({a}, {n})",
    "q = o + {n}",
    "q = {a} + OBJ",
    "q = OBJ * {n}",
    "q = o + p",
    "o += {n}",
    "OBJ.x += 1.0",
    "{o}.x = {a}",
    "{o}.x[0] = {n}",
    "{o}.x *= {n}",
    "{o}.size = {n}",
    "{o}.n = {n}",
    "{o}.n += 1",
    "OBJ.y = {a}",
    "x = {a}",
    "x = x + {o}.size",
    "x[:] = {a}",
    "LOG.append(OBJ.mean())",
    "LOG.append({o} == {o})",
    "LOG.append(OBJ < Leaf(x))",
    "LOG.append(sorted([OBJ, Leaf(x, {n}), Leaf(x, 0)])[0].n)",
    "LOG.append({OBJ: 1, Leaf(x, {n}): 2}.get(OBJ))",
    "LOG.append(repr(o))",
    "LOG.append(f'{o!r} {OBJ.n:>4} {OBJ.mean():.3f}')",
    "LOG.append(len(OBJ))",
    "LOG.append(bool({o}))",
    "LOG.append(OBJ[0])",
    "LOG.append(isinstance({o}, (Base, Slim)))",
    "LOG.append(type({o}).__name__)",
    "LOG.append([kind({o}), kind({a})])",
    "LOG.append(hasattr({o}, 'y'))",
    "LOG.append(getattr({o}, 'zeta', None))",
    "LOG.append(getattr(OBJ, 'norm', 0))",
    "LOG.append(getattr(OBJ, 'power', len)((1, 2)[0:2]) if False else 0)",
    "LOG.append(OBJ.take(2) if hasattr(OBJ, 'take') else None)",
    "LOG.append(format(OBJ, '>3') if hasattr(type(OBJ), 'inner') else 0)",
    "LOG.append(sorted(vars(OBJ)))",
    "LOG.append(list(vars(o).items())[-1] if hasattr(o, '__dict__') else ())",
    "LOG.append(callable(o))",
    "LOG.append(cached({n}))",
    "LOG.append(cached(2, name='b') is cached(2, name='b'))",
    "LOG.append(dataclasses.asdict(DATA)['n'])",
    "LOG.append(DATA.n == DATA.step({n}).n)",
    "LOG.append(Frozen(1) < Frozen(k))",
    "LOG.append(inspect.signature(OBJ.step).parameters['by'].name)",
    "LOG.append(sorted(locals()))",
    "LOG.append(eval('k + 1'))",
    "exec('HELD.append(k)')",
    "LOG.append(globals()['Base'].made)",
    "LOG.append(sys._getframe().f_lineno)",
    "LOG.append(sys._getframe().f_code.co_name)",
    "LOG.append(inspect.stack(0)[0].function)",
    "logger.warning('at %s %d', {n}, OBJ.n)",
    "logger.debug('%r', OBJ)",
    "logger.log(30, 'sum %.2f', OBJ.x.sum())",
    "warnings.warn('plainly')",
    "warnings.warn(f'n is {k}', RuntimeWarning, stacklevel=2)",
    "deprecated(1)",
    "deprecated(2)",
    "deprecated(3)",
    "HELD.append(copy.copy({o}))",
    "HELD.append(copy.deepcopy({o}))",
    "HELD.append(copy.deepcopy([{o}, {o}]))",
    "HELD.append(clone({o}))",
    "HELD.append(pickle.loads(pickle.dumps({a})))",
    "HELD.append({o})",
    "HELD.append(OBJ.step)",
    "HELD.append(functools.partial(OBJ.step, {n}))",
    "HELD.append(lambda: o)",
    "HELD[-1:] = []",
    "del HELD[:2]",
    "q = HELD[-1] if HELD and hasattr(HELD[-1], 'x') else q",
    "HELD.append(OBJ.inner().x if hasattr(OBJ, 'inner') else None)",
    "ALIVE[str(k)] = {o} if {o} is not DATA and type({o}) is not State else OBJ",
    "ALIVE['new'] = Leaf(x)",
    "LOG.append(ALIVE.get(str(k)) is o)",
    "r = weakref.ref(OBJ); LOG.append(r() is OBJ)",
    "r = weakref.ref(Leaf(x), lambda r: LOG.append('callback')); LOG.append(r())",
    "held = Loud({n})",
    "held = None",
    "o.loud = Loud({n})",
    "OBJ.loud = Loud(k)",
    "del OBJ.loud",
    "OBJ.loop = OBJ; del OBJ.loop",
    "q = Proxy(OBJ)",
    "q = Proxy({o}).step({n})",
    "Proxy(OBJ).n = {n}",
    "steps = walk({o}, 2); LOG.append(next(steps))",
    "LOG.append([a.sum() for a in walk({o}, 2)])",
    "steps = walk(o, 3); next(steps); steps.send({n}); steps.close()",
    "x = sum(walk({o}, 3), {a})",
    "LOG.append(run(straight({o}, {n})))",
    "LOG.append(asyncio.run(both({o}, {o})))",
    "x = x + deep(3, {o})",
    "x = functools.reduce(lambda a, b: a + b.x, [{o}, {o}], x)",
    "x = Base.twice({a})",
    "x = max([OBJ, o, p], key=lambda o: o.n).x",
    "Base.scale = {n}",
    "Base.made += 1",
    "OBJ.scale = {n}",
    "Mid.bonus = {a}",
    "OBJ.mean = types.MethodType(lambda self: 0.5, OBJ)",
    "OBJ.__dict__.pop('mean', None)",
    "OBJ.__dict__.pop('norm', None)",
    "OBJ.__class__ = Leaf",
    "a, b, *c = {a}",
    "opaque()",
    "opaque({o})",
    "k += 1",
)
CONDITIONS = (
    "k > 1",
    "OBJ",
    "o is p",
    "{o}.n > 2",
    "isinstance({o}, Slim)",
    "HELD",
    "len(OBJ) == 4",
    "x.sum() > 3.0",
    "hasattr({o}, 'y')",
    "o == p",
    "k in (1, 2)",
)
HANDLERS = (
    "except KeyError as error:",
    "except (TypeError, AttributeError) as error:",
    "except Exception as error:",
)
HANDLED = (
    "LOG.append(told())",
    "LOG.append(str(error))",
    "LOG.append(error.args)",
    "traceback.print_exc(file=io.StringIO())",
    "LOG.append(traceback.extract_tb(error.__traceback__)[-1].lineno)",
    "LOG.append(type(error.__context__))",
    "logger.exception('caught')",
    "opaque()",
    "pass",
)
RAISING = (
    "fail({o})",
    "OBJ.x = 'text'",
    "q.nothing",
    "OBJ.step()",
    "Leaf()",
    "Base(x)",
    "OBJ * 'a'",
    "Frozen(1).n = 2",
    "raise ValueError({n})",
    "OBJ.step(x[:2])",
    "{}[k]",
    "SLIM.other = 1",
    "int('a')",
)
CHANGES = (
    "",
    "",
    "",
    "OBJ.n = 1",
    "Base.scale = 1.5",
    "Leaf.step = lambda self, by: Base.step(self, by)",
    "del Leaf.step",
    "OBJ.x = OBJ.x.astype('f4')",
    "HELD.clear()",
    "OBJ.__class__ = Mid",
    "OBJ.x = np.arange(3)",
    "Base.size = property(lambda self: 7)",
    "LOG.clear()",
    "OBJ.step = lambda by: OBJ",
)


class Objects:
    """One module and its calls; see the head of this file."""

    def __init__(self, seed):
        self.random = random.Random(f"objects {seed}")
        self.lines = []
        above = self.pick(("Sums, Base", "Base", "Sums, Base"))
        self.a_class("Mid", "Base", above)
        self.a_class("Leaf", "Mid", self.pick(("Mid", "Sums, Mid")) if above == "Base" else "Mid")
        self.emit(0, "")
        self.emit(0, "def main(o, p, x, k):")
        self.emit(1, self.pick(("global OBJ", "pass")) if self.random.random() < 0.3 else "pass")
        self.emit(1, "q = o")
        self.block(1, 6)
        self.emit(
            1, f"return {self.pick(('o, q', 'q.x', '[OBJ, q]', 'x * o.x.sum()'))}, x * 2.0, k"
        )
        self.source = (
            HEADER
            + "\n".join(self.lines)
            + FOOTER.replace("Leaf(np", f"{self.pick(('Leaf', 'Mid'))}(np")
        )
        self.source += "\n\ndef opaque(o=None):\n    print(end='')\n"
        self.calls = self.make_calls()
        self.changes = [(self.pick(CHANGES) if i else "", {}) for i in range(len(self.calls))]

    def pick(self, among):
        return self.random.choice(among)

    def emit(self, depth, text):
        for mark, among in (("{a}", ARRAYS), ("{o}", OBJECTS), ("{n}", NUMBERS)):
            while mark in text:
                text = text.replace(mark, self.pick(among), 1)
        self.lines.append("    " * depth + text)

    def a_class(self, name, above, bases):
        self.emit(0, f"class {name}({bases}):")
        if self.random.random() < 0.7 or name == "Mid":
            self.emit(1, "def __init__(self, x, n=2):")
            for line in self.pick(INITS):
                self.emit(2, line)
        if self.random.random() < 0.8 or name == "Mid":
            self.emit(1, "def step(self, by):")
            for line in self.pick(STEPS):
                self.emit(2, line.replace("{here}", name).replace("{above}", above))
        for extra in self.random.sample(EXTRAS, self.random.randint(1, 3)):
            for line in extra:
                self.lines.append("    " + line)
        self.emit(0, "")
        self.emit(0, "")

    def block(self, depth, size):
        for _ in range(self.random.randint((size + 1) // 2, size)):
            if depth < 3 and self.random.random() < 0.3:
                self.pick((self.branch, self.loop, self.attempt, self.attempt, self.manager))(depth)
            else:
                self.emit(depth, self.pick(SIMPLE))

    def branch(self, depth):
        self.emit(depth, f"if {self.pick(CONDITIONS)}:")
        self.block(depth + 1, 2)
        if self.random.random() < 0.5:
            self.emit(depth, "else:")
            self.block(depth + 1, 2)

    def loop(self, depth):
        name = f"i{len(self.lines)}"
        over = self.pick(("range(2)", "[o, p, OBJ]", "walk(o, 2)", "enumerate(x[:2])", "HELD[:2]"))
        self.emit(depth, f"for {name} in {over}:")
        self.block(depth + 1, 3)

    def attempt(self, depth):
        self.emit(depth, "try:")
        self.block(depth + 1, 2)
        if self.random.random() < 0.7:
            self.emit(depth + 1, self.pick(RAISING))
        self.emit(depth, self.pick(HANDLERS))
        self.emit(depth + 1, self.pick(HANDLED))
        if self.random.random() < 0.3:
            self.emit(depth, "finally:")
            self.block(depth + 1, 1)

    def manager(self, depth):
        made = self.pick(
            (
                "OBJ",
                "scaled({o}, 2.0)",
                "OBJ, scaled(o, 0.5)",
                "contextlib.suppress(ValueError)",
                "warnings.catch_warnings()",
                "np.errstate(all='ignore')",
                "contextlib.ExitStack()",
            )
        )
        self.emit(depth, f"with {made}:")
        self.block(depth + 1, 2)
        if self.random.random() < 0.2:
            self.emit(depth + 1, self.pick(RAISING))

    def make_calls(self):
        kinds = ("Leaf", "Mid", "Slim", "Slimmer", "Leaf")
        calls, first, second = [], self.pick(kinds), self.pick(kinds)
        for number in range(5):
            calls.append(
                [
                    ("object", first, 4, number),
                    ("alias", 0) if self.random.random() < 0.2 else ("object", second, 4, 5),
                    ("array", "f8", (4,), self.pick(("c", "c", "back")), number, False),
                    ("int", self.random.randint(0, 3)),
                ]
            )
        return calls


if __name__ == "__main__":
    import sweep

    sys.exit(sweep.main(Objects, HEADER, __doc__))
