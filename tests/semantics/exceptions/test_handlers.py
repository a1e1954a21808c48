"""try statements in all their forms, with arrays in flight: captured whole, also where they raise.

PYTEST_DONT_REWRITE: the functions assert themselves.
"""

import sys

import numpy as np
import pytest
from differential import check

A = np.linspace(0.5, 2.0, 4)

CAPTURED = []
RAISING = []


def captured(fn):
    CAPTURED.append(fn)
    return fn


def raising(fn):
    """The exception leaves the function: the frame breaks and runs plainly."""
    RAISING.append(fn)
    return fn


class Refused(ValueError):
    """An exception with a state of its own."""

    def __init__(self, code, message, *rest):
        super().__init__(message, *rest)
        self.code = code

    def twice(self):
        return 2 * self.code


class Plain(Exception):
    pass


class Deeper(Plain, KeyError):
    pass


class WithoutSuper(Exception):
    def __init__(self, a, b=3):
        self.a, self.b = a, b


class Described(Exception):
    default = "described"

    @property
    def text(self):
        return f"{self.default}"


def refuse(x, n):
    if n % 2:
        raise Refused(n, "odd")
    return x * n


def deep(x, n):
    if n == 0:
        raise KeyError("bottom")
    return deep(x, n - 1) + 1.0


# ---- catching


@captured
def nothing_raised(x):
    try:
        y = x + 1.0
    except ValueError:
        y = x - 1.0
    return y


@captured
def raised_and_caught(x):
    try:
        raise ValueError("no")
    except ValueError:
        return x + 1.0


@captured
def caught_by_a_base(x):
    try:
        raise Deeper("k")
    except LookupError:
        return x * 2.0


@captured
def caught_by_a_tuple(x):
    try:
        raise Refused(3, "a")
    except (KeyError, (TypeError) if False else TypeError, ValueError) as e:
        return x * e.code


@captured
def second_clause(x):
    try:
        raise TypeError
    except ValueError:
        return x
    except TypeError:
        return x + 2.0


@captured
def bare_except(x):
    try:
        raise KeyboardInterrupt
    except:  # noqa: E722
        return x + 3.0


@captured
def else_runs(x):
    try:
        y = x + 1.0
    except ValueError:
        y = x
    else:
        y = y * 2.0
    return y


@captured
def else_does_not_run(x):
    try:
        raise ValueError
    except ValueError:
        y = x
    else:
        y = x * 2.0
    return y


@captured
def exception_in_else_is_not_caught_by_its_own(x):
    try:
        try:
            y = x + 1.0
        except ValueError:
            y = x
        else:
            raise ValueError("from else")
    except ValueError as e:
        return y, e.args


@captured
def class_instead_of_instance(x):
    try:
        raise IndexError
    except IndexError as e:
        return x + 1.0, e.args, type(e) is IndexError


@captured
def user_class_without_arguments(x):
    try:
        raise Plain
    except Plain as e:
        return x, e.args


@captured
def from_a_callee(x):
    total = x
    for i in range(4):
        try:
            total = total + refuse(x, i)
        except Refused as e:
            total = total - e.twice()
    return total


@captured
def from_deep_below(x):
    try:
        return deep(x, 20)
    except KeyError as e:
        return x + 1.0, e.args


@captured
def caught_half_way(x):
    def middle(n):
        try:
            return deep(x, n)
        except ValueError:
            return None

    try:
        middle(3)
    except LookupError:
        return x * 2.0


@captured
def variable_is_deleted(x):
    try:
        raise ValueError
    except ValueError as e:
        y = x + len(e.args)
    try:
        e  # noqa: B018, F821
    except UnboundLocalError as unbound:
        return y, unbound.args


@captured
def variable_kept_by_another_name(x):
    try:
        raise ValueError("kept", 3)
    except ValueError as e:
        kept = e
    return x + kept.args[1], kept.args[0]


@captured
def variable_in_a_cell(x):
    try:
        raise ValueError(2.0)
    except ValueError as e:

        def get():
            return e.args[0]  # noqa: F821

        return x * get()


# ---- finally


@captured
def finally_after_success(x):
    try:
        y = x + 1.0
    finally:
        z = x * 3.0
    return y, z


@captured
def finally_after_a_caught_exception(x):
    log = []
    try:
        try:
            log.append(1)
            raise ValueError
        finally:
            log.append(2)
            y = x + 1.0
    except ValueError:
        log.append(3)
    return y, log


@captured
def finally_with_return_inside(x):
    log = []

    def run():
        try:
            return x + 1.0
        finally:
            log.append("finally")

    return run(), log


@captured
def finally_overrides_return(x):
    def run():
        try:
            return x + 1.0
        finally:
            return x - 1.0  # noqa: B012

    return run()


@captured
def finally_swallows(x):
    def run():
        try:
            raise ValueError
        finally:
            return x * 5.0  # noqa: B012

    return run()


@captured
def break_in_finally(x):
    for _ in range(3):
        try:
            raise ValueError
        finally:
            break  # noqa: B012
    return x + 1.0


@captured
def continue_in_try(x):
    total = x
    for i in range(5):
        try:
            if i % 2:
                continue
            total = total + i
        finally:
            total = total * 2.0
    return total


@captured
def break_in_try(x):
    log = []
    for i in range(5):
        try:
            if i == 2:
                break
            log.append(i)
        finally:
            log.append(-i)
    else:
        log.append("else")
    return x + 1.0, log


@captured
def continue_in_except(x):
    total = x
    for i in range(4):
        try:
            total = total + refuse(x, i)
        except Refused:
            continue
        total = total * 2.0
    return total


@captured
def return_in_except_runs_finally(x):
    log = []

    def run():
        try:
            raise ValueError
        except ValueError:
            return x + 1.0
        finally:
            log.append("done")

    return run(), log


@captured
def nested_finally(x):
    log = []
    try:
        try:
            try:
                raise KeyError("a")
            finally:
                log.append(1)
        finally:
            log.append(2)
    except KeyError:
        log.append(3)
    finally:
        log.append(4)
    return x * 1.5, log


@captured
def exception_replaced_in_finally(x):
    try:
        try:
            raise KeyError("a")
        finally:
            raise ValueError("b")
    except ValueError as e:
        return x + 1.0, e.args, e.__context__.args, type(e.__context__) is KeyError


@captured
def while_with_finally(x):
    n = 0
    while True:
        try:
            n += 1
            if n == 3:
                return x * n
        finally:
            x = x + 1.0


# ---- raising again


@captured
def raise_again(x):
    try:
        try:
            raise Refused(7, "again")
        except Refused:
            raise
    except ValueError as e:
        return x + e.code


@captured
def raise_again_the_variable(x):
    try:
        try:
            raise Refused(7, "again")
        except Refused as e:
            raise e
    except ValueError as f:
        return x + f.code, f.__context__ is None if False else f.code


@captured
def raise_again_from_a_callee(x):
    def again():
        raise

    try:
        try:
            raise KeyError(1)
        except KeyError:
            again()
    except KeyError as e:
        return x + e.args[0]


@captured
def raise_again_after_a_nested_handler(x):
    try:
        try:
            raise KeyError(1)
        except KeyError:
            try:
                raise ValueError(2)
            except ValueError:
                pass
            raise
    except LookupError as e:
        return x + e.args[0]


@captured
def handled_exception_is_restored(x):
    seen = []
    try:
        raise KeyError(1)
    except KeyError:
        try:
            raise ValueError(2)
        except ValueError:
            seen.append(sys.exc_info()[1].args)
        seen.append(sys.exc_info()[1].args)
    return x + 1.0, seen


@captured
def exc_info_in_a_callee(x):
    def kind():
        return sys.exc_info()[0]

    try:
        raise Refused(1, "a")
    except ValueError:
        return x + 1.0, kind() is Refused, sys.exc_info()[1].code, sys.exc_info()[2] is None


@captured
def no_handler_matches_inside(x):
    try:
        try:
            raise KeyError("through")
        except ValueError:
            x = x - 1.0
        except TypeError:
            x = x - 2.0
        finally:
            x = x + 10.0
    except KeyError:
        x = x * 2.0
    return x


# ---- causes and contexts


@captured
def explicit_cause(x):
    try:
        try:
            raise KeyError("inner")
        except KeyError as e:
            raise RuntimeError("outer") from e
    except RuntimeError as e:
        return x + 1.0, e.__cause__.args, e.__cause__ is e.__context__, e.__suppress_context__


@captured
def cause_none(x):
    try:
        try:
            raise KeyError("inner")
        except KeyError:
            raise RuntimeError("outer") from None
    except RuntimeError as e:
        return x, e.__cause__, e.__context__.args, e.__suppress_context__


@captured
def cause_is_a_class(x):
    try:
        raise RuntimeError("outer") from ValueError
    except RuntimeError as e:
        return x + 1.0, type(e.__cause__) is ValueError, e.__cause__.args


@captured
def implicit_context(x):
    try:
        try:
            raise KeyError("inner")
        except KeyError:
            raise RuntimeError("outer")
    except RuntimeError as e:
        return x, e.__cause__, e.__context__.args, e.__suppress_context__


@captured
def context_of_an_exception_of_an_operation(x):
    try:
        try:
            raise KeyError("inner")
        except KeyError:
            int("x")
    except ValueError as e:
        return x + 1.0, e.args, e.__context__.args


@captured
def chain_of_three(x):
    try:
        try:
            try:
                raise KeyError(1)
            except KeyError:
                raise ValueError(2)
        except ValueError:
            raise TypeError(3)
    except TypeError as e:
        return x, e.args + e.__context__.args + e.__context__.__context__.args


@captured
def raised_while_handling_itself(x):
    try:
        try:
            raise KeyError(1)
        except KeyError as e:
            kept = e
            try:
                raise ValueError(2)
            except ValueError:
                raise kept
    except KeyError as e:
        return x + 1.0, e is kept, e.__context__.args, e.__context__.__context__


@captured
def cause_set_by_hand(x):
    e = ValueError("a")
    e.__cause__ = KeyError("b")
    try:
        raise e
    except ValueError as f:
        return x * 2.0, f.__cause__.args, f.__suppress_context__


@captured
def suppress_set_by_hand(x):
    try:
        raise ValueError("a")
    except ValueError as e:
        e.__suppress_context__ = True
        return x * 2.0, e.__suppress_context__


# ---- exception objects


@captured
def attributes_of_an_instance(x):
    e = Refused(3, "text", 4)
    e.extra = x + 1.0
    return e.extra * e.code, e.args, e.twice(), isinstance(e, ValueError)


@captured
def init_without_super(x):
    e = WithoutSuper(1, b=x)
    return e.b + e.a, e.args


@captured
def property_of_an_exception(x):
    try:
        raise Described("a", x)
    except Described as e:
        return e.args[1] + 1.0, e.text


@captured
def args_are_set(x):
    e = ValueError("a")
    e.args = ("b", x)
    try:
        raise e
    except ValueError as f:
        return f.args[1] + 1.0, f.args[0]


@captured
def array_in_an_exception(x):
    try:
        raise ValueError(x + 1.0, x * 2.0)
    except ValueError as e:
        a, b = e.args
        return a - b


@captured
def value_of_stop_iteration(x):
    try:
        raise StopIteration(x)
    except StopIteration as e:
        return e.value + 1.0


@captured
def stop_iteration_without_value(x):
    try:
        raise StopIteration
    except StopIteration as e:
        return x + 1.0, e.value, e.args


@captured
def code_of_system_exit(x):
    try:
        raise SystemExit(3)
    except SystemExit as e:
        return x + e.code


@captured
def errno_of_an_os_error(x):
    try:
        raise OSError(2, "no such file", "there")
    except FileNotFoundError as e:
        return x + e.errno, e.strerror, e.filename, e.args


@captured
def name_of_an_attribute_error(x):
    try:
        raise AttributeError("a", name="n", obj=x)
    except AttributeError as e:
        return e.obj + 1.0, e.name, e.args


@captured
def traceback_is_there(x):
    try:
        raise ValueError
    except ValueError as e:
        return x + 1.0, e.__traceback__ is not None


@captured
def with_traceback(x):
    try:
        raise ValueError("a").with_traceback(None)
    except ValueError as e:
        return x + 1.0, e.args


@captured
def created_and_returned(x):
    return x + 1.0, ValueError("a", 3), Refused(2, "b")


@captured
def created_and_dropped(x):
    ValueError("a")
    KeyError(x)
    return x + 1.0


@captured
def exceptions_in_a_list(x):
    kinds = [ValueError, KeyError, Refused]
    n = 0
    for kind in kinds:
        try:
            raise kind(1, 2)
        except (KeyError, ValueError) as e:
            n += len(e.args)
    return x + n


# ---- control flow around handlers


@captured
def try_in_a_loop_in_a_try(x):
    total = x
    try:
        for i in range(10):
            try:
                total = total + refuse(x, i)
            except Refused as e:
                if e.code > 4:
                    raise KeyError("stop") from e
    except KeyError as e:
        total = total - e.__cause__.code
    return total


@captured
def try_in_except(x):
    try:
        raise ValueError(1)
    except ValueError as e:
        try:
            raise KeyError(2)
        except KeyError as f:
            return x + e.args[0] + f.args[0]


@captured
def try_in_finally(x):
    try:
        y = x + 1.0
    finally:
        try:
            raise ValueError
        except ValueError:
            y = x * 2.0
    return y


@captured
def lookup_with_default(x):
    table = {"a": 1.0, "b": 2.0}
    total = x
    for key in "abc":
        try:
            total = total + table[key]
        except KeyError:
            total = total - 1.0
    return total


@captured
def conversion_or_default(x):
    total = x
    for text in ("1", "x", "2.5"):
        try:
            total = total + float(text)
        except ValueError:
            total = total * 2.0
    return total


@captured
def division_by_zero(x):
    try:
        n = 1 // 0
    except ZeroDivisionError as e:
        return x + 1.0, e.args
    return x * n


@captured
def missing_attribute(x):
    try:
        (1).nothing  # noqa: B018
    except AttributeError:
        return x + 2.0


@captured
def duck_typing(x):
    def length(value):
        try:
            return len(value)
        except TypeError:
            return -1

    return x + length([1, 2]) + length(3) + length("abc")


@captured
def iteration_by_hand(x):
    it = iter([1.0, 2.0])
    total = x
    while True:
        try:
            total = total + next(it)
        except StopIteration:
            break
    return total


@captured
def assert_holds(x):
    assert x.ndim == 1, "one axis"
    return x + 1.0


@captured
def assert_fails_and_is_caught(x):
    try:
        assert x.ndim == 2, ("two axes", x.ndim)
    except AssertionError as e:
        return x + 1.0, e.args


@captured
def not_implemented(x):
    class_ = Base()
    try:
        class_.run(x)
    except NotImplementedError as e:
        return x + 1.0, e.args


class Base:
    def run(self, x):
        raise NotImplementedError("run", type(self) is Base)


@captured
def effects_before_and_after(x):
    log = {"n": 0}
    try:
        log["n"] += 1
        log["a"] = x
        raise ValueError
    except ValueError:
        log["b"] = x + 1.0
        del log["n"]
    return log


@captured
def in_a_comprehension(x):
    def safe(n):
        try:
            return 6 // n
        except ZeroDivisionError:
            return 0

    return x + sum([safe(n) for n in (3, 2, 0, 1)])


@captured
def in_a_lambda_in_sorted(x):
    def key(n):
        try:
            return 1 / n
        except ZeroDivisionError:
            return -1.0

    return [x * n for n in sorted([2, 0, 1], key=key)]


@captured
def handler_with_many_locals(x):
    a, b, c = 1.0, 2.0, 3.0
    try:
        a = b + c
        raise ValueError(a)
    except ValueError as e:
        b = e.args[0] * 2
    return x * a + b - c


@captured
def stack_below_the_try(x):
    def inner():
        try:
            raise ValueError
        except ValueError:
            return x

    return [x + 1.0, (inner() * 2.0, {"k": inner()})]


@captured
def raise_what_is_no_exception(x):
    try:
        raise 3
    except TypeError as e:
        return x + 1.0, e.args


@captured
def raise_a_class_that_is_no_exception(x):
    try:
        raise int
    except TypeError as e:
        return x + 1.0, e.args


@captured
def cause_that_is_no_exception(x):
    try:
        raise ValueError from 3
    except TypeError as e:
        return x + 1.0, e.args


@captured
def except_what_is_no_class(x):
    try:
        try:
            raise ValueError
        except 3:  # noqa: B030
            pass
    except TypeError as e:
        return x + 1.0, e.args


@captured
def except_what_is_no_exception(x):
    try:
        try:
            raise ValueError
        except (KeyError, int):  # noqa: B030
            pass
    except TypeError as e:
        return x + 1.0, e.args, type(e.__context__) is ValueError


@captured
def except_clause_that_raises(x):
    def choose():
        raise KeyError("choosing")

    try:
        try:
            raise ValueError
        except choose():
            pass
    except KeyError as e:
        return x + 1.0, e.args


@captured
def except_clause_that_computes(x):
    kinds = {"a": ValueError}
    try:
        raise ValueError
    except kinds["a"]:
        return x + 1.0


@captured
def except_clause_is_not_evaluated(x):
    try:
        y = x + 1.0
    except undefined_name:  # noqa: F821
        y = x
    return y


@pytest.mark.parametrize("fn", CAPTURED, ids=lambda fn: fn.__name__)
def test_captured(fn):
    check(fn, A)


# ---- leaving the function


@raising
def leaves_at_once(x):
    raise ValueError("a", 3)


@raising
def leaves_a_callee(x):
    y = x + 1.0
    return refuse(y, 3)


@raising
def leaves_after_finally(x):
    try:
        y = x + 1.0
        raise KeyError("k")
    finally:
        x = y * 2.0


@raising
def leaves_with_a_cause(x):
    try:
        raise KeyError("k")
    except KeyError as e:
        raise ValueError("v") from e


@raising
def leaves_again(x):
    try:
        deep(x, 3)
    except KeyError:
        x = x + 1.0
        raise


@raising
def leaves_a_handler(x):
    try:
        raise KeyError("k")
    except KeyError:
        return x + undefined_name  # noqa: F821


@raising
def no_clause_fits(x):
    try:
        raise KeyError("k")
    except (ValueError, TypeError):
        return x


@raising
def assert_fails(x):
    assert x.ndim == 2, f"not {2}"
    return x


@raising
def unbound_local(x):
    if x.ndim == 2:
        y = x
    return y + 1.0


@raising
def bare_raise_without_exception(x):
    x = x + 1.0
    raise  # noqa: PLE0704


@raising
def user_exception(x):
    raise Refused(3, "text")


@raising
def system_exit_like(x):
    raise StopIteration(3)


@pytest.mark.parametrize("fn", RAISING, ids=lambda fn: fn.__name__)
def test_raising(fn):
    check(fn, A, breaks="raises")


def test_a_caught_exception_that_is_returned_breaks():
    def fn(x):
        try:
            raise ValueError("a")
        except ValueError as e:
            return x + 1.0, e

    check(fn, A, breaks="reconstruct")


def test_a_caught_exception_that_is_stored_breaks():
    class Box:
        error = None

    box = Box()

    def fn(x):
        try:
            raise ValueError("a")
        except ValueError as e:
            box.error = e
        return x + 1.0

    check(fn, A, breaks="reconstruct", reset=lambda: vars(box).clear())


def test_an_existing_exception_is_raised():
    error = ValueError("before")

    def fn(x):
        try:
            raise error
        except ValueError:
            return x + 1.0

    check(fn, A, breaks="raises")
