"""Dates and time deltas of numbers that are known: they are made while tracing."""

from __future__ import annotations

import datetime as original
from typing import Any

from dyntrace.polyfills import fold, polyfill


@polyfill(original.date)
def date(year: Any, month: Any, day: Any) -> Any:
    return fold(original.date, year, month, day)


@polyfill(original.timedelta)
def timedelta(
    days: Any = 0,
    seconds: Any = 0,
    microseconds: Any = 0,
    milliseconds: Any = 0,
    minutes: Any = 0,
    hours: Any = 0,
    weeks: Any = 0,
) -> Any:
    return fold(
        original.timedelta, days, seconds, microseconds, milliseconds, minutes, hours, weeks
    )
