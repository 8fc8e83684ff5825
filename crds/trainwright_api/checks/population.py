"""The rules of population based training: its members, its measure of time, and the parameters that it perturbs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainwright_api.config.continued import WORDS, may_differ
from trainwright_api.config.hyperopt import HyperoptConfig
from trainwright_api.config.hyperopt.scheduler import PopulationBasedScheduler
from trainwright_api.config.hyperopt.substitution import location_of
from trainwright_api.paths import dotted
from trainwright_api.problems import Problem, nearest

_AT = "config.hyperopt"
_SCHEDULER = f"{_AT}.executor.scheduler"
Config = Mapping[str, Any]


def population_problems(config: Config, search: HyperoptConfig, pbt: PopulationBasedScheduler) -> Iterator[Problem]:
    """Yield the mistakes of a search with `pbt`, except the values of its spaces. `config`: without the search."""
    if search.number_of_trials is None:
        yield Problem(f"{_AT}.executor.num_samples", "missing: pbt needs the number of members of its population")
    elif search.number_of_trials < 2:
        yield Problem(f"{_AT}.executor.num_samples", "is 1: expected a population of 2 trials or more")
    if search.search_alg.type not in ("random", "variant_generator"):
        line = f"pbt chooses all values but the first itself: set random, found {search.search_alg.type}"
        yield Problem(f"{_AT}.search_alg.type", line)
    yield from _numbers(pbt)
    if not pbt.hyperparam_mutations:
        yield Problem(f"{_SCHEDULER}.hyperparam_mutations", "missing: the parameters that pbt perturbs")
    for name in pbt.hyperparam_mutations or {}:
        yield from _mutation(config, search, name)


def _numbers(pbt: PopulationBasedScheduler) -> Iterator[Problem]:
    if pbt.perturbation_interval <= 0:
        yield Problem(f"{_SCHEDULER}.perturbation_interval", f"expected more than 0, found {pbt.perturbation_interval}")
    if pbt.resample_probability > 1:
        yield Problem(f"{_SCHEDULER}.resample_probability", f"expected 1 or less, found {pbt.resample_probability:g}")
    for factor in pbt.perturbation_factors:
        if factor <= 0:
            yield Problem(f"{_SCHEDULER}.perturbation_factors", f"expected two numbers above 0, found {factor:g}")


def _mutation(config: Config, search: HyperoptConfig, name: str) -> Iterator[Problem]:
    """Yield the mistake of a parameter that does not vary in this search, or that a checkpoint has one value of."""
    at = f"{_SCHEDULER}.hyperparam_mutations.{name}"
    if name not in search.parameters:
        near = nearest(name, search.parameters)
        hint = f"did you mean {near!r}?" if near else f"there are {', '.join(search.parameters)}"
        yield Problem(at, f"is no parameter of the search: {hint}")
    elif not may_differ(dotted(("config", *location_of(config, name))), _optimizer(config)):
        yield Problem(at, f"a checkpoint continues with one value of it only. pbt can change {WORDS}")


def _optimizer(config: Config) -> str:
    optimizer = (config.get("trainer") or {}).get("optimizer") or "adam"
    return str(optimizer.get("type") or "adam") if isinstance(optimizer, Mapping) else str(optimizer)
