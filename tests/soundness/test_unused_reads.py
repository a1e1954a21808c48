"""A value that is read and never looked at: the read itself must be possible at every call."""

import numpy as np
import pytest
from test_changed_state import steps_of, world
from twins import lead

A = np.linspace(0.5, 2.0, 4)

SOURCE = """
class C:
    __slots__ = ("s", "__dict__")
    def __init__(self):
        self.s = 1.0
        self.z = A
        self.n = np.float64(3)
class K:
    w = 1.0
o = C()
k = 2.0
L = [1.0, 2.0]
T = {'a': 1.0}
def outer():
    c = [1]
    def drop():
        nonlocal c
        del c
    def put(v):
        nonlocal c
        c = v
    def read():
        return c
    return read, drop, put
read, drop, put = outer()
def default(a, b=1.0):
    return a
def kwdefault(a, *, b=1.0):
    return a
def fn(x):
    {stmt}
    return x + 1.0
"""

CASES = {
    "o.z": [
        "",
        "",
        "del o.z",
        "o.z = 1",
        "o.__dict__ = {}",
        "C.z = 3",
        "del C.z",
        "C.__getattr__ = lambda s, n: 1",
    ],
    "o.s": ["", "", "del o.s", "o.s = 1"],
    "hasattr(o, 's') and k / 0.0": ["del o.s", "", "o.s = 1.0"],
    "(o.z, 1)[1]": ["", "", "del o.z", "o.z = 1"],
    "v = o.z if hasattr(o, 'z') else k / 0.0": ["", "", "del o.z", "o.z = 1"],
    "v = getattr(o, 'z', None)\n    if v is None: return x": [
        "",
        "",
        "del o.z",
        "o.z = None",
        "o.z = 3",
        "o.z = A",
    ],
    "k": [
        "",
        "",
        "del k",
        "k = 'a'",
        "import builtins; builtins.k = 3; del k",
        "vars(builtins).pop('k', 0)",
    ],
    "K.w": ["", "", "del K.w", "K.w = 'a'", "K = 4"],
    "L[1]": ["", "", "L.pop()", "L.append(2.0)", "L = (1, 2)", "L = {}"],
    "T['a']": ["", "", "del T['a']", "T['a'] = 3", "T = [1]"],
    "a, b = L": [
        "",
        "",
        "L.pop()",
        "L.append(2.0)",
        "L.append(2.0)",
        "L = (1, 2)",
        "L = {}",
        "L = 'ab'",
    ],
    "read()": ["", "", "drop()", "put(1)"],
    "default(1)": ["", "", "default.__defaults__ = None", "default.__defaults__ = (1,)"],
    "kwdefault(1)": [
        "",
        "",
        "kwdefault.__kwdefaults__ = None",
        "kwdefault.__kwdefaults__ = {'b': 1}",
        "kwdefault.__kwdefaults__.clear()",
    ],
    "np.pi": [
        "",
        "",
        "import types; real = np; np = types.SimpleNamespace()",
        "np.pi = 3",
        "np = real",
    ],
    "m = o.meth": ["C.meth = lambda self: 3", "", "del C.meth", "C.meth = 3"],
    "[v for v in L]": ["", "", "L = 5", "L = [1]"],
    "{**T}": ["", "", "T = 5", "T = {}", "T = {1: 2}"],
    "f'{k}'": ["", "", "k = A", "del k"],
    "len(L)": ["", "", "L = 5", "L = A"],
    "isinstance(L, K)": ["", "", "K = 5", "K = (int, str)", "K = (int, 5)", "K = int | str"],
    "k < 3": ["", "", "k = 'a'", "k = 5", "k = 2.0"],
    "k + 1": ["", "", "k = 'a'", "k = 5", "k = 2.0", "k = True"],
    "-k": ["", "", "k = 'a'", "k = 5", "k = 2.0"],
    "1 / k": ["", "", "k = 0.0", "k = 0", "k = 2.0"],
    "1 // k": ["", "", "k = 0.0", "k = 5", "k = 0"],
    "1 % k": ["", "", "k = 0.0", "k = 5", "k = 0"],
    "k ** -1": ["", "", "k = 0.0", "k = 5", "k = 0"],
    "k ** 0.5": ["", "", "k = -1.0", "k = 5", "k = -4"],
    "2.0 ** k": ["", "", "k = 1e10", "k = 5", "k = 10000"],
    "divmod(3, k)": ["", "", "k = 0.0", "k = 5", "k = 0"],
    "int(k)": ["", "", "k = float('nan')", "k = float('inf')", "k = 'a'", "k = 2.0"],
    "round(k)": ["", "", "k = float('nan')", "k = float('inf')", "k = 'a'", "k = 2.0"],
    "1 << k": ["k = 3", "", "k = -1", "k = 70", "k = 2.0"],
    "k >> 1": ["k = 3", "", "k = -1", "k = 70", "k = 2.0"],
    "range(1, 5, k)": ["k = 3", "", "k = 0", "k = 70", "k = 2.0"],
    "x + np.ones(4)": ["", "", "A = 1"],
    "x / k": ["", "", "k = 0.0", "k = np.zeros(3)"],
    "x[0]": ["", ""],
    "x + np.zeros(int(k))": ["k = 4", "", "k = 5", "k = 4", "k = -1"],
    "x[int(k)]": ["k = 3", "", "k = 5", "k = 3", "k = -1", "k = -5"],
    "x.reshape(int(k), -1)": ["k = 2", "", "k = 3", "k = 4", "k = -1", "k = 0"],
    "x.sum(axis=int(k))": ["k = 0", "", "k = 1", "k = -1", "k = -2"],
    "x + np.uint8(1) * int(k)": ["k = 3", "", "k = 300", "k = -1", "k = 5"],
    "np.arange(3, dtype=np.int8) + int(k)": [
        "k = 3",
        "",
        "k = 300",
        "k = -1",
        "k = 5",
        "k = 10**30",
    ],
    "np.float32(1) * float(k)": ["k = 3.0", "", "k = 1e300", "k = -1", "k = 5.0"],
    "np.ones(3, np.float32) * k": [
        "k = 3.0",
        "",
        "k = 1e300",
        "k = 10**300",
        "k = 10**400",
        "k = float('inf')",
    ],
    "np.ones(3, np.float16) * k": [
        "k = 3.0",
        "",
        "k = 1e300",
        "k = 100000",
        "k = 10**400",
        "k = float('inf')",
    ],
}


@pytest.mark.parametrize("stmt", CASES)
def test_unused_reads(stmt):
    def make():
        module = world(SOURCE.replace("{stmt}", stmt), A=A)
        return module.fn, None, steps_of(module, *CASES[stmt])

    lead(make)


DIVISIONS = {
    "1 // k": (2, 3, 5, 0, -1, 0.0, 2.5, True, False, 4),
    "1 % k": (2, 3, 5, 0, -1, 0.0, 2.5, False, 4),
    "1 / k": (2.0, 3.0, 0.0, -0.0, float("nan"), float("inf"), 0, 1.5),
    "divmod(7, k)": (2, 3, 0, 4, 0.0),
    "k / (k - 3)": (5, 6, 3, 7, 3.0),
    "k // x.shape[0]": (5, 6, 0, 7),
    "1 // (x.shape[0] - 4)": (1, 2, 3),
    "k //= k": (2, 3, 0, 1),
    "math.sqrt(k)": (2.0, 3.0, -1.0, 0.0, float("nan"), float("inf"), 4, -4),
    "math.log(k)": (2.0, 3.0, 0.0, -1.0, float("nan"), 1e300, 4, 0),
    "math.exp(k)": (2.0, 3.0, 1e10, -1e10, float("inf"), 800),
    "math.sin(k)": (2.0, 3.0, float("inf"), float("nan"), 1.0),
    "math.floor(k)": (2.5, 3.5, float("nan"), 1.5, float("inf"), 1e300),
    "int(k)": (2.5, 3.5, float("nan"), 1.5, float("inf")),
    "math.tanh(k)": (2.0, 3.0, float("inf"), float("nan")),
}


@pytest.mark.parametrize("where", ["an argument", "a global", "an attribute"])
@pytest.mark.parametrize("statement", DIVISIONS)
def test_a_result_that_nobody_uses_can_still_raise(statement, where):
    """Numbers that vary are inputs: whether an operation on one raises is asked at every call."""
    source = f"import math\nclass C: pass\no = C()\no.k = g = 1\ndef fn(x, k):\n    {statement}\n    return x + 1.0"
    if where != "an argument":
        source = source.replace("fn(x, k):", f"fn(x, _):\n    k = {'g' if where == 'a global' else 'o.k'}")

    def make():
        module = world(source)

        def step(value):
            def run():
                module.g = module.o.k = value
                sized = statement.endswith("- 4)")
                return (np.ones(4 if value == 3 else 5) if sized else A), value

            return run

        return module.fn, None, [step(value) for value in DIVISIONS[statement]]

    lead(make)
