"""id() of objects that existed before: in sets and dicts, and compared"""

import numpy as np
import pytest
from differential import check


class Node:
    def __init__(self, name):
        self.name = name
        self.edges = []
        self.value = 1.0


def ring(count):
    nodes = [Node(str(i)) for i in range(count)]
    for i, node in enumerate(nodes):
        node.edges = [nodes[(i + 1) % count], nodes[(i * 2) % count]]
    return nodes


NODES = ring(5)
X = np.arange(3.0)


def visited(start):
    seen, todo, order = {id(start)}, [start], []
    while todo:
        node = todo.pop()
        order.append(node.name)
        for other in node.edges:
            if id(other) not in seen:
                seen.add(id(other))
                todo.append(other)
    return X * len(seen), order


def matrix(nodes):
    index = {id(node): i for i, node in enumerate(nodes)}
    found = np.zeros((len(nodes), len(nodes)))
    for node in nodes:
        for other in node.edges:
            found[index[id(node)], index[id(other)]] += node.value
    return found


def compared(nodes):
    a, b = nodes[0], nodes[1]
    return id(a) == id(a), id(a) == id(b), id(a) != id(b), id(a) is id(a), X + 1


def beside_other_keys(nodes):
    table = {"name": 1, None: 2, (1, 2): 3}
    table[id(nodes[0])] = 4
    return table.get(id(nodes[1])), table.pop(id(nodes[0])), "name" in table, X + 1


def pairs(nodes):
    seen = set()
    for a in nodes:
        for b in nodes:
            if (id(b), id(a)) not in seen:
                seen.add((id(a), id(b)))
    return X * len(seen)


def memoised(nodes, memo=None):
    memo = {} if memo is None else memo
    total = 0.0
    for node in nodes:
        key = id(node)
        if key not in memo:
            memo[key] = node.value * X
        total = total + memo[key]
    return total


def texts_and_truth(nodes):
    key = id(nodes[0])
    return bool(key), isinstance(key, int), key == "a", key in ("a", None), X + 1


def of_containers(nodes):
    seen = [id(nodes), id(nodes[0].edges)]
    return id(nodes) in seen, id(nodes[1].edges) in seen, X + 1


def of_functions_and_classes(nodes):
    table = {id(Node): 1, id(ring): 2, id(np): 3}
    return table[id(type(nodes[0]))], table[id(ring)], table[id(np)], X + 1


@pytest.mark.parametrize(
    "fn",
    [
        matrix,
        compared,
        beside_other_keys,
        pairs,
        memoised,
        texts_and_truth,
        of_containers,
        of_functions_and_classes,
    ],
)
def test_captured_whole(fn):
    check(fn, ring(4))


def test_a_search():
    check(visited, NODES[0])
