"""Texts of arrays and of numbers out of them: f-strings, str(), repr(), format(), `%`, join()."""

import numpy as np
import pytest
from differential import Compiled, Outcome, check, check_calls, compare

V = np.arange(1.0, 7.0) / 3
M = np.arange(12.0).reshape(3, 4) / 7


def f_strings(a):
    y = a * 2
    m = y.mean()
    return f"{m:.3f}", f"mean={m}, {m!r:>30} {m!s:.4} {m!a}", f"{float(m):g} {y.max() > 1}"


def conversions(a):
    y = a + 1
    return str(y), repr(y), ascii(y), f"{y}", format(y), f"{y!r:>5}"


def of_numbers(a):
    m = a.sum()
    return (
        str(m),
        repr(m),
        format(m),
        format(m, ".2e"),
        str(float(m)),
        repr(int(m)),
        f"{bool(m > 1)}",
    )


def forms(a):
    m = a.mean()
    return (
        "{} {:.2f} {!r} {{}}".format(m, m, a),
        "{1:5.1f}/{0}".format(m, m * 2),
        "%s and %r" % (a, m),
        "%.3f %d %5.1e%%" % (m, a.max(), float(m)),
        "%s" % m,
        "%s" % a,
        "%d items, %s" % (3, a.max()),
    )


def joins(a):
    parts = [f"{x:.2f}" for x in a.reshape(-1)[:3]]
    head = "items: " + ", ".join(parts)
    return (
        head + "!",
        "\n".join(f"{i}: {x}" for i, x in enumerate(a.reshape(-1)[:2])),
        f"{head}{head}",
    )


def around(a):
    return (
        f"[{a.sum()}] {a.shape} {len(a)} {a.dtype}",
        f"{a.tolist()}",
        str(a.reshape(-1)[:2].tolist()),
    )


def texts_of_texts(a):
    t = f"{a.sum():.1f}"
    return t, str(t) is t, f"{t}" is t, format(t), f"{t:>12}", repr(t), t + t


TEXTS = [f_strings, conversions, of_numbers, forms, joins, around]


@pytest.mark.parametrize("a", [V, M, V.astype("f4"), np.arange(5), np.arange(3000.0), V[::-1]])
@pytest.mark.parametrize("f", TEXTS)
def test_texts_stay_in_the_graph(f, a):
    check(f, a)


@pytest.mark.parametrize("f", TEXTS + [texts_of_texts])
@pytest.mark.parametrize(
    "a",
    [
        V + 1j,
        V > 1,
        V.astype("f2"),
        V.astype("g"),
        np.array([np.nan, np.inf, -0.0]),
        np.array(2.5),
        np.zeros((0, 3)),
        np.array(["2020-01-01", "2021-02-03"], "M8[D]"),
        np.array(["a", "b'"]),
    ],
)
def test_texts_of_other_arrays(f, a):
    check_calls(f, (a,), whole=False)


def test_texts_follow_the_options():
    compiled = {f: Compiled(f) for f in (conversions, f_strings, forms)}
    for options in (
        {},
        {"precision": 2},
        {"threshold": 3, "edgeitems": 1},
        {"legacy": "1.13"},
        {"formatter": {"float": lambda x: "~"}},
    ):
        with np.printoptions(**options):
            for f, own in compiled.items():
                compare(Outcome(f, (M,), {}), Outcome(own, (M,), {}))


def sets_options(a):
    before = np.get_printoptions()["precision"]
    np.set_printoptions(precision=3)
    text = f"{a * 2} {a.sum()}"
    np.set_printoptions(precision=before)
    return text, str(a)


def in_a_region(a):
    with np.printoptions(precision=2):
        text = str(a * 2)
    return text, f"{a.mean():.2f}"


@pytest.mark.parametrize("f", [sets_options, in_a_region])
def test_options_that_the_function_sets(f):
    check_calls(f, (M,), (M + 1,), whole=False)


class Shown:
    def __init__(self):
        self.asked = 0

    def __format__(self, spec):
        self.asked += 1
        return f"<{spec}{self.asked}>"

    def __str__(self):
        self.asked += 1
        return f"shown {self.asked}"

    __repr__ = __str__


def beside_objects(a, shown):
    return (
        f"{shown:x} {a.sum():.2f} {shown}",
        "%s %s" % (shown, a.mean()),
        "{} {}".format(a.max(), shown),
    )


def in_containers(a, shown):
    return f"{[a.sum()]} {(a, shown)}", str({"a": a.max()})


@pytest.mark.parametrize("f", [beside_objects, in_containers])
def test_texts_with_objects(f):
    check_calls(f, (V, Shown()), (V + 1, Shown()), whole=False)


def bad_spec(a):
    y = a + 1
    return f"{y.sum():d}"


def spec_of_an_array(a):
    y = a + 1
    f"{y:.2f}"
    return y


def no_int(a):
    y = a * 1
    "%d" % y.sum()
    return y


def too_few(a):
    form = "%s %s"
    return form % (a.sum(),)


def too_many(a):
    form = "%s"
    return form % (a.sum(), a.max())


def no_field(a):
    form = "{} {}"
    return form.format(a.sum())


def converts_an_array(a):
    return "%.2f" % a[:1], "%d" % (a[:1],)


def converts_a_complex(a):
    return "%.2f" % (a.sum() + 1j)


def looks_into(a):
    return "{0.shape} {0[1]} {0.T}".format(a), "{:{}}".format(a.sum(), 10), "{x}".format(x=a.sum())


@pytest.mark.parametrize(
    "f",
    [
        bad_spec,
        spec_of_an_array,
        no_int,
        too_few,
        too_many,
        no_field,
        converts_an_array,
        converts_a_complex,
        looks_into,
    ],
)
@pytest.mark.parametrize("a", [V, np.array([np.nan, 1.0])])
def test_texts_that_fail_or_warn(f, a):
    check_calls(f, (a,), whole=False)


def asked(a):
    t = f"{a.sum():.1f}"
    return len(t), t == "7.0", t[:2], {t: 1}, t.upper(), "7" in t


def raised(a):
    if len(a) > 2:
        raise ValueError(f"bad mean {a.mean():.2f}")
    return a


def printed(a):
    y = a * 2
    print(f"mean: {y.mean():.2f}")
    print(y)
    return y + 1


@pytest.mark.parametrize("f", [asked, raised, printed])
def test_who_asks_a_text_goes_on_plainly(f):
    check_calls(f, (V,), (V + 1,), whole=False)


def changed_later(a):
    before = f"{a} {a[0]}"
    a += 1
    return before, f"{a} {a[0]}"


def test_texts_are_of_their_moment():
    check(changed_later, V)
    check(changed_later, np.arange(4))
