"""Objects that act when they die, taken out of what holds them: they act in their place."""

import collections
import gc
import types
import weakref

import dyntrace
import numpy as np
import pytest
from differential import Compiled

LOG = []
A = np.linspace(0.5, 2.0, 4)


@pytest.fixture(autouse=True)
def small_heap():
    """The collector runs often here: what lives already is none of its business."""
    global GLOBAL
    gc.freeze()
    yield
    GLOBAL = None  # what is left here would act at the end of the interpreter
    vars(MODULE).pop("value", None)
    gc.unfreeze()


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


class Slots:
    __slots__ = ("value",)


MODULE = types.ModuleType("module")
GLOBAL = None


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


def from_slot(items, other, table, holder, x):
    other.append(1)
    holder.slots.value = x
    other.append(2)
    return x * 2.0


def deleted_slot(items, other, table, holder, x):
    other.append(1)
    del holder.slots.value
    other.append(2)
    return x * 2.0


def from_global(items, other, table, holder, x):
    global GLOBAL
    other.append(1)
    GLOBAL = x
    other.append(2)
    return x * 2.0


def from_module(items, other, table, holder, x):
    other.append(1)
    MODULE.value = x
    other.append(2)
    return x * 2.0


def from_cell(items, other, table, holder, x):
    other.append(1)
    holder.fill(x)
    other.append(2)
    return x * 2.0


def from_deque(items, other, table, holder, x):
    other.append(1)
    holder.queue.append(x)
    other.append(2)
    holder.queue.popleft()
    return x * 2.0


def twice(items, other, table, holder, x):
    holder.value = other
    holder.slots.value = 2
    other.append(1)
    items[0] = items[1]
    return x * 2.0


def replaced_by_what_it_holds(items, other, table, holder, x):
    other.append(1)
    holder.nested = holder.nested[0]
    other.append(2)
    return x * 2.0


def read_after(items, other, table, holder, x):
    holder.value = x
    return x * 2.0, len(LOG)


FUNCTIONS = [
    from_slot, deleted_slot, from_global, from_module, from_cell, from_deque, twice,
    replaced_by_what_it_holds, read_after, from_list, popped, cleared, from_dict, from_attribute,
    from_own_dict, deleted_attribute, kept_by_the_result,
]  # fmt: skip


def world(kind):
    """Everything in it that `kind` says: nothing acts, a finaliser, something inside, a callback."""
    global GLOBAL
    items, other, table = [], [], {}
    watched = [items, other, table]

    def loud():
        if kind == "finaliser":
            return Loud(watched)
        if kind == "number":
            return 1
        if kind == "inside":
            return [(Holder({"deep": Loud(watched)}), 1)]
        quiet = Quiet()
        if kind == "weak reference":
            weakref.finalize(quiet, lambda: LOG.append([len(part) for part in watched]))
        return quiet

    def cell():
        contents = loud()

        def fill(value):
            nonlocal contents
            contents = value

        return fill

    items.extend([loud(), loud(), 5])
    table.update(loud=loud(), second=loud())
    holder = Holder(loud())
    holder.slots = Slots()
    holder.slots.value = loud()
    holder.fill = cell()
    holder.queue = collections.deque([loud(), loud()])
    holder.nested = [loud(), loud()]
    GLOBAL = loud()
    MODULE.value = loud()
    return items, other, table, holder, A


def observe(fn, kind):
    LOG.clear()
    args = world(kind)
    gc.collect()  # of the world before, which a global held
    LOG.clear()
    result = fn(*args)
    seen = [list(LOG), repr(result)[-3:]]
    del result, args
    gc.collect()
    seen.append(list(LOG))
    LOG.clear()
    return seen


KINDS = ["finaliser", "weak reference", "inside"]


@pytest.mark.parametrize("kind", KINDS)
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
        assert plain[0]


@pytest.mark.parametrize("before", ["number", "quiet"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fn", FUNCTIONS, ids=lambda fn: fn.__name__)
def test_what_acts_comes_later(fn, kind, before):
    """What an entry was made for did not act; what lies there in a later call does."""
    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        compiled = Compiled(fn)
        for kind_now in (before, before, kind, before, kind, kind):
            assert observe(compiled, kind_now) == observe(fn, kind_now)


def test_who_lives_elsewhere_does_not_act():
    def run(holder, x):
        holder.value = x + 1.0
        return x * 2.0

    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        compiled = Compiled(run)
        kept = Loud([])
        LOG.clear()
        for _ in range(3):
            holder = Holder(kept)
            compiled(holder, A)
        assert not compiled.breaks and len(compiled.records) == 1 and not LOG


def test_a_linked_list_is_walked():
    """What takes the place of the dying one lives on, and so does what hangs on it."""

    def run(holder, x):
        holder.value = holder.value.value
        return x * 2.0

    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        compiled = Compiled(run)
        holder = Holder(None)
        for _ in range(3000):
            holder.value = Holder(holder.value)
        last = holder.value
        for _ in range(5):
            compiled(holder, A)
            last = last.value
            assert holder.value is last
        assert not compiled.breaks and len(compiled.records) == 1


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


def suspended(first):
    """The generator of an iteration ends when the next one takes its place, after what was logged."""
    try:
        pass
    except ValueError as error:
        raise KeyError(3) from error
    for number in list({"a": 1, "b": 2}):

        def steps():
            try:
                yield number
            except KeyError:
                yield -1
            finally:
                LOG.append("end")

        generator = steps()
        next(generator)
        LOG.append(generator.throw(KeyError(2)))


@pytest.mark.parametrize("call", range(3))
def test_generators_of_a_loop_end_in_their_place(call):
    compiled = Compiled(suspended)
    for _ in range(call + 1):
        LOG.clear()
        compiled(A)
    assert LOG == [-1, "end", -1, "end"]
