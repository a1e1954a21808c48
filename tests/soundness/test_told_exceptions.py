"""What the interpreter tells exceptions while they leave an attribute or a name: `name` and `obj`."""

import sys
import types

import dyntrace
import numpy as np
import pytest

MODULE = types.ModuleType("elsewhere")
exec("class Slots:\n    __slots__ = ('a', 'b')\n", MODULE.__dict__)


class Plain:
    @property
    def fails(self):
        raise AttributeError("in the getter")

    @property
    def other(self):
        return self.missing

    @property
    def says(self):
        raise AttributeError("in the getter", name="mine")

    def raises(self):
        raise AttributeError("plainly")


class Asks:
    def __getattr__(self, name):
        raise AttributeError(name)


class Below(Plain):
    def above(self):
        return super().missing


def fresh():
    return {"o": Plain(), "s": MODULE.Slots(), "a": Asks(), "b": Below(), "x": np.arange(3.0)}


TEXTS = [
    "o.missing", "s.a", "s.missing", "a.anything", "o.fails", "o.other", "o.says", "o.raises()", "b.above()", "x.missing",
    "(3).missing", "'a'.missing", "Plain.missing", "getattr(o, 'missing')", "np.missing", "len.missing", "[].missing",
    "nothing", "del_it()", "s.__delattr__('a')", "Plain().missing", "o.missing()", "o.__class__.missing", "x.sum().missing",
]  # fmt: skip

TEMPLATE = """\
def del_it():
    return nothing_either
def call(o, s, a, b, x):
    y = x * 2.0
    try: {text}
    except (AttributeError, NameError) as error:
        {handled}
    return y, got
"""

HANDLED = [
    "got = str(error), error.name, getattr(error, 'obj', None) is o",
    "kept = error.with_traceback(None); got = kept",
    "error.name = 'changed'; got = error.name",
]


def show(got):
    y, rest = got
    if isinstance(rest, Exception):
        obj = getattr(rest, "obj", None)
        rest = (
            type(rest),
            rest.args,
            rest.name,
            type(obj),
            repr(obj) if isinstance(obj, (int, str)) else None,
        )
    return repr((y, rest))


@pytest.mark.parametrize("handled", HANDLED)
@pytest.mark.parametrize("text", TEXTS)
def test_an_exception_knows_which_name_it_is_about(text, handled):
    space = {**globals()}
    exec(TEMPLATE.format(text=text, handled=handled), space)
    plain, compiled = space["call"], dyntrace.compile(space["call"])
    expected = show(plain(**fresh()))
    assert [show(compiled(**fresh())) for _ in range(3)] == [expected] * 3


def test_an_empty_slot_names_the_class_as_this_version_does():
    def call(s, x):
        try:
            return s.a
        except AttributeError as error:
            return x + 1.0, str(error)

    expected = repr(call(MODULE.Slots(), np.ones(2)))
    assert ("elsewhere.Slots" in expected) == (sys.version_info >= (3, 13))
    assert repr(dyntrace.compile(call, fullgraph=True)(MODULE.Slots(), np.ones(2))) == expected


def test_who_does_not_ask_is_captured():
    def call(o, x):
        y = x * 2.0
        try:
            return o.missing
        except AttributeError:
            return y if hasattr(o, "missing") else y + 1.0

    compiled = dyntrace.compile(call, fullgraph=True)
    assert repr(compiled(Plain(), np.ones(2))) == repr(call(Plain(), np.ones(2)))
