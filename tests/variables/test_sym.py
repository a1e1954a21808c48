"""Symbolic numbers: both evaluators agree with Python, or refuse."""

import math
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trackers import testing

BINARY = {
    "ADD": lambda a, b: a + b,
    "SUB": lambda a, b: a - b,
    "MUL": lambda a, b: a * b,
    "TRUEDIV": lambda a, b: a / b,
    "FLOORDIV": lambda a, b: a // b,
    "MOD": lambda a, b: a % b,
    "MIN": min,
    "MAX": max,
    "EQ": lambda a, b: a == b,
    "NE": lambda a, b: a != b,
    "LT": lambda a, b: a < b,
    "LE": lambda a, b: a <= b,
    "GT": lambda a, b: a > b,
    "GE": lambda a, b: a >= b,
    "AND": lambda a, b: a and b,
    "OR": lambda a, b: a or b,
}
UNARY = {"NEG": lambda a: -a, "ABS": abs, "NOT": lambda a: not a, "FLOAT": float}
INTS = st.one_of(st.integers(-20, 20), st.integers(-(2**63), 2**63 - 1))
FLOATS = st.one_of(st.sampled_from([0.0, -0.0, 0.5, -2.0, 7.0]), st.floats(width=64))
MATH = {
    name.upper(): getattr(math, name)
    for name in ("sqrt exp log log2 log10 sin cos tan atan tanh floor ceil trunc".split())
}
ROWS = {"CONST", "SYMBOL", *BINARY, *UNARY, *MATH}


def bits(value):
    return (
        type(value),
        struct.pack("d", value)
        if isinstance(value, float) and not math.isnan(value)
        else repr(value),
    )


def value_of(spec, values):
    if not isinstance(spec, tuple):
        return spec
    name, *operands = spec
    if name == "SYMBOL":
        return values[operands[0]]
    parts = [value_of(operand, values) for operand in operands]
    return (BINARY.get(name) or UNARY.get(name) or MATH[name])(*parts)


def test_every_row_of_the_table_is_known():
    names = table_rows()
    assert set(names) == ROWS


def table_rows():
    import re
    from pathlib import Path

    table = Path(__file__).parents[2] / "src" / "variables" / "numbers" / "sym_ops.def"
    return re.findall(r"^SYM_OP\((\w+)", table.read_text(), re.MULTILINE)


def expressions(leaves, names, unary):
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.tuples(st.sampled_from(names), inner, inner),
            st.tuples(st.sampled_from(unary), inner),
        ),
        max_leaves=8,
    )


ARITHMETIC = ["ADD", "SUB", "MUL", "FLOORDIV", "MOD", "MIN", "MAX"]
INT_EXPRESSIONS = expressions(
    st.one_of(st.integers(-5, 5), st.tuples(st.just("SYMBOL"), st.integers(0, 2), st.just(7))),
    ARITHMETIC,
    ["NEG", "ABS"],
)
FLOAT_EXPRESSIONS = expressions(
    st.one_of(FLOATS, st.tuples(st.just("SYMBOL"), st.integers(0, 2), st.just(1.5))),
    [*ARITHMETIC, "TRUEDIV"],
    ["NEG", "ABS"],
)


def check(spec, values):
    try:
        _, hint, tree, program = testing.sym(spec, values)
    except ArithmeticError:
        return
    assert bits(tree) == bits(program) or program == "too deep"
    if tree is None:
        try:
            exact = value_of(spec, values)
        except ArithmeticError:
            return
        # Some step on the way left int64, or a division of ints was not exact in doubles.
        assert isinstance(exact, (int, float))
        return
    assert bits(tree) == bits(value_of(spec, values))


@settings(max_examples=100, deadline=None)
@given(INT_EXPRESSIONS, st.lists(INTS, min_size=3, max_size=3))
def test_ints(spec, values):
    check(spec, values)


@settings(max_examples=100, deadline=None)
@given(FLOAT_EXPRESSIONS, st.lists(FLOATS, min_size=3, max_size=3))
def test_floats(spec, values):
    check(spec, values)


@pytest.mark.parametrize("name", ["EQ", "NE", "LT", "LE", "GT", "GE"])
def test_comparisons(name):
    for a in (-3, 0, 5, 2**62):
        for b in (-3, 0, 5):
            check((name, ("SYMBOL", 0, 1), ("SYMBOL", 1, 2)), [a, b])
            check((name, ("SYMBOL", 0, 1.0), ("SYMBOL", 1, 2.0)), [float(a), float(b)])


@pytest.mark.parametrize("name", ["AND", "OR"])
def test_logic(name):
    for a in (False, True):
        for b in (False, True):
            check((name, ("SYMBOL", 0, True), ("SYMBOL", 1, True)), [a, b])


@settings(max_examples=100, deadline=None)
@given(FLOATS)
@pytest.mark.parametrize("name", MATH)
def test_functions_of_math(name, value):
    try:
        exact = MATH[name](value)
    except (ValueError, OverflowError):
        exact = None
    _, _, tree, program = testing.sym((name, ("SYMBOL", 0, 1.5)), [value])
    assert bits(tree) == bits(program)
    if exact is None or (isinstance(exact, int) and abs(exact) > 2**53):
        assert tree is None
    else:
        assert bits(tree) == bits(exact)


def test_mixed_numbers_are_converted():
    assert testing.sym(("ADD", ("SYMBOL", 0, 2), 0.5), [7])[1:] == (2.5, 7.5, 7.5)
    assert testing.sym(("TRUEDIV", ("SYMBOL", 0, 2), 4), [6])[1:] == (0.5, 1.5, 1.5)


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        (("ADD", ("MUL", ("SYMBOL", 0, 3), 2), 1), "s0*2 + 1"),
        (("MUL", ("ADD", ("SYMBOL", 0, 3), 1), ("SYMBOL", 1, 2.5)), "float(s0 + 1)*f1"),
        (("SUB", ("SYMBOL", 0, 3), ("SUB", ("SYMBOL", 1, 3), 1)), "s0 - (s1 - 1)"),
        (("NOT", ("LT", ("SYMBOL", 0, 3), 4)), "not s0 < 4"),
        (("MAX", ("SYMBOL", 0, 3), 1), "max(s0, 1)"),
        (("NEG", ("SYMBOL", 0, 3)), "-s0"),
        (("ADD", ("SYMBOL", 0, 3), 0), "s0"),
        (("MUL", 1, ("SYMBOL", 0, 3)), "s0"),
        (("SUB", ("SYMBOL", 0, 3), ("SYMBOL", 0, 3)), "0"),
        (("LE", ("SYMBOL", 0, 3), ("SYMBOL", 0, 3)), "True"),
        (("ADD", ("SYMBOL", 0, 1.5), 0.0), "f0 + 0.0"),
        (("ADD", 2, 3), "5"),
    ],
)
def test_text(spec, text):
    assert testing.sym(spec, [1, 1])[0] == text


def test_what_has_no_symbolic_form():
    for spec in [
        ("FLOORDIV", ("SYMBOL", 0, 3), 0),
        ("MUL", ("SYMBOL", 0, 2**62), 4),
        ("MIN", ("SYMBOL", 0, 3), 2.5),
        ("LT", ("SYMBOL", 0, 3), 2.5),
    ]:
        with pytest.raises(ArithmeticError):
            testing.sym(spec, [1])


def test_evaluation_refuses_what_leaves_the_range():
    assert testing.sym(("MUL", ("SYMBOL", 0, 2), 4), [2**62])[2:] == (None, None)
    assert testing.sym(("MOD", 7, ("SYMBOL", 0, 2)), [0])[2:] == (None, None)
    assert testing.sym(("FLOORDIV", ("SYMBOL", 0, 2), -1), [-(2**63)])[2:] == (None, None)
    assert testing.sym(("ABS", ("SYMBOL", 0, 2)), [-(2**63)])[2:] == (None, None)


def test_deep_expressions_have_no_program():
    spec = ("SYMBOL", 0, 1)
    for _ in range(20):
        spec = ("ADD", ("SYMBOL", 0, 1), spec)
    assert testing.sym(spec, [1])[2:] == (21, "too deep")
