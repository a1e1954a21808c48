"""Programs that draw random numbers, as their authors write them: each is captured whole, and leaves
NumPy's streams where plain execution leaves them."""

import numpy as np
import pytest
from differential import check

PROGRAMS = []


def program(*args, **options):
    def add(fn):
        PROGRAMS.append(pytest.param(fn, args, options, id=fn.__name__))
        return fn

    return add


RNG = np.random.default_rng(8)
START = RNG.bit_generator.state
DATA = np.linspace(-1.0, 2.0, 24).reshape(8, 3)
LABELS = np.arange(8) % 2


@program(400)
def pi_by_darts(n):
    x = np.random.rand(n)
    y = np.random.rand(n)
    return 4.0 * np.mean(x * x + y * y < 1.0)


@program(400)
def pi_by_a_generator(n):
    points = RNG.random((n, 2))
    return 4.0 * (np.square(points).sum(axis=1) < 1.0).mean()


@program(50)
def random_walk(n):
    return np.cumsum(np.random.choice(np.array([-1, 1]), n))


@program(50, 4)
def walks(steps, count):
    moves = np.random.randint(0, 2, (count, steps)) * 2 - 1
    return moves.cumsum(axis=1).max(axis=1)


@program(100.0, 0.05, 0.2, 1.0, 12, 5)
def geometric_brownian_motion(s0, mu, sigma, horizon, steps, paths):
    dt = horizon / steps
    z = np.random.standard_normal((steps, paths))
    return s0 * np.exp(np.cumsum((mu - 0.5 * sigma**2) * dt + sigma * np.sqrt(dt) * z, axis=0))


@program(100.0, 105.0, 0.02, 0.3, 200)
def european_call(s, k, r, sigma, n):
    z = RNG.standard_normal(n)
    last = s * np.exp((r - 0.5 * sigma**2) + sigma * z)
    return np.exp(-r) * np.maximum(last - k, 0.0).mean()


@program(1.0, 0.1, 6)
def euler_maruyama(x0, dt, steps):
    x = np.full(4, x0)
    for _ in range(steps):
        x = x - x * dt + np.sqrt(dt) * RNG.normal(size=4)
    return x


@program(DATA, 0.5)
def dropout(x, p):
    keep = np.random.rand(*x.shape) > p
    return x * keep / (1 - p)


@program(DATA, 0.1)
def add_noise(x, scale):
    return x + np.random.normal(0.0, scale, x.shape)


@program(DATA)
def add_noise_like(x):
    return x + np.random.randn(*x.shape) * 0.01


@program(DATA, LABELS)
def shuffled_data(x, y):
    order = np.random.permutation(len(x))
    return x[order], y[order]


@program(DATA, LABELS, 6)
def split(x, y, size):
    order = np.arange(8)
    np.random.shuffle(order)
    train, test = order[:size], order[size:]
    return x[train], y[train], x[test], y[test]


@program(DATA[:, 0])
def bootstrap_mean(x):
    return np.array([RNG.choice(x, 8).mean() for _ in range(5)])


@program(DATA, 3)
def seeds_of_k_means(x, k):
    return x[np.random.choice(8, k, replace=False)]


@program(3, 4, 2)
def initialise_network(inputs, hidden, outputs):
    w1 = np.random.randn(inputs, hidden) * np.sqrt(2.0 / inputs)
    w2 = np.random.randn(hidden, outputs) / np.sqrt(hidden)
    return {"w1": w1, "b1": np.zeros(hidden), "w2": w2, "b2": np.zeros(outputs)}


@program(3, 4)
def xavier(inputs, outputs):
    limit = (6.0 / (inputs + outputs)) ** 0.5
    return np.random.uniform(-limit, limit, size=(inputs, outputs))


@program(DATA, LABELS, 0.1, 3)
def stochastic_gradient(x, y, rate, epochs):
    w = np.random.randn(3) * 0.1
    for _ in range(epochs):
        order = np.random.permutation(8)
        batch, target = x[order[:4]], y[order[:4]]
        p = 1.0 / (1.0 + np.exp(-(batch @ w)))
        w -= rate * (batch.T @ (p - target)) / 4
    return w


@program(np.zeros(4), 0.3, 3)
def evolution_strategy(mean, sigma, generations):
    for _ in range(generations):
        noise = RNG.standard_normal((6, 4))
        samples = mean + sigma * noise
        score = -np.sum((samples - 1.0) ** 2, axis=1)
        weight = (score - score.mean()) / (score.std() + 1e-8)
        mean = mean + 0.1 * noise.T @ weight
    return mean


@program(np.linspace(-1, 1, 5), 4)
def metropolis_by_columns(x, steps):
    for _ in range(steps):
        proposed = x + RNG.normal(0.0, 0.5, 5)
        accept = RNG.random(5) < np.exp(np.minimum(0.0, 0.5 * (x**2 - proposed**2)))
        x = np.where(accept, proposed, x)
    return x


@program(np.ones((4, 4)), 0.5)
def ising_noise(spins, t):
    flips = np.random.random((4, 4)) < np.exp(-2.0 * np.abs(spins) / t)
    spins[flips] *= -1
    return spins


@program(12)
def seeded(n):
    np.random.seed(42)
    a = np.random.rand(n)
    np.random.seed(7)
    return a - np.random.rand(n)


@program(5, 6)
def seeded_by_argument(seed, n):
    np.random.seed(seed)
    return np.random.normal(size=n)


@program(5, 6)
def a_generator_of_its_own(seed, n):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return x * rng.uniform(0.5, 1.5, n)


@program(5, 6)
def a_state_of_its_own(seed, n):
    rs = np.random.RandomState(seed)
    return rs.randn(n) + rs.rand(n)


class Bandit:
    def __init__(self, arms):
        self.rng = np.random.default_rng(3)
        self.mean = np.linspace(0, 1, arms)
        self.total = np.zeros(arms)

    def pull_all(self):
        reward = self.rng.normal(self.mean, 1.0)
        self.total += reward
        return reward


@program(4)
def object_with_a_generator(arms):
    bandit = Bandit(arms)
    bandit.pull_all()
    bandit.pull_all()
    return bandit.total


@program(Bandit(3))
def object_from_outside(bandit):
    return bandit.pull_all() * 2 + bandit.pull_all()


def with_default(n, rng=None):
    rng = rng or np.random.default_rng(11)
    return rng.exponential(2.0, n)


@program(5)
def generator_or_default(n):
    return with_default(n) + with_default(n, RNG)


@program(np.array([0.2, 0.5, 0.3]), 7)
def inverse_transform(p, n):
    return np.searchsorted(np.cumsum(p), np.random.random_sample(n))


@program(np.array([2.0, 5.0, 0.5]))
def poisson_counts(rate):
    return np.random.poisson(rate), RNG.poisson(rate, (2, 3))


@program(np.array([2.0, 5.0, 0.5]))
def gamma_of_arrays(shape):
    return np.random.gamma(shape, 2.0) / RNG.gamma(shape, scale=0.5, size=(4, 3)).sum(0)


@program(6)
def interleaved(n):
    a = np.random.rand(n)
    b = np.sqrt(a)
    c = RNG.random(n)
    d = b * c
    e = np.random.rand(n)
    return d + e, np.random.randn(n) * c


@program(np.arange(6.0))
def draw_and_write(x):
    x[:3] = np.random.rand(3)
    x += RNG.normal(size=6)
    RNG.shuffle(x)
    x[0] = x[1]
    return x.sum()


@program(np.arange(8))
def shuffled_views(x):
    RNG.shuffle(x[::2])
    np.random.shuffle(x[1::2])
    return x * 2


@program(np.arange(12.0).reshape(4, 3))
def shuffled_rows(m):
    np.random.shuffle(m)
    RNG.shuffle(m)
    return m @ m.T


def helper(rng, n):
    return rng.standard_normal(n, dtype=np.float32)


@program(9)
def inlined(n):
    return helper(RNG, n) * np.float32(2) + helper(RNG, n)


@program(3, True)
def branch_on_a_flag(n, gauss):
    noise = np.random.randn(n) if gauss else np.random.rand(n)
    return noise - noise.mean()


@program(5)
def in_a_comprehension(n):
    return np.stack([np.random.uniform(low, low + 1, n) for low in range(3)])


def reset():
    np.random.seed(17)
    RNG.bit_generator.state = START


def streams():
    name, key, *rest = np.random.get_state()
    return name, key.tobytes(), tuple(rest), repr(RNG.bit_generator.state)


@pytest.mark.parametrize(("fn", "args", "options"), PROGRAMS)
def test_program(fn, args, options):
    check(fn, *args, reset=reset, state=streams, **options)


@pytest.mark.parametrize(("fn", "args", "options"), PROGRAMS)
def test_program_op_by_op(fn, args, options):
    check(fn, *args, reset=reset, state=streams, backend="eager", **options)


@pytest.mark.parametrize(("fn", "args", "options"), PROGRAMS)
def test_program_that_warns(fn, args, options):
    """The run is dropped at its end, and the call made again plainly from the same state."""

    def warning(*args):
        value = fn(*args)
        return value, 1.0 / (DIVISOR - DIVISOR)

    warning.__qualname__ = fn.__name__
    check(warning, *args, reset=reset, state=streams, **options)


@pytest.mark.parametrize(("fn", "args", "options"), PROGRAMS)
def test_program_that_raises(fn, args, options):
    def failing(*args):
        value = fn(*args)
        return value, 1.0 / (DIVISOR - DIVISOR)

    failing.__qualname__ = fn.__name__
    with np.errstate(all="raise"):
        check(failing, *args, reset=reset, state=streams, **options)


DIVISOR = np.ones(2)
