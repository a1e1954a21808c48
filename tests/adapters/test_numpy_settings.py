"""np.seterr, np.seterrcall, np.setbufsize and np.set_printoptions: effects, made behind the graph."""

import dyntrace
import numpy as np
import pytest
from differential import check

V = np.arange(0.0, 6.0)
BIG = np.array([1e300, 1.0, -1e300])
START = {"geterr": np.geterr(), "print": np.get_printoptions()}
CALLED = []


def note(kind, flag):
    CALLED.append((kind, flag))


def state():
    return np.geterr(), np.getbufsize(), np.geterrcall(), np.get_printoptions(), list(CALLED)


def reset():
    del CALLED[:]
    np.seterr(**START["geterr"])
    np.seterrcall(None)
    np.setbufsize(8192)
    options = dict(START["print"])
    np.set_printoptions(**options)


@pytest.fixture(autouse=True)
def settings_as_they_were():
    reset()
    yield
    reset()


def around(a):
    old = np.seterr(all="ignore")
    b = 1 / a
    np.seterr(**old)
    return b, old


def raises_behind(a):
    b = a / 2
    np.seterr(divide="raise")
    return b, 1 / a


def caught(a):
    np.seterr(divide="raise", invalid="ignore")
    try:
        b = 1 / a
    except FloatingPointError as error:
        b = str(error)
    return b, np.geterr()


def warns_first(a):
    b = 1 / a
    np.seterr(all="ignore")
    return b, 0 / a


def warns_behind(a):
    np.seterr(all="ignore")
    b = 1 / a
    np.seterr(divide="warn")
    return b, 1 / (a - 1), 0 * (1 / a)


def with_errstate(a):
    np.seterr(divide="ignore")
    with np.errstate(invalid="ignore", divide="warn"):
        b = 0 / a
        inside = np.geterr()
    return b, inside, 1 / a, np.geterr()


def in_a_call(a):
    def silence():
        return np.seterr(invalid="ignore")

    old = silence()
    return old, 0 / a, np.seterr(), np.seterr(None, "raise")


def leaves_by_raising(a):
    b = a * 2
    np.seterr(over="ignore")
    raise ValueError(b.shape)


def in_a_loop(a):
    for mode in ("ignore", "warn", "ignore"):
        np.seterr(all=mode)
        a = a + 1 / a
    return a


def some_overflow(a):
    np.seterr(over="ignore")
    return a * 1e300 * np.float64(1e300), np.geterr()["over"]


def prints(a):
    np.set_printoptions(precision=3, suppress=True, sign="+", floatmode="fixed")
    return a / 3


def prints_by_place(a):
    np.set_printoptions(2, 5, 1, 60, None, "nan!", "inf!")
    return a / 3, [i for i in a.shape]


def prints_text(a):
    np.set_printoptions(precision=2)
    b = np.array_str(a / 3)
    np.set_printoptions(precision=5, sign="+")
    return b, np.array_repr(a / 3), np.array2string(a / 7, precision=1), np.get_printoptions()


def prints_inside(a):
    before = np.array_str(a / 3)
    with np.printoptions(precision=3, suppress=True) as options:
        inside = np.array_str(a / 3)
        with np.printoptions(nanstr="?"):
            deeper = np.array2string(np.sqrt(a) / 3)
        b = a * 2
    return before, inside, deeper, np.array_str(b / 3), options


def sets_and_prints_inside(a):
    np.set_printoptions(precision=6)
    with np.printoptions(sign="+"):
        b = np.array_str(a / 3)
    return b, np.array_str(a / 7)


def size(a):
    b = a.sum()
    return np.setbufsize(4096), b


def called(a):
    old = np.seterrcall(note)
    b = a * 2
    return old, b


def under_errstate(a):
    with np.errstate(divide="ignore"):
        b = 1 / a
        np.seterr(invalid="ignore")
        c = 0 / a
    return b, c, np.geterr()


def under_an_empty_errstate(a):
    with np.errstate():
        old = np.seterr(divide="ignore", invalid="ignore")
        b = 0 / a
        inside = np.geterr()
    return old, b, inside, np.geterr(), 1 / a


def in_a_helper_under_errstate(a):
    def silence():
        np.seterr(all="ignore")
        return 1 / a

    with np.errstate(divide="raise"):
        with np.errstate(over="ignore"):
            b = silence()
        try:
            c = 1 / a
        except FloatingPointError as error:
            c = str(error)
    return b, c


FOLLOWED = {
    "around": (around, V), "raises behind": (raises_behind, V + 1), "warns first": (warns_first, V),
    "warns behind": (warns_behind, V), "with errstate": (with_errstate, V), "in a call": (in_a_call, V),
    "in a loop": (in_a_loop, V),
    "overflow": (some_overflow, BIG), "prints": (prints, V), "prints by place": (prints_by_place, V),
    "prints text": (prints_text, V), "prints inside": (prints_inside, V),
    "sets and prints inside": (sets_and_prints_inside, V), "size": (size, V), "called": (called, V),
    "under errstate": (under_errstate, V), "under an empty errstate": (under_an_empty_errstate, V),
    "in a helper under errstate": (in_a_helper_under_errstate, V),
}  # fmt: skip


@pytest.mark.parametrize("name", FOLLOWED)
def test_is_followed(name):
    fn, a = FOLLOWED[name]
    check(fn, a, state=state, reset=reset)


def an_object(a):
    b = a * 2
    old = np.seterr(all="call")
    np.seterrcall(note)
    return b, old, 1 / a


def keeps_the_manager(a):
    manager = np.printoptions(precision=2)
    return a * 2, type(manager).__name__


def raises_inside(a):
    b = a * 2
    try:
        with np.printoptions(precision=2):
            raise KeyError(b.shape)
    except KeyError as error:
        return b, error.args, np.array_str(b / 3)


def decorated(a):
    @np.printoptions(precision=2)
    def text(b):
        return np.array_str(b)

    return text(a / 3), np.array_str(a / 3)


def sets_inside(a):
    with np.printoptions(precision=2):
        np.set_printoptions(sign="+")
        b = np.array_str(a / 3)
    return b, np.array_str(a / 3)


def twice(a):
    manager = np.printoptions(precision=2)
    with manager:
        b = np.array_str(a / 3)
    try:
        with manager:
            pass
    except Exception as error:
        return b, type(error)


def size_and_sum(a):
    np.setbufsize(16)
    return a.astype("f4").sum(), np.getbufsize()


def prints_by_functions(a):
    np.set_printoptions(formatter={"float": lambda x: "x"})
    return a * 2


def asks_for_the_call(a):
    np.seterrcall(note)
    return a * 2, np.geterrcall()


def bad_option(a):
    b = a * 2
    try:
        np.set_printoptions(precision="x")
    except Exception as error:
        return b, str(error)


def bad_mode(a):
    b = a * 2
    try:
        np.seterr(divide="loud")
    except Exception as error:
        return b, str(error)


def bad_size(a):
    b = a * 2
    try:
        np.setbufsize(17)
    except Exception as error:
        return b, str(error)


BREAKS = {
    "call": (an_object, "unknown-callable"),
    "size and sum": (size_and_sum, "array-op"),
    "keeps the manager": (keeps_the_manager, None), "raises inside": (raises_inside, None),
    "decorated": (decorated, None), "sets inside": (sets_inside, None), "twice": (twice, None),
    "prints by functions": (prints_by_functions, "unknown-callable"),
    "asks for the call": (asks_for_the_call, "array-op"), "bad option": (bad_option, "unknown-callable"),
    "leaves by raising": (leaves_by_raising, "raises"),
    "bad mode": (bad_mode, "unknown-callable"), "bad size": (bad_size, "unknown-callable"),
}  # fmt: skip


@pytest.mark.parametrize("name", BREAKS)
def test_is_a_break(name):
    fn, expected = BREAKS[name]
    if expected is None:
        found = dyntrace.explain(fn)(V).breaks
        reset()
        expected = found[0].id
    check(fn, V, breaks=expected, entries=None, state=state, reset=reset)


def test_the_state_before_is_guarded():
    compiled = dyntrace.compile(around)
    for mode in ("warn", "raise", "ignore", "warn"):
        np.seterr(all=mode)
        found = compiled(V)
        assert found[1] == dict.fromkeys(found[1], mode)
        assert set(np.geterr().values()) == {mode}
