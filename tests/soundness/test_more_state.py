"""More of what a function can read: sets, partials, methods, named tuples, data classes, modules, slices."""

import types

import numpy as np
import pytest
from test_changed_state import steps_of, world

A = np.linspace(0.5, 2.0, 4)

SOURCE = """
import abc, collections.abc, dataclasses, numbers, enum, functools, math, operator, types
P = collections.namedtuple('P', 'a b')
@dataclasses.dataclass
class Data:
    a: float = 1.0
    b: list = dataclasses.field(default_factory=list)
@dataclasses.dataclass(frozen=True)
class Frozen:
    a: float = 1.0
class Color(enum.Enum):
    RED = 1.0
    BLUE = 2.0
class Flag(enum.IntFlag):
    X = 1
    Y = 2
class Box:
    def __init__(self):
        self.v = 1.0
        self.__hidden = 3.0
    def m(self, x):
        return x * self.v
    def hidden(self, x):
        return x + self.__hidden
    def __getitem__(self, k):
        return self.v + k
    def __iter__(self):
        return iter([self.v, 2.0])
    def __len__(self):
        return 3
    def __contains__(self, k):
        return k == self.v
    def __call__(self, x, k=1.0):
        return x + k * self.v
    def __add__(self, o):
        return 5.0 + self.v
    def __radd__(self, o):
        return 6.0 + self.v
    def __eq__(self, o):
        return self.v == getattr(o, 'v', None)
    def __lt__(self, o):
        return self.v < o.v
    __hash__ = None
    @property
    def prop(self):
        return self.v * 2
    @functools.cached_property
    def cached(self):
        return self.v * 3
class Meta(type):
    def __len__(cls):
        return 4
    @property
    def z(cls):
        return 7.0
WATCH = []
class Watch(type):
    def __getattribute__(cls, name):
        WATCH.append(name)
        return type.__getattribute__(cls, name)
class Watched(metaclass=Watch):
    pass
watched = Watched()
del WATCH[:]
class Abstract(abc.ABC):
    @abc.abstractmethod
    def q(self): pass
class Concrete(Abstract):
    def q(self): return 1
concrete = Concrete()
class WithMeta(metaclass=Meta):
    pass
class Desc:
    def __init__(self): self.k = 2.0
    def __get__(self, o, t): return self.k
class Has:
    d = Desc()
class Base:
    def f(self): return 1.0
class Left(Base):
    def f(self): return super().f() * 2
class Right(Base):
    def f(self): return super().f() + 3
class Both(Left, Right):
    pass
box, other, both = Box(), Box(), Both()
data, frozen, has = Data(), Frozen(), Has()
p = P(1.0, 2.0)
bound = box.m
part = functools.partial(np.add, 1.0)
part2 = functools.partial(lambda x, k=1.0: x * k, k=3.0)
S = {1, 2}
FS = frozenset((1, 2))
sl = slice(1, 3)
r = range(3)
d1 = {'a': 1.0}
mod = types.ModuleType('mod')
mod.k = 2.0
mod.sub = types.ModuleType('sub')
mod.sub.k = 3.0
shape = (2, 2)
dt = np.float32
dts = np.dtype('f4')
name = 'sum'
mode = 'a'
flag = True
ns = types.SimpleNamespace(a=1.0)
dq = collections.deque([1.0, 2.0])
b = bytearray(b'ab')
def apply(f, x): return f(x)
def deco(f):
    @functools.wraps(f)
    def g(*a, **k): return f(*a, **k) + 1.0
    return g
@deco
def decorated(x): return x * 2
def fn(x):
    {body}
"""

CASES = {
    "set order": (
        "return x, list(S), [v for v in S], len(S), 2 in S",
        [
            "",
            "",
            "S = {2, 1}",
            "S = {8, 0}",
            "S = {0, 8}",
            "S = {8, 0}",
            "S.add(5)",
            "S = set('ab')",
            "S = {1.0, 2}",
            "S = {True, 2}",
        ],
    ),
    "frozenset": (
        "return x, list(FS), 2 in FS, FS",
        ["", "", "FS = frozenset((8, 0))", "FS = frozenset((0, 8))", "FS = {1, 2}"],
    ),
    "new set": (
        "t = {3, 1, 8, 0}\n    t.add(16)\n    t.discard(3)\n    return x, list(t), t | S, sorted(t & S), t - S",
        ["", "", "S = {8, 16}"],
    ),
    "new set from": (
        "return x, list(set([8, 0, 16])), list({k for k in (16, 8, 0)}), set('abc') == {'a', 'b', 'c'}",
        ["", ""],
    ),
    "set pop": ("t = {8, 0}\n    return x, t.pop(), t", ["", ""]),
    "named tuple": (
        "return x * p.a, p, p._replace(a=3.0), p[1], len(p)",
        [
            "",
            "",
            "p = P(5.0, 2.0)",
            "p = P(1, 2)",
            "p = (1.0, 2.0)",
            "P.a = 7.0",
            "P.__len__ = lambda s: 9",
        ],
    ),
    "new named tuple": (
        "q = P(x, 1)\n    return q.a + q.b, q, type(q) is P",
        ["", "", "P.__new__.__defaults__ = (5,)", "P.a = 3.0"],
    ),
    "data class": (
        "return x * data.a, data, len(data.b)",
        ["", "", "data.a = 3.0", "data.b.append(1)", "data = Data(2.0, [1])"],
    ),
    "new data class": (
        "q = Data(a=3.0)\n    q.b.append(x)\n    return q.b[0] * q.a, q.a",
        [
            "",
            "",
            "Data.a = 9.0",
            "Data.__init__ = lambda s, a: (setattr(s, 'a', 1.0), setattr(s, 'b', []))[0]",
        ],
    ),
    "frozen": (
        "return x * frozen.a",
        ["", "", "frozen = Frozen(2.0)", "object.__setattr__(frozen, 'a', 3.0)"],
    ),
    "new frozen": ("return x * Frozen(2.0).a", ["", ""]),
    "enum": (
        "return x * Color.RED.value, Color.RED is Color.BLUE, Color['RED'], Color(1.0), flag is True",
        ["", "", "flag = False"],
    ),
    "enum compare": (
        "return x, Color.RED == Color.BLUE, Flag.X | Flag.Y, Flag.X in Flag.Y",
        ["", ""],
    ),
    "bound": (
        "return bound(x)",
        [
            "",
            "",
            "box.v = 3.0",
            "bound = other.m",
            "other.v = 9.0",
            "Box.m = lambda s, x: x",
            "bound = np.sin",
            "bound.__self__ if hasattr(bound, '__self__') else 0",
        ],
    ),
    "bound parts": (
        "return bound.__self__ is box, bound.__func__ is Box.m, x + 1",
        ["", "", "bound = other.m", "Box.m = lambda s, x: x"],
    ),
    "partial": (
        "return part(x), part2(x), part.args, part.keywords",
        [
            "",
            "",
            "part.__setstate__((np.multiply, (3.0,), {}, None))",
            "part2.keywords['k'] = 5.0",
            "part2 = functools.partial(part2, k=7.0)",
            "part = np.sin",
        ],
    ),
    "operators": (
        "return x + 0, box + 1, 1 + box, box == other, box != other, box < other, not box, box[2], 1.0 in box, list(box), len(box)",
        [
            "",
            "",
            "box.v = 2.0",
            "other.v = 2.0",
            "Box.__add__ = lambda s, o: NotImplemented",
            "del Box.__contains__",
            "Box.__eq__ = lambda s, o: NotImplemented",
            "del Box.__iter__",
        ],
    ),
    "array and object": (
        "return x + box, box + x",
        ["", "", "Box.__array_ufunc__ = None", "Box.__array_priority__ = 1000"],
    ),
    "call": (
        "return box(x), box(x, k=2.0), apply(box, x)",
        [
            "",
            "",
            "box.v = 5.0",
            "Box.__call__.__defaults__ = (9.0,)",
            "Box.__call__ = np.sin",
            "box = np.cos",
        ],
    ),
    "mangled": ("return box.hidden(x)", ["", "", "box._Box__hidden = 5.0", "del box._Box__hidden"]),
    "properties": (
        "return x * box.prop + box.cached",
        ["", "", "box.v = 4.0", "del box.cached", "Box.prop = property(lambda s: 1.0)"],
    ),
    "metaclass": (
        "return x * WithMeta.z, len(WithMeta)",
        ["", "", "Meta.z = property(lambda c: 8.0)", "Meta.__len__ = lambda c: 5"],
    ),
    "descriptor": (
        "return x * has.d",
        [
            "",
            "",
            "Has.__dict__['d'].k = 5.0",
            "has.__dict__['d'] = 9.0",
            "Desc.__set__ = lambda s, o, v: None",
        ],
    ),
    "diamond": (
        "return x * both.f()",
        [
            "",
            "",
            "Right.f = lambda s: 10.0",
            "Both.__bases__ = (Right, Left)",
            "both.f = lambda: 1.0",
        ],
    ),
    "slice": (
        "return x[sl], [1, 2, 3][sl], sl.start",
        [
            "",
            "",
            "sl = slice(0, 2)",
            "sl = slice(None)",
            "sl = 1",
            "sl = slice(0, 2, -1)",
            "sl = slice(np.int64(1), 3)",
        ],
    ),
    "range": (
        "return x[r[-1]], list(r), len(r), 2 in r",
        ["", "", "r = range(2)", "r = range(0, 4, 2)", "r = [0, 1]"],
    ),
    "modules": (
        "return x * mod.k * mod.sub.k",
        [
            "",
            "",
            "mod.k = 4.0",
            "mod.sub = mod",
            "mod.sub = types.SimpleNamespace(k=9.0)",
            "mod = ns",
            "mod.k, mod.sub = 1.0, mod",
            "import math as mod",
        ],
    ),
    "module getattr": (
        "return x * getattr(mod, 'late', 2.0)",
        [
            "",
            "",
            "mod.__getattr__ = lambda n: 8.0",
            "mod.late = 9.0",
            "del mod.late",
            "del mod.__getattr__",
            "mod.__class__ = type('M', (types.ModuleType,), {'late': 3.0})",
        ],
    ),
    "shape from a global": (
        "return x.reshape(shape), np.zeros(shape), np.full(shape, x[0])",
        [
            "",
            "",
            "shape = (4, 1)",
            "shape = 4",
            "shape = [2, 2]",
            "shape = (2, 3)",
            "shape = (2, -1)",
            "shape = np.array([2, 2])",
        ],
    ),
    "dtype from a global": (
        "return x.astype(dt), np.zeros(3, dtype=dts), x.dtype == dt, np.ones(2, dt) + x[:2]",
        [
            "",
            "",
            "dt = float",
            "dt = int",
            "dts = '>f8'",
            "dts = np.dtype('i2')",
            "dt = np.int8",
            "dts = bool",
            "dt = 'f4'",
            "dts = None",
        ],
    ),
    "method by name": (
        "return getattr(x, name)(), getattr(np, name)(x)",
        ["", "", "name = 'mean'", "name = 'max'", "name = 'zz'", "name = b'a'"],
    ),
    "string branch": (
        "return x + 1 if mode == 'a' else x + 2 if mode in ('b', 'c') else x + 3",
        ["", "", "mode = 'b'", "mode = 'c'", "mode = None", "mode = 5", "mode = ('a',)"],
    ),
    "bool": (
        "return x + flag, x * (1 if flag else 2), flag + 1, flag is True, flag == 1",
        ["", "", "flag = False", "flag = 1", "flag = np.True_", "flag = 0.0", "flag = None"],
    ),
    "namespace": ("return x * ns.a", ["", "", "ns.a = 2.0", "ns.a = A", "del ns.a", "ns = box"]),
    "deque": (
        "return x + dq[0], len(dq), [v for v in dq], dq == dq, dq == collections.deque([1.0, 2.0])",
        ["", "", "dq.append(3.0)", "dq.rotate(1)"],
    ),
    "bytearray": ("return x + b[0], len(b), b == b'ab'", ["", "", "b[0] = 1", "b.append(1)"]),
    "dict methods": (
        "e = dict(d1)\n    e.setdefault('z', x)\n    e.update(q=1, a=2)\n    v = e.pop('a'), e.popitem()\n    return v, e, d1 | e, list(e.keys()), list(e.values()), dict.fromkeys('ab', 1), sorted(e)",
        ["", "", "d1['z'] = 5", "d1.clear()", "d1 = {'z': 1, 'a': 2}"],
    ),
    "dict views": (
        "return x, [k for k in d1.keys()], list(d1.items()), 'a' in d1.keys(), len(d1.values()), d1.keys() == {'a'}",
        ["", "", "d1['z'] = 5", "d1.clear()"],
    ),
    "decorated": (
        "return decorated(x)",
        [
            "",
            "",
            "decorated.__wrapped__ = np.sin",
            "decorated.__closure__[0].cell_contents = np.sin",
            "decorated = np.cos",
        ],
    ),
    "strings": (
        "s = f'{mode}-{len(mode)}'\n    return x, s.upper(), s.split('-'), s[0], s * 2, s in 'a-1b', s.join(['x', 'y']), '{}:{}'.format(mode, 1), s.replace('a', 'b'), s.startswith('a'), ord('a'), mode + 'q'",
        ["", "", "mode = 'zz'", "mode = 5"],
    ),
    "operator and math": (
        "return x * math.sqrt(ns.a) + operator.add(1, 2), math.floor(ns.a), math.isnan(ns.a), operator.itemgetter(0)(p), math.pi, math.inf, math.fmod(ns.a, 0.3)",
        [
            "",
            "",
            "ns.a = 4.0",
            "ns.a = -1.0",
            "ns.a = float('nan')",
            "ns.a = 'q'",
            "ns.a = 10**400",
        ],
    ),
    "math replaced": (
        "return x * math.sqrt(ns.a)",
        ["", "", "math = types.SimpleNamespace(sqrt=lambda v: 50.0)", "import math", "ns.a = 9"],
    ),
    "lambda default": (
        "return [f(x) for f in [lambda v, i=i: v + i for i in range(3)]], [f(x) for f in [lambda v: v + i for i in range(3)]]",
        ["", ""],
    ),
    "comparison chain": (
        "return x, 0 < ns.a < 5, 1 == ns.a == 1.0, ns.a is ns.a, ns.a != ns.a",
        ["", "", "ns.a = 7", "ns.a = float('nan')", "ns.a = True"],
    ),
    "mixed": (
        "return sum([x, x * 2, ns.a]), max(ns.a, 2), min([ns.a, 3]), any([0, ns.a]), all([]), abs(-ns.a), round(ns.a, 1), int(ns.a), float(ns.a), bool(ns.a), divmod(ns.a, 2), pow(ns.a, 2)",
        ["", "", "ns.a = 3", "ns.a = -2.5", "ns.a = 0", "ns.a = True"],
    ),
    "zip map filter": (
        "return x, list(zip([1, 2], (3, 4), strict=True)), list(map(lambda a, b: a + b, [1], [2])), list(filter(None, [0, 1])), list(enumerate('ab', 1)), list(reversed([1, 2])), next(iter([x])) is x",
        ["", ""],
    ),
    "equality": (
        "return x, box.m == box.m, box.m == other.m, box.m != box.m, range(3) == range(3), sl == slice(1, 3), {1, 2} == frozenset((1, 2)), S == FS, d1.items() == d1.items(), p == (1.0, 2.0), [1] == (1,), len == len, [].append == [].append, fn == fn, Box == Box, math == math, part == part, r == range(3), iter([1]) == 3, None == box.m, x is x, Ellipsis == Ellipsis",
        ["", "", "S = {3}", "r = range(4)", "p = P(1, 2)"],
    ),
    "equality of views": (
        "return x, d1.keys() == {'a'}, d1.items() == {('a', 1.0)}, d1.keys() <= {'a', 'b'}, d1.values() == d1.values()",
        ["", "", "d1['z'] = 2"],
    ),
    "metaclass equality": (
        "return x, WithMeta == WithMeta, WithMeta == Box, {WithMeta: 1}.get(WithMeta)",
        [
            "",
            "",
            "Meta.__eq__ = lambda c, o: False",
            "Meta.__hash__ = lambda c: 1",
            "del Meta.__eq__, Meta.__hash__",
        ],
    ),
    "metaclass is not asked": (
        "return x, isinstance(box, Watched), issubclass(Box, Watched), isinstance(watched, Watched), list(WATCH)",
        ["", "", ""],
    ),
    "abstract": (
        "return x, isinstance([], collections.abc.Sequence), isinstance(box, collections.abc.Callable), isinstance(1, numbers.Number), isinstance(box, Abstract), isinstance(concrete, Abstract)",
        ["", "", "del Box.__call__", "Abstract.register(Box)"],
    ),
    "empty": (
        "return x.sum() if len(S) else x",
        ["", "S.clear()", "S.add(1)", "S = ()", "S = A[:0]"],
    ),
    "array in a global list": (
        "return x + L[0], L[0] is L[1]",
        ["L = [A, A]", "", "L[0] = A + 1", "L[1] = L[0]", "L = [A[:1], 1.0]", "L = (A, A)"],
    ),
    "annotations": (
        "y: int = 1\n    def g(a: y) -> y: return a\n    return g(x), g.__annotations__",
        ["", ""],
    ),
    "class in the trace": ("class Q:\n        k = x\n    return Q.k + 1", ["", ""]),
    "assert": ("assert len(S) < 3, S\n    return x + 1", ["", "", "S |= {5, 6}", "S.clear()"]),
    "type name": (
        "return x, type(box).__name__, box.__class__.__qualname__",
        ["", "", "Box.__name__ = 'Z'", "Box.__qualname__ = 'W'"],
    ),
    "getattr chain": (
        "return x * box.__dict__['v'], vars(box)['v'], 'v' in box.__dict__",
        ["", "", "box.v = 3.0", "del box.v"],
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CASES)
def test_more_state(case):
    body, changes = CASES[case]

    def make():
        module = world(SOURCE.replace("{body}", body), A=A)

        return module.fn, None, steps_of(module, *changes)

    lead_by_text(make)


def plainly(value, seen=None):
    """What can be compared across two worlds: objects of their classes by name and state."""
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [plainly(v) for v in value]
    if isinstance(value, dict):
        return [(plainly(k), plainly(v)) for k, v in value.items()]
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.shape, value.tobytes()
    if isinstance(value, np.generic):
        return type(value).__name__, repr(value)
    state = getattr(value, "__dict__", None)
    if (
        isinstance(state, dict)
        and type(value).__module__ == "world"
        and not isinstance(value, type)
    ):
        return type(value).__name__, plainly({k: v for k, v in state.items()})
    if isinstance(value, (types.FunctionType, type)):
        return value.__name__
    return type(value).__name__, repr(value)


def lead_by_text(make):
    from differential import Compiled

    plain_fn, _, plain_steps = make()
    traced_fn, _, traced_steps = make()
    compiled = Compiled(traced_fn)

    def outcome(fn, step):
        try:
            args = step()
        except Exception as error:
            return ("change", type(error).__name__)
        try:
            return plainly(fn(*args))
        except Exception as error:
            return type(error).__name__, str(error).split(" at 0x")[0]

    for i, (a, b) in enumerate(zip(plain_steps, traced_steps)):
        for again in range(2):
            if again:
                a, b = (lambda: (A,)), (lambda: (A,))
            plain, traced = outcome(plain_fn, a), outcome(compiled.fn, b)
            assert plain == traced, (
                f"step {i}.{again}: {plain}\nbecame {traced}\n{compiled.describe()}"
            )
    assert not compiled.faults, compiled.describe()
