"""A chosen third of CPython's own test files with every frame traced: what passes plainly passes.

Only where a test fails that need not, its file is run plainly, too. `run.py` has the choice, and does the
same with all files.
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from pathlib import Path

import pytest

pytest.importorskip("numpy", reason="the interpreter runs them where NumPy is")
if importlib.util.find_spec("test") is None or importlib.util.find_spec("test.libregrtest") is None:
    pytest.skip("needs CPython's tests, installed with it", allow_module_level=True)

import dyntrace


def runner():
    spec = importlib.util.spec_from_file_location("dt_cpython_run", Path(__file__).with_name("run.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


RUN = runner()
FILES = [f"test_{name}" for name in RUN.FAST if importlib.util.find_spec(f"test.test_{name}")]


@pytest.fixture(scope="module")
def comparison():
    """As installed, or else, from a build folder, with a start-up hook put in place by hand."""
    with tempfile.TemporaryDirectory() as folder:
        for package in (None, Path(dyntrace.__file__).parents[1]):
            found = RUN.Comparison(sys.executable, folder, package, limit=300)
            if RUN.is_traced(sys.executable, found.traced):
                yield found
                return
        raise AssertionError("DYNTRACE=everything traces nothing")


@pytest.mark.parametrize("name", FILES)
def test_as_plainly(comparison, name):
    assert comparison.differences(name) == []
