"""Slots that are called by name do what that very slot does, not what the operator would."""

import datetime
import decimal
import functools
import itertools
import operator
import types
import weakref
from collections import OrderedDict, defaultdict

import dyntrace
import pytest
from differential import Compiled, check

DAY = datetime.date(2020, 1, 1)
MOMENT = datetime.datetime(2020, 1, 1)


class Odd(float):
    def as_integer_ratio(self):
        return 5


class Ordered(OrderedDict):
    pass


class Plain(dict):
    pass


def by_name(a, b):
    return a.__eq__(b), a.__ne__(b)


def by_class(a, b):
    return datetime.date.__eq__(a, b)


def by_operator(a, b):
    return a == b, a != b


def divided(a, b):
    try:
        return a / b
    except TypeError as error:
        return str(error)


def merged(a, b):
    result = a | b
    return type(result).__name__, result


def merged_in_place(a, b):
    before = a
    a |= b
    return a is before, a


class Reflected(dict):
    def __ror__(self, other):
        return "reflected"


class ReflectedSet(set):
    def __ror__(self, other):
        return "reflected"

    def __rsub__(self, other):
        return "reflected"


class ReflectedList(list):
    def __radd__(self, other):
        return "reflected"


def in_place(a, b):
    results = []
    for value in (a, b, 3):
        for name in ("__ior__", "__or__", "__isub__", "__sub__", "__iadd__", "__add__"):
            left = a.copy()
            try:
                result = getattr(operator, name)(left, value)
            except TypeError as error:
                result = str(error)
            results.append((name, result is left, result, left))
    return results


def calls_of_calls():
    def same(x):
        return x

    return [same][0].__call__.__call__(5), same.__call__(3), len.__call__([1])


class Counter:
    def method(self, x):
        "doc"
        return x


def of_a_method():
    method = Counter().method
    return method.__name__, method.__doc__, method.__qualname__, method.__call__(4)


def outcome(fn, args):
    try:
        result = fn(*args)
    except (TypeError, BufferError) as error:
        return str(error)
    return repr(result)


def compare(fn, *makers):
    with dyntrace.config.patch(everything=True, strict=True):
        compiled = Compiled(fn)
        for _ in range(2):
            assert outcome(compiled, [make() for make in makers]) == outcome(
                fn, [make() for make in makers]
            )


@pytest.mark.parametrize("fn", [by_name, by_class, by_operator])
@pytest.mark.parametrize("other", [DAY, MOMENT, datetime.date(2021, 1, 1), 5])
def test_dates(fn, other):
    compare(fn, lambda: DAY, lambda: other)


def test_float_with_a_method_that_c_asks():
    compare(divided, lambda: datetime.timedelta(1), lambda: Odd(2))


MAKERS = [
    lambda: {1: 2},
    lambda: OrderedDict({3: 4}),
    lambda: defaultdict(int, {5: 6}),
    lambda: Ordered({7: 8}),
    lambda: Plain({9: 1}),
    lambda: [(1, 2)],
]


@pytest.mark.parametrize("a", MAKERS)
@pytest.mark.parametrize("b", MAKERS)
@pytest.mark.parametrize("fn", [merged, merged_in_place])
def test_merging(fn, a, b):
    compare(fn, a, b)


SETS = [
    lambda: {1, 2},
    lambda: ReflectedSet({2, 3}),
    lambda: Reflected({1: 2}),
    lambda: {4: 5},
    lambda: ReflectedList([6]),
    lambda: [7],
]


@pytest.mark.parametrize("a", SETS)
@pytest.mark.parametrize("b", SETS)
def test_in_place(a, b):
    compare(in_place, a, b)


def behind_its_back(method, *args):
    ordered = OrderedDict(spam=1, ham=2)
    getattr(dict, method)(ordered, *args)
    try:
        return repr(ordered)
    except KeyError as error:
        return repr(error)


@pytest.mark.parametrize(
    "case", [("__delitem__", "spam"), ("pop", "spam"), ("popitem",), ("get", "spam")]
)
def test_dict_methods_of_an_ordered_dict(case):
    compare(behind_its_back, *(lambda value=value: value for value in case))


@pytest.mark.parametrize("fn", [calls_of_calls, of_a_method])
def test_methods_of_methods(fn):
    compare(fn)


def test_names_of_a_method_are_known():
    def fn(counter):
        return counter.method.__name__, counter.method.__doc__

    check(fn, Counter())


# Kinds whose own comparison knows little, or that have none but object's.
SPARE = {
    "memoryview": lambda: memoryview(b"a"),
    "decimal": lambda: decimal.Decimal(1),
    "function": lambda: outcome,
    "builtin": lambda: len,
    "iterator": lambda: iter([1]),
    "NotImplemented": lambda: NotImplemented,
    "values": lambda: {1: 2}.values(),
    "partial": lambda: functools.partial(len),
    "count": itertools.count,
    "cell": types.CellType,
    "property": lambda: property(len),
    "weak reference": lambda: weakref.ref(Counter),
    "list": lambda: [1],
    "text": lambda: "a",
    "object": object,
}


@pytest.mark.parametrize("other", [*SPARE, "the same"])
@pytest.mark.parametrize("kind", SPARE)
def test_comparisons_by_name(kind, other):
    """NotImplemented is no answer, and object goes by identity whatever the type itself knows."""

    def by_name(a, b):
        return a.__eq__(b), a.__ne__(b), a.__lt__(b), a.__ge__(b)

    def of_object(a, b):
        return object.__eq__(a, b), object.__ne__(a, b), object.__lt__(a, b)

    def by_operator(a, b):
        return a == b, a != b, b == a

    for fn in (by_name, of_object, by_operator):
        a = SPARE[kind]()
        b = a if other == "the same" else SPARE[other]()
        compare(fn, lambda a=a: a, lambda b=b: b)


@pytest.mark.parametrize("value", [1, 2.5, "a", None])
def test_divmod_by_name(value):
    def fn(a, b):
        return a.__divmod__(b)

    compare(fn, lambda: decimal.Decimal(7), lambda: value)
    compare(fn, lambda: 7, lambda: value)
    compare(fn, lambda: datetime.timedelta(7), lambda: datetime.timedelta(2))


class Whole(int):
    pass


OF_OBJECT = ["__str__", "__repr__", "__hash__", "__format__", "__eq__", "__ne__"]


@pytest.mark.parametrize("name", OF_OBJECT)
@pytest.mark.parametrize("kind", ["text", "list", "decimal", "function", "memoryview"])
def test_what_object_defines_is_its_own(kind, name):
    """`int.__str__` is object's, and gives the repr() of a text."""
    scope = {}
    argument = {"__format__": ', ""', "__eq__": ", a", "__ne__": ", a"}.get(name, "")
    exec(f"def fn(a):\n    return object.{name}(a{argument})", scope)
    value = SPARE[kind]()
    compare(scope["fn"], lambda: value)
    compare(lambda a: int.__str__(a), lambda: value)


@pytest.mark.parametrize("name", ["__add__", "__mul__", "__rmul__", "__mod__"])
@pytest.mark.parametrize("value", ["a", b"a", (1,), [1]])
@pytest.mark.parametrize("number", [1, 2.5, None, True])
def test_sequence_slots_by_class(name, value, number):
    scope = {}
    exec(f"def fn(a, n):\n    return type(a).{name}(a, n)", scope)
    if hasattr(type(value), name):
        compare(scope["fn"], lambda: value, lambda: number)


@pytest.mark.parametrize("value", [3, Whole(3), True, 2.5])
@pytest.mark.parametrize("digits", [None, 0, -1])
def test_round_by_name(value, digits):
    def fn(a, digits):
        return a.__round__(digits), round(a, digits)

    compare(fn, lambda: value, lambda: digits)


def test_a_bytearray_is_not_added_to_itself():
    def by_name(a):
        return a.__iadd__(a)

    def by_operator(a):
        a += a
        return a

    for fn in (by_name, by_operator):
        compare(fn, lambda: bytearray(b"a"))
