"""Ufuncs of other packages, as graphs call them.

Their loops may warn from C (those of ``scipy.special`` do, where they are told to, and about numbers that
should be integers).  A graph has no line that such a warning could name, so that it has to be noticed:
warnings are registered with the module that the calling frame belongs to, and where what should be the
registry is no dict, each raises ``TypeError`` before anything is printed or filtered.  The call is then
made again plainly.
"""

from __future__ import annotations

from functools import partial
from typing import Any

__warningregistry__ = 0


def _call(ufunc: Any, /, *args: Any, **kwargs: Any) -> Any:
    return ufunc(*args, **kwargs)


def _call_with_one(ufunc: Any, a: Any, /, *args: Any, **kwargs: Any) -> Any:
    return ufunc(a, *args, **kwargs) if args or kwargs else ufunc(a)


def _call_with_two(ufunc: Any, a: Any, b: Any, /, *args: Any, **kwargs: Any) -> Any:
    return ufunc(a, b, *args, **kwargs) if args or kwargs else ufunc(a, b)


_BY_INPUTS = {1: _call_with_one, 2: _call_with_two}  # the interpreter unpacks a tuple slowly


def raising(ufunc: Any) -> Any:
    """The ufunc, raising where it would warn."""
    return partial(_BY_INPUTS.get(ufunc.nin, _call), ufunc)
