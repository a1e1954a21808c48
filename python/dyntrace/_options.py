"""Options of whole-script mode: one table for the command line, the environment and pyproject.toml.

The command line wins over the environment, and that over ``[tool.dyntrace]`` in the pyproject.toml of the
working directory.
"""

import os
import sys

from dyntrace._script import Options, mentions_options

TYPE_CHECKING = False  # what starts with every interpreter imports as little as it can
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

MODES = {"0": None, "": None, "1": "arrays", "everything": "everything"}


class OptionError(ValueError):
    """An option that can't be understood; its text is one line for the user."""


def _patterns(text: str) -> list[str]:
    patterns = [part.strip() for part in text.split(",") if part.strip()]
    for pattern in patterns:
        if len(pattern.split()) > 1:
            raise ValueError(f"{pattern!r} has a blank: patterns are separated by commas")
        if not all(part for part in pattern.split(":", 1)):
            raise ValueError(f"{pattern!r} is no pattern of the form MODULE or MODULE:FUNCTION")
    return patterns


def _count(text: str) -> int:
    if not text.isdecimal():
        raise ValueError(f"expected a number, got {text!r}")
    return int(text)


def _flag(text: str) -> bool:
    if text.lower() in ("1", "true", "yes", "on"):
        return True
    if text.lower() in ("0", "false", "no", "off", ""):
        return False
    raise ValueError(f"expected 0 or 1, got {text!r}")


def parse_share(text: str) -> float:
    """``0.01``, or a flag: all or none.  ValueError: neither."""
    try:
        share = float(text)
    except ValueError:
        try:
            return float(_flag(text))
        except ValueError:
            share = -1.0
    if not 0.0 <= share <= 1.0:
        raise ValueError(f"expected a share from 0 to 1, got {text!r}")
    return share


def _mode(text: str) -> "str | None":
    if text not in MODES:
        raise ValueError(f"expected 0, 1 or everything, got {text!r}")
    return MODES[text]


class Option:
    """One row: ``--name``, ``DYNTRACE_NAME`` and a key of the file."""

    __slots__ = ("alone", "help", "metavar", "name", "parse")

    def __init__(
        self,
        name: str,
        parse: "Callable[[str], Any]",
        metavar: "str | None",  # None: a flag
        help: str,
        alone: "str | None" = None,  # what --name without a value stands for, if that is allowed
    ) -> None:
        self.alone = alone
        self.name = name
        self.parse = parse
        self.metavar = metavar
        self.help = help


#: What they are without a word is said by `Options`, which has an attribute for each.
OPTIONS = (
    Option("backend", str, "NAME", "backend of the compiled functions"),
    Option("modules", _patterns, "PATTERNS",
           "modules or MODULE:FUNCTION to compile, besides the program's own"),
    Option("skip", _patterns, "PATTERNS", "modules or MODULE:FUNCTION that are left alone"),
    Option("hot_count", _count, "N", "plain calls of a function before it is compiled"),
    Option("hot_time", _count, "MS", "milliseconds that these calls took before, or a loop"),
    Option("num_threads", _count, "N",
           "threads that share the work on large arrays; 0: as the processors allow"),
    Option("logs", str, "NAMES", "artifacts that are written to standard error, by comma"),
    Option("report", str, "PATH", "write a summary at exit; - is standard error"),
    Option("verify", parse_share, "SHARE",
           "run calls (of SHARE=1, all) plainly and compiled in copies, and compare", alone="1"),
    Option("verify_dir", str, "PATH", "where reproducers of differences go"),
    Option("strict", _flag, None, "raise internal faults instead of logging them"),
    Option("everything", _flag, None,
           "compile every function at its first call, arrays or not"),
)  # fmt: skip

_PREFIX = "DYNTRACE_"

#: Variables of dyntrace's own tests, benchmarks and builds: no options, and not refused either.
OTHER_VARIABLES = frozenset(
    [
        # CMake's options
        "DYNTRACE_ASAN",
        "DYNTRACE_FORCE_CORE",
        "DYNTRACE_LTO",
        "DYNTRACE_NUMPY",
        "DYNTRACE_STRESS",
        "DYNTRACE_TESTS",
        "DYNTRACE_WERROR",
        # tests/ and bench/
        "DYNTRACE_ARRAY_PROGRAMS",
        "DYNTRACE_BENCH_CHAINS",
        "DYNTRACE_BENCH_COUNTS",
        "DYNTRACE_BENCH_EACH",
        "DYNTRACE_FORCE_BREAKS",
        "DYNTRACE_GOLDEN",
        "DYNTRACE_LEAK_ROUNDS",
        "DYNTRACE_LIBRARY_PROGRAMS",
        "DYNTRACE_LIBRARY_SEED",
        "DYNTRACE_STDLIB",
        "DYNTRACE_TEST_BACKEND",
        "DYNTRACE_WRITE_PROGRAMS",
    ]
)


def _parse(option: Option, value: object, where: str) -> "Any":
    if isinstance(value, list):
        value = ",".join(str(part) for part in value)
    if isinstance(value, bool):
        if option.metavar is not None and option.alone is None:
            raise OptionError(f"{where}: expected a value, got {str(value).lower()}")
        value = "1" if value else "0"
    try:
        return option.parse(str(value))
    except ValueError as error:
        raise OptionError(f"{where}: {error}") from None


def _read_file(path: str) -> "Mapping[str, Any]":
    data = mentions_options(path)
    if not data:
        return {}
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        table = tomllib.loads(data.decode()).get("tool", {}).get("dyntrace", {})
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise OptionError(f"{path}: {error}") from None
    if not isinstance(table, dict):
        raise OptionError(f"{path}: tool.dyntrace: expected a table")
    return table


def from_surroundings(environment: "Mapping[str, str]" = os.environ) -> Options:
    """Options of the file and the environment.

    Raises
    ------
    OptionError
        A name or a value that is not understood, of a variable too.
    """
    options = Options()
    known = {option.name: option for option in OPTIONS}
    path = os.path.abspath("pyproject.toml")
    for name, value in _read_file(path).items():
        option = known.get(name.replace("-", "_"))
        if option is None:
            hint = _hint(name, [known_name.replace("_", "-") for known_name in known])
            raise OptionError(f"{path}: tool.dyntrace: unknown option {name!r}{hint}")
        setattr(options, option.name, _parse(option, value, f"{path}: tool.dyntrace.{name}"))
    for variable in environment:
        if variable.startswith(_PREFIX) and variable not in OTHER_VARIABLES:
            name = variable[len(_PREFIX) :]
            option = known.get(name.lower()) if name.isupper() else None
            if option is None:
                hint = _hint(name, [known_name.upper() for known_name in known], _PREFIX)
                raise OptionError(f"{variable}: unknown option{hint}")
            setattr(options, option.name, _parse(option, environment[variable], variable))
    mode = _parse_mode(environment.get("DYNTRACE", "1"))
    options.everything = options.everything or mode == "everything"
    return options


def _hint(name: str, known: "Sequence[str]", prefix: str = "") -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, known, 1, 0.7)
    return f", did you mean {prefix}{near[0]}?" if near else ""


def _parse_mode(text: str) -> "str | None":
    try:
        return _mode(text)
    except ValueError as error:
        raise OptionError(f"DYNTRACE: {error}") from None


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    """The same options for the command line; those that are not given are not set."""
    from argparse import SUPPRESS

    for option in OPTIONS:
        flag = _flag_of(option)
        if option.metavar is None:
            parser.add_argument(
                flag, action="store_const", const="1", default=SUPPRESS, help=option.help
            )
            continue
        default = getattr(Options, option.name)
        said = f" (default: {default})" if default not in ((), "") else ""
        parser.add_argument(flag, metavar=option.metavar, default=SUPPRESS, help=option.help + said)


def spell_out(arguments: "Sequence[str]") -> "list[str]":
    """The command line with ``--verify`` as ``--verify=1``: only ``=`` gives such an option a value."""
    by_flag = {_flag_of(option): option for option in OPTIONS}
    spelled = list(arguments)
    i = 0
    while i < len(spelled) and spelled[i].startswith("-") and spelled[i] not in ("-", "--", "-m"):
        option = by_flag.get(spelled[i])
        if option is not None and option.metavar is not None:
            if option.alone is not None:
                spelled[i] += f"={option.alone}"
            else:
                i += 1  # its value
        i += 1
    return spelled


def _flag_of(option: Option) -> str:
    return "--" + option.name.replace("_", "-")


def merge(options: Options, given: "Mapping[str, str]") -> Options:
    """Puts what the command line says above the rest."""
    for option in OPTIONS:
        if option.name in given:
            setattr(options, option.name, _parse(option, given[option.name], _flag_of(option)))
    return options
