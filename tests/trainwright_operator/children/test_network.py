"""The NetworkPolicies allow the required flows and deny all others.

No cluster of our tests enforces NetworkPolicies. So a small evaluator tests their meaning here, and a real API server
tests their form elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from trainwright_operator.model import names

from .child_specs import child_spec, job, sized, supports_of, templates
from .network_plugin import Pod, admits, lets_out

OTHER_UID = "2d0f3a8b-0000-4000-8000-000000000000"
KUBERAY_LABELS = {"app.kubernetes.io/component": "kuberay-operator", "app.kubernetes.io/name": "kuberay-operator"}
OTHERS: Mapping[str, Pod] = {
    "kuberay": Pod("kuberay", KUBERAY_LABELS),
    "kuberay beside the jobs": Pod("teams", KUBERAY_LABELS),
    "operator": Pod("trainwright", {"app.kubernetes.io/name": "trainwright"}),
    "neighbour": Pod("teams", {"app": "notebook"}),
    "stranger": Pod("elsewhere", {}),
}
RENDEZVOUS, GRADIENTS = 29500, 41_234
GCS, DASHBOARD, CLIENT, OBJECTS = 6379, 8265, 10001, 31_337

NEEDED = [
    ("ray", "worker", "head", GCS, "joins the cluster"),
    ("ray", "head", "worker", OBJECTS, "raylets, objects"),
    ("ray", "worker", "worker", GRADIENTS, "gradients, objects"),
    ("ray", "submitter", "head", DASHBOARD, "submits, and follows the log"),
    ("ray", "kuberay", "head", DASHBOARD, "asks how the job goes"),
    ("ray", "kuberay beside the jobs", "head", DASHBOARD, "KubeRay may run in any namespace"),
    ("deepspeed", "trainer", "trainer", RENDEZVOUS, "meets the first pod"),
    ("deepspeed", "trainer", "trainer", GRADIENTS, "gradients"),
    ("horovod", "trainer", "trainer", RENDEZVOUS, "meets the first pod"),
    ("horovod", "trainer", "trainer", GRADIENTS, "gradients"),
]
"""backend, from, to, port, why. Probes come from the pod's own node. All other flows of pods are egress."""
REFUSED = [
    *(("ray", other, "head", port) for other in ("neighbour", "stranger", "operator") for port in (GCS, DASHBOARD)),
    ("ray", "kuberay", "head", GCS),
    ("ray", "kuberay", "head", CLIENT),
    ("ray", "neighbour", "worker", OBJECTS),
    *(
        (backend, other, "trainer", RENDEZVOUS)
        for backend in ("deepspeed", "horovod")
        for other in ("neighbour", "stranger", "operator", "kuberay")
    ),
]


def pods(backend: str, uid: str | None = None, namespace: str = "teams") -> dict[str, Pod]:
    """Return the pods of one job, from their templates."""
    made = child_spec(backend, owner=job(uid=uid) if uid else None, resolved=sized(2))
    return {role: Pod(namespace, template["metadata"]["labels"]) for role, template in templates(made).items()}


def policies(backend: str) -> list[dict[str, Any]]:
    return supports_of(child_spec(backend, resolved=sized(2)), "NetworkPolicy")


@pytest.mark.parametrize(("backend", "source", "target", "port", "why"), NEEDED)
def test_what_is_needed_comes_in(backend: str, source: str, target: str, port: int, why: str) -> None:
    of_the_job = pods(backend)
    assert admits(policies(backend), {**OTHERS, **of_the_job}[source], of_the_job[target], port), why


@pytest.mark.parametrize(("backend", "source", "target", "port"), REFUSED)
def test_everybody_else_stays_outside(backend: str, source: str, target: str, port: int) -> None:
    assert not admits(policies(backend), OTHERS[source], pods(backend)[target], port)


@pytest.mark.parametrize("backend", ["ray", "deepspeed", "horovod"])
def test_jobs_do_not_reach_each_other(backend: str) -> None:
    own = pods(backend)
    others = [*pods(backend, uid=OTHER_UID).values(), *pods(backend, namespace="elsewhere").values()]
    for target in own.values():
        for port in (RENDEZVOUS, GCS, DASHBOARD):
            assert not any(admits(policies(backend), source, target, port) for source in others)


@pytest.mark.parametrize("backend", ["ray", "deepspeed", "horovod"])
def test_it_is_in_force_for_every_pod_of_every_attempt(backend: str) -> None:
    [policy] = policies(backend)
    selected = policy["spec"]["podSelector"]["matchLabels"]
    assert not {names.ATTEMPT, names.STAGE} & set(selected)
    for pod in pods(backend).values():
        assert selected.items() <= pod.labels.items()


@pytest.mark.parametrize("backend", ["ray", "deepspeed", "horovod"])
def test_what_goes_out_is_open(backend: str) -> None:
    assert all(lets_out(policies(backend), pod) for pod in pods(backend).values())


def test_one_pod_alone_has_no_policy_for_nothing_listens_in_it() -> None:
    assert policies("local") == []


TARGET = Pod("teams", {"app": "a"})
ALL: Mapping[str, Any] = {"metadata": {"namespace": "teams"}, "spec": {"podSelector": {}, "policyTypes": ["Ingress"]}}


class TestThePluginOfTheTests:
    """The evaluator can deny and allow."""

    def test_a_pod_without_policies_is_open(self) -> None:
        assert admits([], OTHERS["stranger"], TARGET, 1)

    def test_a_policy_without_rules_closes(self) -> None:
        assert not admits([ALL], TARGET, TARGET, 1)

    def test_a_rule_without_peers_and_ports_opens(self) -> None:
        opened = {**ALL, "spec": {**ALL["spec"], "ingress": [{}]}}
        assert admits([ALL, opened], OTHERS["stranger"], TARGET, 1)

    def test_another_protocol_is_another_port(self) -> None:
        ruled = {**ALL["spec"], "ingress": [{"ports": [{"protocol": "UDP", "port": 1}]}]}
        assert not admits([{**ALL, "spec": ruled}], TARGET, TARGET, 1)

    def test_what_it_does_not_know_it_refuses(self) -> None:
        ruled = {**ALL["spec"], "ingress": [{"from": [{"ipBlock": {"cidr": "0.0.0.0/0"}}]}]}
        with pytest.raises(AssertionError, match="ipBlock"):
            admits([{**ALL, "spec": ruled}], TARGET, TARGET, 1)
