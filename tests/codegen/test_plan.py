"""What is planned for a traced frame: its loads, its early loads before effects, identity of what it
builds, the replay, lines, and that the frame-less result and the rewritten code agree."""

from __future__ import annotations

import collections
import functools
import itertools
import re
import sys
import traceback
import types
import weakref
from pathlib import Path

import dyntrace
import pytest
from dyntrace._core import _testing

REPLAY = object()


class Box:
    fixed = [1]

    def __init__(self, **attributes):
        self.__dict__.update(attributes)

    def method(self):
        return self


class Asked(Box):
    def __getattribute__(self, name):
        return object.__getattribute__(self, name)


class Items(list):
    def __getitem__(self, index):
        return None

    def first(self):
        return super().__getitem__(0)


class Entries(dict):
    def __getitem__(self, key):
        return None

    def first(self):
        return super().__getitem__("a")


def first_of_subclass(x):
    return x.first()


def first_argument(error):
    return error.args[0]


SHARED = [10, 20]
NUMBER = 3


def plan(function, *slots, outputs=(), loads=None, callable=None):
    """The plan of one call with these values in the unified slots, with its code as a function."""
    calls = []

    def graph(*inputs):
        calls.append(inputs)
        return tuple(outputs)

    arguments = (function, slots, callable or graph, REPLAY)
    if loads is not None:
        arguments += (tuple(outputs), tuple(loads))
    made = _testing.codegen_plan(*arguments)
    assert "break" not in made, made
    made["function"] = types.FunctionType(
        made["code"],
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    made["function"].__kwdefaults__ = function.__kwdefaults__
    made["calls"] = calls
    return made


def stops(function, *slots):
    made = _testing.codegen_plan(function, slots, None, REPLAY)
    return made["break"], made["message"]


# ---- Sources ---------------------------------------------------------------------------------------


def local(x):
    return x


def captured(x):
    def inner():
        return x

    return x, inner.__name__


def a_global(x):
    return SHARED, x


def builtin(x):
    return len, x


def attribute(x):
    return x.value


def own_dict(x):
    return x.__dict__


def class_attribute(x):
    return x.fixed


def class_of(x):
    return type(x)


def item(x):
    return x[1]


def key(x):
    return x["k"]


def first_key(x):
    return [k for k in x]


def bound(x):
    return x.method


def of_inlined_global(x):
    return helper(x)


def helper(x):
    return x, SHARED


def default(x, y=SHARED):
    return inner_default(x)


def inner_default(x, y=SHARED):
    return y, x


def keyword_default(x):
    return inner_keyword(x)


def inner_keyword(x, *, y=SHARED):
    return y, x


def closing(value):
    def closure(x):
        return value, x

    return closure


def deep(x):
    return x.a.b[0]["k"]


CASES = [
    (attribute, (Box(value=[1]),)),
    (own_dict, (Box(value=[1]),)),
    (captured, ([1],)),
    (a_global, (1,)),
    (builtin, (1,)),
    (attribute, (Box(value=[1]),)),
    (attribute, (Asked(value=[1]),)),
    (first_of_subclass, (Items([[1]]),)),
    (first_of_subclass, (Entries(a=[1]),)),
    (first_argument, (ValueError([1]),)),
    (class_attribute, (Box(),)),
    (class_of, (Box(),)),
    (item, ([[1], [2]],)),
    (item, (([1], [2]),)),
    (key, ({"a": [1], "k": [2]},)),
    (first_key, ({"a": 1, (1, 2): 2},)),
    (of_inlined_global, (1.5,)),
    (default, (1.5,)),
    (keyword_default, (1.5,)),
    (closing([5]), (1.5, None)),
    (deep, (Box(a=Box(b=[{"k": [1]}])),)),
]


@pytest.mark.parametrize("function, slots", CASES, ids=lambda value: getattr(value, "__name__", ""))
def test_sources_give_the_same_objects(function, slots):
    made = plan(function, *slots)
    arguments = slots[: function.__code__.co_argcount]
    expected, result = function(*arguments), made["function"](*arguments)
    assert type(expected) is type(result)
    if isinstance(expected, (tuple, list)):
        assert len(expected) == len(result)
        pairs = list(zip(expected, result))
    else:
        pairs = [(expected, result)]
    assert all(a is b or (a == b and isinstance(a, (str, tuple))) for a, b in pairs), (
        expected,
        result,
    )
    assert not made["calls"]


def test_a_bound_method_is_made_again():
    box = Box()
    result = plan(bound, box)["function"](box)
    assert result == box.method and result.__self__ is box


# ---- Results ---------------------------------------------------------------------------------------


def returns_argument(x):
    return x


def returns_constant(x):
    return None


def returns_containers(x, y):
    inner = [x, y]
    return inner, (inner, "text"), {"k": inner, 2: (x,)}, {1, "s"}, []


def computes(n):
    return n * 2 + 1, n, n * 2 + 1, n - 5


RESULTS = [
    (returns_argument, ([],), ()),
    (returns_constant, (1,), ()),
    (returns_containers, ([1], [2]), ()),
    (computes, (7,), ([15], [16], [2])),
]


@pytest.mark.parametrize(
    "function, slots, outputs", RESULTS, ids=lambda v: getattr(v, "__name__", "")
)
def test_both_consumers_agree(function, slots, outputs):
    first = plan(function, *slots)
    by_text = {f"L['{name}']": value for name, value in zip(function.__code__.co_varnames, slots)}
    loads = [by_text[text] for text in first["loads"]]
    made = plan(function, *slots, outputs=outputs, loads=loads)
    assert made["frameless"]
    framed = made["function"](*slots)
    assert made["answer"] == framed
    if not outputs:
        assert framed == function(*slots)


def flatten(value):
    yield value
    if isinstance(value, (list, tuple)):
        for part in value:
            yield from flatten(part)


@pytest.mark.parametrize("frameless", [False, True])
def test_one_object_stays_one(frameless):
    def function(x):
        items = [x]
        pair = (items, items)
        return items, pair, pair, {"k": items}

    x = object()
    made = plan(function, x, outputs=(), loads=[x])
    items, one, two, mapping = made["answer"] if frameless else made["function"](x)
    assert one is two and one[0] is one[1] is items is mapping["k"] and items[0] is x


def twice(n):
    total = n * 2 + 1
    return total, n, total


def test_one_number_is_one_output():
    token = [15]
    made = plan(twice, 7, outputs=(token,), loads=[7])
    for result in (made["answer"], made["function"](7)):
        assert result[0] is token and result[2] is token and result[1] == 7
    assert made["calls"] == [(7,)]


def test_equal_numbers_are_objects_of_their_own():
    one, two = [15], [15]
    made = plan(computes, 7, outputs=(one, two, [2]), loads=[7])
    for result in (made["answer"], made["function"](7)):
        assert result[0] is one and result[2] is two and result[1] == 7
    assert made["calls"] == [(7,)]


def test_another_number_of_outputs_is_refused():
    with pytest.raises(ValueError, match="3 outputs and 1 loads"):
        plan(computes, 7, outputs=(15, 15), loads=[7])


def test_results_are_not_leaked():
    token = object()
    before = sys.getrefcount(token)
    made = plan(computes, 7, outputs=(token, token, token), loads=[7])
    del made
    assert sys.getrefcount(token) <= before + 1


def test_an_argument_needs_no_graph():
    made = plan(local, 3)
    assert made["loads"] == ["L['x']"] and made["inputs"] == [] and made["ncalls"] == 0
    assert len(made["graph"].inputs) == 0


def test_a_number_given_back_is_no_graph_input():
    made = plan(lambda n: (n, n + 1), 4, outputs=(5,), loads=[4])
    assert made["answer"] == (4, 5)


def test_a_size_is_computed_by_the_graph():
    np = pytest.importorskip("numpy")
    made = plan(lambda x: x.shape[0], np.ones(5), outputs=(5,), loads=[])
    assert made["inputs"] == ["L['x']"] and [str(o) for o in made["graph"].outputs] == ["s0"]
    assert made["answer"] == 5


# ---- Breaks ----------------------------------------------------------------------------------------


def test_a_container_in_itself():
    def function(x):
        items = [x]
        items.append(items)
        return items

    break_id, message = stops(function, 1)
    assert break_id == "reconstruct" and "itself" in message


# ---- Effects ---------------------------------------------------------------------------------------


def swap(box):
    old = box.value
    box.value = box.other
    box.other = old
    return old


def test_values_are_read_before_the_first_effect():
    a, b = [3], [4]
    made = plan(swap, Box(value=a, other=b))
    assert made["frameless"]  # effects need no frame either
    box = Box(value=a, other=b)
    assert made["function"](box) is a
    assert box.value is b and box.other is a


class Refusing:
    def __setattr__(self, name, value):
        raise RuntimeError(name)


def mark(box):
    box.seen = 1
    return box


def test_a_failing_effect_shows_the_users_function_and_line():
    with pytest.raises(RuntimeError) as caught:
        plan(mark, Box(value=1), outputs=(), loads=[Refusing()])
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert [f.lineno for f in frames if f.name == "mark"] == [mark.__code__.co_firstlineno + 2]


def make_function(box, x):
    def inner(y=x, *, k: int = x) -> str:
        return y, k, box

    inner.tag = [x]
    box.made = inner
    return inner


def test_a_function_is_made_without_a_frame():
    box, x = Box(), [1]
    made = plan(make_function, box, x, outputs=(), loads=[x, box])
    assert made["frameless"]
    inner = made["answer"]
    assert inner is box.made and inner() == (x, x, box) and inner.tag == [x]
    assert inner.__defaults__ == (x,) and inner.__kwdefaults__ == {"k": x}
    assert inner.__annotations__ == {"k": "int", "return": "str"}
    assert inner.__qualname__ == "make_function.<locals>.inner"
    assert inner.__module__ == __name__ and inner.__globals__ is globals()


def count(n):
    global NUMBER
    old = NUMBER
    NUMBER = n
    return old, SHARED


def test_globals_are_read_before_they_are_written():
    global NUMBER
    made = plan(count, 4)
    NUMBER = 3
    assert made["function"](9) == (3, SHARED)
    assert NUMBER == 9
    NUMBER = 3


def write_captured(x):
    def inner():
        return x

    old = x
    x = 5
    return old, inner


def test_a_captured_argument_is_read_before_it_is_written():
    made = plan(write_captured, 1)
    old, inner = made["function"](2)
    assert old == 2 and inner() == 5


def append(items, n):
    items.append(n * 2)
    items.append(items)
    return 2


def test_effects_come_after_the_graph():
    made = plan(append, [], 4, outputs=(8,))
    items = []
    assert made["function"](items, 4) == 2
    assert items[0] == 8 and items[1] is items
    assert made["calls"] == [(4,)]


def test_replay_comes_before_any_effect():
    made = plan(append, [], 4, callable=lambda *inputs: REPLAY)
    items = []
    assert made["function"](items, 4) is REPLAY
    assert items == []


# ---- Code objects ----------------------------------------------------------------------------------


def everything(a, /, b, *args, c=1, **kwargs):
    """Its doc."""
    return a


def test_the_code_is_the_users_outside():
    made = plan(everything, 1, 2, 3, (), {})
    new, old = made["code"], everything.__code__
    for name in (
        "co_name co_filename co_firstlineno co_argcount co_posonlyargcount co_kwonlyargcount co_flags "
        "co_freevars co_cellvars"
    ).split():
        assert getattr(new, name) == getattr(old, name), name
    count = old.co_argcount + old.co_kwonlyargcount + 2
    assert new.co_varnames[:count] == old.co_varnames[:count]
    assert made["function"].__doc__ == everything.__doc__
    assert made["function"](7, 8, 9, c=2, d=3) == 7
    if sys.version_info >= (3, 11):
        assert new.co_qualname == old.co_qualname


def lines(n):
    a = 1
    b = (
        n * 2,
        a,
    )
    return b


def test_an_error_in_the_graph_shows_a_line_of_the_user():
    def callable(*inputs):
        raise RuntimeError("in the backend")

    made = plan(lines, 4, callable=callable)
    with pytest.raises(RuntimeError) as error:
        made["function"](4)
    frames = traceback.extract_tb(error.value.__traceback__)
    (frame,) = [f for f in frames if f.name == "lines"]
    first = lines.__code__.co_firstlineno
    assert first <= frame.lineno <= first + 7 and frame.filename == __file__


def test_deep_stacks_and_many_outputs():
    names = [f"n{i}" for i in range(40)]
    source = (
        f"def many({', '.join(names)}):\n    return ["
        + ", ".join(f"({n} + 1, {n})" for n in names)
        + "]\n"
    )
    namespace: dict = {}
    exec(source, namespace)
    values = list(range(1000, 1040))
    outputs = [v + 1 for v in values]
    made = plan(namespace["many"], *values, outputs=outputs, loads=values)
    expected = [(v + 1, v) for v in values]
    assert made["answer"] == expected == made["function"](*values)


def test_more_than_255_of_everything():
    parts = ", ".join(f"x + {i}" for i in range(1, 400))
    namespace: dict = {}
    exec(f"def wide(x):\n    return ({parts})\n", namespace)
    outputs = list(range(399))
    made = plan(namespace["wide"], 5, outputs=outputs, loads=[])
    assert made["answer"] == tuple(outputs) == made["function"](5)


def test_what_a_cache_keeps_is_asked_for_again():
    numpy = pytest.importorskip("numpy")

    @functools.lru_cache(maxsize=None)
    def kept(n):
        return [n]

    @dyntrace.compile(fullgraph=True)
    def fn(x):
        return x + 1, kept(3)

    for _ in range(3):
        assert fn(numpy.ones(2))[1] is kept(3)


def test_what_existing_iterators_hold_is_asked_for_again():
    numpy = pytest.importorskip("numpy")

    @dyntrace.compile(fullgraph=True)
    def fn(x, numbers, values):
        return x + 1, next(numbers), next(values)

    for start in (3, 3, 8):
        held = [object()]
        found = fn(numpy.ones(2), itertools.count(start), iter(held))
        assert found[1] == start and found[2] is held[0]


def test_what_weak_references_and_proxies_show_is_asked_for_again():
    numpy = pytest.importorskip("numpy")

    class Held:
        pass

    @dyntrace.compile(fullgraph=True)
    def fn(x, reference, proxy):
        return x + 1, reference(), proxy["a"]

    for _ in range(3):
        held, value = Held(), object()
        found = fn(numpy.ones(2), weakref.ref(held), types.MappingProxyType({"a": value}))
        assert found[1] is held and found[2] is value


def test_what_lists_of_any_length_hold_is_asked_for_again():
    numpy = pytest.importorskip("numpy")

    @dyntrace.compile(fullgraph=True)
    def fn(x, items, queue):
        items.append(0)
        queue.append(0)
        return x + 1, items[-2], len(items), queue[-2], len(queue)

    held = [object() for _ in range(5)]
    for size in (3, 4, 1, 5):
        found = fn(numpy.ones(2), held[:size], collections.deque(held[:size]))
        assert found[1:] == (held[size - 1], size + 1) * 2


def test_a_list_of_numbers_is_read_as_an_array_again():
    numpy = pytest.importorskip("numpy")

    @dyntrace.compile(fullgraph=True)
    def fn(x, items):
        return x + 1, numpy.array(items), numpy.mean(items)

    for size in (3, 4, 1, 5):
        items = [i / 2 for i in range(size)]
        found = fn(numpy.ones(2), items)
        assert found[1].tolist() == items and found[2] == numpy.mean(items)


def test_what_is_picked_by_a_number_is_asked_for_again():
    numpy = pytest.importorskip("numpy")

    @dyntrace.compile(fullgraph=True)
    def fn(x, items, pair, i):
        return x + 1, items[i], items[i - 2], pair[i - 3], items[(i + 1) % 2], items[min(2 * i, 1)]

    held = [object() for _ in range(5)]
    for i in (2, 3, 1, 4):
        found = fn(numpy.ones(2), held[: i + 1], tuple(held[:3]), i)
        assert found[1:] == (held[i], held[: i + 1][i - 2], held[:3][i - 3], held[(i + 1) % 2], held[1])


def test_what_is_asked_for_by_a_key_is_asked_for_again():
    numpy = pytest.importorskip("numpy")

    @dyntrace.compile(fullgraph=True)
    def fn(x, table, i, j):
        return x + 1, table[i], table[i, j + 1]

    table = {i: object() for i in range(5)} | {(i, i): object() for i in range(5)}
    for i in (2, 3, 1, 4):
        found = fn(numpy.ones(2), table, i, i - 1)
        assert found[1:] == (table[i], table[i, i])


def test_every_kind_of_source_is_known_here():
    """A new row in sources.def needs a case above (or a reason to stand in this list)."""
    path = Path(__file__).parents[2] / "src" / "variables" / "sources.def"
    kinds = set(re.findall(r"^SOURCE\((\w+)", path.read_text(), re.MULTILINE))
    tested = {
        "LOCAL": local, "LOCAL_DEREF": captured, "LOCAL_CELL": write_captured, "GLOBAL": a_global,
        "BUILTIN": builtin, "ATTR": attribute, "OWN_ATTR": attribute, "MEMBER": first_argument,
        "BASE_INDEX": first_of_subclass, "BASE_ITEM": first_of_subclass,
        "ATTR_DICT": own_dict, "TYPE_ATTR": class_attribute, "TYPE": class_of, "INDEX": item,
        "ITEM": key, "DICT_KEY": first_key, "FUNC_GLOBAL": of_inlined_global, "FUNC_DEFAULT": default,
        "FUNC_PART": keyword_default, "FUNC_CLOSURE": closing, "CELL_CONTENTS": closing,
        "METHOD_FUNC": bound, "METHOD_SELF": bound, "PARTIAL_FUNC": bound, "OBJECT": builtin,
        "ARRAY_DIM": test_a_size_is_computed_by_the_graph,
        "CACHED": test_what_a_cache_keeps_is_asked_for_again,
        "ITERATED": test_what_existing_iterators_hold_is_asked_for_again,
        "REFERENT": test_what_weak_references_and_proxies_show_is_asked_for_again,
        "LIST_ITEM": test_what_lists_of_any_length_hold_is_asked_for_again,
        "DEQUE_ITEM": test_what_lists_of_any_length_hold_is_asked_for_again,
        "DEQUE_SIZE": test_what_lists_of_any_length_hold_is_asked_for_again,
        "LIST_SIZE": test_what_lists_of_any_length_hold_is_asked_for_again,
        "LIST_ARRAY": test_a_list_of_numbers_is_read_as_an_array_again,
        "PICKED": test_what_is_picked_by_a_number_is_asked_for_again,
        "COMPUTED": test_what_is_picked_by_a_number_is_asked_for_again,
        "PAIR": test_what_is_asked_for_by_a_key_is_asked_for_again,
        "COUNTED": test_what_existing_iterators_hold_is_asked_for_again,
    }  # fmt: skip
    # The function itself and synthetic sources can't be loaded: they break. Code, and that nothing is
    # handled, is only guarded.
    assert kinds - set(tested) == {"FUNCTION", "SYNTHETIC", "FUNC_CODE", "HANDLED"}
