"""Branches on values of arrays are the breaks that these tests resume from."""

import dyntrace
import pytest


@pytest.fixture(autouse=True)
def branches_on_values_break():
    with dyntrace.config.patch(guess_limit=0):
        yield
