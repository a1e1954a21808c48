"""NumPy: what is loaded when a trace first calls something of it."""

from dyntrace.polyfills import load

for part in ("shapes", "objects", "calls", "settings"):
    load(f"numpy_{part}")
