"""Subclasses of list, dict, tuple, set, int, float, str: existing and made in the trace."""

from collections import OrderedDict, defaultdict, namedtuple

import numpy as np
import pytest
from differential import check

A = np.linspace(0.5, 2.0, 4)


class Stack(list):
    limit = 10

    def push(self, item):
        self.append(item)
        return self

    def top(self):
        return self[-1]

    def total(self):
        result = 0.0
        for item in self:
            result = result + item
        return result


class Named(list):
    def __init__(self, items=(), name="none"):
        super().__init__(items)
        self.name = name


class LoudList(list):
    def __init__(self, *args):
        super().__init__(*args)
        self.log = []

    def append(self, item):
        self.log.append("append")
        super().append(item)

    def __getitem__(self, index):
        return super().__getitem__(index) * 2

    def __setitem__(self, index, value):
        self.log.append(index)
        super().__setitem__(index, value)

    def __len__(self):
        return super().__len__() + 100


class Attr(dict):
    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name)

    def __setattr__(self, name, value):
        self[name] = value


class Config(dict):
    def value(self, key):
        return self.get(key, 1.0) * 2

    def __missing__(self, key):
        return len(key)


class Upper(dict):
    def __setitem__(self, key, value):
        super().__setitem__(key.upper(), value)

    def __getitem__(self, key):
        return super().__getitem__(key.upper())


class Pair(tuple):
    __slots__ = ()

    def __new__(cls, a, b):
        return super().__new__(cls, (a, b))

    @property
    def first(self):
        return self[0]

    @property
    def second(self):
        return self[1]

    def swapped(self):
        return Pair(self.second, self.first)


class Vector(tuple):
    def __add__(self, other):
        return Vector([a + b for a, b in zip(self, other)])

    def __mul__(self, k):
        return Vector([a * k for a in self])


class Meters(float):
    unit = "m"

    def to_feet(self):
        return self * 3.25


class Degrees(float):
    def __new__(cls, value):
        return super().__new__(cls, value % 360.0)

    def __add__(self, other):
        return Degrees(float(self) + other)

    __radd__ = __add__


class Count(int):
    def next(self):
        return Count(self + 1)

    def __repr__(self):
        return "Count"


class Tagged(str):
    def shout(self):
        return self.upper() + "!"


class Bag(set):
    def put(self, item):
        self.add(item)
        return self


def list_methods(s, x):
    s.append(3.0)
    s.extend([1.0, 2.0])
    return x * s.top() + s.total(), len(s)


def list_chain(s, x):
    return x * s.push(5.0).push(6.0)[-2]


def list_slots(s, x):
    s[0] = 7.0
    del s[-1]
    return x * s[0], 7.0 in s, list(s), s[1:], s == [7.0], bool(s)


def list_attribute(s, x):
    s.limit = 3
    return x + s.limit


def list_new(x):
    s = Stack()
    for i in range(4):
        s.append(i * 1.0)
    return x * s.total(), len(s)


def list_new_from(x):
    s = Stack([1.0, 2.0])
    return x + s[0], s + [3.0], [3.0] + s, s * 2


def list_escapes(x):
    s = Stack([x, x + 1])
    s.note = "here"
    return s, s


def list_init(x):
    n = Named([1.0, x], name="n")
    return n[1] * 2, n.name, len(n)


def list_init_escapes(x):
    return Named([x * 2])


def list_overridden(s, x):
    s.append(4.0)
    s[0] = 2.0
    return x * s[0], len(s), s.log


def list_iadd(s, x):
    t = s
    s += [1.0]
    return x + len(s), t is s


def list_isinstance(s, x):
    return x + 1, isinstance(s, list), isinstance(s, Stack), type(s) is list


def list_of_arrays(s):
    return s.total()


def list_unpacked(s, x):
    a, b, *rest = s
    return x * a + b, rest


def list_star_call(s, x):
    return x + max(*s), sum(s), sorted(s), [v for v in s]


def list_sorted_in_place(s, x):
    s.sort(reverse=True)
    s.insert(0, 9.0)
    return x * s[0], s.index(9.0), s.pop()


def list_unbound(s, x):
    list.append(s, 5.0)
    return x * list.__len__(s), list.__getitem__(s, 0)


def attr_dict_read(d):
    return d.x * d.scale


def attr_dict_write(d):
    d.y = d.x + 1.0
    return d.y * 2


def attr_dict_new(x):
    d = Attr(x=x, k=2.0)
    return d.x * d.k


def dict_methods(c, x):
    c["a"] = 4.0
    c.setdefault("z", 5.0)
    c.update(q=1.0)
    return x * c["a"] + c.value("b"), len(c), "z" in c, list(c)


def dict_missing(c, x):
    return x * c["long key"], c.get("other")


def dict_delete(c, x):
    del c["a"]
    return x + c.pop("b"), list(c.items())


def dict_new(x):
    c = Config(a=1.0)
    c["b"] = x
    return c["b"] * c["nothing"]


def dict_escapes(x):
    c = Config(a=x)
    c["b"] = x + 1
    c.extra = 3
    return c


def dict_overridden(u, x):
    u["key"] = 3.0
    return x * u["key"], list(u)


def dict_overridden_new(x):
    u = Upper()
    u["k"] = x
    return u["K"] * 2, u


def dict_values(c, x):
    total = x
    for key, value in c.items():
        total = total + value
    for value in c.values():
        total = total * value
    return total, sorted(c.keys())


def ordered_read(d, x):
    return x * d["a"], list(d), list(d.values())


def ordered_write(d, x):
    d["c"] = 3.0
    d["a"] = 10.0
    return x * d["c"]


def ordered_move(d, x):
    d.move_to_end("a")
    return x + 1, list(d)


def ordered_move_first(d, x):
    d.move_to_end("b", last=False)
    return x + 1, list(d.items())


def ordered_pop(d, x):
    key, value = d.popitem(last=False)
    return x * value, key, len(d)


def ordered_new(x):
    d = OrderedDict([("a", x), ("b", 2.0)])
    d["c"] = d["a"] * 2
    d.move_to_end("a")
    return d


def ordered_equal(d, x):
    same = OrderedDict(a=1.0, b=2.0)
    other = OrderedDict(b=2.0, a=1.0)
    return x + 1, d == same, d == other, d == {"b": 2.0, "a": 1.0}, d != other


def default_list(x):
    groups = defaultdict(list)
    for i in range(5):
        groups[i % 2].append(x * i)
    return groups[0][1] + groups[1][0], len(groups)


def default_escapes(x):
    groups = defaultdict(list)
    groups["a"].append(x + 1)
    return groups


def default_int(x):
    counts = defaultdict(int)
    for word in ("a", "b", "a"):
        counts[word] += 1
    return x * counts["a"], sorted(counts.items())


def default_lambda(x):
    d = defaultdict(lambda: 2.0, a=1.0)
    return x * d["b"] + d["a"], "c" in d, d.get("c"), sorted(d)


def default_input(d, x):
    d["new"].append(1.0)
    return x + d["old"][0], sorted(d)


def default_input_read(d, x):
    return x * d["old"][0], d.default_factory is list


def tuple_fields(p):
    return p.first * 2.0 + p.second, len(p), p[0] is p.first


def tuple_new(x):
    p = Pair(x, 2.0)
    return p.swapped().second * 3


def tuple_escapes(x):
    return Pair(x, 1).swapped()


def tuple_operators(v, x):
    w = v + v
    return x * w[0], (v * 3.0)[1], isinstance(w, Vector)


def tuple_compare(p, x):
    return x + 1, p == (1.0, 2.0), p < (2.0,), 1.0 in p, p + (3,)


def float_method(m, x):
    return x * m.to_feet(), m + 1.0, m > 2.0


def float_new(x):
    d = Degrees(370.0) + 360.0
    return x * 2.0, float(d), isinstance(d, Degrees)


def float_reflected(x):
    return x + 1, float(5.0 + Degrees(1.0))


def int_method(c, x):
    return x * 2, c.next() == 4, c + 1, 1 + c, c << 1, -c, c // 2


def int_as_index(c, x):
    return x[c], [1, 2, 3, 4][c], list(range(c))


def int_new_escapes(x):
    return Count(3).next(), x + 1


def str_method(t, x):
    return x + len(t), t.shout(), t + "b", t == "tag", t[0], t.startswith("t")


def str_new(x):
    t = Tagged("abc")
    return x * 2, t.shout(), t


def set_new(x):
    b = Bag([1, 2])
    b.put(3).put(1)
    return x * len(b), 3 in b, b | {9}


def set_escapes(x):
    return Bag([1, 2]).put(7), x * 2


CASES = [
    (list_methods, lambda: (Stack([1.0]), A)),
    (list_chain, lambda: (Stack([1.0]), A)),
    (list_slots, lambda: (Stack([1.0, 2.0]), A)),
    (list_attribute, lambda: (Stack([1.0]), A)),
    (list_new, lambda: (A,)),
    (list_new_from, lambda: (A,)),
    (list_escapes, lambda: (A,)),
    (list_init, lambda: (A,)),
    (list_init_escapes, lambda: (A,)),
    (list_overridden, lambda: (LoudList([1.0]), A)),
    (list_iadd, lambda: (Stack([1.0]), A)),
    (list_isinstance, lambda: (Stack([1.0]), A)),
    (list_of_arrays, lambda: (Stack([A, A + 1]),)),
    (list_unpacked, lambda: (Stack([1.0, 2.0, 3.0, A]), A)),
    (list_star_call, lambda: (Stack([1.0, 3.0, 2.0]), A)),
    (list_sorted_in_place, lambda: (Stack([1.0, 3.0, 2.0]), A)),
    (list_unbound, lambda: (Stack([1.0, 3.0, 2.0]), A)),
    (attr_dict_read, lambda: (Attr(x=A, scale=2.0),)),
    (attr_dict_write, lambda: (Attr(x=A),)),
    (attr_dict_new, lambda: (A,)),
    (dict_methods, lambda: (Config(a=1.0, b=2.0), A)),
    (dict_missing, lambda: (Config(a=1.0, b=2.0), A)),
    (dict_delete, lambda: (Config(a=1.0, b=2.0), A)),
    (dict_new, lambda: (A,)),
    (dict_escapes, lambda: (A,)),
    (dict_overridden, lambda: (Upper(), A)),
    (dict_overridden_new, lambda: (A,)),
    (dict_values, lambda: (Config(a=1.0, b=2.0), A)),
    (ordered_read, lambda: (OrderedDict(a=1.0, b=2.0), A)),
    (ordered_write, lambda: (OrderedDict(a=1.0, b=2.0), A)),
    (ordered_move, lambda: (OrderedDict(a=1.0, b=2.0), A)),
    (ordered_move_first, lambda: (OrderedDict(a=1.0, b=2.0), A)),
    (ordered_pop, lambda: (OrderedDict(a=1.0, b=2.0), A)),
    (ordered_new, lambda: (A,)),
    (ordered_equal, lambda: (OrderedDict(a=1.0, b=2.0), A)),
    (default_list, lambda: (A,)),
    (default_escapes, lambda: (A,)),
    (default_int, lambda: (A,)),
    (default_lambda, lambda: (A,)),
    (default_input, lambda: (defaultdict(list, old=[1.0]), A)),
    (default_input_read, lambda: (defaultdict(list, old=[1.0]), A)),
    (tuple_fields, lambda: (Pair(A, 2.0),)),
    (tuple_new, lambda: (A,)),
    (tuple_escapes, lambda: (A,)),
    (tuple_operators, lambda: (Vector((1.0, 2.0)), A)),
    (tuple_compare, lambda: (Pair(1.0, 2.0), A)),
    (float_new, lambda: (A,)),
    (float_reflected, lambda: (A,)),
    (int_new_escapes, lambda: (A,)),
    (str_new, lambda: (A,)),
    (set_new, lambda: (A,)),
    (set_escapes, lambda: (A,)),
]


@pytest.mark.parametrize("fn, make", CASES, ids=lambda case: getattr(case, "__name__", "args"))
def test_same(fn, make):
    check(fn, make=lambda: (make(), {}))


# One object for all calls: an instance of a subclass of an immutable type is known by identity.
CONSTANTS = [
    (float_method, Meters(2.5)),
    (int_method, Count(3)),
    (int_as_index, Count(3)),
    (str_method, Tagged("tag")),
]


@pytest.mark.parametrize("fn, value", CONSTANTS, ids=lambda case: getattr(case, "__name__", "args"))
def test_constants(fn, value):
    check(fn, make=lambda: ((value, A), {}))


def missing_key(c, x):
    y = x + 1
    return y * Plain()["nothing"]


class Plain(dict):
    pass


def pop_empty(s, x):
    y = x + 1
    s.clear()
    s.pop()
    return y


Spot = namedtuple("Spot", "first second")


def absent_item(s, x):
    return x * s.index(-1.0)


FAILING = [
    (absent_item, lambda: (Spot(1.0, 2.0), A)),
    (missing_key, lambda: (Plain(), A)),
    (pop_empty, lambda: (Stack([1.0]), A)),
]


@pytest.mark.parametrize("fn, make", FAILING, ids=lambda case: getattr(case, "__name__", "args"))
def test_failing(fn, make):
    check(fn, make=lambda: (make(), {}), breaks="raises")
