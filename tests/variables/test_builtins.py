"""Every builtin with a row has a case: what it gives in a compiled function is what it gives plainly."""

import cmath
import math
import operator
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from differential import check

A = np.linspace(0.5, 2.0, 4)
SOURCES = Path(__file__).parents[2] / "src" / "variables"

# Expressions over an array x, an int n, a float f, a list l, a dict d.
BUILTINS = {
    "abs": ["abs(-n)", "abs(x - 1)", "abs(-f)", "abs(3 + 4j)"],
    "all": ["all([1, n])", "all([])", "all((0, n))"],
    "any": ["any([0, n])", "any([])", "any((0, None))"],
    "ascii": ["ascii('\u00e9')", "ascii(l)"],
    "bin": ["bin(5)"],
    "bytearray": ["bytearray(b'ab')", "bytearray(n)"],
    "bytes": ["bytes(n)", "bytes([1, n])"],
    "bool": ["bool(n)", "bool()", "bool([])", "bool(n > 1)"],
    "callable": ["callable(len)", "callable(n)", "callable(int)"],
    "chr": ["chr(65)"],
    "complex": ["complex(1, 2)", "complex(f)"],
    "delattr": ["delattr(thing(), 'k')"],
    "dict": ["dict(a=n)", "dict([(1, x)])", "dict(d, z=1)", "dict()"],
    "divmod": ["divmod(n, 2)", "divmod(7.5, 2)", "divmod(-n, 3)"],
    "enumerate": ["list(enumerate(l))", "list(enumerate(l, start=n))"],
    "filter": ["list(filter(None, [0, n]))", "list(filter(lambda v: v > 1, l))"],
    "float": ["float(n)", "float('1.5')", "float()", "float(f)"],
    "format": ["format(1.5, '.3f')", "format(n, '5d')"],
    "frozenset": ["frozenset((1, n))", "frozenset()"],
    "vars": ["vars(thing())['k']"],
    "getattr": ["getattr(x, 'ndim')", "getattr(thing(), 'missing', n)"],
    "globals": ["'nowhere' in globals()"],
    "locals": ["'n' in locals()"],
    "hasattr": ["hasattr(thing(), 'k')", "hasattr(thing(), 'missing')"],
    "hash": ["hash(n)", "hash(1.5)"],
    "hex": ["hex(n)"],
    "id": [],
    "input": [],
    "int": ["int(f)", "int('12')", "int()", "int('ff', 16)", "int(n)", "int(True)"],
    "isinstance": ["isinstance(n, int)", "isinstance(x, (list, np.ndarray))", "isinstance(f, int)"],
    "issubclass": ["issubclass(bool, int)", "issubclass(int, (str, float))"],
    "iter": ["list(iter(l))"],
    "len": ["len(l)", "len(x)", "len(d)", "len('abc')", "len(range(n))"],
    "list": ["list((1, x))", "list()", "list('ab')", "list(d)"],
    "map": ["list(map(lambda a, b: a + b, l, (1, 2, 3)))", "list(map(abs, l))"],
    "max": ["max(n, 3)", "max(l)", "max([], default=n)", "max(l, key=lambda v: -v)", "max(n, f)"],
    "min": ["min(n, 3)", "min(l)", "min([], default=n)", "min('b', 'a')", "min(f, 2.5)"],
    "next": ["next(iter(l))", "next(iter([]), n)"],
    "object": ["type(object())"],
    "oct": ["oct(n)"],
    "open": [],
    "ord": ["ord('a')"],
    "pow": ["pow(n, 2)", "pow(2, n)", "pow(f, 2)", "pow(3, 4, 5)", "pow(x, 2)"],
    "range": ["list(range(n))", "list(range(1, n))", "list(range(n, 0, -1))", "range(n)[1:]"],
    "repr": ["repr('a')", "repr((1, None))"],
    "reversed": ["list(reversed(l))", "list(reversed(range(n)))", "list(reversed((1, 2)))"],
    "round": ["round(f)", "round(2.567, 2)", "round(n)"],
    "set": ["set((1, n))", "set()"],
    "setattr": ["setattr(thing(), 'k', n)"],
    "slice": ["slice(n)", "slice(1, n)", "x[slice(1, 3)]", "slice(1, 2, 3).indices(5)"],
    "sorted": ["sorted(l)", "sorted(l, reverse=True)", "sorted(d)", "sorted(l, key=lambda v: -v)"],
    "str": ["str(3)", "str(None)", "str()", "str(1.5)"],
    "sum": ["sum(l)", "sum([x, x])", "sum([1, n], 2)", "sum([0.1] * 10)", "sum([n], start=f)"],
    "tuple": ["tuple(l)", "tuple()", "tuple((x, n))"],
    "type": ["type(n)", "type(x)", "type(None)", "type(type)", "type(l)(d)"],
    "zip": ["list(zip(l, 'abc'))", "list(zip())", "list(zip(l, l, strict=True))"],
}
MATH = {
    "atan2": "(0.5, f)",
    "copysign": "(f, -1.0)",
    "fmod": "(f, 0.7)",
    "ldexp": "(f, 2)",
    "log": "(f, 3)",
    "pow": "(f, 2.5)",
    "remainder": "(f, 0.7)",
    "hypot": "(f, 2.0, 3.0)",
    "gcd": "(12, 18, n)",
    "isqrt": "(17,)",
    "acos": "(0.5,)",
    "comb": "(5, n)",
    "factorial": "(n,)",
    "fma": "(f, 2.0, 1.0)",
    "isclose": "(f, 1.75, rel_tol=1e-9)",
    "lcm": "(4, 6, n)",
    "nextafter": "(f, 2.0)",
    "perm": "(5, n)",
    "asin": "(0.5,)",
    "atanh": "(0.5,)",
}
OPERATOR = {
    "contains": "(l, n)",
    "delitem": "(list(l), 0)",
    "getitem": "(l, 1)",
    "setitem": "(list(l), 0, n)",
    "matmul": "(x, x)",
    "iadd": "(list(l), [n])",
    "inv": "(n,)",
    "invert": "(n,)",
    "neg": "(n,)",
    "pos": "(f,)",
    "not_": "(n,)",
    "truth": "(l,)",
    "is_": "(l, l)",
    "is_not": "(l, None)",
    "call": "(max, 1, n)",
    "concat": "(l, [n])",
    "iconcat": "(list(l), [n])",
    "imatmul": "(thing(), 2)",
    "index": "(n,)",
}


def rows(file, table):
    (path,) = SOURCES.rglob(file)
    text = path.read_text()
    body = text[text.index(f"{table}[] = {{") :]
    return re.findall(r'\{"(\w+)"', body[: body.index("};")])


class Thing:
    def __init__(self):
        self.k = 1

    def __imatmul__(self, other):
        return self.k @ other if other is None else other


def compiled_expression(text):
    source = f"def fn(x, n, f, l, d):\n    return x + 1, {text}\n"
    scope = {"np": np, "math": math, "cmath": cmath, "operator": operator, "thing": Thing}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        exec(source, scope)
    return scope["fn"]


def check_expression(text):
    check(compiled_expression(text), A, 3, 1.75, [3, 1, 2], {"b": 1, "a": 2.5})


def test_every_builtin_has_a_case():
    assert sorted(BUILTINS) == sorted(
        [
            *rows("builtins.c", "builtin_rows"),
            *rows("builtins_numbers.c", "number_rows"),
            *rows("builtins_types.c", "type_rows"),
            *rows("instance_check.c", "check_rows"),
        ]
    )


@pytest.mark.parametrize("text", [text for texts in BUILTINS.values() for text in texts])
def test_builtin(text):
    check_expression(text)


@pytest.mark.parametrize("name", rows("builtins_math.c", "math_rows"))
def test_math(name):
    if not hasattr(math, name):
        pytest.skip(f"this Python has no math.{name}")
    check_expression(f"math.{name}{MATH.get(name, '(f,)')}")


@pytest.mark.parametrize("name", rows("builtins_math.c", "cmath_rows"))
def test_cmath(name):
    args = {"rect": "(f, 0.5)", "isclose": "(1j, 1j, abs_tol=0.5)", "log": "(1j, 3)"}
    check_expression(f"cmath.{name}{args.get(name, '(0.25j + 1,)')}")


@pytest.mark.parametrize("name", rows("builtins_operator.c", "operator_rows"))
def test_operator(name):
    if not hasattr(operator, name):
        pytest.skip(f"this Python has no operator.{name}")
    check_expression(f"operator.{name}{OPERATOR.get(name, '(n, 2)')}")


@pytest.mark.parametrize("call", ["id([l])", "print(n)", "open(__file__)"])
def test_what_reads_or_writes_breaks(call):
    fn = compiled_expression(f"{call} and None")
    fn.__globals__["__file__"] = __file__
    check(fn, A, 3, 1.75, [3, 1, 2], {"b": 1}, breaks="unknown-callable")


@pytest.mark.parametrize(
    "text",
    [
        "math.sqrt(-1)",
        "int('x')",
        "range(1.5)",
        "next(iter([]))",
        "zip(l, [1], strict=True) and list(zip(l, [1], strict=True))",
        "max([])",
        "[1, 2].index(5)",
        "{}['k']",
        "l[7]",
        "getattr(thing(), 'missing')",
        "len(3)",
        "iter(3)",
        "3()",
        "{[]: 1}",
        "'abc'[1.5]",
        "(1, 2) + [3]",
        "dict([1])",
        "sum(['a'])",
        "l.remove(9)",
        "{1, 2} < 3",
    ],
)
def test_errors_are_those_of_plain_python(text):
    fn = compiled_expression(text)
    with pytest.raises(Exception):  # noqa: B017
        fn(A, 3, 1.75, [3, 1, 2], {"b": 1})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(fn, A, 3, 1.75, [3, 1, 2], {"b": 1}, breaks="raises")


METHODS = {
    "list": [
        "append(9)", "clear()", "copy()", "count(1)", "extend([5, 6])", "index(1)", "index(2, 1)",
        "insert(1, 9)", "insert(-1, 9)", "pop()", "pop(0)", "remove(1)", "reverse()", "sort()",
        "sort(reverse=True)", "sort(key=lambda v: -v)",
    ],
    "dict": [
        "clear()", "copy()", "get('a')", "get('z', 1)", "items()", "keys()", "pop('a')", "pop('z', 2)",
        "popitem()", "setdefault('a', 1)", "setdefault('z', 1)", "update(q=1)", "update({'a': 0})",
        "update([('k', 1)])", "values()",
    ],
    "set": [
        "add(9)", "clear()", "copy()", "discard(1)", "discard(8)", "remove(1)", "update([7], (8,))",
        "difference([1], {2})", "difference()", "difference_update([1], {2})", "intersection({1, 9}, [1])",
        "intersection_update({1, 2, 9})", "isdisjoint([7])", "isdisjoint({1})", "issubset({1, 2, 3, 4})",
        "issuperset([1, 2])", "pop()", "symmetric_difference([1, 8])",
        "symmetric_difference_update({1, 8})", "union([5], (6,), {7: 8})", "union()", "update({4: 5}, {40})",
    ],
    "tuple": ["__getnewargs__()", "index(1)", "count(3)"],
}  # fmt: skip
MAKE = {
    "list": "[3, 1, 2, n]",
    "dict": "{'a': 1, 'b': n}",
    "set": "{1, 2, n}",
    "tuple": "(3, 1, n)",
}
TABLES = {"list": "v_list.c", "dict": "v_dict.c", "set": "set_methods.c", "tuple": "v_tuple.c"}


def test_every_method_of_a_container_has_a_case():
    for kind, calls in METHODS.items():
        names = {call.split("(")[0] for call in calls}
        assert names == set(rows(TABLES[kind], f"{kind}_methods")), kind


@pytest.mark.parametrize(("kind", "call"), [(k, c) for k, calls in METHODS.items() for c in calls])
def test_method_of_a_new_container(kind, call):
    result = f"o.{call}"
    if call.split("(")[0] in ("items", "keys", "values"):
        result = f"list({result})"
    source = f"def fn(x, n):\n    o = {MAKE[kind]}\n    r = {result}\n    return x + 1, r, o\n"
    scope = {}
    exec(source, scope)
    check(scope["fn"], A, 3)


@pytest.mark.parametrize(
    ("kind", "call"), [(k, c) for k in ("list", "dict", "set") for c in METHODS[k]]
)
def test_method_of_an_existing_container(kind, call):
    result = f"o.{call}"
    if call.split("(")[0] in ("items", "keys", "values"):
        result = f"list({result})"
    source = f"def fn(x, o):\n    r = {result}\n    return x + 1, r\n"
    scope = {}
    exec(source, scope)
    if (kind, call) == ("set", "pop()"):
        check(scope["fn"], A, {1, 2, 3}, breaks="missing-slot")
        return
    check(scope["fn"], A, eval(MAKE[kind], {"n": 3}))
