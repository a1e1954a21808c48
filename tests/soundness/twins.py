"""Two worlds, one plain and one compiled, led through the same changes.

`make()` builds a world: (function, state, steps). Every step is a callable that may change the world
and returns the arguments of the next call; after each call the outcomes and the states are compared.
"""

from __future__ import annotations

import numpy as np
from differential import Compiled, Outcome, compare


def lead(make, backend="native", captured=None):
    """Builds the world twice, compiles one, runs all steps in both and compares after each."""
    plain_fn, plain_state, plain_steps = make()
    traced_fn, traced_state, traced_steps = make()
    compiled = Compiled(traced_fn, backend)
    assert len(plain_steps) == len(traced_steps)
    for i, (plain_step, traced_step) in enumerate(zip(plain_steps, traced_steps)):
        plain_args, traced_args = plain_step(), traced_step()
        plain = Outcome(plain_fn, plain_args, {}, plain_state)
        traced = Outcome(compiled, traced_args, {}, traced_state)
        try:
            compare(plain, traced)
        except AssertionError as error:
            raise AssertionError(f"step {i}: {error}\n{compiled.describe()}") from error
    assert not compiled.faults, compiled.describe()
    if captured is not None:
        assert bool(compiled.published) == captured, compiled.describe()
    return compiled


class Fresh:
    """An argument that is made anew for each call: iterators and what else a call uses up."""

    def __init__(self, make):
        self.make = make


def _readable(value):
    """Objects in arrays and the padding of long doubles are no bytes to compare."""
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.char in "OgG":
        return (type(value), str(value.dtype), value.shape, repr(value.tolist()), repr(value))
    if type(value) in (list, tuple):
        return type(value)(_readable(v) for v in value)
    if type(value) is dict:
        return {k: _readable(v) for k, v in value.items()}
    return value


def succession(fn, arguments):
    """One function plainly and compiled, with one argument after another."""
    compiled = Compiled(fn)
    for i, argument in enumerate(arguments):
        outcomes = []
        for run in (fn, compiled):
            given = argument.make() if isinstance(argument, Fresh) else argument
            outcome = Outcome(run, (given,), {})
            outcome.result, outcome.args = _readable(outcome.result), _readable(outcome.args)
            if isinstance(argument, Fresh):
                outcome.args = (list(given),)
            outcomes.append(outcome)
        try:
            compare(*outcomes)
        except AssertionError as error:
            raise AssertionError(f"argument {i}, {argument!r}: {error}") from error
    assert not compiled.faults, compiled.describe()
    return compiled
