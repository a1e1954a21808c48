"""Runs many programs of one kind in this process: `python tests/fuzz/web.py --seed N --count M`.

What is not here: programs (`web.py`, `scalars.py`), comparing (`worlds.py`), running them in processes
of their own and making findings smaller (`run.py`).
"""

from __future__ import annotations

import argparse
import warnings

import worlds


def run_one(program):
    """Runs it, without the statements that raise in its first call; raises worlds.Difference."""
    source = worlds.repair(program.source, program.calls, attempts=12)
    return worlds.run(source, program.calls, "program.py", changes=getattr(program, "changes", ()))


def main(make, header, description):
    """The command line over programs `make(seed)`, whose texts begin with `header`."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--only", type=int, help="index of the one program to print and run")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    published, failed = 0, 0
    numbers = range(options.count) if options.only is None else [options.only]
    for number in numbers:
        seed = f"{options.seed}/{number}"
        program = make(seed)
        if options.only is not None:
            print(program.source[len(header) :])
        try:
            published += run_one(program)["published"] > 0
        except Exception as error:
            failed += 1
            print(f"--- {seed}: {type(error).__name__}\n{error}\n", flush=True)
    print(f"{len(numbers)} programs, {published} captured in part or whole, {failed} differ")
    return failed > 0
