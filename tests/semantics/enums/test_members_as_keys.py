"""Members of enumerations as keys of dicts and elements of sets that existed before the call."""

import enum

import pytest
from differential import Compiled, check


class Color(enum.Enum):
    RED = 1
    GREEN = 2


class Number(enum.IntEnum):
    ONE = 1
    TWO = 2


class Text(str, enum.Enum):
    A = "a"
    B = "b"


class Flag(enum.Flag):
    R = 1
    W = 2


class Bits(enum.IntFlag):
    R = 1
    W = 2


class Own(enum.Enum):
    A = 1

    def __hash__(self):
        return 7


class Label(str):
    @property
    def loud(self):
        return self.upper()


class Id(int):
    pass


NAMES = {Color.RED: "r", Color.GREEN: "g"}
NUMBERS = {Number.ONE: "one"}
TEXTS = {Text.A: 1, "b": 2}
MOVES = {(Color.RED, "go"): Color.GREEN, (Color.GREEN, "go"): Color.RED}
WARM = {Color.RED}
COLD = frozenset([Color.GREEN])
MIXED = {Number.ONE, 5}
RIGHTS = {Flag.R: "read", Flag.R | Flag.W: "both"}
BITS = {Bits.R: "read", 3: "both"}
OWN = {Own.A: 1}
LABELS = {Label("x"): 1}
NESTED = {Color.RED: {"seen": [1]}}


def dispatch(x):
    return NAMES[Color.RED] * x, NAMES.get(Color.GREEN), NAMES[Color(2)]


def by_number(x):
    return NUMBERS[Number.ONE], NUMBERS[1], NUMBERS.get(Number.TWO), NUMBERS.get(2.0)


def by_text(x):
    return TEXTS[Text.A], TEXTS["a"], TEXTS[Text.B], Text.A in TEXTS, "c" in TEXTS


def by_pair(x):
    return MOVES[Color.RED, "go"], MOVES.get((Color.RED, "stop"))


def in_sets(x):
    return [(c in WARM, c in COLD) for c in Color], Number.ONE in MIXED, 1 in MIXED, 2 in MIXED


def by_flags(x):
    return RIGHTS[Flag.R | Flag.W], RIGHTS.get(Flag.W), BITS[Bits.R], BITS[Bits.R | Bits.W]


def iterates(x):
    return (
        [k.name for k in NAMES],
        {v: k for k, v in NAMES.items()},
        sorted(NAMES, key=lambda c: -c.value),
        {c: 0 for c in Color},
        len(WARM | COLD),
    )


def literal_keys(x):
    return (
        {"a": 1}[Text.A],
        {Text.A: 2}["a"],
        {1: 3}[Number.ONE],
        {Number.ONE: 4}[True],
        {Id(x): 5}[3],
    )


def literal_sets(x):
    return {Text.A, "a"}, {Number.ONE, 1, True}, {Label("a"), "a"}, Label("b") in {"b"}


def labels(x):
    return LABELS["x"], LABELS[Label("x")], [k.loud for k in LABELS], LABELS.get(Label("y"))


def no_such_member(x):
    try:
        return NAMES[Number.ONE]
    except KeyError as error:
        return error.args


def machine(x):
    state, seen = Color.RED, []
    for _ in range(x):
        state = MOVES[state, "go"]
        seen.append(state)
    return seen, state is Color.GREEN


def counts(x):
    found = dict.fromkeys(Color, 0)
    for color in [Color.RED, Color.GREEN, Color.RED]:
        found[color] += x
    return found


def writes(x):
    NESTED[Color.RED]["seen"].append(x)
    NESTED[Color.GREEN] = x
    del NESTED[Color.GREEN]
    return NESTED


def reset():
    NESTED.clear()
    NESTED[Color.RED] = {"seen": [1]}


WHOLE = [
    dispatch,
    by_number,
    by_text,
    by_pair,
    in_sets,
    by_flags,
    iterates,
    literal_keys,
    literal_sets,
    labels,
    no_such_member,
    machine,
    counts,
]


@pytest.mark.parametrize("fn", WHOLE)
def test_captured_whole(fn):
    check(fn, 3)


def test_written():
    check(writes, 3, reset=reset, state=lambda: NESTED)


def test_a_hash_of_the_program_is_a_break():
    check(lambda x: OWN[Own.A], 3, breaks="missing-slot")


def test_what_lies_there_is_guarded():
    table = {Color.RED: 1, (Color.RED, 2): 5}
    members = {Color.RED}

    def work():
        return table.get(Color.RED), table.get((Color.RED, 2)), Color.GREEN in members, len(table)

    compiled = Compiled(work)
    assert compiled() == work() == (1, 5, False, 2)
    for change in (
        lambda: table.update({Color.RED: 2}),
        lambda: table.update({(Color.RED, 2): 6}),
        lambda: members.add(Color.GREEN),
        lambda: table.pop(Color.RED),
        lambda: table.update({Color.GREEN: 2}),
        lambda: (members.clear(), members.add(Number.ONE)),
        lambda: table.clear(),
    ):
        change()
        assert compiled() == work()
        assert compiled() == work()


def test_tables_that_are_arguments():
    def work(table, key):
        table["last"] = key
        return table.get(key), list(table)

    check(work, {Color.RED: 1, Number.ONE: 2}, Color.RED)
    check(work, {Text.A: 1}, "a")
    check(work, {(Color.RED, Number.ONE): 1}, (Color.RED, 1))
