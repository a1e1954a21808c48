"""Small functions as people write them, about values of the builtin types with arrays in flight.

Each is captured whole: one graph, no break; what raises is caught where people catch it.
"""

# ruff: noqa: E501  (tables)

import numpy as np
import pytest
from differential import Compiled, check

A = np.linspace(0.5, 2.0, 4)


class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __eq__(self, other):
        return isinstance(other, Point) and (self.x, self.y) == (other.x, other.y)

    def __hash__(self):
        return hash((self.x, self.y))

    def __lt__(self, other):
        return self.x < other.x

    def __repr__(self):
        return f"Point({self.x}, {self.y})"


class Money:
    def __init__(self, cents):
        self.cents = cents

    def __str__(self):
        return f"${self.cents / 100:.2f}"

    def __format__(self, spec):
        return f"{self.cents / 100:{spec or '.2f'}}"


# ---- Numbers


def digits(n, x):
    total = 0
    while n:
        n, d = divmod(n, 10)
        total += d
    return x * total


def collatz(n, x):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return x + steps, steps


def gray_code(n, x):
    return [i ^ (i >> 1) for i in range(n)], x


def modular_inverse(a, m, x):
    try:
        return pow(a, -1, m), x
    except ValueError as error:
        return str(error), x


def checksum(data, x):
    crc = 0xFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ 0xA001 if crc & 1 else crc >> 1
    return crc, x + 1


def big_numbers(x):
    n = 2**100
    return n, n + 1, str(n), n.bit_length(), (n >> 90) & 1023, float(n), hash(n), x


def rounding(x):
    return [round(v, 1) for v in (0.25, 0.35, 2.5, -1.05)], round(7.5), round(-7.5), x


def same_keys(x):
    d = {1: "int"}
    d[1.0] = "float"
    d[True] = "bool"
    return d, x, {0, 0.0, False}


def clamp(value, low, high, x):
    return max(low, min(value, high)) * x


def special_floats(x):
    nan, inf = float("nan"), float("inf")
    return nan != nan, inf > 1e308, -inf, (0.0).hex(), repr(-0.0), min(1.0, inf), x


def integer_bytes(n, x):
    raw = n.to_bytes(4, "little")
    return raw, int.from_bytes(raw, "little") == n, raw.hex(), x


def parse_numbers(texts, x):
    found, bad = [], []
    for text in texts:
        try:
            found.append(int(text))
        except ValueError:
            try:
                found.append(float(text))
            except ValueError as error:
                bad.append(str(error))
    return found, bad, x + len(found)


def base_conversion(n, x):
    return bin(n), oct(n), hex(n), f"{n:b}", int("ff", 16), int(bin(n), 2), x


# ---- Strings


def report(rows, x):
    lines = [f"{'name':<8}|{'value':>8}", "-" * 17]
    for name, value in rows:
        lines.append(f"{name:<8}|{value:>8.2f}")
    return "\n".join(lines), x


def snake_case(name, x):
    out = []
    for i, c in enumerate(name):
        if c.isupper() and i:
            out.append("_")
        out.append(c.lower())
    return "".join(out), x


def word_count(text, x):
    counts = {}
    for word in text.lower().split():
        counts[word] = counts.get(word, 0) + 1
    return sorted(counts.items(), key=lambda kv: (-kv[1], kv[0])), x


def palindrome(text, x):
    cleaned = [c for c in text.lower() if c.isalnum()]
    return cleaned == cleaned[::-1], x


def caesar(text, shift, x):
    return "".join(chr((ord(c) - 97 + shift) % 26 + 97) if c.islower() else c for c in text), x


def nested_formats(width, x):
    return f"{3.14159:{width}.{2}f}|{'ab'!r:>{width}}|{width=}", x


def formats_objects(x):
    p, m = Point(1, 2), Money(1234)
    return f"{p} {p!r} {m} {m:.1f}", "%s and %r" % (m, p), "{0} {1:>8}".format(p, m), x  # noqa: UP031,UP032


def text_of_containers(x):
    p = Point(1, 2)
    inner = [1, p]
    return repr([inner, {"k": (p,)}]), str({p: 1}), f"{(p,)}", x


def recursive_text(x):
    items = [1]
    items.append(items)
    text = repr(items)
    items.pop()
    return text, x


def parse_pairs(text, x):
    return dict(pair.split("=", 1) for pair in text.split(";") if "=" in pair), x


def template(x):
    return "{user[name]} has {count:03d} {what}".format(
        user={"name": "Bo"}, count=7, what="items"
    ), x


def format_errors(x):
    out = []
    for text, args in (("{} {}", (1,)), ("{x}", ()), ("{:d}", ("a",)), ("{", ()), ("{!z}", (1,))):
        try:
            out.append(text.format(*args))
        except (IndexError, KeyError, ValueError) as error:
            out.append((type(error).__name__, str(error)))
    return out, x


def encode_decode(text, x):
    raw = text.encode("utf-8")
    return raw, raw.decode("utf-8") == text, raw.decode("ascii", "replace"), len(raw), x


def translate(text, x):
    table = str.maketrans({"a": "1", "b": None, "c": "xyz"})
    return text.translate(table), x


# ---- Lists


def flatten(rows, x):
    out = []
    for row in rows:
        out.extend(row) if isinstance(row, list) else out.append(row)
    return out, x


def slices(x):
    a = list(range(10))
    a[2:4] = "abc"
    a[::3] = [0] * len(a[::3])
    del a[1::4]
    a[len(a) :] = (7, 8)
    return a, x


def bubble_sort(items, x):
    items = items[:]
    for i in range(len(items)):
        for j in range(len(items) - 1 - i):
            if items[j] > items[j + 1]:
                items[j], items[j + 1] = items[j + 1], items[j]
    return items, x


def sort_records(x):
    rows = [("b", 2), ("a", 2), ("c", 1)]
    rows.sort(key=lambda r: r[1])
    by_name = sorted(rows, key=lambda r: r[0], reverse=True)
    return rows, by_name, max(rows, key=lambda r: r[1]), min(rows), x


def sort_objects(x):
    points = [Point(3, 0), Point(1, 1), Point(2, 2), Point(1, 3)]
    return sorted(points), sorted(points, reverse=True), min(points), max(points), x


def sort_mixed(x):
    items = [3, 1, "a", 2]
    try:
        items.sort()
    except TypeError as error:
        return str(error), items, x


def sort_looks_empty(x):
    items = [3, 1, 2]
    seen = []
    items.sort(key=lambda v: (seen.append(len(items)), v)[1])
    return items, seen, x


def sort_modified(x):
    items = [3, 1, 2]
    try:
        items.sort(key=lambda v: items.append(v) or v)
    except ValueError as error:
        return str(error), items, x


def sort_nan(x):
    nan = float("nan")
    return sorted([3.0, nan, 1.0, 2.0]), sorted([nan, 2.0, 1.0]), x


def search_objects(x):
    p = Point(1, 2)
    items = [Point(0, 0), p, Point(1, 2)]
    return (
        items.index(Point(1, 2)),
        items.count(p),
        Point(0, 0) in items,
        items.remove(p),
        len(items),
        x,
    )


def matrix(n, x):
    rows = [[0] * n for _ in range(n)]
    for i in range(n):
        rows[i][i] = i + 1
    return [list(col) for col in zip(*rows)], x


def stack_and_queue(x):
    stack = [1, 2]
    stack.append(3)
    try:
        while True:
            stack.pop()
    except IndexError as error:
        return str(error), stack, x


def compare_lists(x):
    return [1, 2] < [1, 2, 3], [2] > [1, 9], [1, [2, 3]] == [1, [2, 3]], (1, "a") < (2, 1), x


def aliasing(x):
    a = [[]] * 3
    a[0].append(1)
    b = a
    b += [5]
    return a, a is b, x


# ---- Dicts


def group_by(words, x):
    groups = {}
    for word in words:
        groups.setdefault(len(word), []).append(word)
    return groups, list(groups), x


def invert(d, x):
    return {v: k for k, v in d.items()}, x


def merge(a, b, x):
    return {**a, **b}, a | b, list((a | b).items()), x


def live_views(x):
    d = {"a": 1}
    keys, values, items = d.keys(), d.values(), d.items()
    d["b"] = 2
    return (
        list(keys),
        list(values),
        list(items),
        len(keys),
        "b" in keys,
        keys & {"b", "z"},
        keys - {"a"},
        x,
    )


def ordering(x):
    d = dict.fromkeys("abc", 0)
    d["b"] = 5
    del d["a"]
    d["a"] = 1
    return list(d.items()), list(reversed(d)), d.popitem(), next(iter(d)), x


def changed_while_iterated(x):
    d = {"a": 1, "b": 2}
    try:
        for key in d:
            d[key + "x"] = 1
    except RuntimeError as error:
        return str(error), d, x


def objects_as_keys(x):
    table = {Point(1, 2): "a", Point(3, 4): "b"}
    table[Point(1, 2)] = "c"
    return table[Point(1, 2)], Point(3, 4) in table, table.get(Point(9, 9), "none"), len(table), x


def missing_key(d, x):
    try:
        return d["zz"], x
    except KeyError as error:
        return error.args, repr(error), x


def memo_fibonacci(n, x):
    memo = {}

    def fib(k):
        if k not in memo:
            memo[k] = k if k < 2 else fib(k - 1) + fib(k - 2)
        return memo[k]

    return fib(n), len(memo), x


# ---- Sets


def unique_in_order(items, x):
    seen = set()
    return [i for i in items if not (i in seen or seen.add(i))], x


def set_algebra(x):
    a, b = {1, 2, 3, 10, 18}, {3, 10, 26}
    return a | b, a & b, a - b, a ^ b, a <= b, a.isdisjoint({7}), list(a | b), list(a ^ b), x


def set_iteration(x):
    s = {8, 0, 16, 3}
    s.discard(8)
    s.add(24)
    return list(s), [v for v in sorted(s)], len(s), x


def set_of_argument(s, x):
    s.add(99)
    s.discard(1)
    return sorted(s), s | {5}, 2 in s, x


def frozen_keys(x):
    table = {frozenset([1, 2]): "a"}
    return (
        table[frozenset([2, 1])],
        {1, 2} in {frozenset([1, 2])},
        hash(frozenset()) == hash(frozenset()),
        x,
    )


def primes(n, x):
    sieve = set(range(2, n))
    for i in range(2, n):
        if i in sieve:
            sieve -= set(range(i * i, n, i))
    return sorted(sieve), x


def set_pops(x):
    s = {5, 1, 9, 33}
    out = []
    while s:
        out.append(s.pop())
    return out, x


def strings_in_a_set(words, x):
    return sorted(set(words)), len(set("".join(words))), x


# ---- Bytearrays


def pack(values, x):
    out = bytearray()
    for v in values:
        out += v.to_bytes(2, "big")
    out[0] = 255
    return out, bytes(out), out.hex(), len(out), x


def edit_bytes(data, x):
    data.append(33)
    data[1:3] = b"xyz"
    del data[0]
    data.extend([1, 2])
    data.reverse()
    return data.find(b"z"), data.pop(), bytes(data), x


def bytearray_errors(x):
    out = []
    data = bytearray(b"ab")
    for value in (256, "a", -1):
        try:
            data.append(value)
        except (TypeError, ValueError) as error:
            out.append(str(error))
    return out, data, x


# ---- Ranges, slices, iteration


def windows(items, size, x):
    return [items[i : i + size] for i in range(0, len(items) - size + 1)], x


def range_questions(x):
    r = range(10, 0, -3)
    return list(r), r.index(4), r.count(4), 7 in r, r[1:], r[-1], len(r), r == range(10, -1, -3), x


def slice_object(s, x):
    return list(range(10))[s], s.indices(5), s.start, repr(s), x


def zip_and_enumerate(names, values, x):
    return {n: (i, v) for i, (n, v) in enumerate(zip(names, values), 1)}, x


def any_all(items, x):
    return any(i > 2 for i in items), all(items), sum(i * i for i in items), x


def running_maximum(items, x):
    best = []
    for item in items:
        best.append(max(best[-1], item) if best else item)
    return best, x


def iterator_protocol(x):
    it = iter([1, 2, 3])
    first = next(it)
    rest = list(it)
    return first, rest, next(it, "done"), list(map(lambda a, b: a * b, (1, 2), (3, 4))), x


CASES = [
    (digits, 90817, A), (collatz, 27, A), (gray_code, 8, A), (modular_inverse, 3, 11, A), (modular_inverse, 2, 4, A),
    (checksum, b"123456789", A), (big_numbers, A), (rounding, A), (same_keys, A), (clamp, 5, 0, 3, A),
    (special_floats, A), (integer_bytes, 70000, A), (parse_numbers, ["1", "2.5", "x", " 7 "], A), (base_conversion, 77, A),
    (report, [("a", 1.5), ("bb", 22.25)], A), (snake_case, "someMixedName", A), (word_count, "the cat the dog a cat the", A),
    (palindrome, "A man, a plan", A), (caesar, "hello World", 3, A), (nested_formats, 9, A), (formats_objects, A),
    (text_of_containers, A), (recursive_text, A), (parse_pairs, "a=1;b=2;junk;c=x=y", A), (template, A), (format_errors, A),
    (encode_decode, "h\u00e9llo \u20ac", A), (translate, "abcabc", A),
    (flatten, [1, [2, 3], [], [4]], A), (slices, A), (bubble_sort, [3, 1, 2], A), (sort_records, A), (sort_objects, A),
    (sort_mixed, A), (sort_looks_empty, A), (sort_modified, A), (sort_nan, A), (search_objects, A), (matrix, 3, A),
    (stack_and_queue, A), (compare_lists, A), (aliasing, A),
    (group_by, ["aa", "b", "cc", "ddd"], A), (invert, {"a": 1, "b": 2}, A), (merge, {"a": 1, "b": 2}, {"b": 3, "c": 4}, A),
    (live_views, A), (ordering, A), (changed_while_iterated, A), (objects_as_keys, A), (missing_key, {"a": 1}, A),
    (memo_fibonacci, 15, A),
    (unique_in_order, [3, 1, 3, 2, 1], A), (set_algebra, A), (set_iteration, A), (set_of_argument, {1, 2, 3}, A),
    (frozen_keys, A), (primes, 40, A), (set_pops, A), (strings_in_a_set, ["b", "a", "b"], A),
    (pack, [1, 300, 65535], A), (edit_bytes, bytearray(b"hello"), A), (bytearray_errors, A),
    (windows, [1, 2, 3, 4], 2, A), (range_questions, A), (slice_object, slice(1, 8, 3), A),
    (zip_and_enumerate, ["a", "b"], [1.5, 2.5], A), (any_all, [1, 2, 3], A), (running_maximum, [1, 3, 2, 5], A),
    (iterator_protocol, A),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_same(case):
    check(*case)


# ---- What was read may change between calls


def twice(fn, first, second):
    """Two calls with other arguments each, after both have been seen."""
    compiled = Compiled(fn)
    for make in (first, second, first, second):
        plain, got = make(), make()
        expected, answer = fn(*plain, A), compiled(*got, A)
        assert repr(expected[1:]) == repr(answer[1:])
        np.testing.assert_array_equal(expected[0], answer[0])
        assert repr(plain) == repr(got)
    assert not compiled.faults, compiled.describe()


def in_order(s, x):
    return x + 1, list(s), s | {24}, len(s)


@pytest.mark.parametrize(
    "pair",
    [
        ({0, 8}, {8, 0}),
        ({1}, {1.0}),
        ({1, 2}, {1, 2, 3}),
        ({"a"}, {"b"}),
        (frozenset({0, 8}), frozenset({8, 0})),
    ],
)
def test_sets_that_differ(pair):
    twice(in_order, lambda: (pair[0].copy(),), lambda: (pair[1].copy(),))


def test_a_set_with_a_hole():
    def holed():
        s = {0, 8, 3}
        s.discard(3)
        return (s,)

    twice(in_order, lambda: ({0, 8},), holed)


def bytes_of(data, x):
    data.append(1)
    return x + 1, bytes(data), data[0]


def test_bytearrays_that_differ():
    twice(bytes_of, lambda: (bytearray(b"ab"),), lambda: (bytearray(b"cd"),))


def sliced(s, x):
    return x + 1, list(range(9))[s]


def test_slices_that_differ():
    twice(sliced, lambda: (slice(1, 5),), lambda: (slice(2, None, 3),))


STATE = bytearray(b"x")
SEEN = {1}


def global_state(x):
    SEEN.add(len(SEEN) + 10)
    return x + STATE[0], sorted(SEEN)


def test_globals_that_change():
    compiled = Compiled(global_state)
    for value in (1, 2, 2, 3):
        STATE[0] = value
        SEEN.clear()
        SEEN.update(range(value))
        array, seen = compiled(A)
        np.testing.assert_array_equal(array, A + value)
        assert seen == sorted({*range(value), value + 10})


# ---- What is not followed, and says so


@pytest.mark.parametrize(
    ("fn", "why"),
    [
        (lambda x: ("ab" * 10**7, x), "symbolic-range"),
        (lambda x: ("ab".center(10**8), x), "symbolic-range"),
        (lambda x: (f"{1:{10**7}}", x), "symbolic-range"),
        (lambda x: ("%0900000000d" % 1, x), "symbolic-range"),  # noqa: UP031
        (lambda x: (bytes(10**9), x), "symbolic-range"),
        (lambda x: (1 << 10**7, x), "symbolic-range"),
        (lambda x: (hash(object()) * 0, x), "unknown-callable"),
        (lambda x: (repr(object())[:7], x), "missing-slot"),
        (lambda x: (f"{[x]}", x + 1), "array-to-scalar"),
        (lambda x: (id(x) * 0, x), "missing-slot"),
        (lambda x: (id([x]) * 0, x), "unknown-callable"),
    ],
)
def test_breaks(fn, why):
    compiled = Compiled(fn)
    try:
        compiled(A)
    except MemoryError:
        pass
    assert why in compiled.breaks, compiled.describe()
