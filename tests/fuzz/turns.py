"""One random function, called plainly and compiled by turns, in two worlds that begin equal.

What is not here: functions, and what their worlds hold and tell (`branches.py`, `keyed.py`).
"""

from __future__ import annotations

import argparse
import linecache
import traceback

import dyntrace


def compare(name, source, make_world, calls):
    """None, or the text of the first difference.

    The source, as a file called `name`, defines `fn`; `make_world(space, target)` gives an object whose
    `call(*arguments)` calls the target and tells what came of it; `calls` gives the arguments.
    """
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    space = {"__name__": name}
    exec(compile(source, name, "exec"), space)
    dyntrace.reset()
    with dyntrace.config.patch(strict=True, trace_budget_ns=0, weigh_after=0):
        plain = make_world(space, space["fn"])
        ours = make_world(space, dyntrace.compile(space["fn"]))
        for number, arguments in enumerate(calls):
            expected, got = plain.call(*arguments), ours.call(*arguments)
            if expected != got:
                return f"{name}, call {number}, {arguments}\n{source}\n{expected}\n{got}"
    return None


def raised(error, name):
    """What is told of an exception: its type, its text, and the lines of files called `name...`."""
    frames = traceback.extract_tb(error.__traceback__)
    return "raised", type(error), str(error), [one.lineno for one in frames if one.filename.startswith(name)]


def main(run, description):
    """The command line over `run(seed)`, which is None or the text of a difference."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    options = parser.parse_args()
    found = 0
    for seed in range(options.seed, options.seed + options.count):
        text = run(seed)
        if text is not None:
            found += 1
            print(text, flush=True)
    print(f"{options.count} functions, {found} differ")
    return 1 if found else 0
