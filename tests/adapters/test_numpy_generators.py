"""Draws of random numbers: every row of src/adapters/numpy/random.def, the stream after it, and the
stream after a run that was dropped."""

import re
import threading
from pathlib import Path

import dyntrace
import numpy as np
import pytest
from differential import Compiled, Outcome, check, compare

DEF = Path(__file__).parents[2] / "src" / "adapters" / "numpy" / "random.def"
ROWS = [
    [part.strip().strip('"') for part in row.split(",")]
    for row in re.findall(r"^RANDOM\((.*)\)$", DEF.read_text(), re.MULTILINE)
]
# Values for the parameters, as text.
VALUES = {
    "a": "2.5", "b": "1.5", "df": "3.5", "dfnum": "3.0", "dfden": "6.0", "nonc": "0.5", "scale": "1.5",
    "shape": "2.0", "loc": "0.25", "mean": "1.0", "sigma": "0.5", "left": "-1.0", "mode": "0.5",
    "right": "2.0", "low": "0", "high": "7", "mu": "0.5", "kappa": "2.0", "n": "9", "p": "0.25",
    "ngood": "5", "nbad": "6", "nsample": "4", "lam": "3.0",
}  # fmt: skip
CLASSES = {"LEGACY": ["LEGACY"], "MODERN": ["MODERN"], "BOTH": ["LEGACY", "MODERN"]}
LEGACY = np.random.RandomState(5)
MODERN = np.random.default_rng(5)
V = np.linspace(0.5, 2.0, 6)


def cases():
    for classes, name, kind, *parameters in ROWS:
        for cls in CLASSES[classes]:
            for call in calls(name, kind, [p for p in parameters if p != "NULL"]):
                yield pytest.param(cls, call, id=f"{cls}-{call}")


def calls(name, kind, parameters):
    values = {p: VALUES[p] for p in parameters if p in VALUES}
    given = ", ".join(values.values())
    comma = ", " if given else ""
    if kind == "DIMS":
        yield from (f"{name}(4)", f"{name}(2, 3)", f"{name}(n, 2)")
    elif kind == "CHOICE":
        yield from (
            f"choice({a}, {size})" for a in ("9", "n", "v") for size in ("4", "(2, 2)", "n")
        )
        yield from (
            "choice(v, 3, False)",
            "choice(v, 3, p=v / v.sum())",
            "choice(5, size=3, replace=False)",
            "choice(v)",
            "choice([3, 1, 2])",
            "choice([0.5, 1.5], 4)",
            "choice(v, p=v / v.sum())",
            "choice(3, 5, p=[0.2, 0.5, 0.3])",
            "choice([3, 1], n, True, [0.25, 0.75])",
            "choice(['a', 'bc'], 4)",
            "choice(['a', 'bc'])",
            "choice(('a', 'bc'), n, p=[0.25, 0.75])",
            "choice(5, p=v[:5] / v[:5].sum())",
            "choice(5, None, False, p=v[:5] / v[:5].sum())",
        )
        if "axis" in parameters:
            yield from (
                f"choice({given})"
                for given in (
                    "m", "m, 2", "m.T, 3", "m, n, axis=1", "m, (2, 2), False, axis=-1", "m, axis=1",
                    "m, 3, p=v[:4] / v[:4].sum()", "m[:, :2], 2, axis=1, shuffle=False",
                )
            )
    elif kind in ("ROWS", "INT_ROWS"):
        first, row = ("9, ", "[0.2, 0.5, 0.3]") if kind == "INT_ROWS" else ("", "[1.0, 2.0, 0.5]")
        yield from (
            f"{name}({first}{given})"
            for given in (row, "v / v.sum()", f"{row}, 4", f"{row}, size=(2, n)", "v / v.sum(), size=n")
        )
    elif kind == "NORMAL_ROWS":
        yield from (
            f"{name}({given})"
            for given in (
                "[0, 1], [[2.0, 0.5], [0.5, 1.0]]",
                "v, np.diag(v)",
                "v, np.diag(v), 3",
                "v, np.diag(v), (2, n), 'ignore'",
                "mean=v, cov=np.eye(6), size=n, check_valid='raise', tol=1e-6",
            )
        )
    elif kind == "BYTES":
        yield from ("bytes(5)", "bytes(0)", "bytes(length=9)")
    elif kind == "PERMUTATION":
        yield from ("permutation(7)", "permutation(n)", "permutation(v)", "permutation(m)")
        yield from ("permutation(m.T)", "permutation([3, 1, 2])")
        if "axis" in parameters:
            yield from ("permutation(m, 0)", "permutation(m, axis=1)", "permutation(m.T, -1)")
    elif kind == "PERMUTED":
        yield from ("permuted(v)", "permuted(m)", "permuted(m.T, axis=1)", "permuted(m[:, ::2], axis=0)")
        yield from ("permuted(m, -1)", "permuted([3, 1, 2])", "permuted(m > 3, axis=1)")
    elif kind == "SHUFFLE":
        yield from ("shuffle(v)", "shuffle(m)")
        if "axis" in parameters:
            yield from ("shuffle(m, axis=1)", "shuffle(m.T, -1)")
    elif kind == "SEED":
        yield from ("seed(3)", "seed(n)")
    else:
        yield f"{name}({given}{comma}size=5)"
        yield f"{name}({given}{comma}size=(2, 3))"
        yield f"{name}({given}{comma}size=n)"
        yield f"{name}({', '.join(f'{k}={v}' for k, v in values.items())}{comma}size=(n, 2))"
        if values and kind in ("FLOAT", "INT") and "ngood" not in values:
            first, *rest = values
            others = "".join(f", {values[k]}" for k in rest)
            yield f"{name}(np.array([{values[first]}] * 3){others})"
        if kind.endswith("_OF"):
            dtype = "np.float32" if kind == "FLOAT_OF" else "np.int16"
            yield f"{name}({given}{comma}size=4, dtype={dtype})"
    if name == "integers":
        yield "integers(0, 3, size=9, endpoint=True)"
    if name in ("randint", "integers"):
        yield f"{name}(7, size=3)"
        yield f"{name}(np.array([1, 2, 3]), 9)"


def state(generator):
    if isinstance(generator, np.random.Generator):
        return repr(generator.bit_generator.state)
    name, key, *rest = generator.get_state()
    return name, key.tobytes(), rest


def compare_stream(source, generator, call_state, **options):
    """Runs the function of `source` both ways from the same state; results and states must agree."""
    scope = {"np": np}
    exec(source, scope)
    legacy = generator is LEGACY

    def reset():
        if legacy:
            generator.set_state(call_state)
        else:
            generator.bit_generator.state = call_state

    check(
        scope["f"],
        make=lambda: ((generator, V.copy(), np.arange(12.0).reshape(4, 3), 6), {}),
        reset=reset,
        state=lambda: state(generator),
        **options,
    )


START = {
    "LEGACY": (LEGACY, np.random.RandomState(11).get_state()),
    "MODERN": (MODERN, np.random.PCG64(11).state),
}


@pytest.mark.parametrize(("cls", "call"), list(cases()))
def test_draw(cls, call):
    source = f"def f(g, v, m, n):\n    x = g.{call}\n    return x, v, m"
    compare_stream(source, *START[cls])


@pytest.mark.parametrize(("cls", "call"), list(cases()))
def test_dropped_run(cls, call):
    """A division by zero drops the run after the draw, and makes the call again."""
    source = (
        f"def f(g, v, m, n):\n    x = g.{call}\n    y = v / (v - v)\n    return x, y, g.{call}, m"
    )
    compare_stream(source, *START[cls], entries=1)


@pytest.mark.parametrize(("cls", "call"), list(cases()))
def test_dropped_with_half_a_pair(cls, call):
    """RandomState keeps the second of two normal numbers for later."""
    source = (
        "def f(g, v, m, n):\n    a = g.standard_normal(3)\n    b = 1 / (v - v)\n"
        f"    c = g.{call}\n    return a, b, c, g.standard_normal(2)"
    )
    compare_stream(source, *START[cls])


@pytest.mark.parametrize("kind", ["MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"])
def test_bit_generators(kind):
    rng = np.random.Generator(getattr(np.random, kind)(3))
    start = rng.bit_generator.state

    def f(g, n):
        x = g.normal(size=n)
        y = g.integers(0, 10, 3, dtype=np.uint32) / np.zeros(3)
        return x, y, g.random(5)

    def reset():
        rng.bit_generator.state = start

    check(f, make=lambda: ((rng, 5), {}), reset=reset, state=lambda: state(rng))


def test_legacy_with_another_bit_generator():
    rng = np.random.RandomState(np.random.PCG64(3))
    check(lambda g: g.normal(size=3) * 2, make=lambda: ((rng,), {}), breaks="array-kind",
          reset=lambda: rng.set_state({"bit_generator": "PCG64", **np.random.PCG64(4).state,
                                       "has_gauss": 0, "gauss": 0.0}))  # fmt: skip


class Ours(np.random.Generator):
    def normal(self, size):
        return np.full(size, 7.0)


def test_subclass():
    """Its methods are the user's: followed, and nothing is drawn."""
    rng = Ours(np.random.PCG64(1))
    assert dyntrace.compile(lambda g: g.normal(3) * 2)(rng).tolist() == [14.0] * 3


def single(classes, name, kind, parameters):
    values = [VALUES[p] for p in parameters if p in VALUES]
    if kind in ("FLOAT", "FLOAT_OF", "INT", "INT_OF", "DIMS"):
        return f"{name}({', '.join(values)})"
    return "choice(5)" if kind == "CHOICE" else None


SINGLE = [
    (cls, single(classes, name, kind, parameters))
    for classes, name, kind, *parameters in ROWS
    for cls in CLASSES[classes]
]


@pytest.mark.parametrize(("cls", "call"), [case for case in SINGLE if case[1] is not None])
def test_single_numbers(cls, call):
    """A Python number (np.int64 of Generator.integers), and the stream goes on behind it."""
    source = f"def f(g, v, m, n):\n    a = g.{call}\n    return a, a * v, g.random(3), a * 2"
    compare_stream(source, *START[cls])


@pytest.mark.parametrize(
    "call", ["random(dtype='f4')"]
)
def test_single_numbers_break(call):
    source = f"def f(g, v, m, n):\n    return g.{call} * v"
    compare_stream(source, *START["MODERN"], breaks="array-to-scalar")


@pytest.mark.parametrize(
    "call",
    [
        "normal(0, -1, 3)", "choice(3, 9, False)", "uniform(np.ones(3), 2, (4, 2))", "poisson(-1, 4)",
        "binomial(3, 2.0, 5)", "permutation(2.5)", "normal(size=-1)", "choice(v, 2, p=v)",
        "multivariate_normal(v[:2], [[1.0, 2.0], [2.0, 1.0]], 3)",
        "multivariate_normal(v[:2], -np.eye(2), 2, 'warn')",
        "multivariate_normal(v[:2], -np.eye(2), check_valid='raise')",
        "multivariate_normal(v[:2], -np.eye(2), check_valid='ignore')",
        "multivariate_normal(v[:2] * 1e308, np.eye(2) * 1e308, 50)",
        "multivariate_normal(v[:2], np.eye(3))", "multinomial(3, [0.9, 0.9])",
        "multinomial(-1, [0.5, 0.5])", "multinomial(3, v)", "dirichlet([-1.0, 2.0])",
        "dirichlet(v - 1)", "choice([1, 2], p=[0.9, 0.9])", "choice([1, 2], 3, False)", "bytes(-1)",
    ],
)  # fmt: skip
@pytest.mark.parametrize("cls", START)
def test_errors(cls, call):
    scope = {"np": np}
    exec(f"def f(g, v):\n    a = g.random(3)\n    return a, g.{call}", scope)
    generator, start = START[cls]

    def reset():
        if cls == "LEGACY":
            generator.set_state(start)
        else:
            generator.bit_generator.state = start

    def run(fn):
        reset()
        return Outcome(fn, [generator, V.copy()], {}, lambda: state(generator))

    compiled = Compiled(scope["f"])
    for _ in range(3):
        compare(run(scope["f"]), run(compiled))


def test_the_same_generator_twice():
    def f(g, h, n):
        x = g.normal(size=n)
        y = x * 2
        z = h.normal(size=n)
        return y, z * x, g.random(n) + h.random(n)

    for second in (MODERN, np.random.Generator(MODERN.bit_generator), np.random.default_rng(9)):
        start = [MODERN.bit_generator.state, second.bit_generator.state]

        def reset():
            MODERN.bit_generator.state = start[0]
            second.bit_generator.state = start[1]

        check(
            f, make=lambda: ((MODERN, second, 5), {}), reset=reset,
            state=lambda: (state(MODERN), state(second)),
        )  # fmt: skip


def test_generators_of_another_call():
    """An entry made with two generators is used with one for both."""

    def f(g, h):
        x = g.normal(size=4)
        y = h.normal(size=4)
        return x / y, g.random(2), h.random(3)

    compiled = Compiled(f)
    pairs = [(1, 2), (1, 1), (2, 1), (2, 2)]
    for one, other in pairs:
        outcomes = []
        for fn in (f, compiled):
            made = {k: np.random.default_rng(k) for k in (1, 2)}
            outcomes.append(
                Outcome(fn, [made[one], made[other]], {}, lambda: [state(g) for g in made.values()])
            )
        compare(*outcomes)


def test_replaced_function():
    """numpy.random.rand set to something else, and to the method of another generator."""

    @dyntrace.compile
    def f():
        return np.random.rand(3) * 2

    kept = np.random.rand
    f()
    other = np.random.RandomState(4)
    try:
        np.random.rand = other.rand
        expected = np.random.RandomState(4).rand(3) * 2
        assert f().tolist() == expected.tolist()
        np.random.rand = np.ones
        assert f().tolist() == [2.0] * 3
    finally:
        np.random.rand = kept
    np.random.seed(1)
    expected = np.random.rand(3) * 2
    np.random.seed(1)
    assert f().tolist() == expected.tolist()


def test_made_in_the_trace():
    def f(seed, n):
        rng = np.random.default_rng(seed)
        old = np.random.RandomState(seed)
        x = rng.normal(size=n) + old.randn(n)
        return x, rng.random(n), 1 / (x - x), rng, old.rand(2)

    check(f, 3, 5)


def test_threads_draw_from_one_generator():
    rng = np.random.default_rng(3)

    @dyntrace.compile
    def f(n):
        return rng.random(n) * 1.0

    f(1000)
    drawn = []

    def work():
        for _ in range(50):
            drawn.append(f(1000))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({x.tobytes() for x in drawn}) == 200


def test_state_is_portable_text():
    """Guards and graphs with generators are printed and written."""

    def f(g):
        return g.normal(size=3) * 2

    text = str(dyntrace.explain(f)(np.random.default_rng(1)))
    assert "a numpy.random.Generator" in text
    assert "# mutates g" in text
