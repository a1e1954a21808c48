"""obj.__dict__ and vars(obj): the attributes of an instance as a dict, read and written."""

import copy

import numpy as np
import pytest
from differential import Compiled, check

A = np.linspace(0.5, 2.0, 4)
KEPT = {}


class Box:
    kind = "box"

    def __init__(self, **attributes):
        self.__dict__.update(attributes)


class Plain:
    def __init__(self, x):
        self.x = x
        self.n = 2


class Slotted:
    __slots__ = ("a", "__dict__")


class Bare:
    __slots__ = ("a",)


class Setter:
    def __setattr__(self, name, value):
        self.__dict__[name] = (name, value)


class Memo:
    @property
    def square(self):
        if "_square" not in self.__dict__:
            self.__dict__["_square"] = self.x * self.x
        return self.__dict__["_square"]

    def __init__(self, x):
        self.x = x


class Lazy:
    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        value = self.__dict__[name] = len(name)
        return value


class Data(dict):
    pass


# ---- objects that existed before ------------------------------------------------------------------


def read_item(b, x):
    return b.__dict__["v"] + x


def read_get(b, x):
    return b.__dict__.get("v", 0), b.__dict__.get("w", 5), x + 1.0


def read_vars(b, x):
    return vars(b)["v"] * x


def test_names(b, x):
    return "v" in b.__dict__, "w" in vars(b), "kind" in b.__dict__, x + 1.0


test_names.__test__ = False


def all_names(b, x):
    return list(b.__dict__), sorted(vars(b)), len(b.__dict__), x + 1.0


def all_items(b, x):
    total = x
    for name, value in b.__dict__.items():
        if name != "text":
            total = total + value
    return total


def copied(b, x):
    d = dict(b.__dict__)
    d["new"] = x + 1.0
    return d


def copied_by_method(b, x):
    d = vars(b).copy()
    d.pop("v")
    return d, x + 1.0


def unpacked(b, x):
    return {**b.__dict__, "y": x + 1.0}


def as_keywords(b, x):
    return Box(**b.__dict__).__dict__, x + 1.0


def missing_item(b, x):
    try:
        return b.__dict__["nothing"]
    except KeyError as error:
        return str(error), x + 1.0


def store_item(b, x):
    b.__dict__["v"] = x + 1.0
    return b.v


def store_new_item(b, x):
    b.__dict__["new"] = x + 1.0
    return b.new, hasattr(b, "new")


def store_behind_a_property(b, x):
    b.__dict__["kind"] = x + 1.0
    return b.kind


def delete_item(b, x):
    del b.__dict__["v"]
    return hasattr(b, "v"), x + 1.0


def update(b, x):
    b.__dict__.update(v=x, w=x + 1.0)
    return b.v, b.w


def update_from_another(b, x):
    other = Plain(x)
    b.__dict__.update(other.__dict__)
    return b.x + b.n


def clear(b, x):
    b.__dict__.clear()
    b.only = x + 1.0


def pop_and_default(b, x):
    return b.__dict__.pop("v"), b.__dict__.setdefault("q", x + 1.0), b.q


def attribute_first(b, x):
    b.v = x + 1.0
    b.fresh = 1
    return b.__dict__["v"], list(b.__dict__)


def attribute_afterwards(b, x):
    d = b.__dict__
    b.v = x + 1.0
    b.fresh = 1
    return d["v"], list(d)


def both_ways(b, x):
    d = b.__dict__
    b.v = 1
    d["v"] += 1
    b.v += 1
    d["w"] = b.v
    del b.v
    return "v" in d, d["w"], x + 1.0


def deleted_first(b, x):
    del b.v
    d = b.__dict__
    found = "v" in d
    b.v = x + 1.0
    return found, list(d)


def stored_and_put_back(b, x):
    old = b.v
    b.__dict__["v"] = 1
    b.v = old
    return x + 1.0


def dict_is_itself(b, x):
    return b.__dict__ is b.__dict__, vars(b) is b.__dict__, x + 1.0


def dict_escapes(b, x):
    d = b.__dict__
    d["v"] = x + 1.0
    KEPT["d"] = d
    return d


def change_while_walking(b, x):
    try:
        for name in b.__dict__:
            b.__dict__[name + "_"] = 1
    except RuntimeError as error:
        return str(error), x + 1.0


def values_replaced_while_walking(b, x):
    for name in b.__dict__:
        setattr(b, name, x + len(name))


def fails_behind_a_store(b, x):
    b.__dict__["v"] = 5
    try:
        b.__dict__["w"] = b.__dict__["nothing"]
    except KeyError:
        b.failed = x + 1.0
    return sorted(b.__dict__)


def equal_dicts(b, x):
    return b.__dict__ == {"v": 1, "text": "t"}, b.__dict__ != {}, x + 1.0


def named_attributes(b, x):
    for i in range(3):
        setattr(b, f"part{i}", x + i)
    total = x
    for i in range(3):
        total = total + getattr(b, "part%d" % i)
    delattr(b, "part" + str(1))
    return total, hasattr(b, "part1"), getattr(b, "part1", None)


def swap_attributes(b, x):
    b.__dict__["v"], b.__dict__["text"] = b.text, b.v
    return x + 1.0


def through_a_helper(b, x):
    def put(d, **items):
        for name in items:
            d[name] = items[name]
        return d

    return put(vars(b), v=x, z=1) is b.__dict__


EXISTING = [
    read_item, read_get, read_vars, test_names, all_names, all_items, copied, copied_by_method,
    unpacked, as_keywords, missing_item, store_item, store_new_item, store_behind_a_property,
    delete_item, update, update_from_another, clear, pop_and_default, attribute_first,
    attribute_afterwards, both_ways, deleted_first, stored_and_put_back, dict_is_itself,
    dict_escapes, change_while_walking, values_replaced_while_walking, fails_behind_a_store,
    equal_dicts, named_attributes, swap_attributes, through_a_helper,
]  # fmt: skip


@pytest.mark.parametrize("fn", EXISTING, ids=lambda fn: fn.__name__)
def test_existing(fn):
    check(fn, Box(v=1, text="t"), A)


@pytest.mark.parametrize("fn", EXISTING, ids=lambda fn: fn.__name__)
def test_existing_inside_a_call(fn):
    def run(b, x):
        return [fn(b, x * 2.0)]

    check(run, Box(v=1, text="t"), A)


@pytest.mark.parametrize("fn", EXISTING, ids=lambda fn: fn.__name__)
def test_made_in_the_trace(fn):
    def run(x):
        b = Box(v=1, text="t")
        return fn(b, x), b, b.__dict__

    check(run, A)


@pytest.mark.parametrize("fn", EXISTING, ids=lambda fn: fn.__name__)
def test_made_in_the_trace_and_dropped(fn):
    def run(x):
        b = Plain(1)
        b.v, b.text = 1, "t"
        result = fn(b, x)
        return None if fn is dict_escapes else result

    check(run, A)


# ---- classes with a say ---------------------------------------------------------------------------


def memo(m, x):
    return m.square + m.square + x


def setter(s, x):
    s.a = 1
    s.a, s.b = s.a, x
    return s.a, s.b, s.__dict__


def lazily(z, x):
    try:
        z._private
    except AttributeError as error:
        return z.abc, z.abc, z.__dict__, str(error), x + 1.0


def with_slots(s, x):
    s.a = 1
    s.b = x
    s.__dict__["c"] = 3
    return s.a, list(s.__dict__), s.c, x + 1.0


def without_dict(s, x):
    try:
        return s.__dict__
    except AttributeError as error:
        return str(error), x + 1.0


def vars_without_dict(s, x):
    try:
        return vars(s)
    except TypeError as error:
        return str(error), x + 1.0


def of_a_subclass(d, x):
    d["item"] = 1
    d.attribute = x
    d.__dict__["other"] = 2
    return list(d), list(d.__dict__), d.other, x + 1.0


@pytest.mark.parametrize(
    ("fn", "make"),
    [
        (memo, lambda: Memo(3.0)),
        (setter, Setter),
        (lazily, Lazy),
        (with_slots, Slotted),
        (without_dict, Bare),
        (vars_without_dict, Bare),
        (of_a_subclass, Data),
    ],
    ids=lambda value: value.__name__,
)
@pytest.mark.parametrize("existing", [True, False])
def test_classes(fn, make, existing):
    if existing:
        check(fn, make(), A)
    else:
        check(lambda x: fn(make(), x), A)


def test_cache_of_an_array():
    class Cache:
        pass

    def run(c, x):
        if "sums" not in c.__dict__:
            c.__dict__["sums"] = {}
        c.sums["x"] = x.sum()
        return c.sums["x"] * x

    check(run, A, make=lambda: ((Cache(), A.copy()), {}))


def test_two_objects():
    def run(a, b, x):
        a.__dict__.update(b.__dict__)
        b.__dict__["v"] = x + 1.0
        return a.v, b.v

    check(run, Box(v=1), Box(v=2, w=3), A)


def test_one_object_twice():
    def run(a, b, x):
        a.__dict__["v"] = x + 1.0
        return b.v, a.__dict__ is b.__dict__

    def twice():
        box = Box(v=1)
        return (box, box, A.copy()), {}

    check(run, make=twice)


def test_another_object_is_another_entry():
    def run(a, b, x):
        a.__dict__["v"] = x + 1.0
        return b.v, a.__dict__ is b.__dict__

    import dyntrace  # noqa: PLC0415
    from differential import Compiled, Outcome, compare  # noqa: PLC0415

    box = Box(v=1)
    with dyntrace.config.patch(everything=True, strict=True):
        compiled = Compiled(run)
        for pair in ((Box(v=1), Box(v=2)), (box, box), (Box(v=1), Box(v=2))):
            plain = copy.deepcopy(pair)
            compare(Outcome(run, (*plain, A), {}), Outcome(compiled, (*pair, A), {}))
    assert not compiled.breaks


def test_other_attributes_are_another_entry():
    def run(b, x):
        return [name for name in b.__dict__], x + 1.0

    import dyntrace  # noqa: PLC0415
    from differential import Compiled  # noqa: PLC0415

    with dyntrace.config.patch(everything=True, strict=True):
        compiled = Compiled(run)
        for attributes in ({"a": 1}, {"a": 2, "b": 3}, {"b": 1, "a": 2}, {}, {"a": 5}):
            assert compiled(Box(**attributes), A)[0] == list(attributes)
    assert not compiled.breaks


def test_dict_and_object_come_in_apart():
    def run(b, d, x):
        d["v"] = 2
        return b.v, x + 1.0

    def apart():
        box = Box(v=1)
        return (box, box.__dict__, A.copy()), {}

    check(run, make=apart, breaks="object-mutation")


def test_object_and_dict_that_are_only_read():
    def run(b, d, x):
        return b.v, d["v"], b.__dict__ is d, x + 1.0

    def apart():
        box = Box(v=1)
        return (box, box.__dict__, A.copy()), {}

    check(run, make=apart)


def writes_object(box, table, x):
    box.v = x + 1.0
    return table["v"] * 2.0


def writes_dict(box, table, x):
    table["v"] = x + 1.0
    return box.v * 2.0


def writes_both(box, table, x):
    box.v = x + 1.0
    table["v"] = x + 2.0
    box.v = box.v + x
    return box.v + table["v"], list(table)


def deletes(box, table, x):
    del table["v"]
    return hasattr(box, "v"), x * 2.0


def writes_and_asks(box, table, x):
    box.__dict__["v"] = x + 1.0
    return table["v"] * 2.0


@pytest.mark.parametrize(
    "fn", [writes_object, writes_dict, writes_both, deletes, writes_and_asks], ids=lambda f: f.__name__
)
@pytest.mark.parametrize("first", ["one", "two"])
def test_an_object_and_its_dict_are_two_arguments(fn, first):
    """Two names for the same memory, in the call that is traced or in a later one."""

    def arguments(kind):
        box, other = Box(v=A), Box(v=A + 5.0)
        return box, box.__dict__ if kind == "one" else dict(other.__dict__), A

    compiled = Compiled(fn)
    second = "two" if first == "one" else "one"
    for kind in (first, first, second, first, second, second):
        plain, mine = arguments(kind), arguments(kind)
        assert repr(fn(*plain)) == repr(compiled(*mine))
        assert repr(plain[0].__dict__) == repr(mine[0].__dict__)
        assert repr(plain[1]) == repr(mine[1])


def test_objects_without_a_dict_get_none():
    """Guarding that a dict is not an object's own does not make the object's dict."""
    import sys

    compiled = Compiled(writes_object)
    for _ in range(3):
        box, table = Box.__new__(Box), {"v": A}
        size = sys.getsizeof(box)
        compiled(box, table, A)
        assert sys.getsizeof(box) == size
    assert not compiled.breaks
