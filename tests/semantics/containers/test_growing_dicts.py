"""Dicts that are asked for another key in each call, or that grow: few entries serve all keys.

Each function is called with many keys, in dicts of several sizes, plainly and compiled, and what the
dicts hold in the end, and in which order, is compared with the result.
"""

import dyntrace
import numpy as np
import pytest
from differential import check_calls


def read(d, k, w):
    return d[k] * w


def read_or_make(d, k, w):
    if k not in d:
        d[k] = w * 0.5
    return d[k] + w


def stored(d, k, w):
    d[k] = w
    return w * 2.0


def stored_twice(d, k, w):
    d[k] = w
    d[k] = w + 1.0
    return d[k], w * 2.0


def neighbours(d, k, w):
    d[k + 1] = w * 2.0
    return d.get(k, w) + d.get(k - 1, w), k in d, k + 1 in d


def with_default(d, k, w):
    return d.get(k), d.get(k + 100, 0.5), w + 1.0


def set_default(d, k, w):
    d.setdefault(k, w * 2.0)
    return d.setdefault(k + 1, w) + 1.0


def popped(d, k, w):
    return d.pop(k, None), d.pop(k, w) + 1.0, k in d


def deleted(d, k, w):
    if k in d:
        del d[k]
    d[k] = w + 1.0
    return w * 2.0


def deleted_and_not_stored(d, k, w):
    d[k] = 1
    del d[k]
    return w * 2.0, d.get(k)


def missing(d, k, w):
    try:
        return d[k] * w
    except KeyError as error:
        return error.args, w + 1.0


def removed_where_missing(d, k, w):
    try:
        del d[k]
    except KeyError as error:
        return error.args, w + 1.0
    return w * 2.0


def then_all(d, k, w):
    d[k] = w
    if k + 1 in d:
        del d[k + 1]
    d[k + 1] = w + 1.0
    return list(d), len(d), w * 2.0


def all_and_one(d, k, w):
    n = len(d)
    d[k] = w
    return n, len(d), w + 1.0


def then_iterated(d, k, w):
    d.pop(k, None)
    d[k] = w
    total = w * 0.0
    for key, value in d.items():
        total = total + value * 0.5
    return total


def then_copied(d, k, w):
    d[k] = w * 2.0
    return dict(d), {**d}, d == dict(d)


def other_keys(d, k, w):
    d[k] = w
    return d.get("name"), d.get(None), d.get(2.0), d.get(True), w + 1.0


def written_into(d, k, w):
    if k in d:
        d[k] += w
    return d.get(k, w) * 2.0


def two_keys(d, k, w):
    d[k % 2] = w
    d[k % 3] = w * 2.0
    return d[k % 2] + d[k % 3]


FUNCTIONS = [
    read, read_or_make, stored, stored_twice, neighbours, with_default, set_default, popped, deleted,
    deleted_and_not_stored, missing, removed_where_missing, then_all, all_and_one, then_iterated,
    then_copied, other_keys, written_into, two_keys,
]  # fmt: skip


@pytest.mark.parametrize("fn", FUNCTIONS)
@pytest.mark.parametrize(
    "number", [lambda i: np.full(3, float(i)), lambda i: i * 0.5], ids=["arrays", "floats"]
)
def test_every_key(fn, number):
    calls = [
        ({(i * 3) % 7: number(i) for i in range(size)}, k, np.arange(3.0) + 0.5)
        for size in (4, 5, 0, 1)
        for k in (3, 2, 5, 0, 1, -1, 6, 4, 99, 1 << 70)
    ]
    check_calls(fn, *calls, whole=False, recompile_limit=99)


def by_place(d, x, y, w):
    if (x, y) in d:
        return d[x, y] + w
    d[(x, y)] = w * 2.0
    return d.get((y, x)), d[x, y]


def by_state(d, state, nxt, w):
    if nxt not in d:
        d[nxt] = w * 0.0
    d[state] = d.get(state, w) + d[nxt].max() * 0.5
    return d[state]


def by_three(d, x, y, w):
    d[x, y, x] = w + 1.0
    return (x, y, x) in d, (y, x, y) in d


def moved(d, x, y, w):
    for dx, dy in ((0, 1), (1, 0), (0, -1), (-1, 0)):
        d[x + dx, y + dy] = d.get((x + dx, y + dy), 0.0) + w
    return len(d), w + 1.0


@pytest.mark.parametrize("fn", [by_place, by_three, moved])
def test_places(fn):
    places = [(0, 1), (1, 1), (2, 0), (1, 0), (1, 2), (-1, 5), (1, 1), (3, 3), (0, 1)]
    full = {place: np.full(3, float(sum(place))) for place in places[::2]}
    calls = [(d, x, y, np.arange(3.0)) for d in (full, {}) for x, y in places]
    check_calls(fn, *calls, whole=False, recompile_limit=99)


def test_states():
    states = [(0, 1), (1, 1), (2, 0), (1, 0), (1, 1, 1), "end", 7, None, (0, 1)]
    full = {state: np.full(3, float(i)) for i, state in enumerate(states[::2])}
    calls = [(full, s, n, np.ones(3)) for s, n in zip(states, states[1:] + states[:1])]
    calls += [(full, s, s, np.ones(3)) for s in states]
    check_calls(by_state, *calls, whole=False, recompile_limit=99)


def test_a_table_that_fills_up():
    """One dict goes through all calls."""

    def run(fn):
        table = {}
        found = [fn(table, k % 17, np.arange(3.0) + k).tolist() for k in range(60)]
        return found, [(k, v.tolist()) for k, v in table.items()]

    compiled = dyntrace.compile(read_or_make)
    assert run(compiled) == run(read_or_make)
    assert len(compiled.cache_entries()) <= 2


def test_a_table_of_pairs_that_fills_up():
    def learn(table, x, y, w):
        if (x, y) not in table:
            table[x, y] = np.zeros(3)
        row = table[x, y]
        row += w * 0.5
        return row.max()

    def run(fn):
        table = {}
        found = [float(fn(table, k % 5, k % 7, np.arange(3.0) + k)) for k in range(80)]
        return found, [(k, v.tolist()) for k, v in table.items()]

    compiled = dyntrace.compile(learn)
    assert run(compiled) == run(learn)
    assert len(compiled.cache_entries()) <= 3


def test_a_dict_whose_keys_come_and_go():
    def named(table, w):
        table["total"] = table.get("total", 0.0) + w
        return table["total"] * 2.0

    plain, compiled = {}, {}
    fn = dyntrace.compile(named)
    for k in range(12):
        plain[f"key {k}"] = compiled[f"key {k}"] = k
        assert fn(compiled, np.ones(2)).tolist() == named(plain, np.ones(2)).tolist()
    assert repr(compiled) == repr(plain)
    assert len(fn.cache_entries()) <= 4


class Loud(int):
    """Its __eq__ must not run more often than plainly."""

    asked = 0

    def __eq__(self, other):
        Loud.asked += 1
        return int(self) == other

    __hash__ = int.__hash__


def test_keys_that_compare_by_code_of_the_program():
    compiled = dyntrace.compile(stored)
    for k in (1, 2, 3):
        compiled({5: 0}, k, np.ones(2))
    for fn in (stored, compiled):
        Loud.asked = 0
        d = {Loud(4): "loud", 6: 0}
        fn(d, 4, np.ones(2))
        assert (Loud.asked, len(d), type(next(iter(d)))) == (1, 2, Loud)


def test_two_names_of_one_dict():
    def both(a, b, k, w):
        a[k] = w
        return b.get(k), len(b), w + 1.0

    one = {1: 0.5}
    check_calls(both, *((a, b, k, np.ones(2)) for a, b in ((one, {3: 1.0}), (one, one)) for k in (1, 2, 3)))


class Holder:
    def __init__(self):
        self.a = 1.0


def test_the_dict_of_an_instance():
    def attributes(holder, d, k, w):
        d[k] = w
        return holder.a, w + 1.0

    def run(fn):
        out = []
        for own in (False, True, False):
            for k in ("a", "b"):
                holder = Holder()
                out.append(repr(fn(holder, vars(holder) if own else {"a": 2.0}, k, np.ones(2))))
        return out

    compiled = dyntrace.compile(attributes)
    assert run(compiled) == run(attributes)


class Dies:
    log = []

    def __del__(self):
        Dies.log.append("dead")


def test_a_value_that_acts_when_it_goes():
    def replace(d, k, w):
        d[k] = w
        return len(Dies.log), w + 1.0

    def run(fn):
        Dies.log.clear()
        return [repr(fn({k: Dies() if k % 2 else 1.0}, k, np.ones(2))) for k in range(6)], Dies.log[:]

    compiled = dyntrace.compile(replace)
    assert run(compiled) == run(replace)


def test_a_dict_that_is_iterated_outside():
    def step(d, k, w):
        d[k] = w
        return w + 1.0

    compiled = dyntrace.compile(step)
    for fn in (step, compiled, compiled):
        d = {0: 1.0, 1: 2.0}
        with pytest.raises(RuntimeError, match="changed size"):
            for k in d:
                fn(d, k, np.ones(2))
                fn(d, k + 10, np.ones(2))
