"""copy.copy and copy.deepcopy of objects and arrays that existed before, and __copy__, __deepcopy__"""

import copy

import numpy as np
import pytest
from differential import Compiled, check

A = np.linspace(0.5, 2.0, 4)


class Node:
    kind = "node"

    def __init__(self, value, kids=()):
        self.value = value
        self.kids = list(kids)
        self.up = None

    def clone(self):
        return copy.deepcopy(self)


class Config:
    def __init__(self):
        self.rate = 0.5
        self.layers = [1, (2, [3])]
        self.names = {"a": {"b"}}


class Shallow:
    def __init__(self, value):
        self.value = value

    def __copy__(self):
        made = Shallow(self.value)
        made.copied = True
        return made


class Deep:
    def __init__(self, part):
        self.part = part

    def __deepcopy__(self, memo):
        return Deep(copy.deepcopy(self.part, memo))


class Same:
    def __deepcopy__(self, memo):
        return self


class Slotted:
    __slots__ = ("a",)

    def __init__(self, a):
        self.a = a


class Reduced:
    def __init__(self, a):
        self.a = a

    def __reduce__(self):
        return Reduced, (self.a,)


class Model:
    def __init__(self):
        self.weights = np.arange(4.0)
        self.bias = np.ones(4)
        self.history = []

    def step(self, x):
        before = copy.deepcopy(self)
        self.weights = self.weights * 0.5
        self.history.append(before.weights)
        return x * before.weights + self.weights


def shallow_copy(x, n):
    m = copy.copy(n)
    m.value = 3.0
    return x * m.value, m.kids is n.kids, n.value, type(m) is Node


def deep_copy(x, n):
    m = copy.deepcopy(n)
    m.kids[0].value = 9.0
    m.kids.append(4)
    return x * m.kids[0].value, m, n.kids[0].value, len(n.kids)


def deep_copy_by_a_method(x, n):
    m = n.clone()
    m.value += 1.0
    return x * m.value, n.value


def deep_copy_of_a_ring(x, n):
    n.up = n
    m = copy.deepcopy(n)
    return x + 1.0, m.up is m, m is not n


def deep_copy_of_shared_parts(x, n):
    pair = [n, n]
    made = copy.deepcopy(pair)
    return x + 1.0, made[0] is made[1], made[0] is not n


def copy_of_a_copy(x, n):
    return x + 1.0, copy.copy(copy.copy(n)).value


def copy_after_a_change(x, n):
    n.value = 7.0
    n.extra = "e"
    m = copy.copy(n)
    return x * m.value, m.extra, vars(m)


def copy_after_a_deletion(x, n):
    del n.up
    m = copy.copy(n)
    return x + 1.0, hasattr(m, "up")


def copy_of_settings(x, c):
    d = copy.deepcopy(c)
    d.layers[1][1].append(4)
    d.names["a"].add("c")
    return x * d.rate, d, c


def copies_in_a_loop(x, n):
    made = [copy.copy(n) for _ in range(3)]
    for i, m in enumerate(made):
        m.value = x * i
    return [m.value for m in made], n.value


def by_its_own_copy(x, s):
    t = copy.copy(s)
    return x + 1.0, t.value, t.copied, hasattr(s, "copied")


def by_its_own_deepcopy(x, d):
    e = copy.deepcopy([d, d.part])
    return x + 1.0, e[0].part is not d.part, e[0].part, e[0].part is e[1]


def the_same(x, s):
    return x + 1.0, copy.deepcopy(s) is s, copy.deepcopy([s, s])[0] is s


def arrays(x, parts):
    made = copy.deepcopy(parts)
    made[0] += 1.0
    return made, copy.copy(x), x + 1.0


CASES = [
    (shallow_copy, lambda: Node(1.0, [2])),
    (deep_copy, lambda: Node(1.0, [Node(2.0)])),
    (deep_copy_by_a_method, lambda: Node(1.0, [Node(2.0)])),
    (deep_copy_of_a_ring, lambda: Node(1.0)),
    (deep_copy_of_shared_parts, lambda: Node(1.0)),
    (copy_of_a_copy, lambda: Node(1.0)),
    (copy_after_a_change, lambda: Node(1.0)),
    (copy_after_a_deletion, lambda: Node(1.0)),
    (copy_of_settings, Config),
    (copies_in_a_loop, lambda: Node(1.0)),
    (by_its_own_copy, lambda: Shallow(3)),
    (by_its_own_deepcopy, lambda: Deep([1, [2]])),
    (the_same, Same),
]


@pytest.mark.parametrize(
    "fn, make", CASES, ids=[f"{fn.__name__}-{i}" for i, (fn, _) in enumerate(CASES)]
)
def test_captured_whole(fn, make):
    check(fn, make=lambda: ((A.copy(), make()), {}))


@pytest.mark.parametrize("make", [lambda: Slotted(1), lambda: Reduced(2)])
def test_copies_by_what_pickling_says(make):
    def fn(x, s):
        return x + 1.0, copy.copy(s).a, copy.deepcopy(s).a

    check(fn, make=lambda: ((A, make()), {}))


def test_copies_of_arrays():
    check(arrays, A, [np.arange(3.0), np.ones((2, 3))])
    check(arrays, A, [np.arange(3.0), np.ones((2, 3)).T], breaks="array-op")


def test_a_memo_of_the_programs_own():
    def fn(x, n):
        memo = {}
        m = copy.deepcopy(n, memo)
        return x + 1.0, len(memo) > 0, m.value

    check(fn, make=lambda: ((A, Node(1.0)), {}), breaks="unknown-callable")


def test_attributes_come_and_go_between_calls():
    def fn(x, n):
        return x + 1.0, vars(copy.copy(n))

    compiled = Compiled(fn)
    n = Node(1.0)
    for step in range(6):
        if step == 2:
            n.more = 1
        if step == 3:
            del n.up
        if step == 4:
            n.value = "text"
        if step == 5:
            n.kids = None
        assert compiled(A, n)[1] == fn(A, n)[1]


def test_a_model_that_keeps_its_history():
    plain, other = Model(), Model()
    compiled = Compiled(Model.step)
    for _ in range(4):
        assert np.array_equal(plain.step(A), compiled(other, A))
    assert all(np.array_equal(a, b) for a, b in zip(plain.history, other.history))
    assert len(other.history) == 4
