"""numpy.frombuffer() over bytes, which are an input of the graph."""

import re
import struct
import sys

import dyntrace
import numpy as np
import pytest
from differential import check

DATA = struct.pack("<8d", *[x * 0.5 for x in range(8)])
V = np.arange(4.0)


@pytest.mark.parametrize(
    "call",
    [
        "np.frombuffer(data)",
        "np.frombuffer(data, 'u1')",
        "np.frombuffer(data, dtype=np.int32, count=3)",
        "np.frombuffer(data, 'i2', offset=6)",
        "np.frombuffer(data, 'f8', 2, 3)",
        "np.frombuffer(data, '>i4')",
        "np.frombuffer(data, np.float32, -1, 4)",
        "np.frombuffer(data, 'u8', 2, 8)",
    ],
)
def test_captured(call):
    scope = {"np": np}
    exec(f"def f(data, v):\n    a = {call}\n    return a, a.astype(float)[:2] + v[:2], len(a)", scope)
    check(scope["f"], DATA, V)
    found = dyntrace.explain(scope["f"])(DATA, V)
    assert found.breaks == [] and len(found.graphs) == 1
    result = dyntrace.compile(scope["f"])(DATA, V)[0]
    assert result.base is DATA and not result.flags.writeable


def test_other_bytes_find_the_entry():
    fn = lambda data: np.frombuffer(data, "f4") * 2  # noqa: E731
    compiled = dyntrace.compile(fn)
    seen = []
    for i in range(12):
        data = struct.pack("<3f", i, i + 1, i + 2)
        assert compiled(data).tobytes() == fn(data).tobytes()
        seen.append(compiled(data))
    assert len({a.tobytes() for a in seen}) == 12
    assert len(dyntrace.explain(compiled)(data).graphs) == 1
    check(fn, struct.pack("<5f", *range(5)))


def test_parts_of_any_length():
    """With a count, only the type is guarded."""

    def fn(data, at):
        head = np.frombuffer(data, "u2", 2, 4)
        return head + at, head.sum()

    compiled = dyntrace.compile(fn)
    for length in (8, 9, 100, 3, 8):
        data = bytes(range(length))
        try:
            expected = fn(data, 3)
        except ValueError as error:
            with pytest.raises(ValueError, match=re.escape(str(error))):
                compiled(data, 3)
        else:
            got = compiled(data, 3)
            assert got[0].tobytes() == expected[0].tobytes() and got[1] == expected[1]


def test_the_array_keeps_the_bytes():
    def fn(data, v):
        return np.frombuffer(data, "f8", 2) + v[:2], np.frombuffer(data, "u1")

    def references(call):
        data = bytes(bytearray(DATA))
        before = sys.getrefcount(data)
        sums, kept = call(data, V)
        assert kept.base is data and sums.tolist() == [0.0, 1.5]
        during = sys.getrefcount(data)
        del kept
        return during - before, sys.getrefcount(data) - before

    compiled = dyntrace.compile(fn)
    for _ in range(3):
        assert references(compiled) == references(fn)


def test_bytes_that_are_known_too():
    def fn(data, v):
        if data[:2] == b"\0\0" and len(data) == 64:
            return np.frombuffer(data, "f8")[:4] * v
        return np.frombuffer(data[2:10], "f8") + v

    check(fn, DATA, V)
    check(fn, b"ab" + DATA, V)
    check(lambda v: np.frombuffer(b"\1\2\3\4", "u1") + v, V)


def test_writes_are_refused():
    def fn(data):
        a = np.frombuffer(data, "u1")
        try:
            a[0] = 1
        except ValueError as error:
            return str(error), a.sum()

    check(fn, DATA, breaks="array-mutation")


@pytest.mark.parametrize(
    "call",
    [
        "np.frombuffer(data, 'f8', 9)", "np.frombuffer(data[:3])", "np.frombuffer(data, 'f8', offset=65)",
        "np.frombuffer(data, 'f8', offset=-1)", "np.frombuffer(b'')", "np.frombuffer(data, 'i4', -2)",
        "np.frombuffer(data, 'f8', 0)", "np.frombuffer(data[:9])", "np.frombuffer(data, '?')",
        "np.frombuffer(bytearray(data))", "np.frombuffer(memoryview(data), 'u1')",
        "np.frombuffer(buffer=data)", "np.frombuffer(v)", "np.frombuffer(data, 'S4')",
    ],
)  # fmt: skip
def test_what_is_not_taken(call):
    scope = {"np": np}
    exec(
        f"def f(data, v):\n    b = v * 2\n    try:\n        a = {call}\n"
        "    except (ValueError, TypeError) as e:\n        return type(e), str(e), b\n"
        "    return a, b",
        scope,
    )
    compiled = dyntrace.compile(scope["f"])
    for _ in range(3):
        expected, got = scope["f"](DATA, V), compiled(DATA, V)
        assert repr(expected) == repr(got)
