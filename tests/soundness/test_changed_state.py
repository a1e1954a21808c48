"""Whatever a trace has read is read again: state changes between calls in every way Python allows."""

import builtins
import types

import numpy as np
import pytest
from twins import lead

A = np.linspace(0.5, 2.0, 4)


def world(source, **names):
    """A module of its own made from source; the function is `fn`."""
    module = types.ModuleType("world")
    vars(module).update(np=np, **names)
    exec(compile(source, "<world>", "exec"), vars(module))
    return module


def steps_of(module, *changes, args=lambda m: (A,)):
    def step(change):
        def run():
            if isinstance(change, str):
                exec(change, vars(module))
            elif change is not None:
                change(module)
            return args(module)

        return run

    return [step(change) for change in changes]


CLASS = """
class C:
    k = 2.0
    def __init__(self):
        self.v = 3.0
    def m(self, x):
        return x * self.v
    @property
    def p(self):
        return self.v + 1.0
class D(C):
    pass
o = D()
def fn(x):
    return {expr}
"""

CHANGES = {
    "x * o.k": [
        "",
        "",
        "C.k = 4.0",
        "o.k = 5.0",
        "del o.k",
        "D.k = 6.0",
        "del D.k",
        "o.__dict__['k'] = 8.0",
        "o.__dict__ = {'v': 1.0}",
        "D.k = property(lambda s: 9.0)",
        "o.__dict__['k'] = 10.0",
        "del D.k",
        "o.__class__ = C",
        "C.k = [1]; o.__dict__.pop('k')",
        "del C.k",
        "C.__getattr__ = lambda s, n: 7.0",
        "C.__getattribute__ = lambda s, n: 11.0",
        "del C.__getattribute__",
        "D.__bases__ = (C,)",
    ],
    "o.m(x)": [
        "",
        "",
        "C.m = lambda s, x: x + s.v",
        "o.m = lambda x: x - 1.0",
        "del o.m",
        "o.v = 4.0",
        "o.v = 4",
        "D.m = staticmethod(lambda x: x + 9.0)",
        "D.m = classmethod(lambda c, x: x + c.k)",
        "C.k = 12.0",
        "del D.m",
        "C.m.__defaults__ = (1,)",
        "C.m.__code__ = (lambda s, x: x * 100.0).__code__",
        "C.m = np.add",
        "C.m = 5",
        "del C.m",
    ],
    "x + o.p": [
        "",
        "",
        "o.v = 7.0",
        "C.p = 3.0",
        "o.p = 4.0",
        "C.p = property(lambda s: s.v * 2)",
        "C.p = 1",
        "del C.p",
        "del o.p",
    ],
    "x * len(o.__dict__)": ["", "", "o.w = 1", "o.__dict__ = {}"],
    "x * isinstance(o, C)": [
        "",
        "",
        "o = 3",
        "o = C()",
        "C = int",
        "isinstance = lambda a, b: 5",
        "del isinstance",
    ],
    "x * (type(o) is D)": ["", "", "o.__class__ = C", "o = D()", "type = lambda q: D", "del type"],
    "x * hasattr(o, 'z')": [
        "",
        "",
        "o.z = 1",
        "del o.z",
        "C.z = 1",
        "del C.z",
        "o.__dict__ = {'z': 2}",
    ],
    "x * getattr(o, 'z', 2.0)": [
        "",
        "",
        "o.z = 1",
        "del o.z",
        "C.z = 7",
        "del C.z",
        "C.__getattr__ = lambda s, n: 7.0",
    ],
}


@pytest.mark.parametrize("expr", CHANGES)
def test_attributes(expr):
    def make():
        module = world(CLASS.format(expr=expr))
        return module.fn, None, steps_of(module, *CHANGES[expr])

    lead(make)


SLOTS = """
class S:
    __slots__ = ("a", "b", "__dict__")
    def __init__(self):
        self.a = 1.0
o = S()
def fn(x):
    return x * o.a
"""


def test_slots():
    def make():
        module = world(SLOTS)
        return (
            module.fn,
            None,
            steps_of(
                module,
                "",
                "",
                "o.a = 2.0",
                "o.a = 2",
                "del o.a",
                "o.__dict__['a'] = 7.0",
                "o.a = A",
                "S.b.__set__(o, 1)",
                "S.a = 5.0",
                "o.__dict__['a'] = 9.0",
            ),
        )

    vars(np)  # np is read below
    globals_with_a = {"A": A}

    def make_with():
        module = world(SLOTS, **globals_with_a)
        return (
            module.fn,
            None,
            steps_of(
                module,
                "",
                "",
                "o.a = 2.0",
                "o.a = 2",
                "del o.a",
                "o.__dict__['a'] = 7.0",
                "o.a = A",
                "S.b.__set__(o, 1)",
                "S.a = 5.0",
                "o.__dict__['a'] = 9.0",
            ),
        )

    lead(make_with)


GLOBALS = """
k = 2.0
class np_like:
    add = staticmethod(lambda a, b: a * 1000.0)
def helper(x):
    return x + k
def fn(x):
    return {expr}
"""

GLOBAL_CHANGES = {
    "x * k": [
        "",
        "",
        "k = 3.0",
        "k = 3",
        "k = True",
        "k = np.float64(3)",
        "k = np.float32(3)",
        "k = np.ones(4)",
        "k = np.ones((2, 4), np.float32)",
        "del k",
        "import builtins; builtins.k = 9.0",
        "k = 4.0",
        "del k; vars(builtins).pop('k', 0)",
        "k = 'a'",
        "k = 2.0",
        "k = complex(1, 2)",
        "k = 10**30",
        "k = -0.0",
        "k = float('nan')",
    ],
    "np.add(x, k)": [
        "",
        "",
        "np = np_like",
        "import numpy as np",
        "k = 4",
        "k = np.int8(4)",
        "k = [1, 2, 3, 4]",
        "k = (1, 2, 3, 4)",
        "k = 1j",
    ],
    "x * abs(k)": [
        "",
        "",
        "k = -5.0",
        "abs = lambda v: 7.0",
        "del abs",
        "import builtins; old = abs; builtins.abs = lambda v: 8.0",
        "builtins.abs = old",
    ],
    "x * len([1, 2])": ["", "", "len = lambda v: 11", "del len"],
    "helper(x)": [
        "",
        "",
        "k = 5.0",
        "helper = lambda x: x * 3",
        "def helper(x, y=1): return x + y",
        "helper.__defaults__ = (2,)",
        "helper.__defaults__ = None",
        "helper.__defaults__ = (3,)",
        "helper.__code__ = (lambda x, y: x * y).__code__",
        "helper.__defaults__ = (5,)",
        "def helper(x, *, z=1): return x + z",
        "helper.__kwdefaults__['z'] = 8",
        "helper.__kwdefaults__ = {'z': 9}",
        "helper.__kwdefaults__ = None",
        "helper = np.sin",
        "helper = np.cos",
        "helper = np.sum",
        "helper = type(x) if 0 else 5",
    ],
}


@pytest.mark.parametrize("expr", GLOBAL_CHANGES)
def test_globals(expr):
    def make():
        module = world(GLOBALS.format(expr=expr))
        steps = steps_of(module, *GLOBAL_CHANGES[expr])
        return module.fn, None, steps

    old = builtins.abs
    try:
        lead(make)
    finally:
        builtins.abs = old
        vars(builtins).pop("k", None)


def test_module_attribute_is_replaced(monkeypatch):
    module = world("def fn(x):\n    return np.add(x, 1.0)")
    saved = np.add

    def make():
        return (
            module.fn,
            None,
            [
                lambda: (A,),
                lambda: (A,),
                lambda: setattr(np, "add", np.multiply) or (A,),
                lambda: (A,),
                lambda: setattr(np, "add", saved) or (A,),
                lambda: (A,),
            ],
        )

    try:
        lead(make)
    finally:
        np.add = saved


CELLS = """
def outer():
    k = 2.0
    def fn(x):
        return x * k
    def put(v):
        nonlocal k
        k = v
    def drop():
        nonlocal k
        del k
    return fn, put, drop
fn, put, drop = outer()
"""


def test_cells():
    def make():
        module = world(CELLS, A=A)
        return (
            module.fn,
            None,
            steps_of(
                module,
                "",
                "",
                "put(3.0)",
                "put(3)",
                "put(A)",
                "drop()",
                "put(None)",
                "put(2.0)",
                "fn.__closure__[0].cell_contents = 8.0",
            ),
        )

    lead(make)


CONTAINERS = """
L = [1.0, 2.0, 3.0]
T = {'a': 1.0, 'b': 2.0}
def fn(x):
    return {expr}
"""
LIST = [
    "",
    "",
    "L[0] = 5.0",
    "L[0] = 5",
    "L.append(1.0)",
    "L[:] = [7.0]",
    "L.clear()",
    "L = (1.0, 2.0)",
    "L = A",
    "L = [A, A]",
    "class M(list):\n  def __getitem__(s, i): return 42.0\n  def __len__(s): return 99\n  def __iter__(s): return iter([5.0])\nL = M([1.0])",
    "L = [True, 2.0]",
    "L = [np.float64(3)]",
    "L = 'ab'",
    "L = range(3)",
    "L = {0: 1.0}",
]
DICT = [
    "",
    "",
    "T['a'] = 5.0",
    "T['a'] = 5",
    "T['c'] = 5",
    "del T['c']",
    "T['a'] = T.pop('a')",
    "T = {'b': 2.0, 'a': 1.0}",
    "T.clear()",
    "class M(dict):\n  def __missing__(s, k): return 42.0\nT = M(a=1.0)",
    "del T['a']",
    "T = {'a': A}",
    "import collections; T = collections.OrderedDict(a=1.0, b=4.0)",
    "T.move_to_end('a')",
    "T = collections.defaultdict(float)",
    "T = {1: 1.0, 'a': 2.0}",
    "T = {1.0: 1.0, 'a': 2.0}",
    "T = {True: 1.0, 'a': 2.0}",
    "T['a'] = True",
]
CONTAINER_CHANGES = {
    "x * L[0]": LIST,
    "x * L[-1]": LIST,
    "x * len(L)": LIST,
    "[x * v for v in L]": LIST,
    "x * sum(L)": LIST,
    "x * (2.0 in L)": LIST,
    "x * (1 if L else 2)": LIST,
    "(x, L[1:])": LIST,
    "(x, list(L))": LIST,
    "(x, *L)": LIST,
    "(x, L == [1.0, 2.0, 3.0])": LIST,
    "x * T['a']": DICT,
    "[x * v for v in T.values()]": DICT,
    "(x, [k for k in T])": DICT,
    "(x, list(T.items()))": DICT,
    "x * len(T)": DICT,
    "x * ('c' in T)": DICT,
    "x * T.get('a', 9.0)": DICT,
    "(x, {**T})": DICT,
    "(x, dict(T))": DICT,
    "(x, T.get(1))": DICT,
    "x * (1 if T else 2)": DICT,
}


@pytest.mark.parametrize("expr", CONTAINER_CHANGES)
def test_containers(expr):
    def make():
        module = world(CONTAINERS.replace("{expr}", expr), A=A)
        return module.fn, None, steps_of(module, *CONTAINER_CHANGES[expr])

    lead(make)
