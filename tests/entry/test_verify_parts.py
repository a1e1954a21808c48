"""Verify mode compares calls that run in parts: what is between them runs in copies that are shut off.

What is compiled is made wrong on purpose by backends that change the outputs of a right one.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import dyntrace
import pytest
from dyntrace import _verify

np = pytest.importorskip("numpy")
if not sys.platform.startswith("linux"):
    pytest.skip("copies of the process are made on Linux", allow_module_level=True)

PACKAGE = Path(dyntrace.__file__).parent.parent
ACTS = "it acts on files, processes or the network"


@pytest.fixture(autouse=True)
def verifying(tmp_path, monkeypatch):
    monkeypatch.setattr(_verify, "found", [])
    monkeypatch.setattr(_verify, "directory", str(tmp_path / "found"))
    with dyntrace.config.patch(verify=True, everything=True, trace_budget_ns=0):
        yield


def wrong_after(count):
    """A backend that is right in the process that compiles, and wrong in its copies."""

    def backend(graph, examples):
        home = os.getpid()

        def run(*inputs):
            outputs = graph(*inputs)
            return outputs if os.getpid() == home else tuple(out + count for out in outputs)

        return run

    return backend


def row_of(compiled, name):
    rows = [r for r in compiled.__dyntrace_region__.verified() if r["function"].endswith(name)]
    return rows[0] if rows else None


LOG: list[float] = []


@dyntrace.disable
def unknown(value):
    LOG.append(value)
    return len(LOG)


def around(x):
    y = x * 2.0
    n = unknown(float(y[0]))
    return y + n


def rolls(x):
    total = x
    for _ in range(3):
        total = total + 1.0
        unknown(float(total[0]))
    return total


def raises(x):
    y = x * 2.0
    unknown(float(y[0]))
    return [y][len(LOG) * 1000]


class Step:
    def __init__(self):
        self.log = []

    @dyntrace.disable
    def note(self, value):
        self.log.append(value)

    def run(self, x):
        y = x * 2.0
        self.note(float(y[0]))
        return y - 1.0


def test_parts_are_compared_and_act_once(capfd):
    compiled = dyntrace.compile(around)
    x, before = np.arange(1.0, 4.0), len(LOG)
    for i in range(1, 6):
        assert compiled(x).tolist() == (x * 2.0 + before + i).tolist()
        assert len(LOG) == before + i  # in the process, and nowhere else
    row = row_of(compiled, "around")
    assert row["verified"] == 4 and not row["skipped"] and not row["quarantined"]  # not the first
    assert capfd.readouterr() == ("", "")


def test_what_was_compared_serves_the_call():
    home, served = os.getpid(), []

    def backend(graph, examples):
        def run(*inputs):
            if os.getpid() == home:
                served.append(len(inputs))
            return graph(*inputs)

        return run

    compiled = dyntrace.compile(around, backend=backend)
    counts = []
    for _ in range(5):
        compiled(np.ones(3))
        counts.append(len(served))
    assert counts[0] == 0  # what a call has compiled waits for the next one
    assert counts[1] < counts[2] < counts[3] < counts[4]
    assert row_of(compiled, "around")["verified"] == 4


@pytest.mark.parametrize(
    "function, said",
    [(around, "result: item 0 of 3: "), (rolls, "result: item 0 of 3: "), (raises, "LOG")],
    ids=["between", "loop", "exception"],
)
def test_differences_are_found(function, said, capfd):
    compiled = dyntrace.compile(function, backend=wrong_after(1.0))
    x = np.arange(1.0, 4.0)
    for _ in range(4):
        before = len(LOG)
        try:
            expected = function(x).tolist()
        except IndexError:
            expected = None
        count = len(LOG) - before
        del LOG[before:]
        if expected is None:
            with pytest.raises(IndexError):
                compiled(x)
        else:
            assert compiled(x).tolist() == expected
        assert len(LOG) == before + count
    row = row_of(compiled, function.__name__)
    err = capfd.readouterr().err
    assert row["quarantined"] and err.count("\n") == 1 and said in err, err


def test_methods_and_objects(capfd):
    compiled = dyntrace.compile(Step.run)
    step, x = Step(), np.ones(2)
    for i in range(1, 5):
        assert compiled(step, x).tolist() == [1.0, 1.0] and step.log == [2.0] * i
    assert row_of(compiled, "run")["verified"] == 3
    compiled = dyntrace.compile(Step.run, backend=wrong_after(0.5))
    for _ in range(3):
        assert compiled(step, x).tolist() == [1.0, 1.0]
    assert "result: item 0 of 2: " in capfd.readouterr().err
    assert row_of(compiled, "run")["quarantined"]


def writes(x, path):
    y = x + 1.0
    with open(path, "a") as out:
        out.write("line\n")
    return y * 2.0


def starts(x, path):
    y = x + 1.0
    subprocess.run([sys.executable, "-c", f"open({str(path)!r}, 'a').write('line\\n')"], check=True)
    return y * 2.0


def removes(x, path):
    y = x + 1.0
    with open(path, "a"):
        pass
    os.unlink(path)
    return y * 2.0


@pytest.mark.parametrize("function", [writes, starts, removes])
def test_what_acts_outside_is_not_made_twice(function, tmp_path, capfd):
    compiled = dyntrace.compile(function)
    path = tmp_path / "log"
    for i in range(1, 5):
        assert compiled(np.ones(2), path).tolist() == [4.0, 4.0]
        assert not path.exists() if function is removes else path.read_text() == "line\n" * i
    row = row_of(compiled, function.__name__)
    assert row["verified"] == 0 and row["skipped"] == {ACTS: 3}
    assert capfd.readouterr().err == ""


def looks(x):
    y = x + 1.0
    there = os.path.exists("/"), os.getpid() > 0, time.monotonic() > 0, os.getcwd() != ""
    time.sleep(0.001)
    lock = threading.Lock()
    with lock:
        return y * 2.0, there


def test_what_only_looks_is_compared():
    compiled = dyntrace.compile(looks)
    for _ in range(4):
        assert compiled(np.ones(2))[1] == (True, True, True, True)
    assert row_of(compiled, "looks")["verified"] == 3


def shows(x):
    y = x + 1.0
    text = repr(object())
    unknown(0.0)
    return y * 2.0, text


def times(x):
    y = x + 1.0
    now = time.time_ns()
    return y * 2.0, now


@pytest.mark.parametrize("function", [shows, times])
def test_what_plain_calls_do_not_repeat_is_no_difference(function, capfd):
    compiled = dyntrace.compile(function)
    for _ in range(4):
        compiled(np.ones(2))
    row = row_of(compiled, function.__name__)
    assert not row["quarantined"] and capfd.readouterr().err == ""


def test_generators_are_left_alone():
    def numbers(x):
        for i in range(3):
            unknown(0.0)
            yield x * i

    compiled = dyntrace.compile(numbers)
    for _ in range(3):
        assert [part.tolist() for part in compiled(np.ones(1))] == [[0.0], [1.0], [2.0]]
    assert not any(row["quarantined"] for row in compiled.__dyntrace_region__.verified())


PROGRAM = """
    import sys, os
    import numpy as np
    import dyntrace

    def backend(graph, examples):
        home = os.getpid()
        def run(*inputs):
            outputs = graph(*inputs)
            return outputs if os.getpid() == home else tuple(out + WRONG for out in outputs)
        return run

    @dyntrace.compile(backend=backend)
    def tells(x):
        y = x * 2.0
        print("sum", float(y.sum()))
        print("again", file=sys.stderr, flush=True)
        return y + 1.0

    for i in range(4):
        print(tells(np.full(3, float(i))).tolist())
    rows = tells.__dyntrace_region__.verified()
    print([(row["verified"], row["skipped"], row["quarantined"]) for row in rows])
"""


@pytest.mark.parametrize("wrong", [0.0, 1.0])
def test_output_is_compared_and_written_once(wrong, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(f"WRONG = {wrong}\n" + textwrap.dedent(PROGRAM))
    env = dict(os.environ, PYTHONPATH=str(PACKAGE), DYNTRACE_VERIFY="1")
    env["DYNTRACE_VERIFY_DIR"] = str(tmp_path / "found")
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, env=env, timeout=120
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    for i in range(4):
        assert lines[2 * i : 2 * i + 2] == [f"sum {6.0 * i}", str([2.0 * i + 1.0] * 3)]
    told = done.stderr.splitlines()
    assert told.count("again") == 4
    if wrong:
        (difference,) = (line for line in told if line != "again")
        assert "tells (" in difference and "differs and runs plainly" in difference
        assert lines[-1].endswith("True)]")
    else:
        assert told == ["again"] * 4 and lines[-1] == "[(3, {}, False)]"


def in_a_thread(x):
    y = x + 1.0
    thread = threading.Thread(target=unknown, args=(7.0,))
    thread.start()
    thread.join()
    return y * 2.0


def test_threads_may_begin_in_a_copy():
    compiled = dyntrace.compile(in_a_thread)
    for _ in range(4):
        before = len(LOG)
        assert compiled(np.ones(2)).tolist() == [4.0, 4.0] and len(LOG) == before + 1
    row = row_of(compiled, "in_a_thread")
    assert row["verified"] == 3 and not row["skipped"] and not row["quarantined"]
