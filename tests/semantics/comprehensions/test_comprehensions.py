"""Comprehensions: a function of their own until 3.11, instructions of the frame since 3.12."""

import numpy as np
import pytest
from differential import check

A = np.linspace(0.5, 2.0, 4)
FACTOR = 3


def list_comprehension(x):
    return [i * 2 for i in range(4)], x + 1


def list_of_arrays(x):
    return [x * i for i in (1.0, 2.0)]


def with_condition(x):
    return [i for i in range(10) if i % 3 == 0], x + 1


def with_two_conditions(x):
    return [i for i in range(20) if i % 2 if i % 3], x + 1


def with_conditional_expression(x):
    return ["even" if i % 2 == 0 else "odd" for i in range(4)], x + 1


def two_loops(x):
    return [(i, j) for i in range(3) for j in "ab"], x + 1


def inner_loop_depends_on_outer(x):
    return [j for i in range(4) for j in range(i)], x + 1


def nested(x):
    return [[i * j for j in range(3)] for i in range(3)], x + 1


def nested_three_deep(x):
    return [[[k for k in range(j)] for j in range(i)] for i in range(3)], x + 1


def set_comprehension(x):
    return {i % 3 for i in range(9)} == {0, 1, 2}, {i for i in ()}, x + 1


def dict_comprehension(x):
    return {k: len(k) for k in ["a", "bb"]}, {i: x * i for i in range(2)}


def dict_from_items(x):
    d = {"a": 1, "b": 2}
    return {v: k for k, v in d.items()}, {k: v for k, v in d.items() if v > 1}, x + 1


def dict_later_keys_win(x):
    return {i % 2: i for i in range(5)}, x + 1


def reads_local(x):
    n = 5
    return [i + n for i in range(2)], x + n


def reads_argument(x, scale=2.0):
    return [x * scale * i for i in range(2)]


def reads_global(x):
    return [i * FACTOR for i in range(3)], x + 1


def reads_enclosing(x):
    n = 4

    def inner():
        return [i * n for i in range(3)]

    return inner(), x + 1


def variable_does_not_leak(x):
    i = "outer"
    squares = [i * i for i in range(3)]
    return i, squares, x + 1


def variable_stays_unbound(x):
    [unbound for unbound in range(3)]
    try_it = "unbound" in locals_of_nothing()
    return try_it, x + 1


def locals_of_nothing():
    return {}


def same_name_everywhere(x):
    x0 = [x for x in [1, 2]]
    return x0, [x for x in [[x] for x in (3, 4)]], x + 1


def iterates_over_its_own_name(x):
    items = [1, 2]
    items = [items for items in items]
    return items, x + 1


def closures_share_the_variable(x):
    functions = [lambda: i for i in range(3)]
    return [f() for f in functions], x + 1


def closures_with_defaults(x):
    functions = [lambda i=i: i for i in range(3)]
    return [f() for f in functions], x + 1


def closure_over_argument(x):
    functions = [lambda y: x * y + i for i in range(2)]
    return [f(2.0) for f in functions]


def closure_over_both_levels(x):
    functions = [[lambda: (i, j) for j in range(2)] for i in range(2)]
    return [f() for row in functions for f in row], x + 1


def captured_outer_variable(x):
    i = 10
    get = lambda: i  # noqa: E731
    values = [i for i in range(2)]
    return get(), values, x + 1


def captured_and_rebound(x):
    n = 1

    def get():
        return n

    values = [n for n in range(5)]
    n = 7
    return get(), values, x + 1


def walrus(x):
    values = [y := i * 2 for i in range(3)]
    return values, y, x + 1


def walrus_in_condition(x):
    return [half for i in range(8) if (half := i // 2) % 2], half, x + 1


def walrus_of_array(x):
    parts = [(last := x * i) for i in range(1, 3)]
    return parts, last


def walrus_in_nested(x):
    total = 0
    table = [[total := total + j for j in range(i)] for i in range(4)]
    return table, total, x + 1


def walrus_captured(x):
    values = [(seen := i) for i in range(3)]

    def get():
        return seen

    return values, get(), x + 1


def unpacking_targets(x):
    return [a + b for a, b in [(1, 2), (3, 4)]], [r for _, *r in [(1, 2, 3)]], x + 1


def attribute_calls(x):
    return [w.upper() for w in ["a", "b"]], [s.strip().title() for s in (" x ",)], x + 1


def function_calls(x):
    def double(v):
        return v * 2.0

    return [double(v) for v in (x, x + 1.0)]


def method_on_list(x):
    out = []
    [out.append(i) for i in range(3)]
    return out, x + 1


def in_a_loop(x):
    rows = []
    for n in range(3):
        rows.append([n * i for i in range(n)])
    return rows, x + 1


def as_argument(x):
    return sum([x * i for i in range(3)]), max([len(w) for w in ("a", "bcd")])


def in_condition(x):
    if [i for i in range(3) if i > 5]:
        return x
    return x * 2


def in_subscript(x):
    return [[1, 2, 3][i] for i in [2, 0]], {"a": 5}[[k for k in "a"][0]], x + 1


def in_return_of_inlined(x):
    def rows(n):
        return [[n] * i for i in range(n)]

    return rows(3), x + 1


def over_zip_and_enumerate(x):
    return [i * a for i, a in enumerate([x, x + 1.0])], [a + b for a, b in zip("ab", "cd")]


def over_dict_views(x):
    d = {"a": 1.0, "b": 2.0}
    return [x * v for v in d.values()], [k + "!" for k in d]


def over_generator(x):
    def g():
        yield 1
        yield 2

    return [i * 2 for i in g()], {i for i in g()} == {1, 2}, x + 1


def over_string(x):
    return [c for c in "héllo" if c.isalpha()], x + 1


def comprehension_in_lambda(x):
    make = lambda n: [i for i in range(n)]  # noqa: E731
    return make(3), x + 1


def comprehension_in_default(x):
    def f(values=[i * i for i in range(3)]):  # noqa: B006
        return values

    return f(), x + 1


def comprehension_in_class_method(x):
    return Rows([1, 2]).scaled(x), Rows([3]).table()


class Rows:
    def __init__(self, values):
        self.values = values

    def scaled(self, x):
        return [x * v for v in self.values]

    def table(self):
        return [[v + w for w in self.values] for v in self.values]


def matrix_product(x):
    a, b = [[1, 2], [3, 4]], [[5, 6], [7, 8]]
    return [[sum(p * q for p, q in zip(r, c)) for c in zip(*b)] for r in a], x + 1


def flatten(x):
    return [v for row in [[1], [2, 3], []] for v in row], x + 1


def primes(x):
    return [n for n in range(2, 30) if all(n % d for d in range(2, n))], x + 1


def starred_in_element(x):
    return [[*r, 0] for r in [[1], [2, 3]]], [{**d, "z": 1} for d in [{"a": 1}]], x + 1


def lambda_in_condition(x):
    return [i for i in range(5) if (lambda v: v > 2)(i)], x + 1


def chained_comparison(x):
    return [i for i in range(10) if 2 < i <= 5 and i != 4], x + 1


def set_of_tuples(x):
    return len({(i % 2, j % 2) for i in range(4) for j in range(4)}), x + 1


def dict_of_lists(x):
    return {k: [v for v in range(k)] for k in range(3)}, x + 1


def empty_inner(x):
    return [i for i in range(3) for j in []], [[] for _ in range(2)], x + 1


def comprehension_shadows_builtin(x):
    return [len for len in [1, 2]], len([1]), x + 1


def deleted_before(x):
    i = 5
    del i
    return [i for i in range(2)], x + 1


def comprehension_of_functions(x):
    table = {n: (lambda v, n=n: v * n) for n in (2.0, 3.0)}
    return sum(f(x) for f in table.values())


CASES = [
    value
    for value in list(globals().values())
    if getattr(value, "__module__", None) == __name__
    and getattr(value, "__code__", None)
    and value is not locals_of_nothing
]


@pytest.mark.parametrize("fn", CASES, ids=lambda fn: fn.__name__)
def test_captured(fn):
    check(fn, A)
