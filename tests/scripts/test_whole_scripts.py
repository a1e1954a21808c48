"""Programs run plainly, by ``DYNTRACE=1`` and by ``python -m dyntrace``: the same from outside."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from pathlib import Path

import pytest
from processes import PTH_FOLDER, surroundings

pytest.importorskip("numpy")


ARRAYS = """
import sys, inspect, pickle, types
import numpy as np

def smooth(x, y):
    "Smooths."
    return (x * 2.0 + y) / 3.0 - y * y

class Body:
    def __init__(self, n):
        self.p = np.zeros(n)
        self.v = np.ones(n)

    def step(self, dt):
        self.p += self.v * dt
        self.v *= 0.99 + 0.001 * self.p

    @property
    def energy(self):
        return float((self.v * self.v).sum())

    @staticmethod
    def scale(a):
        return a * 3 + 1

    @classmethod
    def of(cls, n, *, twice=False):
        return cls(2 * n if twice else n)

def numbers(n):
    for i in range(n):
        yield np.arange(i).sum()

def main():
    body = Body.of(5, twice=True)
    for i in range(50):
        body.step(0.01)
        z = smooth(body.p, body.v)
    print(z.tolist(), body.energy, Body.scale(np.arange(3)), list(numbers(4)))

if __name__ == "__main__":
    main()
    print(sys.argv[1:], __name__, smooth.__name__, smooth.__doc__, inspect.signature(Body.step))
    print(isinstance(smooth, types.FunctionType), smooth.__class__, inspect.isfunction(Body.step))
    print(pickle.loads(pickle.dumps(smooth)) is smooth, inspect.getsource(Body.scale))
    print(smooth.__code__.co_firstlineno, sorted(vars(smooth)))
"""

PROGRAMS = {
    "arrays": (ARRAYS, ["one", "--two"]),
    "raises": ("import numpy as np\n\ndef f(x):\n    return x[7] + 1\n\nf(np.ones(3))\n", []),
    "raises_deep": (
        "import numpy as np\ndef f(x, n):\n    if n == 0:\n        return x / np.ones(4)\n"
        "    return f(x, n - 1)\nfor n in range(3):\n    try:\n        f(np.ones(3), n)\n"
        "    except ValueError as error:\n        print(error)\nf(np.ones(3), 2)\n",
        [],
    ),
    "exits": ("import sys, numpy as np\ndef f(x):\n    sys.exit(3)\nf(np.ones(1))\n", []),
    "exits_with_text": ("import numpy as np\ndef f():\n    raise SystemExit('done')\nf()\n", []),
    "os_exit": (
        "import os, numpy as np\nprint('before', flush=True)\ndef f():\n    os._exit(7)\nf()\n",
        [],
    ),
    "warns": (
        "import numpy as np\ndef f(x):\n    return np.log(x) + 1\n"
        "for _ in range(6):\n    f(np.array([1.0, 0.0]))\nprint('end')\n",
        [],
    ),
    "no_arrays": ("def f(n):\n    return n + 1\nprint([f(i) for i in range(5)], type(f))\n", []),
    "future": (
        "from __future__ import annotations\nimport numpy as np\ndef f(x: Undefined) -> Nope:\n"
        "    return x + 1\nprint(f(np.ones(2)), f.__annotations__)\n",
        [],
    ),
    "decorated": (
        "import functools, numpy as np\ndef log(g):\n    @functools.wraps(g)\n    def h(*a):\n"
        "        print('call', len(a))\n        return g(*a)\n    return h\n@log\ndef f(x, y):\n"
        "    return x * y\nfor i in range(5):\n    print(f(np.ones(2), i))\n",
        [],
    ),
    "redefined": (
        "import numpy as np\ndef f(x):\n    return x + 1\nfor i in range(8):\n    if i == 5:\n"
        "        def g(x):\n            return x * 100\n        f.__code__ = g.__code__\n"
        "    print(f(np.ones(2)))\nf.__defaults__ = (np.zeros(1),)\nprint(f())\n",
        [],
    ),
    "deleted": (
        "import gc, weakref, numpy as np\ndef f(x):\n    return x + 1\n"
        "for _ in range(6):\n    f(np.ones(2))\nw = weakref.ref(f)\ndel f\nprint(w() is None)\n"
        "class A:\n    def m(self, x):\n        return super().__repr__() and x\n"
        "any(A().m(np.ones(1)) is None for _ in range(6))\nv = weakref.ref(A)\ndel A\ngc.collect()\n"
        "print(v() is None)\n",
        [],
    ),
    "traced": (
        "import sys, numpy as np\ndef f(x):\n    y = x + 1\n    return y * 2\nlines = []\n"
        "def tracer(frame, event, arg):\n    lines.append((event, frame.f_lineno))\n    return tracer\n"
        "for _ in range(5):\n    f(np.ones(2))\nsys.settrace(tracer)\nf(np.ones(2))\n"
        "sys.settrace(None)\nprint(lines)\n",
        [],
    ),
    "recursion": (
        "import sys, numpy as np\ndef depth(n):\n    return 0 if n == 0 else 1 + depth(n - 1)\n"
        "for _ in range(5):\n    print(depth(900))\ntry:\n    depth(10**6)\n"
        "except RecursionError as error:\n    print(error)\n",
        [],
    ),
    "threads": (
        "import threading, numpy as np\ndef f(x, n):\n    return x * n\nout = [None] * 8\n"
        "def work(i):\n    for _ in range(20):\n        out[i] = f(np.ones(2), i).tolist()\n"
        "ts = [threading.Thread(target=work, args=(i,)) for i in range(8)]\n"
        "[t.start() for t in ts]\n[t.join() for t in ts]\nprint(out)\n",
        [],
    ),
    "fork": (
        "import os, numpy as np\ndef f(x):\n    return x + 1\nfor _ in range(6):\n    f(np.ones(2))\n"
        "pid = os.fork()\nif pid == 0:\n    print(f(np.ones(3)), flush=True)\n    os._exit(0)\n"
        "os.waitpid(pid, 0)\nprint(f(np.ones(2)))\n",
        [],
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_as_plainly(run, tmp_path, name):
    source, args = PROGRAMS[name]
    path = tmp_path / "program.py"
    path.write_text(source)
    plain = run(str(path), *args)
    assert run(str(path), *args, DYNTRACE="1") == plain
    assert run(str(path), *args, DYNTRACE="1", DYNTRACE_HOT_COUNT="0") == plain
    assert run("-m", "dyntrace", str(path), *args) == plain


def test_every_way_of_starting(run, tmp_path):
    (tmp_path / "tool").mkdir()
    (tmp_path / "tool" / "__init__.py").write_text("")
    (tmp_path / "tool" / "__main__.py").write_text(
        "import sys, numpy as np\nfrom tool.work import f\ndef g(x):\n    return f(x) * 2\n"
        "for _ in range(6):\n    g(np.ones(2))\n"
        "print(sys.argv[1:], __name__, __package__, __spec__.name, g(np.ones(2)))\n"
    )
    (tmp_path / "tool" / "work.py").write_text("import numpy as np\ndef f(x):\n    return x + 1\n")
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "__main__.py").write_text(
        "import numpy as np\ndef f(x):\n    return x + 1\nprint(list(map(f, [np.ones(1)] * 6)))\n"
    )
    command = (
        "import numpy as np\ndef f(x):\n    return x + 1\nprint(list(map(f, [np.ones(1)] * 6)))"
    )
    for args in (["-m", "tool", "a", "-b"], ["-c", command], ["app", "a"]):
        plain = run(*args)
        report = tmp_path / "report"
        assert run(*args, DYNTRACE="1", DYNTRACE_REPORT=str(report)) == plain
        compiled, called = report.read_text().split()[1], report.read_text().split()[3]
        assert 0 < int(compiled) <= int(called)
    assert run("-m", "dyntrace", "-m", "tool", "a", "-b") == run("-m", "tool", "a", "-b")


def test_functions_of_imported_modules(run, tmp_path):
    (tmp_path / "lib.py").write_text(
        "import numpy as np\ndef f(x):\n    return x + 1\nclass A:\n    class B:\n"
        "        def m(self, x):\n            return x * 2\n    @property\n    def p(self):\n"
        "        return np.ones(1) + 1\ng = lambda x: x - 1\n"
        "import abc\nclass Base(abc.ABC):\n    @abc.abstractmethod\n    def q(self): pass\n"
        "class C(Base):\n    def q(self):\n        return np.ones(1) * 3\n"
        "class Meta(type):\n    def __getattribute__(cls, name):\n        print(name)\n"
        "        return super().__getattribute__(name)\n    def __eq__(cls, other):\n        print('eq')\n"
        "    __hash__ = None\nclass D(metaclass=Meta):\n    def r(self):\n        return np.ones(1) * 4\n"
    )
    (tmp_path / "other.py").write_text("def plain(n):\n    return n\n")
    (tmp_path / "program.py").write_text(
        "import lib, other, numpy as np\nfor _ in range(9):\n    lib.f(np.ones(1)); lib.A.B().m(np.ones(1))\n"
        "    lib.A().p; lib.g(np.ones(1)); other.plain(1); lib.C().q(); lib.D().r()\n"
    )
    plain = run("program.py")
    rc, out, summary = run("program.py", DYNTRACE="1", DYNTRACE_REPORT="-")
    assert (rc, out) == plain[:2]
    for name in ("f", "A.B.m", "A.p", "<lambda>", "C.q", "D.r"):
        assert f"  {name} (" in summary
    assert "plain" not in summary


@pytest.mark.parametrize("mode", ["prepend", "importlib"])
def test_modules_that_pytest_has_rewritten(run, tmp_path, mode):
    """They are executed by a loader of pytest's own, which the import system or pytest itself calls;
    a failed assertion tells the same."""
    (tmp_path / "conftest.py").write_text(
        "import numpy as np, pytest\ndef total(x):\n    return float((x * 2 + 1).sum())\n"
        "@pytest.fixture\ndef array():\n    return np.arange(6.0)\n"
    )
    (tmp_path / "test_it.py").write_text(
        "import numpy as np, pytest\nfrom conftest import total\n"
        "def scaled(x, n):\n    return x * n + 1\n"
        "def test_passes(array):\n    for n in range(40):\n"
        "        assert scaled(array, n)[1] == n + 1 and total(array) == 36\n"
        "class TestFailures:\n    def test_array(self, array):\n"
        "        assert (scaled(array, 2) == array).all(), 'not equal'\n"
        "    def test_number(self, array):\n        assert total(scaled(array, 3)) == 107\n"
        "@pytest.mark.parametrize('n', range(6))\ndef test_often(array, n):\n"
        "    with pytest.raises(ValueError, match='broadcast'):\n"
        "        scaled(array, np.ones(n + 2) if n != 4 else np.ones(7))\n"
    )

    def tests(**settings):
        args = ["-m", "pytest", "-q", "-l", "-p", "no:cacheprovider", "-p", "no:xdist"]
        rc, out, err = run(*args, f"--import-mode={mode}", **settings)
        return rc, re.sub(r" in [0-9.]+s.*|0x[0-9a-f]+", "", out), err

    plain = tests()
    assert plain[0] == 1 and "2 failed, 7 passed" in plain[1]
    assert tests(DYNTRACE="1") == plain
    report = tmp_path / "report"
    settings = {"DYNTRACE_HOT_COUNT": "0", "DYNTRACE_HOT_TIME": "0", "DYNTRACE_STRICT": "1"}
    assert tests(DYNTRACE="1", DYNTRACE_REPORT=str(report), **settings) == plain
    summary = report.read_text()
    assert "  test_passes (" in summary and "  TestFailures.test_array (" in summary
    assert not summary.startswith("dyntrace: 0 of")


OWN_LOADERS = """
import importlib.util, inspect, sys, traceback, numpy as np
from importlib.machinery import ModuleSpec
TEXT = "import numpy as np\\ndef of_{}(x):\\n    return x * 2 + 1\\n"
class Meta(type):
    def __getattribute__(cls, name):
        seen.append(name)
        return type.__getattribute__(cls, name)
class Base(metaclass=Meta):
    def create_module(self, spec):
        return None
    def exec_module(self, module, *, text=TEXT):
        exec(text.format(module.__name__), module.__dict__)
class Loader(Base):
    def exec_module(self, module):
        module.own = True
        super().exec_module(module)
class Static:
    create_module = staticmethod(lambda spec: None)
    exec_module = staticmethod(lambda module: exec(TEXT.format("static"), module.__dict__))
seen = []
loaders = {"found": Loader(), "static": Static, "one": Loader(), "two": Loader()}
class Finder:
    def find_spec(name, path=None, target=None):
        if name in loaders:
            spec = ModuleSpec(name, loaders[name], origin=__file__)
            spec.has_location = True
            return spec
sys.meta_path.append(Finder)
modules = [__import__("found"), __import__("static")]
for name in "one", "two":
    spec = Finder.find_spec(name)
    modules.append(importlib.util.module_from_spec(spec))
    spec.loader.exec_module(modules[-1])
modules.append(importlib.reload(modules[0]))
for module in modules:
    function = vars(module)["of_" + module.__name__]
    for _ in range(9):
        function(np.ones(2))
    print(module.__name__, module.__dict__.get("own"), function(np.ones(2)))
execute = Base.exec_module
print(inspect.signature(execute), inspect.isfunction(execute), execute.__kwdefaults__)
print(seen)
try:
    spec.loader.exec_module()
except TypeError as error:
    print(error)
try:
    Base().exec_module(modules[0], text="1/0")
except ZeroDivisionError as error:
    print([(frame.name, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)])
"""


def test_modules_of_loaders_of_the_programs_own(run, tmp_path):
    """Whoever calls them: the import system, or what has asked for a module of a spec."""
    (tmp_path / "program.py").write_text(OWN_LOADERS)
    plain = run("program.py")
    assert plain[0] == 0 and plain[2] == ""
    for settings in {}, {"DYNTRACE_HOT_COUNT": "0", "DYNTRACE_HOT_TIME": "0"}:
        assert run("program.py", DYNTRACE="1", **settings) == plain
    report = tmp_path / "report"
    never = {"DYNTRACE_HOT_COUNT": "1000000", "DYNTRACE_HOT_TIME": "1000000"}
    assert run("program.py", DYNTRACE="1", DYNTRACE_REPORT=str(report), **never) == plain
    summary = report.read_text()
    assert all(f"  of_{name} (<string>:2)" in summary for name in ("found", "static", "one", "two"))


def test_what_a_trace_may_need_is_not_traced(run):
    """dyntrace's own functions, in every mode: a compiled one that a result is made by would call itself."""
    program = """
import types, numpy as np
import dyntrace._numpy_parts as parts, dyntrace._numpy_files as files
class Array(np.ndarray):
    pass
def f(x):
    return x.view(Array)[1:]
print(f(np.arange(3)).base, type(f(np.arange(4))).__name__)
functions = [v for m in (parts, files) for v in vars(m).values() if isinstance(v, types.FunctionType)]
print(len(functions) > 1, {type(v) is types.FunctionType for v in functions})
"""
    plain = (0, "[0 1 2] Array\nTrue {True}\n", "")
    assert run("-c", program, DYNTRACE="everything") == plain
    assert run("-c", program, DYNTRACE="1") == plain


def test_modules_that_load_late_are_left_alone(run):
    """A module of another class may do anything when it is looked at: load itself, say."""
    program = """
import importlib.util, sys
spec = importlib.util.find_spec("this")
spec.loader = importlib.util.LazyLoader(spec.loader)
class Finder:
    def find_spec(name, path=None, target=None):
        return spec if name == "this" else None
sys.meta_path.insert(0, Finder)
import this
print(object.__getattribute__(this, "__class__").__name__)
"""
    assert run("-c", program, DYNTRACE="1") == (0, "_LazyModule\n", "")


@pytest.mark.parametrize("mode", ["1", "everything"])
def test_modules_of_c_with_classes_that_are_not_ready(run, mode):
    """socket.socket of _socket has no dict yet when the module has been executed, before 3.12."""
    program = "import _socket, numpy as np\nprint(np.arange(3).sum())"
    assert run("-c", program, DYNTRACE=mode) == (0, "3\n", "")


def test_summary_tells_what_was_gained(run, tmp_path):
    (tmp_path / "program.py").write_text(
        "import numpy as np\ndef f(x):\n    return ((x * 2 + 1) * x - 3) / (x + 7)\n"
        "def g(n):\n    return n + 1\nany(f(np.ones(4)) is g(i) for i in range(200))\n"
    )
    _, _, summary = run("program.py", DYNTRACE="1", DYNTRACE_REPORT="-")
    first, *rest = summary.splitlines()
    assert first.startswith("dyntrace: 1 of 2 functions compiled, 200 calls")
    assert any("f (" in line and "compiled, 200 calls" in line and "->" in line for line in rest)
    assert any("g (" in line and "nothing captured" in line for line in rest)


def test_loops_of_the_main_module_are_entered(run, tmp_path):
    (tmp_path / "program.py").write_text(
        "import numpy as np\nx, t = np.ones(4), 0.0\nfor i in range(300):\n    x = x * 0.5 + i - t\n"
        "    t += 0.25\n    if i >= 0:\n        print(i, t)\nprint(x.tolist())\n"
        "while x[0] > 1:\n    x = x * 0.9 - np.sqrt(x) * 1e-3\nprint(x.tolist(), i, t)\n"
    )
    plain = run("program.py")
    rc, out, summary = run("program.py", DYNTRACE="1", DYNTRACE_HOT_COUNT="1", DYNTRACE_REPORT="-")
    assert plain == (rc, out, "") and rc == 0
    assert "in <module>" in summary and "program.py:7" in summary  # the call of print


def test_what_takes_little_time_is_not_compiled(run, tmp_path):
    (tmp_path / "program.py").write_text(
        "import numpy as np\ndef f(x):\n    return x + 1\ndef total(x, n):\n    s = 0.0\n"
        "    for i in range(n):\n        s = s + x[i] * 2\n    return s\n"
        "for i in range(9):\n    f(np.ones(4)); total(np.ones(4), 4)\n"
    )
    settings = {"DYNTRACE": "1", "DYNTRACE_REPORT": "-"}
    _, _, summary = run("program.py", DYNTRACE_HOT_TIME="60000", **settings)
    assert "0 of 2 functions" in summary and "  f (" in summary and "counting, 9 calls" in summary
    assert "graph break" not in summary
    _, _, summary = run("program.py", DYNTRACE_HOT_TIME="0", **settings)
    assert "counting, 9 calls" not in summary  # the loop of the module was captured


def test_what_waits_for_its_attempt_is_compiled_later(run, tmp_path):
    """Attempts at other functions have spent what the program gives for them."""
    others = "".join(
        f"def other{i}(x):\n    for k in range(40):\n        x = x * {i}.5 + k\n"
        "        print(x.sum(), file=nowhere)\n    return x\n"
        for i in range(30)
    )
    (tmp_path / "program.py").write_text(
        "import io, time, numpy as np\nfrom dyntrace import _core\nnowhere = io.StringIO()\n"
        + others
        + "def last(x):\n    return ((x * 2 + 1) * x - 3) / (x + 7) - (x * x + 5) / (x - 9)\n"
        "def state():\n"
        "    return [r['state'] for r in _core.list_prepared() if r['function'] == 'last']\n"
        f"for f in ({', '.join(f'other{i}' for i in range(30))}):\n"
        "    for n in range(20):\n        f(np.ones(4))\n"
        "before = _core.counters()\n"
        "while state() in (['counting'], ['resting']) and time.process_time() < 60:\n"
        "    any(last(np.ones(4)) is None for n in range(2000))\n"
        "print(before['compile_ns'] > 2_000_000, _core.counters()['compiled'] > before['compiled'])\n"
    )
    rc, out, error = run("program.py", DYNTRACE="1", DYNTRACE_HOT_TIME="1")
    assert (rc, out) == (0, "True True\n"), error


def test_what_is_made_in_a_call_and_breaks_is_captured_once_it_is_hot(run, tmp_path):
    """The frame that calls it is left without the hook only when nothing below it waits any more."""
    (tmp_path / "program.py").write_text(
        "import dyntrace, numpy as np\n"
        "dyntrace.config.guess_limit = 0\n"
        "def pick(x, k):\n"
        "    def near(v):\n"
        "        if v > np.max(x) * 0.5:\n            return v * 2 - np.sum(x) / 3\n"
        "        return np.min(x) + v\n"
        "    return near(x[k]) if x[k] > 0 else near(x[k - 1]) * 2\n"
        "x = np.array([0.25, 0.5, -1.0, 2.0])\ntotal = 0.0\n"
        "for i in range(20000):\n    total += pick(x, i % 4)\nprint(repr(total))\n"
    )
    plain = run("program.py")
    rc, out, logs = run("program.py", DYNTRACE="1", DYNTRACE_LOGS="graph")
    assert (rc, out) == plain[:2] and rc == 0
    assert "near (" in logs


def test_a_function_that_waits_runs_as_it_stands(run, tmp_path):
    """Most of its calls are not asked about anything: recursion, errors and other code still hold."""
    (tmp_path / "program.py").write_text(
        "import sys, traceback, numpy as np\n"
        "def down(x, n):\n    return x if n == 0 else down(x + 1, n - 1)\n"
        "def fails(x):\n    return x[7]\n"
        "def of(x, *, k=2):\n    return x * k\n"
        "for i in range(100):\n    down(np.ones(1), 3); of(np.ones(1)); of(np.ones(1), k=3)\n"
        "print(down(np.zeros(1), 200), of(np.ones(1)), of(np.ones(1), k=5))\n"
        "for i in range(60):\n    try:\n        fails(np.ones(3))\n"
        "    except IndexError as error:\n        last = traceback.format_exc()\nprint(last)\n"
        "try:\n    down(np.ones(1), 10**6)\nexcept RecursionError as error:\n    print(error)\n"
        "seen = []\nsys.settrace(lambda frame, event, arg: seen.append(frame.f_code.co_name))\n"
        "of(np.ones(1))\nsys.settrace(None)\nprint(seen)\n"
        "of.__code__ = (lambda x, *, k=2: x - k).__code__\nprint(of(np.ones(1)))\n"
        "of.__kwdefaults__ = {'k': 9}\nprint(of(np.ones(1)))\n"
    )
    plain = run("program.py")
    assert plain == run("program.py", DYNTRACE="1", DYNTRACE_HOT_TIME="100000") and plain[0] == 0


def test_installed_packages_are_followed_if_they_name_arrays(run, tmp_path):
    packages = tmp_path / "site-packages"
    packages.mkdir()
    (packages / "drawing.py").write_text(
        "state = [0]\ndef draw(x):\n    state[0] += 1\n    return len(x) + state[0]\n"
    )
    (packages / "filters.py").write_text(
        "import numpy as np\ndef damp(x):\n    return np.tanh(x)\n"
    )
    (tmp_path / "program.py").write_text(
        "import sys\nsys.path.append('site-packages')\nimport numpy as np, drawing, filters\n"
        "def step(x):\n    y = filters.damp(x * 0.5) + 1\n    n = drawing.draw(y)\n"
        "    return y * 2 - x, n\n"
        "x = np.ones(4)\nany(step(x) is None for i in range(60))\n"
        "print(step(x), drawing.state)\n"
    )
    plain = run("program.py")
    rc, out, summary = run("program.py", DYNTRACE="1", DYNTRACE_REPORT="-")
    assert (rc, out, "") == plain and rc == 0
    assert "draw() is of an installed package" in summary and "damp" not in summary
    assert "recompile" not in summary


def test_patterns(run, tmp_path):
    (tmp_path / "program.py").write_text(
        "import numpy as np\ndef f(x):\n    return x + 1\ndef g(x):\n    return x + 2\n"
        "for i in range(9):\n    f(np.ones(4)); g(np.ones(4))\n"
    )
    _, _, summary = run(
        "program.py", DYNTRACE="1", DYNTRACE_REPORT="-", DYNTRACE_SKIP="__main__:g*"
    )
    assert "  f (" in summary and "  g (" not in summary
    _, _, summary = run("-m", "dyntrace", "--report", "-", "--skip", "__main__", "program.py")
    assert "0 of 0 functions" in summary


def test_options_of_the_file_are_the_weakest(run, tmp_path):
    (tmp_path / "program.py").write_text("import dyntrace\nprint(dyntrace.config.hot_count)\n")
    assert run("program.py", DYNTRACE="1")[1] == "3\n"
    (tmp_path / "pyproject.toml").write_text("[tool.dyntrace]\nhot-count = 5\n")
    assert run("program.py", DYNTRACE="1")[1] == "5\n"
    assert run("program.py", DYNTRACE="1", DYNTRACE_HOT_COUNT="6")[1] == "6\n"
    args = ["-m", "dyntrace", "--hot-count", "7", "program.py"]
    assert run(*args, DYNTRACE_HOT_COUNT="6")[1] == "7\n"


def test_number_of_threads(run, tmp_path):
    """The command line's counts, also if the program imports dyntrace itself."""
    (tmp_path / "program.py").write_text("import dyntrace\nprint(dyntrace.config.num_threads)\n")
    assert run("program.py", DYNTRACE="1")[1] == "0\n"
    assert run("program.py", DYNTRACE_NUM_THREADS="2")[1] == "2\n"
    assert run("program.py", DYNTRACE="1", DYNTRACE_NUM_THREADS="2")[1] == "2\n"
    for on in ("0", "1"):
        args = ["-m", "dyntrace", "--num-threads", "3", "program.py"]
        assert run(*args, DYNTRACE=on, DYNTRACE_NUM_THREADS="2")[1] == "3\n"


@pytest.mark.parametrize(
    "settings, file, named",
    [
        ({"DYNTRACE": "yes"}, "", "DYNTRACE: expected 0, 1 or everything, got 'yes'"),
        ({"DYNTRACE": "1", "DYNTRACE_HOT_COUNT": "x"}, "", "DYNTRACE_HOT_COUNT: expected a number"),
        (
            {"DYNTRACE": "1", "DYNTRACE_NUM_THREADS": "-1"},
            "",
            "DYNTRACE_NUM_THREADS: expected a number",
        ),
        (
            {"DYNTRACE": "1", "DYNTRACE_VERIFY": "2"},
            "",
            "DYNTRACE_VERIFY: expected a share from 0 to 1",
        ),
        (
            {"DYNTRACE": "1"},
            "[tool.dyntrace]\nverify = 'x'\n",
            "verify: expected a share from 0 to 1",
        ),
        ({"DYNTRACE": "1", "DYNTRACE_SKIP": "a:"}, "", "DYNTRACE_SKIP: 'a:' is no pattern"),
        ({"DYNTRACE": "1", "DYNTRACE_SKIP": "a b"}, "", "DYNTRACE_SKIP: 'a b' has a blank"),
        ({"DYNTRACE": "1", "DYNTRACE_BACKEND": "nope"}, "", "unknown backend 'nope'"),
        ({"DYNTRACE": "1", "DYNTRACE_LOGS": "graph,nope"}, "", "unknown name 'nope'"),
        (
            {"DYNTRACE": "1", "DYNTRACE_HOTCOUNT": "3"},
            "",
            "DYNTRACE_HOTCOUNT: unknown option, did you mean DYNTRACE_HOT_COUNT?",
        ),
        ({"DYNTRACE": "1", "DYNTRACE_": "3"}, "", "DYNTRACE_: unknown option"),
        ({"DYNTRACE": "everything", "DYNTRACE_XYZ": ""}, "", "DYNTRACE_XYZ: unknown option\n"),
        ({"DYNTRACE": "1"}, "[tool.dyntrace]\nspeed = 3\n", "unknown option 'speed'"),
        (
            {"DYNTRACE": "1"},
            "[tool.dyntrace]\nhotcount = 3\n",
            "unknown option 'hotcount', did you mean hot-count?",
        ),
        ({"DYNTRACE": "1"}, "[tool.dyntrace\n", "pyproject.toml: "),
        ({"DYNTRACE": "1"}, "[tool]\ndyntrace = 3\n", "tool.dyntrace: expected a table"),
        ({"DYNTRACE": "1"}, "[tool]\ndyntrace.hot-cont = 3\n", "did you mean hot-count?"),
        (
            {"DYNTRACE": "1"},
            "[tool.dyntrace]\nhot-time = true\n",
            "tool.dyntrace.hot-time: expected a value, got true",
        ),
    ],
)
def test_bad_options_end_in_one_line(run, tmp_path, settings, file, named):
    (tmp_path / "program.py").write_text("print('started')\n")
    if file:
        (tmp_path / "pyproject.toml").write_text(file)
    rc, out, err = run("program.py", **settings)
    assert (rc, out) == (2, "")
    assert err.startswith("dyntrace: ") and named in err and err.count("\n") == 1


def test_unknown_variables(run, tmp_path):
    """They are refused where dyntrace is asked for, and nobody looks at them elsewhere."""
    (tmp_path / "program.py").write_text("import sys\nprint('dyntrace._options' in sys.modules)\n")
    for off in ({}, {"DYNTRACE": "0"}, {"DYNTRACE": ""}):
        assert run("program.py", DYNTRACE_TYPO="1", **off) == (0, "False\n", "")
    rc, out, err = run("-m", "dyntrace", "program.py", DYNTRACE_TYPO="1")
    assert (rc, out, err) == (2, "", "python -m dyntrace: DYNTRACE_TYPO: unknown option\n")


def test_variables_of_our_own_tests_are_known(run, tmp_path):
    """What tests, benchmarks and builds of dyntrace read is set while programs run, too."""
    root = Path(__file__).parents[2]
    files = [p for part in ("tests", "bench") for p in (root / part).rglob("*.py")]
    files += [root / "noxfile.py", root / "CMakeLists.txt"]
    used = set()
    for path in files:
        found = re.findall(
            r"""(?:environ(?:\.get)?[\[(]|option\()["']?(DYNTRACE_[A-Z_]+)""", path.read_text()
        )
        used.update(found)
    assert "DYNTRACE_FORCE_BREAKS" in used and "DYNTRACE_WERROR" in used
    (tmp_path / "program.py").write_text("print('started')\n")
    rc, out, err = run("program.py", DYNTRACE="1", **dict.fromkeys(used, "1"))
    assert (rc, out, err) == (0, "started\n", "")


def test_bad_arguments(run):
    for args in ([], ["--nope", "x.py"], ["no_such_file.py"], ["-m", "no_such_module"]):
        rc, out, err = run("-m", "dyntrace", *args)
        assert (rc, out) == (2, "")
        assert err.startswith("python -m dyntrace: ") and err.count("\n") == 1


def test_logs_are_an_option(run, tmp_path):
    """Like the others: the command line wins over the environment, and that over the file."""
    (tmp_path / "program.py").write_text(
        "import numpy as np, dyntrace\ndef f(x):\n    return x + 1\n"
        "for _ in range(9):\n    f(np.ones(3))\nprint(sorted(dyntrace.config.logs))\n"
    )
    (tmp_path / "pyproject.toml").write_text("[tool.dyntrace]\nlogs = ['graph_breaks', 'guards']\n")
    code, out, err = run("program.py", DYNTRACE="1")
    assert (code, out) == (0, "['graph_breaks', 'guards']\n") and "guards of f" in err
    code, out, err = run("program.py", DYNTRACE="1", DYNTRACE_LOGS="graph")
    assert (code, out) == (0, "['graph']\n") and "graph of f" in err and "guards of f" not in err
    command = ["-m", "dyntrace", "--logs", "bytecode", "program.py"]
    for on in ("0", "1"):
        code, out, err = run(*command, DYNTRACE=on, DYNTRACE_LOGS="graph")
        assert (code, out) == (0, "['bytecode']\n") and "graph of f" not in err


def test_a_broken_installation_runs_plainly(run, tmp_path):
    (tmp_path / "dyntrace").mkdir()
    (tmp_path / "dyntrace" / "__init__.py").write_text(
        "raise ImportError('built for another Python')\n"
    )
    (tmp_path / "dyntrace" / "_start.py").write_text(
        (PTH_FOLDER / "dyntrace" / "_start.py").read_text()
    )
    (tmp_path / "program.py").write_text("print('ran')\n")
    env_path = str(tmp_path)
    env = surroundings(DYNTRACE="1", PYTHONPATH=env_path)
    source = f"import site; site.addsitedir({str(PTH_FOLDER)!r})\n"
    (tmp_path / "sitecustomize.py").write_text(source)
    done = subprocess.run(
        [sys.executable, "program.py"],
        capture_output=True,
        text=True,
        env=env,
        cwd=tmp_path,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (0, "ran\n")


def test_variable_off(run, tmp_path):
    (tmp_path / "program.py").write_text("import sys\nprint('dyntrace' in sys.modules)\n")
    for value in ("0", ""):
        assert run("program.py", DYNTRACE=value) == (0, "False\n", "")


def test_closed_stderr(run, tmp_path):
    (tmp_path / "program.py").write_text(
        "import os, sys, numpy as np\nos.close(2)\ndef f(x):\n    return x + 1\n"
        "print([f(np.ones(1)).tolist() for _ in range(5)])\n"
    )
    plain = run("program.py")
    assert run("program.py", DYNTRACE="1", DYNTRACE_REPORT="-")[:2] == plain[:2]


def test_numpy_is_not_imported_for_a_program_without_it(run, tmp_path):
    (tmp_path / "program.py").write_text(
        "import sys\nprint('numpy' in sys.modules)\nimport numpy as np\ndef f(x):\n    return x + 1\n"
        "print(*map(str, map(f, [np.ones(1)] * 5)))\n"
    )
    plain = run("program.py")
    assert (
        run("program.py", DYNTRACE="1")
        == run("-m", "dyntrace", "program.py")
        == plain
        == (0, "False\n" + " ".join(["[2.]"] * 5) + "\n", "")
    )
    _, _, summary = run("program.py", DYNTRACE="1", DYNTRACE_REPORT="-")
    assert summary.startswith("dyntrace: 1 of 1 functions compiled")


def test_a_loop_with_variables_of_its_own_is_compiled_once(run, tmp_path):
    # What plain iterations have left in variables that each iteration sets anew is no part of the frame.
    (tmp_path / "program.py").write_text(
        "import numpy as np\n"
        "def main():\n    x = np.arange(12.0).reshape(4, 3)\n    total = np.zeros(3)\n"
        "    for i in range(60):\n        row = x[i % 4] * 2.0\n        near = np.abs(row - total) < 3\n"
        "        part = np.cos(row[near])\n        total += part.sum()\n"
        "        if i % 20 == 19:\n            print(i, total)\n    print(near, part, row)\n"
        "main()\n"
    )
    plain = run("program.py")
    options = {"DYNTRACE": "1", "DYNTRACE_HOT_TIME": "0", "DYNTRACE_LOGS": "graph,recompiles"}
    answer = run("program.py", **options)
    assert answer[:2] == plain[:2]
    assert "graph of main" in answer[2] and "recompiling" not in answer[2]


#: What DYNTRACE=1 adds to a program that imports nothing: each costs every start of Python.
AT_START = {
    "dyntrace", "dyntrace._core", "dyntrace._options", "dyntrace._script", "dyntrace._start",
    "dyntrace._support", "atexit", "math",
}  # fmt: skip


def test_what_is_imported_at_the_start(run, tmp_path):
    (tmp_path / "program.py").write_text("import sys\nprint(*sys.modules)\n")
    plain, ours = (run("program.py", DYNTRACE=value)[1].split() for value in ("0", "1"))
    assert set(ours) - set(plain) <= AT_START
    # What tracing needs waits for the first attempt, also where there are arrays.
    (tmp_path / "program.py").write_text(
        "import sys, numpy as np\ndef f(x):\n    return x + 1\n"
        "for _ in range(int(sys.argv[1])):\n    f(np.ones(3))\nprint(*sys.modules)\n"
    )
    plain, waiting, tried = (
        set(run("program.py", count, DYNTRACE=value)[1].split())
        for value, count in (("0", "9"), ("1", "1"), ("1", "9"))
    )
    assert waiting - plain <= AT_START
    assert "dyntrace.substitutes" in tried
    assert "dyntrace.api" not in tried


def test_options_that_nobody_has_set_are_not_loaded(run, tmp_path):
    (tmp_path / "program.py").write_text("import sys\nprint(*sys.modules)\n")
    (tmp_path / "start.py").write_text(
        "import os, subprocess, sys\n"
        "env = {k: v for k, v in os.environ.items() if not k.startswith('DYNTRACE_')}\n"
        "subprocess.run([sys.executable, 'program.py'], env={**env, 'DYNTRACE': '1'})\n"
    )
    modules = run("start.py", DYNTRACE="0")[1].split()
    assert "dyntrace._script" in modules and "dyntrace._options" not in modules
    assert "dyntrace._options" in run("program.py", DYNTRACE="1")[1].split()  # a variable is set
    (tmp_path / "pyproject.toml").write_text("[tool.other]\nhot_count = 4\n")
    assert "dyntrace._options" not in run("start.py", DYNTRACE="0")[1].split()
    (tmp_path / "pyproject.toml").write_text("[tool.dyntrace]\nhot_count = 4\n")
    assert "dyntrace._options" in run("start.py", DYNTRACE="0")[1].split()


def test_memory_of_temporaries_is_kept(run, tmp_path):
    # Plainly each block goes back to the system, and its pages are fetched anew.
    if platform.libc_ver()[0] != "glibc":
        pytest.skip("the C library is another one")
    (tmp_path / "program.py").write_text(
        "import resource, numpy as np\nx = np.ones(400_000)\n"
        "def faults():\n    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt\n"
        "for _ in range(3):\n    before = faults()\n"
        "    for _ in range(20):\n        y = (x + 1) * (x + 2)\n        del y\n"
        "    after = faults()\nprint(after - before)\n"
    )
    left = {"DYNTRACE_HOT_TIME": "100000"}  # nothing is compiled: only the allocator differs
    plain = int(run("program.py", DYNTRACE="0", **left)[1])
    kept = int(run("program.py", DYNTRACE="1", **left)[1])
    assert kept * 10 < plain
    for name, value in (
        ("MALLOC_TRIM_THRESHOLD_", "131072"),
        ("MALLOC_MMAP_THRESHOLD_", "131072"),
        ("GLIBC_TUNABLES", "glibc.malloc.trim_threshold=131072"),
    ):
        assert int(run("program.py", DYNTRACE="1", **left, **{name: value})[1]) * 2 > plain


@pytest.mark.skipif(sys.version_info < (3, 11), reason="frames lie in blocks of their own")
def test_chunks_of_frames_are_kept(run, tmp_path):
    # Plainly a loop at the end of a chunk gives one back, and faults one in anew, at each call.
    (tmp_path / "program.py").write_text(
        "import resource, numpy\n"
        "def faults():\n    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt\n"
        "def leaf():\n    a = b = c = d = e = f = g = h = 1\n"
        "def at(depth):\n"
        "    if depth:\n        return at(depth - 1)\n"
        "    before = faults()\n    for _ in range(300):\n        leaf()\n"
        "    return faults() - before\n"
        "def deep(depth):\n    return depth and deep(depth - 1)\n"
        "print(max(at(depth) for depth in range(400)))\n"
        "deep(900)\nbefore = faults()\nfor _ in range(30):\n    deep(900)\n"
        "print(max(at(depth) for depth in range(400)))\n"
    )
    left = {"DYNTRACE_HOT_TIME": "100000"}
    plain = [int(n) for n in run("program.py", DYNTRACE="0", **left)[1].split()]
    kept = [int(n) for n in run("program.py", DYNTRACE="1", **left)[1].split()]
    assert all(n >= 300 for n in plain)
    assert all(n < 30 for n in kept)


def test_modules_of_the_standard_library_reach_no_arrays(run, tmp_path):
    # Though adapters stand for numbers that come out of arrays, and for random.
    for name, line in (
        ("counting", "import numbers"),
        ("drawing", "import random"),
        ("seeded", "from random import random, Random\nR = Random(1)"),
        ("reaching", "import numpy.random as r"),
        ("drawn", "from numpy.random import rand"),
        ("made", "from numpy.random import default_rng\nr = default_rng(1)\ndel default_rng"),
    ):
        (tmp_path / f"{name}.py").write_text(f"{line}\ndef {name}(x):\n    return x\n")
    (tmp_path / "program.py").write_text(
        "import numpy, counting, drawing, seeded, reaching, drawn, made\n"
        "from dyntrace import _core\n"
        "print(sorted(r['function'] for r in _core.list_prepared()))\n"
    )
    assert run("program.py", DYNTRACE="1") == (0, "['drawn', 'made', 'reaching']\n", "")


def test_public_names_in_a_program(run, tmp_path):
    # They are bound at the first use of one, where DYNTRACE is set.
    (tmp_path / "program.py").write_text(
        "import dyntrace, numpy as np\n"
        "print([n for n in dyntrace.__all__ if getattr(dyntrace, n, None) is None])\n"
        "print(dyntrace.config.hot_count, type(dyntrace.config).__name__, dyntrace.adapters.__name__)\n"
        "from dyntrace import *\n"
        "@dyntrace.compile\ndef f(x):\n    return x + 1\nprint(f(np.ones(2)), list_backends())\n"
    )
    assert run("program.py", DYNTRACE="1") == run("program.py", DYNTRACE="0")
    (tmp_path / "program.py").write_text(
        "import dyntrace\nprint(dyntrace.config.skip_modules == frozenset())\n"
        "try:\n    dyntrace.nonsense\nexcept AttributeError as e:\n    print(e)\n"
        "print(dyntrace.is_compiling(), 'numpy' in __import__('sys').modules)\n"
    )
    expected = "False\nmodule 'dyntrace' has no attribute 'nonsense'\nFalse False\n"
    assert run("program.py", DYNTRACE="1") == (0, expected, "")


@pytest.mark.parametrize("mode", ["1", "everything"])
def test_a_module_that_is_skipped_is_not_followed(run, tmp_path, mode):
    """Nor is anything of it captured where it is called."""
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "__init__.py").write_text("")
    for name in "helper", "other":
        (tmp_path / "tools" / f"{name}.py").write_text(
            "import numpy as np\nimport dyntrace\n"
            "def scale(x):\n    seen.add(dyntrace.is_compiling())\n    return np.sqrt(x) * 2 + 1\n"
            "seen = set()\n"
        )
    (tmp_path / "program.py").write_text(
        "import numpy as np\nfrom tools import helper, other\n"
        "def work(x):\n    return helper.scale(x) + other.scale(x)\n"
        "x = np.ones(3)\nfor _ in range(200):\n    y = work(x)\n"
        "print(y, helper.seen, True in other.seen)\n"
    )
    skip = {"DYNTRACE": mode, "DYNTRACE_SKIP": "tools.h*", "DYNTRACE_HOT_TIME": "0"}
    code, out, err = run("program.py", **skip)
    assert (code, err) == (0, "")
    assert out == "[6. 6. 6.] {False} True\n"
    chosen = {"DYNTRACE": mode, "DYNTRACE_MODULES": "tools*", "DYNTRACE_HOT_TIME": "0"}
    assert run("program.py", **chosen)[::2] == (0, "")


def test_definitions_in_all_places(run, tmp_path):
    (tmp_path / "program.py").write_text(
        "import numpy as np, inspect\n"
        "if True:\n    def a(x):\n        return x + 1\n"
        "try:\n    pass\nfinally:\n    def b(x):\n        return x + 2\n"
        "try:\n    1 / 0\nexcept ZeroDivisionError:\n    def c(x):\n        return x + 3\n"
        "match 1:\n    case 1:\n        def d(x):\n            return x + 4\n"
        "for _ in range(1):\n    pass\nelse:\n    class E:\n        class F:\n"
        "            def e(self, x):\n                return x + 5\n"
        "async def co():\n    return 1\n"
        "import sys, types\nplain = [type(f) is types.FunctionType for f in (a, b, c, d, E.F.e)]\n"
        "print(plain, file=sys.stderr)\n"
        "fs = a, b, c, d, E.F().e, lambda x: x + 6\n"
        "print([[f(np.ones(1)).tolist() for _ in range(6)][-1] for f in fs])\n"
        "print([inspect.getsource(f) for f in fs[:5]])\n"
    )
    _, plain, all_plain = run("program.py")
    assert all_plain == f"{[True] * 5}\n"
    hot = {"DYNTRACE": "1", "DYNTRACE_HOT_TIME": "0"}
    assert run("program.py", **hot) == (0, plain, f"{[False] * 5}\n")


DEFINITIONS = """
import sys
seen = []
def note(f):
    seen.append((f.__name__, type(f).__name__, f.__defaults__, f.__kwdefaults__, f.__annotations__))
    return f
def events(frame, event, argument):
    seen.append((event, frame.f_code.co_name, frame.f_lineno))
    return events
@note
@note
def a(x: int, y=2, *, z=3) -> float:
    "text"
    return x + y + z
for i in range(3):
    def in_loop(x, i=i):
        return x + i
    seen.append(in_loop(1))
class C:
    def __init__(self):
        self.me = __class__
    @property
    def p(self):
        return 5
    @staticmethod
    def s(x): return x
    @classmethod
    def c(cls, x=[]): return cls, x
    def gen(self):
        yield 1
    async def co(self):
        return 1
    f = lambda self: [k for k in range(3)]
def outer():
    def inner(x):
        return inner, x
    return inner
GENERIC
c = C()
seen += [a(1), c.me, c.p, c.s(2), C.c(), list(c.gen()), c.f(), outer()(4)[1]]
sys.settrace(events)
def traced(x):
    return x
traced(3)
sys.settrace(None)
try:
    def fails(x=1 / 0): pass
except ZeroDivisionError as error:
    seen.append(error.__traceback__.tb_lineno)
print([name for name in globals() if name != '__file__' and name != '__cached__'])
print(*seen, sep='\\n')
"""
GENERIC = """
@note
def generic[T](x: T, y=1) -> T:
    def inner(z: T):
        return z
    return inner(x)
class G[T]:
    def m[S](self, x: S, y: T = 4) -> S:
        return x, y, G.__type_params__
seen += [generic(1), str(generic.__type_params__), G().m(2), str(G.m.__type_params__)]
"""


def test_functions_are_what_they_are_plainly(run, tmp_path):
    """Also without source: what defines them is found in the code."""
    generic = GENERIC if sys.version_info >= (3, 12) else ""
    (tmp_path / "program.py").write_text(DEFINITIONS.replace("GENERIC", generic))
    run("-m", "compileall", "-b", "-q", "program.py")
    (tmp_path / "away").mkdir()
    (tmp_path / "program.pyc").rename(tmp_path / "away" / "compiled.pyc")
    for program in ("program.py", "away/compiled.pyc"):
        code, plain, err = run(program)
        assert (code, err) == (0, "")
        for mode in ("1", "everything"):
            assert run(program, DYNTRACE=mode) == (0, plain, "")
            assert run(program, DYNTRACE=mode, DYNTRACE_HOT_COUNT="0") == (0, plain, "")


def test_everything(run, tmp_path):
    (tmp_path / "program.py").write_text(
        "import json, textwrap, collections\n"
        "data = {'a': [1, 2.5, None, True], 'b': {'c': 'x' * 50}}\n"
        "for _ in range(4):\n    text = json.dumps(data, indent=1, sort_keys=True)\n"
        "    assert json.loads(text) == data\n    wrapped = textwrap.wrap(text, 20)\n"
        "print(text, wrapped, collections.Counter(text).most_common(3))\n"
    )
    assert run("program.py", DYNTRACE="everything") == run("program.py")


def test_python_of_a_library_that_the_graph_calls(run, tmp_path):
    # The graph of numpy.real's own frame calls numpy.real.
    (tmp_path / "program.py").write_text(
        "import numpy as np\nx = np.array([1.5 - 2j, 3j])\n"
        "for _ in range(20):\n    parts = np.real(x), np.imag(x), np.round(x, 1), np.std(x), np.size(x)\n"
        "print(parts)\n"
    )
    assert run("program.py", DYNTRACE="everything") == run("program.py")


def test_modules_that_are_traced_while_they_are_imported(run, tmp_path):
    # Functions of logging run, and are traced, before logging has its classes; so with the others.
    names = (
        "logging json copy random functools datetime re heapq bisect types collections os operator"
    )
    (tmp_path / "program.py").write_text(
        "import sys, importlib\n"
        f"for name in {names.split()!r}:\n"
        "    sys.modules.pop(name, None)\n    importlib.import_module(name)\n"
        "import logging, copy\nlogging.getLogger('a').debug('not shown')\n"
        "print(copy.deepcopy({'a': [1, 2]}), logging.getLogger('a'))\n"
    )
    assert run("program.py", DYNTRACE="everything") == run("program.py")


def test_polyfills_wait_until_their_module_is_there(run, tmp_path):
    (tmp_path / "program.py").write_text(
        "import copy, threading, numpy as np, dyntrace\n"
        "def first(x):\n    return copy.copy([x * 2.0])\n"
        "def second(x):\n    return copy.copy([x * 2.0])\n"
        "x = np.ones(4)\ncopy.__spec__._initializing = True\n"
        "print(dyntrace.explain(first)(x).breaks[0].id)\n"
        "del copy.__spec__._initializing\n"
        "print(dyntrace.explain(second)(x).breaks)\n"
    )
    assert run("program.py") == (0, "module-not-ready\n[]\n", "")


LEVELS_OF_C = """
def nested(depth):
    made = []
    for _ in range(depth):
        made = [made]
    return made

def levels():
    fits, fails = 0, 100_000
    while fails - fits > 1:
        depth = (fits + fails) // 2
        try:
            repr(nested(depth))
            fits = depth
        except RecursionError:
            fails = depth
    return fits

class Within:
    def __enter__(self):
        self.found = levels()
        return self

    def __exit__(self, *raised):
        pass

def below(depth):
    if depth:
        return below(depth - 1)
    with Within() as within:
        return within.found

print(levels(), below(0), below(20))
"""


@pytest.mark.skipif(sys.version_info < (3, 12), reason="C has the recursion limit of Python")
def test_no_level_of_c_is_given_twice(run, tmp_path):
    """A frame that the hook runs costs C no level, and gives it none; the main one costs plainly two."""
    (tmp_path / "program.py").write_text(LEVELS_OF_C)
    plain, traced = (
        [int(number) for number in run("program.py", DYNTRACE=mode)[1].split()]
        for mode in ("0", "everything")
    )
    assert len(traced) == len(plain)
    assert all(max(plain) - 20 < found <= max(plain) + 2 for found in traced), (plain, traced)


# ---- Verify mode


@pytest.mark.parametrize("name", ["arrays", "raises_deep", "warns", "fork", "threads", "recursion"])
def test_verified_programs_do_the_same(run, tmp_path, name):
    source, args = PROGRAMS[name]
    (tmp_path / "program.py").write_text(source)
    plain = run("program.py", *args)
    checked = run("program.py", *args, DYNTRACE="1", DYNTRACE_VERIFY="1", DYNTRACE_HOT_COUNT="2")
    assert checked == plain
    assert not (tmp_path / "dyntrace-verify").exists()


def test_verify_is_an_option(run, tmp_path):
    (tmp_path / "program.py").write_text(
        "import sys, dyntrace\nprint(dyntrace.config.verify, dyntrace.config.verify_dir, sys.argv[1:])\n"
    )
    usual = "dyntrace-verify"

    def said(*args, **settings):
        rc, out, err = run(*args, **settings)
        assert (rc, err) == (0, "")
        return out.rstrip("\n")

    on = ["-m", "dyntrace"]
    assert said("program.py") == f"0.0 {usual} []"
    assert said("program.py", DYNTRACE_VERIFY="0.5") == f"0.5 {usual} []"  # for dyntrace.compile()
    assert said("program.py", DYNTRACE="1", DYNTRACE_VERIFY="yes") == f"1.0 {usual} []"
    assert (
        said("program.py", DYNTRACE="1", DYNTRACE_VERIFY_DIR="d", DYNTRACE_VERIFY="1") == "1.0 d []"
    )
    assert said(*on, "--verify", "program.py") == f"1.0 {usual} []"
    assert said(*on, "--verify", "program.py", "--verify") == f"1.0 {usual} ['--verify']"
    assert said(*on, "--hot-count", "3", "--verify=0.25", "program.py") == f"0.25 {usual} []"
    (tmp_path / "pyproject.toml").write_text("[tool.dyntrace]\nverify = true\nverify-dir = 'e'\n")
    assert said("program.py", DYNTRACE="1") == "1.0 e []"
    assert said("program.py", DYNTRACE="1", DYNTRACE_VERIFY="0.5") == "0.5 e []"
    assert said(*on, "--verify=0", "program.py", DYNTRACE_VERIFY="1") == "0.0 e []"
    for wrong in ("--verify=2", "--verify=-1", "--verify=nan"):
        rc, out, err = run(*on, wrong, "program.py")
        assert (rc, out) == (2, "") and err.count("\n") == 1 and "--verify: expected a share" in err
    rc, out, err = run("-c", "import dyntrace", DYNTRACE_VERIFY="x")
    assert rc == 1 and "ValueError: DYNTRACE_VERIFY: expected a share" in err


def test_the_summary_tells_what_was_verified(run, tmp_path):
    """A function that differs is listed, with its reproducer; a folder that can't be written is named."""
    (tmp_path / "program.py").write_text(
        "import numpy as np, dyntrace, threading\n"
        "def wrong(graph, examples):\n"
        "    return lambda *inputs: tuple(output + 1 for output in graph(*inputs))\n"
        "def f(x):\n    return x * 2.0\n"
        "def g(x):\n    return x * 3.0\n"
        "bad = dyntrace.compile(f, backend=wrong)\n"
        "list(map(g, [np.ones(3)] * 12))\n"
        "print(bad(np.ones(3)), bad(np.ones(3)))\n"
    )
    settings = dict(DYNTRACE="1", DYNTRACE_VERIFY="1", DYNTRACE_REPORT="-", DYNTRACE_HOT_COUNT="2")
    rc, out, err = run("program.py", **settings)
    assert (rc, out) == (0, "[2. 2. 2.] [2. 2. 2.]\n")
    said = "f (program.py:4) differs and runs plainly from now on: result: item 0 of 3: np.float64(2.0)"
    path = os.path.join("dyntrace-verify", "f_4.py")
    assert said in err.replace(str(tmp_path) + os.sep, "") and f"reproducer: {path}" in err
    assert "verified: 10 calls are the same plainly, 1 functions differ\n" in err
    assert ": quarantined, result: item 0" in err
    rc, out, err = run(path)
    assert rc == 1 and out.startswith("different: result: item 0 of 3: np.float64(2.0)"), err
    rc, out, err = run("program.py", **settings, DYNTRACE_VERIFY_DIR="/proc/nothing")
    assert (rc, out) == (0, "[2. 2. 2.] [2. 2. 2.]\n")
    assert "reproducer: can't be written to '/proc/nothing': " in err


AT_EXIT = """
import sys, traceback

class Reporter:
    def __init__(self):
        try:
            1 / 0
        except ZeroDivisionError:
            self.error = sys.exc_info()
            self = None

    def __del__(self):
        traceback.print_exception(*self.error)

reporter = Reporter()
"""


@pytest.mark.parametrize("mode", ["1", "everything"])
def test_nothing_is_compiled_while_modules_are_torn_down(run, mode):
    plain = run("-c", AT_EXIT)
    assert plain[2].endswith("ZeroDivisionError: division by zero\n")
    assert run("-c", AT_EXIT, DYNTRACE=mode, DYNTRACE_STRICT="1", DYNTRACE_HOT_COUNT="0") == plain


def test_nothing_is_loaded_while_the_program_goes_through_sys_modules(run, tmp_path):
    """The first attempt of all would be in the loop."""
    (tmp_path / "part.py").write_text("""
import random, sys

def add(a, b):
    return a + b + 0 * random.getrandbits(1)

def walk():
    total = 0
    for module in sys.modules.values():
        for i in range(50):
            total = add(total, 1)
    return total
""")
    program = "import sys, part; print(part.walk() == 50 * len(sys.modules))"
    assert run("-c", program, DYNTRACE="1", DYNTRACE_HOT_COUNT="1") == (0, "True\n", "")


WATCHED = """
import sys

seen = []

def note(frame, event, argument):
    seen.append((event, frame.f_code.co_filename.rpartition("/")[2], frame.f_lineno))
    return note

HOW = {how!r}
if HOW == "monitoring":
    monitoring = sys.monitoring
    monitoring.use_tool_id(3, "test")
    def start(code, offset):
        seen.append((code.co_filename.rpartition("/")[2], code.co_name))
    monitoring.register_callback(3, monitoring.events.PY_START, start)
    monitoring.set_events(3, monitoring.events.PY_START)
else:
    getattr(sys, HOW)(note)

import watched_part

def double(x):
    return 2 * x

double(watched_part.array[0])
if HOW == "monitoring":
    monitoring.set_events(3, 0)
else:
    getattr(sys, HOW)(None)
print(seen)
"""


@pytest.mark.parametrize("how", ["settrace", "setprofile", "monitoring"])
def test_who_watches_the_program_sees_nothing_else(run, tmp_path, how):
    if how == "monitoring" and sys.version_info < (3, 12):
        pytest.skip("since 3.12")
    (tmp_path / "watched_part.py").write_text(
        "import numpy as np\narray = np.arange(3.0)\ndef f(x):\n    return x + array\nf(array)\n"
    )
    (tmp_path / "program.py").write_text("import numpy\n" + WATCHED.format(how=how))
    run("-c", "import watched_part")  # its bytecode is there
    plain = run("program.py", DYNTRACE="0")
    assert plain[0] == 0 and "watched_part.py" in plain[1]
    assert run("program.py", DYNTRACE="1") == plain
    assert run("program.py", DYNTRACE="1", DYNTRACE_SKIP="other:f") == plain


HALF = """
import pair.{other}
name = "{name}"
class Watch:
    def __del__(self):
        print(name, pair.{other}.name, len.__name__)
watch = Watch()
_watch = Watch()
def mark():
    pair.{other}.marked = [1]
if name == "a":
    mark()
    mark()
"""


def test_modules_that_die_at_the_end(run, tmp_path):
    """What an entry knows of a module does not keep it: finalisers find the names of those that are left."""
    package = tmp_path / "pair"
    package.mkdir()
    (package / "__init__.py").write_text("")
    for name, other in ("ab", "ba"):
        (package / f"{name}.py").write_text(HALF.format(name=name, other=other))
    (tmp_path / "program.py").write_text("from pair import a\n")
    plain = run("program.py")
    assert sorted(plain[1].split()) == sorted("a b len a b len b a len b a len".split())
    for mode in ("1", "everything"):
        done = run("program.py", DYNTRACE=mode)
        assert [done[0], sorted(done[1].split()), *done[2:]] == [
            plain[0], sorted(plain[1].split()), *plain[2:]
        ]  # fmt: skip
