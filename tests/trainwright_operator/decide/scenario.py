"""What the scenarios of this folder begin with: a job whose attempt runs, its pod, and a spec of Ray."""

from __future__ import annotations

from dataclasses import replace

from trainwright_operator.model.observed import Pod

from ..simulation import SPEC, UID, Cluster

RAY = {**SPEC, "backend": {"type": "ray", "trainer": {"num_workers": 2, "resources_per_worker": {"CPU": 2}}}}


def running(**spec: object) -> Cluster:
    cluster = Cluster(spec={**SPEC, **spec})
    cluster.settle()
    cluster.starts()
    cluster.settle()
    return cluster


def pod(cluster: Cluster, **fields: object) -> Pod:
    attempt = cluster.status.attempt or 0
    return replace(Pod("default", f"pod-{attempt}", f"pod-uid-{attempt}", UID, attempt, "node-1", "Running"), **fields)
