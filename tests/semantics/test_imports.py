"""import statements inside of functions."""

import builtins
import collections.abc  # noqa: F401
import sys
import types

import numpy as np
import pytest
from differential import Compiled, check

A = np.linspace(0.5, 2.0, 4)


def whole(x):
    import math

    return x * math.pi


def renamed(x):
    import numpy as other

    return other.sqrt(x)


def names(x):
    from math import e, pi

    return x * pi + e


def package(x):
    import collections.abc

    return x + 1.0, collections.abc.Sized, collections.OrderedDict


def name_of_package(x):
    from collections.abc import Sized

    return x + 1.0, Sized


@pytest.mark.parametrize("fn", [whole, renamed, names, package, name_of_package])
def test_same(fn):
    check(fn, A)


def test_module_that_is_not_imported_yet():
    def fn(x):
        import this_module_does_not_exist  # noqa: F401

        return x

    check(fn, A, breaks="unsupported-opcode")


def test_missing_name():
    def fn(x):
        from math import there_is_no_such_name  # noqa: F401

        return x

    check(fn, A, breaks="attribute")


def test_replaced_module_is_noticed(monkeypatch):
    module = types.ModuleType("made_for_this_test")
    module.value = 2.0
    monkeypatch.setitem(sys.modules, "made_for_this_test", module)

    def fn(x):
        import made_for_this_test

        return x * made_for_this_test.value

    compiled = Compiled(fn)
    np.testing.assert_array_equal(compiled(A), A * 2.0)
    module.value = 3.0
    np.testing.assert_array_equal(compiled(A), A * 3.0)
    other = types.ModuleType("made_for_this_test")
    other.value = 4.0
    monkeypatch.setitem(sys.modules, "made_for_this_test", other)
    np.testing.assert_array_equal(compiled(A), A * 4.0)
    monkeypatch.delitem(sys.modules, "made_for_this_test")
    with pytest.raises(ImportError):
        compiled(A)


def test_replaced_import_function_is_noticed(monkeypatch):
    compiled = Compiled(whole)
    np.testing.assert_array_equal(compiled(A), whole(A))
    seen = []
    original = builtins.__import__

    def spy(name, *args):
        seen.append(name)
        return original(name, *args)

    monkeypatch.setattr(builtins, "__import__", spy)
    np.testing.assert_array_equal(compiled(A), whole(A))
    assert "math" in seen
