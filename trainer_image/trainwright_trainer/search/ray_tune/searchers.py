"""The search algorithms. Each suggests values as a function of its seed and of the results before, in order."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from ray.tune.search.searcher import Searcher

from trainwright_api.config.hyperopt import HyperoptConfig
from trainwright_api.config.hyperopt.parameter import GridSearchParameter
from trainwright_api.config.hyperopt.search import BasicVariantSearch, HyperoptSearch, OptunaSearch
from trainwright_trainer.search.ray_tune.hooks import METRIC
from trainwright_trainer.search.ray_tune.seeded import plain, seeded
from trainwright_trainer.search.ray_tune.spaces import Parameters, domains, encoded, keys

_SEEDS = ("seed", "random_state", "random_state_seed")
"""The names of a section's own seed."""


def searcher_of(search: HyperoptConfig, mode: str, seed: int) -> Searcher:
    """The search algorithm of a config. `check_package` has found its package."""
    section: Any = search.search_alg
    parameters: Any = search.parameters
    points = [encoded(parameters, point) for point in section.points_to_evaluate or ()]
    own = next((found for name in _SEEDS if (found := getattr(section, name, None)) is not None), seed)
    if isinstance(section, OptunaSearch):
        return _optuna(parameters, points, mode, own)
    if isinstance(section, HyperoptSearch):
        return _hyperopt(parameters, points, mode, section, own)
    if isinstance(section, BasicVariantSearch):
        return GridAndRandom(parameters, points, own, constant=section.constant_grid_search)
    return seeded(section.type, parameters, points, mode, section, own)


def _optuna(parameters: Parameters, points: list[dict[str, Any]], mode: str, seed: int) -> Searcher:
    import optuna
    from ray.tune.search.optuna import OptunaSearch as Optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    space = Optuna.convert_search_space(domains(parameters, steps="no logs"))
    # numpy takes seeds of 32 bits
    return Optuna(space, METRIC, mode, points_to_evaluate=points, seed=seed % 2**32)


def _hyperopt(
    parameters: Parameters, points: list[dict[str, Any]], mode: str, section: HyperoptSearch, seed: int
) -> Searcher:
    from ray.tune.search.hyperopt import HyperOptSearch

    return HyperOptSearch(
        HyperOptSearch.convert_search_space(domains(parameters, steps="no logs")),
        METRIC,
        mode,
        points_to_evaluate=points or None,
        n_initial_points=section.n_initial_points,
        random_state_seed=seed % 2**32,
        gamma=section.gamma,
    )


class GridAndRandom(Searcher):
    """Every value of the grid, and independent draws of the other parameters. The points of the user come first.

    The draw of a trial depends on the seed and its number only. `constant`: all trials of one pass through the grid
    have the same draws.
    """

    def __init__(
        self, parameters: Parameters, points: Sequence[Mapping[str, Any]], seed: int, *, constant: bool
    ) -> None:
        super().__init__(METRIC, None)
        self._domains, self._points, self._seed, self._constant = domains(parameters), points, seed, constant
        names = keys(parameters)
        grids = {key: parameters[name] for key, name in names.items() if key not in self._domains}
        self._grid = {key: len(grid.values) for key, grid in grids.items() if isinstance(grid, GridSearchParameter)}
        self._suggested = self._passes = 0
        self._left: list[tuple[int, dict[str, int]]] = []

    def suggest(self, trial_id: str) -> dict[str, Any]:  # noqa: ARG002 (the interface of Ray)
        number = self._suggested
        self._suggested += 1
        point = self._points[number] if number < len(self._points) else {}
        of_pass, cell = self._taken(point)
        draws = np.random.default_rng([self._seed, of_pass if self._constant else number])
        drawn = {key: plain(domain.sample(random_state=draws)) for key, domain in self._domains.items()}
        return {**cell, **drawn, **point}

    def on_trial_complete(self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False) -> None:
        """Does nothing: no draw depends on a result."""

    def _taken(self, point: Mapping[str, Any]) -> tuple[int, dict[str, int]]:
        """The first cell that is left and agrees with a point, with the number of its pass through the grid."""
        while True:
            for place, (_, cell) in enumerate(self._left):
                if all(point.get(key, at) == at for key, at in cell.items()):
                    return self._left.pop(place)
            self._left += [(self._passes, self._cell(number)) for number in range(math.prod(self._grid.values()))]
            self._passes += 1

    def _cell(self, number: int) -> dict[str, int]:
        """The positions in the grid. The last parameter changes fastest."""
        cell: dict[str, int] = {}
        for key, length in reversed(self._grid.items()):
            number, cell[key] = divmod(number, length)
        return cell
