"""Python numbers out of arrays: float(), int(), bool(), item(), tolist() and what is done with them."""

import math

import dyntrace
import numpy as np
import pytest
from differential import FORCED, Compiled, Outcome, check, compare

X = np.array([2.5, 0.5, 3.25, 1.0, 7.0])
N = np.array([3, 1, 4, 1, 5])
F = np.array([1.5, 2.5, 0.25], "f4")
B = np.array([True, False, True])
C = np.array([1 + 2j, 3 - 1j])
M = np.arange(12.0).reshape(3, 4)

# Expressions over the arrays above; each is captured whole.
EXPRESSIONS = """
float(x.sum()) * 2
x.sum().item()
x / float(np.max(x))
int(x.argmax()) + 1
x[int(x.argmax())]
x[[int(n[1]), 0]] + m[[[int(n[1]), 0], [1, int(n[3])]]].sum()
m[int(n.max()) - 4]
m[int(n[1]), 1:]
x.tolist()
m.tolist()
(x > 1).tolist()
bool((x > 0).all())
bool(x.any()) + 1
x * bool(x.any())
x * (float(x.max()) > 3)
math.sqrt(x.sum()) + math.log(float(x[0]))
math.atan2(x[0], 2), math.floor(x[2]), math.isnan(x[0]), math.pow(float(x[0]), n[1])
math.hypot(float(x[0]), float(x[1]))
x.astype("i4") * int(x.sum())
f * float(f.sum()), f + float(x.sum())
f * int(n.sum())
n * int(n.max()), n / int(n.max()), n // int(n.max()), n % int(n[0])
b * float(x[0]), b + int(n[0]), b & bool(b.any())
round(float(x.mean()), 2), round(x.mean()), round(float(x.mean())), round(int(n[0]), -1)
max(float(x[0]), float(x[1])), min(x[0], x[1]), max(float(x[2]), 0.0)
max([float(x[0]), float(x[1])]), min((int(n[0]), 2))
sum([float(x[0]), 1, float(x[1])]), sum([int(n[0]), int(n[1])]), sum([float(x[0])] * 3, 0.5)
float(x.sum()) ** 2, int(n[0]) ** 3, 2 ** float(x[0]), float(x[0]) ** int(n[0])
float(x[0]).is_integer(), float(x[0]).real, float(x[0]).imag, int(n[0]).bit_length()
float(x[0]).conjugate(), float(x[0]).hex()
np.sqrt(float(x.sum())), np.add(float(x[0]), int(n[0])), np.maximum(x, float(x.mean()))
np.where(x > float(x.mean()), x, 0.0), np.where(x > 1, float(x[0]), float(x[1]))
np.clip(x, float(x.min()) + 1, float(x.max()) - 1)
np.array([float(x[0]), 1.0]), np.array([int(n[0]), 2]), np.full(3, float(x.sum()))
float(x.sum()) > 3, int(n[0]) == 3, 1 < float(x[0]), float(x[0]) != 2.5, bool(b[0]) == True
type(float(x[0])), isinstance(x[0].item(), float), float(x[0]) is None, isinstance(int(n[0]), int)
x.item(2), m.item(1, 2), m.item((1, 2)), x[:1].item(), m[:1, :1].item()
-float(x[1]), abs(float(x[1])), +float(x[1]), ~int(n[1]), -int(n[1]), abs(int(n[1]))
int(n[0]) & 1, int(n[0]) | 8, int(n[0]) ^ 1, int(n[0]) >> 1, int(n[0]) // 2, int(n[0]) % 2
bool(b[0]) & bool(b[1]), bool(b[0]) | True, bool(b[0]) + 1, -bool(b[0])
float(x[0]) // 2, float(x[0]) % 2, 7 // float(x[0]), 7 % int(n[0]), 7 / int(n[0]), 2 - float(x[0])
c.sum().item(), c.sum().item() * 2, c.sum().item() + float(x[0]), abs(c.sum().item()), c.tolist()
c * c.sum().item(), c * float(x[0])
f.sum().item(), f.tolist(), n.sum().item(), b.any().item(), float(f[0]), int(f[0])
float(np.float16(1.5) + x[:1].astype("e")[0]), float(n.astype("u8").sum()), int(n.astype("i1")[0])
float(x.sum()) + int(n.sum()), len(x) * float(x[0]), int(len(x) * float(x[0])), k * float(x[0])
float(x.reshape(5, 1).sum(0)[0]), float(np.array(2.5) + x[0])
float(np.dot(x, x)), float(np.linalg.norm(x)), float(np.std(x)), float(x @ x)
(float(x[0]), [int(n[0])], {"a": float(x[1])})
float(float(x[0])), int(int(n[0])), bool(bool(b[0])), float(int(n[0])), int(float(x[0]))
np.float64(float(x[0])) * 2, np.int64(int(n[0])), np.float32(float(x[0]))
np.linspace(0, 1, 5) * float(x.max()), np.arange(5) * float(x[0]), np.zeros(3) + int(n[0])
int(x.argmax()), int(np.argmin(m)), int(np.count_nonzero(x > 1)), int(np.sum(n)), int((x > 1).sum())
float(np.linalg.det(m[:3, :3] + np.eye(3))), float(np.trace(m[:3, :3])), float(np.median(x))
(x - float(x.mean())) / float(x.std())
x.max() - float(x.min()), float(x.max()) - x.min(), x[0] * float(x[1]), x[0] > float(x[1])
np.float64(2.5) * float(x[0]), k / float(x[0]), k ** int(n[1])
np.allclose(x, x + 1e-9), np.allclose(x, x + 1), np.allclose(x, np.nan), np.allclose(x, 2.5, atol=10.0)
np.array_equal(x, x), np.array_equal(x, x[1:]), np.array_equal(n, n + 1), np.array_equiv(x, x[:1])
np.zeros(int(n[0])), x[int(n[1]):], x[: int(n[1])] * 2, np.arange(int(n[0]))
np.count_nonzero(x > 1), np.count_nonzero(n), np.count_nonzero(m, axis=0)
""".strip().splitlines()

# Expressions that don't stay in one graph.
BREAKING = {
    "1.0 if float(x[0]) > 2 else x": "array-branch",
    "not bool(b[0])": "array-branch",
    "[1, 2, 3, 4, 5][int(n[1])]": "array-to-scalar",
    "x if np.allclose(x, x) else n": "array-branch",
    "{float(x[0]): 1}": "missing-slot",
    "x ** float(x[0])": "array-op",
    "list(range(int(n[0])))": "array-to-scalar",
    "[1, 2, 3][: int(n[1])]": "array-to-scalar",
    "[v for v in x.tolist()]": "array-to-scalar",
    "len(x.tolist())": "array-to-scalar",
    "x.tolist()[0]": "array-to-scalar",
    "np.tile(x, int(n[0]))": "array-op",
    "x.item()": "array-to-scalar",
    "float(x)": "array-to-scalar",
    "float(c[0])": "array-to-scalar",
    "max(float(x[0]), 1)": "array-to-scalar",
    "1 << int(n[0])": "array-to-scalar",
    "float(x[0]) == 'a'": "array-to-scalar",
    "x.astype('g')[0].item()": "array-to-scalar",
}


def function(expression):
    scope = {"np": np, "math": math}
    exec(f"def f(x, n, f, b, c, m, k):\n    return {expression}", scope)
    return scope["f"]


def arguments():
    return X, N, F, B, C, M, 3


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_whole(expression):
    check(function(expression), *arguments())


@pytest.mark.parametrize("expression", BREAKING)
def test_breaks(expression):
    check(function(expression), *arguments(), breaks=BREAKING[expression], entries=None)


# ---- Functions -----------------------------------------------------------------------------------


def written(x, n):
    y = x * 2
    k = int(x.argmin())
    y[k] = float(x.sum())
    y[k + 1] += k
    y[-1] = -1.0 if k is None else x.item(0)
    return y


def input_written(x, n):
    x[int(x.argmax())] = float(x.min()) - 1
    n[int(n.argmin())] = int(n.max())
    return float(x.sum()), int(n.sum())


def loop(x):
    total = 0.0
    for i in range(len(x)):
        total += float(x[i]) * i
    return total, x * total


def scale(value):
    return float(value) * 2 + 1


def callee(x):
    return x * scale(x.sum()), scale(x[0])


class Statistics:
    def __init__(self, x):
        self.mean = float(x.mean())
        self.count = int((x > self.mean).sum())


def kept(x):
    s = Statistics(x)
    return s.mean, s.count, x - s.mean, s


def report(x):
    return {"min": x.min().item(), "max": float(x.max()), "values": x[:2].tolist(), "n": len(x)}


def identity(x):
    a = float(x.sum())
    b = a
    values = x.tolist()
    return a, b, [a, values], (values, a.real), float(a)


def normalised(x):
    low, high = float(x.min()), float(x.max())
    span = high - low
    return (x - low) / span, span


def caught(x):
    try:
        y = x / 2
        return math.log(float(x.min())) * y
    finally:
        x[0] += 1


def unused(x):
    float(x[0])
    int(x[1]) // 2
    return x + 1


@pytest.mark.parametrize("fn", [loop, callee, kept, report, identity, normalised, caught, unused])
def test_function(fn):
    check(fn, X)


@pytest.mark.parametrize("fn", [written, input_written])
def test_writes(fn):
    check(fn, X, N)


def test_control_flow_breaks_only_there():
    def fn(x):
        s = float(x.sum()) * 2
        if s > 3:
            return x * s
        return x - s

    with dyntrace.config.patch(guess_limit=0):
        compiled = Compiled(fn)
        for sign in (1, -1, 1):
            assert compiled(X * sign).tolist() == fn(X * sign).tolist()
    assert "array-branch" in compiled.breaks


# ---- Values that raise ---------------------------------------------------------------------------

RAISING = [
    ("1 / float(x[0])", [0.0]),
    ("7 // int(x[0])", [0.0]),
    ("int(x[0])", [np.nan]),
    ("int(x[0])", [np.inf]),
    ("math.sqrt(float(x[0]))", [-1.0]),
    ("math.log(x[0])", [0.0]),
    ("math.exp(x[0])", [1000.0]),
    ("x[int(x[0])]", [9.0]),
    ("x.item(int(x[0]))", [7.0]),
    ("float(x[0]) ** 400", [1e300]),
    ("round(x[0])", [np.nan]),
]


@pytest.mark.parametrize(("expression", "values"), RAISING)
def test_raises(expression, values):
    """The run is dropped and made again plainly: the exception comes from the user's line."""
    scope = {"np": np, "math": math}
    exec(f"def f(x):\n    y = x * 2\n    return y, {expression}", scope)
    fn = dyntrace.compile(scope["f"])
    for good in ([2.0], [2.0]):
        assert repr(fn(np.array([*good, 1.0, 1.0]))) == repr(
            scope["f"](np.array([*good, 1.0, 1.0]))
        )
    for _ in range(2):
        with pytest.raises(Exception) as plain:
            scope["f"](np.array([*values, 1.0, 1.0]))
        with pytest.raises(type(plain.value)) as compiled:
            fn(np.array([*values, 1.0, 1.0]))
        assert str(compiled.value) == str(plain.value)
        assert compiled.tb.tb_next.tb_lineno == plain.tb.tb_next.tb_lineno


# Values that the graph was not made for: another type, a number out of range.
ODD = [
    ("float(x[0]) ** 0.5", [-4.0]),
    ("int(x[0]) ** 5", [2.0**62]),
    ("int(x[0]) ** int(x[1])", [2.0]),
    ("n * int(x[0])", [2.0**62]),
    ("n.astype('i1') + int(x[0])", [1000.0]),
    ("x + int(x[0]) * 2", [2.0**70]),
    ("x * int(x[0])", [1e300]),
    ("f * float(x[0])", [1e300]),
    ("round(x[0]) + 1", [2.0**80]),
]


@pytest.mark.parametrize(("expression", "values"), ODD)
def test_values_that_are_odd(expression, values):
    source = function(expression)
    fn = dyntrace.compile(source)
    for first in ([2.0], values, [3.0], values):
        x = np.array([*first, -1.0, 4.0])
        outcomes = []
        for call in (source, fn):
            with np.errstate(all="ignore"):
                try:
                    outcomes.append(repr(call(x, N, F, B, C, M, 3)))
                except Exception as error:
                    outcomes.append(repr(error))
        assert outcomes[0] == outcomes[1]


def test_effects_of_a_run_that_is_dropped():
    def fn(x, out):
        out[0] = float(x[0])
        out[1] = 1 / float(x[1])
        out[2] = 5.0
        return out

    compiled = dyntrace.compile(fn)
    for second in (2.0, 0.0, 4.0, 0.0):
        x = np.array([3.0, second])
        outs = []
        for call in (fn, compiled):
            out = np.zeros(3)
            try:
                call(x, out)
            except ZeroDivisionError:
                pass
            outs.append(out.tolist())
        assert outs[0] == outs[1]


def test_new_objects_each_call():
    def fn(x):
        return float(x.sum()), x.tolist()

    compiled = dyntrace.compile(fn)
    first, second = compiled(X), compiled(X)
    assert first == second and first[1] is not second[1] and first[0] is not second[0]


@pytest.mark.parametrize("backend", ["eager", "native"])
def test_other_sizes(backend):
    def fn(x):
        mean = float(x.mean())
        return (x - mean) * int(x.argmax()), mean, x.tolist()

    compiled = Compiled(fn, backend)
    for size in (3, 5, 8, 1000):
        x = np.linspace(-1, 1, size) ** 3
        assert repr(compiled(x)) == repr(fn(x))
    assert compiled.breaks == [] and compiled.published == 1


@pytest.mark.skipif(bool(FORCED), reason="it is about what is captured")
def test_graph_as_bytes():
    def fn(x):
        return float(x.sum()) ** 2 * x, int(x.argmax())

    graphs = []
    dyntrace.compile(fn, backend=lambda graph, inputs: graphs.append(graph) or graph)(X)
    again = type(graphs[0]).from_bytes(graphs[0].to_bytes())
    assert repr(again(X)) == repr(graphs[0](X))


@pytest.mark.parametrize("operator", ["+", "-", "*", "/", "**", "//", "%", "==", "!=", "<"])
@pytest.mark.parametrize(
    "number", ["np.float64(x[0])", "x.sum()", "np.reciprocal(n)", "x[0] > 1", "np.float32(n)"]
)
def test_complex_numbers_take_a_float64_for_a_float(operator, number):
    """The result is Python's, and so are its type, its attributes and its errors."""
    scope = {"np": np}
    source = f"""
def left(x, n):
    r = 1j {operator} {number}
    return type(r), isinstance(r, np.generic), hasattr(r, "dtype"), r
def right(x, n):
    r = {number} {operator} 2j
    return type(r), isinstance(r, np.generic), r
def out_of_an_array(x, n):
    r = (x * 1j)[1].item() {operator} {number}
    return type(r), r, [r]
def copied(x, n):
    return (1j {operator} {number}).copy()
"""
    exec(source, scope)
    for name in ("left", "right", "out_of_an_array", "copied"):
        for x, n in ((np.array([2.0, 3.0]), 3.0), (np.array([0.0, 5.0]), 0.5), (np.zeros(2), 1.0)):
            compiled = Compiled(scope[name])
            for _ in range(2):
                compare(Outcome(scope[name], (x, n), {}), Outcome(compiled, (x, n), {}))
            assert not compiled.faults
