"""Every form of argument passing, and calls that do not fit."""

import functools

import numpy as np
import pytest
from differential import check

A = np.linspace(0.5, 2.0, 4)


def two(a, b):
    return a - b


def defaults(a, b=2.0, c=None):
    return a - b, c


def keyword_only(a, *, b, c=3.0):
    return a * b - c


def positional_only(a, b, /, c=1.0):
    return a - b * c


def everything(a, b=2, *args, c, d=4, **kwargs):
    return a, b, args, c, d, kwargs


def only_stars(*args, **kwargs):
    return args, kwargs


def posonly_and_kwargs(a, /, **kwargs):
    return a, kwargs


def call_positional(x):
    return two(x, 1.0), two(1.0, x)


def call_keywords(x):
    return (
        two(b=x, a=1.0),
        two(x, b=3.0),
        defaults(x, c=x),
        keyword_only(x, b=2.0),
        keyword_only(x, c=1, b=x),
    )


def call_defaults(x):
    return defaults(x), defaults(x, 1.0), defaults(x, 1.0, x), defaults(a=x)


def call_positional_only(x):
    return positional_only(x, 2.0), positional_only(x, 2.0, c=x), positional_only(x, x, 3.0)


def call_everything(x):
    return (
        everything(x, c=1),
        everything(x, 1, 2, 3, c=x, z=5),
        everything(a=x, c=2, d=3, b=7),
        only_stars(),
        only_stars(x, 1, k=x),
        posonly_and_kwargs(x, a=1),
    )


def call_star(x):
    pair = (x, 1.0)
    items = [x, 2.0]
    return two(*pair), two(*items), only_stars(*pair, *items), only_stars(0, *pair, 9)


def call_star_star(x):
    options = {"a": x, "b": 3.0}
    return (
        two(**options),
        only_stars(**options, z=1),
        only_stars(*(1, 2), **options),
        defaults(x, **{"c": 5}),
    )


def forwards(*args, **kwargs):
    return two(*args, **kwargs)


def call_forwarded(x):
    return forwards(x, 1.0), forwards(x, b=2.0), forwards(a=1.0, b=x)


def call_lambda(x):
    f = lambda a, b=2.0: a * b  # noqa: E731
    return f(x), f(x, 3.0), (lambda: x + 1.0)()


def call_numpy_forms(x, y):
    return (
        np.add(x, y),
        np.add(*(x, y)),
        np.sum(x, axis=0),
        np.sum(a=x),
        x.sum(axis=0, keepdims=True),
    )


def call_evaluation_order(x):
    log = []

    def note(value):
        log.append(value)
        return value

    two(note(1), note(2))
    two(b=note(3), a=note(4))
    return log, x + 1.0


TWO_MINUS = functools.partial(two, 2.0)


def call_partial(x):
    return TWO_MINUS(x), TWO_MINUS(b=x)


def call_new_partial(x):
    p = functools.partial(two, b=2.0)
    return p(x), p(x, b=x)


def call_conditional_callee(x, which):
    return (two if which else defaults)(x, 1.0)


def call_from_container(x):
    table = {"two": two, "defaults": defaults}
    return table["two"](x, 1.0), [two, defaults][1](x)


def call_parameter(x, f):
    return f(x, 1.0)


CASES = [
    (call_positional, A),
    (call_keywords, A),
    (call_defaults, A),
    (call_positional_only, A),
    (call_everything, A),
    (call_star, A),
    (call_star_star, A),
    (call_forwarded, A),
    (call_lambda, A),
    (call_numpy_forms, A, A + 1),
    (call_evaluation_order, A),
    (call_partial, A),
    (call_new_partial, A),
    (call_conditional_callee, A, True),
    (call_conditional_callee, A, False),
    (call_from_container, A),
    (call_parameter, A, two),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_same(case):
    check(*case)


MISMATCHES = [
    lambda x: two(x),
    lambda x: two(),
    lambda x: two(x, 1, 2),
    lambda x: two(x, c=1),
    lambda x: two(x, a=1, b=2),
    lambda x: defaults(x, 1, 2, 3),
    lambda x: keyword_only(x, 1),
    lambda x: keyword_only(x),
    lambda x: positional_only(a=x, b=1),
    lambda x: everything(x),
    lambda x: two(x, **{"b": 1, "a": 2}),
    lambda x: two(*[x]),
]


@pytest.mark.parametrize("fn", MISMATCHES, ids=range(len(MISMATCHES)))
def test_mismatch_raises_as_plainly(fn):
    compiled = check(fn, A, breaks="raises")
    reason = compiled.records[0]["break"]["reason"]
    with pytest.raises(TypeError) as plain:
        fn(A)
    # The text is CPython's.
    assert reason == f"TypeError: {plain.value}"


@pytest.mark.parametrize(
    "args, kwargs",
    [((A, 1.0), {}), ((A,), {"b": 2.0}), ((), {"b": A, "a": 1.0})],
)
def test_arguments_of_the_compiled_function_itself(args, kwargs):
    check(two, *args, **kwargs)


@pytest.mark.parametrize(
    "args, kwargs",
    [
        ((A,), {"c": 1}),
        ((A, 1, 2, 3), {"c": A, "z": 5}),
        ((), {"a": A, "c": 2, "d": 3, "b": 7}),
    ],
)
def test_all_kinds_of_parameters(args, kwargs):
    check(everything, *args, **kwargs)


def test_too_many_arguments_of_the_compiled_function():
    import dyntrace

    compiled = dyntrace.compile(two)
    for args in ((), (A,), (A, 1, 2)):
        with pytest.raises(TypeError) as plain:
            two(*args)
        with pytest.raises(TypeError) as error:
            compiled(*args)
        assert str(error.value) == str(plain.value)
