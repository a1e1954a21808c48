"""Driver code under random ways through a function, under tools that watch it, and under signals."""

from __future__ import annotations

import itertools
import random
import signal
import sys
import types

import driven
import driver_zoo
import pytest
from driven import NOWHERE, NULL, PAD, RETURN, drive, legal_points, places
from dyntrace._core import _testing
from test_driver import CASES, SKIPPED, driven_zoo, outcome


def over(function, code):
    return types.FunctionType(
        code,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )


def passed_points(function, args):
    passed = []
    drive(function, lambda at, *_: passed.append(at), nested=False)(*args)
    return passed


def state_at(function, args, count):
    """What a run holds when it passes its count-th point; the frame is left there."""
    held = []

    def stop(at, slots, stack):
        if len(held) < count:
            held.append(None)
            return None
        held.append((slots, stack))
        return RETURN, {}, [None]

    drive(function, stop, nested=False)(*args)
    return held[count]


def lander(number, q, state, landed):
    """Answers of a run that goes from its `number`-th point to q."""
    count = itertools.count()

    def answer(at, slots, stack):
        if next(count) != number:
            return None
        landed.append(at)
        return q, dict(enumerate(state[0])), list(state[1])

    return answer


def random_ways(function, args, rng, wanted):
    """(number of p, number of q, p, q) of events of one run in the outermost context."""
    listed = places(function.__code__)[1]
    try:
        passed = passed_points(function, args)
    except Exception:
        return
    outer = [i for i, at in enumerate(passed) if listed[at][0] == 0]
    for _ in range(wanted):
        first, last = sorted((rng.choice(outer), rng.choice(outer)))
        if first != last:
            yield first, last, passed[first], passed[last]


@pytest.mark.parametrize(
    ("function", "args"), SKIPPED, ids=[f"{f.__name__}-{a}" for f, a in SKIPPED]
)
def test_random_skips(function, args):
    rng = random.Random(function.__name__)
    code = function.__code__
    listed = places(code)[1]
    expected = outcome(function, args)
    for first, last, p, q in random_ways(function, args, rng, 12):
        for known in (True, False):
            if not known and not listed[q][1] & PAD:
                continue
            state = state_at(function, args, last)
            landed = []
            answer = lander(first, q, state, landed)
            del state
            points = [(at, q if known and at == p else NOWHERE) for at in legal_points(code)]
            driver = _testing.driver(code, points, answer, NULL)
            assert outcome(over(function, driver), args) == expected, (p, q, known)
            assert landed == [p]


def test_random_skips_in_a_generator():
    """What is yielded between p and q is missing, nothing else."""
    function = driver_zoo.generator
    code = function.__code__
    listed = places(code)[1]
    rng = random.Random(7)
    events = []
    plain = []
    g = drive(function, lambda at, *_: events.append((at, len(plain))))(4)
    for item in g:
        plain.append(item)
    outer = [i for i, (at, _) in enumerate(events) if listed[at][0] == 0]
    for _ in range(60):
        first, last = sorted((rng.choice(outer), rng.choice(outer)))
        (p, before), (q, after) = events[first], events[last]
        if first == last or not listed[q][1] & PAD:
            continue
        held = []

        def stop(at, slots, stack, held=held, last=last):
            held.append((slots, stack))
            return (RETURN, {}, [None]) if len(held) == last + 1 else None

        list(drive(function, stop)(4))
        for quick in (q, NOWHERE):
            landed = []
            answer = lander(first, q, held[last], landed)
            points = [(at, quick if at == p else NOWHERE) for at in legal_points(code)]
            made = over(function, _testing.driver(code, points, answer, NULL))
            # The iterator of the loop has moved on with the run that was left at q.
            got = list(made(4))
            assert landed == [p]
            assert got[: before] == plain[:before]
            assert len(got) <= len(plain) - (after - before)


def test_a_handler_is_left_and_kept():
    """Landings inside of one activation of a handler: its exception stays the handled one."""

    def f(n):
        try:
            raise ValueError(n)
        except ValueError as error:
            a = n + 1
            b = a * 2
            c = sys.exc_info()[1].args
            try:
                d = [a, b, c]
                raise KeyError(d)
            except KeyError as inner:
                e = (inner.__context__ is error, sys.exc_info()[1].args)
        return a, b, c, d, e, sys.exc_info()

    code = f.__code__
    listed = places(code)[1]
    passed = passed_points(f, (1,))
    expected = f(1)
    tried = 0
    for context in {listed[at][0] for at in passed} - {0, -1}:
        inside = [i for i, at in enumerate(passed) if listed[at][0] == context]
        for first, last in itertools.combinations(inside, 2):
            p, q = passed[first], passed[last]
            if not listed[q][1] & PAD or set(range(first, last)) - set(inside):
                continue
            noted = []

            def walk(at, slots, stack, noted=noted, first=first, last=last, q=q):
                noted.append((slots, stack))
                return None

            assert drive(f, walk, nested=False)(1) == expected
            for quick in (q, NOWHERE):
                count = itertools.count()

                def land(at, slots, stack, noted=noted, first=first, last=last, q=q, count=count):
                    """Objects of this run, but for those that the skipped part would have made."""
                    if next(count) != first:
                        return None
                    before = [*noted[first][0], *noted[first][1]]
                    mine = {id(was): now for was, now in zip(before, [*slots, *stack])}
                    then = [[mine.get(id(value), value) for value in part] for part in noted[last]]
                    return q, dict(enumerate(then[0])), then[1]

                points = [(at, quick if at == p else NOWHERE) for at in legal_points(code)]
                driver = _testing.driver(code, points, land, NULL)
                assert over(f, driver)(1) == expected, (p, q, quick)
                tried += 1
    assert tried > 20


# --- tools --------------------------------------------------------------------------------------


def line_events(function, args):
    events = []

    def watch(frame, event, arg):
        if frame.f_code.co_filename == driver_zoo.__file__:
            events.append((frame.f_code.co_name, event, frame.f_lineno))
        return watch

    before = sys.gettrace()
    sys.settrace(watch)
    try:
        result = outcome(function, args)
    finally:
        sys.settrace(before)
    return result, events


@pytest.mark.parametrize(("function", "args"), CASES, ids=[f"{f.__name__}-{a}" for f, a in CASES])
def test_a_trace_function_sees_the_same_lines(function, args):
    space = driven_zoo("plain", "none")
    made = space.get(function.__name__)
    if made is None or made.__code__.co_filename != function.__code__.co_filename:
        made = drive(function, "plain")
    assert line_events(made, args) == line_events(function, args)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring is new in 3.12")
@pytest.mark.parametrize("mode", [("here", "self"), ("here", "none"), ("plain", "next")])
def test_monitoring_in_the_middle(mode):
    """A tool that instruments the code while it runs changes nothing of what it does."""
    monitoring = sys.monitoring
    tool = monitoring.DEBUGGER_ID
    events = monitoring.events
    wanted = events.LINE | events.BRANCH | events.JUMP | events.INSTRUCTION | events.PY_RETURN
    seen = []
    space = driven_zoo(*mode)
    monitoring.use_tool_id(tool, "test")
    try:
        for event in (events.LINE, events.BRANCH, events.JUMP, events.INSTRUCTION):
            monitoring.register_callback(tool, event, lambda *args: seen.append(args))
        for function, args in CASES:
            expected = outcome(function, args)
            made = space.get(function.__name__)
            if made is None or made.__code__.co_filename != function.__code__.co_filename:
                made = drive(function, *mode)
            assert outcome(made, args) == expected
            monitoring.set_events(tool, wanted)
            assert outcome(made, args) == expected
            monitoring.set_events(tool, 0)
            assert outcome(made, args) == expected
    finally:
        monitoring.set_events(tool, 0)
        monitoring.free_tool_id(tool)
    assert seen


# --- signals ------------------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs interval timers")
@pytest.mark.parametrize("known", [True, False], ids=["quick", "unknown"])
def test_a_loop_of_landings_can_be_interrupted(known):
    def f(items, log):
        for item in items:
            try:
                item = item + 1
            finally:
                log.append(item)
        return "never"

    class Interrupted(Exception):
        pass

    def interrupt(number, frame):
        raise Interrupted

    code = f.__code__
    listed = places(code)[1]
    decoded = _testing.decode(code)["instrs"]
    header = next(i for i, x in enumerate(decoded) if x[0] == "FOR_ITER")
    body = listed[header][3][1]
    rounds = itertools.count()

    def skip(at, slots, stack):
        next(rounds)
        return header, {}, stack[:1]

    driver = _testing.driver(code, [(body, header if known else NOWHERE)], skip, NULL)
    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        with pytest.raises(Interrupted):
            over(f, driver)(itertools.repeat(1, 100_000_000), [])
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert next(rounds) > 1


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs interval timers")
@pytest.mark.parametrize("mode", [("here", "none"), ("here", "self"), ("plain", "self")])
def test_signals_at_any_moment_leave_the_frame_in_order(mode):
    """Handlers that do not raise, and some that do, while everything lands all the time."""
    space = driven_zoo(*mode)
    expected = [outcome(function, args) for function, args in CASES[:20]]
    count = itertools.count()

    def note(number, frame):
        next(count)
        sum(range(10))

    before = signal.signal(signal.SIGALRM, note)
    signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
    try:
        for _ in range(10):
            for (function, args), wanted in zip(CASES[:20], expected):
                assert outcome(space[function.__name__], args) == wanted
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class Interrupted(BaseException):
    pass


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs interval timers")
@pytest.mark.parametrize("mode", [("here", "none"), ("here", "self")])
def test_interrupts_run_every_clean_up(mode):
    def work(log, n):
        for i in range(n):
            log.append("in")
            try:
                try:
                    x = [i, max(i, min(i, 3))]
                    if i % 2:
                        continue
                    raise ValueError(x)
                except ValueError:
                    x = len(x)
            finally:
                log.append("out")
        return "done"

    def interrupt(number, frame):
        if frame is not None and frame.f_code.co_name == "work":
            raise Interrupted

    made = drive(work, *mode)
    before = signal.signal(signal.SIGALRM, interrupt)
    interrupted = 0
    try:
        for round_number in range(40):
            log = []
            signal.setitimer(signal.ITIMER_REAL, 0.0003 + 0.00001 * round_number)
            try:
                assert made(log, 300) == "done"
            except Interrupted:
                interrupted += 1
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            assert sys.exc_info() == (None, None, None)
            # At most one "in" whose try had not begun.
            assert log.count("in") - log.count("out") in (0, 1)
            if log.count("in") != log.count("out"):
                assert log[-1] == "in"
    finally:
        signal.signal(signal.SIGALRM, before)


def test_threads_share_a_driver():
    import threading

    space = driven_zoo("here", "next")
    failures = []

    def run():
        for function, args in CASES[:12]:
            expected = outcome(function, args)
            for _ in range(5):
                if outcome(space[function.__name__], args) != expected:
                    failures.append(function.__name__)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=run) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert failures == []


def test_modules_run_as_driver_code():
    """Whole modules, from the first line on: module code, class bodies, decorators, everything."""
    for name in ("textwrap", "heapq", "fractions", "json.decoder", "configparser", "statistics"):
        for mode in (("here", "self"), ("here", "none")):
            driven.drive_module(name, *mode)
    text = "The quick brown fox jumps over the lazy dog. " * 4
    import textwrap

    module = driven.drive_module("textwrap", "here", "self")
    assert module.wrap(text, 20) == textwrap.wrap(text, 20)
    assert module.indent(text, "> ") == textwrap.indent(text, "> ")
    assert module.shorten(text, 30) == textwrap.shorten(text, 30)
    fractions = driven.drive_module("fractions", "here", "none")
    assert str(fractions.Fraction("3/4") + fractions.Fraction(1, 3)) == "13/12"
    assert fractions.Fraction(0.1).limit_denominator(100) == fractions.Fraction(1, 10)
    config = driven.drive_module("configparser", "here", "self").ConfigParser()
    config.read_string("[a]\nx = 1\ny = %(x)s2\n[b]\nz: q\n")
    assert config["a"]["y"] == "12" and config.sections() == ["a", "b"]
    with pytest.raises(Exception, match="no section|No section"):
        config.get("missing", "x")
    difflib = driven.drive_module("difflib", "here", "self")
    assert list(difflib.ndiff(["a", "b", "c"], ["a", "x", "c"])) == ["  a", "- b", "+ x", "  c"]
    assert difflib.get_close_matches("appel", ["ape", "apple", "peach"]) == ["apple", "ape"]
    argparse = driven.drive_module("argparse", "here", "self")
    parser = argparse.ArgumentParser(prog="p")
    parser.add_argument("--n", type=int, default=3)
    parser.add_argument("names", nargs="*")
    assert vars(parser.parse_args(["--n", "5", "a", "b"])) == {"n": 5, "names": ["a", "b"]}
    ast = driven.drive_module("ast", "here", "self")
    assert ast.literal_eval("{'a': [1, (2, 3)], 'b': -4.5}") == {"a": [1, (2, 3)], "b": -4.5}
    statistics = driven.drive_module("statistics", "here", "none")
    data = [1, 2, 2, 3, 14]
    assert statistics.median(data) == 2 and statistics.mode(data) == 2
    assert round(statistics.pstdev(data), 6) == 4.841487
