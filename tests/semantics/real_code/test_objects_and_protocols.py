"""Classes, generators and algorithms as people write them, each captured whole."""

import abc
import collections
import contextlib
import copy
import dataclasses
import enum
import fractions
import functools
import itertools
import math
import operator
import random
import statistics
import sys
import types
import typing
from collections import defaultdict, deque
from dataclasses import KW_ONLY, dataclass, field
from typing import ClassVar, Generic, List, NamedTuple, Optional, Protocol, TypeVar

import numpy as np
import pytest
from differential import Outcome, check

CASES = []


def case(*argsets):
    def mark(fn):
        CASES.extend((fn, args) for args in argsets)
        return fn

    return mark


T = TypeVar("T")


class Stack(Generic[T]):
    def __init__(self):
        self.items: List[T] = []

    def push(self, x: T) -> None:
        self.items.append(x)

    def pop(self) -> T:
        return self.items.pop()


class Shape(Protocol):
    def area(self) -> float: ...


@typing.runtime_checkable
class HasArea(Protocol):
    def area(self) -> float: ...


class Sq:
    def __init__(self, s):
        self.s = s

    def area(self):
        return self.s**2


@case((Sq(2),), (3,))
def proto(o):
    return o.area() if isinstance(o, HasArea) else o


class Emp(NamedTuple):
    name: str
    pay: float = 1.0

    @property
    def up(self):
        return self.name.upper()


@case(([Emp("a", 2.0), Emp("b")],))
def emps(es):
    return (
        [e._replace(pay=e.pay * 2) for e in es],
        es[0].up,
        es[0]._asdict(),
        max(es, key=lambda e: e.pay),
        Emp._fields,
        [*map(Emp._make, [("z", 1)])],
    )


@dataclass
class Cfg:
    name: str
    _: KW_ONLY
    lr: float = 0.1
    layers: tuple = (1, 2)
    extra: dict = field(default_factory=dict)
    count: ClassVar[int] = 0


@dataclass
class Sub(Cfg):
    bs: int = 8

    def scaled(self, k):
        return dataclasses.replace(self, lr=self.lr * k, bs=self.bs * k)


@case((2,))
def cfgs(k):
    c = Sub("x", lr=0.5)
    d = c.scaled(k)
    d.extra["z"] = 1
    return c, d, c == d, dataclasses.asdict(d), repr(d), c.extra


@dataclass(slots=True)
class Sl:
    a: int
    b: int = 2


@case((1,))
def slotted(a):
    s = Sl(a)
    s.b += s.a
    try:
        s.c = 1
    except AttributeError as e:
        m = str(e)
    return s, m


@dataclass(frozen=True)
class Fz:
    a: int

    def __post_init__(self):
        object.__setattr__(self, "a", self.a + 1)


@case((1,))
def frozen(a):
    f = Fz(a)
    try:
        f.a = 3
    except dataclasses.FrozenInstanceError as e:
        return f, str(e), {f: 1}[Fz(a)]


class Money:
    __slots__ = ("_c",)

    def __init__(self, c):
        self._c = c

    def __add__(self, o):
        return Money(self._c + o._c) if isinstance(o, Money) else NotImplemented

    def __radd__(self, o):
        return self if o == 0 else NotImplemented

    def __eq__(self, o):
        return isinstance(o, Money) and self._c == o._c

    def __lt__(self, o):
        return self._c < o._c

    def __hash__(self):
        return hash(self._c)

    def __repr__(self):
        return f"Money({self._c})"

    def __format__(self, s):
        return format(self._c / 100, s or ".2f")

    def __bool__(self):
        return self._c != 0

    def __neg__(self):
        return Money(-self._c)

    def __abs__(self):
        return Money(abs(self._c))

    def __int__(self):
        return self._c

    def __index__(self):
        return self._c


@case((Money(1), 2))
def money_bad(m, k):
    try:
        return m + k
    except TypeError as e:
        return str(e)


class Vec:
    def __init__(self, *xs):
        self.xs = xs

    def __iter__(self):
        return iter(self.xs)

    def __len__(self):
        return len(self.xs)

    def __getitem__(self, i):
        return Vec(*self.xs[i]) if isinstance(i, slice) else self.xs[i]

    def __matmul__(self, o):
        return sum(a * b for a, b in zip(self, o))

    def __mul__(self, k):
        return Vec(*(x * k for x in self))

    __rmul__ = __mul__

    def __iadd__(self, o):
        self.xs = tuple(a + b for a, b in zip(self, o))
        return self

    def __contains__(self, v):
        return v in self.xs

    def __reversed__(self):
        return Vec(*self.xs[::-1])

    def __call__(self, f):
        return Vec(*map(f, self))

    def __repr__(self):
        return f"{type(self).__name__}{self.xs!r}"

    def __eq__(self, o):
        return tuple(self) == tuple(o)


@case((2,))
def vec(k):
    v = Vec(1, 2, 3)
    w = k * v
    w += v
    a, *b = w
    return (
        v @ w,
        w[1:],
        a,
        b,
        2 in v,
        list(reversed(v)),
        v(lambda x: x + 1),
        [*v, *w],
        dict(enumerate(v)),
        max(v),
        v == (1, 2, 3),
        any(x > 2 for x in v),
        tuple(zip(v, w)),
    )


class Matrix(list):
    @property
    def T(self):
        return Matrix(map(list, zip(*self)))

    def __matmul__(self, o):
        return Matrix([[sum(a * b for a, b in zip(r, c)) for c in zip(*o)] for r in self])


@case((Matrix([[1, 2], [3, 4]]),))
def mat(m):
    return m.T, m @ m, len(m), m + [[0]], m[0], isinstance(m, list)


class Attr(dict):
    def __getattr__(self, k):
        try:
            return self[k]
        except KeyError:
            raise AttributeError(k) from None

    def __setattr__(self, k, v):
        self[k] = v


@case((Attr(a=1, b=Attr(c=2)),))
def attrd(d):
    d.z = d.a + d.b.c
    return d, getattr(d, "nope", None), hasattr(d, "a"), list(d), {**d}


class Default(dict):
    def __missing__(self, k):
        self[k] = v = k * 2
        return v


@case((3,))
def missing(k):
    d = Default()
    return d[k], d[k], d, d.get(9), "%(x)s" % Default()


class Sing:
    _i = None

    def __new__(cls, *a):
        if cls._i is None:
            cls._i = super().__new__(cls)
        return cls._i


@case((1,))
def sing(x):
    return Sing(x) is Sing(x), type(Sing()).__name__


class Meta(type):
    def __call__(cls, *a, **k):
        o = super().__call__(*a, **k)
        o.made = True
        return o

    def __len__(cls):
        return 7

    def __iter__(cls):
        return iter("ab")

    def __getitem__(cls, k):
        return k

    @property
    def label(cls):
        return cls.__name__.lower()


class WithMeta(metaclass=Meta):
    def __init__(self, v=0):
        self.v = v

    def __init_subclass__(cls, /, tag=None, **kw):
        super().__init_subclass__(**kw)
        cls.tag = tag


class SubMeta(WithMeta, tag="t"):
    pass


@case((1,))
def metas(v):
    o = SubMeta(v)
    return o.made, o.v, len(SubMeta), list(SubMeta), SubMeta["k"], SubMeta.label, o.tag


class A:
    def who(self):
        return "A"


class B(A):
    def who(self):
        return "B" + super().who()


class C(A):
    def who(self):
        return "C" + super().who()


class D(B, C):
    def who(self):
        return "D" + super().who()


@case((1,))
def mro(x):
    d = D()
    return (
        d.who(),
        super(B, d).who(),
        [k.__name__ for k in D.__mro__],
        A.who(d),
        isinstance(d, (int, C)),
        issubclass(D, A),
    )


class Base(abc.ABC):
    @abc.abstractmethod
    def f(self): ...
    @property
    @abc.abstractmethod
    def g(self): ...


class Impl(Base):
    def f(self):
        return 1

    g = 2


@case((1,))
def absc(x):
    try:
        Base()
    except TypeError as e:
        m = str(e)
    return Impl().f() + Impl().g, m


class Logged:
    def __getattribute__(self, n):
        v = object.__getattribute__(self, n)
        if not n.startswith("_"):
            object.__getattribute__(self, "_log").append(n)
        return v

    def __init__(self):
        self._log = []
        self.x = 1


@case((1,))
def logged(k):
    o = Logged()
    o.x
    o.x += k
    return o._log, o.x


class Proxy:
    def __init__(self, t):
        object.__setattr__(self, "_t", t)

    def __getattr__(self, n):
        return getattr(self._t, n)

    def __setattr__(self, n, v):
        setattr(self._t, n, v)

    def __delattr__(self, n):
        delattr(self._t, n)


@case((types.SimpleNamespace(a=1),))
def proxied(o):
    p = Proxy(o)
    p.b = p.a + 1
    del p.a
    return o, hasattr(p, "a"), p.b


class Lazy:
    def __init__(self, f):
        self.f = f

    def __set_name__(self, o, n):
        self.n = n

    def __get__(self, o, t):
        if o is None:
            return self
        v = o.__dict__[self.n] = self.f(o)
        return v


class UseLazy:
    def __init__(self):
        self.calls = 0

    @Lazy
    def v(self):
        self.calls += 1
        return self.calls * 10


@case((1,))
def lazies(x):
    u = UseLazy()
    return u.v, u.v, u.calls, sorted(vars(u)), isinstance(UseLazy.v, Lazy)


class Builder:
    def __init__(self):
        self.parts = []

    def __getattr__(self, n):
        return lambda *a: (self.parts.append((n, a)), self)[1]


@case((2,))
def fluent(k):
    return Builder().select("a", k).where(k > 1).parts


class Undo:
    def __init__(self):
        self.stack = []

    @contextlib.contextmanager
    def tx(self):
        n = len(self.stack)
        try:
            yield self
        except ValueError:
            del self.stack[n:]
            raise
        else:
            self.stack.append("commit")


@case((0,), (1,))
def undo(f):
    u = Undo()
    try:
        with u.tx() as t:
            t.stack.append(1)
            if f:
                raise ValueError("x")
    except ValueError as e:
        return u.stack, str(e)
    return u.stack


class Timer(contextlib.ContextDecorator):
    n = 0

    def __enter__(self):
        Timer.n += 1
        return self

    def __exit__(self, *e):
        Timer.n += 10


@Timer()
def timed(x):
    return x + 1


@case((1,))
def deco_cm(x):
    Timer.n = 0
    return timed(x), Timer.n


@case((3,), (11,))
def nested_funcs(n):
    count = 0

    def inc(by=1):
        nonlocal count
        count += by
        return count

    def twice(f):
        return lambda *a: (f(*a), f(*a))

    fs = [lambda i=i: i + count for i in range(n)]
    return twice(inc)(2), [f() for f in fs], inc.__defaults__, inc.__name__


@case(([3, 1, 2],))
def walrus(xs):
    if (n := len(xs)) > 2 and (m := max(xs)) > n - 1:
        return n, m, [y := x + 1 for x in xs], y


@case((b"abc",))
def bytes_(b):
    return (
        b.hex(" "),
        b[0],
        b[::-1],
        bytes(x ^ 1 for x in b),
        b.decode().encode("utf-16-le"),
        bytearray(b) + b"x",
        int.from_bytes(b, "big"),
        b"%b|%d" % (b, 3),
        list(b),
        b.find(b"c"),
        b.translate(None, b"a"),
    )


@case(("Hello, World",))
def strs(s):
    return (
        s.swapcase(),
        s.partition(", "),
        s.translate(str.maketrans("lo", "01")),
        s.center(20, "*"),
        s.title(),
        s.zfill(15),
        s.casefold(),
        s.expandtabs(),
        s.rsplit(None, 1),
        s[::-2],
        s.count("l"),
        s.replace("l", "L", 1),
        s.isalpha(),
        s.index("o"),
        "".join(sorted(set(s))),
        s.encode().decode("ascii"),
        s.startswith(("x", "He")),
        s.splitlines(),
        s * 2,
        "l" in s,
        min(s),
        ord(s[0]),
        ascii("é"),
        repr("a'b"),
    )


@case((-7, 3), (7.5, 2), (2, 0))
def nums(a, b):
    try:
        d = divmod(a, b)
    except ZeroDivisionError as e:
        d = str(e)
    return (
        d,
        a**2,
        round(a / 3, 2),
        abs(a),
        a // (b or 1),
        a % (b or 1),
        int(a),
        math.floor(a),
        pow(3, 4, 5),
        (5).bit_length(),
        0.1 + 0.2,
        round(2.5),
        round(-1.5),
        1e16 + 1,
        7 // -2,
        -7 % 3,
        10**20,
        2**-1,
        (1 + 2j) * 3j,
        complex("1+2j"),
        float("inf") > 1,
        math.isclose(0.1 + 0.2, 0.3),
        math.gcd(12, 18),
        hex(255),
        int("ff", 16),
        f"{1 / 3:.3g}",
        1 < a < 10,
        True + True,
        ~5,
        6 & 3,
        6 ^ 3,
        1 << 70,
    )


@case(([1, 2, 3, 4, 5, 6],))
def slices(xs):
    ys = xs[:]
    ys[1:3] = [9]
    ys[::2] = [0] * len(ys[::2])
    del ys[-1]
    ys.insert(1, 7)
    ys += (1,)
    ys *= 2
    zs = ys.copy()
    zs.sort(reverse=True)
    zs.reverse()
    return (
        ys,
        zs,
        xs[-2:],
        xs[5:0:-2],
        [*xs, *ys][::3],
        xs.index(3),
        3 in xs,
        xs[slice(1, None, 2)],
        sum(xs, 10),
        list(map(min, xs, reversed(xs))),
        all(xs),
        list(filter(None, [0, 1])),
        [x for x in xs if x % 2 if x > 1],
        [(i, j) for i in xs[:2] for j in xs[:i]],
    )


@case(({"a": 1, "b": 2},))
def dicts(d):
    e = d | {"c": 3}
    e |= {"a": 0}
    k, v = e.popitem()
    e.setdefault("l", []).append(1)
    f = dict(zip("xy", range(2)), z=1)
    inv = {v: k for k, v in d.items()}
    return (
        e,
        (k, v),
        f,
        inv,
        d.keys() & {"a"},
        d.items() >= {("a", 1)},
        list(reversed(d)),
        dict.fromkeys("ab", 0),
        e.pop("q", None),
        {**d, "a": 5},
        sorted(d, key=d.get, reverse=True),
        d == {"b": 2, "a": 1},
        min(d.values()),
        len(e),
        e.get("zz"),
        next(iter(d)),
        {k: {j for j in range(v)} for k, v in d.items()},
    )


@case(({1, 2, 3},))
def sets(s):
    t = {3, 4}
    u = s | t
    u -= {1}
    u.add(9)
    u.discard(100)
    f = frozenset(s)
    return (
        u,
        s & t,
        s ^ t,
        s - t,
        s <= u,
        s.isdisjoint({7}),
        f,
        {f: 1},
        len(s),
        sorted(u),
        s.symmetric_difference([1]),
        {x % 2 for x in s},
        s.union([5], (6,)),
        s > {1},
    )


@case((4,))
def gen_send(n):
    def g():
        x = 0
        try:
            while True:
                y = yield x
                x = y if y is not None else x + 1
        except KeyError:
            yield "caught"
        finally:
            x = -1

    it = g()
    out = [next(it), next(it), it.send(10), it.throw(KeyError)]
    it.close()
    return out, list(it)


@case((3,))
def yield_from(n):
    def inner():
        r = yield 1
        return r or "done"

    def outer():
        for _ in range(n):
            v = yield from inner()
        return v

    def run(g):
        try:
            while True:
                yield next(g)
        except StopIteration as e:
            yield e.value

    return list(run(outer()))


@case((3,))
def async_things(n):
    class CM:
        async def __aenter__(self):
            log.append("in")
            return self

        async def __aexit__(self, *e):
            log.append(e[0] and e[0].__name__)
            return True

    class It:
        def __init__(self):
            self.i = 0

        def __aiter__(self):
            return self

        async def __anext__(self):
            if self.i >= n:
                raise StopAsyncIteration
            self.i += 1
            return self.i

    log = []

    async def main():
        async with CM():
            async for v in It():
                log.append(v)
            xs = [x async for x in It() if x > 1]
            raise ValueError
        return log, xs

    def run(c):
        try:
            c.send(None)
        except StopIteration as e:
            return e.value

    return run(main())


@case((0,), (1,), (2,), (3,))
def control(k):
    out = []
    for i in range(5):
        try:
            if i == k:
                continue
            if i == k + 1:
                break
            out.append(i)
        finally:
            out.append(-i)
    else:
        out.append("else")
    while k:
        k -= 1
        try:
            if k == 1:
                raise ValueError(k)
        except ValueError as e:
            out.append(e.args)
            continue
        else:
            out.append("ok")
    return out


@case((1,), (2,), (0,))
def exc_chain(k):
    class AppErr(Exception):
        def __init__(self, m, *, code=1):
            super().__init__(m)
            self.code = code

        def __str__(self):
            return f"[{self.code}] {super().__str__()}"

    def low():
        if k == 1:
            return {}["x"]
        if k == 2:
            return [][1]
        return 1 / k

    try:
        try:
            low()
        except LookupError as e:
            raise AppErr("lookup", code=5) from e
        except ArithmeticError:
            raise AppErr("math")
    except AppErr as e:
        return (
            str(e),
            e.code,
            repr(e.__cause__),
            repr(e.__context__),
            e.__suppress_context__,
            e.args,
        )


@case((2,))
def matchseq(k):
    def f(x):
        match x:
            case (a, b) if a == b:
                return "pair"
            case [1, *rest]:
                return rest
            case {"k": [x, *_]}:
                return x
            case {"k": None, **r}:
                return r
            case "a" | "b" as c:
                return c
            case True | False:
                return "bool"
            case int(n) if n > k:
                return n
            case float():
                return "f"
            case Sl(a=1, b=b):
                return b
            case Emp(name, pay):
                return name, pay
            case collections.deque():
                return "dq"
            case _:
                return None

    return [
        f(v)
        for v in [
            (1, 1),
            [1, 2, 3],
            {"k": [4]},
            {"k": None, "z": 1},
            "b",
            True,
            5,
            1,
            2.0,
            Sl(1, 7),
            Emp("n", 2),
            deque(),
            object,
            (),
            "ab",
            b"a",
        ]
    ]


@case((5,))
def primes(n):
    def sieve():
        D = {}
        q = 2
        while True:
            p = D.pop(q, None)
            if p is None:
                D[q * q] = q
                yield q
            else:
                x = p + q
                while x in D:
                    x += p
                D[x] = p
            q += 1

    return list(itertools.islice(sieve(), n))


@case(("abcabcbb",))
def longest(s):
    seen = {}
    start = best = 0
    for i, c in enumerate(s):
        if c in seen and seen[c] >= start:
            start = seen[c] + 1
        seen[c] = i
        best = max(best, i - start + 1)
    return best


@case(("kitten", "sitting"))
def lev(a, b):
    prev = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        cur = [i]
        for j, y in enumerate(b, 1):
            cur.append(min(prev[j] + 1, cur[-1] + 1, prev[j - 1] + (x != y)))
        prev = cur
    return prev[-1]


@case(([4, 2, 9, 1],))
def qsort(xs):
    return (
        xs
        if len(xs) < 2
        else (lambda p, *r: qsort([x for x in r if x < p]) + [p] + qsort([x for x in r if x >= p]))(
            *xs
        )
    )


@case(([[5, 3], [1, 9]],))
def bfs(grid):
    q = deque([(0, 0)])
    seen = {(0, 0)}
    order = []
    while q:
        r, c = q.popleft()
        order.append(grid[r][c])
        for dr, dc in ((0, 1), (1, 0)):
            n = (r + dr, c + dc)
            if n not in seen and n[0] < len(grid) and n[1] < len(grid[0]):
                seen.add(n)
                q.append(n)
    return order


@case((12,))
def fracs(n):
    F = fractions.Fraction
    h = sum((F(1, k) for k in range(1, n)), F(0))
    return (
        h,
        float(h),
        h.limit_denominator(10),
        str(h),
        F("1/3") + 1,
        h > 2,
        round(h),
        F(3, 6).numerator,
    )


@case(([1.5, 2.5, 4.0],))
def stats(xs):
    return (
        statistics.mean(xs),
        statistics.median(xs),
        statistics.pstdev(xs),
        statistics.mode([1, 1, 2]),
        statistics.quantiles(xs, n=2),
        statistics.fmean(xs),
    )


@case((3,))
def rnd(n):
    r = random.Random(n)
    return (
        [r.randint(1, 6) for _ in range(3)],
        r.choice("abc"),
        r.sample(range(10), 3),
        r.random(),
        r.shuffle([1, 2]),
        r.gauss(0, 1),
        r.uniform(1, 2),
    )


class Event:
    def __init__(self):
        self.hs = defaultdict(list)

    def on(self, n, f=None):
        if f is None:
            return lambda g: self.on(n, g)
        self.hs[n].append(f)
        return f

    def emit(self, n, *a, **k):
        return [h(*a, **k) for h in self.hs[n]]


@case((2,))
def events(x):
    e = Event()

    @e.on("a")
    def f(v, *, k=1):
        return v * k

    e.on("a", lambda v, **kw: -v)
    return e.emit("a", x, k=3), e.emit("none")


class State(enum.Enum):
    IDLE = "idle"
    RUN = "run"
    DONE = "done"

    def next(self):
        ms = list(State)
        return ms[(ms.index(self) + 1) % len(ms)]

    @classmethod
    def parse(cls, t):
        return cls(t.lower())

    def __str__(self):
        return self.value


TR = {(State.IDLE, "go"): State.RUN, (State.RUN, "stop"): State.DONE}


class P(enum.IntFlag):
    R = 4
    W = 2
    X = 1


@case((6,))
def intflag(v):
    p = P(v)
    return (
        p,
        p & P.R,
        bool(p & P.X),
        P.R | P.X,
        int(p),
        p == 6,
        P.R in p,
        ~P.R & P(7),
        repr(p),
        P["R"],
    )


class Strs(str, enum.Enum):
    A = "a"
    B = "b"


@case((np.arange(6.0).reshape(2, 3), np.array([True, False])))
def np_mix(x, m):
    rows = [r for r, keep in zip(x, (0, 1)) if keep]
    d = {f"c{i}": x[:, i] for i in range(x.shape[1])}
    tot = functools.reduce(np.add, d.values())
    with np.errstate(divide="ignore"):
        inv = 1 / x
    return (
        rows,
        tot,
        inv,
        {k: v.sum() for k, v in d.items()},
        [a.shape for a in np.split(x, 3, axis=1)],
        x[..., None].shape,
        np.stack([*x]).T,
        x @ x.T,
    )


class Norm:
    def __init__(self, eps=1e-5):
        self.eps = eps
        self.stats = {}

    def fit(self, x):
        self.stats.update(mean=x.mean(0), std=x.std(0))
        return self

    def transform(self, x):
        s = self.stats
        return (x - s["mean"]) / (s["std"] + self.eps)

    def fit_transform(self, x, **kw):
        return self.fit(x, **kw).transform(x)


@case((np.arange(6.0).reshape(3, 2),))
def norm(x):
    return Norm().fit_transform(x)


@case((np.arange(5.0),))
def pipe(x):
    steps = [
        ("scale", lambda v, k=2.0: v * k),
        ("shift", functools.partial(np.add, 1.0)),
        ("clip", operator.methodcaller("clip", 0, 5)),
    ]
    log = []
    for name, f in steps:
        x = f(x)
        log.append(f"{name}:{x.ndim}")
    return x, log


@case((np.linspace(0, 1, 5), 3))
def rk4(y, n):
    f = lambda t, y: -y * t
    h = 0.1
    t = 0.0
    for _ in range(n):
        k1 = f(t, y)
        k2 = f(t + h / 2, y + h / 2 * k1)
        k3 = f(t + h / 2, y + h / 2 * k2)
        k4 = f(t + h, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        t += h
    return t, y


@dataclass
class Batch:
    x: np.ndarray
    y: Optional[np.ndarray] = None
    meta: dict = field(default_factory=dict)

    def map(self, f):
        return dataclasses.replace(self, x=f(self.x))

    def __len__(self):
        return len(self.x)

    def __getitem__(self, s):
        return Batch(self.x[s], None if self.y is None else self.y[s], self.meta)


@case((np.arange(6.0),))
def batches(x):
    b = Batch(x, x * 2)
    out = [b[i : i + 2].map(np.square) for i in range(0, len(b), 2)]
    return [(o.x.sum(), o.y) for o in out], out[0].meta is b.meta


@case((3,))
def dcl(x):
    @dataclass
    class P:
        a: int
        b: list = field(default_factory=list)

    p = P(x)
    p.b.append(1)
    return p.a, p.b, p == P(3, [1])


@case((1,))
def sysv(x):
    major, minor, *_ = sys.version_info
    return major, len(sys.version_info), sys.version_info >= (3, 9), sys.version_info[:2]


it_ = None


@case(([1, 2, 3],))
def nexts(xs):
    it = iter(xs)
    a = next(it)
    return a, next(it, None), list(it), next(it, "end")


@pytest.mark.parametrize("fn, args", CASES, ids=lambda value: getattr(value, "__name__", None))
def test_captured_whole(fn, args):
    raises = Outcome(fn, *copy.deepcopy((args, {}))).error is not None
    check(fn, *args, breaks="raises" if raises else None)
