"""Instances of classes derived from ndarray: whose methods NumPy calls, how often, and what comes out."""

import dyntrace
import numpy as np
import pytest
from differential import Compiled, Outcome, compare

LOG = []


class Plain(np.ndarray):
    pass


class Unit(np.ndarray):
    """As NumPy's guide writes it."""

    def __new__(cls, values, unit=None):
        made = np.asarray(values).view(cls)
        made.unit = unit
        return made

    def __array_finalize__(self, obj):
        if obj is None:
            return
        self.unit = getattr(obj, "unit", None)

    def scaled(self, by):
        return self * by


class Loud(Unit):
    """Says who was told of what."""

    def __array_finalize__(self, obj):
        super().__array_finalize__(obj)
        LOG.append(("told", type(obj).__name__, getattr(obj, "unit", None)))


class Operators(Plain):
    def __mul__(self, other):
        LOG.append("mul")
        return np.ndarray.__mul__(self, other)

    def __radd__(self, other):
        LOG.append("radd")
        return super().__radd__(other)

    def __getitem__(self, key):
        LOG.append("getitem")
        return super().__getitem__(key)

    def __lt__(self, other):
        return "less"


class Overrides(Unit):
    """Computes on plain arrays."""

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        LOG.append((ufunc.__name__, method))
        plain = [np.asarray(x) if isinstance(x, Overrides) else x for x in inputs]
        for target in kwargs.get("out", ()):
            return getattr(ufunc, method)(*plain, out=np.asarray(target)).view(Overrides)
        return getattr(ufunc, method)(*plain, **kwargs).view(Overrides)


class Refuses(Plain):
    __array_ufunc__ = None


class Wraps(Plain):
    def __array_wrap__(self, array, context=None, return_scalar=False):
        LOG.append(("wrap", context is not None, return_scalar))
        return super().__array_wrap__(array, context, return_scalar)


class Last(Plain):
    __array_priority__ = -5.0


class Finaliser(Plain):
    def __del__(self):
        pass


CLASSES = {
    cls.__name__: cls
    for cls in (Plain, Unit, Loud, Operators, Overrides, Refuses, Wraps, Last, Finaliser)
}
A = np.arange(12.0).reshape(3, 4)


def written(x):
    x[1:] = x[:-1] * 2
    x += 1
    return x


def written_as_array(x):
    y = np.asarray(x)
    y[0] = 7.0
    return x * 1, y


def views_of_views(x):
    a = A * 2
    y = a.view(type(x))
    z = y[1:]
    return a, y, z, z[1:], z.T[0], y[A > 3][1:], np.asarray(y)


def views_alone(x):
    return (A * 2)[1:].view(type(x))[:, 1:], x[1:][:, 1:]


def attributes(x):
    x.note = "n"
    y = x * 2
    y.note = "y"
    return x.note, y.note, hasattr(y[0], "note"), sorted(vars(y))


CASES = {
    "product": lambda x: x * 2 + 1,
    "reflected": lambda x: (2 - x, 1 / (x + 1), 2.0**x),
    "beside an array": lambda x: (x + A, A + x, A * x, x - A),
    "two": lambda x: x * x - x / (x + 1),
    "compared": lambda x: (x < 3, 3 < x, x == A, A >= x),
    "unary": lambda x: (-x, abs(x), +x),
    "a power": lambda x: (x**2, x**0.5),
    "bits": lambda x: ((x > 2) & (x < 9), ~(x > 2)),
    "a matrix product": lambda x: x @ x.T,
    "of vectors": lambda x: x[0] @ x[1],
    "ufuncs": lambda x: (np.exp(x / 9), np.add(x, 1), np.maximum(A, x)),
    "of two results": lambda x: (np.modf(x), np.divmod(x, 3), divmod(x, 2)),
    "into an array": lambda x: np.exp(x / 9, out=np.empty((3, 4))),
    "with options": lambda x: np.add(x, 1, dtype=np.float32),
    "slices": lambda x: (x[1:], x[0], x[:, 1], x[..., None], x[::-1]),
    "items": lambda x: (x[0, 1], x[-1, -1] * 2),
    "selected": lambda x: (x[A > 3], x[[0, 2]], x[x > 3]),
    "shapes": lambda x: (x.shape, x.ndim, x.size, len(x), x.dtype, x.T, x.reshape(4, 3), x.ravel()),
    "a reshape that copies": lambda x: x.T.reshape(4, 3),
    "turned": lambda x: (x.transpose(1, 0), x.swapaxes(0, 1), x.diagonal()),
    "sums": lambda x: (x.sum(), x.sum(0), x.sum(axis=1, keepdims=True), x.prod(0)),
    "extremes": lambda x: (x.max(), x.min(axis=1), (x > 3).any(), (x > 3).all(axis=0)),
    "means": lambda x: (x.mean(), x.mean(axis=0)),
    "spread": lambda x: (x.std(), x.var(axis=0)),
    "running": lambda x: (x.cumsum(axis=0), x.cumprod(axis=1)),
    "functions": lambda x: (np.sum(x), np.mean(x, axis=0), np.max(x), np.cumsum(x, axis=1)),
    "functions of shapes": lambda x: (np.reshape(x, (4, 3)), np.transpose(x), np.flip(x, 0)),
    "functions of C": lambda x: (np.where(A > 3, x, 0), np.concatenate([x, x]), np.dot(x, x.T)),
    "functions like it": lambda x: (np.zeros_like(x), np.ones_like(x)),
    "copies": lambda x: (x.copy(), x.astype(np.float32), x.flatten()),
    "sorted": lambda x: (np.sort(x), x.argsort(), x.argmax()),
    "rounded": lambda x: (x.round(1), x.clip(0, 3), np.clip(x, 0, 3)),
    "plain again": lambda x: (np.asarray(x) * 2, x.view(np.ndarray) + 1, np.array(x)),
    "any": lambda x: (np.asanyarray(x), np.array(x, subok=True), np.asarray(x, dtype=np.float32)),
    "views of views": views_of_views,
    "views alone": views_alone,
    "views": lambda x: (x.view(), x.view(np.int64), x.view(Plain)),
    "numbers": lambda x: (x.item(3), x.tolist(), x[0].tolist(), float(x[0, 0])),
    "places": lambda x: x.nonzero(),
    "parts": lambda x: (x.real, x.imag, x.flat[0], x.base is None),
    "written": written,
    "written as an array": written_as_array,
    "attributes": attributes,
    "rows": lambda x: [row * 2 for row in x],
    "items one by one": lambda x: [v * 2 for v in x[0]],
    "kinds": lambda x: (isinstance(x * 2, np.ndarray), type(x), type(x[0]), isinstance(x, Unit)),
    "truth": lambda x: 1 if x[0, 1] else 2,
    "texts": lambda x: (str(x), repr(x[0])),
    "itself": lambda x: (x, [x], x.reshape(3, 4)),
    "in place": lambda x: x.__imul__(2),
    "an array in place": lambda x: np.add(A, 1).__iadd__(x),
    "with an object": lambda x: (x == None, x != "a"),  # noqa: E711
}  # fmt: skip


def arrays_in(value, path):
    if isinstance(value, (list, tuple)):
        return [one for i, part in enumerate(value) for one in arrays_in(part, f"{path}[{i}]")]
    return [(path, value)] if isinstance(value, np.ndarray) else []


def owners(outcome):
    """Who owns the memory of each array that is returned or was given, which compare() does not look at:
    which one of those, or arrays of which classes that nobody else sees."""
    found = arrays_in(outcome.args, "args") + arrays_in(outcome.result, "result")
    names = {id(array): path for path, array in reversed(found)}
    told = []
    for path, array in found:
        base, chain = array.base, []
        while base is not None:
            chain.append(names.get(id(base), type(base).__name__))
            base = getattr(base, "base", None)
        notes = {k: repr(v) for k, v in getattr(array, "__dict__", {}).items()}
        told.append((path, type(array).__name__, array.flags.owndata, chain, notes))
    return told


def check_both(fn, make):
    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        compiled = Compiled(fn)
        for _ in range(3):
            outcomes, logs = [], []
            for target in (fn, compiled):
                args = make()
                LOG.clear()
                outcomes.append(Outcome(target, args, {}))
                logs.append(list(LOG))
            compare(*outcomes)
            assert owners(outcomes[0]) == owners(outcomes[1])
            assert logs[0] == logs[1]
    assert not compiled.faults, compiled.describe()
    return compiled


def instance(cls, values=A):
    made = np.ndarray.view(np.array(values), cls)
    made.unit = "m"
    return made


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("name", CASES)
def test_as_plainly(name, cls):
    check_both(CASES[name], lambda: [instance(CLASSES[cls])])


WHOLE = """product, reflected, beside an array, two, compared, unary, a power, bits, a matrix product,
of vectors, ufuncs, of two results, slices, items, selected, turned, sums, extremes, means, running,
functions, plain again, views, places, written, written as an array, kinds, in place"""


@pytest.mark.parametrize("cls", ["Plain", "Unit", "Loud"])
@pytest.mark.parametrize("name", [name.strip() for name in WHOLE.split(",")])
def test_captured(name, cls):
    compiled = check_both(CASES[name], lambda: [instance(CLASSES[cls])])
    assert not compiled.breaks, compiled.describe()


def test_layouts_and_dtypes():
    def fn(x):
        return x * 2, x[1:], x.sum(axis=0), np.sqrt(x)

    for values in (
        A.T,
        A[:, ::2],
        A[::-1],
        A.astype(np.float32),
        A.astype(int),
        A[:0],
        A[:1],
        A > 3,
    ):
        check_both(fn, lambda: [np.ndarray.view(values.copy("K"), Unit)])
        check_both(fn, lambda: [np.ndarray.view(values, Unit)])


def test_made_in_the_trace():
    def fn(x):
        y = Unit(x, "s")
        z = y.scaled(3) + y
        return z, z.unit, y[1:].unit

    compiled = check_both(fn, lambda: [A.copy()])
    assert not compiled.breaks, compiled.describe()


def test_other_classes_for_one_entry():
    def fn(x):
        return x * 2 + 1

    compiled = Compiled(fn)
    for cls in (Unit, Plain, Loud, np.ndarray, Overrides, Unit, Plain):
        compare(
            Outcome(fn, [instance(Unit).view(cls)], {}),
            Outcome(compiled, [instance(Unit).view(cls)], {}),
        )


class Shown(Plain):
    """Looks at what its base says."""

    @property
    def shape(self):
        return tuple(reversed(super().shape))

    @property
    def dtype(self):
        return super().dtype

    def total(self):
        return super().T.sum() + super().size


def test_attributes_of_the_base():
    def f(a):
        return a.shape, a.dtype, a.total(), a.ndim

    array = np.arange(6.0).reshape(2, 3)
    compiled = Compiled(f)
    for _ in range(3):
        compare(Outcome(f, [array.view(Shown)], {}), Outcome(compiled, [array.view(Shown)], {}))
    assert not compiled.breaks


def test_a_class_that_changes():
    class Late(np.ndarray):
        pass

    def fn(x):
        return x * 2

    compiled = Compiled(fn)
    x = A.view(Late)
    assert type(compiled(x)) is Late
    Late.__array_finalize__ = lambda self, obj: setattr(self, "told", True)
    assert compiled(x).told
    Late.__mul__ = lambda self, other: "times"
    assert compiled(x) == "times"


def wrapped(array, context=None, scalar=False):
    return "wrapped"


def test_an_instance_with_a_word_of_its_own():
    def fn(x):
        return x * 2

    def wrapping():
        x = instance(Unit)
        x.__array_wrap__ = wrapped
        return [x]

    compiled = check_both(fn, lambda: [instance(Unit)])
    compare(Outcome(fn, wrapping(), {}), Outcome(compiled, wrapping(), {}))
    check_both(fn, wrapping)


def test_two_classes():
    def fn(x, y):
        return x + y, np.add(y, x)

    check_both(fn, lambda: [instance(Unit), instance(Plain)])
    check_both(fn, lambda: [instance(Unit), instance(Unit)])


def test_two_that_share_memory():
    def fn(x, y):
        x += 1
        return y * 2

    def make():
        whole = A.copy()
        return [whole.view(Unit), whole[::-1]]

    check_both(fn, make)
    check_both(fn, lambda: (lambda a: [a.view(Unit), a.view(Unit)])(A.copy()))
    check_both(fn, lambda: (lambda a: [a, a])(A.copy().view(Unit)))


def test_read_only():
    def fn(x):
        x[0] = 1.0
        return x

    def make():
        frozen = A.copy()
        frozen.flags.writeable = False
        return [frozen.view(Unit)]

    check_both(fn, make)


MATRIX = {
    "product": lambda m: (m * m, m * 2, 2 * m),
    "power and sum": lambda m: (m**2, m.sum(), m.sum(axis=0)),
    "turned": lambda m: (m.T, m.I, m.A, m[0], m[0, 0], m[:, 1]),
    "functions": lambda m: (np.exp(m), np.asarray(m) + 1, np.dot(m, m)),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MATRIX)
def test_matrix(name):
    check_both(MATRIX[name], lambda: [np.matrix([[1.0, 2.0], [3.0, 5.0]])])


MASKED = {
    "arithmetic": lambda m: (m * 2 + 1, m - m, 1 / (m + 1)),
    "reductions": lambda m: (m.sum(), m.mean(), m.max(), m.count(), m.std()),
    "filled": lambda m: (m.filled(0) * 2, np.ma.getmaskarray(m), m.data + 1),
    "items": lambda m: (m[0], m[1:], m[m > 2]),
    "functions": lambda m: (np.exp(m), np.ma.sqrt(m), np.sum(m), np.where(m > 2, m, 0)),
    "compressed": lambda m: m.compressed() * 2,
    "compared": lambda m: (m > 2, m == m),
    "beside an array": lambda m: (m + np.arange(5.0), np.arange(5.0) * m),
    "is masked": lambda m: (m[1] is np.ma.masked, np.ma.is_masked(m)),
}


def masked():
    return np.ma.array([0.5, 1.5, 2.5, 3.5, 4.5], mask=[0, 1, 0, 0, 1])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MASKED)
def test_masked(name):
    check_both(MASKED[name], lambda: [masked()])


def written_masked(m):
    m[0] = np.ma.masked
    m[1] = 3.0
    m += 1
    return m


def test_masked_is_written():
    check_both(written_masked, lambda: [masked()])


RECORDS = {
    "fields": lambda r: (r.a * 2 + r.b, r["a"] + 1),
    "a field is set": lambda r: (setattr(r, "a", 5.0), r.a)[1],
    "rows": lambda r: (r[0].a, r[1:].b * 2),
}


@pytest.mark.parametrize("name", RECORDS)
def test_records(name):
    made = [("a", "f8"), ("b", "i8")]
    check_both(RECORDS[name], lambda: [np.rec.array([(1.0, 2), (3.0, 4)], dtype=made)])
