"""Annotations made in the function: int | None, list[int], Optional[...] and what is asked of them"""

import collections
import typing
from typing import Any, Callable, Dict, Optional, Union

import numpy as np
import pytest
from differential import Compiled, check

X = np.linspace(0.5, 2.0, 6)
WHOLE = []


def whole(fn):
    WHOLE.append(fn)
    return fn


@whole
def of_builtin_types(x):
    return x * 2, list[int], dict[str, list[float]], tuple[int, ...], type[int], set["int"]


@whole
def of_the_standard_library(x):
    return x * 2, collections.deque[int], collections.OrderedDict[str, int]


@whole
def nothing_is_done_with_them(x):
    vector = list[float]
    table = dict[str, vector]
    return x * (table is not vector)


@whole
def parts(x):
    alias = dict[str, list[int]]
    return x * len(alias.__args__), alias.__origin__, alias.__args__[1].__args__[0] is int


@whole
def origins(x):
    alias = list[int]
    if typing.get_origin(alias) is list:
        return x * 2
    return x


@whole
def two_of_them_are_two(x):
    return x * 2, list[int] is list[int], list[int] == list[int], list[int] != list[str]


@whole
def unions(x):
    return x * isinstance(3, int | str), int | None, None | float, list[int] | None


@whole
def of_a_nested_function(x):
    def scaled(y: Optional[np.ndarray], n: Union[int, float] = 2) -> Dict[str, Any]:
        return {"y": y * n}

    def called(f: Callable[[int], float], *rest: list[int]) -> "np.ndarray":
        return f(3)

    return scaled(x)["y"] * called(lambda n: n)


@whole
def of_a_function_that_leaves(x):
    def scaled(y: Optional[int], n: list[int] = ()) -> int | None:
        return y

    return x * 2, scaled.__annotations__["n"].__args__, scaled.__annotations__["y"]


@whole
def of_a_class(x):
    class Box:
        items: list[int]
        size: Optional[int] = None

    return x * 2, Box.__annotations__["items"].__origin__, Box.size


@pytest.mark.parametrize("fn", WHOLE)
def test_whole(fn):
    check(fn, X)


class Meta(type):
    def __or__(cls, other):
        return "or"

    def __getitem__(cls, item):
        return item * 2


class Odd(metaclass=Meta):
    pass


class Items:
    def __class_getitem__(cls, item):
        return cls, item


def test_classes_that_answer_themselves():
    check(lambda x: (x * Odd[2], Items[3]), X)
    check(lambda x: (x * 2, Odd | int), X, breaks="missing-slot", entries=None)


def test_breaks():
    class Part:
        def __getattr__(self, name):
            raise AttributeError(name)

    part = Part()

    def of_an_object(x):
        return x * 2, list[part].__args__

    def of_a_class_made_here(x):
        class Here:
            pass

        return x * 2, list[Here].__args__[0].__name__

    check(of_an_object, X, breaks="unknown-callable", entries=None)
    check(of_a_class_made_here, X, breaks="unknown-callable", entries=None)


KIND = int


def test_another_class_under_the_same_name(monkeypatch):
    def fn(x):
        return x * 2, list[KIND]

    compiled = Compiled(fn)
    for kind in (int, float, int):
        monkeypatch.setitem(globals(), "KIND", kind)
        assert compiled(X)[1] == list[kind]
