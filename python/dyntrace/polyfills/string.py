"""What ``string.Formatter`` asks of the parser of formats."""

from __future__ import annotations

import _string
from typing import Any

from dyntrace.polyfills import fold, polyfill, unfollowable


class _Parts:
    """The iterator that the parser gives; never leaves the trace."""

    def __init__(self, parts: Any) -> None:
        self._rest = iter(parts)

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        return next(self._rest)


def _parsed(text: Any) -> Any:
    try:
        return list(_string.formatter_parser(text))
    except ValueError:
        return None  # after what comes before the mistake


def _split(name: Any) -> Any:
    first, rest = _string.formatter_field_name_split(name)
    try:
        return first, list(rest)
    except ValueError:
        return first, None


@polyfill(_string.formatter_parser)
def formatter_parser(object: Any, /) -> Any:
    parts = fold(_parsed, object)
    if parts is None:
        unfollowable("a format with a mistake in it")
    return _Parts(parts)


@polyfill(_string.formatter_field_name_split)
def formatter_field_name_split(object: Any, /) -> Any:
    first, rest = fold(_split, object)
    if rest is None:
        unfollowable("a format with a mistake in it")
    return first, _Parts(rest)
