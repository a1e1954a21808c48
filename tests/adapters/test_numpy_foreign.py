"""Ufuncs that are not NumPy's own.

Some are made here as an extension makes them: of NumPy's generic loops and functions of the C library.
"""

import ctypes
import ctypes.util
import warnings

import dyntrace
import numpy as np
import pytest
from differential import check_calls

try:
    from numpy._core import _umath_tests, umath
except ImportError:
    from numpy.core import _umath_tests, umath

# Of the table numpy/__ufunc_api.h.
FROM_FUNCTIONS, FLOATS_AS_DOUBLES, DOUBLES, TWO_DOUBLES = 1, 4, 5, 15

LIBM = ctypes.CDLL(ctypes.util.find_library("m"))
KEPT = []


def make_ufunc(name, doubles, floats=None):
    """As in C: PyUFunc_FromFuncAndData() with a generic loop for each type."""
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = ctypes.cast(get(umath._UFUNC_API, None), ctypes.POINTER(ctypes.c_void_p))
    function = ctypes.cast(getattr(LIBM, name), ctypes.c_void_p).value
    nin = 2 if doubles == TWO_DOUBLES else 1
    rows = [(table[doubles], b"\x0c" * (nin + 1))]  # NPY_DOUBLE
    if floats is not None:
        rows.insert(0, (table[floats], b"\x0b" * (nin + 1)))
    loops = (ctypes.c_void_p * len(rows))(*[loop for loop, _ in rows])
    data = (ctypes.c_void_p * len(rows))(*[function] * len(rows))
    types = ctypes.create_string_buffer(b"".join(types for _, types in rows))
    shown = ctypes.create_string_buffer(name.encode())
    KEPT.append((loops, data, types, shown))
    make = ctypes.PYFUNCTYPE(
        ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, *[ctypes.c_int] * 4,
        ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int,
    )(table[FROM_FUNCTIONS])  # fmt: skip
    pointer = [ctypes.cast(each, ctypes.c_void_p) for each in (loops, data, types, shown)]
    return make(*pointer[:3], len(rows), nin, 1, -1, pointer[3], None, 0)


erf = make_ufunc("erf", DOUBLES, FLOATS_AS_DOUBLES)
tgamma = make_ufunc("tgamma", DOUBLES)
hypot = make_ufunc("hypot", TWO_DOUBLES)


def test_they_are_made():
    assert type(erf) is np.ufunc and erf.types == ["f->f", "d->d"]
    assert hypot(3.0, 4.0) == 5.0


DTYPES = ["?", "i1", "u2", "i8", "u8", "f2", "f4", "f8", "g", ">f8", "c16", "O", "M8[s]"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_types(dtype):
    def fn(x):
        return erf(x), erf(x) * 2, tgamma(x[1:])

    x = np.arange(1, 7).astype(dtype)
    check_calls(fn, (x,), (x[::2],), (x[::-1],), (x.reshape(2, 3),), (x.reshape(2, 3).T,), whole=False)


def test_is_captured():
    def fn(x, y):
        return erf(x) + hypot(x, y[:, None]) * tgamma(y[0])

    x, y = np.linspace(-1, 1, 5), np.linspace(0.5, 2, 3)
    check_calls(fn, (x, y), (x[::2], y), (x.astype("f4"), y), (x, y[:1]), (x[:0], y))


def test_numbers():
    def fn(x, n):
        return erf(x), erf(n), hypot(x, n), erf(0.5), hypot(n, 2), erf(np.asarray(n))

    for x in (0.25, np.float64(0.5), np.array(0.5), np.float32(0.5), np.array([1.5]), 2):
        check_calls(fn, (x, 1.5), (x, 2.5), (x, 3), whole=False)


def test_arguments_by_name():
    def fn(x, out, mask):
        a = erf(x, out=out)
        b = hypot(x, 1.0, dtype=np.float64)
        c = erf(x, where=mask, out=np.zeros_like(x))
        return a is out, b, c, erf(x, casting="safe"), out

    x = np.linspace(-1, 1, 6)
    mask = np.array([True, False] * 3)
    check_calls(fn, (x, np.empty(6), mask), (x[::-1], np.empty(6), ~mask), (x, x, mask), whole=False)
    others = [np.empty(5), np.empty(6, "f4"), np.empty(6, int)]
    check_calls(fn, *[(x, out, mask) for out in others], whole=False)


@pytest.mark.parametrize("modes", ["warn", "raise", "ignore"])
def test_floating_point_errors(modes):
    def fn(x):
        return tgamma(x) + 1

    values = [np.array([1.0, 2.0, 3.0]), np.array([1.0, 500.0]), np.array([-1.0, 2.0]), np.array([0.0])]
    with np.errstate(all=modes):
        check_calls(fn, *[(v,) for v in values * 2], whole=False)
        compiled, said = dyntrace.compile(fn), []
        for call in (fn, compiled, compiled):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                try:
                    call(values[1])
                except FloatingPointError as error:
                    said.append(str(error))
            said.append([(str(w.message), w.lineno, w.filename) for w in caught])
        third = len(said) // 3
        assert said[:third] == said[third : 2 * third] == said[2 * third :]


def test_other_arguments_fail_alike():
    def fn(x, y):
        found = []
        for call in (lambda: erf(x, y, y), lambda: hypot(x), lambda: hypot(x, y), lambda: erf(x, axis=0)):
            try:
                found.append(call())
            except (TypeError, ValueError) as error:
                found.append(str(error))
        return found

    check_calls(fn, (np.ones(3), np.ones(2)), (np.ones(3), np.ones(3)), (np.ones(3), "a"), whole=False)


def test_methods_of_them():
    def fn(x):
        return hypot.reduce(x), hypot.accumulate(x), hypot.outer(x, x), x + 1

    check_calls(fn, (np.arange(4.0),), (np.arange(3.0),), whole=False)


def test_a_loop_that_raises():
    def fn(x):
        y = x + 1
        return _umath_tests.always_error(y, y)

    check_calls(fn, (np.arange(3.0),), (np.arange(4.0),), (np.arange(0.0),), whole=False)


def test_a_ufunc_that_writes_what_it_reads():
    operands = pytest.importorskip(umath.__name__.replace("umath", "_operand_flag_tests"))

    def fn(x, y):
        operands.inplace_add(x, y)
        return x + y

    a, b = np.arange(3), np.arange(3)
    check_calls(fn, (a, b), (a.copy(), b), whole=False)


def test_functions_of_python():
    calls = []

    def add(a, b):
        calls.append(a)
        return a + b

    ufunc = np.frompyfunc(add, 2, 1)

    def fn(x):
        return ufunc(x, 2), x * 2

    compiled = dyntrace.compile(fn)
    for _ in range(3):
        calls.clear()
        found = compiled(np.arange(3.0))
        assert calls == [0.0, 1.0, 2.0]
        assert found[0].dtype == object and found[0].tolist() == [2.0, 3.0, 4.0]


def test_with_core_dimensions():
    def fn(x):
        return _umath_tests.inner1d(x, x), x.sum()

    check_calls(fn, (np.arange(3.0),), (np.ones((2, 3)),), whole=False)


def test_classes_of_the_program_take_over():
    class Mine:
        def __array_ufunc__(self, ufunc, method, *args, **kwargs):
            return "mine", ufunc is erf, method

    class Part(np.ndarray):
        pass

    def fn(x):
        return erf(x)

    check_calls(fn, (Mine(),), (np.ones(3).view(Part),), (np.ones(3),), ([0.5, 1.0],), whole=False)


def test_chosen_at_run_time():
    def fn(f, x):
        return f(x) + 1

    x = np.linspace(0.5, 1, 4)
    check_calls(fn, (erf, x), (tgamma, x), (np.exp, x), (erf, x), whole=False)


def test_errors_of_special_functions():
    special = pytest.importorskip("scipy.special")

    def fn(x):
        return special.gammaln(x) + 1

    compiled = dyntrace.compile(fn)
    poles = np.array([-1.0, 2.0])
    assert compiled(poles).tolist() == [np.inf, 1.0]
    said = []
    for call in (fn, compiled, compiled):
        with special.errstate(all="warn"), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call(poles)
        said.append([(str(w.message), w.lineno, w.filename) for w in caught])
    assert said[0] and said[0] == said[1] == said[2]
    for call in (fn, compiled, compiled):
        with special.errstate(all="raise"), pytest.raises(special.SpecialFunctionError) as raised:
            call(poles)
        assert raised.traceback[-1].lineno == fn.__code__.co_firstlineno  # the line behind it
    assert compiled(poles).tolist() == [np.inf, 1.0]


def test_special_functions():
    special = pytest.importorskip("scipy.special")
    names = [name for name in dir(special) if type(getattr(special, name)) is np.ufunc]
    values = {1: [np.linspace(-2, 2, 9)], 2: [np.arange(9.0), np.linspace(0.1, 2, 9)]}
    values[3] = [np.arange(1.0, 10), np.linspace(0.1, 0.9, 9), np.linspace(0.1, 0.9, 9)]
    for name in names:
        ufunc = getattr(special, name)
        if ufunc.nin > 3 or ufunc.signature is not None:
            continue
        arrays = values[ufunc.nin]

        def fn(*args):
            return ufunc(*args)

        with np.errstate(all="ignore"):
            check_calls(fn, arrays, [a[::2] for a in arrays], [a[:1] for a in arrays], whole=False)
