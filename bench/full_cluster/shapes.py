"""The applied objects: our TrainingJob, and for the baseline a hand-written Job or RayJob of the same shape."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from testkit.api import Manifest
from testkit.full_cluster import jobs, restricted
from testkit.full_cluster.bucket import Bucket

WEATHER = jobs.WEATHER
HERE = Path(__file__).parent
FOLDER = "/event-reporter"
CONFIG_MAP = "event-reporter"
WORKERS = 2
BATCH = 128
"""Rows per step, over all workers. Fixed, as in the baseline, because a batch size search would come first."""
# Marks in our processes, seen from outside. Rank 0 of two prepares the data first, then rank 1.
OURS: Mapping[str, Any] = {
    "program": "trainwright",
    "after": {
        "trainwright_trainer.backends.ray.channel": {"RayChannel.__init__": "at work"},
        "trainwright_trainer.data.preprocess": {"prepare": "data read"},
        "trainwright_trainer.loop.row_log": {"RowLog.write": "stepped"},
    },
}
BASELINE: Mapping[str, Any] = {"program": "baseline.py", "after": {}}
VOLUME = {"name": CONFIG_MAP, "configMap": {"name": CONFIG_MAP}}
MOUNT = {"name": CONFIG_MAP, "mountPath": FOLDER, "readOnly": True}
# The same small requests as in the tests: the node has two cores for a whole cluster.
SMALL = {"local": {"cpu": "100m", "memory": "512Mi"}, "ray": {"cpu": "100m", "memory": "1Gi"}}
HEAD = {"cpu": "250m", "memory": "1Gi"}
SUBMITTER = {"cpu": "100m", "memory": "256Mi"}


def config_map() -> Manifest:
    files = {"sitecustomize.py": "event_reporter.py", "baseline.py": "baseline.py"}
    data = {name: (HERE / file).read_text() for name, file in files.items()}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": CONFIG_MAP}, "data": data}


def ours(name: str, backend: str, bucket: Bucket, address: tuple[str, int]) -> Manifest:
    """A job with a cache of its own, so that no data is prepared yet."""
    job = {"local": jobs.weather, "ray": jobs.on_ray}[backend](name, bucket)
    config: dict[str, Any] = job["spec"]["config"]
    batch_size = BATCH // (WORKERS if backend == "ray" else 1)
    job["spec"]["config"] = {**config, "trainer": {**config["trainer"], "batch_size": batch_size}}
    job["spec"]["backend"]["cache_dir"] = bucket.uri(f"cache-{name}")
    return timed(job, address)


def timed(job: Manifest, address: tuple[str, int]) -> Manifest:
    """The TrainingJob with the event reporter in its pods."""
    template = job["spec"].setdefault("podTemplate", {})
    job["spec"]["podTemplate"] = {
        **template,
        "env": environment(OURS, address),
        "volumes": [VOLUME],
        "volumeMounts": [MOUNT],
    }
    return job


def baseline(name: str, backend: str, dataset: str, image: str, address: tuple[str, int]) -> Manifest:
    made = {"local": _job, "ray": _ray_job}[backend]
    return made(name, dataset, image, environment(BASELINE, address))


def environment(settings: Mapping[str, Any], address: tuple[str, int]) -> list[dict[str, str]]:
    values = {
        "PYTHONPATH": FOLDER,
        "TIMER": json.dumps({"address": address, **settings}),
    }
    return [*({"name": name, "value": value} for name, value in values.items()), jobs.RAYLET_START_WAIT]


def _job(name: str, dataset: str, image: str, env: list[dict[str, str]]) -> Manifest:
    spec = _pod("trainer", image, env, SMALL["local"], command=["python", f"{FOLDER}/baseline.py", dataset])
    made = {"backoffLimit": 0, "template": {"spec": spec}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": made}


def _ray_job(name: str, dataset: str, image: str, env: list[dict[str, str]]) -> Manifest:
    workers = {
        "groupName": "workers",
        **dict.fromkeys(("replicas", "minReplicas", "maxReplicas"), WORKERS),
        "rayStartParams": {"num-cpus": "1"},
        "template": {"spec": _pod("ray", image, env, SMALL["ray"])},
    }
    ports = [{"name": name, "containerPort": port} for name, port in {"gcs-server": 6379, "dashboard": 8265}.items()]
    head = {
        "rayStartParams": {"num-cpus": "0", "dashboard-host": "0.0.0.0"},
        "template": {"spec": _pod("ray", image, env, HEAD, ports=ports)},
    }
    submitter = restricted.spec("submitter", image, resources={"requests": SUBMITTER})
    spec = {
        "entrypoint": f"python {FOLDER}/baseline.py {dataset} {WORKERS}",
        "submissionMode": "K8sJobMode",
        "submitterPodTemplate": {"spec": submitter},
        "shutdownAfterJobFinishes": True,
        "rayClusterSpec": {
            "rayVersion": version("ray"),
            "authOptions": {"mode": "token"},
            "headGroupSpec": head,
            "workerGroupSpecs": [workers],
        },
    }
    return {"apiVersion": "ray.io/v1", "kind": "RayJob", "metadata": {"name": name}, "spec": spec}


def _pod(
    container: str, image: str, env: list[dict[str, str]], requests: Mapping[str, str], **fields: Any
) -> dict[str, Any]:
    made = restricted.spec(container, image, resources={"requests": dict(requests)}, **fields)
    made["volumes"].append(VOLUME)
    (one,) = made["containers"]
    one["env"] += env
    one["envFrom"] = [{"secretRef": {"name": jobs.KEYS}}]
    one["volumeMounts"].append(MOUNT)
    return made
