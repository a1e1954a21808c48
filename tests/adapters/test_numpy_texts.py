"""np.strings and np.char: functions of arrays of texts, item by item."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
from differential import check, check_calls  # noqa: E402

NAMES = np.array(["ab", "c", "", "dé fg", " Zzz ", "12", "aXa"])
BYTES = np.array([b"ab", b"c", b"", b"d fg", b" Zz ", b"12", b"aXa"])
MATRIX = NAMES[:6].reshape(2, 3)
NUMBERS = np.arange(7)

CASES = {
    "upper": lambda a: np.strings.upper(a) == "AB",
    "lower": lambda a: (np.strings.lower(a), np.char.lower(a)),
    "capitalize": lambda a: np.strings.capitalize(a),
    "title": lambda a: np.strings.title(a),
    "swapcase": lambda a: np.strings.swapcase(a),
    "strip": lambda a: (np.strings.strip(a), np.strings.strip(a, "a "), np.char.strip(a) == "c"),
    "lstrip": lambda a: np.strings.lstrip(a, "a"),
    "rstrip": lambda a: np.strings.rstrip(a),
    "str_len": lambda a: np.strings.str_len(a) * 2,
    "find": lambda a: (np.strings.find(a, "a"), np.strings.find(a, "a", 1), np.strings.find(a, "a", end=2)),
    "rfind": lambda a: np.strings.rfind(a, "a") + 1,
    "index": lambda a: (np.strings.index(a, ""), np.strings.rindex(a, "")),
    "count": lambda a: np.strings.count(a, "a").sum(),
    "startswith": lambda a: a[np.strings.startswith(a, "a")],
    "endswith": lambda a: ~np.strings.endswith(a, "a"),
    "isalpha": lambda a: np.strings.isalpha(a) | np.strings.isdigit(a),
    "isalnum": lambda a: (np.strings.isalnum(a), np.strings.isspace(a), np.strings.istitle(a)),
    "islower": lambda a: (np.strings.islower(a), np.strings.isupper(a)),
    "isdecimal": lambda a: (np.strings.isdecimal(a), np.strings.isnumeric(a)),
    "translate": lambda a: np.strings.translate(a, "".join(map(chr, range(128)))),
    "replace": lambda a: np.strings.replace(a, "a", "long"),
    "replace once": lambda a: np.strings.replace(a, "a", "", 1),
    "multiply": lambda a: (np.strings.multiply(a, 3), np.char.multiply(a, 2)),
    "center": lambda a: (np.strings.center(a, 9), np.strings.ljust(a, 7, "."), np.strings.rjust(a, 8)),
    "zfill": lambda a: np.strings.zfill(a, 5),
    "expandtabs": lambda a: np.strings.expandtabs(a),
    "encode": lambda a: np.strings.encode(a, "utf-8"),
    "of a part": lambda a: np.strings.upper(a[::2])[1:],
    "of what was picked": lambda a: np.strings.upper(a[a != ""]),
    "added": lambda a: np.strings.add(np.strings.upper(a), a),
    "in a chain": lambda a: np.strings.str_len(np.strings.strip(np.strings.lower(a), "a")) > 1,
}  # fmt: skip
OF_BYTES = {
    "upper": lambda a: np.strings.upper(a) == b"AB",
    "startswith": lambda a: np.strings.startswith(a, b"a"),
    "strip": lambda a: np.strings.strip(a, b" a"),
    "count": lambda a: np.strings.count(a, b"a"),
    "decode": lambda a: np.strings.decode(a, "ascii"),
}


@pytest.mark.parametrize("name", CASES)
def test_texts(name):
    check(CASES[name], NAMES)


@pytest.mark.parametrize("name", [name for name in CASES if name not in ("of what was picked", "of a part")])
def test_matrices_of_texts(name):
    check_calls(CASES[name], (MATRIX,), (MATRIX.T,), (MATRIX[:, ::2],))


@pytest.mark.parametrize("name", OF_BYTES)
def test_bytes(name):
    check(OF_BYTES[name], BYTES)


def test_another_size_is_no_recompile():
    def f(a):
        return np.strings.startswith(np.strings.upper(a), "A"), np.sort(a), np.where(a == "c", "x", a)

    compiled = check_calls(f, (NAMES,), (NAMES[:3],), (NAMES[::-1].copy(),), (NAMES[2:],))
    assert compiled.published == 1


@pytest.mark.parametrize("array", [NAMES[:0], NAMES[:1], np.array("abc"), NAMES.astype("U1"), MATRIX[:, :1]])
def test_other_shapes(array):
    def f(a):
        return np.strings.upper(a), np.strings.str_len(a), np.strings.replace(a, "a", "bb")

    check_calls(f, (array,), (array,), whole=False)


@pytest.mark.parametrize(
    "function",
    [
        lambda a, n: np.strings.find(a, n),
        lambda a, n: np.strings.index(a, "no such text"),
        lambda a, n: np.strings.isdecimal(a.astype("S", casting="unsafe")),
        lambda a, n: np.strings.upper(n),
        lambda a, n: np.strings.upper(["a", "b"]),
        lambda a, n: np.strings.find(a, a[::-1]),
        lambda a, n: np.strings.multiply(a, n),
        lambda a, n: np.strings.upper(a[0]),
        lambda a, n: np.strings.strip(a, b"a"),
        lambda a, n: np.strings.replace(a, "a", n),
        lambda a, n: np.strings.mod(np.strings.add("%s", a), "x"),
    ],
)
def test_other_arguments(function):
    """Breaks, or in the graph: the same, and the same errors."""
    ascii_only = np.array(["ab", "c", "", "d", "e f", "12", "aXa"])
    check_calls(function, (ascii_only, NUMBERS), (ascii_only, NUMBERS), whole=False)
