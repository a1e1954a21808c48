"""NumPy's functions that are written in Python: polynomials, parts that NumPy loads when they are asked
for, __array_function__ of the program, and what np.array() takes beside a dtype."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
from differential import Compiled, Outcome, check, check_calls, compare  # noqa: E402

X = np.linspace(0.5, 3.0, 6)
M = np.arange(12.0).reshape(3, 4)
P = np.polynomial
SERIES = [1.0, -2.0, 3.0]
KNOWN = P.Polynomial([1.0, 2.0, 3.0], domain=[0.0, 2.0])
CUBE = np.poly1d([1.0, 0.0, 2.0])

CASES = {
    "polyval of a series": (lambda x: P.polynomial.polyval(x, SERIES) * 2, X),
    "polyval of an array of them": (lambda x, c: P.polynomial.polyval(x, c), X, M[0]),
    "polyval of ints": (lambda x, c: P.polynomial.polyval(x, c), X, np.array([3, 1, 2])),
    "polyval of a list": (lambda x: P.polynomial.polyval([0.5, 1.5], SERIES) * x.sum(), X),
    "polyval of columns": (lambda x, c: P.polynomial.polyval(x, c), X, M),
    "polyval2d": (lambda x, c: P.polynomial.polyval2d(x, x * 2, c), X, M),
    "polyder": (lambda c: P.polynomial.polyder(c) * 2, X),
    "polyint": (lambda c: P.polynomial.polyint(c) * 2, X),
    "polyvander": (lambda x: P.polynomial.polyvander(x, 3) @ np.ones(4), X),
    "chebval": (lambda x: P.chebyshev.chebval(x, SERIES) + 1, X),
    "legval": (lambda x: P.legendre.legval(x, SERIES) + 1, X),
    "hermval": (lambda x: P.hermite.hermval(x, SERIES) + 1, X),
    "lagval": (lambda x: P.laguerre.lagval(x, SERIES) + 1, X),
    "hermevander": (lambda x: P.hermite_e.hermevander(x, 2).sum(axis=1), X),
    "a Polynomial": (lambda x: P.Polynomial(SERIES)(x) * 2, X),
    "a Polynomial that existed": (lambda x: KNOWN(x) * 2, X),
    "its derivative": (lambda x: KNOWN.deriv()(x), X),
    "a Chebyshev with a domain": (lambda x: P.Chebyshev(SERIES, domain=[0, 4])(x), X),
    "products and sums": (lambda x: (P.Polynomial(SERIES) * P.Polynomial([1.0, 2.0]) - 1)(x), X),
    "a product of series": (lambda x: P.polynomial.polymul(x, [1.0, 2.0]) * 2, X),
    "a power": (lambda x: (P.Polynomial([1.0, 2.0]) ** 3)(x), X),
    "poly1d": (lambda x: np.poly1d(SERIES)(x) * 2, X),
    "poly1d with zeros in front": (lambda x: (np.poly1d([0, 0.0, 1, 2])(x), np.poly1d([0, 0, 2]).c), X),
    "poly1d of nothing but zeros": (lambda x: (np.poly1d([0, 0])(x), np.poly1d([0.0]).c, x + 1), X),
    "poly1d that existed": (lambda x: CUBE(x) + CUBE.order, X),
    "poly1d of an array": (lambda x: (np.poly1d(x)(2.0), np.poly1d(x).order, np.poly1d(x).c), X),
    "poly1d of a fit": (lambda x: np.poly1d(np.polyfit(x, x**2, 2))(x), X),
    "poly1d of numbers": (lambda x: np.poly1d([float(x[1]), x[2], 1.0])(x), X),
    "poly1d of a poly1d": (lambda x: (np.poly1d(CUBE)(x), np.poly1d(CUBE, variable="z").variable), X),
    "poly1d operators": (lambda x: ((np.poly1d([1.0, 2.0]).deriv() * CUBE + 1)(x), (-CUBE)(x)), X),
    "poly1d derivatives": (lambda x: (np.poly1d(x).deriv()(2.0), np.poly1d(x).integ()(x)), X),
    "piecewise": (lambda x: np.piecewise(x, [x < 2, x >= 2], [lambda v: -v, lambda v: v**2]), X),
    "piecewise and the rest": (lambda x: np.piecewise(x, x < 2, (lambda v, k: v * k, 3.0), 5), X),
    "piecewise of reductions": (lambda x: np.piecewise(x, [x > 2], [lambda v: v.max(), 0]), X),
    "poly1d with a variable": (lambda x: (np.poly1d([1, 2], variable="z").variable, x * 2), X),
    "ndmin": (lambda x: np.array(x, ndmin=3) * 2, X),
    "ndmin of a list": (lambda x: np.array([1.0, 2.0], ndmin=2) + x[:, None], X),
    "ndmin of a number": (lambda x: np.array(3.0, ndmin=1) + x, X),
    "ndmin without a copy": (lambda x: np.array(x, copy=None, ndmin=2), X),
    "ndmin that is there": (lambda x: np.array(x, copy=None, ndmin=1), X),
    "array with options": (lambda x: np.array(x, dtype=float, copy=None, order="C", subok=True), X),
    "asarray with a copy": (lambda x: np.asarray(x, copy=True), X),
    "asarray in C order": (lambda x: np.asarray(x, order="C") * 2, X),
    "an attribute that is missing": (lambda x: (hasattr(x, "filled"), getattr(x, "nope", 1) + x), X),
    "isMaskedArray": (lambda x: x * (3 if np.ma.isMaskedArray(x) else 2), X),
    "the dtype of objects": (lambda x: x * (2 if x.dtype == np.dtype(object) else 3), X),
    "isscalar of an object": (lambda x: x * (2 if np.isscalar(CUBE) else 3), X),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_captured(name):
    fn, *args = CASES[name]
    check(fn, *args)


PLAIN = {
    "products of polynomials": lambda x: (P.Polynomial(SERIES) * KNOWN)(x),
    "a fit": lambda x: P.Polynomial.fit(x, x * x, 2)(x),
    "products with zeros": lambda x: P.polynomial.polymul(x, [1.0, 0.0]),
    "sums that are zero": lambda x: (P.Polynomial([1.0, 2.0]) - P.Polynomial([0.0, 2.0])).coef,
    "lists without zeros": lambda x: (P.polyutils.trimseq([1, 2, 0, 0]), P.polyutils.trimseq([0, 0]), x),
    "lists as they are": lambda x: (P.polyutils.trimseq([]), P.polyutils.trimseq([1, x[0]]), x),
    "poly1d by roots": lambda x: np.poly1d([1.0, 2.0], True)(x),
    "Gauss": lambda x: P.legendre.leggauss(4)[1].sum() * x,
    "a wrong series": lambda x: P.Polynomial([[1.0]])(x),
    "no axis": lambda x: P.polynomial.polyder(x, axis=4),
    "an attribute that is missing": lambda x: x.nope,
    "too many axes": lambda x: np.array(x, ndmin=99),
    "in F order": lambda x: np.array(np.outer(x, x), order="F"),
    "of vectors": lambda x: np.vectorize(lambda v: v * v + 1)(x) * 2,
    "masked": lambda x: np.ma.masked_where(x > 2, x).filled(0.0) * 2,
    "masked sum": lambda x: np.ma.array(x, mask=x > 2).sum() + x,
}


@pytest.mark.parametrize("name", PLAIN)
def test_as_plainly(name):
    fn = PLAIN[name]
    compiled = Compiled(fn)
    for _ in range(3):
        compare(Outcome(fn, [X.copy()], {}), Outcome(compiled, [X.copy()], {}))
    assert not compiled.faults


# ---- __array_function__ ----------------------------------------------------------------------


class Pair:
    """Two arrays; functions of NumPy are applied to each."""

    def __init__(self, a, b):
        self.a, self.b = a, b

    def __array_function__(self, func, types, args, kwargs):
        if func is np.argsort or types != (type(self),):
            return NotImplemented
        first, *rest = args
        return Pair(func(first.a, *rest, **kwargs), func(first.b, *rest, **kwargs))


class Unlike:
    pass


def pair():
    return Pair(X * 2, X + 1)


PAIRS = {
    "sum": lambda p: np.sum(p).a,
    "with options": lambda p: (lambda r: (r.a * 2, r.b))(np.cumsum(p, axis=0)),
    "by place": lambda p: np.clip(p, 1.0, 2.0).b * 2,
    "polyval": lambda p: np.diff(p).a * 2,
}


@pytest.mark.parametrize("name", PAIRS)
def test_array_function_is_followed(name):
    check(PAIRS[name], make=lambda: ([pair()], {}))


REFUSED = {
    "it refuses": lambda p, x: np.argsort(p),
    "in a list": lambda p, x: np.concatenate([p, x]),
    "as another argument": lambda p, x: np.where(x > 1, p, x),
    "an option that there is not": lambda p, x: np.sum(p, colour=1),
    "of an object without one": lambda p, x: np.sum(Unlike()),
}


@pytest.mark.parametrize("name", REFUSED)
def test_array_function_as_plainly(name):
    fn = REFUSED[name]
    compiled = Compiled(fn)
    for _ in range(2):
        compare(Outcome(fn, [pair(), X], {}), Outcome(compiled, [pair(), X], {}))
    assert not compiled.faults


def test_array_function_that_a_class_gets_later():
    class Late(Pair):
        pass

    def fn(p):
        return np.sum(p).a

    compiled = Compiled(fn)
    before = compiled(Late(X, X))
    Late.__array_function__ = lambda self, func, types, args, kwargs: Pair(X * 0, X)
    assert before == X.sum()
    assert (compiled(Late(X, X)) == X * 0).all()


# ---- Parts that are loaded when they are asked for -------------------------------------------

LAZY = """
    import sys
    import numpy as np
    import dyntrace

    for name in [n for n in sys.modules if n.startswith("numpy.{part}")]:
        del sys.modules[name]
    vars(np).pop("{part}", None)

    def fn(x):
        return {expression}

    x = np.linspace(0.5, 3.0, 6)
    told = dyntrace.explain(fn)(x)
    assert not told.breaks, told
    assert "numpy.{part}" in sys.modules
    assert (told.result == fn(x)).all()
"""


@pytest.mark.parametrize(
    ("part", "expression"),
    [
        ("fft", "np.abs(np.fft.fft(x)) ** 2"),
        ("polynomial", "np.polynomial.polynomial.polyval(x, [1.0, 2.0])"),
        ("ma", "x * (2 if np.ma.isMaskedArray(x) else 3)"),
    ],
)
def test_the_first_touch_is_no_break(part, expression):
    code = textwrap.dedent(LAZY.format(part=part, expression=expression))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_part_that_there_is_not():
    def fn(x):
        return x * 2 if hasattr(np, "no_such_part") else x * 3

    check_calls(fn, (X,))
    compiled = Compiled(lambda x: np.no_such_part(x))
    with pytest.raises(AttributeError, match="no_such_part"):
        compiled(X)


@pytest.mark.parametrize(
    "name",
    ["array", "asarray", "sum", "polyval", "concatenate", "stack", "exp", "dot", "where", "shape"],
)
@pytest.mark.parametrize("kind", ["contains itself", "deep list", "deep tuple"])
def test_sequences_without_a_bottom(name, kind):
    """NumPy says that they are too deep, or takes them for objects."""
    endless = []
    endless.append(endless)
    deep = X
    for _ in range(3000):
        deep = [deep] if kind == "deep list" else (deep,)
    nested = endless if kind == "contains itself" else deep
    function = getattr(np, name)

    def fn(x):
        y = x + 1
        try:
            return y, np.shape(function([nested, nested]))
        except (ValueError, RecursionError, TypeError) as error:
            return y, type(error).__name__

    compiled = Compiled(fn)
    for _ in range(2):
        plain, ours = fn(X), compiled(X)
        assert (plain[0] == ours[0]).all() and plain[1] == ours[1]


def test_dispatchers_of_the_program():
    """Who makes a function by NumPy's means says what its arguments are, and may do anything there."""
    from numpy._core.overrides import array_function_dispatch

    error, log = TypeError("refused"), []

    def refuses(x):
        raise error

    def tells(x):
        log.append(len(log))
        return (x,)

    @array_function_dispatch(refuses)
    def refused(x):
        return x * 2

    @array_function_dispatch(tells)
    def told(x):
        return x * 3

    def fn(x):
        y = x + 1
        try:
            refused(y)
        except TypeError as caught:
            return told(y) * 2, caught is error, len(log)
        return y

    compiled = Compiled(fn)
    for _ in range(3):
        log.clear()
        plain = fn(X)
        log.clear()
        ours = compiled(X)
        assert (plain[0] == ours[0]).all() and plain[1:] == ours[1:] == (True, 1)


@pytest.mark.parametrize("name", ["a", "a10", "<a3", "i4,a5", "S4", "datetime64[D]"])
def test_names_of_dtypes_that_warn(name):
    """Once at each call, and never while it is traced."""

    def fn(x):
        return np.dtype(name), np.zeros(2, name), x + 1

    def cast(x):
        return np.array(["1", "2"]).astype(name) if "," not in name else x

    for function in fn, cast:
        compiled = Compiled(function)
        for _ in range(3):
            compare(Outcome(function, (X,), {}), Outcome(compiled, (X,), {}))


def test_dtypes_of_a_kind_that_others_have_made():
    """Their number is -1, less than that of any of NumPy's own."""
    multiarray = pytest.importorskip("numpy._core._multiarray_umath")
    kind = multiarray._get_sfloat_dtype()

    def made(x, scaling):
        a = np.array([1.0, 2.0, 3.0], dtype=kind(scaling))
        return a.dtype.get_scaling(), a.view(np.float64) * 2, x + 1

    def given(x, a):
        return a.shape, a.dtype.get_scaling(), x + 1

    check_calls(made, (X, 1.0), (X, 2.0), whole=False)
    arrays = [np.array([1.0, 2.0], dtype=kind(scaling)) for scaling in (1.0, 2.0)]
    compiled = Compiled(given)
    for array in arrays * 2:
        plain, ours = given(X, array), compiled(X, array)
        assert plain[:2] == ours[:2] and (plain[2] == ours[2]).all()


@pytest.mark.parametrize("kind", ["swapped", "field", "dense", "gaps", "fortran", "fixed"])
def test_from_dlpack_refuses(kind):
    def fn(x, y):
        z = x + 1
        try:
            np.from_dlpack(y)
        except BufferError as error:
            return z, str(error)
        return z, np.from_dlpack(y) * 2

    y = {
        "swapped": np.arange(5, dtype=">i8"),
        "field": np.zeros(5, [("a", np.int32), ("b", np.int8)])["a"],
        "dense": np.arange(5.0),
        "gaps": np.arange(10.0)[::2],
        "fortran": np.arange(6.0).reshape(2, 3).T,
        "fixed": np.arange(5.0),
    }[kind]
    y.flags.writeable = kind != "fixed"
    compiled = Compiled(fn)
    for _ in range(3):
        compare(Outcome(fn, (X, y), {}), Outcome(compiled, (X, y), {}))
