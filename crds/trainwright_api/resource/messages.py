"""The JSON messages between pods and the operator: progress, the outcome of an attempt, and the reply.

An outcome is also the pod's termination message, in case the operator could not receive it.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, ValidationError

from trainwright_api.resource.redaction import redacted_text
from trainwright_api.resource.status import (
    Count,
    Line,
    ModelFolder,
    Numbers,
    OutcomeClass,
    Ranks,
    Seconds,
    Trials,
    Word,
)
from trainwright_api.schema.section import KubernetesSection

LOG_BYTES = 4096
LINE_CHARACTERS = 1024
TERMINATION_BYTES = 4096
"""Kubernetes truncates a termination message at this size."""
BODY_BYTES = 256 * 1024
"""The maximum size of a report."""


class Score(KubernetesSection):
    """The name and the newest value of the validation metric."""

    name: Word = Field(description="As in roc_auc.")
    value: float = Field(description="Its newest value.")


class Derived(KubernetesSection):
    """The values that the trainer derived at its start."""

    batch_size: Count | None = Field(None, description="Rows per worker and pass.")
    global_batch_size: Count | None = Field(None, description="Rows per step, over all workers.")
    learning_rate_factor: Annotated[float, Field(ge=0)] | None = Field(None, description="Factor on the learning rate.")


class ProgressMessage(KubernetesSection):
    """The progress of an attempt."""

    stage: Word | None = Field(None, description="The stage that the child runs: the task, or preprocess before it.")
    fraction: Annotated[float, Field(ge=0, le=1)] | None = Field(None, description="The fraction that is done, 0 to 1.")
    epoch: Count | None = Field(None, description="The current epoch, from 1.")
    epochs: Count | None = Field(None, description="The maximum number of epochs.")
    eta_seconds: Seconds | None = Field(None, description="The time left.")
    rows_per_second: Annotated[float, Field(ge=0)] | None = Field(None, description="Training rows per second.")
    metrics: Numbers | None = Field(None, description="The newest metrics, by split, output and name.")
    validation_metric: Score | None = Field(
        None, description="The metric that decides which epoch is best; of a search, its metric for the best trial."
    )
    last_checkpoint: Word | None = Field(None, description="The newest complete checkpoint.")
    ranks: Ranks | None = Field(None, description="The slowest ranks by their own part of a step, at most eight.")
    straggler: Word | None = Field(None, description="One line that names the rank for which the others wait.")
    start_position: Count | None = Field(
        None, description="The row at which the attempt started, counted over all epochs."
    )
    resolved: Derived | None = Field(None, description="The values that the trainer derived at its start.")
    trials: Trials | None = Field(None, description="The trials of a hyperparameter search.")


class OutcomeMessage(KubernetesSection):
    """The end of an attempt."""

    attempt: Count = Field(description="The attempt that ended.")
    stage: Word | None = Field(None, description="The stage that ended: the task, or preprocess before it.")
    outcome: OutcomeClass = Field(alias="class", description="The class of the end.")
    line: Line = Field("", description="One line of text for the user.")
    log_tail: Annotated[str, Field(max_length=LOG_BYTES)] | None = Field(None, description="The last log lines.")
    model: ModelFolder | None = Field(None, description="The trained model's folder.")
    test_scores: Numbers | None = Field(None, description="The scores on the test split.")
    next_attempt: Count | None = Field(None, description="The next free number, if the run has used this one before.")


class Report(KubernetesSection):
    """The body of a pod's report: progress, an outcome, or both."""

    uid: Word = Field(description="The uid of the TrainingJob.")
    attempt: Count = Field(description="The attempt that reports.")
    progress: ProgressMessage | None = Field(None, description="The progress of the attempt.")
    outcome: OutcomeMessage | None = Field(None, description="The class of the end.")


class Reply(KubernetesSection):
    """The answer to a report of a pod."""

    stop: bool = Field(False, description="True: write a checkpoint and exit.")
    reason: Word = Field("", description="One line for the log.")


def encoded(message: KubernetesSection) -> str:
    """Return the message as JSON, without absent fields."""
    return message.model_dump_json(exclude_none=True)


def termination_message(outcome: OutcomeMessage) -> str:
    """Return the outcome as JSON in at most 4096 bytes.

    If it is longer, the start of the log is dropped first, then the whole log, scores, model and the end of the line.
    """
    for keep in (LOG_BYTES, 2048, 1024, 512, 0):
        short = outcome.model_copy(update={"log_tail": last_bytes(outcome.log_tail or "", keep) or None})
        if len(encoded(short).encode()) <= TERMINATION_BYTES:
            return encoded(short)
    bare = outcome.model_copy(update={"line": outcome.line[:256], "log_tail": None, "model": None, "test_scores": None})
    return encoded(bare)


def outcome_from_termination(text: str) -> OutcomeMessage | None:
    """Return the redacted outcome in a termination message. None if another program wrote it or it was truncated."""
    try:
        return redacted_outcome(OutcomeMessage.model_validate_json(text))
    except ValidationError:
        return None


def redacted_outcome(outcome: OutcomeMessage) -> OutcomeMessage:
    """Return the outcome with its line and log redacted and truncated."""
    tail = outcome.log_tail and last_bytes(redacted_text(outcome.log_tail), LOG_BYTES)
    return outcome.model_copy(update={"line": redacted_text(outcome.line)[:LINE_CHARACTERS], "log_tail": tail})


def last_bytes(text: str, limit: int) -> str:
    """Return the end of a text, at most `limit` bytes in UTF-8. It starts at a line start, if it has a newline."""
    encoded_text = text.encode(errors="replace")
    if len(encoded_text) <= limit:
        return encoded_text.decode()
    end = encoded_text[len(encoded_text) - limit :].decode(errors="ignore")
    _, newline, whole = end.partition("\n")
    return whole if newline else end
