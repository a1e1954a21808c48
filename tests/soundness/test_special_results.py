"""Special methods that give what their protocol does not want, asked by every builtin that asks.

Each class has one special method with one result; each expression is run plainly and compiled, for
result, exception with its text, and warnings.
"""

from __future__ import annotations

import math
import operator
import os
import warnings

import dyntrace
import pytest


class MyInt(int):
    pass


class MyFloat(float):
    pass


class MyStr(str):
    pass


RESULTS = [3, True, 2.5, "x", None, MyInt(3), MyFloat(2.5), MyStr("x"), b"x", 1j, -1, 2**80, NotImplemented,
           (1, 2), [1]]  # fmt: skip
BASES = [object, int, str, float, list]
ASKED = {
    "__int__": ["int(x)", "float(x)", "complex(x)", "round(x)", "math.floor(x)", "range(x)", "[1, 2, 3, 4][x]",
                "'%d' % x", "operator.index(x)", "hex(x)", "chr(x)", "x + 1"],
    "__index__": ["int(x)", "float(x)", "complex(x)", "range(x)", "[1, 2, 3, 4][x]", "'%d' % x",
                  "operator.index(x)", "hex(x)", "bin(x)", "chr(x)", "'abc'[x:]", "math.sqrt(x)", "int('11', x)"],
    "__float__": ["float(x)", "complex(x)", "int(x)", "math.sqrt(x)", "'%f' % x", "math.isnan(x)",
                  "math.pow(x, 2)"],
    "__complex__": ["complex(x)", "float(x)", "int(x)", "abs(x)"],
    "__bool__": ["bool(x)", "not x", "1 if x else 2", "x and 5", "any([x])", "list(filter(None, [x]))"],
    "__len__": ["len(x)", "bool(x)"],
    "__str__": ["str(x)", "f'{x}'", "'%s' % x", "'{}'.format(x)", "'a'.join([str(x)])"],
    "__repr__": ["repr(x)", "str(x)", "f'{x!r}'", "'%r' % x", "ascii(x)", "f'{[x]}'"],
    "__hash__": ["hash(x)", "len({x})", "{x: 1}[x]"],
    "__format__": ["format(x)", "f'{x:>5}'", "'{:3}'.format(x)"],
    "__abs__": ["abs(x)"],
    "__neg__": ["-x"],
    "__invert__": ["~x"],
    "__round__": ["round(x)", "round(x, 1)"],
    "__trunc__": ["math.trunc(x)"],
    "__ceil__": ["math.ceil(x)"],
    "__floor__": ["math.floor(x)"],
    "__contains__": ["1 in x", "1 not in x"],
    "__getitem__": ["x[0]", "x['k']"],
    "__iter__": ["[y for y in x]", "list(x)", "max(x)"],
    "__next__": ["next(x)"],
    "__call__": ["x()"],
    "__length_hint__": ["operator.length_hint(x)"],
    "__bytes__": ["bytes(x)"],
    "__eq__": ["x == 1", "x != 1", "1 in [x]", "[x] == [1]"],
    "__lt__": ["x < 1", "1 > x", "len(sorted([x, x]))"],
    "__divmod__": ["divmod(x, 2)"],
    "__rdivmod__": ["divmod(2, x)"],
    "__radd__": ["1 + x", "sum([x])"],
    "__rtruediv__": ["1 / x", "2.5 / x"],
    "__matmul__": ["x @ 1"],
    "__pow__": ["x ** 2", "pow(x, 2)", "pow(x, 2, 5)"],
    "__getattr__": ["x.foo", "getattr(x, 'foo', 1)", "hasattr(x, 'foo')"],
    "__fspath__": ["os.fspath(x)"],
}  # fmt: skip
NAMES = {"math": math, "operator": operator, "os": os}


def outcome(function, x):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = function(x)
        except Exception as error:
            result = error
    text = repr(result)
    return type(result), type(result) if " object at " in text else text, [str(w.message) for w in caught]


def make(base, special, result):
    namespace = {special: lambda self, *args: result}
    if special == "__eq__":
        namespace["__hash__"] = None
    return type("C", (base,), namespace)()


@pytest.mark.parametrize("special", ASKED)
def test_same(special):
    for expression in ASKED[special]:
        function = eval(f"lambda x: {expression}", NAMES)
        for base in BASES:
            for result in RESULTS:
                x = make(base, special, result)
                plain = outcome(function, x)
                compiled = dyntrace.compile(function)
                with dyntrace.config.patch(everything=True):
                    for _ in range(2):
                        assert outcome(compiled, x) == plain, (expression, base, result)
