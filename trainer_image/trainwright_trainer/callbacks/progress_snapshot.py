"""The progress of an attempt in the operator's terms, collected from events. Pure: the caller passes the clock.

NaN and infinity are left out, and so are values that the contract has no field for.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from trainwright_api.resource.messages import Derived, ProgressMessage, Score
from trainwright_api.resource.status import BestTrial, RankProgress, Trials
from trainwright_trainer.callbacks import formats
from trainwright_trainer.callbacks.decisive import decisive_of
from trainwright_trainer.callbacks.events import (
    Checkpointed,
    Ended,
    Evaluated,
    Event,
    FunctionStarted,
    RankRound,
    Reported,
    Searched,
    Started,
    Stepped,
)
from trainwright_trainer.callbacks.function_progress import FunctionProgress
from trainwright_trainer.callbacks.lines import value_of
from trainwright_trainer.callbacks.ranks import straggler_line
from trainwright_trainer.callbacks.throughput import Throughput, untrained_rows

LOOK_SECONDS = 1.0
"""Steps come by the thousand; throughput is sampled at this interval."""
MOST_NUMBERS, MAX_CHARACTERS = 256, 256
MOST_RANKS = 8
LONGEST = 1e10


class ProgressSnapshot:
    """A listener without a thread. `message` returns the whole progress."""

    def __init__(self, stage: str) -> None:
        self._stage = stage
        self._started: Started | None = None
        self._throughput: Throughput | None = None
        self._step: Stepped | None = None
        self._round: Evaluated | None = None
        self._checkpoint: str | None = None
        self._search: Searched | None = None
        self._ended = False
        self._look = -math.inf
        self._function = FunctionProgress()

    def on_event(self, event: Event, now: float) -> None:
        if isinstance(event, Stepped):
            self._step = event
            if self._throughput is not None and now >= self._look:
                self._throughput.saw(event, now)
                self._look = now + LOOK_SECONDS
        elif isinstance(event, Started):
            self._started, self._throughput = event, Throughput(event, now)
        elif isinstance(event, Evaluated):
            self._round = event
            if self._throughput is not None:
                self._throughput.paused(event.rows_per_second)
        elif isinstance(event, Checkpointed):
            self._checkpoint = self._checkpoint if event.error else event.name[:MAX_CHARACTERS]
        elif isinstance(event, Ended):
            self._ended = True
        elif isinstance(event, Searched):
            self._search = event
        elif isinstance(event, FunctionStarted):
            self._function.started(event)
        elif isinstance(event, Reported):
            self._function.reported(event, now)
            self._checkpoint = self._checkpoint if event.checkpoint is None else event.checkpoint[:MAX_CHARACTERS]

    def message(self, now: float) -> ProgressMessage:
        """The progress so far. Unknown values are absent."""
        if self._search is not None:
            return ProgressMessage(stage=self._stage[:MAX_CHARACTERS], **_of_a_search(self._search))
        found = {
            **self._of_the_start(),
            **self._of_the_steps(now),
            **self._of_the_round(),
            **self._of_the_function(),
        }
        return ProgressMessage(stage=self._stage[:MAX_CHARACTERS], last_checkpoint=self._checkpoint, **found)

    def _of_the_start(self) -> dict[str, Any]:
        started = self._started
        if started is None:
            return {}
        return {
            "epoch": started.epoch + 1,
            "epochs": started.epochs,
            "fraction": self._fraction(_position(started)),
            "start_position": _position(started),
            "resolved": Derived(
                batch_size=started.pass_rows,
                global_batch_size=started.batch_size,
                learning_rate_factor=started.learning_rate_factor,
            ),
        }

    def _of_the_steps(self, now: float) -> dict[str, Any]:
        step, throughput = self._step, self._throughput
        if step is None or throughput is None:
            return {}
        left = 0.0 if self._ended else throughput.left_in_all(step, now)
        return {
            "epoch": step.epoch + 1,
            "fraction": self._fraction(step.epoch * step.train_rows + step.epoch_rows),
            "rows_per_second": _finite(throughput.rows_per_second),
            "eta_seconds": left if left <= LONGEST else None,
        }

    def _of_the_round(self) -> dict[str, Any]:
        round_ = self._round
        if round_ is None or self._started is None:
            return {}
        slowest_first = sorted(round_.ranks, key=lambda one: -one.own_seconds)
        return {
            "metrics": flat(round_.scores),
            "validation_metric": _decisive(self._started, round_),
            "ranks": [_of_rank(one) for one in slowest_first[:MOST_RANKS]] or None,
            "straggler": (straggler_line(round_.ranks) or "")[:MAX_CHARACTERS] or None,
        }

    def _of_the_function(self) -> dict[str, Any]:
        function = self._function
        if function.report is None:
            return {}
        score = function.score
        left = function.seconds_left
        return {
            "epoch": None if function.report.epoch is None else function.report.epoch + 1,
            "epochs": function.epochs,
            "fraction": function.fraction,
            "eta_seconds": left if left is not None and left <= LONGEST else None,
            "metrics": flat(function.report.metrics),
            "validation_metric": None if score is None else Score(name=score[0][:MAX_CHARACTERS], value=score[1]),
        }

    def _fraction(self, rows: int) -> float | None:
        assert self._started is not None
        whole = self._started.epochs * self._started.split_rows.get("train", 0) - untrained_rows(self._started)
        return 1.0 if self._ended else min(1.0, rows / whole) if whole else None


def _of_a_search(search: Searched) -> dict[str, Any]:
    best = search.best[0].score if search.best else math.nan
    value = _finite(best)
    return {
        "fraction": 1.0 if search.ended else min(1.0, search.finished / search.total) if search.total else None,
        "eta_seconds": 0.0 if search.ended else search.left if search.left <= LONGEST else None,
        "validation_metric": None if value is None else Score(name=search.metric[:MAX_CHARACTERS], value=value),
        "trials": Trials(
            total=search.total,
            finished=search.finished,
            failed=search.failed,
            running=search.running,
            best=[
                BestTrial(
                    name=row.name,
                    score=row.score,
                    state=row.state,
                    values=formats.shorten(row.values, MAX_CHARACTERS),
                    folder=row.folder,
                )
                for row in search.best
                if math.isfinite(row.score)
            ]
            or None,
        ),
    }


def _position(started: Started) -> int:
    """Rows that are done over all epochs. Not steps × batch size: the last batch of an epoch may be short."""
    whole = started.split_rows.get("train", 0)
    within = (started.step - started.epoch * started.steps_per_epoch) * started.batch_size
    return started.epoch * whole + max(0, min(whole, within))


def _decisive(started: Started, round_: Evaluated) -> Score | None:
    decides = decisive_of(started.validation_metric, [round_])
    field, _, metric = decides.rpartition(".")
    value = _finite(value_of(round_.scores.get("validation", {}), field, metric))
    name = formats.metric_name(decides, started.outputs)
    return None if value is None else Score(name=name[:MAX_CHARACTERS], value=value)


def _of_rank(one: RankRound) -> RankProgress:
    """Convert one rank's measurements, with times rounded to the microsecond."""
    plain = {name: round(value, 6) if isinstance(value, float) else value for name, value in vars(one).items()}
    return RankProgress.model_validate(plain)


def flat(scores: Mapping[str, Any]) -> dict[str, float]:
    """`{"late": {"roc_auc": 0.7}}` as `{"late.roc_auc": 0.7}`."""
    found = ((name, value) for name, value in _leaves(scores, "") if len(name) <= MAX_CHARACTERS)
    return dict(pair for pair, _ in zip(found, range(MOST_NUMBERS), strict=False))


def _leaves(scores: Mapping[str, Any], above: str) -> Iterator[tuple[str, float]]:
    for name, value in scores.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{above}{name}.")
        elif (number := _finite(value)) is not None:
            yield f"{above}{name}", number


def _finite(value: float | None) -> float | None:
    return float(value) if value is not None and math.isfinite(value) else None
