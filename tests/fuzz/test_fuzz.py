"""A few hundred random programs of fixed seeds; `run.py` runs as many as one likes."""

import subprocess
import sys
from pathlib import Path

import numpy  # noqa: F401  (skips these tests where there is none)
import pytest

HERE = Path(__file__).parent


@pytest.mark.parametrize("seed", [101, 102])
def test_programs(seed):
    command = [sys.executable, "-W", "ignore", str(HERE / "run.py"), "--seed", str(seed), "--count", "100"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


KINDS = [
    ("web", 201, 60),
    ("web", 202, 60),
    ("scalars", 301, 60),
    ("growing", 601, 60),
    ("arrays", 401, 400),
    ("views", 501, 600),
    ("branches", 701, 150),
    ("keyed", 801, 150),
    ("flow", 901, 120),
    ("objects", 1001, 60),
]


@pytest.mark.parametrize(("name", "seed", "count"), KINDS)
def test_programs_of_one_kind(name, seed, count):
    script = str(HERE / f"{name}.py")
    command = [sys.executable, "-W", "ignore", script, "--seed", str(seed), "--count", str(count)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_seed_is_a_program():
    import programs

    first, again = programs.Program("7/1"), programs.Program("7/1")
    assert (first.source, first.calls, first.changes) == (again.source, again.calls, again.changes)


def test_differences_are_seen(monkeypatch):
    """The comparison itself: a compiler that returns a wrong value, or the right one twice, is caught."""
    import programs
    import worlds

    source = programs.HEADER + "def main(p0):\n    LOG.append(p0)\n    return [p0], p0\n"
    calls = [[("int", 1)], [("array", "f8", (3,), "c", 1, False)]]
    assert worlds.run(source, calls, "program.py")["published"]
    for wrong in (
        lambda fn, region: lambda p0: ([p0], 2),
        lambda fn, region: lambda p0: (fn(p0), fn(p0))[1],
        lambda fn, region: lambda p0: fn(p0 + 0),
        lambda fn, region: lambda p0: (print(), fn(p0))[1],
    ):
        monkeypatch.setattr(worlds, "_compile_target", wrong)
        with pytest.raises(worlds.Difference):
            worlds.run(source, calls, "program.py")


def test_what_a_program_does_by_itself_is_no_finding(tmp_path):
    """Plain runs that differ, or hang, say nothing about the compiler."""
    import programs
    import run

    program = programs.Program("7/1")
    program.calls, program.changes = [[("int", 1)]] * 2, ()
    for body, own in (
        ("return p0", False),
        ("return str(BOX), repr([object() for _ in range(40)])", False),
        ("return hash(repr(BOX))", True),
        ("import os; os.kill(os.getpid(), 9)", True),
    ):
        program.source = programs.HEADER + f"def main(p0):\n    {body}\n"
        assert run.is_its_own(program, str(tmp_path)) == own, body


@pytest.mark.parametrize(
    ("work", "outcome"),
    [
        ("1 + 1", "ok"),
        ("1 / 0", "broken"),
        ("os.kill(os.getpid(), 9)", "crash"),
        ("[0 for _ in iter(int, 1)]", "hang"),
        ("signal.pthread_sigmask(signal.SIG_BLOCK, [14, 27]) and 0 or signal.pause()", "hang"),
    ],
)
def test_a_crash_or_a_hang_is_a_finding(work, outcome):
    import run

    def child(say):
        say("41")
        eval(work, {"os": __import__("os"), "signal": __import__("signal")})

    found, _, said = run.in_child(child, 0.1)
    assert (found, said) == (outcome, ["41"])
