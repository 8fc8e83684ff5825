"""Small TrainingJobs on hourly weather, in a bucket."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from testkit.cluster.images.ours import ROOT
from testkit.cluster.kubectl import Kubectl
from testkit.full_cluster.bucket import Bucket
from testkit.full_cluster.full_cluster import FullCluster

WEATHER = ROOT / "examples" / "small" / "weather.csv"
KEYS = "s3-keys"
CONFIG = {
    "input_features": [{"name": "airport", "type": "category"}, {"name": "humidity", "type": "number"}],
    "output_features": [{"name": "temperature", "type": "number", "preprocessing": {"normalization": "zscore"}}],
    "trainer": {"epochs": 3, "effective_batch_size": 128, "precision": "float64"},
}
ENDLESS = {"epochs": 100_000, "early_stop": -1, "effective_batch_size": 128}

# Where many share two cores, Ray's own programs take longer to start than it waits for them.
RAYLET_START_WAIT = {"name": "RAY_raylet_start_wait_time_s", "value": "240"}


def keys(full_cluster: FullCluster) -> dict[str, Any]:
    """Return the Secret with the S3 keys of jobs."""
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": KEYS}, "stringData": dict(full_cluster.s3)}


def weather(name: str, bucket: Bucket, **backend: Any) -> dict[str, Any]:
    spec = {
        "dataset": bucket.upload(WEATHER, "weather.csv"),
        "output": bucket.uri("runs"),
        "credentials": {"secretName": KEYS},
        "config": CONFIG,
        "backend": {"type": "local", "cache_dir": bucket.uri("cache"), **backend},
        # The cluster has two cores: pods request little, and use what is free.
        "podTemplate": {"resources": {"requests": {"cpu": "100m", "memory": "512Mi"}}},
    }
    return {"apiVersion": "trainwright.dev/v1alpha1", "kind": "TrainingJob", "metadata": {"name": name}, "spec": spec}


def endless(name: str, bucket: Bucket) -> dict[str, Any]:
    """Return the same job, which does not end by itself."""
    job = weather(name, bucket)
    job["spec"]["config"] = {**CONFIG, "trainer": ENDLESS}
    return job


def on_ray(name: str, bucket: Bucket) -> dict[str, Any]:
    """Return the same job on Ray: a head for the driver, and two workers that train."""
    trainer = {"strategy": "ddp", "num_workers": 2, "resources_per_worker": {"CPU": 1}}
    job = weather(name, bucket, type="ray", trainer=trainer)
    job["spec"]["podTemplate"] = {
        "resources": {"requests": {"cpu": "100m", "memory": "1Gi"}},
        "env": [RAYLET_START_WAIT],
    }
    return job


def preferred(weight: int, labels: Mapping[str, str], **where: Any) -> Mapping[str, Any]:
    """A rule for the scheduler: near the pods with these labels, or away from them, where there is room."""
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": labels}, **where}
    return {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": weight, "podAffinityTerm": term}]}


NEAR_KUBERAY = preferred(50, {"app.kubernetes.io/component": "kuberay-operator"}, namespaceSelector={})
"""On the first node of our own cluster."""


def apply(kubectl: Kubectl, namespace: str, *objects: Mapping[str, Any]) -> None:
    for made in objects:
        kubectl("apply", f"-n={namespace}", "-f", "-", stdin=json.dumps(made))


def ended(kubectl: Kubectl, namespace: str, name: str, seconds: int = 300) -> Mapping[str, Any]:
    """Wait until the job has ended, and return its status."""
    done = "--for=jsonpath={.status.completionTime}"
    kubectl("wait", f"-n={namespace}", f"tj/{name}", done, f"--timeout={seconds}s")
    status: dict[str, Any] = json.loads(kubectl("get", f"-n={namespace}", "tj", name, "-o=json"))["status"]
    return status
