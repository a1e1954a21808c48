"""json, string, textwrap, statistics, fractions, typing, types, inspect, os.path."""

import fractions
import inspect
import json
import os
import statistics
import string
import textwrap
import types
import typing

import numpy as np
import pytest
from differential import check

A = np.linspace(0.5, 2.0, 4)
CAPTURED = []
SETTINGS = '{"scale": 3, "names": ["a", "b"], "deep": {"x": [1, 2.5, null, true]}}'


def captured(fn):
    CAPTURED.append(fn)
    return fn


def helper(a, b=2):
    return a + b


class Thing:
    def method(self):
        return 1


@captured
def json_loads(x):
    settings = json.loads(SETTINGS)
    return x * settings["scale"], settings


@captured
def json_dumps(x):
    return x, json.dumps({"b": [1, 2.5, None], "a": True}, sort_keys=True)


@captured
def json_indented(x):
    return x, json.dumps({"a": [1, {"b": ()}]}, indent=2), json.dumps("ä", ensure_ascii=False)


@captured
def json_round_trip(x):
    data = {"n": 3}
    return x * json.loads(json.dumps(data))["n"], json.loads("[]"), json.loads("1e3")


@captured
def json_separators(x):
    return x, json.dumps([1, 2], separators=(",", ":")), json.dumps(x.shape)


@captured
def letters(x):
    return x, string.ascii_letters, string.digits, string.punctuation, string.whitespace


@captured
def template(x):
    return x, string.Template("$a and ${b}").substitute(a=1, b="x")


@captured
def dedented(x):
    return x, textwrap.dedent("\n    one\n      two\n")


@captured
def mean_of_floats(x):
    return x - statistics.fmean([1.0, 2.5]), statistics.fmean([3])


@captured
def medians(x):
    values = [5, 1, 4, 2]
    return (
        x,
        statistics.median(values),
        statistics.median_low(values),
        statistics.median_high(values),
    )


@captured
def fraction(x):
    third = fractions.Fraction(1, 3)
    return x * float(third), third.numerator, third.denominator


@captured
def fraction_arithmetic(x):
    value = fractions.Fraction(1, 3) + fractions.Fraction(1, 6)
    return x, value.numerator, value.denominator, value == fractions.Fraction(1, 2), value > 0


@captured
def casts(x):
    return typing.cast(int, x)


@captured
def type_checking(x):
    if typing.TYPE_CHECKING:
        return x
    return x * 2.0


@captured
def annotations(x):
    items: typing.List[int] = [1]
    count: int = len(items)
    return x * count, items


@captured
def types_of_things(x):
    return (
        x,
        isinstance(helper, types.FunctionType),
        isinstance(len, types.BuiltinFunctionType),
        isinstance(json, types.ModuleType),
        type(None) is types.NoneType,
    )


@captured
def inspection(x):
    flags = inspect.isfunction(helper), inspect.isclass(Thing), inspect.ismodule(json)
    return x, flags, inspect.ismethod(Thing().method), inspect.isbuiltin(len)


@captured
def paths(x):
    return x, os.path.join("a", "b"), os.path.basename("/x/y.txt"), os.path.dirname("/x/y.txt")


@captured
def extensions(x):
    return x, os.path.splitext("a.tar.gz"), os.path.isabs("/a"), os.sep, os.linesep


@pytest.mark.parametrize("fn", CAPTURED)
def test_captured(fn):
    check(fn, A)


def bad_json(x):
    y = x + 1.0
    return y, json.loads("{")


def not_serializable(x):
    y = x + 1.0
    return y, json.dumps({1, 2})


@pytest.mark.parametrize("fn", [bad_json, not_serializable])
def test_errors(fn):
    check(fn, A, breaks="raises")
