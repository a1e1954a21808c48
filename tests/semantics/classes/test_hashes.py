"""What a __hash__ returns is the hash as it stands: it is not hashed again."""

from dataclasses import dataclass

import pytest
from differential import check


class Says:
    def __init__(self, answer):
        self.answer = answer

    def __hash__(self):
        return self.answer

    def __eq__(self, other):
        return self is other


@dataclass(unsafe_hash=True)
class Point:
    x: int
    y: str


@dataclass(frozen=True)
class Nothing:
    pass


ANSWERS = [
    0,
    1,
    -1,
    -2,
    2**61 - 1,
    2**61,
    2**62 + 5,
    -(2**61) - 3,
    2**63 - 1,
    -(2**63),
    2**63,
    2**64,
    -(2**70),
]


def asked(answer):
    return hash(Says(answer)), hash((Says(answer), 1))


def in_an_inlined_call(answer):
    def inner(value):
        return hash(value) % 1000

    return inner(Says(answer))


def of_fields(x, y):
    return (
        hash(Point(x, y)) == hash((x, y)),
        hash(Point(x, y)) - hash((x, y)),
        hash(Nothing()) == hash(()),
    )


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("fn", [asked, in_an_inlined_call])
def test_answer(fn, answer):
    check(fn, answer)


@pytest.mark.parametrize("x", [1, 10**18, 2**61])
def test_dataclass(x):
    check(of_fields, x, "foo")
