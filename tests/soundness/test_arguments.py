"""One function, one program after another of arguments: whatever may come next at the same place."""

import collections
import functools
import math
import types
import warnings

import numpy as np
import pytest
from twins import Fresh, succession

P = collections.namedtuple("P", "a b")
nan, inf = float("nan"), float("inf")


class I(int):
    pass


class F(float):
    def __add__(self, other):
        return "F"


class S(str):
    pass


class T(tuple):
    def __getitem__(self, i):
        return 42


class L(list):
    def __getitem__(self, i):
        return 42

    def __iter__(self):
        return iter((7, 8))


class D(dict):
    def __getitem__(self, i):
        return 42


class Arr(np.ndarray):
    def __add__(self, other):
        return "Arr"


class Fn:
    def __call__(self, *a):
        return a

    def __float__(self):
        return 3.0

    def __index__(self):
        return 2

    def __array__(self, dtype=None, copy=None):
        return np.ones(3)


class UF:
    def __array_ufunc__(self, *a, **k):
        return "uf"

    def __array_function__(self, *a, **k):
        return "af"


class Prio:
    __array_priority__ = 1000

    def __radd__(self, o):
        return "prio"

    def __rmul__(self, o):
        return "prio"


class NoUF:
    __array_ufunc__ = None

    def __radd__(self, o):
        return "no"


def arrays():
    base = np.arange(24.0)
    ro = np.arange(3.0)
    ro.flags.writeable = False
    odd = np.frombuffer(b"\0" + np.arange(3.0).tobytes(), dtype=np.uint8)[1:].view(np.float64)
    return [
        np.arange(3.0),
        np.arange(3.0),
        np.arange(4.0),
        np.arange(1.0),
        np.arange(0.0),
        np.array(3.0),
        np.float64(3.0),
        np.float32(3.0),
        np.arange(3),
        np.arange(3, dtype=np.int8),
        np.arange(3, dtype=np.uint8),
        np.arange(3, dtype=np.float32),
        np.arange(3, dtype=np.float16),
        np.arange(3, dtype=">f8"),
        np.arange(3) > 1,
        np.arange(3) * 1j,
        np.arange(3).astype("S"),
        np.arange(3).astype(object),
        np.arange(3).astype("M8[s]"),
        np.arange(3).astype("U"),
        base[::-1],
        base[::2],
        base[:3],
        base.reshape(4, 6),
        base.reshape(4, 6).T,
        base.reshape(4, 6)[:, ::2],
        base.reshape(2, 3, 4),
        base.reshape(2, 3, 4).transpose(1, 0, 2),
        base.reshape(24, 1),
        base.reshape(1, 24),
        np.broadcast_to(np.float64(2.0), (3, 4)),
        np.broadcast_to(np.arange(3.0), (2, 3)),
        ro,
        odd,
        np.ma.array([1.0, 2.0], mask=[0, 1]),
        np.matrix([[1.0, 2.0], [3.0, 4.0]]),
        np.arange(3.0).view(Arr),
        np.zeros(3, dtype="f8,i4"),
        np.zeros((0, 3)),
        np.zeros((3, 0)),
        np.zeros((1, 1)),
        np.full(3, nan),
        np.array([inf, -inf, -0.0]),
        np.longdouble(1),
        np.zeros(3, np.longdouble),
        np.bool_(True),
        np.int64(3),
        np.uint8(255),
        np.array(["a"]),
        np.zeros(2, dtype="f8,f8").view(np.recarray),
    ]


def scalars():
    return [
        1,
        1,
        2,
        0,
        -1,
        True,
        False,
        1.0,
        0.0,
        -0.0,
        nan,
        inf,
        -inf,
        10**30,
        -(10**30),
        2**63 - 1,
        2**63,
        -(2**63),
        -(2**63) - 1,
        1e300,
        1e-320,
        0.5,
        1 + 2j,
        None,
        "a",
        b"a",
        (),
        (1,),
        (1, 2),
        [],
        [1],
        [1, 2],
        {},
        {"a": 1},
        set(),
        range(3),
        I(3),
        F(3.0),
        S("a"),
        T((1, 2)),
        L([1, 2]),
        D(a=1),
        Fn(),
        UF(),
        Prio(),
        NoUF(),
        slice(1, 2),
        int,
        len,
        Ellipsis,
        NotImplemented,
        np.float64(2.0),
        np.float32(2.0),
        np.int8(2),
        np.bool_(True),
        np.arange(3.0),
        np.arange(2.0),
        np.array(2.0),
        np.arange(3),
        np.ones((3, 3)),
        np.ones(1),
        math,
        Fresh(lambda: (x for x in (1, 2, 3))),
        Fresh(lambda: iter([1, 2, 3])),
        Fresh(lambda: zip((1, 2), (3, 4))),
        Fresh(lambda: map(abs, [1, 2])),
        Fresh(lambda: reversed([1, 2])),
        Fresh(lambda: enumerate([1])),
        collections.deque([1, 2]),
        collections.OrderedDict(a=1),
        P(1, 2),
        functools.partial(max, 1),
        types.SimpleNamespace(a=1),
        memoryview(b"abc"),
        3,
        3.5,
        127,
        128,
        255,
        256,
        -128,
        -129,
        65536,
        2**31,
        2**32,
        70000.0,
        3.5e38,
        1e39,
    ]


X = np.linspace(0.5, 2.0, 3)
I8 = np.arange(3, dtype=np.int8)
F4 = np.arange(3, dtype=np.float32)

ONE_ARRAY = {
    "add": lambda a: a + 1,
    "chain": lambda a: np.sqrt(a * 2.0) - a,
    "sum": lambda a: a.sum(),
    "mean0": lambda a: np.mean(a, axis=0),
    "maxlast": lambda a: a.max(axis=-1, keepdims=True),
    "T": lambda a: a.T,
    "view": lambda a: a[1:],
    "reshape": lambda a: a.reshape(-1),
    "ravel": lambda a: a.ravel(),
    "newaxis": lambda a: a[None] + a[..., None],
    "itself": lambda a: (a, [a], {"a": a}),
    "shape": lambda a: (a.shape, a.ndim, a.size, a.dtype),
    "len": lambda a: (len(a), a + 0),
    "int": lambda a: a[0],
    "neg": lambda a: (-a, abs(a), +a),
    "pow": lambda a: (a**2, a**0.5, a**-1, a**3),
    "floordiv": lambda a: (a // 2, a % 2, 7 // (a + 1)),
    "shift": lambda a: (a << 1, a >> 1, a & 1, a | 1, ~a),
    "cmp": lambda a: (a == 1, a < 2, a != a),
    "where": lambda a: np.where(a > 1, a, 0),
    "clip": lambda a: np.clip(a, 1, 2),
    "matmul": lambda a: a @ a,
    "dot": lambda a: np.dot(a, a),
    "astype": lambda a: a.astype(np.float32) + 1,
    "zeros_like": lambda a: np.zeros_like(a),
    "ones": lambda a: np.ones(a.shape, a.dtype),
    "full": lambda a: np.full_like(a, 7),
    "iadd fresh": lambda a: _iadd(a),
    "unpack": lambda a: (
        [v + 1 for v in a] if a.ndim and a.shape[0] < 30 and type(a) is np.ndarray else None
    ),
    "truth": lambda a: 1 if a.size else 2,
    "item": lambda a: a.sum().item(),
    "float": lambda a: float(a.sum()),
    "squeeze": lambda a: a.squeeze(),
    "copy": lambda a: a.copy(),
    "any": lambda a: (a.any(), a.all()),
    "prod": lambda a: a.prod(axis=0),
    "std": lambda a: (a - a.mean()) / (a.max() - a.min() + 1),
    "cast": lambda a: np.float32(2) * a + np.float64(1),
    "int weak": lambda a: a * 200,
    "huge weak": lambda a: a + 2**40,
    "minus weak": lambda a: a + -1,
    "float weak": lambda a: a * 1e300,
    "bool weak": lambda a: a + True,
    "complex weak": lambda a: a * 1j,
    "stack": lambda a: np.stack([a, a]),
    "concatenate": lambda a: np.concatenate([a, a]),
    "flip": lambda a: a[::-1] + a,
    "swap": lambda a: a.swapaxes(0, -1),
    "flags": lambda a: (a.T.flags.c_contiguous, (a + 1).flags.writeable),
    "real": lambda a: (a.real, a.imag),
    "exp": lambda a: np.exp(a),
    "divide": lambda a: 1 / a,
    "list": lambda a: [[a, a], (a,)],
    "same twice": lambda a: (lambda y: (y, y, [y]))(a + 1),
    "views of new": lambda a: (lambda y: (y[1:], y.T, y))(a + 1),
    "setitem fresh": lambda a: _setitem(a),
}


def _iadd(a):
    y = a * 1
    z = y
    y += 1
    return y, z


def _setitem(a):
    y = a * 1
    z = y[:1]
    y[...] = 3
    return y, z


ONE_SCALAR = {
    "x*s": lambda s: X * s,
    "x+s": lambda s: X + s,
    "s-x": lambda s: s - X,
    "x/s": lambda s: X / s,
    "x**s": lambda s: X**s,
    "s**x": lambda s: s**X,
    "x//s": lambda s: (X // s, X % s),
    "i8+s": lambda s: I8 + s,
    "i8*s": lambda s: I8 * s,
    "f4*s": lambda s: F4 * s,
    "i8<s": lambda s: I8 < s,
    "i8==s": lambda s: I8 == s,
    "x<<": lambda s: I8 << s,
    "where": lambda s: np.where(X > 1, X, s),
    "where cond": lambda s: np.where(s, X, 0.0),
    "clip": lambda s: np.clip(X, s, 1.5),
    "maximum": lambda s: np.maximum(F4, s),
    "arith": lambda s: (X, s * 2 + 1),
    "div": lambda s: (X, 7 / s, 7 // s, 7 % s),
    "divmod": lambda s: (X, divmod(s, 3), divmod(-7, s)),
    "neg": lambda s: (X, -s, +s, abs(s)),
    "cmp": lambda s: (X, s > 1, s == 1, s != s, 0 < s < 2),
    "branch": lambda s: X + 1 if s > 0 else X - 1,
    "truth": lambda s: X + 1 if s else X - 1,
    "is": lambda s: (X, s is None, s is True),
    "sq": lambda s: (X, s * s * s),
    "pow": lambda s: (X, s**2, 2**s if not isinstance(s, int) or s < 100 else 0),
    "len": lambda s: (X, len(s)),
    "index": lambda s: X[s],
    "slice": lambda s: X[s:],
    "item": lambda s: (X, s[0]),
    "key": lambda s: (X, s["a"]),
    "iter": lambda s: (X, [v for v in s]),
    "star": lambda s: (X, *s),
    "unpack": lambda s: (X, (lambda a, b: (b, a))(*s)),
    "in": lambda s: (X, 1 in s),
    "key of": lambda s: (X, {s: 1}, {1: 2, "a": 3}.get(s)),
    "format": lambda s: (X, f"{s}", "%s" % (s,), str(s)),
    "float": lambda s: (X, float(s)),
    "int": lambda s: (X, int(s)),
    "bool": lambda s: (X, bool(s)),
    "round": lambda s: (X, round(s), round(s, 1)),
    "min": lambda s: (X, min(s, 2), max(2, s)),
    "range": lambda s: (X, list(range(s))) if not isinstance(s, int) or s < 500 else X,
    "math": lambda s: (X, math.sqrt(s), math.floor(s)),
    "isinstance": lambda s: (
        X,
        isinstance(s, int),
        isinstance(s, (float, tuple)),
        type(s) is float,
    ),
    "call": lambda s: (X, s(1, 2)),
    "attr": lambda s: (X, s.a),
    "array": lambda s: np.array([s, s]) * X[:2],
    "asarray": lambda s: np.asarray(s) + 1,
    "zeros": lambda s: np.zeros(s) if not isinstance(s, int) or s < 1000 else X,
    "full": lambda s: np.full(3, s),
    "arange": lambda s: np.arange(s) if not isinstance(s, (int, float)) or s < 500 else X,
    "axis": lambda s: np.ones((2, 3)).sum(axis=s),
    "reshape": lambda s: np.ones((2, 3)).reshape(s),
    "add.reduce": lambda s: np.add.reduce([X, X]) + s,
    "tuple": lambda s: (X, (s, s), [s], {"k": s}),
    "sort": lambda s: (X, sorted([3, s, 1])),
    "sum": lambda s: (X, sum([s, 1])),
    "np.add": lambda s: np.add(X, s),
    "np.sqrt": lambda s: np.sqrt(s),
    "np.add2": lambda s: np.add(s, s),
    "np.float32": lambda s: np.float32(s) * X,
    "not": lambda s: (X, not s),
    "and": lambda s: (X, s and 1, s or 2),
    "bitand": lambda s: (X, s & 3, s | 4, s ^ 5, ~s),
    "bits": lambda s: (X, s << 2, s >> 1),
    "hash": lambda s: (X, hash(s)) if not isinstance(s, (str, bytes)) and s is not None else X,
    "eq list": lambda s: (X, [s] == [1], (s,) == (1,), s == s),
    "dict": lambda s: (X, dict(s)),
    "list": lambda s: (X, list(s), tuple(s)),
    "zip": lambda s: (X, list(zip(s, [1, 2]))),
    "enumerate": lambda s: (X, list(enumerate(s))),
    "next": lambda s: (X, next(s)),
    "partial": lambda s: functools.partial(np.add, X)(s),
    "kw": lambda s: (X, (lambda **k: k)(**s)),
    "matmul": lambda s: X @ s,
    "nan in": lambda s: (
        X,
        s in [s],
        s in (1, s),
        [s] == [s],
        (s,) == (s,),
        {s: 1}.get(s) if s == s else 0,
        [1, s].count(s),
    ),
    "nan new": lambda s: (
        X,
        s * 1.0 in [s],
        [s + 0.0] == [s],
        [s * 2] == [s * 2],
        (lambda t: [t] == [t])(s * 2),
    ),
    "nan key": lambda s: (X, {s: 1}.get(s), {s: 1, s: 2}, {s * 1.0: 1, s * 1.0: 2}, len({s, s})),
    "conj": lambda s: (X, s.real, s.imag, s.conjugate()),
    "isint": lambda s: (X, s.is_integer()),
}

SHOWS_ADDRESSES = {
    "where",
    "key of",
    "format",
    "zeros",
    "full",
    "reshape",
    "array",
    "nan in",
    "nan key",
    "hash",
}

warnings.filterwarnings("ignore", category=SyntaxWarning)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ONE_ARRAY)
def test_arrays(name):
    succession(ONE_ARRAY[name], arrays() + arrays()[:12])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ONE_SCALAR)
def test_scalars(name):
    values = scalars() + scalars()[:12]
    if name in SHOWS_ADDRESSES:
        values = [value for value in values if not isinstance(value, Fresh)]
    succession(ONE_SCALAR[name], values)
