"""The outcome of a run: its exceptions, its exit codes, and `Outcome`, which the loop and all processes pass on.

A user's mistake raises `trainwright_api.problems.Mistakes`.
"""

from __future__ import annotations

import errno
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Literal, get_args

from trainwright_api import problems
from trainwright_api.problems import Mistakes, OneLine, Problem


class ExitCode(IntEnum):
    """The exit code of the process. The operator retries 1, 3 and 75, and never 2."""

    DONE = 0
    CRASH = 1
    MISTAKE = 2
    ENVIRONMENT = 3
    STOPPED = 75


class EnvironmentFailure(OneLine):
    """A fault of the machine: a full disk, a read-only folder, no memory. Prints one line; exit code 3."""


@contextmanager
def losing(what: str, lost: tuple[type[Exception], ...]) -> Iterator[None]:
    """Turn the exceptions `lost`, which mean that `what` could not be repeated, into an `EnvironmentFailure`."""
    try:
        yield
    except lost as error:
        cause = getattr(error, "cause", None) or error  # the text of Ray's own error begins with the name of the task
        line = str(cause).partition("\n")[0]
        raise EnvironmentFailure(f"{what} was lost, and no retry is left: {line}") from error


class UsedAttempt(EnvironmentFailure):
    """The operator has assigned the number of an attempt that the run folder already knows, or a smaller one."""

    def __init__(self, line: str, next_attempt: int) -> None:
        self.next_attempt = next_attempt
        super().__init__(line, next_attempt)

    def __str__(self) -> str:
        return str(self.args[0])


class LostRank(EnvironmentFailure):
    """Another process of the training is gone, and has reported no failure. `cause`: what NCCL says, or nothing."""

    def __init__(self, line: str, cause: str = "") -> None:
        self.cause = cause
        super().__init__(f"{line}. {cause}" if cause else line)


class AlreadyDone(OneLine):
    """A resumed run has nothing left to train. Prints one line; exit code 0."""


class StoppedRun(OneLine):
    """The run stopped on request and wrote its checkpoint. Prints one line with the resume command; exit code 75."""


class WorkerCrash(Exception):
    """A bug of trainwright in a worker. The traceback of the worker is attached as a note."""


class FunctionFailed(OneLine):
    """A user's own train function raised, more often than its retries allow. Prints one line; exit code 1."""


OutcomeClass = Literal["done", "mistake", "environment", "crash", "stopped"]
OUTCOME_CLASSES: tuple[OutcomeClass, ...] = get_args(OutcomeClass)


@dataclass(frozen=True)
class Outcome:
    """The end of an attempt. It goes from a worker to the driver, to outcome.json, and to the termination message.

    `kind` is the `class` of outcome.json; `line` is one readable line, `log` the traceback or the last lines of the
    log. `problems`: those of a `Mistakes`; only the driver reads them. `reason`: why the training loop ended (epochs,
    train_steps, early stopping or time limit). `model`, `test_scores` and `next_attempt` (see `UsedAttempt`) are for
    the termination message.
    """

    kind: OutcomeClass
    line: str
    log: Sequence[str] = ()
    problems: tuple[Problem, ...] = ()
    reason: str = ""
    model: str | None = None
    test_scores: Mapping[str, float] = field(default_factory=dict)
    next_attempt: int | None = None

    @classmethod
    def of(cls, error: BaseException, log: Sequence[str] = ()) -> Outcome:
        """The outcome for the exception that ended the run; its kind determines if a retry can help."""
        if isinstance(error, AlreadyDone):
            return cls("done", str(error))
        kind, line = _kind(error), _text(error).partition("\n")[0]
        if is_bug(error):
            # The message of a bug may be a single word, as in a KeyError: it needs the name of the exception.
            line = ": ".join(word for word in (type(error).__name__, line) if word)
        mistakes = error.problems if isinstance(error, Mistakes) else ()
        free = error.next_attempt if isinstance(error, UsedAttempt) else None
        return cls(kind, line or "not enough memory on this machine", log, tuple(mistakes), next_attempt=free)

    @classmethod
    def traced(cls, error: BaseException) -> Outcome:
        """The same, with the traceback as the log."""
        return cls.of(error, "".join(traceback.format_exception(error)).splitlines())

    @property
    def exit_code(self) -> ExitCode:
        return _EXIT_CODES[self.kind]

    def error(self) -> Exception:
        """The exception to raise in another process than the one that ended. `done` is a run that was done already."""
        if self.kind == "done":
            return AlreadyDone(self.line)
        if self.kind == "mistake":
            return Mistakes(self.problems)
        if self.kind == "environment":
            return UsedAttempt(self.line, self.next_attempt) if self.next_attempt else EnvironmentFailure(self.line)
        if self.kind == "stopped":
            return StoppedRun(self.line)
        crash = WorkerCrash(self.line)
        crash.add_note("\n".join(self.log))
        return crash


EPOCHS, TRAIN_STEPS, EARLY_STOPPING, TIME_LIMIT = "epochs", "train_steps", "early stopping", "time limit"
"""The reasons for the end of training."""

TRAINED = Outcome("done", "the model is there")
FUNCTION_DONE = Outcome("done", "the train function has returned")
STOPPED = Outcome("stopped", "stopped on request; checkpoint written")
_EXIT_CODES: dict[OutcomeClass, ExitCode] = {
    "done": ExitCode.DONE,
    "mistake": ExitCode.MISTAKE,
    "environment": ExitCode.ENVIRONMENT,
    "crash": ExitCode.CRASH,
    "stopped": ExitCode.STOPPED,
}


def _kind(error: BaseException) -> OutcomeClass:
    if isinstance(error, Mistakes):
        return "mistake"
    if isinstance(error, (EnvironmentFailure, MemoryError)) or _is_full_disk(error):
        return "environment"
    return "stopped" if isinstance(error, StoppedRun) else "crash"


def _is_full_disk(error: BaseException) -> bool:
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)


def _text(error: BaseException) -> str:
    """The message. That of a full disk has no number of the system; it has no file if that is the standard output."""
    if isinstance(error, OSError) and _is_full_disk(error):
        return ": ".join(str(word) for word in (error.filename, error.strerror) if word)
    return str(error)


def is_bug(error: BaseException) -> bool:
    """True for an exception that is a bug of trainwright's, or of a library: its traceback is worth keeping."""
    return _kind(error) == "crash" and not isinstance(error, FunctionFailed)


def not_built(path: str, found: str, built: str) -> Mistakes:
    """The error for a valid value that this version does not support: `not_built("backend.type", "ray", "local")`."""
    return Mistakes.one(path, problems.not_built(found, f"this version has {built}"))
