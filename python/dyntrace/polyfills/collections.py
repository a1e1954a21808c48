"""``deque``, what ``OrderedDict`` and ``defaultdict`` do beyond ``dict``, and the helper of ``Counter``.

A deque of the trace keeps its items in a list that only these functions see, ``contents(deque)``, and
beside it ``more(deque)``: its maxlen, a count of changes by which iterators notice them, and whether it
existed before: then it keeps its maxlen, which nothing but ``__init__`` changes.
"""

from __future__ import annotations

import _collections
from collections import OrderedDict, defaultdict, deque
from operator import index as as_index
from typing import Any

from dyntrace.polyfills import contents, more, polyfill, text_of, unfollowable

_EMPTY = text_of(deque().pop)
_RANGE = text_of(deque().__getitem__, 0)
_RANGE_OF_STORE = text_of(deque().__setitem__, 0, 0)
_NOT_THERE = text_of(deque().remove, "it")
_NAMES_VALUE = "'it'" in _NOT_THERE
_FULL = text_of(deque((1,), 1).insert, 0, 0)


def _change(self: Any) -> None:
    more(self)[1] += 1


@polyfill(deque.append)
def append(self: Any, item: Any, /) -> None:
    items, limit = contents(self), more(self)[0]
    _change(self)
    items.append(item)
    if limit is not None and len(items) > limit:
        del items[0]


@polyfill(deque.appendleft)
def appendleft(self: Any, item: Any, /) -> None:
    items, limit = contents(self), more(self)[0]
    _change(self)
    items.insert(0, item)
    if limit is not None and len(items) > limit:
        del items[-1]


@polyfill(deque.pop)
def pop(self: Any, /) -> Any:
    items = contents(self)
    if not items:
        raise IndexError(_EMPTY)
    _change(self)
    return items.pop()


@polyfill(deque.popleft)
def popleft(self: Any, /) -> Any:
    items = contents(self)
    if not items:
        raise IndexError(_EMPTY)
    _change(self)
    return items.pop(0)


@polyfill(deque.clear)
def clear(self: Any, /) -> None:
    if contents(self):
        _change(self)
        contents(self).clear()


@polyfill(deque.extend)
def extend(self: Any, iterable: Any, /) -> None:
    if iterable is self:
        iterable = contents(self).copy()
    if more(self)[0] == 0:
        for _ in iterable:
            pass
        return
    for x in iterable:
        append(self, x)


@polyfill(deque.extendleft)
def extendleft(self: Any, iterable: Any, /) -> None:
    if iterable is self:
        iterable = contents(self).copy()
    if more(self)[0] == 0:
        for _ in iterable:
            pass
        return
    for x in iterable:
        appendleft(self, x)


@polyfill(deque.__init__)
def init(self: Any, iterable: Any = (), maxlen: Any = None) -> None:
    if maxlen is not None:
        if not isinstance(maxlen, int):
            unfollowable("a deque with a maxlen that is no int")
        if maxlen < 0:
            raise ValueError("maxlen must be non-negative")
        maxlen = as_index(maxlen)
    if maxlen != more(self)[0] and more(self)[2]:
        unfollowable("a deque that existed before gets another maxlen")
    more(self)[0] = maxlen
    clear(self)
    extend(self, iterable)


@polyfill(deque.copy, deque.__copy__)
def copy(self: Any, /) -> Any:
    if self.__class__ is not deque:
        unfollowable("copy of an instance of a subclass of deque")
    return deque(contents(self), more(self)[0])


def _position(self: Any, i: Any, text: str) -> Any:
    items = contents(self)
    if not hasattr(i, "__index__"):
        raise TypeError("sequence index must be integer, not '" + type(i).__name__ + "'")
    i = as_index(i)
    if i < 0:
        i += len(self)  # a subclass's own
    if i < 0 or i >= len(items):
        raise IndexError(text)
    return i


@polyfill(deque.__getitem__)
def getitem(self: Any, key: Any, /) -> Any:
    at = _position(self, key, _RANGE)
    return contents(self)[at]


@polyfill(deque.__setitem__)
def setitem(self: Any, key: Any, value: Any, /) -> None:
    at = _position(self, key, _RANGE_OF_STORE)
    contents(self)[at] = value


@polyfill(deque.__delitem__)
def delitem(self: Any, key: Any, /) -> None:
    at = _position(self, key, _RANGE_OF_STORE)
    _change(self)
    del contents(self)[at]


def is_full(self: Any, /) -> Any:
    return len(contents(self)) > 0


if hasattr(deque, "__bool__"):  # up to 3.10
    polyfill(deque.__bool__)(is_full)


@polyfill(deque.__len__)
def length(self: Any, /) -> Any:
    return len(contents(self))


def _check(self: Any, state: Any) -> None:
    if more(self)[1] != state:
        unfollowable("a deque that a comparison of its items changes")


def _find(self: Any, value: Any, start: Any, stop: Any) -> Any:
    """The first place of an equal item, or -1."""
    state = more(self)[1]
    for at in range(start, stop):
        found = contents(self)[at : at + 1].count(value)
        _check(self, state)
        if found:
            return at
    return -1


@polyfill(deque.__contains__)
def contains(self: Any, key: Any, /) -> Any:
    state = more(self)[1]
    found = key in contents(self)
    _check(self, state)
    return found


@polyfill(deque.count)
def count(self: Any, value: Any, /) -> Any:
    state = more(self)[1]
    found = contents(self).count(value)
    _check(self, state)
    return found


@polyfill(deque.index)
def find(self: Any, value: Any, start: Any = 0, stop: Any = None, /) -> Any:
    size = len(contents(self))
    if stop is None:
        stop = size
    if type(start) is not int or type(stop) is not int:
        unfollowable("deque.index() between positions that are no ints")
    start = max(start + size, 0) if start < 0 else start
    stop = max(stop + size, 0) if stop < 0 else min(stop, size)
    at = _find(self, value, start, stop)
    if at < 0:
        raise ValueError(f"{value!r} is not in deque")
    return at


@polyfill(deque.insert)
def insert(self: Any, index: Any, value: Any, /) -> None:
    items, limit = contents(self), more(self)[0]
    if limit is not None and len(items) == limit:
        raise IndexError(_FULL)
    if type(index) is not int:
        unfollowable("deque.insert() at a position that is no int")
    _change(self)
    items.insert(index, value)


@polyfill(deque.remove)
def remove(self: Any, value: Any, /) -> None:
    at = _find(self, value, 0, len(contents(self)))
    if at < 0:
        raise ValueError(f"{value!r} is not in deque" if _NAMES_VALUE else _NOT_THERE)
    _change(self)
    del contents(self)[at]


@polyfill(deque.reverse)
def reverse(self: Any, /) -> None:
    contents(self).reverse()


@polyfill(deque.rotate)
def rotate(self: Any, n: Any = 1, /) -> None:
    items = contents(self)
    if not hasattr(n, "__index__"):
        unfollowable("deque.rotate() by something that is no int")
    if len(items) < 2:
        return
    n = as_index(n) % len(items)
    _change(self)
    items[:] = items[-n:] + items[:-n]


def _all_items(self: Any) -> Any:
    items = contents(self)
    iter(items)  # all of them are asked for
    return items


@polyfill(deque.__iter__)
def iterate(self: Any, /) -> Any:
    items = _all_items(self)
    return _steps(self, items, more(self)[1], range(len(items)), True)


@polyfill(deque.__reversed__)
def iterate_back(self: Any, /) -> Any:
    items = _all_items(self)
    return _steps(self, items, more(self)[1], range(len(items) - 1, -1, -1), False)


def _steps(self: Any, items: Any, state: Any, places: Any, looks_at_end: Any) -> Any:
    """Backwards, an iterator that has come to its end does not look whether the deque has changed."""
    for at in places:
        _check_iterated(self, state)
        yield items[at]
    if looks_at_end:
        _check_iterated(self, state)


def _check_iterated(self: Any, state: Any) -> None:
    if more(self)[1] != state:
        unfollowable("a deque that is changed while it is iterated")


@polyfill(deque.__eq__)
def equal(self: Any, other: Any, /) -> Any:
    return contents(self) == contents(other) if isinstance(other, deque) else NotImplemented


@polyfill(deque.__ne__)
def not_equal(self: Any, other: Any, /) -> Any:
    return contents(self) != contents(other) if isinstance(other, deque) else NotImplemented


@polyfill(deque.__lt__)
def less(self: Any, other: Any, /) -> Any:
    return contents(self) < contents(other) if isinstance(other, deque) else NotImplemented


@polyfill(deque.__le__)
def less_or_equal(self: Any, other: Any, /) -> Any:
    return contents(self) <= contents(other) if isinstance(other, deque) else NotImplemented


@polyfill(deque.__gt__)
def greater(self: Any, other: Any, /) -> Any:
    return contents(self) > contents(other) if isinstance(other, deque) else NotImplemented


@polyfill(deque.__ge__)
def greater_or_equal(self: Any, other: Any, /) -> Any:
    return contents(self) >= contents(other) if isinstance(other, deque) else NotImplemented


@polyfill(deque.__add__)
def add(self: Any, other: Any, /) -> Any:
    if not isinstance(other, deque):
        raise TypeError('can only concatenate deque (not "' + type(other).__name__ + '") to deque')
    made = copy(self)
    extend(made, other)
    return made


@polyfill(deque.__iadd__)
def iadd(self: Any, other: Any, /) -> Any:
    extend(self, other)
    return self


def _check_times(n: Any) -> None:
    if type(n) is not int:
        unfollowable("a deque times something that is no int")


@polyfill(deque.__mul__, deque.__rmul__)
def multiply(self: Any, n: Any, /) -> Any:
    if self.__class__ is not deque:
        unfollowable("an instance of a subclass of deque is repeated")
    _check_times(n)
    return deque(contents(self) * n, more(self)[0])


@polyfill(deque.__imul__)
def imul(self: Any, n: Any, /) -> Any:
    items, limit = contents(self), more(self)[0]
    size = len(items)
    _check_times(n)
    if size == 0 or n == 1:
        return self
    if n <= 0:
        clear(self)
        return self
    if limit is not None and n * size > limit:
        n = (limit + size - 1) // size
    if size == 1:
        _change(self)
        items[:] = items[:]
    extend(self, items * (n - 1))
    return self


@polyfill(deque.__repr__)
def text(self: Any, /) -> Any:
    name, limit = type(self).__name__, more(self)[0]
    for item in contents(self):
        if item is self:
            unfollowable("the text of a deque that contains itself")
    if limit is not None:
        return f"{name}({contents(self)!r}, maxlen={limit})"
    return f"{name}({contents(self)!r})"


@polyfill(deque.__dict__["maxlen"])
def maxlen(self: Any, /) -> Any:
    return more(self)[0]


@polyfill(_collections._count_elements)
def count_elements(mapping: Any, iterable: Any, /) -> None:
    for element in iterable:
        mapping[element] = mapping.get(element, 0) + 1


@polyfill(deque.__reduce__)
def reduce_deque(self: Any, /) -> Any:
    cls = type(self)
    if cls is not deque:
        unfollowable("how an instance of a subclass of deque is pickled")
    limit = more(self)[0]
    return cls, (() if limit is None else ((), limit)), None, iter(self)


# ---- OrderedDict and defaultdict


def _ordered_or(left: Any, right: Any, cls: Any) -> Any:
    if not isinstance(left, dict) or not isinstance(right, dict):
        return NotImplemented
    made = cls(left)
    OrderedDict.update(made, right)
    return made


@polyfill(OrderedDict.__or__)
def ordered_or(self: Any, value: Any, /) -> Any:
    return _ordered_or(self, value, type(self))


@polyfill(OrderedDict.__ror__)
def ordered_ror(self: Any, value: Any, /) -> Any:
    return _ordered_or(value, self, type(self))


@polyfill(OrderedDict.__reduce__)
def reduce_ordered(self: Any, /) -> Any:
    state = self.__getstate__() if hasattr(self, "__getstate__") else (self.__dict__ or None)
    return type(self), (), state, None, iter(self.items())


def _default_or(self: Any, left: Any, right: Any) -> Any:
    if not isinstance(left, dict) or not isinstance(right, dict):
        return NotImplemented
    made = type(self)(self.default_factory, left)
    dict.update(made, right)
    return made


@polyfill(defaultdict.__or__)
def default_or(self: Any, value: Any, /) -> Any:
    return _default_or(self, self, value)


@polyfill(defaultdict.__ror__)
def default_ror(self: Any, value: Any, /) -> Any:
    return _default_or(self, value, self)


@polyfill(defaultdict.__copy__)
def copy_default(self: Any, /) -> Any:
    return type(self)(self.default_factory, self)


@polyfill(defaultdict.__reduce__)
def reduce_default(self: Any, /) -> Any:
    factory = self.default_factory
    return type(self), (() if factory is None else (factory,)), None, None, iter(self.items())
