"""The number of workers and their resources, from the `backend.trainer` section and the GPUs of the cluster.

A task that trains has a gang of workers, which start together. One that predicts or evaluates has a pool of actors.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from trainwright_api.problems import Mistakes
from trainwright_api.resource.backend import BackendTrainer, WorkerRange, custom
from trainwright_trainer.errors import EnvironmentFailure


@dataclass(frozen=True)
class WorkerResources:
    """`resources`: those of one worker, by name; memory in bytes. `least`: the number of workers that go on after a
    loss, None if all are needed."""

    workers: int
    use_gpu: bool
    resources: Mapping[str, float]
    retries: int
    least: int | None = None

    @property
    def cpus(self) -> int:
        """The CPUs of all workers, rounded up."""
        return math.ceil(self.workers * self.resources.get("CPU", 0))


def needs_of(section: BackendTrainer, workers: int | None, gpus: float, cpus: float) -> WorkerResources:
    """The resources to ask for. `workers`: None if the cluster decides; `gpus`, `cpus`: those of the whole cluster."""
    given = dict(section.resources_per_worker or {})
    use_gpu = section.use_gpu if section.use_gpu is not None else given.get("GPU", gpus) > 0
    resources = {"CPU": 1.0, **given}
    if use_gpu:
        resources.setdefault("GPU", 1.0)
    least = None
    if workers is None:
        asked, scarce = section.num_workers, "GPU" if use_gpu else "CPU"
        room = math.floor((gpus if use_gpu else cpus) / (resources[scarce] or 1.0) + 1e-9)
        # Without GPUs only a file with a range asks for as many workers as the cluster has room for.
        workers = max(1, room) if use_gpu else 1
        if isinstance(asked, WorkerRange):
            workers, least = min(max(room, asked.min), asked.max), asked.min
    needed = {name: share for name, share in resources.items() if share}
    return WorkerResources(workers, use_gpu, needed, section.max_retries, least)


@dataclass(frozen=True)
class Pool:
    """Actors with a model, and the tasks that read for them. `least`: the actors that have room now; `most`: those that
    the pool may grow to. `resources`: those of a worker, which an actor shares with a task that reads."""

    least: int
    most: int
    use_gpu: bool
    resources: Mapping[str, float]
    retries: int

    @property
    def cpus(self) -> float:
        """The CPUs that a worker has in the file."""
        return self.resources.get("CPU", 1.0)

    @property
    def reader_cpus(self) -> float:
        """The CPUs of a task that reads. They are not 0: a head without CPUs has little memory."""
        return min(1.0, self.cpus / 2)

    @property
    def actor_options(self) -> Mapping[str, Any]:
        """The resources of an actor as options of Ray. A model on a GPU leaves the CPUs to the tasks that read."""
        rest = self.cpus - self.reader_cpus
        cpus = min(1.0, rest) if self.use_gpu else rest if rest < 1 else float(math.floor(rest))
        memory = {"memory": self.resources["memory"]} if "memory" in self.resources else {}
        return {
            "num_cpus": cpus,
            "num_gpus": self.resources.get("GPU", 0),
            **memory,
            "resources": custom(self.resources),
        }


def pool_of(section: BackendTrainer, workers: int | None, nodes: Iterable[Mapping[str, float]]) -> Pool:
    """The actors of a cluster. `workers`: their number; None: that of the file, or as many as fit. `nodes`: their
    resources, those in use too.
    """
    each = list(nodes)
    gpus, cpus = (sum(node.get(name, 0.0) for node in each) for name in ("GPU", "CPU"))
    needs = needs_of(section, workers, gpus, cpus)
    fitting = sum(_fitting(needs.resources, node) for node in each)
    asked = section.num_workers if workers is None else workers
    most = asked.max if isinstance(asked, WorkerRange) else asked or max(1, int(fitting))
    return Pool(max(1, int(min(most, fitting))), most, needs.use_gpu, needs.resources, section.max_retries)


def missing_line(needs: WorkerResources, nodes: Iterable[Mapping[str, float]]) -> str | None:
    """The line about the workers that do not fit on the nodes of a cluster; None if all do. `nodes`: their resources.

    The resources that other programs use count as free: they wait, and release theirs.
    """
    fitting = min(needs.workers, sum(_fitting(needs.resources, node) for node in nodes))
    if fitting == needs.workers:
        return None
    each = ", ".join(f"{share:g} {name}" for name, share in needs.resources.items())
    return (
        f"the Ray cluster has nodes for {fitting:,} of {needs.workers:,} workers ({each} each): waiting until it has "
        "grown; its autoscaler, if it has one, is asked for the rest"
    )


def _fitting(each: Mapping[str, float], node: Mapping[str, float]) -> float:
    """The workers that fit on a node. A worker without resources fits any number of times."""
    return min((math.floor(node.get(name, 0.0) / share + 1e-9) for name, share in each.items()), default=math.inf)


def check_this_machine(needs: WorkerResources, gpus: float) -> None:
    """Raise `EnvironmentFailure` if this machine lacks GPUs. A cluster is not checked, because it may still grow."""
    if needs.workers * needs.resources.get("GPU", 0) > gpus:
        asked = f"{needs.workers * needs.resources['GPU']:g}"
        raise EnvironmentFailure(
            f"backend.trainer asks for GPUs ({asked}), and this machine has {gpus:g}. To train here: --backend local"
        )


def check_whole_gpus(needs: WorkerResources) -> None:
    """Raise `Mistakes` if workers that train together share a GPU."""
    share = needs.resources.get("GPU", 0)
    if needs.use_gpu and share < 1 < needs.workers:
        found = f"is {share:g}; each of {needs.workers} workers needs a GPU of its own: NCCL refuses to share one"
        raise Mistakes.one("backend.trainer.resources_per_worker.GPU", found)


def check_memory(needs: WorkerResources, memory: float) -> None:
    """Raise `EnvironmentFailure` if the Ray of this machine has too little memory for the workers, in bytes."""
    asked = needs.workers * needs.resources.get("memory", 0)
    if asked > memory:
        raise EnvironmentFailure(
            f"backend.trainer asks for {asked / 1e9:,.3g} GB of memory, and Ray has {memory / 1e9:,.3g} GB of this "
            "machine. Lower resources_per_worker.memory"
        )
