"""Objects that hash by their address as keys and elements: a later call that passes one object where an
earlier one passed two, or two where it passed one, finds what plain execution finds."""

import collections

import numpy as np
import pytest
from twins import succession


class Thing:
    kind = 0


A, B, C = Thing(), Thing(), Thing()
X = np.arange(3.0)


def key_of_new_dict(pair):
    return X * (pair[1] in {pair[0]: 1})


def elements(pair):
    return X * len({pair[0], pair[1]})


def elements_one_by_one(pair):
    seen = set()
    for thing in pair:
        seen.add(thing)
    return X * len(seen)


def stored_twice(pair):
    table = {}
    table[pair[0]] = 1
    table[pair[1]] = 2
    return X * table[pair[0]]


def counted(pair):
    return X * max(collections.Counter(pair).values())


def grouped(pair):
    groups = collections.defaultdict(list)
    for i, thing in enumerate(pair):
        groups[thing].append(i)
    return X * len(groups), list(groups.values())


def tuples(pair):
    return X * ((pair[0], 1) in {(pair[1], 1): 2})


def nested_tuples(pair):
    return X * len({(1, (pair[0], "a")), (1, (pair[1], "a"))})


def tuples_of_two(pair):
    return X * len({pair, pair[::-1]})


def intersection(pair):
    return X * len({pair[0]} & {pair[1]})


def difference(pair):
    return X * len({pair[0]} - {pair[1]})


def disjoint(pair):
    return X * {pair[0]}.isdisjoint([pair[1]])


def subset(pair):
    return X * ({pair[0]} <= frozenset([pair[1]]))


def equal_sets(pair):
    return X * ({pair[0]} == {pair[1]})


def equal_dicts(pair):
    return X * ({pair[0]: 1} == {pair[1]: 1})


def common_keys(pair):
    return X * len({pair[0]: 1}.keys() & {pair[1]: 1}.keys())


def merged(pair):
    return X * len({pair[0]: 1} | {pair[1]: 2})


def popped(pair):
    return X * {pair[0]: 1}.pop(pair[1], 5)


def discarded(pair):
    things = {pair[0]}
    things.discard(pair[1])
    return X * len(things)


def unique(pair):
    return X * len(dict.fromkeys(pair))


@pytest.mark.parametrize(
    "function",
    [
        key_of_new_dict,
        elements,
        elements_one_by_one,
        stored_twice,
        counted,
        grouped,
        tuples,
        nested_tuples,
        tuples_of_two,
        intersection,
        difference,
        disjoint,
        subset,
        equal_sets,
        equal_dicts,
        common_keys,
        merged,
        popped,
        discarded,
        unique,
    ],
)
@pytest.mark.parametrize("first", ["two", "one"])
def test_two_arguments(function, first):
    pairs = [(A, B), (A, A), (B, B), (B, A), (C, A), (C, C)]
    if first == "one":
        pairs.reverse()
    succession(function, pairs)


def in_existing_dict(given):
    return X * (given[1] in given[0])


def read_from_existing_dict(given):
    return X * given[0].get(given[1], 3)


def stored_in_a_copy(given):
    table = dict(given[0])
    table[given[1]] = 5
    return X * sum(table.values())


def added_to_a_copy(given):
    return X * len(set(given[0]) | {given[1]})


@pytest.mark.parametrize(
    "function", [in_existing_dict, read_from_existing_dict, stored_in_a_copy, added_to_a_copy]
)
@pytest.mark.parametrize("order", [1, -1])
def test_existing_dicts(function, order):
    tables = {thing: {thing: 1} for thing in (A, B)}
    pairs = [(tables[a], b) for a, b in [(A, B), (A, A), (B, B), (B, A), (A, C)]]
    succession(function, pairs[::order])


@pytest.mark.parametrize("order", [1, -1])
def test_existing_sets(order):
    sets = {thing: {thing} for thing in (A, B)}
    pairs = [(sets[a], b) for a, b in [(A, B), (A, A), (B, B), (B, A), (A, C)]]
    succession(in_existing_dict, pairs[::order])
    succession(added_to_a_copy, pairs[::order])
