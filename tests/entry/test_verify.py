"""Verify mode finds what is wrong, and changes nothing.

What is compiled is made wrong on purpose by backends that change the outputs of a right one, or have
effects of their own.
"""

from __future__ import annotations

import gc
import mmap
import os
import random
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections import defaultdict, deque
from pathlib import Path

import dyntrace
import pytest
from dyntrace import _core, _verify

np = pytest.importorskip("numpy")
if not sys.platform.startswith("linux"):
    pytest.skip("copies of the process are made on Linux", allow_module_level=True)

PACKAGE = Path(dyntrace.__file__).parent.parent


@pytest.fixture(autouse=True)
def verifying(tmp_path, monkeypatch):
    monkeypatch.setattr(_verify, "found", [])
    monkeypatch.setattr(_verify, "directory", str(tmp_path / "found"))
    with dyntrace.config.patch(verify=True, everything=True, trace_budget_ns=0):
        yield


def wrongly(change):
    """A backend whose outputs go through `change`, which gets the inputs, too."""

    def backend(graph, examples):
        def run(*inputs):
            return tuple(change(list(graph(*inputs)), inputs))

        return run

    return backend


class Thing:
    count = 0

    def __init__(self):
        self.total = 0


class Slotted:
    __slots__ = ("total",)


class Mine(list):
    pass


COUNT = 0
SHARED = []


def double(x):
    return x * 2.0


def beside(x, other):
    return x * 2.0


def signed_zero(x):
    return x * 0.0


def number(x):
    return float(x.sum())


def part(x):
    return x[1:]


def counted(x):
    return x + COUNT


def shared(x):
    SHARED.append(len(SHARED))
    return x + 1.0


def make_cell():
    held = 0

    def set_held():
        nonlocal held
        held = 5

    def step(x):
        return x + held

    return step, set_held


def flip(outputs, inputs):
    changed = np.array(outputs[0])
    changed.view(np.uint8).reshape(-1)[0] ^= 1
    return [changed, *outputs[1:]]


def other_nan(outputs, inputs):
    changed = outputs[0].copy()
    changed.view(np.uint64)[0] |= 0x55
    return [changed]


def out(change):
    return lambda outputs, inputs: [change(outputs[0]), *outputs[1:]]


def act(effect):
    def change(outputs, inputs):
        effect()
        return outputs

    return change


def raise_it():
    raise ArithmeticError("not there")


def warn():
    warnings.warn("no", stacklevel=1)


def swapped(result):
    return result.astype(">f8")


def square(result):
    return result.reshape(2, 2)


def read_only(result):
    result.setflags(write=False)
    return result


def array():
    return np.arange(4.0)


def matrix():
    return np.ones((2, 3))


def nan():
    return np.array([np.nan])


THING, SLOTTED, ARRAY = Thing(), Slotted(), np.ones(3)
LIST, DICT, SET = [0], {"a": 1, "b": 2}, {1, 2}
BYTES, DEQUE, MINE = bytearray(b"a"), deque([1]), Mine()
DEFAULT, WALKED = defaultdict(list), iter([1, 2, 3])
GENERATOR = np.random.default_rng(3)
STEP, SET_HELD = make_cell()
ZERO, NAN = "np.float64(0.0) (bytes 00", "np.float64(nan) (bytes 000000000000f87f)"
ACTS = "it acts on files, processes or the network"
RANDOM = "state of random generators"

# name -> function, what makes its arguments, what is wrong, and what the report has to say
WRONG = {
    "one bit": (double, array, flip, "result: item 0 of 4: " + ZERO),
    "signed zero": (signed_zero, array, out(np.negative), "became np.float64(-0.0)"),
    "payload of a NaN": (double, nan, other_nan, f"{NAN} became np.float64(nan)"),
    "dtype": (double, array, out(np.float32), "result: dtype '<f8' became '<f4'"),
    "byte order": (double, array, out(swapped), "result: dtype '<f8' became '>f8'"),
    "strides": (double, matrix, out(np.asfortranarray), "strides (24, 8) became (8, 16)"),
    "shape": (double, array, out(square), "result: shape (4,) became (2, 2)"),
    "read-only": (double, array, out(read_only), "(True, True) became (False"),
    "number": (
        number,
        array,
        out(lambda r: r + 1),
        "result: 6.0 (bytes 0000000000001840) became 7.0",
    ),
    "a scalar for an array": (double, array, out(lambda r: r[1]), "result: "),
    "the argument itself": (double, array, lambda o, i: [i[0]], "became <numpy.ndarray x>"),
    "no view": (part, array, out(np.copy), "result: memory "),
    "exception": (double, array, act(raise_it), "became <builtins.ArithmeticError exception>"),
    "warning": (double, array, act(warn), "warnings: () became (('builtins.UserWarning', 'no'"),
    "cell": (STEP, array, act(SET_HELD), "function.held: 0 became 5"),
    "global": (
        counted,
        array,
        act(lambda: globals().update(COUNT=7)),
        "function COUNT: 0 became 7",
    ),
    "what a global holds": (shared, array, act(lambda: SHARED.append(9)), "SHARED: "),
    "module random": (double, array, act(random.random), RANDOM),
    "random of NumPy": (double, array, act(np.random.rand), RANDOM),
    "error state": (double, array, act(lambda: np.seterr(all="raise")), "error state of NumPy: "),
    "crash": (double, array, act(lambda: os.kill(os.getpid(), 9)), "ended the process by signal 9"),
    "exit": (double, array, act(lambda: os._exit(3)), "the compiled call ended the process"),
}

# name -> an argument, what is done to it, and what the report has to say of it
EFFECTS = {
    "array": (ARRAY, lambda a: a.fill(3.0), "other: item 0 of 3: "),
    "list": (LIST, lambda a: a.append(2), "other: "),
    "item": (LIST, lambda a: a.__setitem__(0, False), "other[0]: 0 became False"),
    "deque": (DEQUE, lambda a: a.append(2), "other: "),
    "dict": (DICT, lambda a: a.update(c=2), "other: "),
    "default": (DEFAULT, lambda a: a["a"], "other: "),
    "order": (DICT, lambda a: a.update(a=a.pop("a")), "other: "),
    "set": (SET, lambda a: a.add(3), "other: "),
    "bytearray": (BYTES, lambda a: a.append(3), "b'a' became b'a\\x03'"),
    "subclass": (MINE, lambda a: setattr(a, "a", 3), "other: () became"),
    "iterator": (WALKED, next, "other.__reduce__()[1]: 0 became 1"),
    "attribute": (THING, lambda a: setattr(a, "total", 0.0), "other.total: 0 became 0.0"),
    "slot": (SLOTTED, lambda a: setattr(a, "total", 2), "other.total: ('nothing') became 2"),
    "class": (THING, lambda a: setattr(Thing, "count", 1), "type(other).count: 0 became 1"),
    "deep": ([[THING]], lambda a: setattr(THING, "total", 7), "other[0][0].total: 0 became 7"),
    "generator of NumPy": (GENERATOR, lambda a: a.random(), "other state state: "),
}
for _name, (_other, _effect, _said) in EFFECTS.items():
    WRONG[_name] = (
        beside, lambda o=_other: (array(), o), act(lambda e=_effect, o=_other: e(o)), _said
    )  # fmt: skip


def made(make):
    arguments = make()
    return arguments if type(arguments) is tuple else (arguments,)


@pytest.mark.parametrize("name", WRONG)
def test_differences_are_found(name, capfd):
    function, make, change, said = WRONG[name]
    expected = repr(function(*made(make)))
    before = repr((LIST, DICT, SET, THING.__dict__, Thing.count, ARRAY, COUNT))
    compiled = dyntrace.compile(function, backend=wrongly(change))
    arguments = made(make)
    result = compiled(*arguments)
    assert repr(result) == expected  # the program goes on with what is right
    assert before == repr((LIST, DICT, SET, THING.__dict__, Thing.count, ARRAY, COUNT))
    err = capfd.readouterr().err
    assert err.count("\n") == 1 and said in err, err
    assert f"{function.__name__} ({__file__}:" in err
    (row,) = (row for row in compiled.__dyntrace_region__.verified() if row["quarantined"])
    assert row["function"].endswith(function.__name__)
    assert repr(compiled(*made(make))) == repr(function(*made(make)))
    assert capfd.readouterr().err == ""  # quarantined: nothing is compiled any more
    assert compiled.cache_entries() == []


# ---- The program does not notice


def test_effects_happen_once_and_results_are_plain(capfd):
    seen = []

    def work(x, log, table):
        log.append(float(x.sum()))
        table["n"] = table.get("n", 0) + 1
        x += 1.0
        return x, log, table

    compiled = dyntrace.compile(work)
    x, log, table = np.zeros(3), seen, {}
    for i in range(1, 6):
        result = compiled(x, log, table)
        assert result[0] is x and result[1] is seen and result[2] is table
        assert len(seen) == i and table == {"n": i} and x.tolist() == [float(i)] * 3
    assert seen == [0.0, 3.0, 6.0, 9.0, 12.0]
    (row,) = compiled.__dyntrace_region__.verified()
    assert row["verified"] == 5 and not row["skipped"] and not row["quarantined"]
    assert capfd.readouterr() == ("", "")


def test_arguments_of_all_kinds(capfd):
    def every(a, /, b=2, *args, c, d=4, **kwargs):
        args[0][0] += 1.0
        kwargs["e"].append(a)
        return a * 1.0, args, kwargs, c, d

    compiled = dyntrace.compile(every)
    for i in range(1, 4):
        x, e = np.zeros(2), []
        result = compiled(np.ones(2), 1, x, c=3, e=e)
        assert result[1] == (x,) and x[0] == 1.0 and len(e) == 1 and result[2]["e"] is e
        assert compiled.__dyntrace_region__.verified()[0]["verified"] == i
    assert capfd.readouterr().err == ""


def test_random_state_is_left_alone():
    def draw(n):
        return np.random.rand(n) * random.random()

    def states():
        return repr(random.getstate()) + repr(np.random.get_state())

    def run(function):
        random.seed(5)
        np.random.seed(5)
        results = [function(3).tolist() for _ in range(4)]
        return results, states()

    plain = run(draw)
    compiled = dyntrace.compile(draw)
    assert run(compiled) == plain
    assert compiled.__dyntrace_region__.verified()[0]["verified"] == 4
    before = states()
    with dyntrace.config.patch(verify=0.5):  # choosing the calls draws nothing either
        once = dyntrace.compile(double)
        for _ in range(20):
            once(np.ones(2))
    assert states() == before


def test_exceptions_and_warnings_are_the_same():
    def fails(x, table):
        y = x + 1.0
        return y, table["none"]

    def warns(x):
        return np.log(x)

    compiled = dyntrace.compile(fails)
    for _ in range(3):
        with pytest.raises(KeyError, match="none"):
            compiled(np.ones(2), {})
    (row,) = compiled.__dyntrace_region__.verified()
    assert row["verified"] == 2 and not row["skipped"] and not row["quarantined"]
    compiled = dyntrace.compile(warns)
    for i in range(3):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            compiled(np.zeros(2))
        assert [w.category for w in caught] == [RuntimeWarning], i
        assert caught[0].filename == __file__
    (row,) = compiled.__dyntrace_region__.verified()
    assert not row["quarantined"]


def test_recursion_and_calls_of_other_compiled_functions():
    @dyntrace.compile
    def depth(x, n):
        return x if n == 0 else depth(x * 1.5, n - 1) + 1.0

    @dyntrace.compile
    def outer(x):
        return depth(x, 3) * 2.0

    assert outer(np.ones(2)).tolist() == outer.__wrapped__(np.ones(2)).tolist()
    assert not any(
        row["quarantined"] for row in _core.list_verified() if "depth" in row["function"]
    )
    assert outer.__dyntrace_region__.verified()[0]["verified"] >= 1


def test_what_is_called_below_a_break(capfd):
    def below(x):
        return x * 3.0 + 1.0

    def breaks(x):
        y = below(x)
        print("once")
        return below(y)

    compiled = dyntrace.compile(breaks)
    for _ in range(4):
        assert compiled(np.ones(2)).tolist() == [13.0, 13.0]
    assert capfd.readouterr() == ("once\n" * 4, "")
    rows = {
        row["function"].rpartition(".")[2]: row for row in compiled.__dyntrace_region__.verified()
    }
    assert rows["breaks"]["skipped"] == {ACTS: 3}  # what stands for output here is a file
    assert not any(row["quarantined"] for row in rows.values())


def test_generators():
    def numbers(x):
        for i in range(3):
            yield x * i

    def total(x):
        return sum(numbers(x))

    compiled = dyntrace.compile(total)
    assert [compiled(np.ones(2)).tolist() for _ in range(3)] == [[3.0, 3.0]] * 3
    assert not any(row["quarantined"] for row in compiled.__dyntrace_region__.verified())


def test_other_threads():
    release = threading.Event()
    thread = threading.Thread(target=release.wait)
    compiled = dyntrace.compile(double)
    thread.start()
    try:
        assert compiled(np.ones(2)).tolist() == [2.0, 2.0]
    finally:
        release.set()
        thread.join()
    (row,) = compiled.__dyntrace_region__.verified()
    assert row["verified"] == 0
    assert row["skipped"] == {"other threads of Python were running": 1}
    compiled(np.ones(2))
    assert compiled.__dyntrace_region__.verified()[0]["verified"] == 1


def test_a_program_that_handles_its_children():
    noticed = []
    before = signal.signal(signal.SIGCHLD, lambda *args: noticed.append(args))
    compiled = dyntrace.compile(double)
    try:
        compiled(np.ones(2))
    finally:
        signal.signal(signal.SIGCHLD, before)
    (row,) = compiled.__dyntrace_region__.verified()
    assert not noticed and list(row["skipped"].values()) == [1]
    assert "SIGCHLD" in next(iter(row["skipped"]))


def test_nothing_is_left_of_the_copies():
    compiled = dyntrace.compile(double)
    files = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        compiled(np.ones(2))
    assert len(os.listdir("/proc/self/fd")) == files
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_an_interrupt_ends_the_comparison():
    class Alarm(Exception):
        pass

    def ring(*args):
        raise Alarm

    x = np.ones(2)
    compiled = dyntrace.compile(double, backend=wrongly(act(lambda: time.sleep(30))))
    before = signal.signal(signal.SIGALRM, ring)
    began = time.monotonic()
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        with pytest.raises(Alarm):
            compiled(x)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert time.monotonic() - began < 15 and x.tolist() == [1.0, 1.0]
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_nothing_is_kept_of_a_comparison():
    compiled = dyntrace.compile(beside)
    other = [np.ones(3)]
    for _ in range(5):
        compiled(np.ones(2), other)
    gc.collect()
    before = sys.getallocatedblocks(), sys.getrefcount(other[0])
    for _ in range(30):
        compiled(np.ones(2), other)
    gc.collect()
    after = sys.getallocatedblocks(), sys.getrefcount(other[0])
    assert after[1] == before[1] and after[0] - before[0] < 25


def test_memory_that_is_shared_with_other_processes(tmp_path):
    path = tmp_path / "shared"
    path.write_bytes(bytes(32))
    shared = np.memmap(path, np.float64, "r+")
    plain = np.frombuffer(mmap.mmap(-1, 32), np.float64)

    def add(x, y):
        x += 1.0
        y += x
        return y * 2.0

    compiled = dyntrace.compile(add)
    for i in range(1, 4):
        compiled(plain, shared)
        assert plain.tolist() == [float(i)] * 4
        assert np.fromfile(path).tolist() == [i * (i + 1) / 2] * 4


def test_objects_that_are_only_compared_by_identity(tmp_path):
    class Holder:
        pass

    holder = Holder()
    holder.lock, holder.module, holder.made = threading.Lock(), os, (i for i in range(3))
    with open(tmp_path / "log", "w") as holder.file:
        compiled = dyntrace.compile(beside)
        holder.file.write("before ")
        compiled(np.ones(2), holder)
        holder.file.write("after")
    assert (tmp_path / "log").read_text() == "before after"
    assert compiled.__dyntrace_region__.verified()[0]["verified"] == 1


def test_what_plain_execution_does_not_repeat_is_no_difference(capfd):
    def unwritten(x):
        return np.empty(100)

    def change(outputs, inputs):
        return [np.full(100, 3.0)]

    compiled = dyntrace.compile(unwritten, backend=wrongly(change))
    compiled(np.ones(2))
    (row,) = compiled.__dyntrace_region__.verified()
    assert row["skipped"] == {"two plain runs differ": 1} and not row["quarantined"]
    assert capfd.readouterr().err == ""


def test_what_pads_the_items_of_arrays_is_no_difference(capfd):
    padded = np.dtype([("a", "i1"), ("b", "f8")], align=True)

    def change(outputs, inputs):
        one = np.full(16 * 3, 0x41, np.uint8).view(padded)
        one["a"], one["b"] = 1, 2.0
        other = outputs[1].copy()
        if np.finfo(np.longdouble).nmant == 63:
            other.view(np.uint8).reshape(2, 16)[:, 10:] = 0x41
        return [one, other]

    def given(x, y):
        return x.copy(), y + np.longdouble(2)

    compiled = dyntrace.compile(given, backend=wrongly(change))
    x = np.zeros(3, padded)
    x["a"], x["b"] = 1, 2.0
    compiled(x, np.ones(2, np.longdouble))
    assert capfd.readouterr().err == ""
    assert compiled.__dyntrace_region__.verified()[0]["verified"] == 1


# ---- How many calls


def test_a_share_of_the_calls():
    compiled = dyntrace.compile(double)
    with dyntrace.config.patch(verify=0.1):
        for _ in range(300):
            compiled(np.ones(2))
    (row,) = compiled.__dyntrace_region__.verified()
    assert 10 <= row["verified"] <= 60
    with dyntrace.config.patch(verify=False):
        compiled(np.ones(2))
    assert compiled.__dyntrace_region__.verified() == [row]


def test_the_setting():
    config = dyntrace.config
    assert config.verify == 1.0
    with config.patch(verify=0.25):
        assert config.verify == 0.25
    errors = {2: ValueError, -0.5: ValueError, float("nan"): ValueError, "1": TypeError}
    for wrong, error in errors.items():
        with pytest.raises(error, match=r"config\.verify: "):
            config.verify = wrong
    with pytest.raises(TypeError, match=r"config\.verify_dir: "):
        config.verify_dir = 3
    assert config.verify == 1.0


# ---- What is told


def differing(tmp_path, function=double, change=flip):
    compiled = dyntrace.compile(function, backend=wrongly(change))
    compiled(np.arange(4.0))
    return compiled


def run_file(path):
    env = dict(os.environ, PYTHONPATH=str(PACKAGE))
    done = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, env=env, timeout=120
    )
    return done.returncode, done.stdout, done.stderr


def test_explain_lists_it_and_reset_forgets_it(tmp_path):
    compiled = differing(tmp_path)
    (line,) = dyntrace.explain(compiled)(np.arange(4.0)).plain
    assert line.startswith("double (") and "is quarantined by verify mode, result: item 0" in line
    compiled.reset()
    assert not any(row["quarantined"] for row in compiled.__dyntrace_region__.verified())


def test_the_reproducer_shows_the_difference(tmp_path, capfd):
    differing(tmp_path)
    err = capfd.readouterr().err
    path = Path(err.rstrip("\n").rpartition("; reproducer: ")[2])
    assert path.parent == tmp_path / "found"
    text = path.read_text()
    assert "# def double(x):\n#     return x * 2.0\n" in text and "result: item 0 of 4" in text
    rc, out, err = run_file(path)
    assert (rc, err) == (1, "")
    assert out.startswith("different: result: item 0 of 4: np.float64(0.0) (bytes 00")


class Base:
    scale = 2.0


class Body(Base):
    def __init__(self, n):
        self.values = np.arange(n, dtype=float)
        self.part = self.values[::-2]

    def step(self, other, *more, by=1.0, **named):
        self.values[0] = helper(self.scale) + by
        other.append(self)
        return self.part * other[0] + sum(more) + named["last"]


def helper(x):
    return x + COUNT


def test_the_reproducer_has_all_that_the_call_needs(tmp_path, capfd, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "COUNT", 4)
    step = dyntrace.compile(Body.step, backend=wrongly(flip))
    body = Body(5)
    random.seed(4)
    step(body, [2.0], np.ones((3, 3)).T[0], by=3.0, last=SLOTTED and 5.0)
    ((_, _, path),) = _verify.found
    rc, out, err = run_file(path)
    assert (rc, err) == (1, "") and out.startswith("different: result: item 0 of 3"), (out, err)
    right = Path(path).read_text()
    step = dyntrace.compile(Body.step)
    assert "plainly and compiled" in right and step(body, [2.0], 1.0, last=2.0).shape == (3,)


def test_reproducers_of_the_same_function(tmp_path):
    for _ in range(3):
        differing(tmp_path)
    names = sorted(os.listdir(tmp_path / "found"))
    assert len(names) == 3 and len({path for _, _, path in _verify.found}) == 3


def test_inputs_that_can_not_be_kept(tmp_path, capfd):
    compiled = dyntrace.compile(beside, backend=wrongly(flip))
    compiled(np.arange(4.0), threading.Lock())
    ((_, _, path),) = _verify.found
    rc, out, err = run_file(path)
    assert (rc, err) == (2, "") and out.startswith("the inputs can't be kept in a file: TypeError")


def test_a_folder_that_can_not_be_written(tmp_path, capfd):
    (tmp_path / "file").write_text("")
    for directory in ("/proc/nothing", str(tmp_path / "file"), "\0"):
        with dyntrace.config.patch(verify_dir=directory):
            differing(tmp_path)
        err = capfd.readouterr().err
        assert err.count("\n") == 1 and "; reproducer: can't be" in err, err


def test_the_program_sees_nothing_of_a_difference(tmp_path, capfd):
    """Objects with ways of their own to be pickled are pickled in a copy."""
    asked = []

    class Loud:
        def __reduce__(self):
            asked.append(1)
            return (Loud, ())

    loud = Loud()
    compiled = dyntrace.compile(beside, backend=wrongly(flip))
    compiled(np.arange(4.0), loud)
    assert asked == [] and vars(loud) == {}
