"""Random programs over selections and sizes that the graph computes do what they do plainly."""

import random

import numpy as np
import pytest
from differential import check_calls

VECTORS = [
    np.linspace(-1.5, 1.5, 9),
    -np.ones(7),
    np.eye(9)[3],
    np.abs(np.linspace(-2, 2, 12)) + 0.1,
    np.zeros(0),
    np.where(np.arange(9) % 3 == 0, np.nan, np.arange(9.0) - 4),
    np.arange(6.0)[::-1] - 2,
    np.linspace(-1, 1, 8).astype("f4"),
    np.arange(-3, 6),
    np.array([2.0]),
]

#: What a statement makes, of `a` and `b`, vectors, and `k` and `m`, ints of the graph or of the program.
OF_VECTORS = [
    "{a}[{a} > 0]", "{a}[{k}:]", "{a}[:{k}]", "{a}[{k}:{m}]", "{a}[{k}::2]", "{a}[::-1]", "{a} + {b}",
    "{a} * 2.0 + 1", "np.flatnonzero({a} > 0)", "np.zeros({k})", "np.arange({k})", "np.arange({k}, {m})",
    "np.append({a}, {b})", "np.where({a} > 0, {b}, 0)", "np.diff({a})", "np.cumsum({a})", "np.unique({a})",
    "{a}.reshape({k}, -1).ravel()", "np.searchsorted(np.sort({a}), {b})", "np.delete({a}, {k})",
    "np.percentile({a}, 30) * {b}", "np.isin({a}, {b})", "np.histogram({a}, bins=3)[1]",
    "np.concatenate([{a}, {b}])", "np.insert({a}, np.flatnonzero({a} > 0), 0.5)",
    "np.interp({a}, np.arange({b}.size), {b})", "np.unique({a}, return_counts=True)[1]",
    "np.unique({a}, return_inverse=True)[1] * 1.0", "({a} - {a}.mean()) / ({a}.std() + 1)",
    "np.linspace(0.0, 1.0, {k})", "np.broadcast_to({a}, (2, len({a}))).sum(0)", "np.vstack([{a}, {b}])[0]",
    "np.column_stack([{a}, {b}]).ravel()", "{a}[np.nonzero({b} > 0)[0]]", "np.argwhere({a} > 0)[:, 0]",
    "{a}[:, None][{a} > 0].ravel()", "np.stack([{a}, {b}], axis=1)[{a} > 0].sum(axis=1)",
    "{a}.var(ddof=1, keepdims=True)", "np.add.reduceat({a}, np.flatnonzero({b} > 0))",
    "np.searchsorted(np.sort({a}), {b}, side='right')", "np.ravel({a}, order='K') + 1",
]  # fmt: skip
OF_INTS = [
    "len({a})", "int(np.sum({a} > 0))", "np.sum({a} > 0)", "np.sum({a} > 0) - 1", "len({a}) // 2",
    "divmod(len({a}), 3)[0]", "len(np.unique({a}))",
]  # fmt: skip
WRITES = ["{a}[{k}:] = 1.5", "{a}[:{k}] = {b}", "{a}[:{k}] += 1", "{a}[{a} > 0] = 2"]


def program(seed):
    draw = random.Random(seed)
    vectors, ints, lines = ["x"], ["0", "2", "-1"], []
    for i in range(draw.randint(2, 8)):
        names = {
            "a": draw.choice(vectors),
            "b": draw.choice(vectors),
            "k": draw.choice(ints),
            "m": draw.choice(ints),
        }
        kind = draw.random()
        if kind < 0.25:
            lines.append(f"k{i} = " + draw.choice(OF_INTS).format(**names))
            ints.append(f"k{i}")
        elif kind < 0.4:
            lines.append(f"v{i} = {names['a']}.copy()")
            lines.append(draw.choice(WRITES).format(**{**names, "a": f"v{i}"}))
            vectors.append(f"v{i}")
        elif kind < 0.45:
            lines.append(draw.choice(WRITES).format(**names))
        else:
            lines.append(f"v{i} = " + draw.choice(OF_VECTORS).format(**names))
            vectors.append(f"v{i}")
    results = ", ".join([*vectors[-4:], *ints[-2:]])
    return "def fn(x):\n    " + "\n    ".join(lines) + f"\n    return {results}\n"


@pytest.mark.parametrize("group", range(8))
def test_programs(group):
    for seed in range(group * 60, group * 60 + 60):
        source = program(seed)
        scope = {"np": np}
        exec(source, scope)
        others = random.Random(seed).sample(VECTORS, 4)
        try:
            check_calls(scope["fn"], *((x,) for x in [VECTORS[0], *others]), whole=False)
        except AssertionError as error:
            raise AssertionError(source) from error
