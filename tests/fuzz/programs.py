"""Random programs: a typed grammar of small Python functions, and arguments to call them with.

`Program(seed)` has the source text of a module (globals, a class, helpers and `main`) and the recipes of
several calls.  Everything is drawn from one `random.Random(seed)`, so a seed is a program on every
machine.  A program may raise; it never loops for long and never builds large values.  What is not here:
running and comparing, see `worlds.py`.
"""

# ruff: noqa: E501  (the grammar is a table)

from __future__ import annotations

import random
import re

_GENERATOR = re.compile(r"\w\([^\[]* for ")

# What is no operation of a graph.
_BREAKS = re.compile(r"argmax|cumsum|np\.sort|np\.outer|float\(|int\(|^max|bool\(|bump|if \{bool\}")

HEADER = """\
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


def state():
    return [[c.cell_contents for c in STEP.__closure__ or ()], PAIRS, ARRAYS, COUNT, SCALE, NAMES, TABLE, LOG, GRID, BOX, Box.limit, list(vars(BOX))]


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
        |{name:list}.count({int})|int({bool})|hash(str({name:int})) % 7|ord('a')|(lambda q, r=2: q * r)({int})|[{int}, {int}][{bool}]|{name:box}.limit|{name:box}.twice
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
    "float": ["0.5", "2.0", "-1.5", "SCALE", "-0.0", "1e300", "float('nan')"],
    "bool": ["True", "False"],
    "str": ["'a'", "'b'", "''"],
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


class Program:
    """One module and its calls.

    Attributes
    ----------
    source : str
        Text of the module; `main` is the function to compile.
    kinds : list of str
        Kind of each parameter of `main`.
    calls : list of list
        For each call, a recipe per argument, see `worlds.build`.
    """

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.arrays = self.random.random() < 0.7
        # Dense: long chains of array operations and nothing else.
        self.dense = self.arrays and self.random.random() < 0.5
        self.kinds = [self.kind() for _ in range(self.random.randint(1, 4))]
        if self.arrays and "array" not in self.kinds:
            self.kinds[0] = "array"
        self.count = 0
        self.lines = []
        self.scope = {kind: [] for kind in (*KINDS, "fn", "any")}
        self.in_loop = self.in_nested = False
        self.main()
        self.source = HEADER + "\n".join(self.lines) + "\n"
        self.calls = self.make_calls()
        self.changes = self.make_changes(self.calls)

    # ---- Expressions --------------------------------------------------------------------------

    def kind(self):
        pool = [k for k in KINDS if k != "array"]
        if self.arrays and self.random.random() < (0.8 if self.dense else 0.5):
            return "array"
        if self.dense:
            return self.random.choice(("int", "float"))
        return self.random.choice(pool + ["int", "float", "int"])

    def new_name(self):
        self.count += 1
        return f"v{self.count}"

    def name(self, kind):
        """A variable of the kind, or what may stand where one is read or changed."""
        names = self.scope[kind]
        if kind == "any":
            names = [n for k in KINDS for n in self.scope[k]] + names
        if names and self.random.random() < 0.95:
            return self.random.choice(names[-6:])
        return {
            "int": "COUNT",
            "float": "SCALE",
            "list": "LOG" if self.random.random() < 0.9 else "NAMES",
            "dict": "TABLE",
            "array": "GRID",
            "box": "BOX",
            "fn": "bump",
            "str": None,
            "tuple": None,
            "bool": None,
            "any": None,
        }[kind]

    def expression(self, kind, depth):
        if kind == "any":
            kind = self.kind() if self.random.random() < 0.9 else "none"
        if kind == "none":
            return "None"
        if kind == "array" and not self.arrays:
            kind = "int"
        names = self.scope.get(kind, ())
        if kind in KINDS and names and self.random.random() < (0.25 if depth > 0 else 0.85):
            return self.random.choice(names)
        if depth <= 0:
            if kind == "array" and self.dense and names:
                return self.random.choice(names)
            if kind == "dtype":
                return self.random.choice(EXPRESSIONS[kind])
            return self.random.choice(LEAVES[kind])
        while True:
            template = self.random.choice(EXPRESSIONS[kind])
            if not self.arrays and ("array" in template or "np." in template):
                continue
            if _GENERATOR.search(template) and self.random.random() < 0.9:
                continue
            if self.dense and _BREAKS.search(template):
                continue
            if "bump" in template and self.random.random() < 0.6:
                continue
            text = self.fill(template, depth - 1)
            if text is None:
                continue
            plain = kind not in ("slice", "dtype") and not (text[0] in "[({'" and kind in ("small", "few"))
            return f"({text})" if plain else text

    def fill(self, template, depth, fresh=None):
        """The template with its holes filled; None if it names a variable that there is none of."""
        out, i = [], 0
        while i < len(template):
            if template.startswith("{{", i) or template.startswith("}}", i):
                out.append(template[i])
                i += 2
                # Three braces are an f-string's field around a hole.
                continue
            if template[i] != "{":
                out.append(template[i])
                i += 1
                continue
            end = i + 1
            while template[end].isalnum() or template[end] in "_" or template.startswith(":name", end):
                end += 1
            hole = template[i + 1 : end]
            if template[end] == ":":  # {name:kind}
                close = template.index("}", end)
                text = self.name(template[end + 1 : close])
                end = close
            elif hole in ("new", "new2"):
                text = fresh[hole]
            else:
                text = self.expression(hole, depth)
            if text is None:
                return None
            out.append(text)
            i = end + 1
        return "".join(out)

    # ---- Statements ---------------------------------------------------------------------------

    def emit(self, indent, text):
        self.lines.append("    " * indent + text)

    def simple(self, indent):
        for _ in range(20):
            text, kind = self.random.choice(SIMPLE)
            if not self.arrays and "array" in text:
                continue
            if text.startswith(("{name:array}[", "{name:array} +=", "{name:array} *=")) and self.random.random() < 0.7:
                continue
            if text.startswith(("print", "del {name:any}", "assert")) and self.random.random() < 0.8:
                continue
            if self.in_nested and text.startswith(("COUNT", "SCALE", "del {name:any}")):
                continue
            fresh = {"new": self.new_name(), "new2": self.new_name()}
            filled = self.fill(text, self.random.choice((0, 1, 1, 2, 2, 3)), fresh)
            if filled is None or (self.in_nested and filled.startswith(("COUNT", "SCALE"))):
                continue
            if kind is None and self.in_nested and "{name:" in text.split("=")[0] and "." not in text.split("=")[0]:
                continue  # would make a local of a variable of the outer function
            for line in filled.split("\n"):
                self.emit(indent, line)
            if filled.startswith("del v") and "[" not in filled and "." not in filled:
                for names in self.scope.values():
                    if filled[4:] in names and self.random.random() < 0.9:
                        names.remove(filled[4:])
            if kind is not None:
                self.scope[kind].append(fresh["new"])
                if "{new2}" in text:
                    other = {"{new}, *{new2} = {name:list}": "list"}.get(text, kind)
                    self.scope[other].append(fresh["new2"])
            return
        self.emit(indent, "pass")

    def block(self, indent, depth, count):
        for _ in range(count):
            self.statement(indent, depth)

    def inner(self, indent, depth, count):
        """A block whose new variables may be unbound after it, and mostly are not used then."""
        kept = {kind: list(names) for kind, names in self.scope.items()}
        self.block(indent, depth, count)
        if self.random.random() < 0.9:
            self.scope = kept

    def statement(self, indent, depth):
        draw = self.random.random()
        if self.dense and draw < 0.9:
            name, kind = self.new_name(), self.random.choice(("array",) * 7 + ("int", "float", "tuple"))
            self.emit(indent, f"{name} = {self.expression(kind, self.random.randint(2, 4))}")
            self.scope[kind].append(name)
        elif depth <= 0 or draw < 0.72:
            self.simple(indent)
        elif draw < 0.82:
            self.emit(indent, f"if {self.expression('bool', 2)}:")
            self.inner(indent + 1, depth - 1, self.random.randint(1, 2))
            if self.random.random() < 0.5:
                self.emit(indent, "else:")
                self.inner(indent + 1, depth - 1, self.random.randint(1, 2))
        elif draw < 0.91:
            self.loop(indent, depth)
        elif draw < 0.97:
            self.nested(indent)
        else:
            self.emit(indent, "try:")
            self.inner(indent + 1, depth - 1, self.random.randint(1, 2))
            self.emit(indent, f"except {self.random.choice(['Exception', 'ValueError', 'ZeroDivisionError', 'KeyError as e'])}:")
            self.inner(indent + 1, depth - 1, 1)

    def loop(self, indent, depth):
        kept = {kind: list(names) for kind, names in self.scope.items()}
        i, v = self.new_name(), self.new_name()
        draw = self.random.randint(0, 6)
        if draw == 0:
            self.emit(indent, f"for {i} in range({self.random.choice(['3', '4', '1, 4', '5, 0, -2', '0', 'min(' + (self.name('int')) + ', 5)'])}):")
            self.scope["int"].append(i)
        elif draw == 1:
            self.emit(indent, f"for {v} in {self.expression('list', 1)}[:5]:")
            self.scope["int"].append(v)
        elif draw == 2:
            self.emit(indent, f"for {i}, {v} in enumerate(list({self.expression('list', 1)})[:4]):")
            self.scope["int"] += [i, v]
        elif draw == 3:
            self.emit(indent, f"for {i}, {v} in zip(range(4), {self.expression('list', 1)}):")
            self.scope["int"] += [i, v]
        elif draw == 4:
            self.emit(indent, f"for {i}, {v} in list({self.expression('dict', 1)}.items())[:4]:")
            self.scope["str"].append(i)
            self.scope["int"].append(v)
        elif draw == 5 and self.arrays:
            self.emit(indent, f"for {v} in {self.name('array')}[:3]:")
            self.scope["array"].append(v)
        else:
            self.emit(indent, f"{i} = 0")
            self.emit(indent, f"while {i} < {self.random.choice('1234')}:")
            self.emit(indent + 1, f"{i} += 1")
            # Not in scope to be written: it ends the loop.
        outer, self.in_loop = self.in_loop, True
        self.block(indent + 1, depth - 1, self.random.randint(1, 3))
        self.in_loop = outer
        if self.random.random() < 0.25:
            self.emit(indent + 1, f"if {self.expression('bool', 1)}:")
            self.emit(indent + 2, self.random.choice(["break", "continue"]))
        if self.random.random() < 0.1:
            self.emit(indent, "else:")
            self.simple(indent + 1)
        if self.random.random() < 0.9:
            self.scope = kept

    def nested(self, indent):
        f, p = self.new_name(), self.new_name()
        cell = self.name("int")
        self.emit(indent, f"def {f}({p}, k={self.expression('int', 1)}, *rest):")
        kept = {kind: list(names) for kind, names in self.scope.items()}
        if cell is not None and cell != "COUNT" and self.random.random() < 0.5:
            self.emit(indent + 1, f"nonlocal {cell}")
            self.emit(indent + 1, f"{cell} = {cell} + {self.expression('int', 1)}")
        self.scope["int"] += [p, "k"]
        outer, self.in_nested = self.in_nested, True
        self.block(indent + 1, 0, self.random.randint(0, 2))
        kind = self.random.choice(["int", "array", "list"]) if self.arrays else "int"
        self.emit(indent + 1, f"return {self.expression(kind, 2)}")
        self.in_nested = outer
        self.scope = kept
        self.scope["fn"].append(f)

    def main(self):
        default = self.expression("int", 0)
        parameters = []
        for i, kind in enumerate(self.kinds):
            self.scope[kind].append(f"p{i}")
            parameters.append(f"p{i}")
        if self.random.random() < 0.3:
            parameters[-1] += "=" + default
        self.emit(0, f"def main({', '.join(parameters)}):")
        self.emit(1, "global COUNT, SCALE, LOG, TABLE, GRID, BOX" + ", NAMES" * (self.random.random() < 0.9))
        self.block(1, 2, self.random.choice((1, 2, 3, 4, 5, 7, 9)))
        names = [n for names in self.scope.values() for n in names]
        chosen = self.random.sample(names, min(len(names), self.random.randint(1, 4)))
        draw = self.random.random()
        last = self.expression(self.random.choice(["array", "int", "any"]), 3)
        if draw < 0.6:
            self.emit(1, f"return {', '.join([*chosen, last])}")
        elif draw < 0.75:
            self.emit(1, f"return [{', '.join(chosen)}], {{'r': {last}}}")
        elif draw < 0.95:
            self.emit(1, f"return {last}")

    # ---- Calls --------------------------------------------------------------------------------

    def make_changes(self, calls):
        """For some calls, statements that change the globals before them, or the mode they run in."""
        changes = []
        for _ in calls:
            change, mode = "", {}
            if changes and self.random.random() < 0.3:
                change = self.random.choice(CHANGES)
            if self.random.random() < 0.1:
                mode = {"all": self.random.choice(["ignore", "raise", "warn"])}
            changes.append((change, mode))
        return changes

    def make_calls(self):
        """The same twice, other values, other sizes, other types, and the first again."""
        shape = self.random.choice([(3,), (4,), (2, 3), (2, 3), (3, 3), (5,), (), (1,), (0,), (1, 3), (0, 2), (2, 3, 2), (130,)])
        first = [self.recipe(kind, shape) for kind in self.kinds]
        calls = [first, first]
        for _ in range(self.random.randint(1, 3)):
            calls.append([self.other_value(r) for r in first])
        for _ in range(self.random.randint(1, 2)):
            other = self.random.choice([(3,), (2, 3), (7,), (4, 3), (6, 2), (1,), (0,), (), (2, 1), (3, 3), (40, 30), (2, 3, 4), (1500,), (70, 90)])
            calls.append([self.recipe(r[0], other) if r[0] == "array" else self.other_value(r) for r in first])
        for _ in range(self.random.randint(1, 2)):
            i = self.random.randrange(len(first))
            changed = list(self.random.choice(calls))
            changed[i] = self.recipe(self.other_kind(first[i][0]), shape)
            calls.append(changed)
        if len(first) > 1 and self.random.random() < 0.4:
            alias = list(first)
            alias[-1] = ("alias", 0)
            calls.append(alias)
        if self.kinds.count("array") > 1 and self.random.random() < 0.4:
            overlap = list(first)
            last = max(i for i, kind in enumerate(self.kinds) if kind == "array")
            overlap[last] = ("overlap", self.kinds.index("array"), self.random.choice(["flip", "all", "T"]))
            calls.append(overlap)
        calls.append(first)
        if self.random.random() < 0.3:
            calls.append(first[:-1])
        return calls

    def other_kind(self, kind):
        if kind in NUMBERS:
            return self.random.choice(["int", "float", "bool", "scalar", "scalar", "none", "array", "str", "odd"])
        if kind in ("list", "tuple"):
            return self.random.choice(["list", "tuple", "array", "range", "arrays", "odd"])
        if kind == "array":
            return self.random.choice(["array", "scalar", "float", "int", "list", "array", "odd array", "odd array"])
        return self.random.choice([*KINDS, "none"])

    def number(self, kind):
        if kind == "int":
            return self.random.choice([0, 1, -1, 2, 3, 4, 5, 2, 3, 7, 10, -3, 1, 2, 3, 6, 8, 9, 2**31, 2**63 - 1, -(2**63), 2**64])
        if kind == "bool":
            return self.random.random() < 0.5
        return self.random.choice([0.0, -0.0, 1.0, 2.5, 0.5, -1.5, 3.0, 100.25, float("inf"), float("nan"), 1e308, 5e-324])

    def recipe(self, kind, shape=(3,)):
        if kind in NUMBERS:
            return (kind, self.number(kind))
        if kind == "str":
            return (kind, self.random.choice(["", "a", "abc", "b", "xyz"]))
        if kind in ("list", "tuple"):
            pool = self.random.choice([("int",), ("int",), ("float",), ("int", "float")])
            return (kind, [self.number(self.random.choice(pool)) for _ in range(self.random.choice((0, 1, 2, 2, 2, 3, 3, 4)))])
        if kind == "dict":
            return (kind, [(k, self.number(self.random.choice(("int", "float")))) for k in self.random.choice(("ab", "ab", "ba", "abz", "a", "zab"))])
        if kind == "box":
            return (kind, self.random.choice(["Box", "Crate"]), self.number("int"), self.number("float"))
        if kind == "array":
            dtype = self.random.choice(["f8", "f8", "f8", "f4", "i8", "i4", "b1", "c16", "u1", "f2"])
            if len(shape) == 2 and self.random.random() < 0.2:
                shape = self.random.choice([shape[1:], (1, shape[1]), (shape[0], 1)])
            layout = self.random.choice(["c", "c", "c", "f", "step", "back", "broad", "offset"])
            return (kind, dtype, shape, layout, self.random.randrange(1000), self.random.random() < 0.15)
        if kind == "scalar":
            return (kind, self.random.choice(["f8", "f4", "i8", "i4", "b1", "c16", "u1", "f2"]), self.random.choice([0, 1, 2, 3, 100]))
        if kind == "odd":
            return (kind, self.random.randrange(14))
        if kind == "odd array":
            return (kind, self.random.randrange(16), shape)
        if kind == "arrays":
            return (kind, shape, self.random.randrange(1000))
        if kind == "range":
            return (kind, self.random.randint(0, 4))
        return ("none",)

    def other_value(self, recipe):
        """Of the same kind, mostly near."""
        if recipe[0] == "array":
            kept = list(recipe)
            kept[4] = self.random.randrange(1000)
            if self.random.random() < 0.3:
                kept[3] = self.random.choice(["c", "f", "step", "back", "broad"])
            if self.random.random() < 0.2:
                kept[1] = self.random.choice(["f8", "f4", "i8", "i4", "b1", "c16"])
            return tuple(kept)
        return recipe if self.random.random() < 0.3 else self.recipe(recipe[0])
