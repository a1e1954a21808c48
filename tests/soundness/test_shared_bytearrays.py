"""Bytearrays whose memory arrays and memoryviews show: a write to one is seen in the other."""

import dyntrace
import numpy as np
import pytest

COUNTED = np.arange(4, dtype=np.int32)


def array_from_buffer(contents):
    array = np.frombuffer(contents, np.int32)
    array += 7
    return contents[:8], array.tolist()


def array_over_a_view(contents):
    array = np.asarray(memoryview(contents).cast("i"))
    array[2] = -1
    return contents.hex()


def new_contents(contents):
    contents = bytearray(contents)
    array = np.frombuffer(contents, np.int32)
    array[1] = 5
    return contents[4], array.sum()


def bytes_written_before(contents):
    array = np.frombuffer(contents, np.int32)
    contents[0] = 9
    return (array + 1).tolist(), contents[0]


def too_long(contents):
    array = np.frombuffer(contents, np.int32)
    try:
        contents.append(1)
    except BufferError as error:
        return str(error), array.tolist()


FUNCTIONS = [
    array_from_buffer,
    array_over_a_view,
    new_contents,
    bytes_written_before,
    too_long,
]


def told(function, contents, *arrays):
    """What a call gives and leaves, as text."""
    return repr((function(contents, *arrays), contents, *arrays))


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_arrays_that_the_function_makes(function):
    compiled = dyntrace.compile(function)
    plain = told(function, bytearray(COUNTED))
    assert [told(compiled, bytearray(COUNTED)) for _ in range(3)] == [plain] * 3


def array_written(contents, array):
    array[1] = 0
    return contents[:8], array.tolist()


def bytes_written(contents, array):
    before = array + 1
    contents[0] = 9
    return (array + before).tolist(), contents[0]


@pytest.mark.parametrize("order", [[True] * 3, [False, False, True, False, True]], ids=str)
@pytest.mark.parametrize("function", [array_written, bytes_written], ids=lambda f: f.__name__)
def test_arrays_that_the_caller_has(function, order):
    """A call that shares no memory has the same contents as one that does."""
    compiled = dyntrace.compile(function)
    for shared in order:
        results = []
        for call in (function, compiled):
            contents = bytearray(COUNTED)
            array = np.frombuffer(contents if shared else bytearray(COUNTED), np.int32)
            results.append(told(call, contents, array))
        assert results[0] == results[1]


class Bytes(bytearray):
    """Bytes with a class of their own."""


def test_bytes_of_a_subclass():
    results = []
    for call in (array_written, dyntrace.compile(array_written)):
        contents = Bytes(COUNTED)
        results.append(told(call, contents, np.frombuffer(contents, np.int32)))
    assert results[0] == results[1]
