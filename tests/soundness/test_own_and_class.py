"""What one object has of its own and another one gets from its class; objects that are compared with known ones."""

import threading

import dyntrace
import pytest
from differential import Compiled


class Stream:
    def __init__(self):
        self.lock = threading.Lock()
        self.log = []

    def flush(self):
        self.log.append("flushed")


def close(stream):
    with stream.lock:  # not followed: what comes after it begins in the middle of the frame
        if stream.log:
            return "twice"
    try:
        stream.flush()
    finally:
        with stream.lock:
            stream.log.append("closed")
    return list(stream.log)


def drop(stream):
    with stream.lock:
        pass
    try:
        del stream.flush
    except AttributeError:
        return "none of its own"
    return "dropped"


def fails():
    raise OSError("no room")


def outcome(fn, *args):
    try:
        return fn(*args)
    except Exception as error:
        return repr(error)


@pytest.mark.parametrize("fn", [close, drop])
@pytest.mark.parametrize("order", [(True, False), (True, True, False, False), (False, True, False)])
def test_a_method_hidden_by_an_own_attribute(fn, order):
    with dyntrace.config.patch(everything=True, strict=True):
        compiled = Compiled(fn)
        for own in order:
            pair = []
            for one in (fn, compiled):
                stream = Stream()
                if own:
                    stream.flush = fails
                pair.append((outcome(one, stream), stream.log))
            assert pair[0] == pair[1]


class Zone:
    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return "Zone.zero" if self is self.zero else f"Zone({self.name!r})"


Zone.zero = Zone("zero")
ONE = Zone("one")
ITEMS = [1]
TABLE = {}


def shown(zone):
    return repr(zone)


def own_first(zone):
    return zone.name, zone is ONE


def known_first(zone):
    return ONE.name, zone is ONE


def through_the_class(zone):
    return Zone.zero is zone


def default(zone, other=ONE):
    return zone is other


def in_a_call(zone):
    return default(zone), zone.name


def list_known(items):
    return len(items), items is ITEMS


def list_known_first(items):
    return len(ITEMS), items is ITEMS


def dict_known(table):
    return table is TABLE, len(table)


@pytest.mark.parametrize(
    "fn, values",
    [
        (shown, [Zone.zero, Zone("x")]),
        (own_first, [ONE, Zone("x")]),
        (known_first, [ONE, Zone("x")]),
        (through_the_class, [Zone.zero, Zone("x")]),
        (in_a_call, [ONE, Zone("one")]),
        (list_known, [ITEMS, [1]]),
        (list_known_first, [ITEMS, [1]]),
        (dict_known, [TABLE, {}]),
    ],
)
@pytest.mark.parametrize("turn", [1, -1])
def test_the_same_as_a_known_object(fn, values, turn):
    with dyntrace.config.patch(everything=True, strict=True):
        compiled = Compiled(fn)
        for value in values[::turn] * 2:
            assert compiled(value) == fn(value)
