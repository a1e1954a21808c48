"""Methods of C that are called with arguments that don't fit: which class the TypeError names, and that there is one.

A method that is called at once says the class that defines it, one that was bound before the class of the
object; both are what the interpreter says of the call as it stands in the program.
"""

import collections
import enum

import dyntrace
import numpy as np
import pytest

FORMS = ("d.{name}({args})", "m = d.{name}; m({args})")
ARGUMENTS = ("", "1, 2, 3, 4, 5, 6, 7, 8", "k=1")
LEFT_OUT = {"__class__", "__init_subclass__", "__subclasshook__", "__new__", "mT"}

Items = type("Items", (list,), {})
Keys = type("Keys", (dict,), {})
Ordered = type("Ordered", (collections.OrderedDict,), {})
Text = type("Text", (str,), {})
Pair = collections.namedtuple("Pair", "a b")


class Level(enum.IntEnum):
    LOW = 1


class Plain:
    pass


class Part(np.ndarray):
    pass


KINDS = {
    "OrderedDict": lambda: collections.OrderedDict(a=1),
    "defaultdict": lambda: collections.defaultdict(int, a=1),
    "Counter": lambda: collections.Counter("ab"),
    "deque": lambda: collections.deque([1]),
    "dict": lambda: {"a": 1},
    "bool": lambda: True,
    "int": lambda: 3,
    "list": lambda: [1],
    "exception": lambda: ValueError(1),
    "enum": lambda: Level.LOW,
    "plain": Plain,
    "items": lambda: Items([1]),
    "keys": lambda: Keys(a=1),
    "ordered": lambda: Ordered(a=1),
    "text": lambda: Text("a"),
    "pair": lambda: Pair(1, 2),
    "part": lambda: np.ones(2).view(Part),
    "set": lambda: type("Few", (set,), {})([1]),
    "real": lambda: type("Real", (float,), {})(1),
    "bytes": lambda: type("Bytes", (bytearray,), {})(b"a"),
}


def functions(kind):
    for name in dir(type(KINDS[kind]())):
        if name not in LEFT_OUT and callable(getattr(KINDS[kind](), name, None)):
            for form in FORMS:
                for arguments in ARGUMENTS:
                    yield form.format(name=name, args=arguments)


def outcome(function, make):
    x = np.arange(3.0)
    try:
        return repr(function(make(), x))
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_called_with_arguments_that_do_not_fit(kind):
    body = "def call(d, x):\n    y = x * 2.0\n    try: {}\n    except TypeError as error: return y + 1.0, str(error)\n"
    for text in functions(kind):
        space = {}
        exec(body.format(text), space)
        plain, compiled = space["call"], dyntrace.compile(space["call"])
        assert outcome(compiled, KINDS[kind]) == outcome(plain, KINDS[kind]), text
        dyntrace.reset()
