"""Run a search with Ray Tune: its own Ray on this machine, or the cluster that this process finds."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import ray
from ray import tune
from ray.tune.stopper import Stopper

from trainwright_api.config.hyperopt import HyperoptConfig, RayExecutor
from trainwright_api.config.hyperopt.search import BasicVariantSearch
from trainwright_api.problems import Mistakes
from trainwright_api.resource.backend import BackendTrainer
from trainwright_trainer.backends.ray.cluster import cluster
from trainwright_trainer.callbacks.console import Console
from trainwright_trainer.errors import Outcome
from trainwright_trainer.runtime.signals import StopRequest
from trainwright_trainer.search.log import SearchLog
from trainwright_trainer.search.ray_tune.recorded import RecordedSearcher
from trainwright_trainer.search.ray_tune.schedulers import pauses, scheduler_of
from trainwright_trainer.search.ray_tune.searchers import METRIC, number_of_trials, searcher_of
from trainwright_trainer.search.ray_tune.spaces import decoded
from trainwright_trainer.search.ray_tune.trainable import prepare_process, trainable
from trainwright_trainer.search.trial_run import TrialSetting, read_end, train
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

    @property
    def executor(self) -> RayExecutor:
        return self.config.executor

    def is_closing(self) -> bool:
        """True if no trial may begin or end any more: after a stop request, and when the time is over."""
        budget = self.executor.time_budget_s
        return bool(self.stop) or (budget is not None and self.log.seconds >= budget)


@contextmanager
def connected(executor: RayExecutor, log: Callable[[str], None]) -> Iterator[None]:
    """Ray, with the resources of one trial at least. Raises `Mistakes`, and `EnvironmentFailure`."""
    with cluster(BackendTrainer(), 1, log=log):
        there: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
        for name, kind in (("cpu", "CPU"), ("gpu", "GPU")):
            asked, found = getattr(executor, f"{name}_resources_per_trial"), there.get(kind, 0)
            if asked > found:
                raise Mistakes.one(
                    f"{_AT}.{name}_resources_per_trial", f"a trial gets no {asked} {kind}s: there are {found:g}"
                )
        yield


def concurrent_trials(config: HyperoptConfig) -> int:
    """The number of trials that run at the same time. `auto` and null: as many as there are resources for."""
    executor, section = config.executor, config.search_alg
    there: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
    room = int(there.get("CPU", 1) // executor.cpu_resources_per_trial)
    if executor.gpu_resources_per_trial:
        room = min(room, int(there.get("GPU", 0) // executor.gpu_resources_per_trial))
    given = executor.max_concurrent_trials
    limits = [given] if isinstance(given, int) else [room]
    if isinstance(section, BasicVariantSearch) and section.max_concurrent:
        limits.append(section.max_concurrent)
    return max(1, min(limits))


def run(search: Search, concurrent: int) -> None:
    """Run all trials, or continue them. Returns when they have ended, and early after a stop request."""
    executor, parameters = search.executor, search.config.parameters
    mode = search.setting.objective.mode
    most = number_of_trials(search.config)
    searcher = RecordedSearcher(
        searcher_of(search.config, mode, search.seed),
        mode,
        search.log,
        decode=partial(decoded, parameters),
        end_of=partial(read_end, search.storage),
        most=most,
        is_closing=search.is_closing,
    )
    # The brackets of a scheduler are drawn from this generator.
    np.random.seed(search.seed % 2**32)
    # Tune prints lines of its own, whatever its verbosity. The displays hold the stream, and are not redirected.
    with TemporaryDirectory(prefix="trainwright-tune-") as folder, redirect_stdout(io.StringIO()):
        tune.Tuner(
            tune.with_resources(_with_setting(search), _resources(executor, concurrent)),
            tune_config=tune.TuneConfig(
                metric=METRIC,
                mode=mode,
                search_alg=searcher,
                scheduler=scheduler_of(executor.scheduler),
                num_samples=-1 if most is None else most,
                max_concurrent_trials=None if pauses(executor.scheduler) else concurrent,
                reuse_actors=True,
            ),
            run_config=tune.RunConfig(
                name="search",
                storage_path=folder,
                stop=_Closing(search),
                failure_config=tune.FailureConfig(max_failures=_MOST_LOSSES),
                checkpoint_config=tune.CheckpointConfig(num_to_keep=2),
                verbose=0,
            ),
        ).fit()


def finish(search: Search, trial: Trial) -> Outcome:
    """Train a trial that the scheduler has stopped to its end, in a process like those of the trials."""
    executor = search.executor
    resources = ray.remote(num_cpus=executor.cpu_resources_per_trial, num_gpus=executor.gpu_resources_per_trial)
    remote = resources(_finish)
    has_gpu = executor.gpu_resources_per_trial > 0
    found: Outcome = ray.get(remote.remote(search.setting, trial.id, dict(trial.values), os.getcwd(), has_gpu))
    return found


def _finish(setting: TrialSetting, name: str, values: dict[str, Any], folder: str, has_gpu: bool) -> Outcome:
    prepare_process(folder, setting.threads, has_gpu=has_gpu)
    try:
        train(setting, name, values, Console(quiet=True), StopRequest())
    except Exception as error:  # the driver raises it
        return Outcome.of(error)
    return Outcome("done", "")


def _with_setting(search: Search) -> Any:
    return tune.with_parameters(
        trainable,
        setting=search.setting,
        folder=os.getcwd(),
        has_gpu=search.executor.gpu_resources_per_trial > 0,
        pauses=pauses(search.executor.scheduler),
    )


def _resources(executor: RayExecutor, concurrent: int) -> dict[str, float]:
    """The resources of a trial. Where trials are paused they limit the number of trials: Tune's own limit also counts
    paused trials, and would add no others."""
    cpus = float(executor.cpu_resources_per_trial)
    if pauses(executor.scheduler):
        there: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
        cpus = max(cpus, there["CPU"] / concurrent)
    return {"cpu": cpus, "gpu": executor.gpu_resources_per_trial}


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
        return self._search.is_closing()
