"""Plain against compiled: one function run both ways, everything that a program can see compared.

`check(fn, *args)` runs `fn` plainly and compiled (the call that traces and calls that find its entry),
each on its own copy of the arguments, and compares results bit for bit, exceptions with their
traceback lines, warnings, changes of the arguments, and which returned objects are arguments.
"""

from __future__ import annotations

import copy
import functools
import importlib.util
import os
import struct
import threading
import traceback
import types
import warnings

import dyntrace
from dyntrace import _core, _verify
from dyntrace.api import _compile_target

np = None
if importlib.util.find_spec("numpy") is not None:
    np = importlib.import_module("numpy")

# "at,every[,below]": every trace breaks there (see _testing.force_breaks), and only what can be seen is
# compared. "nox -s breaks" runs tests/semantics with many of them.
FORCED = os.environ.get("DYNTRACE_FORCE_BREAKS")
if FORCED:
    _core._testing.force_breaks(*(int(number) for number in FORCED.split(",")))

# The backend of `check` when a test names none.
BACKEND = os.environ.get("DYNTRACE_TEST_BACKEND", "native")

# Called with every function that `check` has compared, and its `Compiled` (tools/feature_page.py).
observer = None

_ATOMS = (
    int,
    bool,
    str,
    bytes,
    type(None),
    type(Ellipsis),
    type(NotImplemented),
    range,
    type,
    types.ModuleType,
    types.BuiltinFunctionType,
)


def in_a_thread(test):
    """Runs a test in a thread of its own, where no exception is being handled."""

    @functools.wraps(test)
    def run(*args, **kwargs):
        raised = []

        def body():
            try:
                test(*args, **kwargs)
            except BaseException as error:
                raised.append(error)

        thread = threading.Thread(target=body)
        thread.start()
        thread.join()
        if raised:
            raise raised[0]

    return run


class Outcome:
    """What one call did."""

    def __init__(self, fn, args, kwargs, state=None):
        self.args, self.kwargs = args, kwargs
        self.result = self.error = None
        self.lines = []
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                self.result = fn(*args, **kwargs)
            except Exception as error:
                self.error = error
                self.lines = [
                    (frame.name, frame.lineno)
                    for frame in traceback.extract_tb(error.__traceback__)
                    if frame.filename != __file__
                ]
        self.warnings = [(w.category, str(w.message), w.filename, w.lineno) for w in caught]
        self.state = copy.deepcopy(state()) if state is not None else None


def _children(value):
    """(label, part) of a container or object; None for an atom."""
    if isinstance(value, dict):
        return [
            pair
            for i, (k, v) in enumerate(value.items())
            for pair in ((f".key{i}", k), (f"[{k!r}]", v))
        ]
    if isinstance(value, (list, tuple)):
        return [(f"[{i}]", part) for i, part in enumerate(value)]
    if isinstance(value, types.FunctionType):
        cells = value.__closure__ or ()
        parts = [(f".cell{i}", _cell(cell)) for i, cell in enumerate(cells)]
        return [(".defaults", value.__defaults__), (".kwdefaults", value.__kwdefaults__), *parts]
    if isinstance(value, types.MethodType):
        return [(".func", value.__func__), (".self", value.__self__)]
    parts = list(getattr(value, "__dict__", {}).items())
    if isinstance(value, BaseException):
        parts += _parts_of_exception(value)
    for cls in type(value).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if hasattr(value, name):
                parts.append((name, getattr(value, name)))
    return [(f".{name}", part) for name, part in parts]


_MEMBERS = ("value", "code", "name", "obj", "msg", "path", "errno", "filename", "exceptions")


def _parts_of_exception(error):
    lines = [
        f"{frame.name}:{frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename != __file__
    ]
    return [
        ("args", error.args),
        ("__cause__", error.__cause__),
        ("__context__", error.__context__),
        ("__suppress_context__", error.__suppress_context__),
        ("lines", " ".join(lines)),
        ("text", str(error)),
        *((name, getattr(error, name, None)) for name in _MEMBERS),
    ]


def _cell(cell):
    try:
        return cell.cell_contents
    except ValueError:
        return "<empty>"


def _is_array(value):
    return np is not None and isinstance(value, (np.ndarray, np.generic))


def assert_same(plain, compiled, path="result", seen=None):
    """Equal to the bit, type by type."""
    seen = {} if seen is None else seen
    assert type(plain) is type(compiled), f"{path}: {type(plain)} became {type(compiled)}"
    if type(plain) is types.GenericAlias:  # on 3.10 it says that it is a class
        assert plain == compiled, f"{path}: {plain!r} became {compiled!r}"
        return
    if isinstance(plain, _ATOMS) and not isinstance(plain, (int, str, bytes, range)):
        assert plain is compiled, f"{path}: {plain!r} became {compiled!r}"
        return
    if _is_array(plain):
        _assert_same_array(plain, compiled, path)
        return
    if isinstance(plain, float):
        assert struct.pack("d", plain) == struct.pack("d", compiled), (
            f"{path}: {plain!r} became {compiled!r}"
        )
        return
    if isinstance(plain, complex):
        assert struct.pack("dd", plain.real, plain.imag) == struct.pack(
            "dd", compiled.real, compiled.imag
        ), path
        return
    if isinstance(plain, (int, str, bytes, range, set, frozenset)):
        assert plain == compiled, f"{path}: {plain!r} became {compiled!r}"
        return
    if id(plain) in seen:
        assert seen[id(plain)] is compiled, f"{path}: the object is another one"
        return
    seen[id(plain)] = compiled
    if isinstance(plain, types.FunctionType):
        assert plain.__qualname__ == compiled.__qualname__, path
        assert plain.__code__ == compiled.__code__, path
        assert plain.__globals__ is compiled.__globals__, path
    left, right = _children(plain), _children(compiled)
    assert [label for label, _ in left] == [label for label, _ in right], (
        f"{path}: {plain!r} became {compiled!r}"
    )
    for (label, a), (_, b) in zip(left, right):
        assert_same(a, b, path + label, seen)


def _assert_same_array(plain, compiled, path):
    assert plain.dtype == compiled.dtype, f"{path}: dtype {plain.dtype} became {compiled.dtype}"
    assert plain.shape == compiled.shape, f"{path}: shape {plain.shape} became {compiled.shape}"
    if isinstance(plain, np.ndarray):
        assert plain.strides == compiled.strides, (
            f"{path}: strides {plain.strides} became {compiled.strides}"
        )
        for flag in ("C_CONTIGUOUS", "F_CONTIGUOUS", "WRITEABLE", "ALIGNED"):
            assert plain.flags[flag] == compiled.flags[flag], f"{path}: flag {flag}"
    assert plain.tobytes() == compiled.tobytes(), f"{path}: {plain!r} became {compiled!r}"


def _names_of(roots):
    """id -> path of every object with an identity that can be reached from `roots`."""
    names, work = {}, [("", root) for root in roots]
    while work:
        path, value = work.pop()
        if isinstance(value, _ATOMS + (float, complex)) or id(value) in names:
            continue
        names[id(value)] = path
        if not _is_array(value):
            work += [(path + label, part) for label, part in _children(value)]
    return names


def _arrays_in(roots):
    """(path, array) of every array that can be reached."""
    found, seen, work = [], set(), list(roots)
    while work:
        path, value = work.pop()
        if isinstance(value, _ATOMS + (float, complex)) or id(value) in seen:
            continue
        seen.add(id(value))
        if np is not None and isinstance(value, np.ndarray):
            found.append((path, value))
        elif not _is_array(value):
            work += [(path + label, part) for label, part in _children(value)]
    return found


def identities(outcome):
    """Which objects inside the result are arguments or each other, and which arrays share memory."""
    arrays = _arrays_in([("args", list(outcome.args)), ("kwargs", outcome.kwargs)])
    found = [
        (path, "shares " + other)
        for path, array in _arrays_in([("result", outcome.result)])
        for other, argument in arrays
        if np.shares_memory(array, argument)
    ]
    names = _names_of([list(outcome.args), outcome.kwargs])
    seen, work = set(), [("result", outcome.result)]
    while work:
        path, value = work.pop()
        if isinstance(value, _ATOMS + (float, complex, tuple)) and not isinstance(value, tuple):
            continue
        if id(value) in names:
            found.append((path, names[id(value)]))
            continue
        names[id(value)] = path
        if id(value) not in seen and not _is_array(value):
            seen.add(id(value))
            work += [(path + label, part) for label, part in _children(value)]
    return sorted(found)


def compare(plain, compiled):
    """Asserts that two outcomes can't be told apart."""
    assert (plain.error is None) == (compiled.error is None), (
        f"plain: {plain.error or plain.result!r}, compiled: {compiled.error or compiled.result!r}"
    )
    if plain.error is not None:
        assert type(plain.error) is type(compiled.error), compiled.error
        assert str(plain.error) == str(compiled.error)
        assert plain.lines == compiled.lines
    else:
        assert_same(plain.result, compiled.result)
        assert identities(plain) == identities(compiled)
    assert plain.warnings == compiled.warnings, f"{plain.warnings} became {compiled.warnings}"
    assert_same(plain.args, compiled.args, "args")
    assert_same(plain.kwargs, compiled.kwargs, "kwargs")
    assert_same(plain.state, compiled.state, "state")


class Compiled:
    """`fn` in a region of its own that records every attempt to compile."""

    def __init__(self, fn, backend=BACKEND, dynamic=None):
        self.region = _core.Region(backend, dynamic=dynamic, record=True)
        self.fn = _compile_target(fn, self.region)
        code = getattr(fn, "__code__", None)
        self.own = (code.co_filename, code.co_firstlineno) if code is not None else None

    def __call__(self, *args, **kwargs):
        return self.fn(*args, **kwargs)

    @property
    def records(self):
        """Attempts to compile the function itself, whole; segments of it when it breaks, and frames
        below it, may have been compiled too."""
        if FORCED:
            importlib.import_module("pytest").skip("breaks are forced: nothing can be counted")
        return [
            r
            for r in self.region.records
            if self.own in (None, (r["file"], r["line"])) and r["segment"] is None
        ]

    @property
    def breaks(self):
        return [r["break"]["id"] for r in self.records if r["break"] is not None]

    @property
    def faults(self):
        return [r["fault"] for r in self.records if r["fault"] is not None]

    @property
    def published(self):
        return sum(1 for r in self.records if r["published"])

    def assert_verified(self):
        """Under DYNTRACE_VERIFY=1: verify mode has found no difference either."""
        wrong = [row for row in self.region.verified() if row["quarantined"]]
        assert not wrong, [told[1:] for told in _verify.found if told[0] in wrong]

    def describe(self):
        return "\n".join(str(r["break"] or r["fault"] or r["graph"]) for r in self.records)


def check(
    fn,
    *args,
    breaks=None,
    graphs=None,
    entries=1,
    calls=3,
    make=None,
    state=None,
    reset=None,
    backend=BACKEND,
    dynamic=None,
    **kwargs,
):
    """Runs `fn` plainly and compiled and compares.

    Parameters
    ----------
    breaks : str, optional
        The id of the graph break that is expected; without it, the frame must be captured.
    graphs : int, optional
        Number of operations of the graph that is expected.
    entries : int
        Compiled versions that are expected after all calls with equal arguments; None: any number.
    make : callable, optional
        Makes (args, kwargs) afresh, where deep copies would not do (views, shared objects).
    state, reset : callable, optional
        Read and restore what the function changes outside of its arguments.

    Returns
    -------
    Compiled
        For further questions: records, graphs.
    """
    if make is None:

        def make():
            return copy.deepcopy((args, kwargs))

    def run(target):
        if reset is not None:
            reset()
        made_args, made_kwargs = make()
        return Outcome(target, made_args, made_kwargs, state)

    plain = run(fn)
    settings = {"everything": True, "strict": True, "trace_budget_ns": 0}
    if breaks == "array-branch":
        settings["guess_limit"] = 0
    with dyntrace.config.patch(**settings):
        compiled = Compiled(fn, backend, dynamic)
        for _ in range(calls):
            compare(plain, run(compiled))
    compiled.assert_verified()
    if observer is not None:
        observer(fn, compiled)
    if FORCED:
        faults = [r["fault"] for r in compiled.region.records if r["fault"] is not None]
        assert not faults, faults
        return compiled
    if breaks is not None:
        assert breaks in compiled.breaks, f"expected {breaks}, got {compiled.describe()}"
        return compiled
    assert not compiled.faults, compiled.describe()
    assert not compiled.breaks, compiled.describe()
    assert compiled.published == len(compiled.records), compiled.describe()
    assert entries is None or compiled.published == entries, compiled.describe()
    if graphs is not None:
        ops = sum(
            sum(1 for node in r["graph"].nodes if node.op == "call")
            for r in compiled.records
            if r["graph"] is not None
        )
        assert ops == graphs, compiled.describe()
    return compiled


def check_calls(fn, *calls, whole=True, **config):
    """Compiles `fn` with the first arguments; all calls, the first twice, do what plain execution does.

    `whole`: without a graph break.  `config`: settings of dyntrace.config.
    """
    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0, **config):
        compiled = Compiled(fn, BACKEND, None)
        for args in (calls[0], *calls):
            plain = Outcome(fn, copy.deepcopy(args), {})
            compare(plain, Outcome(compiled, copy.deepcopy(args), {}))
    compiled.assert_verified()
    assert FORCED or not whole or not compiled.breaks, compiled.describe()
    return compiled


def check_sizes(fn, calls, again):
    """Arguments whose sizes differ, whichever come first; `again`: how many of the first come back."""
    check_calls(fn, *calls, *calls[:again], whole=False)
    for call in calls[1:]:  # before it runs plainly, since others did not fit
        check_calls(fn, calls[0], call, whole=False)
        check_calls(fn, call, calls[0], whole=False)
