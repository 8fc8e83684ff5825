"""The sentences of a run as plain text, for the terminal and the plain lines."""

from __future__ import annotations

import math
from dataclasses import dataclass

from trainwright_trainer.callbacks import formats
from trainwright_trainer.callbacks.decisive import decisive_of
from trainwright_trainer.callbacks.events import Evaluated, Event, FunctionStarted, Reported, Scores, Started


def data_items(started: Started) -> list[str]:
    """`336,776 rows`, `235,712 train / 33,689 validation / 67,375 test`, `14 inputs → late (binary)`."""
    parts = " / ".join(f"{formats.count(rows)} {part}" for part, rows in started.split_rows.items())
    targets = ", ".join(_target(name, kind, started.positive.get(name, "")) for name, kind in started.outputs.items())
    rows, inputs = formats.counted(started.rows, "row"), formats.counted(started.inputs, "input")
    return [item for item in (rows, parts, f"{inputs} → {targets}") if item]


def _target(name: str, kind: str, positive: str) -> str:
    """`late (binary)`, or `left (binary, positive: 'yes')` if the positive value is not simply 1 or true."""
    is_plain = positive.lower() in ("", "1", "1.0", "true")
    return f"{name} ({kind})" if is_plain else f"{name} ({kind}, positive: {positive!r})"


def setting_items(started: Started) -> list[str]:
    """`cache hit 9f3c…`, `batch 1,024`, `adam 0.001`, `1 process, 2 threads`, `best epoch by roc_auc`.

    After a resume it also shows where training continues.
    """
    items = [
        f"cache {'hit' if started.cache_hit else 'written'} {started.cache_key[:4]}…",
        f"batch {formats.count(started.batch_size)}",
        f"{started.optimizer} {formats.rate_of_learning(started.learning_rate)}",
        f"{formats.counted(started.processes, 'process')}, {formats.counted(started.threads, 'thread')}",
    ]
    if started.evaluates and started.split_rows.get("validation"):
        items.append(f"best epoch by {formats.metric_name(started.validation_metric, started.outputs)}{_ties(started)}")
    if started.step:
        items.append(f"attempt {started.attempt} goes on from epoch {started.epoch + 1}, step {started.step:,}")
    return items


def _ties(started: Started) -> str:
    """` (the latest within 13 % of the best value)`: with few validation rows, the best value depends on chance."""
    return f" (the latest within {100 * started.tolerance:.0f} % of the best value)" if started.tolerance else ""


_MOST_METRICS = 12


class FunctionLines:
    """The lines about a user's own train function. Stateful: a report is shown with the epochs of its start."""

    def __init__(self) -> None:
        self._epochs: int | None = None

    def of(self, event: Event) -> str | None:
        """The line of an event of a train function, None for any other event."""
        if isinstance(event, FunctionStarted):
            self._epochs = event.epochs
            return function_line(event)
        return report_line(event, self._epochs) if isinstance(event, Reported) else None


def function_line(started: FunctionStarted) -> str:
    """`digits: train.train_func on 2 workers · attempt 2 goes on from checkpoint_…`."""
    items = [f"{started.name}: {started.function} on {formats.counted(started.workers, 'worker')}"]
    if started.checkpoint is not None:
        items.append(f"attempt {started.attempt} goes on from {started.checkpoint}")
    return " · ".join(items)


def report_line(report: Reported, epochs: int | None) -> str:
    """`report 3 · epoch 3/20 · loss 0.5123 · val_loss 0.6100 · checkpoint · 12 s`."""
    items = [f"report {report.number:,}"]
    if report.epoch is not None:
        items.append(f"epoch {report.epoch + 1}" + (f"/{epochs}" if epochs else ""))
    shown = [(name, value) for name, value in report.metrics.items() if name != "epoch" or report.epoch is None]
    items += [f"{name} {formats.score(value)}" for name, value in shown[:_MOST_METRICS]]
    if report.checkpoint is not None:
        items.append("checkpoint")
    return " · ".join([*items, formats.duration(report.seconds)])


# Shown beside a category's accuracy, which is a mean over classes. A binary output's accuracy already is this share.
SHARE_OF_RIGHT = "accuracy_micro"


@dataclass(frozen=True)
class Reading:
    """One displayed score: `roc_auc 0.7421 ▲ (best, epoch 3)`. `better` is None if nothing changed."""

    label: str
    value: str
    arrow: str = ""
    better: bool | None = None
    note: str = ""
    is_best: bool = False

    def __str__(self) -> str:
        return " ".join(word for word in (self.label, self.value, self.arrow, self.note) if word)


class Readings:
    """Selects the few scores of a round that fit on one line: both losses, and the validation metric of each output.

    The share of right rows is added beside the accuracy of a category that decides the best epoch.
    """

    def __init__(self, started: Started) -> None:
        self._given, self._several = started.validation_metric, len(started.outputs) > 1
        self._decide_by(self._given)
        self._others = [pair for pair in started.metrics.items() if self._several and pair[0] != self._feature]
        self._last: Evaluated | None = None
        self._best = started.best

    def _decide_by(self, name: str) -> None:
        self._feature, _, self._metric = name.rpartition(".")
        if self._metric == "loss" and not self._several:  # the loss of the only output is that of the model
            self._feature = "combined"

    def of(self, round_: Evaluated) -> list[Reading]:
        """The readings of this round, each compared with the round before."""
        self._decide_by(decisive_of(self._given, [round_]))
        if round_.best:
            self._best = round_
        readings = [self._reading(round_, part, "combined", "loss", f"{part} loss") for part in ("train", "validation")]
        if (self._feature, self._metric) != ("combined", "loss"):
            readings += [
                self._reading(round_, "validation", self._feature, name, self._label(name)) for name in self._shown
            ]
        readings += [
            self._reading(round_, "validation", output, metric, f"{output}.{metric}") for output, metric in self._others
        ]
        self._last = round_
        return [reading for reading in readings if reading is not None]

    @property
    def _shown(self) -> tuple[str, ...]:
        return (self._metric, SHARE_OF_RIGHT) if self._metric == "accuracy" else (self._metric,)

    def _label(self, metric: str) -> str:
        return f"{self._feature}.{metric}" if self._several else metric

    def _reading(self, round_: Evaluated, part: str, feature: str, metric: str, label: str) -> Reading | None:
        value = value_of(round_.scores.get(part, {}), feature, metric)
        if value is None:
            return None
        before = None if self._last is None else value_of(self._last.scores.get(part, {}), feature, metric)
        arrow = "" if part == "train" else _arrow(before, value)
        better = (arrow == "▼") == formats.lower_is_better(metric) if arrow else None
        decides = part == "validation" and (feature, metric) == (self._feature, self._metric)
        note = self._note(round_) if decides else ""
        return Reading(label, formats.score(value), arrow, better, note, decides and self._best is round_)

    def _note(self, round_: Evaluated) -> str:
        """Nothing without a best round, as without validation rows."""
        if self._best is None:
            return ""
        if self._best is round_:
            return f"(best, epoch {round_.epoch + 1})"
        best = value_of(self._best.scores.get("validation", {}), self._feature, self._metric)
        return f"(best {formats.score(math.nan if best is None else best)}, epoch {self._best.epoch + 1})"


def value_of(scores: Scores, feature: str, metric: str) -> float | None:
    """The score, or None if this round has none."""
    return scores.get(feature, {}).get(metric)


def _arrow(before: float | None, now: float) -> str:
    if before is None:
        return ""
    return "▲" if now > before else "▼" if now < before else ""
