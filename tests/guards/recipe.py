"""Guard programs from recipes written in Python, for the tests beside this file."""

from __future__ import annotations

from dyntrace._core import _testing


class Recipe:
    """Collects sources, symbols and facts for one function; see src/module/testing_guards.c."""

    def __init__(self, function):
        self.function = function
        self.sources = []
        self.symbols = []
        self.facts = []
        self.wanted = []

    def source(self, kind, base=-1, key=None, index=0):
        row = (kind, base, key, index)
        for i, other in enumerate(self.sources):
            if other[:2] == row[:2] and other[2] is key and other[3] == index:
                return i
        self.sources.append(row)
        return len(self.sources) - 1

    def local(self, name):
        names = self.function.__code__.co_varnames
        return self.source("LOCAL", key=name, index=names.index(name))

    def free(self, name, kind="LOCAL_DEREF"):
        code = self.function.__code__
        first = len(set(code.co_varnames) | set(code.co_cellvars))
        return self.source(kind, key=name, index=first + code.co_freevars.index(name))

    def glob(self, name):
        return self.source("GLOBAL", key=name)

    def attr(self, base, name):
        return self.source("ATTR", base, name)

    def dim(self, base, index=0):
        return self.source("ARRAY_DIM", base, None, index)

    def symbol(self, source, kind, hint):
        self.symbols.append((source, kind, hint))
        return ("SYMBOL", len(self.symbols) - 1)

    def fact(self, kind, source, argument=None):
        self.facts.append((kind, source, argument))
        return self

    def want(self, *sources):
        self.wanted.extend(sources)
        return self

    def build(self):
        capsule = _testing.guards_program(
            self.function, self.sources, self.symbols, self.facts, self.wanted
        )
        return Program(capsule, self.function, len(self.wanted))


class Program:
    """A lowered guard program."""

    def __init__(self, capsule, function, nwanted):
        self.capsule = capsule
        self.function = function
        self.nwanted = nwanted

    def _frame(self, args, function):
        return function or self.function, list(args)

    def check(self, *args, function=None):
        """None if the guards fail, else the list of wanted values."""
        values = _testing.guards_check(self.capsule, *self._frame(args, function), self.nwanted)
        text = self.explain(*args, function=function)
        assert (text == "") == (values is not None), text
        return values

    def holds(self, *args, function=None):
        return self.check(*args, function=function) is not None

    def explain(self, *args, function=None):
        return _testing.guards_explain(self.capsule, *self._frame(args, function))

    def time(self, *args, count=1_000_000):
        return _testing.guards_time(self.capsule, *self._frame(args, None), count)

    @property
    def text(self):
        return _testing.guards_print(self.capsule)

    @property
    def dead(self):
        return _testing.guards_is_dead(self.capsule)

    def to_bytes(self):
        return _testing.guards_to_bytes(self.capsule)

    @classmethod
    def from_bytes(cls, data, function, nwanted, *args):
        capsule = _testing.guards_from_bytes(data, function, list(args))
        return cls(capsule, function, nwanted)

    def round_trip(self, *args):
        """The program written and read again, its identities resolved on this frame."""
        return self.from_bytes(self.to_bytes(), self.function, self.nwanted, *args)
