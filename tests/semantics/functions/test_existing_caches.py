"""Functions with lru_cache() or cache() that existed before: what is kept is used, counted and ordered"""

import functools
import math
import operator
import urllib.parse
from typing import Callable, Optional, Union

import dyntrace
import numpy as np
import pytest
from differential import FORCED, Compiled, check

A = np.linspace(0.5, 2.0, 4)


@functools.lru_cache(maxsize=None)
def weights(n):
    return [1.0 / (i + 1) for i in range(n)]


@functools.cache
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


@functools.lru_cache(maxsize=4)
def window(n, kind="hann"):
    if kind == "hann":
        return np.array([0.5 - 0.5 * math.cos(2 * math.pi * i / n) for i in range(n)])
    return np.ones(n)


@functools.lru_cache
def settings():
    return {"scale": 2.0, "names": ("a", "b")}


@functools.lru_cache(maxsize=3)
def label(*parts):
    return "-".join(map(str, parts))


@functools.lru_cache(typed=True)
def typed(n):
    return type(n).__name__


@functools.lru_cache(maxsize=0)
def kept_never(n):
    return n + 1


@functools.lru_cache(maxsize=None)
def maker(n):
    return lambda v: v * n


@functools.lru_cache(maxsize=8)
def nothing(n):
    return None


@functools.lru_cache(maxsize=8)
def pair_of(a, b):
    return (a, [b])


@functools.cache
def fails(n):
    raise ValueError(f"no {n}")


class Basis:
    order = 3

    @staticmethod
    @functools.lru_cache(maxsize=None)
    def nodes(n):
        return tuple(math.cos(math.pi * i / n) for i in range(n))

    def __init__(self, n):
        self.n = n

    def at(self, x):
        total = x * 0.0
        for node in Basis.nodes(self.n):
            total = total + (x - node)
        return total


@functools.lru_cache(maxsize=None)
def grid(n, dtype=np.float64, *, scale=1.0):
    return np.arange(n, dtype=dtype) * dtype(scale)


@functools.lru_cache(maxsize=2, typed=True)
def typed_grid(n, kind=float):
    return [kind(i) for i in range(n)]


class Plan:
    def __init__(self, scale):
        self.scale = scale

    @functools.lru_cache(maxsize=None)
    def factors(self, n):
        return [self.scale] * n


def helper(n):
    return n


PLAN = Plan(2.0)
KIND = np.float32
CACHES = [
    grid,
    typed_grid,
    Plan.factors,
    weights,
    fib,
    window,
    settings,
    label,
    typed,
    kept_never,
    maker,
    nothing,
    pair_of,
    Basis.nodes,
]
WHOLE = []


def whole(fn):
    WHOLE.append(fn)
    return fn


@whole
def a_number_of_a_list(x):
    return x * weights(3)[1]


@whole
def a_class_among_the_arguments(x):
    return x * grid(4, np.float32) + grid(4, np.float64)


@whole
def of_a_global_class(x):
    return x * grid(4, KIND)


@whole
def arguments_by_name(x):
    return x * grid(4, dtype=np.float32, scale=2.0) - grid(n=4), window(4, kind="flat")


@whole
def names_in_another_order(x):
    return x * grid(n=4, dtype=np.float64) + grid(dtype=np.float64, n=4)


@whole
def types_that_are_told_apart(x):
    return x + 1.0, typed(1), typed(1.0), typed(True), typed_grid(2, kind=int), typed_grid(2)


@whole
def a_function_among_the_arguments(x):
    return x + len(label(helper, weights))


@whole
def method_of_a_global_object(x):
    return x * PLAN.factors(4)[0]


@whole
def aliases_of_typing(x):
    def scaled(y: Optional[np.ndarray], n: Union[int, float] = 2) -> Callable[[int], float]:
        return y * n

    return scaled(x)


@whole
def parts_of_an_address(x):
    parts = urllib.parse.urlsplit("https://user@host:8080/path?a=1#end")
    return x * parts.port, parts.netloc, urllib.parse.urlparse("http://a.b/c;d?e").params


@whole
def the_list_itself(x):
    return x + 1.0, weights(3)


@whole
def the_same_list_twice(x):
    first, second = weights(2), weights(2)
    return x + sum(first), first is second, first


@whole
def in_a_loop(x):
    for n in range(1, 4):
        x = x * weights(n)[-1]
    return x


@whole
def in_a_comprehension(x):
    return [x * fib(n) for n in range(6)]


@whole
def an_array_that_is_kept(x):
    return x * window(4)


@whole
def with_a_second_argument(x):
    return x * window(4, "flat") + window(4, "hann")


@whole
def without_arguments(x):
    return x * settings()["scale"], settings()["names"]


@whole
def of_text_and_numbers(x):
    return x + 1.0, label("a", 1, 2.5, None, True, b"x")


@whole
def equal_numbers(x):
    return x + 1.0, label(1.0), label(True), label((1, 2.0))


@whole
def a_function_that_is_kept(x):
    return maker(3)(x)


@whole
def none_that_is_kept(x):
    return x + 1.0 if nothing(1) is None else x


@whole
def an_unused_result(x):
    nothing(2)
    return x * 2.0


@whole
def from_a_static_method(x):
    return Basis(4).at(x)


@whole
def in_a_callee(x):
    def scaled(v, n):
        return v * weights(n)[0]

    return scaled(x, 2) + scaled(x, 3)


@whole
def by_an_argument(x, n=3):
    return x * weights(n)[0]


@whole
def by_the_length_of_the_array(x):
    return x * window(len(x))


@whole
def in_map(x):
    return x * sum(map(fib, [1, 2, 3])), list(map(label, "ab"))


@whole
def in_a_key(x):
    return x + 1.0, sorted([5, 3, 4], key=fib), max([1, 2], key=fib)


@whole
def in_reduce(x):
    return x * functools.reduce(operator.add, map(fib, range(5)))


@whole
def a_part_is_changed(x):
    entry = pair_of(1, 2)
    entry[1].append(3)
    del entry[1][0]
    entry[1][:] = [2]
    return x * entry[0], entry


@whole
def in_a_try(x):
    try:
        y = x * fib(7)
    finally:
        y = x
    return y * fib(3)


@whole
def in_a_generator(x):
    def scaled(v):
        for n in range(3):
            yield v * fib(n)

    return list(scaled(x))


@whole
def only_in_one_branch(x, n=2):
    if n > 1:
        x = x * fib(9)
    else:
        x = x * weights(9)[0]
    return x


def counts():
    return [cached.cache_info() for cached in CACHES]


def order():
    """The links of a ring in their order are seen by what is evicted next."""
    return [window.cache_info().currsize, label.cache_info().currsize]


@pytest.mark.parametrize("fn", WHOLE)
def test_captured_whole(fn):
    check(fn, A)


@pytest.mark.parametrize("fn", WHOLE)
def test_hits_are_counted(fn):
    fn(A)
    compiled = Compiled(fn)
    for _ in range(4):
        before = counts()
        fn(A)
        plain = [after.hits - info.hits for after, info in zip(counts(), before)]
        before = counts()
        compiled(A)
        assert [after.hits - info.hits for after, info in zip(counts(), before)] == plain
        assert [after.misses - info.misses for after, info in zip(counts(), before)] == [0] * len(
            before
        )
    assert not compiled.breaks


def test_a_hit_is_the_latest_use():
    @functools.lru_cache(maxsize=2)
    def kept(n):
        return n * 2.0

    def fn(x):
        return x * kept(1)

    for run in (fn, Compiled(fn)):
        for _ in range(3):
            kept.cache_clear()
            kept(1), kept(2)
            run(A)  # 2 is the oldest now
            kept(3)
            misses = kept.cache_info().misses
            kept(1)
            assert kept.cache_info().misses == misses
            kept(2)
            assert kept.cache_info().misses == misses + 1


def test_the_first_call_misses_and_the_next_is_whole():
    calls = []

    @functools.lru_cache(maxsize=None)
    def table(n):
        calls.append(n)
        return float(n)

    def fn(x):
        return x * table(3) + table(4)

    compiled = Compiled(fn)
    for _ in range(4):
        assert (compiled(A) == A * 3.0 + 4.0).all()
    assert calls == [3, 4]
    assert compiled.breaks == ["cache-miss"] and compiled.published == 1
    assert table.cache_info().hits == 6


@pytest.mark.skipif(bool(FORCED), reason="it is about what is captured")
def test_fullgraph_waits_for_the_first_call():
    @functools.lru_cache(maxsize=None)
    def table(n):
        return float(n)

    @dyntrace.compile(fullgraph=True)
    def fn(x):
        return x * table(3)

    for _ in range(3):
        assert (fn(A) == A * 3.0).all()


def test_a_call_that_never_hits_breaks():
    def fn(x, n):
        return x * kept_never(n)

    check(fn, A, 3, breaks="unknown-callable")


def test_an_argument_that_is_another_object_in_each_call():
    class Maker:
        @functools.lru_cache(maxsize=None)
        def scale(self, n):
            return n * 2.0

    def fn(x, maker):
        return x * maker.scale(3)

    check(fn, A, Maker(), breaks="unknown-callable", entries=None)


def test_objects_compared_by_python():
    class Same:
        def __init__(self, n):
            self.n = n

        def __eq__(self, other):
            return self.n == other.n

        def __hash__(self):
            return hash(self.n)

    one = Same(1)

    def fn(x):
        return x * (label(one) is label(one))

    check(fn, A, breaks="unknown-callable", entries=None)


def test_another_class_under_the_same_name(monkeypatch):
    monkeypatch.setitem(globals(), "KIND", np.float32)
    compiled = Compiled(of_a_global_class)
    for kind in (np.float32, np.float64, np.float32, int, float):
        monkeypatch.setitem(globals(), "KIND", kind)
        expected = of_a_global_class(A)
        np.testing.assert_array_equal(compiled(A), expected)


def test_another_object_under_the_same_name(monkeypatch):
    compiled = Compiled(method_of_a_global_object)
    for plan in (PLAN, Plan(3.0), PLAN, Plan(2.0)):
        monkeypatch.setitem(globals(), "PLAN", plan)
        for _ in range(2):
            np.testing.assert_array_equal(compiled(A), method_of_a_global_object(A))


def test_a_function_that_raises_is_kept_by_nobody():
    def fn(x):
        try:
            return x * fails(3)
        except ValueError as error:
            return x + 1.0, str(error)

    check(fn, A, breaks="cache-miss")


def test_an_argument_that_has_no_hash():
    def fn(x):
        try:
            return x * fib([1])
        except TypeError as error:
            return x + 1.0, str(error)

    check(fn, A, breaks="unknown-callable")


def test_nan_is_found_by_identity():
    nan = float("nan")

    def fn(x, n):
        return x + 1.0, label(n)

    check(fn, A, nan, breaks="unknown-callable")
