"""Objects that lie, raise, change or act behind every protocol, and code that no compiler would write:
whatever dyntrace makes of them, captured or broken, the program does what it does plainly."""

import copy
import sys
import types

import dyntrace
import numpy as np
import pytest
from differential import Compiled, Outcome, compare

A = np.linspace(0.5, 2.0, 4)
SEEN = []


def same(fn, make, calls=3):
    """Plain against compiled, whether captured or not; what user code was run, and in which order, too."""

    def run(target):
        SEEN.clear()
        outcome = Outcome(target, *make(), state=lambda: list(SEEN))
        return outcome

    plain = run(fn)
    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        compiled = Compiled(fn)
        for _ in range(calls):
            compare(plain, run(compiled))
    assert not compiled.faults, compiled.describe()
    return compiled


class Loud:
    """Every protocol writes down that it was used."""

    def __init__(self, n):
        self.__dict__["n"] = n

    def __getattribute__(self, name):
        if not name.startswith("__"):
            SEEN.append(("get", name))
        return super().__getattribute__(name)

    def __setattr__(self, name, value):
        SEEN.append(("set", name, value))
        super().__setattr__(name, value)

    def __delattr__(self, name):
        SEEN.append(("del", name))
        super().__delattr__(name)

    def __eq__(self, other):
        SEEN.append("eq")
        return type(other) is Loud

    def __hash__(self):
        SEEN.append("hash")
        return 7

    def __bool__(self):
        SEEN.append("bool")
        return True

    def __len__(self):
        SEEN.append("len")
        return 3

    def __iter__(self):
        SEEN.append("iter")
        return iter([1, 2])

    def __contains__(self, item):
        SEEN.append("contains")
        return item == 5

    def __getitem__(self, key):
        SEEN.append(("getitem", key))
        return key

    def __setitem__(self, key, value):
        SEEN.append(("setitem", key, value))

    def __delitem__(self, key):
        SEEN.append(("delitem", key))

    def __call__(self, *args):
        SEEN.append(("call", args))
        return len(args)

    def __add__(self, other):
        SEEN.append("add")
        return 40

    def __radd__(self, other):
        SEEN.append("radd")
        return 41

    def __iadd__(self, other):
        SEEN.append("iadd")
        return self

    def __neg__(self):
        SEEN.append("neg")
        return 3

    def __index__(self):
        SEEN.append("index")
        return 1

    def __enter__(self):
        SEEN.append("enter")
        return self

    def __exit__(self, *rest):
        SEEN.append("exit")
        return False

    def __repr__(self):
        SEEN.append("repr")
        return "Loud"

    def __format__(self, spec):
        SEEN.append(("format", spec))
        return "loud"


LOUD = {
    "attribute": lambda x, o: x + o.n,
    "missing attribute": lambda x, o: x + getattr(o, "q", 2),
    "hasattr": lambda x, o: x + hasattr(o, "q"),
    "setattr": lambda x, o: (setattr(o, "k", 3), x + 1)[1],
    "delattr": lambda x, o: (delattr(o, "n"), x + 1)[1],
    "equal": lambda x, o: x + (o == 3),
    "unequal": lambda x, o: x + (o != 3),
    "equal to itself": lambda x, o: x + (o in [o]),
    "found by equality": lambda x, o: x + (3 in [o, 3]),
    "index of a list": lambda x, o: x + [1, 2, 3][o],
    "slice": lambda x, o: x[o:],
    "dict key": lambda x, o: x + {o: 2}[o],
    "set item": lambda x, o: x + len({o, o}),
    "truth": lambda x, o: x + 1 if o else x,
    "not": lambda x, o: x + (not o),
    "and": lambda x, o: x + (1 if o and o else 0),
    "length": lambda x, o: x + len(o),
    "iteration": lambda x, o: x + sum(v for v in o),
    "membership": lambda x, o: x + (5 in o),
    "item": lambda x, o: x + o[2],
    "item set": lambda x, o: (o.__setitem__(1, 2), x + 1)[1],
    "call": lambda x, o: x + o(1, 2),
    "sum": lambda x, o: x + (o + 1),
    "reflected": lambda x, o: x + (1 + o),
    "array and object": lambda x, o: x + o,
    "negative": lambda x, o: x + -o,
    "range": lambda x, o: x + len(range(o)),
    "repr": lambda x, o: x + len(repr(o)),
    "f-string": lambda x, o: x + len(f"{o}{o!r:>8}{o:>{3}}"),
    "percent": lambda x, o: x + len("%r" % o),
    "join": lambda x, o: x + len(",".join(str(v) for v in o)),
    "isinstance": lambda x, o: x + isinstance(o, (int, Loud)),
    "in a tuple": lambda x, o: x + ((o, 1) == (o, 1)),
    "dict of it": lambda x, o: x + len({o: 1, 7: 2}),
    "max": lambda x, o: x + max(o),
    "zip": lambda x, o: x + len(list(zip(o, o))),
    "enumerate": lambda x, o: x + len(list(enumerate(o))),
}


@pytest.mark.parametrize("name", LOUD)
def test_loud(name):
    same(LOUD[name], lambda: ((A.copy(), Loud(2)), {}))


@pytest.mark.parametrize("name", LOUD)
def test_loud_made_in_the_trace(name):
    body = LOUD[name]

    def made(x):
        return body(x, Loud(2))

    same(made, lambda: ((A.copy(),), {}))


def with_loud(x, o):
    with o as inner:
        SEEN.append("body")
        x = x + 1
        inner += 2
    o[1] = 2
    del o[3]
    return x * 2


def test_loud_statements():
    same(with_loud, lambda: ((A.copy(), Loud(1)), {}))


class Raises:
    """Every protocol raises."""

    def fail(self, *args):
        raise OSError("no")

    __eq__ = __hash__ = __bool__ = __len__ = __iter__ = __contains__ = __getitem__ = fail
    __call__ = __add__ = __radd__ = __neg__ = __index__ = __getattr__ = __setattr__ = fail
    __lt__ = __format__ = __enter__ = fail


@pytest.mark.parametrize("caught", [False, True])
@pytest.mark.parametrize("name", LOUD)
def test_raises(name, caught):
    body = LOUD[name]

    def guarded(x, o):
        try:
            return body(x, o)
        except OSError as error:
            return x, str(error)

    same(guarded if caught else body, lambda: ((A.copy(), Raises()), {}))


class Liar:
    """Says that it is an int."""

    @property
    def __class__(self):
        SEEN.append("class")
        return int


LIAR = Liar()


def lied_to(x):
    return x + isinstance(LIAR, int), type(LIAR).__name__, LIAR.__class__.__name__


def test_class_that_lies():
    same(lied_to, lambda: ((A.copy(),), {}))


class Shifty:
    """Its hash is another one each time; equality takes turns."""

    def __init__(self):
        self.n = 0

    def __hash__(self):
        self.n += 1
        return self.n

    def __eq__(self, other):
        self.n += 1
        return self.n % 2 == 0


def shifty(x, o):
    table = {}
    table[o] = 1
    table[o] = 2
    return x + len(table), (o in table), [o == 1, o == 1], {o} == {o}


def test_hash_that_changes():
    same(shifty, lambda: ((A.copy(), Shifty()), {}))


class Dying:
    def __init__(self, log):
        self.log = log

    def __del__(self):
        self.log.append("died")


def drops(x, log):
    d = Dying(log)
    log.append("made")
    y = x + 1
    d = None
    log.append("dropped")
    e = [Dying(log)]
    e.append(1)
    return y + len(log)


def test_finalisers():
    same(drops, lambda: ((A.copy(), []), {}))


class Names(dict):
    def __getitem__(self, key):
        SEEN.append(key)
        return super().__getitem__(key)


def test_dict_subclass_as_globals():
    def body(x):
        return x + LIMIT + len([1])  # noqa: F821

    def run(target_globals):
        return types.FunctionType(body.__code__, target_globals)

    names = Names(LIMIT=3, __builtins__=__builtins__)
    plain = run(names)(A)
    with dyntrace.config.patch(everything=True, strict=True):
        compiled = Compiled(run(names))
        for _ in range(3):
            assert compiled(A).tobytes() == plain.tobytes()


def numbered(lines, head="def f(x):\n", tail="    return x + total\n"):
    space = {}
    exec(compile(head + "".join(lines) + tail, "<made>", "exec"), space)
    return space["f"]


def test_fifty_thousand_instructions():
    lines = ["    total = 0\n", *(f"    total = total + {i % 7}\n" for i in range(13_000))]
    fn = numbered(lines)
    assert len(fn.__code__.co_code) >= 2 * 50_000
    same(fn, lambda: ((A.copy(),), {}), calls=2)


def test_ten_thousand_locals():
    lines = [f"    v{i} = {i}\n" for i in range(10_000)]
    lines.append("    total = " + " + ".join(f"v{i}" for i in range(0, 10_000, 997)) + "\n")
    fn = numbered(lines)
    assert len(fn.__code__.co_varnames) > 10_000
    same(fn, lambda: ((A.copy(),), {}), calls=2)


def test_ten_thousand_constants_and_names():
    lines = ["    total = 0\n", *(f"    total += {i}.5\n" for i in range(10_000))]
    same(numbered(lines), lambda: ((A.copy(),), {}), calls=2)


@pytest.mark.parametrize("depth", [18])
def test_deeply_nested_blocks(depth):
    lines = ["    total = 0\n"]
    for i in range(depth):
        lines.append("    " * (i + 1) + ("for _ in (1,):\n" if i % 2 else "try:\n"))
    lines.append("    " * (depth + 1) + "total += 1\n")
    for i in reversed(range(depth)):
        if i % 2 == 0:
            lines.append("    " * (i + 1) + "finally:\n" + "    " * (i + 2) + "total += 1\n")
    same(numbered(lines), lambda: ((A.copy(),), {}))


def test_function_under_a_tracer():
    """What coverage tools do: a trace function that is on while the function runs."""
    lines = []

    def tracer(frame, event, arg):
        if frame.f_code.co_name == "traced":
            lines.append((event, frame.f_lineno))
        return tracer

    def traced(x):
        y = x + 1
        if y.ndim:
            y = y * 2
        return y

    compiled = Compiled(traced)
    compiled(A)
    compiled(A)
    found = []
    for target in (traced, compiled.fn):
        lines.clear()
        before = sys.gettrace()
        sys.settrace(tracer)
        try:
            target(A)
        finally:
            sys.settrace(before)
        found.append(list(lines))
    assert found[0] == found[1]
    assert len(found[0]) >= 5


def test_deeply_nested_arguments():
    """Whether they are constants is asked level by level."""
    nested = np.int32
    for _ in range(100_000):
        nested = (nested, (1,))

    def fn(x, nested):
        try:
            np.dtype(nested)
        except RecursionError:
            x = x + 1.0
        return x * 2.0, nested

    with dyntrace.config.patch(everything=True, strict=True):
        compiled = dyntrace.compile(fn)
        for _ in range(2):
            result, same = compiled(A, nested)
            assert same is nested
            np.testing.assert_array_equal(result, fn(A, nested)[0])


def test_replaced_lines_and_names():
    """Code that another tool has rewritten: other lines, another file, another name."""

    def original(x, n):
        y = x * n
        if n > 5:
            raise ValueError(n)
        return y

    code = original.__code__.replace(co_firstlineno=5000, co_filename="elsewhere.py", co_name="other")
    rewritten = types.FunctionType(code, globals(), "other")
    for n in (2, 9):
        same(rewritten, lambda n=n: ((A.copy(), n), {}))


def test_copies_of_everything():
    """Objects whose copies are made while they are in use."""

    class Node:
        def __init__(self, value, after=None):
            self.value = value
            self.after = after

    def walk(x, node):
        other = copy.copy(node)
        other.value = other.value + 1
        return x + other.value, node.value, other.after is node.after

    same(walk, lambda: ((A.copy(), Node(1, Node(2))), {}))
