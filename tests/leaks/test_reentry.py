"""What runs in the middle of dyntrace may call back into it, and may take away what it stands on.

Backends, executables, Python adapters, finalizers and the garbage collector run user code while an
attempt or a call is under way: here each of them resets, calls the same function again, forgets it,
or rebinds what its guards have just read. Run under AddressSanitizer this finds every borrowed
reference that is used once too often.
"""

from __future__ import annotations

import gc

import dyntrace
import pytest
import toyarray as ta
from dyntrace import adapters


class Actor(ta.ToyAdapter):
    """The toy adapter, with an action that runs in one of its methods."""

    name = "toy"

    def __init__(self):
        self.place, self.action, self.runs = None, None, 0

    def act(self, place):
        if place == self.place:
            action, self.place = self.action, None  # not again from inside
            self.runs += 1
            action()
            self.place = place

    def is_array(self, obj):
        self.act("is_array")
        return super().is_array(obj)

    def owns(self, obj):
        self.act("owns")
        return super().owns(obj)

    def describe(self, obj):
        self.act("describe")
        return super().describe(obj)

    def guard(self, obj):
        self.act("guard")
        return super().guard(obj)

    def check(self, spec, obj):
        self.act("check")
        return super().check(spec, obj)

    def state(self):
        self.act("state")
        return super().state()

    def call(self, target, args, kwargs):
        self.act("call")
        return super().call(target, args, kwargs)

    def binary(self, op, left, right):
        self.act("binary")
        return super().binary(op, left, right)


PLACES = ("is_array", "owns", "describe", "guard", "check", "state", "call", "binary")
RUN_WHEN_WARM = ("check", "state")


@pytest.fixture
def actor():
    one = Actor()
    adapters.register(one)
    dyntrace.reset()
    yield one
    one.place = None
    adapters.unregister(one)
    dyntrace.reset()


bias = ta.array([1.0, 2.0])


def toy(a, k=2.0):
    return ta.add(a * k, bias), [a, k]


def values(result):
    array, rest = result
    return array.tolist(), rest[1]


EXPECTED = ([3.0, 6.0], 2.0)


def use(compiled, times=3):
    a = ta.array([1.0, 2.0])
    for _ in range(times):
        assert values(compiled(a)) == EXPECTED


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("what", ["reset", "call", "collect", "compile", "forget"])
def test_adapter(actor, place, what):
    box = {}

    def forget():
        box.pop("compiled", None)
        dyntrace.reset()
        gc.collect()

    actions = {
        "reset": dyntrace.reset,
        "call": lambda: use(box["compiled"], 1),
        "collect": gc.collect,
        "compile": lambda: use(dyntrace.compile(toy, backend="eager"), 2),
        "forget": forget,
    }
    actor.place, actor.action = place, actions[what]
    for _ in range(3):
        box["compiled"] = dyntrace.compile(toy, backend="eager")
        for _ in range(3):
            if "compiled" in box:
                assert values(box["compiled"](ta.array([1.0, 2.0]))) == EXPECTED
    assert actor.runs > 0 or place in ("is_array", "owns", "guard")


class Bomb:
    def __init__(self, action):
        self.action = action

    def __del__(self):
        self.action()


@pytest.mark.parametrize("place", RUN_WHEN_WARM)
@pytest.mark.parametrize("chained", [False, True])
def test_adapter_rebinds_what_was_read(actor, place, chained):
    """The guards have read `bias`; then it is replaced, and its end replaces it once more."""
    compiled = dyntrace.compile(toy, backend="eager")
    use(compiled)

    def fresh():
        return ta.array([1.0, 2.0])

    def rebind_again():
        global bias
        bias = fresh()

    def rebind():
        global bias
        if chained:
            bias.bomb = Bomb(rebind_again)
        bias = fresh()

    actor.place, actor.action = place, rebind
    use(compiled, 10)
    assert actor.runs > 0


@pytest.mark.parametrize("what", ["reset", "call", "forget", "raise"])
@pytest.mark.parametrize("when", ["compile", "run"])
def test_backend(actor, what, when):
    box = {"depth": 0}

    def act():
        if what == "reset":
            dyntrace.reset()
        elif what == "call":
            if box["depth"] < 3:
                box["depth"] += 1
                use(box["compiled"], 1)
                box["depth"] -= 1
        elif what == "forget":
            box.clear()
            box["depth"] = 9
            dyntrace.reset()
            gc.collect()
        else:
            raise LookupError("the backend's own")

    def backend(graph, example_inputs):
        if when == "compile":
            act()

        def run(*inputs):
            if when == "run":
                act()
            return graph(*inputs)

        return run

    box["compiled"] = dyntrace.compile(toy, backend=backend)
    for _ in range(3):
        if what == "raise":
            with pytest.raises((LookupError, dyntrace.BackendError)):
                use(box["compiled"], 1)
        elif "compiled" in box:
            assert values(box["compiled"](ta.array([1.0, 2.0]))) == EXPECTED


class Slot:
    def __init__(self):
        self.held = None


def swap(slot, n):
    slot.held = [n]
    slot.last = slot.held
    return slot.held


@pytest.mark.parametrize("what", ["reset", "call", "forget", "collect", "delete"])
def test_finalizer_in_a_replayed_write(what):
    """A store replayed by rewritten code ends the object that was there, which runs anything."""
    box = {"slot": Slot()}

    def act():
        if what == "reset":
            dyntrace.reset()
        elif what == "call":
            box["compiled"](Slot(), 1)
        elif what == "forget":
            box.pop("compiled", None)
            dyntrace.reset()
        elif what == "collect":
            gc.collect()
        else:
            box["slot"].__dict__.clear()
            box["slot"].held = None

    with dyntrace.config.patch(everything=True):
        for _ in range(3):
            box["compiled"] = dyntrace.compile(swap, backend="eager")
            for n in range(4):
                if "compiled" in box:
                    box["slot"].held = Bomb(act)
                    if what == "delete":
                        try:
                            box["compiled"](box["slot"], n)
                        except AttributeError:
                            pass  # plain code sees the same: the slot was emptied under it
                    else:
                        assert box["compiled"](box["slot"], n) == [n]
    dyntrace.reset()


@pytest.mark.parametrize("what", ["reset", "call"])
def test_collector_callbacks(actor, what):
    """The collector may start at any allocation of an attempt."""
    box = {"busy": False}

    def callback(phase, info):
        if phase == "stop" and not box["busy"]:
            box["busy"] = True
            if what == "reset":
                dyntrace.reset()
            else:
                use(box["compiled"], 1)
            box["busy"] = False

    thresholds = gc.get_threshold()
    box["compiled"] = dyntrace.compile(toy, backend="eager")
    gc.callbacks.append(callback)
    gc.set_threshold(3)
    try:
        for _ in range(5):
            box["compiled"] = dyntrace.compile(toy, backend="eager")
            use(box["compiled"])
    finally:
        gc.set_threshold(*thresholds)
        gc.callbacks.remove(callback)


def test_recompiles_while_running():
    """A callable argument of a compiled function compiles more entries of the same function."""

    def function(n, action):
        total = n * 2
        action()
        return total + n

    compiled = dyntrace.compile(function, backend="eager")
    kinds = iter([2, 2.5, True, 1 << 70, 3.5, "s", (1,)] * 3)

    def again():
        for kind in kinds:
            try:
                compiled(kind, again)
            except TypeError:
                continue

    with dyntrace.config.patch(everything=True):
        assert compiled(1, again) == 3
    dyntrace.reset()


def test_numpy_array_behind_a_global_is_rebound():
    np = pytest.importorskip("numpy")
    names = {"weights": np.ones(1000), "np": np}

    def backend(graph, example_inputs):
        def run(*inputs):
            names["weights"] = np.ones(1000)
            return graph(*inputs)

        return run

    exec("def function(x):\n    y = x * weights\n    return y + 1.0, weights, weights[1:]", names)
    compiled = dyntrace.compile(names["function"], backend=backend)
    x = np.arange(1000.0)
    for _ in range(5):
        before = names["weights"]
        y, weights, view = compiled(x)
        assert y.tobytes() == (x + 1.0).tobytes() and view.base is weights
        assert weights is before or weights is names["weights"]
        del before
    dyntrace.reset()
