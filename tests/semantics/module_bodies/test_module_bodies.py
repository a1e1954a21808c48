"""Loops of module bodies: entered while they run, and the same as in plain Python.

Each program of module_programs is executed plainly and as a driver.
"""

from __future__ import annotations

import dis
import gc
import sys
import threading
import types

import dyntrace
import numpy as np
import pytest
from differential import FORCED
from dyntrace import _core
from module_programs import PROGRAMS, run, source_of


def driven(source, **options):
    region = _core.Region("native", record=True, quiet=True, **options)
    code = compile(source, "module.py", "exec")
    return _core.module_driver(region, code), region, code


@pytest.mark.parametrize("hot_count", [0, 1, 3])
@pytest.mark.parametrize("name", PROGRAMS)
def test_module_body(name, hot_count):
    source = source_of(name)
    with dyntrace.config.patch(hot_count=hot_count, strict=True):
        driver, region, code = driven(source)
        assert driver is not None
        plain = run(code)
        assert run(driver) == plain
        assert run(driver) == plain  # now it has entries
    pieces = [r for r in region.records if r["graph"]]
    if hot_count == 0 and not FORCED:
        assert len(pieces) >= PROGRAMS[name][1], [r["break"] for r in region.records]


def test_pieces_are_compiled_once():
    driver, region, code = driven(source_of("for_loop").replace("12", "3000"))
    with dyntrace.config.patch(hot_count=1):
        assert run(driver) == run(code)
    if not FORCED:
        assert len([r for r in region.records if r["graph"]]) <= 2


def test_names_that_are_no_globals():
    source = source_of("for_loop")
    driver, region, code = driven(source)

    class Names(dict):
        def __setitem__(self, key, value):
            seen.append(key)
            super().__setitem__(key, value)

    with dyntrace.config.patch(hot_count=0, strict=True):
        answers = []
        for each in (code, driver):
            seen, space = [], Names()
            exec(each, {"np": np}, space)
            answers.append((seen, space["x"].tolist(), space["i"]))
    assert answers[0] == answers[1] and len(answers[0][0]) > 20
    assert not region.records


def test_globals_of_a_subclass():
    class Names(dict):
        def __missing__(self, key):
            raise KeyError(key)

    driver, region, code = driven("x = np.ones(2)\nfor i in range(5):\n    x = x * 2.0\n")
    with dyntrace.config.patch(hot_count=0, strict=True):
        spaces = [Names(np=np, __builtins__=__builtins__) for _ in range(2)]
        exec(code, spaces[0])
        exec(driver, spaces[1])
    assert spaces[0]["x"].tolist() == spaces[1]["x"].tolist() and not region.records


def test_a_tracer_comes_and_goes():
    source = """
x = np.ones(3)
for i in range(12):
    x = x * 1.5
    if i == 4:
        start()
    x = x - 1
    if i == 8:
        stop()
"""
    answers = []
    driver, region, code = driven(source)
    for each in (code, driver):
        lines = []

        def trace(frame, event, arg, lines=lines):
            if frame.f_code.co_filename == "module.py":
                lines.append((event, frame.f_lineno))
            return trace

        def start(trace=trace):
            sys._getframe(1).f_trace = trace
            sys.settrace(trace)

        def stop():
            sys.settrace(None)

        space = {"np": np, "start": dyntrace.disable(start), "stop": dyntrace.disable(stop)}
        with dyntrace.config.patch(hot_count=0, strict=True):
            exec(each, space)
        answers.append((lines, space["x"].tolist()))
    assert answers[0] == answers[1] and len(answers[0][0]) > 15


def test_frames_are_the_modules_own():
    source = """
x, names = np.ones(3), []
for i in range(6):
    x = x + 1
    names.append(look())
    x = x * 2
"""

    @dyntrace.disable
    def look():
        frame = sys._getframe(1)
        module = frame.f_locals is frame.f_globals
        return frame.f_code.co_name, frame.f_lineno, module, frame.f_back.f_code.co_name

    driver, _, code = driven(source)
    with dyntrace.config.patch(hot_count=0, strict=True):
        spaces = [{"np": np, "look": look} for _ in range(2)]
        exec(code, spaces[0])
        exec(driver, spaces[1])
    assert spaces[0]["names"] == spaces[1]["names"]


def test_code_without_loops_and_loops_without_arrays():
    assert driven("import numpy as np\nx = np.ones(3) * 2\n")[0] is None
    driver, region, code = driven("s = 0\nfor i in range(500):\n    s += i\n")
    space: dict = {}
    with dyntrace.config.patch(hot_count=1):
        exec(driver, space)
    assert space["s"] == 124750 and not region.records


def test_a_loop_that_gains_nothing_is_passed_by():
    """Its probe sleeps: a jump is written over the switch in the code that runs."""

    def names():
        adaptive = {"adaptive": True} if sys.version_info >= (3, 11) else {}
        return [i.opname for i in dis.get_instructions(driver, **adaptive)]

    driver, region, _ = driven("s = ''\nfor i in range(50):\n    s += '.'\n")
    before = names()
    space = {"np": np}
    with dyntrace.config.patch(hot_count=1, strict=True):
        exec(driver, space)
    assert space["s"] == "." * 50
    if not FORCED:
        assert "NOP" in before and "NOP" not in names()


def test_two_threads_in_one_module_body():
    driver, _, code = driven(source_of("print_inside").replace("print(i)", "LOG.append(i)"))
    plain = run(code)
    answers = []
    with dyntrace.config.patch(hot_count=0, strict=True):
        threads = [threading.Thread(target=lambda: answers.append(run(driver))) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert answers == [plain] * 3


def test_the_region_goes_while_it_runs():
    driver, region, code = driven("""
x = np.ones(3)
for i in range(20):
    x = x * 1.5
    if i == 7:
        forget()
    x = x - 1
""")
    forget = dyntrace.disable(lambda: (dyntrace.reset(), gc.collect()))
    spaces = [{"np": np, "forget": forget} for _ in range(2)]
    with dyntrace.config.patch(hot_count=0, strict=True):
        exec(code, spaces[0])
        del region
        exec(driver, spaces[1])
    assert spaces[0]["x"].tolist() == spaces[1]["x"].tolist()


def test_a_module_object_holds_the_names():
    driver, _, code = driven(source_of("functions_write_the_names"))
    modules = [types.ModuleType("m") for _ in range(2)]
    for module, each in zip(modules, (code, driver)):
        module.__dict__.update(np=np, LOG=[])
        with dyntrace.config.patch(hot_count=0, strict=True):
            exec(each, module.__dict__)
    assert (
        modules[0].x.tolist() == modules[1].x.tolist() and modules[0].hits == modules[1].hits == 9
    )
