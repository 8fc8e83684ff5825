"""Search algorithms whose packages draw from the generators of the process, or from no generator that we can set.

Each suggestion is made with generators that have a seed of its own. So it is a function of the seed, its number and the
results before it, and a search that continues repeats it. Outside a suggestion the generators are as before.
"""

from __future__ import annotations

import logging
import random
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from ray.tune.search.searcher import Searcher

from trainwright_api.problems import Mistakes
from trainwright_trainer.search.ray_tune.hooks import METRIC
from trainwright_trainer.search.ray_tune.spaces import Parameters, domains, keys

Values = dict[str, Any]


class Seeded(Searcher):
    """`inner` with generators of its own. `constants`: the parameters with one value, which the packages refuse."""

    def __init__(self, inner: Searcher, seed: int, constants: Mapping[str, Any]) -> None:
        super().__init__(METRIC, None)
        self._inner, self._seed, self._constants = inner, seed, constants
        self._suggested = 0

    def suggest(self, trial_id: str) -> Any:
        with generators(self._seed, self._suggested):
            found = self._inner.suggest(trial_id)
        if not isinstance(found, Mapping):
            return found
        self._suggested += 1
        return {**self._constants, **{key: plain(value) for key, value in found.items()}}

    def on_trial_result(self, trial_id: str, result: dict[str, Any]) -> None:
        with generators(self._seed, self._suggested):
            self._inner.on_trial_result(trial_id, result)

    def on_trial_complete(self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False) -> None:
        with generators(self._seed, self._suggested):
            self._inner.on_trial_complete(trial_id, result, error)


def seeded(word: str, parameters: Parameters, points: Sequence[Values], mode: str, section: Any, seed: int) -> Searcher:
    """The search algorithm `word`. `points`: the points of the user; what they lack is drawn."""
    spaces = domains(parameters, steps="none")
    constants = constants_of(parameters)
    free = {key: domain for key, domain in spaces.items() if key not in constants}
    draws = np.random.default_rng(seed)
    whole = [{key: point.get(key, plain(free[key].sample(random_state=draws))) for key in free} for point in points]
    try:
        with generators(seed, 0):
            return Seeded(_BUILT[word](free, whole, mode, section, seed), seed, constants)
    except Exception as error:  # the package checks the arguments, or it is another version than Ray's class needs
        line = f"{word} does not start with these arguments and the installed version: {error or type(error).__name__}"
        raise Mistakes.one("config.hyperopt.search_alg", line) from error


def constants_of(parameters: Parameters) -> Values:
    """The parameters with one value, by their keys."""
    found = {}
    for key, name in keys(parameters).items():
        probes = parameters[name].probes()
        if len(probes) == 1 and "mean" not in type(parameters[name]).model_fields:
            found[key] = 0  # the position in the list
        elif hasattr(parameters[name], "lower") and probes[0] == probes[1]:
            found[key] = probes[0]
    return found


def plain(value: Any) -> Any:
    """A number of numpy as a number of Python."""
    return value.item() if hasattr(value, "item") else value


@contextmanager
def generators(seed: int, number: int) -> Iterator[None]:
    """The generators of Python, numpy and torch with the seed of a suggestion. The packages print and warn nothing."""
    level = logging.root.manager.disable
    logging.disable(logging.CRITICAL)  # a package may set the levels of its own loggers when it is imported
    of_python, of_numpy = random.getstate(), np.random.get_state()
    with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        own = int(np.random.SeedSequence([seed, number]).generate_state(1)[0])
        random.seed(own)
        np.random.seed(own)
        torch.manual_seed(own)
        try:
            yield
        finally:
            random.setstate(of_python)
            np.random.set_state(of_numpy)
            logging.disable(level)


def _ax(spaces: Values, points: list[Values], mode: str, section: Any, seed: int) -> Searcher:  # noqa: ARG001
    from ray.tune.search.ax import AxSearch

    class Ax(AxSearch):
        """Ray does not tell Ax that a trial has failed. Ax waits for it, and after some of them for ever."""

        def on_trial_complete(self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False) -> None:
            client: Any = self._ax
            if not result:
                client.log_trial_failure(self._live_trial_mapping[trial_id])
            super().on_trial_complete(trial_id, result, error)  # type: ignore[no-untyped-call]

    space = Ax.convert_search_space(spaces)
    return Ax(space, METRIC, mode, points_to_evaluate=points, random_seed=seed % 2**32, verbose_logging=False)


def _bohb(spaces: Values, points: list[Values], mode: str, section: Any, seed: int) -> Searcher:
    from ray.tune.search.bohb import TuneBOHB

    space = TuneBOHB.convert_search_space(spaces)
    return TuneBOHB(space, section.bohb_config, METRIC, mode, points, seed % 2**32)


def _nevergrad(spaces: Values, points: list[Values], mode: str, section: Any, seed: int) -> Searcher:  # noqa: ARG001
    """Ludwig's section names no optimizer. That of Ray's documentation is the best one within 30 trials."""
    from nevergrad import optimizers
    from ray.tune.search.nevergrad import NevergradSearch

    space = NevergradSearch.convert_search_space(spaces)
    return NevergradSearch(optimizers.OnePlusOne, None, space, METRIC, mode, points)


def _bayesopt(spaces: Values, points: list[Values], mode: str, section: Any, seed: int) -> Searcher:  # noqa: ARG001
    from trainwright_trainer.search.ray_tune.bayesian import Bayesian

    return Bayesian(spaces, points, mode, section.random_search_steps, section.utility_kwargs or {})


_BUILT = {"ax": _ax, "bayesopt": _bayesopt, "bohb": _bohb, "nevergrad": _nevergrad}
