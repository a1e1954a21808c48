"""Decoding: one case per opcode row, and every code object of the standard library."""

import dis
import glob
import os
import random
import sys
import sysconfig
import types
import warnings

import pytest
from dyntrace._core import _testing
from opcode_cases import (
    CANONICAL,
    CASES,
    ONLY_INTERNAL,
    ROWS,
    SOURCES_HERE,
    VERSION,
    all_codes,
    codes_of,
)

CONTINUES, SYNTHETIC, CHECK, NULL_FIRST, BACKWARD = 1, 2, 4, 8, 16
OP, FLAGS, ARG, TARGET, OFFSET, REAL = range(6)
LINE, HANDLER, DEPTH = 6, 10, 11
CURRENT = {row.name: row for row in ROWS if row.covers(VERSION)}


def check(code):
    """Decodes, with everything that must hold for any compiled code object."""
    decoded = _testing.decode(code)
    instrs, handlers = decoded["instrs"], decoded["handlers"]
    assert decoded["max_depth"] <= code.co_stacksize + 1
    for index, instr in enumerate(instrs):
        assert instr[OP] in CANONICAL and instr[OP] != "INVALID"
        if not instr[FLAGS] & CONTINUES:
            assert instr[DEPTH] <= code.co_stacksize
        assert (instr[TARGET] >= 0) == (CANONICAL[instr[OP]][0] == "JUMP")
        assert instr[TARGET] < len(instrs)
        if instr[HANDLER] >= 0:
            start, end = handlers[instr[HANDLER]][:2]
            assert start <= index < end
    check_positions(code, instrs)
    _testing.flow(code)
    return decoded


def check_positions(code, instrs):
    if hasattr(code, "co_positions"):
        expected = [tuple(-1 if value is None else value for value in position)
                    for position in code.co_positions()]
        for instr in instrs:
            if not instr[FLAGS] & SYNTHETIC:
                assert instr[LINE:LINE + 4] == expected[instr[OFFSET] // 2]
    else:
        lines = {}
        for start, end, line in code.co_lines():
            lines.update(dict.fromkeys(range(start, end), -1 if line is None else line))
        for instr in instrs:
            if not instr[FLAGS] & SYNTHETIC:
                assert instr[LINE] == lines[instr[OFFSET]]


def test_every_row_has_a_case():
    """Also the rows of other versions, whose cases run there."""
    names = {row.name for row in ROWS}
    assert names - set(CASES) - ONLY_INTERNAL == set(), "add cases to opcode_cases.py"
    assert set(CASES) | ONLY_INTERNAL == names


@pytest.mark.parametrize("name", sorted(CURRENT))
def test_row(name):
    """Each opcode of this CPython decodes to what its row says."""
    if name in ONLY_INTERNAL:
        code = (lambda: None).__code__
        with pytest.raises(ValueError, match="broken code object"):
            decode_parts(code, bytes([dis.opmap[name], 0]) + code.co_code[2:])
        return
    found = False
    for code in codes_of(CASES[name]):
        decoded = check(code)
        by_offset = {}
        for instr in decoded["instrs"]:
            if not instr[FLAGS] & SYNTHETIC:
                by_offset.setdefault(instr[OFFSET], []).append(instr)
        for real in dis.get_instructions(code):
            if real.opname == name and CURRENT[name].ops + [CURRENT[name].repeat] != [None]:
                found = True
                expected = [op[0] for op in CURRENT[name].canonical(real.arg or 0)]
                assert [instr[OP] for instr in by_offset[real.offset]] == expected
            found = found or real.opname == name
        found = found or bytes_have(code, name)
    assert found, "the case does not contain the opcode"


def bytes_have(code, name):
    """EXTENDED_ARG and CACHE do not come out of dis."""
    number = dis.opmap.get(name, 0)
    return name in ("EXTENDED_ARG", "CACHE") and number in code.co_code[::2]


def standard_library():
    folder = sysconfig.get_path("stdlib")
    for path in sorted(glob.glob(os.path.join(folder, "**", "*.py"), recursive=True)):
        if "site-packages" not in path and os.sep + "test" not in path:
            yield path


def test_standard_library():
    """No code object fails, and every path through it keeps the stack in order."""
    count = 0
    for path in standard_library():
        with open(path, "rb") as file, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                top = compile(file.read(), path, "exec", dont_inherit=True)
            except (SyntaxError, ValueError):
                continue
        for code in all_codes(top):
            check(code)
            count += 1
    assert count > 10000


def ops(function, *names):
    return [(i[OP], i[ARG]) for i in _testing.decode(function.__code__)["instrs"]
            if not names or i[OP] in names]


def test_call_order_of_null():
    def f():
        return print(1)
    names = [name for name, _ in ops(f, "PUSH_NULL", "LOAD_GLOBAL", "CALL", "CALL_FUNCTION")]
    assert names == {(3, 10): ["LOAD_GLOBAL", "CALL_FUNCTION"],
                     (3, 11): ["PUSH_NULL", "LOAD_GLOBAL", "CALL"],
                     (3, 12): ["PUSH_NULL", "LOAD_GLOBAL", "CALL"],
                     (3, 13): ["LOAD_GLOBAL", "PUSH_NULL", "CALL"]}[VERSION]


def test_method_call():
    def f(x):
        return x.m(1)
    instr, = [i for i in _testing.decode(f.__code__)["instrs"] if i[OP] == "LOAD_METHOD"]
    assert bool(instr[FLAGS] & NULL_FIRST) == (VERSION < (3, 13))
    assert ops(f, "CALL") == [("CALL", 1)]


@pytest.mark.parametrize("number, symbol", list(enumerate(
    ["+", "&", "//", "<<", "@", "*", "%", "|", "**", ">>", "-", "/", "^"])))
def test_binary_numbers(number, symbol):
    space = {}
    exec("def f(a, b):\n return a %s b\ndef g(a, b):\n a %s= b" % (symbol, symbol), space)
    assert ops(space["f"], "BINARY_OP") == [("BINARY_OP", number)]
    assert ops(space["g"], "BINARY_OP") == [("BINARY_OP", number + 13)]


@pytest.mark.parametrize("number, symbol", list(enumerate(["<", "<=", "==", "!=", ">", ">="])))
def test_compare_numbers(number, symbol):
    space = {}
    exec("def f(a, b):\n if a %s b: return 1" % symbol, space)
    assert ops(space["f"], "COMPARE_OP") == [("COMPARE_OP", number)]


def test_exhausted_loop_target():
    """The target of FOR_ITER is where the loop goes on, with the iterator gone."""
    def f(x):
        for i in x:
            pass
        return 7
    instrs = _testing.decode(f.__code__)["instrs"]
    loop, = [i for i in instrs if i[OP] == "FOR_ITER"]
    after = instrs[loop[TARGET]]
    assert (after[OP], after[DEPTH]) == ("LOAD_CONST", 0)
    assert loop[DEPTH] == 1


def test_jump_back_to_the_first_instruction():
    def f():
        while True:
            pass
    instrs = _testing.decode(f.__code__)["instrs"]
    assert any(i[FLAGS] & BACKWARD for i in instrs)


def test_unified_slots():
    def outer(free):
        def f(captured, plain, *rest, key):
            cell = plain
            return lambda: (captured, cell, free, key, rest)
        return f
    decoded = _testing.decode(outer(1).__code__)
    assert decoded["slots"] == [("captured", 3), ("plain", 1), ("key", 3), ("rest", 3),
                                ("cell", 2), ("free", 4)]
    assert decoded["free_start"] == 5
    instrs = decoded["instrs"]
    made = {i[ARG] for i in instrs if i[OP] == "MAKE_CELL"}
    assert made == {0, 2, 3, 4}
    assert [i[ARG] for i in instrs if i[OP] == "COPY_FREE_VARS"] == [1]
    assert [i[ARG] for i in instrs if i[OP] == "STORE_DEREF"] == [4]
    inner, = [c for c in outer(1).__code__.co_consts if isinstance(c, types.CodeType)]
    names = [name for name, _ in _testing.decode(inner)["slots"]]
    loads = [names[i[ARG]] for i in _testing.decode(inner)["instrs"] if i[OP] == "LOAD_DEREF"]
    assert loads == ["captured", "cell", "free", "key", "rest"]


def test_unbound_check_flag():
    def f(x):
        if x:
            y = 1
        return y
    instrs = _testing.decode(f.__code__)["instrs"]
    checked = [i for i in instrs if i[OP] == "LOAD_FAST" and i[FLAGS] & CHECK]
    assert checked[-1][ARG] == 1


def test_handlers():
    def f(x):
        try:
            x()
        except ValueError:
            return 1
        return 2
    decoded = _testing.decode(f.__code__)
    call, = [i for i in decoded["instrs"] if i[OP] in ("CALL", "CALL_FUNCTION")]
    start, end, target, depth, lasti, triple = decoded["handlers"][call[HANDLER]]
    assert (depth, lasti, triple) == (0, 0, VERSION < (3, 11))
    assert decoded["instrs"][target][DEPTH] == (6 if triple else 1)


def test_nested_handlers():
    def f(x):
        try:
            try:
                x.a()
            except KeyError:
                x.b()
        finally:
            x.c()
    decoded = _testing.decode(f.__code__)
    instrs, handlers = decoded["instrs"], decoded["handlers"]
    names = f.__code__.co_names
    inner, = {i[HANDLER] for i in instrs if i[OP] == "LOAD_METHOD" and names[i[ARG]] == "a"}
    body, = {i[HANDLER] for i in instrs if i[OP] == "LOAD_METHOD" and names[i[ARG]] == "b"}
    assert inner >= 0 and body >= 0 and inner != body
    reached, seen = instrs[handlers[inner][2]], set()
    while reached[HANDLER] >= 0 and reached[HANDLER] not in seen:
        seen.add(reached[HANDLER])
        reached = instrs[handlers[reached[HANDLER]][2]]
    assert seen


def test_format_with_conversion_and_spec():
    def f(a, b):
        return f"{a!r:{b}}"
    names = [name for name, _ in ops(f)]
    assert "CONVERT_VALUE" in names and "FORMAT_WITH_SPEC" in names


def test_decode_wants_code():
    with pytest.raises(TypeError, match="code object"):
        _testing.decode(1)


def decode_parts(code, raw=None, linetable=None, exceptiontable=None):
    """Decodes other bytes; CPython itself would not survive a code object made of them."""
    own = getattr(code, "co_exceptiontable", b"")
    return _testing.decode_parts(code, code.co_code if raw is None else bytes(raw),
                                 code.co_linetable if linetable is None else linetable,
                                 own if exceptiontable is None else exceptiontable)


def mutated(code, chance):
    raw = bytearray(code.co_code)
    for _ in range(chance.randint(1, 6)):
        raw[chance.randrange(len(raw))] = chance.randrange(256)
    tables = [None, None]
    if chance.random() < 0.3:
        tables = [bytes(chance.randrange(256) for _ in range(chance.randrange(20)))
                  for _ in range(2)]
    return raw, *tables


@pytest.mark.parametrize("source", SOURCES_HERE)
def test_broken_code(source):
    """Damaged code objects give ValueError or decode; they never crash."""
    codes = codes_of(source)
    chance = random.Random(source)
    outcomes = set()
    for _ in range(150):
        for code in codes:
            try:
                decode_parts(code, *mutated(code, chance))
                outcomes.add("decoded")
            except ValueError as error:
                assert "broken" in str(error)
                outcomes.add("refused")
    assert "refused" in outcomes


@pytest.mark.parametrize("length", [1, 3])
def test_odd_code_length(length):
    code = (lambda: None).__code__
    with pytest.raises(ValueError, match="length"):
        decode_parts(code, code.co_code[:length])


def test_running_off_the_end():
    with pytest.raises(ValueError, match="runs off its end"):
        decode_parts((lambda: None).__code__, [dis.opmap["NOP"], 0])
    with pytest.raises(ValueError, match="runs off its end"):
        decode_parts((lambda: None).__code__, b"")


@pytest.mark.parametrize("oparg", [17, 255])
def test_huge_arguments(oparg):
    """Arguments beyond all reason neither overflow nor fill the memory."""
    for name in ("BUILD_LIST", "BUILD_MAP", "UNPACK_EX", "ROT_N", "JUMP_FORWARD", "LOAD_CONST"):
        if name in dis.opmap:
            prefix = [dis.opmap["EXTENDED_ARG"], oparg]
            for count in (1, 2, 3, 4):
                with pytest.raises(ValueError):
                    decode_parts((lambda: None).__code__,
                                 prefix * count + [dis.opmap[name], 255])


def test_decode_reads_the_original_code():
    """Neither specialised nor instrumented instructions are seen."""
    def f(x):
        for i in range(3):
            x = x + i
        return x
    before = _testing.decode(f.__code__)
    for _ in range(100):
        f(1)
    assert _testing.decode(f.__code__) == before
    sys.settrace(lambda *args: None)
    try:
        f(1)
        assert _testing.decode(f.__code__) == before
    finally:
        sys.settrace(None)
