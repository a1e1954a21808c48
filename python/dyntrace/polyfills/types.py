"""``SimpleNamespace``: an object with nothing but attributes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from dyntrace.polyfills import own_attributes, polyfill, unfollowable


@polyfill(SimpleNamespace.__init__)
def init(self: Any, /, *args: Any, **kwargs: Any) -> None:
    if args:
        unfollowable("SimpleNamespace() with positional arguments")
    for name, value in kwargs.items():
        setattr(self, name, value)


@polyfill(SimpleNamespace.__eq__)
def equal(self: Any, other: Any, /) -> Any:
    if not isinstance(other, SimpleNamespace):
        return NotImplemented
    return own_attributes(self) == own_attributes(other)


@polyfill(SimpleNamespace.__ne__)
def not_equal(self: Any, other: Any, /) -> Any:
    if not isinstance(other, SimpleNamespace):
        return NotImplemented
    return own_attributes(self) != own_attributes(other)


@polyfill(SimpleNamespace.__repr__)
def text(self: Any, /) -> Any:
    own = own_attributes(self)
    for value in own.values():
        if value is self:
            unfollowable("the text of a namespace that contains itself")
    name = "namespace" if self.__class__ is SimpleNamespace else type(self).__name__
    return name + "(" + ", ".join([f"{key}={value!r}" for key, value in own.items()]) + ")"


@polyfill(SimpleNamespace.__reduce__)
def reduce(self: Any, /) -> Any:
    return type(self), (), own_attributes(self)
