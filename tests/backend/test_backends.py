"""Choosing backends: names, callables, their mistakes; the op-by-op executor."""

from __future__ import annotations

import dyntrace
import numpy as np
import pytest


def chain(a, b):
    t = a * b + 1.0
    return t.sum(), t / 2, t[1:].T


A = np.arange(6.0).reshape(2, 3)


def check(compiled):
    for _ in range(3):
        for got, expected in zip(compiled(A, A), chain(A, A)):
            assert type(got) is type(expected)
            np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("backend", ["native", "eager"])
def test_builtin(backend):
    check(dyntrace.compile(chain, backend=backend))


def test_unknown_name_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"backend.*'nativ'.*native, eager"):
        dyntrace.compile(chain, backend="nativ")


@pytest.mark.parametrize("backend", [1, None, b"native", ["eager"]])
def test_wrong_type_names_the_argument(backend):
    with pytest.raises(TypeError, match="backend"):
        dyntrace.compile(chain, backend=backend)


def test_callable_gets_graph_and_examples():
    seen = []

    def backend(graph, example_inputs):
        seen.append((graph, example_inputs))

        def run(a, *rest):
            t = a * (rest or (a,))[0] + 1.0
            results = {"numpy.add.reduce": t.sum(), "numpy.divide": t / 2, "ndarray.transpose": t[1:].T}
            return [results[node.target] for node in list(graph)[-1].args]

        return run

    compiled = dyntrace.compile(chain, backend=backend)
    check(compiled)
    (graph, examples), *rest = seen
    assert not rest
    assert isinstance(graph, dyntrace.Graph)
    assert len(examples) >= 1 and all(x is A for x in examples)


def test_options_are_handed_over():
    seen = []

    def backend(graph, example_inputs, *, options):
        seen.append(options)
        return lambda x: (x + 1,)

    compiled = dyntrace.compile(lambda x: x + 1, backend=backend, options={"level": 3})
    assert compiled(A).tolist() == (A + 1).tolist()
    assert seen == [{"level": 3}]


def test_a_backend_that_raises():
    def backend(graph, example_inputs):
        raise KeyError("no such op")

    def f(x):
        return x + 1

    compiled = dyntrace.compile(f, backend=backend)
    with pytest.raises(dyntrace.BackendError, match=r"backend.*KeyError.*no such op") as info:
        compiled(A)
    assert isinstance(info.value.__cause__, KeyError)
    assert f(A).tolist() == (A + 1).tolist()


@pytest.mark.parametrize("error", [MemoryError, KeyboardInterrupt])
def test_memory_errors_and_interrupts_stay_what_they_are(error):
    def backend(graph, example_inputs):
        raise error

    with pytest.raises(error):
        dyntrace.compile(lambda x: x + 1, backend=backend)(A)


@pytest.mark.parametrize("nonsense", [None, 3, "text", (1,)])
def test_a_backend_that_returns_no_callable(nonsense):
    with pytest.raises(dyntrace.BackendError, match="expected a callable"):
        dyntrace.compile(lambda x: x + 1, backend=lambda graph, inputs: nonsense)(A)


@pytest.mark.parametrize("nonsense", [None, 3, (), (1, 2), [1, 2, 3], A])
def test_a_compiled_callable_that_returns_nonsense(nonsense):
    compiled = dyntrace.compile(lambda x: x + 1, backend=lambda graph, inputs: lambda *args: nonsense)
    with pytest.raises(dyntrace.BackendError, match=r"expected"):
        compiled(A)


def test_errors_of_a_compiled_callable_are_the_users_own():
    def run(*args):
        raise LookupError("at run time")

    compiled = dyntrace.compile(lambda x: x + 1, backend=lambda graph, inputs: run)
    with pytest.raises(LookupError, match="at run time"):
        compiled(A)


def test_registered_by_name():
    def backend(graph, example_inputs):
        return lambda x: (x + 1,)

    dyntrace.register_backend("plus_one", backend)
    assert "plus_one" in dyntrace.list_backends()
    assert dyntrace.compile(lambda x: x + 1, backend="plus_one")(A).tolist() == (A + 1).tolist()
    with pytest.raises(ValueError, match="builtin"):
        dyntrace.register_backend("native", backend)
    with pytest.raises(TypeError, match="callable"):
        dyntrace.register_backend("other", 3)
    with pytest.raises(TypeError, match="name"):
        dyntrace.register_backend(3, backend)
