"""The resources of a search: Ray with room for one trial at least, the number of trials at a time, those of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import ray

from trainwright_api.config.hyperopt import RayExecutor
from trainwright_api.problems import Mistakes
from trainwright_api.resource.size import asked_resources, search_of, workers_per_trial
from trainwright_trainer.backends.ray.cluster import cluster, resources_here
from trainwright_trainer.job.job import Job

_AT = "config.hyperopt.executor"


@contextmanager
def connected(job: Job, log: Callable[[str], None]) -> Iterator[None]:
    """Ray, with the resources of one trial at least. Raises `Mistakes`, and `EnvironmentFailure`.

    The cluster of a pod is not checked: the operator has sized it, and a lost node may be on its way back.
    """
    spec, in_pods = job.spec, job.attempt is not None
    with cluster(spec.backend.trainer, workers_per_trial(spec), alone=in_pods, log=log):
        _check(job, _there())
        yield


def check_this_machine(job: Job) -> None:
    """Raise `Mistakes` if the Ray that would start here never has the resources of a trial."""
    there = resources_here()
    if there is not None:
        _check(job, there)


def _check(job: Job, there: Mapping[str, float]) -> None:
    """`there`: all resources of Ray."""
    executor = search_of(job.spec).executor
    for name, kind in (("cpu", "CPU"), ("gpu", "GPU")):
        asked, found = getattr(executor, f"{name}_resources_per_trial"), there.get(kind, 0)
        if asked > found and job.attempt is None:
            line = f"a trial gets no {asked} {kind}s: there are {found:g}"
            raise Mistakes.one(f"{_AT}.{name}_resources_per_trial", line)


def concurrent_trials(job: Job) -> int:
    """The number of trials that run at the same time. Where the file leaves it open: as many as there is room for."""
    spec, search = job.spec, search_of(job.spec)
    if job.attempt is not None and job.given_workers is not None:
        return max(1, job.given_workers // workers_per_trial(spec))  # the operator has resolved it
    if search.most_concurrent is not None:
        return int(search.most_concurrent)
    there = _there()
    cpus = there.get("CPU", 1) if job.cpus is None else job.cpus
    together = workers_per_trial(spec)
    asked = asked_resources(spec)
    rooms = [cpus // (asked.get("CPU", 1) * together)]
    if asked.get("GPU"):
        rooms.append(there.get("GPU", 0) // (asked["GPU"] * together))
    return max(1, int(min(rooms)))


def cpus_and_gpus(executor: RayExecutor, *, is_alone: bool) -> tuple[float, float]:
    """The resources of a trial's own process. That of a gang only waits for the workers, which have their own."""
    if not is_alone:
        return 0.0, 0.0
    return float(executor.cpu_resources_per_trial), float(executor.gpu_resources_per_trial)


def resources(executor: RayExecutor, concurrent: int, *, is_alone: bool) -> dict[str, float]:
    """The resources of a trial. Where trials are paused they limit the number of trials: Tune's own limit also counts
    paused trials, and would add no others."""
    cpus, gpus = cpus_and_gpus(executor, is_alone=is_alone)
    if is_alone and executor.scheduler.pauses:
        cpus = max(cpus, _there()["CPU"] / concurrent)
    # Tune takes no empty request: that of a gang's trial is one byte, which every node has.
    return {"cpu": cpus, "gpu": gpus} if cpus or gpus else {"memory": 1}


def _there() -> dict[str, float]:
    found: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
    return found
