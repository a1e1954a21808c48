"""Exceptions that leave the function, and existing ones that come in.

One that was never raised is made again; one that was raised has a traceback, so what lies around it
is captured in parts.

PYTEST_DONT_REWRITE: the functions assert themselves.
"""

import numpy as np
import pytest
from differential import FORCED, check, in_a_thread

A = np.linspace(0.5, 2.0, 4)

MADE = []
RAISED = []
INPUTS = []


def made(fn):
    """No traceback: captured whole."""
    MADE.append(fn)
    return fn


def raised(fn):
    """With a traceback: the function goes on after it, in parts."""
    RAISED.append(fn)
    return fn


def reads(fn):
    INPUTS.append(fn)
    return fn


class Refused(ValueError):
    def __init__(self, code, message, *rest):
        super().__init__(message, *rest)
        self.code = code

    def twice(self):
        return 2 * self.code


class Plain(Exception):
    pass


class Silent(Exception):
    def __init__(self, a, b=3):
        self.a, self.b = a, b


class Told(Exception):
    def __str__(self):
        return f"told {self.args[0]}"


class Outcome:
    def __init__(self, value=None, error=None):
        self.value = value
        self.error = error

    def ok(self):
        return self.error is None


# ---- made, never raised


@made
def returned(x):
    return x + 1.0, ValueError("a", 3)


@made
def returned_class_only(x):
    return x + 1.0, ValueError


@made
def without_arguments(x):
    return x + 1.0, KeyError()


@made
def of_a_user_class(x):
    return x + 1.0, Refused(3, "text")


@made
def user_class_with_attributes(x):
    e = Refused(3, "text")
    e.extra = [1, 2]
    return x * e.twice(), e


@made
def init_that_calls_no_super(x):
    return x - 1.0, Silent(1, b=4)


@made
def with_an_array(x):
    return ValueError("bad", x * 2.0)


@made
def in_a_list(x):
    errors = []
    for i in range(3):
        if i != 1:
            errors.append(IndexError(i))
    return x + len(errors), errors


@made
def in_a_dict(x):
    return {"value": x * 3.0, "error": RuntimeError("later")}


@made
def in_an_outcome(x):
    out = Outcome(x * 2.0, TypeError("kept"))
    return out, out.ok()


@made
def with_a_cause(x):
    e = ValueError("a")
    e.__cause__ = KeyError("b")
    return x + 1.0, e


@made
def with_cause_none(x):
    e = ValueError("a")
    e.__cause__ = None
    return x + 1.0, e


@made
def with_a_context(x):
    e = ValueError("a")
    e.__context__ = KeyError("b")
    return x + 1.0, e


@made
def suppressed(x):
    e = ValueError("a")
    e.__context__ = KeyError("b")
    e.__suppress_context__ = True
    return x + 1.0, e


@made
def a_chain(x):
    first = ValueError(0)
    for i in range(1, 5):
        e = ValueError(i)
        e.__context__ = first
        first = e
    return x + 1.0, first


@made
def shared_cause(x):
    cause = OSError(2, "none")
    a, b = ValueError("a"), ValueError("b")
    a.__cause__ = cause
    b.__cause__ = cause
    return x + 1.0, a, b


@made
def args_are_set(x):
    e = ValueError("a")
    e.args = ("b", 2)
    return x + 1.0, e


@made
def stop_iteration(x):
    return x + 1.0, StopIteration(7)


@made
def stop_iteration_with_an_array(x):
    return StopIteration(x + 1.0)


@made
def system_exit(x):
    return x + 1.0, SystemExit(1), SystemExit(1, 2), SystemExit()


@made
def import_error(x):
    return x + 1.0, ImportError("m", name="n", path="p")


@made
def attribute_error(x):
    return x + 1.0, AttributeError("m", name="n", obj=3)


@made
def name_error(x):
    return x + 1.0, NameError("m", name="n")


@made
def os_error(x):
    return x + 1.0, OSError(2, "no such", "file"), OSError(13, "p"), OSError("plain")


@made
def unicode_error(x):
    return x + 1.0, UnicodeDecodeError("ascii", b"abc", 0, 1, "why")


@made
def syntax_error(x):
    return x + 1.0, SyntaxError("m", ("f", 1, 2, "text"))


@made
def traceback_of_none(x):
    e = ValueError("a").with_traceback(None)
    return x + 1.0, e, e.__traceback__


@made
def made_in_a_callee(x):
    def refuse(n):
        return Refused(n, "callee") if n else None

    return x + 1.0, refuse(0), refuse(2)


@made
def a_default(x):
    error = {}.get("k", KeyError("k"))
    return x + 1.0, error


@made
def own_text(x):
    e = Told("it")
    return x + 1.0, e, str(e)


@made
def classes_in_a_table(x):
    table = {1: ValueError, 2: KeyError, 3: Plain}
    return [table[i](i, x + i) for i in (1, 2, 3)]


@made
def one_object_twice(x):
    e = Plain("a")
    return e, [e], x + 1.0


@made
def caught_one_dropped_new_one_kept(x):
    try:
        raise KeyError("k")
    except KeyError as e:
        kept = ValueError(str(e), e.args)
    return x + 1.0, kept


@made
def caught_and_stripped(x):
    try:
        raise ValueError("a", 1)
    except ValueError as e:
        return x + 1.0, e.with_traceback(None)


@made
def caught_in_a_callee_and_stripped(x):
    def attempt(n):
        try:
            return 10 // n, None
        except ZeroDivisionError as e:
            return None, Refused(n, str(e))

    return x + 1.0, [attempt(i) for i in (0, 2)]


@made
def stripped_with_cause(x):
    try:
        raise ValueError("a") from KeyError("b")
    except ValueError as e:
        e.__traceback__ = None
        return x + 1.0, e


@made
def text_only(x):
    errors = []
    for i in range(3):
        try:
            if i:
                raise Refused(i, "no")
        except Refused as e:
            errors.append((type(e), str(e), repr(e), e.code, e.args))
    return x + 1.0, errors


@made
def handed_to_a_callback(x):
    seen = []

    def report(e):
        seen.append(f"{type(e).__name__}: {e}")

    try:
        [][1]
    except IndexError as e:
        report(e)
    return x + 1.0, seen


@made
def compared_tracebacks(x):
    try:
        raise ValueError("a")
    except ValueError as e:
        has = e.__traceback__ is not None
    return x + 1.0, has, ValueError("b").__traceback__ is None


@made
def traceback_handed_on(x):
    try:
        raise ValueError("a")
    except ValueError as e:
        same = e.__traceback__ is e.__traceback__
        other = KeyError("b").with_traceback(e.__traceback__)
        return x + 1.0, same, other.__traceback__ is e.__traceback__


@made
def last_error_is_replaced(x):
    last = None
    for i in range(3):
        try:
            if i < 2:
                raise ValueError(i)
            y = x * i
        except ValueError as e:
            last = e
        else:
            last = None
    return y, last


@pytest.mark.parametrize("fn", MADE, ids=lambda fn: fn.__name__)
def test_made(fn):
    in_a_thread(check)(fn, A)


@pytest.mark.skipif(not hasattr(BaseException, "add_note"), reason="3.11 on")
def test_notes():
    def fn(x):
        e = ValueError("a")
        e.add_note("one")
        e.add_note("two")
        return x + 1.0, e, list(e.__notes__)

    check(fn, A)


@pytest.mark.skipif(not hasattr(BaseException, "add_note"), reason="3.11 on")
def test_notes_of_an_existing_exception():
    def fn(x, e):
        e.add_note("n")
        return x + 1.0, e.__notes__

    def noted():
        e = ValueError("a")
        e.add_note("before")
        return e

    check(fn, make=lambda: ((A, ValueError("a")), {}))
    check(fn, make=lambda: ((A, noted()), {}))


def test_stored_outside():
    kept = Outcome()

    def fn(x):
        kept.error = Refused(2, "kept", x + 1.0)
        return x * 2.0

    check(fn, A, state=lambda: str(kept.error.code), reset=lambda: setattr(kept, "error", None))


def test_the_callers_exception_is_the_context():
    def fn(x):
        try:
            raise ValueError("a")
        except ValueError as e:
            return x + 1.0, e.with_traceback(None)

    def while_handling(call):
        def run(x):
            try:
                raise KeyError("outer")
            except KeyError:
                return call(x)

        return run

    import dyntrace

    plain = while_handling(fn)(A)[1]
    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        target = while_handling(dyntrace.compile(fn))
        for _ in range(3):
            compiled = target(A)[1]
            assert type(compiled.__context__) is type(plain.__context__) is KeyError
            assert compiled.__context__.args == ("outer",)
        assert dyntrace.compile(fn)(A)[1].__context__ is None


# ---- raised, and kept


@raised
def caught_and_returned(x):
    y = x * 2.0
    try:
        raise ValueError("a")
    except ValueError as e:
        error = e
    return y + 1.0, error


@raised
def caught_in_a_loop(x):
    errors = []
    for i in range(3):
        try:
            if i == 1:
                raise Refused(i, "no")
            x = x + i
        except Refused as e:
            errors.append(e)
    return x * 2.0, errors


@raised
def caught_from_a_callee(x):
    def refuse(n):
        raise KeyError(n)

    y = x + 1.0
    try:
        refuse(3)
    except KeyError as e:
        return y, e


@raised
def caught_with_a_cause(x):
    y = x + 1.0
    try:
        try:
            raise KeyError("k")
        except KeyError as inner:
            raise ValueError("v") from inner
    except ValueError as e:
        out = e
    return y * 2.0, out


@raised
def caught_with_a_context(x):
    y = x + 1.0
    try:
        try:
            raise KeyError("k")
        except KeyError:
            raise ValueError("v")
    except ValueError as e:
        out = e
    return y * 2.0, out.__context__, out


@raised
def kept_in_an_attribute(x):
    out = Outcome()
    try:
        out.value = x + 1.0
        1 // 0
    except ZeroDivisionError as e:
        out.error = e
    out.value = out.value * 2.0
    return out


@raised
def traceback_returned(x):
    try:
        raise ValueError("a")
    except ValueError as e:
        tb = e.__traceback__
    return x + 1.0, tb.tb_lineno


@raised
def raised_again_later(x):
    error = None
    try:
        y = x + 1.0
        raise ValueError("a")
    except ValueError as e:
        error = e
    z = y * 2.0
    if error is not None:
        raise error
    return z


@raised
def finally_returns_it(x):
    error = None
    y = x - 1.0
    try:
        raise Plain("p")
    except Plain as e:
        error = e
    finally:
        y = y * 2.0
    return y, error


@pytest.mark.parametrize("fn", RAISED, ids=lambda fn: fn.__name__)
def test_raised(fn):
    compiled = check(
        fn,
        A,
        breaks="raises"
        if fn.__name__ == "raised_again_later"
        else None or ("missing-slot" if fn.__name__ == "traceback_returned" else "reconstruct"),
    )
    segments = [r for r in compiled.region.records if r["segment"] and r["published"]]
    assert FORCED or any(r["graph"] is not None for r in segments), "nothing around it was captured"


# ---- existing exceptions


@reads
def passed_through(x, e):
    return x + 1.0, e


@reads
def arguments(x, e):
    return x + len(e.args), e.args


@reads
def its_text(x, e):
    return x + 1.0, str(e), repr(e), f"{e}"


@reads
def its_type(x, e):
    if isinstance(e, ValueError):
        return x + 1.0
    if isinstance(e, (KeyError, Plain)):
        return x + 2.0
    return x + 3.0, type(e) is OSError


@reads
def its_class(x, e):
    return x + 1.0, type(e), e.__class__, type(e) is ValueError


@reads
def its_cause(x, e):
    return x + 1.0, e.__cause__, e.__cause__ is None


@reads
def its_context(x, e):
    chain = []
    at = e
    while at is not None:
        chain.append(str(at))
        at = at.__cause__ if at.__cause__ is not None else at.__context__
    return x + len(chain), chain


@reads
def its_suppression(x, e):
    return x + 1.0, e.__suppress_context__


@reads
def its_traceback(x, e):
    return x + 1.0, e.__traceback__ is None


@reads
def hidden_attributes(x, e):
    return x * getattr(e, "code", 2), hasattr(e, "nothing"), getattr(e, "value", None)


@reads
def attributes_set(x, e):
    e.mark = x + 1.0
    return x * 2.0


@reads
def held_in_a_new_one(x, e):
    return x + 1.0, Refused(1, "wrapped", e)


@reads
def as_cause_of_a_new_one(x, e):
    new = RuntimeError("new")
    new.__cause__ = e
    return x + 1.0, new


@reads
def as_cause_of_one_that_is_caught(x, e):
    try:
        raise RuntimeError("new") from e
    except RuntimeError as new:
        return x + 1.0, new.__cause__ is e, new.__suppress_context__


@reads
def first_of_several(x, e):
    errors = [e, ValueError("other")]
    return x + 1.0, [type(one) for one in errors], errors[0] is e


@reads
def truth_and_equality(x, e):
    return x + 1.0, bool(e), e == e, e == ValueError("a"), e != 3


@reads
def as_key(x, e):
    return x + 1.0, {e: 1}[e], e in [e]


@reads
def matched(x, e):
    match e:
        case Refused(code=c):
            return x + c
        case ValueError(args=(first,)):
            return x + 1.0, first
        case KeyError() | Plain():
            return x + 2.0
    return x + 3.0


def chained():
    e = ValueError("outer")
    e.__cause__ = KeyError("cause")
    e.__context__ = Plain("context")
    return e


def thrown():
    try:
        try:
            raise KeyError("first")
        except KeyError:
            raise Refused(4, "second", 5)
    except Refused as e:
        return e


EXISTING = {
    "value": lambda: ValueError("a"),
    "empty": lambda: Plain(),
    "two": lambda: KeyError("a", 2),
    "user": lambda: Refused(3, "text"),
    "silent": lambda: Silent(1),
    "told": lambda: Told("x"),
    "os": lambda: OSError(2, "none", "file"),
    "stop": lambda: StopIteration(3),
    "chained": chained,
    "thrown": thrown,
}


def skipped(fn, kind):
    # A StopIteration's "value" is a member, OSError's text comes out of C.
    return kind == "os" and fn in (its_text, its_context)


@pytest.mark.parametrize("kind", EXISTING)
@pytest.mark.parametrize("fn", INPUTS, ids=lambda fn: fn.__name__)
def test_existing(fn, kind):
    if skipped(fn, kind) or (fn is its_text and kind == "stop"):
        return
    check(fn, make=lambda: ((A.copy(), EXISTING[kind]()), {}))


def test_one_entry_for_many_exceptions():
    def fn(x, e):
        return x + 1.0, e

    def make():
        return (A, ValueError(len)), {}

    check(fn, make=make)


def test_what_was_read_changes():
    import dyntrace

    def fn(x, e):
        return x + 1.0, e.args[0], e.__cause__ is None, getattr(e, "code", None)

    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        target = dyntrace.compile(fn)
        e = ValueError("a")
        for change in (
            lambda: None,
            lambda: setattr(e, "args", ("b",)),
            lambda: setattr(e, "__cause__", KeyError(1)),
            lambda: setattr(e, "code", 3),
            lambda: setattr(e, "__cause__", None),
            lambda: setattr(e, "args", ("b", 2)),
            lambda: delattr(e, "code"),
        ):
            change()
            assert target(A, e)[1:] == fn(A, e)[1:]
        assert target(A, Refused(1, "x"))[1:] == fn(A, Refused(1, "x"))[1:]


def test_an_attribute_that_hides_a_member():
    import dyntrace

    def fn(x, e):
        return x + 1.0, e.args

    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        target = dyntrace.compile(fn)
        e = ValueError("a")
        assert target(A, e)[1] == ("a",)
        vars(e)["args"] = ("hidden",)
        assert target(A, e)[1] == ("a",)
        e.args = ("b",)
        assert target(A, e)[1] == ("b",)
