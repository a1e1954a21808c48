"""Functions for test_driver.py: each returns (or raises) something that can be compared."""

from __future__ import annotations

import asyncio
import contextlib


def straight(a, b=3):
    c = a + b
    c *= 2
    return c, a, b


def loops(n):
    total = 0
    for i in range(n):
        if i % 3 == 0:
            continue
        if i > 17:
            break
        total += i
    else:
        total += 1000
    while total > 10:
        total -= 7
        if total == 13:
            break
    return total


def nested_loops(n):
    out = []
    for i in range(n):
        for j in range(i):
            for k in (i, j):
                if k == 2:
                    break
                out.append((i, j, k))
            else:
                out.append("none")
    return out


def calls(n):
    def local(a, *rest, key=2, **more):
        return a, rest, key, more

    text = "x".join(["a", "b", str(n)])
    return (
        local(n, *range(3), key=len(text), **{"z": n}),
        local(n, key=max(1, n, key=lambda v: -v)),
        local(*[n], **dict(q=1)),
        text.upper().lower().replace("a", "b"),
        print,
    )


def conditions(a, b):
    x = a and b
    y = a or b or "neither"
    z = not a
    w = 1 < (a or 5) < 10 < (b or 20)
    v = "yes" if a is None else "no"
    u = a not in (1, 2) and b in [3, 4]
    return x, y, z, w, v, u


def containers(n):
    first, *middle, last = range(n)
    d = {"a": 1, **{"b": n}, "c": [*middle, last]}
    d["e"] = d["c"][1:3]
    d["c"][0] = first
    del d["a"]
    s = {n, first, *middle}
    t = (*middle, *d)
    d["c"][1:2] = [7, 8]
    return d, sorted(s), t, f"{n!r:>5}|{first:{n}}|{last}"


def comprehensions(n):
    a = [i * j for i in range(n) if i % 2 for j in range(i)]
    b = {k: [v for v in range(k)] for k in range(3)}
    c = {x for x in a}
    d = sum(y for y in a if y)
    i = "kept"
    e = [(lambda: i)() for i in range(2)]
    return a, b, sorted(c), d, i, e


def closures(n):
    count = 0

    def add(k):
        nonlocal count
        count += k
        return lambda: count + n

    f = add(2)
    n += 10
    add(5)
    return f(), count, n


def cell_argument(n, m):
    def see():
        return n, m

    n += 1
    return see(), n, m


def unbound(n):
    if n:
        x = 1
    try:
        return x
    except UnboundLocalError as error:
        return str(error)


def deleted(n):
    x = n
    del x
    try:
        x
    except NameError as error:
        found = type(error)
    return found, sorted(locals())


def handlers(n):
    log = []
    for i in range(n):
        try:
            try:
                if i == 1:
                    raise ValueError(i)
                if i == 2:
                    raise KeyError(i)
                if i == 3:
                    continue
                log.append(("plain", i))
            except ValueError as error:
                log.append(("value", error.args))
                if i:
                    raise RuntimeError("again") from error
            finally:
                log.append(("finally", i))
        except (KeyError, RuntimeError) as error:
            log.append((type(error), error.args, type(error.__cause__), type(error.__context__)))
        else:
            log.append(("else", i))
    return log


def handler_returns(n):
    try:
        return 10 // n
    except ZeroDivisionError:
        try:
            return int("x")
        except ValueError as error:
            return error.args, type(error.__context__)
        finally:
            n += 1
    finally:
        n += 100


def finally_overrides(n):
    for i in range(n):
        try:
            if i == 2:
                return "lost"
            1 // (i - 1)
        except ZeroDivisionError:
            break
        finally:
            if i == 0:
                continue
    return i


def finally_in_loop(n):
    seen = []
    while True:
        try:
            n -= 1
            if n == 3:
                continue
            if n < 0:
                break
            seen.append(n)
        finally:
            seen.append("f")
    return seen


def uncaught(n):
    values = [n, 0]
    for v in values:
        n = (
            n
            + 1 // v
        )
    return n


def uncaught_in_handler(n):
    try:
        raise ValueError(n)
    except ValueError:
        with contextlib.suppress(KeyError):
            {}[n]
        assert not n, "message"
    return n


def reraised(n):
    try:
        try:
            raise LookupError(n)
        except LookupError:
            n += 1
            raise
        finally:
            n += 2
    except LookupError as error:
        lines = []
        tb = error.__traceback__
        while tb is not None:
            lines.append(tb.tb_lineno)
            tb = tb.tb_next
        return n, lines


@contextlib.contextmanager
def manager(log, swallow):
    log.append("enter")
    try:
        yield len(log)
    except ValueError as error:
        log.append(error.args)
        if not swallow:
            raise
    finally:
        log.append("exit")


def with_statements(n):
    log = []
    with manager(log, True) as a, manager(log, False) as b:
        log.append((a, b))
        if n > 2:
            raise ValueError(n)
    for i in range(2):
        with manager(log, True):
            if i == 0:
                continue
            log.append(i)
            break
    with manager(log, True):
        return log


def with_uncaught(n):
    log = []
    with manager(log, False):
        raise ValueError(n, log)


def generator(n):
    total = 0
    for i in range(n):
        got = yield i, total
        if got:
            total += got
    try:
        yield "last"
    except KeyError:
        yield "thrown"
    finally:
        total = -1
    return total


def delegates(n):
    result = yield from generator(n)
    inner = yield from [1, 2]
    return result, inner


def uses_generators(n):
    out = []
    for make in generator, delegates:
        g = make(n)
        out.append(next(g))
        out.append(g.send(5))
        out.append(g.gi_yieldfrom is not None)
        out.extend(g)
        g = make(0)
        out.append(next(g))
        out.append(g.throw(KeyError("k")))
        try:
            next(g)
        except StopIteration as stop:
            out.append(stop.value)
        g = make(2)
        next(g)
        out.append(g.close())
    return out


def stop_iteration_in_generator(n):
    def bad():
        yield 1
        raise StopIteration(n)

    return list(bad())


class AsyncManager:
    def __init__(self, log):
        self.log = log

    async def __aenter__(self):
        self.log.append("aenter")
        return self

    async def __aexit__(self, kind, value, tb):
        self.log.append(("aexit", kind))
        return kind is ValueError


async def ticks(n):
    for i in range(n):
        await asyncio.sleep(0)
        yield i


async def coroutine(n):
    log = []
    async with AsyncManager(log) as m:
        m.log.append([i async for i in ticks(n)])
        async for i in ticks(n):
            if i == 1:
                continue
            log.append(i)
        else:
            log.append("else")
        raise ValueError
    log.append({i: await asyncio.sleep(0, i) for i in range(2)})
    try:
        await asyncio.wait_for(asyncio.sleep(1000), 0.0001)
    except asyncio.TimeoutError:
        log.append("timeout")
    return log


def uses_coroutine(n):
    return asyncio.run(coroutine(n))


def match_statement(value):
    match value:
        case 0 | 1:
            return "small"
        case int(x) if x > 5:
            return "big", x
        case [a, [b, *c]]:
            return a, b, c
        case {"k": v, **rest}:
            return v, rest
        case complex(real=r, imag=i):
            return r, i
        case str() as text:
            return text
        case _:
            return None


def matches(n):
    subjects = [n, 1, 77, [1, [2, 3, 4]], {"k": 1, "z": 2}, 1 + 2j, "t", None, [1, 2]]
    return [match_statement(s) for s in subjects]


def class_body(n):
    class Base:
        total = 0
        for i in range(n):
            total += i
        kept = [total + i for i in range(2)]  # noqa: F821
        if total > 3:
            extra = n
        del i

        def method(self):
            return __class__, self.total

        @property
        def prop(self):
            return super().__class__.__name__, n

    class Derived(Base, metaclass=type):
        total = Base.total + 1

        def method(self):
            return super().method()[1] + 1

    d = Derived()
    return d.method(), d.prop, Base.kept, getattr(Base, "extra", None), Derived.__qualname__


def imports(n):
    import os.path as p
    from string import ascii_letters
    from string import digits as numbers

    return p.join("a", ascii_letters[:n]), numbers


def globals_too(n):
    global made_here
    made_here = n
    result = made_here + 1
    del made_here
    return result


def many_names(n):
    """Arguments beyond one byte, jumps beyond one byte."""
    space = {}
    body = "def f(n):\n" + "".join(f"  v{i} = n + {i} if n else {i}.5\n" for i in range(300))
    exec(body + "  return v0, v299, [v1, v298]\n", space)  # noqa: S102
    return space["f"]


def decorated(n):
    @contextlib.contextmanager
    def inner():
        yield n

    with inner() as got:
        return got


def walrus_and_slices(n):
    if (m := n + 1) > 2:
        data = list(range(m))
        data[1:2] = [9]
        del data[-1]
        return [y := 1, y**2], data[::2], data[m:], m
    return m


def deep_expression(n):
    return [n, (n, {n: [n, max(n, min(n, 3, key=lambda v: (v, n)), len([n, n]))]}), -n, ~n, +n]


def recursion(n):
    return 1 if n <= 0 else n * recursion(n - 1)


CASES = [
    (straight, (4,)),
    (straight, ("a", "b")),
    (straight, (1, "x")),
    (loops, (5,)),
    (loops, (40,)),
    (nested_loops, (4,)),
    (calls, (3,)),
    (conditions, (0, None)),
    (conditions, (None, 3)),
    (conditions, (4, 15)),
    (containers, (5,)),
    (containers, (1,)),
    (comprehensions, (6,)),
    (closures, (1,)),
    (cell_argument, (1, 2)),
    (unbound, (0,)),
    (unbound, (1,)),
    (deleted, (1,)),
    (handlers, (5,)),
    (handler_returns, (0,)),
    (handler_returns, (3,)),
    (finally_overrides, (4,)),
    (finally_in_loop, (6,)),
    (uncaught, (1,)),
    (uncaught_in_handler, (0,)),
    (uncaught_in_handler, (2,)),
    (reraised, (1,)),
    (with_statements, (1,)),
    (with_statements, (3,)),
    (with_uncaught, (3,)),
    (uses_generators, (3,)),
    (stop_iteration_in_generator, (3,)),
    (uses_coroutine, (3,)),
    (matches, (3,)),
    (class_body, (1,)),
    (class_body, (4,)),
    (imports, (3,)),
    (globals_too, (3,)),
    (decorated, (3,)),
    (walrus_and_slices, (1,)),
    (walrus_and_slices, (5,)),
    (deep_expression, (3,)),
    (recursion, (6,)),
]

# Syntax that not every version has.
NEWER = {
    (3, 11): '''
def groups(n):
    log = []
    try:
        try:
            raise ExceptionGroup("g", [ValueError(n), KeyError(n), OSError(n)])
        except* ValueError as g:
            log.append(len(g.exceptions))
        except* KeyError:
            log.append("key")
            raise
    except* OSError as rest:
        log.append(str(rest))
    except* LookupError as more:
        log.append(repr(more))
    return log
''',
    (3, 12): '''
def groups_and_types(n):
    def generic[T: int](x: T) -> T:
        return x
    type Alias[A] = list[A]
    class Box[T]:
        items = [i for i in range(n)]
        def get(self) -> T:
            return self.items
    names = [name for name in "ab" if (lambda: name)()]
    return generic(n), Box().get(), repr(Alias), names, f"{f"{n}"!r:>{n + 4}}"
''',
}


def newer_cases(version):
    found = []
    for since, source in NEWER.items():
        if version >= since:
            space = {}
            exec(compile(source, f"<zoo {since}>", "exec"), space)  # noqa: S102
            found += [(f, (3,)) for name, f in space.items() if callable(f)]
    return found
