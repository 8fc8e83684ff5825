"""A log of the rows that each optimizer step used, for tests and for debugging.

If the environment variable TRAINWRIGHT_ROW_LOG names a file, one line of JSON is appended to it right after every
optimizer step: {"attempt": 1, "step": 17, "rows": [source row numbers, in order]}. A line is one unbuffered write, so a
process that is killed leaves only whole lines, one for each step that it finished. Each rank has a file of its own:
rank 1 appends `.1` to the file's name, and so on.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

VARIABLE = "TRAINWRIGHT_ROW_LOG"


class RowLog:
    """The open log of one rank. Without the environment variable it does nothing."""

    def __init__(self, attempt: int, rank: int = 0, environment: Mapping[str, str] = os.environ) -> None:
        self._attempt = attempt
        path = environment.get(VARIABLE)
        name = f"{path}.{rank}" if rank else path
        self._file = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644) if path and name else None

    def write(self, step: int, rows: npt.NDArray[np.int64]) -> None:
        if self._file is None:
            return
        line = json.dumps({"attempt": self._attempt, "step": step, "rows": rows.tolist()})
        os.write(self._file, f"{line}\n".encode())

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None
