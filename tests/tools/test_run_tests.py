"""The test command's own arithmetic: what it adds up, and what it refuses to start with."""

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def runner():
    spec = importlib.util.spec_from_file_location("run_tests", ROOT / "tools/run_tests.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["run_tests"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules["run_tests"]


def test_closing_line_sums_up(runner):
    one = runner.Outcome("a", passed=10, skipped=2)
    two = runner.Outcome("b", passed=5, failed=1, broken=["pytest left no report"])
    assert runner.closing_line([one], 1.5).strip("= ") == "10 passed, 2 skipped in 1.50s"
    both = runner.closing_line([one, two], 61)
    assert both.strip("= ") == "1 failed, 15 passed, 2 skipped, 1 error in 61.00s (0:01:01)"
    assert one.ok and not two.ok


def test_a_missing_version_is_an_error_only_if_all_are_required(runner):
    complete = runner.Interpreter("python3.11", "3.11", "3.11.0", headers=True, venv=True)
    found = {"3.11": complete}
    lax = runner.parse([])
    strict = runner.parse(["--require-all"])
    assert not any("required" in line for line in runner.complaints(lax, found))
    assert sum("required" in line for line in runner.complaints(strict, found)) == 3


def test_an_incomplete_interpreter_is_named_with_what_it_lacks(runner):
    bare = runner.Interpreter("python3.12", "3.12", "3.12.0", headers=False, venv=True)
    (problem,) = (
        line for line in runner.complaints(runner.parse([]), {"3.12": bare}) if "3.12" in line
    )
    assert "Python.h" in problem and "python3.12-dev" in problem


def test_report_counts(runner, tmp_path):
    report = tmp_path / "report.xml"
    report.write_text(
        "<testsuites><testsuite>"
        "<testcase name='a'/><testcase name='b'><failure/></testcase>"
        "<testcase name='c'><skipped/></testcase><testcase name='d'><error/></testcase>"
        "<testcase name='e' status='run'/>"
        "</testsuite></testsuites>"
    )
    base = runner.Interpreter("python", "3.11", "3.11.0", True, True)
    unit = runner.Environment("x", base, runner.parse([]))
    unit.add_report("pytest", report)
    unit.add_report("ctest", tmp_path / "absent.xml")
    outcome = unit.outcome
    assert (outcome.passed, outcome.failed, outcome.skipped, outcome.errors) == (2, 1, 1, 1)
    assert outcome.broken == ["ctest: left no report"]


def test_this_interpreter_is_found(runner):
    version = "%d.%d" % sys.version_info[:2]
    assert runner.probe(sys.executable).version == version
    assert runner.probe("no-such-python") is None
