"""The operator's objects, validated by a real API server: strict fields, KubeRay's own CRDs, restricted pods.

Nothing is stored (dry run), so no owner is needed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from testkit.cluster.cluster import Cluster

from trainwright_api.resource.job import TrainingJobSpec
from trainwright_api.resource.status import Resolved, TrainingJobStatus
from trainwright_operator.children import ChildSpec, child, kind_for, read_child, shared_objects
from trainwright_operator.model.observed import Job
from trainwright_operator.settings import Settings

UID = "1c9e2f7a-0000-4000-8000-000000000000"
SETTINGS = Settings(progress_url="https://trainwright.trainwright.svc:9443")
RESTRICTED = [f"pod-security.kubernetes.io/{mode}=restricted" for mode in ("enforce", "warn")]
SPEC: Mapping[str, Any] = {
    "dataset": "s3://data/flights.parquet",
    "output": "s3://runs",
    "config": {
        "input_features": [{"name": "distance", "type": "number"}],
        "output_features": [{"name": "late", "type": "binary"}],
    },
}
OVERLAY: Mapping[str, Any] = {
    "labels": {"team": "a"},
    "annotations": {"note": "b"},
    "nodeSelector": {"pool": "gpu"},
    "tolerations": [{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}],
    "affinity": {"podAntiAffinity": {}},
    "serviceAccountName": "default",
    "imagePullSecrets": [{"name": "registry"}],
    "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}],
    "volumeMounts": [{"name": "data", "mountPath": "/data"}, {"name": "data", "mountPath": "/tmp", "subPath": "tmp"}],
    "env": [
        {"name": "HOME", "value": "/data"},
        {"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "k", "key": "x"}}},
    ],
    "envFrom": [{"configMapRef": {"name": "settings", "optional": True}}],
    "resources": {"requests": {"memory": "1Gi"}, "limits": {"memory": "2Gi", "cpu": 4}},
    "securityContext": {"runAsUser": 2000, "fsGroup": 2000},
    "imagePullPolicy": "Always",
    "schedulerName": "another",
    "topologySpreadConstraints": [
        {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}}
    ],
    "initContainers": [{"name": "first", "command": ["true"], "volumeMounts": [{"name": "data", "mountPath": "/d"}]}],
    "resourceClaims": [{"name": "nic", "resourceClaimTemplateName": "nic"}],
    "containerSecurityContext": {"readOnlyRootFilesystem": False},
    "head": {"resources": {"limits": {"memory": "2Gi", "cpu": 1}}, "nodeSelector": {"pool": "cpu"}},
    "worker": {"resources": {"claims": [{"name": "nic"}]}},
    "submitter": {"resources": {"limits": {"cpu": "200m"}}},
}
KEYS = {"cache_credentials": {"key": "x"}, "credentials": {"datasets": {"key": "y"}, "artifacts": {"key": "z"}}}
TRAINER = {"resources_per_worker": {"CPU": 0.5, "GPU": 0.5, "it's $(odd)": 1}, "num_workers": 5}
WHOLE: Mapping[str, Any] = {
    "podTemplate": OVERLAY,
    "credentials": {"secretName": "keys"},
    "queueName": "gpus",
    "childMetadata": {"labels": {"cost": "a"}, "annotations": {"note": "b"}},
    "gpuResourceName": "nvidia.com/mig-1g.5gb",
    "rayVersion": "2.56.1",
}
LONG = "the-longest-name.that-a-job-may-have." + "x" * 216


def backend(kind: str, **keys: Any) -> dict[str, Any]:
    return {"backend": {"type": kind, **keys}}


SPECS: Mapping[str, Mapping[str, Any]] = {
    "local": backend("local"),
    "local, all": {**backend("local", **KEYS), **WHOLE},
    "ray": backend("ray"),
    "ray, all": {**backend("ray", trainer=TRAINER, **KEYS), **WHOLE},
    "deepspeed": backend("deepspeed"),
    "deepspeed, all": {**backend("deepspeed", trainer=TRAINER, **KEYS), **WHOLE},
    "horovod": backend("horovod"),
    "horovod, all": {**backend("horovod", trainer=TRAINER, **KEYS), **WHOLE},
}


@pytest.fixture
def restricted(cluster: Cluster, namespace: str) -> str:
    """A namespace that refuses every pod that is not restricted, and warns about Jobs that would create one."""
    cluster.kubectl("label", "namespace", namespace, *RESTRICTED)
    return namespace


@pytest.mark.parametrize("case", SPECS)
def test_a_real_api_server_takes_every_object(cluster: Cluster, restricted: str, case: str) -> None:
    made = child_spec(SPECS[case], restricted, LONG if "all" in case else "flights")
    stored = created(cluster, [*shared_objects(made), child(made), *pods(made, restricted)])
    found = read_child(next(item for item in stored if item["kind"] in ("Job", "RayJob")))
    assert found is not None
    assert (found.kind, found.attempt, found.stage) == (kind_for(made.backend).name, 3, "train")
    assert found.state == "pending"


def test_it_refuses_what_it_does_not_know(cluster: Cluster, restricted: str) -> None:
    """Otherwise the test above could not fail."""
    manifest = dict(child(child_spec(SPECS["ray"], restricted, "flights")))
    manifest["spec"] = {**manifest["spec"], "shutDownAfterJobFinishes": True}
    ended = cluster.kubectl.run(*DRY_RUN, stdin=json.dumps(manifest))
    assert 'unknown field "spec.shutDownAfterJobFinishes"' in ended.stderr


def test_it_refuses_a_pod_that_is_not_restricted(cluster: Cluster, restricted: str) -> None:
    pod = next(pods(child_spec(SPECS["local"], restricted, "flights"), restricted))
    del pod["spec"]["containers"][0]["securityContext"]
    assert "violates PodSecurity" in cluster.kubectl.run(*DRY_RUN, stdin=json.dumps(pod)).stderr


DRY_RUN = ("create", "--dry-run=server", "--validate=strict", "-o=json", "-f=-")


def created(cluster: Cluster, manifests: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The objects as the API server would store them. A warning fails the test too."""
    ended = cluster.kubectl.run(*DRY_RUN, stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": manifests}))
    assert ended.stderr == ""
    items = list(_documents(ended.stdout))
    assert len(items) == len(manifests)
    return items


def _documents(text: str) -> Iterator[dict[str, Any]]:
    """kubectl prints one object after the other."""
    start = 0
    while start < len(text):
        document, end = json.JSONDecoder().raw_decode(text, start)
        yield document
        start = end + len(text[end:]) - len(text[end:].lstrip())


def child_spec(spec: Mapping[str, Any], namespace: str, name: str) -> ChildSpec:
    whole = TrainingJobSpec.model_validate({**SPEC, **spec})
    job = Job(
        namespace=namespace,
        name=name,
        uid=UID,
        generation=1,
        resource_version="1",
        created=datetime.now(UTC),
        deleting=False,
        suspend=False,
        ttl_seconds=None,
        ttl_policy="DeleteChildren",
        validation=None,
        status=TrainingJobStatus(),
    )
    gpus = 5 if "gpuResourceName" in spec else 0
    resolved = Resolved(workers=5, workers_per_pod=2, gpus=gpus, seed=42, image="localhost/trainwright:1")
    return ChildSpec(job, whole, 3, "train", resolved, SETTINGS, "-----BEGIN CERTIFICATE-----")


def pods(made: ChildSpec, namespace: str) -> Iterator[dict[str, Any]]:
    """A pod of each template, as the Job controller and KubeRay create them."""
    for index, template in enumerate(_templates(child(made)["spec"])):
        metadata = {**template["metadata"], "name": f"pod-{index}", "namespace": namespace}
        yield {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": metadata,
            "spec": json.loads(json.dumps(template["spec"])),
        }


def _templates(spec: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    if "template" in spec:
        return [spec["template"]]
    cluster = spec["rayClusterSpec"]
    groups = [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]
    return [spec["submitterPodTemplate"], *(group["template"] for group in groups)]
