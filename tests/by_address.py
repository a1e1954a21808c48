"""Nodes that know each other, and functions that tell them apart by `id()`."""

import copy

import numpy as np


class Node:
    def __init__(self, name):
        self.name = name
        self.edges = []
        self.value = 1.0

    def __deepcopy__(self, memo):
        made = Node(self.name)
        memo[id(self)] = made
        made.edges = copy.deepcopy(self.edges, memo)
        return made


def ring(count):
    nodes = [Node(str(i)) for i in range(count)]
    for i, node in enumerate(nodes):
        node.edges = [nodes[(i + 1) % count], nodes[(i * 2) % count]]
    return nodes


NODES = ring(5)
X = np.arange(3.0)


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
