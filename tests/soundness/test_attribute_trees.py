"""Attributes of nested objects that are checked together, and everything that can happen to them."""

import numpy as np
import pytest
from test_changed_state import steps_of, world
from twins import lead

A = np.linspace(0.5, 2.0, 4)

SOURCE = """
class Leaf:
    def __init__(self, w=2.0, b=1.0, kind="plain"):
        self.w = w
        self.b = b
        self.kind = kind
        self.raw = bytearray(b"ab")
class Other:
    w = 7.0
    b = 3.0
    kind = "other"
    raw = b"other"
class Wide(Leaf):
    pass
class Node:
    def __init__(self):
        self.k = 1.5
        self.one = Leaf()
        self.unread = 0
        self.two = Leaf(3.0, 2.0, "scaled")
        self.n = 3
        self.none = None
o = Node()
spare = Node()
spare.one.w = 9.0
def leaf(v, x):
    y = x * v.w + v.b
    return y + len(v.raw) if v.kind == "plain" else y - len(v.raw)
def fn(x):
    y = leaf(o.one, x) * o.k + leaf(o.two, x)
    return y + o.n if o.none is None else y
"""

CHANGES = {
    "numbers": ["o.one.w = 5.0", "o.two.b = 4.0", "o.one.w = 2.0", "o.k = 2", "o.n = 3.0", "o.n = 3"],
    "an equal number": ["o.k = float('1.5')", "o.one.w = float('2.0')", "o.one.w = float('2.5')"],
    "what nobody reads": ["o.unread = 1", "o.more = 2", "del o.unread", "o.one.more = 3"],
    "another leaf": ["o.one = Leaf(2.0)", "o.one = Leaf(4.0)", "o.two = o.one", "o.one, o.two = o.two, Leaf()"],
    "a leaf of another class": ["o.one = Wide()", "o.one = Other()", "o.one = spare.one", "o.one = None"],
    "the class of a leaf": ["o.one.__class__ = Wide", "o.one.__class__ = Other", "o.one.__class__ = Leaf"],
    "the class of the root": ["o.__class__ = type('Sub', (Node,), {})", "o.__class__ = Node"],
    "a class attribute": ["Leaf.w = 1.0", "Leaf.w = property(lambda self: 6.0)", "del Leaf.w"],
    "deleted": ["del o.one.w", "o.one.w = 2.0", "del o.none", "o.none = None", "del o.one", "o.one = Leaf()"],
    "None no more": ["o.none = 1", "o.none = None", "o.none = ()"],
    "dicts swapped": [
        "o.__dict__, spare.__dict__ = spare.__dict__, o.__dict__",
        "o.one.__dict__, o.two.__dict__ = o.two.__dict__, o.one.__dict__",
        "o.__dict__ = spare.__dict__",
        "o.one.__dict__ = dict(w=1.0, b=2.0, kind='k', raw=b'')",
        "o.__dict__ = dict(o.__dict__)",
        "o.__dict__ = type('D', (dict,), {})(o.__dict__)",
    ],
    "dicts written": [
        "vars(o)['k'] = 4.0",
        "vars(o.one)['w'] = 4.0",
        "vars(o.one).update(w=5.0, b=5.0)",
        "vars(o.one).clear()",
        "vars(o.one).update(w=5.0, b=5.0, kind='plain', raw=bytearray(9))",
        "vars(o).pop('n')",
        "vars(o).setdefault('n', 4)",
    ],
    "bytes that change in place": ["o.one.raw.append(1)", "o.one.raw.clear()", "o.two.raw = o.one.raw"],
    "the other root": ["o, spare = spare, o", "o, spare = spare, o", "o = spare", "o = Node()"],
    "the order of attributes": [
        "b = o.one.b; del o.one.b; o.one.b = b",
        "w = o.one.w; del o.one.w; o.one.w = w + 1",
        "o.one = Leaf.__new__(Leaf); o.one.raw = b''; o.one.kind = 'x'; o.one.b = 1.0; o.one.w = 2.0",
    ],
}  # fmt: skip
LAYOUTS = {
    "inline": "",
    "with dicts": "for v in (o, o.one, o.two, spare, spare.one, spare.two): vars(v)",
    "the root has a dict": "vars(o)",
    "in another order": "Leaf.__init__ = lambda self, w=2.0, b=1.0, kind='plain': "
    "vars(self).update(raw=bytearray(b'ab'), kind=kind, b=b, w=w)\no = Node()",
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("case", CHANGES)
def test_changed_between_calls(case, layout):
    def make():
        module = world(SOURCE, A=A)
        exec(LAYOUTS[layout], vars(module))
        steps = [each for change in CHANGES[case] for each in (change, "")]
        return module.fn, None, steps_of(module, "", "", *steps, *CHANGES[case])

    lead(make)


def test_arguments_in_turn():
    def make():
        module = world(SOURCE + "def fn():\n    v = now\n    return leaf(v, A) + v.b\n", A=A)
        leaves = [module.Leaf(), module.Leaf(3.0), module.Wide(), module.Other(), module.Leaf()]
        vars(leaves[1]), vars(leaves[2])

        def step(i):
            if i == 9:
                leaves[0].w = 4.0
            if i == 13:
                vars(leaves[4])["b"] = 6.0
            module.now = leaves[i % 5]
            return ()

        return module.fn, None, [lambda i=i: step(i) for i in range(25)]

    lead(make)
