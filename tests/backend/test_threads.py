"""Stages that several threads share: NumPy's bits, warnings and errors for any number of them."""

from __future__ import annotations

import ctypes
import os
import platform
import subprocess
import sys
import threading
import warnings

import dyntrace
import numpy as np
import pytest
from graphs import strides
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench import chains

white_box = dyntrace._core._testing
THREADS = (1, 2, 3, 7)


@pytest.fixture(autouse=True)
def small_shares():
    """Small arrays are shared too."""
    before = white_box.set_lane_work(500)
    with dyntrace.config.patch(num_threads=3):
        yield
    white_box.set_lane_work(before)


def bits(result):
    results = result if isinstance(result, tuple) else (result,)
    return [(type(r), r.dtype, r.shape, strides(r), r.tobytes()) for r in results]


def compare(function, *arguments):
    """The same bits from each number of threads; arguments are copied, since they may be written."""

    def call(f):
        own = tuple(a.copy("K") if isinstance(a, np.ndarray) and a.base is None else a for a in arguments)
        return bits(f(*own)), [a.tobytes() for a in own]

    expected = call(function)
    compiled = dyntrace.compile(function)
    for count in THREADS:
        with dyntrace.config.patch(num_threads=count):
            for _ in range(2):
                assert call(compiled) == expected, count


def test_workers_take_part():
    x = np.random.default_rng(1).random(3_000_000)

    def f(x):
        return np.exp(np.sin(x) * np.cos(x)) + np.log(x + 1)

    compiled = dyntrace.compile(f)
    expected = f(x).tobytes()
    before = white_box.workers_helped()
    for _ in range(50):
        assert compiled(x).tobytes() == expected
        if white_box.workers_helped() > before:
            return
    raise AssertionError("no worker has done anything")


@pytest.mark.parametrize("kind", [np.float64, np.float32], ids=["float64", "float32"])
@pytest.mark.parametrize("size", [1_000, 30_011, 200_003])
@pytest.mark.parametrize("chain", chains.CHAINS, ids=lambda chain: chain.function.__name__)
def test_chains(chain, size, kind):
    compare(chain.function, *chain.operands(size, kind))


# ---- Random expressions --------------------------------------------------------------------------

UNARY = (np.negative, np.absolute, np.square, np.sign)
BINARY = (np.add, np.subtract, np.multiply, np.maximum, np.minimum, np.less)
REDUCTIONS = ("sum", "max", "min", "prod", "any", "all", "mean")
KINDS = (np.float64, np.float32, np.int64, np.int32, np.uint8, np.bool_)


@st.composite
def operands(draw):
    """Arrays that broadcast, each laid out in its own way."""
    ndim = draw(st.integers(1, 3))
    longest = {1: 40_000, 2: 300, 3: 40}[ndim]
    shape = tuple(draw(st.integers(1, longest)) for _ in range(ndim))
    arrays = []
    for seed in range(draw(st.integers(1, 3))):
        own = tuple(1 if draw(st.integers(0, 5)) == 0 else size for size in shape)
        own = own[draw(st.integers(0, ndim - 1)) if draw(st.booleans()) else 0 :]
        values = np.random.default_rng(seed).integers(-40, 40, own) / 8
        array = np.where(values == 0, -0.0, values).astype(draw(st.sampled_from(KINDS)))
        way = draw(st.sampled_from(["as is", "fortran", "backwards", "apart", "repeated"]))
        if way == "fortran":
            array = np.asfortranarray(array)
        elif way == "backwards":
            array = array[::-1]
        elif way == "apart":
            array = np.repeat(array, 2, axis=-1)[..., ::2]
        elif way == "repeated":
            array = np.broadcast_to(array, shape)
        arrays.append(array)
    return arrays


@st.composite
def expressions(draw):
    """A function's text over x0, x1, ...: results are numbered on, each from earlier ones."""
    arrays = draw(operands())
    names = [f"x{i}" for i in range(len(arrays))]
    lines = []
    for i in range(draw(st.integers(1, 8))):
        one, two = draw(st.sampled_from(names)), draw(st.sampled_from(names))
        if draw(st.booleans()):
            text = f"np.{draw(st.sampled_from(BINARY)).__name__}({one} * 2, {two})"
        else:
            text = f"np.{draw(st.sampled_from(UNARY)).__name__}({one} - 1)"
        names.append(f"t{i}")
        lines.append(f"    t{i} = {text}")
    results = draw(st.lists(st.sampled_from(names[len(arrays) :]), min_size=1, max_size=3))
    for i, name in enumerate(results):
        if draw(st.booleans()):
            method = draw(st.sampled_from(REDUCTIONS))
            axis = draw(st.sampled_from(["", "axis=-1", "axis=0", "axis=0, keepdims=True"]))
            results[i] = f"{name}.{method}({axis})"
    head = f"def f({', '.join(names[: len(arrays)])}):"
    return "\n".join([head, *lines, f"    return {', '.join(results)},"]), arrays


@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(expressions())
def test_random_expressions(case):
    text, arrays = case
    namespace = {"np": np}
    exec(text, namespace)
    with np.errstate(all="ignore"):
        compare(namespace["f"], *arrays)


# ---- Rows, columns and parts of rows -------------------------------------------------------------


def centred(x):
    return (x - x.mean(axis=-1, keepdims=True)) / (np.abs(x).sum(axis=-1, keepdims=True) + 1)


def whole(x):
    y = x * 3 - 1
    return y.sum(), y.max(), y.min(), np.square(y).mean()


def row_sums(x):
    y = x * 3 - 1
    return y.sum(axis=-1), y.max(axis=-1), y


def column_sums(x):
    y = x * 3 - 1
    return y.sum(axis=0), y.min(axis=0), y


def products(x):
    y = x * 0.001 + 1
    return y.prod(), y.sum()


SHAPES = [(100_003,), (3, 70_001), (7, 9_000), (500, 300), (3_000, 5), (5, 4_100), (90_000, 1)]


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, np.uint8])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("function", [centred, whole, row_sums, column_sums, products])
def test_reductions(function, shape, kind):
    x = np.random.default_rng(3).integers(0, 200, shape).astype(kind)
    compare(function, x / 7 if np.issubdtype(kind, np.floating) else x)


@pytest.mark.parametrize("special", [np.nan, -np.nan, np.inf, -0.0])
@pytest.mark.parametrize("place", [0, 12_345, 99_999])
def test_special_values_in_one_part(special, place):
    x = np.random.default_rng(3).random(100_000) - 2
    x[place], x[place // 2] = special, np.copysign(special, 1)
    with np.errstate(all="ignore"):
        compare(whole, x)
        compare(whole, -np.abs(x) * 0.0 if special == 0 else -x)


# ---- Warnings and errors -------------------------------------------------------------------------


def overflows(x, y):
    z = x * y
    return np.maximum(z, 0) + np.isnan(y)


@pytest.mark.parametrize("place", [0, 50_000, 99_999])
def test_warnings_are_numpys(place):
    x, y = np.ones(100_000), np.ones(100_000)
    compiled = dyntrace.compile(overflows)
    compiled(x, y)
    x[place] = y[place] = 1e300
    told = []
    for function in (overflows, compiled):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = function(x, y).tobytes()
        told.append((result, [(w.category, str(w.message), w.filename, w.lineno) for w in caught]))
    assert told[0] == told[1]
    assert len(told[0][1]) == 1


def write(target, x, y):
    target *= x
    target += y * x


@pytest.mark.parametrize("part", [np.s_[:, :], np.s_[:, ::2], np.s_[::-1, 1:], np.s_[3:-3, 3:-3]])
@pytest.mark.parametrize("place", [(0, 0), (100, 60), (-1, -1), None], ids=str)
def test_targets_are_put_back(part, place):
    base = np.random.default_rng(4).random((400, 300))
    shape = base[part].shape
    x, y = np.random.default_rng(5).random((2, *shape))
    if place is not None:
        y[place] = x[place] = 1e300

    def outcome(function):
        own = base.copy()
        with np.errstate(all="raise"):
            try:
                function(own[part], x, y)
            except FloatingPointError as error:
                return str(error), own.tobytes()
        return None, own.tobytes()

    expected = outcome(write)
    compiled = dyntrace.compile(write)
    for count in THREADS:
        with dyntrace.config.patch(num_threads=count):
            for _ in range(2):
                assert outcome(compiled) == expected


@pytest.mark.skipif(platform.machine() != "x86_64", reason="names a rounding of this processor")
def test_the_programs_rounding_holds_in_workers():
    libm = ctypes.CDLL(None)
    x = np.random.default_rng(6).random(200_000)

    def f(x):
        return x * 1.1 + x / 3

    compiled = dyntrace.compile(f)
    compiled(x)
    assert libm.fesetround(0x800) == 0
    try:
        expected, results = f(x).tobytes(), [compiled(x).tobytes() for _ in range(20)]
    finally:
        libm.fesetround(0)
    assert results == [expected] * 20
    assert f(x).tobytes() != expected


# ---- Threads, processes, signals -----------------------------------------------------------------


def test_many_threads_of_the_program():
    function = chains.black_scholes
    compiled = dyntrace.compile(function)
    cases = [chains.prices(50_000 + 1_000 * i, np.float64) for i in range(8)]
    expected = [bits(function(*case)) for case in cases]
    compiled(*cases[0])
    wrong = []

    def run(index):
        for _ in range(20):
            if bits(compiled(*cases[index])) != expected[index]:
                wrong.append(index)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


HEAD = """
import os, signal, sys, threading, time
import dyntrace
import numpy as np

white_box = dyntrace._core._testing

@dyntrace.compile
def f(x):
    return np.exp(np.sin(x) * np.cos(x)) + np.log(x + 1)

x = np.random.default_rng(1).random(1_000_000)

def helped():
    "Does a worker take part, if it is given several chances?"
    before = white_box.workers_helped()
    for _ in range(60):
        result = f(x)
        if white_box.workers_helped() > before:
            break
    assert result.tobytes() == f.__wrapped__(x).tobytes()
    return white_box.workers_helped() > before

small = np.ones(1_000_000, np.int64)
endless = np.broadcast_to(np.int64(1), (1 << 36,))  # minutes of work, no memory

@dyntrace.compile
def total(x):
    return (np.square(x) * 2 + 1).max()
"""
PROCESSORS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
several = pytest.mark.skipif(PROCESSORS < 2, reason="needs two processors")


def run(text, **env):
    surroundings = {k: v for k, v in os.environ.items() if not k.startswith(("DYNTRACE", "OMP_"))}
    return subprocess.run(
        [sys.executable, "-c", HEAD + text], env={**surroundings, **env}, capture_output=True, text=True,
        timeout=300, check=False,
    )  # fmt: skip


def says(text, **env):
    done = run(text, **env)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


@several
def test_how_many():
    assert says("print(dyntrace.config.num_threads, helped())") == ["0", "True"]
    assert says("print(helped())", OMP_NUM_THREADS="1") == ["False"]
    assert says("print(helped())", OMP_NUM_THREADS="2,1") == ["True"]
    assert says("print(helped())", OMP_NUM_THREADS="many") == ["True"]
    assert says("os.sched_setaffinity(0, [min(os.sched_getaffinity(0))]); print(helped())") == ["False"]
    told = says(
        "print(dyntrace.config.num_threads, helped())", DYNTRACE_NUM_THREADS="2", OMP_NUM_THREADS="1"
    )
    assert told == ["2", "True"]
    assert says("print(helped())", DYNTRACE_NUM_THREADS="1") == ["False"]
    assert says("dyntrace.config.num_threads = 1000; print(helped())") == ["True"]


def test_bad_numbers():
    with pytest.raises(ValueError, match="config.num_threads: expected 0 to 4294967295, got -1"):
        dyntrace.config.num_threads = -1
    with pytest.raises(TypeError, match="config.num_threads: expected an int, got str"):
        dyntrace.config.num_threads = "2"
    done = run("", DYNTRACE_NUM_THREADS="two")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "ValueError: DYNTRACE_NUM_THREADS: expected a number, got 'two'"
    )


FORK = """
import warnings
warnings.simplefilter("ignore")  # newer versions warn of forks beside threads

def child():
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        signal.alarm(100)
        print(helped(), flush=True)
        os._exit(0)
    return os.waitpid(pid, 0)[1]
"""


@several
def test_forks():
    """A child has no workers and by default wants none; where a number was set, it starts its own."""
    assert says(FORK + "print(helped(), flush=True); print(child(), helped())") == [
        "True", "False", "0", "True",
    ]  # fmt: skip
    text = "dyntrace.config.num_threads = 2; print(helped(), flush=True); print(child(), helped())"
    assert says(FORK + text) == ["True", "True", "0", "True"]


def test_forks_while_workers_are_busy():
    text = """
dyntrace.config.num_threads = 3
stop = False
def busy():
    while not stop:
        f(x)
thread = threading.Thread(target=busy)
thread.start()
print({child() for _ in range(10)})
stop = True
thread.join()
"""
    told = says(FORK + text)
    assert told[-1] == "{0}"


MULTIPROCESSING = """
import multiprocessing
import dyntrace
import numpy as np

@dyntrace.compile
def f(x):
    return np.exp(np.sin(x) * np.cos(x)) + np.log(x + 1)

def work(_):
    before = dyntrace._core._testing.workers_helped()
    for _ in range(5):
        f(np.ones(500_000))
    return dyntrace._core._testing.workers_helped() > before

if __name__ == "__main__":
    for method in ("fork", "spawn", "forkserver"):
        with multiprocessing.get_context(method).Pool(1) as pool:
            print(pool.map(work, [1]))
"""


def test_multiprocessing(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(MULTIPROCESSING)
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stdout) == (0, "[False]\n" * 3), done.stderr


INTERRUPT = """
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background processes ignore it
total(small)
def press():
    time.sleep(0.5)
    pressed.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)
pressed = []
thread = threading.Thread(target=press)
thread.start()
try:
    total(endless)
except KeyboardInterrupt as error:
    took = time.perf_counter() - pressed[0]
    frame = error.__traceback__
    while frame.tb_next is not None:
        frame = frame.tb_next
    print("interrupted", frame.tb_frame.f_code.co_name)
    print("late" if took > 5 else "soon")
thread.join()
print(total(small))
"""


@pytest.mark.parametrize("threads", ["1", "3"])
def test_keyboard_interrupt(threads):
    told = says(INTERRUPT, DYNTRACE_NUM_THREADS=threads)
    assert told == ["interrupted", "total", "soon", "3"]


def test_a_handler_of_the_program_may_end_it():
    text = """
class Timeout(Exception):
    pass
def handler(number, frame):
    raise Timeout
total(small)
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.3)
try:
    total(endless)
except Timeout:
    print("timeout")
"""
    assert says(text) == ["timeout"]


def test_short_signals_cost_no_run():
    """A handler that comes every few milliseconds: runs that end in time are not dropped."""
    text = """
ticks = []
signal.signal(signal.SIGALRM, lambda number, frame: ticks.append(1))
part = x[:100_000]
expected = f.__wrapped__(part).tobytes()
signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002)
end = time.perf_counter() + 1
while time.perf_counter() < end:
    assert f(part).tobytes() == expected
signal.setitimer(signal.ITIMER_REAL, 0)
print(len(ticks) > 3)
"""
    assert says(text) == ["True"]


def test_other_threads_take_no_signals():
    """The main thread waits for one that computes: the handler is the main thread's."""
    text = """
seen = []
signal.signal(signal.SIGALRM, lambda number, frame: seen.append(threading.current_thread().name))
f(x)
expected = f.__wrapped__(x).tobytes()
signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
results = []
thread = threading.Thread(target=lambda: results.extend(f(x).tobytes() for _ in range(30)))
thread.start()
thread.join()
signal.setitimer(signal.ITIMER_REAL, 0)
print(set(seen) <= {"MainThread"}, set(results) == {expected}, len(results))
"""
    assert says(text, DYNTRACE_NUM_THREADS="3") == ["True", "True", "30"]


@pytest.mark.parametrize("threads", ["1", "3"])
def test_a_daemon_thread_computes_at_the_end(threads):
    text = """
total(small)
threading.Thread(target=total, args=(endless,), daemon=True).start()
time.sleep(0.3)
print("end")
"""
    assert says(text, DYNTRACE_NUM_THREADS=threads) == ["end"]
