"""Programs that write into arrays, as their authors write them: each is captured whole.

A row is a function and its arguments; `check` gives every run its own copies.
"""

import math
from dataclasses import dataclass, field

import numpy as np
import pytest
from differential import check

PROGRAMS = []


def program(*args, **options):
    def add(fn):
        PROGRAMS.append(pytest.param(fn, args, options, id=fn.__name__))
        return fn

    return add


def ramp(*shape):
    return np.arange(1.0, 1.0 + math.prod(shape)).reshape(shape)


RNG = np.random.default_rng(1)
V = RNG.uniform(0.5, 2.0, 8)
W = RNG.uniform(0.5, 2.0, 8)
M = RNG.uniform(0.5, 2.0, (4, 5))
SQUARE = RNG.uniform(0.5, 2.0, (4, 4))
INTS = np.array([3, 1, 4, 1, 5, 9, 2, 6])


# ---- Stencils and simulations ----------------------------------------------------------------------


@program(V, 0.1)
def heat_step(u, c):
    u[1:-1] = u[1:-1] + c * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u


@program(V, 0.1, 5)
def heat_steps(u, c, n):
    for _ in range(n):
        u[1:-1] += c * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u


@program(V, 0.1, 3)
def heat_with_boundaries(u, c, n):
    for _ in range(n):
        new = u.copy()
        new[1:-1] = u[1:-1] + c * (u[2:] - 2 * u[1:-1] + u[:-2])
        new[0] = 0.0
        new[-1] = new[-2]
        u = new
    return u


@program(M, 0.1)
def heat_2d(u, c):
    u[1:-1, 1:-1] += c * (
        u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
    )


@program(V, V * 0.9, 0.2, 4)
def wave(u, before, c, n):
    for _ in range(n):
        after = np.zeros_like(u)
        after[1:-1] = 2 * u[1:-1] - before[1:-1] + c * (u[2:] - 2 * u[1:-1] + u[:-2])
        before[:] = u
        u[:] = after
    return u, before


@program(M)
def jacobi(p):
    old = p.copy()
    p[1:-1, 1:-1] = 0.25 * (old[1:-1, 2:] + old[1:-1, :-2] + old[2:, 1:-1] + old[:-2, 1:-1])
    p[:, -1] = p[:, -2]
    p[0, :] = 1
    p[-1, :] = 0
    return np.abs(p - old).sum()


@program((SQUARE > 1.2).astype(int))
def game_of_life(board):
    neighbours = np.zeros_like(board)
    neighbours[1:-1, 1:-1] = (
        board[:-2, :-2]
        + board[:-2, 1:-1]
        + board[:-2, 2:]
        + board[1:-1, :-2]
        + board[1:-1, 2:]
        + board[2:, :-2]
        + board[2:, 1:-1]
        + board[2:, 2:]
    )
    birth = (neighbours == 3) & (board == 0)
    survive = ((neighbours == 2) | (neighbours == 3)) & (board == 1)
    board[...] = 0
    board[birth | survive] = 1
    return board


@program(V, W, 0.01)
def euler(position, velocity, dt):
    position += velocity * dt
    velocity -= position * dt
    return position, velocity


@program(V, W, 0.01, 3)
def leapfrog(x, v, dt, n):
    for _ in range(n):
        v += -x * (dt / 2)
        x += v * dt
        v += -x * (dt / 2)


@program(V - 1, W)
def bounce(x, v):
    hit = x < 0
    v[hit] *= -1
    x[hit] = -x[hit]
    return x, v


@program(V, 1.2)
def periodic(x, length):
    x[x > length] -= length
    x[x < 0] += length


@program(RNG.uniform(0, 1, (5, 2)), np.zeros((5, 2)))
def pairwise_forces(x, f):
    f[...] = 0
    for i in range(5):
        for j in range(i):
            d = x[i] - x[j]
            f[i] += d
            f[j] -= d
    return f


@program(V)
def diffusion_in_place_out(u):
    tmp = np.empty_like(u)
    np.multiply(u, 0.5, out=tmp)
    tmp[1:] += 0.25 * u[:-1]
    tmp[:-1] += 0.25 * u[1:]
    u[:] = tmp


# ---- Learning --------------------------------------------------------------------------------------


class Model:
    def __init__(self, n=4, lr=0.1):
        self.w = np.linspace(0.1, 1, n)
        self.b = np.zeros(1)
        self.lr = lr
        self.momentum = np.zeros(n)
        self.steps = 0
        self.total = np.zeros(())
        self.history = np.zeros(3)
        self.cache = {"w": np.ones(n)}
        self.layers = [np.ones(3), np.ones(4)]

    def step(self, gradient):
        self.w -= self.lr * gradient

    def step_with_momentum(self, gradient):
        self.momentum *= 0.9
        self.momentum += gradient
        self.w -= self.lr * self.momentum

    def record(self, loss):
        self.history[self.steps % 3] = loss
        self.steps += 1


G = np.array([0.1, -0.2, 0.3, 0.4])


@program(Model(), G)
def sgd(model, gradient):
    model.step(gradient)


@program(Model(), G)
def momentum(model, gradient):
    model.step_with_momentum(gradient)
    return model.w


@program(Model(), RNG.uniform(-1, 1, (6, 4)), RNG.uniform(-1, 1, 6))
def linear_regression(model, x, y):
    prediction = x @ model.w + model.b
    error = prediction - y
    model.w -= model.lr * (x.T @ error) / len(y)
    model.b -= model.lr * error.mean()
    return (error**2).mean()


@program(np.zeros(4), np.zeros(4), np.ones(4), G, 3)
def adam(m, v, w, g, t):
    m *= 0.9
    m += 0.1 * g
    v *= 0.999
    v += 0.001 * g * g
    mhat = m / (1 - 0.9**t)
    vhat = v / (1 - 0.999**t)
    w -= 0.001 * mhat / (np.sqrt(vhat) + 1e-8)


@program([np.ones(3), np.ones((2, 2))], [np.full(3, 0.5), np.full((2, 2), 0.25)])
def sgd_over_a_list(params, grads):
    for p, g in zip(params, grads):
        p -= 0.1 * g


@program({"w": np.ones(3), "b": np.zeros(2)}, {"w": np.ones(3), "b": np.ones(2)})
def sgd_over_a_dict(params, grads):
    for name in params:
        params[name] -= 0.1 * grads[name]
    return params


@program(Model(), 0.5)
def record_loss(model, loss):
    model.record(loss)
    model.record(loss * 2)
    return model.history


@program(Model(), G)
def accumulate_total(model, g):
    model.total += g.sum()
    model.total += 1
    return model.total


@program(Model())
def cached_entry(model):
    model.cache["w"][1:] *= 3
    return model.cache["w"]


@program(Model())
def layers(model):
    for layer in model.layers:
        layer += 1
        layer[0] = 0


@program(RNG.uniform(-1, 1, (3, 4)))
def relu_in_place(x):
    x[x < 0] = 0
    return x


@program(RNG.uniform(-1, 1, (3, 4)))
def softmax_in_place(x):
    x -= x.max(axis=1, keepdims=True)
    np.exp(x, out=x)
    x /= x.sum(axis=1, keepdims=True)
    return x


@program(RNG.uniform(-1, 1, (6, 3)))
def standardise(x):
    x -= x.mean(axis=0)
    x /= x.std(axis=0)


@program(V)
def normalise(x):
    x /= np.sqrt((x * x).sum())
    return x


@program(V, np.zeros(8), 0.9)
def running_mean(x, mean, rate):
    mean *= rate
    mean += (1 - rate) * x


@program(np.zeros((4, 3)), INTS[:4] % 3)
def one_hot(out, labels):
    out[np.arange(4), labels] = 1.0
    return out


@program(RNG.uniform(-1, 1, (4, 3)), np.array([0, 2, 1, 1]))
def cross_entropy_gradient(p, labels):
    p[np.arange(4), labels] -= 1
    p /= 4
    return p


@program(np.ones((4, 3)), np.array([[0.5], [1], [2], [0]]))
def dropout(x, mask):
    x *= mask
    x *= 2


@program(G, 0.25)
def clip_gradient(g, limit):
    np.clip(g, -limit, limit, out=g)
    return g


@program(np.array([3.0, 4.0]))
def clip_norm(g):
    norm = np.sqrt((g * g).sum())
    g *= np.minimum(1.0, 1.0 / norm)
    return g


# ---- Filters and estimates -------------------------------------------------------------------------


@program(
    np.array([0.0, 1.0]), np.eye(2), np.array([[1.0, 0.1], [0.0, 1.0]]), np.array([[1.0, 0.0]]), 0.5
)
def kalman(x, p, f, h, z):
    x[:] = f @ x
    p[:] = f @ p @ f.T + 0.01 * np.eye(2)
    y = z - h @ x
    s = h @ p @ h.T + 0.1
    k = p @ h.T / s
    x += (k * y).ravel()
    p -= k @ h @ p
    return x, p


@program(V, 0.3)
def exponential_smoothing(x, a):
    out = np.empty_like(x)
    out[0] = x[0]
    for i in range(1, 8):
        out[i] = a * x[i] + (1 - a) * out[i - 1]
    return out


@program(V)
def prefix_sum(x):
    out = np.zeros(8)
    total = 0.0
    for i in range(8):
        total = total + x[i]
        out[i] = total
    return out


@program(V)
def prefix_in_place(x):
    for i in range(1, len(x)):
        x[i] += x[i - 1]
    return x


@program(V, np.array([0.25, 0.5, 0.25]))
def fir(x, taps):
    out = np.zeros(6)
    for k in range(3):
        out += taps[k] * x[k : k + 6]
    return out


@program(V)
def moving_average(x):
    out = np.zeros(len(x) - 2)
    for i in range(len(out)):
        out[i] = x[i : i + 3].mean()
    return out


@program(np.zeros(4), 0, 2.5)
def ring_buffer(buffer, position, value):
    buffer[position] = value
    position = (position + 1) % 4
    buffer[position] = value * 2
    return buffer, position


@program(np.zeros(4), V)
def shift_register(line, x):
    for i in range(3):
        line[1:] = line[:-1]
        line[0] = x[i]
    return line


@program(V)
def difference_in_place(x):
    x[1:] -= x[:-1]
    x[0] = 0


@program(V)
def cumulative_out(x):
    out = np.zeros((3, 8))
    out[0] = x
    for k in range(1, 3):
        out[k] = out[k - 1] * x
    return out


@program(np.zeros(5), np.array([0.1, 0.35, 0.9, 0.5]))
def histogram(bins, x):
    for i in range(4):
        bins[(x[i] * 5).astype(int)] += 1
    return bins


@program(np.zeros(4), np.array([0, 1, 1, 3, 0]))
def count_with_at(bins, idx):
    np.add.at(bins, idx, 1)
    return bins


@program(np.zeros(4), np.array([0, 1, 1, 3, 0]))
def count_with_index(bins, idx):
    bins[idx] += 1
    return bins


# ---- Linear algebra by hand ------------------------------------------------------------------------


@program(SQUARE)
def swap_rows(a):
    tmp = a[0].copy()
    a[0] = a[1]
    a[1] = tmp
    return a


@program(SQUARE)
def swap_rows_by_index(a):
    a[[0, 1]] = a[np.array([1, 0])]
    return a


@program(SQUARE)
def swap_rows_wrongly(a):
    a[0], a[1] = a[1], a[0]
    return a


@program(SQUARE, np.ones(4))
def gauss(a, b):
    n = 4
    for k in range(n):
        for i in range(k + 1, n):
            f = a[i, k] / a[k, k]
            a[i, k:] -= f * a[k, k:]
            b[i] -= f * b[k]
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - (a[i, i + 1 :] * x[i + 1 :]).sum()) / a[i, i]
    return x


@program(SQUARE @ SQUARE.T + 4 * np.eye(4))
def cholesky(a):
    low = np.zeros_like(a)
    for i in range(4):
        for j in range(i + 1):
            s = a[i, j] - (low[i, :j] * low[j, :j]).sum()
            low[i, j] = np.sqrt(s) if i == j else s / low[j, j]
    return low


@program(SQUARE)
def gram_schmidt(a):
    q = a.copy()
    for i in range(4):
        for j in range(i):
            q[:, i] -= (q[:, j] * a[:, i]).sum() * q[:, j]
        q[:, i] /= np.sqrt((q[:, i] ** 2).sum())
    return q


@program(SQUARE)
def symmetrise(a):
    a += a.T
    a *= 0.5
    return a


@program(SQUARE)
def set_diagonal(a):
    np.fill_diagonal(a, 1)
    a[np.arange(3), np.arange(1, 4)] = -1
    return a


@program(SQUARE)
def identity_plus(a):
    for i in range(4):
        a[i, i] += 1
    return a


@program(np.ones(4), SQUARE)
def power_iteration(v, a):
    for _ in range(3):
        v[:] = a @ v
        v /= np.sqrt((v * v).sum())
    return v


@program(SQUARE)
def lower_half(a):
    for i in range(4):
        a[i, i + 1 :] = 0
    return a


@program(V, W)
def givens(x, y):
    c, s = 0.6, 0.8
    t = c * x + s * y
    y[:] = c * y - s * x
    x[:] = t


@program(SQUARE, V[:4])
def rank_one(a, v):
    a += np.outer(v, v)
    a -= v[:, None] * v


@program(np.zeros((3, 3)), 0.3)
def rotation(r, angle):
    r[0, 0] = np.cos(angle)
    r[0, 1] = -np.sin(angle)
    r[1, 0] = np.sin(angle)
    r[1, 1] = np.cos(angle)
    r[2, 2] = 1
    return r


# ---- Images ----------------------------------------------------------------------------------------


IMAGE = RNG.integers(0, 256, (4, 5, 3)).astype(np.uint8)


@program(IMAGE)
def black_border(image):
    image[0] = 0
    image[-1] = 0
    image[:, 0] = image[:, -1] = 0
    return image


@program(IMAGE)
def invert_channel(image):
    image[..., 1] = 255 - image[..., 1]


@program(IMAGE)
def swap_channels(image):
    red = image[:, :, 0].copy()
    image[:, :, 0] = image[:, :, 2]
    image[:, :, 2] = red
    return image


@program(IMAGE, 128)
def threshold(image, limit):
    image[image < limit] = 0
    image[image >= limit] = 255
    return image


@program(M)
def flip(a):
    a[:] = a[::-1].copy()
    return a


@program(M)
def mirror_left_to_right(a):
    a[:, 3:] = a[:, 1::-1]


@program(M, 2, 1)
def paste(a, row, column):
    a[row : row + 2, column : column + 2] = np.array([[1.0, 2], [3, 4]])
    return a


@program(M)
def pad(a):
    out = np.zeros((6, 7))
    out[1:-1, 1:-1] = a
    out[0, 1:-1] = a[0]
    return out


@program(M)
def checkerboard(a):
    a[::2, ::2] = 0
    a[1::2, 1::2] = 0
    return a


@program(M, 3.0)
def gamma(a, g):
    a /= a.max()
    a **= g
    a *= 255
    return a.astype(np.uint8)


# ---- Views -----------------------------------------------------------------------------------------


@program(M)
def row_view(a):
    row = a[1]
    row += 10
    row[0] = 0
    return row, a


@program(M)
def column_view(a):
    column = a[:, 2]
    column *= 2
    return a.sum()


@program(M)
def transposed_view(a):
    t = a.T
    t[0] = 7
    t += 1
    return a


@program(M)
def flat_view(a):
    flat = a.reshape(-1)
    flat[::3] = 0
    return a


@program(M)
def view_read_before_and_after(a):
    inner = a[1:3]
    before = inner.sum()
    a[2] = 0
    after = inner.sum()
    return before, after


@program(M)
def view_of_view(a):
    b = a[1:]
    c = b[:, ::2]
    c[0, 0] = -1
    b[1] += 1
    return a, b, c


@program(V)
def result_keeps_old_values(x):
    before = x * 1
    x *= 3
    return before, x


@program(V)
def view_escapes(x):
    x += 1
    return x[2:5]


@program(V)
def two_names(x):
    y = x
    y += 1
    x *= 2
    return x is y


@program(V)
def own_and_view(x):
    y = x * 2
    z = y[1:]
    y += 1
    z[0] = 0
    return y, z


@program(V)
def own_filled_in_pieces(x):
    out = np.empty(8)
    out[:4] = x[4:]
    out[4:] = x[:4]
    return out


@program(V)
def reversed_in_place(x):
    n = len(x)
    for i in range(n // 2):
        x[i], x[n - 1 - i] = x[n - 1 - i], x[i]
    return x


@program(V, [])
def stored_in_a_list(x, out):
    x[0] = 1
    out.append(x)
    x[1] = 2
    return out[0] is x


@program(V)
def list_of_views(x):
    parts = [x[i : i + 2] for i in range(0, 8, 2)]
    for k, part in enumerate(parts):
        part += k
    return x


@program(np.zeros(()))
def zero_dimensions(x):
    x += 2
    x[()] = x * 3
    x[...] += 1
    return x


@program(np.zeros((0, 3)))
def empty(x):
    x += 1
    x[:] = 2
    return x


@program(np.ones((1, 1)))
def one_item(x):
    x[0, 0] += 1
    x += x
    return x


# ---- Selection -------------------------------------------------------------------------------------


@program(V, W)
def masked_from_other(x, y):
    mask = x > y
    x[mask] = y[0]
    return mask


@program(V)
def where_in_place(x):
    x[:] = np.where(x > 1, x, 1.0)


@program(np.array([1.0, np.nan, 3.0]))
def replace_nan(x):
    x[np.isnan(x)] = 0
    return x


@program(INTS)
def bubble_pass(x):
    for i in range(len(x) - 1):
        low = np.minimum(x[i], x[i + 1])
        high = np.maximum(x[i], x[i + 1])
        x[i] = low
        x[i + 1] = high
    return x


@program(INTS, 2)
def bits(x, n):
    x <<= n
    x |= 1
    x &= 0xFF
    x ^= 3
    x >>= 1
    return x


@program(np.ones(8, bool))
def sieve(prime):
    prime[:2] = False
    for i in range(2, 3):
        prime[i * i :: i] = False
    return prime


@program(np.array([True, False, True]), np.array([True, True, False]))
def logical(a, b):
    a &= b
    b |= a
    a ^= b
    np.logical_not(a, out=a)
    return a, b


@program(V)
def sort_and_take(x):
    x.sort()
    return x[-3:]


@program(M)
def sort_rows(a):
    a.sort(axis=1)
    a[:, ::-1].sort(axis=0)
    return a


@program(V)
def fill_and_count(x):
    x.fill(2)
    x[0] = 3
    return x.sum()


@program(V, np.array([0, 2]))
def put_values(x, idx):
    np.put(x, idx, [5.0, 6.0])
    x[idx] += 1
    return x[idx]


# ---- out= ------------------------------------------------------------------------------------------


@program(V, W, np.zeros(8), np.zeros(8))
def chain_of_out(a, b, t, out):
    np.multiply(a, a, out=t)
    np.multiply(b, b, out=out)
    np.add(t, out, out=out)
    np.sqrt(out, out=out)
    return out


@program(V, np.zeros(8))
def out_returned(x, out):
    return np.exp(x, out=out) is out


@program(V)
def out_is_operand(x):
    np.add(x, x, out=x)
    np.negative(x, x)
    return x


@program(V, np.zeros((2, 8)))
def out_is_row(x, out):
    np.add(x, 1, out=out[0])
    np.add(out[0], 1, out=out[1])
    return out


@program(V, np.zeros(8), V > 1)
def out_where(x, out, mask):
    np.divide(1.0, x, out=out, where=mask)
    return out


@program(V)
def scratch(x):
    work = np.empty_like(x)
    np.multiply(x, 2, out=work)
    np.add(work, 1, out=work)
    return work


@program(V, W)
def copyto(x, y):
    np.copyto(x, y)
    np.copyto(y, 0, where=y > 1)
    return x, y


# ---- Calls, closures, globals ----------------------------------------------------------------------

STATE = np.zeros(4)


def reset_state():
    STATE[:] = 0


@program(2.0, state=lambda: STATE, reset=reset_state)
def global_array(v):
    STATE[1] += v
    STATE[2:] = v
    return STATE


def scale(x, k):
    x *= k
    return x


@program(V)
def in_callee(x):
    return scale(x, 2) is x, scale(x[1:], 3)


@program(V)
def in_closure(x):
    def add(k):
        x[k] += 1

    for i in range(3):
        add(i)
    return x


@program(V)
def in_comprehension(x):
    return [scale(part, 2).sum() for part in (x[:4], x[2:])]


@program(V)
def keyword_only(x):
    def write(*, where, what):
        x[where] = what

    write(where=slice(1, 3), what=0)
    return x


@dataclass
class Body:
    position: np.ndarray = field(default_factory=lambda: np.zeros(3))
    velocity: np.ndarray = field(default_factory=lambda: np.ones(3))

    def move(self, dt):
        self.position += self.velocity * dt

    def kick(self, force, dt):
        self.velocity[...] = self.velocity + force * dt


@program([Body(), Body()], np.array([0.0, 0, -9.8]))
def bodies(bodies, gravity):
    for body in bodies:
        body.kick(gravity, 0.1)
        body.move(0.1)


@program(V, 3)
def while_loop(x, n):
    i = 0
    while i < n:
        x[i] = i
        i += 1
    return x


@program(V, True)
def branch(x, flag):
    if flag:
        x += 1
    else:
        x -= 1
    return x


@program(V)
def early_return(x):
    x[0] = 0
    if len(x) > 4:
        return x[1:]
    x[1] = 0
    return x


@program(V)
def nothing_returned(x):
    x[:] = 0


@program(V)
def augmented_item_of_list(x):
    parts = [x, x * 2]
    parts[0] += 1
    parts[1] += 1
    return parts, parts[0] is x


@program(V.astype("f"), 0.1)
def single_precision(x, k):
    x *= k
    x += 1
    x[0] = k
    x[1:3] = 1 / 3
    return x


@program(np.arange(4), V[:4] * 10)
def floats_into_ints(x, y):
    x[:] = y
    x[0] = 2.7
    x[1:3] = 1.5
    return x


@program(np.zeros(4, complex), V[:4])
def into_complex(z, x):
    z[:] = x
    z.imag[:] = x * 2
    z *= 1j
    return z


@program(V.astype(">f8"))
def swapped_bytes(x):
    x[0] = 1.5
    x[1:] = x[:-1]
    return x


@program(V, np.float64(2.5), np.int64(3))
def numpy_scalars(x, s, i):
    x[i] = s
    x *= i
    return x


@pytest.mark.parametrize(("fn", "args", "options"), PROGRAMS)
def test_program(fn, args, options):
    check(fn, *args, **options)


@pytest.mark.parametrize(("fn", "args", "options"), PROGRAMS)
def test_program_op_by_op(fn, args, options):
    check(fn, *args, backend="eager", **options)


@pytest.mark.parametrize(("fn", "args", "options"), PROGRAMS)
def test_program_that_raises(fn, args, options):
    """Whatever is written before an arithmetic error is what plain execution leaves."""
    scope = {}

    def failing(*args):
        value = fn(*args)
        return value, 1.0 / (DIVISOR - DIVISOR)

    failing.__qualname__ = fn.__name__
    assert scope == {}
    with np.errstate(all="raise"):
        check(failing, *args, **options)


DIVISOR = np.ones(2)
