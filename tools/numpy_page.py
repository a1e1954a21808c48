"""The page that lists NumPy's public functions: fused, in the graph, or a graph break and why.

    python tools/numpy_page.py      docs/guide/numpy-functions.md

What is captured is read from the tables of the adapter and of the native executor, what there is from
the installed NumPy. A function that is neither in a table nor among the reasons below stands under "no
rule yet".
"""

from __future__ import annotations

import ast
import re
import sys
import types
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "guide" / "numpy-functions.md"
OPS = ROOT / "src" / "adapters" / "numpy" / "ops.def"
POLYFILLS = sorted((ROOT / "python" / "dyntrace" / "polyfills").glob("numpy*.py"))
LOOPS = ROOT / "src" / "backend" / "native" / "ufuncs.def"

HEAD = """\
# NumPy's functions

Made by `nox -s numpy` from the tables of the adapter and NumPy {version}. *Fused*: runs block-wise with
its neighbours. *In the graph*: NumPy runs it, its neighbours stay together. *Dry run*: the same, its
result's dtype and shape learned by a [dry run](../internals/native-executor.md); *counted*: and how long
the result is depends on the data; *quiet*: and where it would warn about the data, the call is made again
plainly. *Late*: the same, and the data say of which dtype the result is: it is taken for one of the dtype
that it has in the call that is compiled, as a branch is followed. *Read*: the same, of a regular file by
its path, or a text. *Followed*: views and other captured functions in its place, or an effect behind the
graph. *Known*: the answer is known while tracing. *Break*: runs plainly, and compiled code goes on after
it. Some forms of a function (an option, a list for an array) may be breaks too.

"""

#: Why a function that has no row can't be in a graph, or need not be.
REASONS = {
    "gives an object whose calls run the program's code": "frompyfunc nested_iters vectorize",
    "warns at each call": "in1d row_stack trapz asmatrix bmat",
    "writes a file or prints, which can't be taken back": """
        info save savetxt savez savez_compressed show_config show_runtime test""",
    "of texts": "char rec strings",
}


def rows(path: Path, macro: str) -> list[list[str]]:
    """The arguments of a macro's rows."""
    found = re.findall(rf"^{macro}\(([^)]*)\)", path.read_text(), re.MULTILINE)
    return [[part.strip().strip('"') for part in row.split(",")] for row in found]


def followed() -> list[str]:
    """The functions that the polyfills' decorators name, also those that not every NumPy has."""
    bodies = [statement for path in POLYFILLS for statement in ast.parse(path.read_text()).body]
    marks = [m for f in bodies if isinstance(f, ast.FunctionDef) for m in f.decorator_list]
    names = []
    for original in (a for m in marks if isinstance(m, ast.Call) for a in m.args):
        match original:
            case ast.Starred(
                ast.Call(args=[module, ast.Constant(str(name))])
            ):  # *_present(np, "name")
                names.append(f"{ast.unparse(module)}.{name}")
            case _:
                names.append(ast.unparse(original))
    return [name.removeprefix("np.") for name in names]


def captured() -> dict[str, str]:
    loops = {row[0] for row in rows(LOOPS, "UFUNC")}
    kinds = {
        name: "fused" if name in loops else "in the graph" for (name,) in rows(OPS, "NP_UFUNC")
    }
    own = {"where": "fused", "clip": "fused"}
    ways = {
        "dt_np_fn_dry": "dry run", "dt_np_fn_counted": "dry run, counted",
        "dt_np_fn_quiet": "dry run, quiet", "dt_np_fn_about": "known",
        "dt_np_fn_second_open": "dry run, counted", "dt_np_fn_bincount": "dry run, counted",
        "dt_np_fn_told": "dry run", "dt_np_fn_printed": "dry run", "dt_np_fn_nan_to_num": "dry run",
        "dt_np_fn_shares": "dry run", "dt_np_fn_poly": "dry run",
        "dt_np_fn_histogramdd": "dry run", "dt_np_fn_late": "late", "dt_np_fn_eigen": "late",
        "dt_np_fn_roots": "late", "dt_np_fn_texts": "dry run",
        "dt_np_fn_getbufsize": "known", "dt_np_fn_geterr": "known", "dt_np_fn_geterrcall": "known",
        "dt_np_fn_isfortran": "known", "dt_np_fn_reads": "read",
    }  # fmt: skip
    for name, handler in rows(OPS, "NP_FUNC"):
        kinds[name] = own.get(name, ways.get(handler, "in the graph"))
    for _, path, handler in rows(OPS, "NP_FUNC_AT"):
        kinds[path] = ways.get(handler, "in the graph")
    return kinds | dict.fromkeys(followed(), "followed")


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
    order = [
        "fused", "in the graph", "dry run", "dry run, counted", "dry run, quiet", "late", "read",
        "followed", "known",
    ]  # fmt: skip
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
