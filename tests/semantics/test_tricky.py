"""Programs that a tracer gets wrong easily: aliases, state between calls, values at the border."""

import math
import sys
import types

import dyntrace
import numpy as np
import pytest
from differential import Compiled, Outcome, check, compare

A = np.linspace(0.5, 2.0, 4)
LOG = []


def sequence(fn, *calls):
    """Plain and compiled see the same sequence of calls, each on arguments of its own."""
    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0, recompile_limit=64):
        compiled = Compiled(fn)
        for make in calls:
            compare(Outcome(fn, make(), {}), Outcome(compiled, make(), {}))
    assert not compiled.faults, compiled.describe()
    return compiled


def test_default_list_of_a_helper_is_kept():
    def make():
        def helper(value, seen=[]):  # noqa: B006
            seen.append(value)
            return len(seen)

        def fn(x):
            return x + helper(1), helper(2)

        return fn

    plain, compiled = make(), Compiled(make())
    for _ in range(4):
        a, b = plain(A), compiled(A)
        np.testing.assert_array_equal(a[0], b[0])
        assert a[1] == b[1]


def global_and_argument(items, x):
    LOG.append(1)
    return len(items), x + 1.0


def test_argument_that_is_the_global_list():
    compiled = Compiled(global_and_argument)
    for items in ([], [], LOG, [], LOG):
        before = len(items)
        n, _ = compiled(items, A)
        assert n == (before + 1 if items is LOG else before)


def test_attributes_that_hold_one_list():
    class Box:
        pass

    def fn(p, q, x):
        p.items.append(x)
        return len(q.items)

    def apart():
        p, q = Box(), Box()
        p.items, q.items = [], []
        return p, q, A

    def together():
        p, q = Box(), Box()
        p.items = q.items = []
        return p, q, A

    sequence(fn, apart, apart, together, apart, together)


def test_array_in_a_list_is_the_one_returned():
    def fn(items, x):
        y = x + 1.0
        items.append(y)
        return y, items

    check(fn, [], A)


def test_results_are_new_objects_each_time():
    def fn(x):
        return [1, 2], {"a": []}, x + 1.0

    compiled = Compiled(fn)
    for _ in range(3):
        items, d, y = compiled(A)
        assert items == [1, 2] and d == {"a": []}
        items.append(3)
        d["a"].append(1)
        d["b"] = 2
        y[:] = 0.0


def test_keyword_dict_comes_back():
    def fn(x, **options):
        options["extra"] = x * 2.0
        return options

    check(fn, A, a=1, b=2)


def test_star_arguments_come_back():
    def fn(x, *rest):
        return rest, x + 1.0

    check(fn, A, 1, A)


@dyntrace.compile
def calls_itself(x, n):
    return x if n == 0 else calls_itself(x, n - 1) * 2.0


def test_compiled_function_that_calls_itself():
    np.testing.assert_array_equal(calls_itself(A, 5), A * 32.0)
    np.testing.assert_array_equal(calls_itself(A, 3), A * 8.0)


@dyntrace.compile
def compiled_helper(x):
    return x * 2.0 + 1.0


def test_compiled_function_in_a_compiled_function():
    def fn(x):
        return compiled_helper(x) + compiled_helper(x + 1.0)

    check(fn, A)


def test_integers_beyond_64_bits_at_a_later_call():
    def fn(x, n):
        return x + 1.0, n * n, n + 1, -n

    sequence(fn, *[lambda n=n: (A, n) for n in (3, 4, 2**40, 2**62, 2**63 - 1, -(2**63), 5)])


def test_division_by_zero_at_a_later_call():
    def fn(x, a, b):
        q = a // b
        r = a % b
        return x + q, r, a / b

    sequence(fn, *[lambda p=p: (A, *p) for p in ((7, 2), (-7, 2), (7, -2), (7, 0), (0, 3))])


def test_types_of_numbers_are_told_apart():
    def fn(x, v):
        return x * v, v

    sequence(
        fn,
        *[
            lambda v=v: (A, v)
            for v in (1, 1.0, True, 2, 2.5, False, 1 + 0j, np.float64(2), np.int32(3))
        ],
    )


def test_nan_in_a_branch():
    def fn(x, v):
        if v > 0:
            return x + 1.0
        if v <= 0:
            return x - 1.0
        return x

    sequence(fn, *[lambda v=v: (A, v) for v in (1.0, math.nan, -1.0, 0.0, -0.0, math.inf)])


def test_number_that_is_formatted():
    def fn(x, n):
        return f"{n} of {n:03d}", x + n

    sequence(fn, *[lambda n=n: (A, n) for n in (1, 2, 1, 2)])


def test_number_that_is_an_index():
    def fn(items, n):
        return items[n] + n

    sequence(fn, *[lambda n=n: ([A, A * 2, A * 3], n) for n in (0, 1, -1, 2, 0)])


def test_number_that_is_a_key():
    def fn(d, n, x):
        return d[n] * x

    sequence(fn, *[lambda n=n: ({1: 2.0, 2: 3.0}, n, A) for n in (1, 2, 1, 3)])


def test_exception_at_a_later_call():
    def helper(x, y):
        return x + y

    def fn(x, y):
        z = helper(x, y)
        return z * 2.0

    sequence(fn, lambda: (A, A), lambda: (A, np.ones(3)), lambda: (A, A), lambda: (A, "text"))


def test_warning_at_a_later_call():
    def fn(x, y):
        z = x / y
        return z + 1.0

    zero = np.zeros(4)
    sequence(fn, lambda: (A, A), lambda: (A, zero), lambda: (zero, zero), lambda: (A, A))


def test_sizes_change():
    def fn(x, y):
        return x * 2.0 + y, x.shape[0], len(y)

    compiled = sequence(
        fn, *[lambda n=n: (np.ones(n), np.arange(float(n))) for n in (4, 5, 100, 2, 1, 0, 3)]
    )
    assert len(compiled.records) <= 3, compiled.describe()


def test_broadcast_pattern_changes():
    def fn(x, y):
        return x + y

    shapes = [
        ((4,), (4,)),
        ((4,), (1,)),
        ((3, 4), (4,)),
        ((3, 1), (1, 4)),
        ((), (4,)),
        ((4, 4), (4, 4)),
    ]
    sequence(fn, *[lambda s=s: (np.ones(s[0]), np.full(s[1], 2.0)) for s in shapes])


def test_layout_changes():
    def fn(x):
        return x * 2.0 + 1.0

    base = np.arange(24.0).reshape(4, 6)
    views = [
        base,
        base.T,
        base[::2],
        base[:, ::-1],
        base[::-1, ::2],
        np.asfortranarray(base),
        base[1],
    ]
    sequence(fn, *[lambda v=v: (v,) for v in views])


def test_dtypes_change():
    def fn(x, y):
        return x * y + x

    kinds = ["f8", "f4", "i8", "i4", "u1", "c16", "f2", "?"]
    sequence(
        fn,
        *[lambda k=k: (np.ones(4, k), np.ones(4, k)) for k in kinds],
        lambda: (np.ones(4, "f4"), A),
    )


def test_code_of_a_helper_is_replaced():
    def helper(x):
        return x + 1.0

    def other(x):
        return x - 1.0

    def fn(x):
        return helper(x)

    compiled = Compiled(fn)
    np.testing.assert_array_equal(compiled(A), fn(A))
    helper.__code__ = other.__code__
    np.testing.assert_array_equal(compiled(A), fn(A))


def test_defaults_of_a_helper_are_replaced():
    def helper(x, k=1.0, *, m=2.0):
        return x * k + m

    def fn(x):
        return helper(x)

    compiled = Compiled(fn)
    np.testing.assert_array_equal(compiled(A), fn(A))
    helper.__defaults__ = (3.0,)
    np.testing.assert_array_equal(compiled(A), fn(A))
    helper.__kwdefaults__ = {"m": 7.0}
    np.testing.assert_array_equal(compiled(A), fn(A))
    helper.__kwdefaults__["m"] = 8.0
    np.testing.assert_array_equal(compiled(A), fn(A))
    helper.__defaults__ = None
    with pytest.raises(TypeError):
        compiled(A)


def test_cell_of_a_helper_changes():
    value = 1.0

    def helper(x):
        return x + value

    def fn(x):
        return helper(x)

    compiled = Compiled(fn)
    for number in (1.0, 2.0, A, 1.0):
        value = number
        np.testing.assert_array_equal(compiled(A), fn(A))


def test_values_of_every_kind_come_back():
    def helper():
        return 1

    class Thing:
        def method(self):
            return 2

    def fn(x, thing):
        return (
            x + 1.0,
            helper,
            Thing,
            math,
            len,
            thing.method,
            np.add,
            np.float64,
            thing,
            ...,
            range(3),
            slice(1, 2),
        )

    thing = Thing()
    compiled = Compiled(fn)
    with dyntrace.config.patch(strict=True):
        for _ in range(3):
            plain, mine = fn(A, thing), compiled(A, thing)
            np.testing.assert_array_equal(plain[0], mine[0])
            assert plain[1:] == mine[1:]


def test_function_that_captures_a_result():
    def fn(x):
        y = x * 2.0

        def inner():
            return y

        return inner, y

    compiled = Compiled(fn)
    for _ in range(3):
        inner, y = compiled(A)
        assert inner() is y
        np.testing.assert_array_equal(y, A * 2.0)


def test_one_list_in_two_places():
    def fn(x):
        a = [1]
        b = [a, a]
        b[0].append(x)
        b[1].append(2)
        return b, a

    check(fn, A)


def test_slice_of_itself():
    def fn(items, x):
        items[:] = items[::-1]
        items += items
        return x + 1.0

    check(fn, [1, A, 3], A)


def test_many_iterations():
    def fn(x):
        total = 0
        i = 0
        while True:
            i += 1
            if i > 500:
                break
            if i % 3:
                continue
            total += i
        return x + total

    check(fn, A)


def test_try_with_return_and_loop():
    def fn(items):
        for item in items:
            try:
                if item is None:
                    continue
                return item + 1.0
            finally:
                pass
        return None

    check(fn, [None, A, None])


def test_match_statement():
    if sys.version_info < (3, 10):
        pytest.skip("no match statement")

    def fn(x, value):
        match value:
            case 1:
                return x + 1.0
            case "two":
                return x + 2.0
            case None:
                return x
            case [a, b]:
                return x * a + b
            case _:
                return x * 100.0

    sequence(fn, *[lambda v=v: (A, v) for v in (1, "two", None, [3.0, 4.0], (1, 2), 7, "x")])


def test_names_that_look_alike():
    def fn(x):
        y = x + 1.0

        def inner(y):
            def inner(y):
                return y * 3.0

            return inner(y) + 1.0

        return inner(y) + y

    check(fn, A)


def test_setattr_and_delattr():
    class Box:
        pass

    def fn(box, x):
        setattr(box, "value", x + 1.0)
        box.gone = 1
        del box.gone
        return getattr(box, "value"), hasattr(box, "gone")

    check(fn, Box(), A)


def test_property_with_a_setter():
    class Box:
        def __init__(self):
            self._v = 1.0

        @property
        def v(self):
            return self._v

        @v.setter
        def v(self, value):
            self._v = value * 2.0

    def fn(box, x):
        box.v = x + 1.0
        return box.v

    check(fn, Box(), A)


def test_inherited_init_with_super():
    class Base:
        def __init__(self, x):
            self.x = x

        def value(self):
            return self.x

    class Derived(Base):
        def __init__(self, x, y):
            super().__init__(x)
            self.y = y

        def value(self):
            return super().value() + self.y

    def fn(x):
        return Derived(x, 2.0).value()

    check(fn, A)


def test_keys_keep_their_order():
    def fn(d, x):
        d["c"] = d.pop("a")
        d["a"] = x + 1.0
        d["b"] = 0
        return list(d)

    check(fn, {"a": 1, "b": 2}, A)


def test_object_reached_by_two_paths():
    class Node:
        def __init__(self):
            self.value = 1.0
            self.next = None

    def fn(a, b, x):
        a.next.value = x + 1.0
        return b.value

    def apart():
        a, b = Node(), Node()
        a.next = Node()
        return a, b, A

    def together():
        a, b = Node(), Node()
        a.next = b
        return a, b, A

    sequence(fn, apart, together, apart, together)


# ---- Attributes of modules that are deleted ------------------------------------------------------


SETTINGS = types.ModuleType("settings")


def deletes_from_a_module(x, module, name):
    seen = []
    for _ in range(2):
        try:
            delattr(module, name)
            seen.append("gone")
        except AttributeError as error:
            seen.append(str(error))
    module.kept = 1
    del module.kept
    return x + len(seen), seen, hasattr(module, name)


def test_a_module_that_has_the_attribute_or_not():
    def of(name, **there):
        def make():
            vars(SETTINGS).pop("level", None)
            vars(SETTINGS).update(there)
            return A, SETTINGS, name

        return make

    sequence(
        deletes_from_a_module,
        of("level"),
        of("level", level=2),
        of("level"),
        of("other", level=2),
        of("__class__"),
        of("level", level=A),
    )
