"""The effect of each value on the manifest that is rendered from everything.values.yaml."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from trainwright_operator.job_defaults import NO_EVICTION, JobDefaults
from trainwright_operator.policy import Policy
from trainwright_operator.server import certificate_rotator
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
    assert settings.cpu_image == "registry.example.com/team/trainers/flights-cpu:nightly"
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


def test_the_defaults_of_jobs_are_read_as_they_were_written() -> None:
    found = {one["name"]: one.get("value", "") for one in pod()["containers"][0]["env"] if "_JOBS_" in one["name"]}
    assert Settings.from_environment(found).jobs == JobDefaults(
        pod_template={**NO_EVICTION, **VALUES["jobs"]["podTemplate"]},
        ttl_seconds_after_finished=86400,
        fixed_user=False,
    )


def test_in_the_network_of_the_nodes_a_new_pod_follows_an_old_one() -> None:
    assert (pod()["hostNetwork"], pod()["dnsPolicy"]) == (True, "ClusterFirstWithHostNet")
    assert the("Deployment")["spec"]["strategy"]["rollingUpdate"] == {"maxSurge": 0, "maxUnavailable": 1}


def test_the_operators_pods_are_reached_at_their_port_alone() -> None:
    found, ours = the("NetworkPolicy")["spec"], the("Deployment")["spec"]["selector"]["matchLabels"]
    assert found["podSelector"]["matchLabels"] == ours
    assert found["ingress"] == [{"ports": [{"protocol": "TCP", "port": 10443}]}]
    assert found["egress"] == VALUES["networkPolicy"]["egress"]


def test_cert_manager_issues_what_the_operator_would() -> None:
    made = {one["metadata"]["name"]: one["spec"] for one in OBJECTS if one["kind"] == "Certificate"}
    issued = made[certificate_rotator.SECRET_NAME]
    assert issued["secretName"] == certificate_rotator.SECRET_NAME
    settings = Settings(progress_url=VALUES["settings"]["progressUrl"])
    assert set(issued["dnsNames"]) == set(certificate_rotator.server_names(settings)) - {"localhost", "127.0.0.1"}
    assert issued["issuerRef"]["name"] == "trainwright-ca"
    webhook = the("ValidatingWebhookConfiguration")["metadata"]["annotations"]
    assert webhook == {"cert-manager.io/inject-ca-from": "trainwright/trainwright-tls"}
    [role] = [one for one in OBJECTS if one["kind"] == "Role"]
    [secrets] = [rule for rule in role["rules"] if "secrets" in rule["resources"]]
    assert secrets["verbs"] == ["get"]


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
