"""Graphs as bytes: nothing is lost, nothing in them is an address, damaged ones give ValueError."""

from __future__ import annotations

import copy
import os
import pickle
import random
import subprocess
import sys

import dyntrace
import pytest
from dyntrace._core import _testing
from handmade_graphs import GRAPHS, N, build, call, chain, everything, meta


@pytest.mark.parametrize("name", GRAPHS)
def test_there_and_back(name):
    graph = GRAPHS[name]()
    data = graph.to_bytes()
    again = dyntrace.Graph.from_bytes(data)
    assert str(again) == str(graph)
    assert again.to_bytes() == data, "a graph that was read is written the same"
    assert GRAPHS[name]().to_bytes() == data, "so is the same graph made anew"
    for a, b in zip(graph, again):
        assert (a.op, a.name, a.target, a.callee, a.effect) == (
            b.op,
            b.name,
            b.target,
            b.callee,
            b.effect,
        )
        assert (a.line, a.file, a.source) == (b.line, b.file, b.source)


@pytest.mark.parametrize("name", GRAPHS)
def test_another_process_reads_it(name, tmp_path):
    path = tmp_path / "graph"
    path.write_bytes(GRAPHS[name]().to_bytes())
    program = "import sys, dyntrace; print(dyntrace.Graph.from_bytes(open(sys.argv[1], 'rb').read()), end='')"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, env=env
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == str(GRAPHS[name]())


def test_pickle_and_copy():
    graph = chain()
    assert str(pickle.loads(pickle.dumps(graph))) == str(graph)
    assert str(copy.copy(graph)) == str(graph) == str(copy.deepcopy(graph))


@pytest.mark.parametrize(
    "constant",
    [
        None,
        True,
        2**200,
        -(2**63),
        2**63 - 1,
        0.0,
        -0.0,
        float("inf"),
        "\ud800",
        "häß",
        b"\0\xff",
        1 + 2j,
        Ellipsis,
        frozenset({1}),
        range(3),
        slice(1, None, 2),
        (),
        ((1, "a"), ()),
        int,
        len,
        "".join,
        [].append.__self__.__class__,
    ],
    ids=lambda value: getattr(value, "__qualname__", None) or repr(value),
)
def test_constants(constant):
    graph = build(
        [("input", "x", meta(N)), call("a", "toy.add", ["x", ("const", constant)])], ["a"]
    )
    again = dyntrace.Graph.from_bytes(graph.to_bytes()).nodes[1].args[1]
    assert type(again) is type(constant) and again == constant and repr(again) == repr(constant)


def test_not_a_number_keeps_its_bits():
    nan = float("nan")
    graph = build([("input", "x", meta(N)), call("a", "toy.add", ["x", nan])], ["a"])
    again = dyntrace.Graph.from_bytes(graph.to_bytes()).nodes[1].args[1]
    assert again != again


def test_shared_objects_are_written_once():
    big = ("const", "z" * 1000)
    graph = build(
        [
            ("input", "x", meta(N)),
            call("a", "toy.add", ["x", big]),
            call("b", "toy.add", ["a", big]),
        ],
        ["b"],
    )
    assert len(graph.to_bytes()) < 2000


def test_a_local_function_is_refused():
    def callee():
        pass

    graph = build([("input", "x", meta(N)), call("a", "toy.add", ["x"], callee=callee)], ["a"])
    with pytest.raises(ValueError, match="can't be written"):
        graph.to_bytes()


def test_wrong_arguments():
    with pytest.raises(TypeError, match="bytes"):
        dyntrace.Graph.from_bytes("text")
    for data in (
        b"",
        b"dtgraph1",
        b"nonsense" * 9,
        chain().to_bytes()[:-1],
        chain().to_bytes() + b"x",
    ):
        with pytest.raises(ValueError):
            dyntrace.Graph.from_bytes(data)


def test_a_missing_import_is_a_value_error():
    data = chain().to_bytes()
    assert b"\x0fhandmade_graphs" in data
    with pytest.raises(ValueError) as error:
        dyntrace.Graph.from_bytes(
            _testing.graph_reseal(data.replace(b"handmade_graphs", b"handmade_graphz"))
        )
    assert isinstance(error.value.__cause__, ImportError)


def read(data):
    """True if the bytes are a graph; anything but ValueError is a fault of the reader."""
    try:
        graph = dyntrace.Graph.from_bytes(data)
    except ValueError:
        return False
    graph.lint()
    str(graph)
    return True


@pytest.mark.parametrize("name", GRAPHS)
def test_every_cut(name):
    data = GRAPHS[name]().to_bytes()
    for size in range(16, len(data)):
        assert not read(_testing.graph_reseal(data[:size]))


@pytest.mark.parametrize("name", GRAPHS)
def test_damaged_bytes(name):
    data = GRAPHS[name]().to_bytes()
    # Text of import paths is left alone: a changed one would import whatever it names.
    rng = random.Random(5)
    places = [i for i in range(16, len(data)) if not chr(data[i]).isalpha()]
    for _ in range(4000):
        damaged = bytearray(data)
        for place in rng.sample(places, rng.choice((1, 1, 2, 4))):
            damaged[place] = rng.choice((0, 1, 2, 127, 128, 255, rng.randrange(256)))
        read(_testing.graph_reseal(bytes(damaged)))


def test_a_wrong_checksum_is_enough():
    data = bytearray(everything().to_bytes())
    data[40] ^= 1
    with pytest.raises(ValueError, match="checksum"):
        dyntrace.Graph.from_bytes(bytes(data))
