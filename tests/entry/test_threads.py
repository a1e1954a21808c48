"""Calls, compiles, resets and changes of guarded globals from several threads at once."""

import sys
import threading

import dyntrace
import pytest

np = pytest.importorskip("numpy")

factor = 2.0


@dyntrace.compile
def scaled(x):
    return x * factor + 1.0


@pytest.fixture
def fast_switching():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def in_threads(*functions):
    errors = []

    def guarded(function):
        try:
            function()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(f,)) for f in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def test_calls_resets_and_changing_globals(fast_switching):
    global factor
    x = np.arange(8.0)
    allowed = {(x * f + 1.0).tobytes() for f in (2.0, 3.0)}
    stop = threading.Event()

    def call():
        for _ in range(2000):
            assert scaled(x).tobytes() in allowed

    def reset():
        while not stop.is_set():
            dyntrace.reset()

    def change():
        global factor
        while not stop.is_set():
            factor = 3.0
            factor = 2.0

    helpers = [threading.Thread(target=f) for f in (reset, change)]
    for helper in helpers:
        helper.start()
    try:
        in_threads(*[call] * 6)
    finally:
        stop.set()
        for helper in helpers:
            helper.join()
        factor = 2.0


def test_large_arrays_in_threads(fast_switching):
    arrays = [np.random.default_rng(seed).random(300_000) for seed in range(4)]
    expected = [(a * 2.0 + 1.0).tobytes() for a in arrays]

    def work(a, bits):
        def run():
            for _ in range(20):
                assert scaled(a).tobytes() == bits

        return run

    in_threads(*[work(a, bits) for a, bits in zip(arrays, expected)])


def test_one_backend_compile_at_a_time(fast_switching):
    compiling = threading.Event()
    release = threading.Event()
    compiles = []

    def backend(graph, example_inputs):
        compiles.append(graph)
        compiling.set()
        release.wait(10)
        return graph

    fn = dyntrace.compile(lambda a: a * 5.0 - 1.0, backend=backend)
    x = np.arange(3.0)
    first = threading.Thread(target=fn, args=(x,))
    first.start()
    assert compiling.wait(10)
    # While one thread compiles, others run plainly and compile nothing.
    assert fn(x).tobytes() == (x * 5.0 - 1.0).tobytes()
    release.set()
    first.join()
    assert fn(x).tobytes() == (x * 5.0 - 1.0).tobytes()
    assert len(compiles) == 1
