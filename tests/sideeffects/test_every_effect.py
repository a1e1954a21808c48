"""Every kind of effect that is replayed: one function for each, in five situations.

`w` is a world made afresh for each call; what it holds afterwards is compared, with the order in which its
recording objects were used, the result, and the exception that leaves the call.
"""

from __future__ import annotations

import collections
import io
import logging
import random
import sys
import traceback
import types

import dyntrace
import numpy as np
import pytest
from differential import FORCED, Compiled

EFFECTS = {}
BREAKS = {}


def effect(function=None, *, breaks=None):
    """`breaks`: the id of the break that a plain use gives today; without it, it is captured whole."""
    if function is None:
        return lambda f: effect(f, breaks=breaks)
    EFFECTS[function.__name__] = function
    BREAKS[function.__name__] = breaks
    return function


class Plain:
    pass


class Slotted:
    __slots__ = ("a", "b")


class Recording:
    """Writes down each change of its attributes and its property."""

    def __init__(self, log):
        object.__setattr__(self, "log", log)
        object.__setattr__(self, "held", 0)

    def __setattr__(self, name, value):
        self.log.append(("set", name, value))
        object.__setattr__(self, name, value)

    def __delattr__(self, name):
        self.log.append(("del", name))
        object.__delattr__(self, name)


class Propertied:
    def __init__(self, log):
        self.log, self._p = log, 0

    @property
    def p(self):
        self.log.append("get")
        return self._p

    @p.setter
    def p(self, value):
        self.log.append(("set", value))
        self._p = value

    @p.deleter
    def p(self):
        self.log.append("del")
        self._p = -1


class OwnList(list):
    pass


class OwnDict(dict):
    def __setitem__(self, key, value):
        self.seen = [*getattr(self, "seen", []), key]
        super().__setitem__(key, value)


class OwnSet(set):
    pass


class OwnDeque(collections.deque):
    pass


class World:
    def __init__(self):
        self.log = []
        self.li, self.di, self.se, self.ba = [3, 1, 2], {"a": 1, "b": 2}, {1, 2}, bytearray(b"abc")
        self.dq = collections.deque([1, 2, 3], 5)
        self.dd = collections.defaultdict(list, a=[1])
        self.od = collections.OrderedDict(a=1, b=2, c=3)
        self.co = collections.Counter("abca")
        self.ol, self.odi, self.os, self.odq = OwnList([1, 2]), OwnDict(a=1), OwnSet({1}), OwnDeque([1])
        self.obj, self.slo = Plain(), Slotted()
        self.obj.a, self.slo.a = 1, 1
        self.rec, self.pro = Recording(self.log), Propertied(self.log)
        self.cls = type("Made", (), {"a": 1})
        self.mod = types.ModuleType("some")
        self.mod.a = 1
        self.fn = types.FunctionType((lambda p=1, *, q=2: (p, q)).__code__, globals(), "fn", (1,))
        self.fn.__kwdefaults__ = {"q": 2}
        self.rng = random.Random(7)
        self.keys = [Plain(), Plain(), Plain()]
        self.objs = set(self.keys[:2])
        self.by_obj = {self.keys[0]: 0, self.keys[1]: 1}
        self.it = iter([1, 2, 3, 4, 5, 6, 7, 8])
        self.gen = (n * n for n in range(20))
        self.arr = np.arange(12.0).reshape(3, 4)
        self.row, self.col = self.arr[1], self.arr[:, 1]
        self.tup = ([1], {"k": [2]})
        count, total = 0, [0]

        def inc():
            nonlocal count
            count += 1
            return count

        def get():
            return count

        self.inc, self.get = inc, get
        self.error = ValueError("made before")
        self.out = io.StringIO()


# ---- Containers ------------------------------------------------------------------------------------


@effect
def list_contents(w, x, k):
    w.li.append(x)
    w.li[0] = k
    del w.li[1]
    w.li.extend([k, k])
    w.li.insert(1, "in")
    w.li.reverse()


@effect
def list_sorted_and_cleared(w, x, k):
    w.li.sort()
    n = w.li.pop()
    w.li += [n, k]
    w.li[1:2] = [7, 8, 9]
    return n


@effect
def dict_contents(w, x, k):
    w.di["c", k] = x
    w.di["a"] = k
    w.di.pop("b", None)
    w.di.setdefault("d", []).append(k)
    w.di.update(e=k)
    return list(w.di)


@effect
def set_contents(w, x, k):
    w.se.add(k + 10)
    w.se.discard(1)
    w.se |= {5, 6}
    w.se ^= {2, 5}


@effect
def set_of_objects(w, x, k):
    w.objs.add(w.keys[2])
    w.objs.discard(w.keys[0])
    for o in w.keys:
        o.there = o in w.objs


@effect
def objects_in_a_set(w, x, k):
    for o in w.objs:
        o.mark = k


@effect
def dict_by_objects(w, x, k):
    w.by_obj[w.keys[2]] = k
    w.by_obj[w.keys[0]] += 1
    for o, n in w.by_obj.items():
        o.n = n


@effect
def bytearray_contents(w, x, k):
    w.ba.append(65 + k)
    w.ba[0] = 90
    w.ba += b"xyz"
    del w.ba[1]


@effect
def deque_contents(w, x, k):
    w.dq.append(k)
    w.dq.appendleft(x)
    w.dq.rotate(1)
    n = w.dq.pop()
    w.dq.extend([8, 9])
    return n


@effect
def deque_item_stored(w, x, k):
    w.dq[0] = k
    w.dq.remove(2) if 2 in w.dq else None
    return w.dq.popleft()


@effect
def defaultdict_contents(w, x, k):
    w.dd["new", k].append(x)
    w.dd["a"].append(k)
    return len(w.dd)


@effect
def ordered_dict_contents(w, x, k):
    w.od["z", k] = k
    w.od.move_to_end("a")
    w.od["b"] = x
    w.od.pop("c", None)
    return list(w.od)


@effect
def ordered_dict_ends(w, x, k):
    w.od["y", k] = x
    first = w.od.popitem(last=False)
    w.od.move_to_end(("y", k), last=False)
    return first


@effect
def counter_contents(w, x, k):
    w.co["a"] += k
    w.co.update("xyx")
    return w.co["missing"]


@effect
def own_list(w, x, k):
    w.ol.append(k)
    w.ol[0] = x
    w.ol.extra = k


@effect
def own_dict_with_a_hook(w, x, k):
    w.odi["k", k] = x
    w.odi["a"] = k


@effect
def own_set(w, x, k):
    w.os.add(k)


@effect
def own_deque(w, x, k):
    w.odq.append(k)


@effect
def containers_inside_a_tuple(w, x, k):
    w.tup[0].append(k)
    w.tup[1]["k"].append(x)


# ---- Attributes ------------------------------------------------------------------------------------


@effect
def attributes_of_an_instance(w, x, k):
    w.obj.a = x
    w.obj.b = k
    del w.obj.a
    w.obj.c = w.obj.__dict__


@effect
def slots(w, x, k):
    w.slo.b = x
    w.slo.a = k
    del w.slo.a


@effect
def attributes_of_a_module(w, x, k):
    w.mod.a = x
    w.mod.b = k


@effect
def attributes_of_a_class(w, x, k):
    w.cls.a = k


@effect
def attributes_of_a_function(w, x, k):
    w.fn.note = k
    w.fn.array = x


@effect
def defaults_of_a_function(w, x, k):
    w.fn.__defaults__ = (k,)
    w.fn.__kwdefaults__ = {"q": k + 1}
    return w.fn()


@effect
def names_of_a_function(w, x, k):
    w.fn.__name__ = f"n{k}"
    w.fn.__qualname__ = "q"
    w.fn.__doc__ = "d"
    w.fn.__module__ = "m"
    w.fn.__annotations__ = {"p": k}


@effect(breaks="missing-slot")
def dict_of_a_function(w, x, k):
    w.fn.__dict__["note"] = k
    w.fn.__dict__.update(other=x)
    return w.fn.note


@effect
def recording_setter(w, x, k):
    w.rec.a = k
    w.rec.a = x
    w.log.append("between")
    w.rec.held = w.rec.a
    del w.rec.a


@effect
def property_with_effects(w, x, k):
    w.pro.p = k
    w.log.append(w.pro.p)
    w.pro.p += 1
    del w.pro.p


# ---- Names and cells -------------------------------------------------------------------------------

NAME = 0


@effect
def globals_of_this_module(w, x, k):
    global NAME
    NAME = NAME + k
    w.log.append(NAME)


@effect
def cells_of_a_closure(w, x, k):
    w.inc()
    w.log.append(w.get())
    return w.inc() + w.get()


@effect
def a_cell_by_its_contents(w, x, k):
    cell = w.get.__closure__[0]
    cell.cell_contents = cell.cell_contents + 5
    return w.inc()


# ---- Positions and states --------------------------------------------------------------------------


@effect
def position_of_an_iterator(w, x, k):
    return next(w.it)


@effect(breaks="missing-slot")
def position_of_a_generator(w, x, k):
    return next(w.gen)


@effect
def state_of_a_random(w, x, k):
    w.log.append(w.rng.random())
    return w.rng.randrange(100)


@effect
def context_of_an_exception(w, x, k):
    try:
        try:
            raise KeyError(k)
        except KeyError as error:
            w.log.append(type(error).__name__)
            raise ValueError("second") from error
    except ValueError as error:
        w.log.append((str(error), type(error.__cause__).__name__))


# ---- Arrays ----------------------------------------------------------------------------------------


@effect
def array_items(w, x, k):
    w.arr[0, 1] = k
    w.arr[1:] += 1.5
    w.row[:] = w.col[0]


@effect
def array_fancy(w, x, k):
    w.arr[[0, 2], 1] = [k, 9.0]
    w.arr[w.arr > 6] = -1.0


@effect
def array_through_views(w, x, k):
    w.row += w.arr[0]
    w.col *= 2
    w.arr[:, 1] -= w.row[1]


@effect
def array_out(w, x, k):
    np.add(w.arr, 1.0, out=w.arr)
    np.copyto(w.row, x)
    np.multiply(w.row, k, w.row)


# ---- Through breaks --------------------------------------------------------------------------------


@effect(breaks="attribute")
def print_to_a_stream(w, x, k):
    w.li.append(k)
    print(len(w.li), k, file=w.out)


LOGGER = logging.getLogger("tests.every_effect")


@effect(breaks="skipped-function")
def logging_through_a_break(w, x, k):
    w.di["logged"] = k
    handler = logging.StreamHandler(w.out)
    LOGGER.addHandler(handler)
    try:
        LOGGER.error("value %d of %s", k, sorted(map(str, w.di)))
    finally:
        LOGGER.removeHandler(handler)


@effect
def the_same_object_by_two_ways(w, x, k):
    w.two = w.one = {"n": [k]}
    w.one["n"].append(x)
    w.li.append(w.two["n"])
    w.log.append(w.li[-1] is w.one["n"])


@effect
def put_back(w, x, k):
    before = w.di["a"] if "a" in w.di else None
    w.di["a"] = "other"
    w.li.append(k)
    w.li.pop()
    w.di["a"] = before


# ---- Situations ------------------------------------------------------------------------------------


@dyntrace.disable
def opaque(w):
    w.log.append("break")


def once(run, w, x):
    return run(w, x, 1), x * 2


def leaves(run, w, x):
    y = x + 1
    w.got = run(w, x, 1)
    w.after = y
    raise KeyError("left")


def around_a_break(run, w, x):
    a = run(w, x, 1), x + 1
    opaque(w)
    return a, run(w, x, 2), x * 3


def in_a_loop(run, w, x):
    got = []
    for k in range(3):
        x = x + k
        got.append(run(w, x, k))
        opaque(w)
    return got, x


def in_a_handler(run, w, x):
    try:
        w.first = run(w, x, 1)
        raise ValueError("inside")
    except ValueError as error:
        w.log.append(str(error))
        w.second = run(w, x * 2, 2)
    finally:
        w.log.append("finally")
    return x - 1


SITUATIONS = [once, leaves, around_a_break, in_a_loop, in_a_handler]


def portrait(value, seen=None):
    """The value as nested tuples; objects with an identity are numbered in the order they are met."""
    seen = {} if seen is None else seen
    if value is None or isinstance(value, (bool, int, float, str, bytes, type, types.BuiltinFunctionType)):
        return type(value).__name__, str(value)
    if isinstance(value, tuple) and all(isinstance(v, (int, str)) for v in value):
        return "tuple", value  # a constant, whose identity says nothing
    if id(value) in seen:
        return "again", seen[id(value)][0]
    seen[id(value)] = len(seen), value
    if isinstance(value, np.generic):
        return type(value).__name__, value.tobytes()
    if isinstance(value, np.ndarray):
        base = portrait(value.base, seen) if value.base is not None else None
        return "array", value.dtype.str, value.shape, value.tobytes(), base
    parts = []
    if isinstance(value, (list, tuple, collections.deque)):
        parts += [portrait(v, seen) for v in value]
    elif isinstance(value, dict):
        parts += [(portrait(k, seen), portrait(v, seen)) for k, v in value.items()]
    elif isinstance(value, (set, frozenset)):
        simple = all(isinstance(v, (int, str)) for v in value)
        parts += [portrait(v, seen) for v in (value if simple else ())]
        parts.append(sorted(map(str, map(type, value))))
    elif isinstance(value, bytearray):
        parts.append(bytes(value))
    elif isinstance(value, random.Random):
        parts.append(value.getstate())
    elif isinstance(value, io.StringIO):
        parts.append(value.getvalue())
    elif isinstance(value, types.FunctionType):
        parts.append((value.__name__, value.__qualname__, value.__doc__, value.__module__))
        parts += [portrait(value.__defaults__, seen), portrait(value.__kwdefaults__, seen)]
        parts.append(portrait([c.cell_contents for c in value.__closure__ or ()], seen))
    elif isinstance(value, type(iter([]))):
        parts.append(value.__reduce__()[2:])
    elif isinstance(value, types.GeneratorType):
        parts.append(value.gi_frame.f_locals["n"] if value.gi_frame.f_lasti > 8 else None)
    elif isinstance(value, Slotted):
        parts += [portrait(getattr(value, n, None), seen) for n in Slotted.__slots__]
    if isinstance(value, collections.defaultdict):
        parts.append(str(value.default_factory))
    if hasattr(value, "__dict__") and not isinstance(value, type):
        own = {k: v for k, v in vars(value).items() if not k.startswith("__")}
        parts += [(k, portrait(v, seen)) for k, v in own.items()]
    return type(value).__name__, tuple(parts)


def call(target):
    global NAME
    NAME = 0
    w, x = World(), np.linspace(0.5, 2.0, 4)
    made = w.cls
    try:
        result, error = target(w, x), None
    except Exception as caught:
        result = None
        lines = [(f.name, f.lineno) for f in traceback.extract_tb(caught.__traceback__)]
        lines = [line for line in lines if line[0] not in ("call", "__call__")]
        error = type(caught), str(caught), lines
    return portrait([w, result]), error, NAME, dict(vars(made), __dict__=0, __weakref__=0), sys.exc_info()


def difference(a, b, path=""):
    """Where two portraits differ first, or None."""
    if isinstance(a, (tuple, list)) and type(a) is type(b) and len(a) == len(b):
        found = (difference(p, q, f"{path}.{i}") for i, (p, q) in enumerate(zip(a, b)))
        return next((f for f in found if f is not None), None)
    return None if a == b else f"{path}: {str(a)[:300]} became {str(b)[:300]}"


def bind(situation, name):
    """`situation` with the effect as a global, so that it is inlined as any function is."""
    space = dict(situation.__globals__, run=EFFECTS[name])
    code = situation.__code__
    inner = types.FunctionType(code, space, situation.__name__)
    run = EFFECTS[name]

    def target(w, x):
        return inner(run, w, x)

    return target


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda s: s.__name__)
@pytest.mark.parametrize("name", EFFECTS)
def test_effect(name, situation):
    target = bind(situation, name)
    plain = call(target)
    with dyntrace.config.patch(strict=True, trace_budget_ns=0, everything=True):
        compiled = Compiled(target)
        for _ in range(3):
            different = difference(plain, call(compiled))
            assert different is None, different
    if FORCED:
        return
    if situation is once and BREAKS[name] is None:
        assert not compiled.breaks and not compiled.faults, compiled.describe()
    elif situation is once:
        assert BREAKS[name] in compiled.breaks, compiled.describe()
