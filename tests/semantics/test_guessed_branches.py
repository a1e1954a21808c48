"""Branches on values of arrays that are followed the way they go, and checked in each call."""

import warnings

import dyntrace
import numpy as np
import pytest
from differential import Compiled, check

RNG = np.random.default_rng(5)
CALLS = [RNG.normal(size=5) for _ in range(60)]
UP, DOWN = np.linspace(0.5, 1.5, 5), np.linspace(-0.5, -1.5, 5)
MOSTLY_UP = [UP, UP, UP, DOWN, UP, UP, UP, UP, UP] * 5


def both(fn, calls=CALLS, entries=None):
    """Compares in mixed order; returns what was compiled."""
    compiled = Compiled(fn)
    for values in calls:
        plain, ours = values.copy(), values.copy()
        expected, got = fn(plain), compiled(ours)
        assert type(got) is type(expected)
        assert repr(got) == repr(expected)
        assert plain.tobytes() == ours.tobytes()
    if entries is not None:
        assert len(compiled.fn.cache_entries()) == entries
    return compiled


def if_else(x):
    if x.sum() > 0:
        y = x * 2
    else:
        y = x - 1
    return y


def conditional(x):
    return x * 2 if x[0] < x[1] else x


def conjunction(x):
    if -1.0 < x[0] < 1.0 and x[1] > -1 and not x[2] > 1.5:
        return 0.0
    return -np.inf


def disjunction(x):
    low = x.min() < -1.2 or x.max() > 1.9
    return low, x + 1


def of_an_array_without_axes(x):
    y = np.asarray(np.maximum(x.sum(), 0.0))
    return y if y else x


def of_an_int(x):
    return x[1:] if np.count_nonzero(x > 0) - 2 else x


def of_a_float(x):
    return "some" if float(np.maximum(x[0], 0.0)) else "none"


def helper(x):
    if x[0] > 0:
        return x[1]
    return -x[1]


def in_a_helper(x):
    return helper(x) * 2 + x


def helped_three_times(x):
    first, second = helper(x), helper(x[1:])
    return first + second * helper(x[2:])


def helper_of_helper(x):
    return helper(x) if helper(x * 2) > 0 else helper(-x)


def helped_by_helpers(x):
    return helper_of_helper(x[2:]), helper_of_helper(x) + x


def halved(x, n):
    return x if n == 0 or x[0] > 1.2 else halved(x[1:], n - 1)


def recursive(x):
    return halved(x, 3) * 2


def asked_again(x):
    big = x.sum() > 1
    if big:
        x = x * 2
    y = x + 1
    if big:
        y = y - x
    return y


@pytest.mark.parametrize(
    "fn",
    [if_else, conditional, of_an_array_without_axes, of_a_float, in_a_helper, asked_again],
)
def test_two_ways_are_two_entries(fn):
    assert both(fn, MOSTLY_UP, entries=2).breaks == []


@pytest.mark.parametrize(
    "fn", [conjunction, disjunction, of_an_int, helped_three_times, helped_by_helpers, recursive]
)
def test_several_ways(fn):
    both(fn)


def test_the_common_way_is_not_asked_for_each_time():
    calls = [np.full(3, 1.0)] * 30 + [np.full(3, -1.0)] * 2 + [np.full(3, 1.0)] * 30
    compiled = both(if_else, calls, entries=2)
    hits = sorted(entry["hits"] for entry in compiled.fn.cache_entries())
    assert hits[0] <= 3


# ---- A run in vain leaves nothing ----------------------------------------------------------------


def test_writes_before_the_branch():
    def fn(x):
        x += 0.5
        x[1:] = x[:-1] * 2
        if x.sum() > 2:
            x *= 0.5
        return x.max()

    both(fn)


def test_draws_before_the_branch():
    def fn(rng, x):
        y = x + rng.normal(size=3)
        if y[0] > 0:
            y = y * rng.random()
        return y

    compiled = Compiled(fn)
    first, second = np.random.default_rng(3), np.random.default_rng(3)
    for _ in range(40):
        assert fn(first, np.zeros(3)).tobytes() == compiled(second, np.zeros(3)).tobytes()
        assert first.bit_generator.state == second.bit_generator.state


def test_effects_happen_once():
    class Log:
        pass

    def fn(log, x):
        log.calls += 1
        log.list.append(x)
        if x[0] > 0:
            log.positive += 1
        return len(log.list)

    def new():
        log = Log()
        log.calls, log.positive, log.list = 0, 0, []
        return log

    first, second = new(), new()
    compiled = Compiled(fn)
    for x in CALLS:
        assert fn(first, x) == compiled(second, x)
        assert (first.calls, first.positive) == (second.calls, second.positive)
    assert all(a is b for a, b in zip(first.list, second.list))


def test_what_stands_behind_the_branch_reports_only_where_it_runs():
    def fn(x):
        d = x.sum()
        if d > 0:
            return np.sqrt(d) + np.log(x)
        return -np.sqrt(-d)

    compiled = Compiled(fn)
    for x in (np.full(3, 2.0), np.full(3, -2.0), np.array([4.0, -1.0, 0.0])) * 8:
        reported = []
        for target in (fn, compiled):
            with warnings.catch_warnings(record=True) as log:
                warnings.simplefilter("always")
                result = target(x)
            reported.append([(str(one.message), one.lineno, one.filename) for one in log])
            reported[-1].append(repr(result))
        assert reported[0] == reported[1]


def test_exceptions_of_the_program():
    def fn(x):
        try:
            if x[0] > 1:
                raise ValueError(x.shape)
            return x + 1
        except ValueError as error:
            return error.args

    both(fn)


# ---- What is not guessed -------------------------------------------------------------------------


def test_a_branch_in_a_loop_is_a_break():
    def fn(x):
        y = x[:0].sum()
        for i in range(4):
            if x[i] > 0:
                y = y + x[i]
        return y

    assert "array-branch" in both(fn).breaks


def test_calls_that_go_as_often_one_way_as_the_other_are_run_in_parts():
    calls = [RNG.normal(size=5) for _ in range(400)]
    compiled = both(if_else, calls)
    assert "array-branch" in compiled.breaks


def test_a_helper_that_is_called_several_times():
    def fn(x):
        return helper(x) * 2 + helper(x[1:]) * helper(x[2:])

    assert both(fn, [UP, UP, UP, -UP, UP, UP, UP, UP]).breaks == []


def test_a_helper_in_a_loop_is_a_break():
    def fn(x):
        total = 0.0
        for i in range(3):
            total += helper(x[i:])
        return total

    assert "array-branch" in both(fn).breaks


def test_what_is_large_is_not_run_twice():
    x = np.ones(300_000)
    assert "array-branch" in both(if_else, [x, x, -x, x]).breaks


def test_more_ways_than_entries():
    def fn(x):
        y = x
        if x[0] > 0:
            y = y + 1
        if x[1] > 0:
            y = y * 2
        if x[2] > 0:
            y = y - 3
        return y

    assert "array-branch" in both(fn).breaks


def test_more_than_one_element_has_no_truth():
    def fn(x):
        return 1 if x > 0 else 2

    compiled = Compiled(fn)
    for _ in range(3):
        with pytest.raises(ValueError, match="ambiguous"):
            compiled(np.ones(3))
    both(fn, [np.ones(1), -np.ones(1)] * 4)


def test_where_breaks_are_errors():
    for options in ({"fullgraph": True}, {}):
        compiled = dyntrace.compile(if_else, **options)
        if options:
            with pytest.raises(dyntrace.Unsupported, match="truth"):
                compiled(np.ones(3))
        else:
            with dyntrace.error_on_graph_break(), pytest.raises(dyntrace.Unsupported):
                compiled(np.ones(3))


def test_the_setting_switches_it_off():
    check(if_else, np.ones(3), breaks="array-branch")
    with dyntrace.config.patch(guess_limit=1):
        assert "array-branch" in both(conjunction).breaks
    with pytest.raises(ValueError, match="guess_limit"):
        dyntrace.config.guess_limit = -1


def test_a_backend_of_the_user_gets_no_branch():
    graphs = []

    def backend(graph, examples):
        graphs.append(str(graph))
        return graph

    compiled = dyntrace.compile(if_else, backend=backend)
    for x in CALLS[:6]:
        assert compiled(x).tolist() == if_else(x).tolist()
    assert graphs and not any("guess" in text for text in graphs)


# ---- What is said --------------------------------------------------------------------------------


def test_the_log_says_why(capfd):
    compiled = dyntrace.compile(if_else)
    with dyntrace.config.patch(logs="recompiles"):
        compiled(np.ones(3))
        compiled(-np.ones(3))
    assert "a branch on values of arrays goes another way" in capfd.readouterr().err


def test_verify_mode_compares_both_ways(tmp_path):
    with dyntrace.config.patch(verify=1.0, verify_dir=str(tmp_path)):
        both(if_else, CALLS[:8])
    assert list(tmp_path.iterdir()) == []
