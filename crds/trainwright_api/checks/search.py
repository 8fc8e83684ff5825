"""The rules of a hyperparameter search that concern other sections: its parameters, its metric and its methods."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from trainwright_api.checks.population import population_problems
from trainwright_api.config.hyperopt import HyperoptConfig
from trainwright_api.config.hyperopt.parameter import ChoiceParameter, GridSearchParameter, Parameter
from trainwright_api.config.hyperopt.scheduler import AsyncHyperbandScheduler, PopulationBasedScheduler, Scheduler
from trainwright_api.config.hyperopt.substitution import WHOLE, feature_names, location_of, substituted
from trainwright_api.config.metric_names import METRICS
from trainwright_api.paths import dotted
from trainwright_api.problems import Problem, nearest

MAX_CHARACTERS = 60
_AT = "config.hyperopt"
_NO_PARAMETERS = ("hyperopt", "input_features", "output_features", "model_type", "ludwig_version")
_COMBINED = "combined"
TIMES = ("training_iteration", "time_total_s", "step")
"""The measures of time of a scheduler: evaluation rounds, seconds of training, and optimizer steps."""
_RANDOM = ("random", "variant_generator")
_NORMAL = ("randn", "qrandn")
_ARGUMENTS = {
    "bohb_config": (
        *("min_points_in_model", "top_n_percent", "num_samples"),
        *("random_fraction", "bandwidth_factor", "min_bandwidth"),
    ),
    "utility_kwargs": ("kind", "kappa", "xi"),
}
_UTILITIES = ("ucb", "ei", "poi")
Config = Mapping[str, Any]
ProblemsOf = Callable[[Config], Iterable[Problem]]
"""The mistakes and the unbuilt parts of a job with another config."""


def search_problems(
    config: Config, search: HyperoptConfig, sections: Iterable[str], problems_of: ProblemsOf
) -> Iterator[Problem]:
    """Yield the mistakes of a search. `config`: the config as plain data; `sections`: the keys of any config."""
    plain = {key: value for key, value in config.items() if key != "hyperopt"}
    yield from _metric(plain, search)
    yield from _methods(search)
    if isinstance(trainer := plain.get("trainer"), Mapping) and trainer.get("skip_all_evaluation") is True:
        yield Problem("config.trainer.skip_all_evaluation", "a search compares trials by their evaluations: remove it")
    known = [name for name in sections if name not in _NO_PARAMETERS]
    own = set(problems_of(plain))

    def of_values(tried: Config) -> Iterable[Problem]:
        """The problems that the values bring: those of the job itself are reported once, without a parameter."""
        return [problem for problem in problems_of(tried) if problem not in own]

    for name, parameter in search.parameters.items():
        at = f"{_AT}.parameters.{name}"
        mistakes = list(_name(plain, name, known))
        yield from mistakes or _values(plain, search, name, parameter, of_values, at)
    yield from _points(plain, search, of_values)
    if isinstance(pbt := search.executor.scheduler, PopulationBasedScheduler):
        yield from population_problems(plain, search, pbt)
        for name, parameter in (pbt.hyperparam_mutations or {}).items():
            if name in search.parameters:
                at = f"{_AT}.executor.scheduler.hyperparam_mutations.{name}"
                yield from _values(plain, search, name, parameter, of_values, at)


def _metric(config: Config, search: HyperoptConfig) -> Iterator[Problem]:
    """Yield the mistake of the output, the metric or the goal: only the first, as the others follow from it."""
    types = {feature["name"]: feature.get("type") for feature in config.get("output_features", ())}
    outputs = {_COMBINED: _COMBINED, **types}
    metrics = METRICS.get(outputs.get(search.output_feature, ""), {})
    if search.output_feature not in outputs:
        yield Problem(f"{_AT}.output_feature", _unknown(search.output_feature, "output feature", outputs))
    elif search.metric not in metrics:
        there = f"metric of {search.output_feature!r}"
        yield Problem(f"{_AT}.metric", _unknown(search.metric, there, metrics))
    elif (metrics[search.metric] == "max") != (search.goal == "maximize"):
        good, goal = ("larger", "maximize") if metrics[search.metric] == "max" else ("smaller", "minimize")
        line = f"{search.goal} looks for the worst: {search.metric} is better the {good} it is. Set goal: {goal}"
        yield Problem(f"{_AT}.goal", line)


def _methods(search: HyperoptConfig) -> Iterator[Problem]:
    """Yield the combinations of spaces, search algorithm, scheduler and split that do not fit together."""
    executor, word = search.executor, search.search_alg.type
    if executor.scheduler.type != "fifo" and search.split == "test":
        yield Problem(f"{_AT}.split", "test is measured once, at the end of a trial: a scheduler needs validation")
    is_random = word in _RANDOM
    for name, parameter in search.parameters.items():
        at = f"{_AT}.parameters.{name}.space"
        if isinstance(parameter, GridSearchParameter) and not is_random:
            yield Problem(at, f"grid_search needs search_alg random, found {word}: use choice, or search_alg: random")
        elif not is_random and word != "hyperopt" and type(parameter).model_fields["space"].default in _NORMAL:
            yield Problem(at, f"{word} has no normal distribution: use uniform, or search_alg: random")
        elif word == "bayesopt" and isinstance(parameter, ChoiceParameter):
            yield Problem(at, f"{word} searches numbers only: use an interval, or search_alg: optuna")
    yield from _arguments(search)
    yield from _scheduler(executor.scheduler)
    grid = all(isinstance(parameter, GridSearchParameter) for parameter in search.parameters.values())
    if executor.num_samples is None and executor.time_budget_s is None and not (grid and is_random):
        yield Problem(f"{_AT}.executor.num_samples", "missing: without a time budget the search has no end")


def _points(config: Config, search: HyperoptConfig, problems_of: ProblemsOf) -> Iterator[Problem]:
    """Yield the mistakes of the points that the user gives: unknown parameters, and values that no trial can have."""
    for position, point in enumerate(getattr(search.search_alg, "points_to_evaluate", None) or ()):
        at = f"{_AT}.search_alg.points_to_evaluate[{position}]"
        for name, value in point.items():
            parameter = search.parameters.get(name)
            if parameter is None:
                yield Problem(f"{at}.{name}", _unknown(name, "parameter of the search", search.parameters))
            elif isinstance(parameter, ChoiceParameter | GridSearchParameter):
                if value not in parameter.probes():
                    there = ", ".join(map(shown, parameter.probes()))
                    yield Problem(f"{at}.{name}", f"{shown(value)} is not in the list of the parameter: {there}")
            elif isinstance(value, bool) or not isinstance(value, int | float):
                yield Problem(f"{at}.{name}", f"expected a number, found {shown(value)}")
            elif parameter.is_logarithmic and value <= 0 and search.search_alg.type not in _RANDOM:
                yield Problem(f"{at}.{name}", f"{value:g} has no logarithm: expected a number above 0")
            elif found := _problems(config, search, name, value, problems_of):
                yield Problem(f"{at}.{name}", _line(config, name, value, found[0]))


def _arguments(search: HyperoptConfig) -> Iterator[Problem]:
    """Yield the unknown arguments of the packages."""
    for field, known in _ARGUMENTS.items():
        at = f"{_AT}.search_alg.{field}"
        given = getattr(search.search_alg, field, None) or {}
        for name in given:
            if name not in known:
                yield Problem(f"{at}.{name}", _unknown(name, "argument", known))
        if (kind := given.get("kind")) is not None and kind not in _UTILITIES:
            yield Problem(f"{at}.kind", _unknown(shown(kind), "utility function", _UTILITIES))


def _scheduler(scheduler: Scheduler) -> Iterator[Problem]:
    """Yield the mistakes of a scheduler's numbers and of its measure of time."""
    at = f"{_AT}.executor.scheduler"
    if scheduler.time_attr not in TIMES:
        yield Problem(f"{at}.time_attr", _unknown(scheduler.time_attr, "measure of time", TIMES))
    factor = getattr(scheduler, "reduction_factor", 2)
    if factor <= 1:
        yield Problem(f"{at}.reduction_factor", f"expected more than 1, found {factor:g}")
    if isinstance(scheduler, AsyncHyperbandScheduler) and scheduler.max_t < scheduler.grace_period:
        yield Problem(f"{at}.max_t", f"{scheduler.max_t} is less than grace_period {scheduler.grace_period}")


def _name(config: Config, name: str, sections: list[str]) -> Iterator[Problem]:
    """Yield the mistake of a parameter's name: an unknown section or feature, or one name for both."""
    at = f"{_AT}.parameters.{name}"
    if name == WHOLE:
        return
    first = name.split(".")[0]
    features = [feature for feature, _ in feature_names(config)]
    owner = next((feature for feature in features if name.startswith(f"{feature}.")), None)
    if owner in sections:
        yield Problem(at, f"{owner!r} is a feature and a section of the config: rename the feature (its column stays)")
    elif name in features:
        yield Problem(at, f"{name!r} is a feature: name one of its fields, as in {name}.encoder.type")
    elif owner is None and first not in sections:
        found = [*sections, *features]
        near = nearest(first, found)
        hint = f"did you mean {near!r}?" if near else f"expected a section or a feature: {', '.join(found)}"
        yield Problem(at, f"unknown path: {first!r}: {hint}")


def _values(
    config: Config, search: HyperoptConfig, name: str, parameter: Parameter, problems_of: ProblemsOf, at: str
) -> Iterator[Problem]:
    """Yield one line for each value that no config of the search accepts. `at`: the path of the space."""
    seen = set()
    for value in parameter.probes():
        if name == WHOLE and not isinstance(value, Mapping):
            yield Problem(at, f"{shown(value)}: expected a part of the config, as keys and values")
            continue
        found = _problems(config, search, name, value, problems_of)
        for problem in found[:1]:
            line = _line(config, name, value, problem)
            if line not in seen:
                seen.add(line)
                yield Problem(at, line)
        if seen and not isinstance(parameter, ChoiceParameter | GridSearchParameter):
            return  # the other bound has the same mistake, or none


def _problems(config: Config, search: HyperoptConfig, name: str, value: Any, problems_of: ProblemsOf) -> list[Problem]:
    """The problems of a value alone; empty if it is valid together with some value of another choice."""
    first: list[Problem] = list(problems_of(substituted(config, {name: value})))
    if not first:
        return []
    for other, parameter in search.parameters.items():
        if other != name and isinstance(parameter, ChoiceParameter | GridSearchParameter):
            for choice in parameter.probes():
                values = {key: {other: choice, name: value}[key] for key in search.parameters if key in (other, name)}
                if not list(problems_of(substituted(config, values))):
                    return []
    return first


def _line(config: Config, name: str, value: Any, problem: Problem) -> str:
    """The line about a value. The path of the problem is named if it is not the parameter's own."""
    own = dotted(("config", *location_of(config, name)))
    if problem.message.startswith("unknown: ") and own.startswith(problem.path):
        return f"unknown path: {problem.message.removeprefix('unknown: ')}"
    where = "" if problem.path == own else f"{problem.path}: "
    return f"the value {shown(value)}: {where}{problem.message}"


def shown(value: Any) -> str:
    """Return a value in one short line."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= MAX_CHARACTERS else f"{text[: MAX_CHARACTERS - 1]}…"


def _unknown(found: str, noun: str, known: Iterable[str]) -> str:
    near = nearest(found, known)
    return f"{found!r} is no {noun}; there are {', '.join(known)}" + (f": did you mean {near!r}?" if near else "")
