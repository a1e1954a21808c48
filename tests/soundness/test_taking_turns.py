"""Containers that come by turns: what an entry keeps of the one it has served is not taken for that of another.

A container that has not changed since an entry verified it is not read again.  In between the entry is asked with
others, reads them, and does not hold.
"""

import pytest
from differential import Compiled

VALUES = {
    "frozen sets": (frozenset((1,)), frozenset((2,))),
    "texts": ("long story short", "four"),
    "bytes": (b"one", b"two"),
    "large numbers": (10**30, 10**31),
    "complex numbers": (1 + 2j, 3j),
    "tuples": ((1, "a"), (2, "b")),
    "functions": (len, sum),
}


def from_a_dict(holder):
    value = holder["value"]
    return value, value in (1, None), holder


def from_a_dict_inside(holder):
    value, other = holder["inside"]["value"], holder["inside"]["other"]
    return value == other, value, other


def from_an_instance(holder):
    value = holder.value
    return value, value == 5, vars(holder)["value"]


class Holder:
    def __init__(self, value):
        self.value = value


def holders(fn, values):
    if fn is from_a_dict_inside:
        return [{"inside": {"value": value, "other": values[0]}} for value in values]
    return [Holder(value) if fn is from_an_instance else {"value": value} for value in values]


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize("fn", [from_a_dict, from_a_dict_inside, from_an_instance])
def test_by_turns(fn, values):
    first, second = holders(fn, values)
    compiled = Compiled(fn)
    for holder in (first, second, first, second, second, first):
        plain, served = fn(holder), compiled(holder)
        assert [type(x) for x in served] == [type(x) for x in plain]
        assert served == plain


def test_a_container_that_changes_between():
    contents = {"value": frozenset((1,))}
    other = {"value": frozenset((2,))}
    compiled = Compiled(from_a_dict)
    for step in range(12):
        if step % 4 == 3:
            contents["value"] = frozenset((step,))
        for holder in (contents, other, contents):
            assert compiled(holder) == from_a_dict(holder)
