"""Regular expressions on strings that are known while tracing."""

from __future__ import annotations

import re
import sys
from typing import Any

from dyntrace.polyfills import fold, polyfill, unfollowable

_COMPILED_WITH_FLAGS = "cannot process flags argument with a compiled pattern"


# Where a group is named, and what may follow there without a warning.
_GROUP_NAMES = re.compile(r"\(\?(?:P[<=]|\()")
_QUIET_NAME = re.compile(r"\w+[>)]", re.ASCII)
_TEMPLATE_NAMES = re.compile(r"\\g<")


def _names_are_quiet(text: str, before: Any) -> bool:
    return all(_QUIET_NAME.match(text, found.end()) for found in before.finditer(text))


def _is_quiet(pattern: Any, flags: Any) -> bool:
    """Whether compiling prints nothing and gives no warning."""
    if flags & re.DEBUG:
        return False
    text = pattern if isinstance(pattern, str) else str(pattern, "latin-1")
    if not _names_are_quiet(text, _GROUP_NAMES):
        return False
    if "(?" in text and any(f"(?{flag}" in text[2:] for flag in "aiLmsuxt-"):
        return False  # flags that are not at the start
    return not ("[" in text and any(pair in text for pair in ("[[", "--", "&&", "~~", "||")))


def _compile_quietly(pattern: Any, flags: Any) -> Any:
    return re.compile(pattern, flags) if _is_quiet(pattern, flags) else None


def _pattern(pattern: Any, flags: Any) -> Any:
    if isinstance(pattern, re.Pattern):
        if flags:
            raise ValueError(_COMPILED_WITH_FLAGS)
        return pattern
    if not isinstance(pattern, (str, bytes)):
        return unfollowable(f"a regular expression given as a {type(pattern).__name__}")
    if not isinstance(flags, int):
        return unfollowable("a regular expression with flags that are no int")
    compiled = fold(_compile_quietly, pattern, flags if type(flags) is int else int(flags))
    if compiled is None:
        return unfollowable("a regular expression whose compilation may warn or print")
    return compiled


@polyfill(re.compile)
def compile(pattern: Any, flags: Any = 0) -> Any:
    return _pattern(pattern, flags)


@polyfill(re.match)
def match(pattern: Any, string: Any, flags: Any = 0) -> Any:
    return _pattern(pattern, flags).match(string)


@polyfill(re.fullmatch)
def fullmatch(pattern: Any, string: Any, flags: Any = 0) -> Any:
    return _pattern(pattern, flags).fullmatch(string)


@polyfill(re.search)
def search(pattern: Any, string: Any, flags: Any = 0) -> Any:
    return _pattern(pattern, flags).search(string)


@polyfill(re.finditer)
def finditer(pattern: Any, string: Any, flags: Any = 0) -> Any:
    return _pattern(pattern, flags).finditer(string)


@polyfill(re.findall)
def findall(pattern: Any, string: Any, flags: Any = 0) -> Any:
    return _pattern(pattern, flags).findall(string)


def _split(pattern: Any, string: Any, maxsplit: Any, flags: Any) -> Any:
    return _pattern(pattern, flags).split(string, maxsplit)


if sys.version_info >= (3, 13):
    _NONE = re.sub.__kwdefaults__["count"]

    @polyfill(re.sub)
    def sub(
        pattern: Any, repl: Any, string: Any, *args: Any, count: Any = _NONE, flags: Any = _NONE
    ) -> Any:
        if args:
            return unfollowable("re.sub() with a positional count, which warns")
        return pattern_subn(_pattern(pattern, int(flags)), repl, string, int(count))[0]

    @polyfill(re.subn)
    def subn(
        pattern: Any, repl: Any, string: Any, *args: Any, count: Any = _NONE, flags: Any = _NONE
    ) -> Any:
        if args:
            return unfollowable("re.subn() with a positional count, which warns")
        return pattern_subn(_pattern(pattern, int(flags)), repl, string, int(count))

    @polyfill(re.split)
    def split(
        pattern: Any, string: Any, *args: Any, maxsplit: Any = _NONE, flags: Any = _NONE
    ) -> Any:
        if args:
            return unfollowable("re.split() with a positional maxsplit, which warns")
        return _split(pattern, string, int(maxsplit), int(flags))

    for _function, _original in ((sub, re.sub), (subn, re.subn), (split, re.split)):
        # What the originals say of themselves leaves out the positional forms that warn.
        _function.__text_signature__ = _original.__text_signature__

else:

    @polyfill(re.sub)
    def sub(pattern: Any, repl: Any, string: Any, count: Any = 0, flags: Any = 0) -> Any:
        return pattern_subn(_pattern(pattern, flags), repl, string, count)[0]

    @polyfill(re.subn)
    def subn(pattern: Any, repl: Any, string: Any, count: Any = 0, flags: Any = 0) -> Any:
        return pattern_subn(_pattern(pattern, flags), repl, string, count)

    @polyfill(re.split)
    def split(pattern: Any, string: Any, maxsplit: Any = 0, flags: Any = 0) -> Any:
        return _split(pattern, string, maxsplit, flags)


def _all(pattern: Any, string: Any, bounds: Any) -> Any:
    return list(pattern.finditer(string, *bounds))


@polyfill(re.Pattern.finditer)
def pattern_finditer(self: Any, /, string: Any, pos: Any = 0, endpos: Any = sys.maxsize) -> Any:
    found = iter(fold(_all, self, string, (pos, endpos)))
    return iter(lambda: next(found, None), None)  # a callable_iterator, as the original's


@polyfill(re.Pattern.sub)
def pattern_sub(self: Any, /, repl: Any, string: Any, count: Any = 0) -> Any:
    return pattern_subn(self, repl, string, count)[0]


def _subn_quietly(pattern: Any, repl: Any, string: Any, count: Any) -> Any:
    text = repl if isinstance(repl, str) else str(repl, "latin-1")
    return pattern.subn(repl, string, count) if _names_are_quiet(text, _TEMPLATE_NAMES) else None


def _matches(pattern: Any, string: Any, count: Any) -> Any:
    found = []
    for one in pattern.finditer(string):
        found.append(one)
        if len(found) == count:
            break
    return found


@polyfill(re.Pattern.subn)
def pattern_subn(self: Any, /, repl: Any, string: Any, count: Any = 0) -> Any:
    if not callable(repl):
        if not isinstance(repl, (str, bytes)):
            return unfollowable(f"a replacement given as a {type(repl).__name__}")
        done = fold(_subn_quietly, self, repl, string, count)
        if done is None:
            return unfollowable("a replacement whose template may warn")
        return done
    found = fold(_matches, self, string, count)
    parts, end = [], 0
    for one in found:
        parts.append(string[end : one.start()])
        text = repl(one)
        if text is not None:
            parts.append(text)
        end = one.end()
    parts.append(string[end:])
    return string[:0].join(parts), len(found)
