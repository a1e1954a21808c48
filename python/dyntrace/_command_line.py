"""The options of ``python -m dyntrace``, and what is said about those that are wrong."""

from __future__ import annotations

import argparse
from typing import NoReturn

from dyntrace import _options


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\n")  # one line; --help tells the rest


def _parser() -> _Parser:
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


def parse(argv: list[str]) -> argparse.Namespace:
    """``module`` or ``script``, each with its arguments, and an attribute for each option that is given."""
    parser = _parser()
    given = parser.parse_args(_options.spell_out(argv))
    if not given.module and not given.script:
        parser.error("a script, or -m and a module, is needed")
    return given


def refuse(message: str) -> NoReturn:
    """One line on standard error, and exit status 2."""
    _parser().error(message)
