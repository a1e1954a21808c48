"""A polyfill, run plainly, against its original: results, exceptions, calls back in order."""

from __future__ import annotations

import copy

from dyntrace.polyfills import load


class Logged:
    """A number that notes each comparison in the log of its class."""

    log: list = []

    def __init__(self, value):
        self.value = value

    def _note(self, name, other):
        type(self).log.append((name, self.value, getattr(other, "value", other)))
        return getattr(other, "value", other)

    def __lt__(self, other):
        return self.value < self._note("lt", other)

    def __gt__(self, other):
        return self.value > self._note("gt", other)

    def __le__(self, other):
        return self.value <= self._note("le", other)

    def __eq__(self, other):
        return self.value == self._note("eq", other)

    def __add__(self, other):
        return type(self)(self.value + self._note("add", other))

    def __hash__(self):
        return hash(self.value)

    def __repr__(self):
        return f"<{self.value!r}>"


def polyfill_of(module, original):
    """The polyfill that the module has for it."""
    from dyntrace import _core

    load(module)
    _core.load_polyfills(module)
    (found,) = [f for o, f in _core.list_substitutes() if o is original]
    return found


def outcome(function, make, kwargs, compare_arguments):
    log = []
    args = make(type("Logged", (Logged,), {"log": log}))
    if compare_arguments:
        args = copy.deepcopy(args)
    result = error = None
    try:
        result = function(*args, **kwargs)
    except Exception as caught:
        error = caught
    seen = {id(arg): f"argument {i}" for i, arg in enumerate(args)}
    return {
        "result": (type(result).__name__, seen.get(id(result)), repr(result)),
        "error": (type(error), str(error), error and error.__suppress_context__),
        "arguments": repr(args) if compare_arguments else None,
        "log": log,
    }


def same(module, original, make, compare_arguments=True, **kwargs):
    """Asserts that both do the same with what make(Logged) gives as arguments."""
    polyfill = polyfill_of(module, original)
    plain = outcome(original, make, kwargs, compare_arguments)
    other = outcome(polyfill, make, kwargs, compare_arguments)
    assert plain == other
