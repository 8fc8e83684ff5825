"""Jobs that KubeRay's validation (1.6.2) refuses are refused first by ours, with one line for each reason."""

from __future__ import annotations

from typing import Any

import pytest

from trainwright_api.checks.cluster import validate_job


def message(backend: str = "ray", **spec: Any) -> str:
    whole = {
        "dataset": "s3://bucket/flights.parquet",
        "output": "s3://bucket/runs",
        "config": {
            "input_features": [{"name": "size", "type": "number"}],
            "output_features": [{"name": "late", "type": "binary"}],
        },
        "backend": {"type": backend},
        "image": "mine:1",
        **spec,
    }
    named = {"apiVersion": "trainwright.dev/v1alpha1", "kind": "TrainingJob", "metadata": {"name": "late"}}
    return validate_job({**named, "spec": whole}).message


def with_variable(name: str, **given: Any) -> dict[str, Any]:
    return {"podTemplate": {"env": [{"name": "HARMLESS", "value": "1"}, {"name": name, **given}]}}


@pytest.mark.parametrize("version", ["2.51.9", "2.9.0", "1.99.0"])
def test_ray_that_knows_no_tokens_is_too_old(version: str) -> None:
    assert message(rayVersion=version) == f"late: rayVersion: {version} is too old: Ray asks for tokens from 2.52.0 on"


@pytest.mark.parametrize("version", ["2.52.0", "2.60.0", "2.100.0", "3.0.0"])
def test_ray_that_knows_tokens_is_taken(version: str) -> None:
    assert message(rayVersion=version) == ""


STORE = "KubeRay refuses it: it would keep the cluster's state in Redis, and a cluster lives for one attempt"
CLOSED = "KubeRay sets it, so that the cluster takes nobody without its token"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("RAY_REDIS_ADDRESS", STORE),
        ("REDIS_USERNAME", STORE),
        ("RAY_AUTH_MODE", CLOSED),
        ("RAY_AUTH_TOKEN", CLOSED),
    ],
)
def test_a_variable_that_kuberay_refuses_or_sets_is_refused(name: str, why: str) -> None:
    expected = f"late: podTemplate.env[1].name: remove {name}: {why}"
    assert message(**with_variable(name, value="")) == expected
    assert message(**with_variable(name, valueFrom={"secretKeyRef": {"name": "keys", "key": "k"}})) == expected


@pytest.mark.parametrize("value", ["1", "true"])
def test_the_autoscaler_cannot_be_switched_on(value: str) -> None:
    expected = message(**with_variable("RAY_enable_autoscaler_v2", value=value))
    assert expected == (
        "late: podTemplate.env[1].name: remove RAY_enable_autoscaler_v2: "
        "KubeRay refuses it: the cluster has a fixed number of workers"
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [("RAY_enable_autoscaler_v2", "0"), ("REDIS_PASSWORD", "x"), ("RAY_DEDUP_LOGS", "0"), ("REDIS_URL", "x")],
)
def test_what_kuberay_lets_through_is_taken(name: str, value: str) -> None:
    assert message(**with_variable(name, value=value)) == ""


@pytest.mark.parametrize("backend", ["local", "deepspeed", "horovod"])
def test_where_no_kuberay_is_asked_all_is_taken(backend: str) -> None:
    assert message(backend, rayVersion="2.9.0", **with_variable("RAY_AUTH_MODE", value="disabled")) == ""
