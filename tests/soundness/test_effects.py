"""Effects happen once, in order, and before or after an exception as in plain Python."""

import gc
import sys
import warnings
import weakref

import numpy as np
import pytest
from differential import Compiled
from test_changed_state import world
from twins import lead

A = np.linspace(0.5, 2.0, 4)
Z = np.zeros(4)

SOURCE = """
class Box:
    def __init__(self):
        self.v = 1.0
        self.log = []
class Raising:
    def __init__(self):
        self.log = []
    @property
    def p(self):
        self.log.append('p')
        raise AttributeError('p')
box = Box()
raising = Raising()
LOG = []
TABLE = {'a': 1}
SET = {1}
count = 0
def outer():
    n = 0
    def bump():
        nonlocal n
        n += 1
        return n
    return bump
bump = outer()
def state():
    return (box.v, list(box.log), list(vars(box)), list(LOG), dict(TABLE), list(TABLE), sorted(SET), count, list(raising.log), bump.__closure__[0].cell_contents)
def fn(x):
    {body}
"""

BODIES = {
    "append then divide": "LOG.append(1)\n    y = 1.0 / x\n    LOG.append(2)\n    return y",
    "global then divide": "global count\n    count += 1\n    y = 1.0 / x\n    count += 1\n    return y, count",
    "attribute then divide": "box.v = box.v + 1\n    y = 1.0 / x\n    box.log.append(len(box.log))\n    return y, box.v",
    "cell then divide": "bump()\n    y = 1.0 / x\n    return y, bump()",
    "dict then divide": "TABLE['b'] = TABLE['a'] + 1\n    y = 1.0 / x\n    TABLE['a'] = TABLE.pop('b')\n    return y",
    "set then divide": "SET.add(len(SET))\n    y = 1.0 / x\n    return y",
    "old value after a store": "old = box.v\n    box.v = 5.0 + old\n    return x, old, box.v",
    "old item after a store": "box.log.append(3)\n    first = box.log[0]\n    box.log[0] = 9\n    return x, first, box.log[0], box.log",
    "old global after a store": "global count\n    old = count\n    count = old + 3\n    return x, old",
    "swap": "TABLE['a'], TABLE['b'] = TABLE.get('b', 0), TABLE['a']\n    return x + TABLE['a']",
    "list of arrays": "LOG.append(x)\n    LOG.append(x + 1)\n    LOG.append(LOG[-1])\n    return LOG[-1] is LOG[-2], len(LOG)",
    "array kept and returned": "y = x * 2.0\n    box.y = y\n    return y, box.y is y",
    "array kept and its view": "y = x * 2.0\n    box.y = y\n    return y[1:]",
    "array kept and changed": "y = x * 2.0\n    LOG.append(y)\n    y += 1.0\n    return y",
    "array kept in a cell and changed": "y = x * 2.0\n    f = lambda: y\n    y += 1.0\n    return f() is y, y",
    "alias changed": "y = x * 2.0\n    z = y\n    z *= 3.0\n    return y, z, y is z",
    "alias in a list changed": "y = [x * 2.0]\n    z = y[0]\n    z *= 3.0\n    return y, z",
    "view changed": "y = x * 2.0\n    z = y[1:]\n    z += 3.0\n    return y, z",
    "base changed": "y = x * 2.0\n    z = y[1:]\n    y += 3.0\n    return y, z",
    "view of a view changed": "y = x * 2.0\n    z = y.reshape(2, 2).T\n    z -= 3.0\n    return y, z",
    "input changed": "x += 1.0\n    return x",
    "view of input changed": "y = x[1:]\n    y += 1.0\n    return y",
    "item of new set": "y = x * 2.0\n    y[0] = 7.0\n    return y",
    "item of view of new set": "y = x * 2.0\n    z = y[1:]\n    z[0] = 7.0\n    return y, z",
    "property that raises": "return x, getattr(raising, 'p', 3), hasattr(raising, 'p')",
    "effects then attribute error": "LOG.append(1)\n    box.v = 3.0\n    return x + box.missing",
    "effects then index error": "LOG.append(1)\n    return x + LOG[100]",
    "effects then key error": "TABLE['q'] = 1\n    return x + TABLE['zz']",
    "effects then zero division": "LOG.append(1)\n    return x + 1 / (len(LOG) - 3)",
    "effects then shape error": "LOG.append(1)\n    return x + np.ones(7)",
    "effects then bad cast": "LOG.append(1)\n    y = np.ones(3, dtype=int)\n    y += 1.5\n    return y",
    "effects then assert": "LOG.append(1)\n    assert len(LOG) < 3, 'too long'\n    return x + 1",
    "effects then raise": "LOG.append(1)\n    if len(LOG) > 2:\n        raise ValueError(len(LOG))\n    return x + 1",
    "errstate raise inside": "LOG.append(1)\n    with np.errstate(divide='raise'):\n        y = 1.0 / x\n    LOG.append(2)\n    return y",
    "try inside": "LOG.append(1)\n    try:\n        y = 1.0 / (x + LOG[5])\n    except IndexError:\n        LOG.append(2)\n        y = x\n    return y",
    "delete attribute": "box.w = 1\n    del box.w\n    box.w = 2\n    return x, hasattr(box, 'w')",
    "delete item": "TABLE['b'] = 1\n    del TABLE['a']\n    TABLE['a'] = 2\n    return x, list(TABLE)",
    "new object kept": "b = Box()\n    b.v = x + 1\n    LOG.append(b.v)\n    b.log.append(b.v)\n    return b.v, b.log",
    "cyclic list": "l = [x + 1]\n    l.append(l)\n    return l[1][1][0]",
    "many lists": "l = []\n    for i in range(10):\n        l.append([l[-1] if l else None, x + i])\n    return l",
    "shared list": "l = [x]\n    return (l, l, [l])",
    "generator": "return sum(v for v in [1, 2, 3]) + x",
    "comprehension": "return [x + i for i in range(3) if i != 1], {i: x for i in 'ab'}, {i for i in (1, 2)}",
    "list changed while iterated": "l = [1, 2]\n    for v in l:\n        if len(l) < 6:\n            l.append(v + 2)\n    return x, l",
    "dict changed while iterated": "for k in TABLE:\n        TABLE[k + 'x'] = 1\n    return x",
    "input list changed while iterated": "LOG[:] = [1, 2]\n    for v in LOG:\n        if v == 1:\n            LOG.remove(v)\n    return x, LOG",
    "iterator kept": "it = iter([1, 2, 3])\n    next(it)\n    return x, list(it), list(it)",
    "closure returned": "def f(a=x, *, b=[x]):\n        return a, b, x\n    return f(), f.__defaults__[0] is x",
    "sort": "l = [3, 1, 2]\n    l.sort(reverse=True)\n    m = sorted(l, key=lambda v: -v)\n    return x, l, m",
    "sort with nan": "l = [1.0, 5.0, float('nan'), 2.0]\n    return x, sorted(l), sorted(l, reverse=True), max(l), min(l)",
    "sort by nan key": "return x, sorted([(1.0, 1), (5.0, 2), (float('nan'), 3), (2.0, 4)]), sorted([1, 2, 3, 4], key=lambda v: float('nan') if v == 3 else -v)",
    "sort input nan": "l = [1.0, 5.0, box.v * 0 + (float('inf') - float('inf')), 2.0]\n    return x, sorted(l)",
    "starred": "a, *b = [x, 1, 2]\n    *c, d = (1, x)\n    return a, b, c, d",
    "augmented in list": "LOG.append(1)\n    LOG[0] += 1\n    return x, LOG[0]",
    "augmented dict attribute": "box.v += 1\n    TABLE['a'] += box.v\n    return x",
    "walrus": "return (y := x + 1), y",
    "print": "print(end='')\n    return x + 1",
    "import": "import math\n    return x * math.pi",
    "locals": "y = 1\n    return x, sorted(locals())",
    "globals": "return x, globals()['count']",
    "exec": "exec('LOG.append(3)')\n    return x",
    "super chain": "class Q(Box):\n        def __init__(self):\n            super().__init__()\n            self.q = x\n    return Q().q",
    "del local": "y = x + 1\n    del y\n    return x",
    "unbound": "if len(LOG) > 100:\n        y = 1\n    return x, y",
    "id": "return x, id(LOG) == id(LOG), LOG is LOG",
    "chained compare": "a, b = 1, box.v\n    return x, 0 < a < b < 3, a < b == b",
    "str ops": "s = 'a' * 3 + '%d-%s' % (1, box.v) + f'{box.v:.2f}{len(LOG)!r}'\n    LOG.append(s)\n    return x, s",
    "big ints": "a = 2 ** 62 + len(LOG)\n    return x, a * a, a + a, -a - a - a, a << 3, a // 7, -a % 7, a ** 2",
    "float ops": "a = box.v - 8.5\n    return x, a % 3.0, -a // 2.0, divmod(a, -2.5), a ** 2, abs(a), round(a), int(a), a // 0.1",
}


@pytest.mark.parametrize("body", BODIES)
def test_effects(body):
    def make():
        module = world(SOURCE.replace("{body}", BODIES[body]), A=A, Z=Z)

        def args(m):
            return (A.copy(),)

        steps = [lambda: (A.copy(),), lambda: (A.copy(),), lambda: (Z.copy(),), lambda: (A.copy(),)]
        raising = [
            lambda: np.seterr(all="raise") and (A.copy(),),
            lambda: (Z.copy(),),
            lambda: (A.copy(),),
            lambda: np.seterr(all="warn") and (Z.copy(),),
        ]
        return module.fn, module.state, steps + raising + steps

    with np.errstate():  # as it was, for the tests that come after
        lead(make)


FILTERS = ["default", "always", "once", "module", "ignore", "error"]


@pytest.mark.parametrize("action", FILTERS)
def test_warning_filters(action):
    """The registry of the module decides how often a warning is shown; it is the same one."""
    source = "def fn(x):\n    y = 1.0 / x\n    return y + np.log(x)\n"

    def run(compile_it):
        module = world(source)
        fn = Compiled(module.fn).fn if compile_it else module.fn
        seen = []
        for array in (A, Z, Z, A, Z):
            with warnings.catch_warnings(record=True) as caught:
                warnings.resetwarnings()
                warnings.simplefilter(action)
                try:
                    fn(array.copy())
                except RuntimeWarning as error:
                    seen.append(("raised", str(error), error.__traceback__.tb_next.tb_lineno))
            seen.append([(str(w.message), w.filename, w.lineno) for w in caught])
        seen.append(sorted(str(k) for k in getattr(module, "__warningregistry__", {})))
        return seen

    assert run(False) == run(True)


def test_errcall_sees_each_report():
    source = "def fn(x):\n    return np.sqrt(1.0 / x - 5.0)\n"

    def run(compile_it):
        module = world(source)
        fn = Compiled(module.fn) if compile_it else module.fn
        seen = []
        with np.errstate(all="call", call=lambda kind, flag: seen.append((kind, flag))):
            for array in (A, Z, A, Z):
                fn(array)
        return seen

    assert run(False) == run(True)


def test_nothing_is_kept_alive():
    class Thing:
        pass

    def fn(box, x):
        box.y = x + 1
        return [box, x * 2]

    for run in (fn, Compiled(fn)):
        for _ in range(3):
            box, x = Thing(), A.copy()
            refs = weakref.ref(box), weakref.ref(x)
            before = sys.getrefcount(box), sys.getrefcount(x)
            result = run(box, x)
            assert sys.getrefcount(x) == before[1]
            assert sys.getrefcount(box) == before[0] + 1
            del result, box, x
            if run is fn:
                assert refs[0]() is None and refs[1]() is None
    gc.collect()
    assert refs[0]() is None and refs[1]() is None
