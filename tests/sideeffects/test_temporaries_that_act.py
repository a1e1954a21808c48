"""What is on the stack or in a slot and acts when it dies acts where the program lets go of it."""

import weakref

import dyntrace
import numpy as np
import pytest
from differential import BACKEND, Compiled

LOG = []


class Loud:
    def __init__(self, value=0):
        self.value = value

    def __del__(self):
        LOG.append(("gone", self.value))

    def __enter__(self):
        return self.value

    def __exit__(self, *error):
        return True

    def __iter__(self):
        return self

    def __next__(self):
        self.value += 1
        if self.value > 3:
            raise StopIteration
        return self.value


class Quiet:
    pass


def watched(value):
    made = Quiet()
    made.value = value
    weakref.finalize(made, LOG.append, ("watched", value))
    return made


def compared(xs, k):
    if Loud(k) == k:
        xs.append(k)
    LOG.append(len(xs))


def looked_for(xs, k):
    found = Loud(k) in xs
    LOG.append(len(xs))
    return found


def of_an_attribute(xs, k):
    value = Loud(k).value
    LOG.append(value)
    return value + len(xs)


def stored_and_taken_out(xs, k):
    xs.append(Loud(k))
    del xs[-1]
    LOG.append(len(xs))


def put_by_a_slice(xs, k):
    xs[len(xs) :] = [Loud(k)]
    xs.pop()
    LOG.append(len(xs))


def handed_on(xs, k):
    LOG.append(value_of(Loud(k)))
    LOG.append(len(xs))


def value_of(one):
    return one.value


def in_a_tuple(xs, k):
    first, second = Loud(k), Loud(k + 1)
    LOG.append(first.value)
    first = second
    LOG.append(second.value)
    return first.value


def not_an_index(xs, k):
    try:
        xs[40] = Loud(k)
    except IndexError:
        LOG.append("caught")
    return len(xs)


def iterated(xs, k):
    total = np.zeros(2)
    for item in Loud(0):
        total = total + item
        LOG.append(item)
    LOG.append("end")
    return total.tolist()


def a_context(xs, k):
    with Loud(k) as value:
        LOG.append(value)
        raise KeyError(k)
    LOG.append("behind")


def counting(count):
    try:
        yield from range(count)
    finally:
        LOG.append("left")


def refused(value, bad):
    if value == bad:
        raise KeyError(value)


@dyntrace.disable
def unseen(value=None):
    return value


@dyntrace.disable
def begun(count):
    steps = counting(count)
    next(steps)
    return steps


def left_by_an_exception(xs, k):
    try:
        for item in unseen(counting(3)):
            LOG.append(item)
            refused(k, 2)
        refused(k, 3)
    except KeyError as error:
        LOG.append(error.args)
    return np.add(k, 0.5)


def second(first, last):
    return last


def not_used_by_a_callee(xs, k):
    total = second(begun(2), np.arange(3.0) * k)
    LOG.append("behind")
    total = second(begun(2), unseen(total))
    LOG.append("behind")
    return (total * 2.0).tolist()


def loud_for_some(xs, k):
    total = second(unseen(Loud(k) if k > 2 else k), unseen(np.arange(3.0)))
    LOG.append("behind")
    return (total * 2.0).tolist()


def put_into_a_list(xs, k):
    both = [unseen(Loud(k)), unseen(np.arange(3.0)) * 2.0]
    LOG.append("made")
    del both[0]
    LOG.append("behind")
    return both[0].tolist()


def in_a_slot_that_was_empty(xs, k):
    total = np.arange(3.0)
    for i in range(3):
        total = unseen(total)
        held = total * 2.0
        LOG.append(held.tolist())
        held = unseen(Loud(i))
        total = total + k
    LOG.append("end")
    return total.tolist()


def beside_an_exception(xs, k):
    total = np.arange(3.0)
    for _ in range(k):
        try:
            refused(k, k)
        except KeyError as error:
            xs.append(error.args)
            held = Loud(k)
        total = total[::-1] * 2.0 - k
    return total.tolist()


def with_a_callback(xs, k):
    same = watched(k) == k
    LOG.append("behind")
    return same


def kept(xs, k):
    one = Loud(k)
    same = one == k
    LOG.append("before")
    return same


FUNCTIONS = [
    compared,
    looked_for,
    of_an_attribute,
    stored_and_taken_out,
    put_by_a_slice,
    handed_on,
    in_a_tuple,
    not_an_index,
    iterated,
    a_context,
    left_by_an_exception,
    not_used_by_a_callee,
    loud_for_some,
    put_into_a_list,
    in_a_slot_that_was_empty,
    beside_an_exception,
    with_a_callback,
    kept,
]


def seen(fn, xs, k):
    LOG.clear()
    result = fn(xs, k)
    return result, xs, list(LOG)


@pytest.mark.parametrize("fn", FUNCTIONS)
def test_acts_in_its_place(fn):
    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        compiled = Compiled(fn, BACKEND, None)
        for k in (1, 2, 2, 3, 3, 1):
            assert seen(compiled, [1, 2], k) == seen(fn, [1, 2], k)
