"""What rests because it saw no array is tried when there are some."""

import pytest

pytest.importorskip("numpy")


def test_a_function_is_tried_when_arrays_come_later(run, tmp_path):
    (tmp_path / "program.py").write_text(
        "import time, numpy as np\nfrom dyntrace import _core\n"
        "def f(a):\n    return a * 2.5 + a * a - a / 3.0 + (a - 1.0) * (a + 4.0)\n"
        "def g(x):\n    return (x * 2 + 1).sum() - (x - 3).max()\n"
        "def state():\n"
        "    return [r['state'] for r in _core.list_prepared() if r['function'] == 'f'][0]\n"
        "x = np.ones(50)\n"
        "def until(condition, a):\n"
        "    while not condition() and time.process_time() < 60:\n"
        "        any(f(a) is g(x) for n in range(100))\n"
        "until(lambda: state() == 'resting', 3.0)\nprint(state(), type(f))\n"
        "until(lambda: state() == 'compiled', x)\nprint(state(), f(x).tolist()[0])\n"
    )
    rc, out, error = run("program.py", DYNTRACE="1", DYNTRACE_HOT_TIME="1")
    assert (rc, out) == (0, "resting <class 'function'>\ncompiled 3.1666666666666665\n"), error


def test_what_works_on_arrays_does_not_rest(run, tmp_path):
    """In a program of its own: nothing has been taken from its account yet."""
    (tmp_path / "program.py").write_text(
        "import numpy as np\nfrom dyntrace import _core\n"
        "def g(x):\n    return (x * 2 + 1).sum() - (x - 3).max()\n"
        "def state():\n"
        "    return [r['state'] for r in _core.list_prepared() if r['function'] == 'g'][0]\n"
        "def tried():\n    return _core.counters()['compiled'] > 0\n"
        "x, rested = np.ones(50), False\n"
        "for _ in range(400):\n    g(x)\n    rested |= state() == 'resting' and not tried()\n"
        "print(rested)\n"
    )
    rc, out, error = run("program.py", DYNTRACE="1")
    assert (rc, out) == (0, "False\n"), error


LOOP = """
import numpy as np
from dyntrace import _core
def run(n, x):
    total = 0
    for i in range(n):
        {body}
    return np.float64(total) + x.sum()
run(300_000, np.ones(3))
print(any(_core.counters()[name] > 0 for name in ("compiled", "broken", "loops")))
"""


@pytest.mark.parametrize(
    "body, tried", [("total += i % 7", False), ("x = x * 0.5 + i", True), ("total += x[0]", True)]
)
def test_loops_that_come_to_arrays_are_tried(run, tmp_path, body, tried):
    (tmp_path / "program.py").write_text(LOOP.format(body=body))
    rc, out, error = run("program.py", DYNTRACE="1", DYNTRACE_HOT_TIME="1")
    assert (rc, out) == (0, f"{tried}\n"), error
