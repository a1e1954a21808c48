"""An internal fault while tracing never reaches the user's program."""

import re

import dyntrace
import pytest

np = pytest.importorskip("numpy")
testing = dyntrace._core._testing


def scaled(x):
    return x * 2.0


def another(x):
    return x * 3.0


def test_the_frame_runs_plainly_and_the_fault_is_logged_once_with_an_id(capfd):
    x = np.arange(4.0)
    fn = dyntrace.compile(scaled)
    testing.fault_next()
    assert fn(x).tobytes() == scaled(x).tobytes()
    logged = capfd.readouterr().err
    assert re.fullmatch(
        r"\[dyntrace\] internal fault DT-[0-9a-f]{6} while tracing scaled \(.*test_faults\.py:\d+\), "
        r"it runs plainly: SystemError: a fault asked for by a test\n",
        logged,
    )
    # The same fault again: plain execution, no second line.
    testing.fault_next()
    again = dyntrace.compile(scaled)
    assert again(x).tobytes() == scaled(x).tobytes()
    assert capfd.readouterr().err == ""
    # The function is not given up: the next call compiles.
    assert fn(x).tobytes() == scaled(x).tobytes()
    assert len(fn.cache_entries()) == 1


def test_strict_raises_it():
    fn = dyntrace.compile(another)
    with dyntrace.config.patch(strict=True):
        testing.fault_next()
        with pytest.raises(SystemError, match="asked for by a test"):
            fn(np.arange(4.0))


def test_faults_are_counted_and_explained():
    before = dyntrace._core.counters()["faults"]
    testing.fault_next()
    out = dyntrace.explain(another)(np.arange(4.0))
    assert out.faults == ["a fault asked for by a test"]
    assert dyntrace._core.counters()["faults"] == before + 1
    assert out.result.tobytes() == another(np.arange(4.0)).tobytes()


def test_memory_errors_propagate():
    fn = dyntrace.compile(lambda x: x * 5.0)
    testing.fail_arena_at(5)
    try:
        with pytest.raises(MemoryError):
            fn(np.arange(4.0))
    finally:
        testing.fail_arena_at(0)
    assert fn(np.arange(2.0)).tolist() == [0.0, 5.0]
