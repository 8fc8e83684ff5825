"""The reason of a failed read as a short text."""

from __future__ import annotations

import errno
import os

import pytest

from trainwright_trainer.data.datafile import reason_of

SHORTER = (
    "When reading information for key 'a.csv' in bucket 'b': AWS Error UNKNOWN (HTTP status 416) during GetObject "
    "operation: The requested range is not satisfiable"
)
DENIED = "When reading information: AWS Error ACCESS_DENIED during HeadObject operation:\n No response body."


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (OSError(SHORTER), "a shorter file has replaced it during the read: start again when it is written"),
        (OSError(DENIED), "ACCESS_DENIED during HeadObject operation: No response body."),
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), "No space left on device"),
        (OSError("something else"), "something else"),
    ],
)
def test_a_reason_is_short(error: OSError, reason: str) -> None:
    assert reason_of(error) == reason
