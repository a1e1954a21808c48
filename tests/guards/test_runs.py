"""Guards that are checked together: attributes of one object, floats of a list, numbers of a dict."""

from __future__ import annotations

import dyntrace
import numpy as np
import pytest

X = np.arange(4.0)


@pytest.fixture(autouse=True)
def strictly():
    with dyntrace.config.patch(strict=True, everything=True, weigh_after=0, recompile_limit=64):
        yield


class Settings:
    def __init__(self):
        self.a = 1.0
        self.b = "text"
        self.c = None
        self.d = 4
        self.e = X * 2
        self.f = (1, "two")


settings = Settings()


def reads(x):
    s = settings
    if s.c is not None:
        return x
    return x * s.a + s.d + len(s.b) + s.e * s.f[0]


CHANGES = [
    ("a", 1.5), ("a", 1), ("a", True), ("b", "longer text"), ("b", b"text"), ("c", 0), ("d", 5),
    ("d", 4.0), ("d", 2**70), ("e", X), ("e", 3.0), ("f", (2, "two")), ("f", [3, "two"]),
]  # fmt: skip


def outcome(function, *arguments):
    try:
        result = function(*arguments)
    except Exception as error:
        return type(error), str(error)
    return result.dtype, result.tobytes()


@pytest.fixture
def fresh_settings():
    global settings
    before = settings
    settings = Settings()
    yield settings
    settings = before


@pytest.mark.parametrize(("name", "value"), CHANGES)
@pytest.mark.parametrize("touched", [False, True], ids=["values inside", "with a dict"])
def test_each_attribute_of_a_run(fresh_settings, name, value, touched):
    fn = dyntrace.compile(reads)
    if touched:
        vars(settings)
    for _ in range(3):
        assert outcome(fn, X) == outcome(reads, X)
    old = getattr(settings, name)
    setattr(settings, name, value)
    for _ in range(2):
        assert outcome(fn, X) == outcome(reads, X)
    setattr(settings, name, old)
    assert outcome(fn, X) == outcome(reads, X)
    delattr(settings, name)
    assert outcome(fn, X) == outcome(reads, X)
    setattr(settings, name, old)
    assert outcome(fn, X) == outcome(reads, X)


def test_a_run_is_asked_of_other_objects(fresh_settings):
    global settings
    fn = dyntrace.compile(reads)
    plain = settings
    fn(X), fn(X)
    for make in (Settings, lambda: with_dict(), lambda: shuffled(), lambda: Special(), lambda: None):
        settings = make()
        assert outcome(fn, X) == outcome(reads, X)
        settings = plain
        assert outcome(fn, X) == outcome(reads, X)


def with_dict():
    made = Settings()
    made.__dict__["z"] = made.__dict__.pop("a")
    made.__dict__["a"] = 3.0
    return made


def shuffled():
    made = Settings.__new__(Settings)
    for name, value in reversed(vars(Settings()).items()):
        setattr(made, name, value)
    return made


class Special(Settings):
    @property
    def a(self):
        return 7.0

    @a.setter
    def a(self, value):
        pass


def test_an_explanation_names_the_attribute_and_what_was_found(fresh_settings, capsys):
    fn = dyntrace.compile(reads)
    fn(X)
    settings.d = 44
    with dyntrace.config.patch(logs="recompiles"):
        fn(X)
    assert "G['settings'].d == 4, was 44" in capsys.readouterr().err


def total_of(x, table, items):
    total = 0.0
    for value in table.values():
        total += value
    for value in items:
        total += value
    return x + 1 if total > 10.0 else x - 1


def test_floats_of_containers_are_read_again():
    fn = dyntrace.compile(total_of)
    table, items = {"a": 1.0, "b": 2.0}, [3.0, 4.0]
    for key, value in [("a", 1.0), ("b", 5.0), ("b", 2.0), ("a", 9.0), ("a", -9.0)] * 2:
        table[key] = value
        assert outcome(fn, X, table, items) == outcome(total_of, X, table, items)
    for index, value in [(0, 9.0), (0, 3.0), (1, -50.0), (1, 50.0)] * 2:
        items[index] = value
        assert outcome(fn, X, table, items) == outcome(total_of, X, table, items)
        assert outcome(fn, X, dict(table), list(items)) == outcome(total_of, X, table, items)
    assert len(fn.cache_entries()) == 2


@pytest.mark.parametrize("odd", [3, True, "t", None, np.float64(2.0), X, 2**80])
def test_items_of_another_type(odd):
    fn = dyntrace.compile(total_of)
    fn(X, {"a": 1.0}, [3.0, 4.0])
    for table, items in [({"a": odd}, [3.0, 4.0]), ({"a": 1.0}, [3.0, odd]), ({"a": 1.0}, [odd, 4.0])]:
        assert outcome(fn, X, table, items) == outcome(total_of, X, table, items)
        assert outcome(fn, X, {"a": 1.0}, [3.0, 4.0]) == outcome(total_of, X, {"a": 1.0}, [3.0, 4.0])


def test_containers_of_another_length():
    fn = dyntrace.compile(total_of)
    for table, items in [({"a": 1.0}, [3.0]), ({"a": 1.0}, []), ({}, [30.0]), ({"b": 1.0}, [3.0] * 9)] * 2:
        assert outcome(fn, X, table, items) == outcome(total_of, X, table, items)


def test_dimensions_that_were_equal():
    def both(x, y):
        return x * y + x

    fn = dyntrace.compile(both)
    lines = [((3,), (3,)), ((5,), (5,)), ((3,), (4,))]
    planes = [((2, 3), (2, 3)), ((2, 3), (3, 2)), ((2, 3), (3,))]
    for shape, other in (lines + planes) * 2:
        arguments = np.ones(shape), np.full(other, 2.0)
        assert outcome(fn, *arguments) == outcome(both, *arguments)


def test_an_array_that_is_reshaped_in_place():
    def both(x, y):
        return x * y + x.sum(axis=0)

    fn = dyntrace.compile(both)
    x = np.arange(12.0)
    y = np.arange(12.0)
    for shape in [(12,), (3, 4), (4, 3), (12, 1), (1, 12), (2, 6), (12,)]:
        x.shape = shape
        y.shape = shape
        assert outcome(fn, x, y) == outcome(both, x, y)
    x.dtype = np.int64
    assert outcome(fn, x, y) == outcome(both, x, y)


def conditions(k):
    return [
        k * 2 + 1 > 3, (k + 1) * (k - 1) < 8, -k < abs(k), k / 2 > 1, k % 3 == 1, k // 2 >= 1,
        1 - k > k - 1, (k + 2) - (3 - k) * (k + 1) > k, min(k, 2.0) < 2, 2 * k == k + k,
    ]  # fmt: skip


@pytest.mark.parametrize("numbers", [[0.5, 1.5, 2.0, 4.0, -3.0, 7.25], [0, 1, 2, 3, 4, -5, 10]])
def test_conditions_on_numbers(numbers):
    def by_conditions(x, k):
        found = 0
        for index, condition in enumerate(conditions(k)):
            if condition:
                found += 2**index
        return x + found

    fn = dyntrace.compile(by_conditions)
    for k in numbers * 3:
        assert outcome(fn, X, k) == outcome(by_conditions, X, k)
