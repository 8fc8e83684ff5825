"""Which rows each update saw, for tests and for finding faults.

Where the environment variable TRAINWRIGHT_ROW_LOG names a file, one line of JSON is appended to it right after every
optimizer step: {"attempt": 1, "step": 17, "rows": [source row numbers, in order]}. A line is one unbuffered write, so a
process that is killed leaves whole lines: exactly those of the updates that it made.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

VARIABLE = "TRAINWRIGHT_ROW_LOG"


class RowLog:
    """Open until `close`; without the variable it does nothing."""

    def __init__(self, attempt: int, environment: Mapping[str, str] = os.environ) -> None:
        self._attempt = attempt
        path = environment.get(VARIABLE)
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644) if path else None

    def write(self, step: int, rows: npt.NDArray[np.int64]) -> None:
        if self._file is None:
            return
        line = json.dumps({"attempt": self._attempt, "step": step, "rows": rows.tolist()})
        os.write(self._file, f"{line}\n".encode())

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None
