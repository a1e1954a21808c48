"""id(): one object passed twice, numbers that leave the call, and what needs the number, which breaks"""

import copy

import numpy as np
import pytest
from by_address import NODES, Node, X, beside_other_keys, compared, memoised, pairs
from differential import Compiled
from twins import succession


def of_arrays(arrays):
    seen = {}
    for a in arrays:
        seen.setdefault(id(a), []).append(a * 2)
    return list(seen.values())


def test_arrays():
    a, b = np.arange(3.0), np.arange(3.0)
    succession(of_arrays, [(a, b), (a, a), (b, b), (b, a), (a, b, a)])


def test_one_object_twice():
    a, b, c = NODES[:3]
    for fn in (compared, beside_other_keys, pairs, memoised, matrix_of_two):
        succession(fn, [(a, b), (a, a), (b, b), (b, c)])
        succession(fn, [(b, b), (a, b), (a, a)])


def matrix_of_two(nodes):
    index = {}
    for node in nodes:
        index.setdefault(id(node), len(index))
    return X * len(index), list(index.values())


def given_away(nodes):
    return id(nodes[0]), {"key": id(nodes[1])}, (id(nodes[0]), 1), X + 1


def test_numbers_that_leave():
    succession(given_away, [NODES[:2], NODES[:2], NODES[1:3]])


def test_keys_that_leave():
    def fn(nodes):
        return {id(node): node.value for node in nodes}, {id(nodes[0])}, X + 1

    succession(fn, [NODES[:2], NODES[1:3]])


def test_written_into_what_existed():
    table = {}

    def fn(nodes):
        for node in nodes:
            table[id(node)] = node.value * X
        return X + 1

    compiled = Compiled(fn)
    for nodes in (NODES[:2], NODES[1:4]):
        table.clear()
        compiled(nodes)
        assert list(table) == [id(node) for node in nodes]


def test_a_memo_of_deepcopy():
    succession(lambda nodes: ([n.name for n in copy.deepcopy(nodes)[0].edges], X + 1), [NODES])


@pytest.mark.parametrize(
    "fn",
    [
        lambda nodes: {id(node): node.value for node in nodes}.keys() >= {5},
        lambda nodes: id(nodes[0]) == 5,
        lambda nodes: 5 == id(nodes[0]),
        lambda nodes: id(nodes[0]) == 5.0,
        lambda nodes: nodes[0].value == id(nodes[0]),
        lambda nodes: id(nodes[0]) in (1, 2),
        lambda nodes: id(nodes[0]) in {1: 2},
        lambda nodes: (id(nodes[0]), 1) in {(1, 1): 2},
        lambda nodes: id(nodes[0]) % 16,
        lambda nodes: 3 - id(nodes[0]),
        lambda nodes: id(nodes[0]) ^ id(nodes[1]),
        lambda nodes: [] * (id(nodes[0])),
        lambda nodes: ~id(nodes[0]) < 0,
        lambda nodes: abs(id(nodes[0])) > 0,
        lambda nodes: divmod(id(nodes[0]), 3)[1] < 3,
        lambda nodes: pow(id(nodes[0]), 1, 5) < 5,
        lambda nodes: sum([id(nodes[0])]) > 0,
        lambda nodes: round(id(nodes[0])) > 0,
        lambda nodes: complex(id(nodes[0])) != 0,
        lambda nodes: (1).__add__(id(nodes[0])) > 0,
        lambda nodes: id(nodes[0]).__add__(1) > 0,
        lambda nodes: id(nodes[0]).real > 0,
        lambda nodes: min(id(nodes[0]), 5),
        lambda nodes: "abc".center(id(nodes[0]) * 0) + str(id(nodes[0])).isdigit() * "d",
        lambda nodes: repr(id(nodes[0])).isdigit(),
        lambda nodes: bytes([id(nodes[0]) & 1]) == b"",
        lambda nodes: np.full(2, id(nodes[0])).sum() > 0,
        lambda nodes: X[id(nodes[0]) & 1 :].size > 9,
        lambda nodes: -id(nodes[0]) < 0,
        lambda nodes: int(id(nodes[0])) > 5,
        lambda nodes: f"{id(nodes[0]):x}" != "",
        lambda nodes: hex(id(nodes[0])) != "",
        lambda nodes: str(id(nodes[0])) != "",
        lambda nodes: "%x" % id(nodes[0]) != "",
        lambda nodes: hash(id(nodes[0])) != 0,
        lambda nodes: id(nodes[0]).bit_length() > 0,
        lambda nodes: sorted(nodes[:1] * 2, key=id) is None,
        lambda nodes: max(id(nodes[0]), id(nodes[1])) > 0,
        lambda nodes: X == id(nodes[0]),
        lambda nodes: float(id(nodes[0])) > 0,
        lambda nodes: X + id(nodes[0]),
        lambda nodes: np.array([id(nodes[0])]).sum() == id(nodes[0]),
        lambda nodes: X * id(nodes[0]),
        lambda nodes: "abcdef"[id(nodes[0]) :],
        lambda nodes: list(range(id(nodes[0]), id(nodes[0]) + 2)) is None,
        lambda nodes: len({id(Node("a")), id(Node("b"))}) > 0,
        lambda nodes: id([]) == id(nodes),
        lambda nodes: id(5) == id(5),
        lambda nodes: id(nodes[0].__deepcopy__) != 0,
        lambda nodes: [0, 1, 2].index(id(nodes[0])) if nodes[0].value == 2 else id(nodes[0]) > 3,
        lambda nodes: math_floor(id(nodes[0])) > 0,
    ],
)
def test_what_needs_the_number_breaks(fn):
    def careful(nodes):
        try:
            return fn(nodes)
        except Exception as error:  # noqa: BLE001
            return type(error).__name__

    for function in (fn, careful):
        compiled = Compiled(function)
        for nodes in (NODES[:2], NODES[1:3], [NODES[3], NODES[3]]):
            assert repr(compiled(nodes)) == repr(careful(nodes))
        assert compiled.breaks


def math_floor(number):
    import math

    return math.floor(number)


def test_a_plain_int_that_is_the_address():
    known = {id(NODES[0]): "found"}

    def fn(node):
        return known.get(id(node)), X + 1

    succession(fn, [NODES[1], NODES[0], NODES[2]])

    def is_it(node):
        return id(node) == ADDRESS, id(node) in (ADDRESS, 3), X + 1

    succession(is_it, [NODES[1], NODES[0], NODES[2]])


ADDRESS = id(NODES[0])


def test_an_id_of_the_program(monkeypatch):
    def fn(node):
        return id(node), X + 1

    compiled = Compiled(fn)
    assert compiled(NODES[0])[0] == id(NODES[0])
    monkeypatch.setitem(globals(), "id", lambda node: 7)
    assert compiled(NODES[0])[0] == 7
