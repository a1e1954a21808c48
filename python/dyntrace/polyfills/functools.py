"""The C functions of ``functools``."""

from __future__ import annotations

import _functools
from typing import Any

from dyntrace.polyfills import polyfill, text_of

_EMPTY = text_of(_functools.reduce, max, ())
_NOT_ITERABLE = text_of(_functools.reduce, max, None)


@polyfill(_functools.reduce)
def reduce(function: Any, sequence: Any, /, *initial: Any) -> Any:
    failed = False
    try:
        iterator = iter(sequence)
    except TypeError:
        failed = True
    if failed:  # outside of the handler: C code raises without a context
        raise TypeError(_NOT_ITERABLE)
    if initial:
        (value,) = initial
    else:
        for value in iterator:
            break
        else:
            raise TypeError(_EMPTY)
    for item in iterator:
        value = function(value, item)
    return value


class _Key:
    """What cmp_to_key() makes of each item; never leaves the trace."""

    def __init__(self, compare: Any, obj: Any) -> None:
        self.compare = compare
        self.obj = obj

    def _ask(self, other: Any) -> Any:
        if type(other) is not _Key:
            raise TypeError("other argument must be K instance")
        return self.compare(self.obj, other.obj)

    def __lt__(self, other: Any) -> Any:
        return self._ask(other) < 0

    def __gt__(self, other: Any) -> Any:
        return self._ask(other) > 0

    def __le__(self, other: Any) -> Any:
        return self._ask(other) <= 0

    def __ge__(self, other: Any) -> Any:
        return self._ask(other) >= 0

    def __eq__(self, other: Any) -> Any:
        return self._ask(other) == 0


@polyfill(_functools.cmp_to_key)
def cmp_to_key(mycmp: Any) -> Any:
    return _functools.partial(_Key, mycmp)
