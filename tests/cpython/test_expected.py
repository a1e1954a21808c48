"""The list of differences that must be: short, with reasons, and nothing in it twice."""

import importlib.util
from pathlib import Path

import pytest

if importlib.util.find_spec("tomllib") is None:
    pytest.skip("needs tomllib", allow_module_level=True)

import tomllib

HERE = Path(__file__).parent
REASONS = tomllib.loads((HERE / "expected.toml").read_text())["reason"]
MOST_REASONS, MOST_TESTS = 10, 40


def runner():
    spec = importlib.util.spec_from_file_location("dt_cpython_run", HERE / "run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("version", ["3.10", "3.11", "3.12", "3.13"])
def test_few_reasons(version):
    own = [reason for reason in REASONS if version in reason["versions"]]
    assert len(own) <= MOST_REASONS
    tests = [test for reason in own for test in reason["tests"]]
    assert len(tests) == len(set(tests)) <= MOST_TESTS
    assert all(reason["why"] and reason["tests"] for reason in own)


def test_patterns_name_a_test():
    for reason in REASONS:
        for test in reason["tests"]:
            assert test.count(".") >= 2 and test.startswith("test_") and not test.endswith(".*")


def test_failures_of_both_forms():
    run = runner()
    new = "FAIL: test_a (test.test_x.Case.test_a)\nERROR: test_b (test.test_x.test_y.Other.test_b) [sub]\n"
    old = "FAIL: test_a (test.test_x.Case)\n"
    assert run.failures(new) == {"test_x.Case.test_a", "test_x.test_y.Other.test_b"}
    assert run.failures(old) == {"test_x.Case.test_a"}
    assert run.Run(None, "").lost and run.Run(-11, "").lost and run.Run(1, "").lost
    assert run.Run(0, "").lost is None and run.Run(2, old).lost is None
