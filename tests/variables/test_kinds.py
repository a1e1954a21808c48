"""Every row of kinds.def has a case here: how a tracker of that kind comes to be, and what it says."""

import collections
import functools
import math
import sys
import types
import weakref

import dyntrace
import pytest
from dyntrace import _core
from dyntrace.api import _compile_target
from trackers import run, testing


class Point:
    scale = 2.0

    def __init__(self, x):
        self.x = x

    def method(self):
        return self.x


def function(a, b=1):
    return a


def check():
    return None


POINT = Point(1)
CELL = types.CellType(1)

# kind: (inputs, program, Python type of the last result)
CASES = {
    "NULL": ([], [("null",)], None),
    "LAZY": ([[1]], [], None),
    "CONSTANT": (["text"], [("realize", 0)], "str"),
    "SYMBOLIC": ([3], [("realize", 0)], "int"),
    "TUPLE": ([(1, 2)], [("realize", 0)], "tuple"),
    "LIST": ([[1, 2]], [("realize", 0)], "list"),
    "GROWING_LIST": ([[1, 2]], [("getattr", 0, "append"), ("getattr", 1, "__self__")], "list"),
    "DICT": ([{"a": 1}], [("realize", 0)], "dict"),
    "GROWING_DICT": ([{"a": 1}], [("getattr", 0, "get"), ("getattr", 1, "__self__")], "dict"),
    "SET": ([frozenset("a")], [("realize", 0)], "frozenset"),
    "BYTEARRAY": ([bytearray(b"ab")], [("realize", 0)], "bytearray"),
    "RANGE": ([range(3)], [("realize", 0)], "range"),
    "SLICE": ([1, None], [("slice", 0, 1, 1)], "slice"),
    "DICT_VIEW": ([{"a": 1}], [("getattr", 0, "keys"), ("call", 1)], "dict_keys"),
    "ITERATOR": ([[1, 2]], [("iter", 0)], "list_iterator"),
    "CELL": ([CELL], [("realize", 0)], "cell"),
    "FUNCTION": ([function], [("realize", 0)], "function"),
    "BOUND_METHOD": ([POINT.method], [("realize", 0)], "method"),
    "METHOD_ROW": ([[1]], [("getattr", 0, "append")], "builtin_function_or_method"),
    "BUILTIN": ([len], [("realize", 0)], "builtin_function_or_method"),
    "CLASS": ([Point], [("realize", 0)], "type"),
    "INSTANCE": ([POINT], [("realize", 0)], "Point"),
    "MODULE": ([math], [("realize", 0)], "module"),
    "PARTIAL": ([functools.partial(function, 1)], [("realize", 0)], "functools.partial"),
    "TRACEBACK": ([ValueError], [("call", 0), ("raise", 1), ("getattr", 2, "__traceback__")], "traceback"),
    "IDENTITY": ([id, POINT], [("call", 0, 1)], "int"),
    "MAPPING_PROXY": ([types.MappingProxyType({})], [("realize", 0)], "mappingproxy"),
    "NAMESPACE": ([math], [("getattr", 0, "__dict__")], "dict"),
    "WEAKREF": ([weakref.ref(POINT)], [("realize", 0)], "weakref.ReferenceType"),
    "STRANGER": ([sys._getframe()], [("realize", 0)], "frame"),
    "OPAQUE": ([object()], [("realize", 0)], "object"),
}


def array_case():
    import numpy as np

    return [np.arange(3.0)], [("realize", 0)], "numpy.ndarray"


def adapter_callable_case():
    import numpy as np

    return [np.add], [("realize", 0)], "numpy.ufunc"


LATE = {"ARRAY": array_case, "ADAPTER_CALLABLE": adapter_callable_case}


def make_generator():
    return (i for i in (1, 2))


def make_coroutine():
    async def coroutine():
        return 1

    return coroutine()


def make_async_generator():
    async def generator():
        yield 1

    return generator()


# Kinds that only the interpreter makes: a function that makes one.
MADE = {
    "GENERATOR": make_generator,
    "COROUTINE": make_coroutine,
    "ASYNC_GENERATOR": make_async_generator,
}
KINDS = dict(testing.kinds())


def test_every_row_has_a_case():
    assert sorted(KINDS) == sorted([*CASES, *LATE, *MADE])


@pytest.mark.parametrize("kind", MADE)
def test_kind_that_a_frame_makes(kind):
    plain = MADE[kind]()
    region = _core.Region("native", record=True)
    with dyntrace.config.patch(everything=True, strict=True):
        made = _compile_target(MADE[kind], region)()
    assert [r["break"] for r in region.records] == [None]
    assert type(made) is type(plain)
    for coroutine in (plain, made):
        if isinstance(coroutine, types.CoroutineType):
            coroutine.close()


@pytest.mark.parametrize("kind", [k for k in KINDS if k not in MADE])
def test_kind(kind):
    inputs, program, type_name = CASES[kind] if kind in CASES else LATE[kind]()
    last = run(inputs, *program).last
    assert last.kind == KINDS[kind]
    if type_name is not None:
        assert last.type == type_name
    assert last.text


@pytest.mark.parametrize("kind", [k for k in KINDS if k not in ("LAZY", "NULL", *MADE)])
def test_an_input_is_guarded_when_it_is_looked_at(kind):
    inputs, _, _ = CASES[kind] if kind in CASES else LATE[kind]()
    untouched = run(inputs)
    assert untouched.guards == []
    touched = run(inputs, ("realize", 0))
    # The cell itself needs none: what it holds is guarded when it is read.
    assert touched.guards or kind == "CELL"


def test_known_objects_need_no_guard():
    for value in (check, Point, math, len, "a", (1, 2), frozenset("ab")):
        assert run([("known", value)], ("realize", 0)).guards == []


def test_one_object_has_one_tracker():
    for value in ([1], {"a": 1}, POINT, function, CELL):
        done = run([value, value], ("realize", 0), ("is", 0, 1))
        assert done.last.constant is True
        assert any(" is " in guard for guard in done.guards), done.guards


def test_different_objects_stay_different():
    done = run([[1], [1]], ("is", 0, 1), ("compare", 2, 0, 1))
    assert done.rows[2].constant is False
    assert any("is not" in guard for guard in done.guards), done.guards


def test_repr_of_a_new_container():
    done = run([("const", 1), ("const", "k")], ("list", 0, 1), ("dict", 1, 2), ("tuple", 3))
    assert done.last.text == "({'k': [1, 'k']},)"


def test_what_is_not_tracked():
    odd = collections.OrderedDict(a=1)
    dict.__delitem__(odd, "a")  # behind its back
    assert run([odd], ("realize", 0)).broken[0] == "unknown-type"
