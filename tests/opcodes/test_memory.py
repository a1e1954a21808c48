"""When the n-th arena allocation fails the answer is MemoryError, for every n."""

import pytest
from dyntrace._core import _testing


def sample(a, b):
    total = 0
    for i in a:
        try:
            total += b[i](lambda: total)
        except KeyError as error:
            print(f"{error!r:>{i}}")
    return total


PROGRAM = [("LABEL", 0), ("LOAD_CONST", 1), ("LOAD_FAST", 0), ("BINARY_OP", 11), ("LABEL", 1),
           ("RETURN_VALUE",), ("LABEL", 2), ("PUSH_EXC_INFO",), ("POP_TOP", None, 4),
           ("POP_EXCEPT",), ("LABEL", 3), ("LOAD_GLOBAL", "len", 1), ("LOAD_CONST", ()),
           ("CALL", 1), ("RETURN_VALUE",)]


@pytest.mark.parametrize("action", [
    lambda: _testing.decode(sample.__code__),
    lambda: _testing.flow(sample.__code__),
    lambda: _testing.assemble(PROGRAM, [("x", 1)], [(0, 1, 2, 3)], 4, 1, 3, 1, "made"),
], ids=["decode", "flow", "assemble"])
def test_every_allocation(action):
    expected = action()
    failures = 0
    while True:
        _testing.fail_arena_at(failures + 1)
        try:
            result = action()
        except MemoryError:
            failures += 1
        else:
            break
        finally:
            _testing.fail_arena_at(0)
    assert failures > 5
    assert result == expected
