"""What attributes of instances, descriptors and subclasses of builtin types rely on changes between calls."""

import numpy as np
import pytest
from test_changed_state import steps_of, world
from test_more_state import lead_by_text

A = np.linspace(0.5, 2.0, 4)

SOURCE = """
import functools
from collections import OrderedDict, defaultdict
class Desc:
    def __init__(self, k):
        self.k = k
    def __get__(self, o, cls=None):
        return self.k
class Data(Desc):
    def __set__(self, o, v):
        o.got = v
class C:
    d = Desc(2.0)
    e = Data(3.0)
    scale = 4.0
    __slots__ = ('got', '__dict__')
    @property
    def p(self):
        return self.scale
    @functools.cached_property
    def cached(self):
        return self.scale * 2
    def __getattr__(self, name):
        if name == 'auto':
            return 5.0
        raise AttributeError(name)
class G:
    def __init__(self):
        self.v = 2.0
    def __getattribute__(self, name):
        return object.__getattribute__(self, name)
class S:
    def __init__(self):
        object.__setattr__(self, 'v', 1.0)
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value * 2)
class Meta(type):
    factor = 2.0
    def __getattr__(cls, name):
        return 3.0
    def __call__(cls, *args):
        return super().__call__(*args)
class M(metaclass=Meta):
    def __init__(self, v=1.0):
        self.v = v
class Items(list):
    def first(self):
        return self[0]
class Keys(dict):
    def total(self):
        return sum(self.values())
    def __missing__(self, key):
        return 9.0
class Two(tuple):
    pass
class Num(float):
    def twice(self):
        return self * 2
class Made:
    def __new__(cls, v):
        self = super().__new__(cls)
        self.made = v
        return self
    def __init__(self, v):
        self.v = v
c, g, s, m = C(), G(), S(), M()
items, keys, two, num = Items([1.0, 2.0]), Keys(a=1.0, b=2.0), Two((1.0, 2.0)), Num(2.5)
ordered, default = OrderedDict(a=1.0, b=2.0), defaultdict(float, a=1.0)
other = lambda self, name: 50.0
def fn(x):
    {body}
"""

CASES = {
    "descriptor": (
        "return x * c.d + c.e",
        [
            "",
            "",
            "C.d.__class__",
            "c.d = 7.0",
            "del c.d",
            "C.__dict__['d'].k = 8.0",
            "C.__dict__['e'].k = 9.0",
            "Desc.__get__ = lambda self, o, cls=None: 10.0",
            "Desc.__set__ = lambda self, o, v: None",
            "c.__dict__['d'] = 11.0",
            "del Desc.__set__",
            "C.d = 12.0",
        ],
    ),
    "set through a descriptor": (
        "c.e = 5.0\n    return x + c.got",
        [
            "",
            "",
            "Data.__set__ = lambda self, o, v: setattr(o, 'got', v * 3)",
            "del Data.__set__",
            "C.e = property(lambda s: 1.0, lambda s, v: setattr(s, 'got', v + 100))",
        ],
    ),
    "empty slot": (
        "return x, hasattr(c, 'got'), getattr(c, 'got', 4.0)",
        ["", "", "c.got = 1.0", "c.got = A", "del c.got"],
    ),
    "property": (
        "return x * c.p",
        [
            "",
            "",
            "c.scale = 9.0",
            "C.p = property(lambda self: 10.0)",
            "C.p = 3.0",
            "del C.p",
        ],
    ),
    "cached property": (
        "return x * c.cached",
        ["", "", "c.__dict__.clear()", "c.cached = 5.0", "del c.cached", "C.scale = 6.0"],
    ),
    "__getattr__": (
        "return x * c.auto",
        [
            "",
            "",
            "c.auto = 6.0",
            "del c.auto",
            "C.auto = 7.0",
            "del C.auto",
            "C.__getattr__ = lambda self, name: 8.0",
            "del C.__getattr__",
        ],
    ),
    "__getattribute__": (
        "return x * g.v",
        [
            "",
            "",
            "g.v = 3.0",
            "G.__getattribute__ = lambda self, name: 5.0",
            "del G.__getattribute__",
            "G.v = property(lambda self: 6.0)",
        ],
    ),
    "__setattr__": (
        "s.v = 2.0\n    return x * s.v",
        [
            "",
            "",
            "S.__setattr__ = lambda self, n, v: object.__setattr__(self, n, v * 5)",
            "del S.__setattr__",
            "S.v = property(lambda self: 1.5, lambda self, v: None)",
        ],
    ),
    "metaclass": (
        "return x * M.factor + M.anything",
        [
            "",
            "",
            "Meta.factor = 4.0",
            "M.factor = 5.0",
            "M.anything = 6.0",
            "del M.factor",
            "Meta.__getattr__ = lambda cls, name: 7.0",
            "Meta.anything = property(lambda cls: 8.0)",
        ],
    ),
    "metaclass call": (
        "return x * M(3.0).v",
        [
            "",
            "",
            "Meta.__call__ = lambda cls, *a: m",
            "m.v = 4.0",
            "del Meta.__call__",
            "M.__init__ = lambda self, v: setattr(self, 'v', v + 1)",
        ],
    ),
    "__new__": (
        "y = Made(2.0)\n    return x * y.v + y.made",
        [
            "",
            "",
            "Made.__init__ = lambda self, v: setattr(self, 'v', v * 7)",
            "Made.__new__ = staticmethod(lambda cls, v: Made2())",
            "Made2 = type('Made2', (), {'v': 3.0, 'made': 4.0})",
        ],
    ),
    "list subclass": (
        "return x * items.first() + items[1] + len(items)",
        [
            "",
            "",
            "items[0] = 5.0",
            "items.append(6.0)",
            "items[1] = A",
            "Items.first = lambda self: 8.0",
            "Items.__getitem__ = lambda self, i: 9.0",
            "Items.__len__ = lambda self: 10",
            "del Items.__getitem__, Items.__len__",
            "items = [1.0, 2.0]",
            "items = Two((1.0, 2.0))",
        ],
    ),
    "list subclass is changed": (
        "items.append(x)\n    items[0] = 3.0\n    return x + items[0], len(items)",
        [
            "",
            "",
            "Items.append = lambda self, v: list.append(self, 1.0)",
            "del Items.append",
            "Items.__setitem__ = lambda self, i, v: None",
        ],
    ),
    "dict subclass": (
        "return x * keys['a'] + keys.total() + keys['none']",
        [
            "",
            "",
            "keys['a'] = 5.0",
            "keys['c'] = 6.0",
            "keys['none'] = 7.0",
            "del keys['b']",
            "Keys.__missing__ = lambda self, key: 8.0",
            "Keys.values = lambda self: [1.0]",
            "Keys.__getitem__ = lambda self, key: 9.0",
            "keys = {'a': 1.0}",
        ],
    ),
    "ordered dict": (
        "return x, list(ordered), list(ordered.items())",
        [
            "",
            "",
            "ordered.move_to_end('a')",
            "ordered.move_to_end('a', last=False)",
            "ordered['c'] = 3.0",
            "ordered.popitem(last=False)",
            "ordered = dict(ordered)",
        ],
    ),
    "default dict": (
        "return x + default['a'] + default['new'], len(default)",
        [
            "",
            "",
            "default['a'] = 5.0",
            "default.clear()",
            "default.default_factory = lambda: 4.0",
            "default.clear()",
            "default.default_factory = None",
            "default.clear()",
        ],
    ),
    "tuple subclass": (
        "return x * two[0] + len(two), isinstance(two, tuple)",
        ["", "", "two = Two((3.0,))", "two = Two((A, 1.0))", "two = (5.0, 6.0)", "two = [1.0]"],
    ),
    "float subclass": (
        "return x, num.twice(), num + 1.0",
        [
            "",
            "",
            "num = Num(3.5)",
            "Num.twice = lambda self: self * 3",
            "Num.__add__ = lambda self, o: 1.25",
            "num = 2.5",
        ],
    ),
    "attribute that hides one of the class, deleted": (
        "try:\n        del c.d\n    except AttributeError:\n        return x, 'none'\n    return x, 'gone'",
        ["c.d = 1.0", "c.d = 1.0", "", "c.d = A", "", "c.d = C.d", "", "c.d = C.__dict__['d']", ""],
    ),
    "attribute that hides a method": (
        "return x * c.f(c, 'name')",
        ["C.f = c.f = other", "", "del c.f", "", "c.f = other", "del C.f"],
    ),
    "same list twice": (
        "items.append(1.0)\n    return x, len(items), len(again)",
        ["again = Items([1.0])", "", "again = items", "", "again = Items()"],
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CASES)
def test_instances(case):
    body, changes = CASES[case]

    def make():
        module = world(SOURCE.replace("{body}", body), A=A)
        return module.fn, None, steps_of(module, *changes)

    lead_by_text(make)
