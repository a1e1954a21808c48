"""Classes that traced code writes to are changed by others between the calls."""

import numpy as np
import pytest
from test_changed_state import steps_of, world
from twins import lead

A = np.linspace(0.5, 2.0, 4)

SOURCE = """
log = []
class Noisy:
    def __init__(self, name):
        self.name = name
    def __del__(self):
        log.append((self.name, vars(C).get('n')))  # C.n might come from CPython's cache of look-ups
class Meta(type):
    pass
class C(metaclass=Meta):
    n = 0
    k = 2.0
    def m(self):
        return self.n
class D(C):
    pass
d = D()
def fn(x):
    {body}
"""

CASES = {
    "counter": (
        "C.n += 1\n    return x + C.n",
        ["", "", "C.n = 10", "C.n = 2.5", "C.n = 2**70", "del C.n; C.n = 1", ""],
    ),
    "read below": (
        "C.n = 5\n    return x + D.n, d.n, d.m()",
        [
            "",
            "",
            "D.n = 7",
            "del D.n",
            "d.n = 9",
            "del d.n",
            "D.m = lambda s: 1",
            "del D.m",
            "D.n = property(lambda s: 3)",
        ],
    ),
    "write below": (
        "D.n = 5\n    return x + C.n, d.n",
        ["", "", "C.n = 7", "del C.n", "C.n = 8", "C.n = property(lambda s: 3)"],
    ),
    "delete": (
        "D.n = 1\n    del D.n\n    return x + D.n",
        ["", "", "C.n = 4", "C.n = 5"],
    ),
    "delete what is there": (
        "if 'k' in names:\n        del C.k\n    return x, hasattr(C, 'k'), hasattr(D, 'k')",
        ["names = ['k']", "C.k = 3.0", "D.k = 4.0; C.k = 1", "del D.k; C.k = 2", "names = []"],
    ),
    "metaclass gets a setter": (
        "C.n = 5\n    return x + C.n",
        [
            "",
            "",
            "Meta.__setattr__ = lambda c, n, v: type.__setattr__(c, n, v + 1)",
            "del Meta.__setattr__",
            "Meta.n = property(lambda c: 3, lambda c, v: None)",
        ],
    ),
    "a method": (
        "def m(self):\n        return x\n    C.m = m\n    return d.m() + 1",
        ["", "", "D.m = lambda s: np.ones(4)", "del D.m", "d.m = lambda: np.zeros(4)"],
    ),
    "what lay there acts when it goes": (
        "C.n = 1\n    y = x + 1\n    C.k = 5\n    return y, len(log)",
        ["", "", "C.n = Noisy('a')", "C.k = Noisy('b')", "", "D.n = Noisy('c')"],
    ),
    "what was not there acts when it goes": (
        "C.z = 1\n    return x + 1, len(log)",
        ["", "", "C.z = Noisy('a')", "del C.z", "C.z = Noisy('b')", ""],
    ),
    "the old value lives on": (
        "old = C.n\n    C.n = 1\n    return x, getattr(old, 'name', old), len(log)",
        ["", "", "C.n = Noisy('a')", "C.n = Noisy('b')"],
    ),
    "a list": (
        "C.n = []\n    C.n.append(1)\n    return x, D.n is C.n",
        ["", "", "D.n = []", "del D.n"],
    ),
    "another class": (
        "C.n = 1\n    return x + C.n, d.n",
        ["", "", "d.__class__ = C", "old = C; C = Meta('C', (), {'n': 3})"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_classes_that_are_written(name):
    body, changes = CASES[name]

    def make():
        module = world(SOURCE.format(body=body), names=[])

        def state():
            classes = (module.C, module.D)
            return [
                [(k, v) for k, v in vars(c).items() if isinstance(v, (int, float, list))]
                for c in classes
            ], list(module.log)

        return module.fn, state, steps_of(module, *changes)

    lead(make)
