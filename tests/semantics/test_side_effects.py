"""What is visible after the call: containers, attributes, globals, cells that existed before."""

import sys

import numpy as np
import pytest
from differential import Compiled, check

A = np.linspace(0.5, 2.0, 4)
COUNTER = 0
TABLE = {"n": 0}


class Box:
    def __init__(self, **attributes):
        self.__dict__.update(attributes)


class Slotted:
    __slots__ = ("a", "b")


def append(items, x):
    items.append(x + 1.0)
    items.append(3)
    return items


def replace_items(items, x):
    items[0] = x * 2.0
    items[-1] = items[0]


def insert_and_pop(items, x):
    items.insert(1, x)
    first = items.pop(0)
    return first


def clear_list(items, x):
    items.clear()
    return x + 1.0


def sort_list(items, x):
    items.sort()
    items.reverse()
    return x + 1.0


def swap_items(items, x):
    items[0], items[1] = items[1], items[0]
    return items[0] + x


def unchanged_list(items, x):
    items.append(x)
    items.pop()
    return x + 1.0


def old_value_is_returned(items, x):
    old = items[0]
    items[0] = x + 1.0
    return old, items


def set_dict_items(d, x):
    d["new"] = x + 1.0
    d["a"] = 5
    return d["a"], d["new"]


def delete_dict_items(d, x):
    del d["a"]
    d["a"] = x * 2.0
    return list(d)


def pop_dict(d, x):
    value = d.pop("a")
    return value, x + 1.0


def update_dict(d, x):
    d.update(b=x, c=1)
    d.setdefault("z", x * 2.0)
    return d


def clear_dict(d, x):
    d.clear()
    d["only"] = x + 1.0


def old_dict_value(d, x):
    old = d["a"]
    d["a"] = x + 1.0
    return old


def change_set(s, x):
    s.add(10)
    s.discard(1)
    return x + 1.0


def nested_change(data, x):
    data["list"].append(x)
    data["list"][0] = data
    return x + 1.0


def set_attributes(box, x):
    box.a = x + 1.0
    box.b = box.a * 2.0
    box.new = 3
    return box.a


def delete_attribute(box, x):
    del box.a
    box.a = x + 1.0
    return box


def conditional_attribute(box, x):
    if box.n > 1:
        box.n = box.n - 1
    return x * box.n


def slots_attributes(s, x):
    s.a = x + 1.0
    s.b = s.a
    return s.b


def order_of_new_attributes(box, x):
    box.z = 1
    box.y = x + 1.0
    box.z = 2
    return list(box.__dict__)


def two_objects(p, q, x):
    p.v = x + 1.0
    q.v = p.v * 2.0
    p.other = q
    return q.v


def new_into_existing(items, x):
    inner = []
    inner.append(x + 1.0)
    items.append(inner)
    items.append(inner)
    inner.append(2)


def argument_into_itself(items, x):
    items.append(items)
    return x + 1.0


def loop_appends(items, x):
    for i in range(4):
        items.append(x + i)


LIST = [A, 2.0, 3]
DICT = {"a": 1, "b": A}

CASES = [
    (append, LIST, A),
    (replace_items, LIST, A),
    (insert_and_pop, LIST, A),
    (clear_list, LIST, A),
    (sort_list, [3, 1, 2], A),
    (swap_items, LIST, A),
    (unchanged_list, LIST, A),
    (old_value_is_returned, LIST, A),
    (set_dict_items, DICT, A),
    (delete_dict_items, DICT, A),
    (pop_dict, DICT, A),
    (update_dict, DICT, A),
    (clear_dict, DICT, A),
    (old_dict_value, DICT, A),
    (nested_change, {"list": [1, 2]}, A),
    (set_attributes, Box(a=1, b=2), A),
    (delete_attribute, Box(a=1, b=2), A),
    (conditional_attribute, Box(n=5), A),
    (slots_attributes, Slotted(), A),
    (two_objects, Box(), Box(v=1), A),
    (new_into_existing, [1], A),
    (argument_into_itself, [1], A),
    (loop_appends, [], A),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_same(case):
    check(*case)


def test_an_existing_set_is_changed():
    check(change_set, {1, 2, 3}, A)


def test_the_same_object_twice():
    compiled = Compiled(two_objects)
    plain_p, plain_q, p, q = Box(v=0), Box(v=1), Box(v=0), Box(v=1)
    two_objects(plain_p, plain_q, A)
    compiled(p, q, A)
    two_objects(plain_p, plain_p, A)
    compiled(p, p, A)
    np.testing.assert_array_equal(p.v, plain_p.v)
    assert p.other is p


def two_lists(a, b, x):
    a.append(x)
    b.append(len(a))
    return len(b)


def test_two_lists_that_are_one():
    compiled = Compiled(two_lists)
    for make in (lambda: ([], []), lambda: [[]] * 2, lambda: ([], [1]), lambda: [[1]] * 2):
        plain, mine = make(), make()
        assert two_lists(*plain, A) == compiled(*mine, A)
        assert [len(items) for items in plain] == [len(items) for items in mine]


def bump_global(x):
    global COUNTER
    COUNTER += 1
    return x + COUNTER


def test_global_is_written():
    module = sys.modules[__name__]
    check(
        bump_global,
        A,
        state=lambda: COUNTER,
        reset=lambda: setattr(module, "COUNTER", 10),
    )


def set_and_delete_global(x):
    global MADE_HERE
    MADE_HERE = x * 2.0
    y = MADE_HERE + 1.0
    del MADE_HERE
    return y


def test_global_made_and_deleted():
    check(set_and_delete_global, A, state=lambda: "MADE_HERE" in globals())


def make_global(x):
    global MADE
    MADE = x * 2.0


def test_global_made():
    check(
        make_global,
        A,
        state=lambda: MADE,  # noqa: F821
        reset=lambda: globals().pop("MADE", None),
    )


def change_global_dict(x):
    TABLE["n"] = TABLE["n"] + 1
    TABLE["x"] = x + 1.0
    return TABLE["n"]


def test_container_in_a_global():
    def reset():
        TABLE.clear()
        TABLE["n"] = 0

    check(change_global_dict, A, state=lambda: TABLE, reset=reset)


def helper_that_writes(box, value):
    box.log.append(value)
    box.last = value


def writes_through_a_helper(box, x):
    helper_that_writes(box, x + 1.0)
    helper_that_writes(box, 2)
    return box.last


def test_helpers_write_too():
    check(writes_through_a_helper, Box(log=[]), A)


def test_memory_order_of_effects():
    class Log:
        def __init__(self):
            self.items = []

    def fn(log, x):
        log.items.append("a")
        y = x + 1.0
        log.items.append(y)
        log.items.append("b")
        return y

    check(fn, Log(), A)
