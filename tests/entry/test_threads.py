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


def test_compiling_one_function_does_not_block_calls_of_another(fast_switching):
    compiling, release = threading.Event(), threading.Event()

    def backend(graph, example_inputs):
        compiling.set()
        assert release.wait(60)
        return graph

    slow = dyntrace.compile(lambda a: a * 5.0 - 1.0, backend=backend)
    known = dyntrace.compile(lambda a: a * 3.0 + 1.0)
    new = dyntrace.compile(lambda a: a * 7.0 + 1.0)
    breaks = dyntrace.compile(lambda a: [a * 2.0, print(end=""), a * 2.0 + 1.0][2])
    x = np.arange(3.0)
    with dyntrace.config.patch(weigh_after=0):  # all calls are served by entries
        known(x)
        breaks(x)
    hits = known.cache_entries()[0]["hits"]
    first = threading.Thread(target=slow, args=(x,))
    first.start()
    try:
        assert compiling.wait(60)
        # Nothing below waits: `release` is set only after it.
        in_threads(*[lambda: [known(x) for _ in range(50)]] * 4)
        assert known(x).tobytes() == (x * 3.0 + 1.0).tobytes()
        assert breaks(x).tobytes() == (x * 2.0 + 1.0).tobytes()
        assert new(x).tobytes() == (x * 7.0 + 1.0).tobytes()
        assert known.cache_entries()[0]["hits"] == hits + 201
        assert first.is_alive()
    finally:
        release.set()
        first.join()
    assert slow(x).tobytes() == (x * 5.0 - 1.0).tobytes()
    assert new(x).tobytes() == (x * 7.0 + 1.0).tobytes()
    assert new.cache_entries() and slow.cache_entries()
