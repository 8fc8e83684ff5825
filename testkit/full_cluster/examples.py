"""The files of `examples` as jobs for the tests' cluster, with the necessary changes only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from testkit.cluster.images.ours import ROOT
from testkit.full_cluster import jobs
from testkit.full_cluster.volume import StorageLocation

EXAMPLES = ROOT / "examples"
FLIGHTS = EXAMPLES / "small" / "flights.csv"
# The cluster has two cores: pods request little, and use what is free.
REQUESTS = {"cpu": "100m", "memory": "512Mi"}
BACKENDS: dict[str, dict[str, Any]] = {
    "local": {"type": "local"},
    "ray": {
        "type": "ray",
        "processor": {"type": "pandas"},
        "trainer": {"strategy": "ddp", "num_workers": 2, "resources_per_worker": {"CPU": 1}},
    },
    "horovod": {"type": "horovod", "trainer": {"num_workers": 2, "resources_per_worker": {"CPU": 1}}},
}
KIND = {"apiVersion": "trainwright.dev/v1alpha1", "kind": "TrainingJob"}


def of_kubernetes(name: str) -> tuple[Path, str]:
    """Return the file of an example for a cluster, and the name of its job."""
    file = EXAMPLES / "kubernetes" / f"{name}.yaml"
    return file, YAML(typ="safe").load(file)["metadata"]["name"]


def small_flights(place: StorageLocation, backend: str) -> dict[str, Any]:
    """Return `flights.yaml` for this backend, with its own cache. The caller uploads the data."""
    job = YAML(typ="safe").load(EXAMPLES / "small" / "flights.yaml")
    job["metadata"]["name"] = f"flights-{backend}"
    job["spec"] |= {
        **place.spec,
        "dataset": f"{place.root}{FLIGHTS.name}",
        "output": f"{place.root}runs",
        "backend": {**BACKENDS[backend], "cache_dir": f"{place.root}cache-{backend}"},
    }
    return _modest(job)


def on_two_workers(name: str, place: StorageLocation, dataset: str, epochs: int) -> dict[str, Any]:
    """Return `<name>/<name>.yaml` for two workers of Ray, with these data in the place and few epochs."""
    spec = YAML(typ="safe").load(EXAMPLES / name / f"{name}.yaml")
    spec["config"]["trainer"]["epochs"] = epochs
    backend = {**BACKENDS["ray"], "cache_dir": f"{place.root}cache"}
    spec |= {**place.spec, "dataset": dataset, "output": f"{place.root}runs", "backend": backend}
    return _modest({**KIND, "metadata": {"name": name}, "spec": spec})


def predictions(place: StorageLocation, backend: str, model: str) -> dict[str, Any]:
    """Return a job that predicts the small flights with this model."""
    job = small_flights(place, backend)
    del job["spec"]["config"]
    job["metadata"]["name"] = f"predictions-{backend}"
    job["spec"] |= {"task": "predict", "model": model}
    return job


def _modest(job: dict[str, Any]) -> dict[str, Any]:
    pods = job["spec"].get("podTemplate", {})
    resources = {**pods.get("resources", {}), "requests": REQUESTS}
    job["spec"]["podTemplate"] = {**pods, "resources": resources, "env": [jobs.RAYLET_START_WAIT]}
    return job
