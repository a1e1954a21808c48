"""Running dispatchers over trackers from Python: see src/module/testing_variables.c."""

from __future__ import annotations

from dyntrace import _core

testing = _core._testing

BINARY = {
    name: number
    for number, name in enumerate(
        "+ & // << @ * % | ** >> - / ^ += &= //= <<= @= *= %= |= **= >>= -= /= ^=".split()
    )
}
COMPARE = {"<": 0, "<=": 1, "==": 2, "!=": 3, ">": 4, ">=": 5}


def host(x0, x1, x2, x3, x4, x5, x6, x7):
    """Its arguments are where inputs are read from."""


class Row:
    """One result: what the trace knows about the value."""

    def __init__(self, row):
        self.kind, self.text, self.constant, self.type = row


class Run:
    def __init__(self, answer):
        self.rows = [Row(row) for row in answer["results"]]
        self.broken = answer["break"]
        self.guards = answer["guards"].splitlines()

    @property
    def last(self):
        assert self.broken is None, self.broken
        return self.rows[-1]


def run(inputs, *program):
    """`inputs` are (how, object) pairs or plain objects, which are inputs."""
    pairs = [
        i if isinstance(i, tuple) and i and i[0] in ("input", "known", "const") else ("input", i)
        for i in inputs
    ]
    return Run(testing.trace_program(host, pairs, list(program)))
