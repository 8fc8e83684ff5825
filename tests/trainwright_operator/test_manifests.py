"""The operator's permissions and its Deployment, in the manifests that the chart renders to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from ruamel.yaml import YAML

from trainwright_operator import environment
from trainwright_operator.kube import leader_election
from trainwright_operator.server import certificate_rotator
from trainwright_operator.settings import Settings

FOLDER = Path(__file__).parents[2] / "operator" / "manifests"
INSTALLS = ("clusterwide.yaml", "namespaced.yaml")


def objects(name: str) -> list[dict[str, Any]]:
    return list(YAML(typ="safe").load_all((FOLDER / name).read_text()))


def of_kind(name: str, *kinds: str) -> list[dict[str, Any]]:
    return [found for found in objects(name) if found["kind"] in kinds]


def operators_roles(name: str) -> list[dict[str, Any]]:
    """Return the operator's roles, without those that are aggregated to the roles of users."""
    return [role for role in of_kind(name, "Role", "ClusterRole") if not aggregated(role)]


def aggregated(role: dict[str, Any]) -> set[str]:
    """Return the users' roles to which this one is aggregated."""
    mark = "rbac.authorization.k8s.io/aggregate-to-"
    return {label.removeprefix(mark) for label in role["metadata"]["labels"] if label.startswith(mark)}


def rules(name: str) -> Iterator[dict[str, Any]]:
    for role in operators_roles(name):
        yield from role["rules"]


@pytest.mark.parametrize("name", INSTALLS)
def test_nothing_is_granted_by_a_wildcard(name: str) -> None:
    for rule in rules(name):
        assert all("*" not in word for words in rule.values() for word in words)


@pytest.mark.parametrize("name", INSTALLS)
def test_secrets_are_read_by_their_name_alone(name: str) -> None:
    reading = [
        rule for rule in rules(name) if "secrets" in rule["resources"] and {"get", "list", "watch"} & set(rule["verbs"])
    ]
    assert [rule["resourceNames"] for rule in reading] == [[certificate_rotator.SECRET_NAME]]


@pytest.mark.parametrize("name", INSTALLS)
def test_what_was_started_is_never_changed(name: str) -> None:
    for rule in rules(name):
        if {"jobs", "rayjobs", "pods"} & set(rule["resources"]):
            assert not {"patch", "update"} & set(rule["verbs"])


@pytest.mark.parametrize("name", INSTALLS)
def test_secrets_of_jobs_are_only_created(name: str) -> None:
    named = [rule for rule in rules(name) if "secrets" in rule["resources"] and not rule.get("resourceNames")]
    assert {verb for rule in named for verb in rule["verbs"]} == {"create"}


@pytest.mark.parametrize("name", INSTALLS)
def test_children_may_block_the_deletion_of_their_owner(name: str) -> None:
    assert [rule["verbs"] for rule in rules(name) if "trainingjobs/finalizers" in rule["resources"]] == [["update"]]


def test_for_single_namespaces_the_cluster_grants_reviews_of_tokens_alone() -> None:
    [role] = [role for role in operators_roles("namespaced.yaml") if role["kind"] == "ClusterRole"]
    [rule] = role["rules"]
    assert (rule["resources"], rule["verbs"]) == (["tokenreviews"], ["create"])


@pytest.mark.parametrize("name", INSTALLS)
def test_every_role_is_bound(name: str) -> None:
    roles = {(one["kind"], one["metadata"]["name"]) for one in operators_roles(name)}
    bindings = of_kind(name, "RoleBinding", "ClusterRoleBinding")
    assert {(one["roleRef"]["kind"], one["roleRef"]["name"]) for one in bindings} == roles


@pytest.mark.parametrize("name", INSTALLS)
def test_viewers_only_look(name: str) -> None:
    viewing = [role for role in of_kind(name, "ClusterRole") if "view" in aggregated(role)]
    assert [rule["verbs"] for role in viewing for rule in role["rules"]] == [["get", "list", "watch"]]


@pytest.mark.parametrize("name", INSTALLS)
def test_names_are_those_of_the_code(name: str) -> None:
    named = {word for rule in rules(name) for word in rule.get("resourceNames", ())}
    assert (
        {leader_election.NAME, certificate_rotator.SECRET_NAME}
        <= named
        <= {leader_election.NAME, certificate_rotator.SECRET_NAME, certificate_rotator.WEBHOOK_NAME}
    )


@pytest.mark.parametrize("name", ["clusterwide.yaml", "webhook-local.yaml"])
def test_the_webhook_judges_jobs_and_is_in_nobodys_way(name: str) -> None:
    [found] = of_kind(name, "ValidatingWebhookConfiguration")
    [webhook] = found["webhooks"]
    assert found["metadata"]["name"] == certificate_rotator.WEBHOOK_NAME
    assert (webhook["failurePolicy"], webhook["sideEffects"]) == ("Ignore", "None")
    [rule] = webhook["rules"]
    assert (rule["resources"], rule["operations"]) == (["trainingjobs"], ["CREATE", "UPDATE"])


def test_the_webhook_of_make_operator_differs_by_its_address_alone() -> None:
    [local], [chart] = (
        of_kind(name, "ValidatingWebhookConfiguration") for name in ("webhook-local.yaml", "clusterwide.yaml")
    )
    [ours], [theirs] = local["webhooks"], chart["webhooks"]
    assert {**ours, "clientConfig": {}} == {**theirs, "clientConfig": {}}


def test_an_operator_of_single_namespaces_has_no_webhook() -> None:
    """It may not write the CA into the webhook configuration, so the API server could not reach it."""
    assert of_kind("namespaced.yaml", "ValidatingWebhookConfiguration") == []


def test_the_operators_namespace_is_restricted() -> None:
    [found] = objects("namespace.yaml")
    assert found["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"


def deployed(kind: str) -> dict[str, Any]:
    [found] = of_kind("clusterwide.yaml", kind)
    return dict(found)


def container(name: str = "clusterwide.yaml") -> dict[str, Any]:
    [deployment] = of_kind(name, "Deployment")
    [found] = deployment["spec"]["template"]["spec"]["containers"]
    return dict(found)


def settings_of(found: dict[str, Any]) -> Settings:
    """Return the settings as the operator reads them. Values from the pod's own fields are all the same word."""
    return Settings.from_environment({one["name"]: one.get("value", "trainwright") for one in found["env"]})


def names_of(settings: Any, prefix: str = environment.PREFIX) -> Iterator[str]:
    for field in fields(settings):
        value, name = getattr(settings, field.name), prefix + field.name.upper()
        if is_dataclass(value):
            yield from names_of(value, f"{name}_")
        else:
            yield name


def test_every_setting_is_a_value_of_the_chart() -> None:
    variables = {one["name"] for one in container("namespaced.yaml")["env"]}
    assert variables == set(names_of(Settings()))


def test_the_charts_defaults_are_those_of_the_code() -> None:
    pods_own = {
        "namespace": "trainwright",
        "identity": "trainwright",
        "progress_url": "https://trainwright.trainwright.svc",
    }
    assert settings_of(container()) == replace(Settings(), **pods_own)


def test_the_namespaces_are_reported() -> None:
    assert settings_of(container("namespaced.yaml")).namespaces == ("team-a",)


def test_the_service_leads_to_the_pods() -> None:
    """The URLs of the webhook and for the pods of jobs lead to the server's port, under its certificate's names."""
    settings = settings_of(container())
    [port], [entry] = deployed("Service")["spec"]["ports"], deployed("ValidatingWebhookConfiguration")["webhooks"]
    assert container()["ports"] == [{"name": port["targetPort"], "containerPort": settings.server_port}]
    assert urlsplit(settings.progress_url).hostname in certificate_rotator.server_names(Settings())
    assert (urlsplit(settings.progress_url).port or 443) == port["port"] == entry["clientConfig"]["service"]["port"]
    named = deployed("Service")["metadata"]
    assert (named["name"], named["namespace"]) == (certificate_rotator.SERVICE_NAME, settings.namespace)
    assert entry["clientConfig"]["service"].items() >= {"name": named["name"], "namespace": named["namespace"]}.items()


def test_the_probes_ask_the_servers_own_paths() -> None:
    asked = {probe: container()[probe]["httpGet"] for probe in ("startupProbe", "livenessProbe", "readinessProbe")}
    assert {probe: (get["scheme"], get["path"]) for probe, get in asked.items()} == {
        "startupProbe": ("HTTPS", "/healthz"),
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
    for name in INSTALLS:
        assert {one["metadata"]["name"] for one in objects(name) if one["kind"] == "ServiceAccount"} == {account}
