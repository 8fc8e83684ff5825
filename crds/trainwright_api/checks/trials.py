"""The rules for the processes of a trial: one process by the executor's resources, or a gang of workers on Ray."""

from __future__ import annotations

from collections.abc import Iterator

from trainwright_api.config.hyperopt.scheduler import PopulationBasedScheduler
from trainwright_api.problems import Problem
from trainwright_api.resource.backend import WorkerRange
from trainwright_api.resource.job import TrainingJobSpec
from trainwright_api.resource.size import search_of, workers_per_trial

BACKENDS = ("local", "ray")
"""The backends whose processes Ray Tune can start."""
_EXECUTOR, _TRAINER = "config.hyperopt.executor", "backend.trainer"


def trial_problems(spec: TrainingJobSpec) -> Iterator[Problem]:
    """Yield the mistakes in the backend and in the resources of the trials of a job that searches."""
    spec = spec.with_kuberay
    trainer, executor = spec.backend.trainer, search_of(spec).executor
    if spec.backend.type not in BACKENDS:
        line = f"{spec.backend.type} starts one gang of pods: a search has backend {' or '.join(BACKENDS)}"
        yield Problem("backend.type", line)
    elif isinstance(trainer.num_workers, WorkerRange):
        yield Problem(f"{_TRAINER}.num_workers", "a range: in a search each trial has the same number of workers")
    elif workers_per_trial(spec) == 1:
        for name in ("resources_per_worker", "use_gpu"):
            if getattr(trainer, name) is not None:
                own = f"{_EXECUTOR}.cpu_resources_per_trial and gpu_resources_per_trial"
                yield Problem(f"{_TRAINER}.{name}", f"a trial of one process has {own}: remove it")
        if trainer.strategy_name == "deepspeed":
            line = "a trial of one process trains without DeepSpeed: set num_workers to 2 or more, or remove it"
            yield Problem(f"{_TRAINER}.strategy", line)
        if executor.gpu_resources_per_trial > 1:
            line = f"a trial of one process uses one GPU, found {executor.gpu_resources_per_trial}: for more, set"
            yield Problem(f"{_EXECUTOR}.gpu_resources_per_trial", f"{line} backend ray and {_TRAINER}.num_workers")
    else:
        for name, default in (("cpu_resources_per_trial", 1), ("gpu_resources_per_trial", 0)):
            if getattr(executor, name) != default:
                line = f"a trial of {workers_per_trial(spec)} workers has {_TRAINER}.resources_per_worker: remove it"
                yield Problem(f"{_EXECUTOR}.{name}", line)
        # A population has its own limit of trials that run. That of the other schedulers is the CPUs of a trial.
        if executor.scheduler.pauses and not isinstance(executor.scheduler, PopulationBasedScheduler):
            line = f"{executor.scheduler.type} pauses trials: a trial of {workers_per_trial(spec)} workers has"
            yield Problem(f"{_EXECUTOR}.scheduler.type", f"{line} asha, median_stopping_rule, pbt or fifo")
