"""Perturbed values, as Ray's population based training makes them, from a generator of ours.

A number stays within the bounds of its space, where Ray lets it leave them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from trainwright_api.config.hyperopt.parameter import ChoiceParameter, GridSearchParameter, Normal, Parameter
from trainwright_api.config.hyperopt.scheduler import PopulationBasedScheduler
from trainwright_trainer.search.ray_tune.spaces import decoded, domains


def perturbed(values: Mapping[str, Any], pbt: PopulationBasedScheduler, draws: np.random.Generator) -> dict[str, Any]:
    """The values of a trial with those of `hyperparam_mutations` changed."""
    spaces = pbt.hyperparam_mutations or {}
    return {**values, **{name: _changed(spaces[name], values[name], pbt, draws) for name in spaces}}


def _changed(space: Parameter, value: Any, pbt: PopulationBasedScheduler, draws: np.random.Generator) -> Any:
    is_new = draws.random() < pbt.resample_probability
    if isinstance(space, ChoiceParameter | GridSearchParameter):
        return _neighbour(space.probes(), value, draws, is_new=is_new)
    if is_new or isinstance(value, bool) or not isinstance(value, int | float):
        drawn = domains({"": space})["p0"].sample(random_state=draws)
        return _decoded(space, drawn.item() if hasattr(drawn, "item") else drawn)
    factor = pbt.perturbation_factors[draws.integers(len(pbt.perturbation_factors))]
    found = _decoded(space, value * factor)
    return _within(space, round(found) if isinstance(value, int) else found)


def _decoded(space: Parameter, value: Any) -> Any:
    """The value for the config: a step rounds it."""
    return decoded({"": space}, {"p0": value})[""]


def _neighbour(listed: list[Any], value: Any, draws: np.random.Generator, *, is_new: bool) -> Any:
    """Another value of the list: the one before or after, or any of them. A value outside the list becomes any."""
    if is_new or value not in listed:
        return listed[draws.integers(len(listed))]
    place = listed.index(value) + (1 if draws.integers(2) else -1)
    return listed[min(max(place, 0), len(listed) - 1)]


def _within(space: Parameter, value: float) -> float:
    """The value, or the nearest bound of its space. A normal distribution has none."""
    if isinstance(space, Normal):
        return value
    low, high = space.probes()
    found: float = min(max(value, low), high)
    return found
