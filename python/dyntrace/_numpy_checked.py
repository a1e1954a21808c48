"""What graphs call in the place of NumPy's functions that might do more than a graph may.

What does not hold raises, and the call is made again plainly.
"""

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from dyntrace import _texts

_format_options = importlib.import_module("numpy._core.printoptions").format_options


class Unexpected(Exception):
    """NumPy would call a function of the program here, or raise."""


def all_finite(a: Any) -> bool:
    """True; of arrays with infinities or NaN asarray_chkfinite() raises."""
    if np.isfinite(a).all():
        return True
    raise Unexpected


def as_found(a: Any, dtype: Any, ndim: int) -> Any:
    """The array, which has to be such a one."""
    if a.dtype != dtype or a.ndim != ndim:
        raise Unexpected
    return a


def multivariate_normal(generator: Any, *args: Any, **kwargs: Any) -> Any:
    """The method of a generator, which raises where it would warn of the covariance or of overflow."""
    arguments = dict(zip(("mean", "cov", "size", "check_valid", "tol"), args, strict=False))
    arguments.update(kwargs)
    if arguments.get("check_valid", "warn") == "warn":
        arguments["check_valid"] = "raise"
    with np.errstate(all="raise"):
        return generator.multivariate_normal(**arguments)


def _need_plain_printing() -> None:
    options = np.get_printoptions()
    if options["formatter"] is not None or options.get("override_repr") is not None:
        raise Unexpected


def array2string(*args: Any, **kwargs: Any) -> str:
    _need_plain_printing()
    return np.array2string(*args, **kwargs)


def array_repr(*args: Any, **kwargs: Any) -> str:
    _need_plain_printing()
    return np.array_repr(*args, **kwargs)


def array_str(*args: Any, **kwargs: Any) -> str:
    _need_plain_printing()
    return np.array_str(*args, **kwargs)


def _checked(function: Callable[..., str]) -> Callable[..., str]:
    def checked(*args: Any) -> str:
        _need_plain_printing()
        return function(*args)

    checked.__name__ = checked.__qualname__ = function.__name__
    return checked


text, representation, escaped, formatted, joined, filled, percent, percent_of_one = map(
    _checked, _texts.FUNCTIONS
)


#: By function: what is called in its place.
CHECKED: dict[Any, Callable[..., Any]] = {
    np.array2string: array2string,
    np.array_repr: array_repr,
    np.array_str: array_str,
}


def printed(options: tuple[tuple[Any, ...], ...], name: str, *args: Any, **kwargs: Any) -> Any:
    """The function of printing with that name, called after np.set_printoptions() of each of `options`."""
    function = getattr(np, name)
    token = _format_options.set(_format_options.get())
    try:
        for one in options:
            np.set_printoptions(*one)
        return CHECKED.get(function, function)(*args, **kwargs)
    finally:
        _format_options.reset(token)
