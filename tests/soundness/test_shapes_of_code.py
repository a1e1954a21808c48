"""Functions of every make: huge, deep, renamed, replaced, recursive, reentrant, in threads."""

import functools
import gc
import sys
import threading
import types
import warnings

import dyntrace
import numpy as np
import pytest
from differential import Compiled, Outcome, compare
from test_changed_state import world

A = np.linspace(0.5, 2.0, 4)


def both(fn, *calls):
    compiled = Compiled(fn)
    for args in calls:
        compare(Outcome(fn, args, {}), Outcome(compiled, args, {}))
    assert not compiled.faults, compiled.describe()
    return compiled


def test_three_hundred_arguments():
    names = [f"a{i}" for i in range(300)]
    module = world(f"def fn({', '.join(names)}):\n    return a0 + a299, [{', '.join(names)}]")
    args = tuple(A + i for i in range(300))
    both(module.fn, args, args)
    module = world(f"def fn({', '.join(names)}, *rest, **kw):\n    return a0 + a299, rest, kw")
    both(module.fn, (*args, 1, 2), (*args, 1, 2))


def test_hundreds_of_locals_and_operations():
    lines = [f"    v{i} = {'x' if i == 0 else f'v{i - 1}'} * 1.0001 + {i}" for i in range(400)]
    module = world(
        "def fn(x):\n"
        + "\n".join(lines)
        + "\n    return v399, "
        + ", ".join(f"v{i}" for i in range(0, 400, 7))
    )
    both(module.fn, (A,), (A,), (A[:2],))


@pytest.mark.parametrize("depth", [10, 300, 5000, 100000])
def test_deep_containers_as_arguments(depth):
    nested, listed = (A,), [A]
    for _ in range(depth):
        nested, listed = (nested,), [listed]

    def given(t, x):
        return x + 1, t

    def looked_at(t, x):
        return x + 1, t[0]

    def compared(t, x):
        return x + 1, t == t, t is t

    for fn in (given, looked_at, compared):
        compiled = Compiled(fn)
        for value in (nested, nested, listed, listed):
            plain, traced = fn(value, A), compiled(value, A)
            assert plain[1] is traced[1] and np.array_equal(plain[0], traced[0])


@pytest.mark.parametrize("depth", [10, 300, 3000])
def test_deep_containers_made_in_the_trace(depth):
    def fn(x):
        t, l = (), []
        for _ in range(depth):
            t, l = (t, x), [l]
        return x + 1, t, l

    compiled = Compiled(fn)
    for _ in range(2):
        result, t, l = compiled(A)
        n = 0
        while t:
            assert t[1] is A
            t, n = t[0], n + 1
        assert n == depth
        while l:
            l, n = l[0], n - 1
        assert n == 0


def test_deep_expressions():
    def fn(x, n):
        for _ in range(3000):
            n = n * 3 + 1
            if n > 10**6:
                n = n % 1000
        return x + n

    both(fn, (A, 1), (A, 1), (A, 2), (A, 5))

    def chain(x):
        for _ in range(3000):
            x = x + 1.0
        return x

    both(chain, (A,), (A,))


def test_list_that_contains_itself():
    def fn(l, x):
        return x + len(l), l[0] is l, l

    l = [1]
    l[0] = l
    compiled = Compiled(fn)
    for _ in range(3):
        result = compiled(l, A)
        assert result[1] is True and result[2] is l

    def made(x):
        l = [x + 1]
        l.append(l)
        d = {"l": l}
        d["d"] = d
        return d

    compiled = Compiled(made)
    for _ in range(3):
        d = compiled(A)
        assert d["d"] is d and d["l"][1] is d["l"]


def test_huge_containers():
    big = tuple(range(100000))
    many = {i: float(i) for i in range(50000)}

    def fn(t, d, x):
        return x + t[5] + d[7], len(t), len(d)

    compiled = Compiled(fn)
    for t in (big, big, list(big)):
        assert compiled(t, many, A)[1:] == (100000, 50000)
        assert np.array_equal(compiled(t, many, A)[0], A + 12)


def test_names_beyond_ascii():
    module = world(
        "größe = 2.0\nclass 类:\n    值 = 3.0\no = 类()\ndef 関数(ключ, *, ψ=1.0):\n    é = ключ * größe\n    return é + o.值 + ψ"
    )
    fn = vars(module)["関数"]
    both(fn, (A,), (A,))
    compiled = Compiled(fn)
    assert np.array_equal(compiled(A, ψ=5.0), fn(A, ψ=5.0))
    assert np.array_equal(compiled(ключ=A), fn(A))


def test_surrogates_in_names_and_constants():
    module = world("def fn(x, d):\n    return x + d['\\ud800'], '\\udfff' + 'a', '\\0'")
    both(module.fn, (A, {"\ud800": 1.0}), (A, {"\ud800": 2.0}))
    box = types.SimpleNamespace()
    setattr(box, "\ud800", 1.0)

    class Box:
        pass

    box = Box()
    setattr(box, "\ud800", 1.0)

    def get(x, b):
        return x + getattr(b, "\ud800"), vars(b) is b.__dict__

    both(get, (A, box), (A, box))
    code = get.__code__.replace(
        co_name="\ud800\0x", co_filename="\udcff.py", co_varnames=("\ud801", "b")
    )
    strange = types.FunctionType(code, globals(), "\ud802")
    both(strange, (A, box), (A, box))
    with dyntrace.config.patch(strict=False):
        dyntrace.explain(strange)(A, box)
        dyntrace.compile(strange).cache_entries()


def test_replaced_code():
    def fn(x):
        return x + 1.0, 2

    code = fn.__code__
    variants = [
        code.replace(co_consts=tuple(5.0 if c == 1.0 else c for c in code.co_consts)),
        code.replace(co_name="other", co_firstlineno=10000),
        code.replace(co_stacksize=code.co_stacksize + 100),
        code.replace(co_filename=""),
        code.replace(co_flags=code.co_flags | 0x20000),
    ]
    compiled = dyntrace.compile(fn)
    for variant in variants:
        plain = types.FunctionType(variant, globals())
        both(plain, (A,), (A,))
        compiled.__code__ = variant
        for _ in range(2):
            assert np.array_equal(compiled(A)[0], plain(A)[0])
    compiled.__code__ = code
    assert np.array_equal(compiled(A)[0], A + 1.0)


def test_own_builtins():
    def shout(x):
        return len([x]) + x

    for table in ({"len": lambda v: 50}, {"__build_class__": 1}, {"len": len}):
        fn = types.FunctionType(shout.__code__, {"__builtins__": table, "np": np})
        both(fn, (A,), (A,))

        def caller(x):
            return fn(x) + len([1, 2])

        both(caller, (A,), (A,))


def test_closures_of_one_code():
    def make(k):
        def fn(x):
            return x * k

        return fn

    functions = [make(k) for k in (1.0, 2, A, np.float32(3), True)]
    region = dyntrace.compile(functions[0])
    for fn in functions * 2:
        both(fn, (A,), (A,))

    def call(f, x):
        return f(x) + 1

    both(call, *[(fn, A) for fn in functions * 2])
    assert np.array_equal(region(A), A)


def test_nested_functions_are_new_each_time():
    def fn(x):
        y = x + 1

        def inner(z, w=y):
            return y * z + w

        return inner

    compiled = Compiled(fn)
    for array in (A, A * 2, A[:2]):
        inner, plain = compiled(array), fn(array)
        assert inner is not compiled(array)
        assert np.array_equal(inner(2.0), plain(2.0))
        assert inner.__qualname__ == plain.__qualname__ and inner.__code__ is plain.__code__
        assert inner.__closure__[0].cell_contents is inner.__defaults__[0]


def test_recursion():
    module = world("def fn(x, n):\n    return x if n <= 0 else fn(x + n, n - 1)")
    both(module.fn, (A, 0), (A, 5), (A, 5), (A, 60), (A, 200), (A, 5))
    wrapped = dyntrace.compile(module.fn)
    plain = module.fn(A, 7)
    module.fn = wrapped
    for n in (7, 7, 3, 100, 7):
        result = wrapped(A, n)
    assert np.array_equal(result, plain)
    with pytest.raises(RecursionError):
        wrapped(A, 10**6)
    assert np.array_equal(wrapped(A, 7), plain)


def test_a_long_chain_of_partials_around_what_is_no_function():
    class Call:
        def __call__(self, x):
            return x + 1

    def chain(length):
        made = Call()
        for _ in range(length):
            made = functools.partial(made)
            made.kept = True  # so that it is not taken for its function
        return made

    for length in (10, 900, 3000, sys.getrecursionlimit() - 20):
        partial = chain(length)

        def fn(x):
            return partial(x)

        compiled, outcomes = Compiled(fn), []
        for run in (fn, compiled, compiled):
            try:
                outcomes.append(run(A).tolist())
            except RecursionError:
                outcomes.append("RecursionError")
        assert outcomes[0] == outcomes[1] == outcomes[2], length


def test_reentrance_from_a_backend():
    seen = []

    def backend(graph, examples):
        seen.append(len(examples))
        if len(seen) < 5:
            assert np.array_equal(compiled(A, 1.0), A + 1.0)
            assert np.array_equal(compiled(A[:1], 1.0), A[:1] + 1.0)
        gc.collect()
        dyntrace.reset()
        return lambda *inputs: [inputs[0] + 1.0]

    def fn(x, k):
        return x + k

    compiled = dyntrace.compile(fn, backend=backend)
    for _ in range(6):
        assert np.array_equal(compiled(A, 1.0), A + 1.0)


def test_a_backend_that_fails_at_run_time():
    def backend(graph, examples):
        def run(*inputs):
            raise KeyError("mine")

        return run

    compiled = dyntrace.compile(lambda x: x + 1.0, backend=backend)
    for _ in range(3):
        with pytest.raises((KeyError, dyntrace.BackendError)):
            compiled(A)

    def nonsense(graph, examples):
        return lambda *inputs: 5

    compiled = dyntrace.compile(lambda x: x + 1.0, backend=nonsense)
    for _ in range(3):
        with pytest.raises(dyntrace.BackendError):
            compiled(A)

    for wrong in ([], [1, 2, 3], [None], None, "ab", [A[:2]], [A.astype("f4")], (A,)):

        def odd(graph, examples):
            return lambda *inputs: wrong

        compiled = dyntrace.compile(lambda x: x * 1.0, backend=odd)
        for _ in range(2):
            try:
                compiled(A)
            except dyntrace.BackendError:
                pass


def test_dying_objects_call_compiled_code():
    calls = []

    class Dying:
        def __init__(self, fn):
            self.fn = fn

        def __del__(self):
            calls.append(self.fn(A[:2], 3.0))

    def fn(x, k):
        return x * k

    compiled = dyntrace.compile(fn)
    Dying(compiled)

    def holder(box, x):
        box.pop()
        return x + 1

    run = Compiled(holder)
    for _ in range(3):
        assert np.array_equal(run([Dying(compiled)], A), A + 1)
    assert len(calls) == 4 and all(np.array_equal(c, A[:2] * 3.0) for c in calls)

    def overwrite(box, x):
        box.v = x + 1.0
        return box.v

    class Box:
        pass

    run = Compiled(overwrite)
    for _ in range(3):
        box = Box()
        box.v = Dying(compiled)
        assert np.array_equal(run(box, A), A + 1)
    assert len(calls) == 7


def test_threads_change_what_is_read():
    module = world(
        "k = 1.0\nclass O:\n    pass\no = O()\no.v = 1.0\ndef fn(x):\n    a = k\n    return (x * 0 + a, a, o.v)"
    )
    compiled = dyntrace.compile(module.fn)
    stop, wrong = [], []

    def change():
        n = 0
        while not stop:
            n += 1
            module.k = float(n % 7) if n % 3 else n % 7
            module.o.v = np.float64(n) if n % 2 else n
            if n % 5 == 0:
                module.o.__dict__ = dict(module.o.__dict__)

    def call():
        try:
            for _ in range(3000):
                x, a, v = compiled(A)
                if not (x == a).all():
                    wrong.append((x, a))
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=change)] + [threading.Thread(target=call) for _ in range(3)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for t in threads:
            t.start()
        for t in threads[1:]:
            t.join()
        stop.append(1)
        threads[0].join()
    finally:
        sys.setswitchinterval(interval)
    assert not wrong


def test_star_arguments_of_a_callee():
    def f(a, b=2, *args, c=3, **kw):
        return a, b, args, c, kw

    compiled_f = dyntrace.compile(f)

    def fn(x, args, kw):
        return (
            f(*args, **kw),
            compiled_f(x, *args, **kw),
            f(x, *args, c=x + 1, **kw),
            [*args, *kw],
            {**kw, "z": 1},
        )

    cases = [
        ((1,), {}),
        ((1, 2, 3), {"c": 5}),
        ((1,), {"d": 4}),
        ((), {"a": 1}),
        ((1,), {"q": 1, "r": 2}),
        ([1, 2], {"r": 1, "q": 2}),
    ]
    both(fn, *[(A, a, k) for a, k in cases if not (a == ())])


def test_numbers_change_at_the_same_place():
    def fn(x, a, b):
        return (
            x + 1,
            a * b,
            a + b,
            a - b,
            a // b,
            a % b,
            a / b,
            divmod(a, b),
            a < b,
            a == b,
            -a,
            abs(b),
            a * a * a,
            a * 2 + b,
        )

    values = [
        1,
        2,
        -3,
        7,
        2**31,
        2**62,
        2**63,
        -(2**63),
        2**64,
        10**40,
        1.5,
        -2.5,
        1e308,
        5e-324,
        float("inf"),
        0.1,
        True,
        3,
    ]
    both(fn, *[(A, a, b) for a in values for b in values])


def test_powers_at_the_same_place():
    def fn(x, a, b):
        return x + 1, a**b

    values = [0, 1, 2, -3, 7, 62, 63, 64, 1.5, -2.5, 0.0, -0.0, float("inf"), True]
    both(fn, *[(A, a, b) for a in values for b in values])


def test_conversions_at_the_same_place():
    def fn(x, a):
        return (
            x + 1,
            int(a),
            float(a),
            round(a),
            bool(a),
            a // 1,
            str(a),
            f"{a:.3}" if isinstance(a, float) else f"{a:>5}",
        )

    values = [
        0,
        1,
        -1,
        2**53,
        2**53 + 1,
        2**63,
        0.5,
        1.5,
        2.5,
        -0.5,
        -0.0,
        1e18,
        1e19,
        1e300,
        float("inf"),
        float("nan"),
        True,
        2**1023,
    ]
    both(fn, *[(A, a) for a in values + [2**1024, 10**400]])


def test_subclass_later():
    class X(int):
        def __add__(self, other):
            return "sub"

        def __bool__(self):
            return False

        def __index__(self):
            return 0

    def fn(x, a, t):
        return x + 1, a + 1, 5 if a else 6, t[0], len(t)

    class T(tuple):
        def __len__(self):
            return 99

    both(
        fn,
        (A, 3, (1,)),
        (A, 3, (1,)),
        (A, X(3), (1,)),
        (A, 3, T((1,))),
        (A, True, [1]),
        (A, np.int64(3), "a"),
    )


def test_arrays_change_in_place():
    def fn(x):
        return x.sum() + x, x.shape, x.T

    x = np.arange(12.0)
    plain, traced = [], []
    for run, out in ((fn, plain), (Compiled(fn), traced)):
        x = np.arange(12.0)
        for change in (
            "",
            "x.shape = (3, 4)",
            "x.shape = (4, 3)",
            "x.dtype = 'i8'",
            "x.shape = 12",
            "x.dtype = 'f4'",
            "x.strides = (8,) if x.size > 12 else x.strides",
            "x.resize(5, refcheck=False)",
            "x.setflags(write=False)",
        ):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    exec(change)
                except ValueError:
                    pass
                out.append(run(x.copy() if 0 else x))
    for a, b in zip(plain, traced):
        assert (
            a[1] == b[1]
            and a[0].dtype == b[0].dtype
            and a[0].tobytes() == b[0].tobytes()
            and a[2].strides == b[2].strides
        )


def test_aliases_of_arguments():
    def fn(x, y):
        return x + y, x is y, [x, y], x.T, y[1:]

    z = np.arange(6.0)
    both(fn, (z, z), (z, z.copy()), (z[:5], z[1:]), (z, z), (z[::-1], z), (z[:3], z[:3]))


def test_views_have_numpys_base():
    def fn(x):
        return (
            x.T,
            x[1:],
            x.reshape(-1),
            x.ravel(),
            x[None],
            x.swapaxes(0, -1),
            np.broadcast_to(x, (2, *x.shape)),
            x.squeeze(),
            x[...],
            x.copy().T,
            (x + 1)[1:],
        )

    compiled = Compiled(fn)
    whole = np.arange(24.0).reshape(4, 6)
    for x in (whole, whole.T, whole[::2], whole[:, :1], np.arange(4.0), whole.copy()):
        for _ in range(2):
            for a, b in zip(fn(x), compiled(x)):
                assert (a.base is None) == (b.base is None)
                assert (a.base is x) == (b.base is x) and (a is x) == (b is x)
                assert np.shares_memory(a, x) == np.shares_memory(b, x)
                assert str(a.flags) == str(b.flags) and a.strides == b.strides


def test_compiled_methods_and_descriptors():
    class M:
        def __init__(self, k):
            self.k = k

        @dyntrace.compile
        def method(self, x):
            return x * self.k

    a, b = M(2.0), M(3)
    for o in (a, b, a):
        assert np.array_equal(o.method(A), A * o.k)
    a.method = lambda x: "own"
    assert a.method(A) == "own" and np.array_equal(M.method(b, A), A * 3)


def test_unhashable_and_hostile_objects_as_arguments():
    class Hostile:
        def __getattribute__(self, name):
            raise RuntimeError(name)

        def __eq__(self, other):
            raise RuntimeError("eq")

        __hash__ = None

        def __bool__(self):
            raise RuntimeError("bool")

        def __repr__(self):
            raise RuntimeError("repr")

        def __len__(self):
            raise RuntimeError("len")

    def fn(h, x):
        return x + 1, h, [h], {"h": h}, h is h, h is None

    h = Hostile()
    compiled = Compiled(fn)
    for _ in range(3):
        result = compiled(h, A)
        assert result[1] is h and result[2][0] is h and result[4] is True
    with dyntrace.config.patch(strict=False):
        dyntrace.compile(fn).cache_entries()
        compiled2 = dyntrace.compile(lambda h, x: (x + 1, h.a))
        for _ in range(2):
            with pytest.raises(RuntimeError):
                compiled2(h, A)
