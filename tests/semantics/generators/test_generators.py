"""Generators made in traced code: iteration, delegation, consumers, laziness."""

import dyntrace
import numpy as np
import pytest
from differential import Compiled, assert_same, check

A = np.linspace(0.5, 2.0, 4)


def count_up(n):
    i = 0
    while i < n:
        yield i
        i += 1


def forever(start=0):
    while True:
        yield start
        start += 1


def scaled(items, factor):
    for item in items:
        yield item * factor


def for_over_generator(x):
    for i in count_up(3):
        x = x + i
    return x


def for_over_generator_expression(x):
    for y in (i * 2 for i in range(4)):
        x = x * (y + 1)
    return x


def generator_of_arrays(x):
    total = 0.0
    for y in scaled([x, x + 1.0, x + 2.0], 0.5):
        total = total + y
    return total


def sum_of_genexpr(x):
    return x + sum(i * i for i in range(5))


def sum_of_arrays(x):
    return sum(x * i for i in range(3))


def sum_with_start(x):
    return sum((x + i for i in range(3)), x)


def any_and_all(x):
    if any(i > 2 for i in range(5)) and all(i < 5 for i in range(5)):
        return x + 1.0
    return x


def any_stops_early(x):
    seen = []
    found = any(seen.append(i) or i == 2 for i in range(10))
    return x, found, seen


def all_stops_early(x):
    seen = []
    found = all(seen.append(i) or i < 2 for i in range(10))
    return x, found, seen


def list_of_generator(x):
    return list(count_up(4)), x + 1


def tuple_of_generator(x):
    return tuple(i + 1 for i in count_up(4)), x + 1


def set_of_generator(x):
    return {*count_up(3)}, set(i % 2 for i in range(6)), frozenset(i for i in (1, 2)), x + 1


def dict_of_generator(x):
    return dict((i, i * 2) for i in range(3)), dict(zip(count_up(3), "abc")), x + 1


def sorted_of_generator(x):
    return sorted((i * 7 % 5 for i in range(5)), reverse=True), x + 1


def min_max_of_generator(x):
    return x * min(i - 2 for i in range(5)) + max((i * i for i in range(5)), key=lambda v: -v)


def joined(x):
    return ",".join(str(i) for i in range(4)), x + 1


def starred(x):
    return [*count_up(2), *(i * 3 for i in range(2))], (*count_up(3),), x + 1


def star_arguments(x):
    def take(*args):
        return len(args), args

    return take(*(i for i in range(4))), x + 1


def unpacked(x):
    a, b, c = (x + i for i in range(3))
    return a * b - c


def unpacked_with_star(x):
    first, *rest = count_up(5)
    *start, last = (i * 2 for i in range(4))
    return x + first + last, rest, start


def zip_of_generators(x):
    return [(a, b) for a, b in zip(count_up(3), (i * i for i in range(10)))], x + 1


def zip_stops_infinite(x):
    return list(zip(forever(), "abc")), list(zip("ab", forever(5))), x + 1


def zip_consumption(x):
    left, right = count_up(5), iter([1, 2])
    pairs = list(zip(left, right))
    return pairs, next(left), x + 1


def map_and_filter(x):
    return (
        list(map(lambda a, b: a + b, count_up(3), forever(1))),
        list(filter(lambda i: i % 2, count_up(6))),
        x + 1,
    )


def enumerate_generator(x):
    for i, y in enumerate(scaled([x, x], 2.0), 1):
        x = x + i * y
    return x


def infinite_with_break(x):
    for i in forever():
        if i > 3:
            break
        x = x + i
    return x


def infinite_with_continue(x):
    for i in forever(2):
        if i % 2:
            continue
        if i > 8:
            return x
        x = x + i
    return x


def goes_on_after_break(x):
    numbers = forever()
    for i in numbers:
        if i == 2:
            break
    for i in numbers:
        if i == 5:
            break
        x = x + i
    return x, next(numbers)


def next_by_hand(x):
    numbers = count_up(4)
    a = next(numbers)
    b = next(numbers)
    c = numbers.__next__()
    return x + a + b + c


def next_with_default(x):
    numbers = count_up(1)
    return next(numbers, None), next(numbers, None), next(numbers, x + 1)


def iter_of_generator(x):
    numbers = count_up(3)
    return iter(numbers) is numbers, numbers.__iter__() is numbers, list(numbers), x + 1


def exhausted_stays_so(x):
    numbers = count_up(2)
    return list(numbers), list(numbers), next(numbers, "end"), x + 1


def nested_generators(x):
    def outer(n):
        for i in count_up(n):
            for j in count_up(i):
                yield i * 10 + j

    return list(outer(4)), x + 1


def pipeline(x):
    numbers = (i for i in count_up(10))
    odd = (i for i in numbers if i % 2)
    squares = (i * i for i in odd)
    for s in squares:
        x = x + s
    return x


def yield_from_list(x):
    def chain(*parts):
        for part in parts:
            yield from part

    return list(chain([1, 2], (3,), "ab", {4: 5}, range(2))), x + 1


def yield_from_generator(x):
    def inner(n):
        yield from count_up(n)
        yield -1

    return list(inner(3)), x + 1


def yield_from_result(x):
    def inner():
        yield 1
        return "result"

    def outer():
        got = yield from inner()
        yield got

    return list(outer()), x + 1


def yield_from_result_of_arrays(x):
    def average():
        total, n = 0.0, 0
        while True:
            y = yield
            if y is None:
                break
            total, n = total + y, n + 1
        return total / n

    def collect(results):
        while True:
            results.append((yield from average()))

    results = []
    collector = collect(results)
    next(collector)
    for y in (x, x * 2.0, None, x + 1.0, None):
        collector.send(y)
    return results


def send_values(x):
    def running():
        total = 0.0
        while True:
            total = total + (yield total)

    totals = running()
    next(totals)
    totals.send(x)
    return totals.send(x * 2.0)


def send_none_first(x):
    def echo():
        got = yield 1
        yield got

    e = echo()
    return e.send(None), e.send(x + 1)


def tree_walk(x):
    def walk(tree):
        if tree is None:
            return
        left, value, right = tree
        yield from walk(left)
        yield value
        yield from walk(right)

    tree = ((None, 1, None), 2, ((None, 3, None), 4, None))
    for value in walk(tree):
        x = x * value
    return x, list(walk(tree))


def flatten(x):
    def flat(items):
        for item in items:
            if isinstance(item, list):
                yield from flat(item)
            else:
                yield item

    return list(flat([1, [2, [3, 4]], [], [[5]]])), x + 1


def permutations_by_hand(x):
    def perms(items):
        if len(items) <= 1:
            yield items
        else:
            for i in range(len(items)):
                for rest in perms(items[:i] + items[i + 1 :]):
                    yield [items[i]] + rest

    return list(perms([1, 2, 3])), x + 1


def fibonacci(x):
    def fib():
        a, b = 0, 1
        while True:
            yield a
            a, b = b, a + b

    for f in fib():
        if f > 20:
            break
        x = x + f
    return x


def primes(x):
    def sieve(numbers):
        first = next(numbers)
        yield first
        yield from sieve(n for n in numbers if n % first)

    found = []
    for p in sieve(iter(range(2, 30))):
        found.append(p)
        if p > 13:
            break
    return found, x + 1


def late_closure(x):
    functions = [lambda: i for i in range(3)]
    lazy = (f() for f in functions)
    return list(lazy), x + 1


def late_free_variable(x):
    factor = 2
    lazy = (i * factor for i in range(3))
    factor = 10
    return list(lazy), x + 1


def first_iterable_is_early(x):
    items = [1, 2, 3]
    lazy = (i for i in items)
    items = [7, 8]
    return list(lazy), x + 1


def list_grows_while_read(x):
    items = [1, 2]
    lazy = (i for i in items)
    first = next(lazy)
    items.append(3)
    return first, list(lazy), x + 1


def nonlocal_in_generator(x):
    calls = 0

    def ticks(n):
        nonlocal calls
        for i in range(n):
            calls += 1
            yield i

    numbers = ticks(5)
    next(numbers)
    before = calls
    list(numbers)
    return before, calls, x + 1


def generator_method(x):
    class_like = Bag([1, 2, 3])
    return sum(class_like.items()), list(class_like), x + 1


class Bag:
    def __init__(self, values):
        self.values = values

    def __iter__(self):
        for value in self.values:
            yield value

    def items(self):
        yield from self.values


def generator_with_keywords(x):
    def ramp(start, *, step=1, count=3):
        for _ in range(count):
            yield start
            start += step

    return list(ramp(1, step=4)), list(ramp(0, count=2)), x + 1


def generator_with_varargs(x):
    def pairs(*args, **kwargs):
        yield from args
        yield from kwargs.items()

    return list(pairs(1, 2, a=3)), x + 1


def default_of_generator(x):
    def ramp(n, values=(5, 6)):
        yield n
        yield from values

    return list(ramp(1)), list(ramp(2, [])), x + 1


def two_at_once(x):
    a, b = count_up(3), count_up(3)
    return [next(a), next(a), next(b), next(a), next(b)], x + 1


def shared_iterator(x):
    numbers = count_up(6)
    return list(zip(numbers, numbers)), x + 1


def chunks(x):
    def chunked(items, n):
        for i in range(0, len(items), n):
            yield items[i : i + n]

    return list(chunked([1, 2, 3, 4, 5], 2)), x + 1


def windows(x):
    def windowed(items, n):
        window = []
        for item in items:
            window.append(item)
            if len(window) == n:
                yield tuple(window)
                window.pop(0)

    total = 0.0
    for a, b in windowed([x, x + 1.0, x + 2.0], 2):
        total = total + a * b
    return total


def yields_nothing(x):
    def nothing():
        return
        yield

    return list(nothing()), x + 1


def yield_expression_value(x):
    def both():
        got = [(yield 1), (yield 2)]
        yield got

    return list(both()), x + 1


def yield_in_call(x):
    def g():
        print_like = []
        print_like.append((yield "a"))
        yield print_like

    return list(g()), x + 1


def generator_in_condition(x):
    if 3 in count_up(10):
        x = x + 1
    if 30 not in (i for i in range(4)):
        x = x * 2
    return x


def contains_stops(x):
    numbers = count_up(6)
    found = 2 in numbers
    return found, list(numbers), x + 1


def name_of_generator(x):
    def local():
        yield 1

    g = local()
    return g.__name__, x + 1


def type_of_generator(x):
    import types

    g = count_up(2)
    return isinstance(g, types.GeneratorType), type(g) is types.GeneratorType, x + 1


def batches_of_arrays(x):
    def batches(a, n):
        for i in range(0, a.shape[0], n):
            yield a[i : i + n]

    total = 0.0
    for b in batches(x, 2):
        total = total + b
    return total


def coefficients(x):
    def powers(v):
        p = v
        while True:
            yield p
            p = p * v

    return sum(c * p for c, p in zip([3.0, 2.0, 1.0], powers(x)))


def conditional_yield(x):
    def some(flag):
        if flag:
            yield "yes"
        else:
            yield "no"
            yield "never"

    return list(some(True)), list(some(False)), x + 1


def walrus_in_genexpr(x):
    if any((found := i) > 3 for i in range(10)):
        return x + found
    return x


def nested_genexpr(x):
    return sum(i * j for i in range(4) for j in range(i) if (i + j) % 2), x + 1


def genexpr_in_genexpr(x):
    return (
        [sum(j for j in range(i)) for i in range(4)],
        list(sum(k for k in row) for row in ([1, 2], [3])),
        x + 1,
    )


def genexpr_with_closure_of_argument(x):
    return sum(x * w for w in (0.25, 0.5, 0.25))


def extend_with_generator(x):
    items = [9]
    items.extend(i for i in range(3))
    items += (i * i for i in range(3))
    return items, x + 1


def update_with_generator(x):
    d, s = {"a": 0}, {9}
    d.update((k, 1) for k in "bc")
    s.update(i for i in range(2))
    return d, s, x + 1


def generator_stored_in_list(x):
    pending = [count_up(2), count_up(3)]
    out = []
    while pending:
        g = pending.pop(0)
        for value in g:
            out.append(value)
            break
        if len(out) < 4:
            pending.append(g)
    return out, x + 1


def round_robin(x):
    def robin(*iterables):
        active = [iter(i) for i in iterables]
        while active:
            for it in list(active):
                value = next(it, None)
                if value is None:
                    active.remove(it)
                else:
                    yield value

    return list(robin("abc", [1], (4, 5))), x + 1


def accumulator(x):
    def averager():
        total = count = 0
        average = None
        while True:
            value = yield average
            total += value
            count += 1
            average = total / count

    a = averager()
    next(a)
    return [a.send(10), a.send(20), a.send(60)], x + 1


def generator_reads_global(x):
    def g():
        yield A_NUMBER
        yield A_NUMBER + 1

    return list(g()), x + 1


A_NUMBER = 5


CASES = [
    for_over_generator,
    for_over_generator_expression,
    generator_of_arrays,
    sum_of_genexpr,
    sum_of_arrays,
    sum_with_start,
    any_and_all,
    any_stops_early,
    all_stops_early,
    list_of_generator,
    tuple_of_generator,
    set_of_generator,
    dict_of_generator,
    sorted_of_generator,
    joined,
    min_max_of_generator,
    starred,
    star_arguments,
    unpacked,
    unpacked_with_star,
    zip_of_generators,
    zip_stops_infinite,
    zip_consumption,
    map_and_filter,
    enumerate_generator,
    infinite_with_break,
    infinite_with_continue,
    goes_on_after_break,
    next_by_hand,
    next_with_default,
    iter_of_generator,
    exhausted_stays_so,
    nested_generators,
    pipeline,
    yield_from_list,
    yield_from_generator,
    yield_from_result,
    yield_from_result_of_arrays,
    send_values,
    send_none_first,
    tree_walk,
    flatten,
    permutations_by_hand,
    fibonacci,
    primes,
    late_closure,
    late_free_variable,
    first_iterable_is_early,
    list_grows_while_read,
    nonlocal_in_generator,
    generator_method,
    generator_with_keywords,
    generator_with_varargs,
    default_of_generator,
    two_at_once,
    shared_iterator,
    chunks,
    windows,
    yields_nothing,
    yield_expression_value,
    yield_in_call,
    generator_in_condition,
    contains_stops,
    name_of_generator,
    type_of_generator,
    batches_of_arrays,
    coefficients,
    conditional_yield,
    walrus_in_genexpr,
    nested_genexpr,
    genexpr_in_genexpr,
    genexpr_with_closure_of_argument,
    extend_with_generator,
    update_with_generator,
    generator_stored_in_list,
    round_robin,
    accumulator,
    generator_reads_global,
]


@pytest.mark.parametrize("fn", CASES, ids=lambda fn: fn.__name__)
def test_captured(fn):
    check(fn, A)


# ---- What a generator that leaves the function is, and what is not captured


def never_started(x):
    return count_up(3), (i * 2 for i in range(3)), x + 1


def never_started_with_arrays(x):
    return scaled([x, x * 2.0], 2.0), x + 1


@pytest.mark.parametrize("fn", [never_started, never_started_with_arrays], ids=lambda f: f.__name__)
def test_a_generator_that_was_not_started_is_rebuilt(fn):
    def drained(x):
        return [list(part) if hasattr(part, "gi_frame") else part for part in compiled(x)]

    compiled = Compiled(fn)
    with dyntrace.config.patch(everything=True, strict=True):
        for _ in range(3):
            assert_same(
                [list(p) if hasattr(p, "gi_frame") else p for p in fn(A)], drained(A.copy())
            )
    assert not compiled.breaks, compiled.describe()


def leaves_started(x):
    numbers = count_up(5)
    next(numbers)
    return numbers, x + 1


def leaves_with_keywords(x):
    def ramp(*, n):
        yield n

    return ramp(n=3), x + 1


@pytest.mark.parametrize("fn", [leaves_started, leaves_with_keywords], ids=lambda f: f.__name__)
def test_a_generator_that_cannot_be_rebuilt(fn):
    compiled = Compiled(fn)
    with dyntrace.config.patch(everything=True, strict=True):
        for _ in range(3):
            plain, traced = fn(A), compiled(A.copy())
            assert list(plain[0]) == list(traced[0])
    assert "reconstruct" in compiled.breaks


def left_in_finally(x):
    log = []

    def g():
        try:
            yield 1
            yield 2
        finally:
            log.append("closed")

    for i in g():
        break
    return log, i, x + 1


def left_in_with(x):
    log = []

    class Manager:
        def __enter__(self):
            log.append("in")

        def __exit__(self, *error):
            log.append("out")

    def g():
        with Manager():
            yield 1

    next(g())
    return log, x + 1


def left_in_handler(x):
    log = []

    def g():
        try:
            yield 1
        except GeneratorExit:
            log.append("exit")
            raise

    next(g())
    return log, x + 1


@pytest.mark.parametrize(
    "fn", [left_in_finally, left_in_with, left_in_handler], ids=lambda f: f.__name__
)
def test_code_that_runs_when_a_generator_is_dropped(fn):
    compiled = Compiled(fn)
    with dyntrace.config.patch(everything=True, strict=True):
        for _ in range(3):
            assert_same(fn(A), compiled(A.copy()))
    assert compiled.breaks
