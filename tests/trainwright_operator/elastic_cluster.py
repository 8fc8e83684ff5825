"""A job with a range of workers on nodes that come and go, in steps of ten seconds.

The scheduler and KubeRay are simulated in memory: a pod takes the first node with room, lost workers are replaced, and
a driver that is asked to stop ends with exit code 75. The decisions are the operator's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from trainwright_operator.model.observed import Child, Node, Pod
from trainwright_operator.policies.pod_requests import of_pods_beside, of_worker_pod
from trainwright_operator.settings import Settings

from .simulation import SETTINGS, SPEC, UID, Cluster

GPU = "nvidia.com/gpu"
STEP = 10
Room = dict[str, dict[str, float]]


def node(name: str, gpus: float = 0, cpus: float = 16.0) -> Node:
    return Node(name, True, False, {}, (), {"cpu": cpus, "memory": 2.0**40, "pods": 110.0, GPU: gpus})


def elastic_spec(least: int = 1, most: int = 4, *, gpu: bool = True, **spec: Any) -> dict[str, Any]:
    trainer = {"num_workers": {"min": least, "max": most}, "use_gpu": gpu}
    config = {**SPEC["config"], "trainer": {"effective_batch_size": 64}}
    return {**SPEC, "config": config, "backend": {"type": "ray", "cache_dir": "/cache", "trainer": trainer}, **spec}


@dataclass
class ElasticCluster(Cluster):
    hidden: float = 0.0
    """CPUs of each node that pods cannot have, although the operator believes it."""
    taken: Room = field(default_factory=dict)
    """By node: what other jobs request."""

    def pass_time(self, seconds: int) -> None:
        for _ in range(0, seconds, STEP):
            self.wait(STEP)
            self.in_use = self.taken
            self._kuberay()
            self.settle()

    @property
    def workers(self) -> int:
        """The workers of the attempt that runs; 0 if none does."""
        child = next(iter(self.children.values()), None)
        return child.pods - 1 if child is not None and child.state == "running" else 0

    def leaves(self, name: str) -> None:
        """The node is deleted, and its pods with it."""
        self.nodes = tuple(one for one in self.nodes or () if one.name != name)
        lost = [pod for pod in self.pods.values() if pod.node == name]
        self.pods = {pod.name: pod for pod in self.pods.values() if pod not in lost}
        if any(pod.essential for pod in lost) and self.children:
            self.ends(exit_code=1)

    def joins(self, *nodes: Node) -> None:
        self.nodes = (*(self.nodes or ()), *nodes)

    def _kuberay(self) -> None:
        child = next(iter(self.children.values()), None)
        self.pods = {name: pod for name, pod in self.pods.items() if child is not None and pod.attempt == child.attempt}
        if child is None or child.state in ("succeeded", "failed"):
            return
        current = self.status.attempts[-1] if self.status.attempts else None
        if current is not None and current.stop_time and child.state == "running":
            self.ends(exit_code=75)
            return
        for pod in self._wanted(child):
            if pod.name not in self.pods or self.pods[pod.name].node is None:
                self.pods[pod.name] = self._scheduled(self.pods.get(pod.name, pod))
        if child.state == "pending" and all(pod.node for pod in self.pods.values()):
            self.starts()

    def _wanted(self, child: Child) -> Iterator[Pod]:
        for name in ("head", *(f"worker-{index}" for index in range(child.pods - 1))):
            pod = Pod("default", name, f"{child.name}-{name}", UID, child.attempt, None, "Pending", child.stage)
            yield replace(pod, essential=name == "head")

    def _scheduled(self, pod: Pod) -> Pod:
        asked = self._asked(pod)
        for one in self.nodes or ():
            room = self._room(one)
            if all(room.get(name, 0.0) >= amount - 1e-9 for name, amount in asked.items()):
                return replace(
                    pod, node=one.name, phase="Running", scheduled=self.now, started=self.now, unschedulable=""
                )
        since = pod.unschedulable_since or self.now
        return replace(pod, unschedulable="0/1 nodes are available", unschedulable_since=since)

    def _room(self, one: Node) -> dict[str, float]:
        found = {name: amount - self.taken.get(one.name, {}).get(name, 0.0) for name, amount in one.allocatable.items()}
        found["cpu"] -= self.hidden
        for pod in self.pods.values():
            if pod.node == one.name:
                for name, amount in self._asked(pod).items():
                    found[name] = found.get(name, 0.0) - amount
        return found

    def _asked(self, pod: Pod) -> dict[str, float]:
        """Return the pod's requests. The head's include those of the submitter, which has no pod here."""
        spec = self.job().validation
        assert spec is not None
        assert spec.spec is not None
        if pod.essential:
            return dict(of_pods_beside(spec.spec, self.settings))
        share = 1.0 if self.spec["backend"]["trainer"]["use_gpu"] else 0.0
        return dict(of_worker_pod(spec.spec, share, 1, self.settings))


def started(*gpus: float, settings: Settings = SETTINGS, **spec: object) -> ElasticCluster:
    """Return a cluster whose job runs, on a node for its head and nodes with these GPUs."""
    nodes = (node("head"), *(node(f"gpus-{index}", count) for index, count in enumerate(gpus)))
    cluster = ElasticCluster(spec=elastic_spec(**spec), nodes=nodes, settings=settings)
    cluster.settle()
    cluster.pass_time(20)
    return cluster
