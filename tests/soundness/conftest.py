"""Soundness: programs made to catch the tracer lying. The shared helper is `tests/differential.py`."""

import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parent)]


@pytest.fixture(autouse=True)
def strictly():
    import dyntrace

    with dyntrace.config.patch(
        everything=True,
        strict=True,
        trace_budget_ns=0,
        recompile_limit=10000,
        recompile_total_limit=10000,
        attempt_limit=1000,
    ):
        yield
