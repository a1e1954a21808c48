#!/usr/bin/env python3
"""Test dyntrace with every CPython that this machine has: `python3 tools/run_tests.py`.

Needs Python, a C compiler and a package index; everything else it sets up by itself under
build/tests/. For each CPython of 3.10 - 3.13 it makes a virtual environment, installs the project
there with `pip install .[test]` and runs the whole suite. Once, with its own interpreter, it also
builds the core where there is no NumPy, runs the C tests and the tests that need no NumPy.

The last line printed sums everything up as pytest does; the exit status is 0 only if all passed.
Standard library only.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import dataclasses
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSIONS = ("3.10", "3.11", "3.12", "3.13")
TAIL = 250  # lines of a failed step's log that are shown

PROBE = """
import json, os, sys, sysconfig
print(json.dumps({
    "version": "%d.%d" % sys.version_info[:2],
    "full": sys.version.split()[0],
    "cpython": sys.implementation.name == "cpython",
    "free_threaded": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
    "headers": os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h")),
    "venv": all(__import__("importlib.util").util.find_spec(m) for m in ("venv", "ensurepip")),
    "prefix": sys.base_prefix,
}))
"""

SPOKEN = threading.Lock()


def say(text: str = "") -> None:
    with SPOKEN:
        print(text, flush=True)


# --- which interpreters there are ---------------------------------------------------------------


@dataclasses.dataclass
class Interpreter:
    path: str
    version: str
    full: str
    headers: bool
    venv: bool

    @property
    def lacks(self) -> str:
        missing = []
        if not self.headers:
            missing.append("its C headers (Python.h)")
        if not self.venv:
            missing.append("the venv and ensurepip modules")
        return " and ".join(missing)


def probe(path: str) -> Interpreter | None:
    """Ask an interpreter what it is; None if it does not run or is of no use here."""
    try:
        done = subprocess.run(
            [path, "-I", "-c", PROBE], capture_output=True, text=True, timeout=60, check=False
        )
        facts = json.loads(done.stdout) if done.returncode == 0 else None
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    if not facts or not facts["cpython"] or facts["free_threaded"]:
        return None
    return Interpreter(path, facts["version"], facts["full"], facts["headers"], facts["venv"])


def candidates(version: str) -> list[str]:
    """Paths that may be CPython `version`: on PATH, then what pyenv has installed."""
    found = []
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        path = os.path.join(folder, f"python{version}")
        if folder and os.access(path, os.X_OK):
            found.append(path)
    roots = [os.environ.get("PYENV_ROOT")]
    if shutil.which("pyenv"):
        done = subprocess.run(["pyenv", "root"], capture_output=True, text=True, check=False)
        roots.append(done.stdout.strip())
    roots.append(os.path.join(os.path.expanduser("~"), ".pyenv"))
    for root in roots:
        if root:
            installed = Path(root, "versions").glob(f"{version}.*/bin/python{version}")
            found += sorted((str(p) for p in installed), reverse=True)
    return found


def find_interpreters(wanted: list[str]) -> dict[str, Interpreter]:
    """The best interpreter per version: this one first, then complete ones before incomplete."""
    own = probe(sys.executable)
    found: dict[str, Interpreter] = {}
    for version in wanted:
        if own is not None and own.version == version and not own.lacks:
            found[version] = own
            continue
        for path in candidates(version):
            one = probe(path)
            if one is None or one.version != version:
                continue
            if version not in found or (found[version].lacks and not one.lacks):
                found[version] = one
            if not one.lacks:
                break
        if version not in found and own is not None and own.version == version:
            found[version] = own
    return found


# --- running things -----------------------------------------------------------------------------


@dataclasses.dataclass
class Outcome:
    """What one environment's tests came to. `broken` says why there is no complete result."""

    name: str
    passed: int = 0
    failed: int = 0
    errors: int = 0
    skipped: int = 0
    seconds: float = 0.0
    broken: list[str] = dataclasses.field(default_factory=list)

    @property
    def ok(self) -> bool:
        return not (self.failed or self.errors or self.broken)

    def summary(self) -> str:
        # A step that gave no result at all counts as one error.
        errors = self.errors + len(self.broken)
        parts = [f"{self.failed} failed"] if self.failed else []
        parts.append(f"{self.passed} passed")
        if self.skipped:
            parts.append(f"{self.skipped} skipped")
        if errors:
            parts.append(f"{errors} error{'s' if errors > 1 else ''}")
        return ", ".join(parts)


class StepFailed(Exception):
    """A step before the tests (environment, installation, build) failed; its log was shown."""


def run(
    name: str, step: str, command: list[str], log: Path, env: dict[str, str], limit: float
) -> int:
    """Run one command with its output in `log`; ends its whole process group when time is up."""
    with open(log, "ab") as out:
        out.write(f"$ {' '.join(command)}\n".encode())
        out.flush()
        process = subprocess.Popen(
            command, cwd=ROOT, env=env, stdout=out, stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        try:
            return process.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            say(f"[{name}] {step}: stopped after {limit:.0f} s")
            return 124
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise


def show_log(name: str, step: str, log: Path) -> None:
    lines = log.read_text(errors="replace").splitlines()
    cut = f" (last {TAIL} lines of {log.relative_to(ROOT)})" if len(lines) > TAIL else ""
    say(f"---- {name}: {step}{cut}\n" + "\n".join(lines[-TAIL:]) + f"\n---- end of {name}: {step}")


class Environment:
    """One virtual environment under build/tests/ and the steps run in it."""

    def __init__(self, name: str, base: Interpreter, args: argparse.Namespace):
        self.name = name
        self.base = base
        self.args = args
        self.folder = ROOT / "build" / "tests" / name
        self.python = self.folder / "venv" / "bin" / "python"
        self.outcome = Outcome(name)
        self.env = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("PYTHON", "DYNTRACE", "PYTEST_", "VIRTUAL_ENV", "__PYVENV"))
        }
        self.env["PATH"] = f"{self.python.parent}{os.pathsep}{os.environ.get('PATH', '')}"
        self.env["CMAKE_BUILD_PARALLEL_LEVEL"] = str(max(1, (os.cpu_count() or 1) // args.jobs))
        self.env["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"

    def step(self, step: str, command: list[str], limit: float = 1200) -> None:
        log = self.folder / f"{step}.log"
        log.unlink(missing_ok=True)
        say(f"[{self.name}] {step}")
        status = run(self.name, step, command, log, self.env, limit)
        if status:
            show_log(self.name, step, log)
            self.outcome.broken.append(f"{step} failed with status {status}")
            raise StepFailed

    def make_venv(self) -> None:
        stamp = self.folder / "interpreter"
        identity = f"{self.base.path} {self.base.full}\n"
        if self.python.exists() and stamp.exists() and stamp.read_text() == identity:
            return
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.step("venv", [self.base.path, "-m", "venv", str(self.folder / "venv")])
        stamp.write_text(identity)

    def pip(self, step: str, *arguments: str) -> None:
        self.step(step, [str(self.python), "-m", "pip", "install", "--quiet", *arguments])

    def pytest(self) -> None:
        """Run tests/ and add its counts; no report (a crash) or no test at all is a failure.

        A crash takes all results with it, so the suite is then run once more folder by folder: what
        can be told is told, and the folder that crashes is named.
        """
        if self.pytest_once("pytest", "tests"):
            return
        folders = sorted({path.parent for path in (ROOT / "tests").rglob("test_*.py")})
        for folder in folders:
            name = folder.relative_to(ROOT).as_posix()
            step = "pytest-" + name.replace("/", "-")
            below = [f"--ignore={other}" for other in folders if other.parent == folder]
            if not self.pytest_once(step, str(folder), *below):
                self.outcome.broken[-1] += f" ({name})"

    def pytest_once(self, step: str, *what: str) -> bool:
        """One process of pytest; False if it ended without a report."""
        report = self.folder / f"{step}.xml"
        report.unlink(missing_ok=True)
        log = self.folder / f"{step}.log"
        log.unlink(missing_ok=True)
        say(f"[{self.name}] {step}")
        command = [str(self.python), "-m", "pytest", *what, f"--junitxml={report}", "-q",
                   "-p", "no:cacheprovider", *self.args.pytest]  # fmt: skip
        status = run(self.name, step, command, log, self.env, self.args.limit)
        if status:
            show_log(self.name, step, log)
        if not report.exists():
            self.outcome.broken.append(f"{step} ended with status {status} and left no report")
            return False
        before = (self.outcome.failed, self.outcome.errors)
        self.add_report(step, report)
        if status == 5:
            self.outcome.broken.append(f"{step}: no tests were collected")
        elif status not in (0, 1):
            self.outcome.broken.append(f"{step} ended with status {status}")
        elif status == 1 and (self.outcome.failed, self.outcome.errors) == before:
            self.outcome.broken.append(f"{step} failed without naming a test")
        return True

    def add_report(self, step: str, report: Path) -> None:
        try:
            cases = list(ElementTree.parse(report).iter("testcase"))
        except (OSError, ElementTree.ParseError):
            self.outcome.broken.append(f"{step}: left no report")
            return
        for case in cases:
            kinds = {child.tag for child in case}
            # ctest says "disabled" or "notrun" in an attribute where pytest has a child.
            if "failure" in kinds:
                self.outcome.failed += 1
            elif "error" in kinds or case.get("status") == "notrun":
                self.outcome.errors += 1
            elif "skipped" in kinds or case.get("status") == "disabled":
                self.outcome.skipped += 1
            else:
                self.outcome.passed += 1

    def work(self) -> None:
        raise NotImplementedError

    def __call__(self) -> Outcome:
        started = time.monotonic()
        try:
            self.make_venv()
            self.work()
        except StepFailed:
            pass  # said, shown and counted by step()
        self.outcome.seconds = time.monotonic() - started
        say(f"[{self.name}] {self.outcome.summary()} in {self.outcome.seconds:.0f} s")
        return self.outcome


class Installed(Environment):
    """The suite against what `pip install .` gives a user."""

    def work(self) -> None:
        strict = ["--config-settings=cmake.define.DYNTRACE_WERROR=ON"] if self.args.werror else []
        self.pip("install", *strict, ".[test]")
        self.pytest()


class CoreOnly(Environment):
    """The core without NumPy, neither its headers nor the package, and the C tests."""

    def work(self) -> None:
        self.pip("tools", "cmake>=3.21", "ninja",
                 "pytest>=8", "hypothesis>=6.100", "cloudpickle>=3")  # fmt: skip
        build = self.folder / "cmake"
        self.step("configure", [
            str(self.python.parent / "cmake"), "-S", str(ROOT), "-B", str(build), "-G", "Ninja",
            f"-DPython_EXECUTABLE={self.python}", "-DDYNTRACE_NUMPY=OFF", "-DDYNTRACE_TESTS=ON",
            f"-DDYNTRACE_WERROR={'ON' if self.args.werror else 'OFF'}",
            "-DCMAKE_BUILD_TYPE=Release",
        ])  # fmt: skip
        self.step("build", [str(self.python.parent / "cmake"), "--build", str(build)])
        if list((ROOT / "tests" / "c").glob("*.c")):
            self.ctest(build)
        self.env["PYTHONPATH"] = str(build / "python_package")
        self.pytest()

    def ctest(self, build: Path) -> None:
        report = self.folder / "ctest.xml"
        report.unlink(missing_ok=True)
        log = self.folder / "ctest.log"
        log.unlink(missing_ok=True)
        say(f"[{self.name}] ctest")
        command = [str(self.python.parent / "ctest"), "--test-dir", str(build), "--no-tests=error",
                   "--output-on-failure", "--output-junit", str(report)]  # fmt: skip
        status = run(self.name, "ctest", command, log, self.env, self.args.limit)
        self.add_report("ctest", report)
        if status:
            show_log(self.name, "ctest", log)
            if not self.outcome.failed:
                self.outcome.broken.append(f"ctest ended with status {status}")


# --- main ---------------------------------------------------------------------------------------


def parse(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--require-all", action="store_true",
                        help=f"fail unless all of {', '.join(VERSIONS)} are found")  # fmt: skip
    parser.add_argument("--versions", default=",".join(VERSIONS), metavar="3.11,3.13",
                        help="test only with these CPythons")  # fmt: skip
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1),
                        help="environments worked on at a time (default: %(default)s)")  # fmt: skip
    parser.add_argument("--limit", type=float, default=1500,
                        help="seconds for one run of the suite (default: %(default)s)")  # fmt: skip
    parser.add_argument("--werror", action="store_true", help="compiler warnings are errors")
    parser.add_argument("--no-core-only", action="store_true",
                        help="leave out the build without NumPy and the C tests")  # fmt: skip
    parser.add_argument("pytest", nargs="*", help="after --: passed on to pytest")
    args = parser.parse_args(argv)
    args.jobs = max(1, args.jobs)
    unknown = set(args.versions.split(",")) - set(VERSIONS)
    if unknown:
        parser.error(f"no such version here: {', '.join(sorted(unknown))}; "
                     f"there are {', '.join(VERSIONS)}")  # fmt: skip
    return args


def complaints(args: argparse.Namespace, found: dict[str, Interpreter]) -> list[str]:
    """What stands in the way of testing, in words that say what to install."""
    problems = []
    wanted = args.versions.split(",")
    if args.require_all:
        problems += [f"CPython {v} is required and was not found on PATH or under pyenv"
                     for v in wanted if v not in found]  # fmt: skip
    if not found:
        problems.append(f"no CPython of {', '.join(wanted)} was found")
    problems += [
        f"CPython {one.full} ({one.path}) lacks {one.lacks}; install them "
        f"(Debian, Ubuntu: python{v}-dev and python{v}-venv)"
        for v, one in found.items()
        if one.lacks and (args.require_all or len(found) == 1)
    ]
    if not any(shutil.which(c) for c in (os.environ.get("CC", "cc").split()[0], "gcc", "clang")):
        problems.append("no C compiler was found (cc, gcc, clang or $CC)")
    return problems


def closing_line(outcomes: list[Outcome], seconds: float) -> str:
    total = Outcome("all")
    for one in outcomes:
        total.passed += one.passed
        total.failed += one.failed
        total.errors += one.errors
        total.skipped += one.skipped
        total.broken += one.broken
    text = f" {total.summary()} in {seconds:.2f}s "
    if seconds >= 60:
        text += f"({int(seconds) // 3600}:{int(seconds) // 60 % 60:02}:{int(seconds) % 60:02}) "
    return text.center(80, "=")


def main(argv: list[str]) -> int:
    args = parse(argv)
    started = time.monotonic()
    found = find_interpreters(args.versions.split(","))
    say("CPythons to test with:")
    for version in args.versions.split(","):
        one = found.get(version)
        where = "not found" if one is None else f"{one.full}  {one.path}"
        say(f"  {version}: {where}{f' (lacks {one.lacks})' if one and one.lacks else ''}")
    problems = complaints(args, found)
    if problems:
        for problem in problems:
            say(f"run_tests: {problem}")
        say(f" {len(problems)} error{'s' if len(problems) > 1 else ''} in 0.00s ".center(80, "="))
        return 2
    usable = {v: one for v, one in found.items() if not one.lacks}
    if not usable:
        say("run_tests: none of these interpreters is complete")
        return 2

    units: list[Environment] = [Installed(v, one, args) for v, one in usable.items()]
    if not args.no_core_only:
        own = "%d.%d" % sys.version_info[:2]
        base = usable.get(own) or next(iter(usable.values()))
        units.append(CoreOnly("core-only", base, args))
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        outcomes = list(pool.map(lambda unit: unit(), units))

    say()
    for one in outcomes:
        say(f"{one.name:>10}: {one.summary()} in {one.seconds:.0f} s")
        for reason in one.broken:
            say(f"            {reason}")
    say(closing_line(outcomes, time.monotonic() - started))
    return 0 if all(one.ok for one in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
