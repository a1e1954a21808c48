"""Exception groups and `except*`: captured whole, also where they raise.

PYTEST_DONT_REWRITE: the functions assert themselves.
"""

import dyntrace
import numpy as np
import pytest
from differential import check, in_a_thread

A = np.linspace(0.5, 2.0, 4)

CAPTURED = []
RAISING = []


def captured(fn):
    CAPTURED.append(fn)
    return fn


def raising(fn):
    RAISING.append(fn)
    return fn


class Refused(ValueError):
    def __init__(self, code):
        super().__init__(f"refused {code}")
        self.code = code


class Batch(ExceptionGroup):
    def derive(self, excs):
        return Batch(self.message, excs)


class Counted(ExceptionGroup):
    """Keeps its message when it is taken apart, and a number."""

    number = 0

    def derive(self, excs):
        new = Counted(self.message, excs)
        new.number = self.number + 1
        return new


class Wrong(ExceptionGroup):
    def derive(self, excs):
        return 3


def three():
    return ExceptionGroup("three", [ValueError("a"), KeyError("b"), Refused(3)])


def nested():
    return ExceptionGroup(
        "outer",
        [
            ValueError(1),
            ExceptionGroup("inner", [TypeError(2), ValueError(3), OSError(4)]),
            ExceptionGroup("all", [ValueError(5)]),
        ],
    )


def shape(e):
    """A group as plain data."""
    if e is None:
        return None
    if isinstance(e, BaseExceptionGroup):
        return (type(e), e.message, [shape(one) for one in e.exceptions])
    return (type(e), e.args)


# ---- making


@captured
def made(x):
    return x + 1.0, three()


@captured
def its_parts(x):
    eg = three()
    return x + 1.0, eg.message, len(eg.exceptions), eg.args[0], type(eg.exceptions)


@captured
def its_text(x):
    return x + 1.0, str(three()), str(ExceptionGroup("one", (ValueError(),)))


@captured
def base_of_exceptions(x):
    eg = BaseExceptionGroup("b", [ValueError(1)])
    return x + 1.0, type(eg) is ExceptionGroup, isinstance(eg, Exception)


@captured
def base_of_others(x):
    eg = BaseExceptionGroup("b", [ValueError(1), KeyboardInterrupt()])
    return x + 1.0, type(eg) is BaseExceptionGroup, isinstance(eg, Exception)


@captured
def of_a_user_class(x):
    eg = Batch("m", [ValueError(1)])
    return x + 1.0, eg, type(eg.derive([KeyError(1)]))


@captured
def args_of_a_list(x):
    errors = [ValueError(1)]
    eg = ExceptionGroup("m", errors)
    errors.append(KeyError(2))
    return x + 1.0, eg.args[1] is errors, len(eg.exceptions), shape(eg)


@captured
def a_list_that_grows(x):
    errors = [ValueError(1)]
    eg = ExceptionGroup("m", errors)
    errors.append(KeyError(2))
    return x + 1.0, eg, errors


@captured
def collected_errors(x):
    errors = []
    for i in range(4):
        try:
            if i % 2:
                raise Refused(i)
            x = x * 2.0
        except Refused as e:
            errors.append(Refused(e.code))
    return x, ExceptionGroup("collected", errors)


@captured
def empty_is_refused(x):
    try:
        ExceptionGroup("m", [])
    except ValueError as e:
        return x + 1.0, str(e)


@captured
def no_exception_is_refused(x):
    try:
        ExceptionGroup("m", [ValueError(1), 3])
    except ValueError as e:
        return x + 1.0, str(e)


@captured
def nested_base_is_refused(x):
    try:
        ExceptionGroup("m", [SystemExit(1)])
    except TypeError as e:
        return x + 1.0, str(e)


@captured
def nested_base_in_a_user_class(x):
    try:
        Batch("m", [SystemExit(1)])
    except TypeError as e:
        return x + 1.0, str(e)


# ---- split, subgroup, derive


@captured
def split_by_type(x):
    a, b = three().split(ValueError)
    return x + 1.0, shape(a), shape(b)


@captured
def split_by_types(x):
    a, b = nested().split((OSError, TypeError))
    return x + 1.0, shape(a), shape(b)


@captured
def split_by_function(x):
    a, b = nested().split(lambda e: isinstance(e, ValueError) and e.args[0] > 2)
    return x + 1.0, shape(a), shape(b)


@captured
def split_by_group_type(x):
    eg = nested()
    a, b = eg.split(ExceptionGroup)
    return x + 1.0, a is eg, b


@captured
def split_none_matches(x):
    a, b = three().split(OSError)
    return x + 1.0, a, shape(b)


@captured
def split_all_match(x):
    eg = three()
    a, b = eg.split(Exception)
    return x + 1.0, a is eg, b is None


@captured
def subgroup_by_type(x):
    return x + 1.0, shape(nested().subgroup(ValueError)), three().subgroup(OSError)


@captured
def subgroup_returned(x):
    return x + 1.0, three().subgroup(ValueError)


@captured
def derived(x):
    eg = three()
    return x + 1.0, shape(eg.derive([OSError(1)])), eg.derive(eg.exceptions[:1])


@captured
def own_derive(x):
    eg = Counted("m", [ValueError(1), Counted("n", [KeyError(2), ValueError(3)])])
    eg.number = 4
    a, b = eg.split(ValueError)
    return x + a.number + b.number, shape(a), shape(b)


@captured
def wrong_derive(x):
    try:
        Wrong("m", [ValueError(1), KeyError(2)]).split(ValueError)
    except TypeError as e:
        return x + 1.0, str(e)


@captured
def parts_have_the_cause(x):
    eg = three()
    eg.__cause__ = KeyError("c")
    a, b = eg.split(ValueError)
    return x + 1.0, a.__cause__ is eg.__cause__, b.__suppress_context__, a.__context__


@captured
def parts_have_the_notes(x):
    eg = three()
    eg.add_note("n")
    a, b = eg.split(ValueError)
    a.add_note("m")
    return x + 1.0, eg.__notes__, a.__notes__, b.__notes__


@captured
def leaves_stay_the_same(x):
    v, k = ValueError(1), KeyError(2)
    a, b = ExceptionGroup("m", [v, ExceptionGroup("n", [k, v])]).split(ValueError)
    return x + 1.0, a.exceptions[0] is v, a.exceptions[1].exceptions[0] is v, len(b.exceptions)


@captured
def counted_leaves(x):
    def count(e):
        if isinstance(e, BaseExceptionGroup):
            return sum(count(one) for one in e.exceptions)
        return 1

    return x * count(nested())


# ---- except


@captured
def caught_by_except(x):
    try:
        raise three()
    except ExceptionGroup as eg:
        return x + 1.0, shape(eg)


@captured
def caught_as_exception(x):
    try:
        raise nested()
    except Exception as e:
        return x + len(e.exceptions)


# ---- except*


@captured
def star_one(x):
    try:
        raise three()
    except* Exception as eg:
        y = x + len(eg.exceptions)
    return y


@captured
def star_two(x):
    seen = []
    try:
        raise three()
    except* ValueError as eg:
        seen.append(shape(eg))
        x = x + 1.0
    except* KeyError as eg:
        seen.append(shape(eg))
        x = x * 2.0
    return x, seen


@captured
def star_nothing_raised(x):
    try:
        x = x + 1.0
    except* ValueError:
        x = x * 100.0
    return x


@captured
def star_else(x):
    try:
        x = x + 1.0
    except* ValueError:
        x = x * 100.0
    else:
        x = x * 2.0
    finally:
        x = x - 1.0
    return x


@captured
def star_naked(x):
    try:
        raise ValueError("naked")
    except* ValueError as eg:
        return_value = shape(eg)
    return x + 1.0, return_value


@captured
def star_naked_from_an_operation(x):
    y = x
    try:
        [][3]
    except* IndexError as eg:
        y = x + 1.0
        text = str(eg.exceptions[0])
    return y, text


@captured
def star_tuple(x):
    try:
        raise three()
    except* (ValueError, KeyError) as eg:
        n = len(eg.exceptions)
    return x * n


@captured
def star_nested_group(x):
    parts = []
    try:
        raise nested()
    except* ValueError as eg:
        parts.append(shape(eg))
    except* (TypeError, OSError) as eg:
        parts.append(shape(eg))
    return x + 1.0, parts


@captured
def star_rest_caught_outside(x):
    try:
        try:
            raise three()
        except* ValueError:
            x = x + 1.0
    except ExceptionGroup as rest:
        return x * 2.0, shape(rest)


@captured
def star_naked_goes_on(x):
    try:
        try:
            raise OSError("other")
        except* ValueError:
            x = x + 100.0
    except OSError as e:
        return x + 1.0, e.args


@captured
def star_raises_another(x):
    try:
        try:
            raise three()
        except* ValueError:
            raise RuntimeError("in the clause")
    except ExceptionGroup as eg:
        return x + 1.0, shape(eg), eg.exceptions[0].__context__ is not None


@captured
def star_all_handled_and_one_raised(x):
    try:
        try:
            raise three()
        except* Exception:
            raise RuntimeError("alone")
    except RuntimeError as e:
        return x + 1.0, str(e)
    except ExceptionGroup as eg:
        return x + 2.0, shape(eg)


@captured
def star_reraised(x):
    try:
        try:
            raise three()
        except* ValueError:
            raise
    except ExceptionGroup as eg:
        return x + 1.0, shape(eg)


@captured
def star_reraised_twice(x):
    try:
        try:
            raise nested()
        except* ValueError:
            raise
        except* OSError:
            raise
    except ExceptionGroup as eg:
        return x + 1.0, shape(eg)


@captured
def star_raised_by_name(x):
    try:
        try:
            raise three()
        except* ValueError as part:
            raise part
    except ExceptionGroup as eg:
        return x + 1.0, shape(eg)


@captured
def star_raised_in_both(x):
    try:
        try:
            raise three()
        except* ValueError as a:
            raise RuntimeError(1) from a
        except* KeyError as b:
            raise RuntimeError(2) from b
    except ExceptionGroup as eg:
        causes = [shape(one.__cause__) for one in eg.exceptions]
        return x + 1.0, shape(eg), causes


@captured
def star_naked_reraised(x):
    try:
        try:
            raise ValueError("naked")
        except* ValueError:
            raise
    except ExceptionGroup as eg:
        return x + 1.0, shape(eg)
    except ValueError as e:
        return x + 2.0, e.args


@captured
def star_in_a_loop(x):
    total = x
    for i in range(4):
        try:
            if i % 2:
                raise ExceptionGroup("odd", [Refused(i), KeyError(i)])
            total = total + 1.0
        except* Refused as eg:
            total = total + eg.exceptions[0].code
        except* KeyError:
            total = total * 2.0
    return total


@captured
def star_from_a_callee(x):
    def work(y, n):
        errors = [Refused(i) for i in range(n)]
        if errors:
            raise ExceptionGroup("work", errors)
        return y * 2.0

    y = work(x, 0)
    try:
        work(x, 3)
    except* Refused as eg:
        y = y + sum(e.code for e in eg.exceptions)
    return y


@captured
def star_inside_a_callee(x):
    def guard(n):
        try:
            if n:
                raise ExceptionGroup("g", [KeyError(n)])
        except* KeyError as eg:
            n = n + eg.exceptions[0].args[0]
        return n

    return x + guard(0) + guard(3)


@captured
def star_user_group(x):
    try:
        raise Batch("b", [ValueError(1), KeyError(2)])
    except* ValueError as eg:
        kind = type(eg) is Batch
    except* KeyError as eg:
        kind = kind, type(eg) is Batch
    return x + 1.0, kind


@captured
def star_in_star(x):
    try:
        raise three()
    except* ValueError as outer:
        try:
            raise ExceptionGroup("again", [outer, OSError(1)])
        except* OSError:
            x = x + 1.0
        except* Refused:
            x = x + 10.0
        except* ValueError:
            x = x + 100.0
    except* KeyError:
        x = x * 2.0
    return x


@captured
def star_group_is_refused(x):
    try:
        try:
            raise three()
        except* ExceptionGroup:
            x = x * 100.0
    except TypeError as e:
        return x + 1.0, str(e)


@captured
def star_class_is_refused(x):
    try:
        try:
            raise three()
        except* int:
            x = x * 100.0
    except TypeError as e:
        return x + 1.0, str(e)


@captured
def star_name_is_gone(x):
    try:
        raise three()
    except* Exception as eg:
        x = x + 1.0
    try:
        eg
    except UnboundLocalError:
        return x * 2.0


@captured
def star_keeps_arrays(x):
    kept = []
    try:
        e = ValueError("array")
        e.data = x * 2.0
        raise ExceptionGroup("g", [e])
    except* ValueError as eg:
        kept.append(eg.exceptions[0].data)
    return kept[0] + 1.0


@captured
def star_with_finally(x):
    order = []
    try:
        try:
            raise three()
        except* ValueError:
            order.append("value")
        finally:
            order.append("finally")
    except* KeyError:
        order.append("key")
    return x + len(order), order


@captured
def star_in_a_generator(x):
    def steps():
        for i in range(3):
            try:
                if i == 1:
                    raise ExceptionGroup("s", [ValueError(i)])
                yield i
            except* ValueError as eg:
                n = eg.exceptions[0].args[0]
            else:
                continue
            yield 10 * n

    return x + sum(steps())


@pytest.mark.parametrize("fn", CAPTURED, ids=lambda fn: fn.__name__)
def test_captured(fn):
    in_a_thread(check)(fn, A)


# ---- leaving the function


@raising
def group_raised(x):
    y = x + 1.0
    raise ExceptionGroup("m", [ValueError(float(len(y)))])


@raising
def star_rest_leaves(x):
    y = x + 1.0
    try:
        raise three()
    except* ValueError:
        y = y * 2.0
    return y


@raising
def star_clause_raises(x):
    y = x + 1.0
    try:
        raise three()
    except* Exception:
        raise RuntimeError(len(y))


@raising
def star_reraise_leaves(x):
    y = x + 1.0
    try:
        raise three()
    except* ValueError:
        raise
    return y


@raising
def bad_group(x):
    return x + 1.0, ExceptionGroup("m", [])


@raising
def naked_leaves(x):
    try:
        x = x + 1.0
        raise OSError(2, "none")
    except* ValueError:
        return_value = 1
    return x + return_value


@pytest.mark.parametrize("fn", RAISING, ids=lambda fn: fn.__name__)
def test_raising(fn):
    check(fn, A, breaks="raises")


def test_a_caught_group_that_is_returned_breaks():
    def fn(x):
        y = x + 1.0
        try:
            raise three()
        except* ValueError as eg:
            kept = eg
        except* KeyError:
            y = y + 1.0
        return y * 2.0, kept

    check(fn, A, breaks="reconstruct")


def test_a_break_where_the_type_is_named():
    """What is handled from then on is the match, which the frame itself makes so."""

    @dyntrace.disable
    def wanted():
        return ValueError

    def naked(x):
        try:
            try:
                raise ValueError("naked")
            except* wanted():
                raise
        except ExceptionGroup as eg:
            return x + 1.0, len(eg.exceptions)
        except ValueError as e:
            return x + 2.0, e.args

    def grouped(x):
        try:
            try:
                raise three()
            except* wanted() as eg:
                y = x + len(eg.exceptions)
                raise
        except ExceptionGroup as eg:
            return y * 2.0, sorted(type(e).__name__ for e in eg.exceptions)

    for fn in (naked, grouped):
        check(fn, A, breaks="skipped-function")


def test_an_existing_group():
    def fn(x, eg):
        return x + len(eg.exceptions), eg.message, eg.exceptions[0], isinstance(eg, ExceptionGroup)

    check(fn, make=lambda: ((A, three()), {}))
    check(fn, make=lambda: ((A, nested()), {}))
