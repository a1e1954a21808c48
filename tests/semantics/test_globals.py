"""Globals, builtins and what happens when they change."""

import builtins

import numpy as np
import pytest
from differential import Compiled, check

A = np.linspace(0.5, 2.0, 4)
SCALE = 2.0
OFFSET = np.ones(4)
SETTINGS = {"gain": 3.0, "curve": (0.1, 0.9)}


def reads_globals(x):
    return x * SCALE + OFFSET * SETTINGS["gain"] - SETTINGS["curve"][1]


def reads_builtins(x):
    return x * len("abc") + abs(-2)


def reads_missing(x):
    return x + NOT_DEFINED  # noqa: F821


@pytest.mark.parametrize("fn", [reads_globals, reads_builtins])
def test_same(fn):
    check(fn, A)


def test_missing_name():
    check(reads_missing, A, breaks="raises")


def test_changed_global_is_noticed(monkeypatch):
    compiled = Compiled(reads_globals)
    for value in (2.0, 3, 2.0, A):
        monkeypatch.setitem(globals(), "SCALE", value)
        np.testing.assert_array_equal(compiled(A), reads_globals(A))
    monkeypatch.setitem(SETTINGS, "gain", 5.0)
    np.testing.assert_array_equal(compiled(A), reads_globals(A))
    monkeypatch.setitem(globals(), "SETTINGS", {"gain": 1, "curve": (0, 0)})
    np.testing.assert_array_equal(compiled(A), reads_globals(A))


def test_global_that_shadows_a_builtin(monkeypatch):
    compiled = Compiled(reads_builtins)
    np.testing.assert_array_equal(compiled(A), reads_builtins(A))
    monkeypatch.setitem(globals(), "len", lambda value: 100)
    np.testing.assert_array_equal(compiled(A), reads_builtins(A))
    monkeypatch.delitem(globals(), "len")
    np.testing.assert_array_equal(compiled(A), reads_builtins(A))


def test_changed_builtin_is_noticed(monkeypatch):
    compiled = Compiled(reads_builtins)
    np.testing.assert_array_equal(compiled(A), reads_builtins(A))
    monkeypatch.setattr(builtins, "abs", lambda value: 50)
    np.testing.assert_array_equal(compiled(A), reads_builtins(A))


def test_deleted_global_raises(monkeypatch):
    compiled = Compiled(reads_globals)
    compiled(A)
    monkeypatch.delitem(globals(), "SCALE")
    with pytest.raises(NameError, match="SCALE"):
        compiled(A)
