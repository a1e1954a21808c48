"""Lists that grow from call to call and are asked for their length, or for what stands at their ends.

One entry serves all lengths that go the same way; the differential part runs each function over lists
of many lengths, shorter ones after longer ones.
"""

import gc
import itertools
import weakref
from collections import deque

import dyntrace
import numpy as np
import pytest
from differential import check_calls


class Run:
    def __init__(self, history=()):
        self.history = list(history)


# ---- Few entries -----------------------------------------------------------------------------------


def every_third(items, x):
    items.append(x * 2)
    return len(items) % 3 == 0


def more_than_three(items, x):
    items.append(x * 2)
    if len(items) > 3:
        x = x + 1
    return x / len(items)


def as_queue(items, x):
    items.append(x * 2)
    if len(items) > 3:
        return items.pop(0)
    return None


def as_queue_by_del(items, x):
    items.append(x * 2)
    if len(items) > 3:
        del items[0]


def as_stack(items, x):
    items.append(x)
    items.append(x + 1)
    return items.pop() * 2


def takes_and_puts(items, x):
    items.append(items.pop() * 0.5 if items else x)
    items.append(x)


def by_length(items, x):
    items.append(x)
    items[len(items) - 1] = x * 2
    return items[len(items) - 1] - items[0 + len(items) - 1]


def last_two(items, x):
    items.append(x * 2)
    if len(items) >= 2:
        return items[-1] - items[-2]
    return items[-1]


def first_one(items, x):
    items.append(x * 2)
    return items[-1] - items[0]


def last_before(items, x):
    y = x * 2
    if items:
        y = y + items[-1]
    items.append(y)


def unless_empty(items, x):
    y = x * 2
    if not items:
        y = y + 1
    items.append(y)
    return len(items) == 1


def replaces_last(items, x):
    items.append(x)
    items[-1] = x * 2
    items[0] = x * 3


def adds_in_place(items, x):
    items += [x * 2]
    items += (x, x + 1)


def newest_first(items, x):
    items.insert(0, x * 2)
    items.insert(1, x)
    return items[0], items[1]


def window(items, x):
    items.append(x * 2)
    return items[-3:], items[:1]


def running_mean(items, x):
    items.append(x * 2)
    return items[-1] * (1.0 / len(items))


FEW = {
    every_third: 2, more_than_three: 2, as_queue: 2, as_queue_by_del: 2, as_stack: 1, takes_and_puts: 2,
    last_two: 2, first_one: 2, last_before: 2, unless_empty: 2, replaces_last: 2, adds_in_place: 1,
    newest_first: 1, window: 4, running_mean: 1, by_length: 1,
}  # fmt: skip


@pytest.mark.parametrize("fn", FEW)
def test_few_entries_serve_all_lengths(fn):
    plain, compiled = [], []
    run = dyntrace.compile(fn, fullgraph=True)
    for k in range(14):
        x = np.arange(3.0) + k
        assert repr(run(compiled, x)) == repr(fn(plain, x))
        assert repr(compiled) == repr(plain)
    assert len(run.cache_entries()) <= FEW[fn]


def test_an_attribute_and_its_length_in_a_loop():
    def train(run, x):
        for _ in range(3):
            run.history.append(x * len(run.history))
            if len(run.history) % 10 == 0:
                run.history.append(None)

    plain, compiled = Run(), Run()
    run = dyntrace.compile(train, fullgraph=True)
    for k in range(12):
        train(plain, np.ones(2) * k)
        run(compiled, np.ones(2) * k)
    assert repr(compiled.history) == repr(plain.history)


# ---- As plainly, whatever the lengths --------------------------------------------------------------


def ends(items, x):
    items.append(x)
    return items[0], items[-1], items[-2], items[1], len(items)


def ends_that_meet(items, x):
    items.append(0)
    first, second, last, before = items[0], items[1], items[-2], items[-3]
    items[0], items[-2] = last, first
    items[1] = before
    return second, items[0] is last, items[-2] is first, len(items)


def one_by_both_ends(items, x):
    items.append(0)
    items[-2] = "new"
    return items[0], items.pop(0), items.pop(), len(items)


def empties(items, x):
    items.pop()
    items.pop(0)
    return len(items), bool(items), not items


def takes_all_off(items, x):
    taken = []
    while items:
        taken.append(items.pop())
    items.append(taken)
    return len(items)


def takes_three(items, x):
    return items.pop(), items.pop(-1), items.pop(0), items.pop(1), len(items)


def out_of_reach(items, x):
    items.append(x)
    items.append(x)
    try:
        return items[-4]
    except IndexError as error:
        items.append(str(error))
    return items[7]


def stores_out_of_reach(items, x):
    items.append(x)
    items[2] = "third"
    items[-4] = "fourth from the end"
    del items[3]


def length_and_items(items, x):
    n = len(items)
    items.append(n)
    return n, [item for item in items], items == list(items), len(items) - n


def reads_after_changing_both_ends(items, x):
    items.insert(0, "front")
    items.append("back")
    items.pop(1)
    seen = list(items)
    items.reverse()
    return seen, items[0], len(items)


def reads_halfway(items, x):
    items.append(1)
    first = items.pop(0)
    total = sum(isinstance(item, int) for item in items)
    items.append(total)
    return first, items.pop(), len(items)


def breaks_halfway(items, x):
    items.append(x)
    n, last = len(items), items[-2:]
    gc.isenabled()
    items.append(n)
    return n, last, len(items), items.pop(0)


def changed_by_an_untraced_call(items, x):
    items.append(x)
    n = len(items)
    list(map(items.append, [1, 2]))
    items[-1] = n
    return n, len(items), items[-1], items[-2], items[0]


def raises_halfway(items, x):
    items.append(x)
    items.pop(0)
    if len(items) > 2:
        raise ValueError(len(items))
    items.insert(0, "kept")
    return items[5]


def caught_and_taken_back(items, x):
    for i in range(3):
        items.append(i)
        try:
            items[0] = i
            if len(items) > 3:
                items.pop()
                raise KeyError(i)
        except KeyError:
            items.append("caught")
    return len(items), items[-1], x * 2


def slices(items, x):
    items.append(x)
    return items[-2:], items[-3:-1], items[:2], items[1:2], items[-1:1], items[2:1], items[-0:], items[::2]


def slices_before(items, x):
    n = len(items)
    return items[-1:], items[:1], items[-2:-1], n


def iterates_afterwards(items, x):
    items.append(x)
    items.pop(0)
    items[-1] = 7
    total = 0
    for _ in items:
        total += 1
    return total, len(items)


def extends_itself(items, x):
    items.append(1)
    items += items
    items.extend(items[-2:])
    items += [items[0], items[-1]]
    return len(items)


def by_other_indices(items, x):
    items.append(x)
    last = items[np.int64(-1)]
    return last is x, items[True], items[False], items[len(items) - 1] is x, items[-len(items)]


def bad_arguments(items, x):
    items.append(x)
    told = []
    for use in (
        lambda: items["a"], lambda: items[1.5], lambda: items[10**30], lambda: items.pop("a"),
        lambda: items.pop(1, 2), lambda: items.insert(1), lambda: items.insert("a", 1), lambda: items.pop(99),
        lambda: items.__setitem__(-99, 1), lambda: items.__delitem__(99),
    ):  # fmt: skip
        try:
            use()
        except (TypeError, IndexError) as error:
            told.append((type(error), str(error)))
    return told, len(items)


def methods_kept(items, x):
    pop, insert, append = items.pop, items.insert, items.append
    append(x)
    n = len(items)
    first = pop(0)
    seen = list(items)
    insert(0, first)
    insert(-1, n)
    return seen, pop(), pop(-1), len(items)


def same_objects(items, x):
    items.append(x)
    return items[0] is items[-1], items[-2] is items[0], items[-1] is x, items[0] == items[-2]


ALL = [
    ends, ends_that_meet, one_by_both_ends, empties, takes_all_off, takes_three, out_of_reach,
    stores_out_of_reach, length_and_items, reads_after_changing_both_ends, reads_halfway, breaks_halfway,
    changed_by_an_untraced_call, raises_halfway, caught_and_taken_back, slices, slices_before,
    iterates_afterwards, extends_itself, by_other_indices, bad_arguments, methods_kept, same_objects,
    *FEW,
]  # fmt: skip


class Sub(list):
    """Counts who asks."""

    def __len__(self):
        return super().__len__() + 100

    def __getitem__(self, index):
        return "got", index

    def pop(self, *args):
        return "popped", super().pop(*args)


@pytest.mark.parametrize("fn", ALL)
@pytest.mark.parametrize("lengths", [(3, 0, 1, 5, 2, 4, 8), (0, 1, 2, 3, 4), (6, 5, 4, 3, 2, 1, 0)], ids=str)
def test_as_plainly(fn, lengths):
    calls = [([10 * k for k in range(n)], np.arange(3.0) + n) for n in lengths]
    check_calls(fn, *calls, whole=False, recompile_limit=1000)


@pytest.mark.parametrize("fn", ALL)
def test_as_plainly_with_other_items(fn):
    """Items whose types vary, one object at several places, the list in itself, a subclass, no list."""
    one, array = object(), np.ones(2)
    itself = [1, 2]
    itself.append(itself)
    calls = [
        ([1.5, "a", None], 2.0), ([one, one], 2.0), ([array, array, array], 2.0), (itself, 2.0),
        (Sub([1, 2, 3]), 2.0), ([[1], [2]], 2.0), ((1, 2), 2.0), ([True, 1, 1.0], 2.0),
    ]  # fmt: skip
    check_calls(fn, *calls, whole=False, recompile_limit=1000)


# ---- One list under two names ----------------------------------------------------------------------


def two_ends(a, b, x):
    a.append(1)
    n = len(b)
    b.append(2)
    return n, a[-1], b[0], len(a), a is b


def queue_to_queue(a, b, x):
    b.append(a.pop(0))
    a.append(b.pop())
    b.insert(0, a[-1])
    return len(a), len(b)


def one_is_looked_at(a, b, x):
    a.append(x)
    if len(b) > 2:
        a.pop()
    return b[:]


@pytest.mark.parametrize("fn", [two_ends, queue_to_queue, one_is_looked_at])
def test_two_names_by_turns(fn):
    lists, plain_lists = [[0, 1, 2], [5, 6, 7, 8]], [[0, 1, 2], [5, 6, 7, 8]]
    run = dyntrace.compile(fn, fullgraph=True)
    for pick in [(0, 1), (0, 0), (1, 0), (1, 1), (0, 1)] * 3:
        assert run(*(lists[i] for i in pick), 1.0) == fn(*(plain_lists[i] for i in pick), 1.0)
        assert lists == plain_lists


def test_one_list_in_two_attributes():
    class Two:
        pass

    def step(two, x):
        two.a.append(x)
        two.b.append(x + 1)
        return len(two.a), two.b[-1], two.a[-1]

    run = dyntrace.compile(step)
    for same in (True, False, True):
        two, plain = Two(), Two()
        for each in (two, plain):
            each.a = [0]
            each.b = each.a if same else [1, 2]
        for k in range(6):
            assert run(two, k) == step(plain, k)
            assert (two.a, two.b) == (plain.a, plain.b)


# ---- What goes, and when ---------------------------------------------------------------------------


class Told:
    def __init__(self, name, log):
        self.name, self.log = name, log

    def __del__(self):
        self.log.append(self.name)


def drops_first(items, log):
    items.append(1)
    del items[0]
    log.append(len(items))


def replaces_first(items, log):
    items.append(1)
    items[0] = 2
    log.append("replaced")


def drops_result(items, log):
    items.pop()
    log.append("popped")


@pytest.mark.parametrize("fn", [drops_first, replaces_first, drops_result])
def test_finalisers_run_in_time(fn):
    def run(call):
        told = []
        for loud in (0, 0, 1, 0, 1):
            log = []
            items = [Told("at start", log) if loud else 3, 4, 5, Told("at end", log) if loud else 6]
            call(items, log)
            told.append((list(log), len(items)))
            items.clear()
        return told

    assert run(dyntrace.compile(fn)) == run(fn)


def test_what_was_taken_off_is_not_kept():
    def step(items, x):
        items.append(x * 2)
        items.pop(0)

    run = dyntrace.compile(step, fullgraph=True)
    items = [np.ones(2) for _ in range(3)]
    for _ in range(6):
        gone = weakref.ref(items[0])
        run(items, np.ones(2))
        assert gone() is None


def test_iterators_from_before_see_what_they_would():
    def step(items, x):
        items.append(x)
        items.pop(0)
        return len(items)

    outcomes = []
    for call in (step, dyntrace.compile(step)):
        items = [1, 2, 3, 4]
        iterator = iter(items)
        seen = []
        for k in range(6):
            seen.append(next(iterator, None))
            seen.append(call(items, k))
        outcomes.append((seen, list(iterator), items))
    assert outcomes[0] == outcomes[1]


def test_a_list_that_is_being_sorted():
    def key(item):
        items.append(item)
        key_lengths.append(len(items))
        return item

    outcomes = []
    for call in (key, dyntrace.compile(key)):
        items, key_lengths = [], []
        for _ in range(3):
            call(1)
        items = [3, 1, 2]
        with pytest.raises(ValueError, match="modified during sort"):
            items.sort(key=call)
        outcomes.append((items, key_lengths))
    assert outcomes[0] == outcomes[1]


def test_a_list_that_shrinks_below_the_index():
    def last(items, x):
        items.append(x)
        x = x + 1
        return items[-3]

    run = dyntrace.compile(last)
    for length in (5, 4, 1, 0, 2, 7):
        items = list(range(length))
        try:
            expected = last(list(items), 1.0)
        except IndexError:
            with pytest.raises(IndexError, match="list index out of range") as raised:
                run(items, 1.0)
            assert raised.traceback[-1].lineno == last.__code__.co_firstlineno + 2
            assert items == [*range(length), 1.0]
        else:
            assert run(items, 1.0) == expected


@pytest.mark.parametrize("dynamic", [False, None, True])
def test_with_and_without_symbols(dynamic):
    run = dyntrace.compile(more_than_three, dynamic=dynamic)
    plain, compiled = [], []
    for k in range(6):
        assert repr(run(compiled, np.ones(2) * k)) == repr(more_than_three(plain, np.ones(2) * k))
        assert repr(compiled) == repr(plain)


def test_every_two_operations():
    """All pairs of operations on lists of lengths around what they ask for."""
    operations = {
        "append": lambda a, x: a.append(x),
        "pop": lambda a, x: a.pop(),
        "pop first": lambda a, x: a.pop(0),
        "insert": lambda a, x: a.insert(0, x),
        "first": lambda a, x: a[0],
        "last": lambda a, x: a[-1],
        "second last": lambda a, x: a[-2],
        "store first": lambda a, x: a.__setitem__(0, x),
        "store last": lambda a, x: a.__setitem__(-1, x),
        "length": lambda a, x: len(a) > 2,
        "some": lambda a, x: bool(a),
        "window": lambda a, x: a[-2:],
        "copy": lambda a, x: a[:],
    }

    def run_two(first, second, a, x):
        a.append("always")
        one = first(a, x)
        two = second(a, x)
        return one, two, a[-1], len(a)

    run = dyntrace.compile(run_two)
    with dyntrace.config.patch(recompile_limit=10000):
        for (_, first), (_, second) in itertools.product(operations.items(), repeat=2):
            for length in (3, 1, 0, 2):
                items, plain = list(range(length)), list(range(length))
                outcomes = []
                for call, a in ((run_two, plain), (run, items)):
                    try:
                        outcomes.append(call(first, second, a, "x"))
                    except IndexError as error:
                        outcomes.append(str(error))
                assert outcomes[0] == outcomes[1]
                assert items == plain


# ---- Deques ----------------------------------------------------------------------------------------


def remembers(memory, x):
    memory.append((x, x * 2))
    return len(memory)


def remembers_until_full(memory, x):
    memory.append(x * 2)
    if len(memory) == memory.maxlen:
        return memory[0], memory[-1]
    return memory[-1]


def first_in_first_out(memory, x):
    memory.append(x * 2)
    if len(memory) > 3:
        return memory.popleft()
    return None


def adds_left(memory, x):
    memory.appendleft(x)
    memory.appendleft(x * 2)
    return memory[0] - memory[1]


def looks_back(memory, x):
    memory.append(x)
    return memory[-1] + memory[-2] if len(memory) > 1 else x


def takes_from_both_ends(memory, x):
    memory.extend([x, x + 1])
    last = memory.pop()
    memory.appendleft(last)
    return last - memory.popleft()


def stores_at_ends(memory, x):
    memory[-1] = x
    memory[0] = x * 2


def empties_deque(memory, x):
    taken = []
    while memory:
        taken.append(memory.pop() if len(memory) % 2 else memory.popleft())
    memory.append(len(taken))
    return taken


def iterates_over_deque(memory, x):
    memory.append(x)
    memory.popleft()
    return [item is x for item in memory], list(memory), len(memory), sum(1 for _ in reversed(memory))


def rotates(memory, x):
    memory.append(x)
    memory.rotate(1)
    return memory[0], memory.count(x), x in memory


def out_of_deque(memory, x):
    memory.append(x)
    memory.append(x)
    return memory[-4]


def deque_and_break(memory, x):
    memory.append(x)
    n, last = len(memory), memory[-1]
    gc.isenabled()
    memory.appendleft(n)
    return last, len(memory), memory[0], memory.pop()


DEQUES = {
    remembers: 2, remembers_until_full: 3, first_in_first_out: 3, adds_left: 3, looks_back: 3,
    takes_from_both_ends: 4,
}  # fmt: skip
ALL_DEQUES = [
    *DEQUES, stores_at_ends, empties_deque, iterates_over_deque, rotates, out_of_deque, deque_and_break,
]  # fmt: skip


class SubDeque(deque):
    def append(self, item):
        super().append(("sub", item))

    def __len__(self):
        return super().__len__() + 10


@pytest.mark.parametrize("maxlen", [None, 5])
@pytest.mark.parametrize("fn", DEQUES)
def test_few_entries_serve_deques_of_all_lengths(fn, maxlen):
    plain, compiled = deque(maxlen=maxlen), deque(maxlen=maxlen)
    run = dyntrace.compile(fn, fullgraph=True)
    for k in range(14):
        x = np.arange(3.0) + k
        assert repr(run(compiled, x)) == repr(fn(plain, x))
        assert repr(compiled) == repr(plain)
    assert len(run.cache_entries()) <= DEQUES[fn]


@pytest.mark.parametrize("fn", ALL_DEQUES)
@pytest.mark.parametrize("lengths", [(3, 0, 1, 5, 2, 4, 8), (0, 1, 2, 3, 4), (6, 5, 4, 3, 2, 1, 0)], ids=str)
def test_deques_as_plainly(fn, lengths):
    calls = [
        (deque((10.0 * k for k in range(n)), maxlen), np.arange(3.0) + n)
        for n in lengths
        for maxlen in (None, 8, n + 1, n)
    ]
    check_calls(fn, *calls, whole=False, recompile_limit=1000)


@pytest.mark.parametrize("fn", ALL_DEQUES)
def test_deques_with_other_items(fn):
    one = object()
    calls = [
        (deque([1.5, 2.5]), 2.0), (deque([one, one]), 2.0), (SubDeque([1.0, 2.0]), 2.0), ([1.0, 2.0], 2.0),
        (deque([1, 2.0, True]), 2.0), (deque([0.5] * 70), 2.0), (deque([0.5] * 70, 70), 2.0),
    ]  # fmt: skip
    check_calls(fn, *calls, whole=False, recompile_limit=1000)


def test_two_names_of_a_deque():
    def step(a, b, x):
        a.append(x)
        b.appendleft(a[0])
        return len(a), len(b), a.pop(), b[-1]

    deques, plain = [deque([1.0, 2.0]), deque([3.0], 3)], [deque([1.0, 2.0]), deque([3.0], 3)]
    run = dyntrace.compile(step)
    for pick in [(0, 1), (0, 0), (1, 0), (1, 1)] * 3:
        assert run(*(deques[i] for i in pick), 1.5) == step(*(plain[i] for i in pick), 1.5)
        assert deques == plain


def test_what_a_full_deque_lets_go_of():
    def step(memory, x):
        memory.append(x)

    outcomes = []
    for call in (step, dyntrace.compile(step)):
        log, lengths = [], []
        memory = deque(maxlen=3)
        for k in range(8):
            call(memory, Told(k, log))
            lengths.append((len(memory), list(log)))
        outcomes.append(lengths)
        memory.clear()
    assert outcomes[0] == outcomes[1]


def test_iterators_over_a_deque_that_is_changed():
    def step(memory, x):
        memory.append(x)
        memory.popleft()

    outcomes = []
    for call in (step, dyntrace.compile(step)):
        memory = deque([1, 2, 3])
        for k in range(5):
            call(memory, k)
        iterator = iter(memory)
        call(memory, 9)
        with pytest.raises(RuntimeError, match="mutated"):
            next(iterator)
        outcomes.append(list(memory))
    assert outcomes[0] == outcomes[1]
