"""struct, binascii, zlib, unicodedata, sys, datetime and iterators of matches on what is known"""

import base64
import binascii
import datetime
import heapq
import json
import re
import statistics
import string
import struct
import sys
import unicodedata
import zlib

import numpy as np
import pytest
from differential import Compiled, check

A = np.linspace(0.5, 2.0, 4)
WHOLE = []
PATTERN = re.compile(r"(\w)=(\d)")
NEW_YEAR = datetime.datetime(2024, 1, 1, 12, 30)
UTC = datetime.timezone.utc


def whole(fn):
    WHOLE.append(fn)
    return fn


@whole
def packed(x):
    data = struct.pack("<hd", 3, 0.5)
    n, f = struct.unpack("<hd", data)
    return x * n + f, data, struct.calcsize("ii"), struct.unpack_from(">H", b"\0\1\0\2", 2)


LAYOUT = struct.Struct("<hd")


@whole
def structs(x):
    made = struct.Struct("<2H")
    data = LAYOUT.pack(3, 0.5) + made.pack(1, 2)
    n, f = LAYOUT.unpack_from(data)
    return x * n + f, data, made.unpack_from(data, 10), made.size, made.format, LAYOUT.size


@whole
def texts_in_base85(x):
    data = base64.b85encode(b"known")
    return x, data, base64.b85decode(data), base64.a85encode(b"known", wrapcol=4)


@whole
def fields_of_a_formatter(x):
    made = string.Formatter()
    parts = list(made.parse("a{b!r:>{w}}c{0.d[1]}"))
    text = made.format("{0:>{w}}|{k!r}|{o[1].real}", 1.5, w=6, k="z", o=[1, 2j])
    return x, parts, text, made.vformat("{a}{b[x]}", (), {"a": 1, "b": {"x": 2}})


@whole
def a_formatter_of_a_class(x):
    class Defaults(string.Formatter):
        def get_value(self, key, args, kwargs):
            return kwargs.get(key, f"<{key}>") if isinstance(key, str) else args[key]

        def format_field(self, value, spec):
            return value.upper() if spec == "up" else super().format_field(value, spec)

    return x, Defaults().format("{0} {name} {other:up}", 1, other="o")


@whole
def names_of_groups(x):
    names = re.compile(r"(?P<key>\w)=(?P<value>\d)").groupindex
    return (
        x * names["value"],
        dict(names),
        list(names),
        "key" in names,
        PATTERN.groupindex,
        len(names),
    )


def a_field_with_a_mistake(x):
    y = x + 1.0
    return y, string.Formatter().format("{a} {", a=1)


def test_a_mistake_in_a_format():
    check(a_field_with_a_mistake, A, breaks="unknown-callable")


@whole
def packing_that_fails(x):
    try:
        struct.pack("b", 1000)
    except struct.error as error:
        return x + 1.0, str(error)


@whole
def hexadecimal(x):
    return x + len(binascii.hexlify(b"ab")), binascii.unhexlify("6162"), binascii.crc32(b"abc")


@whole
def hexadecimal_that_fails(x):
    try:
        binascii.unhexlify("6")
    except binascii.Error as error:
        return x + 1.0, str(error)


@whole
def base_64(x):
    return x + 1.0, base64.b64encode(b"abc"), base64.b64decode("YWJj")


@whole
def checksums(x):
    return x * (zlib.crc32(b"abc") % 7), zlib.adler32(b"abc")


@whole
def characters(x):
    return (
        x + 1.0,
        unicodedata.name("a"),
        unicodedata.normalize("NFC", "e\u0301"),
        unicodedata.category("A"),
    )


@whole
def interned(x):
    return x + 1.0, sys.intern("a b") is sys.intern("a b")


@whole
def versions(x):
    if sys.version_info >= (3, 8):
        x = x * 2.0
    return (
        x,
        sys.version_info[0],
        sys.version_info.major,
        sys.version_info[:2],
        (3,) < sys.version_info,
    )


@whole
def limits_of_floats(x):
    return x + sys.float_info.epsilon, sys.float_info.max, sys.int_info.bits_per_digit


@whole
def moments(x):
    d = datetime.datetime(2020, 1, 31, 12, 0)
    e = d + datetime.timedelta(days=1)
    return x * e.day, e.isoformat(), e.year, e.date().strftime("%Y-%m-%d"), e - d, e > d


@whole
def an_existing_moment(x):
    later = NEW_YEAR + datetime.timedelta(days=40)
    return x * later.month, later.date(), later.time(), NEW_YEAR.replace(day=3), NEW_YEAR.weekday()


@whole
def moments_with_zones(x):
    d = datetime.datetime(2020, 1, 31, tzinfo=UTC)
    return x + d.hour, d.utcoffset(), d.isoformat(), d == d.replace(hour=0), d.tzinfo is UTC


@whole
def times_of_the_day(x):
    t = datetime.time(12, 30, 1)
    return x * t.minute, t.isoformat(), t < datetime.time(13), t.strftime("%H")


@whole
def durations(x):
    d = datetime.timedelta(hours=2, minutes=3)
    return x * d.total_seconds(), d / 2, d // datetime.timedelta(minutes=1), d.seconds, d * 2 > d


@whole
def a_moment_that_is_none(x):
    try:
        datetime.datetime(2020, 13, 1)
    except ValueError as error:
        return x + 1.0, str(error)


@whole
def matches_one_by_one(x):
    return [x * int(m.group(2)) for m in PATTERN.finditer("a=1 b=2")]


@whole
def matches_of_a_text_pattern(x):
    found = {m[1]: m.span() for m in re.finditer(r"(\w)-", "a- b-")}
    return x + len(found), found, next(re.finditer("z", "abc"), None)


@whole
def matches_in_bounds(x):
    return x + 1.0, [m.start() for m in PATTERN.finditer("a=1 b=2 c=3", 3, 8)]


@whole
def merged(x):
    return x * 2.0, list(heapq.merge([1, 4], [2, 3])), list(heapq.merge("ad", "bc", key=str.upper))


@whole
def merged_backwards(x):
    return x + sum(heapq.merge([4.0, 1.0], [3.0], reverse=True))


@whole
def bound_methods_of_builtins(x):
    items = [1, 2]
    append = items.append
    append(3)
    return x + 1.0, append.__self__ is items, append.__name__, items


@whole
def quantiles(x):
    return x * statistics.NormalDist(1.0, 2.0).inv_cdf(0.3)


@whole
def json_of_text(x):
    return x + 1.0, json.dumps("a\n\u00e9"), json.dumps({"k": ["\\", 1.5]}, ensure_ascii=False)


@pytest.mark.parametrize("fn", WHOLE)
def test_captured_whole(fn):
    check(fn, A)


def test_a_zone_of_python_is_asked_in_plain_execution():
    asked = []

    class Zone(datetime.tzinfo):
        def utcoffset(self, when):
            asked.append(when)
            return datetime.timedelta(hours=1)

        def dst(self, when):
            return None

        def tzname(self, when):
            return "Z"

    first = datetime.datetime(2020, 1, 1, tzinfo=Zone())
    second = datetime.datetime(2020, 1, 1, tzinfo=UTC)

    def fn(x):
        return x + 1.0, first < second, first == second

    results = []
    for run in (fn, Compiled(fn)):
        asked.clear()
        results += [run(A)[1:] + (len(asked),) for _ in range(2)]
    assert results[0] == results[2] and results[1] == results[3]


def test_the_locale_is_left_alone():
    def fn(x):
        return x + 1.0, datetime.date(2024, 1, 1).strftime("%B %d")

    check(fn, A, breaks="unknown-callable")

    def of_a_moment(x):
        return x + 1.0, NEW_YEAR.strftime("%d")

    check(of_a_moment, A, breaks="attribute")


def test_the_clock_is_left_alone():
    def fn(x):
        return x + 1.0, datetime.datetime.now().year > 2000

    check(fn, A, breaks="unknown-callable")


def test_formatting_by_fields():
    def fn(x):
        return x + 1.0, string.capwords("a bc")

    check(fn, A)
