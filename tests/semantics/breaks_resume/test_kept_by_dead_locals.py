"""A local that nobody reads again still keeps its object alive until the frame ends."""

import weakref

import dyntrace
import pytest
from differential import Compiled


class Handler:
    pass


def through_references():
    first, second = Handler(), Handler()
    references = list(map(weakref.ref, [first, second]))
    return [reference() is not None for reference in references]


def through_one_reference():
    handler = Handler()
    reference = weakref.ref(handler)
    return reference() is not None


def replaced():
    handler = Handler()
    reference = weakref.ref(handler)
    handler = Handler()
    alive = reference() is not None
    return alive, handler is not None


def function_object():
    def inner():
        return 1

    reference = weakref.ref(inner)
    return reference() is not None


@pytest.mark.parametrize(
    "fn", [through_references, through_one_reference, replaced, function_object]
)
def test_lives_until_the_frame_ends(fn):
    with dyntrace.config.patch(everything=True, strict=True):
        compiled = Compiled(fn)
        for _ in range(3):
            assert compiled() == fn()
