"""Every session that a person or CI runs: `pip install nox`, then `nox -l`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import nox

ROOT = Path(__file__).parent
sys.path.insert(0, str(ROOT / "tools"))
import run_tests  # noqa: E402  (finds interpreters on PATH and under pyenv)

nox.options.sessions = ["tests", "lint"]
nox.options.reuse_venv = "yes"
nox.needs_version = ">=2024.4.15"

# Pinned: another formatter or checker has another opinion.
RUFF = "ruff==0.17.5"
CLANG_FORMAT = "clang-format==23.1.5"
CLANG_TIDY = "clang-tidy==23.1.4"
CODESPELL = "codespell==2.4.3"
MYPY = "mypy==2.4.1"

# Every n-th instruction, single places, and inside of calls that are followed.
FORCED_BREAKS = ["1", "2", "3", "5", "11", "6,0", "13,0", "29,0", "0,0,1", "0,0,3", "0,7,10", "17,4,9"]

BUILD_TOOLS = ["cmake>=3.21", "ninja", "numpy>=2.0", "scikit-build-core>=0.11"]
TEST_TOOLS = ["pytest>=8", "hypothesis>=6.100", "cloudpickle>=3"]

# nox looks for python3.X on PATH, where pyenv has shims that may refuse: put the real ones before.
FOUND = run_tests.find_interpreters(list(run_tests.VERSIONS))
os.environ["PATH"] = os.pathsep.join(
    [str(Path(one.path).parent) for one in FOUND.values()] + [os.environ.get("PATH", "")]
)


def build(session: nox.Session, preset: str, *options: str) -> Path:
    """Configure and build a preset with the session's interpreter; returns the package folder."""
    session.install(*BUILD_TOOLS)
    version = session.run("python", "-c", "import sys; print('%d.%d' % sys.version_info[:2])",
                          silent=True).strip()  # fmt: skip
    folder = ROOT / "build" / "nox" / f"{preset}-{version}"
    python = Path(session.virtualenv.location) / "bin" / "python"
    session.run("cmake", "--preset", preset, "-B", str(folder),
                f"-DPython_EXECUTABLE={python}", *options)  # fmt: skip
    session.run("cmake", "--build", str(folder), "--parallel", str(min(2, os.cpu_count() or 1)))
    return folder


def pytest_with(session: nox.Session, folder: Path, env: dict[str, str] | None = None) -> None:
    session.install(*TEST_TOOLS)
    package = {"PYTHONPATH": str(folder / "python_package")}
    session.run("ctest", "--test-dir", str(folder), "--output-on-failure", env=env or {})
    session.run("python", "-m", "pytest", "tests", "-p", "no:cacheprovider", *session.posargs,
                env={**package, **(env or {})})  # fmt: skip


@nox.session(python=list(run_tests.VERSIONS))
def tests(session: nox.Session) -> None:
    """Install as a user does, and run the suite."""
    session.install(".[test]")
    session.run("python", "-m", "pytest", "tests", "-p", "no:cacheprovider", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Layers, formatting, spelling, types; clang-tidy with `nox -s lint -- tidy`."""
    session.install(RUFF, CLANG_FORMAT, CODESPELL, MYPY, "numpy>=2.0")
    session.run("python", "tools/check_layers.py", "--style")
    session.run("ruff", "check", ".")
    sources = sorted(str(p.relative_to(ROOT)) for p in (ROOT / "src").rglob("*.[ch]"))
    session.run("clang-format", "--dry-run", "-Werror", *sources)
    session.run("codespell", "src", "python", "tests", "tools", "docs", "bench", "examples",
                "README.md", "CMakeLists.txt")  # fmt: skip
    session.run("mypy", "--strict")
    folder = build(session, "dev")
    session.run("python", "-m", "mypy.stubtest", "dyntrace._core", "--mypy-config-file",
                "pyproject.toml", env={"PYTHONPATH": str(folder / "python_package")})  # fmt: skip
    if "tidy" in session.posargs:
        session.install(CLANG_TIDY)
        units = [s for s in sources if s.endswith(".c")]
        # gcc's flags: clang does not know all of their names.
        session.run("clang-tidy", "--quiet", "--extra-arg=-Wno-unknown-warning-option",
                    "-p", str(folder), *units)  # fmt: skip


@nox.session(name="format")
def format_(session: nox.Session) -> None:
    """Rewrite what the lint session's formatters complain about."""
    session.install(RUFF, CLANG_FORMAT)
    session.run("ruff", "check", "--fix", ".", success_codes=[0, 1])
    sources = sorted(str(p.relative_to(ROOT)) for p in (ROOT / "src").rglob("*.[ch]"))
    session.run("clang-format", "-i", *sources)


def sanitizer_library(name: str) -> str:
    """The path of the compiler's own runtime, to be loaded before the interpreter."""
    compiler = os.environ.get("CC", "cc").split()[0]
    done = subprocess.run([compiler, f"-print-file-name=lib{name}.so"], capture_output=True,
                          text=True, check=True)  # fmt: skip
    return str(Path(done.stdout.strip()).resolve())


@nox.session
def asan(session: nox.Session) -> None:
    """The suite under AddressSanitizer and UndefinedBehaviorSanitizer."""
    folder = build(session, "asan")
    # The interpreter itself is no instrumented program and leaks by design: no leak check, and the
    # runtime is preloaded. Its own allocator would hide what is out of bounds: malloc instead.
    preload = f"{sanitizer_library('asan')} {sanitizer_library('ubsan')}"
    session.install(*TEST_TOOLS)
    session.run("ctest", "--test-dir", str(folder), "--output-on-failure",
                env={"ASAN_OPTIONS": "detect_leaks=0"})  # fmt: skip
    session.run("python", "-m", "pytest", "tests", "-p", "no:cacheprovider", *session.posargs,
                env={"PYTHONPATH": str(folder / "python_package"), "LD_PRELOAD": preload,
                     "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=1:allocator_may_return_null=1",
                     "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
                     "PYTHONMALLOC": "malloc",
                     "DYNTRACE_LEAK_ROUNDS": os.environ.get("DYNTRACE_LEAK_ROUNDS", "100")})  # fmt: skip


@nox.session
def leaks(session: nox.Session) -> None:
    """The leak tests alone, 2,000 rounds of each: minutes."""
    session.install(*TEST_TOOLS)
    folder = build(session, "release")
    session.run("python", "-m", "pytest", "tests/leaks", "-p", "no:cacheprovider", *session.posargs,
                env={"PYTHONPATH": str(folder / "python_package"),
                     "DYNTRACE_LEAK_ROUNDS": os.environ.get("DYNTRACE_LEAK_ROUNDS", "2000")})  # fmt: skip


@nox.session
def stress(session: nox.Session) -> None:
    """The suite with the white-box build: containers start tiny and move, chunks of the arena are
    small, registers lie on the heap, guards on names look at them at every call."""
    pytest_with(session, build(session, "stress"))


@nox.session(python=list(run_tests.VERSIONS))
def processors(session: nox.Session) -> None:
    """tests/backend with the loops that NumPy takes on lesser processors: one extension less each time."""
    session.install(".[test]")
    features = session.run(
        "python", "-c",
        "from numpy._core._multiarray_umath import __cpu_features__ as f, __cpu_dispatch__ as d;"
        "print(*[name for name in d if f[name]])", silent=True).split()  # fmt: skip
    for first in range(len(features)):
        session.run("python", "-m", "pytest", "-q", "tests/backend", *session.posargs,
                    env={"NPY_DISABLE_CPU_FEATURES": " ".join(features[first:])})  # fmt: skip


@nox.session(python=list(run_tests.VERSIONS))
def cpython(session: nox.Session) -> None:
    """CPython's own test files, plainly and with every frame traced: a table of what differs and is
    not in tests/cpython/expected.toml. Hours; `-- --fast` takes a chosen set, `-- test_json` files,
    `-- --mode 1` is DYNTRACE=1."""
    session.install(".[test]", "tomli; python_version < '3.11'")
    session.run("python", "tests/cpython/run.py", *session.posargs)


@nox.session
def breaks(session: nox.Session) -> None:
    """tests/semantics and tests/sideeffects with a break before every n-th instruction that a trace
    comes to; `-- 1 4` picks the n's, and `-- 0,3 7,0 0,0,5` is for at,every,below of
    _testing.force_breaks: at a place of every code, every n-th, and in calls that are followed."""
    session.install(*TEST_TOOLS)
    folder = build(session, "dev")
    for every in session.posargs or FORCED_BREAKS:
        session.run("python", "-m", "pytest", "-q", "tests/semantics", "tests/sideeffects",
                    env={"PYTHONPATH": str(folder / "python_package"),
                         "DYNTRACE_FORCE_BREAKS": every if "," in every else f"0,{every}"})  # fmt: skip


@nox.session
def stdlib(session: nox.Session) -> None:
    """Functions of the standard library, with the inputs that they really get, broken at many places."""
    session.install(*TEST_TOOLS)
    folder = build(session, "dev")
    session.run("python", "-m", "pytest", "-q", "tests/breaks/test_stdlib.py", *session.posargs,
                env={"PYTHONPATH": str(folder / "python_package"), "DYNTRACE_STDLIB": "all"})  # fmt: skip


@nox.session
def docs(session: nox.Session) -> None:
    """Guide, API reference and internals into docs/_build/html; a warning is an error."""
    session.install("sphinx>=7.4", "myst-parser>=4", "furo>=2024.8.6")
    session.install(".")
    shutil.rmtree(ROOT / "docs" / "_build", ignore_errors=True)
    session.run("sphinx-build", "-W", "--keep-going", "-b", "html", "docs", "docs/_build/html")


@nox.session
def bench(session: nox.Session) -> None:
    """The table of what must be reached, as ratios of one run; `-- name ...` runs some rows."""
    folder = build(session, "release")
    session.run("python", "-m", "bench", *session.posargs,
                env={"PYTHONPATH": f"{folder / 'python_package'}{os.pathsep}{ROOT}",
                     "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})  # fmt: skip


@nox.session
def numpy(session: nox.Session) -> None:
    """docs/guide/numpy-functions.md: every public function of NumPy, and what becomes of it."""
    session.install("numpy")
    session.run("python", "tools/numpy_page.py")


@nox.session
def features(session: nox.Session) -> None:
    """docs/guide/features.md: what each CPython captures of tests/semantics."""
    files = []
    for version, found in sorted(FOUND.items()):
        python = ROOT / "build" / "nox" / f"features-{version}"
        session.run(found.path, "-m", "venv", str(python), external=True)
        run = str(python / "bin" / "python")
        session.run(run, "-m", "pip", "install", "-q", ".[test]", external=True)
        files.append(str(ROOT / "build" / "nox" / f"features-{version}.json"))
        session.run(run, "tools/feature_page.py", "record", files[-1], external=True)
    session.run("python", "tools/feature_page.py", "write", *files)
