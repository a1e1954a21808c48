"""``Struct``: a format that is known, compiled while tracing."""

from __future__ import annotations

import _struct
from typing import Any

from dyntrace.polyfills import fold, polyfill


@polyfill(_struct.Struct)
def Struct(format: Any) -> Any:
    return fold(_struct.Struct, format)
