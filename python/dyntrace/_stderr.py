"""What whole scripts have to say, on a standard error that may be closed."""

import os
import sys


def write_to_stderr(text: str) -> None:
    """To the file itself: what a closed one leaves in the stream's buffer would change the exit status."""
    stream = sys.stderr
    if stream is None or stream.closed:
        return
    try:
        stream.flush()
        data = text.encode("utf-8", "backslashreplace")
        while data:
            data = data[os.write(stream.fileno(), data) :]
    except (OSError, ValueError):
        return  # nobody is there to read it
