"""Line tables and exception tables: real ones, their round trip, and random bytes."""

import sys

import pytest
from dyntrace._core import _testing
from hypothesis import given, settings
from hypothesis import strategies as st
from opcode_cases import SOURCES_HERE, codes_of

PAIRS, LOCATIONS = True, False
OWN = PAIRS if sys.version_info < (3, 11) else LOCATIONS


@pytest.mark.parametrize("source", SOURCES_HERE)
def test_real_tables(source):
    """Decoded and encoded again they are the same bytes."""
    for code in codes_of(source):
        entries, again = _testing.line_table(OWN, code.co_linetable, code.co_firstlineno)
        assert again == code.co_linetable
        assert entries[0][0] == 0 and entries[-1][1] == len(code.co_code)
        if hasattr(code, "co_exceptiontable"):
            entries, again = _testing.exception_table(code.co_exceptiontable)
            assert again == code.co_exceptiontable


def merged(entries):
    """Neighbours with the same position as one, lengths in whole units."""
    result = []
    for start, end, *position in entries:
        if result and result[-1][1] == start and result[-1][2:] == position:
            result[-1][1] = end
        else:
            result.append([start, end, *position])
    return result


@settings(max_examples=400, deadline=None)
@given(st.binary(max_size=80), st.booleans(), st.integers(-5, 10**6))
def test_random_line_tables(data, pairs, firstlineno):
    try:
        entries, again = _testing.line_table(pairs, data, firstlineno)
    except ValueError as error:
        assert "broken line table" in str(error)
        return
    position = 0
    for start, end, *_ in entries:
        assert start == position and end > start
        position = end
    if all(line >= -1 and (end - start) % 2 == 0 for start, end, line, *_ in entries):
        twice, same = _testing.line_table(pairs, again, firstlineno)
        assert _testing.line_table(pairs, same, firstlineno)[0] == twice


@st.composite
def line_entries(draw):
    """Entries as a compiler could have them, in the form of the pairs or of the locations."""
    count = draw(st.integers(1, 12))
    return [(draw(st.integers(1, 40)), draw(st.one_of(st.just(-1), st.integers(1, 2000))))
            for _ in range(count)]


@settings(max_examples=200, deadline=None)
@given(line_entries())
def test_pairs_round_trip(entries):
    """Any sequence of lengths and lines survives, whatever its jumps."""
    data, line = b"", 1
    for units, wanted in entries:
        step = 0 if wanted < 0 else wanted - line
        while step > 127 or step < -127:
            part = 127 if step > 0 else -127
            data += bytes([0, part & 255])
            step -= part
        data += bytes([units * 2, 128 if wanted < 0 else step & 255])
        line = line if wanted < 0 else wanted
    decoded, again = _testing.line_table(PAIRS, data, 1)
    assert again == data
    assert [(end - start) // 2 for start, end, *_ in decoded] == [units for units, _ in entries]
    assert [entry[2] for entry in decoded] == [wanted for _, wanted in entries]


@settings(max_examples=400, deadline=None)
@given(st.binary(max_size=60))
def test_random_exception_tables(data):
    try:
        entries, again = _testing.exception_table(data)
    except ValueError as error:
        assert "broken exception table" in str(error)
        return
    assert _testing.exception_table(again)[0] == entries


def varint(value, first):
    digits = [value & 63]
    while value >= 64:
        value >>= 6
        digits.append(value & 63)
    digits = [digit | 64 for digit in digits[:0:-1]] + [digits[0]]
    return bytes([digits[0] | (128 if first else 0)] + digits[1:])


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 1 << 20), st.integers(0, 1 << 20),
                          st.integers(0, 1 << 20), st.integers(0, 5000), st.booleans()),
                max_size=6))
def test_exception_round_trip(entries):
    data = b"".join(varint(start, True) + varint(length, False) + varint(target, False)
                    + varint(depth * 2 + lasti, False)
                    for start, length, target, depth, lasti in entries)
    decoded, again = _testing.exception_table(data)
    assert decoded == [(start, start + length, target, depth, int(lasti))
                       for start, length, target, depth, lasti in entries]
    assert again == data


@pytest.mark.parametrize("data", [b"\x80", b"\x00", b"\x80\x01", b"\xc0\x40\x40\x40\x40\x40\x40",
                                  b"\xff" * 20, b"\x80\x80\x00\x00"])
def test_broken_exception_tables(data):
    with pytest.raises(ValueError, match="broken exception table"):
        _testing.exception_table(data)


@pytest.mark.parametrize("pairs, data", [(PAIRS, b"\x02"), (LOCATIONS, b"\x01"),
                                         (LOCATIONS, b"\xf0"), (LOCATIONS, b"\xe8\x80"),
                                         (LOCATIONS, b"\xf0" + b"\x7f" * 9)])
def test_broken_line_tables(pairs, data):
    with pytest.raises(ValueError, match="broken line table"):
        _testing.line_table(pairs, data, 1)
