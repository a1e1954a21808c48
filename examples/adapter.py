"""An adapter for a small array library: what its author writes, and what users get.

    python examples/adapter.py

`Vector` holds floats. `VectorAdapter` tells dyntrace what a vector is and which operations go into the
graph; `run_fused` is a backend for these graphs that goes over the elements once, however many operations
there are.
"""

from array import array
from itertools import repeat

import dyntrace
from dyntrace import adapters

# ---- The library ------------------------------------------------------------------------------------


class Vector:
    def __init__(self, values):
        self.values = array("d", values)

    def __add__(self, other):
        return add(self, other)

    def __mul__(self, other):
        return multiply(self, other)


def add(a, b):
    return _by_element(lambda x, y: x + y, a, b)


def multiply(a, b):
    return _by_element(lambda x, y: x * y, a, b)


def _by_element(operation, a, b):
    if isinstance(b, Vector):
        if len(a.values) != len(b.values):
            raise ValueError(f"vectors of {len(a.values)} and {len(b.values)} elements")
        return Vector(map(operation, a.values, b.values))
    return Vector(operation(x, b) for x in a.values)


# ---- Its adapter ------------------------------------------------------------------------------------


class VectorAdapter(adapters.Adapter):
    name = "vector"
    operators = {"+": add, "*": multiply}

    def is_array(self, obj):
        return type(obj) is Vector

    def owns(self, obj):
        return obj is add or obj is multiply

    def describe(self, obj):
        return adapters.Meta(Vector, "float", (len(obj.values),))

    def call(self, target, args, kwargs):
        a, b = args
        if isinstance(b, adapters.Meta) and a.shape[0] != b.shape[0]:  # another size: another guard
            raise ValueError  # the library raises, so the call runs plainly
        return adapters.Op(target, args, results=a)  # one node; its result is described as `a` is

    def binary(self, op, left, right):
        function = self.operators.get(op)
        if function is None or not isinstance(left, adapters.Meta):
            return NotImplemented  # not captured: a graph break
        return self.call(function, (left, right), {})


# ---- A backend for its graphs -----------------------------------------------------------------------


OPERATORS = {"vector.add": "+", "vector.multiply": "*"}


def run_fused(graph, example_inputs):
    """Write the nodes as one Python function of one element, and map it over the inputs."""
    calls = [node for node in graph if node.op == "call"]
    lines = [
        f"    {node.name} = {node.args[0]} {OPERATORS[node.target]} {node.args[1]}" for node in calls
    ]
    results = ", ".join(str(output) for output in graph.outputs)
    parameters = ", ".join(str(given) for given in graph.inputs)
    source = "\n".join([f"def element({parameters}):", *lines, f"    return {results},"])
    print(source)
    namespace = {}
    exec(source, namespace)
    element = namespace["element"]

    def run(*inputs):
        columns = [i.values if isinstance(i, Vector) else repeat(i) for i in inputs]
        rows = list(map(element, *columns))
        return tuple(Vector(row[k] for row in rows) for k in range(len(graph.outputs)))

    return run


# ---- A user's function ------------------------------------------------------------------------------


@dyntrace.compile(backend=run_fused)
def trajectory(position, velocity, steps):
    for _ in range(steps):
        velocity = velocity * 0.99
        position = position + velocity * 0.1
    return position


if __name__ == "__main__":
    adapters.register(VectorAdapter())
    start, speed = Vector([0.0, 1.0, 2.0]), Vector([1.0, 1.0, 2.0])
    moved = trajectory(start, speed, 3)
    print("moved to:", *(f"{value:.6f}" for value in moved.values))
    plain = trajectory.__wrapped__(start, speed, 3)
    print("same as plainly:", moved.values == plain.values)
