"""The surroundings of programs that run in processes of their own."""

import os
from pathlib import Path

import dyntrace

PACKAGE = Path(dyntrace.__file__).parent.parent
PTH_FOLDER = Path(__file__).parents[1] / "python"


def surroundings(**settings):
    env = {k: v for k, v in os.environ.items() if not k.startswith("DYNTRACE")}
    env["PYTHONPATH"] = str(PACKAGE)
    env["DYNTRACE_HOT_TIME"] = "0"  # short programs are compiled, too
    env.update(settings)
    return env
