from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from trainwright_trainer.report import words
from trainwright_trainer.report.data import Calibration, ConfusionMatrix, PredictedAgainstTrue

Makers = dict[str, Callable[..., Any]]


def test_the_answer_is_told_in_the_metric_that_the_job_watches(outputs: Makers) -> None:
    late = outputs["binary"]()
    assert words.headline_metric(late, "late.accuracy") == "accuracy"
    assert words.headline_metric(late, "combined.loss") == "roc_auc"
    assert words.headline_metric(late, "late.loss") == "roc_auc"
    assert words.headline_metric(replace(late, scores={}), None) is None
    assert words.headline_metric(replace(late, baselines={"none": {"accuracy": 0.7}}), None) == "accuracy"
    assert words.headline_metric(replace(late, scores={"roc_auc": math.nan, "loss": 0.4}), None) == "loss"


def test_the_verdict_is_honest(outputs: Makers) -> None:
    late = outputs["binary"]()
    assert words.verdict(late, "roc_auc") == (
        "That is better than the best simple baseline, logistic regression on the inputs: 0.7011."
    )
    poor = replace(late, scores={"accuracy": 0.7641})
    assert words.verdict(poor, "accuracy").startswith("That is not better than the best simple baseline, logistic")
    assert words.verdict(replace(late, baselines={}), "accuracy") == "There is no simple baseline to compare it with."


def test_errors_are_better_when_lower(outputs: Makers) -> None:
    delay = outputs["number"]()
    assert words.verdict(delay, "mean_absolute_error").startswith("That is better than the simple baseline, always the")


def test_confusion_names_the_commonest_mistake() -> None:
    caption = words.confusion_caption(ConfusionMatrix(["a", "b"], [[5, 1], [2, 9]]))
    assert caption.endswith("The commonest mistake: “b” taken for “a”, 2 rows.")
    assert words.confusion_caption(ConfusionMatrix(["a"], [[5]])).endswith("There is no mistake.")


def test_calibration_is_weighted_by_rows() -> None:
    bins = Calibration([0.1, 0.9, math.nan], [0.2, 0.9, math.nan], [100, 300, 0])
    assert words.calibration_caption(bins) == "Predicted probabilities are 2.5 points off on average."
    assert words.calibration_caption(Calibration([], [], [])) == "There are no rows."


def test_curves_in_a_sentence() -> None:
    assert words.curve_caption([0.5, 0.4], [0.6, 0.55], 0.5) == (
        "Validation 0.5000 in the best round; train 0.4000 and validation 0.5500 in the last round."
    )
    assert words.curve_caption([0.5, 0.4], [], None) == "Train 0.4000 in the last round."
    assert words.curve_caption([0.5], [0.6], 0.6) == "One round: train 0.5000 and validation 0.6000."
    assert words.curve_caption([], [], None) == "No round gave a number."


def test_predicted_against_true_says_how_much_is_close() -> None:
    caption = words.predicted_caption(PredictedAgainstTrue([0, 10, 20, 30], [[6, 1, 3], [0, 0, 0], [0, 0, 0]]))
    assert "up to 6 a cell" in caption
    assert "70 % of the rows are within about one cell (10.00) of it; the outermost" in caption
