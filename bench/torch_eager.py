"""The table's cases for PyTorch's `torch.compile(backend="eager")`, where PyTorch is installed.

`python -m bench.torch_eager [row ...]` prints figures as JSON, in the units of the rows. Tensors of
4 doubles take the place of arrays; N is still NumPy's `a + b` in the same process. What an overhead
is above is the same function called plainly with tensors, since that is what the eager backend runs.
Rows about memory or about writes have no counterpart.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import time
import types
import warnings
from collections.abc import Callable
from typing import Any

from .harness import ROOT, fresh, in_turns, operands

BUDGET = 0.6  # seconds for each thing that is measured: differences of a factor need no more


def figures(names: list[str]) -> dict[str, float]:
    """What PyTorch reaches in these rows (all without names), measured in a process of its own;
    empty without PyTorch."""
    if importlib.util.find_spec("torch") is None:
        return {}
    done = subprocess.run([sys.executable, "-m", "bench.torch_eager", *names], cwd=ROOT, text=True,
                          capture_output=True, timeout=900, check=False)  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"measuring PyTorch failed:\n{done.stderr[-2000:]}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def cases() -> dict[str, Callable[[], float]]:
    """A function for each row; PyTorch is imported here, in the child alone."""
    import torch

    from . import dispatch, programs, rows

    # Every call of a row is to have its entry, as in the rows themselves.
    torch._dynamo.config.recompile_limit = 64
    numbers = operands(2, 4)
    a, b = (torch.from_numpy(array) for array in numbers)

    def compiled(function: types.FunctionType, *calls: tuple[Any, ...]) -> Any:
        made = torch.compile(fresh(function), backend="eager")
        for arguments in calls * 3:
            made(*arguments)
        return made

    def measured(*pairs: tuple[Any, tuple[Any, ...]]) -> list[float]:
        """Each in N."""
        n, *found = in_turns((dispatch.add, numbers), *pairs, budget=BUDGET)
        return [seconds / n for seconds in found]

    def above(function: types.FunctionType, *arguments: Any) -> float:
        plain, whole = measured(
            (function, arguments), (compiled(function, arguments), arguments)
        )
        return whole - plain

    def fused() -> float:
        return measured((compiled(dispatch.fused, (a, b)), (a, b)))[0]

    def ten() -> float:
        return above(dispatch.sum_of_ten, *map(torch.from_numpy, operands(10, 4)))

    def in_turn(entries: int) -> float:
        calls = [(a, f"mode{index}") for index in range(entries)]
        several, one = compiled(dispatch.scaled, *calls), compiled(dispatch.scaled, calls[0])
        turns, alone = measured(
            (dispatch.each(several, calls), ()), (dispatch.each(one, calls[:1] * entries), ())
        )
        return turns / alone

    def tree() -> float:
        scope: dict[str, Any] = {"tree": dispatch.Node(2)}
        exec(dispatch.TREE, scope)
        return above(scope["walk"], a, b)

    def to_other() -> float:
        one, two = (a, b, dispatch.Mode("mode1")), (a, b, dispatch.Mode("mode2"))
        first, second = (compiled(dispatch.fails_late, each) for each in (one, two))
        both = compiled(dispatch.fails_late, one, two)
        turns, apart = measured(
            (lambda: (both(*one), both(*two)), ()), (lambda: (first(*one), second(*two)), ())
        )
        return (turns - apart) / 2

    def to_plain() -> float:
        other = (a, b, dispatch.Mode("mode2"))
        with torch._dynamo.config.patch(recompile_limit=1):
            function = compiled(dispatch.fails_late, (a, b, dispatch.Mode("mode1")), other)
            plain, whole = measured((dispatch.fails_late, other), (function, other))
        return whole - plain

    def one_break() -> float:
        off = torch.compiler.disable(fresh(rows.construct))
        scope = {**vars(rows), "construct": off}
        broken = types.FunctionType(rows.broken.__code__, scope)
        whole, pieces = compiled(rows.unbroken, (a, b)), compiled(broken, (a, b))
        unbroken, with_break, alone = measured((whole, (a, b)), (pieces, (a, b)), (off, (1,)))
        return with_break - unbroken - alone

    def first_compile() -> float:
        compiled(programs.chain, (a, b))  # imports, once
        torch._dynamo.reset()
        start = time.perf_counter()
        torch.compile(fresh(programs.chain), backend="eager")(a, b)
        return (time.perf_counter() - start) * 1e3

    return {
        "fused": fused,
        "two": lambda: above(dispatch.fused, a, b),
        "globals": lambda: above(dispatch.reads_globals, a, b),
        "ten": ten,
        "items": lambda: above(dispatch.reads_containers, a, b, dispatch.TABLE, dispatch.ITEMS),
        "skipped": lambda: above(dispatch.no_arrays, "text", 3),
        "eight": lambda: in_turn(8),
        "sixty-four": lambda: in_turn(64),
        "tree": tree,
        "to-other": to_other,
        "to-plain": to_plain,
        "break": one_break,
        "compile": first_compile,
    }


def main() -> None:
    chosen = sys.argv[1:]
    found = {}
    for name, case in cases().items():
        if not chosen or name in chosen:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found[name] = case()
    print(json.dumps(found))


if __name__ == "__main__":
    main()
