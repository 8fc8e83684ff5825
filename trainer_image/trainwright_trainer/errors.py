"""How a run can end, and the exceptions that say so. A user's mistake is `trainwright_api.problems.Mistakes`."""

from __future__ import annotations

from enum import IntEnum

from trainwright_api import problems
from trainwright_api.problems import Mistakes


class ExitCode(IntEnum):
    """What the process answers; the operator retries 3 and 75, never 2."""

    DONE = 0
    CRASH = 1
    MISTAKE = 2
    ENVIRONMENT = 3
    STOPPED = 75


class EnvironmentFailure(Exception):
    """The machine's fault: a full disk, a folder that cannot be written, no memory. One line, exit code 3."""


class AlreadyDone(Exception):
    """A resume that has nothing left to train. One line, exit code 0."""


class StoppedRun(Exception):
    """The run was asked to stop and has written its checkpoint. One line that says how to go on, exit code 75."""


def not_built(path: str, found: str, built: str) -> Mistakes:
    """A refusal of what the contract allows and this version lacks: `not_built("backend.type", "ray", "local")`."""
    return Mistakes.one(path, problems.not_built(found, f"this version has {built}"))
