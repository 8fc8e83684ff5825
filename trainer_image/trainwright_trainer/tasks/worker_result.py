"""How training ended, in a form that crosses from process to process."""

from __future__ import annotations

import traceback
from dataclasses import dataclass

from trainwright_api.problems import Mistakes, Problem
from trainwright_trainer.errors import EnvironmentFailure, StoppedRun
from trainwright_trainer.rundir.outcome import Kind, Outcome
from trainwright_trainer.tasks.result import Result


class WorkerCrash(Exception):
    """A bug of ours in a worker. Its traceback there is a note to it."""


@dataclass(frozen=True)
class Done:
    result: Result

    def answer(self) -> Result:
        return self.result


@dataclass(frozen=True)
class Failed:
    """An exception. `problems` are those of `Mistakes`."""

    kind: Kind
    line: str
    problems: tuple[Problem, ...]
    trace: str

    @classmethod
    def of(cls, error: Exception) -> Failed:
        """Of the exception that is being handled."""
        outcome = Outcome.of(error)
        problems = error.problems if isinstance(error, Mistakes) else ()
        return cls(outcome.kind, outcome.line, problems, traceback.format_exc())

    def answer(self) -> Result:
        """Raises what it was."""
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
