"""Rows about array code: the fifteen chains, as shares of NumPy's time.

Each chain is measured with float64 and float32 (integers of the same width). A row's value is the
geometric mean; what is slower than NumPy by more than a twentieth is named. `DYNTRACE_BENCH_CHAINS=name,name`
measures those alone, and `DYNTRACE_BENCH_EACH=1` prints every one.
"""

from __future__ import annotations

import os
import statistics
from typing import Any

import dyntrace
import numpy as np

from . import chains
from .harness import child, fresh, in_turns, operands, per_call, row

NEVER_SLOWER = 1.05
KINDS = (np.float64, np.float32)


def bits(result: Any) -> list[tuple[Any, ...]]:
    results = result if isinstance(result, tuple) else (result,)
    return [(type(r), r.dtype, r.shape, r.strides, r.tobytes()) for r in results]


def ratio(chain: chains.Chain, size: int, kind: type, budget: float, rounds: int) -> float:
    arguments = chain.operands(size, kind)
    compiled = dyntrace.compile(fresh(chain.function))
    for _ in range(2):
        if bits(compiled(*arguments)) != bits(chain.function(*arguments)):
            raise AssertionError(f"{chain.function.__name__} has other bits than NumPy")
    both = (chain.function, arguments), (compiled, arguments)
    if budget > 0:
        slow, fast = in_turns(*both, budget=budget, rounds=rounds)
    else:  # calls so long that each is a measurement
        times = [[per_call(*one, 1) for one in both] for _ in range(rounds)]
        slow, fast = map(min, zip(*times, strict=True))
    return fast / slow


def mean_ratio(size: int, budget: float, rounds: int, threads: int = 1) -> tuple[float, str]:
    wanted = os.environ.get("DYNTRACE_BENCH_CHAINS", "")
    each = {}
    for chain in chains.CHAINS:
        name = chain.function.__name__
        for kind in KINDS:
            if not wanted or name in wanted.split(","):
                with dyntrace.config.patch(num_threads=threads):
                    each[f"{name}/{np.dtype(kind).char}"] = ratio(chain, size, kind, budget, rounds)
    if os.environ.get("DYNTRACE_BENCH_EACH"):
        for name, value in each.items():
            print(f"    {name:18} {value:6.2f}", flush=True)
    slower = [f"{name} {value:.2f}" for name, value in each.items() if value > NEVER_SLOWER]
    worst = max(each, key=each.__getitem__)
    remark = f"slower: {', '.join(slower)}" if slower else f"worst: {worst} {each[worst]:.2f}"
    return statistics.geometric_mean(each.values()), remark


@row("chains-4", "fifteen chains on 4 elements, one thread, as a share of NumPy's time", bound=0.15,
     unit="")  # fmt: skip
def chains_4() -> tuple[float, str]:
    return mean_ratio(4, 0.4, 40)


@row("chains-1e3", "the same on 1,000 elements", bound=0.5, unit="")
def chains_1e3() -> tuple[float, str]:
    return mean_ratio(1_000, 0.5, 40)


@row("chains-1e5", "the same on 1e5 elements", bound=0.5, unit="")
def chains_1e5() -> tuple[float, str]:
    return mean_ratio(100_000, 1.0, 20)


@row("chains-1e7", "the same on 1e7 elements", bound=0.45, unit="")
def chains_1e7() -> tuple[float, str]:
    return mean_ratio(10_000_000, 0.0, 4)


@row("chains-1e7-two", "the same by two threads", bound=0.35, unit="")
def chains_1e7_two() -> tuple[float, str]:
    return mean_ratio(10_000_000, 0.0, 6, threads=2)


def single(a, b):
    return a + b


@row("one-op", "one operation on 4 doubles", bound=0.6, unit="N")
def one_op() -> float:
    arguments = operands(2, 4)
    slow, fast = in_turns((single, arguments), (dyntrace.compile(fresh(single)), arguments))
    return fast / slow


FIRST = """
import json, time
import numpy as np
import dyntrace
from bench import chains

chain = chains.CHAINS[0]
arguments = chain.operands(1000, np.float64)
chain.function(*arguments)
plain = min(timed(chain.function, arguments) for _ in range(20))
print(json.dumps(timed(dyntrace.compile(chain.function), arguments) - plain))
"""
TIMED = """
def timed(function, arguments):
    start = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - start
"""


@row("first-call", "first call of Black-Scholes on 1,000 elements, compiling included, above plain",
     bound=3, unit="ms")  # fmt: skip
def first_call() -> float:
    return statistics.median(child(TIMED + FIRST) for _ in range(5)) * 1e3
