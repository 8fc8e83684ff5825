"""The search space of one parameter. `space` selects its type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field
from pydantic_core import InitErrorDetails

from trainwright_api.schema.choice import Choice
from trainwright_api.schema.fields import PositiveFloat, PositiveInt
from trainwright_api.schema.section import Section, relation

Base = Annotated[PositiveFloat, Field(description="Base of the logarithm.")]
Step = Annotated[PositiveFloat | None, Field(description="Step between neighbouring values.")]
WholeStep = Annotated[PositiveInt | None, Field(description="Step between neighbouring values.")]


class Parameter(Section):
    """A search space."""


class ChoiceParameter(Parameter):
    """A random choice from a list."""

    space: Literal["choice"] = Field("choice", description="A random choice from a list.")
    categories: list[Any] = Field(min_length=1, description="The values.")


class GridSearchParameter(Parameter):
    """Grid search: every value of a list."""

    space: Literal["grid_search"] = Field("grid_search", description="Grid search: every value of a list.")
    values: list[Any] = Field(min_length=1, description="The values.")


class Interval(Parameter):
    """Numbers between two bounds."""

    lower: float = Field(description="Lower bound.")
    upper: float = Field(description="Upper bound.")

    def mistakes(self) -> Iterator[InitErrorDetails]:
        if self.lower > self.upper:
            yield relation(f"lower {self.lower:g} is above upper {self.upper:g}", "lower", found=self.lower)


class UniformParameter(Interval):
    """Uniformly distributed numbers."""

    space: Literal["uniform"] = Field("uniform", description="Uniformly distributed numbers.")


class QUniformParameter(Interval):
    """Uniformly distributed numbers, rounded to a step."""

    space: Literal["quniform"] = Field("quniform", description="Uniformly distributed numbers, rounded to a step.")
    q: Step = None


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


class Normal(Parameter):
    """Normally distributed numbers."""

    mean: float = Field(0.0, description="Mean of the distribution.")
    sd: PositiveFloat = Field(1.0, description="Standard deviation of the distribution.")


class RandnParameter(Normal):
    """Normally distributed numbers."""

    space: Literal["randn"] = Field("randn", description="Normally distributed numbers.")


class QRandnParameter(Normal):
    """Normally distributed numbers, rounded to a step."""

    space: Literal["qrandn"] = Field("qrandn", description="Normally distributed numbers, rounded to a step.")
    q: Step = None


class WholeInterval(Parameter):
    """Integers between two bounds."""

    lower: int = Field(description="Lower bound.")
    upper: int = Field(description="Upper bound.")

    def mistakes(self) -> Iterator[InitErrorDetails]:
        if self.lower > self.upper:
            yield relation(f"lower {self.lower} is above upper {self.upper}", "lower", found=self.lower)


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
