"""Objects that act when they die, taken out of what holds them: they act in their place."""

import gc
import weakref

import dyntrace
import numpy as np
import pytest
from differential import Compiled

LOG = []
A = np.linspace(0.5, 2.0, 4)


class Loud:
    """Writes down what it sees when it dies."""

    def __init__(self, world):
        self.world = world

    def __del__(self):
        LOG.append([len(part) for part in self.world])


class Holder:
    def __init__(self, value):
        self.value = value


class Quiet:
    pass


def from_list(items, other, table, holder, x):
    other.append(1)
    items[0] = x + 1.0
    other.append(2)
    items[1] = 3
    return x * 2.0


def popped(items, other, table, holder, x):
    items.append(0)
    other.append(1)
    items.pop(0)
    other.append(2)
    return x * 2.0


def cleared(items, other, table, holder, x):
    table["n"] = 1
    items.clear()
    table["m"] = 2
    return x * 2.0


def from_dict(items, other, table, holder, x):
    other.append(1)
    table["loud"] = x
    other.append(2)
    del table["second"]
    return x * 2.0


def from_attribute(items, other, table, holder, x):
    other.append(1)
    holder.value = x
    other.append(2)
    return x * 2.0


def from_own_dict(items, other, table, holder, x):
    other.append(1)
    holder.__dict__["value"] = x
    other.append(2)
    return x * 2.0


def deleted_attribute(items, other, table, holder, x):
    other.append(1)
    del holder.value
    other.append(2)
    return x * 2.0


def kept_by_the_result(items, other, table, holder, x):
    other.append(1)
    first = items.pop(0)
    other.append(2)
    return first, x * 2.0


FUNCTIONS = [
    from_list, popped, cleared, from_dict, from_attribute, from_own_dict, deleted_attribute,
    kept_by_the_result,
]  # fmt: skip


def world(kind):
    items, other, table = [], [], {}
    watched = [items, other, table]

    def loud():
        if kind == "finaliser":
            return Loud(watched)
        quiet = Quiet()
        weakref.finalize(quiet, lambda: LOG.append([len(part) for part in watched]))
        return quiet

    items.extend([loud(), loud(), 5])
    table.update(loud=loud(), second=loud())
    return items, other, table, Holder(loud()), A


def observe(fn, kind):
    LOG.clear()
    args = world(kind)
    result = fn(*args)
    seen = list(LOG)
    LOG.clear()
    del result, args
    gc.collect()
    return seen


@pytest.mark.parametrize("kind", ["finaliser", "weak reference"])
@pytest.mark.parametrize("fn", FUNCTIONS, ids=lambda fn: fn.__name__)
def test_act_in_their_place(fn, kind):
    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        compiled = Compiled(fn)
        plain = observe(fn, kind)
        for _ in range(4):
            assert observe(compiled, kind) == plain
    if fn is kept_by_the_result:
        assert not compiled.breaks
    else:
        assert plain


def test_quiet_objects_are_captured():
    def run(items, holder, x):
        items[0] = x + 1.0
        holder.value = x
        items.pop()
        return x * 2.0

    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        compiled = Compiled(run)
        for _ in range(3):
            items, holder = [Quiet(), 1, Quiet()], Holder(Quiet())
            died = [weakref.ref(items[0]), weakref.ref(items[2]), weakref.ref(holder.value)]
            compiled(items, holder, A)
            assert [ref() for ref in died] == [None] * 3
    assert not compiled.breaks
