"""Fixtures for whole folders of tests, whose conftest.py imports them."""

import dyntrace
import pytest


@pytest.fixture(autouse=True)
def branches_on_values_break():
    """Branches on values of arrays are breaks, and not guessed."""
    with dyntrace.config.patch(guess_limit=0):
        yield
