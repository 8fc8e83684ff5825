"""The input of a decision: one job, its children and pods, and the nodes. `informer` and `children` create this data.

Times are aware datetimes in UTC.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

from trainwright_api.checks.cluster import ValidationResult
from trainwright_api.resource.stages import differ
from trainwright_api.resource.status import TrainingJobStatus

Manifest = Mapping[str, Any]
"""A Kubernetes object as plain JSON."""
Amounts = Mapping[str, float]
"""Amounts by resource, in base units (cores, bytes, pieces)."""

OUT_OF_MEMORY = "OOMKilled"
"""The kubelet's reason for a container that the kernel has killed because memory was short."""
EVICTED = "Evicted"
"""The kubelet's reason for a pod that it has ended because its node ran out of memory or disk."""

ChildState = Literal["pending", "running", "suspended", "succeeded", "failed"]


@dataclass(frozen=True)
class Job:
    """A TrainingJob. A finished job has only the fields that the clean-up needs."""

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
    validation: ValidationResult | None
    """None for a finished job, which is not validated."""
    status: TrainingJobStatus
    unreadable: str = ""
    """The reason for which its status cannot be read; then `status` is empty."""
    raw: Manifest = field(default_factory=dict, compare=False, repr=False)
    """The object as stored, without managedFields. Empty for a finished job."""

    @property
    def key(self) -> tuple[str, str]:
        return (self.namespace, self.name)


@dataclass(frozen=True)
class Child:
    """A child of any kind, such as a Job or RayJob, read from its spec and status into one form."""

    kind: str
    namespace: str
    name: str
    uid: str
    job_uid: str
    attempt: int
    stage: str
    created: datetime
    deleting: bool
    state: ChildState
    record: str = ""
    """The record of the job from the time when the child was created (`record.py`)."""
    pods: int = 1
    """The number of its pods, without the one that submits a RayJob."""
    pending_after_pods: bool = False
    """True if its state becomes pending again between the end of its pods and its own end."""
    started: datetime | None = None
    """The time when its pods started to run."""
    finished: datetime | None = None
    exit_code: int | None = None
    """None if only the pods hold it."""
    reason: str = ""
    """The reason for the end, as Kubernetes or KubeRay gives it, as in DeadlineExceeded."""
    message: str = ""
    """The message for the end."""
    log_tail: str = ""
    """The last log lines, if the child's status holds them."""
    pods_refused: str = ""
    """Why its pods cannot be created, if the child's status holds it."""
    has_queue: bool = False
    """True if it has the label of a queue of Kueue, which Kueue itself sets in a namespace with a default queue."""


@dataclass(frozen=True, slots=True)
class Owner:
    """The controller of an object, as its owner reference names it."""

    kind: str
    group: str
    """The API group of its kind."""
    name: str
    uid: str


@dataclass(frozen=True)
class Pod:
    """A pod of a job."""

    namespace: str
    name: str
    uid: str
    job_uid: str
    """The job that its label names; its chain of owner references shows if that is true."""
    attempt: int
    node: str | None
    phase: str
    """The pod's phase: Pending, Running, Succeeded, Failed, Unknown."""
    stage: str = ""
    """The stage of the attempt: the task, or preprocess before it."""
    ready: bool = False
    essential: bool = True
    """True if its loss ends the attempt. Ray replaces a lost worker within an attempt."""
    deletion_time: datetime | None = None
    """The end of its grace period, if it is being deleted."""
    exit_code: int | None = None
    """The exit code of the training container, if it has ended."""
    init_failure: str = ""
    """The init container that has failed, and how."""
    termination_message: str = ""
    disrupted: str = ""
    """The reason of the condition DisruptionTarget: a preemption, an eviction, or a drained node."""
    disruption: str = ""
    """The message of that condition."""
    reason: str = ""
    """The reason of the pod, as in Evicted or NodeLost, else of its container, as in OOMKilled."""
    memory_limit: str = ""
    """The memory limit of its container that was killed for memory."""
    waiting: str = ""
    """The reason why a container cannot start, as in ImagePullBackOff, and the message."""
    waiting_image: str = ""
    """The image of that container."""
    unschedulable: str = ""
    """The scheduler's message while no node has room."""
    unschedulable_since: datetime | None = None
    scheduled: datetime | None = None
    """The time when it was assigned to a node."""
    started: datetime | None = None
    """The time when its container started."""
    owner: Owner | None = None

    @property
    def ended(self) -> bool:
        return self.phase in ("Succeeded", "Failed")

    @property
    def trace(self) -> Pod:
        """The record that is kept of a pod that was evicted and has gone: the same pod, marked as failed."""
        return replace(self, phase="Failed")


def of_child(pods: Iterable[Pod], attempt: int, stage: str | None) -> tuple[Pod, ...]:
    """Return the pods of one child, by the attempt and its stage."""
    own = (pod for pod in pods if pod.attempt == attempt)
    return tuple(pod for pod in own if not (pod.stage and stage and differ(pod.stage, stage)))


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
    allocatable: Amounts


@dataclass(frozen=True, slots=True, order=True)
class Waiting:
    """A job that waits for room on the nodes, and not in a queue of Kueue. The oldest sorts first."""

    created: str
    uid: str
    gang: bool
    """True if its pods can only work all together."""
    trying: bool
    """True if its pods exist and may be scheduled."""
    gpus: int = 0
    """The GPUs that it waits for."""


@dataclass(frozen=True, slots=True)
class Held:
    """The workers and the GPUs that a job needs, or that several jobs hold."""

    workers: int = 0
    gpus: int = 0

    def __add__(self, other: Held) -> Held:
        return Held(self.workers + other.workers, self.gpus + other.gpus)


@dataclass(frozen=True)
class Snapshot:
    """The state of the cluster around one job. None: the data is not read yet, or may not be read."""

    children: tuple[Child, ...] = ()
    pods: tuple[Pod, ...] = ()
    nodes: tuple[Node, ...] | None = None
    """None if the operator may not read nodes (an installation for single namespaces)."""
    gone: frozenset[str] = frozenset()
    """The names of children that a GET has just reported as not found."""
    fresh: frozenset[str] = frozenset()
    """The names of children that a GET has just read."""
    pods_fresh: bool = False
    """True if a list has just read the pods."""
    waiting: tuple[Waiting, ...] = ()
    """All jobs that wait for room, the oldest first. This job may be among them."""
    others_stopping: bool = False
    """True if pods of other jobs are being deleted and still hold their room."""
    others: Held = Held()
    """The workers and GPUs of the open attempts of all other jobs in the namespace."""
    others_waiting: tuple[Waiting, ...] = ()
    """The other jobs that wait for room."""
    others_crowded: bool = False
    """True if another job of the namespace waits for the maximum of the policy."""
    in_use: Mapping[str, Amounts] | None = None
    """The requests of the pods of other jobs and programs, by node."""
    missing_kinds: frozenset[str] = frozenset()
    """The kinds of children that the API server does not know."""
    queued: Mapping[str, str] = field(default_factory=dict)
    """By the uid of a child that Kueue manages: what its Workload waits for. It is for display and decides nothing."""
    pods_refused: str | None = None
    """Why pods of the child cannot be created, as its events say; "" if they do not. None: the events are not read."""
    refused: str = ""
    """The reason, in one line, for which the API server has just rejected an object of the last plan."""
