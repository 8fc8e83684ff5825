"""Determines the number of workers and GPUs, from the spec, or from the free GPUs where the spec leaves it open.

It is decided once, when the first attempt is assigned; `status.resolved` keeps it. Only a job with a range of workers
gets another number with a later attempt.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from trainwright_api.resource.job import TrainingJobSpec
from trainwright_api.resource.size import asked_resources, asked_workers, search_of, workers_per_trial
from trainwright_api.resource.stages import backend_of_pods
from trainwright_api.resource.status import Attempt, Resolved, Room
from trainwright_operator.model.observed import Node, Snapshot
from trainwright_operator.model.plan import Lookup
from trainwright_operator.policies.gpus import reserved, workers_within
from trainwright_operator.policies.images import images
from trainwright_operator.policies.node_matching import admitting, kept_off
from trainwright_operator.policies.pod_requests import scheduling
from trainwright_operator.policies.resizing import next_size
from trainwright_operator.policies.worker_range import bounds, share_of, workers_with_room
from trainwright_operator.policy import Policy
from trainwright_operator.settings import Settings


def resolve(spec: TrainingJobSpec, digest: str, snapshot: Snapshot, settings: Settings) -> Resolved | Lookup:
    """Return the resolved values of the job, or the data that must be read first."""
    found = Resolved(digest=digest, gpus=0, **images(spec, settings))
    if spec.entrypoint is None:
        found = found.model_copy(update={"strategy": spec.backend.strategy, "seed": spec.seed})
    if backend_of_pods(spec.task, spec.backend.type) == "local":
        return found.model_copy(update={"workers": 1, "workers_per_pod": 1})
    # As pods with GPUs: which nodes admit pods without them matters to no size that the nodes decide.
    nodes = admitting(scheduling(spec, 1.0, settings), snapshot.nodes or ())
    share = gpu_share(spec, nodes)
    workers = _workers(spec, nodes, share, snapshot, settings)
    if isinstance(workers, Lookup):
        return workers
    together = _together(spec, workers, share, tuple(_room(node, spec, snapshot) for node in nodes))
    gpus = reserved(workers, together, share)
    return found.model_copy(update={"workers": workers, "workers_per_pod": together, "gpus": gpus})


def resized(
    spec: TrainingJobSpec,
    resolved: Resolved,
    last: Attempt | None,
    room: Room | None,
    snapshot: Snapshot,
    settings: Settings,
) -> Resolved | Lookup:
    """Return the values of a job with a range of workers for the attempt after `last`, with the number that fits now.

    `room`: what the status has. All values but the numbers of workers and GPUs stay.
    """
    share, workers = share_of(spec, resolved), resolved.workers or 1
    within = bounds(spec, share, snapshot.others, settings.policy)
    if within is None:
        return resolved
    if snapshot.in_use is None:
        return Lookup("in_use")
    given = spec.workers_per_pod
    together = given if isinstance(given, int) else resolved.workers_per_pod or 1
    fitting = workers_with_room(spec, within, share, together, snapshot, settings)
    found = next_size(last, workers, fitting, room, within.min)
    together = min(together, found)
    sizes = {"workers": found, "workers_per_pod": together, "gpus": reserved(found, together, share)}
    return resolved if found == workers else resolved.model_copy(update=sizes)


def gpu_share(spec: TrainingJobSpec, nodes: Iterable[Node]) -> float:
    """Return the GPUs of each worker: the spec's value, else 1 if a node that admits the pods has GPUs."""
    trainer = spec.backend.trainer
    asked = asked_resources(spec).get("GPU")
    if trainer.use_gpu is False:
        return 0.0
    if asked is not None:
        return asked
    present = any(node.allocatable.get(spec.gpu_resource_name, 0.0) > 0 for node in nodes)
    return 1.0 if trainer.use_gpu or present else 0.0


def why_without_gpus(spec: TrainingJobSpec, nodes: Iterable[Node], settings: Settings) -> str:
    """Return which taint keeps a job from the GPUs of the nodes that it would use; "" if none does."""
    is_open = spec.backend.trainer.use_gpu is None and "GPU" not in asked_resources(spec)
    with_gpus = [node for node in nodes if node.allocatable.get(spec.gpu_resource_name, 0.0) > 0]
    found = kept_off(scheduling(spec, 1.0, settings), with_gpus)
    if backend_of_pods(spec.task, spec.backend.type) == "local" or not is_open or found is None:
        return ""
    node, taint = found
    words = f"{taint.key}={taint.value}:{taint.effect}" if taint.value else f"{taint.key}:{taint.effect}"
    return f"to use those of node {node.name}, tolerate its taint {words} in podTemplate.worker.tolerations"


def _workers(
    spec: TrainingJobSpec, nodes: tuple[Node, ...], share: float, snapshot: Snapshot, settings: Settings
) -> int | Lookup:
    asked, together = asked_workers(spec), workers_per_trial(spec)
    if isinstance(asked, int):
        return asked
    within = bounds(spec, share, snapshot.others, settings.policy)
    if snapshot.nodes is None or (share == 0 and within is None):
        return within.min if within is not None else together
    if snapshot.in_use is None:
        return Lookup("in_use")
    if within is not None:
        in_a_pod = spec.workers_per_pod if isinstance(spec.workers_per_pod, int) else 1
        return max(within.min, workers_with_room(spec, within, share, in_a_pod, snapshot, settings))
    room = sum(workers_within(_room(node, spec, snapshot), share, spec.workers_per_pod) for node in nodes)
    found = math.floor(min(room, settings.max_workers, _allowed(spec, share, settings.policy), _most_useful(spec)))
    return max(together, found - found % together)


def _most_useful(spec: TrainingJobSpec) -> float:
    """Return the workers of all trials of a search: more of them would have no trial."""
    trials = None if search_of(spec) is None else search_of(spec).number_of_trials
    return math.inf if trials is None else trials * workers_per_trial(spec)


def _allowed(spec: TrainingJobSpec, share: float, policy: Policy) -> float:
    """Return the workers that the policy allows to a job that leaves their number open."""
    by_gpus = workers_within(policy.most_gpus, share, spec.workers_per_pod) if policy.most_gpus else math.inf
    return min(policy.most_workers or math.inf, by_gpus)


def _room(node: Node, spec: TrainingJobSpec, snapshot: Snapshot) -> float:
    """Return the node's GPUs: all of them for a fixed number of workers, since the job may wait, else the free ones."""
    in_use = 0.0 if isinstance(asked_workers(spec), int) else _used(node, spec, snapshot)
    return max(0.0, node.allocatable.get(spec.gpu_resource_name, 0.0) - in_use)


def _used(node: Node, spec: TrainingJobSpec, snapshot: Snapshot) -> float:
    return (snapshot.in_use or {}).get(node.name, {}).get(spec.gpu_resource_name, 0.0)


def _together(spec: TrainingJobSpec, workers: int, share: float, rooms: tuple[float, ...]) -> int:
    """Return the number of workers in one pod.

    With auto: the largest count that divides the workers evenly and fits the GPUs of the largest node. If the nodes can
    only hold all pods with a smaller count, that count is used. A cluster that is too small may still grow.
    """
    if isinstance(spec.workers_per_pod, int):
        return min(spec.workers_per_pod, workers)
    most = workers_within(max(rooms, default=0.0), share, "auto") if share else 1
    counts = [count for count in range(max(1, min(most, workers)), 0, -1) if workers % count == 0]
    placed = (count for count in counts if sum(workers_within(room, share, count) for room in rooms) >= workers)
    return next(placed, counts[0]) if share else 1
