"""Soundness: programs made to catch the tracer lying. The shared helper is `tests/differential.py`."""

import dyntrace
import pytest


@pytest.fixture(autouse=True)
def strictly():
    with dyntrace.config.patch(
        everything=True,
        strict=True,
        trace_budget_ns=0,
        recompile_limit=10000,
        recompile_total_limit=10000,
        attempt_limit=1000,
    ):
        yield
