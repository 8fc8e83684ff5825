"""The spellings of `checkpoint.scoreAttribute`, and their canonical form."""

from __future__ import annotations

from typing import Any

import pytest

from trainwright_api.checks.score_attribute import UnknownScoreError, canonical_score, direction_of
from trainwright_api.checks.validate import validate_document
from trainwright_api.config.metric_names import METRICS
from trainwright_api.problems import Mistakes

OUTPUTS = {"late": "binary", "delay": "number"}
CONFIG: dict[str, Any] = {
    "input_features": [{"name": "a", "type": "number"}],
    "output_features": [{"name": name, "type": kind} for name, kind in OUTPUTS.items()],
}


@pytest.mark.parametrize(
    ("given", "canonical"),
    [
        ("val_loss", "validation.loss"),
        ("valid_loss", "validation.loss"),
        ("train_loss", "training.loss"),
        ("test_loss", "test.loss"),
        ("val/loss", "validation.loss"),
        ("validation.combined.loss", "validation.loss"),
        ("val_roc_auc", "validation.late.roc_auc"),
        ("val_r2", "validation.delay.r2"),
        ("val_delay_r2", "validation.delay.r2"),
        ("train.late.loss", "training.late.loss"),
    ],
)
def test_other_spellings_are_read(given: str, canonical: str) -> None:
    assert canonical_score(given, OUTPUTS) == canonical
    assert canonical_score(canonical, OUTPUTS) == canonical


def test_every_metric_of_every_output_has_a_name() -> None:
    for output, kind in OUTPUTS.items():
        for metric, direction in METRICS[kind].items():
            name = canonical_score(f"validation.{output}.{metric}", OUTPUTS)
            assert direction_of(name, OUTPUTS) == direction


@pytest.mark.parametrize(
    ("given", "near"),
    [
        ("loss", "validation.loss"),
        ("vall_loss", "validation.loss"),
        ("VAL_LOSS", "validation.loss"),
        ("tset_loss", "test.loss"),
        ("validation.late.rocauc", "validation.late.roc_auc"),
        ("validation.lat.roc_auc", "validation.late.roc_auc"),
    ],
)
def test_a_wrong_name_draws_the_nearest(given: str, near: str) -> None:
    with pytest.raises(UnknownScoreError, match=f"found '{given}': did you mean '{near}'\\?"):
        canonical_score(given, OUTPUTS)


def test_an_output_whose_name_holds_a_point_or_a_split() -> None:
    outputs = {"val": "number", "a.b": "number"}
    assert canonical_score("val_val_r2", outputs) == "validation.val.r2"
    assert canonical_score("validation.a.b.r2", outputs) == "validation.a.b.r2"


def test_without_a_config_any_metric_may_be_meant() -> None:
    assert canonical_score("val_whatever", {}) == "validation.whatever"
    with pytest.raises(UnknownScoreError, match="expected a split"):
        canonical_score("whatever", {})


def validated(checkpoint: dict[str, Any]) -> tuple[str, tuple[str, ...]]:
    loaded = validate_document({"dataset": "d", "config": CONFIG, "checkpoint": checkpoint}, "a.yaml")
    return loaded.job.spec.checkpoint.score_attribute, loaded.notices


def test_the_job_holds_our_name_and_a_notice_says_so() -> None:
    notice = "checkpoint.scoreAttribute: val_loss is read as validation.loss"
    assert validated({"scoreAttribute": "val_loss"}) == ("validation.loss", (notice,))
    assert validated({"scoreAttribute": "validation.loss"}) == ("validation.loss", ())


def test_an_order_that_keeps_the_worst_is_reported() -> None:
    notice = (
        "checkpoint.scoreOrder min keeps the worst: validation.late.roc_auc is better the larger it is. "
        "Set scoreOrder: max"
    )
    assert validated({"scoreAttribute": "validation.late.roc_auc"})[1] == (notice,)
    assert validated({"scoreAttribute": "validation.late.roc_auc", "scoreOrder": "max"})[1] == ()


def test_a_wrong_name_is_one_mistake() -> None:
    with pytest.raises(Mistakes, match=r"checkpoint\.scoreAttribute: .*did you mean 'validation\.loss'"):
        validated({"scoreAttribute": "val_los"})


def test_without_evaluations_there_is_no_score() -> None:
    config = {**CONFIG, "trainer": {"skip_all_evaluation": True}}
    job = {"dataset": "d", "config": config, "checkpoint": {"scoreAttribute": "validation.loss"}}
    validate_document(job, "a.yaml")
    with pytest.raises(Mistakes, match=r"checkpoint\.scoreAttribute: does not act: config\.trainer\.skip_all_eval"):
        validate_document({**job, "checkpoint": {"scoreAttribute": "training.loss"}}, "a.yaml")
