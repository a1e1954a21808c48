"""Symbolic numbers: both evaluators agree with Python, or refuse."""

import math
import operator
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trackers import testing


def shifted_left(a, b):
    return a << min(b, 100)  # more leaves int64 anyway


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
    "BITAND": operator.and_,
    "BITOR": operator.or_,
    "BITXOR": operator.xor,
    "LSHIFT": shifted_left,
    "RSHIFT": operator.rshift,
    "AND": lambda a, b: a and b,
    "OR": lambda a, b: a or b,
}
UNARY = {"NEG": lambda a: -a, "ABS": abs, "NOT": lambda a: not a, "FLOAT": float}
INTS = st.one_of(st.integers(-20, 20), st.integers(-(2**63), 2**63 - 1))
FLOATS = st.one_of(st.sampled_from([0.0, -0.0, 0.5, -2.0, 7.0]), st.floats(width=64))
MATH = {
    name.upper(): getattr(math, name)
    for name in (
        "sqrt exp log log2 log10 sin cos tan atan tanh asin acos sinh cosh radians degrees"
        " floor ceil trunc".split()
    )
} | {"ROUND": round}
MATH_OF_TWO = {"POW": pow, "ATAN2": math.atan2, "FMOD": math.fmod, "COPYSIGN": math.copysign}
ROWS = {"CONST", "SYMBOL", *BINARY, *UNARY, *MATH, *MATH_OF_TWO}


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
    return (BINARY.get(name) or UNARY.get(name) or MATH.get(name) or MATH_OF_TWO[name])(*parts)


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
    _, _, tree, program = testing.sym((name, ("SYMBOL", 0, 0.5)), [value])
    assert bits(tree) == bits(program)
    overflows = exact is not None and math.isinf(exact) and math.isfinite(value)  # degrees()
    if exact is None or overflows or (isinstance(exact, int) and abs(exact) > 2**53):
        assert tree is None
    else:
        assert bits(tree) == bits(exact)


@settings(max_examples=300, deadline=None)
@given(FLOATS, FLOATS)
@pytest.mark.parametrize("name", MATH_OF_TWO)
def test_functions_of_two(name, a, b):
    try:
        exact = MATH_OF_TWO[name](a, b)
    except (ValueError, ArithmeticError):
        exact = None
    spec = (name, ("SYMBOL", 0, 1.5), ("SYMBOL", 1, 0.5))
    _, _, tree, program = testing.sym(spec, [a, b])
    assert bits(tree) == bits(program)
    if not (math.isfinite(a) and math.isfinite(b)) or not isinstance(exact, float):
        assert tree is None
    else:
        assert bits(tree) == bits(exact)


@settings(max_examples=300, deadline=None)
@given(INTS, st.one_of(INTS, st.integers(0, 70)))
@pytest.mark.parametrize("name", ["BITAND", "BITOR", "BITXOR", "LSHIFT", "RSHIFT"])
def test_bits_of_ints(name, a, b):
    try:
        exact = BINARY[name](a, b)
    except ValueError:
        exact = None
    _, _, tree, program = testing.sym((name, ("SYMBOL", 0, 5), ("SYMBOL", 1, 2)), [a, b])
    assert bits(tree) == bits(program)
    refused = exact is None or not -(2**63) <= exact < 2**63 or (name == "LSHIFT" and b > 62)
    assert tree == (None if refused else exact)


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
        (
            ("BITAND", ("ADD", ("SYMBOL", 0, 3), 1), ("BITOR", ("SYMBOL", 0, 3), 1)),
            "s0 + 1 & (s0 | 1)",
        ),
        (("POW", ("SYMBOL", 0, 1.5), 2.0), "pow(f0, 2.0)"),
        (("ADD", ("SYMBOL", 0, 3), 0), "s0"),
        (("MUL", 1, ("SYMBOL", 0, 3)), "s0"),
        (("SUB", ("SYMBOL", 0, 3), ("SYMBOL", 0, 3)), "0"),
        (("SUB", ("ADD", ("SYMBOL", 0, 3), ("SYMBOL", 1, 3)), ("SYMBOL", 0, 3)), "s1"),
        (("SUB", ("ADD", ("SYMBOL", 0, 3), ("SYMBOL", 1, 3)), ("SYMBOL", 1, 3)), "s0"),
        (("SUB", ("ADD", ("SYMBOL", 0, 3), 7), 7), "s0"),
        (("SUB", ("SYMBOL", 0, 3), ("ADD", ("SYMBOL", 0, 3), 7)), "s0 - (s0 + 7)"),
        (("SUB", ("ADD", ("SYMBOL", 0, 1.5), 0.5), 0.5), "f0 + 0.5 - 0.5"),
        (("SUB", ("ADD", ("SYMBOL", 0, True), ("SYMBOL", 1, 3)), ("SYMBOL", 1, 3)), "s0 + s1 - s1"),
        (("LE", ("SYMBOL", 0, 3), ("SYMBOL", 0, 3)), "True"),
        (("ADD", ("SYMBOL", 0, 1.5), 0.0), "f0 + 0.0"),
        (("ADD", 2, 3), "5"),
    ],
)
def test_text(spec, text):
    assert testing.sym(spec, [1, 1])[0] == text


SYMBOLS = [("SYMBOL", 0, 7), ("SYMBOL", 1, 7), ("SYMBOL", 2, 7)]


@given(st.lists(INTS, min_size=3, max_size=3), st.lists(st.integers(0, 2), min_size=2, max_size=6))
def test_what_is_added_and_taken_away_again(values, chosen):
    """Lengths of adjoining slices: each end minus its start."""
    end = SYMBOLS[chosen[0]]
    for i in chosen[1:]:
        start, end = end, ("ADD", end, SYMBOLS[i])
        length = ("SUB", end, start)
        assert testing.sym(length, values)[0] == f"s{i}"
        check(length, values)
        check(("SUB", end, SYMBOLS[i]), values)


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
