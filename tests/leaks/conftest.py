"""Collections while these tests count are quick."""

import gc

import pytest


@pytest.fixture(autouse=True)
def quick_collections():
    """What other tests made is not looked at again and again."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()
