"""The policy is judged as a network plug-in does: by the list of flows that must pass, and of those that must not."""

from __future__ import annotations

from typing import Any

import pytest

from .blueprints import UID, blueprint, support, templates

OURS = {"trainwright.dev/job-uid": UID}
KUBERAY = {"app.kubernetes.io/component": "kuberay-operator", "app.kubernetes.io/name": "kuberay-operator"}
OPERATOR = {"app.kubernetes.io/name": "trainwright"}
STRANGER = {"trainwright.dev/job-uid": "another job's"}
SAME, OTHER = "teams", "elsewhere"


@pytest.mark.parametrize(
    ("labels", "namespace", "port", "passes"),
    [
        (OURS, SAME, 6379, True),
        (OURS, SAME, 8265, True),
        (OURS, SAME, 10001, True),
        (OURS, SAME, 31_337, True),
        (KUBERAY, OTHER, 8265, True),
        (KUBERAY, SAME, 8265, True),
        (KUBERAY, OTHER, 6379, False),
        (KUBERAY, OTHER, 10001, False),
        (OPERATOR, OTHER, 8265, False),
        (STRANGER, SAME, 8265, False),
        (OURS, OTHER, 8265, False),
        ({}, SAME, 8265, False),
        ({}, OTHER, 6379, False),
    ],
)
def test_who_may_connect(labels: dict[str, str], namespace: str, port: int, passes: bool) -> None:
    assert _admits(_policy()["ingress"], labels, namespace, port) is passes


def test_it_holds_for_every_pod_of_the_job_and_leaves_what_goes_out_alone() -> None:
    policy = _policy()
    assert policy["podSelector"] == {"matchLabels": OURS}
    assert policy["policyTypes"] == ["Ingress"]
    assert set(templates(blueprint("ray"))) == {"submitter", "head", "worker"}
    for template in templates(blueprint("ray")).values():
        assert OURS.items() <= template["metadata"]["labels"].items()


def _policy() -> dict[str, Any]:
    found: dict[str, Any] = support(blueprint("ray"), "NetworkPolicy")["spec"]
    return found


def _admits(rules: list[dict[str, Any]], labels: dict[str, str], namespace: str, port: int) -> bool:
    return any(
        any(_is_from(peer, labels, namespace) for peer in rule["from"])
        and ("ports" not in rule or any(allowed["port"] == port for allowed in rule["ports"]))
        for rule in rules
    )


def _is_from(peer: dict[str, Any], labels: dict[str, str], namespace: str) -> bool:
    near = namespace == SAME if "namespaceSelector" not in peer else peer["namespaceSelector"] == {}
    return near and peer["podSelector"]["matchLabels"].items() <= labels.items()
