"""What ``os.path`` calls on strings."""

from __future__ import annotations

import os
from typing import Any

from dyntrace.polyfills import polyfill, unfollowable


@polyfill(os.fspath)
def fspath(path: Any) -> Any:
    if isinstance(path, (str, bytes)):
        return path
    return unfollowable(f"os.fspath() of a {type(path).__name__}")
