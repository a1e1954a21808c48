"""Code that is typed: at the interpreter's prompt, and in the cells of a shell."""

import pytest

pytest.importorskip("numpy")

LIST = (
    "from dyntrace import _core\n"
    "print(sorted((r['function'], r['state']) for r in _core.list_prepared()))\n"
)
F = "def f(x):\n    for k in range(4):\n        x = x * 0.5 + k\n    return x\n\n"

SESSIONS = {
    "functions": (
        "import numpy as np\n" + F + "x = np.ones(50)\n"
        "for i in range(40): y = f(x)\n\n"
        "y.sum()\n_ + 1\nf, f.__name__, type(f).__name__\n"
    ),
    "loops": (
        "import numpy as np\nz = 0\n"
        "for i in range(2000):\n    z = z + np.sin(np.ones(3)) * i\n\nz\n"
        "while z[0] > 3:\n    z = z * 0.5\n\nz, i\n"
    ),
    "classes": (
        "import numpy as np\nclass A:\n    def __init__(self):\n        self.w = np.ones(3)\n"
        "    def step(self, x):\n        self.w = self.w * 0.9 + x\n        return self.w\n\n"
        "a = A()\nfor i in range(30): r = a.step(i)\n\nr\n"
    ),
    "errors": (
        "import numpy as np\n" + F + "def g(x):\n    return f(x)[99] + 1\n\n"
        "for i in range(20): y = f(np.ones(3))\n\n"
        "g(np.ones(3))\ny / np.zeros(4)\nundefined\n1 +\ny\n"
    ),
    "redefined": (
        "import numpy as np\n" + F + "for i in range(20): y = f(np.ones(3))\n\n"
        "def f(x):\n    return x * 3\n\nfor i in range(20): y = f(np.ones(3))\n\ny\ndel f\nf\n"
    ),
    "ends": "import numpy as np\n" + F + "f(np.ones(2))\nraise SystemExit(3)\n",
    "awkward": (
        "from __future__ import annotations\nimport numpy as np\ndef f(x: Nope): return x + 1\n\n"
        "f.__annotations__\n[f(np.ones(1))[0] for i in range(3)]\nlambda: 0\n"
        "exec('k = f(np.ones(2))')\nk\nglobals()['k'] is k\nimport sys; sys.ps1 = '? '\nk\n"
    ),
}


def without_addresses(outcome):
    code, out, err = outcome
    hide = [line.split(" at 0x")[0] for line in (out + err).splitlines()]
    return code, hide


@pytest.mark.parametrize("name", SESSIONS)
def test_same_as_plainly_at_the_prompt(run, name):
    plain = run("-q", "-i", typed=SESSIONS[name])
    for settings in ({}, {"DYNTRACE_HOT_TIME": "5"}):
        traced = run("-q", "-i", typed=SESSIONS[name], DYNTRACE="1", **settings)
        assert without_addresses(traced) == without_addresses(plain)


def test_functions_that_are_typed_are_compiled(run):
    typed = f"import numpy as np\n{F}" + 8 * "y = f(np.ones(2))\n" + LIST
    _, out, err = run("-q", "-i", typed=typed, DYNTRACE="1")
    assert "[('f', 'compiled')]" in out, err


def test_loops_that_are_typed_are_compiled(run):
    typed = (
        SESSIONS["loops"]
        + "from dyntrace import _core\nprint('made', _core.counters()['compiled'])\n"
    )
    _, out, err = run("-q", "-i", typed=typed, DYNTRACE="1", DYNTRACE_HOT_COUNT="0")
    assert int(out.split("made ")[1].split()[0]) > 0, err


def test_the_prompt_after_a_script(run, tmp_path):
    (tmp_path / "program.py").write_text("import numpy as np\n" + F + "f(np.ones(2))\n")
    typed = "def g(x): return f(x) * 2\n\n" + 8 * "y = g(np.ones(2))\n" + "y\n"
    plain = run("-q", "-i", "program.py", typed=typed)
    assert run("-q", "-i", "program.py", typed=typed, DYNTRACE="1") == plain
    _, out, _ = run("-q", "-i", "program.py", typed=typed + LIST, DYNTRACE="1")
    assert "('g', 'compiled')" in out


SHELL = r"""
import ast, sys, types

class Events:
    def __init__(self):
        self.callbacks = {"pre_run_cell": [], "post_run_cell": []}
    def register(self, event, callback):
        self.callbacks[event].append(callback)
    def unregister(self, event, callback):
        self.callbacks[event].remove(callback)
    def trigger(self, event, arg):
        for callback in self.callbacks[event][:]:
            callback(arg)

class Shell:
    "Runs cells as IPython does: all statements but the last one, and that as an expression."
    def __init__(self):
        self.events = Events()
        self.module = types.ModuleType("__main__")
        sys.modules["__main__"] = self.module
        sys.ps1 = "In: "
    def run(self, cell):
        self.events.trigger("pre_run_cell", None)
        names = self.module.__dict__
        body = ast.parse(cell).body
        last = body.pop() if isinstance(body[-1], ast.Expr) else None
        try:
            exec(compile(ast.Module(body, []), "<cell>", "exec"), names, names)
            if last is not None:
                exec(compile(ast.Interactive([last]), "<cell>", "single"), names, names)
        except Exception as error:
            print(type(error).__name__, error, error.__traceback__.tb_next.tb_lineno)
        self.events.trigger("post_run_cell", None)

shell = Shell()
shell.module.shell = shell
if sys.argv[1] == "on":
    shell.run("import dyntrace\ndyntrace.load_ipython_extension(shell)")
    shell.run("import dyntrace\ndyntrace.load_ipython_extension(shell)")
for cell in CELLS:
    shell.run(cell)
if sys.argv[1] == "on":
    from dyntrace import _core

    print(sorted((r["function"], r["state"]) for r in _core.list_prepared()), file=sys.stderr)
    shell.run("dyntrace.unload_ipython_extension(shell)")
    shell.run("def later(x):\n    return x")
    print(_core.counters()["compiled"] > 0, file=sys.stderr)
    print([r for r in _core.list_prepared() if r["function"] == "later"], file=sys.stderr)
"""

CELLS = [
    "import numpy as np\n" + F,
    "x = np.ones(50)\nfor i in range(40): y = f(x)\ny.sum()",
    "z = 0\nfor i in range(2000):\n    z = z + np.sin(x[:3]) * i\nz",
    "class A:\n    def m(self, x):\n        return x * 2 + 1\na = A()\nfor i in range(40): w = a.m(x)\nw[3]",
    "f(x)[99]",
    "f.__name__, type(f).__name__, f.__module__",
    "[f(x * i)[0] for i in range(3)]",
]


def test_cells_of_a_shell(run, tmp_path):
    (tmp_path / "program.py").write_text(SHELL.replace("CELLS", repr(CELLS)))
    plain = run("program.py", "off")
    traced = run("program.py", "on")
    assert plain[0] == 0 and traced[:2] == plain[:2]
    prepared, loops, later = traced[2].splitlines()
    assert "('A.m', 'compiled')" in prepared and "('f', " in prepared
    assert (loops, later) == ("True", "[]")
    # In a process that is a whole script already, it is the same session.
    again = run("program.py", "on", DYNTRACE="1")
    assert again[:2] == plain[:2]
