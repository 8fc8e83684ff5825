"""The termination message of an attempt: the kind of outcome, one line, the model and the scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from trainwright_api.resource.messages import LINE_CHARACTERS, OutcomeMessage, redacted_outcome
from trainwright_api.resource.redaction import redacted_text
from trainwright_trainer.callbacks.progress_snapshot import flat
from trainwright_trainer.errors import FUNCTION_DONE, TRAINED, EnvironmentFailure, Outcome
from trainwright_trainer.job.pod import Pod
from trainwright_trainer.rundir import json_text, layout
from trainwright_trainer.storage.base import Storage
from trainwright_trainer.tasks.result import Result, TaskSummary


def outcome_of(found: Result | TaskSummary) -> Outcome:
    """The outcome of a task that succeeded."""
    if isinstance(found, TaskSummary):
        model = None if found.model is None else str(found.model)
        return Outcome("done", found.line, model=model, test_scores=flat(found.evaluation or found.test))
    return replace(found.outcome, model=str(found.model), test_scores=flat(found.test))


def outcome_of_existing_run(storage: Storage) -> Outcome:
    """For an attempt with nothing left to do. It reports the model and the scores of an earlier attempt.

    The run of a user's own train function has no model.
    """
    if storage.list(layout.RAY_TRAIN):
        return FUNCTION_DONE
    location = f"{storage.location.rstrip('/')}/{layout.MODEL.rstrip('/')}"
    return replace(TRAINED, model=location, test_scores=flat(_scores(storage)))


def message_of(outcome: Outcome, pod: Pod, log_tail: str) -> OutcomeMessage:
    """The message for the operator and the kubelet. Secrets of a known format are redacted."""
    message = OutcomeMessage(
        attempt=pod.attempt,
        stage=pod.stage,
        outcome=outcome.kind,
        line=redacted_text(outcome.line)[:LINE_CHARACTERS],
        log_tail=log_tail or None,
        model=outcome.model,
        test_scores=dict(outcome.test_scores) or None,
        next_attempt=outcome.next_attempt,
    )
    return redacted_outcome(message)


def _scores(storage: Storage) -> Mapping[str, Mapping[str, float]]:
    """The test scores in metrics.json; empty if the file is missing or invalid."""
    try:
        found = json_text.parse(storage.read(layout.METRICS))["end"]["test"]
    except (FileNotFoundError, ValueError, KeyError, TypeError, EnvironmentFailure):
        return {}
    return found if isinstance(found, Mapping) else {}
