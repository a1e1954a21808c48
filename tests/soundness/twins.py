"""Two worlds, one plain and one compiled, led through the same changes.

`make()` builds a world: (function, state, steps). Every step is a callable that may change the world
and returns the arguments of the next call; after each call the outcomes and the states are compared.
"""

from __future__ import annotations

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
