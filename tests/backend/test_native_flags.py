"""Nothing is reported without a frame: what would warn or raise is replayed, what would not is not."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
from graphs import REPLAY, UFUNCS, call, compile_graph, plain, umath, v

VALUES = np.array(
    [
        0.0,
        -0.0,
        1.0,
        -1.0,
        2.0,
        0.5,
        1e308,
        -1e308,
        1e-308,
        np.inf,
        -np.inf,
        np.nan,
        1e5,
        -750,
        750,
        3,
    ]
)


def reports(inputs, nodes, **state):
    with np.errstate(**{"all": "raise", **state}):
        try:
            plain(inputs, nodes)
        except (FloatingPointError, ValueError):
            return True
    return False


@pytest.mark.parametrize("name", UFUNCS)
def test_every_ufunc_followed_by_every_other(name):
    """A flag that one loop raises is seen even if the next one clears it."""
    ufunc = getattr(umath, name)
    rng = np.random.default_rng(1)
    for dtype, trial in itertools.product("fdFDl", range(8)):
        n = int(rng.choice([1, 2, 3, 8, 17]))
        with np.errstate(all="ignore"):
            firsts = rng.choice(VALUES, ufunc.nin)
            inputs = [np.full(n, x) if trial % 2 else rng.choice(VALUES, n) for x in firsts]
            inputs = [x.astype(dtype) for x in inputs] + [np.ones(n)]
        followers = UFUNCS if trial == 0 else rng.choice(UFUNCS, 2)
        for follower in followers:
            nin = getattr(umath, follower).nin
            nodes = [
                call(name, *map(v, range(ufunc.nin))),
                call(str(follower), *[v(ufunc.nin)] * nin),
            ]
            try:
                compiled = compile_graph(inputs, nodes, [ufunc.nin + 1, ufunc.nin + 2])
            except (TypeError, ValueError):
                continue
            expected = reports(inputs, nodes)
            for mode in ["raise", "warn", "print"]:
                with np.errstate(all=mode):
                    assert (compiled(*inputs) is REPLAY) == expected, (inputs, follower)


@pytest.mark.parametrize("category", ["divide", "over", "under", "invalid"])
def test_only_what_is_not_ignored(category):
    a = np.array([1.0, 1e300, 1e-300, -1.0])
    nodes = {
        "divide": [call("divide", v(0), 0.0)],
        "over": [call("multiply", v(0), 1e300)],
        "under": [call("multiply", v(0), 1e-300)],
        "invalid": [call("sqrt", v(0))],
    }[category]
    compiled = compile_graph([a], nodes, [1])
    for mode in ["ignore", "warn", "raise"]:
        with np.errstate(**{"all": "ignore", category: mode}):
            assert (compiled(a) is REPLAY) == (mode != "ignore")
    with np.errstate(**{"all": "raise", category: "ignore"}):
        assert compiled(a) is not REPLAY


def test_flags_left_by_others_do_not_count():
    a = np.ones(4)
    compiled = compile_graph([a], [call("add", v(0), v(0))], [1])
    with np.errstate(all="ignore"):
        np.divide(a, 0.0)
        np.exp(np.array([1000.0], dtype="f4"))
    with np.errstate(all="raise"):
        assert compiled(a) is not REPLAY


@pytest.mark.parametrize(
    "target, callee, value",
    [
        ("numpy.add.reduce", np.add.reduce, [1e308, 1e308]),
        ("numpy.multiply.reduce", np.multiply.reduce, [1e300, 1e300]),
        ("numpy.divmod", lambda x: np.divmod(x, 0.0)[0], [1.0, 2.0]),
        ("operator.truediv", lambda x: x[0] / x[1], [1.0, 0.0]),
        ("numpy.where", lambda x: np.where(x > 0, x.astype("f4"), 1e300), [1.0, 2.0]),
        ("numpy.concatenate", lambda x: np.concatenate([x, x], dtype="f4"), [1e300, 1.0]),
        ("numpy.stack", lambda x: np.stack([x, x], dtype="f4"), [1e300, 1.0]),
    ],
)
def test_called_operations_do_not_report_either(target, callee, value):
    a = np.array(value)
    compiled = compile_graph([a], [(target, callee, (v(0),))], [1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for mode in ["warn", "raise", "print", "call"]:
            with np.errstate(all=mode):
                assert compiled(a) is REPLAY
                assert np.geterr()["divide"] == mode
        with np.errstate(all="ignore"):
            assert compiled(a) is not REPLAY


def test_mean_of_nothing_is_replayed():
    a = np.ones(3)
    compiled = compile_graph([a], [("ndarray.mean", np.ndarray.mean, (v(0),))], [1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compiled(np.ones(0)) is REPLAY
    assert compiled(a)[0] == 1.0


def test_integer_errors_are_replayed():
    a = np.array([2, 3])
    compiled = compile_graph([a, np.array([1, 2])], [call("power", v(0), v(1))], [2])
    assert compiled(a, np.array([2, 2]))[0].tolist() == [4, 9]
    assert compiled(a, np.array([2, -2])) is REPLAY
    compiled = compile_graph([a, a], [call("floor_divide", v(0), v(1))], [2])
    with np.errstate(all="raise"):
        assert compiled(a, np.array([0, 1])) is REPLAY
        assert compiled(a, np.array([1, 1])) is not REPLAY


def test_interrupts_come_through_and_errors_are_replayed():
    def fail(error):
        def callee(x):
            if armed:
                raise error
            return x

        return callee

    a = np.ones(3)
    for backend in ["native", "eager"]:
        armed = False
        compiled = compile_graph([a], [("f", fail(KeyboardInterrupt), (v(0),))], [1], backend)
        armed = True
        with pytest.raises(KeyboardInterrupt):
            compiled(a)
        for error in [MemoryError, RuntimeError]:
            armed = False
            compiled = compile_graph([a], [("f", fail(error), (v(0),))], [1], backend)
            armed = True
            assert compiled(a) is REPLAY


OPERATORS = (
    "x ** y",
    "(x > 0.75) ** y",
    "x % y",
    "x // y",
    "(x > 0.75) / y",
    "(x > 0.75) % y",
    "x * y - y / x",
    "y ** (x > 0.75)",
)


@pytest.mark.parametrize("make", [np.float64, np.float32, np.array, lambda x: np.array([x])])
@pytest.mark.parametrize("text", OPERATORS)
def test_operators_of_numbers_tell_of_what_numpy_tells(text, make):
    """A bool has no arithmetic of its own: its power is the ufunc's, whose loop tells of 0 ** -inf."""
    import dyntrace

    function = eval(f"lambda x, y: {text}")
    compiled = dyntrace.compile(function)
    for x, y in itertools.product([*VALUES[:6], *VALUES[9:12]], repeat=2):
        seen = []
        for target in (function, compiled):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                result = np.asarray(target(make(x), make(y)))
            seen.append((result.dtype, result.tobytes(), [str(w.message) for w in caught]))
        assert seen[0] == seen[1], (x, y)
