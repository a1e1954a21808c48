"""Functions that NumPy calls in the graph, what comes out learned by a dry run."""

import sys
import warnings
from pathlib import Path

import dyntrace
import numpy as np
import pytest
from differential import FORCED, check, check_calls
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

RNG = np.random.default_rng(7)
V, W = RNG.random(6), RNG.random(6)
M, N = RNG.random((4, 4)) + 4 * np.eye(4), RNG.random((4, 4))
R = RNG.random((5, 3))
S = M @ M.T
Z = V + 1j * W
I = np.array([2, 0, 1, 5, 3, 4])



def appended(a):
    out = np.array([])
    for x in a:
        out = np.append(out, x * 2)
    return out


CASES = {
    "cross": (lambda a: np.cross(a, a[::-1]) * 2, R),
    "kron": (lambda a, b: np.kron(a, b) + 1, V, W),
    "inner": (lambda a, b: np.inner(a, b) * 2, M, N),
    "vdot": (lambda a, b: np.vdot(a, b) + 1, V, W),
    "interp": (lambda x, xp, fp: np.interp(x, xp, fp) * 2, V, np.sort(W), V),
    "convolve": (lambda a, b: np.convolve(a, b) + 1, V, W),
    "convolve same": (lambda a, b: np.convolve(a, b, mode="same") + 1, V, W),
    "correlate": (lambda a, b: np.correlate(a, b, "full") * 2, V, W),
    "gradient": (lambda a: np.gradient(a) * 2, V),
    "histogram": (lambda a: np.histogram(a, 4, (0.0, 1.0))[0] * 2, V),
    "histogram both": (lambda a: np.histogram(a, bins=3), V),
    "percentile": (lambda a: np.percentile(a, 30) + 1, V),
    "percentiles": (lambda a: np.percentile(a, [10, 50, 90], axis=0) * 2, R),
    "quantile": (lambda a: np.quantile(a, 0.25, axis=1) * 2, M),
    "average": (lambda a, w: np.average(a, weights=w) + 1, V, W),
    "average both": (lambda a: np.average(a, axis=0, returned=True), R),
    "pad": (lambda a: np.pad(a, ((1, 1), (2, 0)), mode="edge") * 2, R),
    "pad constant": (lambda a: np.pad(a, 1) + 1, V),
    "nan_to_num": (lambda a: np.nan_to_num(a / 0.5) + 1, V),
    "digitize": (lambda a: np.digitize(a, np.array([0.0, 0.5, 1.0])) + 1, V),
    "searchsorted": (lambda a, b: np.searchsorted(a, b) + 1, np.sort(V), W),
    "take_along_axis": (lambda a, i: np.take_along_axis(a, i, 0) * 2, V, I),
    "select": (lambda a: np.select([a > 0.7, a > 0.3], [a, a * 2], 0.5) + 1, V),
    "polyval": (lambda p, a: np.polyval(p, a) + 1, V, W),
    "vander": (lambda a: np.vander(a, 3) * 2, V),
    "diag": (lambda a: np.diag(a) * 2, V),
    "einsum": (lambda a, b: np.einsum("ij,jk->ik", a, b) + 1, M, N),
    "einsum trace": (lambda a: np.einsum("ii", a) + 1, M),
    "ediff1d": (lambda a: np.ediff1d(a) * 2, V),
    "argpartition": (lambda a: np.argpartition(a, 2) + 1, V),
    "append": (lambda a, b: np.append(a, b) * 2, V, W),
    "append to nothing": (lambda a: np.append(np.append(np.array([]), a[0]), a) * 2, V),
    "append in a loop": (lambda a: appended(a), V),
    "unique rows": (lambda a: np.unique(a, axis=0) * 2, I.reshape(3, 2) % 2),
    "unique rows, where": (
        lambda a: np.unique(a, axis=0, return_index=True, return_inverse=True, return_counts=True),
        I.reshape(3, 2) % 2,
    ),
    "counted rows": (lambda a: np.unique(a, return_counts=True, axis=0)[1].max(), R),
    "unwrap": (lambda a: np.unwrap(a * 10) + 1, V),
    "sinc": (lambda a: np.sinc(a) + 1, V),
    "angle": (lambda z: np.angle(z) + 1, Z),
    "nansum": (lambda a: np.nansum(a, axis=0) + 1, R),
    "nancumsum": (lambda a: np.nancumsum(a) * 2, V),
    "isreal": (lambda z: np.isreal(z), Z),
    "cholesky": (lambda a: np.linalg.cholesky(a) * 2, S),
    "pinv": (lambda a: np.linalg.pinv(a) + 1, M),
    "matrix_power": (lambda a: np.linalg.matrix_power(a, 3) + 1, M),
    "eigvalsh": (lambda a: np.linalg.eigvalsh(a) * 2, S),
    "cond": (lambda a: np.linalg.cond(a) + 1, M),
    "multi_dot": (lambda a, b: np.linalg.multi_dot([a, b, a]) * 2, M, N),
    "fft": (lambda a: np.abs(np.fft.fft(a)) + 1, V),
    "rfft": (lambda a: np.fft.irfft(np.fft.rfft(a) * 2), V),
    "fft2": (lambda a: np.fft.ifft2(np.fft.fft2(a)).real + 1, M),
    "identity": (lambda a: a @ np.identity(4), M),
    "hamming": (lambda a: a * np.hamming(6), V),
    "fftfreq": (lambda a: a + np.fft.fftfreq(6, 0.5), V),
    "logspace": (lambda a: a + np.logspace(0, 1, 6), V),
    "triu_indices": (lambda a: a[np.triu_indices(4)] * 2, M),
    "isin": (lambda a, i: np.isin(i, [1, 2]) * a, V, I),
    "unravel_index": (lambda i: np.unravel_index(i, (2, 3)), I),
    "indices": (lambda a: np.indices((4, 4)).sum(0) % 2 * a, M),
    "fftshift": (lambda a: np.fft.fftshift(a) * 2, V),
}


@pytest.mark.parametrize("name", CASES)
def test_is_in_the_graph(name):
    fn, *args = CASES[name]
    check(fn, *args)
    found = dyntrace.explain(fn)(*args)
    if np.lib.NumpyVersion(np.__version__) >= "2.0.0":
        assert found.break_count == 0, found.breaks


BREAKS = {
    "a view": ("array-op", lambda a: np.linalg.matrix_power(a, 1) * 2, np.eye(3)),
    "into an argument": ("array-op", lambda a, b: np.percentile(a, 30, out=b), V, np.array(0.0)),
    "no matrix": ("raises", lambda a: np.linalg.cholesky(a), R),
    "no items": ("array-op", lambda a: np.convolve(a, a), np.zeros(0)),
    "an axis too many": ("raises", lambda a: np.percentile(a, 5, axis=3), V),
    "a text": ("raises", lambda a: np.kron(a, "x"), V),
    "two columns": ("array-op", lambda a: np.cross(a, [1.0, 2.0, 3.0]), R),
    "too large": ("array-op", lambda a: np.sinc(a), np.zeros(70000)),
}


@pytest.mark.parametrize("name", BREAKS)
def test_is_a_break(name):
    expected, fn, *args = BREAKS[name]
    check(fn, *args, breaks=expected)


def test_data_that_raises_runs_plainly():
    compiled = dyntrace.compile(lambda a: np.linalg.cholesky(a) * 2)
    compiled(S)
    with pytest.raises(np.linalg.LinAlgError):
        compiled(-S)
    assert (compiled(S) == np.linalg.cholesky(S) * 2).all()


def test_warnings_are_those_of_plain_execution():
    def both(a):
        return np.nan_to_num(np.interp(a, a, np.log(a)))

    compiled = dyntrace.compile(both)
    compiled(V)
    for call in (both, compiled):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            call(np.arange(6.0))
        assert [str(w.message) for w in found] == ["divide by zero encountered in log"]


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from(sorted(CASES)),
    st.sampled_from(["d", "f", "F", "i8", "?"]),
    st.sampled_from(["C", "F", "reversed", "strided"]),
    st.integers(0, 2**31),
)
def test_any_dtype_and_layout(name, dtype, layout, seed):
    fn, *args = CASES[name]
    rng = np.random.default_rng(seed)

    def lay(array):
        array = (array + rng.random(array.shape) * (array.dtype.kind != "i")).astype(
            array.dtype if array.dtype.kind == "i" else dtype
        )
        if layout == "F":
            return np.asfortranarray(array)
        if layout == "reversed":
            return array[::-1]
        return np.repeat(array, 2, axis=0)[::2] if layout == "strided" else array

    def outcome(call):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            try:
                result = call(*map(lay_once, args))
            except Exception as error:
                result = (type(error), str(error))
        rows = result if isinstance(result, tuple) else (result,)
        return [
            (type(r), r.dtype, r.shape, r.strides, r.tobytes()) if hasattr(r, "dtype") else r
            for r in rows
        ], [(w.category, str(w.message)) for w in found]

    laid = {id(a): lay(a) for a in args}

    def lay_once(array):
        return laid[id(array)]

    compiled = dyntrace.compile(fn)
    plain = outcome(fn)
    assert outcome(compiled) == plain
    assert outcome(compiled) == plain


def test_the_page_knows_what_is_captured():
    sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
    import numpy_page

    text = numpy_page.page()
    rows = {line.split("|")[1].strip(): line for line in text.splitlines() if line.startswith("| ")}
    assert "`exp`" in rows["fused"]
    assert "`concatenate`" in rows["in the graph"]
    assert "`linalg.cholesky`" in rows["dry run"]
    assert "`unique`" in rows["dry run, counted"] and "`flip`" in rows["followed"]
    assert "`roots`" in rows["late"]
    assert "`save`" in rows["break: writes a file or prints, which can't be taken back"]
    assert "break: no rule yet" not in rows


FOURIER = {
    "fft": lambda a: np.fft.fft(a) * 2,
    "fft along": lambda a: np.fft.fft(a, axis=0) + 1,
    "ifft": lambda a: np.fft.ifft(a, norm="ortho") + 1,
    "fft2": lambda a: np.fft.fft2(a, axes=(-1, -2)).real,
    "both ways": lambda a: np.real(np.fft.ifftn(-np.fft.fftn(a) * 1j)),
    "ifft2": lambda a: np.fft.ifft2(a, norm="forward").imag,
    "shifts": lambda a: np.fft.ifftshift(np.fft.fftshift(a) * 2, axes=0),
    "longer": lambda a: np.fft.fft(a, 8) + 1,
    "of s": lambda a: np.fft.fftn(a, s=(3, 3)) + 1,
}


@pytest.mark.parametrize("case", FOURIER)
def test_fourier_transforms_of_any_size(case):
    whole = np.arange(24.0).reshape(4, 6)
    arrays = [
        whole, whole[:3, ::2], np.asfortranarray(whole), whole.T, whole[:1], whole[:, :1] * 1j,
        whole.astype("f4"), whole.astype("i2"), whole.astype("c8"), whole[::-1], whole[:0], whole[0],
        np.random.default_rng(3).random((300, 300)), RNG.random((4, 5, 6)).transpose(1, 0, 2),
    ]  # fmt: skip
    for array in arrays:
        check_calls(FOURIER[case], (array,), whole=False)


def test_fourier_transforms_are_not_for_one_size():
    def f(a):
        return np.fft.ifft2(np.fft.fft2(a) * 2).real

    compiled = check_calls(f, *[(RNG.random((n, n + 1)),) for n in (3, 5, 8, 400)])
    assert FORCED or compiled.published <= 2


def test_a_transform_of_c_order_is_of_c_order():
    def f(a, b):
        z = np.fft.fftn(a)
        return z, 1j * b * z, np.fft.ifft(b * z, axis=0) * b, z.reshape(-1), z.T * b.T

    a, b = RNG.random((5, 7)), RNG.random((5, 7))
    check_calls(f, (a, b), (a[:, :1].copy(), b[:, :1].copy()), (a[:1].copy(), b[:1].copy()))
    large = RNG.random((2, 200, 201))
    check_calls(f, (large[0], large[1]))
    check_calls(f, (np.asfortranarray(a), b), (a[::2], b[::2]), whole=False)


def _written_views(x):
    diagonal = np.einsum("ii->i", x)
    diagonal += 1
    x[0, 0] = 7
    turned = np.einsum("ij->ji", x)
    turned[0] = 3
    return x, diagonal, turned, diagonal * 2, turned + 1


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: (np.einsum("ii->i", x), np.einsum("ij->ji", x), np.einsum("ij", x), np.einsum("ii", x)),
        lambda x: np.einsum("ij->ji", x)[1:] * np.einsum("...j->...j", x)[:-1],
        lambda x: _written_views(x * 2),
        _written_views,
    ],
    ids=["views", "used", "written", "written argument"],
)
@pytest.mark.parametrize("dtype", ["f8", "i4", "c16"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_einsum_gives_views(fn, dtype, order):
    check(fn, np.arange(9).reshape(3, 3).astype(dtype, order=order))
