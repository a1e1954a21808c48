"""A break in every construct that has a place for one, with array work before, inside and after.

Each function is the text of a definition, so that syntax of newer versions can be among them. `opaque` is
the break; `n` is the number of times that it was called, so that nothing runs twice or not at all.
"""

from __future__ import annotations

import asyncio
import sys
import textwrap
import traceback

import dyntrace
import numpy as np
import pytest
from differential import FORCED, Compiled

LOG: list = []


@dyntrace.disable
def opaque(value=None, fail=False):
    LOG.append("opaque")
    if fail:
        raise ValueError("opaque fails")
    return value


class Manager:
    def __init__(self, suppress=False):
        self.suppress = suppress

    def __enter__(self):
        LOG.append("enter")
        return 2.0

    def __exit__(self, kind, value, tb):
        LOG.append(("exit", kind))
        return self.suppress

    async def __aenter__(self):
        LOG.append("aenter")
        return 3.0

    async def __aexit__(self, *info):
        LOG.append(("aexit", info[0]))


async def ticks(n):
    for i in range(n):
        await asyncio.sleep(0)
        yield float(i)


# name -> (source, fewest pieces with a graph)
PLACES = {
    "while_else": ("""
        def f(x):
            y, k = x + 1, 0
            while k < 3:
                y = y * 2
                opaque()
                y, k = y - x, k + 1
            else:
                y = y / 3
            return y * x
        """, 3),
    "condition_of_while": ("""
        def f(x):
            y, k = x + 1, 0
            while opaque(k) < 3:
                y, k = y * 2 - x, k + 1
            return y / 2
        """, 2),
    "else_of_for": ("""
        def f(x):
            y = x + 1
            for k in range(3):
                y = y * 1.5
            else:
                y = y - 1
                opaque()
                y = y * x
            return y / 2
        """, 2),
    "iterable_of_for": ("""
        def f(x):
            y = x + 1
            for k in opaque([1, 2, 3]):
                y = y * k - x
            return y / 2
        """, 2),
    "else_of_try": ("""
        def f(x):
            y = x + 1
            try:
                y = y * 2
            except ValueError:
                y = y - 1
            else:
                y = y * x
                opaque()
                y = y / 3
            return y - x
        """, 2),
    "finally_with_return": ("""
        def f(x):
            y = x + 1
            try:
                return y * 2
            finally:
                y = y * x
                opaque()
                LOG.append((y / 3).tolist())
        """, 2),
    "nested_finally": ("""
        def f(x):
            y = x + 1
            try:
                try:
                    y = y * 2
                    opaque(fail=True)
                finally:
                    y = y - x
                    opaque()
                    y = y * 3
            except ValueError as error:
                y = y + len(str(error))
            return y * x
        """, 2),
    "raise_from": ("""
        def f(x):
            y = x + 1
            try:
                opaque(fail=True)
            except ValueError as error:
                y = y * 2
                opaque()
                raise KeyError(float(y.sum())) from error
        """, 1),
    "assertion": ("""
        def f(x):
            y = x + 1
            assert opaque(y * 2) is not None, "never"
            return y * x
        """, 2),
    "failing_assertion": ("""
        def f(x):
            y = x * 2
            assert opaque(), y.sum() * 2
        """, 1),
    "two_withs_in_one": ("""
        def f(x):
            y = x + 1
            with Manager() as a, Manager(True) as b:
                y = y * a + b
                opaque()
                y = y * x
                opaque(fail=True)
            return y - a
        """, 2),
    "return_inside_with": ("""
        def f(x):
            with Manager() as a:
                y = x * a
                opaque()
                return y + 1
        """, 2),
    "break_out_of_with": ("""
        def f(x):
            y = x + 1
            for k in range(4):
                with Manager() as a:
                    y = y * a
                    opaque()
                    if k == 1:
                        continue
                    if k == 2:
                        break
                    y = y - x
            return y / 2
        """, 2),
    "manager_expression": ("""
        def f(x):
            y = x + 1
            with opaque(Manager()) as a:
                y = y * a
            return y - 1
        """, 2),
    "match_subject_and_guard": ("""
        def f(x):
            y = x + 1
            match opaque((1, "a")):
                case 2, _:
                    y = y - 5
                case 1, what if opaque(True):
                    y = y * 2 + len(what)
            return y * x
        """, 2),
    "lambda_body": ("""
        def f(x):
            y = x + 1
            g = lambda z: opaque(z * 2) + x
            return g(y) - 1
        """, 2),
    "nested_function": ("""
        def f(x):
            y = x + 1
            def g(z, k=opaque(2.0)):
                nonlocal y
                y = z * k
                opaque()
                return y + x
            return g(y * 3) - y
        """, 3),
    "decorator": ("""
        def f(x):
            y = x + 1
            @opaque
            def g(z):
                return z * 2 + x
            return g(y) - 1
        """, 2),
    "class_body": ("""
        def f(x):
            y = x + 1
            class Here:
                part = opaque(2)
                scale = part * 3
            return y * Here.scale - x
        """, 1),
    "list_comprehension": ("""
        def f(x):
            y = x + 1
            parts = [opaque(y * k) - x for k in range(3)]
            return parts[0] + parts[2] * 2
        """, 2),
    "set_and_dict_comprehension": ("""
        def f(x):
            y = x + 1
            d = {opaque(k): y * k for k in range(3)}
            s = {opaque(k) for k in d}
            return d[1] * len(s) + x
        """, 2),
    "nested_comprehension": ("""
        def f(x):
            y = x + 1
            rows = [[opaque(y + k) * j for j in range(2)] for k in range(2)]
            return rows[1][1] - rows[0][0] * x
        """, 2),
    "comprehension_condition": ("""
        def f(x):
            y = x + 1
            parts = [y * k for k in range(4) if opaque(k) % 2]
            return parts[0] + parts[1] * x
        """, 2),
    "generator_expression": ("""
        def f(x):
            y = x + 1
            total = sum(opaque(y * k) + x for k in range(3))
            return total * 2 - y
        """, 2),
    "walrus": ("""
        def f(x):
            y = x + 1
            if (k := opaque(3)) > 2 and (z := y * k) is not None:
                y = z - x
            return y * k
        """, 2),
    "chained_comparison": ("""
        def f(x):
            y = x + 1
            if 0 < opaque(1) < opaque(2) <= 2:
                y = y * 2 - x
            return y / 3
        """, 2),
    "conditional_expression": ("""
        def f(x):
            y = x + 1
            return (y * 2 if opaque(True) else y * 3) - (x if opaque(0) else y) * x
        """, 2),
    "slice_and_store": ("""
        def f(x):
            y = x * 2
            y[opaque(1) : opaque(3)] = x[:2] - 1
            y[opaque(0)] += 5.0
            return y * x
        """, 2),
    "starred_call": ("""
        def g(*args, **kwargs):
            return sum(args) * kwargs["k"]

        def f(x):
            y = x + 1
            return g(*opaque([y, x]), y * 2, **opaque({"k": 2.0})) - x
        """, 1),
    "unpacked_targets": ("""
        def f(x):
            y = x + 1
            a, (b, *c) = opaque((1, (2, 3, 4)))
            return y * a + x * b - len(c)
        """, 2),
    "attribute_targets": ("""
        def f(x):
            class Box:
                pass
            box = Box()
            box.y = x + 1
            opaque(box).z = opaque(box).y * 2
            box.z += opaque(1.5)
            return box.y * box.z
        """, 1),
    "deleted_names": ("""
        def f(x):
            y = x + 1
            z = y * 2
            del y
            opaque()
            try:
                return y
            except UnboundLocalError as error:
                return z - len(str(error)) * x
        """, 2),
    "f_string_and_format": ("""
        def f(x):
            y = x + 1
            text = f"{opaque(1)!r:>4}|{opaque('a'):{opaque(3)}}"
            return y * len(text) - x
        """, 2),
    "yield_in_a_loop": ("""
        def g(x):
            for k in range(3):
                y = x * k + 1
                opaque()
                got = yield y * 2
                y = y - x
            return y

        def f(x):
            z = x + 1
            for part in g(z):
                z = z + part
            return z * 2
        """, 1),
    "yield_from_in_a_try": ("""
        def g(x):
            try:
                got = yield from h(x * 2)
                opaque()
                yield got + 1
            finally:
                opaque()

        def h(x):
            yield x + 1
            opaque()
            return x - 1

        def f(x):
            return sum(g(x + 1)) * 2
        """, 1),
    "async_with_and_for": ("""
        async def g(x):
            y = x + 1
            async with Manager() as a:
                y = y * a
                opaque()
                async for k in ticks(3):
                    y = y + k * x
                    opaque()
            return y - 1

        def f(x):
            return asyncio.run(g(x * 2)) + x
        """, 1),
    "async_comprehension": ("""
        async def g(x):
            y = x * 2
            parts = [opaque(y) * k async for k in ticks(3)]
            return sum(parts) + y

        def f(x):
            return asyncio.run(g(x + 1)) - x
        """, 1),
    "except_star": ("""
        def f(x):
            y = x + 1
            try:
                y = y * 2
                raise ExceptionGroup("g", [ValueError(1), KeyError(2)])
            except* ValueError as group:
                y = y + len(group.exceptions)
                opaque()
                y = y * x
            except* KeyError:
                opaque()
                y = y - 1
            return y / 2
        """, 1),
    "try_in_a_loop_in_a_with_in_a_callee": ("""
        def g(x, k):
            with Manager():
                for j in range(2):
                    try:
                        x = x * 2
                        opaque(fail=j == k)
                        x = x + 1
                    except ValueError:
                        x = x - k
                        opaque()
                        continue
                    finally:
                        x = x / 2
            return x

        def f(x):
            y = x + 1
            for k in range(3):
                y = g(y, k) * 1.5
            return y - x
        """, 2),
    "recursion": ("""
        def g(x, n):
            if n == 0:
                return opaque(x * 2)
            y = g(x + n, n - 1)
            opaque()
            return y * 0.5 + x

        def f(x):
            return g(x + 1, 4) - x
        """, 2),
}


def define(name):
    source = textwrap.dedent(PLACES[name][0]).strip() + "\n"
    space = dict(opaque=opaque, Manager=Manager, ticks=ticks, LOG=LOG, asyncio=asyncio, np=np)
    space["__name__"] = "places"
    exec(compile(source, f"{name}.py", "exec"), space)
    return space["f"]


def call(function, x):
    LOG.clear()
    try:
        answer = function(x).tobytes()
    except Exception as error:
        steps = traceback.extract_tb(error.__traceback__)
        cause = error.__cause__ or error.__context__
        lines = [s.lineno for s in steps if s.filename.endswith(f"{NAME}.py")]
        answer = type(error), str(error), type(cause), lines
    return answer, list(LOG), x.tobytes()


NAME = ""


@pytest.mark.parametrize("name", PLACES)
def test_place(name):
    global NAME
    if name == "except_star" and sys.version_info < (3, 11):
        pytest.skip("syntax of 3.11")
    NAME = name
    function = define(name)
    plain = call(function, np.linspace(0.5, 2.0, 4))
    with dyntrace.config.patch(strict=True, trace_budget_ns=0):
        compiled = Compiled(function)
        for _ in range(6):
            assert call(compiled, np.linspace(0.5, 2.0, 4)) == plain
    if not FORCED:
        pieces = [r for r in compiled.region.records if r["graph"] is not None]
        assert len(pieces) >= PLACES[name][1], [r["break"] for r in compiled.region.records]
