"""The ConfigMap that every pod of a job mounts: its `job.yaml`, and the certificate authority to post to.

`job.yaml` is the job as `trainwright run` reads it: what pods need and no more, with everything written in that was
resolved, and with paths in the place of keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainwright_api.resource.canonical import canonical
from trainwright_api.resource.job import API_VERSION, KIND
from trainwright_operator.children.child_spec import ChildSpec
from trainwright_operator.children.identity import support_metadata
from trainwright_operator.children.secret import CACHE, dictionaries, path_of
from trainwright_operator.kube import json_text
from trainwright_operator.model.observed import Manifest

JOB_KEY = "job.yaml"
CA_KEY = "ca.crt"
FOR_PODS = ("task", "dataset", "config", "model", "entrypoint", "resumeFrom", "output", "checkpoint")
"""Copied as they are; backend, seed and workersPerPod are completed. All else is the operator's, and stays with it."""
READABLE_CHARACTERS = 400_000
"""A longer job is written without line breaks: a ConfigMap holds no more than 1 MiB."""


def config_map(blueprint: ChildSpec) -> Manifest:
    ca = {CA_KEY: blueprint.ca} if blueprint.ca else {}
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": support_metadata(blueprint),
        "immutable": True,
        "data": {JOB_KEY: _text(job_document(blueprint)), **ca},
    }


def job_document(blueprint: ChildSpec) -> dict[str, Any]:
    """The content of `job.yaml`. No key of a dictionary of credentials is in it."""
    spec = canonical(blueprint.spec)
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": blueprint.job.name, "namespace": blueprint.job.namespace},
        "spec": {
            **{key: spec[key] for key in FOR_PODS if key in spec},
            "backend": _backend(blueprint, spec.get("backend", {})),
            "seed": blueprint.spec.seed if blueprint.resolved.seed is None else blueprint.resolved.seed,
            "workersPerPod": blueprint.workers_per_pod,
        },
    }


def _backend(blueprint: ChildSpec, given: Mapping[str, Any]) -> dict[str, Any]:
    backend = {**given, **_paths(blueprint, given)}
    if blueprint.has_trainer:
        trainer = given.get("trainer") or {}
        open_keys = {key: value for key, value in _resolved(blueprint).items() if trainer.get(key) is None}
        backend["trainer"] = {**trainer, **open_keys}
    return backend


def _resolved(blueprint: ChildSpec) -> dict[str, Any]:
    """What the file may leave to the cluster, and a pod must never derive again."""
    return {
        "strategy": blueprint.resolved.strategy or blueprint.spec.backend.strategy,
        "use_gpu": bool(blueprint.resolved.gpus),
        "num_workers": blueprint.workers,
        "resources_per_worker": dict(blueprint.resources_per_worker),
    }


def _paths(blueprint: ChildSpec, given: Mapping[str, Any]) -> dict[str, Any]:
    """Paths of the mounted files, where the job's file has the keys themselves."""
    paths = {name: path_of(name) for name in dictionaries(blueprint.spec.backend)}
    cache = {CACHE: paths.pop(CACHE)} if CACHE in paths else {}
    return {**cache, "credentials": {**given["credentials"], **paths}} if paths else cache


def _text(document: Mapping[str, Any]) -> str:
    text = json_text.dumps(document, indent=2)
    if len(text) > READABLE_CHARACTERS:
        text = json_text.dumps(document)
    return text + "\n"
