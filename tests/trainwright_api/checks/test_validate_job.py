"""The validation of one TrainingJob as the operator stores it: its spec, its warnings, and the digest."""

from __future__ import annotations

from typing import Any

import pytest

from trainwright_api.checks.cluster import validate_job

SPEC: dict[str, Any] = {
    "task": "train",
    "dataset": "s3://data/flights.parquet",
    "output": "s3://runs",
    "config": {
        "input_features": [{"name": "distance", "type": "number"}],
        "output_features": [{"name": "late", "type": "binary"}],
    },
}


def raw_job(uid: str = "u1", generation: int = 1, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "trainwright.dev/v1alpha1",
        "kind": "TrainingJob",
        "metadata": {"namespace": "team", "name": "flights", "uid": uid, "generation": generation},
        "spec": {**SPEC, **spec},
    }


def test_a_good_job_has_a_spec_and_a_bad_one_a_message() -> None:
    good, bad = validate_job(raw_job()), validate_job(raw_job(seed="x"))
    assert good.spec is not None
    assert (good.spec.dataset, good.message) == ("s3://data/flights.parquet", "")
    assert bad.spec is None
    assert "seed" in bad.message
    assert good.digest != bad.digest


UNBUILT = {"config": {**SPEC["config"], "preprocessing": {"global_max_sequence_length": 9}}}
LINE = "config.preprocessing.global_max_sequence_length: not built yet: 9"


def test_what_is_not_built_is_not_accepted_in_the_words_of_train() -> None:
    assert validate_job(raw_job(**UNBUILT)).message == f"flights: {LINE}"


def test_with_its_own_image_or_once_started_it_is_accepted_with_a_warning() -> None:
    own = validate_job(raw_job(**UNBUILT, image="mine:2"))
    started = validate_job({**raw_job(**UNBUILT), "status": {"startTime": "2026-05-01T12:00:00Z"}})
    assert own.spec is not None
    assert started.spec is not None
    assert own.warnings == (f"{LINE}; image mine:2 must have it",)
    assert started.warnings == (f"{LINE}; it was started by another version",)


def test_a_job_without_a_spec_is_validated_too() -> None:
    raw = raw_job()
    del raw["spec"]
    assert validate_job(raw).spec is None


def digest(spec: dict[str, Any]) -> str:
    return validate_job({**raw_job(), "spec": spec}).digest


@pytest.mark.parametrize(
    "change",
    [
        {"task": "experiment"},
        {"dataset": "s3://data/other.parquet"},
        {"config": {**SPEC["config"], "trainer": {"epochs": 3}}},
        {"config": {**SPEC["config"], "undeclared": 1}},
        {"model": "s3://models/x"},
        {"entrypoint": {"module": "m", "function": "f"}},
        {"resumeFrom": "s3://runs/y"},
        {"backend": {"type": "local"}},
        {"output": "s3://elsewhere"},
        {"seed": 7},
        {"checkpoint": {"numToKeep": 2}},
    ],
    ids=lambda change: next(iter(change)),
)
def test_the_digest_shows_a_change_of_what_is_fixed(change: dict[str, Any]) -> None:
    assert digest({**SPEC, **change}) != digest(SPEC)


def test_the_digest_shows_a_renamed_key_that_nobody_declared() -> None:
    assert digest({**SPEC, "backend": {"old": 1}}) != digest({**SPEC, "backend": {"new": 1}})


@pytest.mark.parametrize("change", [{"suspend": True}, {"backoffLimit": 9}, {"ttlSecondsAfterFinished": 1}])
def test_the_digest_leaves_out_what_may_change(change: dict[str, Any]) -> None:
    assert digest({**SPEC, **change}) == digest(SPEC)


def test_the_order_of_keys_is_no_change() -> None:
    assert digest(dict(reversed(SPEC.items()))) == digest(SPEC)
    assert len(digest(SPEC)) == 64
