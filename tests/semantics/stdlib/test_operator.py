"""operator: functions, getters, callers."""

import operator

import numpy as np
import pytest
from differential import check

A = np.linspace(0.5, 2.0, 4)
CAPTURED = []


def captured(fn):
    CAPTURED.append(fn)
    return fn


first = operator.itemgetter(0)
several = operator.itemgetter(2, 0, -1)
by_name = operator.itemgetter("a")
tail = operator.itemgetter(slice(1, None))
value_of = operator.attrgetter("value")
deep = operator.attrgetter("inner.value", "value")
upper = operator.methodcaller("upper")
scaled = operator.methodcaller("scaled", 2, offset=1)


class Box:
    def __init__(self, value, inner=None):
        self.value = value
        self.inner = inner

    def scaled(self, factor, offset=0):
        return self.value * factor + offset

    def __index__(self):
        return self.value


@captured
def arithmetic(x):
    return operator.add(operator.mul(x, x), operator.neg(x)), operator.sub(x, 1.0)


@captured
def division(x):
    return operator.truediv(x, 2.0), operator.floordiv(7, 2), operator.mod(7, 3)


@captured
def bits(x):
    return x, operator.and_(6, 3), operator.or_(6, 3), operator.xor(6, 3), operator.invert(6)


@captured
def shifts(x):
    return x * operator.lshift(1, 3), operator.rshift(9, 2)


@captured
def powers(x):
    return operator.pow(x, 2), operator.pow(2, 5), operator.abs(-3), operator.pos(x)


@captured
def comparisons(x):
    pairs = [operator.lt(1, 2), operator.le(2, 2), operator.eq(1, 2), operator.ne(1, 2)]
    return operator.gt(x, 1.0), pairs, operator.ge("b", "a")


@captured
def truth(x):
    return x, operator.truth([]), operator.not_(1), operator.is_(None, None), operator.is_not(x, x)


@captured
def containers(x):
    items = {"a": 1}
    operator.setitem(items, "b", 2)
    operator.delitem(items, "a")
    return x * operator.getitem(items, "b"), items, operator.contains(items, "a")


@captured
def in_place_on_lists(x):
    a = [1]
    b = operator.iadd(a, [2])
    c = operator.imul(a, 2)
    return x, a, b is a, c is a, operator.ior(1, 2), operator.isub(5, 3)


@captured
def in_place_on_numbers(x):
    n = operator.iadd(3, 4)
    n = operator.ifloordiv(n, 2)
    return x * operator.ipow(n, 2), operator.ixor(n, 1), operator.iand(n, 2)


@captured
def concatenation(x):
    return x, operator.concat([1], [2]), operator.concat("a", "b"), operator.concat((1,), (2,))


@captured
def concatenation_in_place(x):
    a = [1]
    return x, operator.iconcat(a, [2]) is a, a


@captured
def counting(x):
    return x * operator.countOf([1, 2, 1], 1), operator.indexOf("abc", "c")


@captured
def index_of_numbers(x):
    return x, operator.index(5), operator.index(True), operator.index(Box(4))


@captured
def hints(x):
    return x, operator.length_hint([1, 2]), operator.length_hint("abc"), operator.length_hint({})


@captured
def existing_getter(x):
    return x * first([3, 4]), several([1, 2, 3]), by_name({"a": 5})


@captured
def getter_of_slices(x):
    return tail(x), tail([1, 2, 3]), tail("abc")


@captured
def getter_of_arrays(x):
    return first([x, 1]), operator.itemgetter(1, 0)([x, x * 2.0])


@captured
def new_getter(x):
    get = operator.itemgetter("n")
    return x * get({"n": 3}), operator.itemgetter(-1)((1, 2))


@captured
def sort_by_item(x):
    rows = [("b", 2), ("a", 3), ("c", 1)]
    return x, sorted(rows, key=operator.itemgetter(1)), min(rows, key=first), max(rows, key=first)


@captured
def sort_in_place(x):
    rows = [{"a": 3}, {"a": 1}]
    rows.sort(key=by_name)
    return x * rows[0]["a"], rows


@captured
def getter_leaves(x):
    return x + 1.0, first, by_name


@captured
def attributes(x):
    return x * value_of(Box(3)), operator.attrgetter("value", "inner")(Box(1, 2))


@captured
def deep_attributes(x):
    return x, deep(Box(1, Box(2))), operator.attrgetter("inner.inner.value")(Box(1, Box(2, Box(3))))


@captured
def attribute_of_array(x):
    return operator.attrgetter("T")(x), operator.attrgetter("ndim")(x)


@captured
def sort_by_attribute(x):
    boxes = [Box(2), Box(1)]
    return x, [box.value for box in sorted(boxes, key=value_of)]


@captured
def method(x):
    return x, upper("abc"), operator.methodcaller("split", ",")("a,b")


@captured
def method_with_keywords(x):
    return x * scaled(Box(3)), operator.methodcaller("scaled", factor=2)(Box(1))


@captured
def method_of_array(x):
    return operator.methodcaller("sum")(x), operator.methodcaller("reshape", 2, 2)(x)


@captured
def mapped(x):
    return x, list(map(operator.add, [1, 2], [3, 4])), list(map(upper, ["a", "b"]))


@captured
def table_of_operators(x):
    table = {"+": operator.add, "*": operator.mul, "-": operator.sub}
    for symbol, value in [("+", 1.0), ("*", 2.0), ("-", 0.5)]:
        x = table[symbol](x, value)
    return x


@pytest.mark.parametrize("fn", CAPTURED)
def test_operator(fn):
    check(fn, A)


class Hinted:
    def __init__(self, hint):
        self.hint = hint

    def __length_hint__(self):
        if isinstance(self.hint, Exception):
            raise self.hint
        return self.hint


class Counted:
    def __len__(self):
        return 3


class Refusing:
    def __len__(self):
        raise TypeError("no length")

    def __length_hint__(self):
        return 5


@captured
def length_hints(x):
    hint, found = operator.length_hint, []
    for value in (-1, "a", KeyError("k")):
        try:
            hint(Hinted(value))
        except Exception as error:
            found.append((type(error).__name__, str(error)))
    return (
        x,
        found,
        hint(Hinted(4)),
        hint(Hinted(NotImplemented), 7),
        hint(Hinted(TypeError("none")), 8),
        hint(Counted()),
        hint(Refusing()),
        hint(3),
        hint(object(), 2),
        hint((n for n in [1]), 9),
    )


@captured
def inverses(x):
    return operator.inv(x.astype(int)), operator.inv(3), operator.inv(-1)


def missing_item(x):
    y = x + 1.0
    return y, by_name({"b": 1})


def missing_attribute(x):
    y = x + 1.0
    return y, operator.attrgetter("nothing")(Box(1))


def not_found(x):
    y = x + 1.0
    return y, operator.indexOf([1], 2)


def no_integer(x):
    y = x + 1.0
    return y, operator.index(1.5)


def no_sequence(x):
    y = x + 1.0
    return y, operator.concat(1, 2)


@pytest.mark.parametrize(
    "fn", [missing_item, missing_attribute, not_found, no_integer, no_sequence]
)
def test_errors(fn):
    check(fn, A, breaks="raises")
