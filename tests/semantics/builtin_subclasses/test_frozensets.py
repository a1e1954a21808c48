"""Instances of subclasses of frozenset that existed before the call: contents, order, copies."""

import pytest
from differential import check


class Tags(frozenset):
    pass


class Named(frozenset):
    def __new__(cls, items, name=None):
        self = super().__new__(cls, items)
        self.name = name
        return self


def difference(tags):
    return sorted(tags.difference("a"))


def operators(tags):
    return (
        tags | {"x"} == set("abcx"),
        tags <= set("abcd"),
        sorted(tags & {"a"}),
        sorted(tags ^ {"a"}),
    )


def order(tags):
    return [tag for tag in tags]


def plain_copy(tags):
    copy = frozenset(tags)
    return type(copy) is frozenset, copy is tags, "a" in copy, len(copy)


def plain_set(tags):
    made = set(tags)
    made.add("z")
    return sorted(made), len(tags)


def asked(tags):
    return "a" in tags, len(tags), bool(tags), hash(tags) == hash(frozenset("abc"))


def in_a_loop(tags):
    found = []
    for word in ("ab", "cd"):
        found.append(sorted(tags.intersection(word)))
    return found


@pytest.mark.parametrize("cls", [Tags, Named])
@pytest.mark.parametrize("fn", [difference, operators, order, plain_copy, plain_set, in_a_loop])
def test_existing(fn, cls):
    tags = cls("abc")
    check(fn, make=lambda: ((tags,), {}))


def test_empty():
    tags = Tags()
    check(order, make=lambda: ((tags,), {}))


def test_hash_of_one():
    tags = Tags("abc")
    check(asked, make=lambda: ((tags,), {}), breaks="missing-slot")
