"""``python -m dyntrace script.py [args]``: runs a script with its functions compiled.

The functions that the script's own source defines at module level are compiled as their ``def``
statements finish; everything else runs as it would by ``python script.py``.
"""

from __future__ import annotations

import argparse
import sys

from dyntrace._run import run_script


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m dyntrace", description="Run a script with its own functions compiled."
    )
    parser.add_argument("--backend", default="native", help="backend (default: native)")
    parser.add_argument("script", help="path of the script")
    parser.add_argument("args", nargs=argparse.REMAINDER, help="arguments of the script")
    options = parser.parse_args(argv)
    run_script(options.script, options.args, backend=options.backend, parser=parser)


if __name__ == "__main__":
    main(sys.argv[1:])
