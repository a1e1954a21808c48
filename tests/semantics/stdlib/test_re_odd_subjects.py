"""Regular expressions over what can change, and those that warn."""

import re

import dyntrace
import pytest
from differential import Compiled, check


def matched_then_changed(data):
    found = re.search(b"[a-h]+", data)
    before = found.group()
    data[:] = b"xyz"
    return before, found.group(), found.string is data


def found_in(data):
    return re.findall(b"[a-c]", data), re.sub(b"a", b"-", data)


def change(found, data):
    data[:] = b"xyz"
    return found.group()


def test_match_over_a_bytearray():
    check(matched_then_changed, bytearray(b"abcdefgh"), breaks="unknown-callable")


def test_existing_match_over_a_bytearray():
    with dyntrace.config.patch(everything=True, strict=True):
        compiled = Compiled(change)
        for _ in range(3):
            data = bytearray(b"abcd")
            assert compiled(re.search(b"[a-h]+", data), data) == b"xyz"


def test_parts_of_a_bytearray():
    check(found_in, bytearray(b"abcad"), breaks="unknown-callable")


def template(text):
    return re.sub("(a)", r"<\g<1>\1>", text)


def odd_template(text):
    return re.sub("(?P<x>a)", r"<\g< 1 >>", text)


def odd_group(text):
    return re.search("(?P<x>a)(?(+1)b)", text)


def test_template():
    check(template, "banana")


@pytest.mark.parametrize("fn", [odd_template, odd_group])
def test_names_that_may_warn(fn):
    check(fn, "xab", reset=re.purge, breaks="unknown-callable")
