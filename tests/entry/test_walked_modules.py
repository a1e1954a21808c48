"""A loop over sys.modules: nothing is imported for a trace while it runs.

Each program is an interpreter of its own, in which nothing of what tracing needs is there yet.
"""

import os
import subprocess
import sys
from pathlib import Path

import dyntrace
import pytest

PACKAGE = Path(dyntrace.__file__).parent.parent

CALLED_IN_A_LOOP = """
import sys, heapq
import dyntrace

def largest(values):
    return heapq.nlargest(2, values)

compiled = dyntrace.compile(largest)
{hold}
for name in {walk}:
    assert compiled([1, 3, 2]) == [3, 2]
assert "dyntrace.polyfills.heapq" not in sys.modules
assert compiled([1, 3, 2]) == [3, 2]
assert ("dyntrace.polyfills.heapq" in sys.modules) == {later}
"""

WALKS = {
    "itself": "sys.modules",
    "keys": "sys.modules.keys()",
    "values": "sys.modules.values()",
    "items": "sys.modules.items()",
    "backwards": "reversed(sys.modules)",
    "backwards_values": "reversed(sys.modules.values())",
    "backwards_items": "reversed(sys.modules.items())",
    "behind_map": "map(str, sys.modules)",
    "in_a_generator": "(name for name in sys.modules)",
    "enumerated": "enumerate(sys.modules.values())",
}


def run(program: str) -> None:
    surroundings = {k: v for k, v in os.environ.items() if not k.startswith("DYNTRACE")}
    surroundings["PYTHONPATH"] = str(PACKAGE)
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=surroundings, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("walk", WALKS)
def test_nothing_is_imported_meanwhile(walk):
    run(CALLED_IN_A_LOOP.format(walk=WALKS[walk], hold="", later=True))


def test_who_only_holds_it_is_no_walker():
    run(CALLED_IN_A_LOOP.format(walk="range(0)", hold="modules = sys.modules.values()", later=True))


def test_an_abandoned_walk_goes_on_until_it_is_gone():
    hold = "walk = iter(sys.modules); next(walk)"
    run(CALLED_IN_A_LOOP.format(walk="range(0)", hold=hold, later=False))
    run(CALLED_IN_A_LOOP.format(walk="range(0)", hold=hold + "; del walk", later=True))
