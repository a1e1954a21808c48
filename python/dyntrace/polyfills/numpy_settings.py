"""NumPy's settings: of floating-point errors, of the buffer, of printing, for good and in regions."""

from __future__ import annotations

import importlib
from types import CodeType
from typing import Any

import numpy as np

from dyntrace.polyfills import (
    BITS,
    CALL,
    NOTHING,
    effect,
    fp_region,
    fp_setting,
    polyfill,
    printing,
    unfollowable,
)


@polyfill(np.seterr)
def seterr(
    all: Any = None, divide: Any = None, over: Any = None, under: Any = None, invalid: Any = None
) -> Any:
    before = np.geterr()
    if not fp_setting(*_bits(all, divide, over, under, invalid)):
        effect(NOTHING, np.seterr, all, divide, over, under, invalid)
    return before


@polyfill(np.seterrcall)
def seterrcall(func: Any) -> Any:
    before = np.geterrcall()
    if func is not None and not callable(func):
        unfollowable("an object that logs floating-point errors")
    effect(CALL, np.seterrcall, func)
    return before


@polyfill(np.setbufsize)
def setbufsize(size: Any) -> Any:
    before = np.getbufsize()
    if type(size) is not int or not 16 <= size <= 1 << 20 or size % 16 != 0:
        unfollowable("a buffer of such a size")
    effect(BITS, np.setbufsize, size)
    return before


def _one_of(value: Any, *choices: Any) -> None:
    """Gives up unless the option was left out, or is of one of these types, or one of these texts."""
    if value is not None and type(value) not in choices and value not in choices:
        unfollowable("such an option of printing")


def _printing(
    precision: Any = None,
    threshold: Any = None,
    edgeitems: Any = None,
    linewidth: Any = None,
    suppress: Any = None,
    nanstr: Any = None,
    infstr: Any = None,
    formatter: Any = None,
    sign: Any = None,
    floatmode: Any = None,
    *,
    legacy: Any = None,
    override_repr: Any = None,
) -> Any:
    """The options of set_printoptions() by place."""
    _one_of(precision, int)
    _one_of(threshold, int)
    _one_of(edgeitems, int)
    _one_of(linewidth, int)
    _one_of(suppress, bool)
    _one_of(nanstr, str)
    _one_of(infstr, str)
    _one_of(sign, "-", "+", " ")
    _one_of(floatmode, "fixed", "unique", "maxprec", "maxprec_equal")
    if formatter is not None or legacy is not None or override_repr is not None:
        unfollowable("printing by functions, or as it was once")
    return (
        precision, threshold, edgeitems, linewidth, suppress, nanstr, infstr, None, sign, floatmode,
    )  # fmt: skip


@polyfill(np.set_printoptions)
def set_printoptions(
    precision: Any = None,
    threshold: Any = None,
    edgeitems: Any = None,
    linewidth: Any = None,
    suppress: Any = None,
    nanstr: Any = None,
    infstr: Any = None,
    formatter: Any = None,
    sign: Any = None,
    floatmode: Any = None,
    *,
    legacy: Any = None,
    override_repr: Any = None,
) -> None:
    options = _printing(
        precision, threshold, edgeitems, linewidth, suppress, nanstr, infstr, formatter, sign, floatmode,
        legacy=legacy, override_repr=override_repr,
    )  # fmt: skip
    printing(options, False)
    effect(NOTHING, np.set_printoptions, *options)


class _Printing:
    """Stands for the manager that np.printoptions() gives; it never leaves the trace."""

    def __init__(self, options: Any) -> None:
        self.options = options
        self.before: Any = None

    def __enter__(self) -> Any:
        if self.before is not None:
            unfollowable("options of printing for a second time")
        self.before = printing(self.options, True)
        return np.get_printoptions()

    def __exit__(self, kind: Any, *rest: Any) -> None:
        if kind is not None or self.before is None:
            unfollowable("an exception that leaves np.printoptions()")
        printing(self.before)

    def __getattr__(self, name: str) -> Any:
        unfollowable("an attribute of what np.printoptions() gives")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        unfollowable("a call of what np.printoptions() gives")


@polyfill(np.printoptions)
def printoptions(*args: Any, **kwargs: Any) -> Any:
    return _Printing(_printing(*args, **kwargs))


# ---- errstate --------------------------------------------------------------------------------


class _Region:
    """Stands for the token of an errstate that was entered; it never leaves the trace."""

    def __init__(self, before: Any) -> None:
        self.before = before


_UNSPECIFIED = getattr(importlib.import_module("numpy._core._ufunc_config"), "_Unspecified", None)


def _bits(all: Any, *modes: Any) -> Any:
    """What is ignored, warned of and raised, by the modes of divide, over, under and invalid."""
    ignored = warned = raised = 0
    for bit, mode in zip((1, 2, 4, 8), modes, strict=True):
        if mode is None:
            mode = all
        if mode is None:
            continue
        if type(mode) is not str or mode not in ("ignore", "warn", "raise"):
            unfollowable("floating-point errors of such a mode")
        if mode == "ignore":
            ignored |= bit
        elif mode == "warn":
            warned |= bit
        else:
            raised |= bit
    return ignored, warned, raised


def _enter_region(state: Any) -> Any:
    """The region of an errstate begins; gives what ends it."""
    if state._call is not _UNSPECIFIED:
        unfollowable("errstate with a function to call")
    return fp_region(*_bits(state._all, state._divide, state._over, state._under, state._invalid))


def _inside(function: Any, name: str) -> Any:
    """The code of a function that `function` makes."""
    for constant in function.__code__.co_consts:
        if isinstance(constant, CodeType) and constant.co_name == name:
            return constant
    raise AssertionError(name)


if "_token" in getattr(np.errstate, "__slots__", ()):

    @polyfill(np.errstate.__init__)
    def errstate_init(
        self: Any,
        *,
        call: Any = _UNSPECIFIED,
        all: Any = None,
        divide: Any = None,
        over: Any = None,
        under: Any = None,
        invalid: Any = None,
    ) -> None:
        self._token = None
        self._call = call
        self._all = all
        self._divide = divide
        self._over = over
        self._under = under
        self._invalid = invalid

    @polyfill(np.errstate.__enter__)
    def errstate_enter(self: Any) -> None:
        if self._token is not None:
            raise TypeError("Cannot enter `np.errstate` twice.")
        self._token = _Region(_enter_region(self))

    @polyfill(np.errstate.__exit__)
    def errstate_exit(self: Any, *exc_info: Any) -> None:
        try:
            before = self._token.before
        except AttributeError:
            unfollowable("an errstate that was entered before")
        fp_region(before)

    @polyfill(_inside(np.errstate.__call__, "inner"))
    def errstate_inner(function: Any, *args: Any, **kwargs: Any) -> Any:
        names = function.__code__.co_freevars
        before = _enter_region(function.__closure__[names.index("self")].cell_contents)
        try:
            return function.__closure__[names.index("func")].cell_contents(*args, **kwargs)
        finally:
            fp_region(before)
