from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from trainwright_trainer.report import words
from trainwright_trainer.report.data import Calibration, ConfusionMatrix, PredictedAgainstTrue

Make = Callable[..., Any]
Makers = dict[str, Make]


def test_the_score_is_reported_in_the_metric_that_the_job_watches(outputs: Makers) -> None:
    late = outputs["binary"]()
    assert words.headline_metric(late, "late.accuracy") == "accuracy"
    assert words.headline_metric(late, "combined.loss") == "roc_auc"
    assert words.headline_metric(late, "late.loss") == "roc_auc"
    assert words.headline_metric(replace(late, scores={}), None) is None
    assert words.headline_metric(replace(late, baselines={"none": {"accuracy": 0.7}}), None) == "accuracy"
    assert words.headline_metric(replace(late, scores={"roc_auc": math.nan, "loss": 0.4}), None) == "loss"


def test_the_verdict_is_honest(outputs: Makers) -> None:
    late = outputs["binary"]()
    assert words.comparison(late, "roc_auc") == (
        "That is better than the best simple baseline, logistic regression on the inputs: 0.7011."
    )
    poor = replace(late, scores={"accuracy": 0.7641})
    assert words.comparison(poor, "accuracy").startswith("That is not better than the best simple baseline, logistic")
    assert (
        words.comparison(replace(late, baselines={}), "accuracy") == "There is no simple baseline to compare it with."
    )


def test_labels_that_are_no_better_than_a_baseline_are_named_beside_a_better_score(outputs: Makers) -> None:
    poor = replace(outputs["binary"](), scores={"roc_auc": 0.75, "accuracy": 0.5})
    assert words.comparison(poor, "roc_auc").endswith(
        "0.7011. But accuracy is not: 0.5000, logistic regression on the inputs 0.7812. Look at the threshold."
    )


def test_a_category_has_no_threshold_to_look_at(outputs: Makers) -> None:
    poor = replace(outputs["category"](4), scores={"accuracy": 0.3, "accuracy_micro": 0.5})
    poor = replace(poor, baselines={"the mode": {"accuracy": 0.25, "accuracy_micro": 0.6}})
    assert words.comparison(poor, "accuracy").endswith("0.2500. But accuracy_micro is not: 0.5000, the mode 0.6000.")


def test_errors_are_better_when_lower(outputs: Makers) -> None:
    delay = outputs["number"]()
    assert words.comparison(delay, "mean_absolute_error").startswith(
        "That is better than the simple baseline, always the"
    )


@pytest.mark.parametrize(
    ("reason", "sentence"),
    [
        ("epochs", "Training finished all 20 epochs."),
        ("train_steps", "Training finished all train_steps."),
        ("time limit", "Training ended at its time limit."),
        ("early stopping", "Training stopped early: validation roc_auc was not better after epoch 14."),
    ],
)
def test_how_training_ended(make_report: Make, reason: str, sentence: str) -> None:
    whole = make_report()
    kept = "The model is that of epoch 14, the best by validation roc_auc."
    assert words.ending(whole, whole.started, replace(whole.ended, reason=reason)) == f"{sentence} {kept}"


def test_what_decides_is_named_with_its_output_where_there_are_several(make_report: Make) -> None:
    started = make_report().started
    assert words.monitored(replace(started, validation_metric="a.b.loss"), []) == "validation loss"
    several = replace(started, outputs={"late": "binary", "delay": "number"})
    assert words.monitored(several, []) == "validation late.roc_auc"


def test_the_loss_decides_where_the_validation_rows_do_not_define_the_metric(
    make_report: Make, make_rounds: Make
) -> None:
    rounds = [replace(one, scores={"validation": {"late": {"loss": 0.4}}}) for one in make_rounds(20)]
    whole = replace(make_report(), history=rounds)
    assert words.ending(whole, whole.started, replace(whole.ended, reason="early stopping")) == (
        "Training stopped early: validation loss was not better after epoch 14. "
        "The model is that of epoch 14, the best by validation loss."
    )
    assert words.kept_weights(whole).endswith("were kept: the best by validation loss.")


def test_new_data_is_called_so(make_report: Make) -> None:
    assert words.kind_of_rows(make_report()) == "test rows"
    assert words.kind_of_rows(make_report(part="given")) == "rows of new data"


def test_nothing_decides_without_validation_rows(make_report: Make, make_rounds: Make) -> None:
    blind = make_report(history=make_rounds(8, validation=False))
    assert words.ending(blind, blind.started, blind.ended).endswith("The model is that of epoch 14.")
    assert words.kept_weights(blind).endswith("whose weights were kept.")
    assert words.kept_weights(make_report()).endswith("were kept: the best by validation roc_auc.")


def test_the_share_of_right_rows_stands_beside_the_mean_over_classes(outputs: Makers) -> None:
    carrier = replace(outputs["category"](4), scores={"accuracy": 0.81, "accuracy_micro": 0.75})
    assert words.beside(carrier, "accuracy") == (
        ", the mean over its classes; the share of right rows, accuracy_micro, is 0.7500"
    )
    assert words.beside(carrier, "accuracy_micro") == ""
    assert words.beside(outputs["binary"](), "accuracy") == ""


def test_confusion_names_the_commonest_mistake() -> None:
    caption = words.confusion_caption(ConfusionMatrix(["a", "b"], [[5, 1], [2, 9]]))
    assert caption.endswith("The commonest mistake: “b” taken for “a”, 2 rows.")
    assert words.confusion_caption(ConfusionMatrix(["a"], [[5]])).endswith("There is no mistake.")


def test_confusion_takes_the_rarest_classes_for_no_class() -> None:
    caption = words.confusion_caption(ConfusionMatrix(["a", "b", "12 others"], [[5, 1, 7], [0, 9, 8], [9, 9, 0]], 12))
    assert "The last line and column are the 12 rarest classes together." in caption
    assert caption.endswith("The commonest mistake: “a” taken for “b”, 1 row.")


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
