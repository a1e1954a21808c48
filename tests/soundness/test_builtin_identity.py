"""Builtins: which object they return when there is nothing to do, and what they refuse."""

import numpy as np
import pytest
from differential import Compiled, Outcome, compare

ARGUMENTS = [((10**20, 2.5), 1e50, 3)] * 2 + [((4,), 0.5, 0), ((), -0.0, True), ((1, 2), 2, 2.0)]

SAME = [
    "t[:]",
    "t[0:]",
    "t[::1]",
    "t[-9:9]",
    "t + ()",
    "() + t",
    "t * 1",
    "1 * t",
    "sum([t], ())",
    "tuple(t)",
    "(3, 'a')[:]",
    "t[1:]",
    "t + (1,)",
    "t * 2",
    "t * n",
    "t is ()",
    "t[:0] is ()",
    "() is not t",
    "t[2:]",
    "float(f)",
    "+f",
]
REFUSED = [
    "sum(['a'], '')",
    "sum([], start='')",
    "sum([b'a'], b'')",
    "sum([], bytearray())",
    "sum([t], ())",
    "max(n, 2, default=3)",
    "min(1, f, default=n)",
    "max([], default=n)",
    "max([n], default=f)",
    "sorted([3, 1, 2], reverse=n)",
    "sorted([3, 1, 2], reverse=2**70)",
    "sorted([3, 1, 2], reverse=None)",
    "[3, 1, 2].sort(reverse=f)",
    "[2, 1].sort(wrong=1)",
    "[2, 1].sort(None)",
]


def program(expression, namespace):
    exec(f"def fn(t, f, n):\n    r = {expression}\n    return r, r is t, r is f\n", namespace)
    return namespace["fn"]


@pytest.mark.parametrize("expression", SAME + REFUSED)
def test_expression(expression):
    fn = program(expression, {"np": np})
    compiled = Compiled(fn)
    for arguments in ARGUMENTS:
        compare(Outcome(fn, arguments, {}), Outcome(compiled, arguments, {}))
    assert not compiled.faults, compiled.describe()


def test_a_constant_keeps_its_identity():
    def fn():
        return (3, "a")[:]

    compiled = Compiled(fn)
    assert compiled() is compiled() is fn()


def test_equal_strings_are_not_one():
    """Guarded by value: whether two inputs are one object is asked at each call."""
    def same(x, a, b):
        return x + (a is b), a is not b

    one, other = "".join(["some ", "text"]), "".join(["some ", "text"])
    compiled = Compiled(same)
    x = np.ones(3)
    for a, b in [(one, one), (one, other), (other, other), (one, "some text"), (one, one)]:
        for _ in range(2):
            expected, found = same(x, a, b), compiled(x, a, b)
            assert found[1] is expected[1]
            assert found[0].tobytes() == expected[0].tobytes()
