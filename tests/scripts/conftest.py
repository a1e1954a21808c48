"""Programs in processes of their own, whose interpreter reads dyntrace.pth at its start."""

import os
import subprocess
import sys

import pytest
from processes import PTH_FOLDER, surroundings


@pytest.fixture
def run(tmp_path):
    """Runs Python in an environment that reads dyntrace.pth at its start."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(f"import site\nsite.addsitedir({str(PTH_FOLDER)!r})\n")

    def run(*args, cwd=tmp_path, typed=None, **settings):
        env = surroundings(**settings)
        env["PYTHONPATH"] += os.pathsep + str(site)
        done = subprocess.run(
            [sys.executable, *args],
            capture_output=True,
            text=True,
            input=typed,
            env=env,
            cwd=cwd,
            timeout=120,
        )
        return done.returncode, done.stdout, done.stderr

    return run
