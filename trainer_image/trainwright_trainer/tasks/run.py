"""The flow of a run: read → preprocess → cache → load → train → evaluate → save → report.

This file holds the first half. The second half is `train.py`; it needs torch, which is imported in the background
while the first half runs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from trainwright_api.problems import Mistakes
from trainwright_api.resource.stages import TASKS_OF_A_MODEL
from trainwright_trainer.backends.launchers import Launch, is_inside_ray, launch_of, launch_of_pod
from trainwright_trainer.backends.machine import gpus_of_this_machine, processes_for
from trainwright_trainer.backends.ray.environment import settle
from trainwright_trainer.backends.workers import on_workers
from trainwright_trainer.callbacks.console import Console
from trainwright_trainer.errors import AlreadyDone, Outcome
from trainwright_trainer.frames.pandas import reading_with
from trainwright_trainer.job.job import Job, read_job
from trainwright_trainer.job.options import Options
from trainwright_trainer.job.pod import Pod
from trainwright_trainer.rundir.preflight import ExistingRun, look
from trainwright_trainer.runtime.collector import without_collections
from trainwright_trainer.runtime.cpus import asked_threads, usable_cpus
from trainwright_trainer.runtime.oom import reporting_oom
from trainwright_trainer.runtime.preload import preload_imports
from trainwright_trainer.runtime.signals import StopRequest, stopping_on_signals
from trainwright_trainer.storage.base import Storage
from trainwright_trainer.storage.registry import storage_at
from trainwright_trainer.strategies import check_installed
from trainwright_trainer.tasks.existing_run import existing_run
from trainwright_trainer.tasks.job_data import FilledCache, check_data, prepare_data
from trainwright_trainer.tasks.result import Result, TaskSummary
from trainwright_trainer.tasks.tracking_address import check_tracking


def run(
    task: str | None,
    path: Path,
    options: Options,
    *,
    text: str | None = None,
    console: Console | None = None,
    pod: Pod | None = None,
    stop: StopRequest | None = None,
) -> Result | TaskSummary:
    """Run one task of a job file: `task`, or the task that the file names. `text` replaces the content of the file.

    In a pod, run the pod's stage. If `stop` is given, the caller handles the signals. Raises the exceptions that
    `errors.py` lists.
    """
    on_ray = pod is None and options.backend is None and task in (None, *ON_RAY) and is_inside_ray(os.environ)
    launch = launch_of_pod(pod) if pod else None if on_ray else launch_of(os.environ)
    console = console or Console(as_json=options.json, quiet=launch is not None and launch.rank > 0)
    with closing(console), reporting_oom():
        if on_ray:
            options = replace(options, backend="ray")
            console.log_notices(["backend ray, because this process is a job of Ray"], path.name)
        if launch is None:
            job = read_job(task, path, options, text, pod)
            console.log_notices(job.notices, path.name)
            return _run(job, pod.stage if pod else job.task, console, stop)
        with _signals(stop) as stop:
            _refuse_options(launch, options)
            read = partial(read_job, task, path, options, text, pod=pod, world=launch.world)
            return _run_launched(launch, read, console, stop)


def _run(job: Job, task: str, console: Console, stop: StopRequest | None) -> Result | TaskSummary:
    threads = job.options.threads or asked_threads(os.environ) or usable_cpus(job.cpus)
    with reading_with(threads):
        return TASKS[task](job, console, stop)


def _signals(stop: StopRequest | None) -> AbstractContextManager[StopRequest]:
    return stopping_on_signals(StopRequest()) if stop is None else nullcontext(stop)


def _train(job: Job, console: Console, stop: StopRequest | None) -> Result:
    console.stage(f"{job.name}: reading {job.shown_dataset}, backend {job.spec.backend.type}")
    storage = storage_at(str(job.output), job.keys.artifacts)
    how = existing_run(job)
    with _signals(stop) as stop:
        look(storage, job.plain(), how)
        return TRAINING_BACKENDS[job.spec.backend.type](job, storage, how, console, stop)


def _train_task(job: Job, console: Console, stop: StopRequest | None) -> Result | TaskSummary:
    return _train(job, console, stop) if job.spec.entrypoint is None else _train_function(job, console, stop)


def _train_function(job: Job, console: Console, stop: StopRequest | None) -> TaskSummary:
    preload_imports()
    _refuse_gpus(job.options)
    storage = storage_at(str(job.output), job.keys.artifacts)
    how = existing_run(job)
    with _signals(stop) as stop:
        look(storage, job.plain(), how)
        settle(os.environ)
        from trainwright_trainer.tasks.train_function import train_function

        return train_function(job, storage, how, console, stop)


def _run_launched(launch: Launch, read: Callable[[], Job], console: Console, stop: StopRequest) -> Result | TaskSummary:
    """Run a task in one of the processes that a launcher has started. A task that does not train is run by rank 0."""
    preload_imports()
    try:
        job: Job | Exception = read()
    except Exception as error:  # all ranks end with it
        job = error
    if isinstance(job, Job) and job.spec.entrypoint is not None:
        job = Mistakes.one("entrypoint", f"runs under Ray Train: run the command without {launch.launcher}")
    if isinstance(job, Job) and job.task not in TRAINING_TASKS:
        if launch.rank:
            return TaskSummary(f"rank 0 runs the task {job.task}")
        console.log_notices(job.notices, job.path.name)
        return _run(job, job.task, console, stop)
    from trainwright_trainer.tasks.launched_run import run_launched

    return run_launched(launch, job, console, stop, _predict_after_experiment)


def _refuse_options(launch: Launch, options: Options) -> None:
    if options.gpus is not None:
        raise Mistakes.one("--gpus", f"acts without a launcher; {launch.launcher} decides the number of processes")
    if options.backend == "ray":
        raise Mistakes.one("--backend", f"ray starts its own workers: run the command without {launch.launcher}")


def _predict_after_experiment(job: Job, console: Console, stop: StopRequest) -> None:
    if job.task == "experiment":
        _predict_test_rows(job, console, stop)


def _train_here(job: Job, storage: Storage, how: ExistingRun, console: Console, stop: StopRequest) -> Result:
    preload_imports()
    with stop.at_once("before training began: nothing was written but the cache. Start it again."):
        data = prepare_data(job)
    console.log_notices(data.notices, Path(job.shown_dataset).name)
    with without_collections():
        from trainwright_trainer.tasks.train import train_on

    try:
        return train_on(data, job, storage, how, console, stop)
    finally:
        data.finish()


def _train_on_this_machine(job: Job, storage: Storage, how: ExistingRun, console: Console, stop: StopRequest) -> Result:
    """In this process, or in workers that it starts: one for each GPU, or `num_workers`."""
    check_tracking(job)
    backend = job.spec.backend
    in_pod = job.attempt is not None  # the operator has decided the number of processes
    world = 1 if in_pod else processes_for(backend, gpus_of_this_machine(), job.options.gpus)
    if backend.type != "local" and backend.trainer.num_workers is None:
        job = replace(job, workers=world)
    if world == 1:
        return _train_here(job, storage, how, console, stop)
    check_installed(job.spec.backend.strategy)
    check_data(job)
    end: Result | Outcome = on_workers(world, job, stop, quiet=console.is_quiet)
    if isinstance(end, Outcome):
        raise end.error()
    return end


def _train_on_ray(job: Job, storage: Storage, how: ExistingRun, console: Console, stop: StopRequest) -> Result:
    preload_imports()
    _refuse_gpus(job.options)
    settle(os.environ)
    from trainwright_trainer.tasks.driver import train_on_ray

    return train_on_ray(job, storage, how, console, stop)


def _refuse_gpus(options: Options) -> None:
    if options.gpus is not None:
        raise Mistakes.one("--gpus", "acts with backend local; backend ray has backend.trainer.num_workers")


TRAINING_TASKS = ("train", "experiment")
ON_RAY = (*TRAINING_TASKS, *TASKS_OF_A_MODEL)
"""The tasks that use the Ray in which their process runs."""
# By `backend.type`.
TRAINING_BACKENDS = {
    "local": _train_on_this_machine,
    "ray": _train_on_ray,
    "deepspeed": _train_on_this_machine,
    "horovod": _train_on_this_machine,
}


def _experiment(job: Job, console: Console, stop: StopRequest | None) -> Result:
    try:
        result = _train(job, console, stop)
    except AlreadyDone:  # an earlier attempt may have been killed before it predicted
        _predict_test_rows(job, console, stop)
        raise
    _predict_test_rows(job, console, stop)
    return result


def _predict_test_rows(job: Job, console: Console, stop: StopRequest | None) -> None:
    from trainwright_trainer.tasks.predict import predict_test_rows

    with _ending_at_once(stop):
        predict_test_rows(job, job.output / "model", console)


def _preprocess(job: Job, console: Console, stop: StopRequest | None) -> TaskSummary:
    with _ending_at_once(stop):
        filled = _filled_on_ray(job, console) if job.prepares_on_ray else FilledCache.of(prepare_data(job))
        console.log_notices(filled.notices, Path(job.shown_dataset).name)
    summary = TaskSummary(filled.line)
    console.log(summary.line)
    return summary


def _filled_on_ray(job: Job, console: Console) -> FilledCache:
    settle(os.environ)
    from trainwright_trainer.tasks.preprocess_on_ray import fill_on_ray

    return fill_on_ray(job, console)


def _hyperopt(job: Job, console: Console, stop: StopRequest | None) -> TaskSummary:
    preload_imports()
    from trainwright_trainer.tasks.hyperopt import search

    with _signals(stop) as stop:
        return search(job, console, stop, run)


def _evaluate(job: Job, console: Console, stop: StopRequest | None) -> TaskSummary:
    with _ending_at_once(stop):
        return TaskSummary("the model is measured", evaluation=_of_a_model("evaluate", job, console))


def _predict(job: Job, console: Console, stop: StopRequest | None) -> TaskSummary:
    with _ending_at_once(stop):
        return TaskSummary("the predictions are written", predictions=_of_a_model("predict", job, console))


def _of_a_model(task: str, job: Job, console: Console) -> Any:
    if job.maps_on_ray:
        settle(os.environ)
        from trainwright_trainer.tasks.on_ray import on_ray

        return on_ray(task, job, console)
    preload_imports()
    from trainwright_trainer.tasks.blocks import BlocksHere
    from trainwright_trainer.tasks.of_a_model import OF_A_MODEL

    return OF_A_MODEL[task](job, console.log, BlocksHere.of(job))


def _ending_at_once(stop: StopRequest | None) -> AbstractContextManager[None]:
    """A stop request ends the task immediately: the task is short, and a partial result is of no use."""
    return nullcontext() if stop is None else stop.at_once("before it was done. Start it again.")


TASKS: Mapping[str, Callable[[Job, Console, StopRequest | None], Result | TaskSummary]] = {
    "train": _train_task,
    "experiment": _experiment,
    "preprocess": _preprocess,
    "hyperopt": _hyperopt,
    "evaluate": _evaluate,
    "predict": _predict,
}
