"""Dates, texts and records: arrays that are in the graph and called, and numbers in records, fused."""

import pickle
import warnings
from pathlib import Path

import dyntrace
import numpy as np
import pytest
import test_numpy_table as table
from differential import Compiled, Outcome, check, check_calls, compare

DAYS = np.array(["2020-01-01", "2020-02-03", "NaT", "2021-12-31", "2019-05-05"], "M8[D]")
HOURS = np.array(["2020-01-01T05", "2020-02-03T00", "2020-01-01T00", "NaT", "2030-01-01T23"], "M8[h]")
SPANS = np.array([5, -3, 0, "NaT", 1000], "m8[h]")
NAMES = np.array(["ab", "c", "", "dé", "zzz"])
BYTES = np.array([b"ab", b"c", b"", b"d", b"zzz"])
NUMBERS = np.array([1.5, -2.0, 0.0, np.nan, 4.0])
COUNTS = np.array([3, -1, 0, 7, 2])
PICKS = np.array([4, 0, 0, 2])
POINT = np.dtype([("x", "f8"), ("y", "f8"), ("n", "i4"), ("v", "f4", (3,))])
PACKED = np.dtype([("flag", "?"), ("x", "<f8"), ("big", ">i4"), ("day", "M8[s]")])
NESTED = np.dtype([("p", [("x", "f8"), ("y", "f8")]), ("name", "U3")])
DAY = np.timedelta64(1, "D")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of a unit that is not said
    NOT_A_TIME = np.datetime64("NaT")
START = np.datetime64("2020-01-15")


def records(dtype=POINT, n=6):
    made = np.zeros(n, dtype)
    for i, name in enumerate(dtype.names):
        if dtype[name].names is None:
            shape = made[name].shape
            made[name] = (np.arange(made[name].size).reshape(shape) * 3 + i).astype(dtype[name].base)
    return made


DATES = {
    "add": (lambda a, b: a + b, DAYS, SPANS),
    "subtract": (lambda a, b: a - b, HOURS, DAYS),
    "spans": (lambda a: (a + a, a - a, -a, abs(a), a * 2, a * 2.5, a / 2, 3 * a), SPANS),
    "ratio": (lambda a: a / np.timedelta64(1, "D"), SPANS),
    "whole ratio": (lambda a: (a // np.timedelta64(7, "h"), a % np.timedelta64(7, "h")), SPANS[:3]),
    "by numbers": (lambda a, x, n: (a * n, a * x, n * a), SPANS, NUMBERS, COUNTS),
    "global span": (lambda a: (a + DAY, a - START), DAYS),
    "made": (lambda a: a + np.timedelta64(36, "h") - np.timedelta64(2, "s"), DAYS),
    "made date": (lambda a: (a - np.datetime64("2020-01-01"), a < np.datetime64("2020-02-01T12:30")), DAYS),
    "compare": (lambda a, b: (a < b, a <= b, a == b, a != b, a > b, a >= b), HOURS, DAYS),
    "isnat": (lambda a, b: (np.isnat(a), np.isnat(b)), DAYS, SPANS),
    "extremes": (lambda a: (np.maximum(a, a[::-1]), np.fmin(a, a[::-1])), DAYS),
    "mask": (lambda a, x: x[a > np.datetime64("2020-01-01")] * 2, DAYS, NUMBERS),
    "masked dates": (lambda a: a[~np.isnat(a)] + np.timedelta64(1, "D"), DAYS),
    "pick": (lambda a, i: a[i] + np.timedelta64(1, "D"), DAYS, PICKS),
    "slices": (lambda a: (a[1:] - a[:-1]) / np.timedelta64(1, "h"), DAYS),
    "item": (lambda a: (a[0] - a[1], a[3] + np.timedelta64(1, "D"), a[2]), DAYS),
    "loop": (lambda a: [d + np.timedelta64(1, "D") for d in a], DAYS),
    "shape": (lambda a: (a.shape, a.ndim, a.size, len(a), a.itemsize, a.nbytes), DAYS),
    "reshape": (lambda a: (a[:4].reshape(2, 2).T + np.timedelta64(1, "D"), a.ravel(), a[None]), DAYS),
    "copy": (lambda a, i: (a.copy(), a.flatten(), a.take(i), a.repeat(2)), DAYS, PICKS),
    "max": (lambda a: (a.max(), a.min()), DAYS[:2]),
    "max of NaT": (lambda a: (a.max(), a[:0].shape), DAYS),
    "sum": (lambda a: (a.sum(), (a[:2] - a[1:3]).max()), SPANS[:3]),
    "astype": (lambda a: (a.astype("M8[s]"), a.astype("datetime64[M]"), a.astype(np.int64)), DAYS),
    "to numbers": (lambda a: a.astype(float) * 2 + 1, SPANS),
    "from numbers": (lambda n: n.astype("m8[D]") + np.timedelta64(1, "h"), COUNTS),
    "swapped": (lambda a: (a + np.timedelta64(1, "D"), a[1] - a[0]), DAYS.astype(">M8[D]")),
    "strided": (lambda a: a[::2] - a[::-2], DAYS),
    "where": (lambda a, x: np.where(x > 0, a, np.datetime64("NaT", "D")), DAYS, NUMBERS),
    "joined": (lambda a, b: (np.concatenate([a, b]), np.stack([a, a]), np.hstack([a, a])), DAYS, HOURS),
    "sorted": (lambda a: (np.sort(a), np.argsort(a), a[np.argsort(a)]), DAYS),
    "differences": (lambda a: np.diff(a) / np.timedelta64(1, "D"), DAYS),
    "unique": (lambda a: np.unique(a), DAYS[[0, 1, 0, 3]]),
    "unique counts": (lambda a: np.unique(a, return_counts=True), DAYS[[0, 1, 0, 3]]),
    "search": (lambda a, b: np.searchsorted(np.sort(a), b), DAYS[:2], HOURS[:2]),
    "isin": (lambda a: np.isin(a, a[:2]), DAYS),
    "as texts": (lambda a: (np.datetime_as_string(a), np.datetime_as_string(a, unit="h") == "NaT"), DAYS),
    "business days": (lambda a: (np.is_busday(a), np.busday_count(a, a[::-1])), DAYS[:2]),
    "accumulate": (lambda a: np.maximum.accumulate(a), DAYS[:2]),
    "empty": (lambda a: a[:0] + np.timedelta64(1, "D"), DAYS),
    "one": (lambda a: a[:1] - a[1:2], DAYS),
    "more joins": (lambda a: (np.vstack([a, a]), np.append(a, a[:1]), np.roll(a, 2), np.tile(a, 2)), DAYS),
    "sets": (lambda a, b: (np.intersect1d(a, b), np.union1d(a, b), np.setdiff1d(a, b)), DAYS[:2], DAYS[1:4]),
    "axes": (lambda a: (a[None].squeeze(), a[None].swapaxes(0, 1), a[None].transpose()), DAYS),
    "offsets": (lambda a: np.busday_offset(a, 3, roll="forward"), DAYS[:2]),
    "0-d": (lambda a: a + np.timedelta64(1, "D"), np.array("2020-01-01", "M8[D]")),
    "places": (lambda a: (a.argmax() + 1, a.argmin(), np.argmax(a[:2]), a[None].argmax(axis=1)), DAYS),
    "spans' places": (lambda a: (a.nonzero()[0] * 2, np.nonzero(a)[0], a.argmin()), SPANS),
    "search by method": (lambda a, b: (a.searchsorted(b), a.searchsorted(b[0], "right")), DAYS[:2], HOURS),
    "lists and bytes": (lambda a: (a.tolist(), a[:2].tobytes(), (a + np.timedelta64(1, "D")).tolist()), DAYS),
    "strides": (lambda a: (a.strides, a[:4].reshape(2, 2).strides), DAYS),
    "views": (lambda a: (a.view("i8") + 1, a.view(np.int64).view("M8[s]"), a[::2].view("i8")), DAYS),
    "written views": (lambda a: _written_view(a), DAYS),
    "from ints": (lambda n: n.view("m8[h]") + np.timedelta64(1, "D"), COUNTS),
    "as texts of any length": (lambda a: (a.astype(str), a[:2].astype("U"), a.astype("S")), DAYS),
    "one of two": (lambda a, b, x: (np.where(x > 0, a, b), np.where(x > 0, b[0], a)), DAYS, HOURS, NUMBERS),
    "range": (lambda a: np.arange("2020-01-01", "2020-01-06", dtype="M8[D]") - a, DAYS),
    "range by months": (lambda n: (np.arange("2020-01", "2021-03", 3, dtype="M8[M]"), n * 2), COUNTS),
    "2-d": (lambda a: (a[:, 0] - a[0], a.T[1:] - a.T[:-1]), DAYS[:4].reshape(2, 2)),
}


def _written_view(a):
    number = a.view("i8")
    number[1:3] += 7
    return a - a[0], number


@pytest.mark.parametrize("name", DATES)
def test_dates(name):
    check(*DATES[name])


@pytest.mark.parametrize("value", [5, 5.5, "2020-01-01", None, True])
@pytest.mark.parametrize("array", [DAYS[:2], SPANS[:3], NAMES, records()])
def test_search_for_what_is_no_date(array, value):
    """NumPy raises, or warns of a unit that is not said: in the caller's line, once a call."""

    def fn(a, n):
        b = n * 2
        return b, a.searchsorted(value), b + 1

    compiled = Compiled(fn)
    for _ in range(3):
        compare(Outcome(fn, [array, NUMBERS], {}), Outcome(compiled, [array, NUMBERS], {}))


TEXTS = {
    "places": (lambda a: (a.argmax(), a.argmin() + 1, a.nonzero()[0], np.nonzero(a)), NAMES),
    "lists": (lambda a: (a.tolist(), a[1:].tolist(), a.tobytes(), a.strides), NAMES),
    "equal": (lambda a: (a == "c", a != "ab", "c" == a), NAMES),
    "order": (lambda a: (a < "c", a >= a[::-1]), NAMES),
    "two arrays": (lambda a, b: a == b, NAMES, NAMES.astype("U9")),
    "bytes": (lambda a: (a == b"c", a < b"d"), BYTES),
    "select": (lambda a, x: x[a == "c"] + 1, NAMES, NUMBERS),
    "count": (lambda a, x: ((a != "c") * x).sum(), NAMES, COUNTS),
    "masked": (lambda a, x: a[x > 0], NAMES, NUMBERS),
    "views": (lambda a: (a[1:], a[::-1], a[:4].reshape(2, 2), a.copy()), NAMES),
    "joined": (lambda a: (np.concatenate([a, a]), np.where(a == "c", "yes", a)), NAMES),
    "sorted": (lambda a: (np.sort(a), np.argsort(a, kind="stable"), np.unique(a)), NAMES),
    "isin": (lambda a: np.isin(a, ["c", "zzz"]), NAMES),
    "as text": (lambda a: a.astype("U9") == a, NAMES),
    "one of two": (lambda a: np.where(a == "c", "yes", "no"), NAMES),
    "one of two bytes": (lambda a: np.where(a == b"c", b"yes", a), BYTES),
    "of numbers": (lambda x: np.where(x > 0, "positive", ""), NUMBERS.reshape(1, 5)),
    "texts of other kinds": (
        lambda n, x: (n.astype(str), x.astype("U"), (x > 0).astype(str)), COUNTS, NUMBERS,
    ),
    "bytes of texts": (lambda n, b: (n.astype("S"), b.astype(str), b.astype("U9")), COUNTS, BYTES),
    "letters": (lambda a: a.view("U1").reshape(len(a), -1) == "c", NAMES),
    "bytes as numbers": (lambda a: a.view("u1") + 1, BYTES),
    "numbers in texts": (lambda a: a.astype(float) + 1, np.array(["1.5", "2", "-3e2"])),
    "texts of numbers": (lambda n: n.astype("U8") == "7", COUNTS),
}


@pytest.mark.parametrize("name", TEXTS)
def test_texts(name):
    check(*TEXTS[name])


def test_texts_that_are_no_numbers():
    def f(a):
        try:
            return a.astype(float) * 2
        except ValueError as error:
            return str(error)

    check_calls(f, (np.array(["1", "2"]),), (np.array(["1", "x"]),), (np.array(["3", "4"]),))


RECORDS = {
    "read": lambda p: p["x"] * 2 + p["y"],
    "mixed": lambda p: np.sqrt(p["x"]) + p["n"],
    "subarray": lambda p: (p["v"] + 1, p["v"][:, 1] * p["x"], p["v"].sum(axis=1)),
    "reductions": lambda p: (p["x"].sum(), p["y"].mean(), p["n"].max(), p["x"].std()),
    "slice": lambda p: (p[1:]["x"] - p["x"][:-1], p[::2]["y"] * 2, p["x"][::-1] + 1),
    "mask": lambda p: p[p["x"] > 4]["y"] * 2,
    "pick": lambda p: p["x"][[2, 0]] + p[np.array([1, 1])]["y"],
    "item": lambda p: p["x"][2] + p["y"][-1],
    "views": lambda p: (p["x"], p[1:3], p[1:3]["v"], p.reshape(2, 3)["x"] + 1, p.T["n"]),
    "lists": lambda p: (p.tolist(), p["v"].tolist(), p[::2].tobytes(), p.strides),
    "shape": lambda p: (p.shape, len(p), p.size, p.itemsize, p["v"].shape),
    "copy": lambda p: p.copy()["x"] + 1,
    "joined": lambda p: (np.concatenate([p, p])["x"] * 2, np.roll(p, 1)["y"] + 1),
    "loop over names": lambda p: sum(p[name].sum() for name in ("x", "y", "n")),
    "dot": lambda p: (np.dot(p["x"], p["y"]), p["v"] @ np.ones(3, "f4")),
}


@pytest.mark.parametrize("name", RECORDS)
def test_records(name):
    check(RECORDS[name], make=lambda: ((records(),), {}))


def move(p, dt):
    p["x"] += p["y"] * dt
    p["y"] -= 0.5 * dt
    p["n"][p["x"] > 5] = 0
    p["v"][:, 1] = p["x"]
    p["v"] *= 2


def swap(p):
    p["x"], p["y"] = p["y"].copy(), p["x"].copy()
    return p["x"] + 1


def write_slices(p):
    p[1:]["x"] = p["x"][:-1]
    p["y"][::2] = 7
    p[2:4]["v"] = [1, 2, 3]
    q = p[::2]
    q["n"] = 9
    return p["x"].sum()


def write_copies(p):
    q = p.copy()
    q["x"] = 3.5
    q["v"][0] = 1
    return q, q["x"] + p["x"]


def write_records(p):
    p[1:3] = p[3:5]
    p[p["x"] > 8] = p[0:1]
    return p["x"] * 2


def fail_late(p, q):
    p["x"] = p["x"] + 1
    p["n"] += 1
    return q[7] + p["x"]


WRITES = [move, swap, write_slices, write_copies, write_records, fail_late]


@pytest.mark.parametrize("function", WRITES)
def test_writes_into_records(function):
    extra = {move: (0.25,), fail_late: (NUMBERS,)}.get(function, ())
    if function is fail_late:
        check_calls(function, (records(), *extra), whole=False)
    else:
        check(function, make=lambda: ((records(), *extra), {}))


def _changed_record(p):
    p[1] = p[0]
    return p["x"]


def reads_items(p, i):
    q, last = p[i], p[-1]
    near = p[p["x"].argmin()]
    return q["x"] + last["y"], near["n"], q[0] * 2, q["v"], len(q), q.dtype.names, p[i - 1, ...]["x"]


def writes_items(p, i):
    q = p[i]
    q["x"] = 7.5
    q["v"][1] = 3
    q["n"] += 2
    p["x"] *= 2
    p[0]["v"] = q["v"]
    return q["x"], p["v"].sum()


def goes_over_items(p):
    total = 0.0
    for x, y, n, v in p:
        total = total + x * y + n + v[0]
    return total, [q["x"] for q in p[::2]]


def test_items_of_records():
    a, b = records(), records(n=8)
    for f in (reads_items, writes_items):
        check_calls(f, (a, 2), (a, 4), (b, 1), (b, 0))
    check_calls(goes_over_items, (a,), (b,))
    check_calls(lambda p: p.reshape(2, 3)[1, 2]["x"], (a,), (a,))
    check_calls(lambda p: p[0]["p"]["x"] + p[1]["p"][1], (records(NESTED),), (records(NESTED),))
    check_calls(lambda p: p[1]["day"] + DAY, (records(PACKED),), (records(PACKED),))


@pytest.mark.parametrize("key", [6, -7, "z"])
def test_items_that_are_none(key):
    def f(p, k):
        x = p["x"] * 2
        p["x"] = x
        q = p[k] if type(k) is int else p[0][k]
        return x, q["y"]

    check_calls(f, (records(), key), (records(), key), whole=False)


def test_what_a_dtype_says():
    def f(p, d, t):
        names = [name for name in p.dtype.names if p[name].dtype.kind == "f"]
        return names, d.dtype.kind, d.dtype.name, t.dtype.itemsize, t.dtype.char, d.dtype.names, t.dtype.str

    check_calls(f, (records(), DAYS, NAMES), (records(), HOURS, BYTES), (records(PACKED), SPANS, NAMES))


def test_the_rest_is_fused():
    compiled = check(lambda p: (p["x"] * 2 + p["y"]) * 3 - 1, make=lambda: ((records(),), {}))
    stages = compiled.records[0]["graph"]
    assert sum(node.target == "operator.getitem" for node in stages.nodes) == 2


@pytest.mark.parametrize("dtype", [PACKED, NESTED], ids=["packed", "nested"])
def test_other_records(dtype):
    if dtype is PACKED:
        def f(p):
            p["x"] *= 2
            return p["x"] + p["big"], p["flag"] & (p["big"] > 3), p["day"] + np.timedelta64(1, "D")
    else:
        def f(p):
            p["p"]["x"] += 1
            p["name"][p["p"]["x"] > 0] = "yes"
            return p["p"]["x"] + p["p"]["y"], p["name"] == "yes"

    check(f, make=lambda: ((records(dtype),), {}))


def test_writes_into_dates():
    def f(a, x):
        a[0] = np.datetime64("2000-01-01")
        a[x < 0] = np.datetime64("NaT", "h")
        a += np.timedelta64(1, "D")
        a[1:] -= np.timedelta64(3, "D")
        a[3:] = a[:2]
        return a - a[0]

    check(f, DAYS, NUMBERS)


def test_writes_into_texts():
    def f(a, x):
        a[x > 0] = "long text"
        a[0] = "é"
        a[1:3] = a[3:]
        return a == "lon"

    check(f, NAMES, NUMBERS)


def test_units_are_told_apart():
    def f(a, b):
        a[...] = b
        return a + np.timedelta64(1, "h"), a == b

    days, hours = DAYS.astype("M8[h]"), HOURS
    check_calls(f, (hours.copy(), days), (HOURS.astype("M8[s]"), days), (days.copy(), HOURS.astype("M8[D]")))
    check_calls(f, (hours.copy(), days), (DAYS.copy(), days), (HOURS.astype("M8[ms]"), DAYS))


def test_lengths_of_texts_are_told_apart():
    def f(a, b):
        a[...] = b
        return a == b

    check_calls(f, (NAMES.copy(), NAMES), (NAMES.astype("U1"), NAMES), (NAMES.astype("U9"), NAMES))


def test_guards():
    def f(a, step):
        return a + step

    check_calls(
        f,
        (DAYS, DAY),
        (HOURS, DAY),
        (DAYS, np.timedelta64(1, "h")),
        (DAYS[::2], DAY),
        (DAYS.reshape(5, 1), DAY),
        (SPANS, DAY),
        (NUMBERS, 2.0),
        (DAYS[:1], DAY),
        (DAYS[:0], DAY),
    )


def test_equal_dtypes_share_an_entry():
    made = [np.zeros(4, [("x", "f8"), ("n", "i4")]) for _ in range(3)]
    compiled = check_calls(lambda p: p["x"] + p["n"], *[(array,) for array in made])
    assert compiled.published == 1


def test_dtypes_that_were_pickled():
    for array in (DAYS, SPANS, NAMES, records(PACKED)):
        again = pickle.loads(pickle.dumps(array))
        compiled = check_calls(lambda a: a[1:][::-1], (array,), (again,))
        assert compiled.published == 1


def test_dtypes_of_fields_are_as_any_others():
    def f(p, column):
        x = np.sqrt(p["x"].reshape(2, 3))
        return x.std(axis=1, out=column), np.linspace(0, p["x"][1], 3)

    made = np.ones(6, np.dtype([("x", "f8"), ("n", "i8")]))
    check(f, pickle.loads(pickle.dumps(made)), np.zeros(2))
    check(lambda x, out: x.std(axis=1, out=out), pickle.loads(pickle.dumps(np.ones((2, 3)))), np.zeros(2))


def test_fields_that_changed_are_told():
    def f(p):
        return p["x"] * 2

    check_calls(
        f,
        (np.ones(3, [("x", "f8"), ("y", "f8")]),),
        (np.ones(3, [("y", "f8"), ("x", "f8")]),),
        (np.ones(3, [("x", "f4"), ("y", "f8")]),),
        (np.ones(3, [("x", "f8", (2,)), ("y", "f8")]),),
    )


def test_fields_that_are_renamed_are_told():
    def f(p):
        return p["x"] * 2 + 1, p["y"] > 0

    @dyntrace.compile
    def g(p):
        return p["x"] * 2 + 1, p["y"] > 0

    made = np.ones(3, [("x", "f8"), ("y", "i4"), ("q", [("x", "f4"), ("y", "f8")])])
    for names in (("x", "y", "q"), ("y", "x", "q"), ("a", "b", "c"), ("x", "y", "q")):
        made.dtype.names = names
        for _ in range(3):
            if "x" in names:
                for one, other in zip(f(made), g(made)):
                    assert one.dtype == other.dtype and one.tobytes() == other.tobytes()
            else:
                with pytest.raises(ValueError, match="no field"):
                    g(made)

    @dyntrace.compile
    def inner(p):
        return p["q"]["x"] * 2 + 1

    for names in (("x", "y"), ("y", "x"), ("x", "y")):
        made.dtype["q"].names = names
        for _ in range(3):
            plain = made["q"]["x"] * 2 + 1
            assert inner(made).dtype == plain.dtype and inner(made).tobytes() == plain.tobytes()


def test_errors_are_numpys():
    def no_field(p):
        return p["z"] + 1

    def no_sum(a):
        return a + a

    def no_units(a, b):
        return a + b

    for function, arguments in (
        (no_field, (records(),)),
        (no_sum, (DAYS,)),
        (no_units, (SPANS, NAMES)),
        (lambda a: a * a, (SPANS,)),
        (lambda a: a["x"], (DAYS,)),
    ):
        check_calls(function, arguments, whole=False)


def test_division_by_zero_warns_at_its_line():
    def f(a, b):
        return a // b

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        check_calls(f, (SPANS[:2], SPANS[:2]), (SPANS[:3], SPANS[:3]), (SPANS[:2], SPANS[:2]))


def test_overlapping_arguments():
    def f(p, x):
        p["x"] = x + 1
        x *= 2
        return p["x"] + x

    def make():
        made = records()
        return (made, made["x"][::-1]), {}

    check(f, make=make)

    def apart():
        return (records(), records()["x"]), {}

    compiled = check(f, make=apart)
    assert compiled.published == 1


def test_every_name_has_a_case():
    text = Path(__file__).read_text()
    for name, *_ in table.rows("ANY_DTYPE") + table.rows("ONE_DTYPE"):
        if not name.startswith(("strings_", "char_")):  # test_numpy_texts.py
            assert f".{name}" in text, name


@pytest.mark.parametrize(
    "function, argument",
    [
        (lambda a: a[0], NAMES),
        (lambda p: p[0], records()),
        (lambda p: [p[-1], p["x"]], records()),
        (lambda p: type(p[0]).__name__, records()),
        (lambda p: p[0] == p[0], records()),
        (lambda p: str(p[1]), records()),
        (lambda p: p[1].tolist(), records()),
        (lambda p: p[1][["x", "y"]], records()),
        (lambda p: _changed_record(p), records()),
        (lambda a: a.dtype, DAYS),
        (lambda a: a.dtype == "M8[D]", DAYS),
        (lambda p: p.dtype.fields["x"][1], records()),
        (lambda p: np.zeros(2, p.dtype), records()),
        (lambda p: p[["x", "y"]], records()),
        (lambda p: p.view("u1"), records()),
        (lambda a: np.arange(a[0], a[1]), DAYS),
        (lambda n: np.arange("2020-01-01", n[0], dtype="M8[D]"), COUNTS),
        (lambda a: a * 2, np.array([1, None], object)),
        (lambda a: np.cumsum(a), SPANS),
        (lambda a: np.datetime64("2020-01-01T00:00Z") < a, DAYS),
        (lambda a: a.astype("M8"), COUNTS),
        (lambda a: a + 5, DAYS),
        (lambda a: COUNTS + a, SPANS),
        (lambda a: a > 0, SPANS),
        (lambda a: np.where(a > DAY, a, 0), SPANS),
        (lambda a: np.append(a, 3), SPANS),
        (lambda a: a + np.timedelta64(5), SPANS),
        (lambda a: a == np.datetime64("NaT"), DAYS),
        (lambda a: a == NOT_A_TIME, DAYS),
    ],
)
def test_what_breaks(function, argument):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compiled = check_calls(function, (argument,), (argument,), whole=False)
    assert compiled.breaks


def made_of_fields(n, x):
    made = np.zeros(n, dtype=[("x", float), ("n", "i4"), ("v", np.float32, 3), ("name", "U4")])
    made["x"] = x[:n]
    made["v"][:, 1] = 2
    made["name"] = "ab"
    other = np.zeros((2, 2), [("a", "M8[D]"), ("b", bool, (2, 2))])
    return made, made["x"] * 2, other, made["v"].sum(axis=1)


def made_of_a_dtype(x):
    made = np.zeros(len(x), POINT)
    made["x"] = x
    made["y"] += made["x"] * 2
    return made, made["y"], made.dtype is POINT if x is None else None


def test_new_records():
    compiled = check_calls(
        made_of_fields, (3, NUMBERS), (5, NUMBERS), (4, NUMBERS), (2, NUMBERS[:2])
    )
    assert compiled.published == 1
    compiled = check_calls(made_of_a_dtype, (NUMBERS,), (NUMBERS[:3],), (COUNTS,))
    assert compiled.published == 2


def test_new_records_have_a_dtype_of_their_own():
    def f(n):
        return np.zeros(n, [("x", "f8"), ("n", "i8")])

    compiled = dyntrace.compile(f)
    made = [compiled(4) for _ in range(4)]
    made[1].dtype.names = ("other", "n")
    assert made[0].dtype.names == made[2].dtype.names == compiled(3).dtype.names == ("x", "n")


def test_new_records_of_a_dtype_that_is_renamed():
    dtype = np.dtype([("x", "f8"), ("n", "i8")])

    def f(x):
        made = np.zeros(len(x), dtype)
        made["x"] = x
        return made

    compiled = Compiled(f)
    for _ in range(3):
        compare(Outcome(f, (COUNTS,), {}), Outcome(compiled, (COUNTS,), {}))
        assert compiled(COUNTS).dtype is dtype
    dtype.names = ("n", "x")
    for _ in range(3):
        compare(Outcome(f, (COUNTS,), {}), Outcome(compiled, (COUNTS,), {}))
        assert compiled(COUNTS).dtype is dtype
    dtype.names = ("a", "b")
    for _ in range(2):
        compare(Outcome(f, (NUMBERS,), {}), Outcome(compiled, (NUMBERS,), {}))


@pytest.mark.parametrize(
    "spec", [[("x", "f8"), ("x", "f8")], [("x", "f8", -1)], [("x", "Q9")], [("x", object)], [("", "f8")],
             [(("title", "x"), "f8")], [("x",)], [], ["f8"], "f8,i4", (("x", "f8"),),
             (("x", "f8"), ("y", "f8")), ("f8", (2,)), {"names": ["x"], "formats": ["f8"]}],
    ids=str,
)  # fmt: skip
def test_other_fields(spec):
    def f(x):
        try:
            made = np.zeros(3, spec)
        except (TypeError, ValueError) as error:
            return str(error)
        return made, x + 1

    check_calls(f, (NUMBERS,), (NUMBERS,), whole=False)


@pytest.mark.parametrize("dtype", ["M8[D]", np.dtype("m8[s]"), "S3", "U2"])
def test_new_arrays(dtype):
    def f(n):
        a = np.zeros(n, dtype)
        b = np.zeros((2, n), dtype=dtype)
        return a, b, b.T, a == a, np.concatenate([a, b[0]])

    check(f, 3)


@pytest.mark.parametrize("dtype", ["i4,f8", "U", "M8", ">M8[h]", "V3", "(2,)f8"])
def test_new_arrays_of_other_dtypes(dtype):
    check_calls(lambda n: (np.zeros(n, dtype), np.ones(n)), (3,), (3,), whole=False)


def test_numbers_and_dates_in_one_graph():
    def f(day, x):
        weeks = (day - np.datetime64("2020-01-01")) / np.timedelta64(7, "D")
        y = np.exp(-np.where(np.isnan(weeks), 0.0, weeks) / 10) * x
        return y, day[y > 0]

    check(f, DAYS, NUMBERS)


def test_explain_names_the_dtype():
    @dyntrace.compile
    def f(a):
        return a + DAY

    text = str(dyntrace.explain(f)(DAYS))
    assert "datetime64" in text
