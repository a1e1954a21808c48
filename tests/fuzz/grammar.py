"""The tables of the typed grammar: the head of every program, templates of expressions and statements.

In a template `{kind}` stands for an expression of the kind, `{name:kind}` for a variable of it, `{new}` and
`{new2}` for new variables; alternatives are separated by bars. How they are put together: `programs.py`.
"""

# ruff: noqa: E501  (the grammar is a table)

from __future__ import annotations

HEADER = """\
import collections
import contextlib
import dataclasses
import enum
import functools
import itertools

import numpy as np

COUNT = 1
SCALE = 1.5
NAMES = ['a', 'b']
TABLE = {'a': 1, 'b': 2.5}
LOG = [5, 6, 7]
GRID = np.arange(6.0).reshape(2, 3)


class Box:
    limit = 3

    def __init__(self, v, w=2):
        self.v = v
        self.w = w

    def add(self, n, *more, k=1):
        self.v = self.v + n * k
        for m in more:
            self.v += m
        return self.v

    def get(self, d=0):
        return self.w if self.v is None else self.w + d

    @property
    def twice(self):
        return self.w * 2

    @staticmethod
    def pair(a, b=1):
        return a, b

    @classmethod
    def make(cls, v):
        return cls(v, cls.limit)


class Crate(Box):
    def get(self, d=1):
        return super().get(d) + 1


BOX = Box(1)


def helper(n, m=2, *rest, c=3, **more):
    return n + m * c + len(rest) + len(more)


def affine(x, y=1.0, *, scale=None):
    if scale is None:
        scale = SCALE
    if isinstance(y, np.ndarray) and y.ndim == 0:
        return x * scale
    return x * scale + y


def counter(start):
    total = start

    def step(n=1):
        nonlocal total
        total += n
        return total

    return step


def compose(f, g, *args):
    return f(g(*args))


STEP = counter(10)
PAIRS = [[1, 2.0], [3, 4.0]]
ARRAYS = {'g': np.linspace(0.0, 1.0, 3), 'i': np.arange(3)}


def pick(seq, i=0, default=None):
    return seq[i] if -len(seq) <= i < len(seq) else default


def bump(n=1):
    global COUNT
    COUNT += n
    LOG.append(COUNT)
    return COUNT


class Failure(Exception):
    def __init__(self, code, *rest):
        super().__init__(code, *rest)
        self.code = code


class Guard:
    def __init__(self, n, swallow=()):
        self.n = n
        self.swallow = swallow

    def __enter__(self):
        LOG.append(self.n)
        return self.n + 1

    def __exit__(self, kind, error, trace):
        LOG.append(-1 if kind is None else kind.__name__)
        return kind is not None and issubclass(kind, self.swallow)


@contextlib.contextmanager
def scope(n):
    LOG.append(n)
    try:
        yield n * 2
    except KeyError:
        LOG.append('key')
    finally:
        LOG.append('left')


class Vec:
    __slots__ = ('x', 'y')

    def __init__(self, x, y=0):
        self.x = x
        self.y = y

    def __add__(self, other):
        if not isinstance(other, Vec):
            return NotImplemented
        return Vec(self.x + other.x, self.y + other.y)

    def __radd__(self, other):
        return Vec(other + self.x, self.y)

    def __mul__(self, k):
        return Vec(self.x * k, self.y * k)

    def __eq__(self, other):
        return isinstance(other, Vec) and (self.x, self.y) == (other.x, other.y)

    def __hash__(self):
        return hash(self.x)

    def __lt__(self, other):
        return self.x < other.x

    def __bool__(self):
        return bool(self.x)

    def __len__(self):
        return 2

    def __getitem__(self, i):
        return (self.x, self.y)[i]

    def __iter__(self):
        yield self.x
        yield self.y

    def __contains__(self, v):
        return v == self.x

    def __call__(self, n):
        return self.x * n

    def __getattr__(self, name):
        if name == 'z':
            return 9
        raise AttributeError(name)


@dataclasses.dataclass
class Item:
    n: int
    tags: list = dataclasses.field(default_factory=list)

    def total(self):
        return self.n + len(self.tags)


class Hue(enum.Enum):
    RED = 1
    BLUE = 2


Pair = collections.namedtuple('Pair', 'a b')


class Stack(list):
    def push(self, v):
        self.append(v)
        return self


class Table(dict):
    def __missing__(self, key):
        return key * 2


def steps(n, limit=4):
    for i in range(min(max(n, 0), limit)):
        yield i * n


def tree(n):
    yield n
    if n > 0:
        yield from tree(n // 2 if n < 9 else 1)


def averager():
    total, count = 0, 0
    while True:
        v = yield (total / count if count else None)
        if v is None:
            return total
        total += v
        count += 1


def checked(n, what=ValueError):
    if n > 2:
        raise what('large', n)
    if n < 0:
        raise Failure(n)
    return n


def traced(f):
    @functools.wraps(f)
    def inner(*args, **kwargs):
        return f(*args, **kwargs) + 1

    return inner


@traced
def triple(n):
    return n * 3


ITEM = Item(2, ['t'])
VEC = Vec(1, 2)
STACK = Stack([1, 2])


def state():
    return [[c.cell_contents for c in STEP.__closure__ or ()], PAIRS, ARRAYS, COUNT, SCALE, NAMES, TABLE, LOG, GRID, BOX, Box.limit, list(vars(BOX)), ITEM, VEC.x, VEC.y, list(STACK)]


"""

# Kinds of values. An expression of a kind mostly has it; a program that is wrong about one raises.
NUMBERS = ("int", "float", "bool")
KINDS = ("int", "float", "bool", "str", "list", "dict", "tuple", "array", "box")

# kind -> templates; {kind} stands for an expression of the kind, {name:kind} for a variable of it.
EXPRESSIONS = {
    "int": r"""{int} + {int}|{int} - {int}|{int} * {int}|{int} // {pos}|{int} % {pos}|-{int}|~{int}|{int} & {int}
        |{int} \| 3|{int} ^ {int}|{int} << 2|{int} >> 1|{pos} ** 2|abs({int})|len({list})|len({str})|len({dict})|int({float})
        |min({int}, {int})|max({int}, {int}, 2)|{int} if {bool} else {int}|sum({list})|{name:list}[{small}]|{name:tuple}[{small}]
        |{name:array}.ndim|{name:array}.size|{name:array}.shape[0]|len({name:array})|COUNT|{name:box}.v|{name:box}.w|{name:box}.get({int})
        |helper({int})|helper({int}, {int}, c={small})|helper({int}, *{list}, **{dict})|{bool} + {int}|{name:dict}['a']|{name:dict}.get('z', {int})
        |{int} or {int}|{int} and {int}|bump({small})|round({float})|divmod({int}, {pos})[1]|pick({list}, {small}, 0)|{name:list}.index({int})
        |{name:list}.count({int})|int({bool})|hash(str({name:int})[:1]) % 7|ord('a')|(lambda q, r=2: q * r)({int})|[{int}, {int}][{bool}]|{name:box}.limit|{name:box}.twice
        |Box.pair({int})[1]|Box.make({int}).w|next(iter([{int}]))|sum(q for q in {list})|({int}).__add__({int})|int('7')|({int}).bit_length()
        |pow({int}, 2)|{small} in {list}|sum(1 for _ in zip({list}, {tuple}))|max([{int}, {int}], default=0)|STEP()|STEP({int})|counter({int})()|compose(abs, helper, {int})|compose(lambda u: u + 1, helper, {int}, 2)
        |PAIRS[0][0]|sum([r[0] for r in PAIRS])|len({{*{list}}})|len(set({list}))|getattr({name:box}, 'w')|getattr({name:box}, 'q', {int})|({int}, {int})[{bool}]|{list}[-1]
        |{name:dict}[{str}]|len({name:box}.__dict__)|max({list})|{name:list}[0] + {name:list}[-1]|min({list}, key=lambda q: -q)""",
    "float": r"""{float} + {float}|{float} - {int}|{int} * {float}|{float} / {pos}|{int} / {pos}|{float} // {pos}|{float} % 2.5|-{float}|abs({float})
        |float({int})|SCALE|{float} ** 2|max({float}, {float})|min({float}, {int})|{float} if {bool} else {float}|{float} * {bool}|round({float}, 1)
        |float({name:array}.sum())|{name:dict}['b']|sum([{float}, {int}])|divmod({float}, 2.0)[0]|({int}) ** 0.5|{float} or {float}
        |({float}).__mul__(2.0)|np.float64({float}) + {int}|np.sqrt({float})|np.add({float}, {float})""",
    "bool": r"""{int} < {int}|{int} == {int}|{float} <= {int}|{int} < {int} <= {int}|{float} != {float}|not {bool}|{bool} and {bool}|{bool} or {bool}
        |{int} in {list}|'a' in {dict}|{str} == {str}|{list} == {list}|{tuple} < {tuple}|isinstance({any}, int)|isinstance({any}, (list, tuple))
        |{any} is None|{name:list} is {name:list}|bool({list})|{int} is not None|all({list})|any({tuple})|hasattr({name:box}, 'z')|{int} > {float}
        |{str}.startswith('a')|{bool} == {int}|callable({any})|type({any}) is int|{bool} & {bool}|{bool} ^ {bool}|{dict} == {dict}|len({list}) > 2
        |{name:array}.ndim == 2|{name:array}.dtype == np.float64|{name:array}.shape == {name:array}.shape|isinstance({any}, np.ndarray)|{str} in {str}
        |any(q > 1 for q in {list})|{tuple} == {tuple}|issubclass(Crate, Box)|{any} == {any}""",
    "str": r"""'a'|'xy'|{str} + {str}|f'{{{name:int}}}-{{{name:float}}}'|f'{{{name:int}:>4}}{{{name:str}!r}}'|str({int})|repr({tuple})|{str} * 2|{str}.upper()|{str}[0:{small}]
        |'%s:%d' % ({str}, {int})|'-'.join([{str}, {str}])|{str}.replace('a', 'b')|'{{}}.{{}}'.format({int}, {str})|NAMES[{small}]|{str} if {bool} else {str}
        |str({float})|f'{{{name:any}}}'|type({any}).__name__|{str}[::-1]|str({list})""",
    "list": r"""[{int}, {int}]|[{int}, {int}, {int}]|[]|list({tuple})|{list} + {list}|{list}[{slice}]|[v * 2 for v in {list}]|[v for v in {list} if v > {int}]
        |[i * v for i, v in enumerate({list})]|[a + b for a, b in zip({list}, {list})]|list(range({few}))|list(range({few}, -2, -1))|{list} * 2|sorted({list})
        |[{int} for _ in range({few})]|{name:list}.copy()|list(map(lambda v: v + {int}, {list}))|list(reversed({list}))|[*{list}, {int}, *{tuple}]|LOG
        |[v for row in [{list}, {list}] for v in row]|list({dict}.values())|list(filter(None, {list}))|{list} if {bool} else {list}|[a for a, *b in [{list}, {list}]]
        |[(lambda u=v: u + 1)() for v in {list}]|list(zip({list}, {list}))[0:1]|[[{int}, v][i & 1] for i, v in enumerate({list}, 1)]""",
    "dict": r"""{{'a': {int}, 'b': {float}}}|{{}}|dict(a={int})|{{k: {int} for k in ['a', 'z']}}|{{**{dict}, 'a': {int}}}|dict(zip(['a', 'b'], {list}))
        |{name:dict}.copy()|{{str(v): v for v in {list}}}|TABLE|{{k: v for k, v in {dict}.items() if v}}|{dict} \| {dict}|{{'a': {any}}}""",
    "tuple": r"""({int}, {int})|({float}, {str})|()|tuple({list})|{tuple} + {tuple}|{tuple}[{slice}]|({int},) * 2|divmod({int}, {pos})|({any}, {any})
        |{name:array}.shape|Box.pair({int}, b={any})|{name:box}.pair({int})|tuple(v + 1 for v in {list})|(*{list}, {int})|{tuple} if {bool} else {tuple}""",
    "array": r"""{array} + {array}|{array} - {num}|{num} * {array}|{array} * {array}|{array} / {num}|{num} - {array}|{array} // 2|{array} % 3|{array} ** 2|-{array}|abs({array})
        |np.sqrt(abs({array}))|np.exp({array} * 0.1)|np.sin({array})|np.maximum({array}, {array})|np.minimum({array}, {num})|np.add({array}, {num})
        |np.where({array} > {num}, {array}, {array})|np.where({array} > 1, {array}, {num})|np.clip({array}, 0, 2)|{array}.clip(-1, {pos})
        |{name:array}[{slice}]|{name:array}[{small}]|{name:array}[..., {small}]|{name:array}[None]|{name:array}[:, {slice}]|{name:array}[::-1]|{name:array}[{slice}, None]
        |{array}.T|{array}.reshape(-1)|{array}.reshape({name:array}.shape)|np.reshape({array}, (1, -1))|{array}.ravel()|{array}.flatten()|{array}.copy()
        |{array}.astype('{dtype}')|{array}.astype(np.float32)|{array}.sum()|{array}.sum(axis=0)|{array}.sum(-1, keepdims=True)|{array}.mean()|{array}.max()
        |np.sum({array}, axis={small})|{array}.mean(axis=-1)|{array}.prod()|{array}.min(axis=0)|{array}.any()|({array} > 0).all(axis=0)|{array}.var()|{array}.std(axis=0)
        |{array} @ {array}.T|np.dot({array}.ravel(), {array}.ravel())|np.matmul({array}, {array})|{array} == {array}|{array} < {num}|({array} > 0) & ({array} < 2)
        |np.concatenate([{array}, {array}])|np.stack([{array}, {array}])|np.zeros(({few}, 2))|np.ones_like({array})|np.full(3, {num})|np.arange({few})
        |np.zeros_like({array}) + {num}|np.squeeze({array})|np.expand_dims({array}, 0)|np.transpose({array})|np.broadcast_to({array}, (2, 3))|np.array([{num}, {num}])
        |np.asarray({list})|np.asarray({array})|GRID|GRID * {num}|{array}.real|({array} * 1j).imag|np.conj({array})|np.floor({array})|np.sign({array})
        |np.isnan({array})|np.logical_not({array})|np.hypot({array}, {num})|np.arctan2({array}, {array})|np.power({array}, 2)|{array} ** {pos}|np.square({array})
        |np.abs({array})|np.floor_divide({array}, {pos})|np.float32({num}) * {array}|{array} * {array}.sum()|{array}.round(1)|{array}.swapaxes(0, -1)|np.invert({array} > 0)
        |{array} if {bool} else {array}|helper({array}, {num})|np.ascontiguousarray({array})|{array}.dot({array})|np.linspace(0, 1, 4)|np.eye(2)|np.log1p(abs({array}))|affine({array})|affine({array}, {array}, scale={num})|affine({array}, y={num})|np.add(*[{array}, {array}])|ARRAYS['g'] * {num}
        |[{array}, {array}][{small}]|({array}, {array})[{small}]|{name:box}.v * {array}|sum([a * 2 for a in [{array}, {array}]])|compose(np.sqrt, np.abs, {array})
        |np.add.reduce({array})|np.sum({array}, keepdims=True)|{array}.sum(axis=(0, 1))|{array}.max(axis=-1)|{array}.argmax()|np.add({array}, {num}, dtype='f8')
        |{array}[{array}.ndim - 1]|{array}[0]|{array}[-1:]|{array}[:, 0]|{array}[0, 1:]|{array}[::2, ::-1]|{array}[()]|{array}[None, ..., :1]|{array}[1:, 1:]|{array}[:-1] - {array}[1:]
        |{array}.T[0]|{array}.T.copy()|{array}[::-1].T|{array}.reshape(2, -1)|{array}.reshape((3, -1))|({array} + 0).reshape(-1, 1)|{array}.transpose()|{array}[..., None] * {array}
        |np.outer({array}, {array})|np.cumsum({array})|np.sort({array})|{array}.sum() + {array}.max()|{array}.mean() - {num}|{array}.sum() ** 2
        |np.maximum({array}, 0) - np.minimum({array}, {num})|np.where({array} != {array}, 0.0, {array})|~({array} > 1)|({array} > 0) \| ({array} < -1)|({array} > 0) ^ True|{array} << 1
        |np.left_shift({name:array}, 1)|np.mod({array}, {num})|np.remainder({array}, {array})|np.true_divide({array}, {array})|1 / {array}|{num} ** {array}|{array} ** 0.5|{array} ** -1
        |np.array({array})|np.array({array}, dtype='f4')|np.asarray({array}, dtype=float)|np.array([{array}, {array}])|np.array({list}, dtype='{dtype}')|np.tanh({array}) * {num}
        |np.copysign({array}, {num})|np.fmax({array}, {array})|np.isfinite({array})|np.logical_and({array}, {array})|np.rint({array})|np.reciprocal({array} + 3)|np.cbrt({array})
        |(lambda q, s={num}: q * s)({array})|sum([{array}, {array}])|max({array}.sum(), {num})|+{array}|np.negative({array})|{array}.ravel()[{slice}]|np.equal({array}, {num})
        |np.cos({array} + {array}) * {array}|({array} * {num} + {array}) / 3.0|np.greater({array}, {num}) * {array}|np.subtract({array}, {array})|divmod({array}, 2)[0]""",
    "box": r"""Box({int})|Crate({int}, {int})|BOX|Box.make({any})|Box({array}, {float})""",
    "slice": r""":|1:|:{small}|::2|:-1|{small}:|::-1|1:{small}|0:0|-2:""",
    "small": r"""0|1|0|1|2|3|-1|-1|{name:int}|{name:int} % 3|len({name:list}) - 1""",
    "few": r"""3|2|4|len({name:list}) % 5|{name:int} % 5""",
    "pos": r"""2|3|7|1|{name:int}|abs({int}) + 1|(({int}) & 3)""",
    "num": r"""{int}|{float}|{int}|{float}|{bool}|2|0.5|1j|np.float32(1.5)|np.int64(3)""",
    "dtype": "f8|f4|i8|i4|b1|c16|f2|u1",
}

# Leaves: what an expression is when it may not grow any more.
LEAVES = {
    "int": ["0", "1", "2", "3", "-1", "7", "COUNT", "2**40", "9223372036854775807"],
    "float": ["0.5", "2.0", "-1.5", "SCALE", "-0.0", "1e300", "(1e300 * 1e10)"],
    "bool": ["True", "False"],
    "str": ["'a'", "'b'", "''"],
    "set": ["{1, 2}", "{3}", "set()"],
    "list": ["[1, 2, 3]", "[1, 2]", "[4, 0, 3]", "[0, 1, 2, 3]", "[]", "[0]", "LOG", "LOG"],
    "dict": ["{'a': 1}", "{'a': 2, 'b': 0.5}", "{}", "TABLE"],
    "tuple": ["(1, 2)", "(0, 3)", "()", "(3, 'a')"],
    "array": ["GRID", "np.ones(3)", "np.arange(4)", "np.zeros((2, 3))"],
    "box": ["BOX", "Box(2)"],
    "num": ["2", "0.5", "3", "1.5"],
    "small": ["0", "1", "2"],
    "few": ["3", "2", "0"],
    "pos": ["1", "2", "3"],
    "slice": ["1:", ":", "::2"],
}

# Statements of one line: (text, kind of the variable named {new}).
SIMPLE = [
    ("{new} = {int}", "int"),
    ("{new} = {float}", "float"),
    ("{new} = {bool}", "bool"),
    ("{new} = {str}", "str"),
    ("{new} = {list}", "list"),
    ("{new} = {dict}", "dict"),
    ("{new} = {tuple}", "tuple"),
    ("{new} = {array}", "array"),
    ("{new} = {array}", "array"),
    ("{new} = {array}", "array"),
    ("{new} = {box}", "box"),
    ("{name:int} += {int}", None),
    ("{name:int} *= {int}", None),
    ("{name:int} -= {num}", None),
    ("{name:float} += {num}", None),
    ("{name:float} /= {pos}", None),
    ("{name:array} += {num}", None),
    ("{name:array} = {name:array} * {num}", None),
    ("{name:array} *= {array}", None),
    ("{name:str} += {str}", None),
    ("{name:list} += {tuple}", None),
    ("{name:tuple} += ({int},)", None),
    ("{name:list}.append({any})", None),
    ("{name:list}.append({int})", None),
    ("{name:list}.extend({list}[:3])", None),
    ("{name:list}.insert({small}, {int})", None),
    ("{new} = {name:list}.pop()", "int"),
    ("{new} = {name:list}.pop({small})", "int"),
    ("{name:list}[{small}] = {int}", None),
    ("{name:list}[{small}] += {int}", None),
    ("{name:list}[{slice}] = {list}", None),
    ("del {name:list}[{small}]", None),
    ("{name:list}.reverse()", None),
    ("{name:list}.sort()", None),
    ("{name:list}.clear()", None),
    ("{name:list}.remove({int})", None),
    ("{name:dict}['a'] = {any}", None),
    ("{name:dict}[{str}] = {int}", None),
    ("{name:dict}['a'] += {int}", None),
    ("{name:dict}.update({dict})", None),
    ("{new} = {name:dict}.setdefault('q', {int})", "int"),
    ("{new} = {name:dict}.pop('a', {int})", "int"),
    ("del {name:dict}['a']", None),
    ("{name:box}.v = {any}", None),
    ("{name:box}.v = {int}", None),
    ("{name:box}.w += {int}", None),
    ("{name:box}.z = {any}", None),
    ("{new} = {name:box}.add({int}, *{list}, k={small})", "int"),
    ("{name:box}.add({num})", None),
    ("del {name:box}.w", None),
    ("LOG.append({any})", None),
    ("COUNT += {int}", None),
    ("SCALE = {float}", None),
    ("COUNT = {int}", None),
    ("{new}, {new2} = {int}, {int}", "int"),
    ("{new}, *{new2} = {name:list}", "int"),
    ("{new}, {new2} = {name:tuple}", "int"),
    ("({new}, {new2}), _ = ({int}, {int}), 3", "int"),
    ("{new} = {new2} = {list}", "list"),
    ("{new} = {new2} = {array}", "array"),
    ("{name:int}, {name:int} = {int}, {int}", None),
    ("assert {bool}, {str}", None),
    ("{new} = bump", "fn"),
    ("{new} = {name:fn}({int})", "int"),
    ("{name:list}.append({name:fn}({int}))", None),
    ("{new} = lambda p, k={int}: p + k + {name:int}", "fn"),
    ("{new} = {name:box}.add", "fn"),
    ("{new} = (lambda *p, **k: (p, k))(*{list}, **{dict})", "tuple"),
    ("{name:array} = {name:array}[{slice}]", None),
    ("{name:list} = {name:list}", None),
    ("{new} = {any}", "any"),
    ("{new} = {array} * {num}", "array"),
    ("{new} = ({array} + {array}) * {num} - {array}", "array"),
    ("{new} = {array}\n{new} += {num}", "array"),
    ("{new} = {array} + 0\n{new} *= {array}", "array"),
    ("{new} = {array} + 0\n{new}[{small}] = {num}", "array"),
    ("{new} = {new2} = {array} * 2\n{new} -= 1", "array"),
    ("{name:box}.v = {array}", None),
    ("{name:box}.v = {name:array} * {num}", None),
    ("ARRAYS['g'] = ARRAYS['g'] + {num}", None),
    ("ARRAYS['n'] = {array}", None),
    ("GRID = GRID * {num}", None),
    ("{new} = [{array}, {array}]\n{new2} = {new}[0]", None),
    ("Box.limit = {int}", None),
    ("setattr({name:box}, 'u', {int})", None),
    ("PAIRS[{small}][0] = {int}", None),
    ("PAIRS[0] = PAIRS[{small}]", None),
    ("PAIRS.append([{int}, {any}])", None),
    ("{new} = PAIRS[{small}]", "list"),
    ("{new} = counter({int})", "fn"),
    ("{new} = STEP", "fn"),
    ("{name:list}.append({name:list}[0])", None),
    ("{name:dict}['l'] = {name:list}", None),
    ("{name:box}.l = {name:list}", None),
    ("{name:box}.v, {name:list}[0] = {int}, {int}", None),
    ("{new}, {new2} = {name:array}, {name:int}", "array"),
    ("({new}, {new2}) = ({name:list}, {name:list})", "list"),
    ("{new} = {name:box}\n{new}.w = {int}", "box"),
    ("{new} = {name:list}\n{new} += [{int}]", "list"),
    ("{new} = {name:list}[:]\n{new}.append({int})", "list"),
    ("{new} = {name:dict} | {dict}", "dict"),
    ("{new} = [[{int}], [{float}]]\n{new}[{small}].append({int})", None),
    ("with np.errstate(all='ignore'):\n    {new} = {array} / {array}", "array"),
    ("{new} = ({new2} := {int}) + {new2}", "int"),
    ("{name:array}[{small}] = {num}", None),
    ("print({int}, {str})", None),
    ("del {name:any}", None),
]


# Expressions of programs that are about the language: drawn besides those above.
LANGUAGE = {
    "int": r"""len({set})|sum(steps({int}))|sum(tree({small}))|sum(sorted({set}))|min({set}, default=0)|next(iter({list}), 5)|next((q for q in {list} if q > {int}), -1)
        |checked({int})|triple({int})|functools.reduce(lambda a, b: a + b, {list}, {int})|sum(itertools.chain({list}, {tuple}))|Vec({int}, {int}).x|(Vec({int}) + Vec({int}, 2)).x
        |sum([Vec({int}), Vec({int})]).x|len(Vec(1))|Vec({int})[{small}]|VEC.x|VEC.z|VEC(3)|getattr(VEC, 'w', {int})|Item({int}).total()|ITEM.n|ITEM.total()|Hue.RED.value|len(Hue)
        |Pair({int}, {int}).a|Pair({int}, b={int})[1]|Stack({list}).push({int})[-1]|len(STACK)|Table(a={int})[{small}]|sum(STACK)|max(steps(3), default={int})|list(steps({small}))[-1]
        |len(f'{{{name:int}:05d}}')|int(f'{{{name:int}}}')|sum(a * b for a, b in zip({list}, {list}))|sum(1 for q in {list} if q in {set})|{name:list}.index(max({list}))|sorted({list}, key=lambda q: -q)[0]
        |max({list}, key=lambda q: (q % 3, q))|{dict}.get({str}, {int})|list({dict})[0] == 'a'|collections.Counter({list})[{int}]|sum(map(int, {list}))|int({str} or '3')|len(list(itertools.product({list}[:2], {tuple})))
        |sum(itertools.islice(itertools.count({int}), 3))|sum(itertools.accumulate({list}))|functools.partial(helper, {int}, c={int})()|bin({int}).count('1')|({int}).real|hash({tuple}) == hash({tuple})|Vec(*{list}[:2]).y
        |ord({str}[0])|(lambda *a, **k: len(a) + len(k))(*{tuple}, **{dict})|[*steps(3)][{small}]|sum(v for v in (yield_ for yield_ in steps(2)))|type(Vec(1)).__mro__.index(object)|int.from_bytes(b'ab', 'big')|len(bytes({list}))""",
    "float": r"""float({str} or '1.5')|sum({list}, 0.5)|round({float}, {small})|({float}).is_integer() + 0.5|float.fromhex('0x1p-2')|max({float}, {float}, key=abs)|sum([{float}, {float}])""",
    "bool": r"""{int} in {set}|{set} <= {set}|{set} == {set}|Vec({int}) == Vec({int})|Vec({int}) < Vec({int})|bool(Vec({int}))|{int} in Vec({int})|Hue({small}) is Hue.RED|Hue.RED in (Hue.RED, Hue.BLUE)|isinstance(STACK, list)
        |isinstance({any}, (int, str)) and {bool}|Item({int}) == Item({int})|Pair({int}, 2) == ({int}, 2)|any(q > {int} for q in steps(3))|all(q for q in {list})|issubclass(Failure, Exception)|{set}.isdisjoint({list})|not Vec({int})
        |{str}.isdigit()|({int}).__eq__({any}) is NotImplemented|callable(VEC)|hasattr(VEC, 'z')|{list} < {list}|{dict}.keys() == {dict}.keys()|'a' in {dict}.keys() \| {{'q'}}|isinstance({any}, Vec)|{tuple}[:1] in {list}""",
    "str": r"""f'{{{name:int}!r:>5}}{{{name:str}}}'|','.join(str(q) for q in {list})|'%s %r' % ({int}, {str})|'{{:>{{}}}}'.format({str}, 4)|str({list})|repr({dict})|str(Hue.RED)|repr(Item({int}))|repr(Pair({int}, {str}))|{str}.join(['a', {str}])
        |{str}.title().strip()|{str}.partition('a')[2]|{str}.zfill(4)|'{{0[0]}}'.format({list})|chr(97 + ({int}) % 5)|str(sorted({set}))|str(({int}, {str}))|''.join(sorted({str}))|f'{{{name:list}}}'|type(VEC).__name__|str(Vec)[:4]|format({float}, '.2f')|{str}.encode().decode()""",
    "list": r"""list(steps({int}))|[*tree({small})]|sorted({set})|list(itertools.chain({list}, {list}))|list(itertools.islice({list}, 2))|[a + b for a, b in itertools.zip_longest({list}, {list}, fillvalue=0)]|list(Vec({int}, {int}))|[q for q in steps(3) if q in {set}]
        |list(map(triple, {list}))|[*itertools.repeat({int}, 2)]|sorted({list}, reverse=True)|sorted({list}, key=abs)|list(enumerate({list}))[0:1]|[h.value for h in Hue]|list(STACK)|Stack({list})[1:]|[x for x, in zip({list})]|list(dict.fromkeys({list}))
        |[list(g) for _, g in itertools.groupby({list})][0:1]|list(collections.deque({list}, maxlen=2))|[f(2) for f in (abs, triple, lambda q: q)]|[[r for r in c] for c in [{list}[:3], {tuple}]]|list(accumulated for accumulated in itertools.accumulate({list}))""",
    "tuple": r"""tuple(steps({small}))|Pair({int}, {int})|tuple(Vec({int}))|tuple(sorted({set}))|(*steps(2), {int})|tuple(dataclasses.astuple(Item({int})))|tuple(zip(*[{list}, {list}]))[:1]|Pair(1, 2)._replace(a={int})|tuple(reversed({list}))""",
    "dict": r"""{{q: {int} for q in {str}}}|dict(Counter=1, **{dict})|dataclasses.asdict(Item({int}))|Pair({int}, 2)._asdict()|dict(enumerate({list}))|{{**{dict}, **{dict}}}|dict(sorted({dict}.items()))|{{Hue.RED: {int}}}|collections.OrderedDict(a={int})""",
    "set": r"""{{{int}, {int}}}|set({list})|{set} \| {set}|{set} & {set}|{set} - {set}|{set} ^ {set}|{{q % 3 for q in {list}}}|frozenset({tuple})|set({dict})|{set}.union({list})|set(steps(3))|set()""",
    "array": r"""sum(({array} for _ in steps(2)), {array})|triple({array})|functools.reduce(np.add, [{array}, {array}])|Vec({array}) .x|(Vec({array}) + Vec({array})).x|Vec({array}, {num})[0] * {num}|Item({array}).n + 1|next(a for a in [{array}, {array}])
        |[a for a, in [({array},)]][0]|(lambda *a: a[0] + a[-1])({array}, {array})|Pair({array}, {num}).a|np.add({array}, {num}, out=np.empty({array}.shape))|max([{array}.sum(), {num}], key=lambda q: q)|VEC.x * {array}|np.stack([a * 2 for a in [{array}, {array}]])""",
}

# Statements of several lines; a line that is `{block}` stands for some statements, `{one}` for a simple one.
COMPOUND = [
    "try:\n    {block}\nexcept {error}:\n    {block}",
    "try:\n    {block}\nexcept {error} as {new}:\n    LOG.append(str({new}))\nelse:\n    {block}\nfinally:\n    {one}",
    "try:\n    {block}\nfinally:\n    {one}",
    "try:\n    {one}\n    raise {raised}\nexcept {error}:\n    {one}\nexcept Exception as {new}:\n    LOG.append(type({new}).__name__)",
    "try:\n    checked({int}, KeyError)\nexcept (KeyError, Failure) as {new}:\n    LOG.append({new}.args)\n    {one}",
    "try:\n    try:\n        {block}\n        raise {raised}\n    except ValueError as {new}:\n        raise Failure(3) from {new}\n    finally:\n        {one}\nexcept Failure as {new2}:\n    LOG.append([{new2}.code, type({new2}.__cause__).__name__])\nexcept {error}:\n    {one}",
    "try:\n    checked({int})\nexcept Failure:\n    try:\n        raise\n    except Exception as {new}:\n        LOG.append({new}.args)\nexcept ValueError:\n    pass",
    "for {new} in range(3):\n    try:\n        if {new} == {small}:\n            continue\n        {one}\n        if {bool}:\n            break\n    except {error}:\n        {one}\n    finally:\n        LOG.append({new})\nelse:\n    {one}",
    "with Guard({int}):\n    {block}",
    "with Guard({int}, {error}) as {new}:\n    LOG.append({new})\n    {block}\n    raise {raised}",
    "with Guard(1, Exception), Guard({int}) as {new}:\n    {block}\n    checked({int})",
    "with contextlib.suppress({error}):\n    {block}\n    checked({int}, KeyError)",
    "with scope({int}) as {new}:\n    LOG.append({new})\n    {block}",
    "with scope({int}) as {new}:\n    {one}\n    raise KeyError({new})",
    "for {new} in steps({int}):\n    {block}",
    "for {new} in tree({small}):\n    {block}\n    if {bool}:\n        break",
    "def {new}(q):\n    for r in range(3):\n        yield r + q\n    return {int}\nfor {new2} in {new}({int}):\n    {block}",
    "def {new}():\n    got = yield {int}\n    while got is not None:\n        got = yield got + 1\n{new2} = {new}()\nLOG.append([next({new2}), {new2}.send({int})])\n{new2}.close()",
    "def {new}():\n    try:\n        yield {int}\n        yield {int}\n    except {error}:\n        yield -1\n    finally:\n        LOG.append('end')\n{new2} = {new}()\nnext({new2})\nLOG.append({new2}.throw({raised}))",
    "def {new}():\n    {new2} = yield from steps({int})\n    r = yield from averager()\n    return r\nLOG.append(list(itertools.islice({new}(), 2)))",
    "{new} = averager()\nnext({new})\nLOG.append({new}.send({num}))\ntry:\n    {new}.send(None)\nexcept StopIteration as {new2}:\n    LOG.append({new2}.value)",
    "match {any}:\n    case 0 | 1:\n        {block}\n    case [{new}, *_]:\n        LOG.append({new})\n    case {{'a': {new}}}:\n        LOG.append({new})\n    case Box(v={new}):\n        LOG.append({new})\n    case str() as {new}:\n        LOG.append({new})\n    case _:\n        {block}",
    "match ({any}, {int}):\n    case (int({new}), {new2}) if {new2} > 0:\n        LOG.append({new} + {new2})\n    case (None, _) | (_, None):\n        {one}\n    case ({new}, _):\n        LOG.append(type({new}).__name__)",
    "class {new}(Box):\n    size = {int}\n\n    def get(self, d=0):\n        return super().get(d) + self.size\nLOG.append({new}({int}).get({int}))",
    "{new} = iter({list}[:4])\nfor {new2} in {new}:\n    LOG.append({new2})\n    if {bool}:\n        break\nLOG.append(list({new}))",
    "{new} = set({list})\n{new}.add({int})\n{new} |= {set}\n{new}.discard({int})\nLOG.append(sorted({new}))",
    "{new} = collections.deque({list}, 3)\n{new}.appendleft({int})\nLOG.append({new}.pop())\nLOG.extend({new})",
    "{new} = collections.defaultdict(list)\nfor {new2} in {list}:\n    {new}[{new2} % 2].append({new2})\nLOG.append(dict({new}))",
    "VEC.x, VEC.y = {int}, {any}",
    "ITEM.n += {int}\nITEM.tags.append({int})",
    "STACK.push({int})\nSTACK[0] = {int}",
    "VEC.x += {int}\nif VEC:\n    {block}",
    "{new} = {array} * 1.0\n{new}[{slice}] = {num}\n{new}[{small}] += {num}\nLOG.append({new})",
    "{name:array}[{slice}] = {num}",
    "{name:array}[{slice}] *= 2",
    "{name:array}[{small}], {name:array}[-1] = {num}, {num}",
    "np.multiply({name:array}, {num}, out={name:array})",
    "{new} = {name:array}[{slice}]\n{new} += {num}\nLOG.append({name:array}.sum())",
    "{new} = np.zeros(4)\nfor {new2} in range(3):\n    {new}[{new2} + 1] = {new}[{new2}] + {num}\nLOG.append({new})",
    "ARRAYS['g'][...] = {num}",
    "GRID += {num}",
    "del {name:list}[{slice}]",
    "{name:dict}.pop({str})",
    "raise {raised}",
    "return {any}",
]
ERRORS = "ValueError|KeyError|Exception|ZeroDivisionError|(TypeError, ValueError)|Failure|LookupError|(Failure, ArithmeticError)"
RAISED = "ValueError({int})|KeyError('k')|Failure({int}, {any})|Failure(2)|ZeroDivisionError|TypeError('t')|IndexError|StopIteration({int})|RuntimeError"


# What happens to the globals between two calls.
CHANGES = """SCALE = 2.5|SCALE = 3|COUNT = 5|COUNT = 2.0|TABLE['a'] = 7|TABLE = {'b': 1.5, 'a': 2}|TABLE.pop('b', None)|LOG.append(9)|LOG = [1, 2]|LOG.clear()
    |GRID = GRID + 1|GRID[...] = 2.0|GRID = np.arange(4, dtype='f4')|BOX.v = 4|BOX = Crate(3)|BOX = Box(2, 5)|BOX.get = lambda d=0: 40 + d|Box.limit = 11|Box.get = lambda self, d=0: d
    |helper = lambda n, m=5, *rest, c=1, **more: n - m * c|helper.__defaults__ = (7,)|helper.__kwdefaults__ = {'c': 9}|bump.__code__ = (lambda n=1: n * 2).__code__|STEP()|STEP = counter(3)
    |del Crate.get|Box.add = lambda self, n, *more, k=1: n|Box.twice = 5|PAIRS[0][0] = 12|PAIRS = [PAIRS[0], PAIRS[0]]|ARRAYS['g'] = np.ones((2, 1))|ARRAYS = dict(ARRAYS)|BOX.__class__ = Crate
    |len = lambda v: 3|abs = float|main.__defaults__ = main.__defaults__ and (4,)|NAMES.reverse()|affine.__kwdefaults__['scale'] = 2|BOX.w = 'w'|isinstance = lambda a, b: False|del LOG[0]
    |STEP.__closure__[0].cell_contents = 0|counter = lambda s: (lambda n=1: n)|Box.__getattr__ = lambda self, name: 1|np = __import__('numpy')|setattr(BOX, 'limit', 8)"""
CHANGES = [part.strip() for part in CHANGES.split("|")]


def _split(text):
    """Alternatives of a template, which are separated by bars that are not escaped."""
    parts = text.replace("\\|", "\0").split("|")
    # The bar inside an f-string of the grammar is part of it.
    joined = []
    for part in parts:
        part = part.replace("\0", "|").strip()
        if joined and joined[-1].count("'") % 2:
            joined[-1] += "|" + part
        else:
            joined.append(part)
    return joined


EXPRESSIONS = {kind: _split(text) for kind, text in EXPRESSIONS.items()}
LANGUAGE = {kind: _split(text) for kind, text in LANGUAGE.items()}
ERRORS = ERRORS.split("|")
RAISED = RAISED.split("|")
