"""Random programs over what the library keeps in objects: deques, counters, namespaces, caches,
generators of random numbers and attributes of functions. Plain and compiled must not differ.

``DYNTRACE_LIBRARY_PROGRAMS`` of them (50), from seed ``DYNTRACE_LIBRARY_SEED`` (0) on.
"""

from __future__ import annotations

import os
import random
from collections import deque

import dyntrace
import pytest
from differential import Compiled, Outcome, compare

COUNT = int(os.environ.get("DYNTRACE_LIBRARY_PROGRAMS", "50"))
SEED = int(os.environ.get("DYNTRACE_LIBRARY_SEED", "0"))

HEAD = """
import collections, functools, random, types
from collections import deque

def fn(d, e):
    out = []
    r = random.Random({seed})
    c = collections.Counter([1, 2])
    n = types.SimpleNamespace(b=1)

    @functools.lru_cache(maxsize={maxsize})
    def f(a, k=0):
        out.append(a)
        return a + k

    def g(a=5, *, b=1):
        return a, b

"""

TRY = """    try:
        {operation}
    except Exception as error:
        out.append((type(error).__name__, str(error)))
"""

OPS = [
    "d.append({v})",
    "d.appendleft({v})",
    "out.append(d.pop())",
    "out.append(d.popleft())",
    "d.extend([{v}, {v}])",
    "d.extendleft(({v}, {v}))",
    "d.rotate({i})",
    "d.rotate()",
    "d.reverse()",
    "out.append(len(d))",
    "out.append(d.count({v}))",
    "out.append({v} in d)",
    "out.append(list(d))",
    "out.append(tuple(reversed(d)))",
    "d[{i}] = {v}",
    "out.append(d[{i}])",
    "del d[{i}]",
    "d.insert({i}, {v})",
    "d.remove({v})",
    "out.append(d.index({v}))",
    "out.append(d.index({v}, {i}))",
    "e = d.copy(); e.append({v}); out.append(e)",
    "out.append(d == e)",
    "out.append(d < e)",
    "d += [{v}]",
    "e = d + e",
    "e = d * 2",
    "d *= 2",
    "out.append(repr(d))",
    "out.append(d.maxlen)",
    "d.clear()",
    "d, e = e, d",
    "e.extend(d)",
    "d.extend(d)",
    "out.append(bool(d))",
    "out.append([x for x in d if x != {v}])",
    "e = deque(d, {m})",
    "e = deque(maxlen={m})",
    "for x in d:\n        if x == {v}:\n            d.append(x)\n        out.append(x)",
    "d.x",
    "out.append(sorted(d))",
    "out.append(max(d))",
    "it = iter(d); out.append(next(it))",
    "out.append(r.random())",
    "out.append(r.randrange({m} + 1))",
    "r.shuffle(out)",
    "out.append(r.choice(range(5)))",
    "r.seed({v})",
    "out.append(r.gauss(0, 1))",
    "out.append(f({v}))",
    "out.append(f({v}, k={v}))",
    "out.append(f.cache_info())",
    "f.cache_clear()",
    "c[{v}] += 1",
    "c.update([{v}, {v}])",
    "out.append(c.most_common(2))",
    "out.append(c - collections.Counter([{v}]))",
    "del c[{v}]",
    "n.a = {v}",
    "out.append(n.a)",
    "out.append(repr(n))",
    "out.append(g.__name__)",
    "g.__doc__ = str({v})",
    "out.append(g.__doc__)",
    "g.k = {v}",
    "out.append(g({v}))",
    "g.__defaults__ = ({v},)",
    "out.append(g())",
    "del g.k",
    "out.append(g.k)",
]


def operation(rng):
    text = rng.choice(OPS)
    for mark, low, high in (("{v}", 0, 4), ("{i}", -3, 4), ("{m}", 0, 4)):
        while mark in text:
            text = text.replace(mark, str(rng.randrange(low, high)), 1)
    return text


def program(rng):
    parts = [HEAD.format(seed=rng.randrange(5), maxsize=rng.choice(["None", "2", "1", "0"]))]
    guarded = rng.random() < 0.3
    for _ in range(rng.randrange(1, 9)):
        text = operation(rng)
        if guarded or rng.random() < 0.3:
            parts.append(TRY.format(operation=text.replace("\n", "\n    ")))
        else:
            parts.append(f"    {text}\n")
    parts.append("    return out, d, e, c, n, r.random(), r.getstate()\n")
    return "".join(parts)


def shown(value):
    """Deques as lists, which the comparison of results looks into."""
    if isinstance(value, deque):
        return [*map(shown, value), value.maxlen]
    return [shown(part) for part in value] if isinstance(value, (list, tuple)) else value


def call(fn, seed):
    rng = random.Random(seed)
    items = [rng.randrange(4) for _ in range(rng.randrange(5))]
    outcome = Outcome(fn, (deque(items, rng.choice([None, 3, 5])), deque([1, 2])), {})
    outcome.result, outcome.args = shown(outcome.result), shown(outcome.args)
    return outcome


@pytest.mark.parametrize("seed", range(SEED, SEED + COUNT))
def test_a_program(seed, tmp_path):
    source = program(random.Random(seed))
    path = tmp_path / "program.py"
    path.write_text(source)
    namespace: dict = {"__name__": "program"}
    exec(compile(source, str(path), "exec"), namespace)
    fn = namespace["fn"]
    plain = call(fn, seed)
    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        compiled = Compiled(fn)
        for _ in range(3):
            compare(plain, call(compiled, seed))
    assert not compiled.faults, source
