"""Loops of functions that are called once: entered while they run, and the same as in plain Python.

The programs are those of the module bodies, as the body of a function that is prepared and not hot.
"""

from __future__ import annotations

import sys
import textwrap

import dyntrace
import numpy as np
import pytest
from differential import FORCED
from dyntrace import _core
from module_programs import PROGRAMS, run, source_of


def in_a_function(body):
    """Before its loops nothing is hot; `arm` makes the next iteration the one that is compiled."""
    body = textwrap.indent(body.strip("\n"), "    ")
    return f"def main():\n    arm()\n{body}\n    return locals()\nanswer = prepare(main)()\n"


def is_a_body(name):
    try:
        compile(in_a_function(source_of(name)), "module.py", "exec")
    except SyntaxError:
        return False  # a `global` of a name that is written before
    return True


def both_ways(source, calls=1):
    answers, records = [], []
    for prepared in (False, True):
        region = _core.Region("native", record=True, quiet=True)

        @dyntrace.disable
        def prepare(function, region=region, prepared=prepared):
            assert not prepared or _core.prepare_function(region, function)
            return function

        @dyntrace.disable
        def arm():
            dyntrace.config.hot_count = 0

        with dyntrace.config.patch(hot_count=calls, strict=True):
            code = compile(source, "module.py", "exec")
            answers.append(run(code, more={"prepare": prepare, "arm": arm}))
        records = region.records
    return answers, records


@pytest.mark.parametrize("name", [name for name in PROGRAMS if is_a_body(name)])
def test_loop_of_a_function(name):
    answers, records = both_ways(in_a_function(source_of(name)))
    assert answers[0] == answers[1]
    raised = answers[0][-1] is not None
    if not FORCED and not raised:
        assert [r for r in records if r["graph"]], [r["break"] for r in records]


def test_what_is_outside_of_loops_is_left_alone():
    answers, records = both_ways(
        in_a_function("""
x = np.ones(4) * 3 + 1
for i in range(12):
    x = x * 1.5 + i
x = x - 2 * x
""")
    )
    assert answers[0] == answers[1]
    if not FORCED:
        assert len([r for r in records if r["graph"]]) <= 2


def test_hot_functions_are_compiled_from_their_entry():
    region = _core.Region("native", record=True, quiet=True)
    space = {"np": np}
    exec(
        "def f(n, x):\n    for i in range(n):\n        x = x * 1.5 + 1\n    return x.sum()\n", space
    )
    x = np.ones(4)
    wanted = [space["f"](n, x) for n in (40, 2, 3, 3, 3)]
    _core.prepare_function(region, space["f"])
    with dyntrace.config.patch(hot_count=2, strict=True):
        assert [space["f"](n, x) for n in (40, 2, 3, 3, 3)] == wanted
    rows = [row for row in _core.list_prepared() if row["function"] == "f"]
    assert rows[-1]["state"] in ("compiled", "slower")
    if not FORCED:
        assert len([r for r in region.records if r["graph"]]) >= 2  # the loop, then the whole


def test_the_list_says_that_a_loop_was_entered():
    answers, _ = both_ways(in_a_function("x = np.ones(3)\nfor i in range(9):\n    x = x * 2.0\n"))
    assert answers[0] == answers[1]
    states = [row["state"] for row in _core.list_prepared() if row["function"] == "main"]
    assert FORCED or not states or states[-1] == "loops compiled"


def test_a_tracer_keeps_the_loop_plain():
    region = _core.Region("native", record=True, quiet=True)
    space = {"np": np}
    exec("def f(x):\n    for i in range(60):\n        x = x * 1.01\n    return x\n", space)
    wanted = space["f"](np.ones(3)).tolist()
    _core.prepare_function(region, space["f"])
    lines = []

    def trace(frame, event, arg):
        lines.append(frame.f_code.co_name)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        got = space["f"](np.ones(3)).tolist()
    finally:
        sys.settrace(before)
    assert got == wanted and lines.count("f") > 100 and not region.records
