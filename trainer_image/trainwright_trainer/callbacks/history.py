"""The content of metrics.json as docs/run-directory.md defines it: the evaluation rounds, the best one, and the end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from trainwright_trainer.callbacks.decisive import decisive_of
from trainwright_trainer.callbacks.events import Ended, Evaluated, Event, RankRound, Started, best_of
from trainwright_trainer.callbacks.json_lines import nan_to_none
from trainwright_trainer.callbacks.ranks import straggler
from trainwright_trainer.rundir.layout import FORMAT

ANOTHER_RUN = 0
"""The attempt of the rounds of another run, with whose checkpoint this one began (`resumeFrom`)."""
_PLAIN = ("epoch", "step", "seconds", "rows_per_second", "learning_rate")


class History:
    """A listener that holds the evaluation rounds of a run, over all its attempts.

    A resumed run passes in the earlier output of `to_json`. At `Started` the history drops the rounds past the first
    step of the attempt, because they are computed again.
    """

    def __init__(self) -> None:
        self._rounds: list[tuple[int, Evaluated]] = []
        self._started: Started | None = None
        self._ended: Ended | None = None

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> History:
        """Read the rounds of an earlier attempt. A null score becomes NaN."""
        history = cls()
        history._rounds = [(row["attempt"], _round(row)) for row in content["rounds"]]
        return history

    @classmethod
    def of_another_run(cls, rounds: Iterable[Evaluated]) -> History:
        """Begin with the rounds before the checkpoint of another run."""
        history = cls()
        history._rounds = [(ANOTHER_RUN, round_) for round_ in rounds]
        return history

    @property
    def rounds(self) -> Sequence[Evaluated]:
        """The rounds in the order of their steps."""
        return tuple(round_ for _, round_ in self._rounds)

    @property
    def started(self) -> Started | None:
        return self._started

    @property
    def ended(self) -> Ended | None:
        return self._ended

    def on_event(self, event: Event) -> None:
        if isinstance(event, Started):
            self._started = event
            self._keep_up_to(event.step)
        elif isinstance(event, Evaluated):
            # The round at the checkpoint's own step may be computed again, with the same result.
            self._keep_up_to(event.step - 1)
            self._rounds.append((self._started.attempt if self._started else 1, event))
        elif isinstance(event, Ended):
            self._ended = event

    def close(self) -> None:
        """Does nothing: no file is open. The owner of the run folder writes `to_json`."""

    def to_json(self) -> dict[str, Any]:
        """The content of metrics.json: JSON with null for NaN. Raises ValueError before `Started`."""
        if self._started is None:
            raise ValueError("metrics.json names its attempt, which only Started has")
        best = best_of(self.rounds)
        return {
            "format": FORMAT,
            "attempt": self._started.attempt,
            "name": self._started.name,
            "validation_metric": decisive_of(self._started.validation_metric, self.rounds),
            "split_rows": dict(self._started.split_rows),
            "rounds": [_row(attempt, round_) for attempt, round_ in self._rounds],
            "best": None if best is None else {"epoch": best.epoch, "step": best.step},
            "end": None if self._ended is None else nan_to_none(vars(self._ended)),
        }

    def _keep_up_to(self, step: int) -> None:
        self._rounds = [(attempt, round_) for attempt, round_ in self._rounds if round_.step <= step]


def _row(attempt: int, round_: Evaluated) -> dict[str, Any]:
    plain = {name: getattr(round_, name) for name in _PLAIN}
    slow = straggler(round_.ranks)
    ranks = {"ranks": round_.ranks, "straggler": None if slow is None else slow.rank}
    row: dict[str, Any] = nan_to_none(
        {"attempt": attempt, **plain, "scores": round_.scores, "best": round_.best, **ranks}
    )
    return row


def _round(row: Mapping[str, Any]) -> Evaluated:
    numbers = {name: _known(row[name]) for name in _PLAIN}
    ranks = tuple(RankRound(**rank) for rank in row.get("ranks", ()))
    return Evaluated(**numbers, scores=_known(row["scores"]), best=row["best"], ranks=ranks)


def _known(value: Any) -> Any:
    """Return the value with NaN in place of null."""
    if isinstance(value, Mapping):
        return {key: _known(item) for key, item in value.items()}
    return float("nan") if value is None else value
