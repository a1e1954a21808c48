"""Runs many random programs: `python tests/fuzz/run.py --seed N --count M`.

Programs run in forked processes of `--chunk` programs each, so that a crash or a hang is a finding like
any other.  What two plain runs show as well (the address in an object's text, a power that takes minutes)
is the program's own and no finding.  A finding is made smaller by leaving out lines, and printed with the
seed that shows it again (`--only INDEX`).  Exit status 1 if anything was found.
"""

from __future__ import annotations

import argparse
import collections
import faulthandler
import json
import os
import resource
import select
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import programs  # noqa: E402
import worlds  # noqa: E402

SECONDS = 20  # of the processor, of one program


class Hang(BaseException):
    """A program took too long."""


def _hang(signum, frame):
    raise Hang


def allow(seconds):
    """Hang after so many seconds of work, or ten times as many of waiting; 0: never."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, 10 * seconds)


def run_one(program, folder, source=None, backend="native"):
    path = os.path.join(folder, f"program{os.getpid()}.py")
    source = program.source if source is None else source
    Path(path).write_text(source)
    return worlds.run(source, program.calls, path, backend, program.changes)


def in_child(work, seconds):
    """(outcome, text) of `work()` in a process of its own; the outcome is 'ok' or what went wrong."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(signal.SIGALRM, _hang)
        signal.signal(signal.SIGPROF, _hang)
        allow(seconds)
        try:
            answer = ("ok", work(lambda text: os.write(writing, (text + "\n").encode())))
        except worlds.Difference as error:
            answer = ("difference", str(error))
        except Hang:
            answer = ("hang", "".join(traceback.format_exc()[-1500:]))
        except BaseException as error:
            text = traceback.format_exception(type(error), error, error.__traceback__)
            answer = ("broken", "".join(text)[-3000:])
        allow(0)
        os.write(writing, (json.dumps(answer) + "\n").encode())
        os._exit(0)
    os.close(writing)
    text, deaf = hear(reading, 12 * seconds)
    if deaf:
        os.kill(child, signal.SIGKILL)
    os.close(reading)
    _, status = os.waitpid(child, 0)
    lines = text.decode().splitlines()
    if lines and lines[-1].startswith("["):
        return (*json.loads(lines[-1]), lines[:-1])
    return ("hang", "nothing was heard, and Python's handlers of signals did not run", lines) if deaf else (
        "crash", f"status {status}", lines)


def hear(reading, seconds):
    """All that comes out of the pipe, and whether it fell silent for so long before it was closed.

    A handler written in Python, as the one above, does not end a loop in C.
    """
    text = b""
    while select.select([reading], [], [], seconds)[0]:
        part = os.read(reading, 1 << 16)
        if not part:
            return text, False
        text += part
    return text, True


def is_its_own(program, folder):
    """Do plain runs of the program differ from one another, hang or crash?  Addresses may agree once."""

    def twins(say):
        for _ in range(5):
            run_one(program, folder, None, None)

    return in_child(twins, SECONDS)[0] != "ok"


def smaller(program, folder, outcome, backend, budget=40.0):
    """The text of `program` without the lines that the finding does not need."""
    head = programs.HEADER.count("\n")
    lines = program.source.splitlines()
    start = time.monotonic()

    def shows(candidate):
        text = "\n".join(candidate) + "\n"
        try:
            compile(text, "candidate", "exec")
        except SyntaxError:
            return False
        if time.monotonic() - start > budget:
            return False
        return in_child(lambda say: run_one(program, folder, text, backend) and None, SECONDS)[0] == outcome

    changed = True
    while changed and time.monotonic() - start < budget:
        changed = False
        i = len(lines) - 1
        while i > head:
            depth = len(lines[i]) - len(lines[i].lstrip())
            end = i + 1
            while end < len(lines) and len(lines[end]) - len(lines[end].lstrip()) > depth:
                end += 1
            inside = [line[4:] for line in lines[i + 1 : end]]
            for candidate in (lines[:i] + lines[end:], lines[:i] + inside + lines[end:]):
                if len(candidate) < len(lines) and shows(candidate):
                    lines, changed = candidate, True
                    break
            i -= 1
    return "\n".join(lines[head:])


def main():
    faulthandler.enable()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--chunk", type=int, default=50)
    parser.add_argument("--only", type=int, help="index of the one program to run, in this process")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after this time")
    parser.add_argument("--findings", type=int, default=10, help="stop after so many")
    parser.add_argument("--backend", default="native")
    parser.add_argument("--whole", action="store_true", help="do not make findings smaller")
    options = parser.parse_args()

    def program_of(index):
        program = programs.Program(f"{options.seed}/{index}")
        if index % 5:
            program.source = worlds.repair(program.source, program.calls)
        return program

    with tempfile.TemporaryDirectory() as folder:
        if options.only is not None:
            program = program_of(options.only)
            print(program.source[len(programs.HEADER) :])
            for call in program.calls:
                print(call)
            print(run_one(program, folder, None, options.backend))
            return 0
        start, index, done, found, own = time.monotonic(), 0, 0, 0, 0
        tally, captured = collections.Counter(), 0
        end = start + options.seconds
        while index < options.count and found < options.findings and time.monotonic() < end:
            last = min(index + options.chunk, options.count)

            def work(say, first=index, last=last):
                breaks, published = collections.Counter(), 0
                for i in range(first, last):
                    say(str(i))
                    allow(SECONDS)
                    counts = run_one(program_of(i), folder, None, options.backend)
                    breaks.update(counts["breaks"])
                    published += counts["published"] > 0
                return [published, dict(breaks)]

            outcome, text, said = in_child(work, SECONDS)
            if outcome == "ok":
                captured += text[0]
                tally.update(text[1])
                done += last - index
                index = last
                continue
            failed = int(said[-1])
            done += failed - index
            index = failed + 1
            if is_its_own(program_of(failed), folder):
                own += 1
                print(f"---- {outcome} of the program's own: --seed {options.seed} --only {failed}")
                continue
            found += 1
            print(f"==== {outcome}: --seed {options.seed} --only {failed}\n{text}")
            if not options.whole:
                print(smaller(program_of(failed), folder, outcome, options.backend))
            sys.stdout.flush()
        seconds = time.monotonic() - start
        print(
            f"{done} programs without a difference, {found} findings, {own} that say nothing, "
            f"{captured} captured, {seconds:.0f} s; breaks: {dict(tally.most_common(12))}"
        )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
