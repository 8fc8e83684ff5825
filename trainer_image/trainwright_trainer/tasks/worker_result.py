"""The end of training in a worker, in a form that can be pickled and sent to another process."""

from __future__ import annotations

import traceback
from dataclasses import dataclass

from trainwright_api.problems import Mistakes, Problem
from trainwright_trainer.errors import EnvironmentFailure, StoppedRun
from trainwright_trainer.rundir.outcome import Kind, Outcome
from trainwright_trainer.tasks.result import Result


class WorkerCrash(Exception):
    """A bug of trainwright in a worker. The traceback of the worker is attached as a note."""


@dataclass(frozen=True)
class Done:
    result: Result

    def answer(self) -> Result:
        return self.result


@dataclass(frozen=True)
class Failed:
    """An exception. `problems`: those of a `Mistakes`, else empty."""

    kind: Kind
    line: str
    problems: tuple[Problem, ...]
    trace: str

    @classmethod
    def of(cls, error: Exception) -> Failed:
        """Build it from `error`, which has to be the exception that is being handled."""
        outcome = Outcome.of(error)
        problems = error.problems if isinstance(error, Mistakes) else ()
        return cls(outcome.kind, outcome.line, problems, traceback.format_exc())

    def answer(self) -> Result:
        """Raise the exception."""
        raise self.error()

    def error(self) -> Exception:
        if self.kind == "mistake":
            return Mistakes(self.problems)
        if self.kind == "environment":
            return EnvironmentFailure(self.line)
        if self.kind == "stopped":
            return StoppedRun(self.line)
        crash = WorkerCrash(self.line)
        crash.add_note(self.trace)
        return crash


End = Done | Failed
