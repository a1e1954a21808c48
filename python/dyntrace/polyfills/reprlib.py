"""What ``reprlib.recursive_repr`` and ``dataclasses`` wrap around a ``__repr__``."""

from __future__ import annotations

import dataclasses
import reprlib as original
from types import CodeType
from typing import Any

from dyntrace.polyfills import polyfill, unfollowable


def _codes_inside(code: CodeType, name: str) -> list[CodeType]:
    """The code objects of that name in a code object, at any depth."""
    inside = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    found = [one for one in inside if one.co_name == name]
    return found + [deeper for one in inside for deeper in _codes_inside(one, name)]


#: The decorator of `dataclasses` is reprlib's since 3.13.
_MAKERS = [original.recursive_repr, getattr(dataclasses, "_recursive_repr", None)]
_WRAPPERS = [
    code for maker in _MAKERS if maker for code in _codes_inside(maker.__code__, "wrapper")
]


def _free(function: Any, name: str) -> Any:
    """What the function's free variable of that name holds."""
    at = function.__code__.co_freevars.index(name)
    return function.__closure__[at].cell_contents


@polyfill(*_WRAPPERS)
def wrapper(function: Any, self: Any) -> Any:
    """The original notes by address and thread who is asked, which nobody sees when it is not
    recursive; a recursion is as deep as it can be followed, which is a break."""
    if _free(function, "repr_running"):
        unfollowable("a repr() inside of another one")
    return _free(function, "user_function")(self)
