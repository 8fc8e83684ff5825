"""Which places all pods share. What pods reach at all is tested with the judgement of whole jobs."""

from __future__ import annotations

from typing import Any

import pytest

from trainwright_api.checks.path_access import is_shared
from trainwright_api.resource.job import TrainingJobSpec

CLAIM = {"persistentVolumeClaim": {"claimName": "data"}}


def spec(source: dict[str, Any], **mount: Any) -> TrainingJobSpec:
    template = {
        "volumes": [{"name": "cache", **source}, {"name": "other", **CLAIM}],
        "volumeMounts": [
            {"name": "cache", "mountPath": "/data/cache", **mount},
            {"name": "other", "mountPath": "/all"},
        ],
    }
    config = {
        "input_features": [{"name": "a", "type": "number"}],
        "output_features": [{"name": "b", "type": "binary"}],
    }
    return TrainingJobSpec.model_validate({"dataset": "s3://d/x.csv", "config": config, "podTemplate": template})


@pytest.mark.parametrize("place", ["s3://bucket/cache", "/data/cache", "/data/cache/of/mine", "file:///data/cache/x"])
def test_a_uri_and_a_claimed_volume_are_shared(place: str) -> None:
    assert is_shared(place, spec(CLAIM))


@pytest.mark.parametrize(
    "source",
    [
        {"emptyDir": {}},
        {"hostPath": {"path": "/cache"}},
        {"ephemeral": {"volumeClaimTemplate": {}}},
        {"configMap": {"name": "x"}},
    ],
    ids=lambda source: next(iter(source)),
)
def test_what_is_a_pods_or_a_nodes_own_is_not(source: dict[str, Any]) -> None:
    assert not is_shared("/data/cache", spec(source))


@pytest.mark.parametrize("place", ["/elsewhere", "cache", "/data/cached", "/data/cache/../.."])
def test_what_lies_on_no_volume_is_not(place: str) -> None:
    assert not is_shared(place, spec(CLAIM))


def test_a_folder_for_each_pod_of_a_shared_volume_is_not() -> None:
    assert not is_shared("/data/cache", spec(CLAIM, subPathExpr="$(POD_NAME)"))
    assert is_shared("/data/cache", spec(CLAIM, subPath="cache"))
