"""The page that lists NumPy's public functions: fused, in the graph, or a graph break and why.

    python tools/numpy_page.py      docs/guide/numpy-functions.md

What is captured is read from the tables of the adapter and of the native executor, what there is from
the installed NumPy. A function that is neither in a table nor among the reasons below stands under "no
rule yet".
"""

from __future__ import annotations

import re
import sys
import types
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "guide" / "numpy-functions.md"
OPS = ROOT / "src" / "adapters" / "numpy" / "ops.def"
LOOPS = ROOT / "src" / "backend" / "native" / "ufuncs.def"

HEAD = """\
# NumPy's functions

Made by `nox -s numpy` from the tables of the adapter and NumPy {version}. *Fused*: runs block-wise with its
neighbours. *In the graph*: NumPy runs it, its neighbours stay together. *Dry run*: the same, its result's
dtype and shape learned by a [dry run](../internals/native-executor.md). *Break*: runs plainly, and compiled
code goes on after it.

"""

#: Why a function that has no row can't be in a graph, or need not be.
REASONS = {
    "the size of the result depends on the data": """
        argwhere bincount compress delete extract flatnonzero intersect1d nonzero poly roots
        setdiff1d setxor1d trim_zeros union1d unique unique_all unique_counts unique_inverse
        unique_values insert histogram_bin_edges histogram2d histogramdd linalg.lstsq""",
    "the dtype of the result depends on the data": "real_if_close linalg.eig linalg.eigvals",
    "gives a Python number or bool": """
        allclose array_equal array_equiv count_nonzero iscomplexobj isrealobj isscalar iterable
        may_share_memory shares_memory linalg.matrix_rank""",
    "calls a function of the user's": """
        apply_along_axis apply_over_axes fromfunction frompyfunc fromiter piecewise vectorize""",
    "reads or writes files or text": """
        array2string array_repr array_str base_repr binary_repr format_float_positional
        format_float_scientific frombuffer fromfile fromregex fromstring genfromtxt load loadtxt
        save savetxt savez savez_compressed info show_config show_runtime from_dlpack""",
    "changes or reads settings": """
        geterr geterrcall getbufsize get_include get_printoptions printoptions set_printoptions
        setbufsize seterr seterrcall test errstate""",
    "about dtypes": """
        astype can_cast common_type isdtype issubdtype iinfo finfo min_scalar_type mintypecode
        promote_types result_type typename dtype""",
    "may warn from Python about the data": """
        corrcoef cov nanargmax nanargmin nanmax nanmean nanmedian nanmin nanpercentile nanquantile
        nanstd nanvar polyfit""",
    "gives a named tuple": "linalg.eigh linalg.qr linalg.slogdet linalg.svd",
    "for objects, text, dates or bits": """
        busday_count busday_offset is_busday datetime_as_string datetime_data packbits unpackbits
        char rec strings""",
}


def rows(path: Path, macro: str) -> list[list[str]]:
    """The arguments of a macro's rows."""
    found = re.findall(rf"^{macro}\(([^)]*)\)", path.read_text(), re.MULTILINE)
    return [[part.strip().strip('"') for part in row.split(",")] for row in found]


def captured() -> dict[str, str]:
    loops = {row[0] for row in rows(LOOPS, "UFUNC")}
    kinds = {
        name: "fused" if name in loops else "in the graph" for (name,) in rows(OPS, "NP_UFUNC")
    }
    own = {"where": "fused", "clip": "fused"}
    for name, handler in rows(OPS, "NP_FUNC"):
        kinds[name] = own.get(name, "dry run" if handler == "dt_np_fn_dry" else "in the graph")
    for _, path, handler in rows(OPS, "NP_FUNC_AT"):
        kinds[path] = "dry run" if handler == "dt_np_fn_dry" else "in the graph"
    return kinds


def public(module: types.ModuleType, prefix: str) -> dict[str, object]:
    """Functions and ufuncs by the name that the tables use, each object once."""
    names = getattr(module, "__all__", None) or dir(module)
    found: dict[str, object] = {}
    for name in sorted(n for n in names if not n.startswith("_")):
        value = getattr(module, name, None)
        if callable(value) and not isinstance(value, type):
            found[prefix + name] = value
    return found


def find(kinds: dict[str, str], name: str, functions: dict[str, object]) -> str:
    """The row of a function, or of another name of the same object."""
    same = [n for n, value in functions.items() if value is functions[name]]
    for candidate in (name, *same):
        if candidate in kinds:
            return kinds[candidate]
    for reason, names in REASONS.items():
        if any(candidate in names.split() for candidate in (name, *same)):
            return f"break: {reason}"
    return "break: no rule yet"


def page() -> str:
    kinds = captured()
    functions = {
        **public(np, ""),
        **public(np.linalg, "linalg."),
        **public(np.fft, "fft."),
    }
    groups: dict[str, list[str]] = {}
    for name in sorted(functions):
        groups.setdefault(find(kinds, name, functions), []).append(name)
    order = ["fused", "in the graph", "dry run"]
    keys = order + sorted(set(groups) - set(order))
    lines = ["| | functions | |", "| --- | --- | --- |"]
    for key in keys:
        names = groups.get(key, [])
        share = f"{len(names)} ({100 * len(names) / len(functions):.0f} %)"
        lines.append(f"| {key} | {share} | {', '.join(f'`{name}`' for name in names)} |")
    return HEAD.format(version=np.__version__) + "\n".join(lines) + "\n"


def main() -> int:
    PAGE.write_text(page())
    return 0


if __name__ == "__main__":
    sys.exit(main())
