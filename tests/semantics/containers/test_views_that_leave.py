"""Views and iterators that leave the call keep the very container that they were made of."""

from collections import OrderedDict, defaultdict

import dyntrace
import pytest
from differential import Compiled, check


class Table(dict):
    pass


class Loud(dict):
    def keys(self):
        return ["not", "these"]

    def __iter__(self):
        return iter("nor these")


class Items(list):
    pass


def views(cls):
    table = cls(a=1)
    return table, dict.keys(table), dict.values(table), dict.items(table)


def of_an_input(table):
    return table, dict.keys(table), dict.items(table)


def iterator(cls):
    table = cls(a=1, b=2)
    walk = dict.__iter__(table)
    next(walk)
    return table, walk


def list_iterator():
    items = Items((1, 2, 3))
    walk = iter(items)
    next(walk)
    return items, walk


def both(fn, *args):
    """What plain and compiled calls return."""
    yield fn(*args)
    with dyntrace.config.patch(everything=True, strict=True):
        compiled = Compiled(fn)
        yield compiled(*args)
        yield compiled(*args)


@pytest.mark.parametrize("cls", [dict, Table, Loud])
def test_views_see_changes(cls):
    for table, *seen in both(views, cls):
        dict.__setitem__(table, "new", 7)
        assert [list(view) for view in seen] == [["a", "new"], [1, 7], [("a", 1), ("new", 7)]]


@pytest.mark.parametrize("cls", [dict, Table, Loud, OrderedDict])
def test_views_of_an_input(cls):
    for table, *seen in both(of_an_input, cls(a=1)):
        assert [list(view) for view in seen] == [["a"], [("a", 1)]]
        table["b"] = 2
        assert [list(view) for view in seen] == [["a", "b"], [("a", 1), ("b", 2)]]
        del table["b"]


def keys_of(cls):
    table = cls()
    table["a"] = 1
    return table, table.keys(), iter(table)


@pytest.mark.parametrize("cls", [dict, Table, OrderedDict, lambda: defaultdict(int)])
def test_types(cls):
    for table, keys, walk in both(keys_of, cls):
        plain = cls()
        assert type(keys) is type(plain.keys()) and type(walk) is type(iter(plain))
        table["b"] = 2
        assert list(keys) == ["a", "b"]
        with pytest.raises(RuntimeError):
            next(walk)


@pytest.mark.parametrize("cls", [dict, Table, Loud])
def test_iterator_sees_a_new_size(cls):
    for table, walk in both(iterator, cls):
        dict.__setitem__(table, "new", 7)
        with pytest.raises(RuntimeError):
            next(walk)


def test_list_iterator_sees_additions():
    for items, walk in both(list_iterator):
        items.append(4)
        assert list(walk) == [2, 3, 4]


def mapping_of(table):
    before = table.keys().mapping
    table["foo"] = "bar"
    return dict(before)


@pytest.mark.parametrize("cls", [dict, Table])
def test_mapping(cls):
    check(mapping_of, make=lambda: ((cls(),), {}), breaks="missing-slot")


def exchanged(what):
    table = {0: 0}
    for _ in getattr(table, what)():
        del table[0]
        table[0] = 0


def equal_key_again(table):
    del table[1]
    table[True] = "new"
    return list(table.items())


def test_equal_key_again():
    check(equal_key_again, {1: "old", 2: "other"})
    check(equal_key_again, {2: "other", 1: "old"})


def exchanged_keys():
    table = {0: 0, 1: 1}
    for _ in table:
        del table[0]
        table[0] = 0


def exchanged_elements():
    elements = {1}
    for _ in elements:
        elements.remove(1)
        elements.add(2)
    return elements


@pytest.mark.parametrize("what", ["keys", "values", "items"])
def test_keys_exchanged_meanwhile(what):
    check(exchanged, what, breaks="missing-slot")


@pytest.mark.parametrize("fn", [exchanged_keys, exchanged_elements])
def test_exchanged_meanwhile(fn):
    check(fn, breaks="missing-slot")
