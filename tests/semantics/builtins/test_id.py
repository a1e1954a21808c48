"""id() of objects that existed before: in sets and dicts, and compared"""

import numpy as np
import pytest
from by_address import NODES, Node, X, beside_other_keys, compared, memoised, pairs, ring
from differential import check


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
