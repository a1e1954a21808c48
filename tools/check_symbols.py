"""Load a built extension module with every symbol bound, in the interpreter it was built for.

Run by CMake right after linking: an extension does not link libpython, so the linker cannot see
that a symbol is missing (CPython hides many internal ones), and the user would learn it at import.
Only the dynamic loader's work is done here; the module's init function does not run.
"""

from __future__ import annotations

import os
import sys


def main(path: str) -> int:
    try:
        import ctypes
    except ImportError:
        print("check_symbols: this interpreter has no ctypes, symbols are not checked")
        return 0
    try:
        ctypes.PyDLL(os.path.abspath(path), mode=os.RTLD_NOW)
    except OSError as error:
        print(f"check_symbols: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
