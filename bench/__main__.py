"""`python -m bench [row ...]`: measure the table and print it; fails if a bound is missed."""

from __future__ import annotations

import argparse
import json
import platform
import sys
import traceback
from pathlib import Path

import dyntrace
import numpy as np

from . import arrays, dispatch, rows, torch_eager, tracing  # noqa: F401  (they register rows)
from .harness import ROWS, count_again


def main() -> int:
    names = [row.name for row in ROWS]
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("rows", nargs="*", metavar="row", help=f"of {', '.join(names)}")
    parser.add_argument("--json", type=Path, help="write the figures to this file as well")
    parser.add_argument("--count", action="store_true",
                        help="instructions under valgrind instead of time, printed as ns")  # fmt: skip
    options = parser.parse_args()
    unknown = set(options.rows) - set(names)
    if unknown:
        parser.error(f"no such row: {', '.join(sorted(unknown))}; there are {', '.join(names)}")

    if options.count:
        return count_again(options.rows)

    dyntrace.config.num_threads = 1  # rows about more say so
    print(f"CPython {platform.python_version()}, NumPy {np.__version__}, {platform.machine()}\n")
    others = torch_eager.figures(options.rows)
    if others:
        print("torch.compile: what its eager backend reaches in the same case with tensors\n")
    figures = {}
    missed = []
    for row in ROWS:
        if options.rows and row.name not in options.rows:
            continue
        sign = "at least" if row.lower else "at most"
        try:
            result = row.measure()
        except Exception:
            traceback.print_exc()
            missed.append(row.name)
            print(f"{row.name:8} {'FAILED':>10}   {row.text}", flush=True)
            continue
        value, remark = result if isinstance(result, tuple) else (result, "")
        met = row.met(value)
        if not met:
            missed.append(row.name)
        figures[row.name] = {"value": value, "bound": row.bound, "met": met}
        if row.name in others:
            figures[row.name]["torch"] = others[row.name]
            remark += f"{'; ' if remark else ''}torch.compile {others[row.name]:.2f} {row.unit}"
        print(f"{row.name:8} {value:8.2f} {row.unit:2} ({sign} {row.bound:g}: "
              f"{'met' if met else 'MISSED'})  {row.text}"
              + (f" [{remark}]" if remark else ""), flush=True)  # fmt: skip
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n")
    print(f"\n{'missed: ' + ', '.join(missed) if missed else 'every bound is met'}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
