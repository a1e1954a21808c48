"""A piece of source for every opcode row: compiled, it contains that opcode.

`CASES` maps opcode names to a key of `SOURCES`; `ONLY_INTERNAL` names those that no compiler
writes.  The rows themselves are read here too, for all tests of this folder.
"""

import pathlib
import sys
import types

import gen_opcodes

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = ROOT / "src" / "bytecode" / "opcodes.def"
VERSION = tuple(sys.version_info[:2])
ROWS, PSEUDO, INSTRUMENTED = gen_opcodes.read_table(str(TABLE))
CANONICAL = gen_opcodes.read_canonical(str(TABLE.with_name("canonical.def")))

ASYNC = """
async def outer(x):
    async with x as y:
        await y
    async for i in x:
        yield i
    return
async def plain(x):
    async with x:
        return [i async for i in x]
"""

MATCH = """
def f(x):
    match x:
        case {"a": 1, **rest}:
            return rest
        case [a, b, *c]:
            return a
        case int(real=1) | str():
            return 2
        case (p, q):
            return p
"""

TRY = """
def f(x):
    try:
        return x()
    except ValueError as error:
        raise KeyError from error
    finally:
        x.close()
def g(x):
    try:
        return x()
    except ValueError:
        return x.y
    except KeyError:
        pass
"""

WITH = """
def f(x):
    with x as y:
        y()
"""

CELLS = """
def outer(a, b):
    c = a
    def inner():
        nonlocal c
        c += b
        del c
        return a
    class C:
        a = b
        x = a
    return inner
"""

GENERATOR = """
def f(x):
    y = yield 1
    z = yield from x
    return (i for i in y)
"""

COMPREHENSIONS = """
def f(x):
    return [i for i in x], {i for i in x}, {i: j for i, j in x}
"""

GROUPS = """
def f(x):
    try:
        x()
    except* ValueError:
        pass
"""

SUPER = """
class C(B):
    def f(self):
        return super().f(1), super(C, self).x
"""

MODULE_NAMES = """
import os
from os import path
from os.path import *
x: int = 1
x = x
del x
def f():
    global g
    g = 1
    del g
class C: pass
"""

CALLS = """
def f(g, a, k):
    g(a); g(*a); g(*a, **k); g(a, k=1); a.m(1); a.m(1, k=2); g(**{**k, 'z': 1})
    return print(a)
"""

CONTAINERS = """
def f(a, b):
    x = [a, *b]
    y = {a, *b}
    z = {a: b, **a}
    w = {'a': a, 'b': b}
    t = (a, b, *a), (a, b)
    s, *u = a
    v, w = b
    return f"{a}{b!r:>{a}}{a!r}" f"{a:x}"
"""

LARGE = "def f():\n    return [%s]\n" % ", ".join("a%d" % i for i in range(300))

OPERATORS = """
def f(a, b, c):
    x = (a + b, a & b, a // b, a << b, a @ b, a * b, a % b, a | b, a ** b, a >> b, a - b, a / b,
         a ^ b)
    a += b; a &= b; a //= b; a <<= b; a @= b; a *= b; a %= b; a |= b; a **= b; a >>= b; a -= b
    a /= b; a ^= b
    y = (+a, -a, ~a, not a, a < b, a is b, a in b, a < b < c)
    a[b]; a[b] = c; del a[b]; a[b:c]; a[b:c] = x; a[b:c:a]; a.x = b; del a.x; a[b] += c; a.x += b
    return a.x
"""

JUMPS = """
def f(a, b):
    while a:
        a = a and b or a
        if a is None:
            break
        if a is not None:
            continue
        a, b = b, a
        b, a, b = a, b, b
    for i in a:
        assert i, b
    while True:
        if a is None or b:
            a = 1
        if a and not b:
            return
        del a
        return a
def g(a):
    while not a: pass
    while a is None: pass
    while a is not None: pass
    while a: pass
def h(a, b):
    return [x for x in a if x is None], [x for x in a if x is not None], [x for x in a if x]
def m(a, b):
    while True:
        pass
def n(a, b):
    return a and b
def k(a):
    for b in a:
        if b is not None: pass
        else: continue
        if not b: continue
        del b
    print(b)
"""

TYPES = """
def f[T: int, *Ts, **P](x: T): pass
class C[T: (int, str)]:
    y: T
    def f[U: Base](self): pass
type X = int
"""

ANNOTATED = """
def f(a: int, b=1, *, c=2):
    def g(): return a
    return lambda: b
"""

LONG_PATTERN = """
def f(x):
    match x:
        case C(a=p, b=q, c=r, d=s) | C(a=p, b=q, c=s, d=r):
            return p
        case [[a, b, c, d], e] | [[e, b, c, d], a]:
            return a
"""

CHAINED = """
def f(a, b, c, d):
    return a[b].x < c < d
"""

WHILE_CONDITIONAL = """
def f(a):
    while True:
        a()
        if a.x is None: continue
        if a.y is not None: continue
        if a.z: continue
        if not a.w: continue
        return
"""

SOURCES = {
    "plain": "def f(x):\n    return None\ndef g(x):\n    y = x\n    return y\n",
    "async": ASYNC,
    "match": MATCH,
    "try": TRY,
    "with": WITH,
    "cells": CELLS,
    "generator": GENERATOR,
    "comprehensions": COMPREHENSIONS,
    "groups": GROUPS,
    "super": SUPER,
    "module": MODULE_NAMES,
    "calls": CALLS,
    "containers": CONTAINERS,
    "large": LARGE,
    "operators": OPERATORS,
    "jumps": JUMPS,
    "types": TYPES,
    "annotated": ANNOTATED,
    "long_pattern": LONG_PATTERN,
    "chained": CHAINED,
    "while": WHILE_CONDITIONAL,
}

# Which of them this CPython can read.
SOURCES_HERE = sorted(
    set(SOURCES) - {name for name, since in (("groups", (3, 11)), ("types", (3, 12)))
                    if VERSION < since})

# The interactive prompt prints expressions.
INTERACTIVE = "1 + x\n"

# Opcodes that only the interpreter itself puts somewhere, never a compiler.
ONLY_INTERNAL = {"INTERPRETER_EXIT", "RESERVED", "EXIT_INIT_CHECK", "ENTER_EXECUTOR"}

CASES = {}
for _source, _names in {
    "plain": "LOAD_CONST LOAD_FAST STORE_FAST RETURN_VALUE RETURN_CONST RESUME",
    "async": "BEFORE_ASYNC_WITH GET_AITER GET_ANEXT END_ASYNC_FOR ASYNC_GEN_WRAP GET_AWAITABLE "
             "CLEANUP_THROW END_SEND SEND YIELD_VALUE SETUP_ASYNC_WITH YIELD_FROM GEN_START "
             "RETURN_GENERATOR JUMP_BACKWARD_NO_INTERRUPT CALL_INTRINSIC_1",
    "match": "MATCH_MAPPING MATCH_SEQUENCE MATCH_KEYS MATCH_CLASS GET_LEN COPY_DICT_WITHOUT_KEYS "
             "DUP_TOP ROT_TWO",
    "try": "PUSH_EXC_INFO CHECK_EXC_MATCH POP_EXCEPT RERAISE RAISE_VARARGS SETUP_FINALLY "
           "POP_BLOCK JUMP_IF_NOT_EXC_MATCH ROT_FOUR",
    "with": "BEFORE_WITH WITH_EXCEPT_START SETUP_WITH CACHE POP_TOP",
    "cells": "MAKE_CELL COPY_FREE_VARS LOAD_CLOSURE LOAD_DEREF STORE_DEREF DELETE_DEREF "
             "LOAD_CLASSDEREF LOAD_FROM_DICT_OR_DEREF LOAD_LOCALS LOAD_BUILD_CLASS",
    "generator": "GET_YIELD_FROM_ITER GET_ITER",
    "comprehensions": "LIST_APPEND SET_ADD MAP_ADD LOAD_FAST_AND_CLEAR FOR_ITER END_FOR "
                      "STORE_FAST_STORE_FAST STORE_FAST_LOAD_FAST",
    "groups": "CHECK_EG_MATCH PREP_RERAISE_STAR CALL_INTRINSIC_2",
    "super": "LOAD_SUPER_ATTR",
    "module": "IMPORT_NAME IMPORT_FROM IMPORT_STAR SETUP_ANNOTATIONS STORE_NAME LOAD_NAME "
              "DELETE_NAME STORE_GLOBAL DELETE_GLOBAL",
    "calls": "PUSH_NULL PRECALL CALL CALL_METHOD CALL_FUNCTION CALL_FUNCTION_KW CALL_KW KW_NAMES "
             "CALL_FUNCTION_EX LOAD_METHOD DICT_MERGE LOAD_GLOBAL",
    "containers": "BUILD_TUPLE BUILD_LIST BUILD_SET BUILD_MAP BUILD_CONST_KEY_MAP BUILD_STRING "
                  "LIST_TO_TUPLE LIST_EXTEND SET_UPDATE DICT_UPDATE UNPACK_SEQUENCE UNPACK_EX "
                  "FORMAT_VALUE CONVERT_VALUE FORMAT_SIMPLE FORMAT_WITH_SPEC",
    "large": "EXTENDED_ARG",
    "operators": "BINARY_OP BINARY_ADD BINARY_AND BINARY_FLOOR_DIVIDE BINARY_LSHIFT "
                 "BINARY_MATRIX_MULTIPLY BINARY_MULTIPLY BINARY_MODULO BINARY_OR BINARY_POWER "
                 "BINARY_RSHIFT BINARY_SUBTRACT BINARY_TRUE_DIVIDE BINARY_XOR INPLACE_ADD "
                 "INPLACE_AND INPLACE_FLOOR_DIVIDE INPLACE_LSHIFT INPLACE_MATRIX_MULTIPLY "
                 "INPLACE_MULTIPLY INPLACE_MODULO INPLACE_OR INPLACE_POWER INPLACE_RSHIFT "
                 "INPLACE_SUBTRACT INPLACE_TRUE_DIVIDE INPLACE_XOR UNARY_POSITIVE UNARY_NEGATIVE "
                 "UNARY_NOT UNARY_INVERT COMPARE_OP IS_OP CONTAINS_OP BINARY_SUBSCR STORE_SUBSCR "
                 "DELETE_SUBSCR BINARY_SLICE STORE_SLICE BUILD_SLICE STORE_ATTR DELETE_ATTR "
                 "LOAD_ATTR LOAD_FAST_LOAD_FAST DUP_TOP_TWO ROT_THREE COPY SWAP",
    "jumps": "JUMP_FORWARD JUMP_ABSOLUTE JUMP_BACKWARD POP_JUMP_IF_FALSE POP_JUMP_IF_TRUE "
             "POP_JUMP_IF_NONE POP_JUMP_IF_NOT_NONE POP_JUMP_FORWARD_IF_FALSE "
             "POP_JUMP_FORWARD_IF_TRUE POP_JUMP_FORWARD_IF_NONE POP_JUMP_FORWARD_IF_NOT_NONE "
             "POP_JUMP_BACKWARD_IF_FALSE POP_JUMP_BACKWARD_IF_TRUE POP_JUMP_BACKWARD_IF_NONE "
             "POP_JUMP_BACKWARD_IF_NOT_NONE JUMP_IF_FALSE_OR_POP JUMP_IF_TRUE_OR_POP "
             "NOP LOAD_ASSERTION_ERROR DELETE_FAST LOAD_FAST_CHECK TO_BOOL",
    "types": "LOAD_FROM_DICT_OR_GLOBALS",
    "annotated": "MAKE_FUNCTION SET_FUNCTION_ATTRIBUTE",
    "long_pattern": "ROT_N",
    "interactive": "PRINT_EXPR",
}.items():
    for _name in _names.split():
        CASES[_name] = _source


def all_codes(code):
    """A code object and those among its constants, recursively."""
    yield code
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from all_codes(const)


def codes_of(name):
    """All code objects of one source; SyntaxError where this CPython is too old for it."""
    if name == "interactive":
        return list(all_codes(compile(INTERACTIVE, "<case>", "single")))
    return list(all_codes(compile(SOURCES[name], "<case>", "exec")))
