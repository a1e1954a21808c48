"""Rows about array code: the fifteen chains, as shares of NumPy's time, and as multiples of a floor.

Each chain is measured with float64 and float32 (integers of the same width). A row's value is the
geometric mean; what is slower than NumPy by more than a twentieth is named. `DYNTRACE_BENCH_CHAINS=name,name`
measures those alone, and `DYNTRACE_BENCH_EACH=1` prints every one.

The floor of a chain is what NumPy's own loops take for its elements when all operands are in the cache, and a
call's 150 ns: an executor that runs these loops can do without all the rest, but not without them.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable
from typing import Any

import dyntrace
import numpy as np

from . import chains
from .harness import child, fresh, in_turns, operands, per_call, row

NEVER_SLOWER = 1.05
KINDS = (np.float64, np.float32)
FLOORS = 1.2


def bits(result: Any) -> list[tuple[Any, ...]]:
    results = result if isinstance(result, tuple) else (result,)
    return [(type(r), r.dtype, r.shape, r.strides, r.tobytes()) for r in results]


def times(
    chain: chains.Chain, size: int, kind: type, budget: float, rounds: int
) -> tuple[float, float]:
    """Seconds of a plain call and of a compiled one."""
    arguments = chain.operands(size, kind)
    compiled = dyntrace.compile(fresh(chain.function))
    for _ in range(2):
        if bits(compiled(*arguments)) != bits(chain.function(*arguments)):
            raise AssertionError(f"{chain.function.__name__} has other bits than NumPy")
    both = (chain.function, arguments), (compiled, arguments)
    if budget > 0:
        slow, fast = in_turns(*both, budget=budget, rounds=rounds)
    else:  # calls so long that each is a measurement
        turns = [[per_call(*one, 1) for one in both] for _ in range(rounds)]
        slow, fast = map(min, zip(*turns, strict=True))
    return slow, fast


def over_chains(
    measure: Callable[[chains.Chain, type], float], threads: int = 1
) -> dict[str, float]:
    wanted = os.environ.get("DYNTRACE_BENCH_CHAINS", "")
    each = {}
    for chain in chains.CHAINS:
        name = chain.function.__name__
        for kind in KINDS:
            if not wanted or name in wanted.split(","):
                with dyntrace.config.patch(num_threads=threads):
                    each[f"{name}/{np.dtype(kind).char}"] = measure(chain, kind)
    if os.environ.get("DYNTRACE_BENCH_EACH"):
        for name, value in each.items():
            print(f"    {name:18} {value:6.2f}", flush=True)
    return each


def mean_ratio(
    size: int, budget: float, rounds: int, limit: float, threads: int = 1
) -> tuple[float, str]:
    """Shares of NumPy's time; `limit` is the mean that one loop written in C for each chain reached."""

    def share(chain: chains.Chain, kind: type) -> float:
        slow, fast = times(chain, size, kind, budget, rounds)
        return fast / slow

    each = over_chains(share, threads)
    slower = [f"{name} {value:.2f}" for name, value in each.items() if value > NEVER_SLOWER]
    worst = max(each, key=each.__getitem__)
    remark = f"slower: {', '.join(slower)}" if slower else f"worst: {worst} {each[worst]:.2f}"
    return statistics.geometric_mean(each.values()), f"{remark}; C limit {limit:.2f}"


# Elements: all temporaries of a chain lie in the cache, and what both share drops out.
CACHED = (1_000, 3_000)
CALL = 150e-9


def worst_floor(size: int, budget: float, rounds: int) -> tuple[float, str]:
    """The largest multiple of the floor."""

    def multiple(chain: chains.Chain, kind: type) -> float:
        calls = [(chain.function, chain.operands(cached, kind)) for cached in CACHED]
        fewer, more = in_turns(*calls, budget=0.3, rounds=30)
        per_element = (more - fewer) / (CACHED[1] - CACHED[0])
        _, fast = times(chain, size, kind, budget, rounds)
        return fast / (per_element * size + CALL)

    each = over_chains(multiple)
    worst = max(each, key=each.__getitem__)
    above = sum(value > FLOORS for value in each.values())
    mean = statistics.geometric_mean(each.values())
    return each[worst], f"{worst}; {above} of {len(each)} above {FLOORS}; mean {mean:.2f}"


@row("chains-4", "fifteen chains on 4 elements, one thread, as a share of NumPy's time", bound=0.15,
     unit="")  # fmt: skip
def chains_4() -> tuple[float, str]:
    return mean_ratio(4, 0.4, 40, 0.03)


@row("chains-1e3", "the same on 1,000 elements", bound=0.5, unit="")
def chains_1e3() -> tuple[float, str]:
    return mean_ratio(1_000, 0.5, 40, 0.07)


@row("chains-1e5", "the same on 1e5 elements", bound=0.5, unit="")
def chains_1e5() -> tuple[float, str]:
    return mean_ratio(100_000, 1.0, 20, 0.20)


@row("chains-1e7", "the same on 1e7 elements", bound=0.45, unit="")
def chains_1e7() -> tuple[float, str]:
    return mean_ratio(10_000_000, 0.0, 4, 0.13)


@row("chains-1e7-two", "the same by two threads", bound=0.35, unit="")
def chains_1e7_two() -> tuple[float, str]:
    return mean_ratio(10_000_000, 0.0, 6, 0.10, threads=2)


@row(
    "floor-4",
    "the chain of the fifteen that is the most above the floor, on 4 elements",
    bound=FLOORS,
    unit="x",
)
def floor_4() -> tuple[float, str]:
    return worst_floor(4, 0.4, 40)


@row("floor-1e3", "the same on 1,000 elements", bound=FLOORS, unit="x")
def floor_1e3() -> tuple[float, str]:
    return worst_floor(1_000, 0.5, 40)


@row("floor-1e5", "the same on 1e5 elements", bound=FLOORS, unit="x")
def floor_1e5() -> tuple[float, str]:
    return worst_floor(100_000, 1.0, 20)


@row("floor-1e7", "the same on 1e7 elements", bound=FLOORS, unit="x")
def floor_1e7() -> tuple[float, str]:
    return worst_floor(10_000_000, 0.0, 4)


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
