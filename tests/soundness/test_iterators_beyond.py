"""Iterators over lists that have become shorter than where they stand, across a break."""

import dyntrace
import pytest


@dyntrace.disable
def opaque(*_):
    pass


def backwards(items, takes):
    seen = []
    for item in reversed(items):
        seen.append(item)
        del items[:takes]
        opaque()
    return seen


def forwards(items, takes):
    seen = []
    for item in items:
        seen.append(item)
        del items[:takes]
        opaque(items)
        items.append(len(seen)) if len(seen) < 9 else None
    return seen


def handled(items, takes):
    seen = []
    for item in reversed(items):
        seen.append(item)
        try:
            del items[:takes]
            [].pop()
        except IndexError:
            items.pop(0)
        opaque()
    return seen


def of_bytes(items, takes):
    data, seen = bytearray(items), []
    for item in reversed(data):
        seen.append(item)
        del data[:takes]
        opaque()
    for item in data:
        seen.append(item)
        del data[-takes:]
        opaque(data)
        data.append(7) if len(seen) < 9 else None
    return seen, data


@pytest.mark.parametrize("takes", [1, 2, 3])
@pytest.mark.parametrize("function", [backwards, forwards, handled, of_bytes])
def test_an_iterator_stands_beyond_the_end(function, takes):
    compiled = dyntrace.compile(function)
    for length in (7, 7, 6, 5, 9, 7, 4):
        seen = []
        for target in (function, compiled):
            items = list(range(length))
            try:
                seen.append((target(items, takes), items))
            except IndexError as error:
                seen.append((str(error), items))
        assert seen[0] == seen[1], length
