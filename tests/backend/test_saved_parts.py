"""Parts of arrays that compiled code writes while its run may still be dropped: nobody sees that it was."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import dyntrace
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))
from test_kernels_picked import outcome  # noqa: E402

PARTS = [
    "0", "-1", "1:-1", "0, 1:-1", "-1, 1:-1", "1:-1, 0", "1:-1, -1", "1:, ::2", "::-1, 1", "::-2, ::-1",
    "..., 0", ":", "2:3, 2:3", "1:-1, 1:-1", "None, 0", "0, 0", "-1, -1",
]  # fmt: skip


def runs_alike(function, make, calls=3):
    compiled = dyntrace.compile(function)
    for _ in range(calls):
        case = make()
        assert outcome(compiled, case) == outcome(function, case)
    return compiled


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("dtype", "dfiD?")
def test_what_was_written_is_put_back(part, dtype):
    scope = {"np": np}
    exec(f"def number(a, b, c):\n    a[{part}] = 3\n    return 1 / c\n", scope)
    exec(f"def other(a, b, c):\n    a[{part}] = b[{part}]\n    return 1 / c\n", scope)
    exec(f"def own(a, b, c):\n    a[{part}] = a[::-1, ::-1][{part}]\n    return 1 / c\n", scope)
    lines = f"a[{part}] = 1", f"b[{part}] = a[{part}]", "a[0] = 2", "return 1 / c"
    exec("def twice(a, b, c):\n    " + "\n    ".join(lines), scope)
    for layout in np.ascontiguousarray, np.asfortranarray:
        a = layout((np.arange(20).reshape(4, 5) % 7).astype(dtype))
        b = layout((np.arange(20).reshape(4, 5) % 3).astype(dtype))
        for name in "number", "other", "own", "twice":
            for divisor in 1.0, 0.0:  # with 0, NumPy warns: the run is dropped and the call made again
                runs_alike(scope[name], lambda: (a, b, np.array([2.0, divisor])))  # noqa: B023


def test_masks_are_put_back():
    def fill(a, m, c):
        a[m] = 0
        return 1 / c

    def several(a, m, c):
        a[m] = a[m] * 2
        a[~m] = 5
        a[m] = 7
        return 1 / c

    for dtype in "dfiD?b":
        for size in 0, 1, 9, 64, 3000, 20000:
            a = (np.arange(size) % 5).astype(dtype)
            m = np.arange(size) % 3 == 0
            for divisor in 1.0, 0.0:
                for function in fill, several:
                    runs_alike(function, lambda: (a, m, np.array([divisor])))  # noqa: B023


def test_parts_of_one_array():
    def walls(x):
        x[0, 1:-1] = -x[1, 1:-1]
        x[-1, 1:-1] = x[-2, 1:-1]
        x[1:-1, 0] = x[1:-1, 1]
        x[1:-1, -1] = x[1:-1, -2]
        x[0, 0] = 0.5 * (x[1, 0] + x[0, 1])
        x[:, 1:] = x[:, :-1]
        x[1:] = x[:-1]
        x[::-1, 0] = x[:, 0]

    for shape in (3, 3), (4, 7), (40, 50), (3, 700):
        runs_alike(walls, lambda: (np.arange(np.prod(shape), dtype="d").reshape(shape),))  # noqa: B023


def test_random_programs():
    random_ = random.Random(9)
    parts = PARTS
    statements = [
        "a[{p}] = {n}",
        "a[{p}] = b[{p}]",
        "a[{p}] = a[{p}] * 2",
        "a[{p}] += b[{p}]",
        "a[{p}] = a[::-1, ::-1][{p}]",
        "v = a[{p}]; v[...] = b[{p}]",
        "b[{p}] = -a[{p}]",
        "a[a > {n}] = {n}",
        "b[a < {n}] = a[a < {n}]",
        "t = 1 / c; c[0] += 1",
        "a += b",
    ]
    for _ in range(80):
        lines = ["def fn(a, b, c):", "    t = 0"]
        for _ in range(random_.randint(2, 7)):
            statement = random_.choice(statements)
            lines.append("    " + statement.format(p=random_.choice(parts), n=random_.choice([0, 1, 2.5])))
        lines.append("    return (1 / c + t) * a.sum()")
        scope = {"np": np}
        exec("\n".join(lines), scope)
        compiled = dyntrace.compile(scope["fn"])
        for turn in range(6):
            rng = np.random.default_rng(turn)
            a, b = rng.integers(-3, 4, (2, 4, 5)).astype("d")
            case = (a, a if turn == 4 else b, np.array([1.0, 0.0 if turn in (1, 3) else 2.0]))
            assert outcome(compiled, case) == outcome(scope["fn"], case), "\n".join(lines)
