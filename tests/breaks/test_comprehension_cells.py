"""A comprehension whose variable hides a variable that closures share, left from a break on.

From 3.12 on both lie in one slot: the cell waits on the stack meanwhile, and is put back at the end, or by
a handler.
"""

import dyntrace
import numpy as np
import pytest
from differential import check_calls


@dyntrace.disable
def opaque():
    return None


def checked(value, bad):
    if value == bad:
        raise ValueError(value)
    return value


def read_after(x, bad):
    w = 5
    try:
        y = [opaque() or checked(w, bad) for w in (1, 2)]
    except ValueError:
        y = []
    return (lambda: w)(), w, y, x * w


def written_after(x, bad):
    w = 5
    read = lambda: w
    try:
        y = {opaque() or checked(w, bad) for w in (1, 2)}
    except ValueError:
        w += 2
    else:
        w -= 1
    return read(), w, x * w


def deleted_after(x, bad):
    w = 5
    read = lambda: w
    try:
        y = {w: opaque() or checked(w, bad) for w in (1, 2)}
    except ValueError:
        del w
    try:
        return read(), x * 2
    except NameError as error:
        return str(error), x + 2


def unbound_before(x, bad):
    try:
        y = [opaque() or checked(w, bad) for w in (1, 2)]
    except ValueError:
        y = None
    try:
        found = w
    except NameError as error:
        found = str(error)
    w = x.sum()
    return found, y, sum(w + i for i in (1, 2)), x * 2


def nested(x, bad):
    v, w = 5, x * 3
    read = lambda: (v, w)
    try:
        y = [[opaque() or checked(v + w, bad) for w in (v, 1)] for v in (0, 1)]
    except ValueError:
        v, y = v + 1, None
    return read(), v, w, y


def nonlocal_meanwhile(x, bad):
    w = 5

    def change(by):
        nonlocal w
        w += by
        return by

    try:
        y = [opaque() or checked(change(w), bad) for w in (1, 2)]
    except ValueError:
        y = w
    return w, y, x * w


def in_a_loop(x, bad):
    w, total = 1, x
    read = lambda: w
    for i in range(3):
        try:
            total = total + [opaque() or checked(w + i, bad) for w in (1, 2)][-1] * read()
        except ValueError:
            w = w + i
            total = total * w
    return total, read(), w


def argument(w, bad):
    read = lambda: w
    try:
        y = [opaque() or checked(w, bad) for w in (1, 2)]
    except ValueError:
        return read() * 2
    finally:
        w = w + 1
    return read(), y


def own_class(x, bad):
    class Holder:
        w = 1
        try:
            y = [opaque() or checked(w, bad) for w in (1, 2)]
        except ValueError:
            y = w

    return Holder.w, Holder.y, x + Holder.w


def functions_of_it(x, bad):
    w = 5
    read = lambda: w
    try:
        y = [(lambda: w, opaque() or checked(w, bad))[0] for w in (1, 2)]
    except ValueError:
        w += 1
        y = []
    return read(), [f() for f in y], x * w


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    "fn",
    [
        read_after, written_after, deleted_after, unbound_before, nested, nonlocal_meanwhile, in_a_loop,
        argument, own_class, functions_of_it,
    ],
)  # fmt: skip
def test_put_back(fn, strict, monkeypatch):
    monkeypatch.setattr(dyntrace.config, "strict", strict)
    x = np.linspace(0.5, 2.0, 4)
    check_calls(fn, *[(x, bad) for bad in (2, 1, None, 2, 3, 4, None, 1)], whole=False)
