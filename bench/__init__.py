"""What dyntrace must reach, measured as ratios within one run on one thread: `nox -s bench`."""
