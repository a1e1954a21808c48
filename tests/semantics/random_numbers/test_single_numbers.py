"""Numbers drawn from generators of the module random that existed before: nodes of the graph"""

import random
import threading

import dyntrace
import numpy as np
import pytest
from differential import FORCED, Compiled, check, check_calls
from hypothesis import given, settings
from hypothesis import strategies as st

X = np.linspace(0.5, 2.0, 6)
RNG = random.Random(8)
OTHER = random.Random(9)
PROGRAMS = []
BROKEN = []


def program(fn):
    PROGRAMS.append(fn)
    return fn


def broken(fn):
    BROKEN.append(fn)
    return fn


def reset():
    random.seed(17)
    RNG.seed(8)
    OTHER.seed(9)


def streams():
    return random.getstate(), RNG.getstate(), OTHER.getstate()


@program
def a_fraction(x):
    return x * random.random()


@program
def within_limits(x):
    return x + random.uniform(-1.0, 1.0), x * RNG.uniform(1, 2)


@program
def pairs_of_normal_numbers(x):
    return x * random.gauss(0.0, 1.0) + random.gauss(0.0, 1.0), RNG.gauss(1, 2)


@program
def an_odd_number_of_normal_numbers(x):
    return x * RNG.gauss(0.0, 1.0)


@program
def distributions(x):
    a = random.normalvariate(0, 1) + random.lognormvariate(0, 0.25) * random.expovariate(2.0)
    b = random.betavariate(1.0, 2.0) + random.gammavariate(2.0, 1) + random.paretovariate(3)
    return x * a + b, RNG.weibullvariate(1.0, 1.5), RNG.vonmisesvariate(0.0, 4.0)


@program
def triangles(x):
    return x * random.triangular(0.0, 2.0, 1.0) + random.triangular(-1.0, high=3.0)


@program
def triangles_of_ints(x):
    return x * random.triangular(0, 2, 1) + random.triangular(-1, 3) + RNG.triangular(0, 1.5, None)


@program
def seeds_of_every_kind(x):
    named, real, data = random.Random("a seed"), random.Random(2.5), random.Random(b"bytes")
    return x * named.random() + real.random() * data.uniform(0, 2), named.getrandbits(9)


@program
def dice(x):
    return x * random.randint(1, 6) + RNG.randint(a=1, b=6)


@program
def ranges(x):
    return x * random.randrange(10) - random.randrange(2, 20, 3), RNG.randrange(start=1, stop=4)


@program
def bits(x):
    return x * random.getrandbits(8), RNG.getrandbits(200)


STEPS = [0.1, 0.2, 0.4]


@program
def one_of_some_numbers(x):
    a = random.choice([1.0, 2.0, 3.0]) + RNG.choice((-1, 1)) * random.choice(STEPS)
    return (
        x * a,
        x[random.choice(range(6))],
        RNG.choice(range(3, 30, 4)),
        random.choice([len(x), 2]),
    )


@program
def an_index(x):
    return x[random.randrange(6)] + x


@program
def arithmetic(x):
    return x * (1 - 2 * random.random()) ** 2 + abs(RNG.uniform(-1, 1))


@program
def limits_that_were_drawn(x):
    low = random.random()
    return x + random.uniform(low, low + 1), random.randint(0, random.randint(1, 9))


@program
def a_jitter_in_a_loop(x):
    for _ in range(5):
        x = x + random.uniform(-0.1, 0.1)
    return x


@program
def an_array_of_draws(x):
    return np.array([random.random() for _ in range(6)]) + x


@program
def numbers_alone_leave(x):
    return x * 2, random.random(), [RNG.randint(0, 9), RNG.random()]


@program
def between_writes(x):
    x[0] = random.random()
    x[1:3] += RNG.gauss(0, 1)
    x[3] = x[0]
    return x.sum()


@program
def seeded_here(x):
    random.seed(3)
    y = x * random.random()
    RNG.seed(len(x))
    return y + RNG.random()


@program
def seeded_in_other_ways(x):
    random.seed("a text")
    a = random.random()
    random.seed(b"bytes", version=2)
    b = random.random()
    random.seed(0.5)
    return x * a + b + random.random()


@program
def seeded_by_a_draw(x):
    RNG.seed(random.randint(0, 1000))
    return x * RNG.random()


@program
def generators_of_two_kinds(x):
    new = random.Random(5)
    return x * new.random() + RNG.random() * OTHER.random()


class Noise:
    def __init__(self, rng):
        self.rng = rng
        self.draw = rng.gauss

    def add(self, x):
        return x + self.rng.uniform(0, 1) + self.draw(0, 1)


NOISE = Noise(OTHER)


@program
def in_an_object(x):
    return NOISE.add(NOISE.add(x))


def with_default(x, rng=None):
    rng = rng or random
    return x * rng.random()


@program
def generator_or_module(x):
    return with_default(x) + with_default(x, RNG)


@program
def asked_what_it_is(x):
    if isinstance(RNG, random.Random) and RNG is not OTHER and RNG and type(RNG) is random.Random:
        return x * RNG.random()
    return x


@program
def by_the_class(x):
    return x * random.Random.uniform(OTHER, 1.0, 2.0)


@program
def a_method_kept(x):
    draw = RNG.random
    return x * draw() - draw()


DIVISOR = np.ones(2)


def warning(fn):
    def warns(x):
        return fn(x), 1.0 / (DIVISOR - DIVISOR)

    warns.__qualname__ = fn.__name__
    return warns


@pytest.mark.parametrize("backend", ["native", "eager"])
@pytest.mark.parametrize("fn", PROGRAMS)
def test_program(fn, backend):
    check(fn, X, reset=reset, state=streams, backend=backend)


@pytest.mark.parametrize("fn", PROGRAMS)
def test_program_that_warns(fn):
    """The run is dropped at its end, and the call made again plainly from the same state."""
    check(warning(fn), X, reset=reset, state=streams)


@pytest.mark.parametrize("fn", PROGRAMS)
def test_program_that_raises(fn):
    with np.errstate(all="raise"):
        check(warning(fn), X, reset=reset, state=streams)


# ---- What raises ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "draw",
    [
        lambda x: x * random.randrange(0),
        lambda x: x * RNG.random() * random.choice(range(0)),
        lambda x: x * random.randint(3, len(x) - 5),
        lambda x: x * (random.random() + RNG.expovariate(0.0)),
        lambda x: x * (random.random() + RNG.getrandbits(-1)),
        lambda x: x * (random.random() + 1 / RNG.randrange(1)),
    ],
)
def test_a_draw_that_raises(draw):
    check(draw, X, reset=reset, state=streams)


# ---- Several numbers -----------------------------------------------------------------------------

SEVERAL = []
REFUSED = "unknown-callable"
ORDER = [3, 1, 4, 1, 5]


def several(fn):
    SEVERAL.append(fn)
    return fn


@several
def a_shuffle(x):
    order = [1, 2, 3, 4]
    random.shuffle(order)
    return x * random.random(), order


@several
def a_shuffle_of_a_global(x):
    RNG.shuffle(ORDER)
    return x * ORDER[0], len(ORDER)


@several
def shuffles_of_few(x):
    nothing, one, two = [], [7], [1.5, 2.5]
    found = random.shuffle(nothing), random.shuffle(one), random.shuffle(two)
    return x * random.random(), nothing, one, two, found


@several
def a_shuffle_of_a_range(x):
    order = list(range(len(x)))
    RNG.shuffle(order)
    return x[order], order


@several
def samples(x):
    return x * RNG.random(), RNG.sample(range(10), 3), RNG.choices([1, 2, 3], k=2)


@several
def samples_of_one_and_none(x):
    return x * random.random(), random.sample((1.5, 2.5), 1), random.sample([1, 2], k=0)


@several
def a_sample_as_index(x):
    return x[random.sample(range(len(x)), 3)] * 2, RNG.sample(range(100), 40)


@several
def choices_by_weight(x):
    a = random.choices([1, 2, 3], [1, 1, 8], k=4)
    b = RNG.choices((1.5, 2.5), weights=(0.5, 0.25))
    return x * a[0] + b[0], random.choices(range(5), cum_weights=[1, 2, 3, 4, 5], k=3), a


@several
def choices_of_what_was_drawn(x):
    drawn = [random.random() for _ in range(3)]
    random.shuffle(drawn)
    return x * drawn[1], random.choices(drawn, k=2), sum(drawn)


@pytest.mark.parametrize("fn", SEVERAL)
def test_several(fn):
    def begin():
        reset()
        ORDER[:] = [3, 1, 4, 1, 5]

    check(fn, X, reset=begin, state=lambda: (streams(), list(ORDER)))


@pytest.mark.parametrize("fn", SEVERAL)
def test_a_run_that_is_dropped_after_several_draws_puts_the_state_back(fn):
    def warns(x):
        return fn(x), x / (x - 0.5)  # divides by zero: the call is made again plainly

    def begin():
        reset()
        ORDER[:] = [3, 1, 4, 1, 5]

    check(warns, X, reset=begin, state=lambda: (streams(), list(ORDER)))


@pytest.mark.parametrize(
    ("draw", "breaks"),
    [
        (lambda x: x * (random.random() + len(RNG.sample(range(3), 4))), REFUSED),
        (lambda x: x * (random.random() + len(RNG.choices([], k=2))), REFUSED),
        (lambda x: x * (random.random() + RNG.choices([1, 2], [0, 0])[0]), None),
        (lambda x: x * (random.random() + RNG.choices([1, 2], [1, 2, 3])[0]), REFUSED),
        (lambda x: x * (random.random() + len(RNG.sample(range(3), -1))), REFUSED),
        (lambda x: x * (random.random() + len(RNG.sample(range(3)))), REFUSED),
        (lambda x: x * (random.random() + len(RNG.sample(k=2))), REFUSED),
        (lambda x: x * (random.random() + len(RNG.choices(k=2))), REFUSED),
        (lambda x: (x * random.random(), random.shuffle(), 2), REFUSED),
        (lambda x: (x * random.random(), random.shuffle((1, 2)), 2), REFUSED),
    ],
)
def test_several_draws_that_raise(draw, breaks):
    check(draw, X, reset=reset, state=streams, entries=None, breaks=breaks)


# ---- What breaks ---------------------------------------------------------------------------------


@broken
def a_choice(x):
    return x * random.random(), random.choice(["a", "b"]), RNG.choice("abc")


@broken
def a_choice_of_numbers_of_two_kinds(x):
    return x * random.choice([1, 2.0])


@broken
def a_choice_of_what_would_be_made_anew(x):
    return x * random.choice(MANY)


MANY = [float(i) for i in range(100)]


@broken
def a_choice_of_items_of_an_array(x):
    return x * random.choice(x)


@broken
def several_of_other_items(x):
    names = ["a", "b", "c"]
    random.shuffle(names)
    return x * 2, names


@broken
def samples_of_other_items(x):
    return x * 2, random.sample(["a", "b", "c"], 2), random.choices("abc", k=2)


@broken
def samples_of_items_that_count(x):
    return x * 2, random.sample([1, 2], counts=[2, 3], k=2)


@broken
def no_choices(x):
    return x * random.random(), RNG.choices([1, 2, 3], k=0)


@broken
def a_sample_of_most(x):
    return x * 2, RNG.sample(range(1000), 300)


@broken
def a_state_kept(x):
    state = random.getstate()
    y = x * random.random()
    random.setstate(state)
    return y + random.random()


@broken
def ints_where_one_may_come_out(x):
    return x * random.triangular(1, 1, 1)


@broken
def a_number_of_numpy(x):
    return x * random.uniform(0, np.float64(2))


@broken
def the_system_s(x):
    return (x * random.SystemRandom().random()).shape


@pytest.mark.parametrize("fn", BROKEN)
def test_break(fn):
    check(fn, X, breaks="unknown-callable", entries=None, reset=reset, state=streams)


def test_a_branch_on_a_draw_resumes():
    def fn(x):
        return x * 2 if random.random() < 0.5 else x - RNG.random()

    check(fn, X, breaks="array-branch", entries=None, calls=6, reset=reset, state=streams)


def test_a_seed_that_was_drawn_stays_random():
    def fn(x):
        own = random.Random(random.randint(0, 1000))
        return x * own.random()

    check(fn, X, breaks="unknown-callable", entries=None, reset=reset, state=streams)
    random.seed(17)
    compiled = dyntrace.compile(fn)
    assert len({compiled(X).tobytes() for _ in range(20)}) > 15


def test_draws_alone_are_not_worth_a_graph():
    def fn(a):
        return random.random() * a + random.gauss(0, 1)

    reset()
    expected = [fn(2.0) for _ in range(3)]
    reset()
    compiled = Compiled(fn, "native", None)
    assert [compiled(2.0) for _ in range(3)] == expected
    assert FORCED or (set(compiled.breaks) == {"no-arrays"} and not compiled.published)


# ---- What is guarded -----------------------------------------------------------------------------


def test_every_call_draws_anew():
    def fn(x):
        return x * random.random() + RNG.gauss(0, 1)

    reset()
    expected = [fn(X) for _ in range(20)]
    reset()
    compiled = Compiled(fn, "native", None)
    np.testing.assert_array_equal([compiled(X) for _ in range(20)], expected)
    assert FORCED or not compiled.breaks


def test_another_generator_takes_the_same_entry():
    def fn(x, rng):
        return x * rng.random() + rng.gauss(0, 1)

    def calls(target):
        a, b = random.Random(1), random.Random(2)
        return [target(X, rng) for rng in (a, b, a, b)] + [a.getstate(), b.getstate()]

    compiled = Compiled(fn, "native", None)
    for expected, got in zip(calls(fn), calls(compiled), strict=True):
        np.testing.assert_equal(got, expected)
    assert FORCED or len(compiled.records) == 1


def test_one_generator_under_two_names():
    def fn(x, a, b):
        return x * a.random() - b.random() + a.gauss(0, 1) * b.gauss(0, 1)

    def calls(target):
        a, b = random.Random(1), random.Random(2)
        return [target(X, *pair) for pair in ((a, b), (a, a), (b, a), (b, b))]

    compiled = Compiled(fn, "native", None)
    np.testing.assert_array_equal(calls(compiled), calls(fn))


def test_the_hidden_generator_comes_as_an_argument():
    def fn(x, rng):
        return x * rng.random() - random.random()

    def calls(target):
        random.seed(5)
        hidden = random.random.__self__
        return [target(X, rng) for rng in (hidden, random.Random(1), hidden)]

    compiled = Compiled(fn, "native", None)
    np.testing.assert_array_equal(calls(compiled), calls(fn))


class Loaded(random.Random):
    def random(self):
        return 0.25


@pytest.mark.parametrize("first", [False, True])
def test_a_generator_of_a_subclass_or_with_methods_of_its_own(first):
    def fn(x, rng):
        return x * rng.uniform(0, 1)

    own = random.Random(3)
    own.random = lambda: 0.75
    compiled = Compiled(fn, "native", None)
    others = [Loaded(1), own]
    for rng in [*others, RNG, *others] if first else [RNG, *others, RNG]:
        reset()
        expected = fn(X, rng)
        reset()
        np.testing.assert_array_equal(compiled(X, rng), expected)


@pytest.mark.parametrize("name", ["random", "_randbelow", "uniform", "randint"])
@pytest.mark.parametrize("before", [False, True])
def test_a_class_that_is_patched(monkeypatch, name, before):
    def fn(x):
        return x * RNG.uniform(0, 1) + RNG.randint(1, 5)

    compiled = Compiled(fn, "native", None)

    def both():
        reset()
        expected = fn(X), streams()
        reset()
        np.testing.assert_equal((compiled(X), streams()), expected)

    if not before:
        both()
    called = []

    def patched(self, *args):
        called.append(args)
        return 2

    with monkeypatch.context() as patch:
        patch.setattr(random.Random, name, patched)
        both()
        assert called
    both()


def test_a_function_of_the_module_that_is_patched(monkeypatch):
    def fn(x):
        return x * random.random()

    compiled = Compiled(fn, "native", None)
    reset()
    compiled(X)
    monkeypatch.setattr(random, "random", lambda: 0.5)
    np.testing.assert_array_equal(compiled(X), X * 0.5)


def test_threads_share_the_stream():
    """Each number is given once, whoever draws it."""

    def fn(x):
        return x * random.random()

    compiled = dyntrace.compile(fn)
    one = np.ones(1)
    compiled(one)
    random.seed(2)
    drawn = []
    threads = [
        threading.Thread(target=lambda: drawn.extend(compiled(one)[0] for _ in range(200)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    random.seed(2)
    assert sorted(drawn) == sorted(random.random() for _ in range(800))


# ---- Every draw ----------------------------------------------------------------------------------

REALS = st.one_of(st.integers(-3, 9), st.floats(-2.0, 6.0), st.booleans())
DRAWS = {
    "random": 0,
    "uniform": 2,
    "triangular": 3,
    "gauss": 2,
    "normalvariate": 2,
    "lognormvariate": 2,
    "expovariate": 1,
    "vonmisesvariate": 2,
    "gammavariate": 2,
    "betavariate": 2,
    "paretovariate": 1,
    "weibullvariate": 2,
    "binomialvariate": 2,
    "randint": 2,
    "randrange": 3,
    "getrandbits": 1,
}


@pytest.mark.parametrize("name", [name for name in DRAWS if hasattr(random.Random, name)])
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_every_draw(name, data):
    count = DRAWS[name] if name != "randrange" else data.draw(st.integers(1, 3))
    kind = REALS if not name.startswith(("rand", "get")) else st.integers(-2, 30)
    args = [data.draw(kind) for _ in range(count)]

    def fn(x, *args):
        first = RNG.random()
        return x * first, getattr(RNG, name)(*args), RNG.random()

    for target in (fn, warning_of(fn)):
        reset()
        plain = outcome(target, args)
        compiled = dyntrace.compile(target)
        for _ in range(3):
            reset()
            assert outcome(compiled, args) == plain


def warning_of(fn):
    def warns(x, *args):
        return fn(x, *args), (1.0 / (DIVISOR - DIVISOR)).tolist()

    return warns


def outcome(fn, args):
    with np.errstate(all="ignore"):
        try:
            result = fn(X, *args)
        except Exception as error:
            return type(error), str(error), streams()
    return repr(result), streams()


def test_numbers_that_change():
    def fn(x, low, high):
        RNG.seed(6)
        return x * RNG.uniform(low, high) + RNG.randint(1, high), RNG.getstate()[1][-1] * 0 + low

    def whole(x, low, high):
        RNG.seed(6)
        return x * RNG.uniform(low, high) + RNG.randint(1, high)

    calls = [(X, 0.5, 2), (X, 0.25, 3), (X, 1, 2), (X, 1, 5), (X, 2.0, 5)]
    check_calls(fn, *calls, whole=False)
    check_calls(whole, *calls)
