"""Building, unpacking, comprehensions, methods of lists and dicts, strings from constants."""

import numpy as np
import pytest
from differential import check

A = np.linspace(0.5, 2.0, 4)


def tuples(x):
    return (), (x,), (x, x + 1.0, (x, 2))


def lists(x):
    return [], [x], [x, [x + 1.0]], [1, 2, 3], [*[x, 1], *(2, 3)]


def dicts(x):
    a = {"a": x, "b": 2}
    return {}, a, {**a, "c": x + 1.0, "a": 0}, {1: x, None: 2, (1, 2): 3}, dict(p=x, q=1)


def sets(x):
    return {1, 2, 3}, {1, 1}, set(), x + 1.0


def shared(x):
    inner = [x]
    return [inner, inner], (inner, x)


def unpacking(pair, triple):
    a, b = pair
    c, *d = triple
    *e, f = triple
    g, *h, i = triple
    (j, k), l = (a, b), c
    return a + b, c, d, e, f, g, h, i, j, k, l


def unpack_nested(data):
    (a, b), [c, d] = data
    return a + b + c + d


def list_comprehension(items):
    return [item * 2.0 for item in items], [i for i in range(5) if i % 2]


def nested_comprehension(items):
    return [[item + i for item in items] for i in range(3)]


def dict_comprehension(d):
    return {k: v + 1.0 for k, v in d.items()}


def set_comprehension(x):
    return {i % 3 for i in range(7)}, x + 1.0


def comprehension_with_closure(items, n):
    return [item + n for item in items if n > 0]


def comprehension_shadows(x):
    i = x
    values = [i for i in range(3)]
    return i + 1.0, values


def list_methods(x):
    items = [3, 1, 2]
    items.append(x)
    items.extend([4, 5])
    items.insert(0, 9)
    last = items.pop()
    first = items.pop(0)
    items.remove(1)
    copy = items.copy()
    items.clear()
    copy.reverse()
    return items, copy, last, first, [3, 1, 2].index(1), [1, 1, 2].count(1)


def list_sorting(x):
    items = [3, 1, 2]
    items.sort()
    return items, sorted([5, 4]), sorted((1, 3, 2), reverse=True), x + 1.0


def list_arithmetic(x):
    a = [x]
    b = a + [1]
    c = b * 2
    a += [2, 3]
    return a, b, c, len(c)


def dict_methods(x):
    d = {"a": x}
    d.update({"b": 1}, c=2)
    d.setdefault("d", x)
    d.setdefault("a", 5)
    gone = d.pop("b")
    default = d.pop("zz", 7)
    e = d.copy()
    e["new"] = 1
    return d, gone, default, e, list(d), list(d.keys()), list(d.values()), list(d.items()), len(d)


def dict_merge(x):
    return {"a": 1} | {"b": x}


def builtins(x, items):
    return (
        len(items),
        min(3, 1, 2),
        max([4, 5]),
        sum([1, 2, 3]),
        abs(-3),
        list(range(3)),
        tuple([x]),
        list(zip([1, 2], "ab")),
        list(map(lambda v: v + 1, [1, 2])),
        isinstance(items, list),
        isinstance(x, (int, np.ndarray)),
        type(3) is int,
        bool([]),
        int(3.7),
        float(2),
        str("s"),
        any([0, 1]),
        all([1, 0]),
        divmod(7, 3),
        round(2.5),
        x * 2.0,
    )


def formatted(x, n):
    return x + 1.0, f"{n}", f"{n!r:>5}|{2.5:.3f}|{'s'}", f"{n:04d}"


def string_methods(x, s):
    return x + 1.0, s.upper(), s.split(","), ",".join(["a", "b"]), s.startswith("a"), s.strip()


CASES = [
    (tuples, A),
    (lists, A),
    (dicts, A),
    (sets, A),
    (shared, A),
    (unpacking, (A, A + 1), (A, 2, 3, 4)),
    (unpack_nested, ((A, 1), [2, A])),
    (list_comprehension, [A, A + 1]),
    (nested_comprehension, [A, A + 1]),
    (dict_comprehension, {"a": A, "b": A * 2}),
    (set_comprehension, A),
    (comprehension_with_closure, [A, 2.0], 3),
    (comprehension_shadows, A),
    (list_methods, A),
    (list_sorting, A),
    (list_arithmetic, A),
    (dict_methods, A),
    (dict_merge, A),
    (builtins, A, [1, 2]),
    (formatted, A, 42),
    (string_methods, A, "a,b"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_same(case):
    check(*case)


@pytest.mark.parametrize("count", [1, 3])
def test_unpacking_the_wrong_number(count):
    def fn(items, x):
        a, b = items
        return a + x

    check(fn, [1] * count, A, breaks="raises")
