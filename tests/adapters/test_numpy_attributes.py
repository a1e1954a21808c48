"""Attributes that are set, flags, operators by name, `in`, divmod and reversed of arrays."""

import copy

import numpy as np
import pytest
from differential import Compiled, Outcome, check, check_calls, compare

V = np.arange(1.0, 7.0)
M = np.arange(12.0).reshape(3, 4)
C = M + 1j * M[::-1]
I = np.arange(12).reshape(3, 4)


def sets_real(a):
    b = a * 1
    b.real = 2.5
    return b, b.real


def sets_parts_from_arrays(a):
    b = a * 1
    b.imag = b.real[::-1] * 2
    b.real = [1, 2, 3, 4]
    return b + 1


def sets_parts_of_an_argument(a):
    a[0].real = 7
    a.imag = -1
    return a * 2


def fills(a):
    b = a * 2
    b.flat = 3
    return b + 1


def fills_an_argument(a):
    a[1].flat = 4
    return a + 1


@pytest.mark.parametrize("a", [C, C.astype("c8"), C[:, ::-1], C.T.copy().T])
@pytest.mark.parametrize("f", [sets_real, sets_parts_from_arrays, sets_parts_of_an_argument])
def test_parts_of_complex_numbers_are_set(f, a):
    check(f, a)


@pytest.mark.parametrize("a", [M, I, M.astype("f4"), np.asfortranarray(M)])
@pytest.mark.parametrize("f", [fills, fills_an_argument])
def test_what_is_set_for_all_items(f, a):
    check(f, a)


@pytest.mark.parametrize(
    "value", [300, -1, 2.7, np.nan, 2**40, 2**60 + 1, np.float32(1.1), 1e300, True, "3"]
)
@pytest.mark.parametrize("dtype", ["u1", "f4", "i8", "f8", "c8", "c16"])
def test_values_are_converted_as_numpy_converts_them(value, dtype):
    def real(a, value):
        b = a + a
        b.real = value
        return b * b

    def flat(a, value):
        b = a + a
        b.flat = value
        return b * b

    for f in (real, flat):
        check_calls(f, (V.astype(dtype), value), whole=False)


def imaginary_part_of_reals(a):
    a.imag = 1.0


def too_many(a):
    a.real = np.arange(5.0)


def read_only(a):
    a.flags.writeable = False
    a.real = 1


def no_such_attribute(a):
    a.rael = 1


def size_is_set(a):
    a.size = 3


@pytest.mark.parametrize(
    "f", [imaginary_part_of_reals, too_many, read_only, no_such_attribute, size_is_set]
)
def test_assignments_that_fail(f):
    for a in (V, C[0]):
        check_calls(f, (a,), whole=False)


def all_flags(a):
    flags = a.flags
    return (
        flags.c_contiguous,
        flags["C_CONTIGUOUS"],
        flags.f_contiguous,
        flags["F"],
        flags.fortran,
        flags.contiguous,
        flags.forc,
        flags.fnc,
        flags["FNC"],
        flags.aligned,
        a * 2,
    )


def in_order(a):
    return a if a.flags["C_CONTIGUOUS"] else a.copy()


def of_results(a):
    b = a + 1
    t = b.T
    r = b.reshape(-1)
    return (
        [(one.flags.c_contiguous, one.flags.f_contiguous, one.flags.fnc) for one in (b, t, r)],
        b.flags.writeable,
        b.flags.owndata,
        b.flags["OWNDATA"],
    )


LAYOUTS = [
    M,
    np.asfortranarray(M),
    M.T,
    V,
    V[::2],
    M[:, 1:3],
    M[:, :1],
    M[:1].T,
    np.zeros((0, 3)),
    np.zeros((1, 1, 5)),
    np.array(2.5),
    np.frombuffer(b"\1" * 33, "u1")[1:33].view("f8"),
    M.reshape(3, 2, 2).transpose(1, 0, 2),
]


@pytest.mark.parametrize("a", LAYOUTS)
@pytest.mark.parametrize("f", [all_flags, in_order])
def test_flags_of_arguments(f, a):
    check(f, make=lambda: ((a,), {}))


def test_flags_guard_what_they_say():
    compiled = Compiled(in_order)
    for a in LAYOUTS:
        compare(Outcome(in_order, (a,), {}), Outcome(compiled, (a,), {}))


@pytest.mark.parametrize("a", [M, V, np.zeros((1, 4)), np.zeros((0, 4))])
def test_flags_of_results(a):
    check(of_results, make=lambda: ((a,), {}))


def unknown_flags(a):
    a = a * 2
    return a.flags.num, a[:, 1:].flags.behaved, a.flags == a.flags


def a_flag_is_set(a):
    b = a * 2
    b.flags.writeable = False
    b.setflags(write=True)
    b.flags["W"] = False
    return b, b.flags.writeable


def flags_leave(a):
    return a * 2, str(a.flags)


@pytest.mark.parametrize("f", [unknown_flags, a_flag_is_set, flags_leave])
def test_flags_that_are_not_followed(f):
    check_calls(f, (M,), whole=False)


def contained(a, x):
    return x in a, x not in a


def contained_by_name(a, x):
    return a.__contains__(x), a * 2


@pytest.mark.parametrize("x", [3, 2.0, np.nan, np.float32(4), np.arange(4), True, 1j])
@pytest.mark.parametrize("a", [V, M, I, np.array([np.nan, 1.0]), np.array(3)])
def test_items_are_looked_for(a, x):
    check_calls(contained, (a, x), whole=False)


@pytest.mark.parametrize("x", [3, 2.0, np.nan, np.float32(4)])
def test_the_answer_stays_in_the_graph(x):
    check(contained_by_name, M, x)
    check(lambda a, x: (x in a, a + 1), M, x)


def divided(a, b):
    quotient, rest = divmod(a, b)
    return quotient * 2, rest + 1


@pytest.mark.parametrize("b", [3, 2.5, np.float64(2), V, V.astype("i4"), -2])
@pytest.mark.parametrize("a", [V, V.astype("i8"), V.astype("f4"), V[::-1]])
def test_divmod(a, b):
    check_calls(
        divided,
        (a, b),
        (a + 1, b),
        whole=isinstance(b, (int, float, np.ndarray)) and type(b) is not np.float64,
    )
    check_calls(divided, (b, a), whole=False)


def test_divmod_by_zero_warns_as_plain():
    for b in (0, 0.0, np.zeros(6), np.array([1, 0, 2, 0, 3, 0])):
        for a in (V, V.astype("i8")):
            check_calls(divided, (a, b), whole=False)


class Divides:
    def __rdivmod__(self, other):
        return "rdivmod", type(other).__name__

    def __divmod__(self, other):
        return "divmod", type(other).__name__


class GoesFirst(Divides):
    __array_ufunc__ = None


@pytest.mark.parametrize("other", [Divides(), GoesFirst()])
def test_divmod_with_an_object(other):
    def left(a, o):
        return divmod(o, a)

    def right(a, o):
        return [str(one) for one in divmod(a, o)]

    for f in (left, right):
        check_calls(f, (V, other), whole=False)


def by_name(a, o):
    return (
        a.__add__(o),
        a.__rsub__(o),
        a.__lt__(o),
        a.__pow__(2),
        a.__neg__(),
        a.__abs__(),
        len(a),
        a.__len__(),
    )


def items_by_name(a, o):
    b = a.copy()
    b.__setitem__(1, o)
    b.__iadd__(1)
    return (
        b.__getitem__(0),
        np.ndarray.__getitem__(b, slice(1, None)),
        [x * 2 for x in b.__iter__()],
    )


def products_by_name(a, o):
    return a.__matmul__(a), a.__rmatmul__(a), a.__and__, np.ndarray.__mul__(a, o)


@pytest.mark.parametrize("a", [V, V.astype("i8"), V[::2]])
@pytest.mark.parametrize("f", [by_name, items_by_name])
def test_operators_by_name(f, a):
    check(f, a, 3)


def test_a_bound_operator_leaves():
    def f(a):
        method = a.__add__
        return method(a), method.__name__

    check(f, V)
    check_calls(products_by_name, (V, 2), whole=False)


def backwards(a):
    return [x * 2 for x in reversed(a)], list(reversed(a))


def backwards_while_it_changes(a):
    out = []
    for x in reversed(a):
        a[0] = 9.0
        out.append(x + 1)
    return out


@pytest.mark.parametrize("a", [V, M, V[::2]])
@pytest.mark.parametrize("f", [backwards, backwards_while_it_changes])
def test_reversed(f, a):
    check(f, a)


def test_reversed_of_no_dimensions():
    check_calls(backwards, (np.array(1.0),), whole=False)
    check_calls(backwards, (np.float64(1.0),), whole=False)


def test_a_changed_argument_is_seen_by_others():
    def f(a, b):
        a.real = b * 2
        b.flat = 1
        return a, b, 1.0 in b

    compiled = Compiled(f)
    for _ in range(3):
        plain = copy.deepcopy(C)
        own = copy.deepcopy(C)
        compare(Outcome(f, (plain, plain.imag), {}), Outcome(compiled, (own, own.imag), {}))
