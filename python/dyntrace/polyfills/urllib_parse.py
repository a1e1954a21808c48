"""Quoting for URLs, whose original keeps tables by what is safe."""

from __future__ import annotations

import urllib.parse as original
from typing import Any

from dyntrace.polyfills import fold, polyfill


@polyfill(original.quote_from_bytes)
def quote_from_bytes(bs: Any, safe: Any = "/") -> Any:
    return fold(original.quote_from_bytes, bs, safe)
