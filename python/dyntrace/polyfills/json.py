"""JSON: of values that are known while tracing at once, of others object by object."""

from __future__ import annotations

import json
import json.encoder as encoder
from typing import Any

from dyntrace.polyfills import fold, is_known, polyfill, unfollowable


@polyfill(json.dumps)
def dumps(
    obj: Any,
    *,
    skipkeys: Any = False,
    ensure_ascii: Any = True,
    check_circular: Any = True,
    allow_nan: Any = True,
    cls: Any = None,
    indent: Any = None,
    separators: Any = None,
    default: Any = None,
    sort_keys: Any = False,
    **kw: Any,
) -> Any:
    if cls is None and default is None and is_known(obj):
        return fold(
            json.dumps,
            obj,
            skipkeys=skipkeys,
            ensure_ascii=ensure_ascii,
            check_circular=check_circular,
            allow_nan=allow_nan,
            indent=indent,
            separators=separators,
            sort_keys=sort_keys,
            **kw,
        )
    if cls is None:
        cls = json.JSONEncoder
    return cls(
        skipkeys=skipkeys,
        ensure_ascii=ensure_ascii,
        check_circular=check_circular,
        allow_nan=allow_nan,
        indent=indent,
        separators=separators,
        default=default,
        sort_keys=sort_keys,
        **kw,
    ).encode(obj)


@polyfill(json.loads)
def loads(
    s: Any,
    *,
    cls: Any = None,
    object_hook: Any = None,
    parse_float: Any = None,
    parse_int: Any = None,
    parse_constant: Any = None,
    object_pairs_hook: Any = None,
    **kw: Any,
) -> Any:
    return fold(
        json.loads,
        s,
        cls=cls,
        object_hook=object_hook,
        parse_float=parse_float,
        parse_int=parse_int,
        parse_constant=parse_constant,
        object_pairs_hook=object_pairs_hook,
        **kw,
    )


# ---- Encoders


def _float_text(number: Any, allow_nan: Any) -> Any:
    text = float.__repr__(number)
    if text == "nan":
        text = "NaN"
    elif text == "inf":
        text = "Infinity"
    elif text == "-inf":
        text = "-Infinity"
    else:
        return text
    if not allow_nan:
        unfollowable("a number that JSON does not have")
    return text


class _Encoder:
    """What both of the encoders of `json` do, with a list of what is being written instead of
    addresses; never leaves the trace. An error of an encoder is raised by plain execution."""

    def __init__(
        self,
        check_circular: Any,
        default: Any,
        text: Any,
        indent: Any,
        key_separator: Any,
        item_separator: Any,
        sort_keys: Any,
        skipkeys: Any,
        float_text: Any,
    ) -> None:
        self._inside: Any = [] if check_circular else None
        self._default = default
        self._text = text
        self._indent = indent
        self._colon = key_separator
        self._comma = item_separator
        self._sort_keys = sort_keys
        self._skipkeys = skipkeys
        self._float_text = float_text

    def __call__(self, o: Any, level: Any) -> Any:
        parts: list[Any] = []
        self._write(parts, o, level)
        return tuple(parts)

    def _enter(self, o: Any) -> None:
        if self._inside is not None:
            for other in self._inside:
                if other is o:
                    unfollowable("JSON of what contains itself")
            self._inside.append(o)

    def _leave(self) -> None:
        if self._inside is not None:
            self._inside.pop()

    def _write(self, parts: Any, o: Any, level: Any) -> None:
        if isinstance(o, str):
            parts.append(self._text(o))
        elif o is None:
            parts.append("null")
        elif o is True:
            parts.append("true")
        elif o is False:
            parts.append("false")
        elif isinstance(o, int):
            parts.append(int.__repr__(o))
        elif isinstance(o, float):
            parts.append(self._float_text(o))
        elif isinstance(o, (list, tuple)):
            self._write_all(parts, o, "[]", (("", item) for item in o), level)
        elif isinstance(o, dict):
            self._write_all(parts, o, "{}", self._pairs(o), level)
        else:
            self._enter(o)
            self._write(parts, self._default(o), level)
            self._leave()

    def _write_all(self, parts: Any, o: Any, brackets: Any, items: Any, level: Any) -> None:
        """A list or dict of which the items, each with what stands before it, are given."""
        if not o:
            parts.append(brackets)
            return
        self._enter(o)
        comma, end = self._breaks(level)
        parts.append(brackets[0] + end[0])
        first = True
        for before, value in items:
            if not first:
                parts.append(comma)
            first = False
            if before:
                parts.append(before)
            self._write(parts, value, level + 1)
        if first and self._indent is not None:
            unfollowable("JSON of a dict of which every key is skipped")
        parts.append(end[1] + brackets[1])
        self._leave()

    def _pairs(self, dct: Any) -> Any:
        for key, value in sorted(dct.items()) if self._sort_keys else dct.items():
            text = self._key(key)
            if text is not None:
                yield self._text(text) + self._colon, value

    def _breaks(self, level: Any) -> Any:
        """What stands between items, and before the first and behind the last one."""
        if self._indent is None:
            return self._comma, ("", "")
        inner = "\n" + self._indent * (level + 1)
        return self._comma + inner, (inner, "\n" + self._indent * level)

    def _key(self, key: Any) -> Any:
        if isinstance(key, str):
            return key
        if isinstance(key, float):
            return self._float_text(key)
        if key is True:
            return "true"
        if key is False:
            return "false"
        if key is None:
            return "null"
        if isinstance(key, int):
            return int.__repr__(key)
        if not self._skipkeys:
            unfollowable(f"JSON of a key that is a {type(key).__name__}")
        return None


if encoder.c_make_encoder is not None:

    @polyfill(encoder.c_make_encoder)
    def make_encoder(
        markers: Any,
        default: Any,
        encoder: Any,
        indent: Any,
        key_separator: Any,
        item_separator: Any,
        sort_keys: Any,
        skipkeys: Any,
        allow_nan: Any,
    ) -> Any:
        return _Encoder(
            markers is not None,
            default,
            encoder,
            indent,
            key_separator,
            item_separator,
            sort_keys,
            skipkeys,
            lambda number: _float_text(number, allow_nan),
        )


@polyfill(encoder._make_iterencode)
def make_iterencode(
    markers: Any,
    _default: Any,
    _encoder: Any,
    _indent: Any,
    _floatstr: Any,
    _key_separator: Any,
    _item_separator: Any,
    _sort_keys: Any,
    _skipkeys: Any,
    _one_shot: Any,
    ValueError: Any = ValueError,
    dict: Any = dict,
    float: Any = float,
    id: Any = id,
    int: Any = int,
    isinstance: Any = isinstance,
    list: Any = list,
    str: Any = str,
    tuple: Any = tuple,
    _intstr: Any = int.__repr__,
) -> Any:
    if not _one_shot:
        unfollowable("JSON that is written piece by piece")
    if _indent is not None and not isinstance(_indent, str):
        _indent = " " * _indent
    return _Encoder(
        markers is not None,
        _default,
        _encoder,
        _indent,
        _key_separator,
        _item_separator,
        _sort_keys,
        _skipkeys,
        _floatstr,
    )
