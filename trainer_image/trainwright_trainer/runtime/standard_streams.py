"""Input, output and errors of a process that was started without them, as some daemons and `>&-` do."""

from __future__ import annotations

import os
import sys


def open_closed_streams() -> None:
    """Opens the null device in place of each: else a file that is opened later takes its number, and what a library
    prints is written into it.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = open(os.devnull, mode, encoding="utf-8")  # noqa: SIM115
            os.set_inheritable(stream.fileno(), True)
            setattr(sys, name, stream)
