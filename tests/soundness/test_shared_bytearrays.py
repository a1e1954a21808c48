"""Bytearrays whose memory arrays and memoryviews show: a write to one is seen in the other."""

import ctypes

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


def array_on_the_bytes(contents):
    """It gives the buffer back at once: the bytearray counts none."""
    array = np.ndarray(4, np.int32, buffer=contents)
    array[1] = 0
    return contents[:8]


def bytes_written_under_an_array(contents):
    array = np.ndarray(4, np.int32, contents)
    before = array + 1
    contents[0] = 9
    return before.tolist(), (array + before).tolist(), contents[0]


def view_of_a_view(contents):
    array = np.ndarray((2, 2), np.int32, memoryview(contents)).T[::-1].view()
    array[0, 1] = 44
    return contents.hex(), list(contents)


def by_turns(contents):
    array = np.ndarray(4, np.int32, contents)
    seen = []
    for k in range(3):
        array[k] += 10
        seen.append(contents[4 * k])
        contents[4 * k + 1] = k
        seen.append(int(array[k]))
    return seen


def new_contents_under_an_array(contents):
    contents = bytearray(contents)
    array = np.ndarray(4, np.int32, contents)
    array -= 1
    return contents, array.sum()


FUNCTIONS = [
    array_from_buffer,
    array_on_the_bytes,
    bytes_written_under_an_array,
    view_of_a_view,
    by_turns,
    new_contents_under_an_array,
    array_over_a_view,
    new_contents,
    bytes_written_before,
    too_long,
]


def told(function, contents, *arrays):
    """What a call gives or raises, and leaves, as text."""
    try:
        result = function(contents, *arrays)
    except Exception as error:
        result = (type(error).__name__, str(error))
    return repr((result, contents, *arrays))


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


def first_and_last(contents, array):
    first = contents[4]
    array[1] = 0
    return first, contents[4], contents[:]


def only_some_decide(contents, array):
    array[:1] *= 5
    array += 1
    if contents[0] > 0:
        return "more", contents[0]
    return "less", contents[4]


def each_byte(contents, array):
    for value in contents[:4]:
        array[value % 4] += 1
    return contents, array.tolist()


class Array(np.ndarray):
    """An array with a class of its own."""


def of_an_address(contents):
    start = ctypes.addressof(ctypes.c_char.from_buffer(contents))
    return np.ctypeslib.as_array((ctypes.c_int * 4).from_address(start))


ARRAYS = {
    "frombuffer": lambda contents: np.frombuffer(contents, np.int32),
    "buffer": lambda contents: np.ndarray(4, np.int32, contents),
    "part": lambda contents: np.ndarray(3, np.int32, contents, offset=4),
    "backwards": lambda contents: np.ndarray(4, np.int32, contents)[::-1],
    "memoryview": lambda contents: np.ndarray(4, np.int32, memoryview(contents)),
    "bytes of an array": lambda contents: np.ndarray(4, np.int32, np.ndarray(16, "u1", contents)),
    "address": of_an_address,
    "subclass": lambda contents: np.ndarray(4, np.int32, contents).view(Array),
    "texts": lambda contents: np.ndarray(4, "S4", contents),
}


@pytest.mark.parametrize("order", [[True] * 3, [False, False, True, False, True]], ids=str)
@pytest.mark.parametrize("array", ARRAYS)
@pytest.mark.parametrize(
    "function",
    [array_written, bytes_written, first_and_last, only_some_decide, each_byte],
    ids=lambda f: f.__name__,
)
def test_arrays_that_the_caller_has(function, array, order):
    """A call that shares no memory has the same contents as one that does."""
    compiled = dyntrace.compile(function)
    for shared in order:
        results = []
        for call in (function, compiled):
            contents, other = bytearray(COUNTED), bytearray(COUNTED)
            results.append(told(call, contents, ARRAYS[array](contents if shared else other)))
        assert results[0] == results[1]


def test_memory_apart_is_one_graph():
    """Only memory that is shared breaks, and the guard says so."""
    compiled = dyntrace.compile(array_written)
    contents, array = bytearray(COUNTED), COUNTED.copy()
    compiled(contents, array)
    (entry,) = compiled.cache_entries()
    assert "L['array'] shows none of the memory of L['contents']" in entry["guards"]
    compiled(contents, COUNTED.copy())
    assert len(compiled.cache_entries()) == 1


class Bytes(bytearray):
    """Bytes with a class of their own."""


def test_bytes_of_a_subclass():
    results = []
    for call in (array_written, dyntrace.compile(array_written)):
        contents = Bytes(COUNTED)
        results.append(told(call, contents, np.frombuffer(contents, np.int32)))
    assert results[0] == results[1]
