"""Single random numbers out of a generator's own bits: the stream, its state, and runs that are dropped."""

from __future__ import annotations

import threading

import dyntrace
import numpy as np
import pytest

INTS = np.array([3, 1, 4, 1, 5])
FLOATS = np.array([0.5, -0.0, np.inf, 2.5])
SMALL = np.array([0.5, 1.5], np.float32)
FLAGS = np.array([True, False, True])
BYTES = np.array([1, 2, 250], np.uint8)

#: Draws, and whether one is a kernel of its own.
LEGACY = {
    "g.rand()": True,
    "g.random()": True,
    "g.random_sample()": True,
    "g.uniform()": True,
    "g.uniform(2.5)": False,  # up to 1.0, which is less
    "g.uniform(-1, n)": True,
    "g.uniform(x[0], x[1] + 3)": True,
    "g.uniform(high=n)": False,
    "g.randn()": True,
    "g.standard_normal()": True,
    "g.normal()": True,
    "g.normal(2)": True,
    "g.normal(x[0], n)": True,
    "g.normal(n, 0.0)": False,
    "g.normal(n, -x[0])": False,
    "g.normal(scale=n)": False,
    "g.randint(1)": True,
    "g.randint(2)": True,
    "g.randint(n)": True,
    "g.randint(-n, 1000)": True,
    "g.randint(0, 2**31)": True,
    "g.randint(2**32)": False,
    "g.randint(-(2**40), 2**40)": False,
    "g.randint(n, 0)": False,
    "g.randint(len(x))": True,
    "g.randint(3, size=2)[0]": False,
    "g.choice(n)": True,
    "g.choice(INTS)": True,
    "g.choice(FLOATS)": True,
    "g.choice(SMALL)": True,
    "g.choice(FLAGS)": True,
    "g.choice(BYTES)": False,
    "g.choice(x)": True,
    "g.choice([3, 5, 7])": True,
    "g.choice((0.5, n))": True,
    "g.choice(x, p=x / x.sum())": False,
    "g.choice(0)": False,
}
MODERN = {
    "g.random()": True,
    "g.uniform()": True,
    "g.uniform(1.0, n)": True,
    "g.uniform(3.0, 1.0)": False,
    "g.standard_normal()": False,
    "g.normal(2, n)": False,
    "g.integers(7)": False,
    "g.choice(INTS)": False,
}
GENERATORS = {
    "RandomState": lambda: np.random.RandomState(5),
    "PCG64": lambda: np.random.default_rng(5),
    "MT19937": lambda: np.random.Generator(np.random.MT19937(5)),
    "Philox": lambda: np.random.Generator(np.random.Philox(5)),
}
CASES = [
    pytest.param(name, draw, native and name != "Philox" and name != "MT19937", id=f"{name}-{draw}")
    for name in GENERATORS
    for draw, native in (LEGACY if name == "RandomState" else MODERN).items()
]


def make(text):
    scope = dict(globals())
    exec(compile(text, __file__, "exec"), scope)
    return scope["f"]


def state(generator):
    if isinstance(generator, np.random.RandomState):
        name, key, *rest = generator.get_state()
        return key.tobytes(), rest
    words = generator.bit_generator.state
    return {k: v.tobytes() if isinstance(v, np.ndarray) else v for k, v in words["state"].items()}, [
        words.get(k) for k in ("has_uint32", "uinteger")
    ]


def outcome(function, generator, n):
    x = np.array([0.25, 0.5, 0.75])
    try:
        result = function(generator, x, n)
        result = type(result), repr(result)
    except (ValueError, OverflowError, ZeroDivisionError, TypeError) as error:
        result = type(error), str(error)
    return result, state(generator), x.tobytes()


def same_streams(function, name, calls):
    plain, own = GENERATORS[name](), GENERATORS[name]()
    compiled = dyntrace.compile(function)
    with dyntrace.config.patch(weigh_after=0):
        for n in calls:
            assert outcome(compiled, own, n) == outcome(function, plain, n)


@pytest.mark.parametrize(("name", "draw", "native"), CASES)
def test_one_number(name, draw, native):
    """For more calls than one turn of the twister has words."""
    function = make(f"def f(g, x, n):\n    return {draw} * x[1] + x[0]\n")
    same_streams(function, name, [7] * 330 + [9, 11])
    if native:
        stages = "\n".join(dyntrace.explain(function)(GENERATORS[name](), np.ones(3), 7).stages)
        assert "kernel  numpy.random" in stages and "called" not in stages, stages


MIXED = """
def f(g, x, n):
    a = g.random()
    x[0] = a
    b = g.uniform(a, a + 1)
    x[1] = g.{other}
    if n == 3:
        x[2] = 1 / (n - 3)
    c = g.{last}
    x[2] = c / x[n]
    return a, b, c, type(a), type(b), type(c)
"""


@pytest.mark.parametrize("name", GENERATORS)
@pytest.mark.parametrize("last", ["random()", "standard_normal()"])
@pytest.mark.parametrize(
    "other", ["random()", "standard_normal()", "standard_normal(3)[1]", "permutation(4)[2]"]
)
def test_dropped_runs(name, other, last):
    """An index that is out of bounds, a division by zero that warns, wherever in the twister's words."""
    function = make(MIXED.format(other=other, last=last))
    calls = [1] * 40 + [5, 1, 1, 7, 7, 1, 2, 5] * 50
    with np.errstate(all="ignore"):
        plain, own = GENERATORS[name](), GENERATORS[name]()
        compiled = dyntrace.compile(function)
        for n in calls:
            seen = []
            for run, generator in ((function, plain), (compiled, own)):
                x = np.array([0.25, 0.5, 0.75])
                try:
                    result = repr(run(generator, x, n))
                except IndexError as error:
                    result = str(error)
                seen.append((result, state(generator), x.tobytes()))
            assert seen[0] == seen[1]


GUESSED = """
def f(g, x, n):
    if g.rand() < 0.3:
        x[g.randint(3)] += 1
    if g.choice(INTS) == 4 and g.random() < x[0] / 50:
        return g.choice(x)
    return g.uniform(0, x[2] + 1) if g.normal(0.5, 2) > 0 else g.randn()
"""


def test_branches_on_draws():
    same_streams(make(GUESSED), "RandomState", [7] * 900)


def test_functions_of_the_module():
    def f(x):
        x[np.random.randint(3)] += np.random.rand() * np.random.choice(INTS)
        return np.random.uniform(0, x[0])

    def outcome_of(run):
        np.random.seed(3)
        x = np.ones(3)
        results = []
        for i in range(400):
            if i == 200:
                np.random.set_state(np.random.RandomState(9).get_state())
            results.append(run(x))
        return results, x.tobytes(), state(np.random.mtrand._rand)

    assert outcome_of(f) == outcome_of(dyntrace.compile(f))


@pytest.mark.skipif(not hasattr(np.random, "set_bit_generator"), reason="of NumPy 1.24 and later")
def test_another_bit_generator_behind_the_module():
    def f(x):
        return np.random.rand() + x

    compiled, own = dyntrace.compile(f), np.random.get_bit_generator()
    results = []
    try:
        for run in (f, compiled):
            np.random.set_bit_generator(own)
            np.random.seed(5)
            some = [run(np.ones(2)) for _ in range(9)]
            np.random.set_bit_generator(np.random.PCG64(5))
            some += [run(np.ones(2)) for _ in range(9)]
            np.random.set_bit_generator(np.random.MT19937(5))
            some += [run(np.ones(2)) for _ in range(9)]
            results.append(np.array(some).tobytes())
    finally:
        np.random.set_bit_generator(own)
    assert results[0] == results[1]


@pytest.mark.parametrize("name", ["RandomState", "PCG64"])
def test_a_draw_waits_for_the_lock(name):
    """Of another thread that is in the middle of a draw."""

    def f(g, x):
        return g.random() + x[0]

    compiled, own, plain = dyntrace.compile(f), GENERATORS[name](), GENERATORS[name]()
    x = np.ones(3)
    assert [compiled(own, x) for _ in range(5)] == [f(plain, x) for _ in range(5)]
    results = []
    thread = threading.Thread(target=lambda: results.append(compiled(own, x)))
    lock = own._bit_generator.lock
    with lock:
        thread.start()
        thread.join(0.2)
        assert thread.is_alive() and not results
        before = state(own)
    thread.join(10)
    assert before == state(plain) and results == [f(plain, x)]
    assert compiled(own, x) == f(plain, x)


def test_draws_in_a_loop():
    def f(g, x, n):
        for i in range(len(x)):
            if g.rand() < 0.5:
                x[i] = g.uniform(x[i], 2) if g.randint(3) else g.choice(FLOATS)
        return x.sum()

    same_streams(f, "RandomState", [3] * 150)
