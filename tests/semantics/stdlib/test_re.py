"""re on strings that are known while tracing."""

import re
import string

import numpy as np
import pytest
from differential import check

A = np.linspace(0.5, 2.0, 4)
CAPTURED = []
PAIR = re.compile(r"(?P<key>\w+)=(?P<value>\d+)")
WORD = re.compile(r"[a-z]+")


def captured(fn):
    CAPTURED.append(fn)
    return fn


@captured
def matches(x):
    return x * 2.0 if re.match(r"a+", "aab") else x


@captured
def no_match(x):
    return x, re.match(r"b", "aab"), re.fullmatch(r"a", "aab"), re.search("c", "aab")


@captured
def groups(x):
    found = re.match(r"(a+)(b)?(c)?", "aab")
    return x, found.group(1), found.group(0, 2), found.groups(), found.groups(""), found[1]


@captured
def named_groups(x):
    found = PAIR.match("width=12")
    return x * int(found["value"]), found.group("key"), found.groupdict(), found.lastgroup


@captured
def positions(x):
    found = re.search(r"\d+", "ab123c")
    return x, found.start(), found.end(), found.span(), found.string, found.pos, found.endpos


@captured
def whole(x):
    return x, re.fullmatch(r"\d+", "123") is not None, re.fullmatch("[0-9]", "x") is None


@captured
def all_of_them(x):
    return x, re.findall(r"\d+", "a1b22"), PAIR.findall("a=1 b=2"), WORD.findall("one two")


@captured
def splits(x):
    return x, re.split(r",\s*", "a, b,c"), WORD.split("1a2"), re.split("(-)", "1-2")


@captured
def replaces(x):
    return (
        x,
        re.sub(r"\d+", "#", "a1b22"),
        re.sub(r"(\w)-(\w)", r"\2-\1", "a-b"),
        WORD.sub("", "a1"),
    )


@captured
def replaces_some(x):
    return x, WORD.sub("_", "a b c", 2), WORD.subn("_", "a b"), re.subn("a", "b", "aa")


@captured
def replaces_by_call(x):
    def double(found):
        return found.group() * 2

    return x, re.sub(r"[ab]", double, "abc"), WORD.sub(lambda m: m[0].upper(), "one two", count=1)


@captured
def compiles(x):
    pattern = re.compile(r"(\d)(\d)")
    return x * int(pattern.search("ab12").group(2)), pattern.pattern, pattern.groups, pattern.flags


@captured
def compiled_again(x):
    return x, re.compile(PAIR) is PAIR, re.match(PAIR, "a=1").group(), re.compile("[a-z]+").pattern


@captured
def pattern_leaves(x):
    return x + 1.0, PAIR, WORD


@captured
def of_bytes(x):
    return x, re.match(rb"\d+", b"12a").group(), re.sub(b"a", b"b", b"aa")


@captured
def limits(x):
    return x, WORD.search("one two", 3).group(), WORD.match("one", 0, 2).group()


@captured
def loops_over_groups(x):
    for part in PAIR.match("n=3").groups():
        x = x * int(part) if part.isdigit() else x
    return x


@captured
def parses_a_shape(x):
    rows, columns = map(int, re.match(r"(\d+)x(\d+)", "2x2").groups())
    return x.reshape(rows, columns)


@captured
def parses_options(x):
    options = {m: int(v) for m, v in re.findall(r"(\w+)=(\d+)", "scale=3,offset=1")}
    return x * options["scale"] + options["offset"]


@captured
def expands(x):
    return x, PAIR.match("a=1").expand(r"\g<value>:\g<key>")


@captured
def compares(x):
    return x, PAIR == PAIR, PAIR != WORD, bool(PAIR), PAIR is WORD


@captured
def template(x):
    text = string.Template("$name is ${value}$$")
    return x, text.substitute(name="n", value=3), text.template


@pytest.mark.parametrize("fn", CAPTURED)
def test_re(fn):
    check(fn, A)


def unknown_text(x, text):
    return x, WORD.findall(text)


def test_an_argument_is_guarded():
    check(unknown_text, A, "one two")


def bad_pattern(x):
    y = x + 1.0
    return y, re.compile("(")


def no_string(x):
    y = x + 1.0
    return y, WORD.match(3)


def no_such_group(x):
    y = x + 1.0
    return y, WORD.match("a").group(7)


def flags_for_compiled(x):
    y = x + 1.0
    return y, re.match(WORD, "a", 2)


@pytest.mark.parametrize("fn", [bad_pattern, no_string, no_such_group, flags_for_compiled])
def test_errors(fn):
    check(fn, A, breaks="raises")


def may_warn(x):
    return x, re.match("[[a]", "a")


def test_a_pattern_that_warns_is_compiled_plainly():
    re.purge()
    check(may_warn, A, breaks="unknown-callable", make=lambda: (re.purge(), ((A,), {}))[1])
