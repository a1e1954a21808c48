"""match statements in every pattern form, with arrays in flight."""

import numpy as np
import pytest
from differential import check

A = np.linspace(0.5, 2.0, 4)

CASES = []


def case(*values):
    def add(fn):
        CASES.extend((fn, value) for value in values)
        return fn

    return add


class Point:
    __match_args__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y


class Point3(Point):
    __match_args__ = ("x", "y", "z")

    def __init__(self, x, y, z):
        super().__init__(x, y)
        self.z = z


class Lazy:
    __match_args__ = ("value",)

    def __init__(self, n):
        self.n = n

    @property
    def value(self):
        if self.n < 0:
            raise AttributeError("negative")
        return self.n * 2


class Bare:
    def __init__(self, a):
        self.a = a


class Color:
    RED = 1
    GREEN = "green"


@case(1, 2, "a", None, True, False, 1.0, b"b", -3, (1,))
def literals(x, v):
    match v:
        case 1:
            return x + 1.0
        case "a" | "b":
            return x + 2.0
        case None:
            return x + 3.0
        case True:
            return x + 4.0
        case -3:
            return x + 5.0
        case b"b":
            return x + 6.0
    return x


@case(True, False, 1, 0, None)
def singletons_are_compared_by_identity(x, v):
    match v:
        case True:
            return x + 1.0
        case False:
            return x + 2.0
        case None:
            return x + 3.0
        case _:
            return x + 4.0


@case(1, "green", "red")
def named_values(x, v):
    match v:
        case Color.RED:
            return x + 1.0
        case Color.GREEN:
            return x + 2.0
        case other:
            return x, other


@case((), (1,), [1, 2], (1, 2, 3), [1, 2, 3, 4], "ab", b"ab", 3, range(2))
def sequences(x, v):
    match v:
        case []:
            return x
        case [a]:
            return x + a
        case (a, b):
            return x + a * b
        case [a, *rest, b]:
            return x + a - b, rest
        case _:
            return x * 2.0


@case([1, [2, 3]], [1, [2]], [[1, 2], [3, 4]], [1, (2, [3])])
def nested_sequences(x, v):
    match v:
        case [a, [b, [c]]]:
            return x + a + b + c
        case [int(a), [b, c]]:
            return x + a * b * c
        case [[a, b], [c, d]]:
            return x + a + b + c + d
        case [_, [*items]]:
            return x, items


@case([1, 2, 3], [1], [2, 2])
def stars(x, v):
    match v:
        case [1, *_]:
            return x + 1.0
        case [*_, 2]:
            return x + 2.0


@case({}, {"a": 1}, {"a": 1, "b": 2}, {"b": 2, "c": 3}, {"kind": "scale", "by": 2.0}, [1])
def mappings(x, v):
    match v:
        case {"kind": "scale", "by": by}:
            return x * by
        case {"a": a, **rest}:
            return x + a, rest
        case {"b": 2}:
            return x + 2.0
        case {}:
            return x


@case({"a": {"b": 3}}, {"a": {"b": [4, 5]}}, {"a": 3})
def nested_mappings(x, v):
    match v:
        case {"a": {"b": [p, q]}}:
            return x + p + q
        case {"a": {"b": n}}:
            return x + n
        case {"a": n}:
            return x - n


@case({1: "one", "two": 2, None: 3}, {True: 1})
def other_keys(x, v):
    match v:
        case {1: "one", "two": n, None: m}:
            return x + n + m
        case {1: n}:
            return x * n


@case(
    Point(1, 2), Point(0, 5), Point(0, 0), Point3(1, 2, 3), Point3(0, 0, 1), 3, Bare(1), Bare("a")
)
def classes(x, v):
    match v:
        case Point3(0, 0, z):
            return x * z
        case Point3(a, b, z=c):
            return x + a + b + c
        case Point(0, 0):
            return x
        case Point(0, y=b):
            return x * b
        case Point(a, b):
            return x + a * b
        case Bare(a=int(n)):
            return x - n
        case Bare():
            return x * 0.5
        case _:
            return x * 2.0


@case(1, 1.5, "s", b"b", True, [1], (1, 2), {"a": 1}, None)
def builtin_classes(x, v):
    match v:
        case bool(b):
            return x, b
        case int(n):
            return x + n
        case float(f):
            return x * f
        case str() as text:
            return x, text
        case bytes(data):
            return x, data
        case list([n]):
            return x - n
        case tuple((a, b)):
            return x + a + b
        case dict({"a": n}) as whole:
            return x + n, whole
    return x


@case(Lazy(3), Lazy(-1))
def a_property_is_followed(x, v):
    match v:
        case Lazy(n):
            return x + n
        case Lazy():
            return x - 1.0


@case(Bare(1), Point(1, 2))
def a_missing_attribute_does_not_match(x, v):
    match v:
        case Bare(b=1) | Point(z=1):
            return x + 1.0
        case object(a=1):
            return x + 2.0
        case object(x=1, y=n):
            return x + n


@case(5, -5, 0)
def guards(x, v):
    match v:
        case n if n > 0:
            return x + n
        case n if n < 0:
            return x - n
        case _:
            return x


@case([1, 2], [2, 1], [3, 3])
def guards_with_bindings(x, v):
    match v:
        case [a, b] if a < b:
            return x + a
        case [a, b] if a > b:
            return x + b
        case [a, _] as pair:
            return x * a, pair


@case(("add", 1), ("scale", 2.0), ("neg",), ("both", ("add", 2), ("neg",)))
def an_interpreter(x, v):
    def run(y, op):
        match op:
            case ("add", n):
                return y + n
            case ("scale", f):
                return y * f
            case ("neg",):
                return -y
            case ("both", first, second):
                return run(run(y, first), second)

    return run(x, v)


@case(0)
def the_subject_is_an_array(x, v):
    match x:
        case np.ndarray(ndim=2):
            return x
        case np.ndarray(ndim=1, shape=(n,)):
            return x * n


@case(0)
def tuples_of_arrays(x, v):
    match (x, x + 1.0, v):
        case (a, b, 0):
            return a * b
        case _:
            return x


@case(3)
def no_case_fits(x, v):
    y = x + 1.0
    match v:
        case 1:
            y = x
        case "a":
            y = x * 2.0
    return y


@case([Point(1, 2), Bare(3), {"k": 4}, (5, 6)])
def in_a_loop(x, v):
    for item in v:
        match item:
            case Point(a, b):
                x = x + a + b
            case Bare(a=a):
                x = x * a
            case {"k": k}:
                x = x - k
            case (a, b):
                x = x + a * b
    return x


@pytest.mark.parametrize(
    ("fn", "value"), CASES, ids=[f"{fn.__name__}-{i}" for i, (fn, _) in enumerate(CASES)]
)
def test_captured(fn, value):
    check(fn, A, value)


def test_errors_of_patterns():
    class TooMany:
        __match_args__ = ("a",)

    class NoTuple:
        __match_args__ = ["a"]

    class NoNames:
        __match_args__ = (1,)

    def fn(x, kind):
        found = []
        try:
            match kind():
                case TooMany(_, _):
                    pass
        except TypeError as e:
            found.append(e.args)
        try:
            match NoTuple():
                case NoTuple(_):
                    pass
        except TypeError as e:
            found.append(e.args)
        try:
            match NoNames():
                case NoNames(_):
                    pass
        except TypeError as e:
            found.append(e.args)
        try:
            match 3:
                case int(a, b):
                    pass
        except TypeError as e:
            found.append(e.args)
        not_a_class = 3
        try:
            match 3:
                case not_a_class():
                    pass
        except TypeError as e:
            found.append(e.args)
        return x + 1.0, found

    check(fn, A, TooMany)


def test_the_class_is_guarded():
    def fn(x, p):
        match p:
            case Point(a, b):
                return x + a * b
            case _:
                return x

    compiled = check(fn, A, Point(1, 2))
    point = Point(1, 2)
    Point.__match_args__ = ("y", "x")
    try:
        point.y = 5
        assert np.array_equal(compiled(A, point), fn(A, point))
        Point.__match_args__ = ("y",)
        with pytest.raises(TypeError):
            compiled(A, point)
    finally:
        Point.__match_args__ = ("x", "y")
