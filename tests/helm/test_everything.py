"""The effect of each value on the manifest that is rendered from everything.values.yaml."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from trainwright_operator.policy import Policy
from trainwright_operator.settings import Backoff, Settings

FOLDER = Path(__file__).parent
VALUES = YAML(typ="safe").load((FOLDER / "everything.values.yaml").read_text())
OBJECTS = list(YAML(typ="safe").load_all((FOLDER / "everything.yaml").read_text()))


def the(kind: str) -> dict[str, Any]:
    [found] = [one for one in OBJECTS if one["kind"] == kind]
    return dict(found)


def pod() -> dict[str, Any]:
    return dict(the("Deployment")["spec"]["template"]["spec"])


def test_settings_are_read_as_they_were_written() -> None:
    """Large numbers too, which Go writes as 1e+06."""
    environment = {one["name"]: one.get("value", "") for one in pod()["containers"][0]["env"]}
    del environment["HTTPS_PROXY"]
    settings = Settings.from_environment(environment)
    assert settings.max_workers == 1_000_000
    assert settings.backoff == Backoff(base=0.5, limit=1_000_000.0)
    assert settings.progress_url == "https://trainwright.example.com"
    assert settings.ray_version == "2.55.1"
    assert settings.image == f"registry.example.com/team/trainers/flights@{VALUES['trainer']['image']['digest']}"


def test_the_policy_is_read_as_it_was_written() -> None:
    settings = Settings.from_environment(
        {one["name"]: one.get("value", "") for one in pod()["containers"][0]["env"] if "_POLICY_" in one["name"]}
    )
    assert settings.policy == Policy(
        inline_keys=True,
        volumes=("*",),
        service_accounts=(),
        registries=("registry.example.com/team", "docker.io/library"),
        host_settings=("root",),
        max_workers_per_job=8,
        max_gpus_per_namespace=1_000_000,
    )


def test_jobs_that_may_hold_keys_are_not_for_viewers() -> None:
    mark = "rbac.authorization.k8s.io/aggregate-to-view"
    roles = {one["metadata"]["name"]: one["metadata"]["labels"] for one in OBJECTS if one["kind"] == "ClusterRole"}
    assert mark not in roles["trainwright-view"]
    assert "rbac.authorization.k8s.io/aggregate-to-edit" in roles["trainwright-view"]


def test_the_operator_is_fetched_from_the_registry() -> None:
    [container] = pod()["containers"]
    assert container["image"] == "registry.example.com/team/trainwright-operator:nightly"
    assert container["imagePullPolicy"] == "Always"


def test_the_port_that_is_set_is_the_one_that_is_named() -> None:
    assert pod()["containers"][0]["ports"] == [{"name": "https", "containerPort": 10443}]


def test_scheduling_reaches_the_pods() -> None:
    keys = ("imagePullSecrets", "nodeSelector", "tolerations", "affinity", "topologySpreadConstraints")
    assert {key: pod()[key] for key in keys} == {key: VALUES[key] for key in keys}
    assert pod()["priorityClassName"] == VALUES["priorityClassName"]


def test_a_user_id_can_be_left_to_the_cluster() -> None:
    assert pod()["securityContext"] == {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}


def test_labels_and_annotations_of_pods_stand_beside_ours() -> None:
    metadata = the("Deployment")["spec"]["template"]["metadata"]
    ours = the("Deployment")["spec"]["selector"]["matchLabels"]
    assert metadata == {"labels": {**ours, **VALUES["podLabels"]}, "annotations": VALUES["podAnnotations"]}


def test_another_account_is_bound_and_used() -> None:
    name = VALUES["serviceAccount"]["name"]
    assert the("ServiceAccount")["metadata"]["name"] == pod()["serviceAccountName"] == name
    assert [subject["name"] for subject in the("ClusterRoleBinding")["subjects"]] == [name]


def test_prometheus_trusts_the_operators_own_certificate() -> None:
    [service], [pods] = the("ServiceMonitor")["spec"]["endpoints"], the("PodMonitor")["spec"]["podMetricsEndpoints"]
    assert service == {**pods, "interval": "30s"}
    assert pods["tlsConfig"] == {
        "serverName": "trainwright.trainwright.svc",
        "ca": {"secret": {"name": "trainwright-tls", "key": "ca.crt"}},
    }
    assert (
        the("ServiceMonitor")["spec"]["selector"]["matchLabels"].items() <= the("Service")["metadata"]["labels"].items()
    )
