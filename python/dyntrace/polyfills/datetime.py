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


_HERE: Any = object()


@polyfill(original.timezone)
def timezone(offset: Any, name: Any = _HERE) -> Any:
    return _fold(original.timezone, offset, *(() if name is _HERE else (name,)))


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


# ---- Class methods, which only make a value of their arguments


def _own(cls: Any, expected: Any) -> None:
    if cls is not expected:
        unfollowable(f"a class method of a subclass of {expected.__name__}")


def _class_method(cls: str, name: str, *args: Any) -> Any:
    return getattr(getattr(original, cls), name)(*args)


@polyfill(vars(original.date)["fromisoformat"])
def date_fromisoformat(cls: Any, date_string: Any, /) -> Any:
    _own(cls, original.date)
    return _fold(_class_method, "date", "fromisoformat", date_string)


@polyfill(vars(original.datetime)["fromisoformat"])
def datetime_fromisoformat(cls: Any, date_string: Any, /) -> Any:
    _own(cls, original.datetime)
    return _fold(_class_method, "datetime", "fromisoformat", date_string)


@polyfill(vars(original.time)["fromisoformat"])
def time_fromisoformat(cls: Any, time_string: Any, /) -> Any:
    _own(cls, original.time)
    return _fold(_class_method, "time", "fromisoformat", time_string)


@polyfill(vars(original.date)["fromordinal"])
def fromordinal(cls: Any, ordinal: Any, /) -> Any:
    if cls is original.datetime:
        return _fold(_class_method, "datetime", "fromordinal", ordinal)
    _own(cls, original.date)
    return _fold(_class_method, "date", "fromordinal", ordinal)


@polyfill(vars(original.date)["fromisocalendar"])
def fromisocalendar(cls: Any, year: Any, week: Any, day: Any) -> Any:
    if cls is original.datetime:
        return _fold(_class_method, "datetime", "fromisocalendar", year, week, day)
    _own(cls, original.date)
    return _fold(_class_method, "date", "fromisocalendar", year, week, day)


@polyfill(vars(original.datetime)["fromtimestamp"])
def datetime_fromtimestamp(cls: Any, timestamp: Any, tz: Any = None) -> Any:
    _own(cls, original.datetime)
    if tz is None:
        unfollowable("fromtimestamp() in the zone of the system")
    return _fold(_class_method, "datetime", "fromtimestamp", timestamp, tz)


@polyfill(vars(original.datetime)["combine"])
def combine(cls: Any, date: Any, time: Any, tzinfo: Any = _HERE) -> Any:
    _own(cls, original.datetime)
    if tzinfo is _HERE:
        return _fold(_class_method, "datetime", "combine", date, time)
    return _fold(_class_method, "datetime", "combine", date, time, tzinfo)


#: Directives that read the same in every locale: digits, and zones by their distance.
_READ_DIGITS = "YmdHMSfjyz%"


@polyfill(vars(original.datetime)["strptime"])
def strptime(cls: Any, date_string: Any, format: Any, /) -> Any:
    _own(cls, original.datetime)
    if type(format) is not str:
        unfollowable("strptime() with a format that is no text")
    if "d" in format and "Y" not in format and "y" not in format:
        unfollowable("strptime() of a day without a year, which may warn")
    at = format.find("%")
    while at >= 0:
        if format[at + 1 : at + 2] not in _READ_DIGITS:
            unfollowable("strptime() of what depends on the locale")
        at = format.find("%", at + 2)
    return _fold(_class_method, "datetime", "strptime", date_string, format)


# ---- Methods that ask the system for its zone unless there is one


def _method(self: Any, name: str, *args: Any) -> Any:
    return getattr(self, name)(*args)


@polyfill(original.datetime.astimezone)
def astimezone(self: Any, /, tz: Any = None) -> Any:
    if tz is None or self.tzinfo is None:
        unfollowable("astimezone() by the zone of the system")
    return _fold(_method, self, "astimezone", tz)


@polyfill(original.datetime.timestamp)
def timestamp(self: Any, /) -> Any:
    if self.tzinfo is None:
        unfollowable("timestamp() by the zone of the system")
    return _fold(_method, self, "timestamp")
