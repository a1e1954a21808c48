"""Runs random expressions over arrays: `python tests/fuzz/arrays.py --seed N --count M`.

The programs are those of `array_programs.py`.  Each is run plainly and compiled, call by call, and all that
can be seen is compared: bits, dtypes, shapes, strides, flags, what is a view of what at which offset, objects
that are others' equals, warnings with their lines, exceptions with their tracebacks, and the arguments
afterwards.  `--count` counts expressions; `--only K` prints program K and runs it alone; `--breaks`
tells what was not captured.
"""

from __future__ import annotations

import argparse
import collections
import functools
import mmap
import os
import re
import resource
import signal
import struct
import sys
import time
import traceback
import warnings
from pathlib import Path

import dyntrace
import numpy as np
from dyntrace import _core
from dyntrace.api import _compile_target

sys.path.insert(0, str(Path(__file__).parent))

import array_programs  # noqa: E402

SETTINGS = dict(
    everything=True, strict=True, trace_budget_ns=0, recompile_limit=64, attempt_limit=1000
)
FILE = "<arrays>"
CHUNK = 50  # programs of one process, so that a crash is a finding like any other
SECONDS = 20  # of the processor, of one program


class Difference(AssertionError):
    """The compiled program did something else."""


# ---- What can be seen --------------------------------------------------------------------------------


def _bytes(array):
    """The bits that are the value's; those between the items of a long double are nobody's."""
    if array.dtype.char in "gG":
        parts = np.ascontiguousarray(array).reshape(-1).view("u1").reshape(-1, 16)
        return parts[:, :10].tobytes()
    if array.dtype.hasobject:
        return repr(array.tolist())
    return array.tobytes()


@functools.lru_cache(1024)
def _text(dtype, char):
    return char + str(dtype)


def _name(dtype):
    """With the character, which tells C's types of one size apart; equal dtypes are found in the cache."""
    return _text(dtype, dtype.char)


class Seen:
    """Describes values as texts and tuples that are equal exactly if they can't be told apart."""

    def __init__(self):
        self.names = {}
        self.kept = []
        self.arrays = []

    def describe(self, value, name):
        if value is None or isinstance(value, (bool, str, bytes, type, np.dtype)):
            return repr(value)
        if isinstance(value, float):
            if type(value) is float:
                return ("float", struct.pack("d", value))
        elif isinstance(value, int):
            return (type(value).__name__, value)
        elif type(value) is complex:
            return ("complex", struct.pack("dd", value.real, value.imag))
        if isinstance(value, np.generic):
            return (type(value).__name__, value.dtype.str, _bytes(np.asarray(value)))
        known = self.names.setdefault(id(value), name)
        if known != name:
            return ("is", known)
        self.kept.append(value)
        if isinstance(value, np.ndarray):
            return self.array(value, name)
        if isinstance(value, (list, tuple)):
            return (
                type(value).__name__,
                [self.describe(part, f"{name}[{i}]") for i, part in enumerate(value)],
            )
        return (type(value).__name__, repr(value))

    def array(self, array, name):
        place = array.__array_interface__["data"][0]
        views = [
            (other, place - where)
            for other, where, memory in self.arrays
            if array.size and memory.size and np.may_share_memory(array, memory)
        ]
        if "[" not in name:
            self.arrays.append((name, place, array))
        base = array.base
        owner = (
            None
            if base is None
            else self.names.get(id(base), (type(base).__name__, getattr(base, "shape", None)))
        )
        return (
            type(array).__name__,
            _name(array.dtype),
            array.shape,
            array.strides,
            array.flags.num,
            _bytes(array),
            views,
            owner,
        )


def _unnamed(text):
    return re.sub(r"0x[0-9a-f]{6,}", "0x", text)


def run(function, recipes, caught):
    """What one call did, as (text, what) pairs."""
    arguments = array_programs.build(recipes)
    seen = Seen()
    # Bases of arguments have names too, so that views are known by whose they are.
    for k, argument in enumerate(arguments):
        base = getattr(argument, "base", None)
        if base is not None:
            seen.kept.append(base)
            seen.names.setdefault(id(base), f"base of {k}")
    for k, argument in enumerate(arguments):
        if isinstance(argument, np.ndarray):
            seen.names.setdefault(id(argument), f"argument {k}")
    del caught[:]
    raised = result = None
    unraisable = []
    sys.unraisablehook = lambda told: unraisable.append(_unnamed(repr(told.exc_value)))
    try:
        result = function(*arguments)
    except Exception as error:
        lines = [
            (frame.filename, frame.name, frame.lineno)
            for frame in traceback.extract_tb(error.__traceback__)[1:]
        ]
        raised = (type(error).__name__, _unnamed(str(error)), lines)
        error.__traceback__ = None
    sys.unraisablehook = sys.__unraisablehook__
    warned = [(w.category.__name__, str(w.message), w.filename, w.lineno) for w in caught]
    what = [("exception", raised), ("warnings", warned), ("unraisable", unraisable)]
    for k, argument in enumerate(arguments):
        seen.names.pop(id(argument), None)
        what.append((f"argument {k}", seen.describe(argument, f"argument {k}")))
    if result is not None:
        what += [
            (f"result {k}", seen.describe(value, f"result {k}")) for k, value in enumerate(result)
        ]
    return what


# ---- One program -------------------------------------------------------------------------------------


def stir():
    """What is taken from the heap next holds other bytes than before."""
    for fill in (b"\x00", b"\x5a", b"\xff"):
        _ = [fill * (1 << size) for size in range(4, 20)]


def attempt(body, calls, errors, breaks=None):
    """Raises Difference with the first thing that is not the same."""
    source = array_programs.source_of(body)
    scope = {"np": np}
    exec(compile(source, FILE, "exec"), scope)
    plain = scope["f"]
    region = _core.Region("native", dynamic=None, record=True)
    compiled = _compile_target(plain, region)
    with warnings.catch_warnings(record=True) as caught, np.errstate(all=errors):
        warnings.simplefilter("always")
        for number, recipes in enumerate(calls):
            expected = run(plain, recipes, caught)
            for again in range(2 if number == 0 else 1):
                found = run(compiled, recipes, caught)
                if found != expected:
                    stir()
                if found != expected and run(plain, recipes, caught) != expected:
                    return  # plain execution differs from itself: NumPy shows memory that nobody wrote
                for (what, left), (_, right) in zip(expected, found):
                    if left != right:
                        raise Difference(
                            f"call {number}.{again}: {what}\n  plain    {left}\n  compiled {right}"
                        )
                if len(expected) != len(found):
                    raise Difference(f"call {number}.{again}: one returned, the other raised")
    for record in region.records:
        if record["fault"] is not None:
            raise Difference(f"fault: {record['fault']}")
        if breaks is not None:
            found = record["break"]
            breaks["whole" if found is None else f"{found['id']}: {found['reason']}"] += 1


def unbound(text):
    return "NameError" in text or "UnboundLocalError" in text or "NoneType" in text


def smaller(body, calls, errors):
    """Without the statements and calls that the difference can do without."""
    text = ""

    def differs(some, some_calls):
        nonlocal text
        try:
            attempt(some, some_calls, errors)
        except Difference as error:
            if unbound(str(error)):
                return False
            text = str(error)
            return True
        except Exception:
            return False
        return False

    changed = True
    while changed:
        changed = False
        for k in reversed(range(len(body))):
            some = body[:k] + body[k + 1 :]
            if some and differs(some, calls):
                body, changed = some, True
    for k in reversed(range(len(calls))):
        if len(calls) > 1 and differs(body, calls[:k] + calls[k + 1 :]):
            calls = calls[:k] + calls[k + 1 :]
    differs(body, calls)
    return body, calls, text


def allow(seconds):
    """The process ends after so many seconds of work, or ten times as many of waiting."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.alarm(10 * seconds)


def is_over(options, now):
    return now[1] >= options.count or now[2] >= options.stop or time.monotonic() > options.until


def chunk(options, first, last, now):
    """Runs these programs; `now` tells how far it came: program, expressions, findings, and if it is made."""
    breaks = collections.Counter() if options.breaks else None
    with dyntrace.config.patch(**SETTINGS):
        for number in range(first, last):
            now[0], now[3] = number, 0
            allow(SECONDS)
            program = options.program(f"{options.seed}/{number}")
            if options.only is not None:
                print(program.source, *program.calls, sep="\n", flush=True)
            now[3] = 1
            try:
                attempt(program.body, program.calls, program.errors, breaks)
            except Difference as error:
                now[2] += 1
                allow(10 * SECONDS)
                body, calls, text = smaller(program.body, program.calls, program.errors)
                lines = "\n    ".join(body)
                print(
                    f"--- {options.seed}/{number} ({program.errors})\n    {lines}\n{text or error}",
                    flush=True,
                )
                print(*(f"    {call}" for call in calls), sep="\n", flush=True)
            now[1] += len(program.body)
            now[0] = number + 1
            if is_over(options, now):
                break
    for what, count in (breaks or collections.Counter()).most_common(60):
        print(f"{count:6} {what}")


def in_child(work):
    """The exit status of a process that does it."""
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        try:
            work()
            sys.stdout.flush()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    return os.waitpid(child, 0)[1]


def run_plainly(options, number):
    """As long as `chunk` may take for this program; NumPy's own crashes need not show the first time."""
    allow(SECONDS)
    program = options.program(f"{options.seed}/{number}")
    scope = {"np": np}
    exec(compile(program.source, FILE, "exec"), scope)
    with warnings.catch_warnings(record=True) as caught, np.errstate(all=program.errors):
        warnings.simplefilter("always")
        for _ in range(10):
            for recipes in program.calls:
                run(scope["f"], recipes, caught)


def main(program=array_programs.Program, description=__doc__):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=2000, help="expressions")
    parser.add_argument("--only", type=int, help="index of the one program to print and run")
    parser.add_argument("--breaks", action="store_true", help="count why traces ended")
    parser.add_argument("--seconds", type=int, default=10**9, help="after which to stop")
    parser.add_argument("--stop", type=int, default=20, help="findings after which to stop")
    options = parser.parse_args()
    options.program = program
    options.until = float("inf")
    if options.only is not None:
        now = [0] * 4
        chunk(options, options.only, options.only + 1, now)
        return now[2] > 0
    shared = mmap.mmap(-1, 32)
    now = memoryview(shared).cast("q")
    began = time.monotonic()
    options.until = began + options.seconds
    while not is_over(options, now):
        status = in_child(lambda: chunk(options, now[0], now[0] + CHUNK, now))
        if status == 0:
            continue
        # NumPy's own, while the program was made or when it runs plainly?
        if now[3] != 0 and in_child(lambda: run_plainly(options, now[0])) == 0:
            print(f"--- {options.seed}/{now[0]}: ended with status {status}", flush=True)
            now[2] += 1
        now[0] += 1
    seconds = time.monotonic() - began
    print(
        f"{now[1]} expressions in {now[0]} programs, {now[2]} differ, {now[1] / seconds:.0f} a second"
    )
    return now[2] > 0


if __name__ == "__main__":
    sys.exit(main())
