"""What ends an iteration of a loop over numbers: errors, other kinds, signals, threads, tracing."""

import signal
import sys
import threading
import time
import warnings

import dyntrace
import numpy as np
import pytest
from differential import check_calls

ROUNDS = 60
LARGE = 2**62


def power_of_two(n, a):
    x = 1
    for i in range(n):
        x = x * 2
        a[i % len(a)] = x % 1000
    return x


def added(x, step):
    for i in range(ROUNDS):
        x = x + step
        y = x
    return x, y, x is y, i


def below(x, step):
    for _ in range(ROUNDS):
        x -= step
    return x


def left_shifts(x, n):
    seen = 0
    for i in range(n):
        seen ^= x << i
    return seen


def right_shifts(x, n):
    seen = 0
    for i in range(n):
        seen += x >> i
    return seen


def powers(x, n):
    total = 0
    for i in range(n):
        total += x**i
    return total


def negated(x, n):
    for i in range(n):
        x = -x if i % 2 else abs(x)
        x = ~x
    return x


def divided(a, b):
    out = 0
    for i in range(ROUNDS):
        out += a // (b - i)
    return out


def remainders(a, b):
    out = 0
    for i in range(ROUNDS):
        out += (a + i) % b + (a - i) % -b
    return out


def true_divided(a, b):
    out = 0.0
    for i in range(ROUNDS):
        out += (a + i) / b
    return out


def compared(n, x):
    less = same = 0
    for i in range(ROUNDS):
        if n + i < x:
            less += 1
        elif n + i == x:
            same = i
    return less, same


def indexed(a, start):
    total = 0
    for i in range(ROUNDS):
        a[i] = i
        total += a[start - i]
    return total


def two_indices(m, n):
    for i in range(n):
        for j in range(n):
            m[i, j] = i * 10 + j
            m[j][i] += 1
    return m


def written(a, value):
    for i in range(len(a)):
        a[i] = value
        value = value + value
    return value


def half_an_iteration(a, n):
    for i in range(n):
        a[0] += 1
        a[1] = i
        a[2 + i % 3] -= 1
        if i == n - 2:
            a[i + 100] = 1
        a[5] = a[0] + a[1]
    return a


def quotients(a, b):
    out = 0.0
    for i in range(len(a)):
        out += a[i] / b[i]
        out = min(out, 1e9)
    return out


def products(a, b):
    out = a[0]
    for i in range(len(a)):
        out = a[i] * b[i] - a[0]
    return out


def integer_products(a, b):
    out = 0
    for i in range(len(a)):
        out = a[i] * b[i]
        out = out + a[i]
    return out


def integer_quotients(a, b):
    for i in range(len(a)):
        a[i] = a[i] // b[i]
    return a


def caught(a, n):
    errors = 0
    for i in range(n):
        try:
            a[i] = 10 / (i % 5)
        except ZeroDivisionError:
            errors += 1
        except IndexError:
            errors += 100
            break
        finally:
            a[0] += 1
    return errors


def kinds(values, x):
    s = 0
    for i in range(len(values)):
        s = s + values[i]
        x = values[i]
    return s, x is values[-1], x


def unbound(n):
    for i in range(n):
        if i > 20:
            y = i
        if i == 30:
            x = y
            del y
    return x + y


def identities(a, b, n):
    c = a
    for i in range(n):
        a, b = b, a
        d = a
        e = i + 1000
        f = e
    return a is c, b is c, d is a, e is f, d is b, c


def while_else(n, x):
    i = 0
    while i < n:
        i += 1
        if i * i == x:
            break
    else:
        return "none", i
    return i


def large_range(start):
    s = 0
    for i in range(start, start + ROUNDS):
        s ^= i
    return s, i


A, I = np.arange(1.0, 70.0), np.arange(70)
CASES = [
    (power_of_two, [(40, I), (62, I), (63, I), (64, I), (90, A)]),
    (
        added,
        [
            (0, 1),
            (0, LARGE),
            (LARGE, 7),
            (0.5, 1),
            (2**63 - 20, 1),
            (-(2**63), 1),
            (True, True),
            (1j, 1),
            (np.int64(5), 3),
            (np.int64(2**63 - 9), 1),
            (np.True_, 1),
            (None, 1),
            ("a", "b"),
        ],
    ),
    (
        below,
        [(0, 1), (-(2**63) + 30, 1), (0, 2**57), (1.5, 2), (np.float64(3), 0.5), (np.int64(-(2**63) + 5), 1)],
    ),
    (left_shifts, [(1, 40), (1, 80), (-3, 70), (0, 90), (1, -1), (np.int64(1), 70), (True, 70), (1.0, 3)]),
    (right_shifts, [(LARGE, 50), (LARGE, 80), (-1, 90), (2**70, 80), (np.int64(-7), 70)]),
    (
        powers,
        [
            (2, 40),
            (2, 80),
            (-1, 99),
            (0, 30),
            (1, 30),
            (3, 45),
            (2.0, 40),
            (np.int64(3), 45),
            (1e200, 4),
            (0.0, 20),
        ],
    ),
    (
        negated,
        [(5, 50), (-(2**63), 50), (0, 20), (np.int64(-(2**63)), 20), (2**63 - 1, 21), (True, 30), (1.5, 2)],
    ),
    (
        divided,
        [
            (1000, 90),
            (1000, 30),
            (1e3, 90),
            (1e3, 30),
            (-7, 100),
            (-(2**63), 59),
            (np.int64(5), 20),
            (np.float64(5), 20),
        ],
    ),
    (
        remainders,
        [
            (100, 7),
            (-100, 7),
            (1.5, 0.4),
            (5, 0),
            (5.0, 0.0),
            (-(2**63) + 99, 3),
            (float("inf"), 2.0),
            (np.float64(7), 3),
        ],
    ),
    (
        true_divided,
        [
            (100, 7),
            (2**53 - 9, 3),
            (2**62, 3),
            (1, 2**62 + 1),
            (1.0, 0),
            (5, 0.0),
            (np.int64(2**60), 3),
            (np.float64(1), 0),
        ],
    ),
    (
        compared,
        [
            (0, 30.5),
            (2**53 - 9, 2.0**53),
            (2**53 - 9, np.float64(2**53)),
            (np.int64(2**53 - 9), 2.0**53),
            (0, float("nan")),
            (2**63 - 70, 9.3e18),
            (0, 1j),
        ],
    ),
    (
        indexed,
        [
            (I, 5),
            (I, -9),
            (A, 60),
            (I[:30], 20),
            (I[:50], -3),
            (A, 60.0),
            (A > 9, 60),
            (I, np.int64(3)),
            (I.reshape(70, 1), 3),
        ],
    ),
    (
        two_indices,
        [
            (np.zeros((7, 8)), 7),
            (np.zeros((7, 8)), 8),
            (np.zeros((9, 9), int), 9),
            (np.zeros((3, 3, 3)), 3),
            (np.zeros((6, 6), bool), 6),
            (A, 2),
            (np.zeros((8, 8))[::-1, ::-1].T, 8),
        ],
    ),
    (
        written,
        [
            (A, 1.5),
            (A, 3),
            (I, 3),
            (I, 2.75),
            (I, True),
            (A > 9, 1),
            (I, float("nan")),
            (I, 1e300),
            (A, 1e300),
            (A, None),
            (A[:12], "3"),
            (A, "one"),
            (A, 1j),
        ],
    ),
    (half_an_iteration, [(I, 30), (I, 60), (A, 50), (A, 2)]),
    (quotients, [(A, A), (A, A - 50), (A - 50, A - 50), (I, I), (I + 1, I + 1), (A * np.inf, A)]),
    (
        products,
        [(A, A), (A * 1e200, A * 1e200), (A * np.inf, A - 40), (A * 1e-200, A * 1e-200), (A * np.nan, A)],
    ),
    (integer_products, [(I, I), (I + LARGE // 64, I), (I, -I - LARGE), (A, I), (I > 3, I > 4)]),
    (integer_quotients, [(I, I + 1), (I, I - 30), (I, -I - 1), (np.full(70, -(2**63)), I - 40)]),
    (caught, [(A, 60), (A, 90), (I, 50), (A[:9], 20)]),
    (
        kinds,
        [
            (I, 0),
            (A, 0),
            (A > 9, 0),
            (list(range(50)), 0),
            ([1, 2.5] * 20, 0),
            ([1] * 20 + [None], 0),
            ((1.5,) * 40, 2),
            (A.astype("f4"), 1),
            (I.astype("i2") * 900, 1),
            (A + 1j, 1),
        ],
    ),
    (unbound, [(29,), (31,), (32,), (50,)]),
    (
        identities,
        [(1000, 2000, 41), (1.5, 2.5, 40), (A, I, 33), (None, True, 50), (np.float64(1), np.float64(1), 31)],
    ),
    (while_else, [(50, 900), (50, 7), (0, 0), (50.5, 49), (np.int64(60), 3600)]),
    (large_range, [(0,), (2**62,), (2**63 - 60,), (2**63 - 30,), (2**64,), (-(2**63) - 5,)]),
]


@pytest.mark.parametrize(("fn", "calls"), CASES, ids=lambda one: getattr(one, "__name__", ""))
def test_what_ends_an_iteration(fn, calls):
    check_calls(fn, *calls, calls[0], *calls, whole=False, recompile_limit=64)


@pytest.mark.parametrize("how", ["ignore", "warn", "raise"])
@pytest.mark.parametrize("what", ["divide", "over", "under", "invalid"])
@pytest.mark.parametrize("fn", [quotients, products, integer_products])
def test_error_states(fn, what, how):
    one = A if fn is not integer_products else I + LARGE // 64
    with np.errstate(**{what: how}):
        check_calls(
            fn, (one, one), (one * 3, one - 30), (A * 1e-200, A * 1e-200), (A * 1e200, A * 1e200), whole=False
        )


def test_warnings_as_errors():
    def run(target, a, b):
        a = a.copy()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(RuntimeWarning) as caught:
                target(a, b)
        return str(caught.value), caught.traceback[-1].lineno, a.tolist()

    ours = dyntrace.compile(integer_quotients)
    ours(I.copy(), I + 1)
    assert run(integer_quotients, I, I - 30) == run(ours, I, I - 30)


# ---- What comes from elsewhere ---------------------------------------------------------------------


def count(a, n):
    i = 0
    while i < n:
        a[i % 8] += 1.0
        i += 1
    return i


def nested(a, n):
    for i in range(n):
        for j in range(n):
            a[(i + j) % 8] += 1.0
    return n


@pytest.mark.parametrize("fn", [count, nested])
def test_a_signal_ends_a_long_loop_soon(fn):
    class Enough(Exception):
        pass

    times = []

    def handler(number, frame):
        times.append(time.perf_counter())
        raise Enough

    ours, a = dyntrace.compile(fn), np.zeros(8)
    ours(a, 300)
    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(Enough):
            ours(a, 10**9)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert time.perf_counter() - times[0] < 1.0
    assert a.sum() == int(a.sum())


def test_another_thread_gets_its_turns():
    ours, a, seen, done = dyntrace.compile(count), np.zeros(8), [], threading.Event()
    ours(a, 300)

    def watch():
        while not done.is_set():
            seen.append(a.sum())
            time.sleep(0.001)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        assert ours(a, 1_200_000) == 1_200_000
    finally:
        done.set()
        thread.join()
    assert a.sum() == 1_200_300
    assert len(set(seen)) > 1 and seen == sorted(seen)


def test_another_thread_changes_what_the_loop_reads():
    def wait(flag, a):
        turns = 0
        while flag[0] == 0:
            turns += 1
            a[turns % 4] = turns
        return turns > 0

    ours, flag, a = dyntrace.compile(wait), np.zeros(1, dtype=np.int64), np.zeros(4)
    timer = threading.Timer(0.05, lambda: flag.__setitem__(0, 1))
    timer.start()
    assert ours(flag, a)
    timer.join()


def test_tracing_that_begins_between_calls():
    def lines_of(target):
        found = []

        def tracer(frame, event, argument):
            if event == "line" and frame.f_code.co_name == "nested":
                found.append(frame.f_lineno)
            return tracer

        before = sys.gettrace()
        sys.settrace(tracer)
        try:
            target(np.zeros(8), 4)
        finally:
            sys.settrace(before)
        return found

    ours = dyntrace.compile(nested)
    for _ in range(3):
        ours(np.zeros(8), 200)
    assert lines_of(ours) == lines_of(nested)


def test_tracing_that_a_signal_begins():
    events = []

    def tracer(frame, event, argument):
        if event == "line" and frame.f_code.co_name == "count":
            events.append(frame.f_locals["i"])
            if len(events) > 20:
                sys.settrace(None)
                frame.f_trace = None
        return tracer if len(events) <= 20 else None

    def handler(number, frame):
        while frame.f_code.co_name != "count" and frame.f_back is not None:
            frame = frame.f_back
        frame.f_trace = tracer
        sys.settrace(tracer)

    ours, a = dyntrace.compile(count), np.zeros(8)
    ours(a, 300)
    before, traced = signal.signal(signal.SIGALRM, handler), sys.gettrace()
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        assert ours(a, 800_000) == 800_000
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        sys.settrace(traced)
    assert events == sorted(events)
    assert a.sum() == 800_300


def test_the_frame_that_a_signal_sees():
    seen = []

    def handler(number, frame):
        while frame is not None and frame.f_code.co_name != "count":
            frame = frame.f_back
        if frame is not None:
            seen.append((frame.f_locals["i"], frame.f_locals["a"].sum()))

    ours, a = dyntrace.compile(count), np.zeros(8)
    ours(np.zeros(8), 300)
    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
        assert ours(a, 800_000) == 800_000
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert all(total - i in (0.0, 1.0) for i, total in seen)


def test_generators_with_loops_inside():
    def parts(a, n):
        for i in range(n):
            s = 0.0
            for j in range(len(a)):
                s += a[j] * i
                a[j] -= 0.5
            yield s

    ours = dyntrace.compile(parts)
    for n in (3, 20, 20):
        a, b = A.copy(), A.copy()
        assert list(ours(a, n)) == list(parts(b, n))
        assert a.tobytes() == b.tobytes()
