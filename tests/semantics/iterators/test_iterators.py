"""Builtin iterators made in traced code, where they stand, and what iterates like them."""

import dyntrace
import numpy as np
import pytest
from differential import Compiled, check

A = np.linspace(0.5, 2.0, 4)


def next_of_list(x):
    it = iter([1, 2, 3])
    return next(it), next(it), next(it, None), next(it, "end"), x + 1


def list_iterator_sees_changes(x):
    items = [1, 2]
    it = iter(items)
    next(it)
    items.append(3)
    items[1] = 9
    return list(it), x + 1


def exhausted_list_iterator_stays_so(x):
    items = [1]
    it = iter(items)
    list(it)
    items.append(2)
    return list(it), x + 1


def list_shrinks(x):
    items = [1, 2, 3, 4]
    out = []
    for i in items:
        out.append(i)
        if i == 1:
            items.remove(2)
    return out, x + 1


def list_grows_in_loop(x):
    items = [1]
    for i in items:
        if i < 4:
            items.append(i + 1)
    return items, x + 1


def iter_of_iter(x):
    it = iter((1, 2))
    return iter(it) is it, it.__iter__() is it, it.__next__(), list(it), x + 1


def string_iterator(x):
    it = iter("abc")
    first = next(it)
    return first, list(it), [c for c in "xyz"], x + 1


def bytes_iterator(x):
    it = iter(b"abc")
    return next(it), list(it), sum(b"\x01\x02"), x + 1


def types_of_iterators(x):
    return (
        type(iter([])).__name__,
        type(iter(())).__name__,
        type(iter("")).__name__,
        type(iter("é")).__name__,
        type(iter(b"")).__name__,
        type(iter(range(1))).__name__,
        type(iter({})).__name__,
        type(iter({}.values())).__name__,
        type(iter({}.items())).__name__,
        type(reversed([])).__name__,
        type(reversed(())).__name__,
        type(enumerate([])).__name__,
        type(zip()).__name__,
        type(map(abs, [])).__name__,
        type(filter(None, [])).__name__,
        x + 1,
    )


def iterator_classes(x):
    return (
        isinstance(zip([1]), zip),
        isinstance(map(abs, []), filter),
        type(enumerate([1])) is enumerate,
        x + 1,
    )


def range_iterator(x):
    it = iter(range(10, 0, -3))
    return next(it), list(it), list(reversed(range(5))), x + 1


def reversed_things(x):
    return (
        list(reversed([1, 2, 3])),
        list(reversed((1, 2))),
        list(reversed("abc")),
        list(reversed(range(0, 7, 2))),
        x + 1,
    )


def reversed_list_sees_changes(x):
    items = [1, 2, 3]
    it = reversed(items)
    first = next(it)
    items[0] = 7
    return first, list(it), x + 1


def dict_iterators(x):
    d = {"a": 1, "b": 2, "c": 3}
    keys, values, items = iter(d), iter(d.values()), iter(d.items())
    next(keys)
    return list(keys), next(values), next(items), list(items), x + 1


def dict_value_changes_in_loop(x):
    d = {"a": 1, "b": 2}
    for k in d:
        d[k] = d[k] * 10
    return d, x + 1


def enumerate_start(x):
    e = enumerate("abc", 5)
    return next(e), list(e), list(enumerate([x], start=-1))


def zip_keeps_asking(x):
    a, b = iter([1, 2, 3, 4]), iter([10])
    z = zip(a, b)
    pairs = list(z)
    again = list(z)
    return pairs, again, list(a), x + 1


def zip_of_one_iterator(x):
    it = iter(range(6))
    return list(zip(it, it, it)), x + 1


def zip_strict(x):
    return list(zip([1, 2], "ab", strict=True)), list(zip(strict=True)), list(zip()), x + 1


def map_several(x):
    return list(map(lambda a, b, c: a + b * c, [1, 2], (3, 4), range(5, 9))), x + 1


def map_of_arrays(x):
    return sum(map(lambda a, b: a * b, [x, x + 1.0], [2.0, 3.0]))


def map_is_lazy(x):
    seen = []
    m = map(seen.append, range(5))
    next(m)
    next(m)
    return seen, x + 1


def map_goes_on_after_the_shorter(x):
    a, b = iter([1, 2, 3]), iter([1])
    m = map(lambda p, q: p + q, a, b)
    return list(m), list(m), list(a), x + 1


def filter_none(x):
    return list(filter(None, [0, 1, "", "a", [], [0]])), x + 1


def filter_function(x):
    f = filter(lambda v: v > 2, [1, 5, 2, 7])
    return next(f), list(f), x + 1


def filter_method(x):
    return list(filter(str.isupper, ["A", "b", "C"])), x + 1


def callable_iterator(x):
    values = [3, 1, 0, 5]
    return list(iter(lambda: values.pop(0), 0)), values, x + 1


def callable_iterator_by_hand(x):
    state = [0]

    def tick():
        state[0] += 1
        return state[0]

    it = iter(tick, 4)
    first = next(it)
    return first, list(it), list(it), next(it, "end"), state, x + 1


def callable_iterator_of_method(x):
    stack = [1, 2, None, 3]
    out = []
    for v in iter(stack.pop, None):
        out.append(v)
    return out, stack, x + 1


class Countdown:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        if self.n <= 0:
            raise StopIteration
        self.n -= 1
        return self.n


class Squares:
    """The sequence protocol."""

    def __init__(self, n):
        self.n = n

    def __getitem__(self, i):
        if i >= self.n:
            raise IndexError(i)
        return i * i


class Table:
    def __init__(self, rows):
        self.rows = rows

    def __iter__(self):
        return iter(self.rows)


class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def __iter__(self):
        yield self.a
        yield self.b


def user_iterable_over_list(x):
    return [r for r in Table([1, 2, 3])], sum(Table((1.0, 2.0))), x + 1


def user_iterable_generator(x):
    a, b = Pair(x, x * 2.0)
    return a + b, list(Pair(1, 2)), dict([Pair("k", "v")])


def user_iterable_in_consumers(x):
    t = Table([3, 1, 2])
    return sorted(t), max(t), min(t), list(zip(t, t)), tuple(enumerate(t)), 2 in t, x + 1


def starred_iterables(x):
    def f(*args):
        return args

    return f(*Pair(1, 2), *"ab", *{7: 8}), [*range(3), *Table((9,))], x + 1


def nested_unpacking(x):
    out = []
    for i, (a, *rest) in enumerate([(1, 2, 3), "xyz"]):
        out.append((i, a, rest))
    return out, x + 1


def unpack_iterator_partly(x):
    it = iter([1, 2, 3, 4])
    a, b = next(it), next(it)
    return a, b, list(it), x + 1


def in_an_iterator(x):
    it = iter([1, 2, 3, 4])
    return 2 in it, list(it), 9 in it, x + 1


def next_in_loop(x):
    it = iter(range(6))
    out = []
    for i in it:
        out.append((i, next(it)))
    return out, x + 1


def loop_else_over_iterator(x):
    for i in iter([1, 2]):
        x = x + i
    else:
        x = x * 2
    return x


def two_loops_over_one_iterator(x):
    it = iter(range(5))
    for i in it:
        if i == 1:
            break
    for j in it:
        x = x + j
    return x, list(it)


def extend_from_iterators(x):
    out = []
    out.extend(zip("ab", [1, 2]))
    out.extend(map(str, [3]))
    out += reversed([8, 9])
    out[1:1] = iter((5, 6))
    return out, x + 1


def slices_of_iterated(x):
    return list(iter([1, 2, 3]))[::-1], tuple(map(len, ["a", "bb"]))[1], x + 1


def dict_of_zip(x):
    return dict(zip(("a", "b"), (x, x * 2.0)))


def join_of_map(x):
    return [v for v in map(repr, [1, "a"])], x + 1


def transposed(x):
    rows = [(1, 2, 3), (4, 5, 6)]
    return list(zip(*rows)), [list(c) for c in zip(*rows)], x + 1


def grouped_by_n(x):
    it = iter("ABCDEF")
    return list(zip(*[it] * 2)), x + 1


def any_leaves_the_rest(x):
    it = iter([0, 0, 3, 4])
    return any(it), list(it), x + 1


def min_of_enumerate(x):
    return min(enumerate([5, 2, 8]), key=lambda p: p[1]), x + 1


def sum_of_products(x):
    return sum(a * b for a, b in zip([x, x], [2.0, 3.0]))


CASES = [
    value
    for value in list(globals().values())
    if getattr(value, "__module__", None) == __name__ and getattr(value, "__code__", None)
]


@pytest.mark.parametrize("fn", CASES, ids=lambda fn: fn.__name__)
def test_captured(fn):
    check(fn, A)


# ---- Iterators that leave the function


def leave_list(x):
    it = iter([1, 2, 3])
    next(it)
    return it, x + 1


def leave_tuple(x):
    it = iter((1, x, 3))
    next(it)
    return it, x + 1


def leave_exhausted(x):
    a, b, c = iter([1]), iter("a"), iter({"k": 1})
    list(a), list(b), list(c)
    return a, b, c, iter(range(0)), x + 1


def leave_strings(x):
    a, b = iter("abc"), iter(b"abc")
    next(a), next(b)
    return a, b, reversed("xyz"), x + 1


def leave_ranges(x):
    a, b, c = iter(range(0, 10, 3)), reversed(range(5)), iter(range(2))
    next(a), next(b), next(b), next(c), next(c), next(c, None)
    return a, b, c, x + 1


def leave_reversed(x):
    a, b = reversed([1, 2, 3]), reversed((1, 2, 3))
    next(a), next(b)
    return a, b, x + 1


def leave_dict_iterators(x):
    d = {"a": 1, "b": 2, "c": 3}
    a, b, c = iter(d), iter(d.values()), iter(d.items())
    next(a), next(b), next(c)
    return a, b, c, d, x + 1


def leave_enumerate(x):
    e = enumerate(["a", "b", "c"], 10)
    next(e)
    return e, enumerate("x"), x + 1


def leave_zip(x):
    z = zip([1, 2, 3], "abc", range(5))
    next(z)
    return z, x + 1


def leave_map(x):
    m = map(abs, [-1, -2, -3])
    next(m)
    return m, map(pow, [2, 3], [3, 2]), x + 1


def leave_filter(x):
    f = filter(None, [0, 1, 0, 2, 3])
    next(f)
    return f, x + 1


def leave_two_with_one_source(x):
    it = iter([1, 2, 3, 4])
    next(it)
    return it, zip(it, it), x + 1


LEAVING = [
    leave_list,
    leave_tuple,
    leave_exhausted,
    leave_strings,
    leave_ranges,
    leave_reversed,
    leave_dict_iterators,
    leave_enumerate,
    leave_zip,
    leave_map,
    leave_filter,
    leave_two_with_one_source,
]


def drained(result):
    return [(type(p), list(p)) if hasattr(p, "__next__") else p for p in result]


@pytest.mark.parametrize("fn", LEAVING, ids=lambda fn: fn.__name__)
def test_an_iterator_that_leaves_the_function_stands_where_it_stood(fn):
    compiled = Compiled(fn)
    with dyntrace.config.patch(everything=True, strict=True):
        for _ in range(3):
            plain, traced = drained(fn(A)), drained(compiled(A.copy()))
            assert [str(p) for p in plain] == [str(t) for t in traced]
    assert not compiled.breaks, compiled.describe()


def test_a_returned_iterator_walks_over_the_returned_list():
    def fn(x):
        items = [1, 2, 3]
        it = iter(items)
        next(it)
        return items, it, x + 1

    compiled = Compiled(fn)
    with dyntrace.config.patch(everything=True, strict=True):
        for _ in range(3):
            items, it, _ = compiled(A)
            items.append(9)
            items[1] = 7
            assert list(it) == [7, 3, 9]
    assert not compiled.breaks


def test_an_argument_list_stays_the_list_that_is_iterated_over():
    def fn(x, items):
        it = iter(items)
        next(it)
        items.append(5)
        return it, x + 1

    compiled = Compiled(fn)
    with dyntrace.config.patch(everything=True, strict=True):
        for _ in range(3):
            items = [1, 2]
            it, _ = compiled(A, items)
            items.append(6)
            assert list(it) == [2, 5, 6]
    assert not compiled.breaks
