"""The order in which iterables are asked: length hints, items, additions and comparisons."""

import itertools

import dyntrace
import numpy as np
import pytest
from differential import Compiled, Outcome, check, compare

A = np.linspace(0.5, 2.0, 4)
LOG = []


def note(*words):
    LOG.append(words)


class Items:
    """An iterable of numbers that writes down who asks for what."""

    def __init__(self, *items, length=None, hint=None):
        self.items, self.length, self.hint = items, length, hint

    def __iter__(self):
        note("iter")
        for item in self.items:
            note("next", item)
            yield item
        note("end")


class Sized(Items):
    def __len__(self):
        note("len")
        return self.length


class Hinted(Items):
    def __length_hint__(self):
        note("hint")
        return self.hint


class Both(Sized, Hinted):
    pass


class Failing(Items):
    def __len__(self):
        note("len")
        raise self.length("from __len__")

    def __length_hint__(self):
        note("hint")
        if isinstance(self.hint, type):
            raise self.hint("from __length_hint__")
        return self.hint


class OwnIterator:
    """Its own iterator, with a length."""

    def __init__(self, *items):
        self.left = list(items)

    def __iter__(self):
        note("iter")
        return self

    def __next__(self):
        note("next")
        if not self.left:
            raise StopIteration
        return self.left.pop(0)

    def __len__(self):
        note("len")
        return len(self.left)


class Indexed:
    """Items by number only."""

    def __init__(self, *items, fails=None):
        self.items, self.fails = items, fails

    def __getitem__(self, at):
        note("item", at)
        if at == self.fails:
            raise ValueError("item")
        return self.items[at]


class SizedIndexed(Indexed):
    def __len__(self):
        note("len")
        return len(self.items)


class Mapping:
    def __init__(self, **items):
        self.content = items

    def keys(self):
        note("keys")
        return Items(*self.content)

    def __getitem__(self, key):
        note("get", key)
        return self.content[key]


class Number:
    """Writes down additions and comparisons."""

    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        note("add", self.value)
        return Number(self.value + getattr(other, "value", other))

    def __radd__(self, other):
        note("radd", self.value)
        return Number(self.value + other)

    def __lt__(self, other):
        note("lt", self.value, other.value)
        return self.value < other.value

    def __gt__(self, other):
        note("gt", self.value, other.value)
        return self.value > other.value

    def __bool__(self):
        note("bool", self.value)
        return self.value > 0

    def __hash__(self):
        note("hash", self.value)
        return hash(self.value)

    def __eq__(self, other):
        note("eq", self.value, other.value)
        return self.value == other.value


def numbers(*values):
    for value in values:
        note("make", value)
        yield Number(value)
    note("made")


def plain(*values):
    for value in values:
        note("yield", value)
        yield value
    note("end")


def text(*values):
    for value in values:
        note("yield", value)
        yield str(value)


def pairs(*values):
    for value in values:
        note("pair", value)
        yield Items(str(value), value)


# ---- what collects ------------------------------------------------------------------------------


def as_list(o, x):
    return list(o), x + 1.0


def as_tuple(o, x):
    return tuple(o), x + 1.0


def as_set(o, x):
    return len(set(o)), x + 1.0


def as_frozenset(o, x):
    return frozenset(o) == {1}, x + 1.0


def display(o, x):
    return [*o], x + 1.0


def display_between(o, x):
    return [0, *o, 4], x + 1.0


def tuple_display(o, x):
    return (0, *o), x + 1.0


def set_display(o, x):
    return len({0, *o}), x + 1.0


def in_order(o, x):
    return sorted(o), x + 1.0


def in_reverse_order(o, x):
    return sorted(o, key=lambda v: -v, reverse=True), x + 1.0


def count_arguments(*args):
    return len(args)


def as_arguments(o, x):
    return count_arguments(*o), x + 1.0


def as_more_arguments(o, x):
    return count_arguments(1, *o, 2), x + 1.0


def extended(o, x):
    items = [0]
    items.extend(o)
    return items, x + 1.0


def extended_in_place(o, x):
    items = [0]
    items += o
    return items, x + 1.0


def put_into_slice(o, x):
    items = [0, 1, 2, 3]
    items[1:3] = o
    return items, x + 1.0


def rest_of_unpacking(o, x):
    first, *rest = o
    return first, rest, x + 1.0


def middle_of_unpacking(o, x):
    first, *middle, last = o
    return first, middle, last, x + 1.0


def all_of_unpacking(o, x):
    (*every,) = o
    return every, x + 1.0


def unpack_three(o, x):
    a, b, c = o
    return a, b, c, x + 1.0


def joined(o, x):
    return "".join(o), x + 1.0


def summed(o, x):
    return sum(o), x + 1.0


def smallest(o, x):
    return min(o), x + 1.0


def largest(o, x):
    return max(o), x + 1.0


def any_of(o, x):
    return any(o), x + 1.0


def all_of(o, x):
    return all(o), x + 1.0


def enumerated(o, x):
    return list(enumerate(o)), x + 1.0


def zipped(o, x):
    return list(zip(o, (1, 2, 3))), x + 1.0


def mapped(o, x):
    return list(map(lambda v: v, o)), x + 1.0


def keys_of_dict(o, x):
    return list(dict.fromkeys(o)), x + 1.0


def in_product(o, x):
    return list(itertools.product(o, (1, 2))), x + 1.0


def in_permutations(o, x):
    return list(itertools.permutations(o, 2)), x + 1.0


def chained(o, x):
    return list(itertools.chain(o, (1,))), x + 1.0


def starred(o, x):
    return list(itertools.starmap(count_arguments, [o])), x + 1.0


def contained(o, x):
    return 2 in o, x + 1.0


COLLECT = [
    as_list, as_tuple, as_set, as_frozenset, display, display_between, tuple_display, set_display,
    in_order, in_reverse_order, as_arguments, as_more_arguments, extended, extended_in_place,
    put_into_slice, rest_of_unpacking, middle_of_unpacking, all_of_unpacking, unpack_three, summed,
    smallest, largest, any_of, all_of, enumerated, zipped, mapped, keys_of_dict, in_product,
    in_permutations, chained, starred, contained,
]  # fmt: skip

SOURCES = {
    "items": lambda: Items(3, 1, 2),
    "sized": lambda: Sized(3, 1, 2, length=3),
    "wrongly sized": lambda: Sized(3, 1, 2, length=1),
    "hinted": lambda: Hinted(3, 1, 2, hint=3),
    "no hint": lambda: Hinted(3, 1, 2, hint=NotImplemented),
    "both": lambda: Both(3, 1, 2, length=3, hint=4),
    "no length": lambda: Failing(3, 1, 2, length=TypeError, hint=5),
    "neither": lambda: Failing(3, 1, 2, length=TypeError, hint=TypeError),
    "own iterator": lambda: OwnIterator(3, 1, 2),
    "indexed": lambda: Indexed(3, 1, 2),
    "sized indexed": lambda: SizedIndexed(3, 1, 2),
    "iterator of indexed": lambda: SizedIndexed(3, 1, 2),
}


def outcome(fn, make):
    """`fn` with an iterable that it makes itself, so that nothing of it existed before."""

    def run(x):
        return fn(make(), x)

    return check(run, A, state=lambda: list(LOG), reset=LOG.clear)


@pytest.mark.parametrize("source", SOURCES, ids=str)
@pytest.mark.parametrize("fn", COLLECT, ids=lambda fn: fn.__name__)
def test_asks_as_plain_python(fn, source):
    outcome(fn, SOURCES[source])


FAILING = {
    "len raises": lambda: Failing(3, 1, length=ValueError),
    "hint raises": lambda: Failing(3, 1, length=TypeError, hint=KeyError),
    "negative length": lambda: Sized(3, 1, length=-1),
    "length is text": lambda: Sized(3, 1, length="two"),
    "negative hint": lambda: Hinted(3, 1, hint=-2),
    "hint is text": lambda: Hinted(3, 1, hint="two"),
    "length is a bool": lambda: Sized(3, 1, length=True),
    "length is a float": lambda: Sized(3, 1, length=2.0),
}


def caught(fn):
    def run(o, x):
        try:
            return fn(o, x)
        except (ValueError, KeyError, TypeError, OverflowError) as error:
            note("caught", type(error).__name__, str(error))
            return x - 1.0

    return run


@pytest.mark.parametrize("source", FAILING, ids=str)
@pytest.mark.parametrize(
    "fn", [as_list, as_tuple, display, in_order, as_arguments, extended, as_set, summed, mapped],
    ids=lambda fn: fn.__name__,
)  # fmt: skip
def test_hints_that_fail(fn, source):
    outcome(caught(fn), FAILING[source])


def length_of(o, x):
    return len(o), x + 1.0


def truth_of(o, x):
    return bool(o), x + 1.0


@pytest.mark.parametrize("source", FAILING, ids=str)
@pytest.mark.parametrize("fn", [length_of, truth_of], ids=lambda fn: fn.__name__)
def test_lengths_are_checked(fn, source):
    if source not in ("hint is text", "negative hint"):
        outcome(caught(fn), FAILING[source])


def test_a_length_that_is_too_large():
    outcome(caught(length_of), lambda: Sized(1, length=1 << 70))


@pytest.mark.parametrize("source", ["sized indexed", "indexed"])
def test_iterators_by_index_ask_for_the_length(source):
    def run(x):
        return [*iter(SOURCES[source]())], x + 1.0

    check(run, A, state=lambda: list(LOG), reset=LOG.clear)


@pytest.mark.parametrize("collect", [list, sum, tuple, sorted])
def test_reversed_of_an_indexed(collect):
    def run(x):
        return collect(reversed(SizedIndexed(3, 1, 2))), x + 1.0

    check(run, A, state=lambda: list(LOG), reset=LOG.clear)


def test_reversed_needs_a_sequence():
    def run(x):
        try:
            reversed(Items(1))
        except TypeError as error:
            return str(error), x + 1.0

    check(run, A, state=lambda: list(LOG), reset=LOG.clear)


def test_an_item_that_fails():
    def run(x):
        iterator, found = iter(Indexed(1, 2, 3, fails=1)), []
        for _ in range(3):
            try:
                found.append(next(iterator))
            except ValueError as error:
                found.append(str(error))
        return found, x + 1.0

    check(run, A, state=lambda: list(LOG), reset=LOG.clear)


# ---- additions and comparisons between the items ------------------------------------------------


def sum_of_numbers(x):
    return sum(numbers(1, 2, 3)).value + x


def sum_from_a_number(x):
    return sum(numbers(1, 2), Number(5)).value + x


def sum_of_mixed(x):
    def mixed():
        for item in (1, 2.5, 0.1, Number(1), 0.2, Number(3)):
            note("mixed")
            yield item

    return sum(mixed()).value + x


def sum_of_floats(x):
    return sum(plain(0.1, 0.2, 0.3, 1, 1e16, -1e16)), x + 1.0


def sum_with_ints_beyond(x):
    return sum(plain(2**62, 2**62, 2**62, 0.1)), x + 1.0


def sum_that_fails(x):
    try:
        return sum(plain(1, 2, "3", 4)), x
    except TypeError as error:
        return str(error), x + 1.0


def sum_of_arrays(x):
    def parts():
        for i in range(3):
            note("part", i)
            yield x * i

    return sum(parts())


def least_number(x):
    return min(numbers(3, 1, 2)).value + x


def greatest_number(x):
    return max(numbers(1, 3, 2)).value + x


def least_by_key(x):
    def key(value):
        note("key", value)
        return -value

    return min(plain(1, 3, 2), key=key), x + 1.0


def least_by_number(x):
    return min(plain(3, 1, 2), key=Number), x + 1.0


def least_of_none(x):
    return min(plain(), default=7), x + 1.0


def least_of_nothing(x):
    try:
        return min(plain()), x
    except ValueError as error:
        return str(error), x + 1.0


def least_that_fails(x):
    try:
        return min(plain(1, "2", 3)), x
    except TypeError as error:
        return str(error), x + 1.0


def any_number(x):
    return any(numbers(0, 1, 2)), x + 1.0


def all_numbers(x):
    return all(numbers(1, 0, 2)), x + 1.0


def found_number(x):
    return Number(2) in numbers(1, 2, 3), x + 1.0


def set_of_numbers(x):
    return len(set(numbers(1, 2, 1))), x + 1.0


def frozenset_of_numbers(x):
    return len(frozenset(numbers(1, 2, 1))), x + 1.0


def set_comprehension(x):
    return len({number for number in numbers(1, 2, 1)}), x + 1.0


def dict_of_keys(x):
    return len(dict.fromkeys(numbers(1, 2, 1))), x + 1.0


def dict_of_pairs(x):
    return dict(pairs(1, 2)), x + 1.0


def dict_of_number_pairs(x):
    return len(dict((number, 1) for number in numbers(1, 2, 1))), x + 1.0


def update_of_pairs(x):
    d = {"a": 1}
    d.update(pairs(1, 2))
    return d, x + 1.0


def update_that_fails(x):
    d = {}
    try:
        d.update([("a", 1), ("b",), ("c", 2)])
    except ValueError as error:
        note(str(error))
    try:
        d.update(itertools.chain([("d", 1)], plain(5)))
    except TypeError as error:
        note(str(error))
    return d, x + 1.0


def dict_of_a_mapping(x):
    return dict(Mapping(a=1, b=2)), x + 1.0


def update_from_a_mapping(x):
    d = {"b": 5}
    d.update(Mapping(a=1, b=2), c=3)
    return d, x + 1.0


def display_of_a_mapping(x):
    return {"c": 3, **Mapping(a=1, b=2)}, x + 1.0


def display_of_no_mapping(x):
    try:
        return {**Items(1)}, x
    except TypeError as error:
        return str(error), x + 1.0


def display_of_numbers(x):
    return len({**{Number(1): 1, Number(2): 2}}), x + 1.0


def default_of_a_number(x):
    d = {}
    return d.setdefault(Number(1), 5), d.setdefault(Number(1), 6), len(d), x + 1.0


def set_with_numbers(x):
    s = {Number(1)}
    s.add(Number(2))
    s.add(Number(1))
    return len(s), Number(2) in s, x + 1.0


def update_set_with_numbers(x):
    s = {Number(1)}
    s.update(numbers(1, 2), [Number(3)])
    return len(s), x + 1.0


def joined_iterator(x):
    return "-".join(text(1, 2)), x + 1.0


def joined_own_iterator(x):
    return "-".join(OwnIterator("a", "b")), x + 1.0


def rest_of_own_iterator(x):
    a, *rest = OwnIterator(1, 2, 3)
    return a, rest, x + 1.0


def too_few_for_unpacking(x):
    try:
        a, b, *rest = plain(1)
    except ValueError as error:
        return str(error), x + 1.0


def too_few_behind_the_star(x):
    try:
        a, *rest, b, c = OwnIterator(1, 2)
    except ValueError as error:
        return str(error), x + 1.0


def bytes_of_a_generator(x):
    return bytes(plain(1, 2, 3)), x + 1.0


def sets_united(x):
    return sorted({1}.union(plain(2, 3))), x + 1.0


ORDERED = [
    sum_of_numbers, sum_from_a_number, sum_of_mixed, sum_of_floats, sum_with_ints_beyond,
    sum_that_fails, sum_of_arrays, least_number, greatest_number, least_by_key, least_by_number,
    least_of_none, least_of_nothing, least_that_fails, any_number, all_numbers, found_number,
    set_of_numbers, frozenset_of_numbers, set_comprehension, dict_of_keys, dict_of_pairs,
    dict_of_number_pairs, update_of_pairs, update_that_fails, dict_of_a_mapping,
    update_from_a_mapping, display_of_a_mapping, display_of_no_mapping, display_of_numbers,
    default_of_a_number, set_with_numbers, update_set_with_numbers, joined_iterator,
    joined_own_iterator, rest_of_own_iterator,
    too_few_for_unpacking, too_few_behind_the_star, bytes_of_a_generator, sets_united,
]  # fmt: skip


def test_a_break_over_an_iterator_of_the_program():
    """It is not asked for an iterator again."""

    def enumerated(x):
        rest = enumerate(OwnIterator(3, 1, 2))
        dyntrace.graph_break()
        return list(rest), x + 1.0

    def zipped(x):
        rest = zip(OwnIterator(3, 1, 2), "ab")
        first = next(rest)
        dyntrace.graph_break()
        return first, list(rest), x + 1.0

    def mapped(x):
        rest = map(str, OwnIterator(3, 1, 2))
        dyntrace.graph_break()
        return next(rest), x + 1.0

    for fn in (enumerated, zipped, mapped):
        with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
            compiled = Compiled(fn)
            for _ in range(3):
                LOG.clear()
                plain = Outcome(fn, (A,), {}, lambda: list(LOG))
                LOG.clear()
                compare(plain, Outcome(compiled, (A,), {}, lambda: list(LOG)))


@pytest.mark.parametrize("fn", ORDERED, ids=lambda fn: fn.__name__)
def test_item_by_item(fn):
    check(fn, A, state=lambda: list(LOG), reset=LOG.clear)


def bytes_that_do_not_fit(x):
    try:
        return bytes(plain(1, 300, 3)), x
    except ValueError as error:
        return str(error), x + 1.0


def bytearray_that_does_not_fit(x):
    value = bytearray(b"a")
    try:
        value.extend(plain(1, 300, 3))
    except ValueError as error:
        return str(error), value, x + 1.0


def union_of_numbers(x):
    return len(set().union(numbers(1, 2, 1))), x + 1.0


@pytest.mark.parametrize(
    ("fn", "row"),
    [
        (bytes_that_do_not_fit, "raises"),
        (bytearray_that_does_not_fit, "raises"),
        (union_of_numbers, "missing-slot"),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_breaks_where_the_order_is_not_followed(fn, row):
    check(fn, A, state=lambda: list(LOG), reset=LOG.clear, breaks=row)


def test_a_huge_hint_breaks():
    def run(x):
        try:
            return list(Hinted(1, hint=1 << 62)), x
        except MemoryError:
            return x + 1.0

    check(run, A, state=lambda: list(LOG), reset=LOG.clear, breaks="unroll-limit")
