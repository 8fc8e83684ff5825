"""Exit codes, and the exceptions that end a run. A user's mistake raises `trainwright_api.problems.Mistakes`."""

from __future__ import annotations

from enum import IntEnum

from trainwright_api import problems
from trainwright_api.problems import Mistakes


class ExitCode(IntEnum):
    """The exit code of the process. The operator retries 3 and 75, and never 2."""

    DONE = 0
    CRASH = 1
    MISTAKE = 2
    ENVIRONMENT = 3
    STOPPED = 75


class EnvironmentFailure(Exception):
    """A fault of the machine: a full disk, a read-only folder, no memory. Prints one line; exit code 3."""


class AlreadyDone(Exception):
    """A resumed run has nothing left to train. Prints one line; exit code 0."""


class StoppedRun(Exception):
    """The run stopped on request and wrote its checkpoint. Prints one line with the resume command; exit code 75."""


def not_built(path: str, found: str, built: str) -> Mistakes:
    """The error for a valid value that this version does not support: `not_built("backend.type", "ray", "local")`."""
    return Mistakes.one(path, problems.not_built(found, f"this version has {built}"))
