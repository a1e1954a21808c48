"""The outcome of one call as data: what a program could see of it, to the bit.

::

    watch(roots) ──► all objects that can be reached get numbers
        │ the call
        ▼
    records(result, error) ──► result, exception, warnings, random state, and each of these objects:
                               (path, what it is, what it holds)

Objects are named by their numbers, never by addresses, so that outcomes of two processes, or of two
runs on equal arguments, are the same if nobody can tell them apart.  What can't be looked into
(files, generators, objects of C types that are not known here) is compared by identity and type only.

Runs in a copy of the process (src/eval_frame/forked.h) or in a reproducer: it holds references, may
fill caches of the objects that it looks at, and runs as little code of theirs as it can.
"""

from __future__ import annotations

import collections
import functools
import os
import struct
import sys
import types
import warnings
import weakref
from _blake2 import blake2b
from collections.abc import Callable, Iterable, Iterator
from typing import Any

#: Objects that one call may reach.
LIMIT = 200_000
#: Bytes of an array that are told as they are; of more a digest is told, per block of so many.
BLOCK = 1 << 20

_INLINE = (int, str, bytes, bool, type(None), type(Ellipsis), type(NotImplemented), range)
_MARSHALLED = (int, str, bytes, bool)
_MADE: tuple[Any, ...] = ((), [], {}, {}.values(), {}.items(), set(), "", b"", range(0))
_BUILTIN_ITERATORS = (
    *(type(iter(made)) for made in _MADE),
    *(enumerate, zip, map, filter, reversed, type(reversed([]))),
)
_Function = types.FunctionType


class TooLarge(Exception):
    """More objects can be reached than are looked at."""


def _numpy() -> Any:
    return sys.modules.get("numpy")


def _read(kind: type, name: str, value: object) -> Any:
    """An attribute as CPython's own type `kind` has it, whatever the class of `value` says."""
    return kind.__dict__[name].__get__(value)


def _own_dict(value: object) -> dict[str, Any]:
    for cls in type(value).__mro__:
        descriptor = cls.__dict__.get("__dict__")
        if isinstance(descriptor, types.GetSetDescriptorType):
            found = descriptor.__get__(value)
            return found if isinstance(found, dict) else {}
    return {}


def _slots(value: object) -> Iterator[tuple[str, Any]]:
    for cls in type(value).__mro__:
        if cls.__flags__ & _HEAP:
            for name, member in cls.__dict__.items():
                if type(member) is types.MemberDescriptorType:
                    try:
                        yield f".{name}", member.__get__(value)
                    except AttributeError:
                        yield f".{name}", _ABSENT


class _Absent:
    pass


_ABSENT = _Absent()


def _name_of(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _is_own_class(kind: type) -> bool:
    return bool(kind.__flags__ & _HEAP) and _is_own(kind.__module__)


_HEAP = 1 << 9  # Py_TPFLAGS_HEAPTYPE: of classes that are made by Python code, and some of C
_own_modules: dict[str, bool] = {}
_LIBRARY = os.path.dirname(os.__file__) + os.sep


def _is_own(name: object) -> bool:
    """Is it a module of the program, rather than one that is installed?"""
    if not isinstance(name, str):
        return False
    if name not in _own_modules:
        path = getattr(sys.modules.get(name), "__file__", None)
        _own_modules[name] = name not in sys.builtin_module_names and not (
            isinstance(path, str)
            and (
                path.startswith(_LIBRARY)
                or "site-packages" in path.split(os.sep)
                or "dist-packages" in path.split(os.sep)
            )
        )
    return _own_modules[name]


def _names_in(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names_in(constant)


def _named_arguments(code: types.CodeType, arguments: list[Any]) -> Iterator[tuple[str, Any]]:
    """What a caller gives: a tuple of ``*args`` and a dict of ``**kwargs`` are made anew by each call."""
    names = code.co_varnames
    count = code.co_argcount + code.co_kwonlyargcount
    yield from zip(names, arguments[:count], strict=False)
    rest = list(zip(names[count:], arguments[count:], strict=False))
    if code.co_flags & _VARARGS:
        name, values = rest.pop(0)
        yield from ((f"{name}[{i}]", value) for i, value in enumerate(values))
    if code.co_flags & _VARKEYWORDS:
        name, named = rest.pop(0)
        yield from ((f"{name}[{key!r}]", value) for key, value in named.items())


_VARARGS, _VARKEYWORDS = 4, 8  # of co_flags


class Watch:
    """What can be reached before a call, and what has become of it.

    Parameters
    ----------
    function : function
        Its cells, its defaults, and the globals that its code names are roots.
    arguments : list
        The other roots.
    codes : iterable of code, or None
        What the call runs: functions with such code are looked into.  None: it may run anything, so
        all functions and modules of the program are.
    """

    def __init__(
        self, function: Any, arguments: list[Any], codes: Iterable[types.CodeType] | None
    ) -> None:
        self.any = codes is None
        self.codes = {function.__code__, *(codes or ())}
        self.names = sorted({name for code in self.codes for name in _names_in(code)})
        self.objects: list[Any] = []  # held, so that no number stands for two
        self.paths: list[str] = []
        self.numbers: dict[int, int] = {}
        self.caught: list[tuple[Any, ...]] = []
        self.called = False
        for path, argument in _named_arguments(function.__code__, arguments):
            self._refer(argument, path)
        self._refer(function, "function")
        self._visit(range(LIMIT))
        self.owners: dict[int, int] = {}
        self.kept: list[Any] = []  # as `objects`
        self.before = len(self.objects)
        self.called = True
        self.show = warnings._showwarnmsg  # type: ignore[attr-defined]
        self.usual = warnings._showwarnmsg_impl  # type: ignore[attr-defined]
        warnings._showwarnmsg = self._catch  # type: ignore[attr-defined]

    def close(self) -> None:
        """Where the process goes on."""
        warnings._showwarnmsg = self.show  # type: ignore[attr-defined]

    def _catch(self, message: Any) -> None:
        self.caught.append(
            (_name_of(message.category), str(message.message), message.filename, message.lineno)
        )
        if warnings._showwarnmsg_impl is not self.usual:  # type: ignore[attr-defined]
            self.show(message)  # the call records them itself

    # ---- Objects and their numbers

    def _refer(self, value: Any, path: str) -> Any:
        """How a record names a value."""
        kind = type(value)
        if kind is float:
            return ("float", struct.pack("<d", value))
        if kind is complex:
            return ("complex", struct.pack("<dd", value.real, value.imag))
        if kind in _INLINE:
            return (kind.__name__, value if kind in _MARSHALLED else repr(value))
        if kind is _Absent:
            return ("nothing",)
        if kind is types.CodeType:
            return ("code", value.co_name, value.co_firstlineno)
        number = self.numbers.get(id(value))
        if number is None:
            number = len(self.objects)
            if number == LIMIT:
                raise TooLarge(f"more than {LIMIT} objects can be reached")
            self.numbers[id(value)] = number
            self.objects.append(value)
            self.paths.append(path)
        return number

    def _visit(self, numbers: range) -> list[tuple[Any, ...]]:
        """Records of the objects with these numbers, as far as they exist by then."""
        records = []
        for number in numbers:
            if number == len(self.objects):
                break
            value, path = self.objects[number], self.paths[number]
            records.append((path, number, *self._describe(value, path)))
        return records

    def _parts(self, parts: Iterable[tuple[str, Any]], path: str) -> tuple[Any, ...]:
        return tuple((label, self._refer(part, path + label)) for label, part in parts)

    # ---- What an object is, and what it holds

    def _describe(self, value: Any, path: str) -> tuple[Any, ...]:
        kind = type(value)
        if issubclass(kind, type):
            content = _read(type, "__dict__", value).items() if _is_own_class(value) else ()
            skipped = ("__dict__", "__weakref__", "__doc__")
            return (
                "class",
                _name_of(value),
                self._parts(
                    ((f".{name}", part) for name, part in content if name not in skipped), path
                ),
            )
        described: tuple[Any, ...] = ()
        for known, describe in _KINDS:
            if issubclass(kind, known()):
                described = describe(self, value, path)
                break
        return (
            _name_of(kind),
            described,
            (self._refer(kind, f"type({path})"),) if _is_own_class(kind) else (),
            self._parts(((f".{n}", part) for n, part in self._attributes(value)), path),
            self._parts(_slots(value), path),
        )

    def _attributes(self, value: Any) -> Iterable[tuple[str, Any]]:
        if issubclass(type(value), types.ModuleType):
            names = _own_dict(value)
            if self.any and _is_own(names.get("__name__")):
                return (pair for pair in names.items() if not pair[0].startswith("__"))
            return ((name, names.get(name, _ABSENT)) for name in self.names)
        return _own_dict(value).items()

    def _items(self, value: Any, path: str) -> tuple[Any, ...]:
        kind = next(k for k in (list, tuple, collections.deque) if isinstance(value, k))
        content = list(kind.__iter__(value))
        parts = self._parts(((f"[{i}]", part) for i, part in enumerate(content)), path)
        return (parts, getattr(value, "maxlen", None) if kind is collections.deque else None)

    def _dict(self, value: Any, path: str) -> tuple[Any, ...]:
        content = collections.OrderedDict if isinstance(value, collections.OrderedDict) else dict
        pairs = []
        for i, (key, part) in enumerate(content.items(value)):
            named = self._refer(key, f"{path}.keys()[{i}]")
            pairs.append((named, self._refer(part, f"{path}[{_short(key)}]")))
        factory = (
            getattr(value, "default_factory", None)
            if isinstance(value, collections.defaultdict)
            else None
        )
        return (tuple(pairs), self._refer(factory, f"{path}.default_factory"))

    def _set(self, value: Any, path: str) -> tuple[Any, ...]:
        kind = set if isinstance(value, set) else frozenset
        content = []
        for i, part in enumerate(kind.__iter__(value)):
            # New objects may be hashed by their addresses: their order is no one's.
            new = self.called and id(part) not in self.numbers
            if new and type(part) not in (*_INLINE, float, complex, tuple, frozenset):
                content.append(("new", _name_of(type(part))))
            else:
                content.append(self._refer(part, f"{path}{{{i}}}"))
        if any(isinstance(part, int) or part[0] == "new" for part in content):
            content.sort(key=repr)
        return tuple(content)

    def _function(self, value: Any, path: str) -> tuple[Any, ...]:
        if isinstance(value, types.MethodType):
            return self._parts(((".__func__", value.__func__), (".__self__", value.__self__)), path)
        if isinstance(value, functools.partial):
            return self._parts(
                ((".func", value.func), (".args", value.args), (".keywords", value.keywords)), path
            )
        code = value.__code__
        if code not in self.codes and not (self.any and _is_own(value.__module__)):
            return (_name_of_function(value),)
        names = value.__globals__
        cells = value.__closure__ or ()
        return (
            _name_of_function(value),
            self._parts(
                (
                    (".__defaults__", value.__defaults__),
                    (".__kwdefaults__", value.__kwdefaults__),
                    *((f".{n}", cell) for n, cell in zip(code.co_freevars, cells, strict=True)),
                ),
                path,
            ),
            tuple(
                (name, self._refer(names.get(name, _ABSENT), name)) for name in _global_names(code)
            ),
        )

    def _cell(self, value: Any, path: str) -> tuple[Any, ...]:
        try:
            return (self._refer(value.cell_contents, path),)
        except ValueError:
            return ()

    def _iterator(self, value: Any, path: str) -> tuple[Any, ...]:
        return self._parts(
            ((f".__reduce__()[{i}]", part) for i, part in enumerate(value.__reduce__()[1:])), path
        )

    def _exception(self, value: Any, path: str) -> tuple[Any, ...]:
        lines, traceback = [], _read(BaseException, "__traceback__", value)
        while traceback is not None:
            code = traceback.tb_frame.f_code
            if code.co_filename != __file__:
                lines.append((code.co_filename, code.co_name, traceback.tb_lineno))
            traceback = traceback.tb_next
        parts = ((f".{name}", _read(BaseException, name, value)) for name in _EXCEPTION)
        more = tuple(
            (name, self._refer(getattr(value, name, None), f"{path}.{name}"))
            for name in ("value", "name", "obj", "errno", "exceptions")
        )
        return (tuple(lines), self._parts(parts, path), more)

    def _array(self, value: Any, path: str) -> tuple[Any, ...]:
        kind = _numpy().ndarray
        value = kind.view(value, kind) if type(value) is not kind else value
        owner, place = value, 0
        while isinstance(owner, kind) and owner.base is not None:
            owner = owner.base
        if isinstance(owner, kind):
            place = _address(value) - _address(owner)
        if value.dtype.hasobject or value.dtype.char == "T":
            content = self._parts(
                ((f".flat[{i}]", part) for i, part in enumerate(value.ravel().tolist())), path
            )
        else:
            content = _blocks(_meaningful(value))
        return (
            _dtype(value.dtype),
            value.shape,
            value.strides,
            (value.flags.writeable, value.flags.aligned),
            self._memory(owner, f"{path}.base"),
            place,
            content,
        )

    def _memory(self, owner: Any, path: str) -> Any:
        """How a record names the memory of an array: by its owner, if that was there before."""
        number = self.numbers.get(id(owner))
        if not self.called or (number is not None and number < self.before):
            return self._refer(owner, path)
        if id(owner) not in self.owners:
            self.owners[id(owner)] = len(self.owners)
            self.kept.append(owner)
        return ("new", self.owners[id(owner)])

    def _scalar(self, value: Any, path: str) -> tuple[Any, ...]:
        if value.dtype.hasobject:
            return (_dtype(value.dtype), self._refer(value.item(), path))
        return (_dtype(value.dtype), _blocks(_meaningful(_numpy().asarray(value))))

    def _random(self, value: Any, path: str) -> tuple[Any, ...]:
        return (_state_of(value),)

    def _bytearray(self, value: Any, path: str) -> tuple[Any, ...]:
        return (bytes(value),)

    def _slice(self, value: Any, path: str) -> tuple[Any, ...]:
        parts = ((f".{name}", getattr(value, name)) for name in ("start", "stop", "step"))
        return self._parts(parts, path)

    def _weak(self, value: Any, path: str) -> tuple[Any, ...]:
        return (self._refer(value(), f"{path}()"),)

    def _number(self, value: Any, path: str) -> tuple[Any, ...]:
        """An instance of a subclass of a number or of text."""
        exact = next(exact for kind, exact in _EXACT if isinstance(value, kind))
        return (self._refer(exact(value), path),)

    def _builtin(self, value: Any, path: str) -> tuple[Any, ...]:
        owner = value.__self__
        return (value.__qualname__, self._refer(owner, f"{path}.__self__"))

    # ---- The outcome

    def records(self, result: Any, error: BaseException | None) -> list[tuple[Any, ...]]:
        """What a program can see of the call that has ended."""
        kind, value = ("result", result) if error is None else ("exception", error)
        found: list[tuple[Any, ...]] = [
            (kind, None, self._refer(value, kind)),
            ("warnings", None, tuple(self.caught)),
            ("state of random generators", None, _global_random_state()),
            ("error state of NumPy", None, _error_state()),
        ]
        found += self._visit(range(self.before, LIMIT))
        known = len(self.objects)
        found += self._visit(range(self.before))
        return found + self._visit(range(known, LIMIT))


def _short(key: Any) -> str:
    text = repr(key) if type(key) in (int, str, bool, type(None)) else type(key).__name__
    return text if len(text) < 40 else text[:37] + "..."


def _global_names(code: types.CodeType) -> list[str]:
    return sorted(set(_names_in(code)))


def _name_of_function(value: Any) -> str:
    return f"{value.__module__}.{value.__qualname__} at line {value.__code__.co_firstlineno}"


def _address(value: Any) -> int:
    return int(value.__array_interface__["data"][0])


def _dtype(dtype: Any) -> str:
    return str(dtype.descr) if dtype.names else str(dtype.str)


def _packed(dtype: Any) -> Any:
    if not dtype.names:
        return dtype
    return _numpy().dtype([(name, _packed(dtype[name])) for name in dtype.names])


def _meaningful(value: Any) -> bytes:
    """The bytes of an array in the order of its items, without what pads them."""
    if value.dtype.names:
        value = value.astype(_packed(value.dtype))
    data = bytes(value.tobytes())
    if value.dtype.char not in "gG" or value.dtype.itemsize % 16:
        return data
    numpy = _numpy()
    digits = 10 if numpy.finfo(value.dtype).nmant == 63 else 16
    return bytes(numpy.frombuffer(data, numpy.uint8).reshape(-1, 16)[:, :digits].tobytes())


def _blocks(data: bytes) -> Any:
    if len(data) <= BLOCK:
        return data
    return tuple(
        blake2b(data[i : i + BLOCK], digest_size=16).digest() for i in range(0, len(data), BLOCK)
    )


def _plain_data(value: Any) -> Any:
    if isinstance(value, dict):
        return tuple((str(key), _plain_data(part)) for key, part in value.items())
    if isinstance(value, (list, tuple)):
        return tuple(_plain_data(part) for part in value)
    if hasattr(value, "tobytes"):
        return value.tobytes()
    return repr(value)


def _state_of(generator: Any) -> Any:
    for name in ("getstate", "get_state"):
        if hasattr(generator, name):
            return _plain_data(getattr(generator, name)())
    source = getattr(generator, "bit_generator", generator)
    return _plain_data(getattr(source, "state", None))


def _global_random_state() -> Any:
    found = []
    module = sys.modules.get("random")
    if module is not None:
        found.append(_plain_data(module.getstate()))
    module = sys.modules.get("numpy.random")
    if module is not None:
        found.append(_state_of(module.mtrand._rand))
    return tuple(found)


def _error_state() -> Any:
    numpy = _numpy()
    return () if numpy is None else (_plain_data(numpy.geterr()), repr(numpy.geterrcall()))


def _arrays() -> Any:
    numpy = _numpy()
    return () if numpy is None else numpy.ndarray


def _scalars() -> Any:
    numpy = _numpy()
    return () if numpy is None else numpy.generic


def _generators() -> Any:
    kinds: list[type] = []
    module = sys.modules.get("random")
    if module is not None:
        kinds.append(module.Random.__base__)
    module = sys.modules.get("numpy.random")
    if module is not None:
        kinds += [module.Generator, module.RandomState, module.BitGenerator]
    return tuple(kinds)


#: A number or text of a subclass as one of the class itself.
_EXACT: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (int, int.__int__),
    (float, float.__float__),
    (complex, lambda z: complex(_read(complex, "real", z), _read(complex, "imag", z))),
    (str, str.__str__),
    (bytes, lambda data: bytes.__add__(data, b"")),
)
_EXCEPTION = ("args", "__cause__", "__context__", "__suppress_context__")
_Describe = Callable[[Watch, Any, str], tuple[Any, ...]]
#: The first row that fits says how a value is described; the others are opaque.
_KINDS: tuple[tuple[Callable[[], Any], _Describe], ...] = (
    (_arrays, Watch._array),
    (_scalars, Watch._scalar),
    (_generators, Watch._random),
    (lambda: (list, tuple, collections.deque), Watch._items),
    (lambda: dict, Watch._dict),
    (lambda: (set, frozenset), Watch._set),
    (lambda: (_Function, types.MethodType, functools.partial), Watch._function),
    (lambda: types.CellType, Watch._cell),
    (lambda: BaseException, Watch._exception),
    (lambda: bytearray, Watch._bytearray),
    (lambda: slice, Watch._slice),
    (lambda: _BUILTIN_ITERATORS, Watch._iterator),
    (lambda: weakref.ref, Watch._weak),
    (lambda: types.BuiltinFunctionType, Watch._builtin),
    (lambda: (int, float, complex, str, bytes), Watch._number),
)
