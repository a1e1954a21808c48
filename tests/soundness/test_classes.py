"""Classes change after code that uses them was compiled."""

import numpy as np
import pytest
from test_changed_state import steps_of, world
from twins import lead

A = np.linspace(0.5, 2.0, 4)

SOURCE = """
import abc
class Meta(type):
    pass
class Other:
    def __init__(self, v):
        self.v = v + 50.0
    def m(self):
        return 51.0
class C:
    def __init__(self, v):
        self.v = v
    def m(self):
        return self.v
    @classmethod
    def c(cls):
        return 3.0
    @staticmethod
    def s():
        return 4.0
class D(C):
    def __init__(self, v):
        super().__init__(v)
        self.w = 1.0
    def m(self):
        return super().m() + 1.0
    @classmethod
    def c(cls):
        return super().c() + 1.0
class M(metaclass=Meta):
    def __init__(self, v):
        self.v = v
class S:
    __slots__ = ('v',)
    def __init__(self, v):
        self.v = v
class P(abc.ABC):
    pass
class Q:
    __match_args__ = ('v',)
    def __init__(self, v):
        self.v = v
class Hashed:
    def __init__(self, v):
        self.v = v
    def __hash__(self):
        return hash(self.v)
    def __eq__(self, other):
        return self.v == other.v
class No(type):
    def __instancecheck__(cls, o):
        return False
    def __subclasscheck__(cls, o):
        return False
class Deny(metaclass=No):
    pass
class Denied(Deny):
    pass
deny, denied = Deny(), Denied()
d = D(2.0)
q = Q(2.0)
h = Hashed(1)
table = {h: 1.0}
def helper(a, b=1.0, c=2.0):
    return a + b * 10 + c * 100
def fn(x):
    {body}
"""

CASES = {
    "new: init": (
        "return x * C(2.0).v",
        [
            "",
            "",
            "C.__init__ = lambda s, v: setattr(s, 'v', v + 1)",
            "C.v = 5.0",
            "C.v = property(lambda s: 9.0, lambda s, v: None)",
            "del C.v",
            "del C.__init__",
            "C.__init__ = Other.__init__",
            "C = Other",
            "C = D",
        ],
    ),
    "new: __new__": (
        "return x * C(2.0).v",
        [
            "",
            "",
            "C.__new__ = staticmethod(lambda cls, v: d)",
            "del C.__new__",
        ],
    ),
    "new: __setattr__": (
        "return x * C(2.0).v",
        [
            "",
            "",
            "C.__setattr__ = lambda s, n, v: object.__setattr__(s, n, v + 5)",
            "del C.__setattr__",
        ],
    ),
    "new: __getattribute__": (
        "return x * C(2.0).v",
        [
            "",
            "",
            "C.__getattribute__ = lambda s, n: 7.0",
            "del C.__getattribute__",
            "C.__getattr__ = lambda s, n: 8.0",
        ],
    ),
    "new: shadowed by the class": (
        "c = C(2.0)\n    return x * c.v",
        [
            "",
            "",
            "C.v = property(lambda s: 9.0, lambda s, v: None)",
            "del C.v",
        ],
    ),
    "new: super": (
        "return x * D(2.0).v",
        [
            "",
            "",
            "C.__init__ = lambda s, v: setattr(s, 'v', v + 1)",
            "D.__bases__ = (Other,)",
            "D.__bases__ = (C,)",
        ],
    ),
    "new: super method": (
        "return x * D(2.0).m()",
        [
            "",
            "",
            "C.m = lambda s: 17.0",
            "del C.m",
            "D.__bases__ = (Other,)",
        ],
    ),
    "new: dunder": (
        "return x * len(C(2.0)) if hasattr(C, '__len__') else x",
        [
            "",
            "",
            "C.__len__ = lambda s: 3",
            "C.__len__ = lambda s: 4",
            "del C.__len__",
        ],
    ),
    "new: truth": (
        "return x if C(2.0) else x + 1",
        [
            "",
            "",
            "C.__bool__ = lambda s: False",
            "del C.__bool__",
            "C.__len__ = lambda s: 0",
            "C.__len__ = lambda s: 1",
        ],
    ),
    "new: eq": (
        "return x, C(2.0) == C(2.0)",
        [
            "",
            "",
            "C.__eq__ = lambda s, o: 5",
            "del C.__eq__",
        ],
    ),
    "new: has del": (
        "c = C(2.0)\n    return x * c.v",
        [
            "log = []",
            "",
            "C.__del__ = lambda s: log.append(1)",
            "x = len(log)",
            "",
        ],
    ),
    "new: metaclass call": (
        "return x * M(2.0).v",
        [
            "",
            "",
            "Meta.__call__ = lambda cls, v: C(v + 1)",
            "del Meta.__call__",
        ],
    ),
    "new: metaclass attribute": (
        "return x * M(2.0).v, hasattr(M, 'z')",
        [
            "",
            "",
            "Meta.z = 3.0",
            "Meta.z = property(lambda s: 1 / 0)",
            "del Meta.z",
            "M.z = 1",
        ],
    ),
    "new: slots": ("return x * S(2.0).v", ["", "", "S.v = 3.0"]),
    "new: escapes": (
        "c = C(2.0)\n    c.z = x\n    kept.append(c)\n    return x, type(c) is C, kept[-1].v",
        ["kept = []", "", "C.__slots__ = ()", "C.v = 5.0"],
    ),
    "new: reflected": (
        "return x, 1 + C(2.0) if hasattr(C, '__radd__') else 0",
        [
            "",
            "C.__radd__ = lambda s, o: 11",
            "C.__radd__ = lambda s, o: 12",
            "del C.__radd__",
        ],
    ),
    "class attribute missing": (
        "return x * getattr(C, 'z', 2.0), hasattr(C, 'z')",
        [
            "",
            "",
            "C.z = 4.0",
            "del C.z",
            "D.z = 1.0",
        ],
    ),
    "class attribute of base": (
        "return x * D.z if hasattr(D, 'z') else x",
        [
            "",
            "",
            "C.z = 4.0",
            "D.z = 5.0",
            "C.z = 6.0",
            "del D.z",
            "D.__bases__ = (Other,)",
        ],
    ),
    "class method with super": (
        "return x * D.c()",
        [
            "",
            "",
            "C.c = classmethod(lambda cls: 30.0)",
            "D.__bases__ = (Other,)",
            "Other.c = staticmethod(lambda: 8.0)",
        ],
    ),
    "static method": (
        "return x * C.s() + D.s()",
        [
            "",
            "",
            "C.s = staticmethod(lambda: 30.0)",
            "D.s = lambda: 8.0",
            "del D.s",
            "C.__dict__['s'].__func__.__code__ = (lambda: 77.0).__code__",
        ],
    ),
    "existing: super": (
        "return x * d.m()",
        [
            "",
            "",
            "C.m = lambda s: 30.0",
            "D.__bases__ = (Other,)",
            "del Other.m",
            "D.m = lambda s: 1.0",
        ],
    ),
    "name of a class": ("return x, C.__name__", ["", "", "C.__name__ = 'X'"]),
    "qualname of a class": (
        "return x, C.__qualname__, C.__module__",
        ["", "", "C.__qualname__ = 'X'", "C.__module__ = 'y'"],
    ),
    "name of type of object": ("return x, type(d).__name__", ["", "", "D.__name__ = 'X'"]),
    "name of a function": ("return x, helper.__name__", ["", "", "helper.__name__ = 'X'"]),
    "qualname of a function": (
        "return x, helper.__qualname__",
        ["", "", "helper.__qualname__ = 'X'"],
    ),
    "doc of a function": ("return x, helper.__doc__", ["", "", "helper.__doc__ = 'X'"]),
    "attribute of a function": (
        "return x, getattr(helper, 'z', 2.0), hasattr(helper, 'z')",
        ["", "", "helper.z = 'X'", "helper.z = 'Y'", "del helper.z"],
    ),
    "defaults of a function": (
        "return x, helper.__defaults__",
        ["", "", "helper.__defaults__ = (1.0,)", "helper.__defaults__ = None"],
    ),
    "defaults grow": (
        "return x * helper(1.0)",
        [
            "",
            "",
            "helper.__defaults__ = (9.0, 1.0, 2.0)",
            "helper.__defaults__ = (7.0, 8.0, 1.0, 2.0)",
            "helper.__defaults__ = (2.0,)",
            "helper.__defaults__ = (1.0, 2.0)",
        ],
    ),
    "defaults shrink": (
        "return x * helper(1.0, 2.0)",
        [
            "",
            "",
            "helper.__defaults__ = (9.0,)",
            "helper.__defaults__ = (7.0, 8.0)",
            "helper.__defaults__ = ()",
            "helper.__defaults__ = (3.0, 4.0, 5.0)",
        ],
    ),
    "isinstance of abc": ("return x, isinstance(d, P)", ["", "", "P.register(C)"]),
    "isinstance of metaclass": (
        "return x, isinstance(d, M)",
        ["", "", "Meta.__instancecheck__ = lambda c, o: True"],
    ),
    "metaclass says no": (
        "return x, isinstance(deny, Deny), isinstance(denied, Deny), issubclass(Denied, Deny)",
        ["", ""],
    ),
    "issubclass": (
        "return x, issubclass(D, C), issubclass(D, Other)",
        ["", "", "D.__bases__ = (Other,)"],
    ),
    "isinstance after bases": (
        "return x, isinstance(d, C), isinstance(d, (Other, int))",
        ["", "", "D.__bases__ = (Other,)", "d.__class__ = C"],
    ),
    "match class": (
        "match q:\n        case Q(v):\n            return x * v\n    return x",
        [
            "",
            "",
            "q.v = 3.0",
            "q.v = 3",
            "Q.__match_args__ = ('w',)",
            "q.w = 8.0",
            "q = d",
        ],
    ),
    "object as key": (
        "return x, table[h]",
        ["", "", "table[h] = 5.0", "Hashed.__eq__ = lambda s, o: False"],
    ),
    "equal object as key": (
        "return x, table.get(Hashed(1), 0.0)",
        ["", "", "table[h] = 5.0", "Hashed.__hash__ = lambda s: 3"],
    ),
    "object in list": (
        "return x, h in [h], Hashed(1) in [h], [h].index(h)",
        ["", "", "h.v = 2", "Hashed.__eq__ = lambda s, o: False"],
    ),
    "instance dict": (
        "return x, vars(d), d.__dict__",
        ["", "", "d.z = 1", "d.__dict__ = {'a': 1}"],
    ),
    "slot of new": (
        "s = S(2.0)\n    s.v = 3.0\n    return x, s.v, type(s) is S",
        ["", "", "S.v = 8.0"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_classes(case):
    body, changes = CASES[case]

    def make():
        module = world(SOURCE.replace("{body}", body), A=A)
        return module.fn, None, steps_of(module, *changes)

    lead(make)
