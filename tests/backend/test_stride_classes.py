"""What ufuncs.def says of each loop of NumPy: from which layouts of the operands its bits may be computed.

Every loop is called by NumPy alone, with each operand dense, with gaps, backwards and repeated, and is
compared with the same call on dense copies, whole and in blocks.  Which of two NaNs a result keeps is not
compared: the loops themselves differ in it from one position in an array to the next.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys

import dyntrace
import numpy as np
import pytest
from graphs import DTYPES, ROWS, assert_same, umath

COUNT = 67  # vectors of every width, and a rest
BLOCKS = (64, 13)  # of the executor: some vectors, or whole rows
ROUNDS = 4
LAYOUTS = ("dense", "gaps", "backwards", "repeated")
ALLOWED = {"ANY": set(LAYOUTS), "STRIDED": {"dense", "gaps"}, "CONTIG": {"dense"}}
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 2.0, 0.5, 3.0, -2.5]
SPECIAL += [5e-324, -5e-324, 1e-310, 1e-20, 1e308, -1e308]


def floats(rng, dtype, count):
    ordinary = rng.standard_normal(count) * 10.0 ** rng.integers(-3, 4, count)
    with np.errstate(all="ignore"):
        return np.where(rng.random(count) < 0.5, rng.choice(SPECIAL, count), ordinary).astype(dtype)


def values(rng, dtype):
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return rng.random(COUNT) < 0.5
    if dtype.kind == "c":
        return floats(rng, dtype.char.lower(), 2 * COUNT).view(dtype)
    if dtype.kind == "f":
        return floats(rng, dtype, COUNT)
    limits = np.iinfo(dtype)
    small = rng.integers(max(limits.min, -9), 9, COUNT).astype(dtype)
    wide = rng.integers(limits.min, limits.max, COUNT, dtype=dtype, endpoint=True)
    return np.where(rng.random(COUNT) < 0.6, small, wide)


def laid_out(layout, dense):
    if layout == "gaps":
        return np.repeat(dense, 2)[::2]
    if layout == "backwards":
        return dense[::-1].copy()[::-1]
    if layout == "repeated":
        return np.broadcast_to(dense[:1], dense.shape)
    return dense


def called(ufunc, operands, dtypes):
    results = tuple(np.empty(len(operands[0]), dtype) for dtype in dtypes)
    ufunc(*operands, out=results)
    return results


def bits(results):
    """The bytes of each result, all NaNs being one."""
    plain = []
    for result in results:
        if result.dtype.kind in "fc":
            parts = result.view(result.dtype.char.lower())
            parts[np.isnan(parts)] = np.nan
        plain.append(result.tobytes())
    return plain


def in_blocks(ufunc, operands, dtypes, size):
    blocks = [slice(start, start + size) for start in range(0, COUNT, size)]
    parts = [called(ufunc, [x[block] for x in operands], dtypes) for block in blocks]
    return [np.concatenate(result) for result in zip(*parts)]


def loops(ufunc, real, complex_):
    """The loops that may be called directly: types of the operands and of the results, layouts allowed."""
    for types in ufunc.types:
        operands, results = types.split("->")
        allowed = ALLOWED.get(complex_ if {"F", "D"} & set(types) else real)
        if allowed and set(operands + results) <= set(DTYPES):
            yield operands, results, allowed


def differences(name, real, complex_):
    ufunc = getattr(umath, name)
    rng = np.random.default_rng(1)
    found = []
    for operands, dtypes, allowed in loops(ufunc, real, complex_):
        for _ in range(ROUNDS):
            dense = [values(rng, dtype) for dtype in operands]
            try:
                whole = bits(called(ufunc, dense, dtypes))
            except ValueError:  # negative powers of integers
                continue
            for size in BLOCKS:
                if bits(in_blocks(ufunc, dense, dtypes, size)) != whole:
                    found.append((operands, "in blocks", size))
            for layouts in itertools.product(sorted(allowed), repeat=ufunc.nin):
                own = [laid_out(layout, x) for layout, x in zip(layouts, dense)]
                copies = [x.copy() for x in own]
                if bits(called(ufunc, own, dtypes)) != bits(called(ufunc, copies, dtypes)):
                    found.append((operands, *layouts))
    return found


@pytest.mark.parametrize("row", [row[:3] for row in ROWS if hasattr(umath, row[0])], ids=lambda row: row[0])
def test_bits_do_not_depend_on_what_the_table_allows(row):
    with np.errstate(all="ignore"):
        assert differences(*row) == []


def test_the_test_sees_layouts_that_matter():
    with np.errstate(all="ignore"):
        found = {difference[1:] for difference in differences("clip", "ANY", "NONE")}
    assert ("dense", "repeated", "repeated") in found


def test_the_larger_of_two_zeros_in_rows():
    """Which zero NumPy's fmax gives depends on the place in the array: it is not called row by row."""
    rng = np.random.default_rng(2)
    x, y = rng.choice([0.0, -0.0], (2, 33, 129))

    def rows(x, y):
        z = np.fmax(x, y)
        return z, z.sum(-1), z / (1 + z.max(-1, keepdims=True))

    for got, expected in zip(dyntrace.compile(rows)(x, y), rows(x, y)):
        assert_same(got, expected)


def test_on_a_processor_without_extensions():
    """The same claims of the loops that NumPy takes on the plainest processor."""
    features = np._core._multiarray_umath.__cpu_features__
    present = [name for name in np._core._multiarray_umath.__cpu_dispatch__ if features[name]]
    if not present or os.environ.get("NPY_DISABLE_CPU_FEATURES"):
        pytest.skip("nothing can be taken away")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__, "-k", "table_allows"],
        env={**os.environ, "NPY_DISABLE_CPU_FEATURES": " ".join(present)},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout[-4000:]
