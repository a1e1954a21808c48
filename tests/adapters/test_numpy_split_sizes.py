"""Parts that an array is split into, and what is joined of them: their sizes stay numbers."""

from __future__ import annotations

import dyntrace
import pytest

np = pytest.importorskip("numpy")


def of_heads(x, heads):
    """Attention splits twice and puts the heads together."""
    parts = [np.split(part, heads, axis=-1) for part in np.split(x, 3, axis=-1)]
    return np.hstack([(q @ k.T) @ v for q, k, v in zip(*parts)])


def of_halves(x, heads):
    first, second = np.hsplit(x, 2)
    return np.concatenate([second, first], axis=1) - x[:, ::-1], first.shape, second.shape[1] * 2


def of_slices(x, heads):
    n = x.shape[1] // heads
    return np.hstack([x[:, i * n : (i + 1) * n] * i for i in range(heads)])


def of_running_ends(x, heads):
    n, end, parts = x.shape[1] // heads, 0, []
    for i in range(heads):
        start, end = end, end + n
        parts.append(x[:, start:end] - i)
    return np.hstack(parts[::-1]), end


@pytest.mark.parametrize("heads", [1, 2, 4, 6])
@pytest.mark.parametrize("function", [of_heads, of_halves, of_slices, of_running_ends])
def test_sizes_of_parts(function, heads):
    compiled = dyntrace.compile(function, fullgraph=True)
    for rows, width in [(3, 2), (4, 2), (5, 3), (7, 4), (1, 1)]:
        x = np.random.RandomState(rows).standard_normal((rows, 3 * 2 * heads * width))
        for given in (x, x[:, ::-1], np.asfortranarray(x)):
            assert repr(compiled(given, heads)) == repr(function(given, heads))


def test_an_uneven_split_raises_as_plainly():
    compiled = dyntrace.compile(of_halves)
    for width in (4, 6, 7, 8, 9):
        x = np.arange(2.0 * width).reshape(2, width)
        if width % 2:
            with pytest.raises(
                ValueError, match="array split does not result in an equal division"
            ):
                compiled(x, 2)
        else:
            assert repr(compiled(x, 2)) == repr(of_halves(x, 2))
