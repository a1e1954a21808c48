"""The cases and the toy library lie beside and above these tests."""

import gc
import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]


@pytest.fixture(autouse=True)
def quick_collections():
    """What other tests made is not looked at again and again."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()
