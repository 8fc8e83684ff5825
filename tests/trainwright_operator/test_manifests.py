"""What the operator may do, as its manifests grant it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from ruamel.yaml import YAML

from trainwright_operator import lease
from trainwright_operator.server import keeper
from trainwright_operator.settings import Settings

FOLDER = Path(__file__).parents[2] / "operator" / "manifests"
RBAC = ("rbac.yaml", "rbac-namespaced.yaml")


def objects(name: str) -> list[dict[str, Any]]:
    return list(YAML(typ="safe").load_all((FOLDER / name).read_text()))


def rules(name: str, *kinds: str) -> Iterator[dict[str, Any]]:
    for found in objects(name):
        if found["kind"] in kinds:
            yield from found["rules"]


@pytest.mark.parametrize("name", RBAC)
def test_nothing_is_granted_by_a_wildcard(name: str) -> None:
    for rule in rules(name, "Role", "ClusterRole"):
        assert all("*" not in word for words in rule.values() for word in words)


@pytest.mark.parametrize("name", RBAC)
def test_secrets_are_read_by_their_name_alone(name: str) -> None:
    reading = [
        rule
        for rule in rules(name, "Role", "ClusterRole")
        if "secrets" in rule["resources"] and {"get", "list", "watch"} & set(rule["verbs"])
    ]
    assert [rule["resourceNames"] for rule in reading] == [[keeper.SECRET_NAME]]


@pytest.mark.parametrize("name", RBAC)
def test_what_was_started_is_never_changed(name: str) -> None:
    for rule in rules(name, "Role", "ClusterRole"):
        if {"jobs", "rayjobs", "pods"} & set(rule["resources"]):
            assert not {"patch", "update"} & set(rule["verbs"])


def test_for_single_namespaces_the_cluster_grants_reviews_of_tokens_alone() -> None:
    [rule] = rules("rbac-namespaced.yaml", "ClusterRole")
    assert (rule["resources"], rule["verbs"]) == (["tokenreviews"], ["create"])


@pytest.mark.parametrize("name", RBAC)
def test_every_role_is_bound(name: str) -> None:
    found = objects(name)
    roles = {(one["kind"], one["metadata"]["name"]) for one in found if one["kind"] in ("Role", "ClusterRole")}
    bound = {(one["roleRef"]["kind"], one["roleRef"]["name"]) for one in found if "roleRef" in one}
    assert roles == bound


@pytest.mark.parametrize("name", RBAC)
def test_names_are_those_of_the_code(name: str) -> None:
    named = {word for rule in rules(name, "Role", "ClusterRole") for word in rule.get("resourceNames", ())}
    assert {lease.NAME, keeper.SECRET_NAME} <= named <= {lease.NAME, keeper.SECRET_NAME, keeper.WEBHOOK_NAME}


@pytest.mark.parametrize("name", ["webhook.yaml", "webhook-local.yaml"])
def test_the_webhook_judges_jobs_and_is_in_nobodys_way(name: str) -> None:
    [found] = objects(name)
    [webhook] = found["webhooks"]
    assert found["metadata"]["name"] == keeper.WEBHOOK_NAME
    assert (webhook["failurePolicy"], webhook["sideEffects"]) == ("Ignore", "None")
    [rule] = webhook["rules"]
    assert (rule["resources"], rule["operations"]) == (["trainingjobs"], ["CREATE", "UPDATE"])


def test_the_operators_namespace_is_restricted() -> None:
    [found] = objects("namespace.yaml")
    assert found["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"


def deployed(kind: str) -> dict[str, Any]:
    [found] = [one for one in objects("deployment.yaml") if one["kind"] == kind]
    return dict(found)


def test_the_pods_settings_are_known_and_fit_the_service() -> None:
    """What the webhook and the pods of jobs are told leads to the port where the server listens, under its names."""
    [container] = deployed("Deployment")["spec"]["template"]["spec"]["containers"]
    environment = {one["name"]: one.get("value", "from the pod") for one in container["env"]}
    settings = Settings.from_environment({**environment, "TRAINWRIGHT_NAMESPACE": "trainwright"})
    [port], [entry] = deployed("Service")["spec"]["ports"], objects("webhook.yaml")[0]["webhooks"]
    assert container["ports"] == [{"name": port["targetPort"], "containerPort": settings.server_port}]
    assert urlsplit(settings.progress_url).hostname in keeper.server_names(Settings())
    assert (urlsplit(settings.progress_url).port or 443) == port["port"] == entry["clientConfig"]["service"]["port"]
    named = deployed("Service")["metadata"]
    assert (named["name"], named["namespace"]) == (keeper.SERVICE_NAME, settings.namespace)
    assert entry["clientConfig"]["service"].items() >= {"name": named["name"], "namespace": named["namespace"]}.items()


def test_the_probes_ask_the_servers_own_paths() -> None:
    [container] = deployed("Deployment")["spec"]["template"]["spec"]["containers"]
    asked = {probe: container[probe]["httpGet"] for probe in ("livenessProbe", "readinessProbe")}
    assert {probe: (get["scheme"], get["path"]) for probe, get in asked.items()} == {
        "livenessProbe": ("HTTPS", "/healthz"),
        "readinessProbe": ("HTTPS", "/readyz"),
    }


@pytest.mark.parametrize("selector", ["Service", "PodDisruptionBudget"])
def test_service_and_budget_find_the_pods(selector: str) -> None:
    pods = deployed("Deployment")["spec"]["template"]["metadata"]["labels"]
    found = deployed(selector)["spec"]["selector"]
    assert found.get("matchLabels", found) == pods


def test_the_pods_run_as_the_account_that_the_roles_are_bound_to() -> None:
    account = deployed("Deployment")["spec"]["template"]["spec"]["serviceAccountName"]
    for name in RBAC:
        assert {one["metadata"]["name"] for one in objects(name) if one["kind"] == "ServiceAccount"} == {account}
