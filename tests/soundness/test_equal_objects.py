"""Texts, bytes and numbers are guarded by value, but what a program passes on is the object that this call
was given, not an equal one of an earlier call."""

import types

import dyntrace
import numpy as np
import pytest
from differential import Compiled

X = np.arange(3.0)

MAKERS = {
    "bytes": lambda: bytes(bytearray(b"a few bytes")),
    "text": lambda: "".join(["a few", " letters"]),
    "identifier": lambda: "".join(["identi", "fier"]),
    "int": lambda: int("123456"),
    "large int": lambda: int("1" * 40),
    "float": lambda: float("1.25"),
    "complex": lambda: complex("2.5j"),
    "tuple": lambda: tuple([int("1000"), "".join("ab")]),
    "range": lambda: range(int("1000")),
    "frozenset": lambda: frozenset([int("1000")]),
}


def looked_at(value):
    return value is not None and value != "something else"


def argument(box):
    (value,) = box
    if looked_at(value):
        return X + 1, value
    return None


def item(box):
    if looked_at(box[0]):
        return X + 1, box[0]
    return None


def in_new_containers(box):
    value = box[0]
    if looked_at(value):
        return X + 1, [value], {"key": (value, 1)}, value
    return None


def put_into_a_list(box):
    value = box[0]
    if looked_at(value):
        box.append(value)
        box[0] = None
    return X + 1, box


def attribute_of_new(box):
    value = box[0]
    made = types.SimpleNamespace()
    if looked_at(value):
        made.value = value
    return X + 1, made


def behind_a_break(box):
    value = box[0]
    if looked_at(value):
        dyntrace.graph_break()
        box[0] = None
        return X + 1, value
    return None


def in_a_closure(box):
    value = box[0]

    def inner():
        return value

    return (X + 1, inner) if looked_at(value) else None


def yielded(box):
    def each():
        for value in box:
            if looked_at(value):
                yield value

    return X + 1, list(each())


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize(
    "fn", [argument, item, in_new_containers, put_into_a_list, attribute_of_new, behind_a_break,
           in_a_closure, yielded]
)  # fmt: skip
def test_the_object_of_this_call(fn, make):
    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        compiled, first = Compiled(fn), make()
        expected = [each is first for part in fn([first])[1:] for each in places(part)]
        assert True in expected
        for _ in range(4):
            value = make()
            found = [each for part in compiled([value])[1:] for each in places(part)]
            assert [each is value for each in found] == expected


def places(result):
    """What a result holds, in one list."""
    if isinstance(result, types.FunctionType):
        return [result()]
    if isinstance(result, types.SimpleNamespace):
        return [result.value]
    if isinstance(result, dict):
        return [value for pair in result.values() for value in pair]
    if isinstance(result, list):
        return result
    return [result]


def whether_one(box):
    left, right = box
    if looked_at(left) and left == right:
        return X + 1, left is right
    return None


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_one_or_two(make):
    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        compiled = Compiled(whether_one)
        for _ in range(2):
            one, two = make(), make()
            assert compiled([one, one])[1] is True
            assert compiled([one, two])[1] is False
            assert compiled([two, two])[1] is True
