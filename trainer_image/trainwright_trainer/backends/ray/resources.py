"""What workers need of a cluster, from the `backend.trainer` section and what there is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from trainwright_api.resource.backend import BackendTrainer, WorkerRange
from trainwright_trainer.errors import EnvironmentFailure


@dataclass(frozen=True)
class WorkerResources:
    """`resources` are of each worker: CPU, GPU and others by name."""

    workers: int
    use_gpu: bool
    resources: Mapping[str, float]
    retries: int

    @property
    def cpus(self) -> int:
        """Of all workers."""
        return math.ceil(self.workers * self.resources.get("CPU", 0))


def needs_of(section: BackendTrainer, workers: int | None, gpus: float) -> WorkerResources:
    """`workers`: None where the file leaves it to the cluster; `gpus`: of the whole cluster."""
    given = dict(section.resources_per_worker or {})
    use_gpu = section.use_gpu if section.use_gpu is not None else given.get("GPU", gpus) > 0
    resources = {"CPU": 1.0, **given}
    if use_gpu:
        resources.setdefault("GPU", 1.0)
    if workers is None:
        room = int(gpus // resources["GPU"]) if use_gpu else 0
        workers = _within(section.num_workers, room)
    return WorkerResources(
        workers, use_gpu, {name: share for name, share in resources.items() if share}, section.max_retries
    )


def _within(asked: int | WorkerRange | None, room: int) -> int:
    """As many workers as find a GPU, within the range that the file gives. The operator decides alike."""
    if isinstance(asked, WorkerRange):
        return min(max(room, asked.min), asked.max)
    return max(1, room)


def check_this_machine(needs: WorkerResources, gpus: float) -> None:
    """A cluster may still grow; this machine does not. Raises `EnvironmentFailure`."""
    if needs.workers * needs.resources.get("GPU", 0) > gpus:
        asked = f"{needs.workers * needs.resources['GPU']:g}"
        raise EnvironmentFailure(
            f"backend.trainer asks for GPUs ({asked}), and this machine has {gpus:g}. To train here: --backend local"
        )
