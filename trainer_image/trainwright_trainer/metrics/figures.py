"""The data of the report's figures, from the same states as the metrics (made with `figures=True`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

from trainwright_trainer.features.category import UNKNOWN
from trainwright_trainer.metrics.base import Array, OutputMetrics
from trainwright_trainer.metrics.binary import BinaryMetrics
from trainwright_trainer.metrics.category import BINS, RARE, SHOWN, CategoryMetrics, class_labels
from trainwright_trainer.metrics.class_figures import (
    class_rocs,
    class_scores,
    precision_recall,
    roc_of,
    thresholds_of,
)
from trainwright_trainer.metrics.model import ModelMetrics
from trainwright_trainer.metrics.number import NumberMetrics
from trainwright_trainer.metrics.number_figures import predicted_against_true, residuals
from trainwright_trainer.metrics.ranking import roc_auc
from trainwright_trainer.metrics.sequence import SequenceMetrics
from trainwright_trainer.metrics.set import SetMetrics
from trainwright_trainer.metrics.vector import VectorMetrics
from trainwright_trainer.models.units import probability
from trainwright_trainer.report.data import Calibration, ConfusionMatrix, OutputFigures, TokenCounts

Drawn = dict[str, Any]
Baselines = dict[str, dict[str, float]]

_CATEGORY = "accuracy is the mean of the classes' own accuracies, accuracy_micro the share of all rows that are right"
_HITS = ", hits_at_k the share of rows whose class is among the {k} likeliest"
_SET = "jaccard is the mean over the rows of the tokens that both sets share, divided by those of either"
_SEQUENCE = "token_accuracy is the share of all tokens that are right, sequence_accuracy that of rows without a mistake"
_GENERATOR = ". Each token is judged with the true tokens before it; predict reads its own, and can make more mistakes"
MOST_FREQUENT, MEAN, MOST_FREQUENT_TOKEN = (
    "always the most frequent class",
    "always the mean",
    "always the most frequent token",
)


def figures_of(metrics: ModelMetrics) -> list[OutputFigures]:
    """The figures of each output, in the order of the config. The list is empty without rows."""
    scores = metrics.compute()
    found = []
    for name, output in metrics.outputs.items():
        if name not in scores:
            continue
        drawn, baselines = _DRAWN[type(output)](output.folded())
        kind = output.feature.type
        found.append(OutputFigures(name=name, type=kind, scores=scores[name], baselines=baselines, **drawn))
    return found


def _binary(output: BinaryMetrics) -> tuple[Drawn, Baselines]:
    sums = output.sums()
    scores, targets = output.kept()
    positive = targets.astype(bool)
    labels = [output.statistics["false"], output.statistics["true"]]
    drawn: Drawn = {
        "confusion": ConfusionMatrix(labels, sums["confusion"].tolist()),
        "calibration": _calibration(*_bins(probability(scores), positive)),
    }
    (true_negative, false_positive), (false_negative, true_positive) = sums["confusion"]
    right = np.array([true_negative, true_positive])
    predicted = right + np.array([false_negative, false_positive])
    drawn["classes"] = class_scores(labels, right, right + np.array([false_positive, false_negative]), predicted)
    area = roc_auc(scores, positive)
    if area is not None:
        drawn["roc"] = roc_of(scores, positive, area)
        drawn["precision_recall"] = precision_recall(scores, positive)
        drawn["thresholds"] = thresholds_of(probability(scores), positive, output.feature.threshold)
    frequent = int(np.argmax(output.statistics["counts"]))
    share = float(np.mean(positive == bool(frequent)))
    return drawn, {MOST_FREQUENT: {"accuracy": share, "roc_auc": 0.5}}


def _bins(sure: Array, right: Array) -> tuple[Array, Array, Array]:
    """In ten bins of equal width: the sum of the probabilities, the number of true rows, and the number of rows."""
    place = np.minimum((sure * BINS).astype(np.int64), BINS - 1)
    return (
        np.bincount(place, sure, BINS),
        np.bincount(place[right], minlength=BINS),
        np.bincount(place, minlength=BINS),
    )


def _calibration(sums: Array, right: Array, rows: Array) -> Calibration:
    some = rows > 0
    return Calibration(
        (sums[some] / rows[some]).tolist(), (right[some] / rows[some]).tolist(), rows[some].astype(int).tolist()
    )


def _category(output: CategoryMetrics) -> tuple[Drawn, Baselines]:
    sums = output.sums()
    drawn: Drawn = {
        "confusion": ConfusionMatrix(output.shown, sums["confusion"].tolist(), output.classes_in_last),
        "calibration": _calibration(sums["sure"], sums["sure_right"], sums["sure_rows"]),
        "classes": class_scores(class_labels(output.statistics), sums["right"], sums["targets"], sums["predicted"]),
        "class_rocs": class_rocs([class_labels(output.statistics)[i] for i in output.named], sums["rocs"]),
        "note": _CATEGORY + (_HITS.format(k=output.feature.top_k) if output.ranks_tell else ""),
    }
    rows, targets = int(sums["rows"]), sums["targets"]
    order = np.argsort(-np.asarray(output.statistics["counts"]), kind="stable")
    occurs = np.union1d(np.flatnonzero(targets), order[:1])
    baseline = {
        "accuracy": float(targets[order[0]] > 0) / len(occurs),
        "accuracy_micro": int(targets[order[0]]) / rows,
        "hits_at_k": int(targets[order[: output.feature.top_k]].sum()) / rows,
    }
    return drawn, {MOST_FREQUENT: baseline}


def _number(output: NumberMetrics) -> tuple[Drawn, Baselines]:
    values, truths = (one.numpy() for one in output.decoded(*map(torch.from_numpy, output.kept())))
    drawn = {"predicted_against_true": predicted_against_true(values, truths), "residuals": residuals(values, truths)}
    return drawn, _always_the_mean(output)


def _vector(output: VectorMetrics) -> tuple[Drawn, Baselines]:
    return {}, _always_the_mean(output)


def _set(output: SetMetrics) -> tuple[Drawn, Baselines]:
    sums = output.sums()
    tokens = [RARE if token == UNKNOWN else token for token in output.statistics["vocabulary"]]
    drawn: Drawn = {
        "classes": class_scores(tokens, sums["both"], sums["true"], sums["chosen"]),
        "tokens": _token_counts(tokens, *(sums[name] for name in ("true", "chosen", "both"))),
        "calibration": _calibration(sums["sure"], sums["sure_right"], sums["sure_rows"]),
        "note": _SET,
    }
    return drawn, {MOST_FREQUENT_TOKEN: {"jaccard": float(sums["one"]) / int(sums["rows"])}}


def _sequence(output: SequenceMetrics) -> tuple[Drawn, Baselines]:
    sums = output.sums()
    is_generated = output.feature.decoder.type == "generator"
    drawn: Drawn = {"note": _SEQUENCE + (_GENERATOR if is_generated else "")}
    if output.draws and "confusion" in sums:
        drawn["confusion"] = ConfusionMatrix(output.shown, sums["confusion"].tolist(), output.tokens_in_last, "token")
    return drawn, {MOST_FREQUENT_TOKEN: {"token_accuracy": float(sums["frequent"]) / output.weight(sums)}}


def _token_counts(tokens: list[str], true: Array, chosen: Array, both: Array) -> TokenCounts:
    order = np.argsort(-true, kind="stable")[:SHOWN]
    return TokenCounts([tokens[i] for i in order], *(counts[order].tolist() for counts in (true, chosen, both)))


def _always_the_mean(output: OutputMetrics) -> Baselines:
    """The errors of a baseline that always predicts the mean of the training rows; for vectors, the mean vector."""
    sums = output.sums()
    squared = float(np.mean(sums["away_squared"])) / output.rows
    absolute = float(np.mean(sums["away_absolute"])) / output.rows
    errors = {"mean_squared_error": squared, "mean_absolute_error": absolute, "root_mean_squared_error": squared**0.5}
    return {MEAN: errors}


_DRAWN: Mapping[type[OutputMetrics], Callable[[Any], tuple[Drawn, Baselines]]] = {
    BinaryMetrics: _binary,
    CategoryMetrics: _category,
    NumberMetrics: _number,
    VectorMetrics: _vector,
    SetMetrics: _set,
    SequenceMetrics: _sequence,
}
