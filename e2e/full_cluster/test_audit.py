"""The audit log after all tests: the requests of each user, and the Pod Security level of each pod."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import pytest
from testkit.cluster import audit
from testkit.cluster.audit import AuditEvent
from testkit.cluster.images.ours import ROOT, TRAINER
from testkit.cluster.kubectl import Kubectl
from testkit.cluster.node.cluster_folder import ClusterFolder
from testkit.full_cluster import jobs
from testkit.full_cluster.bucket import Bucket
from testkit.full_cluster.full_cluster import FullCluster
from testkit.full_cluster.objects import one, until
from testkit.full_cluster.release import NAMESPACE
from testkit.harness.grants import Grant, denied, grants, needless

from trainwright_operator.model import names

pytestmark = pytest.mark.last

KUEUE = "kueue.x-k8s.io"
"""The group of Kueue, which does not run on this node: `e2e/control_plane/test_rbac.py` covers its verbs."""
GRANTED = tuple(one for one in grants(ROOT / "operator" / "manifests" / "clusterwide.yaml") if one.group != KUEUE)
ACCOUNT = f"system:serviceaccount:{NAMESPACE}:trainwright-operator"
BINDING = ("rolebindings", "trainwright-operator")
"""The first binding that an uninstallation removes, while the pods still terminate."""
OF_JOBS = "system:serviceaccount:test-"
CERTIFICATE = "trainwright-tls"
NOWHERE = "localhost/nowhere:1"
"""An image that no node has."""
GANG = {"type": "horovod", "trainer": {"num_workers": 2}, "cache_credentials": {"region_name": "x"}}
"""A backend that is not built yet, in a job with its own image: all objects of the gang are created before it fails."""
TAKEN: dict[str, dict[str, Any]] = {
    "ConfigMap": {"apiVersion": "v1", "data": {"of": "somebody else"}},
    "Service": {"apiVersion": "v1", "spec": {"clusterIP": "None"}},
    "NetworkPolicy": {"apiVersion": "networking.k8s.io/v1", "spec": {"podSelector": {}}},
}
"""The objects, in the order of their creation by the operator."""


@pytest.fixture
def asked(full_cluster: FullCluster, inside: ClusterFolder, began: datetime) -> Sequence[AuditEvent]:
    """All requests since the start of this run, or since the installation if that is earlier."""
    installed = one(full_cluster.kubectl, "default", "namespace", NAMESPACE)["metadata"]["creationTimestamp"]
    since = min(began, datetime.fromisoformat(installed))
    return [event for event in audit.read(inside.running / audit.LOG) if datetime.fromisoformat(event.time) >= since]


@pytest.fixture
def by_operator(asked: Sequence[AuditEvent]) -> Sequence[AuditEvent]:
    """True if the request failed only because its namespace or the operator's roles were being deleted."""
    found: list[AuditEvent] = []
    gone: set[str] = set()
    is_bound = True
    for event in asked:
        if event.resource == "namespaces" and event.verb in ("create", "delete"):
            (gone.add if event.verb == "delete" else gone.discard)(event.name)
        elif (event.resource, event.name) == BINDING and event.verb in ("create", "delete"):
            is_bound = event.verb == "create"
        elif event.user == ACCOUNT and is_bound and not (event.verb == "create" and event.namespace in gone):
            found.append(event)
    return found


def test_lives_that_need_the_rarest_verbs(operator: FullCluster, namespace: str, bucket: Bucket) -> None:
    """Causes every kind of request, so that the tests below also pass alone."""
    kubectl, image = operator.kubectl, operator.image(TRAINER.repository)
    patch = '{"data": {"tls.crt": ""}}'
    kubectl("patch", f"-n={NAMESPACE}", "secret", CERTIFICATE, "--type=merge", f"-p={patch}")
    jobs.apply(
        kubectl,
        namespace,
        jobs.keys(operator),
        job("taken", bucket, GANG, image=image, suspend=True, ttlSecondsAfterFinished=0),
        job("forgotten", bucket, GANG, image=image, ttlSecondsAfterFinished=0, ttlPolicy="DeleteJob"),
        job("lost", bucket, {"type": "local"}, image=NOWHERE),
        job("lost-ray", bucket, {"type": "ray"}, image=NOWHERE),
    )
    loses_its_child(kubectl, namespace, "lost", "jobs.batch")
    loses_its_child(kubectl, namespace, "lost-ray", "rayjobs.ray.io")
    finds_its_names_taken(kubectl, namespace, "taken")
    kubectl("wait", f"-n={namespace}", "--for=delete", "tj/forgotten", "--timeout=180s")
    until(
        lambda: one(kubectl, NAMESPACE, "secret", CERTIFICATE)["data"]["tls.crt"],
        seconds=120,
        what="the certificate, made anew",
    )


def loses_its_child(kubectl: Kubectl, namespace: str, name: str, kind: str) -> None:
    """The test deletes the child; the operator verifies with a GET that it is gone."""
    kubectl("wait", f"-n={namespace}", f"tj/{name}", "--for=jsonpath={.status.attempts[0].createTime}", "--timeout=60s")
    child = one(kubectl, namespace, "tj", name)["status"]["child"]
    kubectl("delete", f"-n={namespace}", kind, child)
    status = jobs.ended(kubectl, namespace, name, seconds=120)
    assert status["message"] == f"attempt 1: {child} is gone: it was deleted by somebody else"


def finds_its_names_taken(kubectl: Kubectl, namespace: str, name: str) -> None:
    """The operator reads the owner of the objects and reports it. All of its own objects are gone afterwards, except
    the Secret, which its owner reference deletes with the job."""
    kubectl("wait", f"-n={namespace}", f"tj/{name}", "--for=condition=Suspended", "--timeout=60s")
    common = names.common_name(name, one(kubectl, namespace, "tj", name)["metadata"]["uid"])
    jobs.apply(kubectl, namespace, *({"kind": kind, "metadata": {"name": common}, **TAKEN[kind]} for kind in TAKEN))
    kubectl("patch", f"-n={namespace}", "tj", name, "--type=merge", '-p={"spec": {"suspend": false}}')
    for kind in TAKEN:
        words = f"{kind} {common} exists and does not belong to this job: delete or rename one of them"
        until = f"--for=jsonpath={{.status.message}}={words}"
        kubectl("wait", f"-n={namespace}", f"tj/{name}", until, "--timeout=60s")
        kubectl("delete", f"-n={namespace}", kind, common)
    status = jobs.ended(kubectl, namespace, name)
    assert "not built yet" in status["message"]
    for kind in TAKEN:
        kubectl("wait", f"-n={namespace}", "--for=delete", f"{kind}/{common}", "--timeout=60s")


def job(name: str, bucket: Bucket, backend: dict[str, Any], **spec: Any) -> dict[str, Any]:
    made = jobs.weather(name, bucket, **backend)
    made["spec"] |= {"backoffLimit": 0, **spec}
    return made


def test_the_operator_was_denied_nothing(by_operator: Sequence[AuditEvent]) -> None:
    assert len(by_operator) > 100
    assert denied(by_operator) == []


def test_every_verb_that_the_operator_is_granted_was_needed(by_operator: Sequence[AuditEvent]) -> None:
    assert [str(grant) for grant in needless(GRANTED, by_operator)] == []


def test_a_verb_too_many_would_be_found(by_operator: Sequence[AuditEvent]) -> None:
    grant = Grant("get", "", "secrets")
    assert grant in needless([*GRANTED, grant], by_operator)


def test_the_pods_of_jobs_ask_the_api_server_for_nothing(asked: Sequence[AuditEvent]) -> None:
    assert {event.uri for event in asked if event.user.startswith(OF_JOBS)} == set()


def test_all_pods_of_ours_were_made_under_the_restricted_standard(asked: Sequence[AuditEvent]) -> None:
    made = [event for event in asked if (event.verb, event.resource, event.subresource) == ("create", "pods", "")]
    theirs = [event for event in made if event.namespace == NAMESPACE or event.namespace.startswith("test-")]
    ours = [event for event in theirs if event.code == 201]
    assert {event.namespace for event in ours} > {NAMESPACE}
    assert {event.enforced for event in ours} == {"restricted:latest"}
