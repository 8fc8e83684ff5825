"""The searcher and the scheduler of a search, which Ray Tune gets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from ray.actor import ActorHandle
from ray.tune.schedulers import TrialScheduler

from trainwright_api.config.hyperopt import HyperoptConfig
from trainwright_api.config.hyperopt.scheduler import PopulationBasedScheduler
from trainwright_trainer.rundir.layout import CheckpointName
from trainwright_trainer.search import parents
from trainwright_trainer.search.log import SearchLog
from trainwright_trainer.search.population import Rules
from trainwright_trainer.search.ray_tune.channel import asked
from trainwright_trainer.search.ray_tune.mutations import perturbed
from trainwright_trainer.search.ray_tune.population import Population, PopulationScheduler, PopulationSearcher
from trainwright_trainer.search.ray_tune.recorded import RecordedSearcher
from trainwright_trainer.search.ray_tune.schedulers import measure_of, scheduler_of
from trainwright_trainer.search.ray_tune.searchers import searcher_of
from trainwright_trainer.search.ray_tune.spaces import decoded
from trainwright_trainer.search.trial_run import TrialSetting, read_end
from trainwright_trainer.storage.base import Storage
from trainwright_trainer.storage.registry import storage_at


@dataclass(frozen=True)
class Methods:
    """`number`: the number of samples for Tune; -1: as many as the searcher gives."""

    searcher: RecordedSearcher
    scheduler: TrialScheduler
    number: int


def methods_of(
    config: HyperoptConfig,
    setting: TrialSetting,
    storage: Storage,
    log: SearchLog,
    seed: int,
    concurrent: int,
    channel: ActorHandle[Any],
    is_closing: Callable[[], bool],
) -> Methods:
    """The methods that a config names. `concurrent`: the number of trials at the same time."""
    section, mode, most = config.executor.scheduler, setting.objective.mode, config.number_of_trials
    inner = searcher_of(config, mode, seed)
    named: dict[str, Any] = {
        "decode": partial(decoded, config.parameters),
        "end_of": partial(read_end, storage),
        "saw": partial(asked, channel.saw),
        "most": most,
        "is_closing": is_closing,
    }
    if not isinstance(section, PopulationBasedScheduler):
        searcher = RecordedSearcher(inner, mode, log, **named)
        return Methods(searcher, scheduler_of(section), -1 if most is None else most)
    assert most is not None
    members = Population(
        log,
        rules_of(section, most, setting),
        seed=seed,
        concurrent=concurrent,
        kept=partial(_kept, setting),
        perturb=lambda values, draws: perturbed(values, section, draws),
    )
    own = PopulationSearcher(members, inner, mode, log, **named)
    return Methods(own, PopulationScheduler(members, own, is_closing), -1)


def rules_of(section: PopulationBasedScheduler, members: int, setting: TrialSetting) -> Rules:
    return Rules(
        measure_of(section),
        section.perturbation_interval,
        section.burn_in_period,
        section.quantile_fraction,
        section.synch,
        members,
        setting.objective,
    )


def _kept(setting: TrialSetting, trial: str, step: int) -> CheckpointName | None:
    copies = storage_at(str(setting.parent(trial)), setting.access)
    return parents.kept(setting.storage(trial), copies, step)
