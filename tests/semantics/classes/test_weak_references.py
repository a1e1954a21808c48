"""Weak references, existing and new"""

import gc
import weakref

import dyntrace
import numpy as np
import pytest
from differential import FORCED, check

A = np.linspace(0.5, 2.0, 4)
WHOLE = []


def whole(fn):
    WHOLE.append(fn)
    return fn


class Node:
    def __init__(self, value, parent=None):
        self.value = value
        self.parent = weakref.ref(parent) if parent is not None else None


ROOT = Node(2.0)
LEAF = Node(3.0, ROOT)
REFERENCE = weakref.ref(ROOT)
DEAD = weakref.ref(Node(1.0))
BY_NAME = weakref.WeakValueDictionary(root=ROOT)
gc.collect()


@whole
def existing(x):
    return x * REFERENCE().value


@whole
def dead(x):
    return x * (2 if DEAD() is None else 3)


@whole
def of_a_tree(x):
    return x * LEAF.value + LEAF.parent().value


@whole
def walked(x):
    node, total = LEAF, 0.0
    while node is not None:
        total += node.value
        node = node.parent() if node.parent is not None else None
    return x * total


@whole
def in_a_dictionary(x):
    return x * BY_NAME["root"].value


@whole
def missing_in_a_dictionary(x):
    try:
        BY_NAME["leaf"]
    except KeyError as error:
        return x * 2, error.args


@whole
def new(x):
    node = Node(4.0)
    reference = weakref.ref(node)
    return x * reference().value, reference() is node


@whole
def new_of_an_existing(x):
    return x * weakref.ref(LEAF)().value


@whole
def new_tree(x):
    root = Node(1.0)
    leaf = Node(2.0, root)
    return x * leaf.parent().value


@whole
def made_twice(x):
    node = Node(1.0)
    return x * 2, weakref.ref(node) is weakref.ref(node)


@whole
def of_what_has_none(x):
    try:
        weakref.ref(3)
    except TypeError as error:
        return x * 2, str(error)


@pytest.mark.parametrize("fn", WHOLE, ids=lambda fn: fn.__name__)
def test_captured_whole(fn):
    check(fn, A)


def leaves(x):
    node = Node(5.0)
    return x * 2, node, weakref.ref(node)


@pytest.mark.skipif(bool(FORCED), reason="it is about what is captured")
def test_a_new_one_leaves():
    compiled = dyntrace.compile(leaves, fullgraph=True)
    for _ in range(3):
        _, node, reference = compiled(A)
        assert reference() is node
        del node
        gc.collect()
        assert reference() is None


def dropped(x):
    reference = weakref.ref(Node(5.0))
    return x * 2, reference()


def replaced(x):
    node = Node(5.0)
    reference = weakref.ref(node)
    node = Node(6.0)
    return x * node.value, reference() is None


def let_go(x, holder):
    reference = weakref.ref(holder[0])
    holder.clear()
    return x * 2, reference() is None


def test_what_may_be_dead_is_looked_at_plainly():
    for fn in (dropped, replaced):
        plain, found = fn(A), dyntrace.compile(fn)(A)
        assert np.array_equal(plain[0], found[0]) and plain[1] == found[1]
    compiled = dyntrace.compile(let_go)
    for _ in range(3):
        assert compiled(A, [Node(1.0)])[1] is True


def follow(x, reference):
    node = reference()
    return x * (node.value if node is not None else -1.0)


@pytest.mark.skipif(bool(FORCED), reason="it is about what is captured")
def test_what_a_reference_refers_to_is_guarded():
    compiled = dyntrace.compile(follow, fullgraph=True)
    for value in (1.0, 2.0):
        node = Node(value)
        reference = weakref.ref(node)
        assert np.array_equal(compiled(A, reference), A * value)
        node.value = 7.0
        assert np.array_equal(compiled(A, reference), A * 7.0)
        del node
        gc.collect()
        assert np.array_equal(compiled(A, reference), -A)


def deleted_later():
    node = Node(5.0)
    reference = weakref.ref(node)
    print("a break")
    del node
    return reference() is None


def replaced_later():
    node = Node(5.0)
    reference = weakref.ref(node)
    print("a break")
    node = Node(6.0)
    found = reference()
    return found is None, node.value


def its_holder_replaced():
    holder = Node([Node(5.0)])
    reference = weakref.ref(holder.value[0])
    print("a break")
    holder = reference
    return holder() is None


def taken_from_the_stack():
    def first(reference, node, _):
        del node
        return reference() is None

    node = Node(1.0)
    return first(weakref.ref(node), node, print("a break")), node.value


def held_by_another_name():
    node = Node(5.0)
    reference = weakref.ref(node)
    print("a break")
    other = node
    del node
    return reference() is other


@pytest.mark.parametrize(
    "fn",
    [deleted_later, replaced_later, its_holder_replaced, taken_from_the_stack, held_by_another_name],
)
def test_what_was_let_go_of_behind_a_break_is_dead(fn):
    compiled = dyntrace.compile(fn)
    with dyntrace.config.patch(everything=True):
        for _ in range(3):
            assert compiled() == fn()
