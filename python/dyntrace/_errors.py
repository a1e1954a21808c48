"""Exceptions that dyntrace raises."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Unsupported(RuntimeError):
    """A graph break where it is an error: ``fullgraph=True``, ``error_on_graph_break()``.

    Attributes
    ----------
    id : str
        Stable name of the reason, a row of the table of graph breaks.
    reason, advice : str
        What happened, with the program's own values, and what to do about it.
    filename, lineno : str, int
        The user's line.
    """

    def __init__(self, info: "dict[str, Any]") -> None:
        from dyntrace._report import format_break

        super().__init__(format_break(info))
        self.info = info
        self.id: str = info["id"]
        self.reason: str = info["reason"]
        self.advice: str = info["advice"]
        where = info["where"] or {}
        self.filename: str | None = where.get("file")
        self.lineno: int | None = where.get("line")

    def __reduce__(self) -> "tuple[type[Unsupported], tuple[dict[str, Any]]]":
        return (type(self), (self.info,))


class RecompileError(RuntimeError):
    """A function would be compiled again where that is an error: ``config.error_on_recompile``.

    The text says which guard of each compiled version fails, and what was found instead.
    """


class BackendError(RuntimeError):
    """A backend raised, or returned something that is no compiled graph.

    The cause, if there is one, is ``__cause__``.  The plain function stays usable as
    ``fn.__wrapped__``.
    """
