"""The reports of a trial to its search: the score after each evaluation round."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from trainwright_trainer.callbacks.events import Ended, Evaluated, Event, Scores, Started
from trainwright_trainer.callbacks.history import History
from trainwright_trainer.runtime.signals import StopRequest
from trainwright_trainer.search.objective import Objective

Report = Callable[[Mapping[str, Any]], bool]
"""Sends a result to the search. Returns False if the trial has to stop."""


class Reporter:
    """A listener that reports the score after each evaluation round, and asks the run to stop if the search says so."""

    def __init__(
        self,
        objective: Objective,
        metrics: Callable[[], Mapping[str, Any]],
        report: Report,
        reported: int,
        stop: StopRequest,
    ) -> None:
        """`metrics` reads metrics.json of the run; `reported`: the rounds up to this one are not reported again."""
        self._objective, self._metrics, self._report, self._stop = objective, metrics, report, stop
        self._reported, self._number = reported, 0
        self._rounds: list[Evaluated] = []
        self._total_steps: int | None = None

    def begin_after(self, rounds: Sequence[Evaluated]) -> None:
        """Count and score these rounds of other trials, and do not report them."""
        reported, self._reported = self._reported, len(rounds)
        for known in rounds:
            self._round(known)
        self._reported = max(reported, self._number)

    def on_event(self, event: Event) -> None:
        if isinstance(event, Started):
            self._total_steps = event.total_steps
            for known in History.from_json(self._metrics()).rounds:
                if known.step <= event.step:  # the run continues from a checkpoint at this step
                    self._round(known)
        elif isinstance(event, Evaluated):
            self._round(event)
        elif isinstance(event, Ended):
            self._end(event.test, event.best_epoch, event.best_step, event.seconds)

    def close(self) -> None:
        """Does nothing: every round has been reported."""

    def repeat(self) -> None:
        """Report the rounds of a run that has ended already."""
        content = self._metrics()
        rounds = History.from_json(content).rounds
        self._total_steps = rounds[-1].step if rounds else None
        for known in rounds:
            self._round(known)
        if end := content.get("end"):
            self._end(end["test"], end["best_epoch"], end["best_step"], end["seconds"])

    def _end(self, test: Scores, epoch: int, step: int, seconds: float) -> None:
        if self._objective.split == "test":
            score = self._objective.of_scores(test)
            self._send(score, epoch=epoch, step=step, seconds=seconds, latest=score, is_last=True)

    def _round(self, event: Evaluated) -> None:
        if self._rounds and event.step <= self._rounds[-1].step:
            return  # the round of the checkpoint itself, computed again
        self._rounds.append(event)
        if self._objective.split != "test":
            objective, position = self._objective, {"epoch": event.epoch, "step": event.step}
            latest = objective.of_scores(event.scores.get(objective.split, {}))
            self._send(
                objective.of_rounds(self._rounds),
                **position,
                seconds=event.seconds,
                latest=None if math.isnan(latest) else latest,
                is_last=event.step == self._total_steps,
            )

    def _send(self, score: float, **measured: Any) -> None:
        """NaN is no score: neither a search algorithm nor a scheduler can use it."""
        if score != score or self._stop:
            return
        self._number += 1
        if self._number <= self._reported:
            return
        if not self._report({"score": score, "round": self._number, **measured}):
            self._stop.ask("the search")
