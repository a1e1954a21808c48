"""What nobody looks at raises where the size that the data gives does not fit, also a view."""

import numpy as np
import pytest
from differential import check_calls

VECTORS = [
    np.array([1.0, -1.0, 2.0, 3.0, 0.5]),
    np.array([1.0, 2.0, 3.0, -1.0]),
    np.array([-1.0, -2.0]),
    np.array([1.0, 1.0, 1.0, 2.0, 2.0, 2.0]),
    np.array([2.0, -1.0]),
    np.zeros(0),
]
#: Views, and views of views, of `s`, the positive items of `x`.
UNUSED = [
    "s.reshape(2, -1)", "s.reshape(-1, 2)", "s.reshape(2, 2)", "s.reshape(2, -1).T",
    "s.T.reshape(-1, 2)[::-1]", "s[:, None].reshape(2, -1)", "np.append(s, 1).reshape(2, -1)",
    "s[1:].reshape(2, -1)", "s[3]", "s[-2]", "s[None][0, 2]", "s[:, None][2]", "s[:, None][-2].T",
    "np.expand_dims(s, 0).reshape(-1, 2)", "np.reshape(s, (3, -1))", "np.split(s, 2)",
    "s.reshape(len(s) - 1, -1)", "s.reshape(2, -1).ravel()", "np.zeros((len(s), 3)).reshape(2, -1)",
    "s.view('i4').reshape(3, -1)", "x[: len(s)].reshape(2, -1)", "x[len(s) :].reshape(2, -1)",
    "s.reshape(-1, 2).swapaxes(0, 1)", "np.atleast_2d(s).reshape(2, -1)",
]  # fmt: skip


@pytest.mark.parametrize("form", ["{} ; r = None", "r = {} ; r = None", "s.any() ; r = [{}] and 0"])
@pytest.mark.parametrize("unused", UNUSED)
def test_unused(unused, form):
    scope = {"np": np}
    exec(f"def fn(x):\n    s = x[x > 0]\n    {form.format(unused)}\n    return x + 1, r\n", scope)
    check_calls(scope["fn"], *((x,) for x in VECTORS), whole=False)
