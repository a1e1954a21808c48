"""globals(), locals(), vars(), dir(), the __dict__ of classes and modules, mapping proxies"""

import collections
import math
import types

import dyntrace
import numpy as np
import pytest
from differential import check

A = np.linspace(0.5, 2.0, 4)
WHOLE = []
SCALE = 3.0
CHANGED = 1.0
TABLE = types.MappingProxyType({"a": 2.0, "b": [1, 2]})
ORDERED = types.MappingProxyType(collections.OrderedDict(z=1.0, y=2.0))


def whole(fn):
    WHOLE.append(fn)
    return fn


class Shape:
    """A shape."""

    sides = 4
    names = ("a", "b")

    def __init__(self, size):
        self.size = size

    def area(self):
        return self.size**2

    @staticmethod
    def make():
        return 1

    @property
    def half(self):
        return self.size / 2


class Slotted:
    __slots__ = ("x", "y")

    def __init__(self):
        self.x = 1.0


class Sub(Shape):
    count: int = 0
    extra: float


class Own:
    def __dir__(self):
        return ["zeta", "alpha"]


SHAPE = Shape(2.0)


@whole
def global_read(x):
    return x * globals()["SCALE"]


@whole
def global_asked_for(x):
    return x, "SCALE" in globals(), "nothing" in globals(), globals().get("nowhere", 5)


@whole
def global_missing(x):
    try:
        globals()["nowhere"]
    except KeyError as error:
        return x * 2, error.args


@whole
def functions_by_name(x):
    return [globals()[name](x) for name in ("helper_one", "helper_two")]


def helper_one(x):
    return x + 1


def helper_two(x):
    return globals()["helper_one"](x) * 2


@whole
def module_dict(x):
    return x * math.__dict__["pi"], "pi" in vars(math), vars(math).get("nothing")


@whole
def locals_read(x):
    y = 2.0
    return x * locals()["y"]


@whole
def locals_listed(x, z=3):
    b = 1
    a = x + b
    return list(locals()), a


@whole
def locals_in_a_format(x):
    first, second = 1, 2
    return x * 2, "{first}-{second}".format(**locals())


@whole
def locals_without_the_unbound(x):
    y = 1
    del y
    if x is None:
        z = 1  # noqa: F841
    return x * 2, sorted(locals())


@whole
def locals_with_cells(x):
    y = 2

    def inner():
        return y + k

    k = 5
    return x * inner(), sorted(k for k in locals() if k != "inner")


def asks_twice(a):
    first = locals()
    b = a + 1  # noqa: F841
    second = locals()
    return first is second, sorted(first), sorted(second)


@whole
def locals_of_a_callee_twice(x):
    return x * 2, asks_twice(1)


def changes_its_locals(a):
    locals()["a"] = 7
    return a


@whole
def locals_are_no_variables(x):
    return x * changes_its_locals(3)


def with_free(y):
    def inner(z):
        return sorted(locals().items()), y + z

    return inner


@whole
def locals_with_free_variables(x):
    return x + 1, with_free(2)(3)


@whole
def locals_of_a_class_body(x):
    class C:
        a = 1
        b = sorted(name for name in locals() if name[0] != "_")

    return x * C.a, C.b


@whole
def vars_of_the_frame(x):
    a = 1  # noqa: F841
    return x * 2, sorted(vars())


@whole
def class_dict(x):
    return x * Shape.__dict__["sides"], "area" in vars(Shape), "size" in Shape.__dict__


@whole
def class_dict_listed(x):
    return x + 1, [name for name in Shape.__dict__ if name[0] != "_"]


@whole
def class_dict_items(x):
    return x + 1, [k for k, v in vars(Shape).items() if callable(v)], len(vars(Sub))


@whole
def class_dict_is_raw(x):
    found = vars(Shape)
    return (
        x + 1,
        type(found["make"]).__name__,
        type(found["half"]).__name__,
        found["area"] is Shape.area,
        found["half"].fget(SHAPE),
    )


@whole
def class_dict_written(x):
    try:
        Shape.__dict__["sides"] = 3
    except TypeError as error:
        return x * 2, str(error)


@whole
def class_dict_deleted(x):
    try:
        del Shape.__dict__["sides"]
    except TypeError as error:
        return x * 2, str(error)


@whole
def class_dict_missing(x):
    try:
        return Shape.__dict__["area2"]
    except KeyError as error:
        return x * 2, error.args


@whole
def class_dict_of_a_new_class(x):
    class New:
        a = 1

        def m(self):
            return 2

    New.b = 3
    return x * 2, [name for name in vars(New) if name[0] != "_"], vars(New)["b"]


@whole
def class_dict_leaves(x):
    return x * 2, Shape.__dict__["sides"], type(vars(Shape)) is types.MappingProxyType


@whole
def annotations_of_a_class(x):
    return x * 2, Sub.__annotations__, list(Sub.__annotations__)


@whole
def dir_of_an_instance(x):
    return x * 2, [name for name in dir(SHAPE) if name[0] != "_"]


@whole
def dir_of_slots(x):
    return x * 2, [name for name in dir(Slotted()) if name[0] != "_"]


@whole
def dir_of_a_class(x):
    return x * 2, dir(Sub), dir(int)[:3], dir([])[-3:]


@whole
def dir_of_its_own(x):
    return x * 2, dir(Own())


@whole
def dir_of_the_frame(x):
    b, a = 1, 2  # noqa: F841
    return x * 2, dir()


@whole
def dir_by_hand(x):
    return x * 2, sorted(object.__dir__(SHAPE)) == dir(SHAPE), sorted(type.__dir__(Sub)) == dir(Sub)


@whole
def proxy_made(x):
    real = {"a": 2.0}
    shown = types.MappingProxyType(real)
    real["b"] = 3.0
    return x * shown["a"], len(shown), list(shown), shown.get("c"), "b" in shown


@whole
def proxy_existing(x):
    return x * TABLE["a"], sorted(TABLE), TABLE.get("z", 1), len(TABLE), list(TABLE.values())[0]


@whole
def proxy_of_an_ordered_dict(x):
    return x * ORDERED["z"], list(ORDERED.items())


@whole
def proxy_united(x):
    return x * 2, types.MappingProxyType({1: 2}) | {3: 4}, {3: 4} | types.MappingProxyType({1: 2})


@whole
def proxy_compared(x):
    return x * 2, types.MappingProxyType({1: 2}) == {1: 2}, types.MappingProxyType({}) != {}


@whole
def proxy_written(x):
    try:
        types.MappingProxyType({})["a"] = 1
    except TypeError as error:
        return x * 2, str(error)


@whole
def proxy_of_no_mapping(x):
    try:
        types.MappingProxyType([1])
    except TypeError as error:
        return x * 2, str(error)


@whole
def proxy_leaves(x):
    return x * 2, dict(types.MappingProxyType({"a": 1})), types.MappingProxyType({"a": 1}).copy()


@whole
def proxy_truth(x):
    return x * 2, bool(types.MappingProxyType({})), bool(TABLE), not vars(Shape)


@whole
def behind_a_handler(x):
    try:
        y = x * TABLE["a"]
    except KeyError:
        y = x
    return y, sorted(locals())


@pytest.mark.parametrize("fn", WHOLE, ids=lambda fn: fn.__name__)
def test_captured_whole(fn):
    check(fn, A)


def set_by_name(x):
    globals()["CHANGED"] = 2.5
    return x * CHANGED


def set_and_deleted(x):
    globals()["FRESH"] = 2.5
    y = x * FRESH  # noqa: F821
    del globals()["FRESH"]
    return y, "FRESH" in globals()


def set_in_a_module(x):
    vars(types)["dyntrace_test"] = 4.0
    return x * types.dyntrace_test


def reset():
    globals()["CHANGED"] = 1.0
    globals().pop("FRESH", None)
    vars(types).pop("dyntrace_test", None)


@pytest.mark.parametrize("fn", [set_by_name, set_and_deleted, set_in_a_module])
def test_names_are_set(fn):
    def state():
        return CHANGED, "FRESH" in globals(), hasattr(types, "dyntrace_test")

    try:
        check(fn, A, state=state, reset=reset)
    finally:
        reset()


def twice(x):
    first = locals()
    y = x * 2
    return first is locals(), list(first), y


def again_and_again(x):
    y = x
    for i in range(3):
        y = y + len(locals()) * i
    return y


def until_it_works(x):
    seen = []
    while True:
        try:
            seen.append(locals())
            y = x * seen[len(seen)]["x"]
        except IndexError:
            if len(seen) == 3:
                return seen[0] is seen[2], x * 2


def all_globals(x):
    return x * 2, len(globals()) > 5


def all_names_of_a_module(x):
    return x * 2, dir(math)[:3]


def class_changed_after_looking(x):
    names = vars(Own)
    Own.more = 1
    found = "more" in names
    del Own.more
    return x * 2, found


def class_changed_behind_a_proxy(x, names=None):
    found = "more" in names
    Own.more = 1
    found = found, "more" in names, Own.more, len(vars(Own)) == len(names)
    del Own.more
    return x * 2, found, "more" in names


def class_changed_before_its_proxy_is_seen(x, names=None):
    Own.more = 1
    found = "more" in names
    del Own.more
    return x * 2, found


def proxies_are_objects(x, names=None):
    first, second = vars(Own), vars(Own)
    return x * 2, first is second, first is names, list(first) == list(second) == list(names)


@pytest.mark.parametrize(
    "fn",
    [class_changed_behind_a_proxy, class_changed_before_its_proxy_is_seen, proxies_are_objects],
)
def test_a_proxy_of_a_class_that_changes(fn):
    names = vars(Own)
    plain = fn(A, names)
    compiled = dyntrace.compile(fn)
    for _ in range(3):
        found = compiled(A, names)
        assert np.array_equal(plain[0], found[0])
        assert plain[1:] == found[1:]


@pytest.mark.parametrize(
    "fn",
    [
        all_globals,
        all_names_of_a_module,
        class_changed_after_looking,
        twice,
        again_and_again,
        until_it_works,
    ],
)
def test_what_looks_at_all_names_is_exact(fn):
    plain = fn(A)
    compiled = dyntrace.compile(fn)
    for _ in range(3):
        found = compiled(A)
        assert len(plain) == len(found)
        for one, other in zip(plain, found, strict=True):
            assert np.array_equal(one, other)


def write_and_read_global(d, x):
    d["CHANGED"] = 2.5
    return x * CHANGED


def global_and_read(d, x):
    global CHANGED
    CHANGED = 2.5
    return x * d["CHANGED"]


def write_and_read_attribute(d, x):
    d["value"] = 2.5
    return x * MODULE.value


def attribute_and_read(d, x):
    MODULE.value = 2.5
    return x * d["value"]


@dyntrace.disable
def chosen():
    return 2.5


def global_across_a_break(d, x):
    names = globals()
    dyntrace.graph_break()
    names["CHANGED"] = 2.5
    return x * CHANGED


def global_in_an_expression(d, x):
    globals().__setitem__("CHANGED", chosen())
    return x * CHANGED


MODULE = types.ModuleType("module_of_a_test")
MADE = {"np": np}
exec("COUNT = 1.0\ndef times(x):\n    return x * COUNT\n", MADE)
TIMES = MADE["times"]


def write_and_call(d, x):
    d["COUNT"] = 2.5
    return TIMES(x)


def call_and_write(d, x):
    y = TIMES(x)
    d["COUNT"] = 2.5
    return y + TIMES(x)


@pytest.mark.parametrize(
    "fn, dicts",
    [
        (write_and_read_global, [{"CHANGED": 1.0}, globals(), {"CHANGED": 1.0}]),
        (global_and_read, [globals(), {"CHANGED": 1.0}]),
        (write_and_read_attribute, [{"value": 1.0}, MODULE.__dict__]),
        (attribute_and_read, [MODULE.__dict__, {"value": 1.0}]),
        (write_and_call, [{"COUNT": 1.0}, MADE]),
        (call_and_write, [MADE, {"COUNT": 1.0}]),
        (global_across_a_break, [None]),
        (global_in_an_expression, [None]),
    ],
)
def test_names_and_their_dict_are_one(fn, dicts):
    compiled = dyntrace.compile(fn)
    for d in dicts * 3:
        results = []
        for function in (fn, compiled):
            globals()["CHANGED"] = MODULE.value = MADE["COUNT"] = 1.0
            own = d if d is None or len(d) > 1 else dict(d)
            found = function(own, A).tolist()
            results.append(
                (found, CHANGED, MODULE.value, MADE["COUNT"], own and own.get("CHANGED"))
            )
        assert results[0] == results[1]
    globals()["CHANGED"] = 1.0
