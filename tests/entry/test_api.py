"""Arguments of the public functions, explain, logs and errors of backends."""

import functools

import dyntrace
import pytest

np = pytest.importorskip("numpy")


def chain(x, y):
    return (x * 2.0 + y) / 3.0


@pytest.mark.parametrize(
    "kwargs, error, name",
    [
        ({"backend": "nonsense"}, ValueError, "native"),
        ({"backend": 3}, TypeError, "backend"),
        ({"fullgraph": "yes"}, TypeError, "fullgraph"),
        ({"dynamic": 2}, TypeError, "dynamic"),
        ({"name": 1}, TypeError, "name"),
        ({"options": []}, TypeError, "options"),
    ],
)
def test_wrong_options_are_named(kwargs, error, name):
    with pytest.raises(error, match=name):
        dyntrace.compile(chain, **kwargs)


@pytest.mark.parametrize("target", [3, "text", int, type("C", (), {})])
def test_wrong_targets_are_named(target):
    with pytest.raises(TypeError, match="fn: expected"):
        dyntrace.compile(target)


def test_builtin_callables_come_back_unchanged():
    assert dyntrace.compile(len) is len
    assert dyntrace.compile(np.add) is np.add


def test_explain_tells():
    x = np.arange(4.0)
    out = dyntrace.explain(chain)(x, x)
    assert out.result.tobytes() == chain(x, x).tobytes()
    assert out.graph_count == 1
    assert out.break_count == 0
    assert out.ops == 3
    assert out.frameless
    assert set(out.phases) == {"trace", "plan", "guards", "backend", "assemble"}
    assert all(ns > 0 for ns in out.phases.values())
    assert any("L['x']" in line and "test_api.py" in line for line in out.guards)
    text = str(out)
    assert "numpy.multiply" in text
    assert out.bytecode()


class Loud:
    def __repr__(self):
        raise AssertionError("asked for its text")


def test_the_text_of_rewritten_code_asks_no_object():
    x, loud, many = np.arange(4.0), Loud(), list(range(1000))

    def fn(x):
        many.append(loud)
        return x * 2, loud, many, "a" * 200

    text = dyntrace.explain(fn)(x).bytecode()
    assert "LOAD_CONST" in text and len(text) < 4000



def test_explain_of_a_compiled_function_keeps_its_backend():
    seen = []

    def backend(graph, example_inputs):
        seen.append(len(example_inputs))
        return graph

    fn = dyntrace.compile(chain, backend=backend)
    out = dyntrace.explain(fn)(np.ones(3), np.ones(3))
    assert seen == [2]
    assert out.graph_count == 1
    assert fn.cache_entries() == []


def branchy(x):
    y = x * 2.0
    if y.sum() > 0:
        return y
    return x


def test_a_break_runs_plainly_and_is_told():
    x = np.arange(4.0)
    with dyntrace.config.patch(guess_limit=0):
        out = dyntrace.explain(branchy)(x)
    assert out.result.tobytes() == branchy(x).tobytes()
    (reason,) = out.breaks
    assert reason.id == "array-branch"
    assert reason.line == branchy.__code__.co_firstlineno + 2
    assert reason.file == __file__
    assert reason.advice


def test_fullgraph_raises_the_text_of_the_log(capfd):
    x = np.arange(4.0)
    fn = dyntrace.compile(branchy, fullgraph=True)
    with dyntrace.config.patch(logs="graph_breaks"):
        with pytest.raises(dyntrace.Unsupported) as error:
            fn(x)
    assert error.value.id == "array-branch"
    assert error.value.lineno == branchy.__code__.co_firstlineno + 2
    logged = capfd.readouterr().err
    for line in str(error.value).splitlines():
        assert line in logged


def test_logs(capfd):
    x = np.arange(4.0)
    with dyntrace.config.patch(logs="graph,guards,bytecode,recompiles"):
        fn = dyntrace.compile(chain)
        fn(x, x)
        fn(x.astype("f4"), x.astype("f4"))
    text = capfd.readouterr().err
    assert "numpy.multiply" in text
    assert "L['x']" in text
    assert "RETURN_VALUE" in text
    assert "recompiling" in text
    with pytest.raises(ValueError, match="nonsense.*graph_breaks"):
        dyntrace.config.logs = "nonsense"


@pytest.mark.parametrize(
    "backend, cause",
    [
        (lambda graph, inputs: 1 / 0, ZeroDivisionError),
        (lambda graph, inputs: None, None),
        (lambda graph, inputs: lambda *a: (1, 2, 3), None),
        (lambda graph, inputs: lambda *a: 5, None),
    ],
)
def test_bad_backends_raise_backend_error(backend, cause):
    x = np.arange(4.0)
    fn = dyntrace.compile(chain, backend=backend)
    with pytest.raises(dyntrace.BackendError) as error:
        fn(x, x)
    if cause is not None:
        assert isinstance(error.value.__cause__, cause)
    assert fn.__wrapped__(x, x).tobytes() == chain(x, x).tobytes()


def test_callable_backend_gets_graph_examples_and_options():
    calls = []

    def backend(graph, example_inputs, *, options):
        calls.append((graph, example_inputs, options))
        return functools.partial(run, graph)

    def run(graph, *inputs):
        calls.append(len(inputs))
        return graph(*inputs)

    x = np.arange(4.0)
    fn = dyntrace.compile(chain, backend=backend, options={"level": 2})
    for _ in range(3):
        assert fn(x, x + 1).tobytes() == chain(x, x + 1).tobytes()
    graph, examples, options = calls[0]
    assert isinstance(graph, dyntrace.Graph)
    assert [e.tobytes() for e in examples] == [x.tobytes(), (x + 1).tobytes()]
    assert options == {"level": 2}
    assert calls[1:] == [2, 2, 2]


def test_registered_backends_are_listed():
    dyntrace.register_backend("test-api", lambda graph, inputs: graph)
    assert {"native", "eager", "test-api"} <= set(dyntrace.list_backends())
    x = np.arange(4.0)
    assert dyntrace.compile(chain, backend="test-api")(x, x).tobytes() == chain(x, x).tobytes()
    with pytest.raises(ValueError, match="builtin"):
        dyntrace.register_backend("native", lambda graph, inputs: graph)


def test_disable_and_is_compiling():
    @dyntrace.disable
    def helper(a):
        return a + 1.0

    def calls_helper(a):
        return helper(a) * 2.0

    def asks(a):
        return a * 2.0 if dyntrace.is_compiling() else a * 3.0

    x = np.arange(4.0)
    out = dyntrace.explain(calls_helper)(x)
    assert [b.id for b in out.breaks] == ["skipped-function"]
    assert out.result.tobytes() == calls_helper(x).tobytes()
    assert dyntrace.is_compiling() is False
    assert dyntrace.compile(asks)(x).tobytes() == (x * 2.0).tobytes()
    assert asks(x).tobytes() == (x * 3.0).tobytes()


def test_config_rejects_nonsense():
    with pytest.raises(AttributeError, match="no setting"):
        dyntrace.config.nonsense = 1
    with pytest.raises(TypeError, match="recompile_limit"):
        dyntrace.config.recompile_limit = "8"
    with pytest.raises(ValueError, match="trace_limit"):
        dyntrace.config.trace_limit = -1


def test_errors_of_array_code_are_numpys_from_the_users_line():
    fn = dyntrace.compile(chain)
    x = np.arange(4.0)
    fn(x, x)
    with pytest.raises(ValueError) as plain:
        chain(x, np.ones(3))
    for _ in range(2):
        with pytest.raises(ValueError) as compiled:
            fn(x, np.ones(3))
        assert str(compiled.value) == str(plain.value)
        assert compiled.traceback[-1].lineno == plain.traceback[-1].lineno
        assert compiled.traceback[-1].path == plain.traceback[-1].path
