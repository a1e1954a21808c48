"""Functions that give the array itself, a view of it, or a copy: which, and what later writes show."""

import pickle
import tempfile

import dyntrace
import numpy as np
import pytest

IF_NEEDED = None if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else False
FLOAT = np.dtype("f8")
OWN = pickle.loads(pickle.dumps(np.zeros(1))).dtype  # equal, and another object

SWAPPED = np.dtype(">f8")


class Array(np.ndarray):
    """An array with a class of its own."""


def described(value, arrays):
    """What a program sees of an array: items, memory, and whose it is."""
    if not isinstance(value, np.ndarray):
        return repr(value)
    for name, array in arrays.items():
        if value is array:
            return name
    base = [name for name, array in arrays.items() if value.base is array]
    return (type(value), value.dtype, value.tolist(), value.strides, value.flags.num, base)


def told(function, *arrays):
    names = {f"argument {k}": array for k, array in enumerate(arrays)}
    results = function(*arrays)
    for k, result in enumerate(results):
        if isinstance(result, np.ndarray):
            names.setdefault(f"result {k}", result)
    seen = {}
    for name, array in names.items():
        seen[name] = described(array, {other: a for other, a in names.items() if other != name})
    return [described(result, names) for result in results], seen


# ---- Orders --------------------------------------------------------------------------------------


def fortran_twice(a):
    b = np.asfortranarray(a)
    c = np.asfortranarray(b)
    c.fill(11)
    return b * 2, c, np.array(b, complex, ndmin=2)


def fortran_written(a):
    b = np.asfortranarray(a)
    b += 1
    return a * 2, b


def fortran_of_transposed(a):
    b = np.asfortranarray(a.T)
    b[:1] = 7
    return a + 1, b, np.asfortranarray(b)


def contiguous_twice(a):
    b = np.ascontiguousarray(a)
    c = np.ascontiguousarray(b)
    c *= 3
    return b + 1, c


def both_orders(a):
    b = np.asfortranarray(np.ascontiguousarray(a))
    b -= 1
    return a * 1, b, np.ascontiguousarray(b)


def more_axes(a):
    b = np.array(a, ndmin=4)
    c = np.array(a * 2, ndmin=4, copy=IF_NEEDED)
    b += 1
    return a + 0, b, c


def of_an_operation(a):
    b = a + 1
    c = np.asfortranarray(b)
    c[0] = 5
    return b, c


LAYOUTS = {
    "C": lambda a: a,
    "Fortran": np.asfortranarray,
    "transposed": lambda a: a.transpose(1, 0, 2),
    "steps": lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
    "flat": lambda a: a.reshape(-1),
    "one row": lambda a: a[:1, :1],
    "column": lambda a: a[:, :1, :1],
    "integers": lambda a: a.astype(int),
    "nothing": lambda a: a[:, :0],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    "function",
    [
        fortran_twice,
        fortran_written,
        fortran_of_transposed,
        contiguous_twice,
        both_orders,
        of_an_operation,
        more_axes,
    ],
    ids=lambda f: f.__name__,
)
def test_orders(function, layout):
    compiled = dyntrace.compile(function)
    for _ in range(2):
        plain, found = (
            told(call, LAYOUTS[layout](np.arange(12.0).reshape(3, 2, 2)))
            for call in (function, compiled)
        )
        assert plain == found


def test_orders_are_in_the_graph():
    def function(a):
        return np.asfortranarray(a * 2) + 1

    compiled = dyntrace.compile(function, fullgraph=True)
    a = np.arange(6.0).reshape(2, 3)
    for array in (a, a.T, np.ones((4, 5))):
        assert compiled(array).tobytes() == function(array).tobytes()
    assert compiled(a).strides == function(a).strides


def of_no_axes(a):
    b = np.nan_to_num(a, copy=False)
    c = b + 1
    a += 3
    return b, c, np.nan_to_num(a.reshape(1), copy=False)


@pytest.mark.parametrize("item", [3.5, np.nan, 2, 1 + 2j])
def test_arrays_of_no_axes(item):
    compiled = dyntrace.compile(of_no_axes)
    for _ in range(2):
        assert told(of_no_axes, np.array(item)) == told(compiled, np.array(item))


# ---- dtypes --------------------------------------------------------------------------------------


def pickled(array):
    return pickle.loads(pickle.dumps(array))


KINDS = {
    "NumPy's": lambda a: a,
    "pickled": pickled,
    "pickled part": lambda a: pickled(np.repeat(a, 2))[::2],
    "swapped": lambda a: a.astype(">f8"),
}


def by_class(a, b):
    c, d = np.asarray(a, float), np.asarray(b, dtype=np.float64)
    c[:1] += 1
    return c, d, a * 2, b * 2


def by_text(a, b):
    return np.asarray(a, "f8"), np.asanyarray(b, "f8"), a + b


def by_dtype(a, b):
    c = np.asarray(a, FLOAT)
    return c, np.array(b, FLOAT, copy=IF_NEEDED), c + 1


def parts(a, b):
    c, d = a[1:], b[::-1]
    return np.asarray(c, float), np.asarray(d.T, float), c, d


def copied_unless_new(a, b):
    c = np.asarray(a, float)
    if c is a:
        c = a.copy()
    c += b
    return c, a + 0, b


def of_operations(a, b):
    c, d = a + 1, np.maximum(a, b) * b
    e = np.asarray(c, float)
    e += 2
    return c, d, e, np.asarray(d, "f8"), np.asarray(np.sqrt(a)[1:], FLOAT), np.asarray(-b, float)


def of_copies(a, b):
    c, d = a.copy(), np.copy(b)
    return np.asarray(c, float), np.asarray(d, float), np.asarray(a.astype(float), float), c, d


def of_two_results(a, b):
    c, d = np.divmod(a, 2)
    return (
        np.asarray(c, float),
        np.asarray(d, float),
        np.asarray(np.subtract(a, b, casting="unsafe"), float),
        c,
        d,
    )


def kept_dtype(a, b):
    return np.asarray(a, a.dtype) + 1, np.asarray(a), a.astype(float, copy=False), b + 0


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (1, 0, 1, 3), (2, 0, 2), (3, 1, 0)], ids=str)
@pytest.mark.parametrize(
    "function",
    [
        by_class,
        by_text,
        by_dtype,
        parts,
        copied_unless_new,
        of_operations,
        of_copies,
        of_two_results,
        kept_dtype,
    ],
    ids=lambda f: f.__name__,
)
def test_dtypes_that_are_objects_of_their_own(function, order):
    compiled = dyntrace.compile(function)
    kinds = list(KINDS.values())
    for k in order:
        for other in (k, (k + 1) % len(kinds)):
            plain, found = (
                told(call, kinds[k](np.arange(5.0)), kinds[other](np.arange(5.0) * 3))
                for call in (function, compiled)
            )
            assert plain == found


HANDED_ON = """
a[[0, 2]]; a[a > 1]; np.take(a, [0, 1]); np.sort(a); a.repeat(2); np.roll(a, 1); a.cumsum(); a.flatten()
a.sum(keepdims=True); a.max(0, keepdims=True); a.prod(keepdims=True); a.sum(keepdims=True, dtype=float)
np.unique(a); np.tile(a, 2); np.partition(a, 1); np.insert(a, 0, 0); np.delete(a, 0); np.pad(a, 1); np.array(a)
np.concatenate([a, a]); np.where(a > 1, a, a); np.tril(a); np.diff(a); (a * a)[1:]; a.view(float); a.astype(float)
"""


@pytest.mark.parametrize("expression", HANDED_ON.replace("\n", ";").strip(";").split(";"))
def test_dtype_objects_that_operations_hand_on(expression):
    """Of all kinds, whichever comes first."""
    namespace = {"np": np}
    exec(f"def function(a):\n r = {expression}\n return r, np.asarray(r, float)", namespace)
    function = namespace["function"]
    for kinds in (KINDS.values(), reversed(KINDS.values())):
        compiled = dyntrace.compile(function)
        for make in kinds:
            plain, found = (told(call, make(np.arange(5.0))) for call in (function, compiled))
            assert plain == found


@pytest.mark.parametrize("function", [by_class, by_text, copied_unless_new])
def test_instances_whose_dtype_is_an_object_of_its_own(function):
    compiled = dyntrace.compile(function)
    for make in (lambda a: a, pickled, pickled):
        plain, found = (
            told(call, make(np.arange(5.0)).view(Array), make(np.arange(5.0)).view(Array))
            for call in (function, compiled)
        )
        assert plain == found


def test_dtype_of_the_program():
    """A dtype that is no object of NumPy's own, and an array that has it."""

    def function(a):
        return np.asarray(a, OWN), a + 1

    compiled = dyntrace.compile(function)
    for array in (np.arange(3.0), np.zeros(3, OWN), pickled(np.arange(3.0))):
        assert told(function, array) == told(compiled, array)


def test_swapped_dtype_of_the_program():
    def function(a):
        return np.asarray(a, SWAPPED), a + 1

    compiled = dyntrace.compile(function)
    for array in (np.zeros(3, SWAPPED), np.zeros(3, ">f8"), np.zeros(3), np.zeros(3, SWAPPED)):
        assert told(function, array) == told(compiled, array)


# ---- Instances of classes derived from ndarray ---------------------------------------------------


def mapped(array):
    with tempfile.TemporaryFile() as file:
        found = np.memmap(file, array.dtype, "w+", shape=array.shape)
    found[...] = array
    return found


def as_plain(a):
    b = np.asarray(a)
    b += 1
    return b, np.asarray(a, float), a.view(np.ndarray), a + 0


def as_any(a):
    return np.asanyarray(a), np.array(a, copy=IF_NEEDED), a * 2


@pytest.mark.parametrize(
    "make",
    [mapped, lambda a: a.view(Array), lambda a: a.view(Array)[1:], lambda a: a.view(Array) + 0],
    ids=["memmap", "instance", "part", "result"],
)
@pytest.mark.parametrize("function", [as_plain, as_any], ids=lambda f: f.__name__)
def test_instances_are_the_base(function, make):
    compiled = dyntrace.compile(function)
    for _ in range(2):
        plain, found = (
            told(call, make(np.arange(6.0).reshape(3, 2))) for call in (function, compiled)
        )
        assert plain == found
