"""Small parts of large arrays that are written, as blocks are added to a matrix of equations."""

import dyntrace
import numpy as np
import pytest
from differential import check_calls

RNG = np.random.default_rng(11)
BLOCK = RNG.normal(size=(3, 3))


def added(h, i, j):
    h[i : i + 3, j : j + 3] += BLOCK.T @ BLOCK


def four_blocks(h, i, j):
    h[i : i + 3, i : i + 3] += BLOCK
    h[i : i + 3, j : j + 3] -= BLOCK.T
    h[j : j + 3, i : i + 3] += BLOCK * 2
    h[j : j + 3, j : j + 3] *= BLOCK
    return h[i, j]


def fixed(h, i, j):
    h[3:6, 3:6] += BLOCK
    h[:2] = h[2:4] * 2
    return h[3:6, 3:6].sum()


def assigned(h, i, j):
    h[i : i + 3, j : j + 3] = BLOCK
    h[i] = 1.5
    h[:, j] = h[j]
    h[i : i + 2, ::2] = 0


def over_itself(h, i, j):
    h[1:4, 1:4] += h[0:3, 0:3]
    h[2:5] = h[1:4] + h[3:6]


def turned(h, i, j):
    h.T[i : i + 3, j : j + 3] += BLOCK
    h[::-1, ::-1][i : i + 3] += 1.0


def most_of_it(h, i, j):
    h[1:-1, 1:-1] += 1.0
    h[i:, j:] = 2.0


def fails_later(h, i, j):
    h[3:6, 3:6] += BLOCK
    h[i : i + 3, :3] = BLOCK
    return h[:3] @ np.ones(7)


FUNCTIONS = [added, four_blocks, fixed, assigned, over_itself, turned, most_of_it, fails_later]


@pytest.mark.parametrize("size", [12, 90, 100, 150])
@pytest.mark.parametrize("fn", FUNCTIONS)
def test_parts(fn, size):
    h = RNG.normal(size=(size, size))
    places = [(0, 3), (3, 0), (5, 5), (2, 4), (6, 9), (-4, 1)]
    check_calls(fn, *[(h.copy(), *place) for place in places], whole=False)
    for other in (np.asfortranarray(h), np.repeat(h, 2, axis=1)[:, ::2], h.astype("f4"), (h * 9).astype(int)):
        check_calls(fn, *[(other.copy(order="K"), *place) for place in places[:3]], whole=False)


@pytest.mark.parametrize("fn", [added, four_blocks, fixed])
def test_compiled_code_serves_large_arrays(fn):
    run = dyntrace.compile(fn, fullgraph=True)
    h = RNG.normal(size=(200, 200))
    for i in range(40):
        run(h, i, 3 * i)
    assert [entry["plain"] for entry in run.cache_entries()] == [False]
    assert sum(entry["replays"] for entry in run.cache_entries()) == 0


def test_what_was_written_is_put_back():
    def fn(h, x):
        h[3:6, 3:6] += BLOCK
        return np.log(x)

    run = dyntrace.compile(fn)
    h = RNG.normal(size=(200, 200))
    for _ in range(3):
        run(h, np.ones(3))
    before = h.copy()
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        run(h, np.array([-1.0]))
    before[3:6, 3:6] += BLOCK  # plain execution has written, once
    assert (h == before).all()
