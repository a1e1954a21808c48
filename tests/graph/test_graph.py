"""The graph's own rules: building, finishing, lint, nested tracers, and the Python types."""

from __future__ import annotations

import gc
import operator
import weakref

import dyntrace
import pytest
from dyntrace._core import _testing
from handmade_graphs import GRAPHS, Array, M, N, build, call, chain, everything, meta, nested


@pytest.fixture(params=["built", "read back"])
def again(request):
    """Every test of a graph runs once more on what to_bytes and from_bytes make of it."""
    if request.param == "built":
        return lambda graph: graph
    return lambda graph: type(graph).from_bytes(graph.to_bytes())


def test_text(again):
    assert str(again(chain())).splitlines() == [
        "graph chain:",
        "    x: f8[s0, 3] = input G['x']",
        "    f1: float = input G['gain']",
        "    multiply = toy.multiply(x, f1): f8[s0, 3]",
        "    add = toy.add(multiply, 1.0): f8[s0, 3]",
        "    return (add,)",
    ]


def test_nodes(again):
    graph = again(chain())
    x, mul, add, output = graph
    assert [node.op for node in graph] == ["input", "call", "call", "output"]
    assert [node.name for node in graph.nodes] == ["x", "multiply", "add", "output"]
    assert len(graph) == 4 and graph.name == "chain"
    assert mul.callee is operator.mul and mul.target == "toy.multiply"
    assert mul.args[0] == x and str(mul.args[1]) == "f1"
    assert add.args == (mul, 1.0) and output.args == (add,) == graph.outputs
    assert x.users == (mul,) and add.users == (output,)
    assert x.source == "G['x']" and mul.source is None
    assert x.graph is graph
    assert {x: 1}[graph.nodes[0]] == 1
    assert mul.meta.shape[1] == 3 and str(mul.meta.shape[0]) == "s0"
    assert mul.meta.hint == (5, 3) and mul.meta.ndim == 2 and mul.meta.dtype == "f8"
    assert mul.meta.type is Array and mul.meta.device is None


def test_inputs_and_symbols(again):
    graph = again(chain())
    x, gain = graph.inputs
    assert x.op == "input"
    assert gain.source == "G['gain']" and gain.hint == 2.5 and gain.type is float
    assert graph.symbols == {"s0": (0, 0, 5), "f1": (1, None, 2.5)}


def test_everything(again):
    graph = again(everything())
    nodes = {node.name: node for node in graph}
    assert "add" in nodes, "it may warn, so it is computed although nobody uses it"
    assert "reshape" not in nodes, "nobody can tell whether a view was made"
    reduce = nodes["add_reduce"]
    axis = reduce.kwargs["axis"]
    assert axis[0] == 0 and str(axis[1]) == "s3 + 1"
    assert axis[1].evaluate({"s0": 1, "s1": 1, "f2": 0.5, "s3": 41}) == 42
    where = reduce.kwargs["where"]
    assert (where.start, str(where.stop), where.step) == (None, "s3", 2)
    split = nodes["split"]
    assert split.effect == "called" and len(split.meta) == 2
    assert split.meta[1].device == "d0"
    part = graph.outputs[1]
    assert part.name == "split" and part.result == 1 and part != split
    assert part.meta.ndim == 1
    noise = nodes["noise"]
    assert noise.effect == "random" and noise.args == ([nodes["y"], None], {"k": nodes["x"]})
    view, write = nodes["view"], nodes["write"]
    assert view.aliases == ((0, nodes["x"]),)
    assert view.args[1] == (1, "t", b"b", -0.0)
    assert write.effect == "mutates" and write.mutated == (view,) and write.args[1] is Ellipsis
    order = [node.name for node in graph if node.effect != "pure"]
    assert order == ["split", "noise", "write"]
    assert str(graph.outputs[2]) == "s3*s3"
    assert graph.lint() is None


def test_dead_inputs_go_and_numbers_are_renumbered():
    graph = build(
        [
            ("input", "unused", meta(M)),
            ("number", "skipped", 3),
            ("input", "x", meta(N)),
            ("number", "k", 4),
            call("dead", "toy.window", ["unused", "skipped"], meta(M), aliases=((0, 0),)),
            call("a", "toy.add", ["x", "k"]),
        ],
        ["a"],
    )
    assert [getattr(i, "name", str(i)) for i in graph.inputs] == ["x", "s3"]
    assert graph.symbols == {"s2": (0, 0, 5), "s3": (1, None, 4)}
    assert [node.name for node in graph] == ["x", "add", "output"]


def test_an_array_stays_for_its_size():
    graph = build(
        [("input", "x", meta(N, M)), ("input", "y", meta(3))],
        [("sym", "ADD", "n", ("int", 1)), "y"],
    )
    assert [i.name for i in graph.inputs] == ["x", "y"]
    assert graph.symbols["s0"] == (0, 0, 5)


def test_equal_symbols_have_one_provider():
    graph = build(
        [
            ("input", "dead", meta(N)),
            ("input", "x", meta(M)),
            ("unify", "n", "m"),
            call("a", "toy.add", ["x", "n"], meta(M)),
        ],
        ["a", ("sym", "SUB", "n", "m")],
    )
    assert [i.name for i in graph.inputs] == ["x"]
    assert len(graph.symbols) == 1
    assert graph.outputs[1] == 0
    (name,) = graph.symbols
    assert str(graph.nodes[0].meta.shape[0]) == name == str(graph.nodes[1].args[1])


MORE = ("k", 6)


@pytest.mark.parametrize("turned", [False, True])
def test_an_expression_stands_for_a_younger_symbol(turned):
    sides = ["k", ("sym", "ADD", "n", ("int", 1))]
    graph = build(
        [
            ("input", "x", meta(N)),
            ("input", "y", meta(MORE)),
            ("unify", *(reversed(sides) if turned else sides)),
            call("a", "toy.add", ["y", "x"], meta(MORE)),
        ],
        ["a", ("sym", "SUB", "k", ("int", 3)), ("sym", "SUB", "k", ("int", 1))],
    )
    assert [i.name for i in graph.inputs] == ["x", "y"]
    assert list(graph.symbols) == ["s0"]
    assert str(graph.nodes[1].meta.shape[0]) == str(graph.nodes[2].meta.shape[0]) == "s0 + 1"
    assert [str(size) for size in graph.outputs[1:]] == ["s0 - 2", "s0"]


def test_nothing_stands_for_itself():
    graph = build(
        [
            ("input", "x", meta(N)),
            ("input", "y", meta(MORE)),
            ("unify", "k", ("sym", "ADD", "n", ("int", 1))),
            ("unify", "n", ("sym", "SUB", "k", ("int", 1))),
            ("unify", ("sym", "ADD", "n", ("int", 3)), ("sym", "ADD", "k", ("int", 2))),
            call("a", "toy.add", ["x", "y"], meta(MORE)),
        ],
        ["a"],
    )
    assert [str(node.meta.shape[0]) for node in list(graph)[:2]] == ["s0", "s0 + 1"]


def test_the_same_input_is_one_node():
    graph = build(
        [("input", "x", meta(N)), ("input", "x", meta(N)), call("a", "toy.add", ["x", "x"])], ["a"]
    )
    assert len(graph.inputs) == 1


def test_lifting_through_three_tracers(again):
    graph = again(nested(3))
    assert [getattr(i, "name", str(i)) for i in graph.inputs] == ["x", "f1"]
    names = []
    level = graph
    while True:
        body = [a for node in level for a in node.args if isinstance(a, dyntrace.Graph)]
        if not body:
            break
        (level,) = body
        names.append(level.name)
        array, number = level.captures
        assert array.op in ("call", "input") and str(number) == "f1"
        # Its inputs: the array, and the number bound once in this tracer.
        assert [getattr(i, "op", str(i)) for i in level.inputs] == ["input", "f1"]
        assert level.symbols["f1"] == (1, None, 2.5)
        level.lint()
    assert names == ["body1", "body2", "body3"]
    assert [node.name for node in level] == ["multiply", "add", "output"]


def test_sizes_are_captured_with_the_array():
    graph = build(
        [
            ("input", "x", meta(N)),
            ("push", "body"),
            call("inner", "toy.full", [("sym", "MUL", "n", ("int", 2))], meta(3)),
            ("pop", "g", ["inner"]),
            call("r", "toy.invoke", ["g"], meta(3)),
        ],
        ["r"],
    )
    (body,) = graph.nodes[1].args
    assert [str(i) for i in body.inputs] == ["s0"] and [str(c) for c in body.captures] == ["s0"]
    assert [i.name for i in graph.inputs] == ["x"]


def test_an_abandoned_body_leaves_nothing():
    graph = build(
        [
            ("input", "x", meta(N)),
            ("push", "b"),
            call("i", "toy.add", ["x", 1]),
            ("abandon",),
            call("a", "toy.add", ["x", 2]),
        ],
        ["a"],
    )
    assert [node.name for node in graph] == ["x", "add", "output"]


@pytest.mark.parametrize("what", _testing.graph_damages())
def test_lint_finds(what):
    data = everything().to_bytes()
    with pytest.raises(ValueError, match="graph everything") as error:
        _testing.graph_damage(data, what)
    assert str(error.value).count(":") >= 1


def test_a_value_of_no_tracer_around_is_refused():
    with pytest.raises(SystemError, match="belongs to no tracer"):
        build(
            [
                ("input", "x", meta(N)),
                ("push", "b"),
                call("i", "toy.add", ["x", 1]),
                ("pop", "g", ["i"]),
                call("a", "toy.add", ["i", 2]),
            ],
            ["a"],
        )


def test_sym_expressions():
    graph = everything()
    product = graph.outputs[2]
    again = everything().outputs[2]
    assert product == again and hash(product) == hash(again) and product.hint == 49
    assert product.type is int and product.source is None and product.graph is graph
    with pytest.raises(OverflowError):
        product.evaluate({"s0": 1, "s1": 1, "f2": 0.5, "s3": 2**62})
    with pytest.raises(KeyError):
        product.evaluate({})


def test_bind_checks_its_arguments():
    graph = build([("number", "k", 4), ("number", "f", 0.5)], [("sym", "ADD", "k", "f")])
    assert graph.bind(5, 2.5) == {"s0": 5, "f1": 2.5}
    with pytest.raises(TypeError, match="takes 2 inputs, 1 given"):
        graph.bind(5)
    with pytest.raises(ValueError):
        graph.bind("five", 2.5)
    with pytest.raises(ValueError):
        graph.bind(2**70, 2.5)


def test_print_goes_to_a_file(capsys):
    import io

    file = io.StringIO()
    graph = chain()
    graph.print(file)
    graph.print()
    assert file.getvalue() == str(graph) == capsys.readouterr().out


def test_types_are_not_made_by_hand():
    for cls in (dyntrace.Graph, dyntrace.Node):
        with pytest.raises(TypeError):
            cls()
    with pytest.raises(AttributeError):
        chain().nodes[0].name = "y"


def test_objects_are_released():
    class Token:
        pass

    token = Token()
    seen = weakref.ref(token)
    graph = build([("input", "x", meta(N)), call("a", "toy.add", ["x", token])], ["a"])
    node = graph.nodes[1]
    del graph, token
    gc.collect()
    assert seen() is not None, "a node keeps its graph, which keeps its constants"
    del node
    gc.collect()
    assert seen() is None


def test_an_error_in_a_body_releases_every_tracer():
    class Token:
        pass

    token = Token()
    seen = weakref.ref(token)
    with pytest.raises(TypeError, match="no such name"):
        build(
            [
                ("input", "x", meta(N)),
                call("a", "toy.add", ["x", token]),
                ("push", "b"),
                ("push", "c"),
                call("i", "toy.add", ["a", "unknown"]),
            ],
            ["i"],
        )
    del token
    gc.collect()
    assert seen() is None


def test_graphs_are_tracked_by_the_collector():
    graph = chain()
    assert gc.is_tracked(graph) and weakref.ref(graph)() is graph
    assert operator.mul in gc.get_referents(graph)


@pytest.mark.parametrize("name", GRAPHS)
def test_print_is_stable(name):
    assert str(GRAPHS[name]()) == str(GRAPHS[name]())
