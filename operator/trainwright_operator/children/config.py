"""The ConfigMap that every pod of a job mounts: `job.yaml`, and the CAs of the progress endpoint.

`job.yaml` is the job as `trainwright run` reads it: only the fields that pods need, with all resolved values, and with
file paths in place of credentials.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainwright_api.resource.canonical import canonical
from trainwright_api.resource.job import API_VERSION, FIXED, KIND
from trainwright_api.resource.size import search_of
from trainwright_operator.children.child_spec import ChildSpec
from trainwright_operator.children.identity import support_metadata
from trainwright_operator.children.secret import CACHE, dictionaries, path_of
from trainwright_operator.kube import serializer
from trainwright_operator.model.observed import Manifest

JOB_KEY = "job.yaml"
CA_KEY = "ca.crt"
_COMPLETED = ("backend", "seed")
FOR_PODS = tuple(name for name in FIXED if name not in _COMPLETED)
"""Fields that are copied unchanged. backend, seed and workersPerPod are completed. Pods do not get the other fields."""
READABLE_CHARACTERS = 400_000
"""A longer job is written without line breaks, because a ConfigMap holds at most 1 MiB."""


def config_map(child_spec: ChildSpec) -> Manifest:
    ca = {CA_KEY: child_spec.ca} if child_spec.ca else {}
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": support_metadata(child_spec),
        "immutable": True,
        "data": {JOB_KEY: _text(job_document(child_spec)), **ca},
    }


def job_document(child_spec: ChildSpec) -> dict[str, Any]:
    """Return the content of `job.yaml`. It contains no inline credentials."""
    spec = canonical(child_spec.spec)
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": child_spec.job.name, "namespace": child_spec.job.namespace},
        "spec": {
            **{key: spec[key] for key in FOR_PODS if key in spec},
            "backend": _backend(child_spec, spec.get("backend", {})),
            **_seed(child_spec),
            "workersPerPod": child_spec.workers_per_pod,
        },
    }


def _seed(child_spec: ChildSpec) -> dict[str, Any]:
    """Return the seed. The train function of an entrypoint has no seed of ours: the trainer refuses one."""
    if child_spec.spec.entrypoint is not None:
        return {}
    return {"seed": child_spec.spec.seed if child_spec.resolved.seed is None else child_spec.resolved.seed}


def _backend(child_spec: ChildSpec, given: Mapping[str, Any]) -> dict[str, Any]:
    backend = {**given, **_paths(child_spec, given)}
    if child_spec.has_trainer and search_of(child_spec.spec) is None:  # a trial has sizes of its own
        trainer = given.get("trainer") or {}
        open_keys = {key: value for key, value in _resolved(child_spec).items() if trainer.get(key) is None}
        backend["trainer"] = {**trainer, **open_keys}
    return backend


def _resolved(child_spec: ChildSpec) -> dict[str, Any]:
    """Return the trainer's fields that the job's file can leave open. A pod must not resolve them again."""
    spec = child_spec.spec
    # The train function of an entrypoint chooses its strategy itself.
    strategy = {} if spec.entrypoint else {"strategy": child_spec.resolved.strategy or spec.backend.strategy}
    return {
        **strategy,
        "use_gpu": bool(child_spec.resolved.gpus),
        "num_workers": child_spec.workers,
        "resources_per_worker": dict(child_spec.resources_per_worker),
    }


def _paths(child_spec: ChildSpec, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the paths of the mounted files, for credentials that the job's file gives inline."""
    paths = {name: path_of(name) for name in dictionaries(child_spec.spec.backend)}
    cache = {CACHE: paths.pop(CACHE)} if CACHE in paths else {}
    return {**cache, "credentials": {**given["credentials"], **paths}} if paths else cache


def _text(document: Mapping[str, Any]) -> str:
    text = serializer.dumps(document, indent=2)
    if len(text) > READABLE_CHARACTERS:
        text = serializer.dumps(document)
    return text + "\n"
