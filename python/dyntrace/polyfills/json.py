"""JSON of values that are known while tracing."""

from __future__ import annotations

import json
from typing import Any

from dyntrace.polyfills import fold, polyfill


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
    return fold(
        json.dumps,
        obj,
        skipkeys=skipkeys,
        ensure_ascii=ensure_ascii,
        check_circular=check_circular,
        allow_nan=allow_nan,
        cls=cls,
        indent=indent,
        separators=separators,
        default=default,
        sort_keys=sort_keys,
        **kw,
    )


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
