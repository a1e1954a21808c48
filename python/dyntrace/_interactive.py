"""Whole-script mode where cells are typed: ``%load_ext dyntrace`` in IPython and Jupyter.

The interpreter's own prompt needs nothing of this: there each statement is a frame of the main module
(``src/eval_frame/script.c``).  A shell runs its cells somewhere below its own frames, and says when.
"""

from __future__ import annotations

from typing import Any

from dyntrace import _options, _script
from dyntrace._support import core as _core
from dyntrace._support import warn_unsupported


def _script_of_session() -> _script.Script:
    return _script.current or _script.start(_options.from_surroundings())


class Cells:
    """Makes each cell of a shell a part of the program, from the next one on."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self.script = _script_of_session()

    def _begin(self, info: object) -> None:
        _script.watch_main(self.script)

    def _end(self, result: object) -> None:
        _script.watch_no_more()

    def register(self) -> None:
        self.shell.events.register("pre_run_cell", self._begin)
        self.shell.events.register("post_run_cell", self._end)

    def unregister(self) -> None:
        self.shell.events.unregister("pre_run_cell", self._begin)
        self.shell.events.unregister("post_run_cell", self._end)
        _script.watch_no_more()  # the cell that says so is one of them


_cells: Cells | None = None


def load(shell: Any) -> None:
    """Switches whole-script mode on in the session of `shell`, an ``InteractiveShell``.

    Raises
    ------
    OptionError
        An option of the environment or of ``pyproject.toml`` that is none.
    """
    global _cells
    if _core is None:
        warn_unsupported()
    elif _cells is None:
        _cells = Cells(shell)
        _cells.register()


def unload() -> None:
    """New functions stay plain from now on; what is compiled goes on."""
    global _cells
    if _cells is not None:
        _cells.unregister()
        _cells = None
