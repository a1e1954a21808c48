"""Every iterator of itertools, captured whole."""

import itertools
import itertools as it
import operator
import sys

import dyntrace
import numpy as np
import pytest
from differential import Compiled, check

A = np.linspace(0.5, 2.0, 4)


def count_by_default(x):
    total = x
    for i in it.count():
        if i == 3:
            break
        total = total + i
    return total


def count_from(x):
    numbers = it.count(10, -2)
    return [next(numbers) for _ in range(4)], x + 1


def count_of_floats(x):
    numbers = itertools.count(0.5, step=0.25)
    return next(numbers), next(numbers), x * next(numbers)


def count_in_zip(x):
    return list(zip(it.count(1), "abc")), x + 1


def count_of_step_keyword(x):
    numbers = it.count(start=5, step=5)
    next(numbers)
    return next(numbers), x + 1


def cycle_list(x):
    colours = it.cycle(["r", "g", "b"])
    return [next(colours) for _ in range(7)], x + 1


def cycle_of_generator(x):
    c = it.cycle(i * i for i in range(3))
    return [next(c) for _ in range(8)], x + 1


def cycle_of_nothing(x):
    return list(it.cycle([])), x + 1


def cycle_of_arrays(x):
    weights = it.cycle([x, x * 2.0])
    total = 0.0
    for w, i in zip(weights, range(5)):
        total = total + w * i
    return total


def repeat_times(x):
    return list(it.repeat("a", 3)), list(it.repeat(0, 0)), list(it.repeat(1, -2)), x + 1


def repeat_for_ever(x):
    return list(zip(range(3), it.repeat(x))), list(map(pow, range(4), it.repeat(2)))


def repeat_keyword(x):
    return list(it.repeat(object=1, times=2)), x + 1


def chain_of(x):
    return list(it.chain([1, 2], (3,), "ab", range(2), {5: 6})), list(it.chain()), x + 1


def chain_of_generators(x):
    return sum(it.chain((i for i in range(3)), (i * 10 for i in range(3)))), x + 1


def chain_from_iterable(x):
    rows = [[1, 2], [3], []]
    return list(it.chain.from_iterable(rows)), list(it.chain.from_iterable("abc")), x + 1


def chain_from_generator(x):
    def rows():
        for i in range(3):
            yield [x * i] * i

    return sum(it.chain.from_iterable(rows()))


def chain_is_lazy(x):
    seen = []

    def rows():
        for i in range(4):
            seen.append(i)
            yield [i, i]

    flat = it.chain.from_iterable(rows())
    first = [next(flat), next(flat), next(flat)]
    return first, list(seen), x + 1


def islice_stop(x):
    return list(it.islice(range(10), 3)), list(it.islice("abcdef", 2)), x + 1


def islice_start_stop_step(x):
    return (
        list(it.islice(range(20), 2, 12, 3)),
        list(it.islice(range(5), 2, None)),
        list(it.islice(range(7), None, None, 2)),
        x + 1,
    )


def islice_of_infinite(x):
    def forever():
        i = 0
        while True:
            yield i
            i += 1

    return list(it.islice(forever(), 4)), list(it.islice(it.count(5), 1, 6, 2)), x + 1


def islice_leaves_the_rest(x):
    numbers = iter(range(10))
    head = list(it.islice(numbers, 3))
    return head, next(numbers), list(it.islice(numbers, 0)), next(numbers), x + 1


def islice_with_step_consumes(x):
    numbers = iter(range(10))
    return list(it.islice(numbers, 0, 5, 3)), list(numbers), x + 1


def takewhile_and_dropwhile(x):
    values = [1, 3, 5, 2, 7, 1]
    return (
        list(it.takewhile(lambda v: v < 5, values)),
        list(it.dropwhile(lambda v: v < 5, values)),
        x + 1,
    )


def takewhile_eats_one(x):
    numbers = iter([1, 2, 9, 3])
    small = list(it.takewhile(lambda v: v < 5, numbers))
    return small, list(numbers), x + 1


def takewhile_stays_stopped(x):
    t = it.takewhile(bool, [1, 0, 1])
    return list(t), next(t, "end"), x + 1


def filterfalse_with_function(x):
    return (
        list(it.filterfalse(lambda v: v % 2, range(6))),
        list(it.filterfalse(None, [0, 1, "", "a", None])),
        x + 1,
    )


def starmap_of(x):
    pairs = [(2, 5), (3, 2), (10, 3)]
    return list(it.starmap(pow, pairs)), sum(it.starmap(lambda a, b: x * a + b, pairs))


def starmap_of_lists(x):
    return list(it.starmap(lambda *a: len(a), [[], [1], (1, 2)])), x + 1


def accumulate_sum(x):
    return list(it.accumulate([1, 2, 3, 4])), list(it.accumulate([])), x + 1


def accumulate_function(x):
    return (
        list(it.accumulate([1, 2, 3, 4], operator.mul)),
        list(it.accumulate([3, 1, 4, 1], max)),
        list(it.accumulate([1, 2], lambda a, b: a * 10 + b)),
        x + 1,
    )


def accumulate_initial(x):
    return (
        list(it.accumulate([1, 2, 3], initial=100)),
        list(it.accumulate([], initial=7)),
        list(it.accumulate([1, 2], None, initial=None)),
        x + 1,
    )


def accumulate_arrays(x):
    return list(it.accumulate([x, x * 2.0, x * 3.0]))


def compress_of(x):
    return (
        list(it.compress("ABCDEF", [1, 0, 1, 0, 1, 1])),
        list(it.compress(range(4), [True])),
        x + 1,
    )


def pairwise_of(x):
    return list(it.pairwise("abcd")), list(it.pairwise([1])), list(it.pairwise([])), x + 1


def pairwise_differences(x):
    points = [x, x * x, x * x * x]
    return [b - a for a, b in it.pairwise(points)]


def product_of(x):
    return list(it.product("ab", [1, 2])), list(it.product([1, 2], repeat=2)), x + 1


def product_edge(x):
    return list(it.product()), list(it.product([], [1])), list(it.product([1], repeat=0)), x + 1


def product_of_generators(x):
    return list(it.product((i for i in range(2)), (j for j in "xy"), repeat=1)), x + 1


def product_sum(x):
    total = 0.0
    for a, b in it.product([x, x + 1.0], [1.0, 2.0]):
        total = total + a * b
    return total


def permutations_of(x):
    return list(it.permutations("abc")), list(it.permutations([1, 2, 3], 2)), x + 1


def permutations_edge(x):
    return (
        list(it.permutations([])),
        list(it.permutations([1], 2)),
        list(it.permutations([1, 2], r=None)),
        list(it.permutations([1, 2], r=1)),
        x + 1,
    )


def combinations_of(x):
    return (
        list(it.combinations("abcd", 2)),
        list(it.combinations([1, 2], 3)),
        list(it.combinations([1, 2], 0)),
        list(it.combinations(range(4), r=3)),
        x + 1,
    )


def combinations_of_arrays(x):
    parts = [x, x + 1.0, x * 2.0]
    return sum(a * b for a, b in it.combinations(parts, 2))


def combinations_with_replacement_of(x):
    return list(it.combinations_with_replacement("abc", 2)), x + 1


def product_interrupted(x):
    p = it.product(range(3), repeat=2)
    first = [next(p), next(p)]
    return first, len(list(p)), next(p, None), x + 1


def groupby_plain(x):
    return [(k, list(g)) for k, g in it.groupby("aabccc")], x + 1


def groupby_key(x):
    words = ["apple", "avocado", "bean", "beet", "corn"]
    return {k: list(g) for k, g in it.groupby(words, key=lambda w: w[0])}, x + 1


def groupby_skips_unread_groups(x):
    return [k for k, _ in it.groupby([1, 1, 2, 2, 1])], x + 1


def groupby_old_group_is_empty(x):
    groups = it.groupby([1, 1, 2])
    _, first = next(groups)
    key, second = next(groups)
    return list(first), key, list(second), x + 1


def groupby_partly_read(x):
    out = []
    for k, g in it.groupby(range(10), lambda v: v // 4):
        out.append((k, next(g)))
    return out, x + 1


def groupby_of_nothing(x):
    return list(it.groupby([])), x + 1


def groupby_run_lengths(x):
    return (
        [k for k, g in it.groupby("wwwbbw")],
        [len(list(g)) for _, g in it.groupby("wwwbbw")],
        x + 1,
    )


def tee_two(x):
    a, b = it.tee(range(4))
    return next(a), next(a), list(b), list(a), x + 1


def tee_three_of_generator(x):
    a, b, c = it.tee((i * i for i in range(3)), 3)
    return list(a), sum(b), max(c), x + 1


def tee_windows(x):
    def windows(values):
        a, b = it.tee(values)
        next(b, None)
        return zip(a, b)

    return sum(p * q for p, q in windows([x, x + 1.0, x + 2.0]))


def tee_none(x):
    return it.tee([1], 0), x + 1


def zip_longest_of(x):
    return (
        list(it.zip_longest("abc", [1])),
        list(it.zip_longest([1], "xyz", (True, False), fillvalue="-")),
        list(it.zip_longest()),
        x + 1,
    )


def zip_longest_of_generators(x):
    return list(it.zip_longest((i for i in range(3)), (i for i in range(1)), fillvalue=0)), x + 1


def nested_tools(x):
    numbers = it.islice(it.filterfalse(lambda v: v % 3, it.count(1)), 4)
    return list(it.accumulate(it.chain([0], numbers))), x + 1


def batches_recipe(x):
    def batches(iterable, n):
        source = iter(iterable)
        while batch := tuple(it.islice(source, n)):
            yield batch

    return list(batches("ABCDEFG", 3)), x + 1


def roundrobin_recipe(x):
    def roundrobin(*iterables):
        active = len(iterables)
        nexts = it.cycle([iter(i) for i in iterables])
        while active:
            value = next(next(nexts), None)
            if value is None:
                active -= 1
                nexts = it.cycle(it.islice(nexts, active))
            else:
                yield value

    return list(roundrobin("abc", "d", "ef")), x + 1


def grouper_recipe(x):
    args = [iter("ABCDEFG")] * 3
    return list(it.zip_longest(*args, fillvalue="x")), x + 1


def powerset_recipe(x):
    s = [1, 2, 3]
    return list(it.chain.from_iterable(it.combinations(s, r) for r in range(len(s) + 1))), x + 1


def take_and_nth(x):
    def nth(iterable, n, default=None):
        return next(it.islice(iterable, n, None), default)

    return nth(range(10), 3), nth("ab", 5, "none"), x + 1


def types_of_tools(x):
    return (
        type(it.chain([1])) is it.chain,
        isinstance(it.count(), it.count),
        isinstance(it.islice([], 1), it.chain),
        iter(it.repeat(1)) is not None,
        x + 1,
    )


def map_with_count(x):
    return list(map(lambda i, w: w * i, it.count(1), "ab")), x + 1


def dict_from_tools(x):
    return dict(zip("abc", it.count())), dict(it.zip_longest("ab", [1], fillvalue=0)), x + 1


def unpacked_tools(x):
    a, b = it.islice(it.count(7), 2)
    first, *rest = it.chain("xy", [1])
    return a, b, first, rest, x + 1


def sorted_tools(x):
    return sorted(it.chain([3, 1], [2])), min(it.product([2, 1], [5, 4])), x + 1


def schedule(x):
    rates = it.chain(it.repeat(0.5, 2), it.count(1.0, 0.5))
    for rate in it.islice(rates, 5):
        x = x * rate + 1.0
    return x


def chain_of_no_iterable(x):
    c, out = it.chain([1], 5, [2]), []
    out.append(next(c))
    try:
        next(c)
    except TypeError as error:
        out.append(error.args)
    return out, list(c), x + 1


def zip_longest_ends_at_an_exception(x):
    def bad():
        yield 1
        raise ValueError("bad")

    z, out = it.zip_longest(bad(), "abc"), []
    try:
        for pair in z:
            out.append(pair)
    except ValueError as error:
        out.append(error.args)
    return out, list(z), x + 1


def islice_of_a_wrong_number(x):
    out = []
    for bounds in ((-1,), (0, -1), (0, 1, 0)):
        try:
            it.islice([1], *bounds)
        except ValueError:
            out.append(bounds)
    return out, x + 1


def starmap_raises_and_goes_on(x):
    s, out = it.starmap(lambda a, b: a // b, [(4, 2), (1, 0), (9, 3)]), []
    for _ in range(3):
        try:
            out.append(next(s))
        except ZeroDivisionError:
            out.append("zero")
    return out, x + 1


def groupby_key_raises(x):
    out = []
    try:
        for k, g in it.groupby([1, 2, 0], key=lambda v: 2 // v):
            out.append((k, list(g)))
    except ZeroDivisionError as error:
        out.append(error.args)
    return out, x + 1


CASES = [
    value
    for value in list(globals().values())
    if getattr(value, "__module__", None) == __name__ and getattr(value, "__code__", None)
]


@pytest.mark.parametrize("fn", CASES, ids=lambda fn: fn.__name__)
def test_captured(fn):
    check(fn, A)


def batched(x):
    return (
        list(it.batched("ABCDEFG", 3)),
        list(it.batched([], 2)),
        list(it.batched(iterable=range(4), n=2)),
        x + 1,
    )


def batched_arrays(x):
    return [sum(b) for b in it.batched([x, x + 1.0, x + 2.0], 2)]


def batched_strict(x):
    return list(it.batched("ABCD", 2, strict=True)), x + 1


@pytest.mark.skipif(sys.version_info < (3, 12), reason="new in 3.12")
@pytest.mark.parametrize("fn", [batched, batched_arrays], ids=lambda fn: fn.__name__)
def test_batched(fn):
    check(fn, A)


def batched_strict_is_refused(x):
    try:
        return it.batched("ABC", 2, strict=False), x
    except TypeError:
        return "refused", x + 1


@pytest.mark.skipif(sys.version_info[:2] != (3, 12), reason="3.12 has no strict=")
def test_batched_does_not_know_strict():
    check(batched_strict_is_refused, A)


@pytest.mark.skipif(sys.version_info < (3, 13), reason="new in 3.13")
def test_batched_strict():
    check(batched_strict, A)


# ---- Iterators that leave the function


def leave_count(x):
    numbers = it.count(3, 2)
    next(numbers)
    return numbers, x + 1


def leave_repeat(x):
    r = it.repeat("a", 4)
    next(r)
    return r, it.repeat(1), x + 1


def leave_chain(x):
    c = it.chain([1, 2], "ab", (7,))
    next(c)
    return c, x + 1


def leave_islice(x):
    s = it.islice(range(20), 1, 15, 3)
    next(s)
    return s, x + 1


def leave_filterfalse(x):
    f = it.filterfalse(None, [0, 1, 0, 2])
    next(f)
    return f, x + 1


def leave_starmap(x):
    s = it.starmap(pow, [(1, 2), (2, 3), (3, 2)])
    next(s)
    return s, x + 1


def leave_compress(x):
    c = it.compress("abcd", [1, 1, 0, 1])
    next(c)
    return c, x + 1


def leave_untouched(x):
    return it.cycle("ab"), it.pairwise([1, 2, 3]), x + 1


def leave_takewhile(x):
    t = it.takewhile(lambda v: v < 3, [1, 2, 3, 1])
    next(t)
    return t, x + 1


LEAVING = [
    leave_count,
    leave_repeat,
    leave_chain,
    leave_islice,
    leave_filterfalse,
    leave_starmap,
    leave_compress,
    leave_untouched,
    leave_takewhile,
]


def drained(result):
    """Types and the next items of what a function returned."""
    return [
        (type(part), list(it.islice(part, 6))) if hasattr(part, "__next__") else part
        for part in result
    ]


@pytest.mark.parametrize("fn", LEAVING, ids=lambda fn: fn.__name__)
def test_an_iterator_that_leaves_the_function_stands_where_it_stood(fn):
    compiled = Compiled(fn)
    with dyntrace.config.patch(everything=True, strict=True):
        for _ in range(3):
            plain, traced = drained(fn(A)), drained(compiled(A.copy()))
            assert [str(p) for p in plain] == [str(t) for t in traced]
    assert not compiled.breaks, compiled.describe()


def leave_product(x):
    p = it.product("ab", [1, 2])
    next(p)
    return p, x + 1


def leave_cycle(x):
    c = it.cycle("abc")
    next(c)
    return c, x + 1


def leave_tee(x):
    a, b = it.tee([1, 2, 3])
    next(a)
    return a, b, x + 1


@pytest.mark.parametrize("fn", [leave_product, leave_cycle, leave_tee], ids=lambda f: f.__name__)
def test_an_iterator_that_cannot_be_rebuilt(fn):
    compiled = Compiled(fn)
    with dyntrace.config.patch(everything=True, strict=True):
        for _ in range(3):
            plain, traced = drained(fn(A)), drained(compiled(A.copy()))
            assert [str(p) for p in plain] == [str(t) for t in traced]
    assert "reconstruct" in compiled.breaks


class Loud(int):
    def __add__(self, other):
        return Loud(int(self) * 10 + int(other))

    __radd__ = __add__


@pytest.mark.parametrize("start", [True, Loud(7), 2])
@pytest.mark.parametrize("step", [1, True, Loud(1), Loud(2)])
def test_count_of_other_integers(start, step):
    """With a step of 1 it counts by int's own numbers, otherwise by what + gives."""

    def counts(x):
        numbers = it.count(start, step)
        taken = [next(numbers) for _ in range(3)]
        return taken, [type(n).__name__ for n in taken], sum(it.islice(it.count(start), 3)), x + 1

    check(counts, A)
