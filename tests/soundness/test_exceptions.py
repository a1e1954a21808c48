"""What a trace with exceptions has read is changed between calls: the compiled function notices.

PYTEST_DONT_REWRITE: the functions assert themselves.
"""

import builtins

import dyntrace
import numpy as np
import pytest
from differential import in_a_thread

A = np.linspace(0.5, 2.0, 4)


def outcome(fn, *args):
    try:
        return [np.asarray(part).tolist() for part in fn(*args)]
    except Exception as error:
        return type(error), error.args


@pytest.fixture
def compare():
    """Calls a function compiled and plainly, before and after each change."""

    def run(fn, *changes):
        with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
            compiled = dyntrace.compile(fn)
            assert outcome(compiled, A) == outcome(fn, A)
            for change in changes:
                change()
                assert outcome(compiled, A) == outcome(fn, A)
                assert outcome(compiled, A) == outcome(fn, A)

    return run


def test_a_missing_name_appears(compare):
    def fn(x):
        try:
            return x, appears  # noqa: F821
        except NameError as e:
            return x + 1.0, e.args[0]

    def define():
        globals()["appears"] = 3.0

    def define_builtin():
        del globals()["appears"]
        builtins.appears = 4.0

    def remove():
        del builtins.appears

    compare(fn, define, define_builtin, remove)


def test_a_call_that_did_not_fit_fits(compare):
    def helper(a, b):
        return a * b

    def fn(x):
        try:
            return x, helper(x)
        except TypeError as e:
            return x + 1.0, e.args[0]

    def add_default():
        helper.__defaults__ = (2.0,)

    def remove_default():
        helper.__defaults__ = None

    def rename():
        helper.__qualname__ = "renamed"

    compare(fn, add_default, remove_default, rename)


def test_a_keyword_only_default_appears(compare):
    def helper(a, *, b, c=1.0):
        return a * b * c

    def fn(x):
        try:
            return x, helper(x)
        except TypeError as e:
            return x + 1.0, e.args[0]

    def add():
        helper.__kwdefaults__["b"] = 2.0

    def remove():
        del helper.__kwdefaults__["b"]

    compare(fn, add, remove)


def test_an_empty_cell_is_filled(compare):
    def make():
        def fn(x):
            try:
                return x, value
            except NameError as e:
                return x + 1.0, e.args[0]

        def fill(new):
            nonlocal value
            value = new

        if A is None:
            value = 1.0
        return fn, fill

    fn, fill = make()
    compare(fn, lambda: fill(3.0))


def test_the_class_of_an_exception_changes(compare):
    class Error(Exception):
        factor = 2.0

        def __init__(self, n):
            self.n = n

    def fn(x):
        try:
            raise Error(3)
        except Error as e:
            return x * e.n, e.factor

    def other_factor():
        Error.factor = 5.0

    def other_init():
        Error.__init__ = lambda self, n: setattr(self, "n", 2 * n)

    compare(fn, other_factor, other_init)


def test_the_bases_of_an_exception_change(compare):
    class Base(Exception):
        pass

    class OtherBase(Exception):
        pass

    class Error(Base):
        pass

    def fn(x):
        try:
            raise Error
        except OtherBase:
            return x, 1
        except Base:
            return x, 2

    def exchange():
        Error.__bases__ = (OtherBase,)

    compare(fn, exchange)


def test_the_class_of_a_clause_changes(compare):
    kinds = {"a": ValueError}

    def fn(x):
        try:
            try:
                raise KeyError
            except kinds["a"]:
                return x, 1
        except LookupError:
            return x, 2

    compare(fn, lambda: kinds.update(a=KeyError))


def test_a_manager_changes(compare):
    class Manager:
        def __enter__(self):
            return 2.0

        def __exit__(self, *exc):
            return False

    def fn(x):
        with Manager() as factor:
            x = x * factor
            raise ValueError("v")
        return x, factor

    def swallow():
        Manager.__exit__ = lambda self, *exc: True

    def lose():
        del Manager.__exit__

    compare(fn, swallow, lose)


def test_a_pattern_of_a_class_changes(compare):
    class Pair:
        __match_args__ = ("a", "b")

        def __init__(self):
            self.a, self.b = 2.0, 3.0

    pair = Pair()

    def fn(x):
        match pair:
            case Pair(a, 3.0):
                return x * a, 1
            case _:
                return x, 2

    def swap():
        Pair.__match_args__ = ("b", "a")

    def value():
        pair.b = 2.0
        pair.a = 3.0

    compare(fn, swap, value)


def test_the_context_from_outside_is_not_made_up():
    def fn(x):
        try:
            raise ValueError("inner")
        except ValueError as e:
            return x + 1.0, type(e.__context__) is KeyError

    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        compiled = dyntrace.compile(fn)
        assert outcome(compiled, A)[1] is False
        try:
            raise KeyError("outer")
        except KeyError:
            assert outcome(compiled, A)[1] is True


@in_a_thread
def test_bare_raise_sees_the_handler_of_the_caller():
    def fn(x):
        y = x + 1.0
        try:
            raise
        except RuntimeError:
            return y, 1
        except KeyError:
            return y, 2

    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        compiled = dyntrace.compile(fn)
        assert outcome(compiled, A)[1] == 1
        try:
            raise KeyError("outer")
        except KeyError:
            assert outcome(compiled, A)[1] == 2
        assert outcome(compiled, A)[1] == 1


def test_partial_effects_of_what_fails():
    class Failing:
        def __init__(self):
            self.n = 0

        def __iter__(self):
            return self

        def __next__(self):
            self.n += 1
            if self.n > 2:
                raise KeyError("n")
            return self.n

    def extended(x):
        items = [0]
        try:
            items.extend(Failing())
        except KeyError:
            pass
        return x + 1.0, items

    def updated(x):
        items = {0}
        try:
            items.update(Failing())
        except KeyError:
            pass
        return x + 1.0, sorted(items)

    def unhashable(x):
        items = {0}
        try:
            items.update([1, [], 2])
        except TypeError:
            pass
        return x + 1.0, sorted(items)

    def pairs(x):
        table = {}
        try:
            table.update([(1, 2), (3,)])
        except ValueError:
            pass
        return x + 1.0, list(table)

    def sorted_in_place(x):
        items = [3, 2, "a", 1]
        try:
            items.sort()
        except TypeError:
            pass
        return x + 1.0, str(items)

    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        for fn in (extended, updated, unhashable, pairs, sorted_in_place):
            compiled = dyntrace.compile(fn)
            assert outcome(compiled, A) == outcome(fn, A)
            assert outcome(compiled, A) == outcome(fn, A)
