"""What polyfills of NumPy expect of the data, where the original would go another way for others."""

import numpy as np
import pytest
from differential import check, check_calls

X = np.linspace(0.5, 3.0, 6)


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: (np.poly1d(x)(2.0), np.poly1d(x).c, np.poly1d(x).order),
        lambda x: np.piecewise(x, [x < 0, x >= 0], [lambda v: v - v.max(), lambda v: v / v.min()]),
    ],
    ids=["poly1d", "piecewise"],
)
def test_what_polyfills_expect_of_the_data(fn):
    x = np.array([3.0, -1.0, 0.0, 2.0])
    check_calls(
        fn, (x,), (x * 0,), (np.abs(x) + 1,), (x[::-1] * 0 - 1,), (x[2:],), (x,), whole=False
    )


def test_polynomials_share_the_memory_of_their_coefficients():
    def fn(x):
        c = x * 2
        p = np.poly1d(c)
        c[1] = 7
        x[0] += 1
        return p(x), p.c is p.coeffs, np.poly1d(x).c

    check(fn, X + 1)
