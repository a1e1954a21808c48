"""CPython's own test files, run with every frame traced and plainly; prints what differs.

    python tests/cpython/run.py [--mode 1] [--fast] [--python PATH] [--package FOLDER] [test_json ...]

Each file runs in a process of its own, in a folder of its own, with ``DYNTRACE=everything`` or what
``--mode`` says, and plainly too where a test fails. One that fails traced and not plainly is a difference,
and so are a file that crashes or does not come to its end, and an internal fault. `expected.toml` has the
differences that must be where every frame is traced, by reason; with ``--mode 1`` there are none.
The exit status is 1 if there is any other.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
from fnmatch import fnmatchcase
from pathlib import Path

try:
    import tomllib
except ImportError:  # 3.10
    import tomli as tomllib

HERE = Path(__file__).parent
EXPECTED = HERE / "expected.toml"
EVERYTHING = "everything"

# What CI runs (test_as_plainly.py): a third of all, which found nearly all that was ever found.
FAST = """abstract_numbers augassign base64 bisect bool bytes class cmath codecs collections complex
configparser contextlib copy dataclasses datetime defaultdict deque descr dict dictviews enum exceptions
float format fractions functools generators genexps grammar heapq inspect int iter iterlen itertools json
list listcomps memoryview operator ordered_dict patma pickle pprint property range re scope set slice
statistics string struct super textwrap tokenize traceback tuple types typing unicode unpack userdict
weakset with""".split()

_HEAD = re.compile(r"^(?:FAIL|ERROR): (\S+) \(([\w.]+)\)", re.MULTILINE)


def all_files(python: str) -> list[str]:
    """The test files that this interpreter has."""
    listed = subprocess.run(
        [python, "-m", "test", "--list-tests"], capture_output=True, text=True, check=True
    )
    return listed.stdout.split()


def failures(output: str) -> set[str]:
    """`module.Class.test` of each test that has failed."""
    found = set()
    for name, where in _HEAD.findall(output):
        parts = [part for part in where.split(".") if part != "test"]
        found.add(".".join(parts if parts[-1] == name else [*parts, name]))
    return found


class NotComparable(Exception):
    """A file that does not come to its end plainly."""


class Run:
    """One file, run once."""

    def __init__(self, status: int | None, output: str) -> None:
        self.status = status
        self.failed = failures(output)
        self.lost = None
        if status is None:
            self.lost = "does not end"
        elif status < 0:
            self.lost = f"is ended by signal {-status}"
        elif status != 0 and not self.failed:
            self.lost = f"ends with status {status}: {output.strip()[-200:]!r}"
        self.faults = sorted(set(re.findall(r"internal fault .*", output)))


def run(python: str, name: str, environment: dict[str, str], limit: float) -> Run:
    """What it has started ends with it where it does not come to its end: nothing is waited for."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, tempfile.TemporaryFile() as told:
        command = [python, "-X", "faulthandler", "-m", "test", "-W", name]
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=told,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            # A shell's background has it ignored, and a test that interrupts itself waits for ever.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        try:
            status = process.wait(limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return Run(None, "")
        told.seek(0)
        return Run(status, told.read().decode(errors="replace"))


def reasons_of(version: str) -> list[dict]:
    with EXPECTED.open("rb") as file:
        return [one for one in tomllib.load(file)["reason"] if version in one["versions"]]


def traced_environment(package: str | None, folder: str, mode: str) -> dict[str, str]:
    environment = dict(os.environ, DYNTRACE=mode, DYNTRACE_STRICT="1")
    if package is not None:  # not installed: the start-up hook is put in place by hand
        hook = HERE.parents[1] / "python"
        Path(folder, "sitecustomize.py").write_text(
            f"import site; site.addsitedir({str(hook)!r})\n"
        )
        environment["PYTHONPATH"] = os.pathsep.join([str(Path(package).resolve()), folder])
    return environment


def is_traced(python: str, environment: dict[str, str]) -> bool:
    """Whether the start-up hook works: otherwise two plain runs would be compared."""
    asked = [python, "-c", "import sys; print('dyntrace._core' in sys.modules)"]
    told = subprocess.run(asked, env=environment, capture_output=True, text=True)
    return told.stdout.strip() == "True"


class Comparison:
    """The test files of one interpreter, traced and, where something fails that need not, plainly too."""

    def __init__(
        self, python: str, folder: str, package: str | None, limit: float, mode: str = EVERYTHING
    ) -> None:
        self.python, self.limit = python, limit
        asked = [python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
        told = subprocess.run(asked, capture_output=True, text=True, check=True)
        self.version = told.stdout.strip()
        reasons = reasons_of(self.version) if mode == EVERYTHING else []
        self.patterns = [pattern for one in reasons for pattern in one["tests"]]
        self.plain = {
            name: value for name, value in os.environ.items() if not name.startswith("DYNTRACE")
        }
        self.traced = traced_environment(package, folder, mode)

    def is_expected(self, test: str) -> bool:
        return any(fnmatchcase(test, pattern) for pattern in self.patterns)

    def differences(self, name: str) -> list[str]:
        """What goes wrong traced only, and need not; `NotComparable` where the file fails as a whole."""
        traced = run(self.python, name, self.traced, self.limit)
        wrong = {test for test in traced.failed if not self.is_expected(test)}
        if traced.lost is None and not wrong:
            return traced.faults
        plain = run(self.python, name, self.plain, self.limit)
        if plain.lost is not None:
            raise NotComparable(f"{name} {plain.lost} plainly too")
        lost = [f"{name} {traced.lost}"] if traced.lost is not None else []
        return lost + sorted(wrong - plain.failed) + traced.faults


def seconds_of_children() -> float:
    """Processor time: what it takes does not depend on who else is there."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", help="test files; none: all")
    parser.add_argument("--fast", action="store_true", help="a chosen set")
    parser.add_argument("--mode", choices=[EVERYTHING, "1"], default=EVERYTHING,
                        help="the value of DYNTRACE")  # fmt: skip
    parser.add_argument("--python", default=sys.executable, help="the interpreter that is tested")
    parser.add_argument(
        "--package", help="a folder with the dyntrace package, if it is not installed"
    )
    parser.add_argument("--limit", type=float, default=600, help="seconds that one file may take")
    options = parser.parse_args()
    known = all_files(options.python)
    files = options.files or ([f"test_{name}" for name in FAST] if options.fast else known)
    same, different, others, count = 0, 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        comparison = Comparison(options.python, folder, options.package, options.limit, options.mode)
        if not is_traced(options.python, comparison.traced):
            parser.error(f"{options.python} does not trace: name the package's folder by --package")
        for name in files:
            if name not in known:
                continue
            started = seconds_of_children()
            try:
                left = comparison.differences(name)
            except NotComparable as error:
                print(error, flush=True)
                others += 1
                continue
            same, different, count = same + (not left), different + bool(left), count + len(left)
            told = "DIFFERENT" if left else "same"
            print(f"{name:28} {told:10} {seconds_of_children() - started:6.1f} s", flush=True)
            for one in left:
                print(f"    {one}", flush=True)
    print(f"{comparison.version}, DYNTRACE={options.mode}: {same} of {same + different} files as plainly, "
          f"{others} not comparable, {count} differences")  # fmt: skip
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
