"""Where two outcomes (``_outcome.py``) differ first, as one line for people."""

from __future__ import annotations

import struct
import sys
from typing import Any

from dyntrace._outcome import BLOCK

Record = tuple[Any, ...]

_ARRAY_FACTS = ("dtype", "shape", "strides", "flags (writeable, aligned)", "memory", "offset")
_ATOMS = ("float", "complex", "int", "str", "bytes", "bool", "NoneType", "range")


def describe_difference(plain: list[Record], compiled: list[Record]) -> str:
    """One line about the first difference; there is one."""
    path, a, b = _first_difference(plain, compiled)
    if _is_array(a) and _is_array(b) and a[2] == b[2]:
        text = _array_difference(a[3], b[3])
        if text is not None:
            return f"{path}: {text}"
    where, left, right = _narrow(a[2:], b[2:])
    left, right = _text(left, _names(plain)), _text(right, _names(compiled))
    return f"{path}{where}: {_clip(left)} became {_clip(right)}"


def _first_difference(plain: list[Record], compiled: list[Record]) -> tuple[str, Record, Record]:
    for a, b in zip(plain, compiled, strict=False):
        if a != b:
            return a[0], a, b
    if len(plain) > len(compiled):
        return plain[len(compiled)][0], plain[len(compiled)], ()
    return compiled[len(plain)][0], (), compiled[len(plain)]


def _names(records: list[Record]) -> dict[int, str]:
    return {record[1]: f"<{record[2]} {record[0]}>" for record in records if record[1] is not None}


def _is_array(record: Record) -> bool:
    facts = record[3] if len(record) > 3 else None
    return isinstance(facts, tuple) and len(facts) == len(_ARRAY_FACTS) + 1


def _array_difference(a: Record, b: Record) -> str | None:
    for name, x, y in zip(_ARRAY_FACTS, a[:-1], b[:-1], strict=True):
        if x != y:
            return f"{name} {x!r} became {y!r}"
    x, y, dtype = a[-1], b[-1], a[0]
    if isinstance(x, bytes) and isinstance(y, bytes):
        count = 1
        for length in a[1]:
            count *= length
        size = len(x) // count
        at = next(i for i in range(0, len(x), size) if x[i : i + size] != y[i : i + size])
        return (
            f"item {at // size} of {count}: {_item(dtype, x[at : at + size])} became "
            f"{_item(dtype, y[at : at + size])}"
        )
    if isinstance(x, tuple) and x and isinstance(x[0], bytes):
        block = next(i for i in range(len(x)) if x[i] != y[i])
        return f"its data differ, from byte {block * BLOCK} on"
    return None


def _item(dtype: str, data: bytes) -> str:
    numpy = sys.modules.get("numpy")
    if numpy is not None and dtype[1:2] in ("f", "c", "i", "u", "b") and len(data) != 10:
        return f"{numpy.frombuffer(data, dtype)[0]!r} (bytes {data.hex()})"
    return f"bytes {data.hex()}"


def _narrow(a: Any, b: Any) -> tuple[str, Any, Any]:
    """Goes down to the part of two records that differs, and the labels on the way."""
    where = ""
    while isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b) and a:
        if a[0] in _ATOMS or b[0] in _ATOMS:
            break
        parts = [(x, y) for x, y in zip(a, b, strict=True) if x != y]
        if len(parts) != 1 and len(a) > 1:
            break
        if len(a) == 2 and a[0] == b[0] and isinstance(a[0], str):
            where += a[0] if a[0][:1] in (".", "[") else f" {a[0]}"
        a, b = parts[0] if parts else (a[0], b[0])
    return where, a, b


def _text(value: Any, names: dict[int, str]) -> str:
    if isinstance(value, tuple):
        if len(value) == 2 and value[0] == "float" and isinstance(value[1], bytes):
            return f"{struct.unpack('<d', value[1])[0]!r} (bytes {value[1].hex()})"
        if len(value) == 2 and value[0] in _ATOMS:
            return repr(value[1])
        return "(" + ", ".join(_text(part, names) for part in value) + ")"
    return names.get(value, repr(value)) if isinstance(value, int) else repr(value)


def _clip(text: str) -> str:
    return text if len(text) <= 300 else text[:297] + "..."
