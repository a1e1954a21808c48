"""Every row of sources.def has a case: equal sources are one, and how one is printed."""

import math
from collections import deque

import pytest
from trackers import host, testing

KINDS = {name: number for number, name in enumerate(testing.source_kinds())}
X = ("LOCAL", "x", 0)

CASES = {
    "LOCAL": ([X], "L['x']"),
    "LOCAL_DEREF": ([("LOCAL_DEREF", "x", 1)], "L['x']"),
    "LOCAL_CELL": ([("LOCAL_CELL", "x", 1)], "L['x'].cell"),
    "GLOBAL": ([("GLOBAL", "g", 0)], "G['g']"),
    "BUILTIN": ([("BUILTIN", "len", 0)], "B['len']"),
    "FUNCTION": ([("FUNCTION", None, 0)], "function"),
    "ATTR": ([("GLOBAL", "f", 0), ("ATTR", "w", 0)], "G['f'].w"),
    "OWN_ATTR": ([X, ("OWN_ATTR", "w", 0)], "L['x'].w"),
    "MEMBER": ([X, ("MEMBER", "args", 0)], "L['x'].args"),
    "TYPE_ATTR": ([X, ("TYPE_ATTR", "method", 0)], "type(L['x']).method"),
    "TYPE": ([X, ("TYPE", None, 0)], "type(L['x'])"),
    "INDEX": ([X, ("INDEX", None, 2)], "L['x'][2]"),
    "ITEM": ([X, ("ITEM", "key", 0), ("ITEM", 3, 0), ("ITEM", None, 0)], "L['x']['key'][3][?]"),
    "LIST_ITEM": ([X, ("LIST_ITEM", None, -2)], "L['x'][-2]"),
    "LIST_ARRAY": ([X, ("LIST_ARRAY", "numpy", 2 << 32 | 1)], "numpy.array(L['x'][1:-2])"),
    "LIST_SIZE": ([X, ("LIST_SIZE", None, 0)], "len(L['x'])"),
    "PICKED": ([X, ("INDEX", None, 1), ("PICKED", None, -2)], "L['x'][1][L['x'] - 2]"),
    "DEQUE_ITEM": ([X, ("DEQUE_ITEM", deque, -2)], "L['x'][-2]"),
    "DEQUE_SIZE": ([X, ("DEQUE_SIZE", deque, 0)], "len(L['x'])"),
    "BASE_INDEX": ([X, ("BASE_INDEX", list, 2)], "L['x'][2]"),
    "BASE_ITEM": ([X, ("BASE_ITEM", "key", 0)], "L['x']['key']"),
    "DICT_KEY": ([X, ("DICT_KEY", None, 1)], "list(L['x'])[1]"),
    "FUNC_GLOBAL": ([X, ("FUNC_GLOBAL", "g", 0)], "L['x'].__globals__['g']"),
    "FUNC_CODE": ([X, ("FUNC_CODE", None, 0)], "L['x'].__code__"),
    "FUNC_PART": ([X, ("FUNC_PART", "__defaults__", 0)], "L['x'].__defaults__"),
    "FUNC_DEFAULT": ([X, ("FUNC_DEFAULT", None, 1)], "L['x'].__defaults__[-1]"),
    "FUNC_CLOSURE": ([X, ("FUNC_CLOSURE", None, 0)], "L['x'].__closure__[0]"),
    "CELL_CONTENTS": (
        [X, ("FUNC_CLOSURE", None, 0), ("CELL_CONTENTS", None, 0)],
        "L['x'].__closure__[0].cell_contents",
    ),
    "ATTR_DICT": ([X, ("ATTR_DICT", "__dict__", 0)], "L['x'].__dict__"),
    "METHOD_FUNC": ([X, ("METHOD_FUNC", None, 0)], "L['x'].__func__"),
    "METHOD_SELF": ([X, ("METHOD_SELF", None, 0)], "L['x'].__self__"),
    "PARTIAL_FUNC": ([X, ("PARTIAL_FUNC", None, 0)], "L['x'].func"),
    "CACHED": ([X, ("CACHED", 3, 0)], "L['x'].cache[3]"),
    "ITERATED": ([X, ("ITERATED", None, 0)], "L['x'].sequence"),
    "REFERENT": ([X, ("REFERENT", None, 0)], "L['x'].referent"),
    "COUNTED": ([X, ("COUNTED", None, 0)], "L['x'].number"),
    "HANDLED": ([("HANDLED", None, 0)], "sys.exception()"),
    "COMPUTED": ([X, ("INDEX", None, 1), ("COMPUTED", None, 4)], "(L['x'][1] * L['x'])"),
    "PAIR": ([X, ("INDEX", None, 1), ("PAIR", None, 0)], "(L['x'][1], L['x'])"),
    "ARRAY_DIM": ([X, ("ARRAY_DIM", None, 1)], "L['x'].shape[1]"),
    "OBJECT": ([("OBJECT", math, 0), ("ATTR", "pi", 0)], "<module math>.pi"),
    "SYNTHETIC": ([("SYNTHETIC", "counter", 0)], "<synthetic counter>"),
}


def test_every_row_has_a_case():
    assert sorted(KINDS) == sorted(CASES)


@pytest.mark.parametrize("kind", CASES)
def test_text(kind):
    chain, text = CASES[kind]
    assert (
        testing.source_text(host, [(KINDS[name], key, index) for name, key, index in chain]) == text
    )


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (int, "<class int>"),
        (object(), "<object object>"),
        (True, "<True>"),
        (1.5, "<1.5>"),
        ("\ud800", "<?>"),
    ],
)
def test_objects_are_printed_without_running_code(key, text):
    assert testing.source_text(host, [(KINDS["OBJECT"], key, 0)]) == text
