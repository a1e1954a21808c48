"""What graphs call for the texts of numbers and arrays that they compute.

Of NumPy's values the functions of the same names in ``_numpy_checked`` are called.
"""

from __future__ import annotations

import re
from _string import formatter_parser  # type: ignore[import-not-found]
from collections.abc import Callable
from typing import Any


def text(value: Any) -> str:
    return str(value)


def representation(value: Any) -> str:
    return repr(value)


def escaped(value: Any) -> str:
    return ascii(value)


def formatted(value: Any, spec: str) -> str:
    return format(value, spec)


def joined(separator: str, *parts: str) -> str:
    return separator.join(parts)


def filled(form: str, *values: Any) -> str:
    return form.format(*values)


def percent(form: str, *values: Any) -> str:
    return form % values


def percent_of_one(form: str, value: Any) -> str:
    made: str = form % value
    return made


FUNCTIONS: tuple[Callable[..., str], ...] = (
    text,
    representation,
    escaped,
    formatted,
    joined,
    filled,
    percent,
    percent_of_one,
)


def only_texts(form: str) -> bool:
    """Whether ``form % values`` asks for nothing but the texts of the values."""
    return re.fullmatch(r"(?:[^%]|%[sr%])*", form, re.DOTALL) is not None


def only_formats(form: str) -> bool:
    """Whether ``form.format()`` asks for no attribute, item or keyword, nor for a format among the values."""
    try:
        fields = list(formatter_parser(form))
    except ValueError:
        return False
    return all(
        name is None or ((name == "" or name.isdecimal()) and "{" not in spec)
        for _, name, spec, _ in fields
    )
