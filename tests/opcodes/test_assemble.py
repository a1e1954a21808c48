"""Hand-written emission programs: assembled for this CPython, run, and decoded again."""

import dis
import inspect
import io
import sys
import types

import pytest
from differential import in_a_thread
from dyntrace._core import _testing

LOCAL, CELL, FREE = 1, 2, 4
CALLABLE, CHECK, EXCEPTION = 1, 2, 4
PLAIN_FLAGS = inspect.CO_OPTIMIZED | inspect.CO_NEWLOCALS
LT, LE, EQ, NE, GT, GE = range(6)
ADD, MULTIPLY, SUBTRACT, INPLACE_ADD = 0, 5, 10, 13


def assemble(program, slots=(), tries=(), argcount=0, flags=PLAIN_FLAGS, line=100):
    slots = [(slot, LOCAL) if isinstance(slot, str) else slot for slot in slots]
    labels = 1 + max([op[1] for op in program if op[0] == "LABEL"], default=-1)
    code = _testing.assemble(list(program), slots, list(tries), labels, argcount, flags, line,
                             "made")
    decoded = _testing.decode(code)
    assert decoded["max_depth"] <= code.co_stacksize + 1
    assert all(kind != "INVALID" for kind, *_ in decoded["instrs"])
    dis.dis(code, file=io.StringIO())
    return code


def function(program, slots=(), **options):
    closure = options.pop("closure", ())
    names = options.pop("names", {})
    code = assemble(program, slots, **options)
    return types.FunctionType(code, dict(names, __builtins__=__builtins__), "made", None,
                              tuple(types.CellType(value) for value in closure))


def run(program, *args, slots=(), **options):
    slots = list(slots) or ["a%d" % i for i in range(len(args))]
    return function(program, slots, argcount=len(args), **options)(*args)


RETURN = ("RETURN_VALUE",)


def test_constant():
    assert run([("LOAD_CONST", (1, "x")), RETURN]) == (1, "x")


@pytest.mark.parametrize("number, symbol", list(enumerate(
    ["+", "&", "//", "<<", "@", "*", "%", "|", "**", ">>", "-", "/", "^"])))
@pytest.mark.parametrize("inplace", [False, True])
def test_binary(number, symbol, inplace):
    if symbol == "@":
        class Left:
            def __matmul__(self, other):
                return ("@", other)

            def __imatmul__(self, other):
                return ("@=", other)
        left, expected = Left(), ("@=" if inplace else "@", 3)
    else:
        left, expected = 13, eval("13 %s 3" % symbol)
    program = [("LOAD_FAST", 0), ("LOAD_FAST", 1), ("BINARY_OP", number + 13 * inplace), RETURN]
    assert run(program, left, 3) == expected


@pytest.mark.parametrize("op, expected", [
    ("UNARY_NEGATIVE", -5), ("UNARY_POSITIVE", 5), ("UNARY_NOT", False), ("UNARY_INVERT", -6),
    ("TO_BOOL", True)])
def test_unary(op, expected):
    result = run([("LOAD_FAST", 0), (op,), RETURN], 5)
    assert result == expected and type(result) is type(expected)


@pytest.mark.parametrize("number, symbol", list(enumerate(["<", "<=", "==", "!=", ">", ">="])))
def test_compare(number, symbol):
    made = function([("LOAD_FAST", 0), ("LOAD_FAST", 1), ("COMPARE_OP", number), RETURN],
                    ["a", "b"], argcount=2)
    values = [1, 2, 1.5, float("nan"), "a", "b", -3]
    for a in values:
        for b in values:
            if isinstance(a, str) == isinstance(b, str):
                # often enough for the specialised forms, which read the low bits only
                for _ in range(60):
                    assert made(a, b) is eval("a %s b" % symbol)


def test_is_and_contains():
    for invert in (0, 1):
        program = [("LOAD_FAST", 0), ("LOAD_FAST", 1), ("IS_OP", invert), RETURN]
        assert run(program, None, None) is not bool(invert)
        program = [("LOAD_FAST", 0), ("LOAD_FAST", 1), ("CONTAINS_OP", invert), RETURN]
        assert run(program, 1, [1, 2]) is not bool(invert)


@pytest.mark.parametrize("op, n", [("COPY", n) for n in range(1, 8)]
                         + [("SWAP", n) for n in range(2, 8)])
def test_stack_moves(op, n):
    values = list(range(7))
    expected = values + [values[-n]] if op == "COPY" else list(values)
    if op == "SWAP":
        expected[-1], expected[-n] = expected[-n], expected[-1]
    program = [("LOAD_CONST", value) for value in values] + [
        (op, n), ("BUILD_LIST", len(expected)), RETURN]
    assert run(program) == expected


def call(*values, keywords=None, **named):
    return values, named


def global_call(argc):
    return [("LOAD_GLOBAL", "call", CALLABLE)] + [("LOAD_CONST", i) for i in range(argc)] + [
        ("CALL", argc), RETURN]


@pytest.mark.parametrize("argc", [0, 1, 3, 30, 300])
def test_call(argc):
    assert run(global_call(argc), names={"call": call}) == (tuple(range(argc)), {})


def test_call_of_attribute():
    box = types.SimpleNamespace(inner=types.SimpleNamespace(call=call))
    program = [("LOAD_FAST", 0), ("LOAD_ATTR", "inner"), ("LOAD_ATTR", "call", CALLABLE),
               ("LOAD_CONST", 1), ("CALL", 1), RETURN]
    assert run(program, box) == ((1,), {})


def test_call_of_result():
    program = [("LOAD_FAST", 0, CALLABLE), ("CALL", 0, CALLABLE), ("LOAD_CONST", 1),
               ("CALL", 1), RETURN]
    assert run(program, lambda: call) == ((1,), {})
    program[0] = ("LOAD_GLOBAL", "make", CALLABLE)
    assert run(program, names={"make": lambda: call}) == ((1,), {})


def test_nested_calls():
    program = [("LOAD_GLOBAL", "call", CALLABLE), ("LOAD_GLOBAL", "call", CALLABLE),
               ("LOAD_CONST", 1), ("CALL", 1), ("LOAD_GLOBAL", "call", CALLABLE), ("CALL", 0),
               ("CALL", 2), RETURN]
    assert run(program, names={"call": call}) == ((((1,), {}), ((), {})), {})


def test_call_with_keywords():
    program = [("LOAD_FAST", 0, CALLABLE), ("LOAD_CONST", 1), ("LOAD_CONST", 2),
               ("LOAD_CONST", 3), ("CALL_KW", (3, ("b", "c"))), RETURN]
    assert run(program, call) == ((1,), {"b": 2, "c": 3})


@pytest.mark.parametrize("mapping", [False, True])
def test_call_ex(mapping):
    program = [("LOAD_FAST", 0, CALLABLE), ("LOAD_CONST", (1, 2))]
    if mapping:
        program += [("LOAD_CONST", "k"), ("LOAD_CONST", 3), ("BUILD_MAP", 1)]
    program += [("CALL_EX", int(mapping)), RETURN]
    assert run(program, call) == ((1, 2), {"k": 3} if mapping else {})


def test_callable_behind_a_branch():
    """The NULL cannot go in front of a computation with jumps in it."""
    program = [("LOAD_FAST", 0), ("POP_JUMP_IF_FALSE", 0), ("LOAD_FAST", 1), ("JUMP", 1),
               ("LABEL", 0), ("LOAD_FAST", 2), ("LABEL", 1), ("LOAD_ATTR", "upper", CALLABLE),
               ("CALL", 0), RETURN]
    assert run(program, 1, "x", "y") == "X"
    assert run(program, 0, "x", "y") == "Y"


def test_callable_behind_stack_moves():
    program = [("LOAD_FAST", 0), ("LOAD_FAST", 1), ("SWAP", 2), ("NOP", None, 0),
               ("LOAD_ATTR", "upper", CALLABLE), ("CALL", 0), ("BUILD_TUPLE", 2), RETURN]
    assert run(program, "x", "y") == ("y", "X")


def test_depths_count_nulls():
    """COPY and LIST_APPEND reach past callables whose arguments are being made."""
    program = [("LOAD_CONST", "below"), ("LOAD_FAST", 0, CALLABLE), ("LOAD_CONST", 1),
               ("COPY", 3), ("CALL", 2), ("BUILD_TUPLE", 2), RETURN]
    assert run(program, call) == ("below", ((1, "below"), {}))
    program = [("BUILD_LIST", 0), ("LOAD_FAST", 0, CALLABLE), ("LOAD_CONST", 1),
               ("LOAD_CONST", 2), ("LIST_APPEND", 3), ("CALL", 1), ("BUILD_TUPLE", 2), RETURN]
    assert run(program, call) == ([2], ((1,), {}))
    program = [("LOAD_FAST", 0, CALLABLE), ("LOAD_CONST", 1), ("COPY", 2), ("CALL", 2), RETURN]
    assert run(program, call) == ((1, call), {})


def test_attributes_and_globals():
    box = types.SimpleNamespace(x=1)
    program = [("LOAD_GLOBAL", "g"), ("LOAD_FAST", 0), ("STORE_ATTR", "y"), ("LOAD_FAST", 0),
               ("DELETE_ATTR", "x"), ("LOAD_FAST", 0), ("LOAD_ATTR", "y"),
               ("STORE_GLOBAL", "h"), ("LOAD_GLOBAL", "h"), ("DELETE_GLOBAL", "h"), RETURN]
    assert run(program, box, names={"g": 7}) == 7
    assert vars(box) == {"y": 7}


def test_subscripts_and_slices():
    data = list(range(10))
    program = [("LOAD_FAST", 0), ("LOAD_CONST", 2), ("LOAD_CONST", 5), ("BINARY_SLICE",),
               ("LOAD_CONST", "new"), ("LOAD_FAST", 0), ("LOAD_CONST", 0), ("STORE_SUBSCR",),
               ("LOAD_FAST", 0), ("LOAD_CONST", 1), ("DELETE_SUBSCR",),
               ("LOAD_CONST", [7, 7]), ("LOAD_FAST", 0), ("LOAD_CONST", 3), ("LOAD_CONST", 6),
               ("STORE_SLICE",), ("LOAD_FAST", 0), ("LOAD_CONST", None), ("LOAD_CONST", None),
               ("LOAD_CONST", 2), ("BUILD_SLICE", 3), ("BINARY_SUBSCR",), ("BUILD_TUPLE", 2),
               RETURN]
    first, rest = run(program, data)
    assert first == [2, 3, 4]
    assert data == ["new", 2, 3, 7, 7, 7, 8, 9]
    assert rest == data[::2]


def test_containers():
    program = [("LOAD_CONST", 1), ("LOAD_CONST", 2), ("BUILD_LIST", 2), ("LOAD_CONST", 3),
               ("LIST_APPEND", 1), ("LOAD_CONST", (4, 5)), ("LIST_EXTEND", 1),
               ("LIST_TO_TUPLE",), RETURN]
    assert run(program) == (1, 2, 3, 4, 5)
    program = [("LOAD_CONST", 1), ("BUILD_SET", 1), ("LOAD_CONST", 2), ("SET_ADD", 1),
               ("LOAD_CONST", (3,)), ("SET_UPDATE", 1), RETURN]
    assert run(program) == {1, 2, 3}
    program = [("LOAD_CONST", 1), ("LOAD_CONST", 2), ("LOAD_CONST", ("a", "b")),
               ("BUILD_CONST_KEY_MAP", 2), ("LOAD_CONST", "c"), ("LOAD_CONST", 3),
               ("MAP_ADD", 1), ("LOAD_FAST", 0), ("DICT_UPDATE", 1), RETURN]
    assert run(program, {"d": 4}) == {"a": 1, "b": 2, "c": 3, "d": 4}


def test_unpack():
    program = [("LOAD_FAST", 0), ("UNPACK_SEQUENCE", 3), ("BUILD_TUPLE", 3), RETURN]
    assert run(program, "abc") == ("c", "b", "a")
    program = [("LOAD_FAST", 0), ("UNPACK_EX", 1 | 1 << 8), ("BUILD_TUPLE", 3), RETURN]
    assert run(program, "abcd") == ("d", ["b", "c"], "a")


def test_format():
    program = [("LOAD_FAST", 0), ("FORMAT_SIMPLE",), ("LOAD_FAST", 0), ("CONVERT_VALUE", 2),
               ("FORMAT_SIMPLE",), ("LOAD_FAST", 1), ("LOAD_CONST", ".2f"),
               ("FORMAT_WITH_SPEC",), ("BUILD_STRING", 3), RETURN]
    assert run(program, "x", 1.0) == "x'x'1.00"


@pytest.mark.parametrize("op, true, false", [
    ("POP_JUMP_IF_TRUE", [1], []), ("POP_JUMP_IF_FALSE", "", "x"),
    ("POP_JUMP_IF_NONE", None, 0), ("POP_JUMP_IF_NOT_NONE", 0, None)])
def test_conditional_jumps(op, true, false):
    program = [("LOAD_FAST", 0), (op, 0), ("LOAD_CONST", "stayed"), RETURN, ("LABEL", 0),
               ("LOAD_CONST", "jumped"), RETURN]
    assert run(program, true) == "jumped"
    assert run(program, false) == "stayed"


@pytest.mark.parametrize("op, pops, stays", [
    ("JUMP_IF_FALSE_OR_POP", 1, 0), ("JUMP_IF_TRUE_OR_POP", 0, 1)])
def test_jump_or_pop(op, pops, stays):
    program = [("LOAD_FAST", 0), (op, 0), ("LOAD_CONST", "other"), ("LABEL", 0), RETURN]
    assert run(program, pops) == "other"
    assert run(program, stays) == stays


@pytest.mark.parametrize("op, condition", [
    ("POP_JUMP_IF_TRUE", [("LOAD_CONST", 10), ("COMPARE_OP", LT)]),
    ("POP_JUMP_IF_FALSE", [("LOAD_CONST", 10), ("COMPARE_OP", GE)]),
    ("POP_JUMP_IF_NOT_NONE", [("LOAD_FAST", 1), ("LOAD_ATTR", "get"), ("SWAP", 2),
                              ("STORE_FAST", 2), ("NOP", None, CALLABLE)]),
])
def test_backward_jump(op, condition):
    program = [("LABEL", 0), ("LOAD_FAST", 0), ("LOAD_CONST", 1), ("BINARY_OP", INPLACE_ADD),
               ("COPY", 1), ("STORE_FAST", 0)]
    if op == "POP_JUMP_IF_NOT_NONE":
        program += [("STORE_FAST", 2), ("LOAD_FAST", 1), ("LOAD_ATTR", "get", CALLABLE),
                    ("LOAD_FAST", 2), ("CALL", 1)]
    else:
        program += condition
    program += [(op, 0), ("LOAD_FAST", 0), RETURN]
    lookup = {i: i for i in range(10)}
    assert run(program, 0, lookup, slots=["i", "lookup", "t"]) == 10


@pytest.mark.parametrize("length", [1, 200, 40000])
def test_long_jumps(length):
    """Distances that need one, two and three argument bytes, forward and back."""
    filler = [("LOAD_FAST", 0), ("POP_TOP",)] * length
    program = [("LABEL", 0), ("LOAD_FAST", 0), ("POP_JUMP_IF_FALSE", 1), *filler,
               ("LOAD_FAST", 0), ("LOAD_CONST", 1), ("BINARY_OP", SUBTRACT), ("STORE_FAST", 0),
               ("JUMP", 0), ("LABEL", 1), ("LOAD_CONST", "done"), RETURN]
    assert run(program, 2) == "done"


def loop(body, after=()):
    return [("LOAD_CONST", 0), ("STORE_FAST", 1), ("LOAD_FAST", 0), ("GET_ITER",), ("LABEL", 0),
            ("FOR_ITER", 1), *body, ("JUMP", 0), ("LABEL", 1), *after, ("LOAD_FAST", 1), RETURN]


ADD_ITEM = [("LOAD_FAST", 1), ("BINARY_OP", ADD), ("STORE_FAST", 1)]


@pytest.mark.parametrize("make", [list, iter, lambda items: (i for i in items), tuple])
def test_for(make):
    made = function(loop(ADD_ITEM), ["items", "sum"], argcount=1)
    for _ in range(30):  # also in specialised form
        assert made(make(range(10))) == 45
        assert made(make([])) == 0
    assert made(range(10)) == 45


def test_for_with_break():
    """A second way to the place behind the loop, which does not have the iterator."""
    body = [("COPY", 1), ("LOAD_CONST", 3), ("COMPARE_OP", EQ), ("POP_JUMP_IF_FALSE", 2),
            ("POP_TOP",), ("POP_TOP",), ("JUMP", 1), ("LABEL", 2), *ADD_ITEM]
    made = function(loop(body), ["items", "sum"], argcount=1)
    assert made(range(10)) == 3
    assert made(i for i in range(10)) == 3
    assert made(range(2)) == 1


def test_for_falling_into_its_end():
    program = [("LOAD_CONST", 0), ("STORE_FAST", 1), ("LOAD_FAST", 0), ("GET_ITER",),
               ("FOR_ITER", 0), ("STORE_FAST", 1), ("POP_TOP",), ("LABEL", 0),
               ("LOAD_FAST", 1), RETURN]
    assert run(program, [5, 6], slots=["items", "first"]) == 5
    assert run(program, [], slots=["items", "first"]) == 0


def test_closures():
    """A captured argument, a cell that is no argument, a free variable, and functions of them."""
    inner = assemble([("LOAD_DEREF", 0), ("LOAD_DEREF", 1), ("LOAD_DEREF", 2), ("BUILD_TUPLE", 3),
                      RETURN],
                     [("arg", FREE), ("cell", FREE), ("free", FREE)],
                     flags=PLAIN_FLAGS | inspect.CO_NESTED)
    program = [("LOAD_FAST", 1), ("STORE_DEREF", 3), ("LOAD_CLOSURE", 0), ("LOAD_CLOSURE", 3),
               ("LOAD_CLOSURE", 4), ("BUILD_TUPLE", 3), ("LOAD_CONST", inner),
               ("MAKE_FUNCTION", (8, "made.inner")), ("STORE_FAST", 2),
               ("LOAD_CONST", "changed"), ("STORE_DEREF", 0), ("LOAD_FAST", 2), RETURN]
    slots = [("arg", LOCAL | CELL), ("other", LOCAL), ("temp", LOCAL), ("cell", CELL),
             ("free", FREE)]
    made = function(program, slots, argcount=2, closure=("outside",))
    assert made("first", "second")() == ("changed", "second", "outside")


def test_delete_cell_and_local():
    program = [("DELETE_DEREF", 0), ("LOAD_DEREF", 0), RETURN]
    with pytest.raises(NameError):
        run(program, 1, slots=[("x", LOCAL | CELL)])
    program = [("DELETE_FAST", 0), ("LOAD_FAST", 0, CHECK), RETURN]
    with pytest.raises(UnboundLocalError):
        run(program, 1)


def test_make_function_with_everything():
    inner = assemble([("LOAD_FAST", 0), ("LOAD_FAST", 1), ("LOAD_DEREF", 2), ("BUILD_TUPLE", 3),
                      RETURN], ["a", "b", ("c", FREE)], argcount=2)
    program = [("LOAD_CONST", (1, 2)), ("BUILD_MAP", 0), ("LOAD_CONST", "a"),
               ("LOAD_CONST", int), ("BUILD_TUPLE", 2), ("LOAD_CLOSURE", 0), ("BUILD_TUPLE", 1),
               ("LOAD_CONST", inner), ("MAKE_FUNCTION", (15, "made")), RETURN]
    made = run(program, "cell", slots=[("c", LOCAL | CELL)])
    assert made() == (1, 2, "cell")
    assert made.__annotations__ == {"a": int}
    assert made.__kwdefaults__ == {}


def test_import():
    program = [("LOAD_CONST", 0), ("LOAD_CONST", ("sqrt",)), ("IMPORT_NAME", "math"),
               ("IMPORT_FROM", "sqrt"), ("SWAP", 2), ("POP_TOP",), RETURN]
    import math
    assert run(program) is math.sqrt


def guarded(body, handler, tail=()):
    """try: body; except: handler.  Labels 0 to 3; the end of the handler is label 3."""
    program = [("LABEL", 0), *body, ("LABEL", 1), *tail, ("LABEL", 2), ("PUSH_EXC_INFO",),
               *handler, ("LABEL", 3), ("NOP",), ("LOAD_CONST", "after"), RETURN]
    return program, [(0, 1, 2, 3)]


DIVIDE = [("LOAD_CONST", 1), ("LOAD_FAST", 0), ("BINARY_OP", 11)]
SWALLOW = [("POP_TOP", None, EXCEPTION), ("POP_EXCEPT",)]
GIVE = [("STORE_FAST", 0), ("LOAD_FAST", 0), RETURN]


@in_a_thread
def test_try_swallow():
    program, tries = guarded([*DIVIDE, ("STORE_FAST", 0)], SWALLOW, [("LOAD_FAST", 0), RETURN])
    made = function(program, ["x"], tries=tries, argcount=1)
    for _ in range(20):
        assert made(4) == 0.25
        assert made(0) == "after"
    assert sys.exc_info() == (None, None, None)


def test_try_keeps_the_stack():
    """Values below the region are there in the handler."""
    program = [("LOAD_CONST", "below"), ("LABEL", 0), *DIVIDE, ("LABEL", 1), ("BUILD_TUPLE", 2),
               RETURN, ("LABEL", 2), ("PUSH_EXC_INFO",), *SWALLOW, ("LABEL", 3),
               ("LOAD_CONST", "failed"), ("BUILD_TUPLE", 2), RETURN]
    made = function(program, ["x"], tries=[(0, 1, 2, 3)], argcount=1)
    assert made(2) == ("below", 0.5)
    assert made(0) == ("below", "failed")


def test_try_inside_a_call():
    """The NULL of a pending callable is below the region."""
    program = [("LOAD_GLOBAL", "call", CALLABLE), ("LABEL", 0), *DIVIDE, ("LABEL", 1),
               ("CALL", 1), RETURN, ("LABEL", 2), ("PUSH_EXC_INFO",), *SWALLOW, ("LABEL", 3),
               ("CALL", 0), RETURN]
    made = function(program, ["x"], tries=[(0, 1, 2, 3)], argcount=1, names={"call": call})
    assert made(2) == ((0.5,), {})
    assert made(0) == ((), {})


def test_try_return_inside():
    program, tries = guarded([*DIVIDE, RETURN], SWALLOW)
    made = function(program, ["x"], tries=tries, argcount=1)
    assert made(4) == 0.25
    assert made(0) == "after"


@in_a_thread
def test_try_reraise():
    done = []
    program, tries = guarded(
        DIVIDE, [("LOAD_GLOBAL", "note", CALLABLE), ("LOAD_FAST", 0), ("CALL", 1), ("POP_TOP",),
                 ("RERAISE", 0)], [RETURN])
    made = function(program, ["x"], tries=tries, argcount=1, names={"note": done.append})
    assert made(4) == 0.25
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            made(0)
    assert done == [0, 0, 0]
    assert sys.exc_info() == (None, None, None)


def test_exception_in_handler():
    """What was handled before is handled again, and the context is chained."""
    program, tries = guarded(DIVIDE, [("LOAD_FAST", 0), ("LOAD_ATTR", "missing"), ("POP_TOP",),
                                      ("RERAISE", 0)], [RETURN])
    made = function(program, ["x"], tries=tries, argcount=1)
    try:
        raise KeyError("outer")
    except KeyError as outer:
        with pytest.raises(AttributeError) as caught:
            made(0)
        assert sys.exc_info()[1] is outer
        assert isinstance(caught.value.__context__, ZeroDivisionError)
        assert caught.value.__context__.__context__ is outer


@in_a_thread
def test_nested_try():
    program = [
        ("LABEL", 0), ("LABEL", 1), *DIVIDE, ("LABEL", 2), RETURN,
        ("LABEL", 3), ("PUSH_EXC_INFO",), ("LOAD_FAST", 0), ("LOAD_ATTR", "missing"),
        ("POP_TOP",), ("RERAISE", 0), ("LABEL", 4),
        ("LABEL", 5), ("PUSH_EXC_INFO",), *SWALLOW, ("LABEL", 6),
        ("LOAD_CONST", "outer"), RETURN]
    tries = [(1, 2, 3, 4), (0, 4, 5, 6)]
    made = function(program, ["x"], tries=tries, argcount=1)
    assert made(4) == 0.25
    assert made(0) == "outer"
    assert sys.exc_info() == (None, None, None)


def test_except_type():
    program = [("LABEL", 0), *DIVIDE, ("LABEL", 1), RETURN, ("LABEL", 2), ("PUSH_EXC_INFO",),
               ("LOAD_GLOBAL", "ZeroDivisionError"), ("CHECK_EXC_MATCH",),
               ("POP_JUMP_IF_FALSE", 4), *SWALLOW, ("LOAD_CONST", "zero"), RETURN,
               ("LABEL", 4), ("RERAISE", 0), ("LABEL", 3)]
    made = function(program, ["x"], tries=[(0, 1, 2, 3)], argcount=1)
    assert made(4) == 0.25
    assert made(0) == "zero"
    with pytest.raises(TypeError):
        made("x")


def test_try_with_a_branch_to_its_end():
    """On 3.10 a jump to the end of the region leaves the block, one from outside does not."""
    program = [("LOAD_FAST", 0), ("POP_JUMP_IF_NONE", 1), ("LABEL", 0), *DIVIDE,
               ("STORE_FAST", 0), ("LOAD_FAST", 0), ("POP_JUMP_IF_TRUE", 1),
               ("LOAD_CONST", "small"), ("STORE_FAST", 0), ("LABEL", 1), ("LOAD_FAST", 0), RETURN,
               ("LABEL", 2), ("PUSH_EXC_INFO",), *SWALLOW, ("LABEL", 3),
               ("LOAD_CONST", "failed"), RETURN]
    made = function(program, ["x"], tries=[(0, 1, 2, 3)], argcount=1)
    assert made(None) is None
    assert made(4) == 0.25
    assert made(float("inf")) == "small"
    assert made(0) == "failed"


def test_lines():
    program = [("LOAD_FAST", 0, 0, 101), ("LOAD_CONST", 1, 0, 350), ("BINARY_OP", 11, 0, 120),
               ("POP_TOP", None, 0, 120), ("LOAD_CONST", 1, 0, 90), ("LOAD_FAST", 0, 0, 9000),
               ("BINARY_OP", 11, 0, 9000), RETURN]
    made = function(program, ["x"], argcount=1)
    for value, line in (("x", 120), (0, 9000)):
        with pytest.raises((TypeError, ZeroDivisionError)) as caught:
            made(value)
        assert caught.traceback[-1].lineno + 1 == line
    lines = [line for _, _, line in made.__code__.co_lines()]
    assert [line for line in lines if line != 100] == [101, 350, 120, 90, 9000]


def test_docstring_is_none():
    """A string constant is not taken for the docstring."""
    assert function([("LOAD_CONST", "text"), RETURN]).__doc__ is None


def test_many_names_and_constants():
    program = []
    for i in range(300):
        program += [("LOAD_CONST", "v%d" % i), ("STORE_GLOBAL", "n%d" % i)]
    program += [("LOAD_GLOBAL", "n299"), ("LOAD_GLOBAL", "n5"), ("BUILD_TUPLE", 2), RETURN]
    assert run(program) == ("v299", "v5")


@pytest.mark.parametrize("program, what", [
    ([("POP_TOP",), RETURN], "below zero"),
    ([("LOAD_CONST", 1)], "runs off its end"),
    ([("LOAD_CONST", 1), ("CALL", 0), RETURN], "not marked"),
    ([("YIELD_FROM",), RETURN], "below zero"),
    ([("LOAD_CONST", 1), ("GET_AITER",), RETURN], "cannot be emitted"),
    ([("LOAD_CONST", 1), ("COPY", 2), RETURN], "below the stack"),
    ([("LABEL", 0), ("LOAD_CONST", 1), ("JUMP", 0)], "two stack depths"),
])
def test_bad_programs(program, what):
    with pytest.raises(SystemError, match=what):
        assemble(program)


def test_argument_slots_come_first():
    with pytest.raises(SystemError, match="argument"):
        assemble([("LOAD_CONST", None), RETURN], [("x", FREE)], argcount=1)


def test_printed_program():
    """What DYNTRACE_LOGS=bytecode shows; constants that are not plain are shown by type."""
    program = [("LOAD_GLOBAL", "f", CALLABLE, 7), ("LOAD_FAST", 0), ("LOAD_CONST", "s"),
               ("LOAD_CONST", []), ("CALL_KW", (3, ("k",)), 0, 8), ("POP_JUMP_IF_TRUE", 0),
               ("LABEL", 0), ("LOAD_CONST", 2), ("LOAD_CONST", 3), ("BINARY_OP", MULTIPLY), RETURN]
    assert _testing.print_program(program, [("x", LOCAL)], 1).splitlines() == [
        "line 7", "    0  LOAD_GLOBAL 'f'  # callable", "    1  LOAD_FAST 'x'",
        "    2  LOAD_CONST 's'", "    3  LOAD_CONST <list>", "line 8",
        "    4  CALL_KW 3 <tuple>", "    5  POP_JUMP_IF_TRUE to 6", "    6  LOAD_CONST 2",
        "    7  LOAD_CONST 3", "    8  BINARY_OP *", "    9  RETURN_VALUE"]
