"""How weights and biases begin: a word, or an object that also gives the distribution's parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from trainwright_api.schema.choice import Choice, Chosen
from trainwright_api.schema.fields import NonNegativeFloat, PositiveInt
from trainwright_api.schema.section import Section

InitializerWord = Literal[
    "uniform",
    "normal",
    "constant",
    "ones",
    "zeros",
    "eye",
    "dirac",
    "xavier_uniform",
    "xavier_normal",
    "kaiming_uniform",
    "kaiming_normal",
    "orthogonal",
    "sparse",
    "identity",
]


class Initializer(Chosen):
    """An initializer with its parameters; `type` is its word."""


class PlainInitializer(Initializer):
    """Ones, zeros, or the identity: there is nothing to set."""

    type: Literal["ones", "zeros", "eye", "identity"] = Field(description="What the values are.")


class UniformInitializer(Initializer):
    """Values drawn evenly from an interval."""

    type: Literal["uniform"] = Field("uniform", description="Evenly distributed values.")
    a: float = Field(0.0, description="Lower end of the interval.")
    b: float = Field(1.0, description="Upper end of the interval.")


class NormalInitializer(Initializer):
    """Values drawn from a normal distribution."""

    type: Literal["normal"] = Field("normal", description="Normally distributed values.")
    mean: float = Field(0.0, description="Mean of the distribution.")
    std: NonNegativeFloat = Field(1.0, description="Standard deviation of the distribution.")


class ConstantInitializer(Initializer):
    """One value everywhere."""

    type: Literal["constant"] = Field("constant", description="The same value everywhere.")
    val: float = Field(0.0, description="The value.")


class DiracInitializer(Initializer):
    """The identity for convolutions."""

    type: Literal["dirac"] = Field("dirac", description="Convolutions that hand their input on.")
    groups: PositiveInt = Field(1, description="Number of groups of channels.")


class XavierInitializer(Initializer):
    """Spread by the widths on both sides of the layer."""

    type: Literal["xavier_uniform", "xavier_normal"] = Field(description="Even or normal distribution.")
    gain: float = Field(1.0, description="Factor on the spread.")


class KaimingInitializer(Initializer):
    """Spread by the width on one side of the layer."""

    type: Literal["kaiming_uniform", "kaiming_normal"] = Field(description="Even or normal distribution.")
    a: float = Field(0.0, description="Negative slope of the leaky_relu that follows.")
    mode: Literal["fan_in", "fan_out"] = Field("fan_in", description="Which side's width counts.")
    nonlinearity: Literal["linear", "relu", "leaky_relu", "tanh", "sigmoid", "selu"] = Field(
        "leaky_relu", description="The function that follows."
    )


class OrthogonalInitializer(Initializer):
    """A random orthogonal matrix."""

    type: Literal["orthogonal"] = Field("orthogonal", description="An orthogonal matrix.")
    gain: float = Field(1.0, description="Factor on the matrix.")


class SparseInitializer(Initializer):
    """Mostly zeros, the rest from a normal distribution."""

    type: Literal["sparse"] = Field("sparse", description="A matrix that is mostly zero.")
    sparsity: float = Field(0.1, ge=0, le=1, description="Share of each column that is zero.")
    std: NonNegativeFloat = Field(0.01, description="Standard deviation of the other values.")


_CHOICE = Choice(
    "initializer",
    "trainwright_api.config",
    {
        "uniform": "initializers.UniformInitializer",
        "normal": "initializers.NormalInitializer",
        "constant": "initializers.ConstantInitializer",
        "ones": "initializers.PlainInitializer",
        "zeros": "initializers.PlainInitializer",
        "eye": "initializers.PlainInitializer",
        "dirac": "initializers.DiracInitializer",
        "xavier_uniform": "initializers.XavierInitializer",
        "xavier_normal": "initializers.XavierInitializer",
        "kaiming_uniform": "initializers.KaimingInitializer",
        "kaiming_normal": "initializers.KaimingInitializer",
        "orthogonal": "initializers.OrthogonalInitializer",
        "sparse": "initializers.SparseInitializer",
        "identity": "initializers.PlainInitializer",
    },
    default="xavier_uniform",
)


class _WordOrObject:
    """A word stays a word, as Ludwig keeps it; an object becomes the section that its type names."""

    choice = _CHOICE

    @staticmethod
    def read(value: Any) -> str | Section:
        section = _CHOICE.read(value)
        return value if isinstance(value, str) else section

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.read)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return _CHOICE.__get_pydantic_json_schema__(schema, handler)


AnyInitializer = Annotated[InitializerWord | Initializer, _WordOrObject()]
WeightsInitializer = Annotated[AnyInitializer, Field(description="How the weights begin.")]
BiasInitializer = Annotated[AnyInitializer, Field(description="How the biases begin.")]
RecurrentInitializer = Annotated[AnyInitializer, Field(description="How the recurrent weights begin.")]
EmbeddingInitializer = Annotated[
    AnyInitializer | None, Field(description="How the embeddings begin; null for normally distributed values.")
]


def initializer_parts(value: InitializerWord | Initializer) -> tuple[str, Mapping[str, Any]]:
    """The word and its parameters, none of them where a word stands alone."""
    if isinstance(value, str):
        return value, {}
    return value.type, value.model_dump(exclude={"type"})
