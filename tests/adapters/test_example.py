"""examples/adapter.py: what the guide shows of it holds."""

import subprocess
import sys
from pathlib import Path

from processes import surroundings

SCRIPT = Path(__file__).parents[2] / "examples" / "adapter.py"


def test_the_example_of_an_adapter_runs_its_own_backend():
    run = subprocess.run([sys.executable, SCRIPT], env=surroundings(), capture_output=True, text=True)
    lines = run.stdout.splitlines()
    assert run.returncode == 0, run.stderr
    assert lines[0] == "def element(velocity, position):"
    assert lines[-2:] == ["moved to: 0.294040 1.294040 2.588080", "same as plainly: True"]
    assert sum(" * 0.99" in line for line in lines) == 3  # once per step
