"""array.flat, np.ndenumerate, and indices with tuples inside."""

import dyntrace
import numpy as np
import pytest
from differential import Compiled, Outcome, check, compare

V = np.arange(1.0, 7.0)
M = np.arange(12.0).reshape(3, 4)
I = np.arange(12).reshape(3, 4)


def writes(a):
    b = a * 1
    b.flat[2] = 7
    b.flat[-1] = 2.5
    b.flat[4:8] = 1
    b.flat[::3] = np.float64(9.0)
    return b


def writes_an_argument(a):
    a.flat[1] = 5.0
    return a + 1, a.flat[1]


def writes_a_part(a):
    b = a[:, 1]
    b.flat[0] = 3.0
    return a, b


def goes_over(a):
    total = 0.0
    for x in a.flat:
        total = total + x * 2
    return total


def writes_while_it_goes_over(a):
    b = a * 1
    out = []
    for x in b.flat:
        b[0, 1] = 100.0
        out.append(x + 1)
    return out, b


def numbered(a):
    out = a * 0
    for place, x in np.ndenumerate(a):
        out[place] = x + place[0]
    return out


def numbers(a):
    return [(i, x * 2) for i, x in np.ndenumerate(a)]


def diagonal(a):
    b = a @ a.T
    b.flat[:: b.shape[0] + 1] += 1.0
    b.flat[1::2] = b.flat[1::2] * 2
    return b


def whole(a):
    b = np.zeros(a.shape[::-1])
    b.flat = a * 2
    c = np.zeros_like(a.T)
    c.flat = np.sqrt(a)
    a.flat = a.T + 1
    return b, c


def of_an_argument(a):
    b = np.zeros(a.shape)
    b.flat = a
    c = np.zeros(a.size)
    c.flat[::-1] = a[::-1].T
    return b, c


def at_numbers(a):
    b = a * 1
    b.flat[b.argmax()] = -1.0
    b.flat[np.int64(2)] = 5
    return b


def items(a):
    total = 0.0
    for x in np.nditer(a):
        total = total + x * 2
    return total


FOLLOWED = {
    "items": (items, M), "items of a row": (lambda a: [x + 1 for x in np.nditer(a)], V),
    "items themselves": (lambda a: list(np.nditer(a * 2)), M),
    "diagonal": (diagonal, M), "whole": (whole, M), "of an argument": (of_an_argument, M),
    "at numbers": (at_numbers, M), "turned ones": (lambda a: caught(a, a.T, slice(None)), M),
    "an argument's": (lambda a: caught(a, a, slice(None)), M),
    "an item": (lambda a: a.flat[2] + 1, V),
    "an item of a matrix": (lambda a: (a.flat[5], a.flat[-1] * 2), M),
    "of a transposed one": (lambda a: (a.T.flat[1], a.T.flat[1:4] * 2), M),
    "a part": (lambda a: (a.flat[1:3], a.flat[::-2] + 1), M),
    "picked": (lambda a: (a.flat[[1, 3, 3]], a.flat[a.astype(int)[0, 1:3]]), M),
    "length": (lambda a: (len(a.flat), a.flat.copy()), M),
    "list": (lambda a: [x * 2 for x in a.flat], M),
    "sum": (lambda a: sum(a.flat) + 1, V),
    "of every second": (lambda a: [x + 1 for x in a[::2].flat], V),
    "goes over": (goes_over, M), "writes": (writes, M), "writes an argument": (writes_an_argument, V),
    "writes a part": (writes_a_part, M), "writes while it goes over": (writes_while_it_goes_over, M),
    "numbered": (numbered, M), "numbers": (numbers, V),
    "numbers of none": (lambda a: list(np.ndenumerate(a.sum(keepdims=True).reshape(()))), V),
    "nested tuple": (lambda m: (m[(0, (1, 2))], m[(0, 1), (1, 2)] * 2), M),
    "nested deeper": (lambda m: m[((0, 1), (2, 0)), 1], M),
    "nested list in tuple": (lambda m: m[([0, 1], [1, 2]), 1:3], M),
    "tuple alone": (lambda m: m[(0, 2),], M),
}  # fmt: skip


@pytest.mark.parametrize("name", FOLLOWED)
def test_is_followed(name):
    fn, a = FOLLOWED[name]
    check(fn, a)


def test_a_nested_tuple_is_written():
    def fn(m):
        m[(0, 1), (1, 2)] = 7
        m[(2, (0, 1))] += 1
        return m * 2

    check(fn, M)


@pytest.mark.skipif(not hasattr(np.ndarray, "device"), reason="this NumPy has no devices")
def test_device():
    check(lambda a: (a + 1, a.device), V)


def twice(a):
    flat = a.flat
    first = next(flat)
    return first, [x * 2 for x in flat]


def cycles(a):
    b = a * 1
    b.flat[0:4] = [1, 2]
    return b


def caught(a, value, key):
    b = a * 1
    try:
        b.flat[key] = value
    except Exception as error:
        return b, type(error), str(error)
    return b


BREAKS = {
    "out of bounds": (lambda a: (a + 1, a.flat[100]), V),
    "twice": (twice, V),
    "cycles": (cycles, V),
    "kept": (lambda a: (a + 1, type(a.flat).__name__), V),
    "compared": (lambda a: (a.flat == a, a + 1), V),
    "added": (lambda a: caught_add(a), V),
    "its place": (lambda a: (a.flat.index, a.flat.coords, a.flat.base is a, a + 1), V),
    "text": (lambda a: (str(a.flat)[:15], a + 1), V),
    "an array of it": (lambda a: np.array(a.flat) * 2, V),
    "in it": (lambda a: (3.0 in a.flat, a + 1), V),
    "is it": (lambda a: (isinstance(a.flat, np.flatiter), a + 1), V),
    "in Fortran's order": (lambda a: [x * 2 for x in np.asfortranarray(a).T.T.flat], M),
    "a float for an int": (lambda a: caught(a, 2.5, 1), I),
    "NaN for an int": (lambda a: caught(a, float("nan"), 1), I),
    "complex": (lambda a: caught(a, 1j, 1), M),
    "bad index": (lambda a: caught(a, 1.0, 99), M),
    "an array": (lambda a: caught(a, a[0], slice(0, 7)), M),
    "as many of another dtype": (lambda a: caught(a, (a * 1).astype(int), slice(None)), M),
    "an array for an item": (lambda a: caught(a, a[0] + 1, 2), M),
    "a view of itself": (lambda a: turned(a * 1), M),
    "itself turned": (lambda a: turned(a), M),
    "a text": (lambda a: caught(a, "x", 1), M),
    "items in another order": (lambda a: [x * 2 for x in np.nditer(a.T)], M),
    "items backwards": (lambda a: [x * 2 for x in np.nditer(a[::-1])], V),
    "items of two": (lambda a: [x * y for x, y in np.nditer([a, a + 1])], V),
    "items with flags": (lambda a: [x * 2 for x in np.nditer(a, flags=["buffered"])], V),
    "items to write": (lambda a: _doubled(a * 1), V),
    "an item's place": (lambda a: np.nditer(a).itersize + a, V),
    "half gone over": (lambda a: (next(np.ndenumerate(a)), half(a)), V),
}


def _doubled(a):
    with np.nditer(a, op_flags=["readwrite"]) as it:
        for x in it:
            x[...] = 2 * x
    return a


def turned(a):
    a.flat = a[::-1]
    return a + 1


def caught_add(a):
    try:
        return a.flat + object()
    except TypeError as error:
        return str(error), a + 1


def existing(a, items):
    return a * 2, next(items)


def test_one_that_existed_before():
    for _ in range(3):
        assert dyntrace.compile(existing)(V, np.ndenumerate(V))[1] == ((0,), 1.0)


def half(a):
    numbered_items = np.ndenumerate(a)
    next(numbered_items)
    return numbered_items.iter.index, list(numbered_items)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", BREAKS)
def test_runs_plainly(name):
    fn, a = BREAKS[name]
    compiled = Compiled(fn)
    for _ in range(3):
        compare(Outcome(fn, [a.copy()], {}), Outcome(compiled, [a.copy()], {}))
    assert compiled.breaks
