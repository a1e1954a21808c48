"""Texts written piece by piece, digests, JSON of objects, dates that are read, paths and URLs."""

import base64
import contextlib
import dataclasses
import datetime
import enum
import hashlib
import hmac
import io
import json
import os.path
import pprint
import sys
import urllib.parse

import pytest
from differential import check

UTC = datetime.timezone.utc


# ---- Texts


def writes(x):
    out = io.StringIO()
    for i in range(3):
        out.write(f"{i}:{x};")
    return out.getvalue(), out.tell()


def prints_to_it(x):
    out = io.StringIO()
    print("a", x, [x], sep=",", end="!", file=out)
    print(file=out)
    print(1, 2.5, None, file=out, flush=True)
    return out.getvalue()


def reads_lines(x):
    text = io.StringIO("first\n\nsecond\nlast")
    head = text.readline()
    rest = [line.rstrip("\n") for line in text]
    text.seek(0)
    return head, rest, text.read(4), text.read(), text.read(), text.readline() * x


def reads_in_pieces(x):
    text = io.StringIO("abcdefgh")
    return list(iter(lambda: text.read(x), ""))


def overwrites(x):
    out = io.StringIO("hello world")
    out.write("J")
    out.seek(20)
    out.write("end")
    out.seek(0, 2)
    out.writelines(["x", str(x)])
    out.seek(3)
    out.truncate()
    return out.getvalue(), out.read(), out.tell()


def as_manager(x):
    with io.StringIO() as out:
        out.write("abc")
        value = out.getvalue()
    try:
        out.write("more")
    except ValueError as error:
        return value, str(error), out.closed


def in_a_class(x):
    class Report:
        def __init__(self):
            self.out = io.StringIO()

        def line(self, *parts):
            print(*parts, file=self.out)
            return self

    return Report().line("a", x).line().line("b").out.getvalue()


def prints_to_an_object(x):
    class Tee:
        def __init__(self):
            self.parts = []

        def write(self, text):
            self.parts.append(text)

        def flush(self):
            self.parts.append(None)

    tee = Tee()
    print("a", x, file=tee, flush=True)
    print("b", "c", sep=None, end=None, file=tee)
    return tee.parts


# ---- Digests


def digests(x):
    data = f"{x}".encode()
    return (
        hashlib.md5(data).hexdigest(),
        hashlib.sha256(data).digest(),
        hashlib.new("sha1", data).hexdigest(),
        hashlib.sha3_256(data).hexdigest(),
        hashlib.shake_128(data).hexdigest(5),
    )


def in_steps(x):
    h = hashlib.sha256()
    for part in (b"a", b"b", bytearray(b"c")):
        h.update(part * x)
    other = h.copy()
    other.update(b"more")
    return h.hexdigest(), other.hexdigest(), h.name, h.digest_size, h.block_size


def signed(x):
    key = b"secret"
    made = hmac.new(key, str(x).encode(), "sha256")
    made.update(b"!")
    return made.hexdigest(), hmac.compare_digest("a", "b"), base64.b64encode(made.digest())


def cache_key(x):
    parts = json.dumps({"x": x, "b": [1, 2]}, sort_keys=True)
    return hashlib.sha1(parts.encode("utf-8")).hexdigest()[:8]


# ---- JSON of objects


@dataclasses.dataclass
class Point:
    x: int
    y: float = 0.5


class Level(enum.IntEnum):
    LOW = 1


class Encoder(json.JSONEncoder):
    def default(self, o):
        if isinstance(o, set):
            return sorted(o)
        if dataclasses.is_dataclass(o):
            return dataclasses.asdict(o)
        return super().default(o)


def by_class(x):
    return json.dumps({"s": {x, 2}, "p": [Point(x)], "e": {}, "f": []}, cls=Encoder)


def by_default(x):
    return json.dumps([Point(x), {"k": Point(1)}], default=vars)


def by_default_indented(x):
    return json.dumps([{"b": {x}, "a": ()}, [], {}], default=list, indent=2, sort_keys=True)


def with_tabs(x):
    return json.dumps({"a": [{x}, None, True]}, default=list, indent="\t", separators=(",", ":"))


def keys_of_all_kinds(x):
    made = {None: {x}, True: 1, 2: 2, 2.5: 3, "é": 4, (1,): 5}
    return json.dumps(made, default=list, skipkeys=True, ensure_ascii=False)


def odd_numbers(x):
    return json.dumps([float("nan"), float("inf"), -float("inf"), 10**20, 1e300, {x}], default=list)


def of_an_enum(x):
    return json.dumps({"level": Level.LOW, "x": x})


def no_json(x):
    try:
        json.dumps({"a": [Point(x)]})
    except TypeError as error:
        return str(error)


def no_json_by_class(x):
    try:
        json.dumps({"a": object}, cls=Encoder)
    except TypeError as error:
        return str(error)


# ---- Dates


def read_dates(x):
    day = datetime.date.fromisoformat("2024-02-28")
    moment = datetime.datetime.fromisoformat("2024-02-28T10:20:30+02:00")
    return day + datetime.timedelta(days=x), moment, datetime.time.fromisoformat("10:20")


def parsed_dates(x):
    rows = ["2024-01-05 10:20:30", "1999-12-31 23:59:59"]
    return [datetime.datetime.strptime(row, "%Y-%m-%d %H:%M:%S") for row in rows], x


def of_other_kinds(x):
    return (
        datetime.date.fromordinal(738000 + x),
        datetime.datetime.fromordinal(738000),
        datetime.date.fromisocalendar(2024, 5, x),
        datetime.datetime.fromtimestamp(1_700_000_000, UTC),
        datetime.datetime.fromtimestamp(1.5, tz=datetime.timezone(datetime.timedelta(hours=x))),
        datetime.datetime.combine(datetime.date(2024, 1, x), datetime.time(10)),
        datetime.datetime.combine(datetime.date(2024, 1, x), datetime.time(10), UTC),
    )


def in_zones(x):
    moment = datetime.datetime(2024, 1, x, 12, tzinfo=UTC)
    there = moment.astimezone(datetime.timezone(datetime.timedelta(hours=-5), "EST"))
    return there, there.tzname(), there.utcoffset(), moment.timestamp(), there == moment


def weeks(x):
    year, week, day = datetime.date(2024, 1, x).isocalendar()
    return year, week, day, datetime.date(2024, 1, x).isocalendar()[1]


def no_date(x):
    try:
        datetime.date.fromisoformat("today")
    except ValueError as error:
        return str(error)


def no_moment(x):
    try:
        datetime.datetime.strptime("2024-13-01", "%Y-%m-%d")
    except ValueError as error:
        return str(error)


def wrong_arguments(x):
    texts = []
    for call in (
        lambda: datetime.date.fromisoformat(x),
        lambda: datetime.date.fromisoformat(),
        lambda: datetime.datetime.strptime("a"),
    ):
        try:
            call()
        except TypeError as error:
            texts.append(str(error))
    return texts


# ---- Paths and URLs


def paths(x):
    joined = os.path.join("a", "b", "..", f"{x}.tar.gz")
    return os.path.normpath(joined), os.path.splitext(joined), os.path.split(joined)


def urls(x):
    query = urllib.parse.urlencode({"q": "a b&c", "n": x})
    return query, urllib.parse.parse_qs(query), urllib.parse.parse_qsl("a=1&b=&a=2")


def quoted(x):
    return (
        urllib.parse.quote("a b/c?é"),
        urllib.parse.quote("a/b", safe=""),
        urllib.parse.quote_plus("a b"),
        urllib.parse.unquote("%C3%A9%20"),
        urllib.parse.unquote_plus("a+b"),
    )


WHOLE = [
    writes,
    prints_to_it,
    reads_lines,
    reads_in_pieces,
    overwrites,
    as_manager,
    in_a_class,
    prints_to_an_object,
    digests,
    in_steps,
    signed,
    cache_key,
    by_class,
    by_default,
    by_default_indented,
    with_tabs,
    keys_of_all_kinds,
    odd_numbers,
    of_an_enum,
    no_json,
    no_json_by_class,
    read_dates,
    parsed_dates,
    of_other_kinds,
    in_zones,
    weeks,
    no_date,
    no_moment,
    wrong_arguments,
    paths,
    urls,
    quoted,
]


@pytest.mark.parametrize("fn", WHOLE)
def test_captured_whole(fn):
    check(fn, 3)


# ---- What breaks, and resumes


def a_stream_that_leaves(x):
    out = io.StringIO()
    out.write(f"{x}")
    return out


def prints(x):
    print("x is", x)
    return x + 1


def local_time(x):
    return datetime.datetime.fromtimestamp(x)


def by_locale(x):
    return datetime.datetime.strptime("3 Jan 2024", "%d %b %Y")


def in_the_local_zone(x):
    return datetime.datetime(2024, 1, x).timestamp()


def to_an_output(x):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        print(x)
    return out.getvalue()


def test_a_stream_that_leaves():
    def work(x):
        return a_stream_that_leaves(x).getvalue()

    check(work, 3)
    kept = []

    def leaves(x):
        kept.append(a_stream_that_leaves(x))
        return kept.pop().getvalue(), x

    check(leaves, 3)

    def text_of_what_left(x):
        out = a_stream_that_leaves(x)
        return isinstance(out, io.StringIO), out.getvalue()

    check(text_of_what_left, 3, breaks="attribute")


@pytest.mark.parametrize("fn", [prints, local_time, by_locale, in_the_local_zone])
def test_breaks(fn, capsys):
    check(fn, 3, breaks="unknown-callable")


def test_output_that_is_redirected():
    check(to_an_output, 3, breaks="unknown-callable")


def test_a_set_name_is_seen():
    """The attributes of the class that stands for the stream are not the stream's."""

    def work(x):
        out = io.StringIO()
        try:
            return out._text
        except AttributeError:
            return x

    check(work, 3)


def test_the_name_of_a_function_of_numpy():
    np = pytest.importorskip("numpy")

    def work(x):
        return np.median.__name__, np.median.__module__

    compiled = check(work, 3)
    before = np.median.__name__
    try:
        np.median.__name__ = "other"
        assert compiled(3)[0] == "other"
    finally:
        np.median.__name__ = before
    assert compiled(3)[0] == "median"


def test_pprint_asks_for_addresses():
    check(lambda x: pprint.pformat({"a": [x]}), 3, breaks="unknown-callable")


if sys.version_info >= (3, 11):

    def more_formats(x):
        return datetime.datetime.fromisoformat("20240228T102030Z"), x

    def test_more_formats():
        check(more_formats, 3)
