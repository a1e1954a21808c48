"""Code under np.errstate: as a manager and as a decorator, nested, with breaks and errors inside."""

import dyntrace
import numpy as np
import pytest
from differential import FORCED, Outcome, check, compare

GOOD = np.array([1.0, 2.0, 3.0, 4.0])
BAD = np.array([1.0, 0.0, -1.0, np.inf])
HUGE = np.array([1e300, 0.0, -1e300, 1e-310])


def divide(x):
    with np.errstate(divide="ignore", invalid="ignore"):
        y = 1 / x
    return y * 2


def logarithm(x):
    with np.errstate(all="ignore"):
        y = np.log(x) * np.sqrt(x) + x * 1e200
    return y, y.sum()


def called_inside(x):
    """What NumPy is called for in one region has no say in the next."""
    with np.errstate(all="ignore"):
        y = np.cbrt(x) / 3.0
    return 1 / y, np.log(y)


def called_outside(x):
    y = np.cbrt(x) / 3.0
    with np.errstate(all="ignore"):
        z = 1 / y
    return z, np.log(y) * y[0]


def before_and_after(x):
    a = np.sqrt(x)
    with np.errstate(all="ignore"):
        b = np.log(x)
    return a + b, x / 0


def nested(x):
    with np.errstate(all="ignore"):
        y = 1 / x
        with np.errstate(invalid="warn"):
            z = np.sqrt(x)
        w = np.log(x)
    return y + z + w


def inner_ignores(x):
    with np.errstate(divide="warn"):
        with np.errstate(divide="ignore"):
            y = 1 / x
        return y, np.log(x)


def raises(x):
    with np.errstate(all="raise"):
        return 1 / x


def raises_caught(x):
    try:
        with np.errstate(divide="raise", invalid="raise"):
            return np.log(x)
    except FloatingPointError as error:
        return str(error)


def raises_in_part(x):
    with np.errstate(over="raise", divide="ignore", invalid="ignore"):
        y = 1 / x
        return y * 1e10


def underflow(x):
    with np.errstate(under="warn"):
        return x * 1e-300 * 1e-5


def scalars(x):
    with np.errstate(all="ignore"):
        return x[0] / x[1], x.sum() / x[1], np.sqrt(x[2]), float(x[0] / x[1])


def reductions(x):
    with np.errstate(all="ignore"):
        y = (x * 1e200).sum(), (1 / x).mean(), np.log(x).max()
    return y, (x * 2).sum()


def casts(x):
    with np.errstate(invalid="ignore"):
        return (x * 2).astype("f4"), x.astype("i8")


def matrix(x):
    with np.errstate(all="ignore"):
        return x @ (x * 1e200), np.outer(x, x) * 1e200


def where(x):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(x > 0, np.log(x), 0.0)


def written(x):
    with np.errstate(all="ignore"):
        x[1:] = 1 / x[:-1]
        x += np.log(x)
    return x.sum()


def loop(x):
    total = np.zeros_like(x)
    for i in range(3):
        with np.errstate(all="ignore"):
            total += i / x
    return total


@np.errstate(all="ignore")
def helper(x):
    return np.log(x) / x


@np.errstate(divide="ignore", over="raise")
def partly(x, *, scale=1.0):
    return scale / x


def decorated(x):
    return helper(x) * 2, partly(x, scale=3.0)


def decorated_here(x):
    @np.errstate(invalid="ignore")
    def root(y):
        return np.sqrt(y)

    return root(x), root(x - 2)


def callee(x):
    with np.errstate(all="ignore"):
        return helper(x) + divide(x)


def left_by_return(x):
    for i in range(3):
        with np.errstate(divide="ignore"):
            if i == 1:
                return 1 / x
    return x


def left_by_exception(x):
    try:
        with np.errstate(all="ignore"):
            y = 1 / x
            raise ValueError("left")
    except ValueError as error:
        return y, str(error), 2 / x


def of_a_variable(x, mode="ignore"):
    with np.errstate(divide=mode, invalid=mode):
        return 1 / x


def none_given(x):
    with np.errstate():
        return 1 / x


WHOLE = [
    divide, logarithm, called_inside, called_outside, before_and_after, nested, inner_ignores, raises,
    raises_caught, raises_in_part,
    underflow, scalars, reductions, casts, matrix, where, written, loop, decorated, callee,
    left_by_return, left_by_exception, of_a_variable, none_given,
]  # fmt: skip


@pytest.mark.parametrize("fn", WHOLE)
def test_whole(fn):
    check(fn, GOOD)


OUTSIDE = [{}, {"all": "ignore"}, {"all": "raise"}, {"divide": "raise", "invalid": "warn"}]


@pytest.mark.parametrize("outside", OUTSIDE, ids=str)
@pytest.mark.parametrize("fn", WHOLE)
def test_errors(fn, outside):
    """Results, warnings with their lines and exceptions, whatever holds outside."""
    compiled = dyntrace.compile(fn)
    for x in (GOOD, BAD, BAD[::-1], HUGE, BAD, HUGE[::-1], GOOD):
        with np.errstate(**outside):
            plain = Outcome(fn, (x.copy(),), {})
            compare(plain, Outcome(compiled, (x.copy(),), {}))
            assert np.geterr() == np.geterr() | outside_modes(outside)


def outside_modes(outside):
    modes = dict(outside)
    everything = modes.pop("all", None)
    names = ("divide", "over", "under", "invalid")
    return modes if everything is None else dict.fromkeys(names, everything)


@pytest.mark.skipif(bool(FORCED), reason="it is about what is captured")
def test_ignored_errors_do_not_leave_the_compiled_code():
    """What the region ignores does not make the call run plainly."""

    def fn(x, log):
        with np.errstate(divide="ignore"):
            y = 1 / x
        return y, dyntrace.is_compiling()

    compiled = dyntrace.compile(fn)
    assert [bool(compiled(x, None)[1]) for x in (GOOD, GOOD, np.zeros(4), np.zeros(4))] == [
        True
    ] * 4


# ---- What is no region in the graph --------------------------------------------------------------


def break_inside(x):
    with np.errstate(divide="ignore"):
        y = 1 / x
        dyntrace.graph_break()
        z = 2 / x
    return y + z, np.log(x)


def branch_inside(x):
    with np.errstate(divide="ignore"):
        if x.sum() > 3:
            y = 3 / x
        else:
            y = 2 / x
    return y / x


def read_inside(x):
    with np.errstate(divide="ignore"):
        modes = np.geterr()
        y = 1 / x
    return y, modes, np.geterr()


def called(x):
    seen = []
    with np.errstate(divide="call", call=lambda *a: seen.append(a)):
        y = 1 / x
    return y, seen


def wrong_mode(x):
    with np.errstate(divide="loud"):
        return 1 / x


def kept(x):
    state = np.errstate(divide="ignore")
    with state:
        y = 1 / x
    return y, isinstance(state, np.errstate)


@pytest.mark.parametrize(
    "fn", [break_inside, branch_inside, read_inside, called, wrong_mode, kept, decorated_here]
)
def test_not_whole(fn):
    compiled = dyntrace.compile(fn)
    for x in (GOOD, BAD, GOOD, HUGE, BAD):
        compare(Outcome(fn, (x.copy(),), {}), Outcome(compiled, (x.copy(),), {}))


def test_twice_is_refused():
    def fn(x):
        state = np.errstate(divide="ignore")
        with state, state:
            return 1 / x

    compiled = dyntrace.compile(fn)
    for _ in range(3):
        compare(Outcome(fn, (BAD,), {}), Outcome(compiled, (BAD,), {}))


def test_other_backends():
    for backend in ("eager", lambda graph, inputs: graph):
        compiled = dyntrace.compile(divide, backend=backend)
        for x in (GOOD, BAD, BAD):
            compare(Outcome(divide, (x,), {}), Outcome(compiled, (x,), {}))
