"""The public functions."""

from __future__ import annotations

from _weakref import ref
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, TypeVar, overload

from dyntrace._support import core as _core
from dyntrace._support import warn_unsupported

F = TypeVar("F", bound=Callable[..., Any])
Backend = Any  # a name or a callable (graph, example_inputs) -> callable

#: Marks that were given, with weak references to the functions.
_marked: list[tuple[str, ref[Any]]] = []

_WRAPPERS = (classmethod, staticmethod)


@overload
def compile(
    fn: F,
    *,
    backend: Backend = "native",
    fullgraph: bool = False,
    dynamic: bool | None = None,
    name: str | None = None,
    options: dict[str, Any] | None = None,
) -> F: ...


@overload
def compile(
    fn: None = None,
    *,
    backend: Backend = "native",
    fullgraph: bool = False,
    dynamic: bool | None = None,
    name: str | None = None,
    options: dict[str, Any] | None = None,
) -> Callable[[F], F]: ...


def compile(
    fn: Any = None,
    *,
    backend: Backend = "native",
    fullgraph: bool = False,
    dynamic: bool | None = None,
    name: str | None = None,
    options: dict[str, Any] | None = None,
) -> Any:
    """Compiles a callable: its array operations run as one graph, with the same results.

    Works as a function, as ``@compile`` and as ``@compile(...)``, on functions, lambdas, methods,
    classmethods, staticmethods, partials and objects with a Python ``__call__``.  Compilation happens
    at the first call with arguments of a new kind; what can't be captured runs plainly.

    Parameters
    ----------
    fn : callable, optional
        What to compile.  Without it, a decorator is returned.
    backend : str or callable
        ``"native"`` (default) runs the graph with NumPy's own inner loops, ``"eager"`` operation by
        operation; a registered name; or a callable ``(graph, example_inputs)`` that returns a callable
        taking the graph's inputs and returning a tuple of its outputs.
    fullgraph : bool
        Raise :class:`dyntrace.Unsupported` at a graph break instead of running plainly.
    dynamic : bool or None
        False specialises on sizes and numbers, True never, None (default) decides by itself.
    name : str, optional
        Name of the region in logs.
    options : dict, optional
        Passed to the backend.

    Returns
    -------
    callable
        For a function, a :class:`dyntrace.CompiledFunction`, which is a function too; its
        ``__wrapped__`` is the function that was given.

    Raises
    ------
    TypeError
        An argument has a wrong type.
    ValueError
        ``backend`` is a name that is not registered.
    """
    _check_options(backend, fullgraph, dynamic, name, options)
    if fn is None:
        return lambda target: compile(
            target,
            backend=backend,
            fullgraph=fullgraph,
            dynamic=dynamic,
            name=name,
            options=options,
        )
    if _core is None:
        _check_target(fn)
        warn_unsupported()
        return fn
    region = _core.Region(backend, fullgraph=fullgraph, dynamic=dynamic, name=name, options=options)
    return _compile_target(fn, region)


def _check_options(backend: Any, fullgraph: Any, dynamic: Any, name: Any, options: Any) -> None:
    if _core is not None:
        _core.validate_backend(backend)
    for argument, value, accepted, text in (
        ("fullgraph", fullgraph, (bool,), "a bool"),
        ("dynamic", dynamic, (bool, type(None)), "True, False or None"),
        ("name", name, (str, type(None)), "a str or None"),
        ("options", options, (dict, type(None)), "a dict or None"),
    ):
        if not isinstance(value, accepted):
            raise TypeError(f"{argument}: expected {text}, got {type(value).__name__}")


def _check_target(fn: Any) -> None:
    if isinstance(fn, type):
        raise TypeError(
            f"fn: expected a function, method, partial or callable object, got the class {fn.__name__}; "
            "compile its methods instead"
        )
    if not callable(fn) and not isinstance(fn, _WRAPPERS):
        raise TypeError(
            "fn: expected a function, method, classmethod, staticmethod, partial or callable object, "
            f"got {type(fn).__name__}"
        )


def _compile_target(fn: Any, region: Any) -> Any:
    """Compiles the Python function inside `fn` and puts what is around it back."""
    assert _core is not None
    _check_target(fn)
    if isinstance(fn, FunctionType):
        plain = fn.__wrapped__ if isinstance(fn, _core.CompiledFunction) else fn
        return _core.compile_function(plain, region)
    if isinstance(fn, MethodType):
        return MethodType(_compile_target(fn.__func__, region), fn.__self__)
    if isinstance(fn, _WRAPPERS):
        return type(fn)(_compile_target(fn.__func__, region))
    if isinstance(fn, BuiltinFunctionType):
        return fn  # there is no Python code in it
    partial = _partial_type()
    if type(fn) is partial:
        return partial(_compile_target(fn.func, region), *fn.args, **fn.keywords)
    call = getattr(type(fn), "__call__", None)  # noqa: B004 - the function itself is wanted
    if not isinstance(call, FunctionType):
        return fn  # likewise: np.add and other objects that are called in C
    return _core.compile_callable(fn, _compile_target(call, region))


def _partial_type() -> Any:
    from functools import partial

    return partial


def disable(fn: F) -> F:
    """Marks a function: it is never traced, and calling it in a compiled function is a graph break.

    Usable as a decorator.  Returns `fn` itself.
    """
    if not isinstance(fn, FunctionType):
        raise TypeError(f"fn: expected a Python function, got {type(fn).__name__}")
    fn.__dyntrace_disable__ = True  # type: ignore[attr-defined]
    _marked.append(("disable", ref(fn)))
    return fn


def assume_constant_result(fn: F) -> F:
    """Marks a function whose result is the same at every call with the same arguments.

    A compiled function calls it once, while it is traced, and keeps the result; the arguments must
    be known by then (constants, or numbers and strings that become guards).  Usable as a decorator.
    Returns `fn` itself.
    """
    if not isinstance(fn, FunctionType):
        raise TypeError(f"fn: expected a Python function, got {type(fn).__name__}")
    fn.__dyntrace_constant__ = True  # type: ignore[attr-defined]
    _marked.append(("assume_constant_result", ref(fn)))
    return fn


def list_rules() -> dict[str, list[Any]]:
    """What decides which calls are followed.

    Returns
    -------
    dict
        ``"disable"`` and ``"assume_constant_result"``: the functions with that mark;
        ``"skip_modules"``: names of modules whose functions are not followed; ``"substitute_in_graph"``:
        callables in whose place another function is followed.
    """
    from dyntrace._settings import config
    from dyntrace.substitutes import list_substitutes

    rules: dict[str, list[Any]] = {"disable": [], "assume_constant_result": []}
    for mark, reference in _marked:
        function = reference()
        if function is not None and function not in rules[mark]:
            rules[mark].append(function)
    rules["skip_modules"] = sorted(config.skip_modules)
    rules["substitute_in_graph"] = list(list_substitutes())
    return rules


def graph_break() -> None:
    """Asks for a graph break here; does nothing in plain execution."""


def _refuse_breaks(on: bool) -> None:
    if _core is not None:
        _core.refuse_breaks(on)


def _accept_breaks() -> None:
    if _core is not None:
        _core.accept_breaks()


class error_on_graph_break:
    """Makes graph breaks errors: compiling what breaks raises :class:`dyntrace.Unsupported`.

    A context manager and a decorator, in compiled code and around calls of it.  The text of the
    exception is that of ``compile(fullgraph=True)``, and nothing of the piece that breaks has run.  It
    counts when something is compiled: what runs plainly, and what was compiled before, does not raise.

    Parameters
    ----------
    on : bool
        False allows graph breaks again, inside of a region where they are errors.

    Examples
    --------
    >>> @dyntrace.compile
    ... def step(x):
    ...     log("begin")  # may break
    ...     with dyntrace.error_on_graph_break():
    ...         return x * 2 + 1  # may not
    """

    __slots__ = ("on",)

    def __init__(self, on: bool = True) -> None:
        if not isinstance(on, bool):
            raise TypeError(f"on: expected a bool, got {type(on).__name__}")
        self.on = on

    def __call__(self, fn: F) -> F:
        """Marks `fn`, a Python function, and returns it."""
        if not isinstance(fn, FunctionType):
            raise TypeError(f"fn: expected a Python function, got {type(fn).__name__}")
        fn.__dyntrace_refuse__ = self.on  # type: ignore[attr-defined]
        return fn

    def __enter__(self) -> None:
        _refuse_breaks(self.on)

    def __exit__(self, *exc_info: object) -> None:
        _accept_breaks()


def is_compiling() -> bool:
    """True in code that is being traced, False in plain execution."""
    return False


def reset() -> None:
    """Forgets everything that was compiled, and every decision not to compile."""
    if _core is not None:
        _core.reset()


def register_backend(name: str, backend: Callable[..., Any]) -> None:
    """Makes `backend` known by name to ``compile(backend=name)``.

    Raises
    ------
    TypeError
        `name` is no str or `backend` not callable.
    ValueError
        `name` is one of the builtin backends.
    """
    if _core is not None:
        _core.register_backend(name, backend)


def list_backends() -> list[str]:
    """Names that ``compile(backend=...)`` takes."""
    return list(_core.list_backends()) if _core is not None else []


if _core is not None:
    _core.register_traced("is_compiling", is_compiling)
    _core.register_traced("graph_break", graph_break)
    _core.register_traced("refuse_breaks", _refuse_breaks)
    _core.register_traced("accept_breaks", _accept_breaks)
