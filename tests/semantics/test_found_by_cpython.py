"""What CPython's own tests have found when every frame was traced, in a few lines each."""

from __future__ import annotations

import _random
import codecs
import functools
import random
import sys
import weakref
from collections import deque
from types import GeneratorType, ModuleType

import dyntrace
import pytest
from differential import FORCED, Compiled, Outcome, check, compare


def alike(fn, *args):
    """The same plainly and compiled, in pieces or whole."""
    plain = Outcome(fn, args, {}, None)
    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        compiled = Compiled(fn)
        for _ in range(3):
            compare(plain, Outcome(compiled, args, {}, None))
    return compiled


# ---- Modules ------------------------------------------------------------------------------------


def module_without_init():
    module = ModuleType.__new__(ModuleType)
    before = str(module)[:7], hasattr(module, "__name__"), hasattr(module, "foo"), module.__dict__
    module.foo = 1
    return before[:3], not before[3] or before[3] == {"foo": 1}, module.__dict__ == {"foo": 1}


def module_without_name(module):
    return hasattr(module, "foo")


def text_of_missing(module):
    try:
        return module.foo
    except AttributeError as error:
        return str(error)


def nameless():
    module = ModuleType("m")
    del module.__dict__["__name__"]
    return module


def misnamed():
    module = ModuleType("m")
    module.__dict__["__name__"] = 3
    return module


def test_module_without_init():
    alike(module_without_init)


@pytest.mark.parametrize("make", [nameless, misnamed, lambda: ModuleType("m")])
@pytest.mark.parametrize("fn", [module_without_name, text_of_missing])
def test_odd_module(fn, make):
    alike(fn, make())


# ---- Members of the builtin part of an instance -------------------------------------------------


class Complex(complex):
    def __repr__(self):
        return f"{self.imag:.17g}j{self.real:+.17g}"


class Float(float):
    @property
    def imag(self):
        return "mine"


class Int(int):
    pass


def parts(x):
    return x.real, x.imag, type(x.real), type(x).__name__, x.__class__.__name__


@pytest.mark.parametrize("x", [Complex(-3, 4), Float(2.5), Int(3)])
def test_members(x):
    alike(parts, x)


def test_members_in_a_repr():
    check(lambda: repr(Complex(-3, 4)))
    alike(repr, Complex(1, 2))


# ---- Exceptions ---------------------------------------------------------------------------------


def ring_of_one():
    def raises():
        try:
            raise ValueError(1)
        except ValueError as error:
            error.__context__ = error
            raise TypeError(2)

    try:
        raises()
    except Exception as error:
        return error.__context__.__context__ is error.__context__


def ring_of_two():
    try:
        try:
            raise ValueError(1)
        except ValueError as error:
            other = KeyError(2)
            error.__context__ = other
            other.__context__ = error
            raise TypeError(3)
    except TypeError as last:
        return type(last.__context__), type(last.__context__.__context__)


def ring_behind_a_tail():
    try:
        try:
            raise ValueError(1)
        except ValueError as error:
            a, b, c = KeyError(1), KeyError(2), KeyError(3)
            error.__context__ = a
            a.__context__, b.__context__, c.__context__ = b, c, a
            raise TypeError(3)
    except TypeError as last:
        return last.__context__.__context__.args


@pytest.mark.parametrize("fn", [ring_of_one, ring_of_two, ring_behind_a_tail])
def test_rings_of_contexts(fn):
    alike(fn)


# ---- Classes that are being made ----------------------------------------------------------------


def class_with_an_mro_of_its_own():
    class Meta(type):
        asked = 0

        def mro(cls):
            Meta.asked += 1
            if Meta.asked > 1:
                raise RuntimeError("no more")
            return type.mro(cls)

    class A:
        pass

    class B(A, metaclass=Meta):
        pass

    try:
        B.__bases__ = (A,)
    except RuntimeError as error:
        return str(error), [c.__name__ for c in B.__mro__]


def test_mro():
    alike(class_with_an_mro_of_its_own)


# ---- Frames that are looked at ------------------------------------------------------------------


def frame_above():
    return sys._getframe(1)


def locals_above():
    return dict(sys._getframe(1).f_locals)


def constants_in_slots(k):
    a = 1
    b = "two"
    seen = locals_above()
    a = 3
    again = locals_above()
    del a
    return seen, again["a"], sorted(locals_above()), k


def overwritten_in_a_loop(n):
    seen = []
    for i in range(n):
        half = "even" if i % 2 == 0 else "odd"
        seen.append(locals_above()["half"])
    return seen


def test_locals():
    alike(constants_in_slots, 4)
    alike(overwritten_in_a_loop, 4)


def one_return(box):
    box.append(frame_above())
    y = len(box)
    return y


def several_returns(box):
    box.append(frame_above())
    y = len(box)
    if y > 1:
        return y
    box.append(y)
    return -y


def implicit_returns(box):
    box.append(frame_above())
    if len(box) > 1:
        pass
    else:
        return None


@pytest.mark.skipif(bool(FORCED), reason="breaks lie elsewhere")
@pytest.mark.parametrize("fn", [one_return, several_returns, implicit_returns])
def test_line_of_a_finished_frame(fn):
    def line(fn, before):
        box = list(before)
        fn(box)
        return box[len(before)].f_lineno

    starts = [[], [0], [], [0], [0], []]
    plain = [line(fn, before) for before in starts]
    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        compiled = Compiled(fn)
        assert [line(compiled, before) for before in starts] == plain


# ---- Large dicts --------------------------------------------------------------------------------


def copied(d):
    e = d.copy()
    f = dict(d)
    f.update(d)
    return len(e), len(f), list(e)[-1]


@pytest.mark.parametrize("size", [10, 1000])
def test_copied_dicts(size):
    check(copied, dict.fromkeys(range(size), 1))


def test_a_large_dict_takes_no_time():
    # Copied by comparing each key with each other one, this takes minutes.
    large = dict.fromkeys(range(200_000))
    with dyntrace.config.patch(everything=True, strict=True):
        compiled = Compiled(copied)
        assert compiled(large) == (200_000, 200_000, 199_999)
    if not FORCED:
        assert compiled.breaks


# ---- The cell __class__ -------------------------------------------------------------------------


def lost_cell():
    class Meta(type):
        def __new__(cls, name, bases, namespace):
            namespace.pop("__classcell__", None)
            return super().__new__(cls, name, bases, namespace)

    class Without(metaclass=Meta):
        pass

    try:

        class With(metaclass=Meta):
            def f(self):
                return __class__

    except RuntimeError as error:
        return str(error)[:23], Without.__name__


def overwritten_cell(cell):
    class Meta(type):
        def __new__(cls, name, bases, namespace, cell):
            namespace["__classcell__"] = cell
            return super().__new__(cls, name, bases, namespace)

    try:

        class A(metaclass=Meta, cell=cell):
            pass

    except TypeError as error:
        return str(error)


def cell_of_another():
    class Meta(type):
        def __new__(cls, name, bases, namespace):
            cls = super().__new__(cls, name, bases, namespace)
            type("B", (), namespace)
            return cls

    try:

        class A(metaclass=Meta):
            def f(self):
                return __class__

    except TypeError as error:
        return str(error)[:13]


def cell_written_by_the_body():
    try:

        class A:
            __classcell__ = 3

    except TypeError as error:
        return str(error)


def handed_on():
    class Meta(type):
        def __new__(cls, name, bases, namespace):
            return super().__new__(cls, name, bases, namespace)

    class A(metaclass=Meta):
        def f(self):
            return __class__.__name__, super().__hash__ is not None

    return A().f()


def two_classes(meta, name, bases, namespace):
    cls = type.__new__(meta, name, bases, namespace)
    type("B", (), namespace)
    return cls


def test_a_second_class_of_the_namespace():
    def run(make):
        class Meta(type):
            def __new__(cls, name, bases, namespace):
                return make(cls, name, bases, namespace)

        with pytest.raises(TypeError, match="__class__ set to"):

            class A(metaclass=Meta):
                def f(self):
                    return __class__

    run(two_classes)
    with dyntrace.config.patch(everything=True, strict=True):
        for _ in range(2):
            run(Compiled(two_classes))


@pytest.mark.parametrize("cell", [None, 0, "", (1,)])
def test_overwritten_cell(cell):
    alike(overwritten_cell, cell)


@pytest.mark.parametrize("fn", [lost_cell, cell_of_another, cell_written_by_the_body, handed_on])
def test_cell(fn):
    alike(fn)


# ---- Deques -------------------------------------------------------------------------------------


def assigned_under_an_iterator(d, it):
    for at in range(len(d)):
        d[at] = at * 1.5
    d[0] += 1
    return list(it)


def assigned_and_appended(d, it):
    d[0] = "new"
    d.append(3)
    try:
        return list(it)
    except RuntimeError as error:
        return str(error), list(d)


def type_of_an_iterator(d):
    return type(reversed(d)).__name__, type(iter(d)).__name__, reversed(d).__class__.__name__


def kind_of_an_iterator(d):
    return list(type(reversed(d))(deque(d))), isinstance(reversed(d), GeneratorType)


@pytest.mark.parametrize("fn", [assigned_under_an_iterator, assigned_and_appended])
@pytest.mark.parametrize("items", [[1], [1, 2, 3], list(range(40))])
def test_iterators_of_deques(fn, items):
    def make():
        d = deque(items)
        return d, iter(d)

    plain = Outcome(fn, make(), {}, None)
    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        compiled = Compiled(fn)
        for _ in range(3):
            compare(plain, Outcome(compiled, make(), {}, None))


@pytest.mark.parametrize("fn", [type_of_an_iterator, kind_of_an_iterator])
def test_types_of_iterators(fn):
    alike(fn, deque([1, 2]))


# ---- Coroutines that remember who has made them -------------------------------------------------


async def nothing():
    return 1


def makes_one():
    return nothing()


def origin_of_one():
    coroutine = makes_one()
    try:
        return coroutine.cr_origin and [function for _, _, function in coroutine.cr_origin]
    finally:
        coroutine.close()


def send_to_one():
    try:
        makes_one().send(None)
    except StopIteration as stop:
        return stop.value, sys.get_coroutine_origin_tracking_depth()


@pytest.mark.skipif(bool(FORCED), reason="breaks lie elsewhere")
def test_origins_of_coroutines():
    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        origin, send = Compiled(origin_of_one), Compiled(send_to_one)
        for depth in (0, 2, 0, 1):
            sys.set_coroutine_origin_tracking_depth(depth)
            try:
                assert send() == (1, depth)
                assert origin() == (None if depth == 0 else ["makes_one", "origin_of_one"][:depth])
            finally:
                sys.set_coroutine_origin_tracking_depth(0)


# ---- Descriptors that can only be assigned ------------------------------------------------------


class OnlySet:
    def __init__(self, name):
        self.name = name

    def __set__(self, instance, value):
        instance.__dict__[self.name] = value


class WithOnlySet:
    a = OnlySet("a")


def assigned_then_read(x):
    before = x.a is WithOnlySet.__dict__["a"]
    x.a = 42
    return before, x.a, vars(x)


def made_then_read():
    x = WithOnlySet()
    x.a = 1
    x.a += 1
    return x.a, type(x).a.name


def class_of_its_own():
    only = OnlySet("b")

    class X:
        b = only

    x = X()
    before = x.b is only
    x.b = 3
    return before, x.b


@pytest.mark.parametrize("fn", [made_then_read, class_of_its_own])
def test_only_set(fn):
    alike(fn)


def test_only_set_of_an_existing_one():
    plain = Outcome(assigned_then_read, (WithOnlySet(),), {}, None)
    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        compiled = Compiled(assigned_then_read)
        for _ in range(3):
            compare(plain, Outcome(compiled, (WithOnlySet(),), {}, None))


# ---- Subclasses that a base knows ---------------------------------------------------------------


def children():
    class Parent:
        pass

    before = Parent.__subclasses__()

    class Child(Parent):
        pass

    return before, [c.__name__ for c in Parent.__subclasses__()], Parent.__subclasses__() == [Child]


def children_of(parent):
    class Child(parent):
        size = 3

    class GrandChild(Child):
        pass

    count = len([c for c in parent.__subclasses__() if c is Child])
    return count, [c.__name__ for c in Child.__subclasses__()], GrandChild.size


def order_that_contradicts():
    class A:
        pass

    class B:
        pass

    class C(A, B):
        pass

    class D(A, B):
        pass

    class E(C, D):
        pass

    try:
        C.__bases__ = (B, A)
    except TypeError as error:
        return str(error)[:20]


class Registry:
    pass


def test_children():
    alike(children)
    alike(order_that_contradicts)
    alike(children_of, Registry)


def test_no_class_that_nobody_made():
    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        class Base:
            pass

        for _ in range(3):
            kept = Compiled(children_of)
            assert kept(Base)[0] == 1
    made = [c for c in Base.__subclasses__() if c.__name__ == "Child"]
    assert len(made) <= 3


# ---- Methods that C binds to a class ------------------------------------------------------------


class Meta(type):
    pass


class OfMeta(metaclass=Meta):
    pass


def hook_of(cls):
    hook = cls.__init_subclass__
    return hook.__self__ is cls, hook.__name__, hook == cls.__init_subclass__, repr(hook)


def hooks_differ():
    made = type("Made", (), {})
    return (
        OfMeta.__init_subclass__ == object.__init_subclass__,
        made.__init_subclass__.__self__ is made,
        {OfMeta.__init_subclass__: 1}[OfMeta.__init_subclass__],
        OfMeta.__init_subclass__(),
    )


def hook_refuses(cls):
    try:
        return cls.__init_subclass__(1)
    except TypeError as error:
        return str(error)


def hook_above():
    class Parent:
        def __init_subclass__(cls, **options):
            super().__init_subclass__(**options)
            cls.seen = super().__init_subclass__.__self__ is cls

    class Child(Parent):
        pass

    return Child.seen


class Words(list):
    pass


def said_by_bound_method():
    bound = Words([1]).append
    names = "__func__", "__objclass__", "__qualname__"
    return [getattr(bound, name, None) for name in names], bound.__name__, bound.__self__


def test_hook_of_object():
    alike(hook_of, OfMeta)
    alike(hook_of, Words)
    alike(hooks_differ)
    alike(hook_refuses, OfMeta)
    alike(hook_above)


def test_bound_method_of_c():
    alike(said_by_bound_method)


# ---- Properties made of properties --------------------------------------------------------------


def undocumented(self):
    return 1


def documented(self):
    """documented"""


given = property(undocumented, None, None, "given")
of_getter = property(documented)
assigned = property(undocumented)
assigned.__doc__ = "assigned"


class Named:
    @property
    def size(self):
        return 1


def docs_of_copies(start):
    copies = [start.getter(documented), start.setter(documented), start.deleter(undocumented)]
    copies += [start.getter(None), start.getter(undocumented).setter(documented)]
    return [copy.__doc__ for copy in copies], [copy.fget is undocumented for copy in copies]


def docs_of_made():
    return docs_of_copies(property(undocumented, None, None, "made"))


def docs_in_class():
    class Shown:
        one = given.getter(documented)

        @property
        def two(self):
            """two"""

        @two.setter
        def two(self, value):
            """not this"""

        three = two.getter(undocumented)

    return Shown.one.__doc__, Shown.two.__doc__, Shown.three.__doc__


def name_in_error():
    class Other:
        length = Named.size.getter(undocumented)

    class Bare:
        pass

    Bare.length = Named.size.getter(undocumented)
    told = []
    for cls in Other, Bare:
        try:
            cls().length = 3
        except AttributeError as error:
            told.append(str(error))
    return told


@pytest.mark.parametrize("start", [given, of_getter, assigned, Named.size])
def test_docs_of_copies(start):
    alike(docs_of_copies, start)


def test_properties_made_of_properties():
    alike(docs_of_made)
    alike(docs_in_class)
    alike(name_in_error)


# ---- Hashes that go by addresses ----------------------------------------------------------------


class Alias:
    """As typing has them: equal by what it is made of."""

    def __init__(self, *parts):
        self.parts = parts

    def __eq__(self, other):
        return isinstance(other, Alias) and self.parts == other.parts

    def __hash__(self):
        return hash((type(self), self.parts))


class Plain:
    pass


def hash_of_tuple(value):
    return hash((1, (value, Plain, None)))


def hash_of_made(value):
    class Made:
        pass

    def inner():
        return value

    return hash((Made, inner)) == hash((Made, inner)), {(Made, value): 1}[Made, value]


def known_by_address(value):
    made = {Alias(value, 4), Alias(int, 5)}
    first = Alias(value, 4) in made, made == {Alias(int, 5), Alias(value, 4)}
    sys.getsizeof(made)
    return first, Alias(value, 4) in made, made == {Alias(int, 5), Alias(value, 4)}


class Kept:
    def __init__(self, value):
        self.value = value

    def __hash__(self):
        return hash((self.value, Plain))


@pytest.mark.parametrize(
    "value", [object(), Plain(), Plain, 3, (Plain,), alike, sys, Plain.__init__]
)
def test_hash_by_address(value):
    alike(hash_of_tuple, value)
    alike(hash_of_made, value)
    alike(known_by_address, value)


def test_hash_by_address_of_another():
    """An entry for one object does not speak for the next."""
    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        compiled, hashed = Compiled(hash_of_tuple), Compiled(Kept.__hash__)
        for value in [Plain(), Plain(), object(), object(), Plain, int, alike, compare] * 2:
            assert compiled(value) == hash_of_tuple(value)
            assert hashed(Kept(value)) == hash((value, Plain))


# ---- Every attribute of every kind of object ----------------------------------------------------


def shown(values):
    """Iterators by their types and what is left in them."""
    return [
        (type(value), list(value)) if "iterator" in type(value).__name__ else value
        for value in values
    ]


def reversed_of(mapping):
    return [reversed(it) for it in (mapping, mapping.keys(), mapping.values(), mapping.items())]


def walked_backwards(mapping):
    one, two = reversed(mapping), mapping.items().__reversed__()
    return next(one), list(one), next(two), type(one), type(two), one, two


def grown_while_walked(mapping):
    copy = dict(mapping)
    seen = []
    try:
        for key in reversed(copy):
            seen.append(key)
            copy[key * 2] = 1
    except RuntimeError as error:
        seen.append(str(error))
    return seen


def exchanged_while_walked(mapping):
    copy = dict(mapping)
    seen = []
    for key in reversed(copy):
        seen.append((key, copy[key]))
        copy["a"] = 5
    return seen


class Holder:
    __slots__ = ("first", "second")


def same_tuple(holder):
    slots = Holder.__slots__ is Holder.__slots__
    return holder.first is holder.first, holder.first is holder.second, slots


def annotations_of(cls):
    return getattr(cls, "__annotations__", None), hasattr(cls, "__annotations__")


@pytest.mark.parametrize("mapping", [{}, {"a": 1}, {"a": 1, "b": 2, "c": 3}])
def test_dicts_backwards(mapping):
    walks = [reversed_of, grown_while_walked, exchanged_while_walked]
    for fn in walks + [walked_backwards] * bool(mapping):
        plain = shown(fn(mapping))
        with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
            compiled = Compiled(fn)
            for _ in range(3):
                assert shown(compiled(mapping)) == plain


def test_one_tuple_read_twice():
    holder = Holder()
    holder.first = holder.second = (1, [2])
    alike(same_tuple, holder)
    holder.second = (1, [2])
    alike(same_tuple, holder)


@pytest.mark.parametrize("cls", [type, int, object, Holder, Meta])
def test_annotations_of_classes_without(cls):
    alike(annotations_of, cls)


# ---- Texts that are executed in a dict ----------------------------------------------------------


def executed(text):
    names = {"x": 1}
    exec(text, names)
    del names["__builtins__"]
    return names


@pytest.mark.parametrize(
    "text",
    [
        "x = -1\nitems = [(x := y) for y in range(3)]\n",
        "global x\nx = 2\ny = x\n",
        "global x\ndel x\n",
        "global z\nz = x\n",
        "y = x + 1\nx = len([y])\n",
    ],
)
def test_text_with_globals(text):
    alike(executed, text)


# ---- Bases that are being assigned --------------------------------------------------------------


def bases_in_mro(cls, others, seen):
    seen.append(cls.__bases__)
    if others and cls.__bases__ != (others[0],):
        cls.__bases__ = (others[0],)
    return type.mro(cls)


def test_bases_while_they_are_assigned():
    def run(mro):
        seen, others = [], []

        class Meta(type):
            def mro(cls):
                return mro(cls, others if cls.__name__ == "C" else [], seen)

        class A(metaclass=Meta):
            pass

        class B1(A):
            pass

        class B2(A):
            pass

        class C(A):
            pass

        others.append(B2)
        C.__bases__ = (B1,)
        return C.__bases__ == (B2,), [[one.__name__ for one in bases] for bases in seen]

    plain = run(bases_in_mro)
    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        assert run(Compiled(bases_in_mro)) == plain


# ---- Partials that hold themselves --------------------------------------------------------------


def members(partial):
    return partial.func is partial, partial.args, partial.keywords == {}


def test_a_partial_of_itself():
    one = functools.partial(len)
    one.__setstate__((one, (), {}, {}))
    alike(members, one)
    one.__setstate__((len, (), {}, {}))  # frees it


def test_a_long_chain_of_partials():
    def call(one):
        return one()

    chain = functools.partial(int)
    for _ in range(500):
        outer = functools.partial(int)
        outer.__setstate__((chain, (), {}, {}))
        chain = outer
    alike(call, chain)
    while chain.func is not int:
        inner = chain.func
        chain.__setstate__((int, (), {}, {}))
        chain = inner


# ---- Objects that show another class ------------------------------------------------------------


class ShowsInt:
    def __getattribute__(self, name):
        return int if name == "__class__" else object.__getattribute__(self, name)


class ShowsIntByProperty:
    @property
    def __class__(self):
        return int


class Shown:
    pass


def shown_class(x):
    match x:
        case int():
            matched = "int"
        case Shown():
            matched = "Shown"
        case _:
            matched = "other"
    shown = x.__class__.__name__, type(x).__name__
    return shown, isinstance(x, int), isinstance(x, (str, Shown)), matched


KEPT = Shown(), len.__class__


@pytest.mark.parametrize("x", [
    ShowsInt(), ShowsIntByProperty(), weakref.proxy(KEPT[0]), weakref.proxy(shown_class), Shown(),
    list[int], int | str, weakref.ref(KEPT[0]), super(Shown, KEPT[0]), KEPT[0].__init__, sys,
], ids=lambda x: type(x).__name__)  # fmt: skip
def test_shown_class(x):
    alike(shown_class, x)


# ---- Special methods that are None --------------------------------------------------------------


class Nothing:
    __bool__ = __len__ = __getitem__ = __setitem__ = __delitem__ = __call__ = __next__ = None
    __neg__ = __pos__ = __invert__ = __contains__ = __iter__ = __add__ = __eq__ = None
    __hash__ = object.__hash__


class Missing:
    pass


class IteratesOnly:
    __contains__ = None

    def __iter__(self):
        return iter([1])


class NotIterable:
    __iter__ = None

    def __getitem__(self, index):
        return index


def stores(x):
    x[0] = 1


def deletes(x):
    del x[0]


OPERATIONS = [
    lambda x: bool(x), lambda x: not x, lambda x: 1 if x else 2, lambda x: len(x), lambda x: x[0],
    lambda x: x(), lambda x: next(x), lambda x: -x, lambda x: +x, lambda x: ~x, lambda x: 1 in x,
    lambda x: 1 not in x, lambda x: iter(x), lambda x: list(x), lambda x: x + 1, lambda x: x == 1,
    stores, deletes,
]  # fmt: skip


@pytest.mark.parametrize("cls", [Nothing, Missing, IteratesOnly, NotIterable])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_none_as_a_special_method(operation, cls):
    def tries(x):
        try:
            result = operation(x)
        except TypeError as error:
            return str(error)
        return result if isinstance(result, (int, list)) else type(result).__name__

    alike(tries, cls())


class BlockedMeta(type):
    __len__ = __contains__ = __iter__ = __getitem__ = None


class Blocked(metaclass=BlockedMeta):
    pass


@pytest.mark.parametrize("operation", [len, iter, lambda x: 1 in x, lambda x: x[0], bool])
def test_none_in_a_metaclass(operation):
    def tries():
        try:
            return operation(Blocked)
        except TypeError as error:
            return str(error)

    alike(tries)


# ---- A generator of random numbers that __new__ seeds -------------------------------------------


def seeded_by_class(n):
    generator = _random.Random(n)
    return generator.random(), generator.getrandbits(7), random.Random(n).random()


def seeded_twice():
    try:
        return _random.Random(1, 2)
    except TypeError as error:
        return str(error)


def test_seeded_by_class():
    alike(seeded_by_class, 8675309)
    alike(seeded_twice)


# ---- Frozen sets as keys ------------------------------------------------------------------------


def walk(graph):
    found = 0
    for node, edges in graph.items():
        for edge in edges:
            found += node in graph[edge]
    return found


def test_frozen_sets_as_keys():
    nodes = [frozenset(range(n)) | {-1} for n in range(4)]
    alike(walk, {node: frozenset({frozenset(x) for x in nodes if x != node}) for node in nodes})
    lists = {(node, 1): [(frozenset(nodes[0]), 1)] for node in nodes}
    alike(walk, lists)


# ---- Views of dicts and frozen sets, texts with a NUL -------------------------------------------


def intersections(d, other):
    return [(type(x), x) for x in (d.keys() & other, other & d.keys(), d.items() & other)]


@pytest.mark.parametrize("make", [frozenset, set, list, dict.fromkeys])
@pytest.mark.parametrize("items", ["b", "abcd"])
def test_intersections_with_a_view(make, items):
    alike(intersections, {"a": 1, "b": 2}, make(items))


def text_with_nul(evaluate, text):
    try:
        return type(evaluate(text)).__name__
    except (ValueError, SyntaxError) as error:
        return str(error)


@pytest.mark.parametrize("evaluate", [eval, exec, lambda text: compile(text, "<text>", "eval")])
@pytest.mark.parametrize("text", ["123\0", "\0", "123"])
def test_text_with_nul(evaluate, text):
    alike(text_with_nul, evaluate, text)


# ---- Steps of asynchronous generators that nobody awaits ----------------------------------------


def left_alone():
    async def steps():
        yield 1

    generator = steps()
    generator.asend(None)
    return None


def test_a_step_that_is_not_awaited():
    alike(left_alone)


# ---- Globals that are a dict of the program -----------------------------------------------------


def written_by_the_dict(f, names):
    names["q"] = 2
    return f.__globals__["q"], f()


def written_by_the_globals(f, names):
    f.__globals__["q"] = 2
    return names["q"], f()


def builtins_by_the_dict(f, names):
    names["__builtins__"] = {"path": 1}
    return f.__globals__.get("__builtins__", {})


@pytest.mark.parametrize("fn", [written_by_the_dict, written_by_the_globals, builtins_by_the_dict])
def test_globals_that_are_a_dict_of_the_program(fn):
    def run(target):
        names = {}
        exec("q = 1\ndef f(): return q\n", names)
        return target(names["f"], names)

    plain = run(fn)
    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        compiled = Compiled(fn)
        assert [run(compiled), run(compiled)] == [plain, plain]


# ---- The exception that is handled, where calls are as deep as they may be ----------------------


def test_nothing_is_handled_after_a_recursion_error():
    def recursing():
        try:
            return recursing()
        except ValueError:
            return -1

    def handled(fn):
        try:
            fn()
        except RecursionError:
            pass
        return sys.exc_info()[0]

    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        recursing = Compiled(recursing)
        for _ in range(3):
            assert handled(recursing) is None


# ---- Codecs and error handlers of the program ---------------------------------------------------


def encoded(text):
    return text.encode("ascii", "counting"), text.encode("ascii", errors="counting")


def decoded(data):
    return data.decode("ascii", "counting"), bytearray(data).decode("utf-8", "counting")


def by_own_codec(text):
    return text.encode("counted"), text.encode(encoding="counted"), b"a".decode("counted")


def by_codecs_of_the_interpreter(text):
    return (
        text.encode(), text.encode("UTF_8"), text.encode("latin 1", "replace"), text.encode("utf-16le"),
        text.encode("ascii", errors="xmlcharrefreplace").decode("ascii"), b"\xff".decode("utf8", "ignore"),
    )  # fmt: skip


@pytest.fixture
def counted():
    """A codec and an error handler that give another text each time; what puts them back to the start."""
    calls = []

    def handle(error):
        calls.append(None)
        return str(len(calls)), error.end

    def encode(text, errors="strict"):
        calls.append(None)
        return str(len(calls)).encode(), len(text)

    def decode(data, errors="strict"):
        calls.append(None)
        return str(len(calls)), len(data)

    def search(name):
        return codecs.CodecInfo(encode, decode, name=name) if name == "counted" else None

    codecs.register(search)
    codecs.register_error("counting", handle)
    yield calls.clear
    codecs.unregister(search)


@pytest.mark.parametrize(
    ("fn", "arg"), [(encoded, "a\xff\xfe"), (decoded, b"a\xff\xfe"), (by_own_codec, "a\xff")]
)
def test_codecs_of_the_program(counted, fn, arg):
    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        compiled = Compiled(fn)
        for _ in range(3):
            counted()
            plain = [fn(arg) for _ in range(2)]
            counted()
            assert [compiled(arg) for _ in range(2)] == plain


def test_codec_that_becomes_known():
    def encode(text):
        return text.encode("unknown_so_far")

    def search(name):
        return codecs.lookup("ascii") if name == "unknown_so_far" else None

    check(encode, "a", breaks="unknown-callable")
    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        compiled = Compiled(encode)
        with pytest.raises(LookupError):
            compiled("a")
        codecs.register(search)
        assert compiled("a") == b"a"
        codecs.unregister(search)


def test_codecs_of_the_interpreter():
    check(by_codecs_of_the_interpreter, "a\xff")


# ---- Attributes of a metaclass that become descriptors ------------------------------------------


def test_attribute_of_a_metaclass_that_becomes_a_descriptor():
    class Descriptor:
        pass

    class Meta(type):
        attribute = Descriptor()

    class Thing(metaclass=Meta):
        def attribute():
            return "of the class"

    def read():
        return Thing.attribute()

    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        compiled = Compiled(read)
        assert [compiled() for _ in range(3)] == ["of the class"] * 3
        Descriptor.__get__ = lambda self, instance, owner: lambda: "of the metaclass"
        assert [compiled() for _ in range(3)] == ["of the class"] * 3
        Descriptor.__set__ = lambda self, instance, value: None
        assert [compiled() for _ in range(3)] == ["of the metaclass"] * 3
