"""A second array library: everything that it needs goes through the public Python interface."""

from __future__ import annotations

import sys
from pathlib import Path

import dyntrace
import pytest
from dyntrace import adapters

sys.path.insert(0, str(Path(__file__).parent.parent))
import toyarray as ta

ta_add, ta_uniform = ta.add, ta.uniform


@pytest.fixture(autouse=True)
def registered():
    adapters.register(ta.ADAPTER)
    ta.set_saturate(False)
    dyntrace.reset()
    yield
    adapters.unregister(ta.ADAPTER)
    ta.set_saturate(False)


class Recorder:
    """A callable backend: keeps the graphs, runs them through the graph itself."""

    def __init__(self):
        self.graphs = []

    def __call__(self, graph, example_inputs):
        self.graphs.append(graph)
        return graph


@pytest.fixture(params=["eager", "callable"])
def backend(request):
    return "eager" if request.param == "eager" else Recorder()


def flat(value):
    """Anything that these functions return, as plain data."""
    if isinstance(value, ta.ToyArray):
        return type(value).__name__, value.device, value.shape, value.tolist()
    if isinstance(value, (tuple, list)):
        return type(value)(flat(item) for item in value)
    return value


def copied(value):
    if isinstance(value, ta.ToyArray):
        return type(value)(
            list(value.buffer), value.shape, value.offset, value.strides, value.device, value.frozen
        )
    return value


def run_both(function, backend, *args, fullgraph=True):
    """Plain and compiled (twice: traced, then warm) on equal arguments, with equal random numbers."""
    compiled = dyntrace.compile(function, backend=backend, fullgraph=fullgraph)
    ta.manual_seed(1)
    plain_args = [copied(a) for a in args]
    expected = flat(function(*plain_args))
    for _ in range(2):
        ta.manual_seed(1)
        own_args = [copied(a) for a in args]
        assert flat(compiled(*own_args)) == expected
        assert flat(own_args) == flat(plain_args)
    return compiled


def vec(n, device="host"):
    return ta.array([0.5 * i for i in range(n)], device)


def mat(m, n):
    return ta.ToyArray([float(i) for i in range(m * n)], (m, n))


def arithmetic(a, b):
    return (a + b) * 2.0 + -a


def by_name(a, b):
    return ta_add(a, ta.mul(b, 3.0))


def metadata(a):
    if a.device == "host" and a.ndim == 1:
        return a * float(len(a)), a.shape, a.dtype
    return a


def compared(a, b):
    return (a < b) + 1.0


def in_place(a, b):
    a += b
    a.add_(1.0)
    return a, a + b


def fresh_in_place(a):
    c = a * 2.0
    c.fill_(3.0)
    return c + a


def randoms(n):
    return ta_uniform(4) + ta_uniform(4)


def views(m):
    first = m[0]
    return first + m.T[1], m.T


def through_view(m):
    m[0].add_(10.0)
    return m + m


def item_written(m):
    m[1] = m[0]
    return m


def several(a):
    left, right = ta.halves(a)
    return right, left, ta.concat(left, right)


def moved(a):
    return (a + a).to("remote") + 1.0


def made(n):
    return ta.zeros(3, 2) + 1.0


def reduced(a):
    return a.total() + 1.0


CASES = {
    "arithmetic": (arithmetic, vec(4), vec(4)),
    "by_name": (by_name, vec(4), vec(4)),
    "metadata": (metadata, vec(5)),
    "compared": (compared, vec(4), vec(4)),
    "in_place": (in_place, vec(4), vec(4)),
    "fresh_in_place": (fresh_in_place, vec(4)),
    "randoms": (randoms, 4),
    "views": (views, mat(3, 3)),
    "through_view": (through_view, mat(3, 2)),
    "item_written": (item_written, mat(3, 2)),
    "several": (several, vec(6)),
    "moved": (moved, vec(4)),
    "made": (made, 3),
    "reduced": (reduced, vec(4)),
}


@pytest.mark.parametrize("name", CASES)
def test_same_as_plain(name, backend):
    function, *args = CASES[name]
    run_both(function, backend, *args)


def graphs_of(function, *calls):
    backend = Recorder()
    compiled = dyntrace.compile(function, backend=backend, fullgraph=True)
    for args in calls:
        assert flat(compiled(*args)) == flat(function(*args))
    return backend.graphs


def test_sizes_are_symbols():
    graphs = graphs_of(several, (vec(6),), (vec(7),), (vec(20),))
    assert len(graphs) == 1
    text = str(graphs[0])
    assert "toy.halves" in text and "//" in text  # sizes computed in Python, kept symbolic
    assert len(graphs_of(arithmetic, (vec(6), vec(6)), (vec(9), vec(9)))) == 1


def test_sizes_0_and_1_are_their_own():
    assert len(graphs_of(arithmetic, (vec(4), vec(4)), (vec(1), vec(1)), (vec(1), vec(1)))) == 2


def test_equal_sizes_are_guarded():
    compiled = dyntrace.compile(arithmetic, backend="eager")
    compiled(vec(4), vec(4))
    with pytest.raises(ValueError, match=r"shapes \(4,\) and \(3,\)"):
        compiled(vec(4), vec(3))


def test_device_rank_class_and_own_guard():
    frozen = vec(4)
    frozen.frozen = True
    mask = vec(4) < 1.0
    calls = [(vec(4),), (vec(4, "remote"),), (frozen,), (mask,), (mat(2, 2),)]
    assert len(graphs_of(metadata_free, *calls, *calls)) == len(calls)


def metadata_free(a):
    return a + 1.0


def test_mode_is_guarded():
    backend = Recorder()
    compiled = dyntrace.compile(metadata_free, backend=backend)
    assert compiled(vec(4)).tolist() == [1.0, 1.5, 2.0, 2.5]
    ta.set_saturate(True)
    assert compiled(vec(4)).tolist() == [1.0, 1.0, 1.0, 1.0]
    ta.set_saturate(False)
    assert compiled(vec(4)).tolist() == [1.0, 1.5, 2.0, 2.5]
    assert len(backend.graphs) == 2


def test_what_a_hook_raises_is_raised_plainly():
    compiled = dyntrace.compile(arithmetic, backend="eager")
    with pytest.raises(RuntimeError, match="arrays on host and remote"):
        compiled(vec(4), vec(4, "remote"))
    frozen = vec(4)
    frozen.frozen = True
    with pytest.raises(TypeError, match="frozen"):
        dyntrace.compile(in_place, backend="eager")(frozen, vec(4))


def test_refused_operations_break():
    def power(a):
        return a @ a

    with pytest.raises(dyntrace.Unsupported, match="operator @ of toy is not captured"):
        dyntrace.compile(power, backend="eager", fullgraph=True)(vec(4))


def test_effects_keep_their_order_and_unused_nodes_go():
    def function(a):
        a + 1.0
        ta_uniform(4)
        first = ta_uniform(4)
        a.add_(first)
        return ta_uniform(4) + a

    (graph,) = graphs_once(function, vec(4))
    targets = [node.target for node in graph if node.target]
    assert [t for t in targets if t in ("toy.uniform", "toy.add_")] == [
        "toy.uniform",
        "toy.uniform",
        "toy.add_",
        "toy.uniform",
    ]
    run_both(function, "eager", vec(4))


def graphs_once(function, *args):
    backend = Recorder()
    dyntrace.compile(function, backend=backend, fullgraph=True)(*args)
    return backend.graphs


def test_identity_of_results():
    compiled = dyntrace.compile(in_place, backend="eager", fullgraph=True)
    for _ in range(2):
        a = vec(4)
        assert compiled(a, vec(4))[0] is a


def test_symint_asks_and_answers():
    seen = []

    class Asking(ta.ToyAdapter):
        def unary(self, op, operand):
            (n,) = operand.shape
            seen.append(
                (repr(n), repr(n * 2 + 1), n > 2, n == 4, bool(n), abs(-n) == n, n % 2 == 0)
            )
            if n > 10:
                return NotImplemented
            return super().unary(op, operand)

    adapters.unregister(ta.ADAPTER)
    asking = Asking()
    adapters.register(asking)
    try:
        compiled = dyntrace.compile(lambda a: -a, backend="eager", fullgraph=True)
        assert compiled(vec(4)).tolist() == [-0.0, -0.5, -1.0, -1.5]
        assert compiled(vec(4)).tolist() == [-0.0, -0.5, -1.0, -1.5]
        assert len(seen) == 1
        compiled(vec(6))  # another answer to n == 4: traced again
        assert len(seen) == 2
        assert seen[0][2:] == (True, True, True, True, True)
        assert seen[1][2:] == (True, False, True, True, True)
        with pytest.raises(dyntrace.Unsupported):
            compiled(vec(12))
    finally:
        adapters.unregister(asking)
        adapters.register(ta.ADAPTER)


def test_symint_outlives_nothing():
    kept = []

    class Keeping(ta.ToyAdapter):
        def unary(self, op, operand):
            kept.append(operand.shape[0])
            return super().unary(op, operand)

    adapters.unregister(ta.ADAPTER)
    keeping = Keeping()
    adapters.register(keeping)
    try:
        dyntrace.compile(lambda a: -a, backend="eager")(vec(4))
        assert isinstance(kept[0], dyntrace.SymInt)
        with pytest.raises(RuntimeError, match="outside of the hook"):
            kept[0] + 1
        assert "finished trace" in repr(kept[0])
    finally:
        adapters.unregister(keeping)
        adapters.register(ta.ADAPTER)


def test_registration_is_checked():
    with pytest.raises(ValueError, match="'toy' is registered already"):
        adapters.register(ta.ToyAdapter())
    with pytest.raises(TypeError, match="expected an object with the attribute"):
        adapters.register(object())
    with pytest.raises(ValueError, match="not registered"):
        adapters.unregister(ta.ToyAdapter())

    class Nameless(adapters.Adapter):
        pass

    with pytest.raises(TypeError, match="non-empty string"):
        adapters.register(Nameless())


@pytest.mark.parametrize(
    "answer",
    [
        adapters.Meta(ta.ToyArray, "float", (4,)),
        adapters.Op(ta.add, (adapters.Meta(ta.ToyArray, "float", (4,)),)),
        adapters.Op(ta.add, (), effect="nonsense"),
        adapters.Op(ta.add, (), mutates=(7,)),
        adapters.Op(ta.add, (), aliases={3: 0}),
        adapters.Op(ta.add, (), results=adapters.Meta(ta.ToyArray, "float", (-1,))),
    ],
)
def test_nonsense_from_an_adapter_never_reaches_the_program(answer):
    class Bad(ta.ToyAdapter):
        def unary(self, op, operand):
            return answer

    adapters.unregister(ta.ADAPTER)
    bad = Bad()
    adapters.register(bad)
    try:
        assert dyntrace.compile(lambda a: -a, backend="eager")(vec(2)).tolist() == [-0.0, -0.5]
    finally:
        adapters.unregister(bad)
        adapters.register(ta.ADAPTER)


def test_explain_names_the_guards():
    compiled = dyntrace.compile(metadata_free, backend="eager")
    compiled(vec(4))
    text = str(dyntrace.explain(metadata_free)(vec(4)))
    assert "L['a']: ToyArray of float, sizes (None,), device host" in text
    assert "toy.add" in text
