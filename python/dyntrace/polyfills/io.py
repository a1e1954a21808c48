"""``io.StringIO`` that the trace itself makes, of texts that are known."""

from __future__ import annotations

import io
from typing import Any

from dyntrace.polyfills import polyfill, text_of, unfollowable


def _closed() -> None:
    closed = io.StringIO()
    closed.close()
    closed.read()


_CLOSED = text_of(_closed)


class _Text:
    """A text and a position in it; never leaves the trace."""

    def __init__(self, text: str, at: int) -> None:
        self.__text = text
        self.__at = at
        self.__open = True

    def _check(self) -> None:
        if not self.__open:
            raise ValueError(_CLOSED)

    def write(self, s: Any, /) -> Any:
        if not isinstance(s, str):
            unfollowable(f"a {type(s).__name__} is written to a text")
        self._check()
        text, at = self.__text, self.__at
        if s:
            if at > len(text):
                text += "\0" * (at - len(text))
            end = at + len(s)
            self.__text = text + s if at == len(text) else text[:at] + s + text[end:]
            self.__at = end
        return len(s)

    def writelines(self, lines: Any, /) -> None:
        self._check()
        for line in lines:
            self.write(line)

    def getvalue(self) -> Any:
        self._check()
        return self.__text

    def _end(self, size: Any, end: Any) -> Any:
        if size is not None and type(size) is not int:
            unfollowable("a size that is no int")
        return end if size is None or size < 0 or self.__at + size > end else self.__at + size

    def read(self, size: Any = -1, /) -> Any:
        self._check()
        start, end = self.__at, self._end(size, len(self.__text))
        self.__at = max(start, end)
        return self.__text[start:end]

    def readline(self, size: Any = -1, /) -> Any:
        self._check()
        start = self.__at
        found = self.__text.find("\n", start)
        end = self._end(size, found + 1 if found >= 0 else len(self.__text))
        self.__at = max(start, end)
        return self.__text[start:end]

    def readlines(self, hint: Any = -1, /) -> Any:
        if hint is not None and (type(hint) is not int or hint > 0):
            unfollowable("readlines() with a hint")
        return list(self)

    def __iter__(self) -> Any:
        self._check()
        return self

    def __next__(self) -> Any:
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    def tell(self) -> Any:
        self._check()
        return self.__at

    def seek(self, pos: Any, whence: Any = 0, /) -> Any:
        self._check()
        if type(pos) is not int or type(whence) is not int:
            unfollowable("a position that is no int")
        if whence == 2 and pos == 0:
            self.__at = len(self.__text)
        elif whence == 0 and pos >= 0:
            self.__at = pos
        elif whence != 1 or pos != 0:
            unfollowable("seek() to where a text can't be sought")
        return self.__at

    def truncate(self, pos: Any = None, /) -> Any:
        self._check()
        if pos is None:
            pos = self.__at
        if type(pos) is not int or pos < 0:
            unfollowable("truncate() to something that is no position")
        self.__text = self.__text[:pos]
        return pos

    def close(self) -> None:
        self.__open = False

    @property
    def closed(self) -> Any:
        return not self.__open

    def flush(self) -> None:
        self._check()

    def isatty(self) -> Any:
        self._check()
        return False

    def readable(self) -> Any:
        self._check()
        return True

    writable = seekable = readable

    encoding = errors = newlines = None
    line_buffering = False

    def __getattr__(self, name: str) -> Any:
        if hasattr(io.StringIO, name):
            unfollowable(f"{name} of a text that is written")
        raise AttributeError(f"'_io.StringIO' object has no attribute {name!r}")

    def __enter__(self) -> Any:
        self._check()
        return self

    def __exit__(self, *raised: Any) -> None:
        self.__open = False


@polyfill(io.StringIO)
def string_io(initial_value: Any = "", newline: Any = "\n") -> Any:
    if initial_value is None:
        initial_value = ""
    if type(initial_value) is not str:
        unfollowable(f"a text made of a {type(initial_value).__name__}")
    if newline != "\n":
        unfollowable("a text whose line ends are translated")
    return _Text(initial_value, 0)
