"""Random programs of reads and writes over arrays and views that may share memory.

A program is a list of steps on a few names.  It is written as the source of a function, run plainly and
compiled, and everything is compared: results to the bit, what shares memory with what, warnings, and what
an error leaves.  DYNTRACE_WRITE_PROGRAMS sets how many are run.
"""

# ruff: noqa: E501  (tables)

import os

import numpy as np
import pytest

hypothesis = pytest.importorskip("hypothesis")
from differential import Compiled, Outcome, compare  # noqa: E402
from hypothesis import HealthCheck, given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

NAMES = ["a", "b", "c", "d"]

# How the arguments lie in memory; n is their length.
LAYOUTS = {
    "apart": lambda m: [m[:8].copy(), m[8:16].copy()],
    "one array": lambda m: [m[:8]] * 2,
    "same memory": lambda m: [m[:8], m[:8]],
    "shifted": lambda m: [m[:8], m[1:9]],
    "shifted back": lambda m: [m[1:9], m[:8]],
    "reversed": lambda m: [m[:8], m[7::-1]],
    "interleaved": lambda m: [m[:16:2], m[1:17:2]],
    "strided": lambda m: [m[:16:2], m[4:12]],
    "mixed dtypes": lambda m: [m[:8], m[:4].view("f4")],
    "read-only": lambda m: [m[:8], np.broadcast_to(m[:1], 8)],
}

names = st.sampled_from(NAMES)
keys = st.sampled_from(
    ["...", "1:", ":-1", "::2", "::-1", "2:6", "0", "-1", "[0, 3]", "[2, 2, 1]", "{x} > 1.5", "{y} < {x}", "np.arange(3)", "None"]
)
views = st.sampled_from(["1:", ":-1", "::2", "::-1", "2:6", ":4", "4:", "..."])
numbers = st.sampled_from(["1", "2.5", "0", "-1.5", "1e308", "np.float32(3)"])
functions = st.sampled_from(["np.sqrt", "np.negative", "np.square", "np.exp", "np.absolute"])
operators = st.sampled_from(["+", "-", "*", "/"])


@st.composite
def expressions(draw):
    kind = draw(st.integers(0, 6))
    x, y = draw(names), draw(names)
    if kind == 0:
        return draw(numbers)
    if kind == 1:
        return f"{x}[{draw(views)}]"
    if kind == 2:
        return f"{x}.sum()"
    if kind == 3:
        return f"{x} {draw(operators)} {draw(numbers)}"
    if kind == 4:
        return f"{x} {draw(operators)} {y}"
    if kind == 5:
        return f"{draw(functions)}({x})"
    return f"{x}[{draw(views)}] {draw(operators)} {y}[{draw(views)}]"


@st.composite
def steps(draw):
    kind = draw(st.integers(0, 9))
    x, y, z = draw(names), draw(names), draw(names)
    if kind <= 2:
        key = draw(keys).format(x=x, y=y)
        return f"{x}[{key}] = {draw(expressions())}"
    if kind <= 4:
        return f"{x} {draw(operators)}= {draw(expressions())}"
    if kind == 5:
        return f"{x}[{draw(views)}] {draw(operators)}= {draw(expressions())}"
    if kind == 6:
        return f"{x} = {y}[{draw(views)}]"
    if kind == 7:
        return f"{x} = {draw(expressions())} + np.zeros(8)"
    if kind == 8:
        return f"np.add({x}, {y}, out={z})"
    return draw(st.sampled_from([f"{x}.sort()", f"{x}.fill(2)", f"np.copyto({x}, {y})", f"np.add.at({x}, [0, 0, 2], 1)", f"total = total + {x}.sum()"]))


@st.composite
def programs(draw):
    body = draw(st.lists(steps(), min_size=1, max_size=7))
    return "\n    ".join(body)


def arguments(layout):
    memory = np.linspace(0.5, 3.0, 20)
    return tuple(LAYOUTS[layout](memory)) + (memory,)


def sharing(outcome):
    arrays = [v for v in (*outcome.args, *(outcome.result or ())) if isinstance(v, np.ndarray)]
    return [[np.shares_memory(a, b) for b in arrays] for a in arrays]


@settings(max_examples=int(os.environ.get("DYNTRACE_WRITE_PROGRAMS", "100")), deadline=None, suppress_health_check=list(HealthCheck))
@given(
    programs(),
    st.lists(st.sampled_from(sorted(LAYOUTS)), min_size=2, max_size=3),
    st.sampled_from(["warn", "ignore", "raise"]),
)
def test_program(body, layouts, mode):
    source = f"def f(a, b, memory):\n    c = a * 1\n    d = b\n    total = 0.0\n    {body}\n    return a, b, c, d, total\n"
    scope = {"np": np}
    exec(compile(source, "<program>", "exec"), scope)
    compiled = Compiled(scope["f"])
    with np.errstate(all=mode):
        for layout in (*layouts, layouts[0]):
            plain = Outcome(scope["f"], arguments(layout), {})
            outcome = Outcome(compiled, arguments(layout), {})
            try:
                compare(plain, outcome)
                assert sharing(plain) == sharing(outcome)
            except AssertionError as error:
                raise AssertionError(f"{source}\n{layout}\n{compiled.describe()}") from error
    hypothesis.event(compiled.breaks[0] if compiled.breaks else "captured")
