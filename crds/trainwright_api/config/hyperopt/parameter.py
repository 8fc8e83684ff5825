"""The search space of one parameter. `space` selects its type. The meaning of the bounds is Ray Tune's."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field
from pydantic_core import InitErrorDetails

from trainwright_api.schema.choice import Choice
from trainwright_api.schema.fields import PositiveFloat, PositiveInt
from trainwright_api.schema.section import Section, relation

Base = Annotated[
    PositiveFloat, Field(description="Base of the logarithm. The distribution is the same for every base.")
]
Step = Annotated[PositiveFloat | None, Field(description="Step between neighbouring values.")]
WholeStep = Annotated[PositiveInt | None, Field(description="Step between neighbouring values.")]


class Parameter(Section):
    """A search space."""

    def probes(self) -> list[Any]:
        """Return values that stand for all: a field that accepts them accepts every value of the space."""
        raise NotImplementedError

    @property
    def is_logarithmic(self) -> bool:
        """True if the values are distributed on a logarithmic scale."""
        return "base" in type(self).model_fields


class ChoiceParameter(Parameter):
    """A random choice from a list."""

    space: Literal["choice"] = Field("choice", description="A random choice from a list.")
    categories: list[Any] = Field(min_length=1, description="The values.")

    def probes(self) -> list[Any]:
        return list(self.categories)


class GridSearchParameter(Parameter):
    """Grid search: every value of a list."""

    space: Literal["grid_search"] = Field("grid_search", description="Grid search: every value of a list.")
    values: list[Any] = Field(min_length=1, description="The values.")

    def probes(self) -> list[Any]:
        return list(self.values)


class Interval(Parameter):
    """Numbers between two bounds."""

    lower: float = Field(description="Lower bound.")
    upper: float = Field(description="Upper bound.")

    def probes(self) -> list[Any]:
        return [self.lower, self.upper]

    def mistakes(self) -> Iterator[InitErrorDetails]:
        if self.lower > self.upper:
            yield relation(f"lower {self.lower:g} is above upper {self.upper:g}", "lower", found=self.lower)
        yield from mistakes_of_scale(self)


class UniformParameter(Interval):
    """Uniformly distributed numbers."""

    space: Literal["uniform"] = Field("uniform", description="Uniformly distributed numbers.")


class QUniformParameter(Interval):
    """Uniformly distributed numbers, rounded to a step."""

    space: Literal["quniform"] = Field("quniform", description="Uniformly distributed numbers, rounded to a step.")
    q: Step = None

    def probes(self) -> list[Any]:
        return [rounded(self.lower, self.q), rounded(self.upper, self.q)]


class LogUniformParameter(Interval):
    """Log-uniformly distributed numbers."""

    space: Literal["loguniform"] = Field("loguniform", description="Log-uniformly distributed numbers.")
    base: Base = 10.0


class QLogUniformParameter(Interval):
    """Log-uniformly distributed numbers, rounded to a step."""

    space: Literal["qloguniform"] = Field(
        "qloguniform", description="Log-uniformly distributed numbers, rounded to a step."
    )
    q: Step = None
    base: Base = 10.0

    def probes(self) -> list[Any]:
        return [rounded(self.lower, self.q), rounded(self.upper, self.q)]


class Normal(Parameter):
    """Normally distributed numbers."""

    mean: float = Field(0.0, description="Mean of the distribution.")
    sd: PositiveFloat = Field(1.0, description="Standard deviation of the distribution.")

    def probes(self) -> list[Any]:
        return [self.mean]

    def mistakes(self) -> Iterator[InitErrorDetails]:
        yield from mistakes_of_scale(self)


class RandnParameter(Normal):
    """Normally distributed numbers."""

    space: Literal["randn"] = Field("randn", description="Normally distributed numbers.")


class QRandnParameter(Normal):
    """Normally distributed numbers, rounded to a step."""

    space: Literal["qrandn"] = Field("qrandn", description="Normally distributed numbers, rounded to a step.")
    q: Step = None

    def probes(self) -> list[Any]:
        return [rounded(round(self.mean / (self.q or 1)) * (self.q or 1), self.q)]


class WholeInterval(Parameter):
    """Integers between two bounds. The upper bound is excluded, unless the integers are rounded to a step."""

    lower: int = Field(description="Lower bound.")
    upper: int = Field(description="Upper bound.")

    def probes(self) -> list[Any]:
        return [self.lower, self.upper if "q" in type(self).model_fields else self.upper - 1]

    def mistakes(self) -> Iterator[InitErrorDetails]:
        if self.lower > self.upper:
            yield relation(f"lower {self.lower} is above upper {self.upper}", "lower", found=self.lower)
        elif self.lower == self.upper and "q" not in type(self).model_fields:
            yield relation(f"there is no integer from {self.lower} to below {self.upper}", "upper", found=self.upper)
        yield from mistakes_of_scale(self)


class RandintParameter(WholeInterval):
    """Uniformly distributed integers."""

    space: Literal["randint"] = Field("randint", description="Uniformly distributed integers.")


class QRandintParameter(WholeInterval):
    """Uniformly distributed integers, rounded to a step."""

    space: Literal["qrandint"] = Field("qrandint", description="Uniformly distributed integers, rounded to a step.")
    q: WholeStep = None


class LogRandintParameter(WholeInterval):
    """Log-uniformly distributed integers."""

    space: Literal["lograndint"] = Field("lograndint", description="Log-uniformly distributed integers.")
    base: Base = 10.0


class QLogRandintParameter(WholeInterval):
    """Log-uniformly distributed integers, rounded to a step."""

    space: Literal["qlograndint"] = Field(
        "qlograndint", description="Log-uniformly distributed integers, rounded to a step."
    )
    q: WholeStep = None
    base: Base = 10.0


def rounded(value: float, step: float | None) -> float | int:
    """Return a value of a space with a step: as an integer if the step is one and the value is whole."""
    return int(value) if step is not None and float(step).is_integer() and float(value).is_integer() else value


def mistakes_of_scale(parameter: Parameter) -> Iterator[InitErrorDetails]:
    """Yield the mistakes of a logarithmic or a stepped scale: a bound that it does not contain, a missing step."""
    fields = type(parameter).model_fields
    lower = getattr(parameter, "lower", None)
    if parameter.is_logarithmic and lower is not None and lower <= 0:
        yield relation(f"lower {lower:g} has no logarithm: expected a number above 0", "lower", found=lower)
    if "q" not in fields:
        return
    step = getattr(parameter, "q", None)
    if step is None:
        yield relation("missing: the step of the values", "q")
        return
    for name in ("lower", "upper"):
        bound = getattr(parameter, name, None)
        if bound is not None and not math.isclose(bound / step, round(bound / step), abs_tol=1e-9):
            yield relation(f"{name} {bound:g} is no multiple of the step q {step:g}", name, found=bound)


PARAMETER = Choice(
    "parameter space",
    "trainwright_api.config.hyperopt",
    {
        "choice": "parameter.ChoiceParameter",
        "grid_search": "parameter.GridSearchParameter",
        "uniform": "parameter.UniformParameter",
        "quniform": "parameter.QUniformParameter",
        "loguniform": "parameter.LogUniformParameter",
        "qloguniform": "parameter.QLogUniformParameter",
        "randn": "parameter.RandnParameter",
        "qrandn": "parameter.QRandnParameter",
        "randint": "parameter.RandintParameter",
        "qrandint": "parameter.QRandintParameter",
        "lograndint": "parameter.LogRandintParameter",
        "qlograndint": "parameter.QLogRandintParameter",
    },
    key="space",
)
