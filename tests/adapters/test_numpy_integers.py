"""Integers of the graph in functions that take a dry run: as data, or saying how large the result is."""

import numpy as np
import pytest
from differential import check, check_calls

X = np.arange(1.0, 9.0)
M = np.arange(12.0).reshape(3, 4)
N = np.array([2, 3, 1])

SIZES = """
np.hanning(n[0])
np.kaiser(n[1], 1.0)
np.identity(n[1])
np.tri(4, n[0])
np.vander(x, n[1])
np.resize(x, n[0])
np.resize(x, n[:2])
np.indices(n)
np.diagflat(x, n[0])
np.fft.fftfreq(n[1])
np.fft.rfft(x, n[1])
np.triu_indices(n[1])
np.diag_indices(n[1])
np.append(m, m[:, :3].T if m.shape[0] == 4 else m, axis=n[0] - 1)
np.delete(x, n)
np.delete(x, n[0])
np.insert(x, n, 5.0)
np.pad(x, n[0])
np.pad(x, n[:2])
np.polyfit(x, x, n[0])
np.polyder(x, n[0])
np.tensordot(m, m.T, n[0] - 1)
np.unpackbits(n.astype("u1"), count=n[1])
np.logspace(0, 1, n[1])
np.histogram(x, n[1])
""".strip().splitlines()

DATA = """
np.searchsorted(x, n)
np.take_along_axis(m, n[None, :].T, 1)
np.isin(n, [1, 2])
np.interp(n, x, x)
np.convolve(n, n)
np.digitize(n, x)
np.ediff1d(n)
np.choose(n - 1, [n, n * 2, n * 3])
np.linalg.svd(np.outer(n, n) + 1)[1]
np.polyfit(n, n * 2, 1)
np.linalg.pinv(np.outer(n, n))
np.bincount(n)
np.unique(n)
""".strip().splitlines()


def function(expression):
    scope = {"np": np}
    exec(
        f"def f(x, m, n):\n    c = {expression}\n    parts = c if type(c) is tuple else (c,)\n"
        "    return [(p * 2, p.shape, len(p)) for p in parts], x + 1",
        scope,
    )
    return scope["f"]


@pytest.mark.parametrize("expression", SIZES)
def test_integers_that_are_sizes(expression):
    check_calls(function(expression), (X, M, N), (X, M, N[::-1].copy()), (X, M, N), whole=False)


@pytest.mark.parametrize("expression", DATA)
def test_integers_that_are_data(expression, capfd):
    whole = "bincount" not in expression and "unique" not in expression
    check_calls(function(expression), (X, M, N), (X, M, N + 0), whole=whole)
    said = capfd.readouterr()
    assert (said.out, said.err) == ("", "")


def test_lapack_says_nothing_while_tracing(capfd):
    def trend(x):
        t = np.arange(len(x))
        return x - np.polyval(np.polyfit(t, x, 2), t)

    check(trend, X)
    assert capfd.readouterr().out == ""
