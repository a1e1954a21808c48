"""Arithmetic of numbers whose result nobody looks at: it raises all the same when its turn comes."""

import math

import numpy as np
import pytest
from twins import lead

X = np.ones(4)
NAN, INF = math.nan, math.inf

CASES = {
    "1 // k": [2, 3, 0, 5, 2.0, 0.0, 0],
    "1 % k": [2, 3, 0, 5.0, 0.0],
    "1 / k": [2, 3, 0, 2.0, 0.0],
    "1.0 / k": [2.0, 3.0, 0.0, NAN, 0],
    "divmod(3, k)": [2, 3, 0],
    "(k * k) // (k - 3)": [2, 4, 3],
    "k // 2 // (k - 1)": [3, 4, 1],
    "k /= k - 2": [3, 4, 2],
    "k ** -1": [2, 3, 0],
    "k ** 0.5": [4, 5, -4],
    "2.0 ** k": [2, 3, 10000],
    "1 << k": [3, 4, -1],
    "range(1, 5, k)": [3, 4, 0],
    "int(k)": [2.0, 3.0, NAN, INF],
    "round(k)": [2.5, 3.0, NAN, INF],
    "math.sqrt(k)": [2.0, 3.0, -1.0, NAN, 4, -4],
    "math.log(k)": [2.0, 3.0, 0.0, -1.0, INF],
    "math.exp(k)": [2.0, 3.0, 1e4, NAN, -INF],
    "math.sin(k)": [2.0, 3.0, INF, NAN],
    "math.floor(k)": [2.5, 3.5, NAN, INF, 1e300],
    "math.sqrt(k) + 1.0 / math.sin(k)": [2.0, 3.0, -1.0, 0.0],
    "1 / k if k < 5 else 0": [2, 3, 7, 0],
}

ARGUMENT = "def fn(x, k):\n    {statement}\n    return x + 1.0\n"
ATTRIBUTE = "def fn(x, k):\n    k = k.n\n    {statement}\n    return x + 1.0\n"
CALLED = "def fn(x, k):\n    def inner(k):\n        {statement}\n    inner(k)\n    return x + 1.0\n"
LATER = "def fn(x, k):\n    x[0] += 1.0\n    {statement}\n    return x + 1.0\n"


class Holder:
    def __init__(self, n):
        self.n = n


def read(source, statement):
    space = {"math": math}
    exec(source.format(statement=statement), space)
    return space["fn"]


@pytest.mark.parametrize(
    "source",
    [ARGUMENT, ATTRIBUTE, CALLED, LATER],
    ids=["argument", "attribute", "called", "behind a write"],
)
@pytest.mark.parametrize("statement", CASES)
def test_it_raises_when_it_must(source, statement):
    wrap = Holder if source is ATTRIBUTE else lambda k: k

    def make():
        steps = [lambda k=k: (X.copy(), wrap(k)) for k in CASES[statement] * 2]
        return read(source, statement), None, steps

    lead(make)


# Numbers that are known only when arrays have been computed.
OF_ARRAYS = [
    "1 // x[x > k].size", "1 / x[x > k].size", "1 % x[x > k].shape[0]", "divmod(1, x[x > k].size)",
    "1 // len(x[x > k])", "1 // x[x > k].nbytes", "1 // (x[x > k] + 1.0).size",
    "1 // np.nonzero(x > k)[0].size", "1 // np.flatnonzero(x > k).size",
    "1 // np.unique(x[x > k]).size", "1 // x[x > k].reshape(-1).shape[-1]",
    "math.sqrt(x[x > k].size - 1)", "math.log(x[x > k].size)", "2 ** (x[x > k].size - 3)",
    "1 << (x[x > k].size - 2)", "x[x > k].size.bit_length()", "range(0, 5, x[x > k].size)",
    "0.0 ** (x[x > k].size - 2)", "1 // np.count_nonzero(x > k)", "1 / (x > k).sum().item()",
    "1.0 / float(x.sum() - 10 * k)", "1 // int(x[0] - k)", "math.sqrt(float(x[0] - k))",
    "int(x[0] / k)", "math.floor(float(x[0]) * k)", "1 / float(x[x > k].sum())",
]  # fmt: skip
BEFORE_A_WRITE = "def fn(x, k):\n    y = x * 2.0\n    {statement}\n    y[0] = 5.0\n    x[1] = 3.0\n    return y\n"
UNREAD = "def fn(x, k):\n    z = {statement}\n    x[0] = 7.0\n    return x * 2.0\n"


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "source", [ARGUMENT, BEFORE_A_WRITE, UNREAD], ids=["alone", "before a write", "stored"]
)
@pytest.mark.parametrize("statement", OF_ARRAYS)
def test_numbers_out_of_arrays_raise_when_they_must(source, statement):
    def make():
        space = {"math": math, "np": np}
        exec(source.format(statement=statement), space)
        ks = (1.5, 2.5, 1.0, 9.0, 0.0, NAN, INF, 2.0, 9.0)
        return space["fn"], None, [lambda k=k: (np.arange(1.0, 5.0), k) for k in ks]

    lead(make)
