"""The events of a run: plain values that the terminal, TensorBoard, metrics.json and the operator all read.

Epochs are counted from 0 in every event (the epoch that a round or a step belongs to). Displays for people (terminal,
report) show epoch + 1; files for programs keep the number as it is. `step` counts the optimizer steps that are done,
over all attempts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

# {"combined": {"loss": …}, "<output feature>": {"loss": …, "roc_auc": …}}
Scores = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class Started:
    """Sent once, before the first step."""

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
    epoch: int = 0  # the first epoch of this attempt: > 0 after a resume
    step: int = 0
    processes: int = 1
    pass_rows: int | None = None  # the largest number of rows that one worker has
    positive: Mapping[str, str] = field(default_factory=dict)  # binary output → its positive value
    metrics: Mapping[str, str] = field(default_factory=dict)  # output → the metric that is shown for it
    learning_rate_factor: float | None = None  # the factor that the configured learning rate was multiplied by
    total_steps: int | None = None  # of the whole run, unless it stops early
    tolerance: float = 0.0  # the relative difference of the monitored metric that counts as chance
    evaluates: bool = True  # False with skip_all_evaluation: then no epoch is the best
    best: Evaluated | None = None  # the best round before this attempt


@dataclass(frozen=True)
class Stepped:
    """Sent after every optimizer step; listeners must be cheap and throttle themselves."""

    epoch: int
    step: int  # optimizer steps since the run began
    epoch_rows: int  # rows of this epoch that are done
    train_rows: int  # rows of a whole epoch
    learning_rate: float


@dataclass(frozen=True)
class RankRound:
    """The measurements of one rank in a round. Times are seconds per step, on average."""

    rank: int
    host: str  # its machine; on Kubernetes, its pod
    step_seconds: float  # the whole step, including the time that it waits for other ranks
    own_seconds: float  # from the loader's call until the rank's gradients are there, without waiting for other ranks
    loader_seconds: float  # the part of own_seconds that it waits for the loader
    memory_bytes: int  # the peak memory of the process
    gpu_memory_bytes: int | None = None  # the peak memory of its tensors in this round
    gpu_use: float | None = None  # share of time that the GPU was busy, 0 to 1; None if the driver does not report it


@dataclass(frozen=True)
class Evaluated:
    """Sent after every evaluation round; one row of metrics.json."""

    epoch: int
    step: int
    seconds: float  # training time since the run began, over all attempts
    rows_per_second: float  # of training steps alone, since the last round
    learning_rate: float
    scores: Mapping[str, Scores]  # train, validation
    best: bool
    ranks: tuple[RankRound, ...] = ()  # in the order of ranks


def rounds_of(history: Iterable[Mapping[str, Any]]) -> list[Evaluated]:
    """The rounds that the state of a checkpoint holds as plain values."""
    return [Evaluated(**round_) for round_ in history]


def best_of(rounds: Sequence[Evaluated]) -> Evaluated | None:
    """The best round: the newest one that was the best so far."""
    return next((round_ for round_ in reversed(rounds) if round_.best), None)


@dataclass(frozen=True)
class Checkpointed:
    """A checkpoint is complete, or could not be written (`error` is one line; training continues)."""

    name: str
    error: str | None = None


@dataclass(frozen=True)
class Ended:
    """Sent once, at the end of training."""

    seconds: float
    best_epoch: int
    best_step: int
    test: Scores
    reason: str
    lines: tuple[str, ...] = field(default=())
    # Output → its test score, and the score of a baseline that always predicts the mean or the most common class.
    baseline: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class TrialRow:
    """One trial of a search that has a score. `values`: its parameters in one line."""

    name: str
    score: float
    state: str
    values: str
    folder: str


@dataclass(frozen=True)
class Searched:
    """Sent after each change of a trial of a search, and at its end. Only the operator reads it."""

    metric: str
    total: int | None
    finished: int
    failed: int
    running: int
    best: tuple[TrialRow, ...]  # the best ten, the best first
    left: float  # an estimate of the seconds that are left; infinity if unknown
    ended: bool = False


@dataclass(frozen=True)
class FunctionStarted:
    """A user's own train function begins on its workers. Sent again when lost workers have been replaced."""

    name: str
    function: str  # module.function
    workers: int
    attempt: int
    epochs: int | None  # entrypoint.config.epochs, if it is a number
    metric: str | None  # the reported metric that ranks the checkpoints
    checkpoint: str | None  # the one that the function may go on from
    reports: int = 0  # the reports up to that checkpoint; later ones are repeated


@dataclass(frozen=True)
class Reported:
    """A report of a user's own train function: the metrics of rank 0, and the name of the checkpoint, if it has one."""

    number: int  # from 1, over all attempts; a report is counted again if it is repeated after a restart
    seconds: float  # since the function began, over all attempts
    metrics: Mapping[str, float]
    checkpoint: str | None = None

    @property
    def epoch(self) -> int | None:
        """The epoch, from 0, if the function reports it."""
        epoch = self.metrics.get("epoch")
        return int(epoch) if epoch is not None and epoch >= 0 and float(epoch).is_integer() else None


Event = Started | Stepped | Evaluated | Checkpointed | Ended | FunctionStarted | Reported | Searched


class Listener(Protocol):
    """Receives every event of a run, in order, on the training thread."""

    def on_event(self, event: Event) -> None: ...

    def close(self) -> None: ...


@runtime_checkable
class LiveDisplay(Listener, Protocol):
    """A listener that redraws lines of its stream. Others print their lines through it."""

    def show(self, line: str) -> None: ...
