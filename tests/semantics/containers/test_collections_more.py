"""Deques, namespaces and generators of random numbers in odd places, and what breaks."""

import copy
import operator
import random
from collections import deque
from types import SimpleNamespace

import pytest
from differential import check


def ns_less_(x):
    return SimpleNamespace(a=1) < SimpleNamespace(a=2)


def hash_(x):
    try:
        hash(deque())
    except TypeError as e:
        return str(e)


def key_(x):
    try:
        {deque(): 1}
    except TypeError as e:
        return str(e)


def copy_(x):
    return copy.copy(deque([1, 2], 4))


def deepcopy_(x):
    return copy.deepcopy(deque([[1], 2]))


def reduce_(x):
    return deque([1]).__reduce__()


def missing_(x):
    return deque().nope


def missing_caught_(x):
    try:
        deque().nope
    except AttributeError as e:
        return str(e)


def set_(x):
    d = deque()
    d.attr = 1


def hasattr_(x):
    return hasattr(deque(), "popleft"), hasattr(deque(), "pop_left")


def method_value_(x):
    d = deque([1, 2])
    f = d.append
    f(3)
    return d, list(map(d.count, [1, 9]))


def getitem_neg_(x):
    return deque([1, 2])[-1], deque([1, 2])[True]


def getitem_str_(x):
    return deque([1])["a"]


def len_op_(x):
    return deque([1, 2]).__len__(), deque([1]).__contains__(1), operator.contains(deque([1]), 2)


def iter_obj_(x):
    it = iter(deque([1, 2, 3]))
    next(it)
    return list(it)


def iter_leaves_(x):
    return iter(deque([1, 2]))


def zip_(x):
    return (
        list(zip(deque("ab"), deque([1, 2]))),
        dict(zip(deque("ab"), [1, 2])),
        "".join(deque("ab")),
    )


def sorted_(x):
    return (
        sorted(deque([3, 1, 2])),
        list(deque([3, 1])) + [x],
        tuple(deque([1])),
        set(deque([1])),
        any(deque([0, 1])),
    )


def list_plus_(x):
    return [1] + deque([2])


def plus_list_(x):
    return deque([1]) + [2]


def cmp_list_(x):
    return deque([1]) == [1], deque([1]) != [1]


def lt_list_(x):
    return deque([1]) < [1]


def in_nested_(x):
    return deque([1]) in [deque([1])], [deque([1])].index(deque([1]))


class Sub(deque):
    def push(self, v):
        self.append(v)
        return self

    def append(self, v):
        super().append(v * 2)


def sub_(x):
    s = Sub(maxlen=2)
    s.push(1).push(2).push(3)
    return list(s), s.maxlen, len(s), repr(s)


def sub_leaves_(x):
    return Sub([1]).push(2)


def ns_dict_(x):
    return SimpleNamespace(a=1).__dict__


def ns_nested_(x):
    cfg = SimpleNamespace(model=SimpleNamespace(dim=4, name="m"), lr=0.1)
    cfg.model.dim *= 2
    return cfg.model.dim, cfg


class NS(SimpleNamespace):
    def total(self):
        return self.a + self.b


def ns_sub_(x):
    return NS(a=1, b=x).total(), NS(a=1)


def ns_star_(x):
    opts = {"a": 1}
    return SimpleNamespace(**opts, b=2).b


def global_rng_(x):
    return random.Random(3).random() + x


def rng_default_(x):
    def f(rng=None):
        rng = rng or random.Random(0)
        return rng.random()

    return f(), f(random.Random(1))


def rng_sub_(x):
    class_rng = random.Random
    return class_rng(x).getrandbits(8)


def rng_bits0_(x):
    try:
        return random.Random(1).getrandbits(-1)
    except ValueError as e:
        return str(e)


def rng_bad_(x):
    return random.Random(1).choice([])


def rng_float_(x):
    return random.Random(1.5).random()


def rng_tri_(x):
    r = random.Random(2)
    return (
        r.triangular(0, 1),
        r.betavariate(1, 2),
        r.gammavariate(1, 2),
        r.paretovariate(1),
        r.weibullvariate(1, 2),
        r.vonmisesvariate(0, 1),
        r.lognormvariate(0, 1),
    )


def rng_loop_(x):
    r = random.Random(0)
    hits = 0
    for _ in range(50):
        a, b = r.random(), r.random()
        hits += a * a + b * b < 1
    return hits * x


WHOLE = [
    copy_,
    deepcopy_,
    rng_float_,
    missing_caught_,
    hasattr_,
    method_value_,
    getitem_neg_,
    len_op_,
    iter_obj_,
    zip_,
    sorted_,
    cmp_list_,
    in_nested_,
    sub_,
    sub_leaves_,
    ns_nested_,
    ns_sub_,
    ns_star_,
    global_rng_,
    rng_default_,
    rng_sub_,
    rng_bits0_,
    rng_tri_,
    rng_loop_,
]


@pytest.mark.parametrize("fn", WHOLE)
def test_captured_whole(fn):
    check(fn, 3)


BROKEN = [
    (ns_less_, "unknown-callable"),
    (hash_, "missing-slot"),
    (key_, "missing-slot"),
    (reduce_, "reconstruct"),
    (missing_, "raises"),
    (set_, "raises"),
    (getitem_str_, "raises"),
    (iter_leaves_, "reconstruct"),
    (list_plus_, "raises"),
    (plus_list_, "raises"),
    (lt_list_, "raises"),
    (ns_dict_, "attribute"),
    (rng_bad_, "raises"),
]


@pytest.mark.parametrize("fn, breaks", BROKEN)
def test_breaks(fn, breaks):
    check(fn, 3, breaks=breaks)
