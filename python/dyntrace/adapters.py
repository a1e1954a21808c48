"""Adapters: what makes the arrays of a library traceable.

An adapter is an object that answers, for its library: which objects are arrays, what is known of
them, and which operations go into the graph with which metadata. NumPy's is built in; others derive
from :class:`Adapter` and are handed to :func:`register`.

While a function is traced, the hooks below get :class:`Meta` objects in the place of arrays. Sizes in
``Meta.shape`` are ints, or :class:`dyntrace.SymInt` objects that stand for any size: arithmetic on them
stays symbolic, and asking a question about one (``==``, ``<``, ``bool``, ``int``) answers for the call
being traced and adds a guard. No hook sees an array except :meth:`Adapter.is_array`,
:meth:`Adapter.describe`, :meth:`Adapter.guard` and :meth:`Adapter.check`.

A hook answers with

* ``NotImplemented``: the operation is not captured (a graph break);
* an :class:`Op`: a node of the graph;
* one of the ``Meta`` objects that it was given: that very array;
* :data:`METHOD` (from :meth:`Adapter.getattr` only): a method, whose call goes to :meth:`Adapter.method`;
* a number, ``SymInt``, string, ``None``, a tuple or list of such, or an object of the library (a dtype, a
  device) that is known by identity.

An exception raised by a hook means that plain execution raises there too; the frame then runs plainly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from dyntrace._support import core

__all__ = ["METHOD", "Adapter", "Meta", "Op", "register", "unregister"]


class _Method:
    def __repr__(self) -> str:
        return "dyntrace.adapters.METHOD"


METHOD: Final = _Method()
"""Answer of :meth:`Adapter.getattr`: the attribute is a method of the array."""


@dataclass(frozen=True, eq=False)
class Meta:
    """What is known of an array without looking at its elements.

    Attributes:
        type: exact class of the array.
        dtype: the library's dtype; compared by ``==``.
        shape: sizes, ints or :class:`dyntrace.SymInt`.
        device: where it lives, or None; compared by ``==``.
        extra: anything else that decides how operations behave; compared by ``==``.
    """

    type: type
    dtype: Any
    shape: tuple[Any, ...]
    device: Any = None
    extra: Any = None

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    def replace(self, **changes: Any) -> Meta:
        """A copy with some attributes changed."""
        return replace(self, **changes)


@dataclass(frozen=True, eq=False)
class Op:
    """A node for the graph: calling ``callee(*args, **kwargs)`` makes ``results``.

    Attributes:
        callee: callable of the library that does the work when the graph runs. To be written to bytes it
            has to be importable by module and qualified name.
        args: positional arguments: ``Meta`` objects that the hook was given, numbers, ``SymInt``,
            constants, and tuples, lists, dicts and slices of these.
        kwargs: keyword arguments, likewise.
        results: metadata of the result, or a tuple of them if the callee returns a tuple, or None.
        name: shown in the graph; the callee's ``__name__`` by default.
        effect: "pure" nodes may be moved or dropped; "mutates" writes the arguments named in
            ``mutates``; "random" draws from a generator; "called" does anything visible. All but
            pure ones keep their order.
        mutates: positions of the arguments whose memory is written.
        aliases: result position -> argument position, for results that share memory with an argument.
        value: what the traced expression evaluates to if not the results: a ``Meta`` that the hook was
            given (an in-place operation returns its operand), a constant, or a tuple of such.
    """

    callee: Callable[..., Any]
    args: Sequence[Any] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    results: Meta | tuple[Meta, ...] | None = None
    name: str | None = None
    effect: Literal["pure", "mutates", "random", "called"] = "pure"
    mutates: tuple[int, ...] = ()
    aliases: Mapping[int, int] = field(default_factory=dict)
    value: Any = NotImplemented


class Adapter:
    """Base class of adapters: everything but the first three hooks has a default."""

    name: str = ""
    """Unique name; the prefix of node targets in printed graphs."""

    def is_array(self, obj: object) -> bool:
        """Whether ``obj`` is an array of this library. Asked for many objects: test the exact type."""
        raise NotImplementedError

    def owns(self, obj: object) -> bool:
        """Whether calling ``obj`` (a function or class) goes to :meth:`call`."""
        raise NotImplementedError

    def describe(self, obj: Any) -> Meta:
        """Metadata of a real array; its shape consists of ints. Runs at every check of a guard."""
        raise NotImplementedError

    def guard(self, obj: Any) -> Any:
        """Anything else that was relied on about this input array, to be handed to :meth:`check`.

        It should be a plain value (numbers, strings, tuples), so that guards can be written to bytes.
        """
        return None

    def check(self, spec: Any, obj: Any) -> bool:
        """Whether ``obj``, whose metadata fit already, still is as :meth:`guard` said."""
        return True

    def state(self) -> Any:
        """A mode of the library that changes results (None: there is none); guarded by equality."""
        return None

    def check_state(self, saved: Any) -> bool:
        """Whether the mode is as :meth:`state` said when the function was traced."""
        return bool(self.state() == saved)

    def call(
        self, target: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """A call of one of the library's own callables."""
        return NotImplemented

    def binary(self, op: str, left: Any, right: Any) -> Any:
        """``left op right`` with op "+", "-", "@", ...; in-place forms are "+=", ... and fall back."""
        return NotImplemented

    def compare(self, op: str, left: Any, right: Any) -> Any:
        """``left op right`` with op "<", "<=", "==", "!=", ">" or ">="."""
        return NotImplemented

    def unary(self, op: str, operand: Meta) -> Any:
        """``op operand`` with op "-", "+" or "~"; "abs" for ``abs(operand)``."""
        return NotImplemented

    def getitem(self, array: Meta, key: Any) -> Any:
        """``array[key]``."""
        return NotImplemented

    def setitem(self, array: Meta, key: Any, value: Any) -> Any:
        """``array[key] = value``; the answer's value is not used."""
        return NotImplemented

    def getattr(self, array: Meta, name: str) -> Any:
        """``array.name``: metadata, a view, or :data:`METHOD`."""
        return NotImplemented

    def method(self, array: Meta, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """``array.name(*args, **kwargs)``."""
        return NotImplemented


def register(adapter: Adapter) -> None:
    """Make the arrays of ``adapter`` traceable from now on.

    Raises:
        TypeError: ``adapter`` lacks a hook or its name is no string.
        ValueError: an adapter of that name is registered already.
        RuntimeError: too many adapters.
    """
    for hook in (*_HOOKS, "name"):
        if not hasattr(adapter, hook):
            raise TypeError(
                f"adapter: expected an object with the attribute '{hook}' "
                f"(see dyntrace.adapters.Adapter), got {type(adapter).__name__}"
            )
    if not isinstance(adapter.name, str) or not adapter.name:
        raise TypeError("adapter.name: expected a non-empty string")
    if core is not None:  # else nothing is traced
        core.register_adapter(adapter)


def unregister(adapter: Adapter) -> None:
    """Undo :func:`register`. Functions compiled with it stay as they are.

    Raises:
        ValueError: ``adapter`` is not registered.
    """
    if core is not None:
        core.unregister_adapter(adapter)


_HOOKS = tuple(name for name in vars(Adapter) if not name.startswith("_") and name != "name")
