"""How many workers, on how many GPUs: what the job says, and where it leaves that to the cluster, what is free there.

Decided once, when the first attempt is named; `status.resolved` keeps it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from trainwright_api.backend import WorkerRange
from trainwright_api.job import TrainingJobSpec
from trainwright_api.status import Resolved
from trainwright_operator.decided import Ask
from trainwright_operator.observed import Node, World
from trainwright_operator.policies.places import admitting
from trainwright_operator.settings import Settings


def resolve(spec: TrainingJobSpec, digest: str, world: World, settings: Settings) -> Resolved | Ask:
    """What the job starts with, or what must be asked first."""
    found = Resolved(
        digest=digest, strategy=spec.backend.strategy, seed=spec.seed, image=spec.image or settings.image, gpus=0
    )
    if spec.backend.type == "local":
        return found.model_copy(update={"workers": 1, "workers_per_pod": 1})
    nodes = admitting(_scheduling(spec), world.nodes or ())
    share = gpu_share(spec, nodes)
    workers = _workers(spec, nodes, share, world, settings)
    if isinstance(workers, Ask):
        return workers
    together = _together(spec, workers, share, nodes)
    return found.model_copy(
        update={"workers": workers, "workers_per_pod": together, "gpus": math.ceil(workers * share - 1e-9)}
    )


def gpu_share(spec: TrainingJobSpec, nodes: Iterable[Node]) -> float:
    """GPUs of each worker: as the job says, else 1 where a node that admits its pods has any."""
    trainer = spec.backend.trainer
    asked = (trainer.resources_per_worker or {}).get("GPU")
    if trainer.use_gpu is False:
        return 0.0
    if asked is not None:
        return asked
    present = any(node.allocatable.get(spec.gpu_resource_name, 0.0) > 0 for node in nodes)
    return 1.0 if trainer.use_gpu or present else 0.0


def _workers(
    spec: TrainingJobSpec, nodes: tuple[Node, ...], share: float, world: World, settings: Settings
) -> int | Ask:
    asked = spec.backend.trainer.num_workers
    if isinstance(asked, int):
        return asked
    if share == 0 or world.nodes is None:
        return asked.min if isinstance(asked, WorkerRange) else 1
    if world.in_use is None:
        return Ask("gpus", spec.gpu_resource_name)
    room = sum(math.floor(_free(node, spec, world.in_use) / share + 1e-9) for node in nodes)
    if isinstance(asked, WorkerRange):
        return min(max(room, asked.min), asked.max)
    return min(max(room, 1), settings.max_workers)


def _free(node: Node, spec: TrainingJobSpec, in_use: Mapping[str, float]) -> float:
    return max(0.0, node.allocatable.get(spec.gpu_resource_name, 0.0) - in_use.get(node.name, 0.0))


def _together(spec: TrainingJobSpec, workers: int, share: float, nodes: tuple[Node, ...]) -> int:
    """Workers in one pod. auto: the most that share the pods evenly and fit the largest node's GPUs."""
    if isinstance(spec.workers_per_pod, int):
        return min(spec.workers_per_pod, workers)
    largest = max((node.allocatable.get(spec.gpu_resource_name, 0.0) for node in nodes), default=0.0)
    most = math.floor(largest / share + 1e-9) if share else 1
    return max(count for count in range(1, max(1, min(most, workers)) + 1) if workers % count == 0)


def _scheduling(spec: TrainingJobSpec) -> Mapping[str, Any]:
    """What of the pod template decides on nodes, as a pod has it."""
    if spec.pod_template is None:
        return {}
    template: dict[str, Any] = spec.pod_template.model_dump(mode="json", by_alias=True, exclude_none=True)
    return template
