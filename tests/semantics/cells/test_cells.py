"""Cells: one test for each way in which functions share variables.

Each function is run plainly and compiled; `state` shows what lies in cells that existed before.
"""

import types

import dyntrace
import numpy as np
import pytest
from differential import Compiled, Outcome, check, compare
from dyntrace._core import _testing

A = np.linspace(0.5, 2.0, 4)
KEPT = {}


class Holder:
    pass


def cell_of(fn, name):
    return fn.__closure__[fn.__code__.co_freevars.index(name)]


def contents(cell):
    try:
        return cell.cell_contents
    except ValueError:
        return "<empty>"


def shared(build, *, arguments=(), breaks=None, entries=1):
    """`build()` gives (function, reset, state): functions with cells that existed before."""
    fn, reset, state = build()
    return check(fn, *arguments, A, reset=reset, state=state, breaks=breaks, entries=entries)


# ---- cells of the root frame -----------------------------------------------------------------------


def test_own_cell_of_the_root():
    def run(x):
        n = 1

        def add(v):
            return v + n

        n = 2
        return add(x), n

    check(run, A)


def test_own_cell_that_is_an_argument():
    def run(n, x):
        def add(v):
            nonlocal n
            n += 1
            return v + n

        return add(x), n, add(x)

    check(run, 3, A)


def test_captured_cell_of_the_root_read():
    n = 2.5

    def run(x):
        return x * n + n

    check(run, A)


def counter():
    n = 0

    def run(x):
        nonlocal n
        n += 1
        return x + n

    def reset():
        nonlocal n
        n = 0

    return run, reset, lambda: n


def test_captured_cell_of_the_root_written():
    shared(counter)


def test_captured_cell_written_with_an_array():
    def build():
        last = None

        def run(x):
            nonlocal last
            last = x * 2.0
            return last

        def reset():
            nonlocal last
            last = None

        return run, reset, lambda: last

    shared(build)


def test_captured_cell_put_back_is_not_written():
    n = object()

    def run(x):
        nonlocal n
        old = n
        n = x + 1.0
        y = n
        n = old
        return y

    compiled = check(run, A)
    assert "STORE_DEREF" not in str(compiled.records[0].get("code", ""))


# ---- cells of inlined functions -----------------------------------------------------------------------


def test_inlined_function_that_existed_reads_its_cell():
    k = 3

    def helper(v):
        return v * k

    def run(x):
        return helper(x) + k

    check(run, A)


def test_inlined_function_that_existed_writes_its_cell():
    def build():
        k = 0

        def bump(v):
            nonlocal k
            k += 2
            return v * k

        def reset():
            nonlocal k
            k = 0

        def run(x):
            return bump(x) + bump(x)

        return run, reset, lambda: k

    shared(build)


def test_write_from_any_depth():
    def build():
        k = 0

        def deepest(v):
            nonlocal k
            k += 1
            return v + k

        def middle(v):
            return deepest(v) * 2.0

        def outer(v):
            return middle(v) + deepest(v)

        def reset():
            nonlocal k
            k = 0

        def run(x):
            return outer(x) + k

        return run, reset, lambda: k

    shared(build)


def test_root_and_callee_share_a_cell_that_existed():
    def build():
        total = 1

        def add(v):
            nonlocal total
            total = total + v
            return total

        def reset():
            nonlocal total
            total = 1

        def run(x):
            nonlocal total
            total = total * 2
            add(3)
            total += 1
            return x + total

        return run, reset, lambda: total

    shared(build)


def test_inlined_function_made_in_the_trace():
    def run(x):
        k = 1

        def twice():
            nonlocal k
            k *= 2
            return k

        twice()
        twice()
        return x * k

    check(run, A)


def test_cell_of_an_inlined_frame():
    def helper(v):
        n = 0

        def step():
            nonlocal n
            n += 1
            return n

        step()
        return v + step() + n

    def run(x):
        return helper(x) + helper(x)

    check(run, A)


# ---- functions without source -------------------------------------------------------------------------


def test_function_without_source_reads_its_cell():
    """A function made by FunctionType from a code object, kept in nothing that the root reads."""

    def outer():
        k = 4

        def inner(v):
            return v + k

        return inner

    made = outer()
    table = {"f": types.FunctionType(made.__code__, globals(), "f", None, made.__closure__)}

    def run(x):
        return table["f"](x)

    check(run, A)


def test_two_functions_share_a_cell_one_without_source():
    """The bound method of an object has a source; functools' wrapper keeps the other inside."""

    def build():
        n = 0

        def reader():
            return n

        def writer():
            nonlocal n
            n += 1
            return n

        def reset():
            nonlocal n
            n = 0

        holder = Holder()
        holder.reader = reader
        hidden = types.MethodType(lambda self, v: v + writer(), 1)

        def run(x):
            y = hidden(x)
            writer()
            return y, holder.reader(), hidden(x), reader()

        return run, reset, lambda: n

    shared(build)


# ---- names ---------------------------------------------------------------------------------------------


def test_same_name_for_different_cells_in_parent_and_child():
    def make():
        n = 10

        def child(v):
            nonlocal n
            n += 1
            return v + n

        return child

    child = make()

    def build():
        n = 1

        def run(x):
            nonlocal n
            n += 5
            return child(x) - n

        def reset():
            nonlocal n
            n = 1
            cell_of(child, "n").cell_contents = 10

        return run, reset, lambda: (n, cell_of(child, "n").cell_contents)

    shared(build)


def test_name_shadowed():
    n = 1

    def run(x):
        def inner(n):
            def innermost():
                nonlocal n
                n += 1
                return n

            return innermost() + n

        return x + inner(10) + n

    check(run, A)


def test_name_shadowed_by_an_own_cell():
    def helper(v, n=3):
        def use():
            return n * v

        return use()

    n = 2

    def run(x):
        m = n

        def use():
            return m

        return helper(x) + use()

    check(run, A)


def test_equal_contents_are_different_cells():
    def make():
        n = 0

        def bump():
            nonlocal n
            n += 1
            return n

        return bump

    def build():
        one, two = make(), make()

        def run(x):
            one()
            one()
            return x + two(), one()

        def reset():
            cell_of(one, "n").cell_contents = 0
            cell_of(two, "n").cell_contents = 0

        return run, reset, lambda: (contents(cell_of(one, "n")), contents(cell_of(two, "n")))

    shared(build)


# ---- escaping ------------------------------------------------------------------------------------------


def call_all(result):
    return [part() for part in result]


def test_closure_returned_by_an_inlined_function_called_later():
    def make(n):
        def bump():
            nonlocal n
            n += 1
            return n

        return bump

    def run(x):
        bump = make(5)
        bump()
        return x + bump(), bump() + 1

    check(run, A)


def test_closure_escapes_by_return():
    def run(x):
        n = 0

        def bump():
            nonlocal n
            n += 1
            return n

        bump()
        return bump, x + n

    compiled = check(run, A)
    bump = compiled(A)[0]
    assert (bump(), bump()) == (2, 3)


def test_two_closures_escape_with_one_cell():
    def run(x):
        n = 0

        def bump():
            nonlocal n
            n += 1
            return n

        def read():
            return n

        bump()
        return bump, read, x + n

    compiled = check(run, A)
    bump, read, _ = compiled(A)
    assert cell_of(bump, "n") is cell_of(read, "n")
    bump()
    assert read() == 2


@pytest.mark.parametrize("way", ["attribute", "container", "dict", "global"])
def test_closure_over_a_captured_cell_escapes(way):
    def build():
        n = 1

        def run(holder, x):
            nonlocal n

            def bump():
                nonlocal n
                n += 1
                return n

            bump()
            if way == "attribute":
                holder.bump = bump
            elif way == "container":
                holder.items.append(bump)
            elif way == "dict":
                holder.table["bump"] = bump
            else:
                KEPT["bump"] = bump
            return x + n

        def reset():
            nonlocal n
            n = 1
            KEPT.clear()

        return run, reset, lambda: n

    fn, reset, state = build()
    holder = Holder()
    holder.items, holder.table = [], {}
    check(fn, holder, A, reset=reset, state=state)
    reset()
    with dyntrace.config.patch(everything=True, strict=True):
        compiled = Compiled(fn)
        compiled(holder, A)
        made = {
            "attribute": lambda: holder.bump,
            "container": lambda: holder.items[-1],
            "dict": lambda: holder.table["bump"],
            "global": lambda: KEPT["bump"],
        }[way]()
        assert cell_of(made, "n") is cell_of(fn, "n")
        assert made() == 3 and state() == 3
        compiled(holder, A)
        assert state() == 4
    assert not compiled.breaks


def test_function_that_makes_a_capturing_function():
    def run(x):
        def outer(k):
            def maker(m):
                def innermost(v):
                    return v * k + m

                return innermost

            return maker

        return outer(2)(1)(x) + outer(3)(0)(x)

    check(run, A)


def test_closure_goes_through_a_function_that_does_not_use_it():
    def run(x):
        n = 1

        def through():
            def innermost():
                nonlocal n
                n += 1
                return n

            return innermost

        f = through()
        f()
        return x + f() + n

    check(run, A)


# ---- empty cells ---------------------------------------------------------------------------------------


def test_empty_cell_read():
    def run(x):
        def read():
            return n

        try:
            read()
        except NameError as error:
            text = str(error)
        n = 2
        return text, read(), x + n

    check(run, A)


def test_empty_own_cell_read_by_its_frame():
    def run(x):
        def read():
            return n

        try:
            y = x + n  # noqa: F821 - a cell that is still empty
        except UnboundLocalError as error:
            y = str(error)
        n = 3
        return y, read(), x + 1.0

    check(run, A)


def test_cell_deleted_and_refilled():
    def run(x):
        n = 1

        def read():
            try:
                return n
            except NameError:
                return None

        first = read()
        del n
        second = read()
        n = 3
        return first, second, read(), x + n

    check(run, A)


def test_cell_deleted_by_a_callee():
    def run(x):
        n = 1

        def drop():
            nonlocal n
            del n

        drop()
        try:
            return n, x
        except NameError as error:
            return str(error), x + 1.0

    check(run, A)


def test_existing_cell_deleted_and_refilled():
    def build():
        n = 1

        def run(x):
            nonlocal n
            old = n
            del n
            n = old + 1
            return x + n

        def reset():
            nonlocal n
            n = 1

        return run, reset, lambda: n

    shared(build)


def empty_cells():
    n = 1

    def run(x):
        nonlocal n
        y = x + n
        del n
        return y

    def reset():
        nonlocal n
        n = 1

    return run, reset, lambda: contents(cell_of(run, "n"))


def test_existing_cell_deleted():
    shared(empty_cells)


def test_existing_empty_cell_filled():
    def build():
        def run(x):
            nonlocal n
            n = x + 1.0
            return n

        def reset():
            nonlocal n
            n = None
            del n

        n = None
        return run, reset, lambda: contents(cell_of(run, "n"))

    shared(build)


def test_empty_and_full_are_two_entries():
    def make(fill):
        if fill:
            n = 1

        def read(v):
            try:
                return v + n
            except NameError:
                return v * 2.0

        return read

    def run(read, x):
        return read(x) + 1.0

    with dyntrace.config.patch(everything=True, strict=True):
        compiled = Compiled(run)
        for fill in (True, False, True, False):
            read = make(fill)
            compare(Outcome(run, (read, A), {}), Outcome(compiled, (read, A), {}))
    assert not compiled.breaks


# ---- __class__ and super() ------------------------------------------------------------------------------


class Base:
    def scale(self, v):
        return v * 2.0


class Derived(Base):
    def scale(self, v):
        return super().scale(v) + 1.0

    def owner(self):
        return __class__


def test_super_in_a_class_made_before():
    def run(o, x):
        return o.scale(x), o.owner()

    check(run, Derived(), A)


def test_super_of_a_new_instance():
    def run(x):
        o = Derived()
        return o.scale(x), o.owner() is Derived

    check(run, A)


def test_super_within_a_closure():
    class Closure(Base):
        def scale(self, v):
            def call():
                return super(Closure, self).scale(v)

            return call() + 1.0

    def run(x):
        return Closure().scale(x)

    check(run, A)


def test_super_in_a_class_made_in_the_frame():
    def run(x):
        class Inner(Base):
            def scale(self, v):
                return super().scale(v) - 1.0

        return Inner().scale(x)

    plain = run(A)
    with dyntrace.config.patch(everything=True, strict=True):
        compiled = Compiled(run)
        for _ in range(3):
            assert compiled(A).tobytes() == plain.tobytes()


# ---- comprehensions, generators, recursion, loops ---------------------------------------------------------


def test_comprehension_cell():
    def run(x):
        functions = [lambda v: v + i for i in range(3)]
        return [f(x) for f in functions]

    check(run, A)


def test_comprehension_reads_a_cell_of_the_frame():
    def run(x):
        k = 2.0

        def use(v):
            return v * k

        return [use(x) + k * i for i in range(3)]

    check(run, A)


def test_nested_comprehension_cells():
    def run(x):
        table = [[lambda v: v * i + j for j in range(2)] for i in range(2)]
        return [f(x) for row in table for f in row]

    check(run, A)


def test_comprehension_cell_of_a_captured_variable():
    k = 3.0

    def run(x):
        return [x * k + i for i in range(2) if i < k], {i: (lambda: i + k)() for i in range(2)}

    check(run, A)


def test_generator_cell():
    def run(x):
        k = 1

        def steps():
            nonlocal k
            for _ in range(3):
                k += 1
                yield x * k

        total = x
        for part in steps():
            total = total + part + k
        return total, k

    check(run, A)


def test_generator_expression_cell():
    def run(x):
        k = 2
        parts = (x * k + i for i in range(3))
        k = 5
        return sum(parts), k

    check(run, A)


def test_existing_cell_written_by_a_generator():
    def build():
        k = 0

        def steps():
            nonlocal k
            for i in range(3):
                k += i
                yield k

        def run(x):
            return [x + step for step in steps()], k

        def reset():
            nonlocal k
            k = 0

        return run, reset, lambda: k

    shared(build)


def test_recursive_closure():
    def run(x):
        def power(n):
            return x if n == 0 else power(n - 1) * 2.0

        return power(4)

    check(run, A)


def test_mutually_recursive_closures():
    def run(x):
        def even(n):
            return x if n == 0 else odd(n - 1) + 1.0

        def odd(n):
            return x * 0.0 if n == 0 else even(n - 1) * 2.0

        return even(4)

    check(run, A)


def test_recursive_closure_that_existed():
    def power(v, n):
        return v if n == 0 else power(v * 2.0, n - 1)

    def run(x):
        return power(x, 3)

    check(run, A)


def test_recursive_closure_escapes():
    def run(x):
        def count(n):
            return 0 if n == 0 else 1 + count(n - 1)

        return count, x + count(3)

    compiled = check(run, A)
    assert compiled(A)[0](5) == 5


def test_loop_variable_captured():
    def run(x):
        functions = []
        for i in range(3):
            functions.append(lambda v: v + i)
        return [f(x) for f in functions]

    check(run, A)


def test_loop_variable_captured_as_default():
    def run(x):
        functions = []
        for i in range(3):
            functions.append(lambda v, i=i: v * i)
        return [f(x) for f in functions]

    check(run, A)


def test_loop_variable_bound_per_iteration():
    def run(x):
        def bind(i):
            return lambda v: v - i

        functions = [bind(i) for i in range(3)]
        return [f(x) for f in functions]

    check(run, A)


def test_loop_that_writes_the_captured_variable():
    def run(x):
        total = 0

        def add(i):
            nonlocal total
            total += i

        for i in range(4):
            add(i)
            if total > 2:
                break
        return x + total, i

    check(run, A)


# ---- types.CellType ------------------------------------------------------------------------------------


def test_cell_object_read_and_written():
    def build():
        n = 1

        def use(v):
            return v + n

        cell = cell_of(use, "n")

        def run(x):
            y = use(x)
            cell.cell_contents = cell.cell_contents + 4
            return y, use(x)

        def reset():
            nonlocal n
            n = 1

        return run, reset, lambda: n

    fn, reset, state = build()
    plain = Outcome(fn, (A,), {}, state)
    with dyntrace.config.patch(everything=True, strict=True):
        compiled = Compiled(fn)
        for _ in range(3):
            reset()
            compare(plain, Outcome(compiled, (A,), {}, state))


def test_cell_object_made_by_the_user():
    def template(v):
        return v + n

    n = 0

    def build(cell):
        return types.FunctionType(template.__code__, globals(), "made", None, (cell,))

    cell = types.CellType(5)
    made = build(cell)

    def run(x):
        return made(x)

    with dyntrace.config.patch(everything=True, strict=True):
        compiled = Compiled(run)
        for value in (5, 5, 7.0, A):
            cell.cell_contents = value
            assert compiled(A).tobytes() == run(A).tobytes()
    assert not compiled.breaks and n == 0


def test_cell_object_made_in_the_function():
    def run(x):
        cell = types.CellType(1)
        cell.cell_contents = x + 1.0
        return cell.cell_contents

    plain = run(A)
    with dyntrace.config.patch(everything=True, strict=True):
        compiled = Compiled(run)
        for _ in range(3):
            assert compiled(A).tobytes() == plain.tobytes()


# ---- exceptions -----------------------------------------------------------------------------------------


def test_what_was_written_before_an_exception():
    def build():
        n = 0

        def fail(v):
            nonlocal n
            n += 1
            raise ValueError(n)

        def run(x):
            nonlocal n
            n += 10
            try:
                fail(x)
            except ValueError as error:
                n += 100
                return x + error.args[0]

        def reset():
            nonlocal n
            n = 0

        return run, reset, lambda: n

    shared(build)


def test_exception_leaves_with_cells_written():
    def build():
        n = 0

        def run(x):
            nonlocal n
            n += 1
            y = x + n
            if n:
                raise ValueError(n)
            n += 100
            return y

        def reset():
            nonlocal n
            n = 0

        return run, reset, lambda: n

    shared(build, breaks="raises")


def test_break_between_two_writes():
    def build():
        n = 0

        def run(x):
            nonlocal n
            n += 1
            y = x * n
            print(end="")
            n += 1
            return y + n

        def reset():
            nonlocal n
            n = 0

        return run, reset, lambda: n

    shared(build, breaks="unknown-callable")


def test_break_in_a_callee_that_writes():
    def build():
        n = 0

        def callee(v):
            nonlocal n
            n += 1
            print(end="")
            n += 1
            return v + n

        def run(x):
            nonlocal n
            y = callee(x) * 2.0
            n += 1
            return y + n, lambda: n

        def reset():
            nonlocal n
            n = 0

        return run, reset, lambda: n

    shared(build, breaks="unknown-callable")


# ---- guards ---------------------------------------------------------------------------------------------


def test_a_cell_that_changes_between_calls():
    k = 1

    def run(x):
        return x * k

    with dyntrace.config.patch(everything=True, strict=True):
        compiled = Compiled(run)
        for value in (1, 2.0, "no", A, 1):
            k = value
            compare(Outcome(run, (A,), {}), Outcome(compiled, (A,), {}))


def test_two_functions_of_one_code_have_cells_of_their_own():
    def make(k):
        def run(x):
            nonlocal k
            k = k + 1
            return x * k

        return run

    one, two = make(1), make(10)
    with dyntrace.config.patch(everything=True, strict=True):
        compiled = dyntrace.compile(one), dyntrace.compile(two)
        results = [fn(A) for fn in (*compiled, *compiled)]
    for result, k in zip(results, (2, 11, 3, 12)):
        assert result.tobytes() == (A * k).tobytes()
    assert contents(cell_of(one, "k")) == 3 and contents(cell_of(two, "k")) == 12


def test_code_dereferences_cells_of_its_frame():
    """`cell_contents` is for cells that the frame does not have; an own cell that escapes is made."""

    def make():
        k = 3

        def other():
            nonlocal k
            k += 1

        return other

    def build():
        n = 1

        def run(x, other):
            nonlocal n
            m = 5

            def own():
                nonlocal m
                m += 1
                return m + n

            n = n + 1
            other()
            return own, x + own()

        return run

    text = _testing.codegen_plan(build(), (A, make()), None, None)["text"]
    code = [line.split(None, 1)[1] for line in text.splitlines()[1:]]
    assert code.count("LOAD_DEREF 'n'") == code.count("STORE_DEREF 'n'") == 1, text
    assert code.count("LOAD_CLOSURE 'n'") == 1, text
    assert text.count("'cell_contents'") == 2, text  # of `other`: read and written
    assert code.count("LOAD_CONST <code>") == 1, text
