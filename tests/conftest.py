"""Shared by all tests.

The suite runs in two environments: an installed dyntrace with NumPy, and a core built where there
is no NumPy. In the second, a test module that imports NumPy is skipped as a whole, and a test that
imports it inside its body is skipped alone; neither has to be marked. A module that can do without
asks `importlib.util.find_spec("numpy")` before it imports.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path

import pytest

TESTS = str(Path(__file__).parent)


class _NoNumPy:
    """Turns `import numpy` in a test file into a skip; imports by others fail as usual."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != "numpy":
            return None
        frame = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename.startswith("<frozen importlib"):
            frame = frame.f_back
        if frame is not None and frame.f_code.co_filename.startswith(TESTS):
            pytest.skip("needs NumPy", allow_module_level=True)
        return None


if importlib.util.find_spec("hypothesis") is not None:
    import hypothesis

    # A busy machine is no failure.
    hypothesis.settings.register_profile("dyntrace", deadline=None)
    hypothesis.settings.load_profile("dyntrace")

if importlib.util.find_spec("numpy") is None:
    sys.meta_path.append(_NoNumPy)


def pytest_configure(config):
    """What the tests ask about compiled code must not depend on how fast this machine is."""
    if importlib.util.find_spec("dyntrace") is not None:
        import dyntrace

        dyntrace.config.weigh_after = 0


def pytest_report_header(config):
    try:
        import dyntrace
    except ImportError as error:
        return f"dyntrace: cannot be imported ({error})"
    numpy = sys.modules.get("numpy") or (
        importlib.import_module("numpy") if importlib.util.find_spec("numpy") else None
    )
    return f"dyntrace: {dyntrace.__file__}; NumPy: {getattr(numpy, '__version__', 'none')}"
