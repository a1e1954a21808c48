"""Python functions that are traced in the place of callables that can't be.

A callable written in C has no bytecode to follow. Where its effect on the traced values has to be
known, a Python function with the same signature and behaviour stands in for it, in traced code only:
:func:`substitute_in_graph` registers one. dyntrace's own, for the standard library, are the modules of
``dyntrace.polyfills``; each is loaded when a trace first calls something of the module that it is for.
"""

from collections.abc import Callable
from types import ClassMethodDescriptorType, FunctionType, WrapperDescriptorType
from typing import Any, TypeVar

from dyntrace._support import core as _core

__all__ = ["list_substitutes", "substitute_in_graph"]

F = TypeVar("F", bound=Callable[..., Any])

#: What a callable gives as its ``__module__`` -> the module of ``dyntrace.polyfills`` about it.
POLYFILL_MODULES = {
    "_bisect": "bisect",
    "builtins": "builtins",
    "_functools": "functools",
    "functools": "functools",
    "inspect": "inspect",
    "_hashlib": "hashlib",
    "_sha2": "hashlib",
    "_sha512": "hashlib",
    "_string": "string",
    "_struct": "struct",
    "_heapq": "heapq",
    "_io": "io",
    "_json": "json",
    "_operator": "operator",
    "_collections": "collections",
    "_random": "random",
    "collections": "collections",
    "types": "types",
    "urllib.parse": "urllib_parse",
    "copy": "copy",
    "datetime": "datetime",
    "json": "json",
    "json.encoder": "json",
    "logging": "logging",
    "math": "math",
    "numpy": "numpy",
    "numpy.linalg": "numpy",
    "operator": "operator",
    "nt": "os",
    "posix": "os",
    "re": "re",
    "dataclasses": "reprlib",
    "reprlib": "reprlib",
}


def substitute_in_graph(
    original: Callable[..., Any], *, skip_signature_check: bool = False
) -> Callable[[F], F]:
    """Registers the decorated Python function as what calls of `original` mean in traced code.

    Only calls are replaced: `original` keeps its identity, and plain execution still calls it. The
    substitute has to give the results, effects and exceptions of the original; its frames are not seen
    in tracebacks, since a call that raises is made again by the original.

    Parameters
    ----------
    original : callable
        A function or class, usually one written in C.
    skip_signature_check : bool
        Do not compare the two signatures. Callables of which ``inspect.signature`` knows nothing are
        never compared.

    Returns
    -------
    callable
        A decorator that returns the function it is given.

    Raises
    ------
    TypeError
        `original` is not callable, the substitute is no Python function, or the signatures differ.
    ValueError
        Calls of `original` are followed already: by dyntrace itself or by another substitute.

    Examples
    --------
    >>> import operator
    >>> @substitute_in_graph(operator.indexOf)
    ... def index_of(a, b, /):
    ...     for i, item in enumerate(a):
    ...         if item is b or item == b:
    ...             return i
    ...     raise ValueError("sequence.index(x): x not in sequence")
    """
    if not callable(original):
        raise TypeError(f"original: expected a callable, got {type(original).__name__}")

    def register(function: F) -> F:
        if not isinstance(function, FunctionType):
            raise TypeError(
                f"substitute: expected a Python function, got {type(function).__name__}"
            )
        if not skip_signature_check:
            check_signature(original, function)
        if _core is not None:
            module = POLYFILL_MODULES.get(_module_of(original))
            if module is not None:
                _core.load_polyfills(module)
            _core.register_substitute(original, function)
        return function

    return register


def _module_of(original: Any) -> Any:
    module = getattr(original, "__module__", None)
    return module if isinstance(module, str) else None


def check_signature(original: Callable[..., Any], function: Callable[..., Any]) -> None:
    """Raises TypeError where the names, kinds or defaults of the parameters differ."""
    import inspect

    if isinstance(original, (WrapperDescriptorType, ClassMethodDescriptorType)):
        # A slot: every one of them has the same signature. A class method: some versions make one up.
        return
    try:
        expected = inspect.signature(original)
    except ValueError:
        return  # C code that does not say
    given = inspect.signature(function)
    wanted, got = list(expected.parameters.values()), list(given.parameters.values())
    difference = None
    if len(wanted) != len(got):
        difference = f"{len(got)} parameters instead of {len(wanted)}"
    for a, b in zip(wanted, got, strict=False):
        if difference is None:
            difference = _difference(a, b)
    if difference is not None:
        raise TypeError(
            f"substitute: the signature {given} is not the original's {expected}: {difference}"
        )


def _difference(expected: Any, given: Any) -> str | None:
    if given.name != expected.name:
        return f"parameter {given.name!r} instead of {expected.name!r}"
    if given.kind != expected.kind:
        kinds = f"{given.kind.description} instead of {expected.kind.description}"
        return f"parameter {given.name!r} is {kinds}"
    if not _same_default(expected.default, given.default):
        return f"another default of parameter {given.name!r}"
    return None


def _same_default(a: Any, b: Any) -> bool:
    return a is b or (type(a) is type(b) and isinstance(a, (int, float, str, bytes)) and a == b)


def list_substitutes() -> dict[Callable[..., Any], FunctionType]:
    """Every callable that has a substitute, with it: dyntrace's own and those registered.

    Loads all polyfills that no trace has asked for yet.
    """
    if _core is None:
        return {}
    for name in sorted(set(POLYFILL_MODULES.values())):
        _core.load_polyfills(name)
    return dict(_core.list_substitutes())


def _load(name: str) -> None:
    from dyntrace.polyfills import load

    load(name)


if _core is not None:
    _core.set_polyfill_loader(POLYFILL_MODULES, _load)
