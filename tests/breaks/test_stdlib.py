"""Functions of the standard library, broken anywhere: as in plain execution.

A sample runs with the other tests; DYNTRACE_STDLIB=all runs each function with all of FORCED ("nox -s
stdlib").
"""

from __future__ import annotations

import os
import random

import pytest
from stdlib_calls import PROGRAMS, differences, record

ALL = os.environ.get("DYNTRACE_STDLIB") == "all"
FORCED = [(0, 0), (0, 1), (0, 2), (0, 3), (0, 5), (0, 9), (4, 0), (0, 0, 1), (0, 0, 3), (0, 7, 5)]
SAMPLE = 3

counted = {}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_same(program):
    program()  # what is imported and cached at first is there
    calls = record(program)
    counted[program] = {call.function for call in calls}
    choice = random.Random(program.__name__)
    chosen = [(call, forced) for call in calls for forced in FORCED]
    if not ALL:
        chosen = choice.sample(chosen, SAMPLE)
    found = [text for call, forced in chosen if (text := differences(call, forced)) is not None]
    assert not found, "\n".join(found)


def test_there_are_many():
    functions = set().union(*(counted.get(p) or {c.function for c in record(p)} for p in PROGRAMS))
    assert len(functions) >= 300, len(functions)
