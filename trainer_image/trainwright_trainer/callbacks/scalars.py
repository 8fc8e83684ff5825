"""The scalars of an event, for programs that draw curves: `validation/late/roc_auc` over steps."""

from __future__ import annotations

import math

from trainwright_trainer.callbacks.events import Ended, Evaluated, RankRound, Reported, Scores


def scalars_of(event: Evaluated | Ended | Reported) -> tuple[int, dict[str, float]]:
    """The step, and the scalars `train/…`, `validation/…`, `test/…`, `ranks/…`, `learning_rate`, `rows_per_second`.

    A report of a train function has its metrics as they are, over the number of the report. A scalar that is NaN is
    left out.
    """
    step, scalars = _of(event)
    return step, {tag: value for tag, value in scalars.items() if not math.isnan(value)}


def _of(event: Evaluated | Ended | Reported) -> tuple[int, dict[str, float]]:
    if isinstance(event, Reported):
        return event.number, dict(event.metrics)
    if isinstance(event, Ended):
        return event.best_step, _tagged("test", event.test)
    return event.step, _of_round(event)


def _of_round(event: Evaluated) -> dict[str, float]:
    scalars = {"learning_rate": event.learning_rate, "rows_per_second": event.rows_per_second}
    for part, scores in event.scores.items():
        scalars |= _tagged(part, scores)
    for rank in event.ranks:
        scalars |= _of_rank(rank)
    return scalars


def _tagged(part: str, scores: Scores) -> dict[str, float]:
    """`{"validation/late/roc_auc": …}`; charts are grouped by the first part."""
    return {
        f"{part}/{feature}/{metric}": value for feature, metrics in scores.items() for metric, value in metrics.items()
    }


def _of_rank(rank: RankRound) -> dict[str, float]:
    """`ranks/step_seconds/0`: the same measurement of all ranks is in one group."""
    figures = {name: value for name, value in vars(rank).items() if name not in ("rank", "host")}
    return {f"ranks/{name}/{rank.rank}": value for name, value in figures.items() if value is not None}
