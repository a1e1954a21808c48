"""What a loop program knows by name dies when the program lets go of it, and may be another object."""

import gc
import weakref

import dyntrace
import numpy as np
import pytest
from dyntrace._support import core


class Setting:
    pass


def make():
    """A function whose loop reads an array and an instance of its module's globals."""
    space = {"np": np, "values": np.arange(50.0), "setting": Setting()}
    space["setting"].factor = 2.0
    exec(
        "def scaled(n):\n"
        "    total = 0.0\n"
        "    for i in range(n):\n"
        "        if i % 3 and total < 1e9:\n"
        "            total += values[i % 50] * setting.factor\n"
        "        else:\n"
        "            total -= 1.0\n"
        "    return total\n",
        space,
    )
    return space, space["scaled"], dyntrace.compile(space["scaled"])


def warm(plain, compiled):
    before = core.counters()["iterations"]
    for _ in range(6):
        assert compiled(400) == plain(400)
    assert core.counters()["iterations"] > before


def test_arrays_and_instances_behind_names_die():
    space, plain, compiled = make()
    warm(plain, compiled)
    array, instance = weakref.ref(space["values"]), weakref.ref(space["setting"])
    del space["values"], space["setting"]
    gc.collect()
    assert array() is None and instance() is None


@pytest.mark.parametrize(
    "values",
    [np.arange(50.0) + 1, np.arange(120.0)[::-2], np.arange(50), list(range(50)), np.arange(50) > 3],
    ids=["another", "strides", "ints", "list", "truths"],
)
def test_another_object_under_the_name(values):
    space, plain, compiled = make()
    warm(plain, compiled)
    for one in (values, space["values"], values):
        space["values"] = one
        for _ in range(3):
            assert compiled(400) == plain(400)


def test_another_attribute_and_another_class():
    space, plain, compiled = make()
    warm(plain, compiled)

    class Doubled:
        @property
        def factor(self):
            return 4.0

    for factor in (3.0, 3, np.float64(0.5), True):
        space["setting"].factor = factor
        assert compiled(400) == plain(400)
    space["setting"] = Doubled()
    for _ in range(3):
        assert compiled(400) == plain(400)
