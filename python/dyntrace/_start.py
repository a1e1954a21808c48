"""Runs when an interpreter starts with ``DYNTRACE`` set: switches whole-script mode on.

``dyntrace.pth`` imports this only if the variable is there.  Whatever is wrong with the installation, the
program runs plainly; what is wrong with an option ends in one line and exit status 2.
"""

import os
import sys


def _complain(text: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(f"dyntrace: {text}\n")
        sys.stderr.flush()


def _activate() -> None:
    try:
        from dyntrace import _script
        from dyntrace._support import _reason, core
    except ImportError as error:
        _complain(f"the program runs plainly: {error}")
        return
    if core is None:
        _complain(f"the program runs plainly: {_reason}")
        return
    try:
        script = _script.start(_script.options_around())
    except ValueError as error:
        from dyntrace._options import OptionError

        if not isinstance(error, OptionError):
            raise
        _complain(str(error))
        os._exit(2)  # an exception here would be printed as one of site's own
    _script.watch_main(script)


if os.environ.get("DYNTRACE", "0") not in ("", "0"):
    _activate()
