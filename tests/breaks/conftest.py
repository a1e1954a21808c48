"""The shared helper is `tests/differential.py`."""

import sys
from pathlib import Path

import dyntrace
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))


@pytest.fixture(autouse=True)
def branches_on_values_break():
    with dyntrace.config.patch(guess_limit=0):
        yield
