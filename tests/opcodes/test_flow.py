"""Basic blocks and live slots."""

from dyntrace._core import _testing


def flow(function):
    blocks, live = _testing.flow(function.__code__)
    return _testing.decode(function.__code__)["instrs"], blocks, [set(names) for names in live]


def line_of(function, offset):
    return function.__code__.co_firstlineno + offset


def live_at(function, offset):
    """Live before the first instruction of the line `offset` lines below `def`."""
    instrs, _, live = flow(function)
    for instr, names in zip(instrs, live):
        if instr[6] == line_of(function, offset) and instr[11] >= 0:
            return names
    raise AssertionError("no such line")


def test_blocks_cover_reachable_code():
    def f(a, b):
        for i in a:
            try:
                if i:
                    b(i)
            except ValueError:
                continue
            finally:
                a()
        return b
    instrs, blocks, _ = flow(f)
    covered = [index for start, end, *_ in blocks for index in range(start, end)]
    assert covered == [index for index, instr in enumerate(instrs) if instr[11] >= 0]
    starts = {start for start, *_ in blocks}
    for start, end, following, jump, exception in blocks:
        inside = instrs[start:end]
        assert len({instr[10] for instr in inside}) == 1
        assert all(instr[3] < 0 for instr in inside[:-1])
        assert (exception >= 0) == (inside[0][10] >= 0)
        if jump >= 0:
            assert blocks[jump][0] == inside[-1][3]
        if following >= 0:
            assert blocks[following][0] == end and end in starts


def test_straight_line():
    def f(a, b):
        c = a
        d = b
        return d
    assert live_at(f, 1) == {"a", "b"}
    assert live_at(f, 2) == {"b"}
    assert live_at(f, 3) == {"d"}


def test_branch():
    def f(a, b, c):
        x = 1
        if a:
            x = b
        return x
    assert live_at(f, 1) == {"a", "b"}
    assert live_at(f, 2) == {"a", "b", "x"}
    assert live_at(f, 3) == {"b"}


def test_loop():
    def f(a, b):
        s = 0
        for i in a:
            s += i * b
        return s
    assert live_at(f, 3) == {"i", "s", "b"}
    assert live_at(f, 4) == {"s"}


def test_handler_sees_the_values_in_between():
    def f(a, b):
        x = 1
        try:
            a()
            x = 2
            a()
        except ValueError:
            return x, b
        return 0
    assert live_at(f, 3) == {"a", "b", "x"}
    assert live_at(f, 4) == {"a", "b"} or live_at(f, 4) == {"a", "b", "x"}
    assert live_at(f, 5) == {"a", "b", "x"}
    assert live_at(f, 8) == set()


def test_cells_count_as_read():
    def f(a):
        b = a
        def g():
            return b
        b = 2
        return g
    assert "b" in live_at(f, 4)
    assert live_at(f, 5) == {"g"}


def test_delete():
    def f(a):
        x = a
        del x
        return 1
    assert live_at(f, 2) == {"x"}
    assert live_at(f, 3) == set()


def test_nothing_is_live_in_unreachable_code():
    def f(a):
        while True:
            a()
        return a
    instrs, _, live = flow(f)
    assert all(not names for instr, names in zip(instrs, live) if instr[11] < 0)
