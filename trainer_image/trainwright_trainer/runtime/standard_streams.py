"""Standard streams of a process that was started without them, for example by a daemon or with `>&-`."""

from __future__ import annotations

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
