"""Functions of the standard library with inputs that they really get.

`record()` runs the programs below and notes each call of a pure-Python function of the modules that
they use: the function, and a copy of its arguments. `differences()` then runs such a call plainly and
compiled, with breaks forced, and compares what can be seen.
"""

# ruff: noqa: E501
from __future__ import annotations

import copy
import gc
import itertools
import sys
import sysconfig
import types
from pathlib import Path
from typing import Any

import dyntrace
from dyntrace import _core
from dyntrace.api import _compile_target

STDLIB = Path(sysconfig.get_paths()["stdlib"]).resolve()

PACKAGES = frozenset(
    """argparse ast base64 bisect calendar cmd codecs collections colorsys configparser contextlib copy
    copyreg csv dataclasses datetime decimal difflib dis email enum filecmp fnmatch fractions functools
    genericpath glob graphlib hashlib heapq hmac html inspect ipaddress json keyword locale mimetypes
    nturl2path numbers opcode operator optparse pathlib pickletools pkgutil plistlib posixpath pprint
    queue quopri random re reprlib sched shlex sre_compile sre_parse statistics string stringprep
    struct tabnanny textwrap token tokenize turtle types typing urllib uuid weakref xml zlib""".split()
)

TEXT = """It was the best of times, it was the worst of times, it was the age of wisdom,
    it was the age of foolishness; it was the epoch of belief.

Second paragraph, with a verylongwordthatdoesnotfitanywhereatall and a tab\there.
"""


# ---- Programs --------------------------------------------------------------------------------------


def use_json():
    import json
    import json.decoder
    import json.encoder
    import json.scanner

    value = {"a": [1, 2.5, None, True], "b": {"c": "text \u00e9\n"}, "d": [], "e": {}}
    json.loads(json.dumps(value, indent=2, sort_keys=True))
    json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    json.loads('{"x": [1, 2, {"y": "\\u00e9\\n"}], "z": -1.5e3}', object_pairs_hook=list)
    json.JSONDecoder().raw_decode("[1, 2] rest")
    decode = json.scanner.py_make_scanner(json.JSONDecoder())
    decode('{"x": [1, "two", null, true, -1.5]}', 0)
    json.decoder.py_scanstring('a\\tb\\u00e9"', 0)
    json.decoder.JSONArray(("1, 2]", 0), decode)
    json.encoder.py_encode_basestring('a"b\n')
    json.encoder.py_encode_basestring_ascii("a\u00e9\U0001f600")
    list(json.JSONEncoder(indent=1).iterencode(value))
    for bad in ("{", "[1,]", '{"a" 1}', '"x', "nul"):
        try:
            json.loads(bad)
        except ValueError:
            pass


def use_text():
    import difflib
    import reprlib
    import shlex
    import string
    import textwrap

    textwrap.wrap(TEXT, 30)
    textwrap.fill(TEXT, 40, initial_indent="* ", subsequent_indent="  ", break_long_words=False)
    textwrap.shorten(TEXT, 40)
    textwrap.dedent("    a\n      b\n    c\n")
    textwrap.indent("a\n\nb\n", "> ")
    textwrap.TextWrapper(width=20, max_lines=3, fix_sentence_endings=True).fill(TEXT)
    a, b = TEXT.split(), TEXT.replace("worst", "very worst").split()[2:]
    matcher = difflib.SequenceMatcher(None, a, b)
    matcher.ratio(), matcher.quick_ratio(), matcher.real_quick_ratio()
    matcher.get_opcodes(), matcher.get_matching_blocks(), list(matcher.get_grouped_opcodes(2))
    lines, others = TEXT.splitlines(True), TEXT.upper().splitlines(True)
    list(difflib.unified_diff(lines, others, "a", "b"))
    list(difflib.context_diff(lines, lines[1:], "a", "b"))
    list(difflib.ndiff(["one\n", "two\n", "three\n"], ["ore\n", "tree\n", "emu\n"]))
    difflib.get_close_matches("appel", ["ape", "apple", "peach", "puppy"])
    list(difflib.restore(difflib.ndiff(["a\n"], ["b\n"]), 1))
    difflib.HtmlDiff().make_table(["one\n"], ["two\n"])
    string.capwords("the quick brown fox")
    template = string.Template("$who likes ${what}, $$5")
    template.substitute(who="tim", what="kung pao")
    template.safe_substitute({"who": "tim"})
    string.Formatter().format("{0:>5} {name!r} {1[0]}", 1, [2], name="n")
    list(string.Formatter().parse("a{b:c}d"))
    shlex.split("echo 'a b' \"c d\" e\\ f # no", comments=True)
    shlex.quote("it's"), shlex.join(["a", "b c"])
    list(shlex.shlex("a=b && c | d", punctuation_chars=True))
    reprlib.repr(list(range(100))), reprlib.repr({"a" * 100: {1: [2] * 10}})


def use_numbers():
    import colorsys
    import fractions
    import heapq
    import random
    import statistics

    half, third = fractions.Fraction(1, 2), fractions.Fraction("1/3")
    half + third, half - 1, half * third, half / third, half // third, half % third, half**3
    -half, abs(half), round(half, 2), int(half), half < third, half == 0.5, hash(half), str(half)
    third.limit_denominator(10), fractions.Fraction(0.125), fractions.Fraction("1.25e-2")
    half.as_integer_ratio(), divmod(half, third), half.__floor__(), half.__ceil__(), 2 + half
    1 - half, 2 * half, 1 / half, 2**half, repr(third), complex(half), bool(half), +half
    data = [2.5, 1.5, 3.25, 0.5, 2.5]
    statistics.mean(data), statistics.fmean(data), statistics.median(data), statistics.mode(data)
    statistics.stdev(data), statistics.pvariance(data), statistics.quantiles(data, n=4)
    statistics.median_low(data), statistics.median_high(data), statistics.median_grouped([1, 2, 2, 3])
    statistics.harmonic_mean([2, 5]), statistics.geometric_mean([1, 2, 4]), statistics.multimode("aab")
    statistics.variance([fractions.Fraction(1, 2), fractions.Fraction(3, 4)])
    statistics.covariance([1, 2, 3], [1, 5, 9]), statistics.correlation([1, 2, 3], [1, 5, 8])
    statistics.linear_regression([1, 2, 3], [1, 5, 9])
    normal = statistics.NormalDist(1.0, 2.0)
    normal.pdf(0.5), normal.cdf(0.5), normal.inv_cdf(0.25), normal + 1, normal * 2, normal.quantiles(4)
    normal.overlap(statistics.NormalDist(2.0, 1.0)), -normal, normal - normal, normal == normal
    statistics.NormalDist.from_samples(data), normal.zscore(2.0), repr(normal), hash(normal)
    heap = [5, 1, 4, 2]
    heapq.nsmallest(2, heap, key=lambda v: -v), heapq.nlargest(2, heap)
    list(heapq.merge([1, 4], [2, 3], reverse=False)), list(heapq.merge([4, 1], [3, 2], reverse=True))
    colorsys.rgb_to_hsv(0.2, 0.4, 0.6), colorsys.hsv_to_rgb(0.5, 0.5, 0.4)
    colorsys.rgb_to_hls(0.2, 0.4, 0.6), colorsys.hls_to_rgb(0.5, 0.5, 0.4)
    colorsys.rgb_to_yiq(0.2, 0.4, 0.6), colorsys.yiq_to_rgb(0.5, 0.1, 0.2)
    source = random.Random(7)
    source.randrange(10), source.randint(1, 6), source.choice("abc"), source.sample(range(50), 5)
    source.shuffle(heap), source.choices("abc", weights=[1, 2, 3], k=4), source.uniform(1, 2)
    source.gauss(0, 1), source.triangular(0, 1, 0.5), source.expovariate(1.5), source.betavariate(1, 2)
    source.normalvariate(0, 1), source.lognormvariate(0, 1), source.vonmisesvariate(0, 4)
    source.gammavariate(0.5, 1), source.paretovariate(3), source.weibullvariate(1, 1.5)
    source.getrandbits(20), source.randbytes(4)


def use_dates():
    import calendar
    import datetime

    months = calendar.TextCalendar()
    months.formatmonth(2024, 2), months.formatyear(2023, m=4), calendar.monthrange(2024, 2)
    list(months.itermonthdays4(2024, 2)), months.monthdatescalendar(2024, 2)
    months.yeardays2calendar(2024), calendar.isleap(1900), calendar.leapdays(1900, 2001)
    calendar.HTMLCalendar().formatmonth(2024, 2), calendar.timegm((2024, 2, 29, 1, 2, 3))
    calendar.weekday(2024, 2, 29), calendar.monthcalendar(2024, 2), calendar.month(2024, 5)
    datetime.date.fromisoformat("2024-02-29")


def use_files():
    import csv
    import fnmatch
    import genericpath
    import io
    import mimetypes
    import pathlib
    import posixpath

    rows = list(csv.DictReader(io.StringIO("a,b\n1,2\n3,4,5\n6\n"), restkey="r", restval="-"))
    out = io.StringIO()
    writer = csv.DictWriter(out, ["a", "b"], extrasaction="ignore")
    writer.writeheader(), writer.writerow({"a": 1, "c": 3}), writer.writerows([{"b": 2}])
    csv.Sniffer().sniff("a;b;c\n1;2;3\n4;5;6\n"), csv.Sniffer().has_header("a,b\n1,2\n3,4\n")
    assert rows
    fnmatch.fnmatch("Abc.txt", "a*.[tx]xt"), fnmatch.filter(["a.py", "b.c"], "*.py")
    fnmatch.translate("[!a-c]*.?"), fnmatch.fnmatchcase("x", "[x]")
    posixpath.join("/a", "b", "../c"), posixpath.normpath("/a/./b/../c//d"), posixpath.split("/a/b")
    posixpath.relpath("/a/b/c", "/a/d"), posixpath.commonpath(["/a/b", "/a/c"]), posixpath.splitext("a.b")
    posixpath.basename("/a/b"), posixpath.dirname("/a/b"), posixpath.isabs("/a"), posixpath.splitdrive("/a")
    posixpath.expandvars("$HOME/x"), genericpath.commonprefix(["abc", "abd"]), posixpath.normcase("A")
    path = pathlib.PurePosixPath("/a/b/c.tar.gz")
    path.parent, path.name, path.suffixes, path.stem, path / "d", path.with_suffix(".x"), path.parts
    path.relative_to("/a"), path.match("*.gz"), path.with_name("e"), path.is_absolute(), path.as_uri()
    list(path.parents), path.joinpath("x", "y"), path < pathlib.PurePosixPath("/b"), hash(path), repr(path)
    pathlib.PureWindowsPath("C:/a/b").drive
    mimetypes.MimeTypes().guess_type("a.tar.gz"), mimetypes.MimeTypes().guess_extension("text/html")


def use_web():
    import base64
    import html
    import html.parser
    import ipaddress
    import urllib.parse

    html.escape("<a href='x'>&</a>"), html.unescape("&lt;&amp;&#233;&notit;&#x1F600;")

    parser = html.parser.HTMLParser()
    parser.feed("<p class='a b'>text &amp; <br/><!-- c --></p><script>1<2</script>"), parser.close()
    url = "https://user:pw@host.org:80/p/a;x?q=1&r=a+b#frag"
    parts = urllib.parse.urlsplit(url)
    parts.hostname, parts.port, parts.username, parts.geturl(), urllib.parse.urlparse(url)
    urllib.parse.urljoin("http://a/b/c/d", "../e"), urllib.parse.urljoin("http://a/b", "?x")
    urllib.parse.parse_qs("a=1&b=2&a=3"), urllib.parse.parse_qsl("a=1&b=%20x"), urllib.parse.quote("a b/\u00e9")
    urllib.parse.urlencode({"a": [1, 2], "b": "x y"}, doseq=True), urllib.parse.unquote("a%20b%C3%A9")
    urllib.parse.quote_plus("a b&"), urllib.parse.unquote_plus("a+b"), urllib.parse.urldefrag(url)
    urllib.parse.urlunsplit(("http", "h", "/p", "q=1", "f")), urllib.parse.quote_from_bytes(b"\xff a")
    base64.b64encode(b"data"), base64.b32encode(b"data"), base64.b85encode(b"data"), base64.b16encode(b"d")
    base64.b64decode("ZGF0YQ=="), base64.b32decode("MRQXIYI="), base64.b85decode("WMOfA"), base64.a85encode(b"dddd")
    base64.urlsafe_b64encode(b"\xfb\xff"), base64.a85decode(b"A7]9o")
    net = ipaddress.ip_network("192.168.0.0/28")
    list(net.hosts())[:2], net.num_addresses, ipaddress.ip_address("192.168.0.5") in net, net.is_private
    list(net.subnets(prefixlen_diff=1)), net.supernet(), ipaddress.ip_address("::1").exploded
    ipaddress.ip_address("2001:db8::1").compressed, ipaddress.ip_address("10.0.0.1") + 5, net.broadcast_address
    net.overlaps(ipaddress.ip_network("192.168.0.8/29")), ipaddress.ip_interface("10.0.0.1/8").network
    list(ipaddress.summarize_address_range(*map(ipaddress.ip_address, ("10.0.0.0", "10.0.0.5"))))
    list(ipaddress.collapse_addresses([ipaddress.ip_network(n) for n in ("10.0.0.0/9", "10.128.0.0/9")]))


def use_options():
    import argparse
    import configparser
    import optparse

    def parser():
        made = argparse.ArgumentParser("prog", description="what it does", exit_on_error=False)
        made.add_argument("name"), made.add_argument("-n", "--number", type=int, default=3)
        made.add_argument("-v", action="count"), made.add_argument("--list", nargs="*")
        group = made.add_mutually_exclusive_group()
        group.add_argument("--on", action="store_true"), group.add_argument("--off", dest="on")
        return made

    parser().parse_args(["x", "-n", "5", "-vv", "--list", "a", "b"])
    parser().parse_known_args(["x", "--num=7", "--unknown"])
    parser().format_help(), parser().format_usage()
    for bad in (["x", "-n", "five"], []):
        try:
            parser().parse_args(bad)
        except (argparse.ArgumentError, SystemExit):
            pass
    config = configparser.ConfigParser()
    config.read_string("[DEFAULT]\nroot = /x\n[a]\npath = %(root)s/y\nflag = yes\nn = 3\n[b]\nlong = 1\n  2\n")
    config.get("a", "path"), config.getboolean("a", "flag"), config.getint("a", "n"), config.sections()
    config["b"]["new"] = "v"
    config.items("b"), config.options("a"), config.has_option("a", "x"), dict(config["a"]), "c" in config
    config.set("a", "k", "v"), config.add_section("z"), config.remove_option("a", "k"), config.remove_section("z")
    config.getfloat("a", "n"), config.get("a", "none", fallback="f"), config.has_section("a")
    try:
        config.get("a", "missing")
    except configparser.Error:
        pass
    old = optparse.OptionParser("usage: %prog")
    old.add_option("-f", dest="f", default="d"), old.add_option("-q", action="store_false")
    old.parse_args(["-f", "x", "rest"]), old.format_help()


def use_classes():
    import abc
    import collections
    import contextlib
    import copy as copying
    import dataclasses
    import enum
    import functools
    import graphlib
    import operator
    import pprint
    import types as kinds

    @dataclasses.dataclass(order=True)
    class Point:
        x: int
        y: float = 2.0
        tags: list = dataclasses.field(default_factory=list)

    point = Point(1)
    dataclasses.replace(point, x=2), dataclasses.asdict(point), dataclasses.astuple(point)
    dataclasses.fields(point), dataclasses.is_dataclass(point), repr(point)
    dataclasses.make_dataclass("Made", ["a", ("b", int, 3)])(1)
    color = enum.Enum("Color", "RED GREEN")
    color["RED"], color(2), list(color), color.RED.name, repr(color.RED)
    flag = enum.Flag("Perm", "R W X")
    flag.R | flag.W, (flag.R | flag.W) & flag.R, ~flag.X, flag.R in (flag.R | flag.X), str(flag.R | flag.X)
    count = collections.Counter("abracadabra")
    count.most_common(2), count + count, count - count, count & count, list(count.elements()), count.update("xyz")
    count.subtract("ab"), +count, -count, count.total(), copying.copy(count), repr(count), count | count
    chain = collections.ChainMap({"a": 1}, {"b": 2})
    chain["b"], list(chain), chain.new_child({"c": 3}), len(chain), "b" in chain, chain.get("z"), chain.parents
    collections.UserDict(a=1).copy(), collections.UserList([1, 2]) + [3], collections.UserString("ab").upper()
    pair = collections.namedtuple("Pair", "x y", defaults=[0])
    pair(1)._replace(y=2)._asdict(), repr(pair(1)), pair._make([3, 4])
    ordered = collections.OrderedDict(a=1)
    ordered.move_to_end("a")
    values = [1, [2, {"k": (3, 4)}], {5}]
    copying.deepcopy(values), copying.copy(values), pprint.pformat({"k" * 30: list(range(30))}, width=40)
    pprint.pformat(values), pprint.isreadable(values), pprint.saferepr(values)
    functools.reduce(operator.add, [1, 2, 3]), functools.cmp_to_key(lambda a, b: a - b)
    functools.total_ordering(type("T", (), {"__lt__": lambda s, o: True}))
    sorter = graphlib.TopologicalSorter({"d": {"b", "c"}, "b": {"a"}, "c": {"a"}})
    list(sorter.static_order())

    with contextlib.ExitStack() as stack:
        stack.callback(len, [])
        stack.enter_context(contextlib.suppress(KeyError))
        stack.push(lambda *exc: False)
        raise KeyError("gone")

    with contextlib.nullcontext(1), contextlib.closing(kinds.SimpleNamespace(close=lambda: None)):
        pass

    class Base(abc.ABC):
        @abc.abstractmethod
        def method(self): ...

    kinds.new_class("N", (), {}), kinds.resolve_bases((int,)), kinds.prepare_class("P", (object,))


def use_source():
    import ast
    import dis
    import inspect
    import keyword
    import re
    import tokenize
    import typing

    tree = ast.parse("def f(a, *b, c=1):\n    return [x for x in a if x > c]\n")
    ast.dump(tree), ast.unparse(tree), list(ast.walk(tree))[:3], ast.literal_eval("[1, {'a': (2,)}]")
    ast.NodeVisitor().visit(tree), ast.get_docstring(tree), ast.increment_lineno(tree)
    list(dis.get_instructions(use_json))[:3], list(dis.findlinestarts(use_json.__code__))
    signature = inspect.signature(use_text)
    inspect.signature(copy.deepcopy).bind([1]).arguments, str(signature), inspect.cleandoc("a\n    b\n")
    inspect.getdoc(dict), inspect.isfunction(len), inspect.getmro(bool), inspect.isclass(int)
    re.escape("a.b*c"), re.sub(r"(\w)(\d)", r"\2\1", "a1b2"), re.compile(r"(?P<n>a|b)*?[^x-z]{2,3}(?=\d)\b", re.I)
    re.split(r"\s*[,;]\s*", "a , b;c"), re.findall(r"\d+", "1 22 333"), re.fullmatch("a+", "aaa")
    try:
        re.compile("(unclosed")
    except re.error:
        pass
    list(tokenize.generate_tokens(iter(["x = 1 + (2,\n", "  'a')\n"]).__next__)), keyword.iskeyword("for")
    typing.get_type_hints(use_numbers), typing.Optional[int], typing.Union[int, str, None]
    typing.get_origin(list[int]), typing.get_args(dict[str, int]), typing.List[int]


PROGRAMS = [
    use_json,
    use_text,
    use_numbers,
    use_dates,
    use_files,
    use_web,
    use_options,
    use_classes,
    use_source,
]


# ---- Recording -------------------------------------------------------------------------------------

PER_FUNCTION = 2


class Call:
    def __init__(self, function, args, kwargs):
        self.function, self.args, self.kwargs = function, args, kwargs

    @property
    def name(self):
        return f"{self.function.__module__}.{self.function.__qualname__}"


def is_wanted(code):
    path = Path(code.co_filename)
    if not path.is_absolute() or STDLIB not in path.parents or code.co_name.startswith("<"):
        return False
    return path.relative_to(STDLIB).parts[0].split(".")[0] in PACKAGES


def arguments_of(frame):
    code, values = frame.f_code, frame.f_locals
    names = code.co_varnames
    npos, nkw = code.co_argcount, code.co_kwonlyargcount
    args = [values[name] for name in names[:npos]]
    kwargs = {name: values[name] for name in names[npos : npos + nkw]}
    rest = npos + nkw
    if code.co_flags & 0x4:  # *args
        args += values[names[rest]]
        rest += 1
    if code.co_flags & 0x8:  # **kwargs
        kwargs.update(values[names[rest]])
    return args, kwargs


def function_of(frame):
    """The function whose frame it is, if there is but one."""
    found = [
        f
        for f in gc.get_referrers(frame.f_code)
        if isinstance(f, types.FunctionType) and f.__code__ is frame.f_code
    ]
    return found[0] if len(found) == 1 and found[0].__module__ in sys.modules else None


def record(program):
    """The calls that the program makes, a few of each function, in the order of their names."""
    calls, seen, busy = [], {}, [False]

    def profile(frame, event, arg):
        code = frame.f_code
        if event != "call" or busy[0] or seen.get(code, 0) >= PER_FUNCTION or not is_wanted(code):
            return
        if frame.f_lasti > 10 and code.co_flags & 0x2A0:  # a generator that goes on
            return
        busy[0] = True
        try:
            function = function_of(frame)
            args, kwargs = copy.deepcopy(arguments_of(frame))
            if function is not None:
                calls.append(Call(function, args, kwargs))
        except Exception:
            pass  # what can't be copied is left out
        finally:
            seen[code] = seen.get(code, 0) + 1
            busy[0] = False

    sys.setprofile(profile)
    try:
        program()
    finally:
        sys.setprofile(None)
    return sorted(calls, key=lambda call: call.name)


# ---- Comparing -------------------------------------------------------------------------------------

ITEMS = 200


def picture(value: Any, seen: dict[int, int] | None = None) -> Any:
    """What can be seen of a value, as nested tuples; an iterator is exhausted."""
    seen = {} if seen is None else seen
    if isinstance(value, int) and value > 1 << 40:
        return ("a large number",)  # id() of something
    if value is None or isinstance(value, (bool, int, str, bytes, complex, type(...))):
        return (type(value), repr(value))
    if isinstance(value, float):
        return (float, value.hex())
    if isinstance(value, (type, types.ModuleType)):
        return ("named", repr(value).split(" at 0x")[0])
    if isinstance(value, types.CodeType):
        return ("code", value.co_name, value.co_firstlineno)
    if id(value) in seen:
        return ("again", seen[id(value)])
    seen[id(value)] = len(seen)
    seen.setdefault("kept", []).append(value)  # so that no id comes twice
    if isinstance(value, (list, tuple)):
        return (type(value), [picture(item, seen) for item in value])
    if isinstance(value, (set, frozenset)):
        return (type(value), sorted(repr(picture(item, {})) for item in value))
    if isinstance(value, dict):
        return (type(value), [(picture(k, seen), picture(v, seen)) for k, v in value.items()])
    if isinstance(value, (types.FunctionType, types.BuiltinFunctionType)):
        return ("function", value.__qualname__)
    if isinstance(value, types.MethodType):
        return ("method", value.__qualname__, picture(value.__self__, seen))
    if isinstance(value, BaseException):
        return (type(value), str(value))
    if hasattr(value, "__next__"):
        try:
            items = list(itertools.islice(value, ITEMS))
        except Exception as error:
            return ("iterator", type(value), type(error), str(error))
        return ("iterator", type(value).__name__, [picture(item, seen) for item in items])
    state = dict(getattr(value, "__dict__", {}))
    for cls in type(value).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            mangled = name
            if name.startswith("__") and not name.endswith("__"):
                mangled = f"_{cls.__name__.lstrip('_')}{name}"
            if mangled not in ("__weakref__", "__dict__") and hasattr(value, mangled):
                state[mangled] = getattr(value, mangled)
    if not state:
        return (type(value), repr(value).split(" at 0x")[0])
    return (type(value), [(name, picture(part, seen)) for name, part in state.items()])


def outcome(function, call):
    args, kwargs = copy.deepcopy((call.args, call.kwargs))
    try:
        result = function(*args, **kwargs)
    except (Exception, SystemExit) as error:
        result, lines = error, []
        trace = error.__traceback__
        while trace is not None:
            lines.append((trace.tb_frame.f_code.co_name, trace.tb_lineno))
            trace = trace.tb_next
        return ("raised", type(error), str(error), lines[1:], picture([args, kwargs]))
    return ("returned", picture([result, args, kwargs]))


def differences(call, forced, times=3):
    """What a compiled call did otherwise, as text; None: nothing.  `forced`: see force_breaks()."""
    plain = outcome(call.function, call)
    if plain != outcome(call.function, call):
        return None  # it remembers what it did
    region = _core.Region("native", record=True)
    _core._testing.force_breaks(*forced)
    try:
        with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0, trace_limit=20000):
            compiled = _compile_target(call.function, region)
            for _ in range(times):
                other = outcome(compiled, call)
                if other != plain:
                    return f"{call.name}{forced}:\n  {plain}\n  {other}"
    finally:
        _core._testing.force_breaks(0, 0, 0)
    return None
