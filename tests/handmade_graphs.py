"""Graphs made by hand, shared by tests. No adapter and no library is needed:
an array here is any class with a dtype and a shape."""

from __future__ import annotations

import operator

from dyntrace._core import _testing

PURE, CALLED, RANDOM, MUTATES = range(4)


class Array:
    """Stands for a library's array class."""


class Scalar:
    """Stands for what a reduction gives."""


def meta(*shape, cls=Array, dtype="f8", device=None):
    """Metadata of a value; a size is an int or (name, hint)."""
    return (cls, dtype, shape, None, device)


N = ("n", 5)
M = ("m", 5)


def build(steps, outputs, name="made"):
    return _testing.graph_build(name, steps, outputs)


def call(name, target, args, *results, callee=operator.add, **options):
    return ("call", name, target, callee, args, results or (meta(N),), options)


def chain():
    """mul and add over one array and one number; the usual case."""
    return build(
        [
            ("input", "x", meta(N, 3)),
            ("number", "gain", 2.5),
            call("a", "toy.multiply", ["x", "gain"], meta(N, 3), callee=operator.mul),
            call("b", "toy.add", ["a", 1.0], meta(N, 3)),
        ],
        ["b"],
        "chain",
    )


def everything():
    """Each kind of operand, effect, several results, a view, sizes and numbers computed."""
    return build(
        [
            ("input", "x", meta(N, 3)),
            ("input", "y", meta(M, 3)),
            ("number", "gain", 2.5),
            ("number", "count", 7),
            call("a", "toy.multiply", ["x", "gain"], meta(N, 3), callee=operator.mul),
            call("unused", "toy.add", ["a", 1.0], meta(N, 3)),
            call("dead", "toy.reshape", ["a", -1], meta(15), aliases=((0, 0),)),
            call(
                "s",
                "toy.add.reduce",
                [
                    "a",
                    ("tuple", [0, ("sym", "ADD", "count", ("int", 1))]),
                    ("slice", [None, "count", 2]),
                ],
                meta(cls=Scalar),
                kwnames=("axis", "where"),
            ),
            call(
                "parts",
                "toy.split",
                ["y"],
                meta(M, 3),
                meta(M, device="d0"),
                callee=divmod,
                effect=CALLED,
            ),
            call(
                "noise",
                "toy.noise",
                [("list", ["y", None]), ("dict", [("const", "k"), "x"])],
                meta(M),
                effect=RANDOM,
            ),
            call(
                "v", "toy.view", ["x", ("const", (1, "t", b"b", -0.0))], meta(3), aliases=((0, 0),)
            ),
            call("w", "toy.write", ["v", Ellipsis], meta(3), effect=MUTATES, mutated=(0,)),
        ],
        ["s", ("result", "parts", 1), ("sym", "MUL", "count", "count")],
        "everything",
    )


def nested(depth=3):
    """A value and a number of the outermost tracer used in the innermost of `depth` bodies."""
    steps = [
        ("input", "x", meta(N)),
        ("number", "gain", 2.5),
        call("a", "toy.multiply", ["x", 2.0], meta(N)),
    ]
    steps += [("push", f"body{i}") for i in range(1, depth + 1)]
    steps.append(call("inner", "toy.add", ["a", "gain"], meta(N)))
    previous = "inner"
    for i in range(depth, 0, -1):
        steps.append(("pop", f"g{i}", [previous]))
        steps.append(call(f"r{i}", "toy.invoke", [f"g{i}"], meta(N)))
        previous = f"r{i}"
    return build(steps, [previous], "nested")


GRAPHS = {"chain": chain, "everything": everything, "nested": nested}
