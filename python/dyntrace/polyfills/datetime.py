"""Dates, times and time deltas of numbers that are known: they are made while tracing."""

from __future__ import annotations

import datetime as original
from typing import Any

from dyntrace.polyfills import fold as _fold
from dyntrace.polyfills import polyfill, unfollowable


@polyfill(original.date)
def date(year: Any, month: Any, day: Any) -> Any:
    return _fold(original.date, year, month, day)


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
    return _fold(
        original.timedelta, days, seconds, microseconds, milliseconds, minutes, hours, weeks
    )


@polyfill(original.datetime)
def datetime(
    year: Any,
    month: Any,
    day: Any,
    hour: Any = 0,
    minute: Any = 0,
    second: Any = 0,
    microsecond: Any = 0,
    tzinfo: Any = None,
    *,
    fold: Any = 0,
) -> Any:
    return _fold(
        original.datetime, year, month, day, hour, minute, second, microsecond, tzinfo, fold=fold
    )


@polyfill(original.time)
def time(
    hour: Any = 0,
    minute: Any = 0,
    second: Any = 0,
    microsecond: Any = 0,
    tzinfo: Any = None,
    *,
    fold: Any = 0,
) -> Any:
    return _fold(original.time, hour, minute, second, microsecond, tzinfo, fold=fold)


#: What strftime() writes the same in every locale.
_DIGITS = "YmdHMSfjyuwVGUWIzZ%"


def _strftime(self: Any, format: Any) -> Any:
    if type(format) is not str:
        unfollowable("strftime() of a format that is no text")
    at = format.find("%")
    while at >= 0:
        if format[at + 1 : at + 2] not in _DIGITS or at + 1 == len(format):
            unfollowable("strftime() of what depends on the locale")
        at = format.find("%", at + 2)
    return _fold(_formatted, self, format)


def _formatted(self: Any, format: Any) -> Any:
    return self.strftime(format)


@polyfill(original.date.strftime)
def date_strftime(self: Any, /, format: Any) -> Any:
    return _strftime(self, format)


@polyfill(original.time.strftime)
def time_strftime(self: Any, /, format: Any) -> Any:
    return _strftime(self, format)
