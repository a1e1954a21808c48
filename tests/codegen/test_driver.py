"""Driver code does what the code it is made from does: whatever its probes answer, as long as they
answer something that is true.  Results, exceptions, lines and columns of tracebacks are compared."""

from __future__ import annotations

import gc
import sys
import traceback
import types

import driven
import driver_zoo
import pytest
from driven import LANDING, NOWHERE, NULL, PAD, POINT, RETURN, drive, legal_points, places
from dyntrace._core import _testing

CASES = driver_zoo.CASES + driver_zoo.newer_cases(sys.version_info[:2])
IDS = [f"{function.__name__}-{args}" for function, args in CASES]
MODES = [
    ("plain", "none"),
    ("plain", "self"),
    ("plain", "next"),
    ("plain", "return"),
    ("here", "none"),
    ("here", "self"),
    ("here", "next"),
    (3, "none"),
    (2, "self"),
]


def positions(tb):
    """Line and, where there are any, columns of every entry of a traceback."""
    found = []
    while tb is not None:
        code = tb.tb_frame.f_code
        span = (tb.tb_lineno,)
        if hasattr(code, "co_positions"):
            span = list(code.co_positions())[tb.tb_lasti // 2]
        found.append((code.co_name, tb.tb_lineno, span))
        tb = tb.tb_next
    return found


def described(error):
    seen = []
    while error is not None and len(seen) < 10:
        seen.append((type(error), str(error), positions(error.__traceback__)[1:]))
        error = error.__cause__ or error.__context__
    return seen


def plain_names(value):
    """Functions and the like differ between two runs; their names do not."""
    if isinstance(value, (list, tuple)):
        return type(value)(plain_names(item) for item in value)
    if isinstance(value, dict):
        return {key: plain_names(item) for key, item in value.items()}
    if isinstance(value, (types.FunctionType, types.CodeType, type)):
        return value.__qualname__ if hasattr(value, "__qualname__") else value.co_name
    return value


def outcome(function, args):
    try:
        return plain_names(function(*args))
    except Exception as error:
        return described(error)


@pytest.fixture(params=MODES, ids=lambda mode: "-".join(map(str, mode)))
def mode(request):
    return request.param


def driven_zoo(answer, quick):
    """The zoo's functions call each other: all of them are driven."""
    space = dict(vars(driver_zoo))
    for name, value in list(space.items()):
        if isinstance(value, types.FunctionType) and value.__module__ == driver_zoo.__name__:
            if value.__name__ == name and not hasattr(value, "__wrapped__"):
                code = driven.drive_code(value.__code__, answer, quick)
                made = types.FunctionType(code, space, name, value.__defaults__, value.__closure__)
                made.__kwdefaults__ = value.__kwdefaults__
                space[name] = made
    return space


@pytest.mark.parametrize(("function", "args"), CASES, ids=IDS)
def test_same_as_the_plain_function(function, args, mode):
    space = driven_zoo(*mode)
    made = space.get(function.__name__)
    if made is None or made.__code__.co_filename != function.__code__.co_filename:
        made = drive(function, *mode)
    expected = outcome(function, args)
    for _ in range(3):
        assert outcome(made, args) == expected


def test_long_arguments_and_jumps(mode):
    function = driver_zoo.many_names(1)
    made = drive(function, *mode)
    for n in (0, 2):
        assert made(n) == function(n)


# --- the code object itself ---------------------------------------------------------------------


STDLIB = """
argparse ast asyncio.base_events asyncio.streams asyncio.tasks bdb calendar collections configparser
contextlib copy csv dataclasses datetime decimal difflib doctest email.message enum fractions
functools gettext heapq html.parser http.client importlib._bootstrap_external inspect json.decoder
json.encoder logging mailbox multiprocessing.pool optparse os pathlib pickle plistlib pprint queue
random re selectors shutil socketserver statistics string subprocess tarfile tempfile textwrap
threading tokenize traceback types typing unittest.mock urllib.request weakref xml.dom.minidom
zipfile
""".split()


def code_objects(name):
    try:
        source, path = driven.module_source(name)
    except (ImportError, AttributeError, OSError):
        return
    todo = [compile(source, path, "exec", dont_inherit=True)]
    while todo:
        code = todo.pop()
        yield code
        todo += [item for item in code.co_consts if isinstance(item, types.CodeType)]


def spans(code):
    if hasattr(code, "co_positions"):
        return list(code.co_positions())
    lines = []
    for start, end, line in code.co_lines():
        lines += [line] * ((end - start) // 2)
    return lines


def attributes(code):
    names = (
        "co_name co_filename co_firstlineno co_flags co_names co_varnames co_cellvars co_freevars "
        "co_argcount co_posonlyargcount co_kwonlyargcount co_qualname co_nlocals"
    ).split()
    return {name: getattr(code, name, None) for name in names}


@pytest.mark.parametrize("name", STDLIB)
def test_drivers_of_the_standard_library_are_sound(name):
    for number, code in enumerate(code_objects(name)):
        driver = driven.drive_code(code, "plain", ("none", "next")[number % 2], nested=False)
        assert attributes(driver) == attributes(code)
        assert driver.co_consts[: len(code.co_consts)] == code.co_consts
        assert driver.co_stacksize >= code.co_stacksize
        assert driver.replace(co_name="other").co_code == driver.co_code
        assert set(spans(code)) <= set(spans(driver))
        if sys.version_info >= (3, 11):
            # On 3.10 a landing opens and closes blocks, which no instruction shows.
            again = _testing.decode(driver)
            assert again["max_depth"] <= driver.co_stacksize + 1
            assert again["slots"] == _testing.decode(code)["slots"]


@pytest.mark.parametrize("name", STDLIB)
def test_places_of_the_standard_library(name):
    for code in code_objects(name):
        decoded = _testing.decode(code)["instrs"]
        entry, listed, bases = places(code)
        assert len(listed) == len(decoded)
        for at, (context, flags, depth, after, landing) in enumerate(listed):
            op, bits = decoded[at][0], decoded[at][1]
            assert depth == decoded[at][11]
            assert (context < 0) == (depth < 0)  # every way to it agrees on its handlers
            if flags:
                assert at >= entry and depth >= bases[context] and not bits & 3
                assert landing == at and len(after) == len(set(after)) <= 2
                assert all(listed[p][1] & POINT for p in after)
            if flags & POINT:
                assert flags & LANDING
            if op in ("CALL", "CALL_FUNCTION", "BINARY_OP", "LOAD_ATTR") and depth >= 0:
                # A trace can stop in front of each of these, but for the clean-up of handlers.
                assert listed[landing][1] & PAD or context <= 0 or not flags


def test_illegal_points_and_edges_are_refused():
    def f(a):
        try:
            return a + 1
        except TypeError:
            return repr(a)

    code = f.__code__
    entry, listed, _ = places(code)
    no_point = [i for i, place in enumerate(listed) if not place[1] & POINT]
    inside = [i for i, place in enumerate(listed) if place[0] > 0 and place[1] & POINT]
    assert no_point and inside
    for points in (
        [(no_point[0], NOWHERE)],
        [(entry, inside[0])],
        [(inside[0], RETURN)],
        [(entry, NOWHERE), (entry, NOWHERE)],
        [(len(listed), NOWHERE)],
        [(-1, NOWHERE)],
        [(entry, len(listed))],
    ):
        with pytest.raises(SystemError):
            _testing.driver(code, points, "plain", NULL)


def test_a_handler_is_a_context_of_its_own():
    def f(a):
        for i in a:
            try:
                a(i)
            except ValueError:
                a(i)
        return a

    _, listed, bases = places(f.__code__)
    decoded = _testing.decode(f.__code__)["instrs"]
    calls = [i for i, instr in enumerate(decoded) if instr[0] in ("CALL", "CALL_FUNCTION")]
    in_try, in_handler = (listed[i][0] for i in calls)
    assert in_try == 0 and in_handler > 0 and bases[in_handler] > bases[in_try] == 0
    assert listed[decoded.index(decoded[-1])][0] in (0, in_handler, -1)


# --- landings elsewhere -------------------------------------------------------------------------


SKIPPED = [
    (driver_zoo.straight, (4,)),
    (driver_zoo.loops, (9,)),
    (driver_zoo.calls, (3,)),
    (driver_zoo.conditions, (4, 15)),
    (driver_zoo.containers, (5,)),
    (driver_zoo.closures, (1,)),
    (driver_zoo.cell_argument, (1, 2)),
    (driver_zoo.unbound, (1,)),
    (driver_zoo.handlers, (1,)),
    (driver_zoo.handler_returns, (3,)),
    (driver_zoo.imports, (3,)),
    (driver_zoo.walrus_and_slices, (5,)),
    (driver_zoo.deep_expression, (3,)),
    (driver_zoo.recursion, (6,)),
    (driver_zoo.comprehensions, (6,)),
    (driver_zoo.uncaught, (1,)),
    (driver_zoo.with_statements, (3,)),
    (driver_zoo.with_uncaught, (3,)),
    (driver_zoo.uses_generators, (2,)),
    (driver_zoo.uses_coroutine, (2,)),
    (driver_zoo.matches, (3,)),
    (driver_zoo.class_body, (4,)),
]


@pytest.mark.parametrize("known", [True, False], ids=["quick", "unknown"])
@pytest.mark.parametrize(
    ("function", "args"), SKIPPED, ids=[f"{f.__name__}-{a}" for f, a in SKIPPED]
)
def test_a_frame_goes_on_anywhere_ahead(function, args, known):
    """From the first point to every later one that a run passes, with the state of another run that
    was left there by a return, before any clean-up."""
    code = function.__code__
    listed = places(code)[1]
    passed = []
    expected = outcome(drive(function, lambda at, *_: passed.append(at), nested=False), args)
    assert expected == outcome(function, args)
    start = passed[0]
    tried = 0
    for q in dict.fromkeys(passed[1:]):
        if listed[q][0] != listed[start][0] or not (known or listed[q][1] & PAD):
            continue
        held = []

        def stop(at, slots, stack, q=q, held=held):
            if at == q:
                held.append((slots, stack))
                return RETURN, {}, [None]
            return None

        drive(function, stop, nested=False)(*args)
        slots, stack = held[0]
        landed = []

        def land(at, *_, q=q, landed=landed, slots=slots, stack=stack):
            if at == start and not landed:
                landed.append(at)
                return q, dict(enumerate(slots)), list(stack)
            return None

        points = [(at, q if known and at == start else NOWHERE) for at in legal_points(code)]
        made = types.FunctionType(
            _testing.driver(code, points, land, NULL),
            function.__globals__,
            function.__name__,
            function.__defaults__,
            function.__closure__,
        )
        del held[:], stop
        got = outcome(made, args)
        assert landed and got == expected, (q, code.co_name)
        tried += 1
    assert tried >= 2


@pytest.mark.parametrize("known", [True, False], ids=["quick", "unknown"])
@pytest.mark.parametrize("answer", [5, None, [1]])
def test_a_frame_returns_from_anywhere(known, answer):
    def f(n):
        for i in range(n):
            with manager_of(log):
                n += max(i, len([i, str(n)]))
        return n

    class Manager:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            log.append("exit")

    def manager_of(_):
        return Manager()

    log = []
    code = f.__code__
    listed = places(code)[1]
    returned = 0
    for at in legal_points(code):
        if listed[at][0] != 0:
            continue
        passed = []

        def answer_it(at, *_, passed=passed):
            passed.append(at)
            return RETURN, {}, [answer]

        driver = _testing.driver(code, [(at, RETURN if known else NOWHERE)], answer_it, NULL)
        made = types.FunctionType(driver, globals(), "f", None, f.__closure__)
        result = made(2)
        if passed:
            assert result is answer and len(passed) == 1
            returned += 1
    assert returned > 15


def test_deeper_and_shallower_stacks():
    """Down from inside nested calls to an empty stack, and up again, NULLs included."""

    def f(a, b):
        a = divmod(a, max(b, min(b, 3)))
        return [a, (b, [divmod(7, max(b, min(b, 2)))])]

    code = f.__code__
    listed = places(code)[1]
    points = legal_points(code)
    noted = {}

    def note(at, slots, stack):
        noted[at] = (slots, list(stack))

    expected = drive(f, note)(17, 5)
    for p in points:
        for q in points:
            if q <= p or not listed[q][1] & PAD:
                continue

            def land(at, slots, stack, p=p, q=q):
                if at == p:
                    return q, dict(enumerate(noted[q][0])), noted[q][1]

            for quick in (q, NOWHERE, points[-1]):
                driver = _testing.driver(code, [(p, quick)], land, NULL)
                assert types.FunctionType(driver, globals())(17, 5) == expected, (p, q, quick)


def test_a_landing_into_a_try_and_into_a_with_body():
    def f(log, n):
        log.append("before")
        with log.manager() as value:
            try:
                log.append("body")
                n // 0
            except ZeroDivisionError:
                log.append("handler")
                raise ValueError(value)
            finally:
                log.append("finally")
        return log

    class Log(list):
        def manager(self):
            return self

        def __enter__(self):
            return 7

        def __exit__(self, kind, value, tb):
            self.append((kind, value.args))
            return True

    class Stop(BaseException):
        pass

    code = f.__code__
    decoded = _testing.decode(code)["instrs"]
    listed = places(code)[1]
    appends = [i for i, x in enumerate(decoded) if x[0] in ("CALL", "CALL_FUNCTION")]
    q = listed[appends[2]][4]
    start = legal_points(code)[0]
    for quick in (q, NOWHERE):
        log = Log()
        noted = []

        def note(at, slots, stack, noted=noted):
            if at == q:
                noted.append((slots, stack))
                raise Stop

        drive(f, note)(log, 1)  # the manager swallows Stop
        slots, stack = noted[0]
        del log[:]

        def land(at, *_, slots=slots, stack=stack):
            return (q, dict(enumerate(slots)), list(stack)) if at == start else None

        driver = _testing.driver(code, [(start, quick)], land, NULL)
        assert types.FunctionType(driver, {})(log, 1) is log
        assert log == ["body", "handler", "finally", (ValueError, (7,))]


def test_exceptions_of_probes_go_to_the_handlers_of_their_points():
    def f(log):
        try:
            log.append(1)
        except KeyError as error:
            return "caught", error.args
        log.append(2)
        return log

    code = f.__code__
    seen = []
    for at in legal_points(code):

        def fail(at, *_):
            raise KeyError(at)

        for quick in (NOWHERE, RETURN) if places(code)[1][at][0] == 0 else (NOWHERE,):
            driver = _testing.driver(code, [(at, quick)], fail, NULL)
            try:
                seen.append(types.FunctionType(driver, {})([]))
            except KeyError as error:
                assert error.args == (at,)
                seen.append("out")
    assert ("caught", (legal_points(code)[1],)) in seen or any(x != "out" for x in seen)
    assert "out" in seen


def test_lines_that_a_probe_sees():
    def f(n):
        a = n + 1
        b = (
            a *
            2
        )
        return b

    lines = []

    def look(at, *_):
        lines.append((at, sys._getframe(1).f_lineno))

    decoded = _testing.decode(f.__code__)["instrs"]
    assert drive(f, look)(1) == 4
    assert lines == [(at, decoded[at][6]) for at in legal_points(f.__code__)]


def test_locals_and_frames_are_the_users():
    def f(n):
        m = n + 1
        return sorted(locals()), sys._getframe().f_code.co_name, m

    for answer in ("plain", "here"):
        assert drive(f, answer)(1) == f(1)


# --- references ---------------------------------------------------------------------------------


class Tracked:
    alive = 0

    def __init__(self):
        Tracked.alive += 1

    def __del__(self):
        Tracked.alive -= 1


def uses_objects(make, n):
    kept = []
    for _ in range(n):
        a = make()
        try:
            kept.append((a, [make(), max(make(), make(), key=id)]))
            if len(kept) == 2:
                raise ValueError(a)
        except ValueError as error:
            kept.pop()
            a = error.args
        with_it = [x for x in kept if x]
    return len(with_it)


def test_no_object_lives_longer_or_dies_early(mode):
    made = drive(uses_objects, *mode)
    alive = []

    def make():
        alive.append(Tracked.alive)
        return Tracked()

    made(make, 6)
    gc.collect()
    assert Tracked.alive == 0
    during, alive = alive, []

    def make_again():
        alive.append(Tracked.alive)
        return Tracked()

    uses_objects(make_again, 6)
    assert during == alive and Tracked.alive == 0


def test_references_are_balanced(mode):
    made = drive(driver_zoo.handlers, *mode)
    generator = drive(driver_zoo.delegates, *mode)
    failing = drive(driver_zoo.with_uncaught, *mode)

    def use():
        made(5)
        list(generator(3))
        g = generator(3)
        next(g)
        del g
        with pytest.raises(ValueError):
            failing(1)

    for _ in range(5):
        use()
    gc.collect()
    before = sys.getallocatedblocks()
    for _ in range(50):
        use()
    gc.collect()
    assert sys.getallocatedblocks() - before < 50


def test_drivers_die():
    def once():
        for _ in range(20):
            driven.drive_code(driver_zoo.with_statements.__code__, "here", "next")

    once()
    gc.collect()
    before = sys.getallocatedblocks()
    for _ in range(5):
        once()
    gc.collect()
    assert sys.getallocatedblocks() - before < 20


# --- loops --------------------------------------------------------------------------------------


def test_a_probe_that_counts_at_a_loop_header():
    def f(n):
        total = 0
        for i in range(n):
            total += i
        return total

    code = f.__code__
    listed = places(code)[1]
    decoded = _testing.decode(code)["instrs"]
    header = next(i for i, x in enumerate(decoded) if x[0] == "FOR_ITER")
    body = listed[header][3][1]
    for quick in (header, NOWHERE):
        driver = _testing.driver(code, [(body, quick)], 100, NULL)
        assert listed[header][1] & PAD
        assert types.FunctionType(driver, {})(50) == sum(range(50))
        assert types.FunctionType(driver, {})(1000) == sum(range(1000))


def test_a_loop_of_landings_leaves_no_instruction_to_itself():
    """The body is skipped by its probe: only FOR_ITER runs, and signals are still served."""

    def f(items):
        seen = 0
        for item in items:
            seen = seen + item
        return seen

    code = f.__code__
    decoded = _testing.decode(code)["instrs"]
    header = next(i for i, x in enumerate(decoded) if x[0] == "FOR_ITER")
    body = header + 1  # in front of what takes the item off the stack
    names = [slot[0] for slot in _testing.decode(code)["slots"]]
    seen = names.index("seen")

    def skip(at, slots, stack):
        return header, {seen: slots[seen] + stack[1]}, stack[:1]

    for quick in (header, NOWHERE):
        driver = _testing.driver(code, [(body, quick)], skip, NULL)
        assert types.FunctionType(driver, {})(range(200)) == sum(range(200))


def test_a_traceback_is_printed_the_same():
    for function, args in CASES:
        try:
            function(*args)
        except Exception as error:
            text = "".join(traceback.format_exception(None, error, error.__traceback__.tb_next))
        else:
            continue
        try:
            drive(function, "here", "self")(*args)
        except Exception as error:
            again = "".join(traceback.format_exception(None, error, error.__traceback__.tb_next))
        assert again == text
