"""What runs below a frame that breaks is captured; nothing else is touched by the hook."""

import sys
import threading

import dyntrace
import pytest

np = pytest.importorskip("numpy")


@dyntrace.disable
def opaque():
    return None


def helper(x):
    return x * 2.0 + 1.0


def helper_with_effects(x, out):
    out.append(x * 3.0)
    return out


def closure_maker(k):
    def inner(x):
        return x * k - 1.0

    return inner


def root(x):
    opaque()
    return helper(x) + 1.0


def records(fn, *args, **kwargs):
    return dyntrace.explain(fn)(*args, **kwargs)


def test_a_callee_of_a_broken_frame_is_compiled():
    x = np.arange(4.0)
    out = records(root, x)
    assert [b.id for b in out.breaks] == ["skipped-function"]
    assert [g.name for g in out.graphs] == ["root"]  # what follows the break, helper included
    assert out.result.tobytes() == root(x).tobytes()


def test_results_effects_and_identity_through_the_hook():
    def broken(x, out):
        opaque()
        inner = closure_maker(4.0)
        return inner(x), helper_with_effects(x, out), helper(x=x)

    x = np.arange(4.0)
    fn = dyntrace.compile(broken)
    for _ in range(4):
        mine, theirs = [], []
        a = fn(x, mine)
        b = broken(x, theirs)
        assert a[0].tobytes() == b[0].tobytes()
        assert a[1] is mine and len(mine) == 1 and mine[0].tobytes() == theirs[0].tobytes()
        assert a[2].tobytes() == b[2].tobytes()


def test_references_are_as_in_plain_execution():
    x = np.arange(4.0)
    fn = dyntrace.compile(root)
    before = sys.getrefcount(x)
    for _ in range(5):
        fn(x)
    assert sys.getrefcount(x) == before


def test_an_exception_below_has_the_users_lines():
    def fails(x):
        return helper(x) + np.ones(3)

    def broken(x):
        opaque()
        return fails(x)

    fn = dyntrace.compile(broken)
    x = np.arange(4.0)
    for _ in range(3):
        with pytest.raises(ValueError) as error:
            fn(x)
        assert [t.name for t in error.traceback[-2:]] == ["broken", "fails"]
        assert error.traceback[-1].lineno == fails.__code__.co_firstlineno


def test_generators_classes_and_recursion_below_run_as_they_are():
    def countdown(n):
        return 0 if n == 0 else 1 + countdown(n - 1)

    def broken(x):
        opaque()

        class Local:
            def __init__(self, v):
                self.v = v

        total = sum(helper(v) for v in (x, x))
        return Local(total).v, countdown(900)

    fn = dyntrace.compile(broken)
    x = np.arange(4.0)
    for _ in range(3):
        a, b = fn(x), broken(x)
        assert a[0].tobytes() == b[0].tobytes() and a[1] == b[1]


def test_other_threads_pass_through():
    started, stop = threading.Event(), threading.Event()

    def broken(x):
        opaque()
        started.set()
        stop.wait(10)
        return helper(x)

    seen = []
    fn = dyntrace.compile(broken)
    thread = threading.Thread(target=lambda: seen.append(fn(np.arange(3.0))))
    thread.start()
    assert started.wait(10)
    assert helper(np.ones(2)).tobytes() == (np.ones(2) * 2.0 + 1.0).tobytes()
    stop.set()
    thread.join()
    assert seen[0].tobytes() == helper(np.arange(3.0)).tobytes()


def test_a_root_below_which_nothing_is_captured_is_left_alone():
    def broken(x):
        opaque()
        return plain_python(3)

    fn = dyntrace.compile(broken)
    for _ in range(4):
        assert fn(np.ones(2)) == 6
    assert dyntrace._support.core._testing.hook_is_installed() is False


def hook_is_installed():
    return dyntrace._support.core._testing.hook_is_installed()


def passing(count, installed):
    opaque()
    seen = 0
    for n in range(count):
        seen += plain_python(n % 3)
        installed.append(hook_is_installed())
    return seen


def test_a_run_in_which_nearly_all_frames_only_pass_goes_on_without_the_hook():
    def broken(x, installed):
        opaque()
        y = helper(x)
        seen = passing(5000, installed)
        return helper(y), seen

    fn = dyntrace.compile(broken)
    x = np.arange(4.0)
    for turn in range(3):
        plain, compiled = [], []
        expected, answer = broken(x, plain), fn(x, compiled)
        assert answer[0].tobytes() == expected[0].tobytes() and answer[1] == expected[1]
        assert not any(plain) and not compiled[-1] and not hook_is_installed()
        assert turn > 0 or compiled[0]  # it was there, and it was taken away
        assert turn == 0 or not any(compiled[-5000:])


def test_a_root_inside_of_another_keeps_what_is_its_own():
    def inside(x, installed):
        opaque()
        passing(5000, [])
        installed.append(hook_is_installed())
        return helper(x)

    inner = dyntrace.compile(inside)

    def broken(x, installed):
        opaque()
        y = inner(x, installed)
        installed.append(hook_is_installed())
        return helper(y)

    fn = dyntrace.compile(broken)
    x = np.arange(4.0)
    for _ in range(4):
        assert fn(x, []).tobytes() == broken(x, []).tobytes()
        assert not hook_is_installed()


def plain_python(n):
    return sum(range(n + 1))
