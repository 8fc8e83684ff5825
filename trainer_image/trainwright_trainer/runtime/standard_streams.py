"""Standard streams: of a process that was started without them, for example by a daemon, and odd characters."""

from __future__ import annotations

import io
import os
import sys


def open_closed_streams() -> None:
    """Open the null device for each closed stream. Otherwise a file that is opened later gets its descriptor, and the
    output of a library is written into that file.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = open(os.devnull, mode, encoding="utf-8")  # noqa: SIM115
            os.set_inheritable(stream.fileno(), True)
            setattr(sys, name, stream)


def escape_odd_characters() -> None:
    """Print characters that the terminal lacks, and file names that are not text, with escapes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
