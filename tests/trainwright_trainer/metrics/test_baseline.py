"""The comparison of a model with a baseline, as the last line of output gives it."""

from __future__ import annotations

from typing import Any

from trainwright_trainer.metrics.baseline import Comparison, comparisons
from trainwright_trainer.report.data import OutputFigures


def figures(kind: str, scores: dict[str, float], baseline: dict[str, float], name: str = "always the mean") -> Any:
    return OutputFigures("y", kind, scores, {name: baseline})


def one(kind: str, scores: dict[str, float], baseline: dict[str, float], name: str = "always the mean") -> Comparison:
    (found,) = comparisons([figures(kind, scores, baseline, name)])
    return found


def test_a_number_says_by_how_much_its_error_is_smaller() -> None:
    found = one("number", {"mean_squared_error": 54.0, "r2": 0.46}, {"mean_squared_error": 100.0})
    assert found.phrase == "mean_squared_error 46 % below that of predicting always the mean"
    assert found.better
    assert found.warning is None


def test_a_category_says_the_plain_share_of_right_rows() -> None:
    scores = {"accuracy": 0.5, "accuracy_micro": 0.93}
    found = one("category", scores, {"accuracy": 0.33, "accuracy_micro": 0.4}, "always the most frequent class")
    assert found.phrase == "93 % right, 40 % by predicting always the most frequent class"


def test_a_set_says_both_overlaps() -> None:
    found = one("set", {"jaccard": 0.62}, {"jaccard": 0.31}, "always the most frequent token")
    assert found.phrase == "jaccard 0.6200, 0.3100 by predicting always the most frequent token"
    assert found.better


def test_a_model_that_is_no_better_draws_a_warning() -> None:
    found = one("number", {"mean_squared_error": 101.0}, {"mean_squared_error": 100.0})
    assert found.phrase == "mean_squared_error 1 % above that of predicting always the mean"
    assert found.warning == (
        "warning: y is predicted no better than without a model "
        "(mean_squared_error 101.0, 100.0 by predicting always the mean). "
        "Look at the inputs, and at the learning curves in the report."
    )


def test_as_good_is_not_better() -> None:
    assert not one("binary", {"accuracy": 0.9}, {"accuracy": 0.9}).better


def test_labels_that_are_no_better_may_still_be_ordered_well() -> None:
    found = one("binary", {"accuracy": 0.9, "roc_auc": 0.8}, {"accuracy": 0.9, "roc_auc": 0.5})
    assert found.warning is not None
    assert "better than chance (roc_auc 0.8000): try another threshold" in found.warning


def test_an_output_without_both_scores_is_left_out() -> None:
    assert comparisons([figures("number", {"mean_squared_error": float("nan")}, {"mean_squared_error": 1.0})]) == []
    assert comparisons([OutputFigures("y", "number", {"mean_squared_error": 1.0}, {})]) == []


def test_metrics_json_holds_it_as_plain_values() -> None:
    found = one("number", {"mean_squared_error": 54.0}, {"mean_squared_error": 100.0})
    assert found.to_json() == {
        "metric": "mean_squared_error",
        "model": 54.0,
        "baseline_name": "always the mean",
        "baseline": 100.0,
        "ranking": None,
        "better": True,
    }
