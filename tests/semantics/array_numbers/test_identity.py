"""`is` of numbers out of arrays: truth values and small ints are one object for all who ask."""

import dyntrace
import numpy as np
import pytest
from differential import check

TRUE, FIVE, LARGE, TWO = True, 5, 300, 2.0


def truth(x):
    flag = bool(x[0] > 3)
    return flag is TRUE, flag is False, flag is None, flag is not TRUE


def small_int(x):
    n = int(x[0])
    return n is FIVE, n is LARGE, n is n, n + 1 is n, n is not FIVE


def two_ints(x):
    return int(x[0]) is int(x[1]), int(x[0]) is not int(x[1])


def size_and_int(x):
    n = int(x[0])
    return n is x.size, x.size is n


def length_of_a_selection(x):
    return len(x[x > 3]) is x.ndim


def greater_of_two(x):
    a, b = float(x[0]), float(x[1])
    greater = max(a, b)
    return greater is a, greater is b


def other_types(x):
    n, f = int(x[0]), float(x[0])
    return n is f, f is n, n is None, f is x, n is TWO, f is FIVE


def in_a_loop(x):
    found = []
    for i in range(3):
        if bool(x[i] > 2) is TRUE:
            found.append(i)
    return found


def scalar_of_the_library(x):
    return (x > 3).all() is np.True_, np.False_ is (x > 3).any(), x.sum() is TWO


FUNCTIONS = (
    truth,
    small_int,
    two_ints,
    size_and_int,
    length_of_a_selection,
    greater_of_two,
    in_a_loop,
    scalar_of_the_library,
)


@pytest.mark.parametrize("fn", FUNCTIONS, ids=lambda fn: fn.__name__)
@pytest.mark.parametrize("items", [(5, 5, 1, 2, 3), (300, 300, 2), (0, 7, 2), (3, 1, 5)], ids=str)
@pytest.mark.parametrize("dtype", ["i8", "f8", "u1"])
def test_identity(fn, items, dtype):
    check(fn, np.array(items).astype(dtype), breaks="array-to-scalar")


def test_of_other_types_is_known():
    check(other_types, np.array([5.0, 5.0]))


def greater_argument(x, a, b):
    greater = max(a, b)
    return x * greater, greater is a, greater is b, max(a, b, 5) is b


def smaller_and_greater(x, a, b):
    least, most = min(a, b), max(a, b)
    return x * most, least, most, [most, least], a, b


def greater_of_computed(x, a, b):
    most = a * 1000
    return x * a, max(most, 5), most, a * 1000, b


LIMIT = 3.5


def limited(x, a, b):
    return x * a, max(LIMIT, 1.5), max(LIMIT, a), min((LIMIT, 99.0)), LIMIT


@pytest.mark.parametrize(
    "fn", [greater_argument, smaller_and_greater, greater_of_computed, limited]
)
@pytest.mark.parametrize("number", [float, int])
def test_the_greater_number_is_one_of_the_two(fn, number):
    def same(values):
        flat = [v for value in values[1:] for v in (value if isinstance(value, list) else [value])]
        return flat, [[one is other for one in flat] for other in flat]

    compiled = dyntrace.compile(fn)
    x = np.arange(3.0)
    for first, second in [(1000, 2000), (2000, 1000), (3000, 3000), (1001, 2001), (2001, 1001)]:
        a, b = number(first), number(second)
        plain, found = fn(x, a, b), compiled(x, a, b)
        assert plain[0].tobytes() == found[0].tobytes()
        assert same(plain) == same(found)
