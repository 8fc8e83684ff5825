"""What a run tells while it goes: plain values that the terminal, TensorBoard, metrics.json and the operator all read.

Epochs are counted from 0 in every event (the epoch that a round or a step belongs to). What people read (terminal,
report) shows epoch + 1; files for programs hold it as it is. `step` counts the optimizer
steps that are done, since the very beginning.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

# {"combined": {"loss": …}, "<output feature>": {"loss": …, "roc_auc": …}}
Scores = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class Started:
    """Once, before the first step."""

    name: str
    rows: int
    split_rows: Mapping[str, int]  # train, validation, test
    inputs: int
    outputs: Mapping[str, str]  # output feature → type
    cache_key: str
    cache_hit: bool
    batch_size: int
    optimizer: str
    learning_rate: float
    epochs: int
    steps_per_epoch: int
    threads: int
    validation_metric: str  # e.g. "late.roc_auc"
    attempt: int
    epoch: int = 0  # where it starts: > 0 after a resume
    step: int = 0
    processes: int = 1
    pass_rows: int | None = None  # of one worker, at most
    learning_rate_factor: float | None = None  # what the file's rate was multiplied by


@dataclass(frozen=True)
class Stepped:
    """After every optimizer step; listeners must be cheap and throttle themselves."""

    epoch: int
    step: int  # optimizer steps since the beginning
    epoch_rows: int  # rows of this epoch that are done
    train_rows: int  # rows of a whole epoch
    learning_rate: float


@dataclass(frozen=True)
class RankRound:
    """What one rank measured of itself in a round. Times are seconds a step, on average."""

    rank: int
    host: str  # its machine; on Kubernetes its pod
    step_seconds: float  # all of a step, waiting for other ranks included
    own_seconds: float  # the rank's own part: from asking the loader to having its gradients, without any such waiting
    loader_seconds: float  # of that, waiting for the loader
    memory_bytes: int  # the most that the process has ever held
    gpu_memory_bytes: int | None = None  # the most that its tensors held in this round
    gpu_use: float | None = None  # the part of the time that the GPU was busy, 0 to 1; None: its driver does not tell


@dataclass(frozen=True)
class Evaluated:
    """After every evaluation round; a row of metrics.json."""

    epoch: int
    step: int
    seconds: float  # of training since the run began, over all attempts
    rows_per_second: float  # training steps alone, since the last round
    learning_rate: float
    scores: Mapping[str, Scores]  # train, validation
    best: bool
    ranks: tuple[RankRound, ...] = ()  # in their order


@dataclass(frozen=True)
class Checkpointed:
    """A checkpoint is complete, or could not be written (`error` is one line; training goes on)."""

    name: str
    error: str | None = None


@dataclass(frozen=True)
class Ended:
    """Once, at the end of training."""

    seconds: float
    best_epoch: int
    best_step: int
    test: Scores
    reason: str  # "epochs", "train_steps", "early stopping"
    lines: tuple[str, ...] = field(default=())
    # Output → its test score beside that of always predicting the mean or the most common class.
    baseline: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


Event = Started | Stepped | Evaluated | Checkpointed | Ended


class Listener(Protocol):
    """One that hears every event of a run, in order, on the training thread."""

    def on_event(self, event: Event) -> None: ...

    def close(self) -> None: ...
