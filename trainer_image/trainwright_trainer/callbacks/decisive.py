"""The metric that decides which round is best, where the validation rows may not define the one of the job."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from trainwright_trainer.callbacks import formats
from trainwright_trainer.callbacks.events import Evaluated, Event, Scores, Started


def decisive(name: str, scores: Scores) -> str:
    """`late.roc_auc`, or `late.loss` if `scores`, those of validation rows, lack it: the rows can be of one class.

    The targets alone define a metric, so all rounds of a run have the same.
    """
    field, _, metric = name.rpartition(".")
    return name if not scores or metric in scores.get(field, {}) else f"{field}.loss"


def decisive_of(name: str, rounds: Iterable[Evaluated]) -> str:
    """The metric that decided in these rounds."""
    first: Mapping[str, Scores] = next((one.scores for one in rounds), {})
    return decisive(name, first.get("validation", {}))


class UndefinedMetric:
    """A listener that says once that the loss decides in place of the metric of the job."""

    def __init__(self, log: Callable[[str], None]) -> None:
        self._log = log
        self._started: Started | None = None

    def on_event(self, event: Event) -> None:
        if isinstance(event, Started):
            self._started = event
        elif isinstance(event, Evaluated) and self._started is not None:
            self._tell(self._started, decisive_of(self._started.validation_metric, [event]))
            self._started = None

    def close(self) -> None: ...

    def _tell(self, started: Started, found: str) -> None:
        if found != started.validation_metric:
            given, loss = (formats.metric_name(name, started.outputs) for name in (started.validation_metric, found))
            self._log(f"{given} has no value on these validation rows: validation {loss} decides which epoch is best")
