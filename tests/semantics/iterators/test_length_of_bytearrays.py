"""A length hint of an iterator over a bytearray that got shorter meanwhile."""

from differential import check


def emptied():
    data = bytearray(b"ab")
    walk = iter(data)
    next(walk)
    data.clear()
    return list(walk), data


def shortened(data):
    walk = iter(data)
    del data[1:]
    return list(walk)


def test_emptied():
    check(emptied)


def test_shortened():
    check(shortened, bytearray(b"abc"))
