"""Functions as services, parsers and reports have them, each captured whole."""

import base64
import collections
import contextlib
import copy
import dataclasses
import datetime
import enum
import functools
import hashlib
import heapq
import html
import itertools
import json
import math
import operator
import os.path
import re
import string
import struct
import textwrap
import urllib.parse
from collections import ChainMap, Counter, OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass, field

import numpy as np
import pytest
from differential import Outcome, check

CASES = []


def case(*argsets):
    def mark(fn):
        CASES.extend((fn, args) for args in argsets)
        return fn

    return mark


# ---- web
@case(("GET /a/b?x=1&y=2 HTTP/1.1",), ("POST / HTTP/1.0",), ("bad",))
def parse_request(line):
    parts = line.split(" ")
    if len(parts) != 3:
        raise ValueError(f"malformed request line: {line!r}")
    method, target, version = parts
    path, _, query = target.partition("?")
    params = {}
    for pair in filter(None, query.split("&")):
        key, _, value = pair.partition("=")
        params.setdefault(key, []).append(value)
    return method, path, params, version.removeprefix("HTTP/")


@case(("a=1&b=%20x&c=",), ("",))
def qs(text):
    return urllib.parse.parse_qs(text, keep_blank_values=True), urllib.parse.urlencode(
        {"a": 1, "b": "x y"}
    )


@case(("a b/c?é",))
def quoted(u):
    return urllib.parse.quote(u), urllib.parse.unquote("a%20b"), urllib.parse.quote_plus(u)


@case(("<b>&\"'",))
def esc(t):
    return html.escape(t), html.unescape("&lt;b&gt; &amp;")


class Route:
    def __init__(self, pattern, handler):
        self.regex = re.compile("^" + re.sub(r"<(\w+)>", r"(?P<\1>[^/]+)", pattern) + "$")
        self.handler = handler


class Router:
    def __init__(self):
        self.routes = []

    def route(self, pattern):
        def deco(f):
            self.routes.append(Route(pattern, f))
            return f

        return deco

    def dispatch(self, path):
        for r in self.routes:
            m = r.regex.match(path)
            if m:
                return r.handler(**m.groupdict())
        raise LookupError(path)


router = Router()


@router.route("/user/<name>")
def user(name):
    return f"hello {name}"


@router.route("/add/<a>/<b>")
def add(a, b):
    return int(a) + int(b)


@case(("/user/bob",), ("/add/1/2",), ("/none",))
def routed(path):
    return router.dispatch(path)


@case(({"a": [1, {"b": 2}], "c": {"d": None}},))
def flatten(d):
    def walk(prefix, v):
        if isinstance(v, dict):
            for k, x in v.items():
                yield from walk(f"{prefix}.{k}" if prefix else k, x)
        elif isinstance(v, list):
            for i, x in enumerate(v):
                yield from walk(f"{prefix}[{i}]", x)
        else:
            yield prefix, v

    return dict(walk("", d))


@case(("text/html;q=0.8, application/json, */*;q=0.1",))
def accept(h):
    out = []
    for part in h.split(","):
        m, *ps = part.strip().split(";")
        q = 1.0
        for p in ps:
            k, _, v = p.strip().partition("=")
            if k == "q":
                q = float(v)
        out.append((m, q))
    return sorted(out, key=lambda t: -t[1])


class HTTPError(Exception):
    status = 500

    def __init__(self, msg=None, **kw):
        super().__init__(msg or self.__class__.__name__)
        self.detail = kw


class NotFound(HTTPError):
    status = 404


@case((1,), (0,), (-1,))
def errors(n):
    try:
        if n == 0:
            raise NotFound("x", id=n)
        if n < 0:
            raise HTTPError
        return 200, None
    except NotFound as e:
        return e.status, e.detail, str(e)
    except HTTPError as e:
        return e.status, e.detail, str(e)


def retry(times, exceptions=(Exception,)):
    def deco(f):
        @functools.wraps(f)
        def wrapper(*a, **k):
            last = None
            for i in range(times):
                try:
                    return f(*a, attempt=i, **k)
                except exceptions as e:
                    last = e
            raise last

        return wrapper

    return deco


@retry(3, (ValueError,))
def flaky(n, attempt):
    if attempt < n:
        raise ValueError(attempt)
    return attempt


@case((1,), (2,), (5,))
def retried(n):
    return flaky(n), flaky.__name__


class Middleware:
    def __init__(self, app):
        self.app = app

    def __call__(self, req):
        req["seen"] = req.get("seen", 0) + 1
        return self.app(req)


@case(({"path": "/"},))
def stack_mw(req):
    app = lambda r: {"status": 200, **r}
    for _ in range(3):
        app = Middleware(app)
    return app(req)


@case((b"hello world",))
def hashes(b):
    return (
        hashlib.md5(b).hexdigest(),
        hashlib.sha256(b).hexdigest()[:8],
        base64.b64encode(b).decode(),
    )


@case(("Set-Cookie: a=b; Path=/; HttpOnly",))
def cookie(h):
    name, _, rest = h.partition(": ")
    first, *attrs = [p.strip() for p in rest.split(";")]
    k, v = first.split("=", 1)
    return (
        name.lower(),
        {k: v},
        {(a.split("=") + [True])[0].lower(): (a.split("=") + [True])[1] for a in attrs},
    )


@case(({"name": "x", "age": "12"},), ({"name": ""},))
def validate(form):
    errors = {}
    if not (name := form.get("name", "").strip()):
        errors["name"] = "required"
    try:
        age = int(form["age"])
    except KeyError:
        errors["age"] = "missing"
        age = None
    except ValueError as e:
        errors["age"] = str(e)
    return (None, errors) if errors else ({"name": name, "age": age}, {})


# ---- data munging
Row = namedtuple("Row", "city year value", defaults=[0])
rows = [Row("a", 1, 3), Row("b", 1, 4), Row("a", 2, 5), Row("b", 2)]


@case((2,))
def grouped(k):
    by = sorted(rows, key=operator.attrgetter("city", "year"))
    return {
        c: sum(r.value for r in g) * k
        for c, g in itertools.groupby(by, key=operator.attrgetter("city"))
    }


@case((1,))
def pivot(_):
    t = defaultdict(lambda: defaultdict(int))
    for c, y, v in rows:
        t[c][y] += v
    return {k: dict(v) for k, v in t.items()}


@case(("the cat the dog the end",))
def words(t):
    c = Counter(t.split())
    c.update(["dog"])
    return (
        c.most_common(2),
        c["none"],
        +c,
        c - Counter(the=2),
        sorted(c.elements()),
        c.total() if hasattr(c, "total") else 0,
    )


@case(([3, 1, 2],))
def ranks(xs):
    order = sorted(range(len(xs)), key=xs.__getitem__)
    out = [0] * len(xs)
    for r, i in enumerate(order):
        out[i] = r
    return out


@case(([1, 2, 3, 4, 5], 2))
def windows(xs, n):
    it = iter(xs)
    w = deque(itertools.islice(it, n), maxlen=n)
    out = [tuple(w)]
    for x in it:
        w.append(x)
        out.append(tuple(w))
    return out


@case(([1, 2, 3, 4, 5], 2))
def batched(xs, n):
    it = iter(xs)
    out = []
    while chunk := list(itertools.islice(it, n)):
        out.append(chunk)
    return out


@case((["x=1", "y=2", "#c", "", "z"],))
def config(lines):
    cfg = {}
    for no, line in enumerate(map(str.strip, lines), 1):
        match line.split("=", 1):
            case [""]:
                continue
            case [c] if c.startswith("#"):
                continue
            case [k, v]:
                cfg[k] = int(v) if v.isdigit() else v
            case [k]:
                cfg[k] = None
    return cfg, no


@case(
    ({"type": "circle", "r": 2},),
    ({"type": "rect", "w": 1, "h": 2, "z": 0},),
    ([1, 2, 3],),
    ("s",),
    (None,),
    (3.0,),
)
def matched(s):
    match s:
        case {"type": "circle", "r": r}:
            return 3 * r
        case {"type": "rect", "w": w, "h": h, **rest}:
            return w * h, rest
        case [a, *b]:
            return a, b
        case str() as t:
            return t
        case None:
            return "none"
        case int() | float():
            return -s


@dataclass
class Point:
    x: float
    y: float = 0.0
    tags: list = field(default_factory=list)
    norm: float = field(init=False, repr=False)

    def __post_init__(self):
        self.norm = math.hypot(self.x, self.y)

    @property
    def angle(self):
        return math.atan2(self.y, self.x)

    @classmethod
    def origin(cls):
        return cls(0)

    def __add__(self, o):
        return dataclasses.replace(self, x=self.x + o.x, y=self.y + o.y)


@case((3, 4))
def points(a, b):
    p = Point(a, b)
    q = p + Point.origin()
    return (
        q,
        q.norm,
        q.angle,
        repr(q),
        p == q,
        dataclasses.asdict(q),
        [f.name for f in dataclasses.fields(q)],
    )


@case((Point(1, 2), Point(1, 2)))
def match_cls(p, q):
    match p:
        case Point(x=0):
            return 0
        case Point(x, y) if x > y:
            return 1
        case Point(1, y):
            return p == q, y


@dataclass(frozen=True, order=True)
class Ver:
    major: int
    minor: int = 0

    @classmethod
    def parse(cls, t):
        return cls(*map(int, t.split(".")))

    def __str__(self):
        return f"{self.major}.{self.minor}"


@case(
    ("1.2", "1.10"),
)
def versions(a, b):
    va, vb = Ver.parse(a), Ver.parse(b)
    d = {va: "a", vb: "b"}
    return va < vb, str(max(va, vb)), d[Ver(1, 2)], hash(va) == hash(Ver(1, 2)), sorted([vb, va])


@case(([("b", 2), ("a", 2), ("c", 1)],))
def sorts(p):
    return (
        sorted(p, key=operator.itemgetter(1, 0)),
        sorted(p, key=lambda t: (-t[1], t[0])),
        min(p, key=operator.itemgetter(1)),
        list(map(operator.itemgetter(0), p)),
    )


@case((10,))
def pipeline(n):
    def nums(n):
        yield from range(n)

    def even(it):
        return (i for i in it if not i % 2)

    def sq(it):
        for i in it:
            yield i * i

    return list(itertools.takewhile(lambda v: v < 50, sq(even(nums(n)))))


def coroutine(f):
    @functools.wraps(f)
    def start(*a):
        g = f(*a)
        next(g)
        return g

    return start


@coroutine
def averager():
    total = n = 0
    avg = None
    while True:
        x = yield avg
        if x is None:
            return
        total += x
        n += 1
        avg = total / n


@case(([1, 2, 6],))
def avg(xs):
    g = averager()
    return [g.send(x) for x in xs]


@case(({"a": {"b": 1, "c": 2}}, {"a": {"b": 3}, "d": 4}))
def merge(a, b):
    out = copy.deepcopy(a)
    for k, v in b.items():
        out[k] = merge_(out[k], v) if isinstance(v, dict) and k in out else v
    return out


def merge_(a, b):
    return {**a, **b}


@case(([[1, 2], [3, [4, [5]]]],))
def deep(xs):
    def go(x):
        return [z for y in x for z in (go(y) if isinstance(y, list) else [y])]

    return go(xs)


@case((5,))
def accumulates(n):
    return (
        list(itertools.accumulate(range(1, n), operator.mul)),
        list(itertools.accumulate([1, 2], initial=9)),
        list(itertools.product("ab", range(2))),
        list(itertools.combinations(range(4), 2)),
        list(itertools.zip_longest([1], [2, 3], fillvalue=0)),
        list(itertools.starmap(pow, [(2, 3)])),
        list(itertools.pairwise([1, 2, 3])),
        list(itertools.compress("abc", [1, 0, 1])),
        list(itertools.chain.from_iterable([[1], [2]])),
    )


@case((3,))
def reduces(n):
    compose = lambda *fs: functools.reduce(lambda f, g: lambda x: g(f(x)), fs)
    inc = functools.partial(operator.add, 1)
    return compose(inc, inc, str)(n), functools.reduce(operator.or_, [{1}, {2}], set())


@case((7,))
def memo(n):
    @functools.lru_cache(maxsize=None)
    def fib(k):
        return k if k < 2 else fib(k - 1) + fib(k - 2)

    return fib(n), fib.cache_info()


@case((1,))
def chainmaps(k):
    c = ChainMap({"a": k}, {"a": 0, "b": 2})
    c["z"] = 1
    n = c.new_child({"b": 5})
    return dict(n), n["b"], n.parents["b"], len(c), "q" in c, list(c.maps)


@case((2,))
def stackctx(k):
    log = []

    @contextlib.contextmanager
    def cm(i):
        log.append(("in", i))
        try:
            yield i
        finally:
            log.append(("out", i))

    with contextlib.ExitStack() as st:
        v = [st.enter_context(cm(i)) for i in range(k)]
        st.callback(log.append, "cb")
        with contextlib.suppress(KeyError):
            {}["x"]
    return log, v


@case((1234567.891, "ab", 42))
def formats(f, s, i):
    return (
        f"{f:,.2f}|{s:>5}|{s:*^6}|{i:08b}|{i:#x}|{f!r}|{s!r:>6}|{i:+d}",
        f"{f:e}|{f:g}|{i:_}|{'%5.1f%%' % f}|{'{:<{w}}'.format(s, w=4)}|{'%(a)s' % {'a': s}}|{i / 100:.1%}",
        "{0[0]}{1.real}".format([1], 5),
        "%-5s|%05d|%x" % (s, i, i),
    )


@case(((1, 2, 3, 4),))
def stars(t):
    a, *b, c = t
    f = lambda *a, k=1, **kw: (a, k, kw)
    return a, b, c, f(*b, *t, **{"k": 2}, **{"z": 3}), [*t, *b], {**{"a": 1}, "b": 2}


@case((4,))
def matrix(n):
    m = [[i * n + j for j in range(n)] for i in range(n)]
    return (
        [list(r) for r in zip(*m)],
        [sum(m[i][i] for i in range(n))],
        max(map(max, m)),
        list(map(list, zip(*[r[::-1] for r in m]))),
    )


@case(([5, 3, 8, 1],))
def heaps(xs):
    h = list(xs)
    heapq.heapify(h)
    a = [heapq.heappop(h) for _ in range(2)]
    heapq.heappush(h, 0)
    return (
        a,
        h,
        heapq.nlargest(2, xs),
        heapq.merge([1, 4], [2, 3]).__class__.__name__,
        list(heapq.merge([1, 4], [2, 3])),
    )


@case(({"A": ["B", "C"], "B": ["D"], "C": ["D"], "D": []},))
def topo(g):
    seen, out = set(), []

    def visit(n):
        if n in seen:
            return
        seen.add(n)
        for m in g[n]:
            visit(m)
        out.append(n)

    for n in g:
        visit(n)
    return out[::-1]


@case(({"A": {"B": 1, "C": 4}, "B": {"C": 2, "D": 5}, "C": {"D": 1}, "D": {}}, "A"))
def dijkstra(g, s):
    dist = {n: math.inf for n in g}
    dist[s] = 0
    q = [(0, s)]
    while q:
        d, n = heapq.heappop(q)
        if d > dist[n]:
            continue
        for m, w in g[n].items():
            if (nd := d + w) < dist[m]:
                dist[m] = nd
                heapq.heappush(q, (nd, m))
    return dist


@case(("2 3 + 4 *",), ("1 +",))
def rpn(e):
    ops = {"+": operator.add, "*": operator.mul}
    st = []
    for t in e.split():
        if t in ops:
            b, a = st.pop(), st.pop()
            st.append(ops[t](a, b))
        else:
            st.append(float(t))
    return st.pop()


@case(("3+4*(2-1)",))
def tokens(e):
    spec = re.compile(r"\s*(?:(?P<num>\d+)|(?P<op>.))")
    out = []
    for m in spec.finditer(e):
        out.append((m.lastgroup, m.group(m.lastgroup)))
    pos = 0

    def expr():
        nonlocal pos
        v = term()
        while pos < len(out) and out[pos][1] in "+-":
            op = out[pos][1]
            pos += 1
            w = term()
            v = v + w if op == "+" else v - w
        return v

    def term():
        nonlocal pos
        v = atom()
        while pos < len(out) and out[pos][1] in "*/":
            op = out[pos][1]
            pos += 1
            w = atom()
            v = v * w if op == "*" else v / w
        return v

    def atom():
        nonlocal pos
        k, t = out[pos]
        pos += 1
        if k == "num":
            return int(t)
        v = expr()
        pos += 1
        return v

    return expr()


class Color(enum.Enum):
    RED = 1
    GREEN = 2

    @property
    def hexa(self):
        return f"#{self.value:06x}"


class Perm(enum.Flag):
    R = enum.auto()
    W = enum.auto()
    X = enum.auto()


class Lv(enum.IntEnum):
    LO = 1
    HI = 5


@case(
    ("RED", 2),
)
def enums(n, v):
    return (
        Color[n],
        Color(v).hexa,
        Color.RED is Color(1),
        [c.name for c in Color],
        Lv.HI > 3,
        Lv(1).name,
        f"{Color.RED}",
        repr(Color.GREEN),
        len(Color),
        Color.RED in Color,
    )


@case((3,))
def flags(v):
    p = Perm.R | Perm.W
    return p, Perm.R in p, bool(p & Perm.X), p ^ Perm.R, ~p, Perm(v), p.value


@case(
    (99,),
)
def enum_bad(v):
    return Color(v)


class Stack(collections.abc.MutableSequence):
    def __init__(self, it=()):
        self._d = list(it)

    def __getitem__(self, i):
        return self._d[i]

    def __setitem__(self, i, v):
        self._d[i] = v

    def __delitem__(self, i):
        del self._d[i]

    def __len__(self):
        return len(self._d)

    def insert(self, i, v):
        self._d.insert(i, v)


@case((3,))
def mutseq(n):
    s = Stack(range(n))
    s.append(9)
    s.extend([1])
    s.remove(0)
    s += [4]
    p = s.pop()
    s.reverse()
    return list(s), p, s.index(9), s.count(1), 9 in s, list(reversed(s))


class Typed:
    def __init__(self, t):
        self.t = t

    def __set_name__(self, o, n):
        self.n = "_" + n

    def __get__(self, o, c=None):
        return self if o is None else getattr(o, self.n)

    def __set__(self, o, v):
        if not isinstance(v, self.t):
            raise TypeError(f"{self.n[1:]} must be {self.t.__name__}")
        setattr(o, self.n, v)


class Person:
    name = Typed(str)
    age = Typed(int)

    def __init__(self, n, a):
        self.name, self.age = n, a


@case(("x", 3), ("x", "y"))
def typed(a, b):
    p = Person(a, b)
    p.age += 1
    return p.age, p.__dict__


class Registry(type):
    reg = {}

    def __new__(m, n, b, d, **k):
        c = super().__new__(m, n, b, d)
        m.reg[k.get("key", n.lower())] = c
        return c


class Base(metaclass=Registry):
    def run(self):
        return type(self).__name__


class PlugA(Base, key="a"):
    pass


@case(("a",), ("zz",))
def registered(k):
    return Registry.reg[k]().run()


@case(([1, 2, 3],))
def async_gather(xs):
    async def one(x):
        return x * 2

    async def gen():
        for x in xs:
            yield await one(x)

    async def main():
        return [v async for v in gen()]

    c = main()
    try:
        c.send(None)
    except StopIteration as e:
        return e.value


@case((0,), (1,), (2,))
def groups(k):
    try:
        try:
            if k == 0:
                raise KeyError("a")
            if k == 1:
                raise ValueError("b") from KeyError("c")
            return "ok"
        finally:
            k += 10
    except (KeyError, ValueError) as e:
        return type(e).__name__, e.args, k, type(e.__cause__)


@case((3,))
def dates(n):
    d = datetime.date(2024, 2, 28)
    days = [d + datetime.timedelta(days=i) for i in range(n)]
    return (
        [x.isoformat() for x in days],
        days[-1] - d,
        days[0] < days[1],
        d.replace(day=1),
        d.strftime("%Y/%m"),
        f"{d:%d.%m.%Y}",
        d.weekday(),
    )


@case(("2024-01-05",), ("bad",))
def parse_date(t):
    return datetime.date.fromisoformat(t)


@case(("2024-01-05 10:20",))
def parse_dt(t):
    return datetime.datetime.strptime(t, "%Y-%m-%d %H:%M")


@case((1700000000,))
def ts(t):
    return datetime.datetime.fromtimestamp(t, datetime.timezone.utc).isoformat()


@case((125.7,))
def hms(s):
    m, s = divmod(int(s), 60)
    h, m = divmod(m, 60)
    return f"{h:02d}:{m:02d}:{s:02d}", str(datetime.timedelta(seconds=s))


@case((b"\x01\x02\x00\x03rest",))
def unpacked(b):
    a, c, d = struct.unpack_from(">BBH", b)
    return a, c, d, b[struct.calcsize(">BBH") :], int.from_bytes(b[:2], "little")


@case(({"b": [1, 2.5, None], "a": "é"},))
def jsons(o):
    t = json.dumps(o, sort_keys=True, indent=1)
    return t, json.loads(t) == o, json.dumps(o, separators=(",", ":"), ensure_ascii=False)


class Enc(json.JSONEncoder):
    def default(self, o):
        if isinstance(o, set):
            return sorted(o)
        return super().default(o)


@case(({1, 2},))
def json_cls(s):
    return json.dumps({"s": s}, cls=Enc), json.dumps([s], default=sorted)


@case(("The quick brown fox jumps over the lazy dog",))
def wraps_(t):
    return (
        textwrap.wrap(t, 12),
        textwrap.dedent("  a\n  b"),
        textwrap.indent("a\nb", "> "),
        textwrap.shorten(t, 20),
        string.capwords(t),
        string.Template("$a-${b}").substitute(a=1, b=2),
    )


@case(("x-y_z Foo",))
def slug(t):
    return (
        re.sub(r"[\W_]+", "-", t).strip("-").lower(),
        re.split(r"\W", t),
        re.findall(r"[a-z]+", t),
        re.sub(r"[a-z]", lambda m: m.group().upper(), t),
    )


@case((["b10", "a2", "b9"],))
def natural(xs):
    return sorted(xs, key=lambda s: [int(p) if p.isdigit() else p for p in re.split(r"(\d+)", s)])


@case(("a/b/../c.txt",))
def paths(p):
    return (
        os.path.join("x", p),
        os.path.splitext(p),
        os.path.basename(p),
        os.path.normpath(p),
        os.path.dirname(p),
    )


class Node:
    __slots__ = ("v", "l", "r")

    def __init__(self, v):
        self.v = v
        self.l = self.r = None

    def insert(self, v):
        side = "l" if v < self.v else "r"
        c = getattr(self, side)
        if c is None:
            setattr(self, side, Node(v))
        else:
            c.insert(v)

    def __iter__(self):
        if self.l:
            yield from self.l
        yield self.v
        if self.r:
            yield from self.r


@case(([5, 2, 8, 1],))
def tree(xs):
    r = Node(xs[0])
    for x in xs[1:]:
        r.insert(x)
    return list(r), r.l.v, 8 in r


class LRU:
    def __init__(self, n):
        self.n = n
        self.d = OrderedDict()

    def get(self, k):
        if k not in self.d:
            return None
        self.d.move_to_end(k)
        return self.d[k]

    def put(self, k, v):
        self.d[k] = v
        self.d.move_to_end(k)
        if len(self.d) > self.n:
            self.d.popitem(last=False)


@case((2,))
def lru(n):
    c = LRU(n)
    c.put(1, 1)
    c.put(2, 2)
    c.get(1)
    c.put(3, 3)
    return list(c.d), c.get(2)


class Poly:
    def __init__(self, *c):
        self.c = c

    def __call__(self, x):
        return functools.reduce(lambda a, b: a * x + b, self.c, 0)

    def __mul__(self, o):
        if isinstance(o, (int, float)):
            return Poly(*(k * o for k in self.c))
        return NotImplemented

    __rmul__ = __mul__

    def __repr__(self):
        return " + ".join(f"{k}x^{i}" for i, k in enumerate(reversed(self.c)) if k)

    def __matmul__(self, o):
        return 7

    def __getitem__(self, s):
        return self.c[s]

    def __eq__(self, o):
        return isinstance(o, Poly) and self.c == o.c


@case((2,), (2.5,))
def poly(x):
    p = Poly(1, 0, 2)
    return p(x), repr(3 * p), (p * x)[0:2], p @ p, p == Poly(1, 0, 2), p != 3


@functools.singledispatch
def show(o):
    return f"obj {o}"


@show.register
def _(o: int):
    return f"int {o}"


@show.register(list)
def _(o):
    return "list " + ",".join(map(show, o))


@case(([1, "a", [2.5]],))
def sdisp(o):
    return show(o)


class Temp:
    def __init__(self, c):
        self._c = c

    @property
    def f(self):
        return self._c * 9 / 5 + 32

    @f.setter
    def f(self, v):
        self._c = (v - 32) * 5 / 9

    @functools.cached_property
    def big(self):
        return [self._c] * 3

    @staticmethod
    def zero():
        return Temp(0)

    def __enter__(self):
        self._c += 1
        return self

    def __exit__(self, *e):
        self._c -= 1
        return e[0] is ValueError


@case((10.0,))
def temp(c):
    t = Temp(c)
    t.f += 9
    t.big.append(1)
    with t as u:
        assert u is t
        raise ValueError
    return t.f, t.big, Temp.zero().f


@case((np.arange(6.0), 2))
def sci(x, n):
    def window(a, n):
        return [a[i : i + n] for i in range(0, len(a), n)]

    return [w.mean() for w in window(x, n)], {
        k: f(x) for k, f in {"s": np.sum, "m": np.max}.items()
    }


@case((np.arange(4.0),))
def stat_dc(x):
    @dataclass
    class S:
        mean: object
        std: object = None

    s = S(x.mean(), std=x.std())
    return s.mean, s.std


@case((np.ones((2, 3)), {"w": np.ones((3, 2)), "b": np.zeros(2)}))
def net(x, p):
    layers = [lambda v: v @ p["w"] + p["b"], np.tanh, lambda v: v * 2]
    for l in layers:
        x = l(x)
    return x


class Layer:
    n = 0

    def __init__(self, i, o, *, act=None):
        self.w = np.full((i, o), 0.5)
        self.act = act or (lambda v: v)
        type(self).n += 1

    def __call__(self, x):
        return self.act(x @ self.w)


class Model:
    def __init__(self, *ls):
        self.ls = list(ls)

    def forward(self, x):
        for l in self.ls:
            x = l(x)
        return x

    __call__ = forward

    def params(self):
        return {
            f"{i}.{k}": v
            for i, l in enumerate(self.ls)
            for k, v in vars(l).items()
            if isinstance(v, np.ndarray)
        }


model = Model(Layer(3, 4, act=np.tanh), Layer(4, 2))


@case((np.ones((2, 3)),))
def modelf(x):
    return model(x), {k: v.shape for k, v in model.params().items()}


@case((np.arange(5.0),))
def printed(x):
    out = []
    for name, f in (("min", np.min), ("max", np.max)):
        out.append(f"{name:<5}{f.__name__}")
    return "\n".join(out), x * len(out)


@pytest.mark.parametrize("fn, args", CASES, ids=lambda value: getattr(value, "__name__", None))
def test_captured_whole(fn, args):
    raises = Outcome(fn, *copy.deepcopy((args, {}))).error is not None
    check(fn, *args, breaks="raises" if raises else None)
