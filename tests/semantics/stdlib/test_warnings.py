"""Filters of warnings, set and put back around array code: catch_warnings(), and names of sys.modules"""

import re
import sys
import types
import warnings

import numpy as np
import pytest
from differential import FORCED, Compiled, check

X = np.linspace(0.5, 2.0, 6)
BAD = np.array([-1.0, 0.0, 1.0])
WHOLE = []


def whole(fn):
    WHOLE.append(fn)
    return fn


@whole
def everything_ignored(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y = np.log(x)
    return y + 1


@whole
def one_category(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", category=RuntimeWarning)
        return 1.0 / x


@whole
def by_message(x):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="invalid value", category=RuntimeWarning)
        warnings.filterwarnings("ignore", r"divide by .*", module="numpy")
        return np.log(x) * 2


@whole
def made_errors(x):
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        try:
            y = np.sqrt(x)
        except RuntimeWarning as caught:
            return str(caught)
    return y


@whole
def recorded(x):
    with warnings.catch_warnings(record=True) as log:
        warnings.simplefilter("always")
        y = np.sqrt(x)
    return y, len(log), [str(one.message) for one in log]


@whole
def nested(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with warnings.catch_warnings():
            warnings.resetwarnings()
            warnings.simplefilter("always", append=True)
            y = x + 1
        z = np.log(x)
    return y * z


@whole
def in_a_helper(x):
    return everything_ignored(x) - one_category(x)


@whole
def twice_the_same_filter(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("default")
        warnings.simplefilter("ignore")
        first = warnings.filters[0][0]
    return np.log(x), first


@whole
def entered_by_hand(x):
    manager = warnings.catch_warnings()
    manager.__enter__()
    try:
        manager.__enter__()
    except RuntimeError as error:
        text = str(error)
    manager.__exit__(None, None, None)
    return x * 2, text


if sys.version_info >= (3, 11):

    @whole
    def in_one_line(x):
        with warnings.catch_warnings(action="ignore", category=RuntimeWarning):
            return np.log(x)


def filters():
    return [*warnings.filters, warnings.showwarning, warnings._showwarnmsg_impl]


@pytest.mark.parametrize("fn", WHOLE)
def test_whole(fn):
    before = warnings.filters
    check(fn, X)
    assert warnings.filters is before


@pytest.mark.parametrize("fn", WHOLE)
def test_what_numpy_reports_is_filtered(fn):
    """The run is dropped, and the call made again plainly."""
    check(fn, BAD)
    check(lambda x: fn(x) if x[0] < 0 else fn(x), BAD, breaks="array-branch", entries=None)


def test_errors_leave():
    def fn(x):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return np.log(x)

    check(fn, BAD)
    check(fn, X)


def test_an_exception_puts_the_filters_back():
    def fn(x):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            y = x * 2
            raise KeyError(len(y))

    before = list(warnings.filters)
    check(fn, X, breaks="raises", entries=None)
    assert warnings.filters == before


def test_breaks_inside():
    def warned(x):
        with warnings.catch_warnings(record=True) as log:
            warnings.simplefilter("always")
            y = x * 2
            warnings.warn("careful", UserWarning, stacklevel=1)
            z = y + 1
        return z, [(str(one.message), one.category, one.lineno) for one in log]

    def branched(x):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            y = np.log(x)
            if y[0] < 0:
                y = y + 1 / (x - x)
            return y

    check(warned, X, breaks="unknown-callable", entries=None)
    check(branched, X, breaks="array-branch", entries=None)


def test_filters_that_stay():
    def fn(x):
        warnings.simplefilter("ignore", ResourceWarning)
        return x * 2

    def filters_after(target):
        with warnings.catch_warnings():
            warnings.resetwarnings()
            for _ in range(3):
                target(X)
            return list(warnings.filters)

    assert filters_after(Compiled(fn, "native", None)) == filters_after(fn)


def test_warnings_are_given_again_after_the_filters_were_put_back():
    """The interpreter remembers per place what it has given, until the filters change."""

    def fn(x):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return x * 2

    def given(target):
        with warnings.catch_warnings(record=True) as log:
            warnings.simplefilter("default")
            for _ in range(4):
                warnings.warn_explicit("here", UserWarning, "a file", 1, registry=registry)
                target(X)
            return len(log)

    registry = {}
    expected = given(fn)
    registry = {}
    compiled = Compiled(fn, "native", None)
    assert given(compiled) == expected == 4
    assert FORCED or not compiled.breaks


def test_other_filters_are_other_entries():
    def fn(x):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "a text")
            return x * len(warnings.filters)

    compiled = Compiled(fn, "native", None)
    for extra in ([], [("ignore", re.compile("b"), UserWarning, None, 0)], []):
        with warnings.catch_warnings():
            warnings.filters[:0] = extra
            np.testing.assert_array_equal(compiled(X), fn(X))
    with warnings.catch_warnings():
        warnings.filters[:] = [("ignore", re.compile("a text", re.I), Warning, None, 0)]
        np.testing.assert_array_equal(compiled(X), fn(X))


# ---- sys.modules ---------------------------------------------------------------------------------


def modules_by_name(x):
    known = "numpy" in sys.modules and "no_such_module" not in sys.modules
    found = sys.modules["numpy"].sqrt(x), sys.modules.get("no_such_module", 3)
    try:
        sys.modules["no_such_module"]
    except KeyError as error:
        return known, found, str(error), sys.modules.get(__name__) is None


def one_module(x):
    return x * (2 if sys.modules.get("numpy") is np else 3)


def test_modules_by_name():
    check(modules_by_name, X)
    check(one_module, X)


def test_an_import_is_no_recompile(monkeypatch):
    compiled = Compiled(one_module, "native", None)
    for i in range(5):
        monkeypatch.setitem(sys.modules, f"made_for_a_test_{i}", types.ModuleType("made"))
        np.testing.assert_array_equal(compiled(X), X * 2)
    assert FORCED or compiled.published == 1
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "numpy", types.ModuleType("numpy"))
        np.testing.assert_array_equal(compiled(X), X * 3)


def test_a_module_that_was_missing_appears(monkeypatch):
    def fn(x):
        return x * (2 if "made_for_a_test" in sys.modules else 3)

    compiled = Compiled(fn, "native", None)
    np.testing.assert_array_equal(compiled(X), X * 3)
    monkeypatch.setitem(sys.modules, "made_for_a_test", types.ModuleType("made"))
    np.testing.assert_array_equal(compiled(X), X * 2)
    monkeypatch.delitem(sys.modules, "made_for_a_test")
    np.testing.assert_array_equal(compiled(X), X * 3)


def test_changes_of_sys_modules_break():
    def fn(x):
        sys.modules["made_for_a_test"] = np
        y = x * 2
        del sys.modules["made_for_a_test"]
        return y

    check(fn, X, breaks="object-mutation", entries=None)
    check(lambda x: x * (len(sys.modules) > 3), X, breaks="missing-slot", entries=None)
