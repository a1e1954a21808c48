"""A compiled function is a function to the world."""

import collections.abc
import copy
import functools
import gc
import inspect
import pickle
import sys
import types
import weakref

import dyntrace
import pytest
from differential import Compiled

np = pytest.importorskip("numpy")


def double_and_add(x, y=1.0, *, scale=2.0):
    """Doc."""
    return x * scale + y


@dyntrace.compile
def at_module_level(x):
    return x * 2.0 + 1.0


class Holder:
    factor = 3.0

    @dyntrace.compile
    def method(self, x):
        return x * self.factor

    @dyntrace.compile
    @classmethod
    def of_class(cls, x):
        return x * cls.factor + 1.0

    @dyntrace.compile
    @staticmethod
    def of_nothing(x):
        return x * 2.0 - 1.0

    def __call__(self, x, *, plus=0.0):
        return x * self.factor + plus


@pytest.fixture
def x():
    return np.arange(4.0)


def test_is_a_function():
    fn = dyntrace.compile(double_and_add)
    assert inspect.isfunction(fn)
    assert isinstance(fn, types.FunctionType)
    assert isinstance(fn, collections.abc.Callable)
    assert isinstance(fn, dyntrace.CompiledFunction)
    assert inspect.signature(fn) == inspect.signature(double_and_add)
    assert fn.__name__ == "double_and_add"
    assert fn.__qualname__ == "double_and_add"
    assert fn.__doc__ == "Doc."
    assert fn.__module__ == __name__
    assert fn.__wrapped__ is double_and_add
    assert fn.__code__ is double_and_add.__code__
    assert fn.__defaults__ == (1.0,)
    assert fn.__kwdefaults__ == {"scale": 2.0}


@pytest.mark.parametrize(
    "call",
    [
        lambda f, x: f(x),
        lambda f, x: f(x, 2.0),
        lambda f, x: f(x, y=2.0),
        lambda f, x: f(x, scale=4.0),
        lambda f, x: f(y=2.0, x=x),
        lambda f, x: f(*(x, 5.0), **{"scale": 1.5}),
    ],
)
def test_argument_forms(call, x):
    fn = dyntrace.compile(double_and_add)
    for _ in range(3):
        assert call(fn, x).tobytes() == call(double_and_add, x).tobytes()
    assert fn.cache_entries()


@pytest.mark.parametrize(
    "call",
    [
        lambda f, x: f(),
        lambda f, x: f(x, 1.0, 2.0),
        lambda f, x: f(x, x=x),
        lambda f, x: f(x, wrong=1),
        lambda f, x: f(x, **{"y": 1.0, "z": 3.0}),
    ],
)
def test_calls_that_do_not_fit_raise_cpythons_error(call, x):
    fn = dyntrace.compile(double_and_add)
    with pytest.raises(TypeError) as plain:
        call(double_and_add, x)
    for _ in range(2):
        with pytest.raises(TypeError) as compiled:
            call(fn, x)
        assert str(compiled.value) == str(plain.value)


def test_star_arguments(x):
    def total(first, *rest, **named):
        for item in rest:
            first = first + item
        return first * named["k"]

    fn = dyntrace.compile(total)
    for _ in range(3):
        assert fn(x, x, 1.0, k=3.0).tobytes() == total(x, x, 1.0, k=3.0).tobytes()


def test_usable_bare_called_and_with_arguments(x):
    expected = double_and_add(x).tobytes()
    assert dyntrace.compile(double_and_add)(x).tobytes() == expected
    assert dyntrace.compile()(double_and_add)(x).tobytes() == expected
    assert dyntrace.compile(backend="eager")(double_and_add)(x).tobytes() == expected
    assert dyntrace.compile(double_and_add, backend="eager")(x).tobytes() == expected
    assert dyntrace.compile(lambda a: a * 2.0 + 1.0)(x).tobytes() == (x * 2.0 + 1.0).tobytes()


def test_methods_of_all_kinds(x):
    holder = Holder()
    for _ in range(3):
        assert holder.method(x).tobytes() == (x * 3.0).tobytes()
        assert Holder.of_class(x).tobytes() == (x * 3.0 + 1.0).tobytes()
        assert holder.of_class(x).tobytes() == (x * 3.0 + 1.0).tobytes()
        assert Holder.of_nothing(x).tobytes() == (x * 2.0 - 1.0).tobytes()
    bound = dyntrace.compile(Holder.__call__.__get__(holder))
    assert isinstance(bound, types.MethodType)
    assert bound(x).tobytes() == (x * 3.0).tobytes()


def test_partials_and_callable_objects(x):
    holder = Holder()
    part = dyntrace.compile(functools.partial(double_and_add, scale=5.0))
    assert type(part) is functools.partial
    assert part(x).tobytes() == (x * 5.0 + 1.0).tobytes()
    compiled = dyntrace.compile(holder)
    for _ in range(3):
        assert compiled(x, plus=1.0).tobytes() == (x * 3.0 + 1.0).tobytes()
    assert compiled.factor == 3.0
    compiled.factor = 4.0
    assert holder.factor == 4.0
    assert compiled(x).tobytes() == (x * 4.0).tobytes()
    assert weakref.ref(compiled)() is compiled
    with pytest.raises(AttributeError):
        compiled.missing


def test_assignments_to_function_attributes(x):
    fn = dyntrace.compile(double_and_add)
    assert fn(x).tobytes() == double_and_add(x).tobytes()
    fn.__defaults__ = (10.0,)
    assert fn(x).tobytes() == (x * 2.0 + 10.0).tobytes()
    fn.__kwdefaults__ = {"scale": 7.0}
    assert fn(x).tobytes() == (x * 7.0 + 10.0).tobytes()
    fn.__code__ = (lambda x, y=1.0, *, scale=2.0: x - y - scale).__code__
    assert fn(x).tobytes() == (x - 10.0 - 7.0).tobytes()
    assert double_and_add(x).tobytes() == (x * 2.0 + 1.0).tobytes()


def test_pickle_by_reference_copy_and_weakref(x):
    assert pickle.loads(pickle.dumps(at_module_level)) is at_module_level
    assert copy.copy(at_module_level) is at_module_level
    assert copy.deepcopy([at_module_level])[0] is at_module_level
    assert weakref.ref(at_module_level)() is at_module_level

    @functools.wraps(at_module_level)
    def wrapper(a):
        return at_module_level(a)

    assert wrapper.__name__ == "at_module_level"
    assert wrapper(x).tobytes() == (x * 2.0 + 1.0).tobytes()


def test_cloudpickle_by_value_compiles_on_the_other_side(x):
    cloudpickle = pytest.importorskip("cloudpickle")
    factor = 3.0

    def local(a):
        return a * factor + 1.0

    fn = pickle.loads(cloudpickle.dumps(dyntrace.compile(local, backend="eager")))
    for _ in range(2):
        assert fn(x).tobytes() == local(x).tobytes()
    assert fn.__dyntrace_region__.backend == "eager"
    assert len(fn.cache_entries()) == 1


def test_garbage_is_collected(x):
    class Big:
        scale = 2.0

    def make():
        held = Big()

        def fn(a):
            return a * held.scale

        return dyntrace.compile(fn), weakref.ref(held)

    fn, big_death = make()
    fn(x)
    fn.me = fn  # a cycle through the function itself
    death = weakref.ref(fn)
    del fn
    gc.collect()
    assert death() is None
    assert big_death() is None


def test_garbage_of_entries_with_rewritten_code_is_collected(x):
    deaths = []

    def make():
        class Box:
            total = 0.0

        box = Box()
        deaths.append(weakref.ref(box))

        def backend(graph, example_inputs):
            box.graph = graph
            return lambda *inputs: (box.graph)(*inputs)

        def fn(a):
            box.total = 1.0
            return a * 2.0

        # The code is made when somebody may look at it: a region that records.
        compiled = Compiled(fn, backend=backend).fn
        box.compiled = compiled
        return compiled

    fn = make()
    for _ in range(2):
        assert fn(x).tobytes() == (x * 2.0).tobytes()
    assert fn.cache_entries()[0]["code"] is not None
    del fn
    gc.collect()
    assert deaths[0]() is None


def test_arguments_are_not_kept(x):
    fn = dyntrace.compile(lambda a, b: a * 2.0 + b)
    y = np.ones(4)
    before = sys.getrefcount(x), sys.getrefcount(y)
    for _ in range(3):
        fn(x, y)
    assert (sys.getrefcount(x), sys.getrefcount(y)) == before


def test_tracing_runs_the_original_code(x):
    fn = dyntrace.compile(double_and_add)
    fn(x)
    fn(x)
    lines = []

    def tracer(frame, event, arg):
        if frame.f_code is double_and_add.__code__:
            lines.append((event, frame.f_lineno - frame.f_code.co_firstlineno))
        return tracer

    sys.settrace(tracer)
    try:
        fn(x)
    finally:
        sys.settrace(None)
    assert lines == [("call", 0), ("line", 2), ("return", 2)]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring is new in 3.12")
def test_monitoring_of_one_code_object_runs_it_plainly(x):
    fn = dyntrace.compile(double_and_add)
    fn(x)
    monitoring = sys.monitoring
    seen = []
    monitoring.use_tool_id(3, "test")
    try:
        monitoring.register_callback(
            3, monitoring.events.PY_START, lambda code, offset: seen.append(code)
        )
        monitoring.set_local_events(3, double_and_add.__code__, monitoring.events.PY_START)
        fn(x)
        fn(x)
        monitoring.set_local_events(3, double_and_add.__code__, 0)
        fn(x)
    finally:
        monitoring.free_tool_id(3)
    assert seen == [double_and_add.__code__] * 2


def inlined_callee(a):
    return a * 3.0


def calls_inlined(a):
    return inlined_callee(a) + 1.0


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring is new in 3.12")
def test_monitoring_of_an_inlined_code_object_is_not_missed(x):
    fn = dyntrace.compile(calls_inlined)
    fn(x)
    monitoring = sys.monitoring
    seen = []
    monitoring.use_tool_id(3, "test")
    try:
        monitoring.register_callback(
            3, monitoring.events.PY_START, lambda code, offset: seen.append(code)
        )
        monitoring.set_local_events(3, inlined_callee.__code__, monitoring.events.PY_START)
        for _ in range(2):
            assert fn(x).tobytes() == calls_inlined(x).tobytes()
        monitoring.set_local_events(3, inlined_callee.__code__, 0)
        fn(x)
    finally:
        monitoring.free_tool_id(3)
    assert seen == [inlined_callee.__code__] * 4  # compiled and plain, twice


def test_reset_forgets(x):
    fn = dyntrace.compile(double_and_add)
    fn(x)
    assert len(fn.cache_entries()) == 1
    dyntrace.reset()
    assert fn.cache_entries() == []
    assert fn(x).tobytes() == double_and_add(x).tobytes()
    assert len(fn.cache_entries()) == 1


def test_two_regions_have_entries_of_their_own(x):
    one = dyntrace.compile(double_and_add)
    two = dyntrace.compile(double_and_add, backend="eager")
    one(x)
    assert len(one.cache_entries()) == 1
    assert two.cache_entries() == []


def test_recompile_limit_warns_once_and_runs_plainly(x):
    def fn(a, flag):
        return a * 2.0 if flag else a

    compiled = dyntrace.compile(fn)
    with dyntrace.config.patch(recompile_limit=2):
        compiled(x, "a")
        compiled(x, "b")
        with pytest.warns(RuntimeWarning, match="recompile limit"):
            compiled(x, "c")
        assert compiled(x, "d").tobytes() == (x * 2.0).tobytes()
        assert len(compiled.cache_entries()) == 2
