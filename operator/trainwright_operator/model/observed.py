"""What a decision sees: one job, what it has started, and the nodes. Plain data, made by `world` and by `children`.

Times are aware datetimes in UTC.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

from trainwright_api.resource.job import TrainingJobSpec
from trainwright_api.resource.stages import differ
from trainwright_api.resource.status import TrainingJobStatus

Manifest = Mapping[str, Any]
"""A Kubernetes object as plain JSON."""

ChildKind = Literal["Job", "RayJob"]
ChildState = Literal["pending", "running", "suspended", "succeeded", "failed"]


@dataclass(frozen=True)
class Verdict:
    """What the contract says of a spec: the spec where it can be run, the mistakes where it cannot."""

    spec: TrainingJobSpec | None
    digest: str
    """The hash of what is fixed once a job has started; of the raw spec where it is not valid."""
    message: str = ""
    """The mistakes, as `trainwright validate` prints them. Empty where there is none."""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Job:
    """A TrainingJob. A job that has finished keeps of its spec what is needed to clean up (`finished_spec`)."""

    namespace: str
    name: str
    uid: str
    generation: int
    resource_version: str
    created: datetime
    deleting: bool
    suspend: bool
    ttl_seconds: int | None
    ttl_policy: str
    verdict: Verdict | None
    """None for a job that has finished: nothing asks."""
    status: TrainingJobStatus
    raw: Manifest = field(default_factory=dict, compare=False, repr=False)
    """The object as stored, without managedFields. Empty for a job that has finished."""

    @property
    def key(self) -> tuple[str, str]:
        return (self.namespace, self.name)


@dataclass(frozen=True)
class Child:
    """A Job or RayJob of ours, read from its spec and status into one form for both."""

    kind: ChildKind
    namespace: str
    name: str
    uid: str
    job_uid: str
    attempt: int
    phase: str
    created: datetime
    deleting: bool
    state: ChildState
    pods: int = 1
    """How many it is made of. The pod that submits a RayJob comes last, and is not counted."""
    started: datetime | None = None
    """When its pods ran."""
    finished: datetime | None = None
    exit_code: int | None = None
    """Of a RayJob it is read from `status.message`; of a Job it stands in its pods."""
    reason: str = ""
    """Kubernetes' or KubeRay's word for the end, as in DeadlineExceeded."""
    message: str = ""
    """Their text for it. Of a RayJob it ends with the last log lines."""


@dataclass(frozen=True)
class Pod:
    """A pod of a job."""

    namespace: str
    name: str
    uid: str
    job_uid: str
    attempt: int
    node: str | None
    phase: str
    """Kubernetes' own: Pending, Running, Succeeded, Failed, Unknown."""
    work: str = ""
    """The phase of the attempt: the task, or preprocess before it. Empty where a hand has taken its label away."""
    ready: bool = False
    essential: bool = True
    """Whether its loss ends the attempt. Ray replaces a worker within one."""
    deletion_time: datetime | None = None
    """When its grace period is over, once it is being deleted."""
    exit_code: int | None = None
    """Of the training container, once it has ended."""
    termination_message: str = ""
    disrupted: str = ""
    """The reason of the condition DisruptionTarget: a preemption, an eviction, a drained node."""
    reason: str = ""
    """The pod's own, as in Evicted or NodeLost; else the container's, as in OOMKilled."""
    waiting: str = ""
    """Why a container cannot start, as in ImagePullBackOff: and the message."""
    unschedulable: str = ""
    """The scheduler's message, while no node has room."""
    unschedulable_since: datetime | None = None
    scheduled: datetime | None = None
    """When it got its node."""
    started: datetime | None = None
    """When its container ran."""

    @property
    def ended(self) -> bool:
        return self.phase in ("Succeeded", "Failed")

    @property
    def trace(self) -> Pod:
        """What is left of one that was taken off its node, once it has gone: it has failed."""
        return replace(self, phase="Failed")


def of_child(pods: Iterable[Pod], attempt: int, phase: str | None) -> tuple[Pod, ...]:
    """Those of one child among the pods of a job."""
    own = (pod for pod in pods if pod.attempt == attempt)
    return tuple(pod for pod in own if not (pod.work and phase and differ(pod.work, phase)))


@dataclass(frozen=True)
class Taint:
    key: str
    effect: str
    value: str = ""


@dataclass(frozen=True)
class Node:
    name: str
    ready: bool
    unschedulable: bool
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    allocatable: Mapping[str, float]
    """By resource, in its base unit (cores, bytes, pieces)."""


@dataclass(frozen=True, slots=True, order=True)
class Waiting:
    """A job that waits for room on the nodes, and in no queue of Kueue. The oldest comes first."""

    created: str
    uid: str
    gang: bool
    """Whether its pods work together or not at all."""
    trying: bool
    """Whether pods of it may find their places: they are there, and the present nodes could hold them if empty."""


@dataclass(frozen=True)
class World:
    """What there is beside the job. None stands for what nobody has asked for yet, or may not ask for."""

    children: tuple[Child, ...] = ()
    pods: tuple[Pod, ...] = ()
    nodes: tuple[Node, ...] | None = None
    """None: the operator may not look at nodes (an install for single namespaces)."""
    gone: frozenset[str] = frozenset()
    """Names of children that a GET has just not found."""
    fresh: frozenset[str] = frozenset()
    """Names of children that are here as a GET has just found them."""
    pods_fresh: bool = False
    """Whether the pods are as a list has just found them."""
    waiting: tuple[Waiting, ...] = ()
    """All jobs that wait for room, the oldest first; this one may be among them."""
    leaving: bool = False
    """Whether pods of other jobs are being deleted, and still hold their room."""
    in_use: Mapping[str, float] | None = None
    """By node: how much of the job's GPU resource the pods on it have asked for."""
    kuberay: bool = True
    """Whether the cluster knows RayJobs."""
    refused: str = ""
    """Why the API server has just not created what the last plan was to create, in one line."""
