"""Runs one program plainly and compiled, each in a namespace of its own, and compares all that can be seen.

What a call left behind is described as one text: results, arguments and globals together, type by type
and bit by bit, objects with an identity numbered in the order in which they are met, so that two
descriptions are equal exactly if the worlds look alike, aliases included.  What is not here: the grammar
(`programs.py`) and processes (`run.py`).
"""

from __future__ import annotations

import collections
import contextlib
import decimal
import enum
import fractions
import gc
import hashlib
import io
import re
import struct
import sys
import traceback
import types
import warnings

import dyntrace
import numpy as np
from dyntrace import _core
from dyntrace.api import _compile_target

SETTINGS = dict(everything=True, strict=True, trace_budget_ns=0, recompile_limit=64, attempt_limit=1000)


class Difference(AssertionError):
    """The compiled program did something else."""


def build(recipes, namespace):
    """The arguments that the recipes stand for; equal in each world, shared with none."""
    values = []
    for kind, *rest in recipes:
        if kind == "alias":
            values.append(values[rest[0]])
        elif kind == "list":
            values.append(list(rest[0]))
        elif kind == "tuple":
            values.append(tuple(rest[0]))
        elif kind == "dict":
            values.append(dict(rest[0]))
        elif kind == "box":
            values.append(namespace[rest[0]](*rest[1:]))
        elif kind == "object":
            values.append(namespace[rest[0]](np.arange(float(rest[1])), rest[2]))
        elif kind == "array":
            values.append(_array(*rest))
        elif kind == "overlap":
            other = values[rest[0]]
            part = {"flip": (slice(None, None, -1),) * other.ndim, "all": ..., "T": ...}[rest[1]]
            values.append(other[part].T if rest[1] == "T" else other[part])
        elif kind == "odd":
            values.append(ODD[rest[0]]())
        elif kind == "odd array":
            values.append(ODD_ARRAYS[rest[0]](_array("f8", rest[1], "c", 5, False)))
        elif kind == "arrays":
            one = _array("f8", rest[0], "c", rest[1], False)
            values.append([one, one[::-1] if one.ndim else one, one, _array("i8", rest[0], "c", 3, False)])
        elif kind == "scalar":
            values.append(np.dtype(rest[0]).type(rest[1]))
        elif kind == "range":
            values.append(range(rest[0]))
        elif kind == "none":
            values.append(None)
        else:
            values.append(rest[0])
    return values


# The programs' own module, as far as the standard library asks for it by name.
sys.modules.setdefault("program", types.ModuleType("program"))


class Whole(int):
    """An int with an operator of its own."""

    def __add__(self, other):
        return 40 + int(other)


class Real(float):
    """A float that is none to the type check."""


class Row(list):
    """A list with a length of its own."""

    def __len__(self):
        return 2


class Tagged(np.ndarray):
    """A subclass of ndarray without anything of its own."""


class Loud(np.ndarray):
    """A subclass of ndarray that takes part in every ufunc."""

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        plain = [np.asarray(x) if isinstance(x, Loud) else x for x in inputs]
        return (ufunc.__name__, getattr(ufunc, method)(*plain, **kwargs))


class Level(enum.IntEnum):
    """Ints with a name."""

    LOW = 1
    HIGH = 3


Point = collections.namedtuple("Point", "x y")

ODD = (
    lambda: Whole(3),
    lambda: Real(2.5),
    lambda: Row([4, 5, 6]),
    lambda: Level.HIGH,
    lambda: Point(1, 2.5),
    lambda: collections.OrderedDict(a=1, b=2),
    lambda: collections.defaultdict(int, a=3),
    lambda: 1 + 2j,
    lambda: b"ab",
    lambda: {1, 2},
    lambda: fractions.Fraction(1, 3),
    lambda: decimal.Decimal("1.5"),
    lambda: collections.deque([1, 2]),
    lambda: memoryview(b"abc"),
)


def _unaligned(a):
    room = np.zeros(a.nbytes + 1, "u1")
    part = room[1:].view("u1")[: a.nbytes].view("f8").reshape(a.shape)
    part[...] = a
    return part


def _read_only(a):
    a.flags.writeable = False
    return a


ODD_ARRAYS = (
    lambda a: a.view(Tagged),
    lambda a: a.view(Loud),
    lambda a: a.astype(">f8"),
    lambda a: a.astype(object),
    lambda a: np.ma.masked_greater(a, 1.0),
    lambda a: a.astype("f2"),
    lambda a: a.astype("g"),
    lambda a: a.astype("u8"),
    lambda a: a.astype("i2"),
    lambda a: a.astype("c8"),
    lambda a: np.asarray(a.astype("i8").astype("m8[s]")),
    _unaligned,
    _read_only,
    lambda a: a.astype("U5"),
    lambda a: np.full(a.shape, np.iinfo("i8").min),
    lambda a: np.full(a.shape, 200, "u1"),
)


def _array(dtype, shape, layout, seed, special):
    generator = np.random.RandomState(seed)
    wide = {"step": tuple(2 * n for n in shape), "offset": tuple(n + 1 for n in shape)}.get(layout, shape)
    if layout == "broad" and shape:
        wide = (1, *shape[1:])
    if layout == "f":
        wide = shape[::-1]
    if dtype == "b1":
        data = generator.randint(0, 2, wide).astype(bool)
    elif dtype[0] in "iu":
        data = np.asarray(generator.randint(-4, 6, wide)).astype(dtype)
    else:
        data = np.asarray(generator.uniform(-2, 3, wide))
        if special and data.size:
            special = generator.choice([np.nan, np.inf, -np.inf, -0.0, 0.0])
            data = np.where(generator.uniform(size=wide) < 0.4, special, data)
        data = data.astype(dtype)
        if dtype == "c16":
            data = data + 1j * generator.uniform(-1, 1, wide)
    data = np.asarray(data)
    if layout == "step":
        data = data[tuple(slice(None, None, 2) for _ in shape)]
    elif layout == "offset":
        data = data[tuple(slice(1, None) for _ in shape)]
    elif layout == "back":
        data = data[tuple(slice(None, None, -1) for _ in shape)]
    elif layout == "f":
        data = data.T
    elif layout == "broad" and shape:
        data = np.broadcast_to(data, shape)
    return data


class TooLarge(Exception):
    """A program has built something that takes long to look at; it says nothing about the compiler."""


class _Description:
    """Lines of text about some values, see the head of this file."""

    def __init__(self):
        self.lines, self.numbers, self.keep, self.arrays = [], {}, [], []

    def add(self, path, value):
        kind = type(value)
        path = _without_addresses(path)
        if kind is int and abs(value) >> 64:
            self.lines.append(f"{path}: int {value:#x}")
        elif kind is str:
            if len(value) > 1_000_000:  # the text of a list of its own texts doubles with each call
                raise TooLarge
            self.lines.append(f"{path}: str {_without_addresses(repr(value))}")
        elif value is None or kind in (bool, int, bytes, range, type(Ellipsis), slice):
            self.lines.append(f"{path}: {kind.__name__} {value!r}")
        elif kind is float:
            self.lines.append(f"{path}: float {value!r} {struct.pack('d', value).hex()}")
        elif kind is complex:
            self.lines.append(f"{path}: complex {value!r} {struct.pack('dd', value.real, value.imag).hex()}")
        elif isinstance(value, (np.longdouble, np.clongdouble, fractions.Fraction, decimal.Decimal)):
            self.lines.append(f"{path}: {kind.__name__} {value!r}")
        elif isinstance(value, np.generic):
            self.lines.append(f"{path}: {kind.__name__} {value!r} {value.tobytes().hex()}")
        elif isinstance(value, (type, types.ModuleType, types.BuiltinFunctionType, np.dtype, np.ufunc)):
            self.lines.append(f"{path}: {kind.__name__} {getattr(value, '__name__', value)}")
        elif id(value) in self.numbers and not (kind is tuple and not value):
            self.lines.append(f"{path}: is {self.numbers[id(value)]}")
        else:
            self.numbers[id(value)] = path
            self.keep.append(value)
            self.parts(path, value, kind)

    def parts(self, path, value, kind):
        if value is np.ma.masked:  # refuses to be asked for its bytes
            self.lines.append(f"{path}: masked")
            return
        if isinstance(value, np.ndarray):
            strides = tuple(s if n > 1 else 0 for n, s in zip(value.shape, value.strides))
            flags = [f for f in ("C_CONTIGUOUS", "F_CONTIGUOUS", "WRITEABLE", "ALIGNED") if value.flags[f]]
            if value.dtype.hasobject or value.dtype.char in "gG":
                self.lines.append(f"{path}: {kind.__name__} {value.dtype} {value.shape} {value.tolist()!r}")
                return
            text = value.ravel()[:6].tolist()
            data = value.tobytes()
            data = data.hex() if len(data) <= 64 else hashlib.sha1(data).hexdigest()
            self.lines.append(
                f"{path}: {kind.__name__} {value.dtype} {value.shape} {strides} {flags} {text}"
                f" {data}"
            )
            self.arrays.append((path, value))
            return
        if isinstance(value, (dict, list, tuple)) and len(value) > 20_000:
            raise TooLarge
        items = []
        name = getattr(value, "__qualname__", "")
        if isinstance(value, dict):
            self.lines.append(f"{path}: {kind.__name__} of {len(value)}")
            items = [p for i, (k, v) in enumerate(value.items()) for p in ((f".key{i}", k), (f"[{k!r}]", v))]
        elif isinstance(value, (list, tuple, collections.deque)):
            self.lines.append(f"{path}: {kind.__name__} of {len(value)} {getattr(value, 'maxlen', '')}")
            items = [(f"[{i}]", v) for i, v in enumerate(value)]
        elif isinstance(value, types.FunctionType):
            self.lines.append(f"{path}: function {name} line {value.__code__.co_firstlineno}")
            cells = [(f".cell{i}", _contents(c)) for i, c in enumerate(value.__closure__ or ())]
            items = [(".defaults", value.__defaults__), (".kwdefaults", value.__kwdefaults__), *cells]
        elif isinstance(value, types.MethodType):
            self.lines.append(f"{path}: method {name}")
            items = [(".self", value.__self__)]
        elif isinstance(value, BaseException):
            self.lines.append(f"{path}: {kind.__name__} {value}")
        elif isinstance(value, (set, frozenset, memoryview)):
            self.lines.append(f"{path}: {kind.__name__} {_without_addresses(repr(list(value)))}")
        elif hasattr(value, "__dict__"):
            self.lines.append(f"{path}: {kind.__name__}")
            items = [(f".{k}", v) for k, v in (*vars(value).items(), *_in_slots(value))]
        else:
            self.lines.append(f"{path}: {kind.__name__}")
            items = [(f".{k}", v) for k, v in _in_slots(value)]
        for label, part in items:
            self.add(path + label, part)

    def shared(self):
        """Which arrays lie in the same memory, and how far apart."""
        found = [(path, a, a.__array_interface__["data"][0]) for path, a in self.arrays if a.size]
        for i, (path, a, start) in enumerate(found):
            for other, b, begin in found[:i]:
                if np.may_share_memory(a, b):
                    self.lines.append(f"{path} shares {other} at {start - begin}")


def _without_addresses(text):
    return re.sub("(?i)0x[0-9a-f]{6,}", "0x", text) if "0x" in text or "0X" in text else text


def _in_slots(value):
    """The names and values of what lies in slots that the classes of a program have."""
    for kind in type(value).__mro__:
        names = vars(kind).get("__slots__", ()) if kind.__module__ == "program" else ()
        for name in (names,) if isinstance(names, str) else names:
            if not name.startswith("__") and hasattr(value, name):
                yield name, getattr(value, name)


def _contents(cell):
    try:
        return cell.cell_contents
    except ValueError:
        return "<empty>"


def _observe(namespace, fn, args):
    """Calls and describes."""
    output, error, result, frames = io.StringIO(), None, None, []
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(output):
        warnings.simplefilter("always")
        try:
            result = fn(*args)
        except Exception as raised:
            error = raised
    if error is not None:
        frames = [
            (f.name, f.lineno, getattr(f, "colno", None), getattr(f, "end_colno", None))
            for f in traceback.extract_tb(error.__traceback__)
            if f.filename != __file__
        ]
        if isinstance(error, UnboundLocalError) and sys.version_info[:2] == (3, 11):
            frames[-1] = frames[-1][:1]  # its line is that of the instruction before once the code is warm
        # Without this frame, which refers to the error: suspended generators in its frames end with it.
        error.__traceback__ = error.__traceback__.tb_next
    gc.collect()
    description = _Description()
    # Where the limit is met, and so in which words, depends on how deep the call stands.
    text = "" if isinstance(error, RecursionError) else _without_addresses(str(error))
    description.lines.append(f"error: {type(error).__name__} {text} {frames}")
    description.lines.append(f"printed: {_without_addresses(output.getvalue())!r}")
    for w in caught:
        message = _without_addresses(str(w.message))
        description.lines.append(f"warning: {w.category.__name__} {message} {w.filename} {w.lineno}")
    if error is not None:
        context = error.__context__
        description.lines.append(f"context: {type(context).__name__} {_without_addresses(str(context))}")
    description.add("result", result)
    for i, argument in enumerate(args):
        description.add(f"arg{i}", argument)
    for i, part in enumerate(namespace["state"]()):
        description.add(f"state{i}", part)
    description.shared()
    return description, error


def _change(world, text):
    """Runs a statement in a world; it may fail where the program has left other things behind."""
    with contextlib.suppress(Exception):
        exec(text, world)


def repair(source, calls, attempts=6):
    """Leaves out, where that is possible, the statements of `main` that raise in the first call.

    A program that raises runs plainly, so that one which does not says more.
    """
    for _ in range(attempts):
        world = {"__name__": "program"}
        try:
            exec(compile(source, "<repair>", "exec"), world)
            with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
                warnings.simplefilter("ignore")
                world["main"](*build(calls[0], world))
            return source
        except Exception as error:
            frames = [f for f in traceback.extract_tb(error.__traceback__) if f.name == "main"]
        if not frames:
            return source
        lines = source.splitlines()
        line = lines[frames[0].lineno - 1]
        indent = line[: len(line) - len(line.lstrip())]
        if line.lstrip().startswith(("def ", "if ", "for ", "while ", "else", "try", "return", "except")):
            return source
        lines[frames[0].lineno - 1] = indent + "pass"
        shorter = "\n".join(lines) + "\n"
        try:
            compile(shorter, "<repair>", "exec")
        except SyntaxError:  # a nonlocal name has lost its binding
            return source
        source = shorter
    return source


def run(source, calls, path, backend="native", changes=()):
    """As `compare`; a program that grows too large to look at has done nothing.

    Cycles are collected after each call: what dies with them must not depend on when that is.  What was
    there before is left out of that.
    """
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        return compare(source, calls, path, backend, changes)
    except TooLarge:
        return {"published": 0, "breaks": []}
    finally:
        gc.enable()


def compare(source, calls, path, backend="native", changes=()):
    """Runs the program in both worlds; raises Difference.  Returns counts of what was captured.

    `backend` None: both are plain, and a difference is the program's own.
    """
    code = compile(source, path, "exec")
    worlds = [{"__name__": "program"}, {"__name__": "program"}]
    for world in worlds:
        exec(code, world)
    plain = worlds[0]["main"]
    with dyntrace.config.patch(**SETTINGS):
        region = _core.Region(backend or "native", record=True)
        traced = worlds[1]["main"]
        if backend is not None:
            worlds[1]["main"] = traced = _compile_target(traced, region)
        for number, recipes in enumerate(calls):
            seen, held = [], []
            change, mode = changes[number] if changes else ("", {})
            for world, fn in zip(worlds, (plain, traced)):
                _change(world, change)
                values = build(recipes, world)
                with np.errstate(**mode):
                    description, error = _observe(world, fn, values)
                if world is worlds[0] and isinstance(error, MemoryError):
                    raise TooLarge  # arrays that nobody uses are not made by compiled code
                seen.append(description.lines)
                held.append((description, error))
            if seen[0] != seen[1]:
                pairs = [f"plain    {a}\ncompiled {b}" for a, b in zip(*seen) if a != b]
                longer = max(seen, key=len)[min(map(len, seen)) :]
                text = "\n".join(pairs[:3]) or "\n".join(longer[:3])
                raise Difference(f"call {number} {recipes} {change} {mode}\n{text}")
        faults = [r["fault"] for r in region.records if r["fault"] is not None]
        if faults:
            raise Difference(f"fault: {faults[0]}")
        return {
            "published": sum(1 for r in region.records if r["published"]),
            "breaks": [r["break"]["id"] for r in region.records if r["break"] is not None],
        }
