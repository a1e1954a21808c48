"""Operators over trackers give what Python gives: the value, or the exception and its text."""

import operator

import pytest
from trackers import BINARY, COMPARE, run

VALUES = [0, 1, 3, -7, 2.5, -0.0, float("inf"), True, None, "ab", b"x", (1, 2), 1j, 2**70, ...]
FUNCTIONS = {
    "+": operator.add,
    "&": operator.and_,
    "//": operator.floordiv,
    "<<": operator.lshift,
    "@": operator.matmul,
    "*": operator.mul,
    "%": operator.mod,
    "|": operator.or_,
    "**": operator.pow,
    ">>": operator.rshift,
    "-": operator.sub,
    "/": operator.truediv,
    "^": operator.xor,
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
}
# Results that the trace refuses to compute, or where plain Python only answers slowly.
REFUSED = {"symbolic-range", "unroll-limit"}


def plain(function, *values):
    try:
        return function(*values), None
    except Exception as error:
        return None, f"{type(error).__name__}: {error}"


def same(a, b):
    return type(a) is type(b) and repr(a) == repr(b)


@pytest.mark.parametrize("how", ["input", "const"])
@pytest.mark.parametrize("symbol", FUNCTIONS)
def test_binary(symbol, how):
    for left in VALUES:
        for right in VALUES:
            if symbol in ("**", "<<") and abs(len(repr(right))) > 20:
                continue
            table = COMPARE if symbol in COMPARE else BINARY
            kind = "compare" if symbol in COMPARE else "binary"
            done = run([(how, left), (how, right)], (kind, table[symbol], 0, 1), ("specialize", 2))
            value, error = plain(FUNCTIONS[symbol], left, right)
            where = f"{left!r} {symbol} {right!r}"
            if done.broken and done.broken[0] in REFUSED:
                assert error is None or "ZeroDivision" in error or "Overflow" in error, where
                continue
            if error is not None:
                assert done.broken == ("raises", error), where
                continue
            if done.broken:
                # A tuple is rebuilt from its items; everything else is a constant by now.
                raise AssertionError(f"{where}: {done.broken}")
            if not isinstance(value, tuple):
                assert same(done.last.constant, value), where


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("negative", operator.neg),
        ("positive", operator.pos),
        ("not", operator.not_),
        ("truth", bool),
    ],
)
@pytest.mark.parametrize("how", ["input", "const"])
def test_unary(name, function, how):
    for value in VALUES:
        done = run([(how, value)], (name, 0), ("specialize", 1))
        expected, error = plain(function, value)
        if error is not None:
            assert done.broken is not None, value
        else:
            assert same(done.last.constant, expected), value


def test_numbers_stay_symbolic():
    done = run([4, 2.5], ("binary", BINARY["*"], 0, 1), ("compare", COMPARE["<"], 0, 1))
    assert [row.kind for row in done.rows[2:]] == [
        "symbolic number",
        "symbolic number",
    ] or done.rows[3].constant is False
    assert done.rows[2].text == "float(s0)*f1"
    assert not any(
        "==" in guard
        for guard in done.guards
        if "L['x1']" in guard and done.rows[3].kind != "constant"
    )


def test_a_branch_adds_one_guard():
    done = run([4, 9], ("compare", COMPARE["<"], 0, 1), ("truth", 2), ("truth", 2))
    assert done.last.constant is True
    assert sum("<" in guard for guard in done.guards) == 1


def test_zero_division_is_specialised():
    done = run([4, 0], ("binary", BINARY["//"], 0, 1))
    assert done.broken[0] == "raises"
    assert done.broken[1].startswith("ZeroDivisionError")


class Money:
    def __init__(self, amount):
        self.amount = amount


@pytest.mark.parametrize("symbol", ["+", "<", "-=", "**"])
def test_no_operator_between_user_objects(symbol):
    left, right = Money(1), Money(2)
    table = COMPARE if symbol in COMPARE else BINARY
    done = run([left, right], ("compare" if symbol in COMPARE else "binary", table[symbol], 0, 1))
    scope = {"a": left, "b": right}
    with pytest.raises(TypeError) as error:
        exec(f"a {symbol} b", scope)
    assert done.broken == ("raises", f"TypeError: {error.value}")


@pytest.mark.parametrize("value", [Money(1), 3, 2.5, "a", None, [1], {1: 2}])
def test_equality_falls_back_to_identity(value):
    other = object()
    done = run(
        [value, ("known", other)],
        ("compare", COMPARE["=="], 0, 1),
        ("compare", COMPARE["!="], 0, 1),
    )
    assert [row.constant for row in done.rows[2:]] == [False, True]


def test_huge_results_are_refused():
    for left, symbol, right in [
        (10**10, "**", 10**10),
        ("x", "*", 10**9),
        (1, "<<", 10**9),
        ((1,), "*", 10**9),
    ]:
        done = run([("const", left), ("const", right)], ("binary", BINARY[symbol], 0, 1))
        assert done.broken[0] in REFUSED
