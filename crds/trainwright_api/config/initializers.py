"""The initializers of weights and biases: a word, or an object with the distribution's parameters."""

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
    """An initializer with its parameters. `type` selects it."""


class PlainInitializer(Initializer):
    """An initializer without parameters: ones, zeros or the identity."""

    type: Literal["ones", "zeros", "eye", "identity"] = Field(description="Name of the initializer.")


class UniformInitializer(Initializer):
    """Uniformly distributed values."""

    type: Literal["uniform"] = Field("uniform", description="Uniformly distributed values.")
    a: float = Field(0.0, description="Lower bound of the interval.")
    b: float = Field(1.0, description="Upper bound of the interval.")


class NormalInitializer(Initializer):
    """Normally distributed values."""

    type: Literal["normal"] = Field("normal", description="Normally distributed values.")
    mean: float = Field(0.0, description="Mean of the distribution.")
    std: NonNegativeFloat = Field(1.0, description="Standard deviation of the distribution.")


class ConstantInitializer(Initializer):
    """A constant."""

    type: Literal["constant"] = Field("constant", description="A constant.")
    val: float = Field(0.0, description="The value.")


class DiracInitializer(Initializer):
    """Dirac delta: convolutions start as the identity."""

    type: Literal["dirac"] = Field("dirac", description="Dirac delta: convolutions start as the identity.")
    groups: PositiveInt = Field(1, description="Number of groups of channels.")


class XavierInitializer(Initializer):
    """Xavier (Glorot) initialization."""

    type: Literal["xavier_uniform", "xavier_normal"] = Field(description="Uniform or normal distribution.")
    gain: float = Field(1.0, description="Gain of the initialization.")


class KaimingInitializer(Initializer):
    """Kaiming (He) initialization."""

    type: Literal["kaiming_uniform", "kaiming_normal"] = Field(description="Uniform or normal distribution.")
    a: float = Field(0.0, description="Negative slope of the following leaky_relu.")
    mode: Literal["fan_in", "fan_out"] = Field(
        "fan_in", description="fan_in preserves the variance in the forward pass, fan_out in the backward pass."
    )
    nonlinearity: Literal["linear", "relu", "leaky_relu", "tanh", "sigmoid", "selu"] = Field(
        "leaky_relu", description="The activation function that follows the layer."
    )


class OrthogonalInitializer(Initializer):
    """A random orthogonal matrix."""

    type: Literal["orthogonal"] = Field("orthogonal", description="An orthogonal matrix.")
    gain: float = Field(1.0, description="Gain of the matrix.")


class SparseInitializer(Initializer):
    """A sparse matrix: the other values are normally distributed."""

    type: Literal["sparse"] = Field("sparse", description="A sparse matrix.")
    sparsity: float = Field(0.1, ge=0, le=1, description="Fraction of zeros in each column.")
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
    """A word stays a word, as in Ludwig. An object becomes the section that its `type` selects."""

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
WeightsInitializer = Annotated[AnyInitializer, Field(description="Initializer of the weights.")]
BiasInitializer = Annotated[AnyInitializer, Field(description="Initializer of the biases.")]
RecurrentInitializer = Annotated[AnyInitializer, Field(description="Initializer of the recurrent weights.")]
EmbeddingInitializer = Annotated[
    AnyInitializer | None, Field(description="Initializer of the embeddings. null: normally distributed values.")
]


def initializer_parts(value: InitializerWord | Initializer) -> tuple[str, Mapping[str, Any]]:
    """Return the initializer's name and its parameters. A single word has none."""
    if isinstance(value, str):
        return value, {}
    return value.type, value.model_dump(exclude={"type"})
