"""exec(), eval() and compile() of text that is known, and what makes classes by them"""

import dataclasses
import inspect

import dyntrace
import numpy as np
import pytest
from differential import FORCED, check

A = np.linspace(0.5, 2.0, 4)
K = 3.0
WHOLE = []


def whole(fn):
    WHOLE.append(fn)
    return fn


@whole
def an_expression(x):
    return eval("x * 2 + K")


@whole
def in_a_dict(x):
    return eval("a * x", {"a": 3.0, "x": x})


@whole
def statements(x):
    names = {}
    exec("y = 2.0\nz = y * K", globals(), names)
    return x * names["y"], names


@whole
def statements_in_a_dict(x):
    names = {}
    exec("y = 2.0\nz = y + 1", names)
    return x * names["z"], sorted(names), names["__builtins__"] is not None


@whole
def a_function(x):
    names = {}
    exec("def f(a):\n    return a * K", globals(), names)
    return names["f"](x), names["f"].__name__, names["f"].__qualname__


@whole
def compiled_first(x):
    code = compile("x + K", "<formula>", "eval")
    return eval(code)


@whole
def in_a_loop(x):
    total = x
    for text in ("total + 1", "total * 2", "  total - K"):
        total = step(text, total)
    return total


def step(text, total):
    return eval(text)


@whole
def a_missing_name(x):
    try:
        eval("nowhere + x")
    except NameError as error:
        return x * 2, str(error)


@whole
def a_comprehension(x):
    return x * 2, eval("[i * K for i in range(3)]")


@whole
def nothing_changes(x):
    y = 1.0
    change_by_exec(y)
    return x * y


def change_by_exec(y):
    exec("y = 5.0")
    return y


@whole
def a_dataclass(x):
    @dataclasses.dataclass
    class Point:
        """A point."""

        a: int
        b: float = 2.0

    p = Point(3)
    return x * p.a + p.b, p == Point(3), p == Point(4), p != Point(3, 2.0)


@whole
def a_frozen_dataclass(x):
    @dataclasses.dataclass(frozen=True, order=True)
    class Point:
        """A point."""

        a: int
        b: float = 2.0

    p = Point(3)
    try:
        p.a = 2
    except dataclasses.FrozenInstanceError as error:
        text = str(error)
    return x * p.a, text, Point(1) < p, sorted([p, Point(1)])[0].a, hash(p) == hash(Point(3))


@whole
def a_dataclass_with_a_docstring(x):
    @dataclasses.dataclass
    class Point:
        """A point."""

        a: int
        items: list = dataclasses.field(default_factory=list, compare=False)
        total: float = dataclasses.field(init=False, default=0.0)

        def __post_init__(self):
            self.items.append(self.a)

    p = Point(5)
    return (
        x * p.a,
        p.items,
        dataclasses.asdict(p),
        dataclasses.replace(p, a=4).a,
        [f.name for f in dataclasses.fields(Point)],
    )


@whole
def a_derived_dataclass(x):
    @dataclasses.dataclass
    class Base:
        """Base."""

        a: int = 1

    @dataclasses.dataclass
    class Derived(Base):
        """Derived."""

        b: int = 3

    return x * Derived().b, Derived(2).a, dataclasses.astuple(Derived())


@whole
def a_dataclass_that_refuses(x):
    try:

        @dataclasses.dataclass
        class Wrong:
            """Wrong."""

            a: int = 1
            b: float

    except TypeError as error:
        return x * 2, str(error)


@pytest.mark.parametrize("fn", WHOLE, ids=lambda fn: fn.__name__)
def test_captured_whole(fn):
    check(fn, A)


def a_syntax_error(x):
    try:
        eval("1 +")
    except SyntaxError as error:
        return x * 2, error.lineno


def a_warning(x):
    return x * 2, eval('1 is 1 and "a"')


def with_builtins_of_its_own(x):
    return x * eval("len([1, 2])", {"__builtins__": {"len": lambda _: 5}})


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@pytest.mark.parametrize("fn", [a_syntax_error, a_warning, with_builtins_of_its_own])
def test_breaks(fn):
    check(fn, A, breaks="unknown-callable")


def test_a_warning_is_shown_as_plainly():
    compiled = dyntrace.compile(a_warning)
    for _ in range(2):
        with pytest.warns(SyntaxWarning):
            compiled(A)


@pytest.mark.skipif(bool(FORCED), reason="it is about what is captured")
def test_another_text_is_another_entry():
    def fn(x, text):
        return eval(text)

    compiled = dyntrace.compile(fn, fullgraph=True)
    assert np.array_equal(compiled(A, "x + 1"), A + 1)
    assert np.array_equal(compiled(A, "x * K"), A * K)


def helper(a, b=2, *c, d, **e):
    pass


class Made:
    def __init__(self, a, b=1):
        pass

    def method(self, q):
        pass


def a_signature(x):
    return x * len(inspect.signature(helper).parameters), str(inspect.signature(helper))


def a_bound_signature(x):
    bound = inspect.signature(helper).bind(1, d=3)
    bound.apply_defaults()
    return x * 2, bound.arguments, bound.args, bound.kwargs


def a_signature_that_does_not_fit(x):
    try:
        inspect.signature(helper).bind()
    except TypeError as error:
        return x * 2, str(error)


def of_a_new_function(x):
    def inner(a, /, b: int = 3) -> str:
        pass

    found = inspect.signature(inner)
    return x * 2, [p.kind.name for p in found.parameters.values()], found.return_annotation


def of_classes(x):
    return x * 2, str(inspect.signature(Made)), str(inspect.signature(Made(1).method))


def the_text_of_a_dataclass(x):
    @dataclasses.dataclass
    class Point:
        a: int

    return x * 2, repr(Point(2))[-10:]


def a_dataclass_with_slots(x):
    @dataclasses.dataclass(slots=True)
    class Point:
        a: int

    return x * Point(2).a


@pytest.mark.parametrize(
    "fn",
    [
        a_signature,
        a_bound_signature,
        a_signature_that_does_not_fit,
        of_a_new_function,
        of_classes,
        a_dataclass_with_slots,
        the_text_of_a_dataclass,
    ],
)
def test_as_plainly(fn):
    plain = fn(A)
    compiled = dyntrace.compile(fn)
    for _ in range(3):
        found = compiled(A)
        assert repr(found) == repr(plain)
