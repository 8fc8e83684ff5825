"""Bayesian optimisation by a Gaussian process, with the package bayesian-optimization.

Ray's class needs a version of the package below 2, and waits for ever after a trial that fails in the random phase.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from ray.tune.search.sample import Float, Integer, LogUniform
from ray.tune.search.searcher import Searcher

from trainwright_trainer.search.ray_tune.hooks import METRIC

_KINDS = {
    "ucb": ("UpperConfidenceBound", "kappa", 2.576),
    "ei": ("ExpectedImprovement", "xi", 0.0),
    "poi": ("ProbabilityOfImprovement", "xi", 0.0),
}
"""The classes of acquisition functions by Ray's words, with their argument and its default."""


class Bayesian(Searcher):
    """`spaces`: intervals; `points`: the first suggestions; then `steps` draws; then the maximum of the acquisition.

    It searches the logarithm of a logarithmic interval, and rounds whole numbers.
    """

    def __init__(
        self, spaces: Mapping[str, Any], points: list[dict[str, Any]], mode: str, steps: int, utility: Mapping[str, Any]
    ) -> None:
        from bayes_opt import BayesianOptimization

        super().__init__(METRIC, mode)
        self._spaces, self._points, self._steps = spaces, list(points), steps
        self._sign = 1 if mode == "max" else -1
        self._draws = np.random.RandomState()
        self._bounds = {key: _bounds(space) for key, space in spaces.items()}
        self._optimizer = BayesianOptimization(
            None,
            self._bounds,
            acquisition_function=_acquisition(utility),
            random_state=self._draws,
            verbose=0,
            allow_duplicate_points=True,
        )
        self._open: dict[str, dict[str, float]] = {}
        self._seen: set[tuple[Any, ...]] = set()

    def suggest(self, trial_id: str) -> dict[str, Any]:
        found = self._next()
        self._seen.add(tuple(found.values()))
        self._open[trial_id] = {key: _inward(self._spaces[key], value) for key, value in found.items()}
        return found

    def on_trial_complete(self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False) -> None:  # noqa: ARG002
        point = self._open.pop(trial_id)
        if result:
            self._optimizer.register(point, self._sign * result[METRIC])

    def _next(self) -> dict[str, Any]:
        """A value that was suggested before is replaced by a draw: its trial would have the same score."""
        if self._points:
            return self._points.pop(0)
        if len(self._seen) >= self._steps:
            self._draws.seed(np.random.randint(2**31))
            found = self._outward(self._optimizer.suggest())
            if tuple(found.values()) not in self._seen:
                return found
        return self._outward({key: np.random.uniform(*bounds) for key, bounds in self._bounds.items()})

    def _outward(self, point: Mapping[str, float]) -> dict[str, Any]:
        return {key: _outward(space, float(point[key])) for key, space in self._spaces.items()}


def _acquisition(utility: Mapping[str, Any]) -> Any:
    from bayes_opt import acquisition

    name, argument, default = _KINDS[utility.get("kind", "ucb")]
    return getattr(acquisition, name)(**{argument: float(utility.get(argument, default))})


def _bounds(space: Float | Integer) -> tuple[float, float]:
    last = space.upper - 1 if isinstance(space, Integer) else space.upper
    return _inward(space, space.lower), _inward(space, last)


def _inward(space: Any, value: float) -> float:
    return math.log(value) if isinstance(space.get_sampler(), LogUniform) else float(value)


def _outward(space: Any, value: float) -> float:
    """Within the bounds, although the logarithm rounds."""
    found = math.exp(value) if isinstance(space.get_sampler(), LogUniform) else value
    if isinstance(space, Integer):
        return int(min(max(round(found), space.lower), space.upper - 1))
    return float(min(max(found, space.lower), space.upper))
