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
