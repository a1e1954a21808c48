"""Every allocation of a trace may fail: the answer is MemoryError (or a break), never a crash."""

import pytest
from test_kinds import CASES, LATE
from trackers import host, testing

MORE = {
    "containers": (
        [[1, 2], {"a": 1}, 3],
        [
            ("getattr", 0, "append"),
            ("call", 3, 2),
            ("subscript", 0, 2),
            ("setitem", 1, 2, 0),
            ("tuple", 0, 1, 2),
            ("iter", 1),
            ("next", 8),
            ("getattr", 1, "items"),
            ("call", 10),
            ("unpack", 11),
            ("setitem", 0, 2, 2),
        ],
    ),
    "numbers": (
        [3, 2.5, ("const", "k")],
        [
            ("binary", 0, 0, 1),
            ("compare", 0, 0, 3),
            ("truth", 4),
            ("specialize", 3),
            ("binary", 0, 2, 2),
        ],
    ),
}


@pytest.mark.parametrize("name", [*CASES, *LATE, *MORE])
def test_allocations_fail(name):
    if name in MORE:
        inputs, program = MORE[name]
    else:
        inputs, program, _ = CASES[name] if name in CASES else LATE[name]()
    arguments = (
        host,
        [i if isinstance(i, tuple) and i[:1] == ("const",) else ("input", i) for i in inputs],
        program,
    )
    plain = testing.trace_program(*arguments)
    for number in range(1, 2000):
        try:
            answer = testing.trace_program(*arguments, number)
        except MemoryError:
            continue
        if answer == plain:
            return
    raise AssertionError("never enough")
