"""A small array library and its adapter, written against the public interface alone.

ToyArray holds floats in a shared Python list: an offset, a shape and strides make it a view. There are
a subclass (ToyMask), devices, in-place and random operations, views, and a mode of the library
(`saturate`) that changes results. No NumPy anywhere.
"""

from __future__ import annotations

import random

from dyntrace import adapters

_generator = random.Random(0)
saturate = False  # a mode: results are clipped to [-1, 1]


def manual_seed(seed):
    _generator.seed(seed)


def set_saturate(on):
    global saturate
    saturate = on


def _product(sizes):
    result = 1
    for size in sizes:
        result = result * size
    return result


def _strides(shape):
    strides, step = [], 1
    for size in reversed(shape):
        strides.insert(0, step)
        step *= size
    return tuple(strides)


class ToyArray:
    def __init__(self, buffer, shape, offset=0, strides=None, device="host", frozen=False):
        self.buffer, self.shape, self.offset = buffer, tuple(shape), offset
        self.strides = strides or _strides(self.shape)
        self.device, self.frozen = device, frozen

    dtype = property(lambda self: "float")
    ndim = property(lambda self: len(self.shape))

    def places(self):
        """Index into the buffer of every element, in order."""
        places = [self.offset]
        for size, stride in zip(self.shape, self.strides):
            places = [p + i * stride for p in places for i in range(size)]
        return places

    def tolist(self):
        return [self.buffer[p] for p in self.places()]

    def __len__(self):
        return self.shape[0]

    def __add__(self, other):
        return add(self, other)

    __radd__ = __add__

    def __mul__(self, other):
        return mul(self, other)

    __rmul__ = __mul__

    def __neg__(self):
        return mul(self, -1.0)

    def __iadd__(self, other):
        return self.add_(other)

    def __lt__(self, other):
        return less(self, other)

    def __getitem__(self, index):
        return row(self, index)

    def __setitem__(self, index, value):
        target = row(self, index)
        target.fill_(0.0)
        target.add_(value)

    def add_(self, other):
        if self.frozen:
            raise TypeError("a frozen array can't be written")
        values = add(self, other).tolist()
        for place, value in zip(self.places(), values):
            self.buffer[place] = value
        return self

    def fill_(self, value):
        for place in self.places():
            self.buffer[place] = value
        return self

    def total(self):
        return total(self)

    def to(self, device):
        return ToyArray(self.tolist(), self.shape, device=device)

    @property
    def T(self):
        return transpose(self)


class ToyMask(ToyArray):
    """What comparisons give: every element is 0.0 or 1.0."""


def array(values, device="host"):
    return ToyArray([float(v) for v in values], (len(values),), device=device)


def zeros(*shape, device="host"):
    return ToyArray([0.0] * _product(shape), shape, device=device)


def uniform(size, device="host"):
    return ToyArray([_generator.random() for _ in range(size)], (size,), device=device)


def _elementwise(function, a, b, cls=ToyArray):
    first = a if isinstance(a, ToyArray) else b
    left = a.tolist() if isinstance(a, ToyArray) else [a] * len(b.tolist())
    right = b.tolist() if isinstance(b, ToyArray) else [b] * len(left)
    if isinstance(a, ToyArray) and isinstance(b, ToyArray):
        if a.device != b.device:
            raise RuntimeError(f"arrays on {a.device} and {b.device}")
        if a.shape != b.shape:
            raise ValueError(f"shapes {a.shape} and {b.shape}")
    values = [function(x, y) for x, y in zip(left, right)]
    if saturate:
        values = [min(1.0, max(-1.0, v)) for v in values]
    return cls(values, first.shape, device=first.device)


def add(a, b):
    return _elementwise(lambda x, y: x + y, a, b)


def mul(a, b):
    return _elementwise(lambda x, y: x * y, a, b)


def less(a, b):
    return _elementwise(lambda x, y: float(x < y), a, b, ToyMask)


def total(a):
    return ToyArray([sum(a.tolist())], (), device=a.device)


def row(a, index):
    offset = a.offset + (index % a.shape[0]) * a.strides[0]
    return ToyArray(a.buffer, a.shape[1:], offset, a.strides[1:] or (), a.device, a.frozen)


def transpose(a):
    return ToyArray(a.buffer, a.shape[::-1], a.offset, a.strides[::-1], a.device, a.frozen)


def concat(a, b):
    return ToyArray(a.tolist() + b.tolist(), (a.shape[0] + b.shape[0],), device=a.device)


def halves(a):
    half = a.shape[0] // 2
    values = a.tolist()
    return array(values[:half], a.device), array(values[half:], a.device)


# ---- The adapter ------------------------------------------------------------------------------------


class ToyAdapter(adapters.Adapter):
    name = "toy"
    _functions = (add, mul, less, total, row, transpose, concat, halves, zeros, uniform)
    _methods = ("add_", "fill_", "total", "to")
    _operators = {"+": add, "*": mul}

    def is_array(self, obj):
        return type(obj) is ToyArray or type(obj) is ToyMask

    def owns(self, obj):
        return any(obj is function for function in self._functions)

    def describe(self, obj):
        return adapters.Meta(type(obj), obj.dtype, obj.shape, obj.device)

    def guard(self, obj):
        return obj.frozen

    def check(self, spec, obj):
        return obj.frozen == spec

    def state(self):
        return saturate

    def _new(self, shape, device="host", cls=ToyArray):
        return adapters.Meta(cls, "float", tuple(shape), device)

    def _pointwise(self, function, a, b, cls=ToyArray):
        metas = [x for x in (a, b) if isinstance(x, adapters.Meta)]
        if len(metas) == 2:
            if a.device != b.device:
                raise RuntimeError(f"arrays on {a.device} and {b.device}")
            if a.ndim != b.ndim or any(m != n for m, n in zip(a.shape, b.shape)):
                raise ValueError("shapes differ")
        elif not isinstance(b if metas[0] is a else a, (int, float)) and type(b).__name__[:3] != "Sym":
            return NotImplemented
        return adapters.Op(function, (a, b), results=self._new(metas[0].shape, metas[0].device, cls))

    def call(self, target, args, kwargs):
        if target in (add, mul):
            return self._pointwise(target, *args)
        if target is less:
            return self._pointwise(less, *args, ToyMask)
        if target is zeros:
            return adapters.Op(zeros, args, kwargs, self._new(args, **kwargs))
        if target is uniform:
            return adapters.Op(uniform, args, kwargs, self._new(args[:1], **kwargs), effect="random")
        if target is concat:
            a, b = args
            return adapters.Op(concat, args, results=self._new((a.shape[0] + b.shape[0],), a.device))
        if target is halves:
            (a,) = args
            half = a.shape[0] // 2
            sizes = (half, a.shape[0] - half)
            return adapters.Op(halves, args, results=tuple(self._new((n,), a.device) for n in sizes))
        return {total: self._total, row: self.getitem, transpose: self._transpose}[target](*args)

    def _total(self, a):
        return adapters.Op(total, (a,), results=self._new((), a.device))

    def _transpose(self, a):
        return adapters.Op(transpose, (a,), results=a.replace(shape=a.shape[::-1]), aliases={0: 0})

    def binary(self, op, left, right):
        if op == "+=":
            return self.method(left, "add_", (right,), {})
        function = self._operators.get(op)
        return NotImplemented if function is None else self._pointwise(function, left, right)

    def compare(self, op, left, right):
        return self._pointwise(less, left, right, ToyMask) if op == "<" else NotImplemented

    def unary(self, op, operand):
        return self._pointwise(mul, operand, -1.0) if op == "-" else NotImplemented

    def getitem(self, array, key):
        if type(key) is not int:
            return NotImplemented
        return adapters.Op(row, (array, key), results=self._new(array.shape[1:], array.device),
                           aliases={0: 0})

    def setitem(self, array, key, value):
        return adapters.Op(ToyArray.__setitem__, (array, key, value), name="setitem", effect="mutates",
                           mutates=(0,))

    def getattr(self, array, name):
        if name in self._methods:
            return adapters.METHOD
        if name in ("shape", "device", "dtype", "ndim"):
            return getattr(array, name)
        return self._transpose(array) if name == "T" else NotImplemented

    def method(self, array, name, args, kwargs):
        if name in ("add_", "fill_"):
            return adapters.Op(getattr(ToyArray, name), (array, *args), kwargs, None, effect="mutates",
                               mutates=(0,), value=array)
        if name == "to":
            return adapters.Op(ToyArray.to, (array, *args), results=array.replace(device=args[0]))
        return self._total(array)


ADAPTER = ToyAdapter()
