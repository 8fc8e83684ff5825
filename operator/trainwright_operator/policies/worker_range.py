"""A range of workers: the size of a job on the nodes that it finds, and whether the operator may change it.

The room is what a node can hold less what the pods of others request. The pods of the job itself do not count, because
another size of the job replaces them.
"""

from __future__ import annotations

from trainwright_api.resource.backend import WorkerRange
from trainwright_api.resource.job import TrainingJobSpec
from trainwright_api.resource.size import asked_resources, asked_workers, search_of
from trainwright_api.resource.stages import TRAINING, backend_of_pods
from trainwright_api.resource.status import Resolved
from trainwright_operator.children.overlay import Role
from trainwright_operator.model.observed import Amounts, Held, Node, Snapshot
from trainwright_operator.policies import pod_requests
from trainwright_operator.policies.capacity import free, most_pods
from trainwright_operator.policies.gpus import workers_within
from trainwright_operator.policies.node_matching import admitting
from trainwright_operator.policy import Policy
from trainwright_operator.settings import Settings


def range_of(spec: TrainingJobSpec) -> WorkerRange | None:
    """Return the range of a job whose workers the cluster chooses. None: their number is fixed, or left open."""
    asked = asked_workers(spec)
    is_sized = backend_of_pods(spec.task, spec.backend.type) == "ray" and search_of(spec) is None
    return asked if isinstance(asked, WorkerRange) and is_sized else None


def why_fixed(spec: TrainingJobSpec, snapshot: Snapshot) -> str:
    """Return why the number of workers of a job with a range stays as it was at the start; "" if it may change."""
    if spec.task not in TRAINING:
        return f"the task {spec.task} has no checkpoint to go on from"
    if spec.entrypoint is not None:
        return "the train function of an entrypoint is not resized"
    if spec.queue_name is not None or any(child.has_queue for child in snapshot.children):
        return "Kueue decides about its room"
    if spec.resize_limit == 0:
        return "resizeLimit is 0"
    return "the operator may not read nodes" if snapshot.nodes is None else ""


def share_of(spec: TrainingJobSpec, resolved: Resolved) -> float:
    """Return the GPUs of each worker of a job whose size was resolved before."""
    return asked_resources(spec).get("GPU") or 1.0 if resolved.gpus else 0.0


def bounds(spec: TrainingJobSpec, share: float, others: Held, policy: Policy) -> WorkerRange | None:
    """Return the range within the maxima of the policy, and within what other jobs leave of those of the namespace.

    The minimum stays: a job that needs more is refused, or waits.
    """
    asked = range_of(spec)
    if asked is None:
        return None
    workers = [policy.max_workers_per_job]
    gpus = [policy.max_gpus_per_job]
    if policy.max_workers_per_namespace:
        workers.append(max(1, policy.max_workers_per_namespace - others.workers))
    if policy.max_gpus_per_namespace:
        gpus.append(max(1, policy.max_gpus_per_namespace - others.gpus))
    most = [one for one in workers if one] + [
        workers_within(one, share, spec.workers_per_pod) for one in gpus if one and share
    ]
    return WorkerRange(min=asked.min, max=max(asked.min, min([asked.max, *most])))


def workers_with_room(
    spec: TrainingJobSpec, within: WorkerRange, share: float, together: int, snapshot: Snapshot, settings: Settings
) -> int:
    """Return the largest number of workers, at most the maximum, that the nodes have room for; 0 if not the minimum.

    `share`: the GPUs of each worker. `together`: the workers in one pod. A snapshot without `in_use` has idle nodes.
    """
    nodes = admitting(pod_requests.scheduling(spec, share, settings), snapshot.nodes or ())
    rooms = {node.name: free(node, (snapshot.in_use or {}).get(node.name, {})) for node in nodes}
    beside = pod_requests.of_pods_beside(spec, settings)
    beside_on = _names(spec, "head", nodes, settings) | _names(spec, "submitter", nodes, settings)

    def pods(of_workers: int) -> float:
        each: Amounts = pod_requests.of_worker_pod(spec, share, of_workers, settings)
        return most_pods(each, beside, rooms, beside_on)

    found = int(min(within.max, pods(together) * together))
    if spec.workers_per_pod == "auto":
        found -= found % together  # the pods of such a job are all full
    elif found < min(together, within.max):
        found = next((few for few in range(min(together, within.max) - 1, 0, -1) if pods(few) >= 1), 0)
    return found if found >= within.min else 0


def _names(spec: TrainingJobSpec, role: Role, nodes: tuple[Node, ...], settings: Settings) -> frozenset[str]:
    return frozenset(node.name for node in admitting(pod_requests.template(spec, role, settings), nodes))
