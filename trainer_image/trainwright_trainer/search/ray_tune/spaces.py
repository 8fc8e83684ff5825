"""The search spaces as domains of Ray Tune, and suggested values as values of the config.

Categories are searched by their position, because no search algorithm takes lists or mappings as categories. The
parameters are called p0, p1, … there, because a path in a name has a meaning to Ray.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from ray import tune
from ray.tune.search.sample import Domain

from trainwright_api.config.hyperopt.parameter import ChoiceParameter, GridSearchParameter, Parameter, rounded

Parameters = Mapping[str, Parameter]

# The base of a logarithm does not change the distribution, and Ray deprecates it.
_DOMAINS: Mapping[str, Callable[[Any], Domain]] = {
    "choice": lambda p: tune.choice(range(len(p.categories))),
    "uniform": lambda p: tune.uniform(p.lower, p.upper),
    "quniform": lambda p: tune.quniform(p.lower, p.upper, p.q),
    "loguniform": lambda p: tune.loguniform(p.lower, p.upper),
    "qloguniform": lambda p: tune.qloguniform(p.lower, p.upper, p.q),
    "randn": lambda p: tune.randn(p.mean, p.sd),
    "qrandn": lambda p: tune.qrandn(p.mean, p.sd, p.q),
    "randint": lambda p: tune.randint(p.lower, p.upper),
    "qrandint": lambda p: tune.qrandint(p.lower, p.upper, p.q),
    "lograndint": lambda p: tune.lograndint(p.lower, p.upper),
    "qlograndint": lambda p: tune.qlograndint(p.lower, p.upper, p.q),
}


# For search algorithms that take no steps, or none of a logarithm. `decoded` rounds their values.
_WITHOUT_STEPS_OF_LOGS: Mapping[str, Callable[[Any], Domain]] = {
    **_DOMAINS,
    "qloguniform": lambda p: tune.loguniform(p.lower, p.upper),
    "qlograndint": lambda p: tune.lograndint(p.lower, p.upper + 1),
}
_WITHOUT_STEPS: Mapping[str, Callable[[Any], Domain]] = {
    **_WITHOUT_STEPS_OF_LOGS,
    "quniform": lambda p: tune.uniform(p.lower, p.upper),
    "qrandint": lambda p: tune.randint(p.lower, p.upper + 1),
}
_BY_STEPS = {"all": _DOMAINS, "no logs": _WITHOUT_STEPS_OF_LOGS, "none": _WITHOUT_STEPS}


def domains(parameters: Parameters, *, steps: Literal["all", "no logs", "none"] = "all") -> dict[str, Domain]:
    """The domain of each parameter that is drawn, by its key. A grid is not drawn. `steps`: those that it keeps."""
    made = _BY_STEPS[steps]
    keyed = {key: parameters[name] for key, name in keys(parameters).items()}
    return {
        key: made[type(parameter).model_fields["space"].default](parameter)
        for key, parameter in keyed.items()
        if not isinstance(parameter, GridSearchParameter)
    }


def keys(parameters: Parameters) -> dict[str, str]:
    """The names of the parameters by their keys."""
    return {f"p{position}": name for position, name in enumerate(parameters)}


def decoded(parameters: Parameters, suggestion: Mapping[str, Any]) -> dict[str, Any]:
    """The values for the config, by the names of the parameters."""
    return {name: _decoded(parameters[name], suggestion[key]) for key, name in keys(parameters).items()}


def encoded(parameters: Parameters, point: Mapping[str, Any]) -> dict[str, Any]:
    """A point that the user gives, as the search algorithm takes it."""
    return {key: _encoded(parameters[name], point[name]) for key, name in keys(parameters).items() if name in point}


def _decoded(parameter: Parameter, value: Any) -> Any:
    if isinstance(parameter, ChoiceParameter):
        return parameter.categories[int(value)]
    if isinstance(parameter, GridSearchParameter):
        return parameter.values[int(value)]
    step = getattr(parameter, "q", None)
    if step is None:
        return value
    # The products of a step have noise in their last digits, and not every search algorithm knows steps.
    return rounded(float(f"{round(value / step) * step:.12g}"), step)


def _encoded(parameter: Parameter, value: Any) -> Any:
    if isinstance(parameter, ChoiceParameter):
        return parameter.categories.index(value)
    return parameter.values.index(value) if isinstance(parameter, GridSearchParameter) else value
