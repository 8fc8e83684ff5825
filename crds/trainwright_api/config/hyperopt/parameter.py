"""The space of one setting; `space` names its kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field
from pydantic_core import InitErrorDetails

from trainwright_api.schema.choice import Choice
from trainwright_api.schema.fields import PositiveFloat, PositiveInt
from trainwright_api.schema.section import Section, relation

Base = Annotated[PositiveFloat, Field(description="Base of the logarithm.")]
Step = Annotated[PositiveFloat | None, Field(description="Distance of neighbouring values.")]
WholeStep = Annotated[PositiveInt | None, Field(description="Distance of neighbouring values.")]


class Parameter(Section):
    """A space of values."""


class ChoiceParameter(Parameter):
    """One out of a list, by chance."""

    space: Literal["choice"] = Field("choice", description="One out of a list, by chance.")
    categories: list[Any] = Field(min_length=1, description="The list.")


class GridSearchParameter(Parameter):
    """Each out of a list."""

    space: Literal["grid_search"] = Field("grid_search", description="Each out of a list.")
    values: list[Any] = Field(min_length=1, description="The list.")


class Interval(Parameter):
    """Numbers between two bounds."""

    lower: float = Field(description="Lower bound.")
    upper: float = Field(description="Upper bound.")

    def mistakes(self) -> Iterator[InitErrorDetails]:
        if self.lower > self.upper:
            yield relation(f"lower {self.lower:g} is above upper {self.upper:g}", "lower", found=self.lower)


class UniformParameter(Interval):
    """Evenly distributed numbers."""

    space: Literal["uniform"] = Field("uniform", description="Evenly distributed numbers.")


class QUniformParameter(Interval):
    """Evenly distributed numbers, rounded."""

    space: Literal["quniform"] = Field("quniform", description="Evenly distributed numbers, rounded.")
    q: Step = None


class LogUniformParameter(Interval):
    """Numbers with an evenly distributed logarithm."""

    space: Literal["loguniform"] = Field("loguniform", description="Numbers with an even logarithm.")
    base: Base = 10.0


class QLogUniformParameter(Interval):
    """Numbers with an evenly distributed logarithm, rounded."""

    space: Literal["qloguniform"] = Field("qloguniform", description="Numbers with an even logarithm, rounded.")
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
    """Normally distributed numbers, rounded."""

    space: Literal["qrandn"] = Field("qrandn", description="Normally distributed numbers, rounded.")
    q: Step = None


class WholeInterval(Parameter):
    """Whole numbers between two bounds."""

    lower: int = Field(description="Lower bound.")
    upper: int = Field(description="Upper bound.")

    def mistakes(self) -> Iterator[InitErrorDetails]:
        if self.lower > self.upper:
            yield relation(f"lower {self.lower} is above upper {self.upper}", "lower", found=self.lower)


class RandintParameter(WholeInterval):
    """Evenly distributed whole numbers."""

    space: Literal["randint"] = Field("randint", description="Evenly distributed whole numbers.")


class QRandintParameter(WholeInterval):
    """Evenly distributed whole numbers, rounded."""

    space: Literal["qrandint"] = Field("qrandint", description="Evenly distributed whole numbers, rounded.")
    q: WholeStep = None


class LogRandintParameter(WholeInterval):
    """Whole numbers with an evenly distributed logarithm."""

    space: Literal["lograndint"] = Field("lograndint", description="Whole numbers with an even logarithm.")
    base: Base = 10.0


class QLogRandintParameter(WholeInterval):
    """Whole numbers with an evenly distributed logarithm, rounded."""

    space: Literal["qlograndint"] = Field("qlograndint", description="Whole numbers with an even logarithm, rounded.")
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
