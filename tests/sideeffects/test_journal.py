"""Recording changes, and taking them back, on trackers made without tracing a function."""

import pytest
from dyntrace import _core


def owner():
    """Its globals are those that scripts change."""


def run(*steps):
    return _core._testing.journal_script(owner, [1, 2], {"a": 1}, list(steps))


UNTOUCHED = run()


def contents(answer):
    return answer[:3]


def test_nothing_changed():
    assert UNTOUCHED[3:] == (0, 0)


@pytest.mark.parametrize(
    "steps, writes",
    [
        ([("append", 3)], 1),
        ([("append", 3), ("append", 4)], 1),
        ([("store", "a", 2)], 1),
        ([("store", "b", 2), ("store", "a", 5)], 2),
        ([("store", "a")], 1),
        ([("store", "b", 2), ("store", "b")], 0),
        ([("global", "some_name", 1)], 1),
        ([("global", "some_name", 1), ("global", "some_name", 2)], 1),
        ([("global", "some_name", 1), ("global", "some_name"), ("global", "some_name", 2)], 3),
        ([("cell", 1)], 0),
        ([("store", "a"), ("store", "a", 7)], 2),  # an iterator notices
    ],
)
def test_number_of_writes(steps, writes):
    assert run(*steps)[4] == writes


@pytest.mark.parametrize(
    "steps",
    [
        [("append", 3)],
        [("append", 3), ("append", 4)],
        [("store", "a", 2), ("store", "b", 3)],
        [("store", "a")],
        [("cell", 1), ("cell", 2)],
        [("global", "some_name", 1)],
        [("append", 3), ("store", "c", 1), ("cell", 1), ("global", "some_name", 1), ("append", 5)],
        [("mark",), ("append", 9)],
    ],
)
def test_rollback_restores_everything(steps):
    # A mark inside the script belongs to a rollback of its own.
    inner = [("rollback",)] * sum(step == ("mark",) for step in steps)
    assert run(("mark",), *steps, *inner, ("rollback",)) == UNTOUCHED


def test_rollback_keeps_what_came_before():
    before = [("append", 3), ("store", "b", 2), ("cell", 1), ("global", "some_name", 1)]
    after = [("append", 4), ("store", "b", 3), ("cell", 2), ("global", "some_name", 2)]
    assert run(*before, ("mark",), *after, ("rollback",)) == run(*before)


def test_nested_marks():
    one, two = [("append", 3), ("cell", 1)], [("append", 4), ("cell", 2)]
    assert run(("mark",), *one, ("mark",), *two, ("rollback",)) == run(*one)
    assert run(("mark",), *one, ("mark",), *two, ("rollback",), ("rollback",)) == UNTOUCHED


def test_changes_after_a_rollback():
    steps = [("append", 4), ("store", "z", 1), ("cell", 5)]
    answer = run(("mark",), ("append", 3), ("store", "a"), ("cell", 1), ("rollback",), *steps)
    assert answer == run(*steps)


def test_a_second_rollback_to_an_earlier_state():
    answer = run(("mark",), ("append", 3), ("rollback",), ("mark",), ("append", 4), ("rollback",))
    assert answer == UNTOUCHED


def test_bad_steps_are_named():
    with pytest.raises(ValueError, match="no such step"):
        run(("vanish",))
    with pytest.raises(ValueError, match="without a mark"):
        run(("rollback",))
