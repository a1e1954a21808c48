"""Makes the shared cases and the table generator importable for the tests in this folder."""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
for folder in (HERE, HERE.parent, HERE.parents[1] / "tools"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
