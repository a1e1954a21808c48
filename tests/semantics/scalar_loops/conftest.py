"""The shared helper is `tests/differential.py`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
