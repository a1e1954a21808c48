"""Random programs over NumPy arrays against plain NumPy: expressions of many ops, dtypes and layouts."""

import numpy as np
import pytest
from differential import Compiled, Outcome, compare
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

DTYPES = ["f8", "f8", "f4", "i8", "i4", "u1", "?", "c16", "f2", "i2"]
SHAPES = [(3, 4), (3, 4), (4,), (3, 1), (1, 4), (), (1,), (2, 3, 4), (3, 1, 4), (4, 4), (0, 4)]
BINARY = ["+", "-", "*", "/", "//", "%", "&", "|", "^", "<", "<=", "==", "!=", ">"]
UNARY = [
    "-{}",
    "+{}",
    "abs({})",
    "~{}",
    "np.sqrt({})",
    "np.exp({})",
    "np.sin({})",
    "np.floor({})",
    "np.square({})",
    "np.sign({})",
    "np.isnan({})",
    "np.logical_not({})",
    "np.tanh({})",
]
TWO = [
    "np.maximum({}, {})",
    "np.minimum({}, {})",
    "np.hypot({}, {})",
    "np.arctan2({}, {})",
    "np.where({} > 0, {}, 1)",
    "np.where({}, 0.5, {})",
    "np.logical_and({}, {})",
    "np.copysign({}, {})",
    "np.clip({}, -1, {})",
    "np.power({}, {})",
]
SHAPING = [
    "{}.T",
    "{}[..., ::-1]",
    "{}[..., 1:]",
    "{}[None]",
    "{}.ravel()",
    "{}.sum()",
    "{}.sum(axis=-1)",
    "{}.max()",
    "{}.mean(axis=0)",
    "{}.mean()",
    "{}.std()",
    "{}.any(axis=0)",
    "{}.reshape(-1)",
    "{}[0]",
    "{}[..., 0]",
    "{}.astype('f4')",
    "{}.astype('f8')",
    "{}.min(axis=-1, keepdims=True)",
    "np.expand_dims({}, -1)",
    "np.zeros_like({})",
    "{}[..., None]",
    "{}.copy()",
    "{}.prod()",
    "{}.swapaxes(0, -1)",
    "{}.squeeze()",
    "{} ** 2",
    "{} ** 0.5",
    "{} ** -1",
    "{}[::2]",
    "{}.argmax()",
]
NUMBERS = ["2", "0.5", "-3", "True", "300", "1e300", "s", "k"]


@st.composite
def expressions(draw, depth=3):
    if depth == 0 or draw(st.integers(0, 5)) == 0:
        return draw(st.sampled_from(["x", "y", "z", "x", "y"]))
    part = expressions(depth=depth - 1)
    kind = draw(st.integers(0, 6))
    if kind <= 1:
        return f"({draw(part)} {draw(st.sampled_from(BINARY))} {draw(part)})"
    if kind == 2:
        return f"({draw(part)} {draw(st.sampled_from(BINARY))} {draw(st.sampled_from(NUMBERS))})"
    if kind == 3:
        return f"({draw(st.sampled_from(NUMBERS))} {draw(st.sampled_from(BINARY))} {draw(part)})"
    if kind == 4:
        return "(" + draw(st.sampled_from(UNARY)).format(draw(part)) + ")"
    if kind == 5:
        return draw(st.sampled_from(TWO)).format(draw(part), draw(part))
    return "(" + draw(st.sampled_from(SHAPING)).format(draw(part)) + ")"


@st.composite
def arrays(draw):
    dtype, shape = draw(st.sampled_from(DTYPES)), draw(st.sampled_from(SHAPES))
    rng = np.random.default_rng(draw(st.integers(0, 5)))
    values = rng.integers(0 if dtype == "u1" else -4, 5, shape).astype(dtype)
    if np.dtype(dtype).kind in "fc":
        values = (values / np.array(3, values.real.dtype)).astype(dtype)
    if values.ndim == 0:
        return values[()] if draw(st.booleans()) else values
    layout = draw(st.integers(0, 5))
    if layout == 0:
        return np.asfortranarray(values)
    if layout == 1 and values.size:
        return np.repeat(values, 2, axis=-1)[..., ::2]
    if layout == 2:
        return np.ascontiguousarray(values[..., ::-1])[..., ::-1]
    return values


def outcome(fn, arguments):
    """What a call did, with the strides of axes that have one item (they address nothing) set to 0."""
    result = Outcome(fn, arguments, {})
    array = result.result
    if isinstance(array, np.ndarray):
        strides = [step if size > 1 else 0 for step, size in zip(array.strides, array.shape)]
        result.result = np.lib.stride_tricks.as_strided(array, array.shape, strides)
    return result


def run(source, *arguments):
    namespace = {"np": np}
    exec(f"def f(x, y, z, s, k):\n    a = {source}\n    return a\n", namespace)
    fn = namespace["f"]
    plain = outcome(fn, arguments)
    compiled = Compiled(fn)
    for _ in range(3):
        compare(plain, outcome(compiled, arguments))
    assert not compiled.faults, compiled.describe()
    return compiled


@settings(
    max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
@given(
    expressions(),
    arrays(),
    arrays(),
    arrays(),
    st.sampled_from([0.5, -2.0, 1e300]),
    st.sampled_from([3, -1, 70000]),
)
def test_random_expression(source, x, y, z, s, k):
    run(source, x, y, z, s, k)


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    expressions(depth=2), st.lists(st.tuples(arrays(), arrays(), arrays()), min_size=2, max_size=4)
)
def test_random_expression_on_several_inputs(source, inputs):
    namespace = {"np": np}
    exec(f"def f(x, y, z, s, k):\n    a = {source}\n    return a\n", namespace)
    fn = namespace["f"]
    compiled = Compiled(fn)
    for trio in inputs:
        for s, k in ((0.5, 3), (-2.0, 200)):
            arguments = (*trio, s, k)
            compare(outcome(fn, arguments), outcome(compiled, arguments))
    assert not compiled.faults, compiled.describe()


@pytest.mark.parametrize("order", ["CF", "FC", "FF", "CC"])
def test_large_temporaries_of_mixed_order(order):
    def f(x, y):
        return x * 2 + y, (x + y) * (y - 1) / 3

    rng = np.random.default_rng(4)
    x = np.asarray(rng.random((400, 400)), order=order[0])
    y = np.asarray(rng.random((400, 400)), order=order[1])
    compiled = Compiled(f)
    for n in (20, 400, 20):
        args = (x[:n, :n].copy("K"), y[:n, :n].copy("K"))
        compare(Outcome(f, args, {}), Outcome(compiled, args, {}))
