"""Random expressions over arrays of all dtypes, shapes and layouts: `Program(seed)`.

A program is a function of some arrays, a scalar of the library and a Python number.  Each statement is
made from a template whose holes are filled with names, keys, axes and dtypes, and is run plainly while it
is made, so that most of them do something; a statement that raises is kept now and then, inside `try` or
as the last one.  A call is a list of recipes; its calls differ in values, in sizes, in layouts, in what
shares memory and in dtypes.

What is not here: running the compiled function and comparing (`arrays.py`).
"""

# ruff: noqa: E501  (tables)

from __future__ import annotations

import functools
import math
import mmap
import random
import re
import tempfile
import warnings

import numpy as np

NUMBERS = "? i1 u1 i2 u2 i4 u4 i8 u8 f2 f4 f8 g c8 c16 G".split()
SWAPPED = ">f8 >i4 >f4 >c16 >u2 >i8".split()
OTHERS = ["M8[D]", "M8[s]", "m8[h]", "m8[D]", "S3", "U2", "i4,f8", "O"]
PLAIN = ["f8", "f8", "f8", "f4", "i8", "i4", "u1", "?", "c16"]

# Sizes of the axes n, m and k in one call; that they differ in later calls shows what took a size for a
# constant.  Axes q are n or 40.
SIZES = [
    dict(n=5, m=3, k=2),
    dict(n=4, m=4, k=4),
    dict(n=7, m=2, k=3),
    dict(n=3, m=1, k=5),
    dict(n=1, m=1, k=1),
    dict(n=2, m=0, k=3),
    dict(n=0, m=2, k=1),
    dict(n=17, m=9, k=1),
    dict(n=40, m=5, k=2),
    dict(n=260, m=3, k=2),
    dict(n=8, m=24, k=2),
    dict(n=24, m=8, k=2),
    dict(n=25, m=6, k=3),
    dict(n=12, m=33, k=1),
]
LARGE = [
    dict(n=9000, m=3, k=2),
    dict(n=1300, m=40, k=1),
    dict(n=130, m=130, k=2),
    dict(n=66, m=20, k=11),
    dict(n=24, m=900, k=2),
    dict(n=4099, m=2, k=3),
]

MOST_ITEMS = 200_000
SHAPES = [
    "n",
    "n",
    "n",
    "m",
    "mn",
    "mn",
    "mn",
    "nm",
    "1n",
    "m1",
    "qq",
    "kmn",
    "kmn",
    "k1n",
    "kqq",
    "1",
    "",
    "kkmn",
]

LAYOUTS = {
    "C": lambda a: a,
    "F": lambda a: np.asfortranarray(a),
    "transposed": lambda a: (
        a.transpose(np.roll(range(a.ndim), 1)).copy().transpose(np.roll(range(a.ndim), -1))
    ),
    "step": lambda a: _inside(a, 2, 0)[(..., *(slice(None, None, 2),) * a.ndim)],
    "step last": lambda a: np.repeat(a, 2, -1)[..., ::2] if a.ndim else a,
    "step first": lambda a: np.repeat(a, 3, 0)[::3] if a.ndim else a,
    "back": lambda a: a[(..., *(slice(None, None, -1),) * a.ndim)].copy()[
        (..., *(slice(None, None, -1),) * a.ndim)
    ],
    "back first": lambda a: a[::-1].copy()[::-1] if a.ndim else a,
    "back last": lambda a: a[..., ::-1].copy()[..., ::-1] if a.ndim else a,
    "back F": lambda a: np.asfortranarray(a[::-1])[::-1] if a.ndim else a,
    "inside": lambda a: _inside(a, 1, 2)[(..., *(slice(1, -1),) * a.ndim)],
    "same rows": lambda a: np.broadcast_to(a[:1], a.shape) if a.ndim and a.size else a,
    "one item": lambda a: np.broadcast_to(a.reshape(-1)[:1].reshape(()), a.shape) if a.size else a,
    "rows over": lambda a: (
        np.lib.stride_tricks.as_strided(a, strides=(0, *a.strides[1:])) if a.ndim > 1 else a
    ),
    "read-only": lambda a: _locked(a),
    "misaligned": lambda a: _misaligned(a),
    "in record": lambda a: _in_record(a),
    "mapped": lambda a: _mapped(a),
    "memmap": lambda a: _memmap(a),
}


def _inside(a, factor, more):
    """Memory that has room between or around the items of `a`, which are in it already."""
    room = np.zeros([size * factor + more for size in a.shape], a.dtype)
    part = slice(None, None, 2) if factor == 2 else slice(1, -1)
    room[(..., *(part,) * a.ndim)] = a
    return room


def _locked(a):
    a = a.copy()
    a.flags.writeable = False
    return a


def _misaligned(a):
    if a.dtype.hasobject:
        return a
    room = np.zeros(a.nbytes + 1, "u1")[1:].view(a.dtype).reshape(a.shape)
    room[...] = a
    return room


def _in_record(a):
    if a.dtype.hasobject:
        return a
    room = np.zeros(a.shape, [("flag", "u1"), ("item", a.dtype), ("more", "f4")])
    room["item"] = a
    return room["item"]


def _mapped(a):
    if a.dtype.hasobject or not a.size:
        return a
    room = np.frombuffer(mmap.mmap(-1, a.nbytes), a.dtype).reshape(a.shape)
    room[...] = a
    return room


def _memmap(a):
    if a.dtype.hasobject or not a.size:
        return a
    with tempfile.TemporaryFile() as file:
        room = np.memmap(file, a.dtype, "w+", shape=a.shape)
    room[...] = a
    return room


# What an argument that lies in the memory of an earlier one is of it.
ALIASES = {
    "the same": lambda a: a,
    "a view": lambda a: a[...],
    "back": lambda a: a[::-1],
    "shifted": lambda a: a[1:],
    "without last": lambda a: a[:-1],
    "transposed": lambda a: a.T,
    "halves": lambda a: a[..., ::2],
    "flat": lambda a: a.reshape(-1),
    "row": lambda a: a[0] if a.ndim > 1 and len(a) else a[:1],
    "real": lambda a: a.real,
    "bytes": lambda a: (
        a.view("u1") if a.flags.c_contiguous and a.ndim and not a.dtype.hasobject else a
    ),
    "locked": lambda a: np.broadcast_to(a, a.shape),
}


def make_array(dtype, shape, layout, sizes, seed, special):
    """The array of a recipe."""
    return LAYOUTS[layout](contents(dtype, shape, tuple(sizes.items()), seed, special).copy())


# Numbers around 0, from which the contents of all arrays are taken.
POOL = np.random.default_rng(8).standard_normal(600_000) * 3


@functools.lru_cache(512)
def contents(dtype, shape, sizes, seed, special):
    kind, sizes = np.dtype(dtype), dict(sizes)
    shape = tuple(dict(sizes, q=min(sizes["n"], 40), **{"1": 1})[axis] for axis in shape)
    first = seed * 4099
    values = POOL[first : first + math.prod(shape)].reshape(shape)
    rng = np.random.default_rng(seed) if special or kind.kind == "c" else None
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if kind.kind == "b":
            array = values > 0
        elif kind.kind in "iu":
            array = values.astype("i8").astype(kind)
            if special and array.size:
                info = np.iinfo(kind)
                array.reshape(-1)[rng.integers(0, array.size, 2)] = info.max, info.min
        elif kind.kind in "fc":
            array = values.astype(kind)
            if kind.kind == "c":
                array = array + (1j * rng.integers(-2, 3, shape)).astype(kind)
            if special and array.size:
                odd = [np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-310, 65000.0, 1e300, 2.0, 0.5, -1.0]
                some = rng.integers(0, len(odd), 3)
                array.reshape(-1)[rng.integers(0, array.size, 3)] = np.array(odd)[some].astype(kind)
        elif kind.kind in "Mm":
            array = (values * 9).astype("i8").astype(kind)
            if special and array.size:
                array.reshape(-1)[0] = "NaT"
        elif kind.kind in "SU":
            array = np.array(["", "a", "bc", "abc", "B", "1", "12"])[
                np.abs(values * 2).astype(int) % 7
            ].astype(kind)
        elif kind.kind == "V":
            array = np.zeros(shape, kind)
            array["f0"], array["f1"] = values * 2, values
        else:
            array = np.sign(values).astype("i8").astype(object)  # of others, powers take hours
    return np.asarray(array, kind)


def build(recipes):
    """The arguments of one call."""
    arguments = []
    for kind, *rest in recipes:
        if kind == "array":
            arguments.append(make_array(*rest))
        elif kind == "alias":
            other = arguments[rest[0]]
            arguments.append(ALIASES[rest[1]](other) if other.ndim else other)
        elif kind == "scalar":
            arguments.append(np.dtype(rest[0]).type(rest[1]))
        else:
            arguments.append(rest[0])
    return arguments


# ---- Templates -------------------------------------------------------------------------------------
# {a} an array, {e} an expression, {v} anything that can stand beside an array, {c} a constant, {t} a dtype,
# {x} an axis, {xs} axes, {k} a key, {m} a mask, {i} an index, {s} a shape, {u1} {u2} functions, {rec} an
# array of records if there is one, {chain} many operations in a row.  A hole in capitals is filled with the
# same text wherever it stands in the template.

ONE = (
    "negative positive absolute fabs sign signbit spacing modf frexp rint floor ceil trunc square sqrt cbrt reciprocal exp exp2 expm1"
    " log log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh degrees radians logical_not invert"
    " isfinite isinf isnan conjugate isnat"
).split()
TWO = (
    "add subtract multiply divide floor_divide remainder divmod power float_power copysign nextafter fmod ldexp logaddexp logaddexp2"
    " arctan2 hypot heaviside maximum minimum fmax fmin equal not_equal less less_equal greater greater_equal logical_and logical_or"
    " logical_xor bitwise_and bitwise_or bitwise_xor left_shift right_shift gcd lcm"
).split()
OPERATORS = "+ - * / // % ** & | ^ << >> < <= == != > >=".split()
INPLACE = "+= -= *= /= //= %= **= &= |= ^= <<= >>=".split()
REDUCE = "sum prod max min any all mean std var ptp argmax argmin".split()
CONSTANTS = "0 1 2 -1 3 0.5 -2.5 2.0 1e308 1e-3 255 256 -129 2**31 2**63 True 1j float('nan') float('inf') np.float32(1.5) np.int8(7) np.uint8(200) np.float16(2) np.longdouble(3) np.bool_(True) np.array(2) np.array(1.5,'f4')".split()

SCALARS = "np.bool_(True) np.int8(7) np.uint8(200) np.int16(-3) np.uint16(9) np.int32(5) np.uint32(6) np.int64(-4) np.uint64(11) np.longlong(2) np.float16(2) np.float32(-1.5) np.float64(0.1) np.longdouble(3) np.complex64(1j) np.complex128(2-1j) np.float64('nan') np.float32(-0.0)".split()
DATES = "np.datetime64('2020-02-29') np.datetime64('NaT') np.timedelta64(3,'h') np.timedelta64(2,'D') np.timedelta64('NaT') np.timedelta64(5) 2 3.0".split()
CHAINED = "+ + + - - * * * /".split()
LINKS = "np.sqrt np.abs np.exp np.tanh np.sin np.square np.floor -".split()

EXPRESSIONS = [
    (14, "({e} {op} {v})"),
    (6, "({v} {op} {e})"),
    (5, "np.{u2}({e}, {v})"),
    (5, "np.{u1}({e})"),
    (4, "(-{e})"),
    (2, "(~{e})"),
    (2, "abs({e})"),
    (5, "{e}.{r}()"),
    (5, "{e}.{r}(axis={x})"),
    (3, "np.{r}({e}, axis={x}, keepdims=True)"),
    (2, "np.{r}({e}, {xs})"),
    (2, "{e}.sum(axis={xs}, dtype={t})"),
    (1, "np.mean({e}, {x}, dtype={t})"),
    (1, "np.var({e}, {x}, ddof=1)"),
    (1, "np.sum({e}, where={m}, initial=2)"),
    (1, "np.max({e}, axis={x}, initial={c}, where={m})"),
    (1, "np.{ua}.reduce({e}, axis={x})"),
    (1, "np.{ua}.accumulate({e}, axis={x})"),
    (1, "np.{ua}.outer({e}.ravel()[:9], {e}[:3])"),
    (1, "np.{ua}.reduceat({e}, [0, 2, 1])"),
    (3, "{e}.astype({t})"),
    (1, "{e}.astype({t}, order={o}, casting='same_kind')"),
    (1, "{e}.astype({t}, copy=False)"),
    (2, "np.add({e}, {v}, dtype={t})"),
    (1, "np.multiply({e}, {v}, order={o})"),
    (1, "np.subtract({e}, {v}, casting={cast})"),
    (8, "{a}[{k}]"),
    (3, "{e}[{k}]"),
    (4, "{a}.T"),
    (2, "{a}.real"),
    (2, "{a}.imag"),
    (2, "{e}.conj()"),
    (3, "{a}.reshape({s})"),
    (1, "{e}.reshape({s}, order={o})"),
    (2, "{a}.ravel({o})"),
    (1, "{a}.flatten({o})"),
    (2, "{a}.swapaxes(0, -1)"),
    (1, "np.moveaxis({a}, 0, -1)"),
    (2, "{a}.squeeze()"),
    (1, "np.expand_dims({a}, {x})"),
    (2, "np.broadcast_to({a}, {s})"),
    (1, "np.broadcast_to({a}, {a}.shape)"),
    (2, "{a}.copy({o})"),
    (1, "np.copy({a}, {o})"),
    (1, "{a}.view({t})"),
    (1, "{a}.view()"),
    (1, "{a}.diagonal()"),
    (1, "np.diagonal({a}, 1)"),
    (2, "np.ascontiguousarray({a})"),
    (2, "np.asfortranarray({a})"),
    (2, "np.asarray({a}, {t})"),
    (1, "np.array({a}, {t}, ndmin=2)"),
    (1, "np.array({a}, copy=True, order={o})"),
    (1, "np.array([{a}, {a}])"),
    (1, "np.array([{c}, {c}, {c}])"),
    (1, "np.atleast_2d({a})"),
    (3, "np.where({m}, {e}, {v})"),
    (1, "np.where({m})"),
    (1, "np.nonzero({e})"),
    (1, "np.flatnonzero({e})"),
    (1, "np.argwhere({e})"),
    (2, "np.clip({e}, {c}, {c})"),
    (1, "{e}.clip({c}, {v})"),
    (1, "{e}.round({i})"),
    (2, "{e}.cumsum()"),
    (2, "{e}.cumsum(axis={x})"),
    (1, "np.cumprod({e}, {x})"),
    (1, "np.diff({e}, axis={x})"),
    (2, "np.sort({e}, axis={x})"),
    (2, "np.argsort({e}, axis={x}, kind='stable')"),
    (1, "np.searchsorted(np.sort({e}.ravel()), {v})"),
    (1, "np.unique({e})"),
    (1, "np.take({e}, [0, 1, 0], axis={x})"),
    (1, "{e}.take({i})"),
    (1, "np.repeat({e}, 2, axis={x})"),
    (1, "np.tile({e}, (2, 1))"),
    (1, "np.roll({e}, {i}, axis={x})"),
    (1, "np.flip({e}, {x})"),
    (1, "np.rot90({e})"),
    (1, "np.concatenate([{e}, {e}], axis={x})"),
    (1, "np.concatenate(({a}, {a}), axis=None)"),
    (1, "np.stack([{e}, {e}], axis={x})"),
    (1, "np.hstack([{a}, {a}])"),
    (1, "np.vstack([{a}, {a}])"),
    (2, "({e} @ {e})"),
    (1, "({a} @ {a}.T)"),
    (1, "np.dot({e}, {v})"),
    (1, "np.inner({a}, {a}[:5])"),
    (1, "np.outer({e}.ravel()[:9], {e})"),
    (1, "np.einsum('...i,...i', {e}, {e})"),
    (1, "np.trace({e})"),
    (1, "np.tril({e})"),
    (1, "np.zeros_like({e})"),
    (1, "np.full_like({e}, {c}, dtype={t})"),
    (1, "np.ones({a}.shape, {t})"),
    (1, "np.arange({a}.size).reshape({a}.shape)"),
    (1, "np.linspace(0, 1, {a}.size)"),
    (1, "np.isclose({e}, {v})"),
    (1, "np.allclose({e}, {v})"),
    (1, "np.array_equal({e}, {e})"),
    (1, "np.median({e}, axis={x})"),
    (1, "np.percentile({e}, 30)"),
    (1, "np.nansum({e}, axis={x})"),
    (1, "np.nanmax({e})"),
    (1, "np.nan_to_num({e})"),
    (1, "np.isin({e}, [0, 1, 2])"),
    (1, "np.count_nonzero({e}, axis={x})"),
    (1, "np.linalg.norm({e})"),
    (1, "np.linalg.norm({e}, axis={x})"),
    (1, "np.pad({e}, 1)"),
    (1, "np.ptp({e}, axis={x})"),
    (1, "np.average({e}, axis={x})"),
    (1, "np.bincount(np.abs({e}.ravel()) % 7)"),
    (1, "np.fft.fft({e})"),
    (1, "divmod({e}, {v})"),
    (1, "pow({e}, {c})"),
    (1, "round({e}.sum(), 2)"),
    (2, "{a}.shape"),
    (1, "{a}.dtype"),
    (1, "{a}.strides"),
    (1, "{e}.strides"),
    (1, "({a}.ndim, {a}.size, {a}.nbytes, {a}.itemsize)"),
    (1, "({a}.flags.c_contiguous, {a}.flags.f_contiguous, {a}.flags.writeable)"),
    (1, "{a}.flat[{i}]"),
    (1, "{e}.tolist()"),
    (1, "{e}.item()"),
    (1, "{e}.item({i})"),
    (1, "float({e}.sum())"),
    (1, "int({e}.max())"),
    (1, "bool({e}.any())"),
    (1, "len({a})"),
    (1, "[r for r in {a}[:40]][:3]"),
    (1, "sum({a}[:40])"),
    (1, "max({e}.ravel()[:40])"),
    (1, "({c} in {e})"),
    (1, "{a}.byteswap()"),
    (3, "({A}[1:] {op} {A}[:-1])"),
    (2, "({A}[..., 1:] {op} {A}[..., :-1])"),
    (1, "({A}[2:] - 2 * {A}[1:-1] + {A}[:-2])"),
    (1, "({A}[::2] {op} {A}[::-2])"),
    (1, "({A}[:, None] {op} {A}[None])"),
    (1, "({A}[..., None] {op} {v})"),
    (3, "({E} {op} np.{u1}({E}))"),
    (2, "(({E} * {c} + {E}) {op} ({E} * {c} + {E}))"),
    (2, "({E} - {E}.{r}(axis={x}, keepdims=True))"),
    (1, "({E} / {E}.sum(axis=-1)[..., None])"),
    (1, "({E}.{r}() {op} {E}.{r}(axis={x}))"),
    (3, "{chain}"),
    (1, "np.{r}({chain}, axis={x})"),
    (1, "np.{r}({e}, axis={x}, keepdims=True, where={m})"),
    (1, "np.sum({e}, axis={x}, initial={c}, keepdims=True)"),
    (1, "np.prod({e}, axis={xs}, initial={c}, where={m}, dtype={t})"),
    (1, "np.{ua}.reduce({e}, axis={xs}, initial={c}, keepdims=True, where={m})"),
    (1, "np.{ua}.reduce({e}, axis={x}, dtype={t})"),
    (1, "np.{ua}.accumulate({e}, axis={x}, dtype={t})"),
    (1, "np.{ua}.outer({v}, {e}.ravel()[:9])"),
    (1, "np.{ua}.reduceat({e}, [0, 1], axis={x})"),
    (1, "np.{u2n}({e}, {v}, where={m}, out=np.zeros({a}.shape, {t}))"),
    (1, "np.take({e}, {ints}, axis={x}, mode={mode})"),
    (1, "{a}.take({ints}, mode={mode})"),
    (1, "np.choose({m} * 1, [{v}, {e}])"),
    (1, "({a} > 0).choose([{v}, {v}])"),
    (1, "np.take_along_axis({E}, np.argsort({E}, axis={X}, kind='stable'), {X})"),
    (1, "np.compress([True, False, True], {e}, axis={x})"),
    (1, "np.extract({m}, {e})"),
    (1, "np.select([{m}, {m}], [{v}, {e}], {c})"),
    (1, "{a}[np.ix_([0, -1], [1, 0])]"),
    (1, "{a}[np.ix_({ints}, [True] * {a}.shape[1])]"),
    (2, "{A}[{A} > {c}]"),
    (1, "{e}[{m}]"),
    (1, "{a}[{ints}]"),
    (1, "{a}[{ints}, {ints}]"),
    (1, "{a}[..., {ints}, {i}]"),
    (2, "{a}[()]"),
    (2, "{a}.reshape(-1)[{i}]"),
    (1, "{e}.ravel()[{i}]"),
    (1, "np.asarray({e}.ravel()[{i}])"),
    (1, "np.array({c}, {t})"),
    (1, "np.array({v})"),
    (1, "{e}.sum().astype({t})"),
    (2, "{rec}['f1']"),
    (1, "({rec}['f0'] {op} {v})"),
    (1, "{rec}[{k}]['f1']"),
    (1, "np.roll({e}, {i})"),
    (1, "np.roll({e}, ({i}, {i}), axis=(0, -1))"),
    (1, "({E} - np.roll({E}, {i}, {x}))"),
    (1, "np.maximum.accumulate({a})[::-1]"),
    (1, "np.sum({a}.astype('f2'), axis={x})"),
    (1, "np.sum({a}.astype('f4') * {v}, axis=-1)"),
    (1, "np.mean({a}.astype({t}), axis={x})"),
    (1, "({a}.astype('M8[D]') {op} {v})"),
    (1, "np.diff({a}.astype('m8[h]'))"),
    (1, "np.broadcast_arrays({a}, {a})[0]"),
    (1, "np.lib.stride_tricks.sliding_window_view({a}, 2, axis=0)"),
    (1, "np.result_type({a}, {v})"),
    (1, "np.shares_memory({a}, {a})"),
]

STATEMENTS = [
    (50, "{new} = {e}"),
    (12, "{a}[{k}] = {v}"),
    (4, "{a}[{k}] = {e}"),
    (10, "{a} {ip} {v}"),
    (6, "{a}[{k}] {ip} {v}"),
    (4, "np.{u2n}({e}, {v}, out={a})"),
    (2, "np.{u1n}({e}, {a})"),
    (2, "np.{u2n}({e}, {v}, out={a}, where={m})"),
    (2, "np.{u2n}({e}, {v}, out={a}, casting='unsafe')"),
    (1, "{new} = np.{u2n}({e}, {v}, out={a}[{k}])"),
    (2, "{new} = np.{r}({e}, axis={x}, out={a})"),
    (1, "{new} = {e}.{r}({x}, out={a})"),
    (1, "{e}.cumsum(axis={x}, out={a})"),
    (2, "np.copyto({a}, {v}, casting='unsafe', where={m})"),
    (2, "{a}.fill({c})"),
    (1, "{a}.sort()"),
    (1, "{a}.sort(axis=0)"),
    (1, "np.add.at({a}, [0, 0, 1], {v})"),
    (1, "np.{ua}.at({a}, {ints}, {v})"),
    (1, "np.{ua}.at({a}, {m}, {v})"),
    (1, "np.negative.at({a}, {ints})"),
    (1, "np.put({a}, [0, 2], {v})"),
    (1, "np.put({a}, {ints}, {v}, mode={mode})"),
    (1, "np.place({a}, {m}, {v})"),
    (1, "np.putmask({a}, {m}, {v})"),
    (1, "np.put_along_axis({A}, np.argmax({A}, axis={X}, keepdims=True), {c}, {X})"),
    (1, "np.fill_diagonal({a}, {c})"),
    (1, "{a}[np.ix_([0, -1], [1, 0])] = {v}"),
    (1, "{a}[{ints}] = {v}"),
    (1, "{a}[{ints}] {ip} {v}"),
    (2, "{A}[{A} > {c}] = {v}"),
    (1, "{a}[{m}] {ip} {v}"),
    (2, "{A}[1:] = {A}[:-1]"),
    (2, "{A}[:-1] {ip} {A}[1:]"),
    (1, "{A}[1:] = {A}[:-1] {op} {v}"),
    (1, "{A}[..., 1:] = {A}[..., :-1] {op} {c}"),
    (1, "{A}[:] = {A}[::-1]"),
    (1, "{A}[::-1] {ip} {A}"),
    (1, "{A}[...] = {A}.T"),
    (2, "np.{u2n}({A}[1:], {A}[:-1], out={A}[1:])"),
    (1, "np.{u2n}({A}, {v}, out={A})"),
    (1, "np.{u1n}({A}[::-1], out={A})"),
    (1, "np.{u1n}({A}, out={A}, where={m})"),
    (1, "np.{ua}.accumulate({A}, axis={x}, out={A})"),
    (1, "np.{ua}.reduce({A}, axis=0, out={A}[0])"),
    (1, "np.take({A}, {ints}, axis=0, out={A}[:2], mode={mode})"),
    (1, "np.copyto({A}[1:], {A}[:-1])"),
    (1, "np.copyto({a}, {v}, casting={cast})"),
    (1, "{rec}['f1'] = {v}"),
    (1, "{rec}['f0'] {ip} {v}"),
    (1, "{rec}[{k}] = {c}"),
    (2, "{new} = {chain}; {a} {ip} {chain}"),
    (1, "with np.errstate(divide={err}, over={err}, invalid={err}): {new} = {e}; {a} {ip} {v}"),
    (1, "with np.errstate(all='ignore'): {new} = {e} {op} {v}; {new2} = np.{u1}({e})"),
    (1, "{new} = np.zeros({a}.shape, {t}); {new}[...] = {e}"),
    (1, "{new} = {a}[1:]; {new} {ip} {v}; {new2} = {a} {op} {c}"),
    (1, "{new} = {a}.reshape(-1); {new}[::2] = {v}; {new2} = {a} {op} {a}"),
    (1, "{new} = {a}.T; {a}[{k}] = {v}; {new2} = {new} {op} {new}"),
    (1, "{a}.partition(1)"),
    (1, "np.clip({e}, {c}, {c}, out={a})"),
    (1, "np.matmul({e}, {e}, out={a})"),
    (1, "{new} = {e}.astype({t}).{r}(axis={x})"),
    (2, "{new}, {new2} = {a}[{i}], {a}[{k}]"),
    (1, "{new}, *{new2} = {a}[:9]"),
    (1, "if {e}.any(): {a}[{k}] = {v}"),
    (1, "for i in range(3): {a}[i] = {a}[i - 1] {op} {v}"),
    (1, "{new} = [{a}[j] for j in range(len({a}[:20]))]"),
    (1, "{a}.shape = {s}"),
    (1, "{a}.flags.writeable = False"),
    (1, "with np.errstate(all={err}): {new} = {e}"),
    (1, "{new} = {e}; {new}[{k}] = {v}"),
    (1, "{a}.real = {v}"),
    (1, "{a}.flat = {v}"),
    (1, "{new} = {a}; {a} = {e}"),
    (1, "{a}, {b} = {b}, {a}"),
]


# What NumPy itself has no one answer to: truth values of other bytes than 0 and 1, and, before 2.3, writes
# through an index array that they change, which end anywhere in memory.
_READS_WHAT_IT_WRITES = r"|\b(\w+)\[[^=]*\b\1\b[^=]*\] \S*=" if np.__version__ < "2.3" else ""
UNDEFINED = re.compile(r"view\((?:bool|'\?')" + _READS_WHAT_IT_WRITES)


class Program:
    """The source of a function and the recipes of its calls."""

    def __init__(self, seed, statements=6):
        self.random = random.Random(f"arrays {seed}")
        self.errors = self.pick("warn", "warn", "ignore", "raise")
        self.large = self.random.random() < 0.04
        # Bits of long doubles that are nobody's must not be seen through views of other dtypes.
        self.long = self.random.random() < 0.3
        self.calls = self.make_calls()
        self.arrays = ["a", "b", "c"]
        self.values = ["s", "p"]
        self.body = []
        self.scope = dict(zip("abcsp", build(self.calls[0])), np=np)
        with warnings.catch_warnings(), np.errstate(all=self.errors):
            warnings.simplefilter("ignore")
            for _ in range(statements):
                if not self.statement():
                    break
        del self.scope

    @property
    def source(self):
        return source_of(self.body)

    def pick(self, *choices):
        return self.random.choice(choices)

    # ---- Calls ---------------------------------------------------------------------------------

    def dtype(self):
        roll = self.random.random()
        pool = (
            PLAIN if roll < 0.5 else NUMBERS if roll < 0.87 else SWAPPED if roll < 0.93 else OTHERS
        )
        dtype = self.random.choice(pool)
        return dtype if self.long or dtype not in "gG" else "f8"

    def dtype_of_number(self):
        dtype = self.random.choice(NUMBERS)
        return dtype if self.long or dtype not in "gG" else "f8"

    def alias(self):
        name = self.random.choice(list(ALIASES))
        return name if not self.long or name != "bytes" else "the same"

    def make_calls(self):
        sizes = LARGE if self.large else SIZES
        layouts = list(LAYOUTS)
        first = self.random.choice(sizes)
        common = self.dtype()
        arrays = []
        for _ in range(3):
            dtype = common if self.random.random() < 0.5 else self.dtype()
            layout = "C" if self.random.random() < 0.4 else self.random.choice(layouts)
            arrays.append([dtype, self.random.choice(SHAPES), layout])
        if self.random.random() < 0.5:
            arrays[1][1] = arrays[0][1]
        aliases = {k: (0, self.alias()) for k in (1, 2) if self.random.random() < 0.2}
        special = self.random.random() < 0.5
        scalar = ("scalar", self.dtype_of_number(), self.pick(0, 1, 2, 3))
        number = ("number", self.pick(0, 1, 2, -1, 3, 0.5, -1.5, 1e308, True, 1j, 300, 2**40))

        def call(number_of_call, sizes_of, arrays_of, aliases_of, odd):
            recipes = [
                ("alias", *aliases_of[k])
                if k in aliases_of
                else ("array", *array, sizes_of, 10 * number_of_call + k, odd)
                for k, array in enumerate(arrays_of)
            ]
            return [*recipes, scalar, number]

        calls = [call(0, first, arrays, aliases, False), call(1, first, arrays, aliases, special)]
        calls += [
            call(2 + i, self.random.choice(sizes), arrays, aliases, special and i == 1)
            for i in range(2)
        ]
        changed = [[dtype, shape, self.random.choice(layouts)] for dtype, shape, _ in arrays]
        calls.append(call(4, first, changed, aliases, False))
        others = {} if aliases else {k: (0, self.alias()) for k in (1, 2)}
        calls.append(call(5, self.random.choice(sizes), arrays, others, False))
        turned = [
            [self.dtype(), *rest] if self.random.random() < 0.4 else [dtype, *rest]
            for dtype, *rest in arrays
        ]
        calls.append(call(6, first, turned, aliases, special))
        calls.append(calls[0])
        return calls

    # ---- Statements ----------------------------------------------------------------------------

    def statement(self):
        """Adds a statement; false: it is the last one, it raises."""
        for _ in range(6):
            text = self.fill(self.weighted(STATEMENTS), 2)
            if UNDEFINED.search(text):
                continue
            before = dict(self.scope)
            try:
                exec(text, self.scope)
                if any(
                    isinstance(v, np.ndarray) and v.size > MOST_ITEMS for v in self.scope.values()
                ):
                    raise MemoryError
            except Exception:
                self.scope.clear()
                self.scope.update(before)
                roll = self.random.random()
                if roll < 0.04:
                    self.body.append(text)
                    return False
                if roll < 0.10:
                    self.body.append(
                        f"try:\n        {text}\n    except Exception as error: errors.append(str(error))"
                    )
                    return True
                continue
            self.body.append(text)
            for name in list(self.scope):
                if name not in before and name.startswith("v"):
                    known = self.scope[name]
                    (self.arrays if isinstance(known, np.ndarray) else self.values).append(name)
            self.values = [
                v for v in self.values if not isinstance(self.scope[v], (tuple, list, np.dtype))
            ]
            return True
        return True

    def weighted(self, rows):
        while True:
            text = self.random.choices(rows, [weight for weight, _ in rows])[0][1]
            if not self.long or not ("view({" in text or "byteswap" in text):
                return text

    def fill(self, template, depth):
        same = {}

        def text_for(hole):
            name = hole[1]
            if not name.isupper():
                return self.hole(name, depth)
            if name not in same:
                same[name] = self.hole(name.lower(), depth)
            return same[name]

        return re.sub(r"\{(\w+)\}", text_for, template)

    def expression(self, depth):
        if depth == 0 or self.random.random() < 0.25:
            return self.array()
        return self.fill(self.weighted(EXPRESSIONS), depth - 1)

    def array(self):
        return self.random.choice(self.arrays)

    def of_kind(self, kinds):
        """The arrays whose dtypes are of these kinds; a name can have been bound to something else."""
        known = ((a, getattr(self.scope[a], "dtype", None)) for a in self.arrays)
        return [a for a, dtype in known if dtype is not None and dtype.kind in kinds]

    def constant(self):
        roll = self.random.random()
        dates = roll < 0.4 and self.of_kind("Mm")
        text = self.random.choice(DATES if dates else SCALARS if roll < 0.6 else CONSTANTS)
        return text if self.long or "long" not in text else "3.0"

    def hole(self, name, depth):
        pick = self.pick
        if name in ("a", "b"):
            return self.array()
        if name == "e":
            return self.expression(depth)
        if name == "v":
            roll = self.random.random()
            if roll < 0.25:
                return self.constant()
            if roll < 0.4 and self.values:
                return self.random.choice(self.values)
            return self.expression(min(depth, 1))
        if name in ("new", "new2"):
            return f"v{len(self.body)}{'' if name == 'new' else 'b'}"
        if name == "c":
            return self.constant()
        simple = {
            "op": OPERATORS,
            "ip": INPLACE,
            "r": REDUCE,
            "u1": ONE,
            "u2": TWO,
            "u1n": ONE,
            "u2n": TWO,
            "ua": [
                "add",
                "multiply",
                "maximum",
                "minimum",
                "logical_or",
                "bitwise_xor",
                "subtract",
                "hypot",
                "logaddexp",
            ],
            "x": ["0", "-1", "1", "None", "0", "-1", "-2", "2"],
            "xs": ["(0, 1)", "(0, -1)", "(1,)", "()", "(1, 0)", "None", "(0, 2)", "(-1,)"],
            "i": ["0", "1", "-1", "2", "-2"],
            "o": ["'C'", "'F'", "'K'", "'A'"],
            "ints": [
                "[0, -1]",
                "[1, 1, 0]",
                "[[0, 1], [1, 0]]",
                "np.array([0, 1, 0])",
                "np.array([1, -1], 'i2')",
                "np.arange(2)",
                "[]",
                "[0, 5]",
            ],
            "mode": ["'raise'", "'wrap'", "'clip'"],
            "cast": ["'no'", "'equiv'", "'safe'", "'same_kind'", "'unsafe'"],
            "err": ["'ignore'", "'raise'", "'warn'"],
        }
        if name in simple:
            return self.random.choice(simple[name])
        return getattr(self, f"hole_{name}")()

    def hole_t(self):
        dtype = (
            self.random.choice(SWAPPED) if self.random.random() < 0.1 else self.dtype_of_number()
        )
        return self.pick(
            repr(dtype),
            repr(dtype),
            repr(self.random.choice(PLAIN)),
            "float",
            "int",
            "complex",
            "bool",
            "np.float32",
            f"{self.array()}.dtype",
        )

    def hole_s(self):
        a = self.array()
        return self.pick(
            "-1",
            "(-1, 1)",
            "(1, -1)",
            f"{a}.shape",
            f"{a}.size",
            f"(2, *{a}.shape)",
            f"{a}.shape[::-1]",
            "(-1, 2)",
            "()",
            "(3, -1)",
        )

    def hole_m(self):
        a = self.array()
        return self.pick(
            f"({a} > 0)",
            f"({a} != {a})",
            f"({a} == {self.array()})",
            f"np.isnan({a})",
            "True",
            "False",
            f"({a} > {a}.mean())",
            f"{a}.astype(bool)",
        )

    def hole_rec(self):
        return self.random.choice(self.of_kind("V") or self.arrays)

    def hole_chain(self):
        """Up to some hundred operations on arrays that go together, more often a few."""
        text = first = self.array()
        shape = getattr(self.scope[first], "shape", None)
        others = [a for a in self.arrays if getattr(self.scope[a], "shape", None) == shape]
        for _ in range(self.pick(3, 6, 6, 12, 12, 25, 60, 140)):
            roll = self.random.random()
            if roll < 0.2:
                text = f"{self.random.choice(LINKS)}({text})"
            elif roll < 0.35:
                text = f"np.{self.pick('maximum', 'minimum', 'hypot', 'add')}({text}, {self.constant()})"
            else:
                other = self.constant() if roll < 0.6 else self.random.choice(others)
                text = f"({text} {self.random.choice(CHAINED)} {other})"
        return text

    def part(self):
        return self.pick(
            ":",
            "1:",
            ":-1",
            "::2",
            "::-1",
            "-2:",
            "0",
            "-1",
            "1",
            "None",
            "...",
            "1:3",
            "::-2",
            "5:2",
            "[0, 1]",
            "[1, -1, 0]",
            "np.array([0, 1])",
            "p",
            "s",
            "[]",
            "[[0], [1]]",
        )

    def hole_k(self):
        roll = self.random.random()
        if roll < 0.15:
            return self.hole_m()
        if roll < 0.2:
            return f"{self.array()}"
        if roll < 0.6:
            return self.part()
        return ", ".join(self.part() for _ in range(self.random.randint(2, 3)))


def source_of(body):
    """A function of these statements that returns every name they bind."""
    names = sorted(set(re.findall(r"\bv\d+b?\b", "\n".join(body))))
    bound = "".join(f"    {name} = None\n" for name in names)
    lines = "".join(f"    {text}\n" for text in body)
    returned = ", ".join(["a", "b", "c", *names, "errors"])
    return f"def f(a, b, c, s, p):\n    errors = []\n{bound}{lines}    return {returned}\n"
