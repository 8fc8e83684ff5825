"""The end of an attempt as the operator receives it: the kind of outcome, one line, the model and the scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from trainwright_api.resource.messages import LINE_LETTERS, OutcomeMessage, redacted_outcome
from trainwright_api.resource.redaction import redacted_text
from trainwright_trainer.callbacks.progress_snapshot import flat
from trainwright_trainer.errors import TRAINED, EnvironmentFailure, Outcome
from trainwright_trainer.job.pod import Pod
from trainwright_trainer.rundir import json_text, layout
from trainwright_trainer.storage.base import Storage
from trainwright_trainer.tasks.result import Result, TaskSummary


@dataclass(frozen=True)
class Termination:
    """`words`: the text at the end of the log; empty if the log already has it."""

    outcome: Outcome
    words: str = ""
    model: str | None = None
    test_scores: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of_result(cls, found: Result | TaskSummary) -> Termination:
        if isinstance(found, TaskSummary):
            return cls(Outcome("done", found.line), test_scores=flat(found.test))
        return cls(TRAINED, model=str(found.model), test_scores=flat(found.test))

    @classmethod
    def of_the_run_before(cls, storage: Storage) -> Termination:
        """For an attempt with nothing left to do. It reports the model and the scores of an earlier attempt."""
        location = f"{storage.location.rstrip('/')}/{layout.MODEL.rstrip('/')}"
        return cls(TRAINED, model=location, test_scores=flat(_scores(storage)))

    def message(self, pod: Pod, log_tail: str) -> OutcomeMessage:
        """The message for the operator and the kubelet. Secrets of a known format are redacted."""
        message = OutcomeMessage(
            attempt=pod.attempt,
            stage=pod.stage,
            outcome=self.outcome.kind,
            line=redacted_text(self.outcome.line)[:LINE_LETTERS],
            log_tail=log_tail or None,
            model=self.model,
            test_scores=dict(self.test_scores) or None,
        )
        return redacted_outcome(message)


def _scores(storage: Storage) -> Mapping[str, Mapping[str, float]]:
    """The test scores in metrics.json; empty if the file is missing or invalid."""
    try:
        found = json_text.parse(storage.read(layout.METRICS))["end"]["test"]
    except (FileNotFoundError, ValueError, KeyError, TypeError, EnvironmentFailure):
        return {}
    return found if isinstance(found, Mapping) else {}
