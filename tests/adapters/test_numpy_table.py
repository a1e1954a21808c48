"""Every row of src/adapters/numpy/ops.def has a case here; a row without one fails."""

import re
import tempfile
from pathlib import Path

import numpy as np
import pytest
from differential import check

OPS = Path(__file__).parents[2] / "src" / "adapters" / "numpy" / "ops.def"
ROWS = re.findall(r"^NP_(\w+)\((.*)\)$", OPS.read_text(), re.MULTILINE)
X = np.arange(1.0, 13.0).reshape(3, 4)
I = np.arange(1, 13).reshape(3, 4)
S = np.float64(2.5)
N = np.int64(5)
PART = X.view(type("Part", (np.ndarray,), {}))
FOLDER = tempfile.TemporaryDirectory()  # goes with the process
FILES = Path(FOLDER.name)
np.save(FILES / "x.npy", X)
TEXT = str(FILES / "x.txt")
np.savetxt(TEXT, X)


def rows(kind):
    return [
        [part.strip().strip('"') for part in text.split(",")] for name, text in ROWS if name == kind
    ]


UFUNCS = [row[0] for row in rows("UFUNC")]
# Functions: how each is called, with x an array of doubles and s a NumPy scalar.
FUNCTIONS = {
    "matmul": "np.matmul(x, x.T)",
    "dot": "np.dot(x, x.T)",
    "sum": "np.sum(x)",
    "prod": "np.prod(x)",
    "max": "np.max(x)",
    "min": "np.min(x)",
    "any": "np.any(x)",
    "all": "np.all(x)",
    "mean": "np.mean(x)",
    "var": "np.var(x)",
    "std": "np.std(x)",
    "ptp": "np.ptp(x)",
    "amax": "np.amax(x)",
    "amin": "np.amin(x)",
    "where": "np.where(x > 2, x, 0)",
    "clip": "np.clip(x, 1, 2)",
    "round": "np.round(x / 7, 2)",
    "around": "np.around(x / 7)",
    "reshape": "np.reshape(x, (4, 3))",
    "transpose": "np.transpose(x)",
    "permute_dims": "np.permute_dims(x, (1, 0))",
    "swapaxes": "np.swapaxes(x, 0, 1)",
    "squeeze": "np.squeeze(x[:1])",
    "ravel": "np.ravel(x)",
    "moveaxis": "np.moveaxis(x, 0, 1)",
    "expand_dims": "np.expand_dims(x, 0)",
    "broadcast_to": "np.broadcast_to(x, (2, 3, 4))",
    "lib.stride_tricks.sliding_window_view": "np.lib.stride_tricks.sliding_window_view(x, 2, axis=1)",
    "lib.stride_tricks.as_strided": "np.lib.stride_tricks.as_strided(x, (2, 2), (8, 16))",
    "concatenate": "np.concatenate([x, x])",
    "stack": "np.stack([x, x])",
    "zeros": "np.zeros(3)",
    "ones": "np.ones(3)",
    "empty": "np.empty(0)",
    "full": "np.full(3, 2)",
    "zeros_like": "np.zeros_like(x)",
    "ones_like": "np.ones_like(x)",
    "empty_like": "np.empty_like(x[:0])",
    "full_like": "np.full_like(x, 3)",
    "arange": "np.arange(5)",
    "linspace": "np.linspace(0, 1, 5)",
    "eye": "np.eye(3)",
    "array": "np.array([1, 2])",
    "asarray": "np.asarray(x)",
    "asanyarray": "np.asanyarray(x)",
    "ascontiguousarray": "np.ascontiguousarray(x.T)",
    "copy": "np.copy(x)",
    "real": "np.real(x * 1j)",
    "imag": "np.imag(x * 1j)",
    "argmax": "np.argmax(x)",
    "argmin": "np.argmin(x, 0)",
    "cumsum": "np.cumsum(x, 1)",
    "cumprod": "np.cumprod(x)",
    "sort": "np.sort(-x)",
    "argsort": "np.argsort(-x, axis=0)",
    "take": "np.take(x, np.arange(2), 1)",
    "repeat": "np.repeat(x, 2, axis=0)",
    "trace": "np.trace(x)",
    "roll": "np.roll(x, 1, axis=1)",
    "tril": "np.tril(x)",
    "triu": "np.triu(x, 1)",
    "diff": "np.diff(x)",
    "outer": "np.outer(x[0], x[1])",
    "median": "np.median(x, 0)",
    "isclose": "np.isclose(x, 2.0)",
    "tile": "np.tile(x, 2)",
    "vstack": "np.vstack([x, x[0]])",
    "hstack": "np.hstack([x, x[:, :2]])",
    "dstack": "np.dstack([x, x])",
    "column_stack": "np.column_stack([x, x[:, 0]])",
    "tensordot": "np.tensordot(x, x.T, 1)",
    "linalg.inv": "np.linalg.inv(x[:, :3] + np.eye(3))",
    "linalg.det": "np.linalg.det(x[:, :3] + np.eye(3))",
    "linalg.solve": "np.linalg.solve(x[:, :3] + np.eye(3), x)",
    "linalg.norm": "np.linalg.norm(x)",
    "copyto": "(np.copyto(x, s), x)[1]",
    "put": "(np.put(x, np.arange(2), 5.0), x)[1]",
    "place": "(np.place(x, x > 3, np.arange(2.0)), x)[1]",
    "putmask": "(np.putmask(x, x > 3, -x), x)[1]",
    "fill_diagonal": "(np.fill_diagonal(x, s), x)[1]",
    "put_along_axis": "(np.put_along_axis(x, np.argmax(x, 1).reshape(3, 1), 0.0, 1), x)[1]",
    "shape": "np.shape(x)",
    "ndim": "np.ndim(x)",
    "size": "np.size(x)",
}
# Called in the graph, with the result learned by a dry run; test_numpy_dry.py has the others.
DRY_FUNCTIONS = {
    "array_equiv": "np.array_equiv(x, x[:1])",
    "datetime_as_string": "np.datetime_as_string(np.datetime64('2020-01-01'), unit='h')",
    "diagonal": "np.diagonal(x)",
    "linalg.diagonal": "np.linalg.diagonal(x)",
    "linalg.lstsq": "np.linalg.lstsq(x, x[:, 0], rcond=None)[0]",
    "unique_all": "tuple(np.unique_all(x[0]))",
    "unique_counts": "tuple(np.unique_counts(x))",
    "unique_inverse": "tuple(np.unique_inverse(x[0]))",
    "bartlett": "np.bartlett(6)",
    "blackman": "np.blackman(6)",
    "choose": "np.choose([0, 1, 0, 1], x[:2])",
    "cumulative_prod": "np.cumulative_prod(x[0])",
    "cumulative_sum": "np.cumulative_sum(x[0])",
    "diag_indices": "x[np.diag_indices(3)]",
    "diagflat": "np.diagflat(x[0])",
    "fft.fftn": "np.fft.fftn(x)",
    "fft.hfft": "np.fft.hfft(x[0])",
    "fft.ifft": "np.fft.ifft(x[0])",
    "fft.ifftn": "np.fft.ifftn(x)",
    "fft.ifftshift": "np.fft.ifftshift(x)",
    "fft.ihfft": "np.fft.ihfft(x[0])",
    "fft.irfft2": "np.fft.irfft2(x)",
    "fft.irfftn": "np.fft.irfftn(x)",
    "fft.rfft2": "np.fft.rfft2(x)",
    "fft.rfftfreq": "np.fft.rfftfreq(6)",
    "fft.rfftn": "np.fft.rfftn(x)",
    "geomspace": "np.geomspace(1, 8, 4)",
    "hanning": "np.hanning(6)",
    "i0": "np.i0(x)",
    "iscomplex": "np.iscomplex(x)",
    "isneginf": "np.isneginf(x)",
    "isposinf": "np.isposinf(x)",
    "kaiser": "np.kaiser(6, 2.0)",
    "lexsort": "np.lexsort((x[0], x[1]))",
    "linalg.cross": "np.linalg.cross(x.T[0], x.T[1])",
    "linalg.matrix_norm": "np.linalg.matrix_norm(x)",
    "linalg.outer": "np.linalg.outer(x[0], x[1])",
    "linalg.svdvals": "np.linalg.svdvals(x)",
    "linalg.tensordot": "np.linalg.tensordot(x, x.T, axes=1)",
    "linalg.tensorinv": "np.linalg.tensorinv((x @ x.T + 9 * np.eye(3)).reshape(3, 3), ind=1)",
    "linalg.tensorsolve": "np.linalg.tensorsolve(x @ x.T + 9 * np.eye(3), x[:, 0])",
    "linalg.vecdot": "np.linalg.vecdot(x, x)",
    "linalg.vector_norm": "np.linalg.vector_norm(x)",
    "meshgrid": "np.meshgrid(x[0], x[1])",
    "nancumprod": "np.nancumprod(x[0])",
    "nanprod": "np.nanprod(x)",
    "partition": "np.partition(x, 2)",
    "ravel_multi_index": "np.ravel_multi_index(np.array([[1, 2], [0, 1]]), (3, 4))",
    "resize": "np.resize(x, (2, 3))",
    "trapezoid": "np.trapezoid(x)",
    "tri": "x + np.tri(3, 4)",
    "tril_indices": "x[np.tril_indices(3)]",
}
METHODS = {
    "argpartition": "x.argpartition(1)",
    "choose": "(x > 0.5).astype(int).choose([x, x * 2])",
    "compress": "x[0].compress(x[0] > 0.5)",
    "nonzero": "x.nonzero()[0]",
    "searchsorted": "x[0].searchsorted(0.5)",
    "tobytes": "x.tobytes()",
    "view": "x.view('i8')",
    "item": "(x[:1, :1].item(), x.item(1), x.sum().item())",
    "tolist": "(x.tolist(), x.sum().tolist())",
    "sum": "x.sum()",
    "prod": "x.prod()",
    "max": "x.max()",
    "min": "x.min()",
    "any": "x.any()",
    "all": "x.all()",
    "mean": "x.mean()",
    "var": "x.var()",
    "std": "x.std()",
    "clip": "x.clip(1, 2)",
    "round": "(x / 7).round(3)",
    "astype": "x.astype('f4')",
    "reshape": "x.reshape(4, 3)",
    "transpose": "x.transpose(1, 0)",
    "swapaxes": "x.swapaxes(0, 1)",
    "diagonal": "x.diagonal(1)",
    "squeeze": "x[:1].squeeze()",
    "ravel": "x.ravel()",
    "flatten": "x.flatten()",
    "copy": "x.copy()",
    "__copy__": "x.__copy__()",
    "__deepcopy__": "x.__deepcopy__({})",
    "dot": "x.dot(x.T)",
    "conj": "(x * 1j).conj()",
    "conjugate": "(x * 1j).conjugate()",
    "argmax": "x.argmax(1)",
    "argmin": "x.argmin()",
    "cumsum": "x.cumsum()",
    "cumprod": "x.cumprod(axis=0)",
    "argsort": "(-x).argsort()",
    "take": "x.take(np.arange(3))",
    "repeat": "x.repeat(3)",
    "trace": "x.trace()",
    "fill": "(x.fill(2), x)[1]",
    "sort": "(x.sort(0), x)[1]",
    "partition": "(x.partition(2), x)[1]",
    "put": "(x.put(np.arange(3), -1), x)[1]",
}
ATTRIBUTES = {
    "shape": "x.shape",
    "ndim": "x.ndim",
    "size": "x.size",
    "dtype": "x.dtype",
    "itemsize": "x.itemsize",
    "nbytes": "x.nbytes",
    "T": "x.T",
    "mT": "x.mT",
    "strides": "x.strides",
    "flags": "x.flags.c_contiguous",
    "real": "(x * 1j).real",
    "imag": "(x * 1j).imag",
}
# Callables that only lowered nodes use: what lowers to them.
CALLEES = {
    "dyntrace._numpy_checked.multivariate_normal": "np.random.RandomState(3).multivariate_normal([1], [[1]])",
    "ndarray.item": "x.item(1)",
    "ndarray.tobytes": "x.tobytes()",
    "ndarray.view": "x.view('i8')",
    "ndarray.tolist": "x.tolist()",
    "generic.item": "x.sum().item()",
    "generic.tolist": "x.sum().tolist()",
    "operator.add": "s + 1",
    "operator.and_": "n & 3",
    "operator.floordiv": "s // 2",
    "operator.lshift": "n << 1",
    "operator.mul": "s * 2",
    "operator.mod": "s % 2",
    "operator.or_": "n | 8",
    "operator.pow": "s ** 2",
    "operator.rshift": "n >> 1",
    "operator.sub": "s - 1",
    "operator.truediv": "s / 2",
    "operator.xor": "n ^ 1",
    "operator.lt": "s < 1",
    "operator.le": "s <= 1",
    "operator.eq": "s == 1",
    "operator.ne": "s != 1",
    "operator.gt": "s > 1",
    "operator.ge": "s >= 1",
    "operator.neg": "-s",
    "operator.pos": "+s",
    "operator.invert": "~n",
    "operator.abs": "abs(s)",
    "operator.getitem": "x[0]",
    "ndarray.reshape": "x.reshape(-1)",
    "ndarray.transpose": "x.T",
    "ndarray.squeeze": "x[:1].squeeze()",
    "ndarray.ravel": "x.ravel()",
    "ndarray.flatten": "x.flatten()",
    "ndarray.astype": "x.astype('f4')",
    "ndarray.copy": "x.copy()",
    "generic.astype": "s.astype('f4')",
    "numpy.clip": "x.clip(1, 2)",
    "numpy.histogramdd": "np.histogramdd(x, 2)[0]",
    "dyntrace._numpy_checked.all_finite": "np.asarray_chkfinite(x)",
    "dyntrace._numpy_parts.plain": "part * 2",
    "dyntrace._numpy_checked.printed": "np.set_printoptions(); np.array_str(x)",
    "dyntrace._numpy_files.load": f"np.load({str(FILES / 'x.npy')!r})",
    "dyntrace._numpy_files.loadtxt": f"np.loadtxt({TEXT!r})",
    "dyntrace._numpy_files.genfromtxt": f"np.genfromtxt({TEXT!r})",
    "dyntrace._numpy_files.fromregex": f"np.fromregex({TEXT!r}, '([0-9]+)', [('n', 'i8')])",
    "dyntrace._numpy_files.fromfile": f"np.fromfile({TEXT!r}, 'u1')",
    "dyntrace._numpy_files.fromstring": "np.fromstring('1 2', sep=' ')",
    "dyntrace._numpy_checked.as_found": "np.linalg.eigvals(x @ x.T) * 2",
    "numpy.iscomplexobj": "np.linalg.eigvals(x @ x.T) * 2",
    "operator.setitem": "np.copyto(x, x * 2)",
    "operator.imatmul": "x; y = x @ x.T; y @= y; x = y",
    "ndarray.fill": "n; np.arange(3).fill(n)",
    "ndarray.sort": "x.sort()",
    "ndarray.partition": "x.partition(1)",
    "ndarray.put": "x.put(0, 1.5)",
}


def test_every_row_has_a_case():
    functions = {row[0] for row in rows("FUNC")} | {row[1] for row in rows("FUNC_AT")}
    dry = Path(__file__).with_name("test_numpy_dry.py").read_text()
    dry += Path(__file__).with_name("test_numpy_more.py").read_text()
    dry += Path(__file__).with_name("test_numpy_told.py").read_text()
    dry += Path(__file__).with_name("test_numpy_buffers.py").read_text()
    dry += Path(__file__).with_name("test_numpy_files.py").read_text()
    dry += Path(__file__).with_name("test_numpy_texts.py").read_text()
    assert set(FUNCTIONS) <= functions
    assert set(DRY_FUNCTIONS) <= functions
    rest = functions - set(FUNCTIONS) - set(DRY_FUNCTIONS)
    assert {name for name in rest if f"np.{name}(" not in dry} == set()
    assert set(METHODS) == {row[0] for row in rows("METHOD")}
    assert set(ATTRIBUTES) == {row[0] for row in rows("ATTR")}
    assert set(CALLEES) == {row[3] for row in rows("CALLEE")}
    assert len(UFUNCS) == len(set(UFUNCS))


def function(expression):
    namespace = {"np": np, "part": PART}
    exec(f"def f(x, s, n):\n    value = {expression}\n    return value, x + 1\n", namespace)
    return namespace["f"]


def targets(compiled):
    return {node.target for r in compiled.records for node in r["graph"].nodes if node.op == "call"}


@pytest.mark.parametrize("name", UFUNCS)
def test_ufunc(name):
    ufunc = getattr(np, name)
    for arguments in ((X,) * ufunc.nin, (I,) * ufunc.nin):
        try:
            with np.errstate(all="ignore"):
                ufunc(*arguments)
        except TypeError:
            continue

        names = ", ".join("abc"[: ufunc.nin])
        scope = {"ufunc": ufunc}
        exec(f"def f({names}):\n    return ufunc({names})\n", scope)
        assert targets(check(scope["f"], *arguments)) == {f"numpy.{name}"}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function(name):
    check(function(FUNCTIONS[name]), X, S, N)


@pytest.mark.parametrize("name", DRY_FUNCTIONS)
def test_function_by_a_dry_run(name):
    owner = np
    for part in name.split("."):
        owner = getattr(owner, part, None)
    if owner is None:
        pytest.skip("this NumPy has no such function")
    check(function(DRY_FUNCTIONS[name]), X, S, N)


@pytest.mark.parametrize("name", METHODS)
def test_method(name):
    check(function(METHODS[name]), X, S, N)


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_attribute(name):
    check(function(ATTRIBUTES[name]), X, S, N)


@pytest.mark.parametrize("target", CALLEES)
def test_lowered(target):
    assert target in targets(check(function(CALLEES[target]), X, S, N))


def test_rows_are_found_by_the_names_of_their_callables():
    """The adapter looks a callable up by the name that it gives itself."""
    paths = UFUNCS + [row[0] for row in rows("FUNC")] + [row[1] for row in rows("FUNC_AT")]
    named = {path.split(".")[-1] for path in paths}
    for path in paths:
        found = np
        for part in path.split("."):
            found = getattr(found, part, None)
        assert found is None or found.__name__ in named, path
