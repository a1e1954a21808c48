"""What graphs call in the place of NumPy's functions that read files or texts.

A run of a graph may be dropped, and the call made again plainly: so a graph reads regular files only,
which can be read twice, and none of these functions warns or runs code of the program. Where that is
not so they raise before anything was read, and the call is made again plainly.
"""

from __future__ import annotations

import builtins
import io
import os
import re
import stat
from typing import Any

import numpy as np

from dyntrace._numpy_checked import Unexpected
from dyntrace._numpy_quiet import replacement

#: The first bytes of a file with one array, which no pickle is in unless its header says so.
_ARRAY = b"\x93NUMPY"
#: Patterns that :mod:`re` may warn of, if only at first sight.
_ODD_PATTERN = re.compile(r"\[\[|--|&&|~~|\|\||\(\?")
_FLOAT = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_NUMBERS = {"f": _FLOAT, "i": r"-?[0-9]+", "u": r"[0-9]+"}


def _need_file(path: Any) -> None:
    if builtins.open is not io.open or not stat.S_ISREG(os.stat(path).st_mode):
        raise Unexpected


def _need_array(found: Any) -> Any:
    if type(found) is not np.ndarray:
        raise Unexpected
    return found


def load(file: str) -> Any:
    _need_file(file)
    with open(file, "rb") as opened:
        if opened.read(len(_ARRAY)) != _ARRAY:
            raise Unexpected
        opened.seek(0)
        return _need_array(replacement(np.lib.format.read_array)(opened, allow_pickle=False))


def loadtxt(file: str, *args: Any, **kwargs: Any) -> Any:
    _need_file(file)
    return _need_array(replacement(np.loadtxt)(file, *args, **kwargs))


def genfromtxt(file: str, *args: Any, **kwargs: Any) -> Any:
    _need_file(file)
    return _need_array(replacement(np.genfromtxt)(file, *args, **kwargs))


def fromregex(file: str, regexp: str, dtype: Any) -> Any:
    _need_file(file)
    if _ODD_PATTERN.search(regexp):
        raise Unexpected
    return _need_array(np.fromregex(file, regexp, dtype))


def fromfile(file: str, *args: Any, **kwargs: Any) -> Any:
    _need_file(file)
    return np.fromfile(file, *args, **kwargs)


def fromstring(text: str, dtype: Any = float, *, sep: str) -> Any:
    """Of numbers and nothing else: of what NumPy does not understand it warns."""
    number = _NUMBERS.get(np.dtype(dtype).kind)
    if number is None or sep not in (" ", ",", ";"):
        raise Unexpected
    between = r"[ \t\n]+" if sep == " " else rf"{sep}[ \t\n]*"
    if not re.fullmatch(rf"[ \t\n]*{number}(?:{between}{number})*\n?", text):
        raise Unexpected
    return np.fromstring(text, dtype, sep=sep)
