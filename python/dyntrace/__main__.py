"""``python -m dyntrace [options] script.py | -m module [args]``: runs a program in whole-script mode."""

from __future__ import annotations

import sys
from typing import Any

import dyntrace._settings  # noqa: F401 - reads the environment, which options are to overrule
from dyntrace import _options, _run


def main(argv: list[str]) -> None:
    if argv and not argv[0].startswith("-"):  # no options: what parses them need not be imported
        given: dict[str, Any] = {"module": None, "script": argv}
    else:
        from dyntrace import _command_line

        given = vars(_command_line.parse(argv))
    try:
        options = _options.merge(_options.from_surroundings(), given)
        run = _run.run_module if given["module"] else _run.run_script
        name, *args = given["module"] or given["script"]
        run(name, args, options)
    except (_options.OptionError, _run.NoProgram) as error:
        from dyntrace import _command_line

        _command_line.refuse(str(error))


if __name__ == "__main__":
    main(sys.argv[1:])
