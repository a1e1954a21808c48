"""Branches on values of arrays are the breaks that these tests resume from."""

from fixtures import branches_on_values_break  # noqa: F401
