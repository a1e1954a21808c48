"""Functions that functools makes: caches, dispatch, wrappers, partials."""

import functools
import operator
import sys

import dyntrace
import pytest
from differential import check


def helper(x, y=2, *, z=3) -> int:
    "the doc"
    return x + y + z


class C:
    "cdoc"

    def m(self, x):
        "m doc"
        return x


class D(C):
    pass


@functools.lru_cache(maxsize=None)
def cached(n):
    return n + 1


@functools.singledispatch
def sd(x):
    return "obj"


@sd.register(int)
def _(x):
    return "int"


@sd.register
def _(x: list):
    return "list"


@functools.total_ordering
class V:
    def __init__(self, v):
        self.v = v

    def __lt__(self, o):
        return self.v < o.v

    def __eq__(self, o):
        return self.v == o.v


class P:
    def __init__(self):
        self.log = []

    def act(self, a, b):
        self.log.append((a, b))
        return a + b

    add1 = functools.partialmethod(act, 1)

    @functools.cached_property
    def cp(self):
        self.log.append("cp")
        return 5

    @functools.singledispatchmethod
    def sdm(self, x):
        return "o"

    @sdm.register
    def _(self, x: int):
        return "i"


def memo_(x):
    @functools.lru_cache(maxsize=None)
    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    return fib(20), fib.cache_info().hits, fib.cache_info()


def memo_leaves_(x):
    @functools.lru_cache
    def f(n):
        return n

    return f


def cache_(x):
    @functools.cache
    def f(a, *, k=1):
        return a + k

    return f(1), f(1.0), f(1, k=1), f(a=1), f("1" * 0 or 1), f.cache_info()


def lru2_(x):
    calls = []

    @functools.lru_cache(maxsize=2)
    def f(a):
        calls.append(a)
        return a

    for v in (1, 2, 1, 3, 2, 1, 3):
        f(v)
    f.cache_clear()
    f(1)
    return calls, f.cache_info(), f.__name__, f.cache_parameters()


def lru_typed_(x):
    @functools.lru_cache(typed=True)
    def f(a):
        return type(a).__name__

    return f(1), f(1.0), f(True), f.cache_info()


def lru_unhash_(x):
    @functools.lru_cache()
    def f(a):
        return 1

    try:
        f([])
    except TypeError as e:
        return str(e), f.cache_info()


def lru_zero_(x):
    @functools.lru_cache(maxsize=0)
    def f(a):
        return a

    return f(1), f(1), f.cache_info()


def lru_exc_(x):
    @functools.lru_cache()
    def f(a):
        raise ValueError(a)

    out = []
    for i in range(2):
        try:
            f(1)
        except ValueError as e:
            out.append(str(e))
    return out, f.cache_info()


def existing_cached_(x):
    return cached(x), cached(x)


def sd_(x):
    return sd(1), sd([1]), sd("a"), sd(True)


def sdm_(x):
    return P().sdm(1), P().sdm("a")


def sd_made_(x):
    @functools.singledispatch
    def f(a):
        return "o"

    @f.register(int)
    def _(a):
        return "i"

    return f(1), f("x")


def total_(x):
    return V(1) <= V(2), V(1) > V(2), V(3) >= V(3), sorted([V(3), V(1)])[0].v


def pm_(x):
    p = P()
    return p.add1(x), p.log


def cp_(x):
    p = P()
    return p.cp, p.cp, p.log


def reduce_arity_(x):
    try:
        functools.reduce(1)
    except TypeError as e:
        a = str(e)
    try:
        functools.reduce(1, 2, 3, 4)
    except TypeError as e:
        b = str(e)
    try:
        functools.reduce(f=1)
    except TypeError as e:
        c = str(e)
    return a, b, c


def wraps_class_(x):
    @functools.wraps(C)
    def w():
        pass

    return w.__name__, w.__doc__


def repr_cls_(x):
    return (
        f"{type(C()).__name__}({x})",
        D.__mro__ == (D, C, object),
        D.__base__.__name__,
        D.__bases__,
    )


def cmp_key_(x):
    return sorted([3, 1, 2], key=functools.cmp_to_key(lambda a, b: b - a))


def reduce_(x):
    return functools.reduce(operator.mul, range(1, 6)), functools.reduce(
        lambda a, b: a + [b], (1, 2), []
    )


def reduce_err_(x):
    return functools.reduce(lambda a, b: a, [])


def partial_attr_(x):
    p = functools.partial(helper, 1)
    return hasattr(p, "__name__"), p.func.__name__, p.keywords


def partial_eq_(x):
    p = functools.partial(helper, y=1)
    return p(2, z=1), p(2, y=5, z=1)


def builtin_wraps_(x):
    @functools.wraps(len)
    def w(a):
        return len(a)

    return w.__name__, w.__doc__ == len.__doc__, w([1])


WHOLE = [
    memo_,
    existing_cached_,
    cache_,
    lru2_,
    lru_typed_,
    lru_unhash_,
    lru_zero_,
    lru_exc_,
    sd_,
    total_,
    pm_,
    cp_,
    reduce_arity_,
    repr_cls_,
    cmp_key_,
    reduce_,
    partial_attr_,
    partial_eq_,
    builtin_wraps_,
]


@pytest.mark.parametrize("fn", WHOLE)
def test_captured_whole(fn):
    check(fn, 3)


BROKEN = [
    (memo_leaves_, "reconstruct"),
    (sd_made_, "unknown-callable"),
    (reduce_err_, "raises"),
]


@pytest.mark.parametrize("fn, breaks", BROKEN)
def test_breaks(fn, breaks):
    check(fn, 3, breaks=breaks)


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="3.13 keeps a cache with weak keys")
def test_methods_that_dispatch():
    check(sdm_, 3)


def test_a_wrapper_of_a_class_is_as_plainly():
    compiled = dyntrace.compile(wraps_class_)
    assert [compiled(3) for _ in range(3)] == [wraps_class_(3)] * 3
