"""Graphs of traced NumPy functions: run as they are, and run by another process that reads them."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys

import pytest

np = pytest.importorskip("numpy")

import dyntrace  # noqa: E402
from golden import functions  # noqa: E402


def capture(name):
    """The graph of a golden function, its inputs, and its outputs in this process."""
    function, make = functions.CASES[name]
    seen = []

    def backend(graph, example_inputs):
        def run(*inputs):
            outputs = graph(*inputs)
            seen.append((graph, inputs, outputs))
            return outputs

        return run

    dyntrace.compile(function, backend=backend)(*make())
    ((graph, inputs, outputs),) = seen
    return graph, inputs, outputs


def bits(values):
    return [
        (type(v).__name__, np.asarray(v).dtype.str, np.asarray(v).shape, np.asarray(v).tobytes())
        for v in values
    ]


@pytest.mark.parametrize("name", functions.CASES)
def test_a_graph_read_back_computes_the_same(name):
    graph, inputs, outputs = capture(name)
    again = dyntrace.Graph.from_bytes(graph.to_bytes())
    assert str(again) == str(graph)
    assert bits(again(*inputs)) == bits(outputs)
    assert again.bind(*inputs) == graph.bind(*inputs)
    again.lint()


PROGRAM = """
import pickle, sys, dyntrace
for data, inputs in pickle.load(open(sys.argv[1], "rb")):
    graph = dyntrace.Graph.from_bytes(data)
    values = graph(*inputs)
    pickle.dump([(type(v).__name__, v) for v in values], sys.stdout.buffer)
"""


def test_another_process_runs_them(tmp_path):
    captured = [capture(name) for name in functions.CASES]
    path = tmp_path / "graphs"
    path.write_bytes(pickle.dumps([(graph.to_bytes(), inputs) for graph, inputs, _ in captured]))
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(path)], capture_output=True, env=env)
    assert done.returncode == 0, done.stderr.decode()
    import io

    stream = io.BytesIO(done.stdout)
    for _, _, outputs in captured:
        answer = pickle.load(stream)
        assert [kind for kind, _ in answer] == [type(v).__name__ for v in outputs]
        assert bits([v for _, v in answer]) == bits(outputs)


@pytest.mark.parametrize("name", functions.CASES)
def test_no_address_in_the_bytes(name):
    first, second = capture(name)[0].to_bytes(), capture(name)[0].to_bytes()
    assert first == second
    for number in (id(np), id(np.add), id(functions)):
        assert number.to_bytes(8, "little") not in first


def test_sizes_follow_the_inputs():
    graph, inputs, _ = capture("chain")
    bigger = np.ones((5, 7))
    (answer,) = graph(bigger)
    assert answer.shape == (5, 7)
    assert graph.bind(bigger) == {"s0": 5, "s1": 7}
    with pytest.raises(TypeError, match="must be an array"):
        graph.bind([1, 2])


def test_lines_are_those_of_the_user():
    graph, _, _ = capture("unused")
    first = functions.unused.__code__.co_firstlineno
    assert [(n.line, n.file) for n in graph if n.op == "call"] == [
        (first + 1, functions.__file__),
        (first + 2, functions.__file__),
    ]
    again = dyntrace.Graph.from_bytes(graph.to_bytes())
    assert [(n.line, n.file) for n in again] == [(n.line, n.file) for n in graph]
