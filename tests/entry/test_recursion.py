"""Compiled functions recurse as deep as plain ones, and an exhausted stack is a RecursionError."""

import os
import subprocess
import sys
import threading

import dyntrace
import pytest

np = pytest.importorskip("numpy")


def depth_reached(function):
    deepest = 0

    def enter(n):
        nonlocal deepest
        deepest = n
        function(enter, n)

    with pytest.raises(RecursionError):
        enter(0)
    return deepest


def descend(enter, n):
    print_nothing(n)
    enter(n + 1)


@dyntrace.disable
def print_nothing(n):
    return None


def test_the_recursion_limit_counts_python_frames_alone():
    # The compiled function breaks and runs plainly at each level: one eval loop per level.
    plain = depth_reached(descend)
    compiled = depth_reached(dyntrace.compile(descend))
    assert abs(plain - compiled) <= 2


def test_an_exhausted_c_stack_is_a_recursion_error():
    fn = dyntrace.compile(lambda f, n: print_nothing(n) or f(f, n + 1))
    outcome = []

    def run():
        try:
            fn(fn, 0)
        except RecursionError:
            outcome.append("RecursionError")

    limit = sys.getrecursionlimit()
    size = threading.stack_size(1 << 20)
    try:
        sys.setrecursionlimit(10**6)
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    finally:
        sys.setrecursionlimit(limit)
        threading.stack_size(size)
    assert outcome == ["RecursionError"]


ON_THE_FIRST_THREAD = """
import resource, sys
sys.setrecursionlimit(10**6)
import dyntrace, numpy
@dyntrace.disable
def print_nothing(n):
    return None
fn = dyntrace.compile(lambda f, n: print_nothing(n) or f(f, n + 1))
try:
    fn(fn, 0)
except RecursionError:
    print("RecursionError", resource.getrlimit(resource.RLIMIT_STACK)[0])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="how large the first stack is")
@pytest.mark.parametrize("megabytes", [1, 8, 100])
def test_the_first_stack_is_as_large_as_its_limit(megabytes):
    import resource

    hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
    size = megabytes << 20
    if hard != resource.RLIM_INFINITY and size > hard:
        pytest.skip("the limit can't be raised")
    done = subprocess.run(
        [sys.executable, "-c", ON_THE_FIRST_THREAD],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "FILLER": "x" * 60_000},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (size, hard)),
    )
    assert done.stdout == f"RecursionError {size}\n", done.stderr
