"""Run a search with Ray Tune: its own Ray on this machine, or the cluster that this process finds."""

from __future__ import annotations

import io
import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import ray
from ray import tune
from ray.actor import ActorHandle
from ray.tune.stopper import Stopper

from trainwright_api.config.hyperopt import HyperoptConfig, RayExecutor
from trainwright_api.problems import Mistakes
from trainwright_api.resource.size import asked_resources, search_of, workers_per_trial
from trainwright_trainer.backends.ray.cluster import cluster
from trainwright_trainer.backends.ray.nodes import STOP_REASON_OF_DRAIN, Nodes
from trainwright_trainer.callbacks.console import Console
from trainwright_trainer.errors import Outcome
from trainwright_trainer.job.job import Job
from trainwright_trainer.runtime.signals import StopRequest
from trainwright_trainer.search.log import SearchLog
from trainwright_trainer.search.ray_tune.channel import EVERY_SECONDS, asked, listening, opened
from trainwright_trainer.search.ray_tune.recorded import RecordedSearcher
from trainwright_trainer.search.ray_tune.schedulers import scheduler_of
from trainwright_trainer.search.ray_tune.searchers import METRIC, searcher_of
from trainwright_trainer.search.ray_tune.spaces import decoded
from trainwright_trainer.search.ray_tune.trainable import Process, trainable
from trainwright_trainer.search.trial_run import TrialSetting, TrialStop, read_end, train
from trainwright_trainer.search.trials import Trial
from trainwright_trainer.storage.base import Storage

# The process of a trial may be lost so often: it starts again from its checkpoint.
_MOST_LOSSES = 3
_AT = "config.hyperopt.executor"


@dataclass(frozen=True)
class Search:
    """A search to run. `seed`: the job's; `tick` is called often, on the main thread."""

    config: HyperoptConfig
    setting: TrialSetting
    storage: Storage
    log: SearchLog
    seed: int
    stop: StopRequest
    tick: Callable[[], None]
    notice: Callable[[str], None]
    channel: ActorHandle[Any] = field(default_factory=opened)
    nodes: Nodes = field(default_factory=Nodes)

    @property
    def process(self) -> Process:
        is_alone = self.setting.backend == "local"
        return Process(os.getcwd(), has_gpu=not is_alone or self.executor.gpu_resources_per_trial > 0)

    @property
    def executor(self) -> RayExecutor:
        return self.config.executor

    def is_closing(self) -> bool:
        """True if no trial may begin or end any more: after a stop request, and when the time is over."""
        budget = self.executor.time_budget_s
        return bool(self.stop) or (budget is not None and self.log.seconds >= budget)

    def tell_trials(self) -> None:
        """Tell the trials that the search closes, and those of a node that it will go. The driver's own node stops all.

        `ray start` receives the signal of its node, and marks the node as draining.
        """
        draining = self.nodes.newly_draining(time.monotonic())
        if self.nodes.here in draining:
            self.stop.ask(STOP_REASON_OF_DRAIN)
        elif draining:
            self.channel.leave.remote(sorted(draining))
        if self.is_closing():
            self.channel.stop.remote(self.stop.reason or "the time budget")


@contextmanager
def connected(job: Job, log: Callable[[str], None]) -> Iterator[None]:
    """Ray, with the resources of one trial at least. Raises `Mistakes`, and `EnvironmentFailure`.

    The cluster of a pod is not checked: the operator has sized it, and a lost node may be on its way back.
    """
    spec, in_pods = job.spec, job.attempt is not None
    executor = search_of(spec).executor
    with cluster(spec.backend.trainer, workers_per_trial(spec), alone=in_pods, log=log):
        there: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
        for name, kind in (("cpu", "CPU"), ("gpu", "GPU")):
            asked, found = getattr(executor, f"{name}_resources_per_trial"), there.get(kind, 0)
            if asked > found and not in_pods:
                raise Mistakes.one(
                    f"{_AT}.{name}_resources_per_trial", f"a trial gets no {asked} {kind}s: there are {found:g}"
                )
        yield


def concurrent_trials(job: Job) -> int:
    """The number of trials that run at the same time. Where the file leaves it open: as many as there is room for."""
    spec, search = job.spec, search_of(job.spec)
    if job.attempt is not None and job.given_workers is not None:
        return max(1, job.given_workers // workers_per_trial(spec))  # the operator has resolved it
    if search.most_concurrent is not None:
        return int(search.most_concurrent)
    there: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
    cpus = there.get("CPU", 1) if job.cpus is None else job.cpus
    together = workers_per_trial(spec)
    asked = asked_resources(spec)
    rooms = [cpus // (asked.get("CPU", 1) * together)]
    if asked.get("GPU"):
        rooms.append(there.get("GPU", 0) // (asked["GPU"] * together))
    return max(1, int(min(rooms)))


def run(search: Search, concurrent: int) -> None:
    """Run all trials, or continue them. Returns when they have ended, and early after a stop request."""
    executor, parameters = search.executor, search.config.parameters
    mode = search.setting.objective.mode
    most = search.config.number_of_trials
    searcher = RecordedSearcher(
        searcher_of(search.config, mode, search.seed),
        mode,
        search.log,
        decode=partial(decoded, parameters),
        end_of=partial(read_end, search.storage),
        saw=partial(asked, search.channel.saw),
        most=most,
        is_closing=search.is_closing,
    )
    # The traceback of a lost process. `_Recoveries` has the line for it.
    logging.getLogger("ray.tune").setLevel(logging.CRITICAL)
    # The brackets of a scheduler are drawn from this generator.
    np.random.seed(search.seed % 2**32)
    # Tune prints lines of its own, whatever its verbosity. The displays hold the stream, and are not redirected.
    with TemporaryDirectory(prefix="trainwright-tune-") as folder, redirect_stdout(io.StringIO()):
        tune.Tuner(
            tune.with_resources(_with_setting(search), _resources(search, concurrent)),
            tune_config=tune.TuneConfig(
                metric=METRIC,
                mode=mode,
                search_alg=searcher,
                scheduler=scheduler_of(executor.scheduler),
                num_samples=-1 if most is None else most,
                max_concurrent_trials=None if executor.scheduler.pauses else concurrent,
                reuse_actors=True,
            ),
            run_config=tune.RunConfig(
                name="search",
                storage_path=folder,
                stop=_Closing(search),
                callbacks=[_Recoveries(search)],
                failure_config=tune.FailureConfig(max_failures=_MOST_LOSSES),
                verbose=0,
            ),
        ).fit()


def finish(search: Search, trial: Trial) -> Outcome:
    """Train a trial that the scheduler has stopped to its end, in a process like those of the trials."""
    cpus, gpus = _cpus_and_gpus(search)
    resources = ray.remote(num_cpus=cpus, num_gpus=gpus, max_retries=_MOST_LOSSES)
    remote = resources(_finish)
    waiting = remote.remote(search.setting, trial.id, dict(trial.values), search.process, search.channel)
    while not ray.wait([waiting], timeout=EVERY_SECONDS)[0]:
        search.tell_trials()
    found: Outcome = ray.get(waiting)
    return found


def _finish(
    setting: TrialSetting, name: str, values: dict[str, Any], process: Process, channel: ActorHandle[Any]
) -> Outcome:
    process.prepare(setting.threads)
    stop = TrialStop()
    try:
        with listening(channel, stop.ask_from_a_thread):
            train(setting, name, values, Console(quiet=True), stop)
    except Exception as error:  # the driver raises it
        return Outcome.of(error)
    return Outcome("done", "")


def _with_setting(search: Search) -> Any:
    return tune.with_parameters(trainable, setting=search.setting, process=search.process, channel=search.channel)


def _cpus_and_gpus(search: Search) -> tuple[float, float]:
    """The resources of a trial's own process. That of a gang only waits for the workers, which have their own."""
    if search.setting.backend != "local":
        return 0.0, 0.0
    return float(search.executor.cpu_resources_per_trial), float(search.executor.gpu_resources_per_trial)


def _resources(search: Search, concurrent: int) -> dict[str, float]:
    """The resources of a trial. Where trials are paused they limit the number of trials: Tune's own limit also counts
    paused trials, and would add no others."""
    cpus, gpus = _cpus_and_gpus(search)
    if search.executor.scheduler.pauses:
        there: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
        cpus = max(cpus, there["CPU"] / concurrent)
    # Tune takes no empty request: that of a gang's trial is one byte, which every node has.
    return {"cpu": cpus, "gpu": gpus} if cpus or gpus else {"memory": 1}


class _Closing(Stopper):
    """Stops all trials when the search closes. Tune asks in each round of its loop, so it is also the tick."""

    def __init__(self, search: Search) -> None:
        self._search = search

    def __call__(self, trial_id: str, result: dict[str, Any]) -> bool:  # noqa: ARG002 (the interface of Ray)
        return False

    def __getstate__(self) -> dict[str, Any]:
        """Tune saves its settings. Nothing reads them."""
        return {}

    def stop_all(self) -> bool:
        self._search.tick()
        self._search.tell_trials()
        return self._search.is_closing()


class _Recoveries(tune.Callback):
    """Logs the loss of a trial's process. Tune starts the trial again."""

    def __init__(self, search: Search) -> None:
        self._search = search

    def on_trial_recover(self, iteration: int, trials: list[Any], trial: Any, **info: Any) -> None:  # noqa: ARG002
        name = trial.config["trial"]["name"]
        self._search.notice(f"the process of trial {name} is lost: it starts again from its newest checkpoint")

    def __getstate__(self) -> dict[str, Any]:
        """Tune saves its settings. Nothing reads them."""
        return {}
