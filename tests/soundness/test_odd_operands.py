"""Operations on what is seldom given to them: their results, and the words in which they are refused."""

import collections
import datetime
import enum
import types

import dyntrace
import numpy as np
import pytest


class Level(enum.IntEnum):
    LOW = 1


class Text(str):
    pass


class Items(list):
    pass


class Generic:
    def __class_getitem__(cls, key):
        return key


Pair = collections.namedtuple("Pair", "a b")
PAIR, ITEMS, TEXT, LOW = Pair(1, 2), Items([1]), Text("abc"), Level.LOW
class Space:
    pass


SPACE2 = Space()
SPACE, DATE = types.SimpleNamespace(a=1), datetime.date(2020, 1, 2)

CASES = [
    # A class that is asked for an item gets the key itself.
    "Generic[LOW] is LOW", "repr(dict[LOW])", "Generic[True]", "Generic[2]",
    # Methods of a function of C are not the function.
    "len.__repr__(x)", "len.__eq__(x, x)", "len.__hash__([1])", "len.__eq__(len)", "int.__hash__(1, 2)",
    # Errors of operators that are inherited.
    "PAIR * []", "[] * PAIR", "PAIR + []", "ITEMS + 3", "ITEMS * 'a'", "TEXT + 3", "TEXT * TEXT", "3 + TEXT",
    # The call that unpacks what can't be names the callable.
    "len(*5)", "fail(*5)", "PAIR(*Ellipsis)", "x(*1.5)", "fail(*[1], *5)", "fail(**5)",
    # Classes of C have a module in front of their name.
    "np.float64(1) in np.add", "3 in DATE", "{**SPACE}", "reversed(SPACE)", "reversed(DATE)", "{x: 1}", "{np.zeros(2)}",
    "x.__getattribute__(x)", "SPACE.__getattribute__(x)", "SPACE.__format__('s')", "[*SPACE]", "DATE[0]", "-DATE",
    "enter(DATE)", "enter(np.add)", "enter(SPACE)", "iter(SPACE)", "next(DATE)", "hash(collections.deque())",
    "len(DATE)", "int(SPACE)", "DATE < SPACE", "DATE + SPACE", "'a' + DATE", "[][DATE]", "'%d' % SPACE", "abs(DATE)",
    "isinstance(1, DATE)", "range(DATE)", "round(SPACE)", "', '.join([DATE])", "sum([SPACE])", "DATE()", "DATE.nothing",
    "math.sqrt(SPACE)", "[1, 2].index(DATE)", "''.join(SPACE)", "bytes(SPACE)", "sorted([DATE, SPACE])", "float(DATE)",
    # A method that is called by name is no format().
    "().__format__(0)", "{}.__format__(3)", "range(3).__format__(len)", "(3).__format__(None)",
    # Copies of arrays.
    "x.__deepcopy__()", "x.__copy__(1)", "x.__deepcopy__({})", "x.__copy__()",
    # What is a number for NumPy.
    "[np.isscalar(v) for v in (1, 1.5, True, 'a', b'a', memoryview(b'a'), TEXT, LOW, None, x, np.float64(1), 1j)]",
    "np.isscalar(memoryview(b'a'))", "np.isscalar(TEXT)",
    # A class among the values is no dtype.
    "np.append(x, int)", "np.append(x, np.float32)", "np.insert(x, 0, int)", "np.append(x, [int])",
    # Names of attributes are texts, also those of a class of their own.
    "SPACE2.__setattr__(TEXT, 1)", "Space().__delattr__(TEXT)", "SPACE2.__getattribute__(TEXT)",
    "SPACE2.__setattr__(f'{x[1]:.0f}', 1)", "SPACE2.__setattr__(3, 1)", "vars(SPACE2)",
    # An OrderedDict is updated in its own words.
    "ior(collections.OrderedDict(a=1), [1])", "ior(collections.OrderedDict(a=1), range(2))",
    "ior(collections.OrderedDict(a=1), {'b': 2})", "ior({}, LOW)", "ior({}, [1])",
    "TEXT < 1.5", "TEXT < TEXT", "ITEMS < 3", "1.5 > TEXT", "imul(LOW, PAIR)", "imul(LOW, [1])", "imul(LOW, 3)", "LOW * PAIR",
    "TEXT.format_map({})",
    # A format without fields is what it was.
    "type(TEXT.format())", "type(TEXT.format(1))", "TEXT.strip() is TEXT", "type(Text('{}').format(1))",
]  # fmt: skip

TEMPLATE = """\
def fail(): pass
def imul(left, right):
    left *= right
    return left
def ior(left, right):
    left |= right
    return left
def enter(manager):
    with manager: pass
def call(x):
    y = x * 2.0
    try: got = {}
    except Exception as error: return y + 1.0, type(error), str(error)
    return y, got
"""


def outcome(function):
    return repr(function(np.arange(3.0)))


@pytest.mark.parametrize("text", CASES)
def test_what_an_operation_says_of_odd_operands(text):
    import math

    space = {**globals(), "math": math, "__name__": "program"}
    exec(TEMPLATE.format(text), space)
    plain, compiled = space["call"], dyntrace.compile(space["call"])
    expected = outcome(plain)
    assert [outcome(compiled) for _ in range(3)] == [expected] * 3
