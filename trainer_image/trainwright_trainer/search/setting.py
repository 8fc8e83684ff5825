"""A search as its job describes it: the plan for its displays, the setting that its trials share, and its log."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.util import find_spec

from trainwright_api.config.hyperopt import HyperoptConfig
from trainwright_api.problems import Mistakes
from trainwright_api.resource.canonical import canonical
from trainwright_api.resource.size import search_of, workers_per_trial
from trainwright_trainer.callbacks import formats
from trainwright_trainer.job.job import Job
from trainwright_trainer.runtime.cpus import asked_threads
from trainwright_trainer.search import folder
from trainwright_trainer.search.log import SearchLog, Turn
from trainwright_trainer.search.objective import Objective
from trainwright_trainer.search.trial_run import Train, TrialSetting
from trainwright_trainer.search.trials import ended
from trainwright_trainer.search.words import SearchPlan
from trainwright_trainer.storage.base import Storage

_PACKAGES = {
    "optuna": ("optuna", "'trainwright[hyperopt]'"),
    "hyperopt": ("hyperopt", "hyperopt"),
    "ax": ("ax", "'ax-platform<1.2'"),
    "bayesopt": ("bayes_opt.acquisition", "'bayesian-optimization>=2'"),
    "bohb": ("hpbandster", "hpbandster ConfigSpace"),
    "nevergrad": ("nevergrad", "nevergrad"),
}
"""The module that a search algorithm needs, and what pip installs for it."""


def check_package(config: HyperoptConfig) -> None:
    """Raise `Mistakes` if the package of the search algorithm is missing."""
    module = missing_module(config.search_alg.type)
    if module is not None:
        name, asked = module.partition(".")[0], _PACKAGES[config.search_alg.type][1]
        raise Mistakes.one("config.hyperopt.search_alg.type", f"{name} is not installed here: pip install {asked}")


def missing_module(word: str) -> str | None:
    """The module that the search algorithm needs, if it is not installed."""
    if word not in _PACKAGES:
        return None
    module = _PACKAGES[word][0]
    try:
        return None if find_spec(module) is not None else module
    except ModuleNotFoundError:  # its package
        return module


def plan_of(name: str, config: HyperoptConfig, concurrent: int) -> SearchPlan:
    """`concurrent`: the number of trials that run at the same time."""
    executor = config.executor
    return SearchPlan(
        name,
        Objective.of(config),
        tuple(config.parameters),
        config.number_of_trials,
        executor.time_budget_s,
        concurrent,
        config.search_alg.type,
        executor.scheduler.type,
    )


def trainer_lines(job: Job) -> list[str]:
    """A notice if the values of the trials bring Ludwig's defaults into a file without a trainer section."""
    assert job.spec.config is not None
    brings = any(name.partition(".")[0] == "trainer" for name in search_of(job.spec).parameters)
    if "trainer" in job.spec.config.model_fields_set or not brings:
        return []
    return ["the file has no trainer section: the trials take Ludwig's defaults for it, and not the recipe"]


def log_of(job: Job, storage: Storage, content: str, notice: Callable[[str], None], *, continues: bool) -> SearchLog:
    """The log of a search that begins, or of one that continues. `content`: the hash of the data.

    A search that begins replaces the one in the folder. Raises `Mistakes` for other data than those of the search.
    """
    if continues:
        folder.refuse_other_data(storage, job.plain(), content)
    else:
        folder.clear(storage)
    turn = Turn(storage, job.attempt)
    if not continues:
        return SearchLog.begin(storage, folder.about_of(job.plain(), job.name, content), turn=turn)
    log = SearchLog.read(storage, turn=turn)
    notice(f"the search goes on: {formats.counted(ended(log.trials), 'trial')} of it have ended")
    return log


def setting_of(job: Job, train: Train) -> TrialSetting:
    """The values that the trials of a job share."""
    config = search_of(job.spec)
    in_pods, cpus = job.attempt is not None, config.executor.cpu_resources_per_trial
    # In pods Ray sets OMP_NUM_THREADS for the driver. The trials find the user's value in their own pods.
    asked = job.options.threads or (None if in_pods else asked_threads(os.environ))
    is_alone = workers_per_trial(job.spec) == 1
    threads = asked or (1 if is_alone and cpus == 1 else None)
    resource = canonical(job.resource)
    resource["spec"] = {**resource["spec"], "dataset": job.dataset, "seed": job.spec.seed}
    return TrialSetting(
        resource,
        job.name,
        job.output,
        job.keys.artifacts,
        Objective.of(config),
        threads,
        train,
        "local" if is_alone else "ray",
        cpus if is_alone else None,
    )
