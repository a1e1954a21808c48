"""``python -m dyntrace [options] script.py | -m module [args]``: runs a program in whole-script mode."""

from __future__ import annotations

import argparse
import sys
from typing import NoReturn

import dyntrace._settings  # noqa: F401 - reads the environment, which options are to overrule
from dyntrace import _options, _run


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\n")  # one line; --help tells the rest


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="python -m dyntrace",
        usage="python -m dyntrace [options] (script.py | -m module) [args ...]",
        description="Run a program with its array functions compiled. "
        "DYNTRACE=1 in the environment does the same for every way of starting Python.",
    )
    _options.add_arguments(parser)
    # What comes after the program's name is the program's, options included.
    parser.add_argument(
        "-m",
        dest="module",
        metavar="MODULE",
        nargs=argparse.REMAINDER,
        help="run a module as a program",
    )
    parser.add_argument("script", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser


def main(argv: list[str]) -> None:
    parser = _parser()
    given = parser.parse_args(_options.spell_out(argv))
    if not given.module and not given.script:
        parser.error("a script, or -m and a module, is needed")
    try:
        options = _options.merge(_options.from_surroundings(), vars(given))
        if given.module:
            _run.run_module(given.module[0], given.module[1:], options)
        else:
            _run.run_script(given.script[0], given.script[1:], options)
    except (_options.OptionError, _run.NoProgram) as error:
        parser.error(str(error))


if __name__ == "__main__":
    main(sys.argv[1:])
