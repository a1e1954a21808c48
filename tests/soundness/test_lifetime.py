"""Who owns what: memory of results, arguments that die early, state that changes under a running compile."""

import gc
import os
import pickle
import subprocess
import sys
import textwrap
import weakref

import dyntrace
import numpy as np
import pytest
from differential import Compiled

A = np.linspace(0.5, 2.0, 4)


@pytest.mark.parametrize("size", [1, 4, 1000, 20000, 300000])
def test_results_own_their_memory(size):
    def fn(x):
        return x * 2.0 + 1.0, x > 1.0, (x + 1.0).astype(np.float32)

    compiled = Compiled(fn)
    x = np.linspace(0.0, 1.0, size)
    for _ in range(3):
        for a, b in zip(fn(x), compiled(x)):
            assert a.base is b.base is None and str(a.flags) == str(b.flags)
            assert a.__array_interface__["data"][1] == b.__array_interface__["data"][1]
            assert sys.getsizeof(a) == sys.getsizeof(b) and sys.getrefcount(a) == sys.getrefcount(b)
    kept = [compiled(x) for _ in range(20)]
    expected = fn(x)
    for results in kept:
        for a, b in zip(results, expected):
            a.resize(2 * size, refcheck=False)
            assert np.array_equal(a[:size], b) and not a[size:].any()
            a.resize(3, refcheck=False)
            assert np.array_equal(a[: min(3, size)], b[:3])
    del kept
    gc.collect()
    y = compiled(x)[0]
    y.shape = (1, size)
    z = pickle.loads(pickle.dumps(y))
    assert np.array_equal(z[0], expected[0])
    y.data.release()
    assert memoryview(y).contiguous


def test_results_do_not_share_memory():
    def fn(x):
        y = x + 1.0
        z = y * 2.0
        return y, z, z + y, [y, z], x * 1.0

    compiled = Compiled(fn)
    for size in (4, 50000):
        x = np.linspace(0.0, 1.0, size)
        seen = [compiled(x) for _ in range(3)]
        arrays = [a for r in seen for a in (r[0], r[1], r[2], r[4])] + [x]
        for i, a in enumerate(arrays):
            for b in arrays[:i]:
                assert not np.shares_memory(a, b)
        for r in seen:
            assert r[3][0] is r[0] and r[3][1] is r[1]
            r[0][:] = 7.0
        assert np.array_equal(compiled(x)[0], x + 1.0) and np.array_equal(seen[0][2], fn(x)[2])


def test_defaults_change_while_a_backend_compiles():
    def backend(graph, examples):
        fn.__defaults__ = (np.full(4, 5.0),)
        fn.__kwdefaults__ = {"m": np.full(4, 6.0)}
        gc.collect()
        junk = [np.full(4, 1e300) for _ in range(100)]
        del junk
        return lambda *inputs: [sum(inputs[1:], inputs[0])]

    def plain(x, k=np.full(4, 2.0), *, m=np.full(4, 3.0)):
        return x + k + m

    fn = dyntrace.compile(plain, backend=backend)
    del plain
    results = [fn(A) for _ in range(3)]
    for result in results[1:]:
        assert np.array_equal(result, A + 5.0 + 6.0)


def test_globals_change_while_a_backend_compiles():
    space = {"np": np, "k": np.full(4, 2.0), "l": [np.full(4, 3.0)]}
    exec("def plain(x):\n    return x + k + l[0]", space)

    def backend(graph, examples):
        space["k"] = np.full(4, 5.0)
        space["l"] = [np.full(4, 6.0)]
        gc.collect()
        return lambda *inputs: [sum(inputs[1:], inputs[0])]

    fn = dyntrace.compile(space["plain"], backend=backend)
    for _ in range(3):
        assert np.array_equal(fn(A), A + space["k"] + space["l"][0])


def test_arguments_die_in_the_call():
    """The caller's list is emptied by an object whose __del__ runs in the call; the trace saw none."""
    box = {"items": [A + 1, A + 2]}

    class Dying:
        def __del__(self):
            box["items"].clear()
            gc.collect()

    def fn(d, x):
        d["last"] = x * 2.0
        return d["items"][0] + x, d["items"][1]

    compiled = Compiled(fn)
    for i in range(4):
        for run in (fn, compiled):
            box["items"] = [A + 1, A + 2]
            box["last"] = Dying() if i > 0 else None
            if i > 0:
                with pytest.raises(IndexError):
                    run(box, A)
            else:
                first, second = run(box, A)
                assert np.array_equal(first, A + 1 + A) and np.array_equal(second, A + 2)


def test_what_dies_in_the_call_is_seen_where_it_dies():
    def fn(d, x):
        d["last"] = x * 2.0
        return d["items"][0] + x

    compiled = Compiled(fn)
    for run in (fn, compiled, compiled):
        box = {"items": [A + 1]}

        class Dying:
            def __del__(self, box=box):
                box["items"].clear()

        box["last"] = Dying()
        with pytest.raises(IndexError):
            run(box, A)


def test_reset_from_everywhere():
    class Dying:
        def __del__(self):
            dyntrace.reset()
            gc.collect()

    def fn(d, x):
        y = x * 2.0
        d["last"] = y
        d["other"] = x
        return y + 1.0, d

    compiled = dyntrace.compile(fn)
    for i in range(10):
        d = {"last": Dying(), "other": Dying()}
        y, e = compiled(d, A)
        assert (
            np.array_equal(y, A * 2 + 1)
            and e is d
            and np.array_equal(d["last"], A * 2)
            and d["other"] is A
        )


def test_entries_do_not_keep_what_they_saw():
    class Model:
        def __init__(self):
            self.w = np.ones(4)
            self.self = self

        def __call__(self, x):
            return x * self.w

    def fn(model, x):
        return model(x) + model.w.sum()

    compiled = dyntrace.compile(fn)
    refs = []
    for _ in range(5):
        model = Model()
        x = A.copy()
        compiled(model, x)
        refs += [weakref.ref(model), weakref.ref(x), weakref.ref(model.w)]
        del model, x
    gc.collect()
    assert [r() for r in refs] == [None] * len(refs)


def test_classes_and_functions_are_collected():
    refs = []

    def once():
        class Local:
            k = 2.0

            def m(self, x):
                return x * self.k

        def helper(x):
            return Local().m(x) + 1

        def fn(x):
            return helper(x) * Local.k

        compiled = dyntrace.compile(fn)
        for _ in range(3):
            assert np.array_equal(compiled(A), (A * 2 + 1) * 2)
        refs.extend(weakref.ref(o) for o in (Local, helper, fn, compiled))

    for _ in range(3):
        once()
    gc.collect()
    assert [r() for r in refs if r() is not None] == []


def run(program):
    result = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_the_interpreter_ends_while_compiled_code_lives():
    run("""
        import atexit, gc, threading, numpy as np, dyntrace
        a = np.ones(50000)
        @dyntrace.compile
        def fn(x, k=a): return x * 2.0 + k
        class Late:
            def __del__(self):
                fn(a); fn(a[:3]) if False else None
        late = Late(); late.self = late
        results = [fn(a) for _ in range(5)]
        atexit.register(lambda: fn(a + 1))
        atexit.register(dyntrace.reset)
        t = threading.Thread(target=lambda: [fn(a) for _ in range(100)], daemon=True); t.start()
    """)


def test_fork_and_threads():
    out = run("""
        import os, sys, numpy as np, dyntrace
        a = np.ones(50000)
        @dyntrace.compile
        def fn(x): return x * 2.0 + 1.0
        kept = [fn(a) for _ in range(3)]
        pid = os.fork()
        if pid == 0:
            ok = all((fn(a) == 3.0).all() for _ in range(5)); kept.clear(); fn(a)
            os._exit(0 if ok else 1)
        print(os.waitpid(pid, 0)[1])
    """)
    assert out.strip() == "0"


# Frames of C are several times as large under AddressSanitizer.
SMALL_STACK = 512 if "libasan" in os.environ.get("LD_PRELOAD", "") else 128


def test_small_stack_of_a_thread():
    run(f"SMALL_STACK = {SMALL_STACK} * 1024\n" + textwrap.dedent("""
        import threading, numpy as np, dyntrace
        threading.stack_size(SMALL_STACK)
        ns = {"np": np}
        body = "".join(f"def f{i}(x):\\n    return f{i+1}(x) + 1.0\\n" for i in range(60)) + "def f60(x):\\n    return x\\n"
        exec(body, ns)
        fn = dyntrace.compile(ns["f0"])
        out = []
        nested = (np.ones(3),)
        for _ in range(2000): nested = (nested,)
        def g(x, n, t):
            while n < 5000: n = n + 1
            return x + n, t, {"t": t}
        gg = dyntrace.compile(g)
        def run():
            out.append(fn(np.ones(3))); out.append(fn(np.ones(3))); out.append(gg(np.ones(3), 1, nested)); out.append(gg(np.ones(3), 1, nested))
        t = threading.Thread(target=run); t.start(); t.join()
        assert len(out) == 4 and out[0][0] == 61.0 and out[2][0][0] == 5001.0
    """))


class Key:
    """Can be a key of a dict, and can be watched."""


def _read_dict(d, k, x):
    return d[k] + x, k in d, len(d)


def _read_dict_keys(d, k, x):
    return x + 1.0, [type(key) is Key for key in d], list(d)[0] is k


def _read_set(d, k, x):
    s = set(d)
    return x + 1.0, k in s, len(s)


@pytest.mark.parametrize("fn", [_read_dict, _read_dict_keys, _read_set], ids=lambda fn: fn.__name__)
@pytest.mark.parametrize("strange", [False, True])
def test_an_entry_keeps_no_key_alive(fn, strange):
    compiled = dyntrace.compile(fn)
    key = Key()
    table = {key: A, "other": A} if strange else {key: A}
    for _ in range(3):
        for got, expected in zip(compiled(table, key, A), fn(table, key, A)):
            assert np.array_equal(got, expected)
    gone = weakref.ref(key)
    del key, table
    gc.collect()
    assert gone() is None
    assert all(isinstance(row["guards"], str) for row in compiled.cache_entries())
    for _ in range(3):
        key = Key()  # may lie where the other one lay
        table = {key: A + 1.0}
        for got, expected in zip(compiled(table, key, A), fn(table, key, A)):
            assert np.array_equal(got, expected)


def test_an_entry_keeps_no_element_of_a_set_alive():
    def fn(s, k, x):
        return x + len(s), k in s

    compiled = dyntrace.compile(fn)
    key = Key()
    elements = {key}
    for _ in range(3):
        result, found = compiled(elements, key, A)
        assert np.array_equal(result, A + 1) and found
    gone = weakref.ref(key)
    del key, elements
    gc.collect()
    assert gone() is None
    assert compiled.cache_entries() is not None
    key, other = Key(), Key()
    result, found = compiled({other}, key, A)
    assert np.array_equal(result, A + 1) and not found


def test_why_a_guard_fails_is_told_without_a_key_that_is_gone():
    def fn(d, k, x):
        return d[k] + x

    compiled = dyntrace.compile(fn)
    key = Key()
    compiled({key: A}, key, A)
    before = compiled.cache_entries()[0]["guards"]
    assert "Key" in before
    del key
    gc.collect()
    after = compiled.cache_entries()[0]["guards"]
    assert len(after.splitlines()) == len(before.splitlines())


def test_keys_die_one_after_the_other():
    """What finds the entry to ask looks at no key that is gone, and not at its entry's elements."""

    def fn(d, k, x):
        return d[k] + x, len(d)

    compiled = dyntrace.compile(fn)
    keys = [Key() for _ in range(6)]
    tables = [dict.fromkeys(keys[: i + 1], A + i) for i in range(6)]
    for _ in range(3):
        for i in range(6):
            result, size = compiled(tables[i], keys[i], A)
            assert np.array_equal(result, A + i + A) and size == i + 1
    while keys:
        gone = weakref.ref(keys.pop())
        tables.pop()
        gc.collect()
        assert gone() is None
        more = [Key() for _ in range(20)]
        tables.append(dict.fromkeys(keys + more, A))
        for table, key in zip(tables, [*keys, more[0]]):
            result, _ = compiled(table, key, A)
            assert np.array_equal(result, table[key] + A)
        tables.pop()
        del table, key, more
