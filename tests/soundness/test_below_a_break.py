"""The programs of the other files once more, in a frame below one that could not be captured."""

import numpy as np
import pytest
import test_effects
import test_more_state
from test_changed_state import steps_of, world
from twins import lead

A = np.linspace(0.5, 2.0, 4)
Z = np.zeros(4)
BREAKING = "\ndef fn(x):\n    print(end='')\n    return inner(x)\n"


@pytest.mark.parametrize("body", test_effects.BODIES)
def test_effects_below(body):
    def make():
        source = test_effects.SOURCE.replace("{body}", test_effects.BODIES[body]).replace(
            "def fn(x)", "def inner(x)"
        )
        module = world(source + BREAKING, A=A, Z=Z)
        steps = [lambda: (A.copy(),), lambda: (A.copy(),), lambda: (Z.copy(),), lambda: (A.copy(),)]
        raising = [
            lambda: np.seterr(all="raise") and (A.copy(),),
            lambda: (Z.copy(),),
            lambda: np.seterr(all="warn") and (Z.copy(),),
        ]
        return module.fn, module.state, steps + raising + steps

    with np.errstate():  # as it was, for the tests that come after
        lead(make)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", test_more_state.CASES)
def test_state_below(case):
    body, changes = test_more_state.CASES[case]

    def make():
        source = test_more_state.SOURCE.replace("{body}", body).replace("def fn(x)", "def inner(x)")
        module = world(source + BREAKING, A=A)
        return module.fn, None, steps_of(module, *changes)

    test_more_state.lead_by_text(make)
