"""CPython's own test files, run plainly and with every frame traced; prints what differs.

    python tests/cpython/run.py [--fast] [--python PATH] [--package FOLDER] [test_json ...]

Each file runs in a process of its own, in a folder of its own, twice: plainly, and with
``DYNTRACE=everything``. A test that fails traced and not plainly is a difference, and so are a file that
crashes or does not come to its end. `expected.toml` has the differences that must be, by reason. The exit
status is 1 if there is any other.
"""

from __future__ import annotations

import argparse
import os
import re
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

# A third of the time of all, and nearly all that was ever found.
FAST = """abstract_numbers augassign base64 bisect bool bytes class cmath codecs collections complex
configparser contextlib copy dataclasses datetime defaultdict deque descr dict dictviews enum exceptions
float format fractions functools generators genexps grammar heapq inspect int io iter iterlen itertools json
list listcomps memoryview operator ordered_dict patma pickle pprint property queue range re scope set slice
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
            self.lost = f"ends with status {status}"
        self.faults = sorted(set(re.findall(r"internal fault .*", output)))


def run(python: str, name: str, environment: dict[str, str], limit: float) -> Run:
    with tempfile.TemporaryDirectory() as folder:
        command = [python, "-X", "faulthandler", "-m", "test", "-W", name]
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                env=environment,
                timeout=limit,
                text=True,
                errors="replace",
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
        except subprocess.TimeoutExpired:
            return Run(None, "")
    return Run(done.returncode, done.stdout)


def reasons_of(version: str) -> list[dict]:
    with EXPECTED.open("rb") as file:
        return [one for one in tomllib.load(file)["reason"] if version in one["versions"]]


def traced_environment(package: str | None, folder: str) -> dict[str, str]:
    environment = dict(os.environ, DYNTRACE="everything")
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


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", help="test files; none: all")
    parser.add_argument("--fast", action="store_true", help="a chosen set")
    parser.add_argument("--python", default=sys.executable, help="the interpreter that is tested")
    parser.add_argument(
        "--package", help="a folder with the dyntrace package, if it is not installed"
    )
    parser.add_argument("--limit", type=float, default=600, help="seconds that one file may take")
    options = parser.parse_args()
    version = subprocess.run([options.python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
                             capture_output=True, text=True, check=True).stdout.strip()  # fmt: skip
    known = all_files(options.python)
    files = options.files or ([f"test_{name}" for name in FAST] if options.fast else known)
    expected = [pattern for reason in reasons_of(version) for pattern in reason["tests"]]
    same, others, not_expected = 0, 0, []
    with tempfile.TemporaryDirectory() as folder:
        traced = traced_environment(options.package, folder)
        plain = {
            name: value for name, value in os.environ.items() if not name.startswith("DYNTRACE")
        }
        for name in files:
            if name not in known:
                continue
            first = run(options.python, name, plain, options.limit)
            if first.lost is not None:
                print(f"{name:28} {first.lost} plainly too", flush=True)
                others += 1
                continue
            second = run(options.python, name, traced, options.limit)
            different = sorted(second.failed - first.failed)
            if second.lost is not None:
                different = [f"{name} {second.lost}"]
            left = [
                one
                for one in different
                if not any(fnmatchcase(one, pattern) for pattern in expected)
            ]
            same += not left
            not_expected += left
            told = f"{len(different) - len(left)} expected" if different else ""
            print(f"{name:28} {'same' if not left else 'DIFFERENT'} {told}", flush=True)
            for one in left + second.faults:
                print(f"    {one}", flush=True)
    print(f"{version}: {same} of {same + len({one.split('.')[0].split()[0] for one in not_expected})} files "
          f"as plainly, {others} not comparable, {len(not_expected)} differences")  # fmt: skip
    return 1 if not_expected else 0


if __name__ == "__main__":
    sys.exit(main())
