"""Lists of results that grow from call to call: one entry serves all lengths, as long as nobody looks.

The differential part runs what looks at such a list, before and after it was appended to.
"""

import gc

import dyntrace
import numpy as np
import pytest
from differential import check_calls


class Run:
    def __init__(self, history=None):
        self.x = np.arange(3.0)
        self.history = [] if history is None else history


def appends(run, x):
    run.x = run.x * 0.5 + x
    run.history.append(run.x)


def appends_to_argument(results, x):
    results.append(x * 2)
    results.append(x.sum())


def appends_in_a_loop(results, x):
    for i in range(4):
        results.append(x + i)


def extends(results, x):
    results.extend([x, x * 2])
    results.extend(x + i for i in range(2))


def is_given(x, results=None):
    if results is None:
        results = []
    results.append(x * 2)
    return results


def is_handed_on(results, x):
    def note(value, into=results):
        into.append(value)
        return into

    return note(x * 2)


def in_a_tuple_and_a_dict(boxes, x):
    boxes[0].append(x)
    boxes[1]["losses"].append(x * 2)


def reads_what_it_added(results, x):
    results.append(x * 2)
    results.extend([x, x + 1])
    return results[-1], results[-3] is results[-3]


ONE_ENTRY = [appends_to_argument, appends_in_a_loop, extends, is_handed_on, reads_what_it_added]


@pytest.mark.parametrize("fn", ONE_ENTRY)
def test_one_entry_serves_all_lengths(fn):
    plain, compiled = [], []
    run = dyntrace.compile(fn, fullgraph=True)
    for k in range(12):
        x = np.arange(3.0) + k
        fn(plain, x)
        run(compiled, x)
    assert len(run.cache_entries()) == 1
    assert repr(compiled) == repr(plain)


def test_one_entry_serves_an_attribute():
    plain, compiled = Run(), Run()
    run = dyntrace.compile(appends, fullgraph=True)
    for k in range(12):
        appends(plain, k)
        run(compiled, k)
    assert len(run.cache_entries()) <= 2  # k is a constant at first
    assert repr(compiled.history) == repr(plain.history)
    assert compiled.history[-1] is compiled.x


def test_one_entry_serves_containers_in_containers():
    plain, compiled = ([], {"losses": []}), ([], {"losses": []})
    run = dyntrace.compile(in_a_tuple_and_a_dict, fullgraph=True)
    for k in range(12):
        in_a_tuple_and_a_dict(plain, np.ones(2) * k)
        run(compiled, np.ones(2) * k)
    assert len(run.cache_entries()) == 1
    assert repr(compiled) == repr(plain)


def test_given_or_not():
    run = dyntrace.compile(is_given, fullgraph=True)
    results = []
    for _ in range(6):
        assert run(np.ones(2), results) is results
        assert repr(run(np.ones(2))) == repr(is_given(np.ones(2)))
    assert len(results) == 6
    assert len(run.cache_entries()) == 2


# ---- Who looks gets what is there ------------------------------------------------------------------


def looks_at_length(items, x):
    items.append(x)
    n = len(items)
    items.append(x * n)
    return n


def looks_at_items(items, x):
    items.append(x)
    first, last = items[0], items[-1]
    items.append(last)
    return first is last, [item is x for item in items]


def looks_behind_what_was_added(items, x):
    items.append(x)
    last = items[-1]
    try:
        before = items[-2]
    except IndexError:
        before = "none"
    try:
        items[-10**30]
    except IndexError as error:
        before = before, str(error)
    return last is x, before, items[True:], items[-1:], items[False]


def looks_before(items, x):
    n = len(items)
    items.append(n)
    return items.index(n), n in items


def looks_while_extending(items, x):
    items.extend(len(items) for _ in range(3))
    return items


def extends_by_itself(items, x):
    items.append(1)
    items.extend(items)
    items += items
    return items


def appends_itself(items, x):
    items.append(items)
    return items[-1] is items


def takes_off_again(items, x):
    items.append(x)
    top = items.pop()
    items.append(5)
    items.insert(0, 7)
    items.sort(key=str)
    return top


def clears(items, x):
    items.append(x)
    items.clear()
    items.append(1)


def compares(items, x):
    items.append(2)
    return items == [1, 2], items != [], bool(items), items is None, isinstance(items, list)


def prints(items, x):
    items.append(2)
    return f"{items}", str(items), repr(items)


def fails_behind(items, x):
    items.append(x)
    items.append(x / 2)
    raise ValueError("behind")


def fails_in_append(items, x):
    items.append(1)
    try:
        items.append()
    except TypeError as error:
        items.append(str(error))
    try:
        items.extend(5)
    except TypeError as error:
        items.append(str(error))
    items.append(1, 2)


def breaks_behind(items, x):
    items.append(x * 2)
    gc.isenabled()
    n = float((x * 2).sum())
    items.append(n)
    return n


def keeps_the_method(items, x):
    add = items.append
    add(x)
    items.append(x * 2)
    add(len(items))
    return add


def copies(items, x):
    items.append(x)
    return items[:], items.copy(), list(items), [*items], items * 2, len(sorted(items, key=id))


LOOKS = [
    looks_at_length, looks_at_items, looks_behind_what_was_added, reads_what_it_added, looks_before,
    looks_while_extending, extends_by_itself, appends_itself,
    takes_off_again, clears, compares, prints, fails_behind, fails_in_append, breaks_behind, copies,
    appends_to_argument, appends_in_a_loop, extends, is_handed_on,
]  # fmt: skip


@pytest.mark.parametrize("fn", LOOKS)
@pytest.mark.parametrize("items", [[], [1], ["a", 3.5, None]], ids=["empty", "one", "three"])
def test_as_plainly(fn, items):
    check_calls(fn, (items, np.arange(3.0)), whole=False)


def test_a_bound_method_is_kept():
    items = [1]
    run = dyntrace.compile(keeps_the_method)
    for _ in range(3):
        add = run(items, 2)
        add("outside")
    assert items == [1, *([2, 4, 3, "outside"]), 2, 4, 7, "outside", 2, 4, 11, "outside"]


# ---- One list under two names ----------------------------------------------------------------------


def two_lists(a, b, x):
    a.append(1)
    b.append(2)
    a.append(3)
    return a is b


def one_is_read(a, b, x):
    a.append(1)
    n = len(b)
    a.append(n)
    return n


def one_is_compared(a, b, x):
    a.append(1)
    return a is b, a is None, b is not None


@pytest.mark.parametrize("fn", [two_lists, one_is_read, one_is_compared])
def test_two_names_by_turns(fn):
    one, other = [0], [0]
    plain_one, plain_other = [0], [0]
    run = dyntrace.compile(fn, fullgraph=True)
    for _ in range(3):
        for pick in ((0, 1), (0, 0), (1, 0), (1, 1)):
            mine = [(one, other)[i] for i in pick]
            plain = [(plain_one, plain_other)[i] for i in pick]
            assert run(*mine, 1.0) == fn(*plain, 1.0)
            assert (one, other) == (plain_one, plain_other)


# ---- Other types in the same place -----------------------------------------------------------------


class Loud(list):
    def append(self, item):
        super().append(("loud", item))


def test_a_subclass_in_its_place():
    check_calls(
        appends_to_argument,
        ([], np.ones(2)),
        (Loud(), np.ones(2)),
        ([1], np.ones(2)),
        whole=False,
    )


def test_appending_to_a_list_that_is_being_sorted():
    def key(item):
        items.append(item)
        return item

    def sort_it(key):
        nonlocal items
        items = [3, 1, 2]
        with pytest.raises(ValueError, match="modified during sort"):
            items.sort(key=key)
        return list(items)

    items = []
    plain = sort_it(key)
    run = dyntrace.compile(key)
    run(1)
    assert sort_it(run) == plain


# ---- What is thrown away again ---------------------------------------------------------------------


def tries(items, x):
    """A loop whose iterations are taken back and run again."""
    for i in range(3):
        items.append(i)
        try:
            if i == 1:
                items.append(len(items))
                raise KeyError(i)
        except KeyError:
            items.append("caught")
    return x * 2


def walks(items, x):
    moved = iter(items)
    first = next(moved)
    items.append(9)
    return first, list(moved), x + 1


@pytest.mark.parametrize("fn", [tries, walks])
def test_in_odd_places(fn):
    check_calls(fn, ([4, 5], np.ones(2)), whole=False)


def walks_on(iterator, items, x):
    items.extend([7, 8])
    taken = [next(iterator) for _ in range(len(items))]
    items.clear()
    return taken, x + 1


def test_an_iterator_that_walked_over_what_was_there_since():
    """It stands behind the items, and the list grows again."""
    plain, compiled = [1, 2], [1, 2]
    plain_iterator, iterator = iter(plain), iter(compiled)
    assert repr(dyntrace.compile(walks_on)(iterator, compiled, np.ones(1))) == repr(
        walks_on(plain_iterator, plain, np.ones(1))
    )
    for items in (plain, compiled):
        items.extend(range(10))
    assert list(iterator) == list(plain_iterator)
