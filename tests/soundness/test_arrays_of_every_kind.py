"""Chains of array operations over the arrays NumPy is awkward about, three calls each, one argument after another."""

import numpy as np
import pytest
from twins import succession

DTYPES = ["f8", "f4", "f2", "i8", "i4", "i1", "u1", "u8", "?", "c16", "c8", ">f8", ">i4", "g"]


def layouts(dtype):
    base = (np.arange(48) % 11 - 3).astype(dtype)
    a = base[:24].reshape(4, 6)
    cube = base[:24].reshape(2, 3, 4)
    offset = np.zeros(base.nbytes + 1, np.uint8)[1:].view(np.dtype(dtype))
    offset[:] = base
    frozen = base[:6].copy()
    frozen.flags.writeable = False
    return [
        base,
        base[:3],
        base[:1],
        base[:0],
        base[3],
        np.array(base[3]),
        a,
        a.T,
        a[:, ::2],
        a[::-1, ::-1],
        a[1:3, 2:5],
        a[:, :1],
        a[:1],
        a[:0],
        a[:, :0],
        cube,
        cube.T,
        cube.transpose(1, 0, 2),
        cube[:, :, ::-1],
        cube[:, 1:2],
        np.broadcast_to(base[:3], (4, 3)),
        np.broadcast_to(base[3], (2, 2)),
        offset,
        offset[:24].reshape(4, 6).T,
        frozen,
        np.asfortranarray(a),
        a.T[::2],
        base[::7],
        base[::-5],
    ]


def reductions(a):
    return (
        a.sum(),
        a.sum(axis=0),
        a.sum(axis=-1, keepdims=True),
        a.mean(axis=0),
        a.min(axis=-1),
        a.prod(),
        a.any(axis=0),
        a.all(),
    )


def chain(a):
    return np.sqrt(np.abs(a * 2 + 1)) / (a * a + 3)


def integer(a):
    return a // 3, a % 3, a * 200 + 100, -a, a**2, a == 3, a > 1


def broadcast(a):
    return (
        a + a.sum(axis=-1, keepdims=True),
        a[..., None] * 2,
        a - a[:1],
        np.where(a > 2, a, 0),
        np.clip(a, 0, 2),
        np.maximum(a, 1),
    )


def views(a):
    return (
        a.T,
        a[1:],
        a[..., ::-1],
        a.reshape(-1),
        a.ravel(),
        a.swapaxes(0, -1),
        a.squeeze(),
        a[None],
        (a + 1).T,
        (a * 2)[..., 1:],
        a.reshape(-1, 1),
        a.reshape(1, -1, 1),
    )


def layout_of_results(a):
    return (
        a + 1,
        a.T + a.T,
        a.copy(),
        (a + 1).copy(),
        a.astype("f4"),
        np.zeros_like(a),
        np.ones_like(a),
        a.T * 2,
        np.exp(a.T),
        a + a.T[0:0].sum(),
    )


def in_place(a):
    y = a * 1
    z = y.T
    y += 2
    y *= 3
    w = y[..., :1]
    y -= 1
    return y, z, w


def mixed(a):
    return (
        a + np.float32(1.5),
        a * np.int8(3),
        a + 1.5,
        a * 2j,
        a + True,
        np.float64(2) * a,
        a / np.uint8(2),
        np.arctan2(a, 2),
        a + np.arange(a.shape[-1] if a.ndim else 1),
    )


def in_place_casts(a):
    y = a * 1
    y += 1.5
    return y


def in_place_division(a):
    y = a * 1
    y /= 2
    return y


def products(a):
    return a @ a.T, np.dot(a, a.T), (a.T @ a).sum()


def stacks(a):
    return np.stack([a, a + 1]), np.concatenate([a, a], axis=0), np.concatenate([a, a], axis=-1)


def statistics(a):
    m = a.mean()
    s = np.sqrt(((a - m) ** 2).mean())
    return (a - m) / (s + 1), m, s


def logic(a):
    return (
        (a > 1) & (a < 3),
        ~(a > 1),
        (a > 1) | (a == 0),
        np.logical_and(a, a > 0),
        np.isfinite(a),
        np.sign(a),
    )


def indexing(a):
    return a[0], a[-1], a[..., 0], a[1:2], a[::2], a[-2:], a[:, None] if a.ndim else a


CHAINS = [
    reductions,
    chain,
    integer,
    broadcast,
    views,
    layout_of_results,
    in_place,
    mixed,
    in_place_casts,
    in_place_division,
    products,
    stacks,
    statistics,
    logic,
    indexing,
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("fn", CHAINS)
def test_layouts(fn):
    arguments = [a for dtype in DTYPES for a in layouts(dtype)]
    succession(fn, arguments)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("mode", ["raise", "ignore", "print"])
@pytest.mark.parametrize("fn", [chain, statistics, mixed, integer])
def test_error_states(fn, mode, capfd):
    values = [
        np.array([1.0, 2.0, 0.0]),
        np.array([np.inf, -np.inf, np.nan]),
        np.array([1e308, -1e308, 1e-308]),
        np.array([1.0, 2.0, 3.0]),
        np.array([3, 0, -1]),
        np.zeros(0),
    ]
    with np.errstate(all="ignore"):
        values = values * 2 + [v.astype("f4") for v in values]
    with np.errstate(all=mode):
        succession(fn, values)
