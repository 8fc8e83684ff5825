"""Permutation importance: the rise of an output's loss if the values of one input are permuted among the rows.

The rows and the permutations follow from the seed. Each row is its own pair (its loss before and after), so the
interval of the mean rise is that of a mean of independent rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from trainwright_trainer.analysis.deadline import Deadline
from trainwright_trainer.analysis.subject import Subject
from trainwright_trainer.callbacks.events import Scores
from trainwright_trainer.data.order import Purpose, key
from trainwright_trainer.data.permutation import places
from trainwright_trainer.loader.batch import Batch
from trainwright_trainer.loader.layout import layout_of
from trainwright_trainer.report.data import FeatureImportance, Importance, Importances

MOST_ROWS = 2_000
MOST_PASSES, MOST_REPEATS = 60, 5
NORMAL = 1.959964
"""The 97.5 % quantile of the normal distribution."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class _Passed:
    """The losses of all rows by output, [rows] each, in the order of the rows' numbers, and the scores."""

    losses: Mapping[str, Floats]
    scores: Scores


def importances(
    subject: Subject, part: int, part_name: str, metrics: Mapping[str, str], deadline: Deadline
) -> Importances | None:
    """The importance of each input for each output. `metrics`: the metric to show by output.

    None without rows, or if not even one repeat of all inputs ends before the deadline.
    """
    batch = subject.sample(part, subject.affordable(MOST_ROWS))
    if batch is None or deadline.passed:
        return None
    names = [feature.name for feature in subject.config.input_features]
    before = _passed(subject, batch, deadline)
    if before is None:
        return None
    found: list[dict[str, _Passed]] = []
    for repeat in range(min(MOST_REPEATS, max(1, MOST_PASSES // len(names)))):
        after = _repeat(subject, batch, names, repeat, deadline)
        if after is None:
            break
        found.append(after)
    if not found:
        return None
    outputs = [
        _of_output(feature.name, metrics.get(feature.name, "loss"), before, found, names)
        for feature in subject.config.output_features
    ]
    return Importances(part_name, len(batch.rows), len(found), outputs)


def _repeat(
    subject: Subject, batch: Batch, names: list[str], repeat: int, deadline: Deadline
) -> dict[str, _Passed] | None:
    """One permutation of each input; None if the deadline passes before its end."""
    layout = layout_of(subject.config, subject.data.statistics)
    found = {}
    for position, name in enumerate(names):
        permutation = key(subject.seed, Purpose.REPORT, position, repeat)
        order = places(permutation, len(batch.rows), 0, len(batch.rows)).astype(np.int64)
        passed = _passed(subject, batch.permuted(layout.columns[name], order), deadline)
        if passed is None:
            return None
        found[name] = passed
    return found


def _passed(subject: Subject, batch: Batch, deadline: Deadline) -> _Passed | None:
    """None if the deadline passes before the end."""
    metrics, losses, numbers = subject.new_metrics(), list[Mapping[str, Floats]](), []
    for logits, each, rows in subject.results(batch):
        if deadline.passed:
            return None
        metrics.update(logits, each, rows)
        losses.append({name: each[name].double().cpu().numpy() for name in metrics.outputs})
        numbers.append(rows.rows)
    order = np.argsort(np.concatenate(numbers))
    return _Passed(
        {name: np.concatenate([one[name] for one in losses])[order] for name in losses[0]}, metrics.compute()
    )


def _of_output(
    output: str, metric: str, before: _Passed, repeats: list[dict[str, _Passed]], names: list[str]
) -> Importance:
    own, loss = before.losses[output], before.scores[output]["loss"]
    of_rows = _of_rows(loss, float(np.mean(own)))
    features = []
    for name in names:
        rises = np.mean([after[name].losses[output] - own for after in repeats], 0)
        rise = float(np.mean([after[name].scores[output]["loss"] for after in repeats])) - loss
        spread = float(np.std(rises, ddof=1)) if len(rises) > 1 else float("nan")
        half = NORMAL * of_rows * spread / len(rises) ** 0.5
        score = float(np.mean([after[name].scores[output].get(metric, float("nan")) for after in repeats]))
        features.append(FeatureImportance(name, rise, rise - half, rise + half, score))
    features.sort(key=lambda one: -one.rise)
    return Importance(output, loss, metric, before.scores[output].get(metric, float("nan")), features)


def _of_rows(loss: float, mean: float) -> float:
    """The change of the loss with the mean of the rows' losses: it is that mean, its root, or one of tokens."""
    is_root = math.isclose(loss * loss, mean, rel_tol=1e-6) and not math.isclose(loss, mean, rel_tol=1e-6)
    if is_root and loss:
        return 1 / (2 * loss)
    return loss / mean if mean else 1.0
